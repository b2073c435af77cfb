"""Settings: what the user asked for, and the choices that follow for each block."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from priory import families
from priory.base.errors import SchemaError, SettingError, check_number, did_you_mean, listing
from priory.base.graph import Graph
from priory.base.labels import sorted_labels
from priory.base.parallel import check_threads
from priory.data.pairing import MOST_PARENTS
from priory.data.rawtables import RawTable
from priory.data.schema import Block, Kind, Schema
from priory.families import NAMED, Family, as_family
from priory.families.priors import Laplace, MEstimate, NormalInverseGamma, Prior, as_prior
from priory.model.model import Choice, ClassPrior
from priory.statistics.statistics import Statistics
from priory.statistics.tables import LabelsTable, NumbersTable, Table
from priory.text.analyzer import Analyzer, as_analyzer

if TYPE_CHECKING:
    from priory.model.selection import Worth

__all__ = ["Settings"]

NAMING_ROWS = 10
NAMING_SHARE = 0.95
"""A column of strings names its rows when, of so many rows, so many are different."""

MOST_CODES = 10
CODES_BELOW = 100
"""Whole numbers are codes when so few are different, all below this, each twice on average."""

WEIGHTS = (None, "auto", "temperature", "columns")
STRUCTURES = {
    "naive": (),
    "tan": ("edge",),
    "aode": ("aode",),
    "joint": ("joint",),
    "hill-climb": ("climbed",),
}
"""What columns are counted together for, beside each by itself."""

MAX_PARENTS = 2

SOUND_SMOOTHING = MEstimate(2.0, "marginal")
"""What smoothing="auto" means until it is tuned: two imagined rows of the column as a whole."""

SOUND_FOR_EDGES = MEstimate(5.0, "marginal")
"""The same for an edge, which has fewer rows for each of its pairs of values."""

SOUND_READOUT: Any = {"readout": "complement", "term": "log"}
SOUND_FOR_WORDS = Laplace(0.3)
"""What "auto" means for words until it is tuned: the read-out that does best on most texts."""


@dataclass(frozen=True)
class Settings:
    """Hold how statistics are read out: families, smoothing, class prior, policies.

    `families` is "plain" (by kind, and numbers that are codes as categories), "auto", one family
    for all columns, or a mapping of columns (or tuples of columns, counted as one block) to
    families. `smoothing` is α, a prior, "auto", or a mapping of columns to them. `missing` is
    "skip", "category" or "error", and `unseen` is "skip", "smooth" or "error", for all columns or
    in a mapping by column. `n_threads` is how many threads count and score, None for
    PRIORY_NUM_THREADS or else the cores at hand. `text` names columns whose words are counted:
    their names, or a mapping of them to an `Analyzer`.

    `weights` says how far factors are trusted: None takes each as it is, "temperature" learns one
    weight for all, "columns" one for each, and "auto" means that. What is "auto" is chosen by
    leave-one-out on at most `sample_size` rows.

    `select` "mdl" keeps a column only if looking at the class saves more bits on it than the
    parameters for that cost; None keeps them all.

    `structure` says which columns depend on each other given the class: "naive", none of them;
    "tan", each on one other, in a tree; "aode", each in turn on every other; "joint", all on all;
    "hill-climb", each on up to `max_parents` others, as long as that shortens the description of
    the data; or edges, (parent, child) pairs of columns, as they are given.
    With `pairs` "auto" the columns stay as they are, and each pair that shares much adds a factor
    that corrects theirs: the edges of such a tree, and as many more. Both are chosen on the first
    rows that are learned.

    >>> Settings().weights, Settings.textbook().weights
    ('auto', None)
    """

    families: Any = "auto"
    smoothing: Any = "auto"
    class_prior: ClassPrior = None
    missing: Any = "auto"
    unseen: Any = "skip"
    n_threads: int | None = None
    text: Any = None
    weights: Any = "auto"
    sample_size: int = 50_000
    select: Any = None
    structure: Any = "naive"
    pairs: Any = None
    max_parents: int = MAX_PARENTS

    @classmethod
    def textbook(cls, families: Any = "plain", smoothing: Any = 1.0, **others: Any) -> Settings:
        """Return the lecture's settings: families by kind, one smoothing, nothing chosen.

        >>> Settings.textbook(class_prior="uniform").smoothing
        1.0
        """
        given = {"weights": None, "missing": "skip", **others}
        return cls(families=families, smoothing=smoothing, **given)

    def __post_init__(self) -> None:
        for name in ("families", "smoothing", "missing", "unseen"):
            setting = getattr(self, name)
            if isinstance(setting, Mapping):
                object.__setattr__(self, name, {_key(k): v for k, v in setting.items()})
        for family in _each(self.families):
            if not isinstance(family, str) or family not in ("plain", "auto"):
                as_family(family)
        object.__setattr__(self, "text", _text(self.text))
        if self.n_threads is not None:
            check_threads(self.n_threads)
        self._check_policy("missing", ("auto", "skip", "category", "error"))
        self._check_policy("unseen", ("skip", "smooth", "error"))
        for smoothing in _each(self.smoothing):
            if not (isinstance(smoothing, str) and smoothing == "auto"):
                as_prior(smoothing)

        if not (self.weights is None or isinstance(self.weights, str)) or (
            self.weights not in WEIGHTS
        ):
            raise SettingError(
                f"weights must be one of {', '.join(map(repr, WEIGHTS))}, not {self.weights!r}."
            )
        check_number("sample_size", self.sample_size)
        if not (self.select is None or (isinstance(self.select, str) and self.select == "mdl")):
            raise SettingError(f"select must be None or 'mdl', not {self.select!r}.")
        self._check_structure()

    def _check_structure(self) -> None:
        if not isinstance(self.structure, str):
            object.__setattr__(self, "structure", _edges(self.structure))
        structure = self.structure
        if isinstance(structure, str) and structure not in STRUCTURES:
            raise _no_structure(structure)
        check_number("max_parents", self.max_parents, above=0)
        if self.max_parents != MAX_PARENTS and structure != "hill-climb":
            raise SettingError(
                f"max_parents is {self.max_parents!r}, but only structure='hill-climb' looks at it."
            )
        if self.max_parents > MOST_PARENTS:
            raise SettingError(
                f"max_parents must be at most {MOST_PARENTS}, not {self.max_parents!r}."
            )
        if self.pairs is not None and not (isinstance(self.pairs, str) and self.pairs == "auto"):
            raise SettingError(f"pairs must be None or 'auto', not {self.pairs!r}.")
        if any(isinstance(f, Family) and Kind.PAIRS in f.kinds for f in _each(self.families)):
            raise SettingError(
                "families names a family of pairs, which columns cannot be asked for: set "
                "structure='tan', structure='aode' or pairs='auto'."
            )
        if structure == "naive":
            return
        if self.pairs is not None:
            raise SettingError(
                f"pairs='auto' adds to structure='naive'; structure={structure!r} has its pairs."
            )
        if self.family_for_all() is not None:
            raise SettingError(
                f"structure={structure!r} models columns together, so that "
                f"families={self.families!r} for all of them cannot be; give families to the "
                "columns that shall stay alone."
            )
        if any(policy != "skip" for policy in _each(self.unseen)):
            raise SettingError(
                f"structure={structure!r} leaves values never seen out; unseen must be 'skip', not "
                f"{self.unseen!r}."
            )
        if not self.gives_parents and any(p == "category" for p in _each(self.missing)):
            raise SettingError(
                f"structure={structure!r} leaves gaps out; missing must not be 'category'."
            )

    @property
    def together(self) -> tuple[str, ...]:
        """Return what columns are counted together for: edges of a tree, further pairs, …."""
        if self.pairs is not None:
            return ("edge", "pair")
        return STRUCTURES[self.structure] if isinstance(self.structure, str) else ("given",)

    @property
    def gives_parents(self) -> bool:
        """Whether columns have parents among the others, one or several."""
        return self.structure in ("tan", "hill-climb") or not isinstance(self.structure, str)

    def has_its_edges(self, schema: Schema) -> bool:
        """Return whether the edges that are given, if any, are those that were counted."""
        if isinstance(self.structure, str):
            return True
        of_use = [b for b in schema.counted if b.pairing is not None and b.pairing.use == "given"]
        counted = {(parent, b.columns[-1]) for b in of_use for parent in b.columns[:-1]}
        known = {column for b in schema.counted for column in b.columns}
        return counted == {edge for edge in self.structure if known.issuperset(edge)}

    def takes_part(self, block: Block, table: Table) -> bool:
        """Return whether a column may be counted together with others.

        Where it would lose a family that was asked for, it may not.
        """
        if block.kind not in (Kind.LABELS, Kind.NUMBERS) or self.names_rows(block, table):
            return False
        asked = _of_block(self.families, block, "plain")
        return self.structure == "naive" or asked in ("plain", "auto")

    def covered(self, schema: Schema) -> dict[str, str]:
        """Return the columns that have no factor of their own, and the block that tells of each."""
        covered: dict[str, str] = {}
        for block in schema:
            if self.structure != "naive" and self._is_read(block) and block.pairing is not None:
                told = block.columns[-1:] if block.pairing.is_conditional else block.columns
                covered |= dict.fromkeys(told, block.name)
        return covered

    def _is_read(self, block: Block) -> bool:
        return block.pairing is None or block.pairing.use in self.together

    @property
    def is_tuned(self) -> bool:
        """Return whether anything is chosen by leave-one-out."""
        open_ = [self.weights is not None]
        for name in ("families", "smoothing", "missing"):
            open_ += [isinstance(v, str) and v == "auto" for v in _each(getattr(self, name))]
        return any(open_)

    def is_auto(self, name: str, block: Block) -> bool:
        """Return whether a setting of a block is left to be chosen."""
        asked = self.smoothing_of(block) if name == "smoothing" else None
        if name != "smoothing" and block.pairing is None:
            asked = _of_block(getattr(self, name), block, None)
        return isinstance(asked, str) and asked == "auto"

    def _check_policy(self, name: str, allowed: tuple[str, ...]) -> None:
        for policy in _each(getattr(self, name)):
            if policy not in allowed:
                choices = ", ".join(map(repr, allowed))
                raise SettingError(f"{name} must be one of {choices}, not {policy!r}.")

    def declared(self, raw: RawTable) -> dict[tuple[str, ...], Kind | Analyzer]:
        """Return the kinds that text and families ask for, by the columns of each block."""
        texts = {(name,): analyzer for name, analyzer in self.text.items()}
        asked = self._declared_by_families(raw)
        return {k: v for k, v in asked.items() if k not in texts} | texts

    def _declared_by_families(self, raw: RawTable) -> dict[tuple[str, ...], Kind]:
        if raw.matrix is not None and not hasattr(raw.matrix, "__array_interface__"):
            return self._declared_sparse(raw)
        if isinstance(self.families, str) and self.families in ("plain", "auto"):
            return {}
        if isinstance(self.families, Mapping):
            asked = {(k,) if isinstance(k, str) else k: f for k, f in self.families.items()}
            for columns in asked:
                _refuse_parts(columns, raw)
            return {
                columns: _kind(as_family(family), columns)
                for columns, family in asked.items()
                if family not in ("plain", "auto")
            }
        kind = as_family(self.families).kinds[0]
        names = tuple(name for name in raw.names if name not in self.text)
        if kind.is_of_several:
            return {names: kind} if names else {}
        return {(name,): kind for name in names}

    def _declared_sparse(self, raw: RawTable) -> dict[tuple[str, ...], Kind]:
        if isinstance(self.families, Mapping):
            raise SettingError(
                "A sparse matrix is one block of counts: give one family for all its columns, "
                "'multinomial', 'bernoulli' or 'complement'."
            )
        family = self.family_for_all()
        if family is not None and Kind.COUNTS not in family.kinds:
            raise SettingError(
                f"A sparse matrix is read as counts, which {family.name} does not model. "
                "Use 'multinomial' or 'bernoulli', or give a dense array."
            )
        return {raw.names: Kind.COUNTS}

    def family_for_all(self) -> Family | None:
        """Return the one family asked for, if there is one."""
        if isinstance(self.families, Mapping) or self.families in ("plain", "auto"):
            return None
        return as_family(self.families)

    def choices(self, statistics: Statistics) -> dict[str, Choice]:
        """Return how each block is read out.

        Identifiers and empty columns are left out, and columns that are not selected.
        """
        open_ = self._unselected(statistics)
        left_out = self.left_out(statistics)
        return {name: choice for name, choice in open_.items() if name not in left_out}

    def left_out(self, statistics: Statistics) -> dict[str, Worth]:
        """Return the blocks that `select` leaves out, and what each would be worth."""
        if self.select is None or not statistics.n_rows:
            return {}
        from priory.model.selection import worth  # not every model selects

        found = {}
        for name, choice in self._unselected(statistics).items():
            block = statistics.schema[name]
            gaps = self.missing_of(block) in ("auto", "category")
            judged = worth(statistics, block, self._judged(block, choice), gaps)
            if judged is not None and not judged.pays:
                found[name] = judged
        return found

    def _judged(self, block: Block, choice: Choice) -> list[Choice]:
        """Return the ways to describe a block that decide whether it stays, the choice first."""
        if choice.family == families.Gaussian() and choice.prior is None:
            # The plain variance of a class of one row is 0, which would describe it for nothing.
            choice = replace(choice, prior=NormalInverseGamma())
        if block.kind is Kind.NUMBERS and self.is_auto("families", block):
            return [choice, replace(choice, family=families.Histogram(bins=5), prior=Laplace(1.0))]
        return [choice]

    def _unselected(self, statistics: Statistics) -> dict[str, Choice]:
        self._check_names(statistics)
        covered = self.covered(statistics.schema)
        return {
            block.name: self._choice(block, statistics.tables[block.name])
            for block in statistics.schema.counted
            if block.name not in covered
            and self._is_read(block)
            and not self.names_rows(block, statistics.tables[block.name])
            and _has_values(statistics.tables[block.name])
        }

    def names_rows(self, block: Block, table: Table) -> bool:
        """Return whether a column of strings hardly ever repeats, so that it only names rows."""
        if not isinstance(table, LabelsTable) or block.why == "declared":
            return False
        n = int(table.rows.sum())
        return (
            n >= NAMING_ROWS
            and len(table.labels) >= NAMING_SHARE * n
            and all(isinstance(label, str) for label in table.labels)
        )

    def reads_codes(self, block: Block, table: Table) -> bool:
        """Return whether "plain" reads a column of numbers as categories: its values are codes.

        Only what the table holds is looked at, so that pieces and orders do not matter.
        """
        asked = _of_block(self.families, block, "plain")
        if not (isinstance(table, NumbersTable) and isinstance(asked, str) and asked == "plain"):
            return False
        if isinstance(self.smoothing_of(block), NormalInverseGamma):  # which a normal alone takes
            return False
        cells = table.cells
        if cells.level or not 0 < len(cells.keys) <= MOST_CODES:
            return False
        n = max(float(cells.rows.sum()), float(cells.weight.sum()))  # a row of weight 2 is two
        small = (np.abs(cells.values) < CODES_BELOW) & (cells.values % 1 == 0)
        return len(cells.keys) <= n / 2 and bool(small.all())

    def _choice(self, block: Block, table: Table) -> Choice:
        family = self._family(block, table)
        if block.kind not in family.kinds:
            raise SettingError(
                f"Column {block.title!r} was counted as {block.kind}, which {family.name} cannot "
                f"be read out of; it needs {', '.join(family.kinds)}."
            )
        prior = self.prior_of(block, family)
        if isinstance(family, families.Categorical) and self._counts_declared(block, prior):
            family = replace(family, values=sorted_labels([*family.values, *block.values]))
        return Choice(family, prior, _untuned(self.missing_of(block)))

    def _counts_declared(self, block: Block, prior: Prior | None) -> bool:
        """Return whether Laplace's V counts the values that a column's type declares.

        It does where a smoothing is asked for. Without any, a value that no row has is one that was
        never seen, which the policy for those may leave out.
        """
        nothing = prior in (Laplace(0.0), MEstimate(0.0), MEstimate(0.0, "marginal"))
        return bool(block.values) and not nothing and not self.is_auto("smoothing", block)

    def missing_of(self, block: Block) -> Any:
        """Return what a gap in a block does; one that a tree tells of may speak."""
        if block.pairing is None:
            return _of_block(self.missing, block, "skip")
        if not self.gives_parents:
            return "skip"
        asked = self.missing
        return asked.get(block.columns[-1], "skip") if isinstance(asked, Mapping) else asked

    def _family(self, block: Block, table: Table) -> Family:
        if block.pairing is not None:
            if block.pairing.is_conditional:
                return families.Conditional() if self.gives_parents else families.Edge()
            return families.Aode() if block.pairing.use == "aode" else families.Joint()
        asked = _of_block(self.families, block, "plain")
        if asked == "auto" and block.kind is Kind.WORDS:
            return families.Words(**SOUND_READOUT)
        if asked in ("plain", "auto"):
            codes = self.reads_codes(block, table)
            asked = "categorical" if codes else _plain(block, table)
        family = as_family(asked)
        if block.kind is Kind.WORDS:
            family = _of_words(family)
        if block.kind is Kind.SCATTER:
            return self._shrunk(block, family)
        unseen = _of_block(self.unseen, block, "skip")
        if unseen != "skip" and isinstance(family, families.Categorical):
            return replace(family, unseen=unseen)
        if unseen != "skip" and isinstance(self.unseen, Mapping):
            raise SettingError(
                f"unseen of column {block.title!r} is {unseen!r}, but {family.name} knows no "
                "unseen values; categorical does."
            )
        return family

    def _shrunk(self, block: Block, family: Family) -> Family:
        """Return a multivariate Gaussian with the shrinkage that the smoothing means."""
        if not isinstance(family, families.MultivariateGaussian) or family.shrinkage is not None:
            return family
        return replace(family, shrinkage="auto" if self.is_auto("smoothing", block) else 0.0)

    def smoothing_of(self, block: Block) -> Any:
        """Return what smoothing is asked for; in a tree it is that of the column told of."""
        if block.pairing is None or not isinstance(self.smoothing, Mapping):
            return _of_block(self.smoothing, block, None)
        return self.smoothing.get(block.columns[-1]) if self.gives_parents else "auto"

    def prior_of(self, block: Block, family: Family) -> Prior | None:
        """Return the prior that a family has for a block."""
        asked = self.smoothing_of(block)
        if asked is None:
            return family.default_prior
        if isinstance(asked, str):
            prior: Prior = SOUND_FOR_WORDS if block.kind is Kind.WORDS else SOUND_SMOOTHING
            if family.about == "edge":
                prior = SOUND_FOR_EDGES
        else:
            prior = as_prior(asked)
        if isinstance(self.smoothing, Mapping) and not isinstance(asked, str):
            family.check_prior(prior, block)  # it was asked for by name: honour it or refuse
        return prior if isinstance(prior, family.priors) else family.default_prior

    def _check_names(self, statistics: Statistics) -> None:
        for setting in ("families", "smoothing", "missing", "unseen", "text"):
            value = getattr(self, setting)
            for key in value if isinstance(value, Mapping) else ():
                self._check_key(setting, key, statistics.schema)

    def _check_key(self, setting: str, key: str | tuple[str, ...], schema: Schema) -> None:
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
        where = (
            f"{tuple(of_block.columns)!r:.80} is one block" if of_block else "it was not counted"
        )
        raise SettingError(
            f"{setting} names {key!r}, but {where}. Blocks are declared before learning, and a "
            "setting is for a whole block, named by its columns in their order."
        )


def _edges(given: Any) -> tuple[tuple[str, str], ...]:
    """Return (parent, child) pairs as they are given; they must not go round in a circle."""
    if not isinstance(given, Iterable) or isinstance(given, Mapping | Set):
        raise _no_structure(given)
    edges = tuple(tuple(edge) if isinstance(edge, list) else edge for edge in given)
    for child, parents in Graph.of(edges).parents.items():
        if len(parents) > MOST_PARENTS:
            raise SettingError(
                f"structure gives column {child!r} {len(parents)} parents; {MOST_PARENTS} are the "
                "most, for few rows share the values of so many."
            )
    return edges


def _no_structure(given: Any) -> SettingError:
    hint = did_you_mean(given, STRUCTURES) if isinstance(given, str) else ""
    return SettingError(
        f"structure must be one of {', '.join(map(repr, STRUCTURES))} or (parent, child) pairs of "
        f"columns, not {given!r}.{hint}"
    )


def _has_values(table: Table) -> bool:
    """Return whether any value is left of a column: all its rows may have been forgotten."""
    present = getattr(table, "present", None)
    return present is None or bool(present.any())


def _plain(block: Block, table: Table) -> str:
    """Return the textbook's family for a kind."""
    if block.kind is Kind.JOINT:
        return "joint"
    if isinstance(table, LabelsTable):
        truths = all(isinstance(label, bool) for label in table.labels)
        return "bernoulli" if truths and table.labels else "categorical"
    others = {
        Kind.COUNTS: "multinomial",
        Kind.SCATTER: "multivariate-gaussian",
        Kind.NUMBERS: "gaussian",
        Kind.MOMENTS: "gaussian",
        Kind.WORDS: "multinomial",
    }
    return others[block.kind]


