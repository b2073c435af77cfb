"""The questions that a fitted model answers; asked of `Classifier` and `NaiveBayes` alike."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from priory.base.errors import (
    InputError,
    PrioryError,
    SchemaError,
    SettingError,
    did_you_mean,
    listing,
)
from priory.base.labels import label_array, label_key
from priory.base.typing import AnyArray, CodeArray, FloatArray, Label
from priory.classifier.decisions import Decisions
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
    from priory.explaining.doctor import Diagnosis
    from priory.explaining.influence import Influence
    from priory.explaining.reasons import Reasons
    from priory.explaining.shapes import Shapes
    from priory.explaining.what_if import WhatIf
    from priory.families.posteriors import ParameterPosterior
    from priory.model.description import ModelDescription
    from priory.model.explanation import Explanation
    from priory.model.top_features import TopFeatures

__all__ = ["Answers"]

T = TypeVar("T")


class Answers(Decisions):
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

    def explain(self, X: Any, interval: float | None = None) -> Explanation:
        """Work out the sum behind the prediction of every row.

        What each column, pair and word adds to every class, with the counts behind it; the parts
        add up to `predict_proba`. `interval=0.9` adds how sure each probability is (see
        `predict_interval`). See `Explanation` and `RowExplanation`.

        >>> from priory import Classifier, Settings
        >>> days = {"outlook": ["Sunny", "Sunny", "Rain", "Rain"]}
        >>> classifier = Classifier(Settings.textbook()).update(days, ["No", "No", "No", "Yes"])
        >>> print(classifier.explain({"outlook": "Sunny"})[0].text(counts=True))
                                            No       Yes
        P(class)                          0.75      0.25
                                        3 of 4    1 of 4
        × P(outlook = Sunny | class)       0.6    0.3333
                                        2 of 3    0 of 1
        = P(class, row)                   0.45   0.08333
        P(class | row)                  0.8438    0.1563
        """
        from priory.model.explanation import explain
        from priory.model.row_explanation import Interval

        statistics = self._fitted().statistics
        found = self._answer(X, lambda model, frame: explain(model, frame, statistics))
        if interval is None:
            return found
        sure = self.predict_interval(X, interval)
        return replace(found, interval=Interval(sure.low, sure.high, sure.level, sure.how))

    def what_if(
        self,
        X: Any,
        target: Any = None,
        *,
        probability: float | None = None,
        costs: Mapping[str, Any] | None = None,
        fixed: Collection[str] = (),
        ranges: Mapping[str, tuple[Any, Any]] | None = None,
        direction: Mapping[str, str] | None = None,
        seconds: float = 2.0,
    ) -> WhatIf:
        """Find the cheapest changes of one row that change its prediction.

            min Σ cost of the changes,   so that another class (or `target`) leads

        With `probability` the target must become that probable. A change costs 1, or what `costs`
        say of its column: a number, "steps" (1 for each value that is passed on the way), or a
        function of the old and the new value. Columns that are `fixed` stay; `ranges` give the
        least and greatest value, and `direction` "up" or "down" where only one way is open.

        Columns change to values that were learned. Where each has its own factors and all costs are
        equal, the answer is found by sorting; for two classes and costs in whole numbers by a
        knapsack; else by branch and bound, for so many `seconds`. `is_proved` says whether nothing
        costs less.

        >>> from priory import NaiveBayes
        >>> X = {"smokes": ["yes", "yes", "no", "no"] * 5, "wet": [True, False] * 10}
        >>> model = NaiveBayes.textbook().fit(X, ["ill", "ill", "well", "well"] * 5)
        >>> model.what_if({"smokes": "yes", "wet": True}, "well", fixed=["wet"]).changes
        (Change(column='smokes', old='yes', new='no', cost=1.0),)
        """
        from priory.explaining.what_if import what_if

        given = (target, probability, costs, fixed, ranges, direction, seconds)
        statistics = self._fitted().statistics
        return self._answer(X, lambda model, row: what_if(model, statistics, row, *given))

    def influence(self, row: Any, X: Any, y: Any, sample_weight: Any = None) -> Influence:
        """Work out how far each row that was learned moved the prediction of one row.

            log-odds(k | x) − log-odds(k | x) without the row

        Exactly: the row is subtracted from the sums. What was tuned stays. X and y are rows that
        were learned, all or some.

        >>> from priory import NaiveBayes
        >>> X, y = {"x": ["a", "a", "b"] * 3}, ["yes", "no", "no"] * 3
        >>> model = NaiveBayes.textbook().fit(X, y)
        >>> model.influence({"x": "a"}, X, y).log_odds[:3, 0].round(3).tolist()
        [-0.47, 0.336, 0.049]
        """
        from priory.explaining.influence import influence

        classifier = self._fitted()
        rows = classifier.learned_rows(self._rows(X), self._targets(y), sample_weight)
        _, weighed, choices = classifier.readout()
        scale = float(weighed.weight.sum() / classifier.statistics.weight.sum())
        given = (classifier.settings.class_prior, scale)
        return self._answer(
            row, lambda model, one: influence(model, weighed, choices, *given, one, rows)
        )

    def fewest_changes(self, X: Any) -> AnyArray:
        """Count the columns of each row that must change for another prediction; −1: none suffice.

        It is exact, by sorting what each column can gain, and so for models whose columns have
        their own factors (`pairs=None`, `structure="naive"`); others have `what_if`.

        >>> from priory import NaiveBayes
        >>> from priory.examples import play_tennis
        >>> X, y = play_tennis()
        >>> NaiveBayes.textbook().fit(X, y).fewest_changes(X).tolist()
        [1, 1, 1, 1, 2, 1, 2, 1, 1, 2, 1, 1, 2, 1]
        """
        from priory.explaining.fewest import fewest_changes

        statistics = self._fitted().statistics
        return self._answer(X, lambda model, frame: fewest_changes(model, statistics, frame))

    def sufficient_reasons(
        self, X: Any, *, fixed: Collection[str] = (), seconds: float = 2.0
    ) -> Reasons:
        """Find the fewest columns of one row that settle its prediction, whatever the others say.

        The others may have any values that were learned; columns that are `fixed` keep theirs.

        >>> from priory import NaiveBayes
        >>> from priory.examples import play_tennis
        >>> model = NaiveBayes.textbook().fit(*play_tennis())
        >>> day = {"outlook": "Overcast", "temperature": "Mild", "humidity": "High", "wind": "Weak"}
        >>> print(model.sufficient_reasons(day))
        Yes, because outlook = Overcast: no values of the 3 other columns can change that.
        """
        from priory.explaining.reasons import sufficient_reasons

        statistics = self._fitted().statistics
        return self._answer(
            X, lambda model, row: sufficient_reasons(model, statistics, row, fixed, seconds)
        )

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
        codes = None if y is None else _codes(y, int(n), classifier.classes)
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

    def shapes(self, columns: Sequence[str] | None = None, level: float = 0.9) -> Shapes:
        """Work out what each value of a column adds to the log-odds of each class, with a band.

            log P(v | k) − mean over the other classes,   P(· | k) ~ Dirichlet(n_vk + a_v)

        Of each column its own factor, with its weight and its corrections; pairs are not in it.
        The band holds the true log-odds of the factor with the probability `level`.

        >>> from priory import NaiveBayes
        >>> from priory.examples import play_tennis
        >>> NaiveBayes.textbook().fit(*play_tennis()).shapes(["wind"])["wind"].log_odds.round(2)
        array([[ 0.45, -0.45],
               [-0.4 ,  0.4 ]])
        """
        from priory.explaining.shapes import shapes

        classifier = self._fitted()
        model, weighed, choices = classifier.readout()
        scale = float(classifier.statistics.weight.sum() / weighed.weight.sum())
        return shapes(model, weighed, choices, columns, level, scale)

    def diagnose(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Diagnosis:
        """Find the columns that depend on each other given the class, and say what to do.

            I(A; B | class), less chance;   gain: bits a row by which both together tell the class

        It looks at the sample of rows that the model keeps, or at rows and their classes.

        >>> from priory import NaiveBayes
        >>> y = np.arange(600) % 2
        >>> X = {"a": y ^ (np.arange(600) % 3 == 0), "b": np.arange(600) % 5}
        >>> NaiveBayes.textbook().fit(X, y).diagnose(X, y)
        <Diagnosis: 0 pairs of 2 columns depend on each other>
        """
        from priory.explaining.doctor import diagnose
        from priory.tuning.leave_one_out import class_codes

        classifier = self._fitted()
        model, statistics = classifier.model, classifier.statistics
        if (X is None) != (y is None):
            raise SettingError("diagnose takes rows and their classes, or neither.")
        if X is not None:
            raw = open_table(self._rows(X))
            labels, weight = self._targets(y), read_weights(sample_weight, raw.n_rows)
            check_lengths(raw.n_rows, labels)
            codes = _codes(labels, raw.n_rows, classifier.classes)
            return diagnose(model, statistics, classifier.frame(raw), codes, weight)
        sample = classifier.tuning_sample
        if sample is None:
            raise SettingError(
                "This model keeps no rows to look at: give diagnose the rows and their classes."
            )
        codes = class_codes(sample.y, statistics)
        return diagnose(model, statistics, sample.frame, codes, sample.weight)

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
            codes = _codes(labels, raw.n_rows, classifier.classes)
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

    # On paper and on pages; by name, since this module is below what draws them

    def nomogram(self, target: Any = None, against: Any = None) -> Any:
        """Draw the model as a picture from which predictions are read: `priory.nomogram`."""
        return import_module("priory.reporting").nomogram(self, target, against)

    def report(self, X: Any = None, y: Any = None, sample_weight: Any = None, **more: Any) -> Any:
        """Write a report in one file of HTML: `priory.report`, which tells of the options."""
        return import_module("priory.reporting").report(self, X, y, sample_weight, **more)


def _codes(y: Any, n: int, classes: Sequence[Label]) -> CodeArray:
    """Find the place of each row's class among the classes; one class may stand for all rows."""
    if isinstance(y, str | bytes) or not hasattr(y, "__len__"):
        y = [y] * n
    wanted = read_labels(y)
    if len(wanted) != n:
        raise InputError(f"y must be one class or one for each of the {n} rows.")
    places = {label_key(label): k for k, label in enumerate(classes)}
    unknown = [label for label in wanted.labels if label_key(label) not in places]
    if unknown:
        raise InputError(f"Class {listing(unknown)} is not known. Classes: {listing(classes)}.")
    place = np.array([places[label_key(label)] for label in wanted.labels], dtype=np.int32)
    return place[wanted.codes] if n else wanted.codes
