"""Logical expressions over variables, read safely: ``rain and not (wind or 2 <= hour < 5)``.

The text is parsed by Python's own grammar (`ast`) and only these parts of it are understood:
names, values, comparisons, `in`, `and`, `or` and `not`. Nothing is ever evaluated as Python.
"""

from __future__ import annotations

import ast
import operator
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from priory.base.errors import ExpressionError, did_you_mean, listing
from priory.base.labels import label_key, union
from priory.base.typing import AnyArray, BoolArray, Label
from priory.network.variables import (
    Domain,
    Domains,
    code_of,
    find_variable,
    true_and_false,
)

__all__ = ["Event", "EventLike", "event_of"]

LONGEST = 20_000
DEEPEST = 60

EventLike: TypeAlias = "str | Mapping[str, Label] | Event"
Cells: TypeAlias = int | tuple[int, ...]
Truth: TypeAlias = Callable[[Mapping[str, AnyArray], Cells], BoolArray]
"""Say of each of n cells, given as codes by variable, whether the event holds.

Codes may also be axes of a table of some shape: then the answer has as many axes.
"""


@dataclass(frozen=True, eq=False)
class Event:
    """Hold what an expression says: its variables, and in which cells it is true.

    `fixed` are the values that it fixes; `only_fixed` says that it does nothing else.
    """

    text: str
    variables: frozenset[str]
    truth: Truth
    fixed: Mapping[str, int] = field(default_factory=dict)
    only_fixed: bool = False

    def __call__(self, codes: Mapping[str, AnyArray], n: Cells) -> BoolArray:
        """Return in which of n cells the event is true."""
        return self.truth(codes, n)


def event_of(what: EventLike | None, domains: Domains) -> Event:
    """Return the event that a text, or a mapping of variables to values, describes.

    >>> event = event_of("rain and sky != blue", {"rain": (0, 1), "sky": ("blue", "grey")})
    >>> event({"rain": np.array([1, 1]), "sky": np.array([0, 1])}, 2).tolist()
    [False, True]
    """
    if isinstance(what, Event):
        return what
    if what is None:
        return _always()
    if isinstance(what, Mapping):
        return _assignment(what, domains)
    if not isinstance(what, str):
        raise ExpressionError(
            "An event is an expression such as 'rain and not wind', or a mapping of variables to "
            f"values, not {what!r:.60}."
        )
    return _Reader(what, domains).read()


def _always() -> Event:
    return Event("True", frozenset(), lambda _, n: np.ones(n, dtype=np.bool_), {}, True)


def _assignment(given: Mapping[str, Label], domains: Domains) -> Event:
    fixed = {
        find_variable(name, domains): code_of(value, name, domains[name])
        for name, value in given.items()
    }
    text = " and ".join(f"{name} == {value!r}" for name, value in given.items()) or "True"

    def truth(codes: Mapping[str, AnyArray], n: Cells) -> BoolArray:
        result = np.ones(n, dtype=np.bool_)
        for name, code in fixed.items():
            result &= codes[name] == code
        return result

    return Event(text, frozenset(fixed), truth, fixed, True)


@dataclass(frozen=True)
class _Variable:
    name: str
    domain: Domain
    certain: bool  # in backticks, so that it cannot be meant as a value


@dataclass(frozen=True)
class _Value:
    value: Label


