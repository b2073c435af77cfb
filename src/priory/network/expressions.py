"""Logical expressions over variables, read safely: ``rain and not (wind or 2 <= hour < 5)``.

The text is parsed by Python's own grammar (`ast`) and only these parts of it are understood:
names, values, comparisons, `in`, `and`, `or` and `not`. Nothing is ever evaluated as Python.
"""

from __future__ import annotations

import ast
import keyword
import operator
import re
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from priory.base.errors import (
    ExpressionError,
    ZeroProbabilityError,
    check_number,
    did_you_mean,
    listing,
)
from priory.base.labels import label_key, union
from priory.base.typing import FloatArray, Label
from priory.network.events import Event, Junction, Leaf, Logic
from priory.network.variables import (
    Domain,
    Domains,
    as_label,
    code_of,
    find_variable,
    true_and_false,
)

__all__ = ["EventLike", "event_of"]

LONGEST = 20_000
DEEPEST = 60

EventLike: TypeAlias = "str | Mapping[str, Any] | Event | Sequence[Any]"


def event_of(
    what: EventLike | None, domains: Domains, ordered: Collection[str] = frozenset()
) -> Event:
    """Read the event that a text, or a mapping of variables to values, describes.

    `ordered` are the variables whose values were declared in their order. In a mapping, {value:
    likelihood} instead of a value is soft evidence: how probable what was seen is with each value.
    Of several events in a sequence each must hold.

    >>> event = event_of("rain and sky != blue", {"rain": (0, 1), "sky": ("blue", "grey")})
    >>> event({"rain": np.array([1, 1]), "sky": np.array([0, 1])}, 2).tolist()
    [False, True]
    """
    if isinstance(what, Event):
        return what
    if what is None or isinstance(what, Mapping):
        return _assignment(what or {}, domains)
    if isinstance(what, str):
        return _Reader(what, domains, ordered).read()
    if isinstance(what, list | tuple):
        return _together([event_of(part, domains, ordered) for part in what])
    raise ExpressionError(
        "An event is an expression such as 'rain and not wind', or a mapping of variables to "
        f"values, not {what!r:.60}."
    )


def _together(events: Sequence[Event]) -> Event:
    soft: dict[str, FloatArray] = {}
    for event in events:
        for name, likelihood in event.soft.items():
            soft[name] = likelihood * soft.get(name, 1.0)
    text = " and ".join(f"({event.text})" for event in events) if events else "True"
    return Event(text, Junction(True, tuple(event.logic for event in events)), soft)


def _assignment(given: Mapping[str, Any], domains: Domains) -> Event:
    parts, soft, texts = [], {}, []
    for name, value in given.items():
        domain = domains[find_variable(name, domains)]
        if isinstance(value, Mapping):
            soft[name] = _likelihoods(name, value, domain)
            texts.append(f"{name} is {dict(value)!r}")
        else:
            parts.append(_fixing(name, code_of(value, name, domain), domain))
            texts.append(f"{name} == {value!r}")
    return Event(" and ".join(texts) or "True", Junction(True, tuple(parts)), soft)


def _likelihoods(name: str, given: Mapping[Any, Any], domain: Domain) -> FloatArray:
    """Read soft evidence; a value that it does not name was impossible."""
    result = np.zeros(len(domain))
    for value, likelihood in given.items():
        check_number(f"The likelihood of {name} == {value!r}", likelihood)
        result[code_of(value, name, domain)] = float(likelihood)
    if not result.any():
        raise ZeroProbabilityError(
            f"The soft evidence of {name!r}, {dict(given)!r}, makes every value impossible."
        )
    return result


def _fixing(name: str, code: int, domain: Domain) -> Leaf:
    """Make the statement that a variable has a value; with the code −1, that of no value."""
    return Leaf((name,), np.arange(len(domain)) == code)


BOOLEAN, NUMBER = 0, 1
"""The kinds of labels, as `label_key` has them."""

KEYWORDS = {*keyword.kwlist} - {"and", "or", "not", "in", "is", "True", "False", "None"}
"""Words that may name a variable or a value, although Python keeps them for itself."""


class _Variable(NamedTuple):
    name: str
    domain: Domain
    certain: bool  # in backticks, so that it cannot be meant as a value


class _Value(NamedTuple):
    value: Label


class _Word(NamedTuple):
    name: str  # of no variable: the other side must know it as a value


_Operand: TypeAlias = _Variable | _Value | _Word

COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class _Reader:
    """Turn one text into an event."""

    def __init__(self, text: str, domains: Domains, ordered: Collection[str]) -> None:
        self.text, self.domains, self.ordered = text, domains, ordered
        self.quoted: dict[str, str] = {}
        self.words: dict[str, str] = {}

    def read(self) -> Event:
        if len(self.text) > LONGEST:
            raise ExpressionError(
                f"The expression has {len(self.text):,} characters; {LONGEST:,} are the most."
            )
        if not self.text.strip():
            raise ExpressionError("The expression is empty.")
        return Event(self.text, self._event(self._parse(), 0))

    def _parse(self) -> ast.expr:
        source = self._without_keywords()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about literals
                return ast.parse(source.strip(), mode="eval").body
        except (SyntaxError, ValueError) as error:
            hint = ""
            if re.search(r"(?<![=!<>])=(?!=)", self.text):
                hint = " To compare, write ==."
            elif "`" not in self.text and any(
                " " in name and name in self.text for name in self.domains
            ):
                hint = " Put a name with spaces in backticks: `petal width` > 2."
            reason = error.msg if isinstance(error, SyntaxError) else str(error)
            raise self._error(f"it is not a logical expression ({reason:.70}).{hint}") from None
        except (RecursionError, MemoryError):
            raise self._error("it is nested too deeply.") from None

    def _without_keywords(self) -> str:
        """Replace names in backticks, and Python's keywords, by names that Python can read."""

        def stand_in(found: re.Match[str]) -> str:
            word = found.group()
            if word not in KEYWORDS or word not in self._known():
                return word
            self.words[f"_keyword_{len(self.words)}_"] = word
            return f" _keyword_{len(self.words) - 1}_ "

        pieces = re.split(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`)""", self.text)
        for i, piece in enumerate(pieces):
            if piece.startswith("`"):
                quoted = f"_backticked_{len(self.quoted)}_"
                self.quoted[quoted] = piece[1:-1]
                pieces[i] = f" {quoted} "
            elif not piece.startswith(("'", '"')):
                pieces[i] = re.sub(r"\w+", stand_in, piece)
        return "".join(pieces)

    def _known(self) -> set[Label]:
        """Collect what may be meant by a word: every variable, and every value of one."""
        return {*self.domains}.union(*self.domains.values())

    def _named(self, node: ast.Name) -> str:
        return self.quoted.get(node.id) or self.words.get(node.id, node.id)

    def _event(self, node: ast.expr, depth: int) -> Logic:
        if depth > DEEPEST:
            raise self._error(f"it is nested more than {DEEPEST} deep.")
        if isinstance(node, ast.BoolOp):
            parts = tuple(self._event(value, depth + 1) for value in node.values)
            return Junction(isinstance(node.op, ast.And), parts)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            if isinstance(node.operand, ast.Name):
                return self._boolean(node.operand, negated=True)
            return self._event(node.operand, depth + 1).negated()
        if isinstance(node, ast.Compare):
            return self._comparison(node)
        if isinstance(node, ast.Name):
            return self._boolean(node)
        if isinstance(node, ast.Constant) and isinstance(node.value, bool):
            return Leaf((), np.array(node.value))
        raise self._refusal(node)

    def _boolean(self, node: ast.Name, negated: bool = False) -> Leaf:
        name = self._named(node)
        domain = self.domains[find_variable(name, self.domains)]
        codes = true_and_false(domain)
        if codes is None:
            raise self._error(
                f"{name!r} is not boolean; compare it with one of its values, {listing(domain)}, "
                f"such as {name} == {domain[0]!r}."
                if domain
                else f"{name!r} has no values."
            )
        return _fixing(name, codes[negated], domain)

    def _comparison(self, node: ast.Compare) -> Logic:
        sides = [node.left, *node.comparators]
        parts: list[Logic] = []
        for left, op, right in zip(sides, node.ops, sides[1:], strict=False):
            if isinstance(op, ast.In | ast.NotIn):
                parts.append(self._membership(left, right, isinstance(op, ast.NotIn)))
            elif type(op) in COMPARISONS:
                parts.append(self._pair(self._operand(left), type(op), self._operand(right)))
            else:
                raise self._error("'is' is not understood; write ==.")
        return parts[0] if len(parts) == 1 else Junction(True, tuple(parts))

    def _membership(self, left: ast.expr, right: ast.expr, negated: bool) -> Logic:
        if not isinstance(right, ast.Tuple | ast.List | ast.Set):
            raise self._error("'in' needs values in brackets, such as sky in ('grey', 'blue').")
        item = self._operand(left)
        parts = [self._pair(item, ast.Eq, self._operand(value)) for value in right.elts]
        if parts and len({part.axes for part in parts}) == 1:  # of one variable: its values
            truth = reduce(np.logical_or, (part.truth for part in parts))
            return Leaf(parts[0].axes, np.asarray(truth != negated))
        either = Junction(False, tuple(parts))
        return either.negated() if negated else either

    def _pair(self, left: _Operand, op: type[ast.cmpop], right: _Operand) -> Leaf:
        """Compare two operands."""
        left, right = self._resolved(left, right), self._resolved(right, left)
        if isinstance(left, _Value) and isinstance(right, _Value):
            raise self._error(
                f"{left.value!r} and {right.value!r} are both values; compare a variable with one."
            )
        if isinstance(left, _Value):
            mirrored = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
            return self._pair(right, mirrored.get(op, op), left)
        assert isinstance(left, _Variable)
        ordered = op not in (ast.Eq, ast.NotEq)
        if isinstance(right, _Variable):
            return self._two_variables(left, op, right, ordered)
        assert isinstance(right, _Value)
        return self._with_value(left, op, right.value, ordered)

    def _with_value(
        self, left: _Variable, op: type[ast.cmpop], value: Label, ordered: bool
    ) -> Leaf:
        name, domain, compare = left.name, left.domain, COMPARISONS[op]
        if not ordered:
            equal = _fixing(name, code_of(value, name, domain), domain)
            return equal if op is ast.Eq else equal.negated()
        if {label_key(v)[0] for v in (*domain, value)} == {NUMBER}:
            return Leaf((name,), np.array([bool(compare(v, value)) for v in domain]))
        self._check_order(name, domain, repr(value), value)
        codes = np.arange(len(domain))
        return Leaf((name,), np.asarray(compare(codes, code_of(value, name, domain))))

    def _two_variables(
        self, left: _Variable, op: type[ast.cmpop], right: _Variable, ordered: bool
    ) -> Leaf:
        a, b, compare = left.domain, right.domain, COMPARISONS[op]
        if ordered and {label_key(value)[0] for value in (*a, *b)} != {NUMBER}:
            self._check_order(left.name, a, repr(right.name))
            self._check_order(right.name, b, repr(left.name))
            if a != b:
                raise self._error(
                    f"{left.name!r} and {right.name!r} are ordered differently: {listing(a)} and "
                    f"{listing(b)}; < and > compare values of the same order."
                )
            here = there = np.arange(len(a))
        else:
            _, here, there = union(a, b)
            if not ordered and not set(here.tolist()) & set(there.tolist()):
                raise self._error(
                    f"{left.name!r} and {right.name!r} have no value in common: {listing(a)} "
                    f"and {listing(b)}."
                )
        if left.name == right.name:  # a comparison with itself is the same for all its values
            return Leaf((left.name,), np.asarray(compare(here, there)))
        return Leaf((left.name, right.name), np.asarray(compare(here[:, None], there)))

    def _check_order(self, name: str, domain: Domain, what: str, value: Label = "") -> None:
        """Refuse to order values whose order was not declared."""
        if name in self.ordered and {label_key(v)[0] for v in domain} != {BOOLEAN}:
            return
        strings = all(isinstance(v, str) for v in (*domain, value))
        raise self._error(
            f"{name!r}, with the values {listing(domain)}, and {what} have no order between them; "
            "< and > compare numbers, or labels whose order was declared"
            + (
                f": values={{{name!r}: [...]}} from the least to the greatest, or an ordered "
                "categorical."
                if strings
                else "."
            )
        )

    def _operand(self, node: ast.expr) -> _Operand:
        if isinstance(node, ast.Name):
            name = self._named(node)
            if name in self.domains or node.id in self.quoted:
                domain = self.domains[find_variable(name, self.domains)]
                return _Variable(name, domain, node.id in self.quoted)
            return _Word(name)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            inner = self._operand(node.operand) if isinstance(node.operand, ast.Constant) else None
            if isinstance(inner, _Value) and type(inner.value) in (int, float):
                return _Value(-inner.value if isinstance(node.op, ast.USub) else inner.value)  # type: ignore[operator]
        if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float | str):
            return _Value(as_label(node.value, "An expression"))
        raise self._refusal(node)

    def _resolved(self, side: _Operand, other: _Operand) -> _Operand:
        """Resolve a bare word to the value that the other side knows, if it is clear."""
        if isinstance(side, _Variable) and isinstance(other, _Variable):
            if side.name in other.domain and not side.certain:
                raise self._error(
                    f"{side.name!r} is both a variable and a value of {other.name!r}; put the "
                    "value in quotes, or the variable in backticks."
                )
            return side
        if not isinstance(side, _Word):
            return side
        if not isinstance(other, _Variable):
            find_variable(side.name, self.domains)  # there is none: say which there are
        assert isinstance(other, _Variable)
        if side.name in other.domain or side.name.lower() in ("true", "false"):
            truth = side.name.lower() == "true"
            return _Value(side.name if side.name in other.domain else truth)
        raise self._error(
            f"{side.name!r} is neither a variable nor a value of {other.name!r}. Variables: "
            f"{listing(self.domains, 10)}. Values of {other.name!r}: {listing(other.domain, 10)}."
            + did_you_mean(
                side.name, [*(v for v in other.domain if isinstance(v, str)), *self.domains]
            )
        )

    def _refusal(self, node: ast.AST) -> ExpressionError:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
            return self._error("& and | are not understood; write 'and' and 'or'.")
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
            return self._error("~ is not understood; write 'not'.")
        kind = {
            ast.Call: "a call",
            ast.Attribute: "an attribute, with a dot",
            ast.Subscript: "an index, in brackets",
            ast.BinOp: "arithmetic",
            ast.Lambda: "a function",
            ast.IfExp: "a condition",
            ast.NamedExpr: "an assignment",
            ast.JoinedStr: "a formatted string",
            ast.Constant: "a value by itself",
        }.get(type(node), "something")
        return self._error(
            f"it holds {kind}, which is not understood. An expression is made of variables, "
            "values, == != < <= > >=, in, and, or, not."
        )

    def _error(self, what: str) -> ExpressionError:
        shown = self.text if len(self.text) <= 80 else self.text[:77] + "..."
        return ExpressionError(f"In {shown!r}: {what}")
