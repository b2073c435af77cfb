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
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from priory.base.errors import ExpressionError, did_you_mean, listing
from priory.base.labels import label_key, union
from priory.base.typing import AnyArray, BoolArray, Label
from priory.network.variables import (
    Domain,
    Domains,
    as_label,
    code_of,
    find_variable,
    true_and_false,
)

__all__ = ["Event", "EventLike", "event_of"]

LONGEST = 20_000
DEEPEST = 60

EventLike: TypeAlias = "str | Mapping[str, Label] | Event"
Shape: TypeAlias = int | tuple[int, ...]
Holds: TypeAlias = Callable[[Mapping[str, AnyArray], Shape], BoolArray]
"""Tell for each of n cells, given as codes by variable, whether the event holds.

Codes may also be the axes of a table of some shape: then the answer has as many axes.
"""


@dataclass(frozen=True, eq=False)
class Event:
    """Hold what an expression means: its variables, and in which cells it holds.

    `fixed` are the values that it fixes, as codes; `only_fixed`: it does nothing else.
    """

    text: str
    variables: frozenset[str]
    holds: Holds
    fixed: Mapping[str, int] = field(default_factory=dict)
    only_fixed: bool = False

    def __call__(self, codes: Mapping[str, AnyArray], shape: Shape) -> BoolArray:
        """Tell in which cells the event holds."""
        return self.holds(codes, shape)


def event_of(what: EventLike | None, domains: Domains) -> Event:
    """Read the event that a text, or a mapping of variables to values, describes.

    >>> event = event_of("rain and sky != blue", {"rain": (0, 1), "sky": ("blue", "grey")})
    >>> event({"rain": np.array([1, 1]), "sky": np.array([0, 1])}, 2).tolist()
    [False, True]
    """
    if isinstance(what, Event):
        return what
    if what is None or isinstance(what, Mapping):
        return _assignment(what or {}, domains)
    if not isinstance(what, str):
        raise ExpressionError(
            "An event is an expression such as 'rain and not wind', or a mapping of variables to "
            f"values, not {what!r:.60}."
        )
    return _Reader(what, domains).read()


def _assignment(given: Mapping[str, Label], domains: Domains) -> Event:
    parts = [
        _fixing(find_variable(name, domains), code_of(value, name, domains[name]))
        for name, value in given.items()
    ]
    text = " and ".join(f"{name} == {value!r}" for name, value in given.items()) or "True"
    return replace(_joined(parts, True), text=text)


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
        return replace(self._event(self._parse(), 0), text=self.text)

    def _parse(self) -> ast.expr:
        source = self._without_backticks()
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

    def _without_backticks(self) -> str:
        """Replace names in backticks by names that Python can read."""
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
            return _joined(parts, isinstance(node.op, ast.And))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            if isinstance(node.operand, ast.Name):
                return self._boolean(node.operand, negated=True)
            return _not(self._event(node.operand, depth + 1))
        if isinstance(node, ast.Compare):
            return self._comparison(node)
        if isinstance(node, ast.Name):
            return self._boolean(node)
        if isinstance(node, ast.Constant) and isinstance(node.value, bool):
            value = node.value
            return Event("", frozenset(), lambda _, n: np.full(n, value), {}, value)
        raise self._refusal(node)

    def _boolean(self, node: ast.Name, negated: bool = False) -> Event:
        name = self.quoted.get(node.id, node.id)
        domain = self.domains[find_variable(name, self.domains)]
        codes = true_and_false(domain)
        if codes is None:
            raise self._error(
                f"{name!r} is not boolean; compare it with one of its values, {listing(domain)}, "
                f"such as {name} == {domain[0]!r}."
                if domain
                else f"{name!r} has no values."
            )
        return _fixing(name, codes[negated])

    def _comparison(self, node: ast.Compare) -> Event:
        sides, parts = [node.left, *node.comparators], []
        for left, op, right in zip(sides, node.ops, sides[1:], strict=False):
            if isinstance(op, ast.In | ast.NotIn):
                parts.append(self._membership(left, right, isinstance(op, ast.NotIn)))
            elif type(op) in COMPARISONS:
                parts.append(self._pair(self._operand(left), type(op), self._operand(right)))
            else:
                raise self._error("'is' is not understood; write ==.")
        return _joined(parts, True)

    def _membership(self, left: ast.expr, right: ast.expr, negated: bool) -> Event:
        if not isinstance(right, ast.Tuple | ast.List | ast.Set):
            raise self._error("'in' needs values in brackets, such as sky in ('grey', 'blue').")
        item = self._operand(left)
        parts = [self._pair(item, ast.Eq, self._operand(value)) for value in right.elts]
        return _not(_joined(parts, False)) if negated else _joined(parts, False)

    def _pair(self, left: _Operand, op: type[ast.cmpop], right: _Operand) -> Event:
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
    ) -> Event:
        name, compare = left.name, COMPARISONS[op]
        if not ordered:
            event = _fixing(name, code_of(value, name, left.domain))
            return event if op is ast.Eq else _not(event)
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
        """Refuse to order booleans, or strings and numbers among each other."""
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


def _fixing(name: str, code: int) -> Event:
    """Make the event that a variable has a value; with the code −1, that of no value."""
    fixed = {name: code} if code >= 0 else {}
    return Event("", frozenset([name]), lambda c, _: c[name] == code, fixed, bool(fixed))


def _not(event: Event) -> Event:
    return Event("", event.variables, lambda c, n: ~event(c, n))


def _joined(parts: list[Event], every: bool) -> Event:
    """Join events by `and` if every one must hold, otherwise by `or`."""
    if len(parts) == 1:
        return parts[0]
    variables = frozenset[str]().union(*(part.variables for part in parts))
    join = np.logical_and if every else np.logical_or

    def holds(codes: Mapping[str, AnyArray], shape: Shape) -> BoolArray:
        return reduce(join, (part(codes, shape) for part in parts), np.full(shape, every))

    fixed: dict[str, int] = {}
    clear = every
    for part in parts:
        for name, code in part.fixed.items():
            clear &= fixed.setdefault(name, code) == code  # else they contradict each other
    only_fixed = clear and all(part.only_fixed for part in parts)
    return Event("", variables, holds, fixed if clear else {}, only_fixed)
