"""The choice of each block that follows from settings and statistics, untuned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from priory import families
from priory.base.errors import SchemaError, SettingError, did_you_mean, listing
from priory.base.labels import sorted_labels
from priory.data.schema import Block, Kind, Schema
from priory.families import Family, as_family, families_for
from priory.families.priors import Laplace, MEstimate, NormalInverseGamma, Prior, as_prior
from priory.model.term import Choice
from priory.statistics.statistics import Statistics
from priory.statistics.tables import LabelsTable, NumbersTable, Table
from priory.tuning.settings import Settings

if TYPE_CHECKING:
    from priory.model.selection import Worth

__all__ = ["choices_for", "is_identifier", "not_selected", "prior_of", "reads_codes", "takes_part"]

IDENTIFIER_ROWS = 10
IDENTIFIER_SHARE = 0.95
"""Strings are a unique identifier when, of so many rows, so large a share are different."""

MOST_CODES = 10
CODES_BELOW = 100
"""Integers are codes when so few are different, all below this, each twice on average."""

SOUND_SMOOTHING = MEstimate(2.0, "marginal")
"""What smoothing="auto" means until it is tuned: two imagined rows of the column as a whole."""

SOUND_READOUT: Any = {"readout": "complement", "term": "log"}
SOUND_FOR_WORDS = Laplace(0.3)
"""What "auto" means for words until it is tuned: what does best on most texts."""


def choices_for(settings: Settings, statistics: Statistics) -> dict[str, Choice]:
    """Choose for each block, but identifiers, empty columns and those not selected."""
    gone = not_selected(settings, statistics)
    found = _unselected(settings, statistics)
    return {name: choice for name, choice in found.items() if name not in gone}


def not_selected(settings: Settings, statistics: Statistics) -> dict[str, Worth]:
    """Find the blocks that `select` leaves out, and what each would be worth."""
    if settings.select is None or not statistics.n_rows:
        return {}
    from priory.model.selection import worth  # not every model selects

    found = {}
    for name, choice in _unselected(settings, statistics).items():
        block = statistics.schema[name]
        with_missing = settings.missing_of(block) in ("auto", "category")
        judged = worth(statistics, block, _judged(settings, block, choice), with_missing)
        if judged is not None and not judged.pays:
            found[name] = judged
    return found


def takes_part(settings: Settings, block: Block, table: Table) -> bool:
    """Say whether a column may be counted together with others.

    Where it would lose a family that was asked for, it may not.
    """
    if block.kind not in (Kind.LABELS, Kind.NUMBERS) or is_identifier(block, table):
        return False
    asked = settings.of_block("families", block, "plain")
    return settings.structure == "naive" or asked in ("plain", "auto")


def is_identifier(block: Block, table: Table) -> bool:
    """Tell whether a column of strings hardly ever repeats: a unique identifier."""
    if not isinstance(table, LabelsTable) or block.why == "declared":
        return False
    n = int(table.rows.sum())
    return (
        n >= IDENTIFIER_ROWS
        and len(table.labels) >= IDENTIFIER_SHARE * n
        and all(isinstance(label, str) for label in table.labels)
    )


def reads_codes(settings: Settings, block: Block, table: Table) -> bool:
    """Say whether "plain" reads a column of numbers as categories: its values are codes.

    Only what the table holds is looked at, so that pieces and orders do not matter.
    """
    asked = settings.of_block("families", block, "plain")
    if not (isinstance(table, NumbersTable) and isinstance(asked, str) and asked == "plain"):
        return False
    if isinstance(settings.smoothing_of(block), NormalInverseGamma):  # which a normal alone takes
        return False
    cells = table.cells
    if cells.level or not 0 < len(cells.keys) <= MOST_CODES:
        return False
    n = max(float(cells.rows.sum()), float(cells.weight.sum()))  # a row of weight 2 is two
    small = (np.abs(cells.values) < CODES_BELOW) & (cells.values % 1 == 0)
    return len(cells.keys) <= n / 2 and bool(small.all())


def prior_of(settings: Settings, block: Block, family: Family) -> Prior | None:
    """Find the prior that a family has for a block."""
    asked = settings.smoothing_of(block)
    if asked is None:
        return family.default_prior
    if isinstance(asked, str):
        prior: Prior = SOUND_FOR_WORDS if block.kind is Kind.WORDS else SOUND_SMOOTHING
    else:
        prior = as_prior(asked)
    if isinstance(prior, family.priors):
        return prior
    if isinstance(settings.smoothing, Mapping) and not isinstance(asked, str):  # asked for by name
        wanted = ", ".join(p.__name__ for p in family.priors) or "no prior"
        raise SettingError(
            f"smoothing of column {block.title!r} is {prior!r}, but {family.name} takes {wanted}."
        )
    return family.default_prior


def _unselected(settings: Settings, statistics: Statistics) -> dict[str, Choice]:
    for setting in ("families", "smoothing", "missing", "unseen", "text"):
        value = getattr(settings, setting)
        for key in value if isinstance(value, Mapping) else ():
            _check_key(setting, key, statistics.schema)
    covered = settings.covered(statistics.schema)
    return {
        block.name: _choice(settings, block, statistics.tables[block.name])
        for block in statistics.schema.counted
        if block.name not in covered
        and settings.is_read(block)
        and not is_identifier(block, statistics.tables[block.name])
        and _has_values(statistics.tables[block.name])
    }


def _judged(settings: Settings, block: Block, choice: Choice) -> list[Choice]:
    """List the ways to describe a block that decide whether it stays, the choice first."""
    if choice.family == families.Gaussian() and choice.prior is None:
        # The plain variance of a class of one row is 0, which would describe it for nothing.
        choice = replace(choice, prior=NormalInverseGamma())
    if block.kind is Kind.NUMBERS and settings.is_auto("families", block):
        return [choice, replace(choice, family=families.Histogram(bins=5), prior=Laplace(1.0))]
    return [choice]


def _choice(settings: Settings, block: Block, table: Table) -> Choice:
    family = _family(settings, block, table)
    if block.kind not in family.kinds:
        raise SettingError(
            f"Column {block.title!r} was counted as {block.kind}, which {family.name} does "
            f"not model; it needs {', '.join(family.kinds)}. Families for {block.kind}: "
            f"{listing(families_for(block.kind), 20)}."
        )
    prior = prior_of(settings, block, family)
    if isinstance(family, families.Categorical) and _counts_declared(settings, block, prior):
        family = replace(family, values=sorted_labels([*family.values, *block.values]))
    missing = settings.missing_of(block)
    return Choice(family, prior, "skip" if missing == "auto" else missing)


def _counts_declared(settings: Settings, block: Block, prior: Prior | None) -> bool:
    """Say whether Laplace's V counts the values that a column's type declares.

    It does where a smoothing is asked for. Without any, a value that no row has is one that was
    never seen, which the policy for those may leave out.
    """
    nothing = prior in (Laplace(0.0), MEstimate(0.0), MEstimate(0.0, "marginal"))
    return bool(block.values) and not nothing and not settings.is_auto("smoothing", block)


def _family(settings: Settings, block: Block, table: Table) -> Family:
    if block.pairing is not None:
        if block.pairing.is_conditional:
            return families.Conditional()
        return families.Aode() if block.pairing.use == "aode" else families.Joint()
    asked = settings.of_block("families", block, "plain")
    if asked == "auto" and block.kind is Kind.WORDS:
        return families.Words(**SOUND_READOUT)
    if asked in ("plain", "auto"):
        codes = reads_codes(settings, block, table)
        asked = "categorical" if codes else _plain(block, table)
    family = as_family(asked)
    if block.kind is Kind.WORDS:
        family = _of_words(family)
    if block.kind is Kind.SCATTER:
        if isinstance(family, families.MultivariateGaussian) and family.shrinkage is None:
            is_auto = settings.is_auto("smoothing", block)
            return replace(family, shrinkage="auto" if is_auto else 0.0)
        return family
    unseen = settings.of_block("unseen", block, "skip")
    if unseen != "skip" and isinstance(family, families.Categorical):
        return replace(family, unseen=unseen)
    if unseen != "skip" and isinstance(settings.unseen, Mapping):
        raise SettingError(
            f"unseen of column {block.title!r} is {unseen!r}, but {family.name} knows no "
            "unseen values; categorical does."
        )
    return family


def _check_key(setting: str, key: str | tuple[str, ...], schema: Schema) -> None:
    """Refuse a key that is neither a column nor a block, or a column inside of a block."""
    known = list(schema.columns)
    for name in (key,) if isinstance(key, str) else key:
        if name not in known and key not in schema.by_name:
            raise SchemaError(
                f"{setting} names a column {name!r} that the data do not have. "
                f"Columns: {listing(known)}.{did_you_mean(name, known)}"
            )
    columns = (key,) if isinstance(key, str) else key
    if key in schema.by_name or any(tuple(b.columns) == columns for b in schema):
        return
    of_block = next((b for b in schema if columns[0] in b.columns), None)
    where = f"{tuple(of_block.columns)!r:.80} is one block" if of_block else "it was not counted"
    raise SettingError(
        f"{setting} names {key!r}, but {where}. Blocks are declared before learning, and a "
        "setting is for a whole block, named by its columns in their order."
    )


def _has_values(table: Table) -> bool:
    """Say whether any value is left of a column: all its rows may have been forgotten."""
    present = getattr(table, "present", None)
    return present is None or bool(present.any())


def _plain(block: Block, table: Table) -> str:
    if block.kind is Kind.JOINT:
        return "joint"
    if isinstance(table, LabelsTable):
        booleans = all(isinstance(label, bool) for label in table.labels)
        return "bernoulli" if booleans and table.labels else "categorical"
    if block.kind is Kind.SCATTER:
        return "multivariate-gaussian"
    return "gaussian" if block.kind in (Kind.NUMBERS, Kind.MOMENTS) else "multinomial"


def _of_words(family: Family) -> Family:
    """Find the family of words that a family of counts means."""
    from priory.families.words import READOUTS, Words

    name: Any = family.name
    return Words(name) if name in READOUTS else family
