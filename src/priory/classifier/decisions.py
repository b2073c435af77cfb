"""What follows from probabilities: decisions, sets, priors, novelty; asked of every classifier."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from priory.base.errors import (
    NoPosteriorError,
    SettingError,
    UncalibratedWarning,
    warn,
)
from priory.base.labels import label_array
from priory.base.parallel import at_most
from priory.base.typing import AnyArray, FloatArray, Label
from priory.statistics.sampling import Sample

# What a prediction does not need is imported where it is used.
if TYPE_CHECKING:
    from priory.classifier.fitted import Fitted
    from priory.deciding.conformal import PredictionSets
    from priory.deciding.drift import Drift
    from priory.deciding.intervals import ProbabilityIntervals
    from priory.deciding.priors import PriorEstimate
    from priory.deciding.rules import Rule

__all__ = ["Decided", "Decisions", "rule_of"]


class Decisions(ABC):
    """Decide about rows, by the classifier that was fitted."""

    @abstractmethod
    def _fitted(self) -> Fitted:
        """Get the classifier that answers, or refuse where nothing was learned."""

    @abstractmethod
    def _rows(self, X: Any) -> Any:
        """Take rows as they are given for a table of the classifier."""

    def decide(self, **options: Any) -> Any:
        """Decide by costs, thresholds or another class prior instead of by the likeliest class.

            decision = argmin_d Σ_k P(k | x) · cost[k, d]

        All of it is done when predicting; nothing is learned anew. The result predicts as the
        model does. `options` are

        - `costs`: a matrix, true class × decision; as numbers in the order of the classes, a
          DataFrame, or a mapping {true: {decision: cost}}. One more column is that of "unsure".
        - `unsure`: the least probability of a decision; below it the answer is "unsure".
        - `unsure_cost`: what "unsure" costs instead; an error costs 1 where there are no costs.
        - `prior`: the class prior of the rows to be decided about, if not that of those learned.
        - `threshold`: the least P(positive | x) of a positive row; `positive` names the class.
        - `precision`, `recall` or `false_positive_rate`: the threshold is found that meets it, on
          the scores of rows that were learned, each by a model without its fold.
        - `unsure_label`: the answer "unsure"; a number, mostly −1, where classes are.

        >>> from priory import Classifier, Settings
        >>> mails = {"word": ["offer", "offer", "hello", "hello", "offer"]}
        >>> model = Classifier(Settings.textbook(weights="columns"))
        >>> model = model.update(mails, ["spam", "spam", "ham", "ham", "ham"])
        >>> careful = model.decide(costs={"ham": {"spam": 50}, "spam": {"ham": 1}})
        >>> careful.predict({"word": ["offer"]}).tolist()
        ['ham']
        """
        return Decided(self._fitted(), rule_of(self._fitted(), options))

    def estimate_prior(self, X: Any, level: float = 0.95) -> PriorEstimate:
        """Estimate the class prior of rows without classes, with its interval.

            π_k ← mean of P'(k | x),   P'(k | x) ∝ P(k | x) · π_k / P_learned(k)

        until it stands still (Saerens, Latinne and Decaestecker 2002). It takes P(x | k) to be as
        it was learned. `decide(prior=...)` and `with_prior` take what is found.
        """
        from priory.deciding.priors import estimate_prior

        fitted = self._fitted()
        _warn_untuned(fitted, "An estimated prior")
        p = fitted.predict_proba(self._rows(X))
        learned, n = np.exp(fitted.model.log_prior), fitted.statistics.n_rows
        return estimate_prior(p, learned, fitted.classes, level, n)

    def predict_set(self, X: Any, coverage: float = 0.9, learned: Any = None) -> PredictionSets:
        """Find the classes that each row may be of, a boolean matrix, rows × classes.

        Of every class, `coverage` of the rows have it in their set. `guarantee` of the result says
        in words what was computed. Tuned models: CV+ over ten folds of the sample of rows; nine in
        ten of the time goes into choosing a model without each fold, once. Textbook models keep no
        rows: `learned=(X, y)` gives those that were learned, and each set is exact (full
        conformal), at the price of as many models as there are classes for every row.

        >>> from priory import Classifier, Settings
        >>> X, y = {"x": [1.0, 1.2, 0.9, 1.1, 3.0, 3.2, 2.9, 3.1]}, [0, 0, 0, 0, 1, 1, 1, 1]
        >>> model = Classifier(Settings.textbook()).update(X, y)
        >>> sets = model.predict_set({"x": [1.05, 3.05]}, coverage=0.7, learned=(X, y))
        >>> sets.labels()
        [[0], [1]]
        """
        from priory.classifier.held_out import check_learned
        from priory.deciding.conformal import CrossConformal, check_coverage, full_conformal

        fitted, coverage = self._fitted(), check_coverage(coverage)
        frame, statistics, settings = (
            fitted.frame(self._rows(X)),
            fitted.statistics,
            fitted.settings,
        )
        given = None if learned is None else self._known_rows(learned)
        if settings.is_tuned and fitted.tuning is not None:
            sample = fitted.tuning_sample if given is None else _sample_of(fitted, given)
            if sample is None:
                raise SettingError(_NO_ROWS)
            given_rows = sample

            def make() -> CrossConformal:
                with at_most(fitted.n_threads):
                    return CrossConformal.of(statistics, settings, given_rows)

            found = make() if learned is not None else fitted.remember("conformal", make)
            return found.sets(frame, coverage)
        if given is None:
            raise SettingError(_NO_ROWS)
        check_learned(statistics, None, given)
        if len(given[1]) != statistics.n_rows:
            raise SettingError(
                f"learned must be all {statistics.n_rows:,} rows that were learned, not "
                f"{len(given[1]):,} of them: full conformal looks at each."
            )
        _, _, choices = fitted.readout()
        return full_conformal(statistics, choices, settings.class_prior, given[:2], frame, coverage)

    def predict_interval(
        self, X: Any, level: float = 0.9, learned: Any = None
    ) -> ProbabilityIntervals:
        """Find an interval of each P(k | x): two matrices, low and high, rows × classes.

        Textbook models: credible intervals, given the data and the row itself, drawn from the
        posterior of the parameters. Tuned models, and families without a conjugate prior: a
        bootstrap of the counts, on the sample of rows or on `learned=(X, y)`. `how` of the result
        says which.

        >>> from priory import Classifier, Settings
        >>> days = {"outlook": ["Sunny", "Sunny", "Rain", "Overcast"] * 5}
        >>> model = Classifier(Settings.textbook()).update(days, ["No", "No", "Yes", "Yes"] * 5)
        >>> found = model.predict_interval({"outlook": ["Rain"]})
        >>> low, high = found
        >>> print(found.how, low.round(1).tolist(), high.round(1).tolist())
        credible intervals, given the data and the row [[0.0, 0.6]] [[0.4, 1.0]]
        """
        from priory.deciding.intervals import Beliefs, Bootstrap, check_level

        fitted, level = self._fitted(), check_level(level)
        frame, statistics, settings = (
            fitted.frame(self._rows(X)),
            fitted.statistics,
            fitted.settings,
        )
        if fitted.tuning is None:
            _, weighed, choices = fitted.readout()
            with suppress(NoPosteriorError):
                beliefs = fitted.remember(
                    "beliefs", lambda: Beliefs(weighed, choices, settings.class_prior)
                )
                return beliefs.intervals(frame, level)
        given = None if learned is None else self._known_rows(learned)
        sample = fitted.tuning_sample if given is None else _sample_of(fitted, given)
        if sample is None:
            raise SettingError(_NO_ROWS)
        given_rows = sample

        def make() -> Bootstrap:
            return Bootstrap.of(statistics, settings, fitted.tuning, given_rows)

        found = make() if learned is not None else fitted.remember("bootstrap", make)
        return found.intervals(frame, level)

    def novelty(self, X: Any, learned: Any = None) -> FloatArray:
        """Compute how unusual each row is: the share of the rows learned that are no likelier.

        A p-value: 0.05 or less has one ordinary row in twenty. It is of the row as a whole, under
        plain families, and each row learned is judged without itself. A model without a sample of
        its rows needs `learned=(X, y)`, the rows that it learned or some of them.

        >>> import numpy as np
        >>> from priory import Classifier
        >>> x = np.random.default_rng(0).normal(size=200)
        >>> model = Classifier().update({"x": x}, x + np.roll(x, 1) > 0)
        >>> (model.novelty({"x": [0.0, 9.0]}) <= 0.05).tolist()
        [False, True]
        """
        from priory.deciding.novelty import Densities

        fitted = self._fitted()
        frame = fitted.frame(self._rows(X))
        given = None if learned is None else self._known_rows(learned)
        sample = fitted.tuning_sample if given is None else _sample_of(fitted, given)
        if sample is None:
            raise SettingError(_NO_ROWS)
        given_rows = sample

        def make() -> Densities:
            return Densities.of(fitted.statistics, given_rows)

        found = make() if learned is not None else fitted.remember("densities", make)
        return found.p_values(frame)

    def compare_with(self, X: Any) -> Drift:
        """Compare new rows with those learned: each column's values, and the class prior.

        Of each column the share of values never seen, the share missing, the distance between both
        distributions, and the p-value of no drift, corrected for the number of columns; of the
        classes their estimated prior. Print it, or `plot` it.

        >>> import numpy as np
        >>> from priory import Classifier
        >>> rng = np.random.default_rng(0)
        >>> old = {"x": rng.normal(size=300), "c": rng.choice(["a", "b"], 300)}
        >>> model = Classifier().update(old, rng.integers(0, 2, 300))
        >>> new = {"x": rng.normal(1, size=200), "c": rng.choice(["a", "b"], 200)}
        >>> model.compare_with(new).drifted
        ('x',)
        """
        from priory.deciding.drift import drift_of

        fitted = self._fitted()
        frames = [fitted.frame(self._rows(X))]
        return drift_of(fitted.statistics, fitted.model, frames, fitted.is_calibrated)

    def _known_rows(self, learned: Any) -> Any:
        """Read rows that were learned."""
        try:
            X, y = learned
        except (TypeError, ValueError):
            raise SettingError(
                f"learned must be a pair, the rows that were learned and their classes, not "
                f"{type(learned).__name__}."
            ) from None
        return self._fitted()._learned_rows(self._rows(X), y, None)


_NO_ROWS = (
    "This model holds no rows that it learned: a textbook model keeps none, and a file holds them "
    "only when saved with keep_sample=True. Give learned=(X, y), the rows that were learned."
)


def _sample_of(fitted: Fitted, rows: Any) -> Sample:
    frame, labels, weight = rows
    return Sample.of(frame, labels, weight, max(fitted.settings.sample_size, len(labels)))


def rule_of(fitted: Fitted, options: dict[str, Any]) -> Rule:
    """Make the rule that options ask for, of what was learned."""
    from priory.base.errors import did_you_mean
    from priory.deciding.rules import OPTIONS, rule_for

    for name in options:
        if name not in OPTIONS:
            raise SettingError(
                f"decide takes no option {name!r}. Options: {', '.join(OPTIONS)}."
                f"{did_you_mean(name, OPTIONS)}"
            )
    given = {name: value for name, value in options.items() if value is not None}
    if given.keys() & {"costs", "unsure", "unsure_cost"}:
        _warn_untuned(fitted, "A decision by costs or by how sure it is")

    def find(rate: str, value: float, positive: Label) -> float:
        return _threshold(fitted, rate, value, positive)

    return rule_for(fitted.statistics, np.exp(fitted.model.log_prior), find, **given)


def _threshold(fitted: Fitted, rate: str, value: float, positive: Label) -> float:
    """Find the threshold that meets a rate, on rows held out."""
    # By name: metrics are above the classifiers, which do without them.
    from importlib import import_module

    from priory.classifier.held_out import checked

    _ = fitted.model
    tuning = fitted.tuning
    if tuning is None or tuning.scored is None:
        raise SettingError(
            f"{rate} is met on scores of rows that were held out, and this model has none: it is "
            "not tuned, or was loaded from a file. Give threshold instead, which "
            "priory.evaluate(model, X, y).threshold finds on rows of your own."
        )
    scored = checked(fitted, tuning, fitted.tuning_sample).scored
    assert scored is not None
    k = fitted.classes.index(positive)
    own = np.where(scored.labels == k, 1, 0)
    p = np.exp(scored.scores[:, k])
    judge = import_module("priory.evaluation.evaluation").Evaluation
    found = judge(own, np.column_stack([1 - p, p]), [0, 1], sample_weight=scored.weight)
    return float(found.threshold(**{rate: value}, positive=1).threshold)


def _warn_untuned(fitted: Fitted, what: str) -> None:
    if not fitted.is_calibrated:
        warn(
            f"{what} rests on probabilities, and those of a model that is not tuned are too sure "
            "of themselves: naive Bayes counts what two columns share twice. The default is tuned, "
            "and a textbook model is calibrated with weights='columns'.",
            UncalibratedWarning,
        )


class Decided:
    """A classifier and the rule that it decides by."""

    def __init__(self, classifier: Fitted, rule: Rule) -> None:
        self.classifier, self.rule = classifier, rule

    def __repr__(self) -> str:
        return f"<Decided: {self.classifier!r} by {self.rule!r}>"

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes, in their order."""
        return self.rule.classes

    def predict(self, X: Any) -> AnyArray:
        """Decide about every row: a class, or "unsure"."""
        return label_array(self.rule.labels)[self.rule.codes(self.classifier.predict_proba(X))]

    def predict_proba(self, X: Any) -> FloatArray:
        """Compute P(k | x) under the prior asked for, rows × classes."""
        return self.rule.posterior(self.classifier.predict_proba(X))

    def expected_costs(self, X: Any) -> FloatArray:
        """Compute what each decision is expected to cost, rows × decisions."""
        return self.rule.expected_costs(self.classifier.predict_proba(X))
