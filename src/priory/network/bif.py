"""The Bayesian interchange format: networks as text that other programs read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NoReturn, TypeAlias

import numpy as np

from priory.base.errors import InputError, did_you_mean, listing
from priory.base.graph import Graph
from priory.base.typing import FloatArray
from priory.network.variables import Domain, Domains

__all__ = ["parse", "text"]

TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|"[^"\n]*"|[{}()\[\],;|]|[^\s{}()\[\],;|"]+""", re.DOTALL)
WORD = re.compile(r"-?[0-9]+|[A-Za-z_][A-Za-z0-9_.-]*")
"""What every reader of the format takes for a word."""

KEYWORDS = {
    "network",
    "variable",
    "probability",
    "property",
    "type",
    "discrete",
    "table",
    "default",
}
COMMENTS = ("//", "/*")
LABELS, NAME = "labels =", "name ="


Parsed: TypeAlias = tuple[dict[str, tuple[str, ...]], Domains, dict[str, FloatArray]]


def parse(source: str) -> Parsed:
    """Parse the parents, the values and the tables of every variable of a text."""
    return _Parser(source).read()


def text(name: str, graph: Graph, domains: Domains, tables: Mapping[str, FloatArray]) -> str:
    """Write a network as text; numbers keep all their digits."""
    lines = [f"network {safe_word(name)} {{", "}"]
    names = {node: safe_word(node) for node in graph.nodes}
    if len(set(names.values())) < len(names):
        raise InputError(f"Variables would be written alike: {listing(names)}.")
    words = {node: safe_words(map(str, domains[node])) for node in graph.nodes}
    for node in graph.nodes:
        lines += [
            f"variable {names[node]} {{",
            f"  type discrete [ {len(words[node])} ] {{ {', '.join(words[node])} }};",
        ]
        # Other programs read words; these lines tell us what the words stand for.
        if words[node] != domains[node]:
            lines.append(f"  property {LABELS} {_quoted(list(domains[node]))} ;")
        if names[node] != node:
            lines.append(f"  property {NAME} {_quoted(node)} ;")
        lines.append("}")
    for node in graph.nodes:
        lines += _table(names[node], graph.parents[node], names, words, tables[node])
    return "\n".join(lines) + "\n"


def _quoted(value: Any) -> str:
    """Write a value as JSON, without the signs that end a property or a block."""
    text = json.dumps(value)
    for sign in ";{}|":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _table(
    node: str,
    parents: Sequence[str],
    names: Mapping[str, str],
    words: Mapping[str, tuple[str, ...]],
    table: FloatArray,
) -> Iterator[str]:
    if not parents:
        yield f"probability ( {node} ) {{"
        yield f"  table {_numbers(table)};"
    else:
        yield f"probability ( {node} | {', '.join(names[p] for p in parents)} ) {{"
        for place in np.ndindex(table.shape[:-1]):
            values = [words[p][i] for p, i in zip(parents, place, strict=True)]
            yield f"  ({', '.join(values)}) {_numbers(table[place])};"
    yield "}"


def _numbers(row: FloatArray) -> str:
    return ", ".join(map(repr, row.tolist()))


def safe_word(name: str) -> str:
    """Make a word that every reader of the format understands.

    >>> safe_word("petal width"), safe_word("1.5"), safe_word("network")
    ('petal_width', '_1.5', 'network_')
    """
    word = re.sub(r"[^A-Za-z0-9_.-]", "_", name)
    if not WORD.fullmatch(word):
        word = f"_{word}"
    return f"{word}_" if word in KEYWORDS else word


def safe_words(values: Iterable[str]) -> tuple[str, ...]:
    """Make a different word of each value."""
    found: list[str] = []
    for value in values:
        word, n = safe_word(value), 2
        while word in found:
            word, n = f"{safe_word(value)}_{n}", n + 1
        found.append(word)
    return tuple(found)


def _is_number(token: str) -> bool:
    try:
        float(token)
    except ValueError:
        return False
    return True


