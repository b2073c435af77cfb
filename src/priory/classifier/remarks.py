"""What a user should be told of a model, once: columns left out, spikes, stale choices."""

from __future__ import annotations

from typing import Any

from priory.base.errors import (
    IdentifierWarning,
    PrioryWarning,
    StaleTuningWarning,
    VanishingVarianceWarning,
    listing,
    warn,
)
from priory.data.gaps import GAP_WORDS
from priory.data.numerals import NUMERAL, parse_date
from priory.data.reading import UNIQUE_OR_TEXT
from priory.data.schema import Kind
from priory.model.model import Model
from priory.model.spread import about_spikes
from priory.statistics.statistics import Statistics
from priory.text.sentences import text_setting
from priory.tuning.choices import is_identifier
from priory.tuning.settings import Settings

__all__ = ["warn_identifiers", "warn_interrupted", "warn_spikes", "warn_stale"]


def warn_identifiers(statistics: Statistics, said: set[str]) -> None:
    """Warn of unique identifiers, unless that was said."""
    names = [
        block.name
        for block in statistics.schema
        if block.kind is Kind.IDENTIFIER
        or (block.kind.is_counted and is_identifier(block, statistics.tables[block.name]))
    ]
    new = [name for name in names if name not in said]
    said.update(new)
    if new:
        settings = [_setting_for(name, statistics) for name in new]
        one = len(new) == 1
        what = "has hardly two rows alike: it is a unique identifier and was left out"
        if not one:
            what = "have hardly two rows alike: they are unique identifiers and were left out"
        warn(
            f"Column{'' if one else 's'} {listing(new)} {what}. To use {'it' if one else 'them'} "
            f"all the same: {', '.join(dict.fromkeys(settings[:5]))}.",
            IdentifierWarning,
        )


def warn_spikes(model: Model, settings: Settings, statistics: Statistics, said: set[str]) -> None:
    """Warn of classes whose numbers do not vary, where a density was asked for."""
    asked = [term for term in model.terms if not settings.is_auto("families", term.block)]
    for name, message in about_spikes(asked, statistics).items():
        if f"the spread of {name}" not in said:
            said.add(f"the spread of {name}")
            warn(message, VanishingVarianceWarning)


def warn_interrupted() -> None:
    """Warn that nothing was chosen, for someone did not want to wait."""
    warn(
        "Tuning was interrupted: the rows are learned, but families, weights and corrections are "
        "those before any choice. recalibrate() chooses them.",
        PrioryWarning,
    )


def warn_stale(said: set[str]) -> None:
    """Warn that what was chosen is of other rows than are learned now."""
    if "tuning" not in said:
        said.add("tuning")
        warn(
            "Rows were learned, merged or forgotten since families and weights were chosen, "
            "and no sample of the rows is at hand to choose anew: the choice is stale. "
            "recalibrate(X, y) renews it; a model saved with keep_sample=True renews itself.",
            StaleTuningWarning,
        )


def _setting_for(name: str, statistics: Statistics) -> str:
    """Name the setting with which a column that was left out is used."""
    table: Any = statistics.tables.get(name)
    if table is not None:
        strings = [label for label in table.labels if label.strip().lower() not in GAP_WORDS]
        if strings and all(NUMERAL.fullmatch(label.strip()) for label in strings):
            return f"give {name!r} as numbers, which its strings are"
        if strings and all(parse_date(label.strip()) is not None for label in strings):
            return f"give {name!r} as dates, which its strings are"
        setting = text_setting(name, table.labels)
    else:
        setting = f"text=[{name!r}]" if statistics.schema[name].why == UNIQUE_OR_TEXT else None
    return setting or f"families={{{name!r}: 'categorical'}}"