def _of_words(family: Family) -> Family:
    """Return the read-out of words that a family of counts means."""
    from priory.families.words import READOUTS, Words

    name: Any = family.name
    return Words(name) if name in READOUTS else family


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
    several = [name for name in NAMED if any(k.is_of_several for k in as_family(name).kinds)]
    raise SettingError(
        f"{family.name} models one column, not the {len(columns)} of {columns!r}. Families for "
        f"several columns: {listing(several, 20)}."
    )


def _of_block(setting: Any, block: Block, otherwise: Any) -> Any:
    """Return what a setting says of a block: for all columns, or by name."""
    if not isinstance(setting, Mapping):
        return setting
    if block.name in setting:
        return setting[block.name]
    return setting.get(block.columns, otherwise)


def _key(columns: Any) -> str | tuple[str, ...]:
    """Return the name of a column, or the names of several, as the schema has them."""
    return tuple(map(str, columns)) if isinstance(columns, tuple) else str(columns)


def _untuned(missing: str) -> Any:
    return "skip" if missing == "auto" else missing


def _text(given: Any) -> dict[str, Analyzer]:
    """Return the analyzer of each column that is text."""
    if given is None:
        return {}
    if isinstance(given, str):
        given = [given]
    if isinstance(given, Mapping):
        return {str(name): as_analyzer(how) for name, how in given.items()}
    if not isinstance(given, Sequence | Set):
        raise SettingError(f"text must name columns, or map them to analyzers, not {given!r:.60}.")
    return {str(name): Analyzer() for name in given}


def _each(setting: Any) -> Iterable[Any]:
    return setting.values() if isinstance(setting, Mapping) else [setting]
