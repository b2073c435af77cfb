"""Export to ONNX: the same scores, with operators that every runtime has.

Every column is an input of shape rows × 1: strings for columns of strings, float64 for all others.
A missing value is an empty string or NaN. The outputs are `label` and `probabilities`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from priory.base.errors import SettingError
from priory.base.typing import FloatArray
from priory.base.version import __version__
from priory.classifier.classifier import Classifier
from priory.deciding.rules import Rule
from priory.export.decisions import Exported, labels_of, with_rule
from priory.export.refusals import grid, no_form, writer
from priory.families.bernoulli import Bernoulli
from priory.families.binomial import Binomial
from priory.families.categorical import Categorical
from priory.families.conditional import Conditional
from priory.families.correction import Correction
from priory.families.gaussian import Gaussian
from priory.families.histogram import Histogram
from priory.families.multinomial import Complement, Multinomial
from priory.families.poisson import Poisson
from priory.families.student_t import StudentT
from priory.families.transforms import Identity, LogTransform
from priory.kernels.score import TIE, TIE_SHARE
from priory.model.term import Term

__all__ = ["to_onnx"]

IMPOSSIBLE = -1e300
"""Stands for −∞, which a product with 0 would turn into NaN."""

FORMAT, OPSETS = "ONNX", (("", 17), ("ai.onnx.ml", 3))


def to_onnx(classifier: Exported) -> bytes:
    """Export a model as the bytes of an ONNX file; with the rule that it decides by, if it has one.

    >>> from priory import Classifier, Settings
    >>> classifier = Classifier(Settings.textbook())
    >>> _ = classifier.update({"x": [1.0, 2.0, 4.0]}, ["no", "yes", "yes"])
    >>> len(to_onnx(classifier)) > 500
    True
    """
    try:
        import onnx
    except ImportError:
        raise SettingError("Export to ONNX needs onnx: pip install 'priory[onnx]'.") from None
    return bytes(_Graph(*with_rule(classifier), onnx).model().SerializeToString())


class _Graph:
    """A graph under construction; every method returns the name of its output."""

    def __init__(self, classifier: Classifier, rule: Rule | None, onnx: Any) -> None:
        self._onnx, self._model, self._rule = onnx, classifier.model, rule
        self._columns = list(classifier.statistics.schema.columns)
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: dict[str, Any] = {}

    def model(self) -> Any:
        """Build the whole graph as an ONNX model."""
        helper, types = self._onnx.helper, self._onnx.TensorProto
        classes = self._model.classes
        log_prior = np.maximum(self._model.log_prior, IMPOSSIBLE)[None, :]
        score: Any = log_prior
        for term in self._model.terms:
            added = self._term(term)
            if term.offset is not None and term.offset.any():
                score = self.node("Add", score, self._offset(added, term.offset))
            if not term.weight:  # weight 0: not even impossible values count
                continue
            if term.weight != 1.0:
                added = self.node("Mul", added, self._of_classes(term.weight))
            score = self.node("Add", score, added)
        # A row that is impossible under every class has the class prior.
        most = self.node("ReduceMax", score, axes=[1], keepdims=1)
        hopeless = self.node("Less", most, IMPOSSIBLE / 2)
        score = self._settled(self.node("Where", hopeless, log_prior, score))
        labels: list[Any] = list(classes)
        if self._rule is None:
            self.node("Softmax", score, axis=1, name="probabilities")
            best = self.node("ArgMax", score, axis=1, keepdims=0)
        else:
            best = self._decided(self._rule, self.node("Softmax", score, axis=1))
            labels = labels_of(self._rule)
        texts = [isinstance(label, str) for label in labels]
        if any(texts) and not all(texts):
            raise SettingError("Classes of several types cannot be exported to ONNX.")
        whole = all(isinstance(label, int) for label in labels)  # booleans become 0 and 1
        kind = types.STRING if all(texts) else types.INT64 if whole else types.DOUBLE
        values = [int(label) if isinstance(label, bool) else label for label in labels]
        self.node("Gather", self._labels(values, kind), best, name="label")
        inputs = [self._inputs[c] for c in self._columns if c in self._inputs]
        outputs = [
            helper.make_tensor_value_info("label", kind, ["rows"]),
            helper.make_tensor_value_info("probabilities", types.DOUBLE, ["rows", len(classes)]),
        ]
        graph = helper.make_graph(self._nodes, "priory", inputs, outputs, self._constants)
        model = helper.make_model(
            graph,
            producer_name="priory",
            producer_version=__version__,
            ir_version=8,
            opset_imports=[helper.make_opsetid(*opset) for opset in OPSETS],
        )
        self._onnx.checker.check_model(model)
        return model

    def _decided(self, rule: Rule, p: str) -> str:
        """Find the place of the decision; the probabilities are those under the prior wanted."""
        K = len(rule.classes)
        if rule.shift is not None:
            factors = np.exp(rule.shift - np.max(rule.shift))[None, :]
            shifted = self.node("Mul", p, factors)
            whole = self.node("MatMul", shifted, np.ones((K, 1)))
            again = self.node("Div", shifted, self.node("Max", whole, np.full((1, 1), 5e-324)))
            p = self.node("Where", self.node("Greater", whole, np.zeros((1, 1))), again, p)
        self.node("Mul", p, np.ones((1, K)), name="probabilities")
        if rule.costs is None:
            found = self.node("ArgMax", p, axis=1, keepdims=0)
        else:
            slack = 1e-12 * float(np.abs(rule.costs).max(initial=0.0))
            expected = self.node("MatMul", p, rule.costs)
            least = self.node("ReduceMin", expected, axes=[1], keepdims=1)
            most = self.node("Add", least, np.full((1, rule.costs.shape[1]), slack))
            near = self._doubles(self.node("LessOrEqual", expected, most))
            found = self.node("ArgMax", near, axis=1, keepdims=0)
        if rule.threshold is not None and rule.positive is not None:
            own = np.eye(K)[[rule.positive]]
            others = self.node("ArgMax", self.node("Sub", p, 2.0 * own), axis=1, keepdims=0)
            of_positive = self.node("ReduceMax", self.node("Mul", p, own), axes=[1], keepdims=0)
            high = self.node("GreaterOrEqual", of_positive, np.full(1, rule.threshold))
            found = self.node("Where", high, np.full(1, rule.positive, dtype=np.int64), others)
        if rule.least is not None:
            place = self.node("Min", found, np.full(1, K - 1, dtype=np.int64))
            own_p = self.node(
                "GatherElements", p, self.node("Unsqueeze", place, np.array([1])), axis=1
            )
            sure = self.node("GreaterOrEqual", own_p, np.full((1, 1), rule.least))
            unsure = np.full(1, K, dtype=np.int64)
            found = self.node("Where", self.node("Squeeze", sure, np.array([1])), found, unsure)
        return found

    def _settled(self, score: str) -> str:
        """Make scores that are tied, up to rounding, equal."""
        most = self.node("ReduceMax", score, axes=[1], keepdims=1)
        by_size = self.node("Mul", self.node("Abs", most), self._of_classes(TIE_SHARE))
        floor = self.node("Sub", most, self.node("Max", by_size, self._of_classes(TIE)))
        return self.node("Where", self.node("Less", score, floor), score, most)

    def _of_classes(self, number: float) -> FloatArray:
        """Repeat a number for each class: runtimes fold a scalar into products as float32."""
        return np.full((1, len(self._model.classes)), number)

    def _offset(self, score: str, offset: FloatArray) -> str:
        """Add the bias of a factor, for the rows to whose scores the factor contributes."""
        most = self.node("ReduceMax", self.node("Abs", score), axes=[1], keepdims=1)
        says = self._doubles(self.node("Greater", most, 0.0))
        return self.node("Mul", says, offset[None, :])

    def node(
        self, operator: str, *inputs: Any, name: str = "", domain: str = "", **more: Any
    ) -> str:
        """Add an operator; inputs are names, or numbers and arrays."""
        output = name or f"priory.n{len(self._nodes)}"
        names = [x if isinstance(x, str) else self.constant(x) for x in inputs]
        made = self._onnx.helper.make_node(operator, names, [output], domain=domain, **more)
        self._nodes.append(made)
        return output

    def constant(self, values: Any) -> str:
        """Add an array; a number becomes one of shape 1 × 1."""
        name = f"priory.c{len(self._constants)}"
        array = np.full((1, 1), values) if isinstance(values, float) else np.asarray(values)
        self._constants.append(self._onnx.numpy_helper.from_array(array, name))
        return name

    def _labels(self, labels: list[Any], kind: int) -> str:
        if kind == self._onnx.TensorProto.STRING:
            labels = [label.encode() for label in labels]
        name = f"priory.c{len(self._constants)}"
        made = self._onnx.helper.make_tensor(name, kind, [len(labels)], labels)
        self._constants.append(made)
        return name

    def _input(self, column: str, kind: int) -> str:
        if column not in self._inputs:
            info = self._onnx.helper.make_tensor_value_info(column, kind, ["rows", 1])
            self._inputs[column] = info
        return column

    def _numbers(self, column: str) -> str:
        return self._input(column, self._onnx.TensorProto.DOUBLE)

    def _term(self, term: Term) -> str:
        """Compute the contribution of a factor to each score, rows × classes."""
        if term.about == "missing":
            return self._missing(term)
        write: Callable[[_Graph, Term], str] = writer(term, WRITERS, FORMAT)
        return write(self, term)

    def _missing(self, term: Term) -> str:
        p, column = term.parameters, term.block.columns[-1]
        if column not in self._inputs:
            raise no_form(
                term, FORMAT, "its missing values count, but its values are not in the model"
            )
        if self._inputs[column].type.tensor_type.elem_type == self._onnx.TensorProto.STRING:
            missing = self.node("Equal", self._coded(column, [""]), np.array([[0]]))
        else:
            missing = self.node("IsNaN", column)
        return self.node("Where", missing, _finite(p.log_on[:1]), _finite(p.log_off[:1]))

    def _coded(self, column: str, strings: list[str]) -> str:
        """Find the index of each string; unknown strings get the next index."""
        return self.node(
            "LabelEncoder",
            column,
            domain="ai.onnx.ml",
            keys_strings=strings,
            values_int64s=list(range(len(strings))),
            default_int64=len(strings),
        )

    def categorical(self, term: Term) -> str:
        """Look up the values."""
        family: Any = term.family
        if family.unseen == "error":
            raise no_form(term, FORMAT, "unseen='error' has no ONNX form; use 'skip' or 'smooth'")
        p, column = term.parameters, term.block.columns[0]
        log_p = _finite(p.log_p)
        n, zeros = len(p.labels), np.zeros((1, log_p.shape[1]))
        unseen = log_p[n:] if family.unseen == "smooth" else zeros
        texts = [isinstance(label, str) for label in p.labels]
        if any(texts):
            if not all(texts):
                raise no_form(term, FORMAT, "it holds strings and numbers")
            x = self._input(column, self._onnx.TensorProto.STRING)
            # An empty string is missing, unless it is in the training data.
            gap = [] if "" in p.labels else [""]
            table = np.concatenate([log_p[:n], *([zeros] if gap else []), unseen])
            codes = self._coded(x, [*p.labels, *gap])
            return self.node("GatherND", table, codes)
        x = self._numbers(column)
        values = np.array([[float(label) for label in p.labels]])
        found = self._doubles(self.node("Equal", x, values))
        score = self.node("MatMul", found, log_p[:n])
        if family.unseen != "smooth":
            return score
        known = self.node("ReduceMax", found, axes=[1], keepdims=1)
        other = self.node("Less", known, 0.5)
        score = self.node("Where", other, unseen, score)
        return self._unless_missing(x, score)

    def bernoulli(self, term: Term) -> str:
        """Choose between present and absent."""
        p = term.parameters
        if not term.block.kind.is_of_several:
            x = self._numbers(term.block.columns[0])
            on, off = (_finite(a[:1]) for a in (p.log_on, p.log_off))
            there = self.node("Greater", x, 0.5)
            return self._unless_missing(x, self.node("Where", there, on, off))
        log_on, log_off = _finite(p.log_on), _finite(p.log_off)
        there = self.node("Greater", self._together(term), 0.0)
        present, absent = self._doubles(there), self._doubles(self.node("Not", there))
        return self.node(
            "Add",
            self.node("MatMul", present, log_on),
            self.node("MatMul", absent, log_off),
        )

    def counts(self, term: Term, weights: FloatArray) -> str:
        """Multiply the counts by their weights."""
        return self.node("MatMul", self._together(term), _finite(weights))

    def of_numbers(self, term: Term, score: Callable[[str, int], str]) -> str:
        """Add the scores of all numeric columns of a block; missing values add nothing."""
        total = ""
        for j, column in enumerate(term.block.columns):
            x = self._numbers(column)
            scores = self._unless_missing(x, score(x, j))
            total = self.node("Add", total, scores) if total else scores
        return total

    def gaussian(self, term: Term) -> str:
        """Compute log_norm − (x − μ)² / 2σ²."""
        p = term.parameters

        def score(x: str, j: int) -> str:
            about = self.node("Sub", x, p.mean[None, :, j])
            square = self.node("Mul", about, about)
            falling = self.node("Mul", square, p.half_precision[None, :, j])
            return self.node("Sub", p.log_norm[None, :, j], falling)

        return self.of_numbers(term, score)

    def student(self, term: Term) -> str:
        """Compute log_norm − (ν + 1)/2 · log(1 + (x − μ)² / νs²)."""
        p = term.parameters

        def score(x: str, j: int) -> str:
            if isinstance(p.transform, LogTransform):
                excess = self.node("Sub", x, p.transform.least)
                excess = self.node("Max", excess, 0.0)
                excess = self.node("Div", excess, p.transform.scale)
                x = self.node("Log", self.node("Add", excess, 1.0))
            elif not isinstance(p.transform, Identity):
                raise no_form(term, FORMAT, "the rank-normal has no ONNX form; use 'student-t'")
            about = self.node("Sub", x, p.location[None, :, j])
            square = self.node("Mul", about, about)
            spread = 1 / (p.dof * p.scale2)[None, :, j]
            grown = self.node("Add", self.node("Mul", square, spread), 1.0)
            power = (p.dof[None, :, j] + 1) / 2
            falling = self.node("Mul", self.node("Log", grown), power)
            return self.node("Sub", p.log_norm[None, :, j], falling)

        return self.of_numbers(term, score)

    def histogram(self, term: Term) -> str:
        """Count the cut points below a number, and look up the bin."""
        p = term.parameters
        table = _finite(p.log_p)

        def score(x: str, j: int) -> str:
            if not len(p.cuts):
                return self.node("Gather", table, np.array([0]), axis=0)
            above = self.node("Greater", x, p.cuts[None, :])
            whole = self.node("Cast", above, to=self._onnx.TensorProto.INT64)
            bins = self.node("ReduceSum", whole, np.array([1]), keepdims=1)
            return self.node("GatherND", table, bins)

        return self.of_numbers(term, score)

    def pair(self, term: Term) -> str:
        """Find the indices of all the values, and look them up together."""
        p = term.parameters
        table = _finite(grid(term, FORMAT))
        place = ""
        for j, labels in enumerate((*p.parents, p.children)):
            of_column, code = self._place(term, j, labels)
            table = table.take(of_column, axis=j)
            if place:
                width = np.array([[len(of_column)]])
                place = self.node("Add", self.node("Mul", place, width), code)
            else:
                place = code
        return self.node("GatherND", table.reshape(-1, table.shape[-1]), place)

    def _place(self, term: Term, j: int, labels: tuple[Any, ...]) -> tuple[list[int], str]:
        """Code the values or bins of a column, and list the index that each code stands for.

        The last index is that of missing and unseen values.
        """
        column, pairing = term.block.columns[j], term.block.pairing
        assert pairing is not None
        ends, n, whole = pairing.edges[j], len(labels), self._onnx.TensorProto.INT64
        if any(isinstance(label, str) for label in labels):
            if not all(isinstance(label, str) for label in labels):
                raise no_form(term, FORMAT, "it holds strings and numbers")
            x = self._input(column, self._onnx.TensorProto.STRING)
            return list(range(n + 1)), self._coded(x, list(labels))
        x = self._numbers(column)
        if ends is None:
            found = self.node("Equal", x, np.array([list(map(float, labels))]))
            steps = np.arange(n, dtype=np.float64)[:, None] - n
            places = self.node("MatMul", self._doubles(found), steps)
            places = self.node("Add", places, float(n))
            return list(range(n + 1)), self.node("Cast", places, to=whole)
        above = self.node("Greater", x, np.array([ends[1:-1]]))
        above = self.node("Cast", above, to=whole)
        bins = self.node("ReduceSum", above, np.array([1]), keepdims=1)
        gap = np.array([[len(ends) - 1]])
        bins = self.node("Where", self.node("IsNaN", x), gap, bins)
        place = {b: i for i, b in enumerate(labels)}
        return [place.get(b, n) for b in range(len(ends))], bins

    def poisson(self, term: Term) -> str:
        """Compute x log λ − λ; what is not a count is impossible."""
        rate = term.parameters.rate
        with np.errstate(divide="ignore"):
            log_rate = _finite(np.log(rate))

        def score(x: str, j: int) -> str:
            rising = self.node("Mul", x, log_rate[None, :, j])
            value = self.node("Sub", rising, rate[None, :, j])
            return self._if_count(x, value, None)

        return self.of_numbers(term, score)

    def binomial(self, term: Term) -> str:
        """Compute x log p + (t − x) log(1 − p); what is not a number of successes is impossible."""
        family: Any = term.family
        on, off = _finite(term.parameters.log_on), _finite(term.parameters.log_off)

        def score(x: str, j: int) -> str:
            trials = float(family.trials)
            failures = self.node("Sub", trials, x)
            value = self.node(
                "Add",
                self.node("Mul", x, on[None, j]),
                self.node("Mul", failures, off[None, j]),
            )
            return self._if_count(x, value, trials)

        return self.of_numbers(term, score)

    def _if_count(self, x: str, value: str, most: float | None) -> str:
        wrong = self.node("Less", x, 0.0)
        broken = self.node("Not", self.node("Equal", x, self.node("Floor", x)))
        wrong = self.node("Or", wrong, broken)
        if most is not None:
            wrong = self.node("Or", wrong, self.node("Greater", x, most))
        return self.node("Where", wrong, IMPOSSIBLE, value)

    def _unless_missing(self, x: str, score: str) -> str:
        return self.node("Where", self.node("IsNaN", x), 0.0, score)

    def _doubles(self, booleans: str) -> str:
        return self.node("Cast", booleans, to=self._onnx.TensorProto.DOUBLE)

    def _together(self, term: Term) -> str:
        return self.node("Concat", *map(self._numbers, term.block.columns), axis=1)


WRITERS: dict[type, Callable[[_Graph, Term], str]] = {
    Categorical: _Graph.categorical,
    Bernoulli: _Graph.bernoulli,
    Multinomial: lambda graph, term: graph.counts(term, term.parameters.table),
    Complement: lambda graph, term: graph.counts(term, term.parameters.table),
    Gaussian: _Graph.gaussian,
    StudentT: _Graph.student,
    Histogram: _Graph.histogram,
    Poisson: _Graph.poisson,
    Binomial: _Graph.binomial,
    Conditional: _Graph.pair,
    Correction: _Graph.pair,
}


def _finite(log_p: Any) -> FloatArray:
    return np.maximum(np.asarray(log_p, dtype=np.float64), IMPOSSIBLE)