@dataclass(frozen=True)
class _Word:
    """Hold a bare name that is no variable: the other side must know it as a value."""

    name: str


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

    def __init__(self, text: str, domains: Domains) -> None:
        self.text, self.domains = text, domains
        self.quoted: dict[str, str] = {}

    def read(self) -> Event:
        if len(self.text) > LONGEST:
            raise ExpressionError(
                f"The expression has {len(self.text):,} characters; {LONGEST:,} are the most."
            )
        if not self.text.strip():
            raise ExpressionError("The expression is empty.")
        event = self._event(self._parse(), 0)
        return Event(self.text, event.variables, event.truth, event.fixed, event.only_fixed)

    def _parse(self) -> ast.expr:
        source = self._without_backticks()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of Python's own taste in literals
                return ast.parse(source.strip(), mode="eval").body
        except (SyntaxError, ValueError) as error:
            hint = ""
            if re.search(r"(?<![=!<>])=(?!=)", self.text):
                hint = " To compare, write ==."
            elif "`" not in self.text and any(
                " " in name and name in self.text for name in self.domains
            ):
                hint = " A name with spaces stands in backticks: `petal width` > 2."
            reason = error.msg if isinstance(error, SyntaxError) else str(error)
            raise self._error(f"it is no logical expression ({reason:.70}).{hint}") from None
        except (RecursionError, MemoryError):
            raise self._error("it is nested too deeply.") from None

    def _without_backticks(self) -> str:
        """Return the text with names in backticks replaced by names that Python can read."""
        pieces = re.split(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`)""", self.text)
        for i, piece in enumerate(pieces):
            if piece.startswith("`"):
                stand_in = f"_backticked_{len(self.quoted)}_"
                self.quoted[stand_in] = piece[1:-1]
                pieces[i] = f" {stand_in} "
        return "".join(pieces)

    def _event(self, node: ast.expr, depth: int) -> Event:
        if depth > DEEPEST:
            raise self._error(f"it is nested more than {DEEPEST} deep.")
        if isinstance(node, ast.BoolOp):
            parts = [self._event(value, depth + 1) for value in node.values]
            return _all(parts) if isinstance(node.op, ast.And) else _any(parts)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self._not(self._event(node.operand, depth + 1), node.operand)
        if isinstance(node, ast.Compare):
            return self._comparison(node)
        if isinstance(node, ast.Name):
            return self._truth(node)
        if isinstance(node, ast.Constant) and isinstance(node.value, bool):
            value = node.value
            return Event("", frozenset(), lambda _, n: np.full(n, value), {}, value)
        raise self._refusal(node)

    def _not(self, event: Event, operand: ast.expr) -> Event:
        fixed = {}
        if isinstance(operand, ast.Name):  # a truth that is not so is known, too
            name = self._name(operand)
            truths = true_and_false(self.domains[name])
            if truths is not None and truths[1] >= 0:
                fixed = {name: truths[1]}
        return Event("", event.variables, lambda c, n: ~event(c, n), fixed, bool(fixed))

    def _truth(self, node: ast.Name) -> Event:
        name = self._name(node)
        domain = self.domains[find_variable(name, self.domains)]
        truths = true_and_false(domain)
        if truths is None:
            raise self._error(
                f"{name!r} is no truth; compare it with one of its values, {listing(domain)}, "
                f"such as {name} == {domain[0]!r}."
                if domain
                else f"{name!r} has no values."
            )
        true = truths[0]
        fixed = {name: true} if true >= 0 else {}
        return Event("", frozenset([name]), lambda c, _: c[name] == true, fixed, bool(fixed))

    def _comparison(self, node: ast.Compare) -> Event:
        sides, parts = [node.left, *node.comparators], []
        for left, op, right in zip(sides, node.ops, sides[1:], strict=False):
            if isinstance(op, ast.In | ast.NotIn):
                parts.append(self._membership(left, right, isinstance(op, ast.NotIn)))
            elif type(op) in COMPARISONS:
                parts.append(self._pair(self._operand(left), type(op), self._operand(right)))
            else:
                raise self._error("'is' is not understood; write ==.")
        return _all(parts)

    def _membership(self, left: ast.expr, right: ast.expr, negated: bool) -> Event:
        if not isinstance(right, ast.Tuple | ast.List | ast.Set):
            raise self._error("'in' needs values in brackets, such as sky in ('grey', 'blue').")
        item = self._operand(left)
        event = _any([self._pair(item, ast.Eq, self._operand(value)) for value in right.elts])
        if not negated:
            return event
        return Event("", event.variables, lambda c, n: ~event(c, n))

    def _pair(self, left: _Operand, op: type[ast.cmpop], right: _Operand) -> Event:
        """Return the event that two operands stand in a relation."""
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
    ) -> Event:
        name, compare = left.name, COMPARISONS[op]
        if not ordered:
            code = code_of(value, name, left.domain)
            fixed = {name: code} if op is ast.Eq else {}
            return Event(
                "",
                frozenset([name]),
                lambda c, _: compare(c[name], code),
                fixed,
                op is ast.Eq,
            )
        self._check_order(name, left.domain, repr(value), (value,))
        holds = np.array([bool(compare(known, value)) for known in left.domain], dtype=np.bool_)
        return Event("", frozenset([name]), lambda c, _: holds[c[name]])

    def _two_variables(
        self, left: _Variable, op: type[ast.cmpop], right: _Variable, ordered: bool
    ) -> Event:
        if ordered:
            self._check_order(left.name, left.domain, repr(right.name), right.domain)
        elif not {*map(label_key, left.domain)} & {*map(label_key, right.domain)}:
            raise self._error(
                f"{left.name!r} and {right.name!r} have no value in common: {listing(left.domain)} "
                f"and {listing(right.domain)}."
            )
        _, here, there = union(left.domain, right.domain)
        a, b, compare = left.name, right.name, COMPARISONS[op]
        return Event("", frozenset([a, b]), lambda c, _: compare(here[c[a]], there[c[b]]))

    def _check_order(self, name: str, domain: Domain, what: str, others: Domain) -> None:
        """Refuse to order strings and numbers, or truths, among each other."""
        kinds = {label_key(value)[0] for value in (*domain, *others)}
        if len(kinds) > 1 or kinds == {0}:
            raise self._error(
                f"{name!r}, with the values {listing(domain)}, and {what} have no order between "
                "them; < and > compare numbers with numbers, or strings with strings."
            )

    def _operand(self, node: ast.expr) -> _Operand:
        if isinstance(node, ast.Name):
            name = self.quoted.get(node.id, node.id)
            if name in self.domains or node.id in self.quoted:
                domain = self.domains[find_variable(name, self.domains)]
                return _Variable(name, domain, node.id in self.quoted)
            return _Word(name)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            inner = self._operand(node.operand) if isinstance(node.operand, ast.Constant) else None
            if isinstance(inner, _Value) and type(inner.value) in (int, float):
                return _Value(-inner.value if isinstance(node.op, ast.USub) else inner.value)  # type: ignore[operator]
        if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float | str):
            value: Any = node.value
            if isinstance(value, float) and value.is_integer():
                value = int(value)
            return _Value(value)
        raise self._refusal(node)

    def _resolved(self, side: _Operand, other: _Operand) -> _Operand:
        """Return a bare word as the value that the other side knows it for, if it is clear."""
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
            + _word_hint(side.name, self.domains, other.domain)
        )

    def _name(self, node: ast.Name) -> str:
        return self.quoted.get(node.id, node.id)

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