class _Parser:
    def __init__(self, source: str) -> None:
        self.source = source
        self.tokens: list[str] = TOKEN.findall(source)
        if "//" in source or "/*" in source:
            self.tokens = [token for token in self.tokens if not token.startswith(COMMENTS)]
        self.at = 0
        self.names: dict[str, str] = {}
        self.domains: dict[str, Domain] = {}
        self.words: dict[str, tuple[str, ...]] = {}
        self.parents: dict[str, tuple[str, ...]] = {}
        self.tables: dict[str, FloatArray] = {}

    @cached_property
    def places(self) -> list[int]:
        """Where each token begins, for errors and properties."""
        found = TOKEN.finditer(self.source)
        return [m.start() for m in found if not m[0].startswith(COMMENTS)]

    def read(self) -> Parsed:
        while self.at < len(self.tokens):
            kind = self._next()
            if kind == "network":
                self._skip_block()
            elif kind == "variable":
                self._variable()
            elif kind == "probability":
                self._probability()
            else:
                self._fail(f"expected network, variable or probability, not {kind!r}")
        if not self.domains:
            raise InputError("The text holds no variable; is it in the BIF format?")
        missing = [name for name in self.domains if name not in self.tables]
        if missing:
            raise InputError(f"The text holds no probability of variable {listing(missing)}.")
        full = self.names
        if len(set(full.values())) < len(full):
            raise InputError(f"Two variables have the same name among {listing(full.values())}.")
        return (
            {full[name]: tuple(full[p] for p in self.parents[name]) for name in self.domains},
            {full[name]: domain for name, domain in self.domains.items()},
            {full[name]: table for name, table in self.tables.items()},
        )

    def _variable(self) -> None:
        name = self._name()
        self._expect("{")
        words: tuple[str, ...] = ()
        labels: Domain | None = None
        title = name
        while (token := self._next()) != "}":
            if token == "type":
                words = self._type()
            elif token == "property":
                kept = self._property()
                if isinstance(kept, str):
                    title = kept
                elif kept is not None:
                    labels = tuple(kept)
            else:
                self._fail(f"expected type or property, not {token!r}")
        if not words:
            self._fail(f"variable {name!r} has no values")
        if name in self.domains:
            self._fail(f"variable {name!r} is given twice")
        if labels is not None and safe_words(map(str, labels)) != words:
            labels = None
        self.names[name] = title if safe_word(title) == name else name
        self.words[name], self.domains[name] = words, labels or words

    def _type(self) -> tuple[str, ...]:
        if (kind := self._next()) != "discrete":
            self._fail(f"only discrete variables can be read, not {kind!r}")
        self._expect("[")
        size = self._next()
        self._expect("]", "{")
        words = tuple(self._list("}"))
        self._expect(";")
        if not size.isdecimal() or int(size) != len(words):
            self._fail(f"{size} values are announced, {len(words)} are there")
        if len(set(words)) < len(words):
            self._fail(f"a value is given twice: {listing(words)}")
        return words

    def _property(self) -> Any:
        """Skip a property, but for those in which `text` keeps a name, or the types of values."""
        start = self.places[self.at]
        self._until(";")
        written = self.source[start : self.places[self.at - 1]].strip()
        kind = next((kind for kind in (LABELS, NAME) if written.startswith(kind)), None)
        if kind is None:
            return None
        try:
            return json.loads(written.removeprefix(kind))
        except ValueError:
            self._fail(f"the property {written!r} cannot be read")

    def _probability(self) -> None:
        self._expect("(")
        name = self._known(self._name())
        parents: tuple[str, ...] = ()
        if (token := self._next()) == "|":
            parents = tuple(self._known(p) for p in self._list(")"))
        elif token != ")":
            self._fail(f"expected | or ), not {token!r}")
        if name in self.tables:
            self._fail(f"the probability of {name!r} is given twice")
        shape = tuple(len(self.words[v]) for v in (*parents, name))
        table = np.full(shape, np.nan)
        default: list[float] | None = None
        self._expect("{")
        while (token := self._next()) != "}":
            if token == "table":
                table = self._flat_table(name, shape)
            elif token == "default":
                default = self._row(shape[-1])
            elif token == "(":
                values = self._list(")")
                if len(values) != len(parents):
                    self._fail(
                        f"a row of {name!r} has {len(values)} values for {len(parents)} parents"
                    )
                place = tuple(self._code(p, v) for p, v in zip(parents, values, strict=True))
                table[place] = self._row(shape[-1])
            elif token == "property":
                self._until(";")
            else:
                self._fail(f"expected a row of {name!r}, not {token!r}")
        if default is not None:
            table[np.isnan(table).any(axis=-1)] = default
        if np.isnan(table).any():
            place = np.argwhere(np.isnan(table))[0][:-1]
            where = {p: self.words[p][i] for p, i in zip(parents, place, strict=True)}
            raise InputError(f"The probability of {name!r} has no row for {where}.")
        self.parents[name], self.tables[name] = parents, table

    def _flat_table(self, name: str, shape: tuple[int, ...]) -> FloatArray:
        """Read numbers listed without rows: the node's own value changes slowest."""
        numbers = self._row(int(np.prod(shape)))
        return np.moveaxis(np.array(numbers).reshape(shape[-1], *shape[:-1]), 0, -1).copy()

    def _row(self, size: int) -> list[float]:
        start, numbers = self.at, list[float]()
        try:
            end = self.tokens.index(";", start)
            numbers = [float(token) for token in self.tokens[start:end] if token != ","]
            self.at = end + 1
        except ValueError:
            while (token := self._next()) != ";":
                if token != "," and not _is_number(token):
                    self._fail(f"expected a number, not {token!r}")
        if len(numbers) != size:
            self.at = start + 1
            self._fail(f"expected {size} numbers, found {len(numbers)}")
        return numbers

    def _code(self, name: str, word: str) -> int:
        if word not in self.words[name]:
            self._fail(
                f"variable {name!r} has no value {word!r}. Values: {listing(self.words[name], 10)}."
                f"{did_you_mean(word, self.words[name])}"
            )
        return self.words[name].index(word)

    def _known(self, name: str) -> str:
        if name not in self.domains:
            self._fail(f"there is no variable {name!r} above.{did_you_mean(name, self.domains)}")
        return name

    def _list(self, end: str) -> list[str]:
        found = []
        while (token := self._next()) != end:
            if token != ",":
                found.append(token.strip('"'))
        return found

    def _name(self) -> str:
        return self._next().strip('"')

    def _next(self) -> str:
        if self.at >= len(self.tokens):
            raise InputError("The text ends in the middle of a block.")
        self.at += 1
        return self.tokens[self.at - 1]

    def _expect(self, *tokens: str) -> None:
        for token in tokens:
            if (found := self._next()) != token:
                self._fail(f"expected {token!r}, not {found!r}")

    def _until(self, token: str) -> None:
        while self._next() != token:
            pass

    def _skip_block(self) -> None:
        self._until("{")
        depth = 1
        while depth:
            token = self._next()
            depth += (token == "{") - (token == "}")

    def _fail(self, what: str) -> NoReturn:
        line = self.source[: self.places[max(self.at - 1, 0)]].count("\n") + 1
        raise InputError(f"Line {line}: {what}")
