"""Decisions as an estimator of scikit-learn: costs, thresholds and priors around a model."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from priory.base.errors import SettingError
from priory.base.typing import AnyArray, FloatArray
from priory.classifier.decisions import rule_of
from priory.deciding.rules import OPTIONS, Rule
from priory.estimators.naive_bayes import NaiveBayes

__all__ = ["Decider"]


class Decider(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Predict by costs, thresholds or another class prior: what `NaiveBayes.decide` gives.

        decision = argmin_d Σ_k P(k | x) · cost[k, d]

    Parameters
    ----------
    estimator : NaiveBayes or TextNB
        The model that gives P(k | x). `fit` fits a clone of it; `decide` of a fitted model takes
        the model as it is, and options can then be changed by `set_params` without fitting.
    costs, unsure, unsure_cost, prior, positive, threshold, precision, recall, \
false_positive_rate, unsure_label
        As those of `NaiveBayes.decide`.

    Examples
    --------
    >>> from priory import NaiveBayes
    >>> mails = {"word": ["offer", "offer", "hello", "hello", "offer"]}
    >>> careful = NaiveBayes().decide(costs=[[0, 50], [1, 0]])
    >>> careful = careful.fit(mails, ["spam", "spam", "ham", "ham", "ham"])
    >>> careful.predict({"word": ["offer"]}).tolist()
    ['ham']
    """

    def __init__(
        self,
        estimator: Any,
        *,
        costs: Any = None,
        unsure: float | None = None,
        unsure_cost: Any = None,
        prior: Any = None,
        positive: Any = None,
        threshold: float | None = None,
        precision: float | None = None,
        recall: float | None = None,
        false_positive_rate: float | None = None,
        unsure_label: Any = None,
    ) -> None:
        self.estimator = estimator
        self.costs = costs
        self.unsure = unsure
        self.unsure_cost = unsure_cost
        self.prior = prior
        self.positive = positive
        self.threshold = threshold
        self.precision = precision
        self.recall = recall
        self.false_positive_rate = false_positive_rate
        self.unsure_label = unsure_label

    @classmethod
    def of_fitted(cls, model: NaiveBayes, options: dict[str, Any]) -> Self:
        """Decide by a model that has learned already."""
        result = cls(model, **options)
        result.estimator_ = model
        _ = result.rule_  # options that cannot be are refused here
        return result

    def fit(self, X: Any, y: Any, **given: Any) -> Self:
        """Fit a clone of the estimator."""
        if not isinstance(self.estimator, NaiveBayes):
            raise SettingError(
                f"estimator must be a NaiveBayes or a TextNB, not {self.estimator!r:.60}."
            )
        self.estimator_ = clone(self.estimator).fit(X, y, **given)
        _ = self.rule_
        return self

    @property
    def rule_(self) -> Rule:
        """The rule that the parameters ask for, of what was learned."""
        check_is_fitted(self)
        options = {name: getattr(self, name) for name in OPTIONS}
        classifier = self.estimator_.classifier_
        known: Any = getattr(self, "_known_rule", None)
        if (
            known is None
            or known[0] is not classifier.model
            or any(known[1][name] is not options[name] for name in OPTIONS)
        ):
            known = classifier.model, options, rule_of(classifier, options)
            self._known_rule = known
        rule: Rule = known[2]
        return rule

    def predict(self, X: Any) -> AnyArray:
        """Decide about every row: a class, or the label of "unsure"."""
        rule = self.rule_
        labels = self.estimator_._as_array(rule.labels)
        return labels[rule.codes(self.estimator_.predict_proba(X))]

    def predict_proba(self, X: Any) -> FloatArray:
        """Compute P(k | x) under the prior asked for, rows × classes."""
        return self.rule_.posterior(self.estimator_.predict_proba(X))

    def expected_costs(self, X: Any) -> FloatArray:
        """Compute what each decision is expected to cost, rows × decisions."""
        return self.rule_.expected_costs(self.estimator_.predict_proba(X))

    @property
    def classes_(self) -> AnyArray:
        """The classes, in their order."""
        check_is_fitted(self)
        return self.estimator_.classes_

    @property
    def n_features_in_(self) -> int:
        """How many columns were learned."""
        check_is_fitted(self)
        return int(self.estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> AnyArray:
        """The names of the columns, where they have some."""
        check_is_fitted(self)
        names: AnyArray = self.estimator_.feature_names_in_
        return names

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own = self.estimator.__sklearn_tags__()
        tags.input_tags, tags.no_validation = own.input_tags, own.no_validation
        return tags
