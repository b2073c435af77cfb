"""One factor P(block | k) of a model: its family, its parameters and how far it is trusted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from priory import families
from priory.base.errors import InputError, PrioryError, SettingError
from priory.base.typing import BoolArray, FloatArray
from priory.data.columns import Column, Frame, Labels
from priory.data.rows import together
from priory.data.schema import Block
from priory.families import Family
from priory.families.base import Adder, Lookup
from priory.families.priors import Laplace, Prior
from priory.model.adding import times, weighted_adder
from priory.statistics.statistics import Statistics
from priory.statistics.tables import LabelsTable

__all__ = ["Choice", "Term", "presence", "presence_of", "terms_of"]


@dataclass(frozen=True)
class Choice:
    """The family and the prior of one block, and what its missing values do."""

    family: Family
    prior: Prior | None
    missing: Literal["skip", "category", "error"] = "skip"


@dataclass(frozen=True, eq=False, repr=False)
class Term:
    """One factor P(block | k).

    `about` says whether it is of the value, of its being missing, or a correction of what the
    factors of one or two columns say.
    """

    block: Block
    family: Family
    parameters: Any
    about: Literal["value", "missing", "correction"] = "value"
    weight: float = 1.0
    """How far the factor is trusted: it enters as P(block | k)^weight."""
    offset: FloatArray | None = None
    """What is added to each class beside it, where the factor says anything at all."""

    def __repr__(self) -> str:
        return f"<Term {self.title}: {self.family.title}>"

    @property
    def title(self) -> str:
        """The column, or that it is missing."""
        if self.about == "correction":
            return f"{self.block.title}, corrected"
        is_missing = self.about == "missing"
        return f"{self.block.columns[-1]} is missing" if is_missing else self.block.title

    def column(self, frame: Frame) -> Column:
        """Take the column that the factor is of, or whether it is missing."""
        if self.about == "correction" and self.block.pairing is not None:
            return together(frame.columns, self.block, self.block.pairing)
        column = frame[self.block.name]
        if self.about == "missing":
            return Labels(column.missing.astype(np.int32), (False, True))
        return column

    def adder(self, frame: Frame, weighted: bool = False) -> Adder:
        """Make a function that adds log P(block | k), weighted or not, of a stretch of rows."""
        try:
            adder = self.family.adder(self.column(frame), self.parameters)
        except InputError as error:
            raise type(error)(f"Column {self.block.title!r}: {error}.") from None
        if not weighted or (self.weight == 1.0 and self.offset is None):
            return adder
        if isinstance(adder, Lookup):
            return replace(adder, log_p=self._weighted_table(adder.log_p))
        return weighted_adder(adder, self.weight, 0.0 if self.offset is None else self.offset)

    def _weighted_table(self, log_p: FloatArray) -> FloatArray:
        """Weight a look-up table, once: a single row should not wait for it."""
        kept: Any = self.__dict__.get("_kept")
        if kept is None or kept[0] is not log_p:
            says = log_p.any(axis=1, keepdims=True)
            offset = 0.0 if self.offset is None else self.offset
            kept = log_p, np.where(says, times(self.weight, log_p) + offset, 0.0)
            self.__dict__["_kept"] = kept
        table: FloatArray = kept[1]
        return table

    @property
    def counts(self) -> bool:
        """Whether the factor changes any score."""
        return bool(self.weight) or self.offset is not None

    def speaks(self, frame: Frame, n_classes: int) -> BoolArray:
        """Find the rows the factor says anything of: neither missing nor never seen."""
        out = np.zeros((len(frame), n_classes))
        self.add_log_likelihood(frame, out)
        return np.asarray(out.any(axis=1))

    def add_log_likelihood(self, frame: Frame, out: FloatArray) -> None:
        """Add log P(block | k) to `out`, rows × classes."""
        self.adder(frame)(slice(0, len(frame)), out)

    def log_constant(self, frame: Frame) -> FloatArray:
        """Compute what the log joint has of the factor beside `add_log_likelihood`."""
        if not self.family.base_measure_in_joint or self.about != "value":
            return np.zeros(len(frame))
        return self.weight * self.family.log_base_measure(self.column(frame), self.parameters)

    def log_base_measure(self, frame: Frame) -> FloatArray:
        """Compute the part of the log-likelihood that is the same for every class."""
        column: Any = self.column(frame)
        shared = self.family.log_base_measure(column, self.parameters)
        pairing = self.block.pairing
        if pairing is None or self.about != "value":
            return shared
        for j, part in enumerate(column.parts):  # a number is spread evenly over its bin
            told = not pairing.is_conditional or j == len(column.parts) - 1
            if told and pairing.edges[j] is not None:
                shared = shared - np.append(pairing.log_widths(j), 0.0)[part.codes]
        return shared


def terms_of(statistics: Statistics, choices: Mapping[str, Choice]) -> Iterator[Term]:
    """Estimate the parameters of each chosen block, and of its missing values where asked."""
    for name, choice in choices.items():
        block, table = statistics.schema[name], statistics.tables[name]
        try:
            parameters = choice.family.parameters(table, choice.prior)
        except PrioryError as error:
            raise type(error)(f"Column {block.title!r}: {error}") from None
        yield Term(block, choice.family, parameters, choice.family.about)
        if choice.missing == "category":
            derived, prior = presence(block, table, statistics.weight, choice.prior)
            there = families.Bernoulli()
            yield Term(block, there, there.parameters(derived, prior), "missing")


def presence(
    block: Block, table: Any, weight: FloatArray, prior: Prior | None
) -> tuple[LabelsTable, Laplace]:
    """Count the missing values, the rows that a table did not count, and give their prior."""
    if not hasattr(table, "present"):
        raise SettingError(f"missing='category' is for single columns, not for {block.title!r}.")
    return presence_of(table.present, weight), prior if isinstance(prior, Laplace) else Laplace(1.0)


def presence_of(there: FloatArray, weight: FloatArray) -> LabelsTable:
    """Count whether values are missing, given the weight of the rows that have one."""
    counts = np.stack([there, np.maximum(weight - there, 0.0)], axis=1)
    return LabelsTable((False, True), (counts > 0).astype(np.int64), counts)
