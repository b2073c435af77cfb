"""The kinds of columns that settings ask for before anything is counted."""

from __future__ import annotations

from collections.abc import Mapping

from priory.base.errors import SchemaError, SettingError, listing
from priory.data.rawtables import RawTable
from priory.data.schema import Kind
from priory.families import Family, as_family, families_for
from priory.text.analyzer import Analyzer
from priory.tuning.settings import Settings

__all__ = ["declared_kinds"]


def declared_kinds(settings: Settings, raw: RawTable) -> dict[tuple[str, ...], Kind | Analyzer]:
    """Find the kinds that text and families ask for, by the columns of each block."""
    texts = {
        (name,): how if isinstance(how, Analyzer) else Analyzer()
        for name, how in settings.text.items()
    }
    asked = _by_families(settings, raw)
    return {k: v for k, v in asked.items() if k not in texts} | texts


def _by_families(settings: Settings, raw: RawTable) -> dict[tuple[str, ...], Kind]:
    if raw.matrix is not None and not hasattr(raw.matrix, "__array_interface__"):
        return _of_sparse(settings, raw)
    if isinstance(settings.families, str) and settings.families in ("plain", "auto"):
        return {}
    if isinstance(settings.families, Mapping):
        asked = {(k,) if isinstance(k, str) else k: f for k, f in settings.families.items()}
        for columns in asked:
            _refuse_parts(columns, raw)
        return {
            columns: _kind(as_family(family), columns)
            for columns, family in asked.items()
            if family not in ("plain", "auto")
        }
    kind = as_family(settings.families).kinds[0]
    names = tuple(name for name in raw.names if name not in settings.text)
    if kind.is_of_several:
        return {names: kind} if names else {}
    return {(name,): kind for name in names}


def _of_sparse(settings: Settings, raw: RawTable) -> dict[tuple[str, ...], Kind]:
    if isinstance(settings.families, Mapping):
        raise SettingError(
            "A sparse matrix is one block of counts: give one family for all its columns, "
            "'multinomial', 'bernoulli' or 'complement'."
        )
    family = settings.family_for_all()
    if family is not None and Kind.COUNTS not in family.kinds:
        raise SettingError(
            f"A sparse matrix is read as counts, which {family.name} does not model. "
            "Use 'multinomial' or 'bernoulli', or give a dense array."
        )
    return {raw.names: Kind.COUNTS}


def _refuse_parts(columns: tuple[str, ...], raw: RawTable) -> None:
    """Refuse a name of a MultiIndex given by its parts, which would be a block of columns."""
    joined = ".".join(columns)
    if joined in raw.places and not all(name in raw.places for name in columns):
        raise SchemaError(
            f"families names {columns!r}, which is a block of {len(columns)} columns. A column of "
            f"a MultiIndex is named by its parts, joined by dots: {joined!r}."
        )


def _kind(family: Family, columns: tuple[str, ...]) -> Kind:
    if len(columns) == 1:
        return family.kinds[0]
    for kind in family.kinds:
        if kind.is_of_several:
            return kind
    several = families_for(*(kind for kind in Kind if kind.is_of_several))
    raise SettingError(
        f"{family.name} models one column, not the {len(columns)} of {columns!r}. Families for "
        f"several columns: {listing(several, 20)}."
    )