def _word_hint(name: str, domains: Domains, domain: Domain) -> str:
    return did_you_mean(name, [*(v for v in domain if isinstance(v, str)), *domains])


def _all(parts: list[Event]) -> Event:
    """Return the event that all of some events happen."""
    if len(parts) == 1:
        return parts[0]
    fixed: dict[str, int] = {}
    clear = True
    for part in parts:
        for name, code in part.fixed.items():
            clear &= fixed.setdefault(name, code) == code  # else they contradict each other
    only_fixed = clear and all(part.only_fixed for part in parts)

    def truth(codes: Mapping[str, AnyArray], n: Cells) -> BoolArray:
        result = np.ones(n, dtype=np.bool_)
        for part in parts:
            result &= part(codes, n)
        return result

    return Event("", _union(parts), truth, fixed if clear else {}, only_fixed)


def _any(parts: list[Event]) -> Event:
    """Return the event that any of some events happens."""
    if len(parts) == 1:
        return parts[0]

    def truth(codes: Mapping[str, AnyArray], n: Cells) -> BoolArray:
        result = np.zeros(n, dtype=np.bool_)
        for part in parts:
            result |= part(codes, n)
        return result

    return Event("", _union(parts), truth)


def _union(parts: list[Event]) -> frozenset[str]:
    return frozenset().union(*(part.variables for part in parts))
