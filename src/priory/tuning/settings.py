"""Settings: everything that a user may ask for, in one place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from priory.base.errors import SettingError, check_number, did_you_mean
from priory.base.graph import Graph
from priory.base.parallel import check_threads
from priory.data.pairing import MOST_PARENTS
from priory.data.schema import Block, Kind, Schema
from priory.families import Family, as_family
from priory.families.priors import as_prior
from priory.model.class_prior import ClassPrior
from priory.text.analyzer import Analyzer, as_analyzer

__all__ = ["TEXTBOOK", "Settings"]

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

TEXTBOOK: Mapping[str, Any] = {"weights": None, "missing": "skip", "pairs": None}
"""What the lecture's classifier has else than the default, beside its families and smoothing."""


@dataclass(frozen=True)
class Settings:
    """How a model follows from statistics: families, smoothing, class prior, policies.

    `families` is "plain" (by kind, and numbers that are codes as categories), "auto", one family
    for all columns, or a mapping of columns (or tuples of columns, counted as one block) to
    families. `smoothing` is α, a prior, "auto", or a mapping of columns to them. `missing` is
    "skip", "category" or "error", and `unseen` is "skip", "smooth" or "error", for all columns or
    in a mapping by column. `n_threads` is how many threads count and score, None for
    PRIORY_NUM_THREADS or else the cores at hand. `text` names columns whose words are counted:
    their names, or a mapping of them to an `Analyzer`, or to "auto", as those have that are only
    named: the first rows choose.

    `weights` says what is learned of factors: None takes each as it is, "temperature" learns one
    weight for all, "columns" one for each, and "auto" corrects each column beyond that, where it
    helps. What is "auto" is chosen on at most `sample_size` rows, each scored by sums without it.

    `select` "mdl" keeps a column only if looking at the class saves more bits on it than the
    parameters for that cost; None keeps them all.

    `structure` says which columns depend on each other given the class: "naive", none of them;
    "tan", each on one other, in a tree; "aode", each in turn on every other; "joint", all on all;
    "hill-climb", each on up to `max_parents` others, as long as that shortens the description of
    the data; or edges, (parent, child) pairs of columns, as they are given.
    It is chosen on the first rows that are learned. With `pairs` "auto", and weights "auto", pairs
    of columns correct what the two say alone; None keeps one term for each column.

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
    pairs: Any = "auto"
    max_parents: int = MAX_PARENTS

    @classmethod
    def auto(cls, **changes: Any) -> Settings:
        """Make the default settings, in which the data choose, changed by name.

        >>> Settings.auto(sample_size=1000) == Settings().changed(sample_size=1000)
        True
        """
        return cls().changed(**changes)

    @classmethod
    def textbook(cls, families: Any = "plain", smoothing: Any = 1.0, **changes: Any) -> Settings:
        """Make the lecture's settings: families by kind, one smoothing, nothing chosen.

        >>> Settings.textbook(class_prior="uniform").smoothing
        1.0
        """
        return cls.auto(families=families, smoothing=smoothing, **{**TEXTBOOK, **changes})

    def changed(self, **changes: Any) -> Settings:
        """Make the same settings but for some, by name.

        >>> Settings().changed(smoothng=0)
        Traceback (most recent call last):
        priory.base.errors.SettingError: There is no setting 'smoothng'. Did you mean 'smoothing'?
        """
        names = self.options()
        for name in changes:
            if name not in names:
                hint = did_you_mean(name, names) or f" Settings: {', '.join(names)}."
                raise SettingError(f"There is no setting {name!r}.{hint}")
        return replace(self, **changes) if changes else self

    def options(self) -> dict[str, Any]:
        """Give every setting by its name, as `NaiveBayes` and `train` take them.

        >>> Settings.textbook().options()["families"]
        'plain'
        """
        return dict(self.__dict__)

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
        if self.sample_size != int(self.sample_size):
            raise SettingError(f"sample_size must be an integer, not {self.sample_size!r}.")
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
                "structure='tan' or structure='aode'."
            )
        if structure == "naive":
            return
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
                f"structure={structure!r} skips missing values; missing must not be 'category'."
            )

    @property
    def together(self) -> tuple[str, ...]:
        """What columns are counted together for: edges of a tree, further pairs, …."""
        return STRUCTURES[self.structure] if isinstance(self.structure, str) else ("given",)

    @property
    def gives_parents(self) -> bool:
        """Whether columns have parents among the others, one or several."""
        return self.structure in ("tan", "hill-climb") or not isinstance(self.structure, str)

    def has_its_edges(self, schema: Schema) -> bool:
        """Tell whether the edges that are given, if any, are those that were counted."""
        if isinstance(self.structure, str):
            return True
        of_use = [b for b in schema.counted if b.pairing is not None and b.pairing.use == "given"]
        counted = {(parent, b.columns[-1]) for b in of_use for parent in b.columns[:-1]}
        known = {column for b in schema.counted for column in b.columns}
        return counted == {edge for edge in self.structure if known.issuperset(edge)}

    def covered(self, schema: Schema) -> dict[str, str]:
        """Map the columns that have no factor of their own to the block that models each."""
        covered: dict[str, str] = {}
        for block in schema:
            if self.structure != "naive" and self.is_read(block) and block.pairing is not None:
                told = block.columns[-1:] if block.pairing.is_conditional else block.columns
                covered |= dict.fromkeys(told, block.name)
        return covered

    def is_read(self, block: Block) -> bool:
        """Tell whether a block is in the model, or was counted for another structure."""
        return block.pairing is None or block.pairing.use in self.together

    @property
    def corrects(self) -> bool:
        """Whether rows may correct what the factors of columns say."""
        return self.weights == "auto"

    @property
    def learns_pairs(self) -> bool:
        """Whether pairs of columns may be corrected."""
        return self.corrects and self.pairs is not None and self.structure == "naive"

    @property
    def is_tuned(self) -> bool:
        """Whether anything is chosen by looking at the rows."""
        open_ = [self.weights is not None]
        for name in ("families", "smoothing", "missing"):
            open_ += [isinstance(v, str) and v == "auto" for v in _each(getattr(self, name))]
        return any(open_)

    def is_auto(self, name: str, block: Block) -> bool:
        """Tell whether a setting of a block is left to be chosen."""
        asked = self.smoothing_of(block) if name == "smoothing" else None
        if name != "smoothing" and block.pairing is None:
            asked = self.of_block(name, block, None)
        return isinstance(asked, str) and asked == "auto"

    def of_block(self, name: str, block: Block, otherwise: Any) -> Any:
        """Find what a setting says of a block: for all columns, or by name."""
        setting = getattr(self, name)
        if not isinstance(setting, Mapping):
            return setting
        if block.name in setting:
            return setting[block.name]
        return setting.get(block.columns, otherwise)

    def _check_policy(self, name: str, allowed: tuple[str, ...]) -> None:
        for policy in _each(getattr(self, name)):
            if policy not in allowed:
                choices = ", ".join(map(repr, allowed))
                raise SettingError(f"{name} must be one of {choices}, not {policy!r}.")

    def family_for_all(self) -> Family | None:
        """Find the one family asked for, if there is one."""
        if isinstance(self.families, Mapping) or self.families in ("plain", "auto"):
            return None
        return as_family(self.families)

    def missing_of(self, block: Block) -> Any:
        """Find what a missing value in a block does; in a tree it is that of the child."""
        if block.pairing is None:
            return self.of_block("missing", block, "skip")
        if not self.gives_parents:
            return "skip"
        asked = self.missing
        return asked.get(block.columns[-1], "skip") if isinstance(asked, Mapping) else asked

    def smoothing_of(self, block: Block) -> Any:
        """Find what smoothing is asked for; in a tree it is that of the child."""
        if block.pairing is None or not isinstance(self.smoothing, Mapping):
            return self.of_block("smoothing", block, None)
        return self.smoothing.get(block.columns[-1]) if self.gives_parents else "auto"


def _edges(given: Any) -> tuple[tuple[str, str], ...]:
    """Check (parent, child) pairs; they must not go round in a circle."""
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


def _key(columns: Any) -> str | tuple[str, ...]:
    return tuple(map(str, columns)) if isinstance(columns, tuple) else str(columns)


def _text(given: Any) -> dict[str, Analyzer | str]:
    """Find the analyzer of each column that is text; "auto" is chosen on the first rows."""
    if given is None:
        return {}
    if isinstance(given, str):
        given = [given]
    if isinstance(given, Mapping):
        return {
            str(name): "auto" if isinstance(how, str) and how == "auto" else as_analyzer(how)
            for name, how in given.items()
        }
    if not isinstance(given, Sequence | Set):
        raise SettingError(f"text must name columns, or map them to analyzers, not {given!r:.60}.")
    return {str(name): "auto" for name in given}


def _each(setting: Any) -> Iterable[Any]:
    return setting.values() if isinstance(setting, Mapping) else [setting]
