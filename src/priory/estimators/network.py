"""A belief network as a classifier: the scikit-learn face of one of its variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from priory.base.errors import (
    IdentifierWarning,
    ImpossibleEvidenceWarning,
    InputError,
    SchemaError,
    SettingError,
    did_you_mean,
    listing,
    warn,
)
from priory.base.labels import label_array, label_key, sorted_labels
from priory.base.locking import alone
from priory.base.typing import AnyArray, FloatArray, Label
from priory.data.columns import Labels, Numbers
from priory.data.natural import Natural
from priory.data.rawtables import RawTable
from priory.data.reading import open_table, read_labels, read_weights
from priory.estimators.naive_bayes import TableClassifier, like_y, read_classes
from priory.kernels.score import log_normalize, softmax
from priory.network import BeliefNetwork
from priory.network.elimination import MOST_NUMBERS, Plans
from priory.network.factors import BDeu
from priory.network.graph import Graph
from priory.network.rows import log_p_rows
from priory.network.structure import Scored, climb, tan
from priory.network.targets import log_joint_rows
from priory.network.variables import Coded, domain_of, read_coded
from priory.tuning.choices import NAMING_ROWS, NAMING_SHARE

__all__ = ["NetworkClassifier"]

STRUCTURES = ("naive", "tan", "hill-climb")

FEW_FRACTIONS = 10
"""So many different numbers with a fraction, such as half stars, may still be categories."""

MOST_WHOLE = 1024
"""Of whole numbers, so many may be."""

PATIENCE = 10


class NetworkClassifier(TableClassifier):
    """Classify tables of categories by a belief network, one of whose nodes is the class.

        P(k | x) ∝ Σ over gaps Π_i P(x_i | parents of x_i)

    Gaps, and values never learned, are summed out exactly. With every column known only the
    class's Markov blanket matters.

    Parameters
    ----------
    structure : "tan", "naive", "hill-climb", edges or a `BeliefNetwork`
        Who depends on whom. "naive": each column on the class alone. "tan": besides on one other
        column, by the tree of greatest mutual information given the class. "hill-climb": any
        graph that `BeliefNetwork.hill_climbing` finds, begun from the naive one. Edges, as
        `BeliefNetwork` takes them, or the edges of a network, are taken as they are; columns
        that are no nodes are not read.
    target : a name, or None
        The node of the class; None takes the name of y, or else "class".
    smoothing : a number, a prior, `BDeu`, or a mapping of nodes to them
        How counts become probabilities: a number is Laplace's α. A class without parents has its
        share of the rows, as in `NaiveBayes`, unless the mapping names it; `BDeu` is for all nodes.
    values : a mapping of nodes to their values
        Values that may come beside those learned, and beside those that a column's type lists.
    criterion : "bic", "mdl", "bdeu", "k2" or `BDeu`
        What "hill-climb" climbs by.
    max_parents : a whole number, or None
        How many parents "hill-climb" gives a node at most.
    most_numbers : a whole number
        The most numbers that a table on the way to an answer may hold.

    Examples
    --------
    >>> from priory.examples import play_tennis
    >>> X, y = play_tennis()
    >>> model = NetworkClassifier("tan", target="play").fit(X, y)
    >>> model.network_.parents("humidity")
    ('play', 'temperature')
    >>> model.predict([{"outlook": "Overcast"}, {"outlook": "Sunny", "humidity": "High"}]).tolist()
    ['Yes', 'No']
    """

    def __init__(
        self,
        structure: Any = "tan",
        target: str | None = None,
        smoothing: Any = 1.0,
        values: Any = None,
        criterion: Any = "bic",
        max_parents: int | None = None,
        most_numbers: int = MOST_NUMBERS,
    ) -> None:
        self.structure = structure
        self.target = target
        self.smoothing = smoothing
        self.values = values
        self.criterion = criterion
        self.max_parents = max_parents
        self.most_numbers = most_numbers

    @classmethod
    def from_network(cls, network: BeliefNetwork, target: str) -> Self:
        """Return a fitted classifier that asks a network, as it is, for one of its nodes.

        >>> network = BeliefNetwork([("a", "b")], {"a": 0.5, "b": {(True,): 0.9, (False,): 0.2}})
        >>> model = NetworkClassifier.from_network(network, "a")
        >>> model.predict_proba({"b": [True, None]}).round(4).tolist()
        [[0.1818, 0.8182], [0.5, 0.5]]
        """
        if not isinstance(network, BeliefNetwork):
            raise SettingError(f"network must be a BeliefNetwork, not {network!r:.60}.")
        network.graph.find(target)
        _ = network.tables  # a network that has learned nothing says so
        features = tuple(name for name in network.nodes if name != target)
        result = cls(network, target, network.smoothing, most_numbers=network.most_numbers)
        result._take(network, target, RawTable((*features, target), 0, True, _nothing), None)
        result._names, result.n_features_in_ = features, len(features)
        result.feature_names_in_ = np.array(features, dtype=object)
        return result

    # Learning

    @alone
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn a table with its classes, forgetting whatever was learned before.

        With "tan" and "hill-climb" the structure is found first. A column of strings that only
        names its rows is left out, unless edges name it; so is one that holds nothing.
        """
        return self._fit(X, y, sample_weight, ())

    @alone
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn more rows; new classes and values may come at any time.

        The structure is that of the first rows. `classes` may name classes that have no rows yet.
        """
        declared = () if classes is None else read_labels(classes, "classes").labels
        if not self.__sklearn_is_fitted__():
            return self._fit(X, y, sample_weight, declared)
        raw = open_table(X)
        table = self._with_target(raw, self._matched(raw), self.target_, y)
        self.network_.learn(table, sample_weight)
        listed = _listed_values(table, self.network_.nodes)
        self.network_.declare({**listed, **({self.target_: declared} if declared else {})})
        return self

    @alone
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take away rows that were learned, as if they had never been seen."""
        check_is_fitted(self)
        raw = open_table(X)
        table = self._with_target(raw, self._matched(raw), self.target_, y)
        self.network_.forget(table, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, classes: Sequence[Label]) -> Self:
        self._check_settings()
        raw = open_table(X)
        target = self._target_name(raw, y)
        table = self._with_target(raw, {name: name for name in raw.names}, target, y)
        weight = read_weights(sample_weight, raw.n_rows)
        if weight is not None and not weight.any():
            raise InputError("There are no rows to learn from: sample_weight is zero in every row.")
        graph = self._graph(table, raw.names, target, weight)
        values = dict(self.values or {})
        if isinstance(self.structure, BeliefNetwork):
            known = self.structure._domains or self.structure._declared
            values = {**known, **values}
        for name, listed in _listed_values(table, graph.nodes).items():
            values[name] = domain_of(listed, tuple(values.get(name, ())))
        if classes:
            values[target] = sorted_labels([*values.get(target, ()), *classes])
        network = BeliefNetwork(
            graph.parents,
            nodes=graph.nodes,
            values=values,
            smoothing=self._smoothing(graph, target),
            most_numbers=self.most_numbers,
        )
        network.learn(table, weight)
        _ = network.tables  # what cannot be answered fails here, not at predict
        self._take(network, target, raw, y)
        return self

    def _smoothing(self, graph: Graph, target: str) -> Any:
        """Return the smoothing of each node; a class that depends on nothing has its share."""
        given = self.smoothing
        if graph.parents[target] or isinstance(given, BDeu):
            return given
        by_node = given if isinstance(given, Mapping) else dict.fromkeys(graph.nodes, given)
        named = isinstance(given, Mapping) and target in given
        return by_node if named else {**by_node, target: 0.0}

    def _check_settings(self) -> None:
        given = isinstance(self.structure, str)
        if given and self.structure not in STRUCTURES:
            raise SettingError(
                f"structure must be one of {listing(STRUCTURES)}, edges or a BeliefNetwork, not "
                f"{self.structure!r}.{did_you_mean(self.structure, STRUCTURES)}"
            )
        if given and self.structure == "hill-climb":
            return
        asked = [("criterion", self.criterion, "bic"), ("max_parents", self.max_parents, None)]
        for name, value, default in asked:
            if value is not default and value != default:
                raise SettingError(
                    f"{name} is {value!r}, but only structure='hill-climb' looks at it."
                )

    def _target_name(self, raw: RawTable, y: Any) -> str:
        named = getattr(y, "name", None)
        target = self.target or (named if isinstance(named, str) else "class")
        if target in raw.places:
            raise SettingError(
                f"target is {target!r}, which is a column of X too. Leave it out of X, or name the "
                "class otherwise: target=..."
            )
        return target

    def _with_target(
        self, raw: RawTable, places: Mapping[str, str], target: str, y: Any
    ) -> RawTable:
        """Return a table with the classes as one more column."""
        labels = read_classes(y, type(self).__name__)
        if len(labels) != raw.n_rows:
            raise InputError(
                "Found input variables with inconsistent numbers of samples: X has "
                f"{raw.n_rows} rows, y has {len(labels)}."
            )
        for name, place in places.items():
            _refuse_measurements(raw, place, name)
        columns: list[Callable[[], Any]] = [_column(raw, place) for place in places.values()]
        columns.append(lambda: labels)
        table = RawTable((*places, target), raw.n_rows, True, lambda i: columns[i]())
        table._seen[target] = Natural(labels, "classes")
        return table

    def _graph(
        self, table: RawTable, columns: Iterable[str], target: str, weight: FloatArray | None
    ) -> Graph:
        if not isinstance(self.structure, str):
            return self._given_graph(columns, target)
        names = _telling(table, columns)
        naive = [(target, name) for name in names]
        if self.structure == "naive" or not names:
            return Graph.of(naive, (*names, target))
        coded = read_coded(table, (*names, target))
        if weight is not None and not weight.all():
            coded, weight = coded.take(weight > 0), weight[weight > 0]
        if self.structure == "tan":
            return tan(coded, target, weight)
        scored = Scored(coded, self.criterion, weight)
        return climb(scored, naive, (), (), self.max_parents, PATIENCE)

    def _given_graph(self, columns: Iterable[str], target: str) -> Graph:
        given = self.structure
        graph = given.graph if isinstance(given, BeliefNetwork) else Graph.of(given)
        if target not in graph.parents:
            raise SettingError(
                f"The structure has no node {target!r} for the class. Nodes: "
                f"{listing(graph.nodes, 10)}. Name one of them: target=..."
            )
        known = [*columns]
        for name in graph.nodes:
            if name != target and name not in known:
                raise SchemaError(
                    f"The structure has a node {name!r}, but X has no such column. Columns: "
                    f"{listing(known, 10)}.{did_you_mean(name, known)}"
                )
        return graph

    def _take(self, network: BeliefNetwork, target: str, raw: RawTable, y: Any) -> None:
        """Become fitted: keep the network and what scikit-learn wants to know."""
        self.network_, self.target_ = network, target
        self._names, self._named = raw.names, raw.named
        self._plans = Plans(network.most_numbers)
        self._y_dtype = getattr(y, "dtype", None)
        self.n_features_in_ = len(raw.names)
        if raw.named:
            self.feature_names_in_ = np.array(raw.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    # Answers

    def predict(self, X: Any) -> AnyArray:
        """Return the most probable class of every row; a tie goes to the first."""
        return self.classes_[self._normalized(X, log_normalize).argmax(axis=1)]

    def predict_proba(self, X: Any) -> FloatArray:
        """Return P(k | x), a column for each of `classes_`.

        Columns that the table does not have are missing in every row.
        """
        return self._normalized(X, softmax)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return log P(k | x), a column for each of `classes_`."""
        return self._normalized(X, log_normalize)

    def score_samples(self, X: Any) -> FloatArray:
        """Return log P(x): how likely each row is under the network at all."""
        coded, network = self._coded(X), self.network_
        return log_p_rows(coded, network.graph, network.tables, self._plans)

    @property
    def classes_(self) -> AnyArray:
        """Return the classes, in their order."""
        check_is_fitted(self)
        return like_y(label_array(self._classes()), self._y_dtype)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "network_")

    def _classes(self) -> tuple[Label, ...]:
        return sorted_labels(self.network_.values[self.target_])

    def _normalized(self, X: Any, normalize: Callable[[Any, Any], None]) -> FloatArray:
        """Return P(k | x), or its logarithm; a row that is impossible gets the class prior."""
        coded, network = self._coded(X), self.network_
        joint = log_joint_rows(coded, network.graph, network.tables, self.target_, self._plans)
        places = {label_key(v): i for i, v in enumerate(network.values[self.target_])}
        order = [places[label_key(label)] for label in self._classes()]
        out, evidence = np.ascontiguousarray(joint[:, order]), np.empty(len(joint))
        normalize(out, evidence)
        impossible = np.isneginf(evidence)
        if impossible.any():
            prior = np.array([*network.marginals()[self.target_].values()])[order]
            with np.errstate(divide="ignore"):
                out[impossible] = prior if normalize is softmax else np.log(prior)
            n = int(impossible.sum())
            warn(
                f"{n} {'row is' if n == 1 else 'rows are'} impossible under every class; the "
                "answer given is the class prior. A smoothing above 0 lets values be possible that "
                "never came together.",
                ImpossibleEvidenceWarning,
            )
        return out

    def _coded(self, X: Any) -> Coded:
        """Return the columns that are nodes as codes; what was never learned is missing."""
        check_is_fitted(self)
        raw = open_table(X)
        places = self._matched(raw)
        nodes = [n for n in self.network_.nodes if n in places and n != self.target_]
        table = RawTable(
            (*nodes,) or ("",), raw.n_rows, True, lambda i: _column(raw, places[nodes[i]])()
        )
        return read_coded(table, nodes, self.network_.values, fixed="or a gap")

    def _matched(self, raw: RawTable) -> dict[str, str]:
        """Return which column of a table stands for each one learned that the table has."""
        if not (raw.named and self._named):
            if len(raw.names) != self.n_features_in_:
                raise SchemaError(
                    f"X has {len(raw.names)} features, but {type(self).__name__} is expecting "
                    f"{self.n_features_in_} features as input: {listing(self._names)}."
                )
            return dict(zip(self._names, raw.names, strict=False))
        extra = [name for name in raw.names if name not in self._names]
        if extra:
            raise SchemaError(
                f"Column {listing(extra)} was not there when the model learned; leave it out. "
                f"Columns: {listing(self._names)}.{did_you_mean(extra[0], self._names)}"
            )
        return {name: name for name in self._names if name in raw.places}


def _nothing(_: int) -> Any:
    return []


def _column(raw: RawTable, name: str) -> Callable[[], Any]:
    return lambda: raw.get(raw.places[name])


def _listed_values(table: RawTable, nodes: Iterable[str]) -> dict[str, tuple[Label, ...]]:
    """Return the values that the types of columns declare, with rows or without."""
    found = {name: table.declared(name) for name in nodes if name in table.places}
    return {name: values for name, values in found.items() if values}


def _refuse_measurements(raw: RawTable, place: str, name: str) -> None:
    """Refuse a column of numbers that are no categories."""
    column = raw.column(place).column
    if not isinstance(column, Numbers):
        return
    distinct = np.unique(column.values[np.isfinite(column.values)])
    broken = distinct[distinct % 1 != 0]
    if len(broken) and len(distinct) > FEW_FRACTIONS:
        what = f"numbers such as {float(broken[0]):g}"
    elif len(distinct) > MOST_WHOLE:
        what = f"{len(distinct):,} different numbers"
    else:
        return
    raise InputError(
        f"Column {name!r} holds {what}, which are measurements and no categories. Cut it into "
        "bins first, as KBinsDiscretizer(encode='ordinal') and pandas.cut do, or use NaiveBayes, "
        "which takes numbers as they are."
    )


def _telling(table: RawTable, names: Iterable[str]) -> tuple[str, ...]:
    """Return the columns that hold anything, and do not just name their rows."""
    kept, naming = [], []
    for name in names:
        labels = table.column(name).column.as_labels()
        present = int((~labels.missing).sum())
        if present and _names_rows(labels, present):
            naming.append(name)
        elif present:
            kept.append(name)
    if naming:
        warn(
            f"Column {listing(naming)} has hardly two rows alike: it names the rows and was left "
            "out. To use it all the same, name it in edges: structure=[...].",
            IdentifierWarning,
        )
    return tuple(kept)


def _names_rows(labels: Labels, present: int) -> bool:
    return (
        present >= NAMING_ROWS
        and len(labels.labels) >= NAMING_SHARE * present
        and all(isinstance(label, str) for label in labels.labels)
    )
