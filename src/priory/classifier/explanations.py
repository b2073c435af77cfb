"""Why a model says what it says, and what would change it; asked of every classifier."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from priory.base.errors import InputError, SettingError, listing
from priory.base.labels import label_key
from priory.base.typing import AnyArray, CodeArray, Label
from priory.classifier.decisions import Decisions
from priory.data.columns import Frame, Labels
from priory.data.rawtables import open_table
from priory.data.reading import check_lengths, read_labels, read_weights
from priory.model.model import Model

# What a prediction does not need is imported where it is used.
if TYPE_CHECKING:
    from priory.explaining.doctor import Diagnosis
    from priory.explaining.influence import Influence
    from priory.explaining.reasons import Reasons
    from priory.explaining.shapes import Shapes
    from priory.explaining.what_if import WhatIf
    from priory.model.explanation import Explanation

__all__ = ["Explanations", "places_of_classes"]

T = TypeVar("T")


class Explanations(Decisions):
    """Explain predictions, by the classifier that was fitted."""

    @abstractmethod
    def _targets(self, y: Any) -> Labels:
        """Read classes as the classifier does."""

    @abstractmethod
    def _answer(self, X: Any, question: Callable[[Model, Frame], T]) -> T:
        """Ask the model about rows."""

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
            codes = places_of_classes(labels, raw.n_rows, classifier.classes)
            frame = classifier.frame(raw)
            return diagnose(model, statistics, frame, codes, weight, classifier.settings)
        sample = classifier.tuning_sample
        if sample is None:
            raise SettingError(
                "This model keeps no rows to look at: give diagnose the rows and their classes."
            )
        codes = class_codes(sample.y, statistics)
        return diagnose(model, statistics, sample.frame, codes, sample.weight, classifier.settings)

    # On paper and on pages; by name, since this module is below what draws them

    def nomogram(self, target: Any = None, against: Any = None) -> Any:
        """Draw the model as a picture from which predictions are read: `priory.nomogram`."""
        return import_module("priory.reporting").nomogram(self, target, against)

    def report(self, X: Any = None, y: Any = None, sample_weight: Any = None, **more: Any) -> Any:
        """Write a report in one file of HTML: `priory.report`, which tells of the options."""
        return import_module("priory.reporting").report(self, X, y, sample_weight, **more)


def places_of_classes(y: Any, n: int, classes: Sequence[Label]) -> CodeArray:
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
