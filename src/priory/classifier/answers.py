"""The questions that a fitted model answers; asked of `Classifier` and `NaiveBayes` alike."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from priory.base.errors import (
    PrioryError,
    SchemaError,
    SettingError,
    did_you_mean,
    listing,
)
from priory.base.labels import label_array
from priory.base.typing import AnyArray, FloatArray, Label
from priory.classifier.explanations import Explanations, places_of_classes
from priory.data.columns import Frame, Labels
from priory.data.rawtables import open_table
from priory.data.reading import check_lengths, read_labels, read_weights
from priory.model.linear_form import LinearForm
from priory.model.model import Model
from priory.model.term import presence

# What a prediction does not need is imported where it is used: from the shell, a prediction would
# wait for it longer than it takes.
if TYPE_CHECKING:
    import pandas as pd

    from priory.classifier.fitted import Fitted
    from priory.families.posteriors import ParameterPosterior
    from priory.model.description import ModelDescription
    from priory.model.top_features import TopFeatures

__all__ = ["Answers"]

T = TypeVar("T")


class Answers(Explanations):
    """Answer questions about rows and parameters, by the classifier that was fitted."""

    @abstractmethod
    def _fitted(self) -> Fitted:
        """Get the classifier that answers, or refuse where nothing was learned."""

    def _rows(self, X: Any) -> Any:
        return X

    def _targets(self, y: Any) -> Labels:
        return read_labels(y)

    def _as_array(self, classes: Sequence[Label]) -> AnyArray:
        return label_array(classes)

    def _answer(self, X: Any, question: Callable[[Model, Frame], T]) -> T:
        return self._fitted().answer(self._rows(X), question)

    # Of rows

    def read_rows(self, X: Any, y: Any) -> tuple[Frame, Labels]:
        """Read rows and their classes as the model does: coded columns, and coded classes.

        >>> from priory import Classifier
        >>> classifier = Classifier().update({"x": ["a", "b"]}, [0, 1])
        >>> frame, labels = classifier.read_rows({"x": ["b"]}, [1])
        >>> frame["x"].value(0), labels.value(0)
        ('b', 1)
        """
        raw = open_table(self._rows(X))
        labels = self._targets(y)
        check_lengths(raw.n_rows, labels)
        return self._fitted().frame(raw), labels

    def predict(self, X: Any) -> AnyArray:
        """Predict the most probable class of every row."""
        # Another thread may make new classes known meanwhile, so both are of one model.
        codes, classes = self._answer(X, lambda model, frame: (model.predict(frame), model.classes))
        return self._as_array(classes)[codes]

    def predict_proba(self, X: Any) -> FloatArray:
        """Compute P(k | x), rows × classes."""
        return self._answer(X, Model.posterior)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Compute log P(k | x), rows × classes."""
        return self._answer(X, Model.log_posterior)

    def predict_joint_log_proba(self, X: Any) -> FloatArray:
        """Compute log P(k, x), rows × classes: the logarithm of the sum that `explain` writes out.

        Words and counts are taken in their order, so it has no multinomial coefficient; a number
        in a bin is told by its bin, a transformed one by what it is transformed to. With weights
        or biases it is a score, no probability.

        >>> from priory import Classifier, Settings
        >>> classifier = Classifier(Settings.textbook(smoothing=0))
        >>> classifier = classifier.update({"x": ["a", "a", "b"]}, [0, 1, 1])
        >>> np.exp(classifier.predict_joint_log_proba({"x": ["a"]})).round(3).tolist()
        [[0.333, 0.333]]
        """
        return self._answer(
            X, lambda model, frame: model.log_joint(frame) + model.log_constants(frame)[:, None]
        )

    def score_samples(self, X: Any) -> FloatArray:
        """Compute log P(x), how likely each row is at all."""
        return self._answer(X, Model.log_evidence)

    def sample(
        self, n: int, y: Any = None, random_state: int | np.random.Generator | None = None
    ) -> tuple[Any, AnyArray]:
        """Draw n new rows from P(x | k) P(k): their values by column, and their classes.

        `y` asks for one class, or for the class of each row. Values have the types that were
        learned: integers are rounded, dates are dates again.

        >>> from priory import Classifier
        >>> X = {"n": np.array([1, 2, 4, 5]), "t": [True, False, True, True]}
        >>> columns, y = Classifier().update(X, [0, 0, 1, 1]).sample(3, random_state=0)
        >>> columns["n"].dtype, columns["t"].dtype
        (dtype('int64'), dtype('bool'))
        """
        from priory.model.samples import as_learned

        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
            raise SettingError(f"n must be an integer of at least 0, not {n!r}.")
        classifier, rng = self._fitted(), np.random.default_rng(random_state)
        codes = None if y is None else places_of_classes(y, int(n), classifier.classes)
        drawn, codes = classifier.model.sample(int(n), rng, codes)
        # In the order of the table; a column that was left out of the model is all missing.
        names = classifier.statistics.schema.columns
        columns = {name: drawn.get(name, np.full(int(n), np.nan)) for name in names}
        typed = as_learned({c: v for c, v in columns.items() if c in drawn}, classifier.statistics)
        return {**columns, **typed}, label_array(classifier.classes)[codes]

    # Of the model

    def top_features(self, n: int = 10) -> TopFeatures:
        """List the n words and values that weigh most for each class.

            log-odds = log P(v | k) − log P(v | any other class)

        >>> from priory import Classifier, Settings
        >>> days = {"outlook": ["Sunny", "Sunny", "Rain", "Overcast"]}
        >>> classifier = Classifier(Settings.textbook()).update(days, ["No", "No", "Yes", "Yes"])
        >>> print(classifier.top_features(1))
        No             count  log-odds
        outlook=Sunny  2      1.10
        <BLANKLINE>
        Yes               count  log-odds
        outlook=Overcast  1      0.69
        """
        from priory.model.top_features import top_features

        return top_features(self._fitted().model, self._fitted().statistics, n)

    def tables(self, fractions: bool = False) -> pd.DataFrame:
        """Tabulate every parameter, tidily: the class prior, P(v | k), μ, σ², P(word | k).

            P(v | k) = (n_vk + a_v) / (n_k + Σa)

        A row has the column, the parameter and the value it is of, the class, the `estimate`, and
        the `count` n_vk and `total` n_k that were learned, without the prior's pseudo-counts. With
        `fractions` it has the estimate as an exact fraction too, where counts are integers and the
        estimate is a ratio of them; an α of 0.1 is one tenth.

        >>> from priory import Classifier, Settings
        >>> days = {"outlook": ["Sunny", "Sunny", "Rain", "Rain"]}
        >>> classifier = Classifier(Settings.textbook()).update(days, ["No", "No", "No", "Yes"])
        >>> table = classifier.tables(fractions=True)
        >>> print(table.drop(columns="parameter").to_string(index=False))
         column value class  estimate  count  total fraction
           None  None    No  0.750000    3.0    4.0      3/4
           None  None   Yes  0.250000    1.0    4.0      1/4
        outlook  Rain    No  0.400000    1.0    3.0      2/5
        outlook  Rain   Yes  0.666667    1.0    1.0      2/3
        outlook Sunny    No  0.600000    2.0    3.0      3/5
        outlook Sunny   Yes  0.333333    0.0    1.0      1/3
        """
        from priory.model.estimates import as_frame

        return as_frame(self.table_columns(fractions))

    def table_columns(self, fractions: bool = False) -> dict[str, list[Any]]:
        """List the columns of `tables`; needs no pandas."""
        from priory.model.estimates import estimate_columns

        if not isinstance(fractions, bool):
            raise SettingError(f"fractions must be True or False, not {fractions!r}.")
        classifier = self._fitted()
        return estimate_columns(*classifier.readout(), classifier.settings.class_prior, fractions)

    def posterior(self, column: str) -> ParameterPosterior:
        """Compute the posterior of a column's parameters, class by class.

        A Dirichlet over probabilities, a Normal-Inverse-Gamma over mean and variance or a Gamma
        over a rate, each with its `mean` and its `interval`.

        >>> from priory import Classifier, Settings
        >>> classifier = Classifier(Settings.textbook()).update({"x": ["a", "a", "b"]}, [0, 0, 1])
        >>> classifier.posterior("x").mean.round(3).tolist()
        [[0.75, 0.25], [0.333, 0.667]]
        """
        from priory.families.protocols import as_conjugate
        from priory.tuning.choices import choices_for

        classifier = self._fitted()
        _, statistics, _ = classifier.readout()
        found = choices_for(classifier.settings, statistics)
        for name, choice in found.items():
            block = statistics.schema[name]
            if column in block.columns:
                table = statistics.tables[name]
                family = as_conjugate(choice.family, column)
                return family.posterior(table, choice.prior, block, column, statistics.classes)
        known = [c for name in found for c in statistics.schema[name].columns]
        raise SchemaError(
            f"The model has no column {column!r}. Columns: {listing(known)}."
            f"{did_you_mean(column, known)}"
        )

    def description_length(
        self, X: Any = None, y: Any = None, sample_weight: Any = None
    ) -> ModelDescription:
        """Count the bits it takes to tell the model, and then the rows it has learned.

            L(h) = ½ log2 n · parameters,   L(D | h) = −Σ_rows log2 P(k) Π_j P(x_j | k)

        It follows from the sums. With rows and their classes it holds besides how many bits the
        classes take once those rows are told, −Σ log2 P(k | x). Weights are used only in
        that last number: a weighted score is no probability of a row.

        >>> from priory import Classifier, Settings
        >>> days = {"outlook": ["Sunny", "Sunny", "Rain", "Overcast"]}
        >>> classifier = Classifier(Settings.textbook()).update(days, ["No", "No", "Yes", "Yes"])
        >>> print(classifier.description_length(days, ["No", "No", "Yes", "Yes"]))
        bits         parameters  L(h)  L(D | h)  total
        the classes           1   1.0       4.0    5.0
        outlook               4   4.0       4.1    8.1
        total                 5   5.0       8.1   13.1
        <BLANKLINE>
        the classes given the rows: 2.0 bits
        """
        from priory.model.description import bits_of_classes, describe

        classifier = self._fitted()
        given: float | None = None
        if (X is None) != (y is None):
            raise SettingError("description_length takes rows and their classes, or neither.")
        if X is not None:
            raw = open_table(self._rows(X))
            labels, weights = self._targets(y), read_weights(sample_weight, raw.n_rows)
            check_lengths(raw.n_rows, labels)
            codes = places_of_classes(labels, raw.n_rows, classifier.classes)
            given = bits_of_classes(classifier.predict_log_proba(raw), codes, weights)
        return describe(*classifier.readout(), classifier.settings.class_prior, given)

    def log_evidence(self) -> float:
        """Compute log P(the rows learned | their classes), every parameter integrated out.

            P(D) = Π_columns Π_classes ∫ P(column | θ) P(θ) dθ

        In closed form, so it needs conjugate priors: a smoothing above 0, and for a Gaussian a
        `NormalInverseGamma`. Unlike a likelihood it does not praise a model for having more
        parameters. Counts and words are taken in their order.

        >>> from priory import Classifier, Settings
        >>> days = {"outlook": ["Sunny", "Sunny", "Rain", "Overcast"]}
        >>> classifier = Classifier(Settings.textbook()).update(days, ["No", "No", "Yes", "Yes"])
        >>> round(float(np.exp(classifier.log_evidence())), 6)  # 1/6 · 1/12
        0.013889
        """
        from priory.families.bernoulli import Bernoulli
        from priory.families.protocols import as_conjugate

        (_, statistics, choices), total = self._fitted().readout(), 0.0
        for name, choice in choices.items():
            block, table = statistics.schema[name], statistics.tables[name]
            family = as_conjugate(choice.family, block.title)
            try:
                total += family.log_evidence(table, choice.prior)
            except PrioryError as error:
                raise type(error)(f"Column {block.title!r}: {error}") from None
            if choice.missing == "category":
                derived, prior = presence(block, table, statistics.weight, choice.prior)
                total += Bernoulli().log_evidence(derived, prior)
        return total

    def linear_form(self) -> LinearForm:
        """Derive the weights of the model as a linear classifier, where it is one."""
        return self._fitted().model.linear_form()
