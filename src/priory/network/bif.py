"""The Bayesian interchange format: networks as text that other programs read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn, TypeAlias

import numpy as np

from priory.base.errors import InputError, did_you_mean, listing
from priory.base.graph import Graph
from priory.base.typing import FloatArray
from priory.network.variables import Domain, Domains

__all__ = ["parse", "text"]

TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|"[^"\n]*"|[{}()\[\],;|]|[^\s{}()\[\],;|"]+""", re.DOTALL)
WORD = re.compile(r"[A-Za-z0-9_.+-]+")
LABELS = "labels ="


Parsed: TypeAlias = tuple[dict[str, tuple[str, ...]], Domains, dict[str, FloatArray]]


def parse(source: str) -> Parsed:
    """Parse the parents, the values and the tables of every variable of a text."""
    return _Parser(source).read()


def text(name: str, graph: Graph, domains: Domains, tables: Mapping[str, FloatArray]) -> str:
    """Write a network as text; numbers keep all their digits."""
    lines = [f"network {_word(name)} {{", "}"]
    for node in graph.nodes:
        words = [_word(str(value)) for value in domains[node]]
        if len(set(words)) < len(words):
            raise InputError(f"Variable {node!r} has values that would be written alike: {words}.")
        lines += [
            f"variable {_word(node)} {{",
            f"  type discrete [ {len(words)} ] {{ {', '.join(words)} }};",
        ]
        if not all(isinstance(value, str) for value in domains[node]):
            # Other programs read words; this line tells us which were numbers or booleans.
            labels = json.dumps(list(domains[node])).replace(";", "\\u003b")
            lines.append(f"  property {LABELS} {labels} ;")
        lines.append("}")
    for node in graph.nodes:
        lines += _table(node, graph.parents[node], domains, tables[node])
    return "\n".join(lines) + "\n"


def _table(node: str, parents: Sequence[str], domains: Domains, table: FloatArray) -> Iterator[str]:
    if not parents:
        yield f"probability ( {_word(node)} ) {{"
        yield f"  table {_numbers(table)};"
    else:
        yield f"probability ( {_word(node)} | {', '.join(map(_word, parents))} ) {{"
        for place in np.ndindex(table.shape[:-1]):
            values = [_word(str(domains[p][i])) for p, i in zip(parents, place, strict=True)]
            yield f"  ({', '.join(values)}) {_numbers(table[place])};"
    yield "}"


def _numbers(row: FloatArray) -> str:
    return ", ".join(map(repr, row.tolist()))


def _word(name: str) -> str:
    if WORD.fullmatch(name):
        return name
    if '"' in name or "\n" in name:
        raise InputError(f"{name!r} cannot be written: BIF cannot quote quotes or line breaks.")
    return f'"{name}"'


class _Parser:
    def __init__(self, source: str) -> None:
        self.source = source
        matches = [m for m in TOKEN.finditer(source) if not m[0].startswith(("//", "/*"))]
        self.tokens = [m[0] for m in matches]
        self.places = [m.start() for m in matches]
        self.at = 0
        self.domains: dict[str, Domain] = {}
        self.words: dict[str, tuple[str, ...]] = {}
        self.parents: dict[str, tuple[str, ...]] = {}
        self.tables: dict[str, FloatArray] = {}

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
        return {name: self.parents[name] for name in self.domains}, self.domains, self.tables

    def _variable(self) -> None:
        name = self._name()
        self._expect("{")
        words: tuple[str, ...] = ()
        labels: Domain | None = None
        while (token := self._next()) != "}":
            if token == "type":
                words = self._type()
            elif token == "property":
                labels = self._property() or labels
            else:
                self._fail(f"expected type or property, not {token!r}")
        if not words:
            self._fail(f"variable {name!r} has no values")
        if name in self.domains:
            self._fail(f"variable {name!r} is given twice")
        if labels is not None and tuple(map(str, labels)) != words:
            labels = None
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

    def _property(self) -> Domain | None:
        """Skip a property, but for the one in which `text` keeps the types of values."""
        start = self.places[self.at]
        self._until(";")
        written = self.source[start : self.places[self.at - 1]].strip()
        if not written.startswith(LABELS):
            return None
        try:
            return tuple(json.loads(written.removeprefix(LABELS)))
        except ValueError:
            self._fail(f"the property {written!r} holds no list of values")

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
        start, numbers = self.at, []
        while (token := self._next()) != ";":
            if token == ",":
                continue
            try:
                numbers.append(float(token))
            except ValueError:
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
