"""The families by name and by class: one table, from which all else that lists them follows.

A family is imported when it is first asked for: most models need a few of them, and a single
prediction from the shell does not wait for the others.
"""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from typing import Any, TypeVar

from priory.base.errors import SettingError, UnknownFamilyError, did_you_mean, listing
from priory.data.schema import Kind
from priory.families.base import Family

__all__ = [
    "as_family",
    "class_names",
    "families_for",
    "family_class",
    "family_names",
    "names_of",
    "register",
]

FAMILIES: dict[str, tuple[str | type[Family], dict[str, dict[str, Any]]]] = {
    "Categorical": ("categorical", {"categorical": {}}),
    "Bernoulli": ("bernoulli", {"bernoulli": {}}),
    "Binomial": ("binomial", {}),
    "Multinomial": ("multinomial", {"multinomial": {}}),
    "Complement": ("multinomial", {"complement": {}}),
    "Gaussian": ("gaussian", {"gaussian": {}, "gaussian-shared": {"shared": True}}),
    "StudentT": (
        "student_t",
        {"student-t": {}, "log-normal": {"transform": "log"}, "rank-normal": {"transform": "rank"}},
    ),
    "Histogram": ("histogram", {"histogram": {}, "histogram-mdl": {"cut": "mdl"}}),
    "KernelDensity": ("kernel_density", {"kernel-density": {}}),
    "Poisson": ("poisson", {"poisson": {}}),
    "MultivariateGaussian": ("multivariate_gaussian", {"multivariate-gaussian": {}}),
    "Joint": ("joint", {"joint": {}}),
    "Words": ("words", {"words": {}}),
    "TellingWords": ("telling_words", {"telling-words": {}}),
    "Conditional": ("conditional", {}),
    "Aode": ("aode", {}),
}
"""The classes, with the module of each (or the class itself, once it is registered), and the names
by which it can be asked for, with the options that each of them means."""

Registered = TypeVar("Registered", bound=type[Family])


def as_family(family: object) -> Family:
    """Make the family that a setting means, by name or as it is.

    >>> as_family("gaussian")
    Gaussian(shared=False, var_smoothing=0.0)
    """
    if isinstance(family, Family):
        return family
    for class_name, (_, names) in FAMILIES.items():
        if isinstance(family, str) and family in names:
            return family_class(class_name)(**names[family])
    known = family_names()
    raise UnknownFamilyError(
        f"There is no family {family!r}. Families: {listing(known, 20)}."
        f"{did_you_mean(str(family), known)}"
    )


def register(family: Registered) -> Registered:
    """Make a family of your own known: by its name in settings, by its class in model files.

    It decorates a frozen dataclass that inherits `Family`. A model file holds no code, so whoever
    loads a model that uses the family registers it first. A family with options that must be given
    is asked for by its class alone.
    """
    given: Any = family
    name, names = given.__name__, {getattr(given, "name", ""): dict[str, Any]()}
    if not (issubclass(given, Family) and is_dataclass(given) and all(names)):
        raise SettingError(
            f"A family is a frozen dataclass that inherits Family and has a name; {name} is not."
        )
    if not getattr(family, "kinds", ()):
        raise SettingError(f"{name} must name the kinds of column that it reads: kinds = (…,).")
    for known, (home, others) in FAMILIES.items():
        is_again = not isinstance(home, str) and home.__qualname__ == family.__qualname__
        if (known == name or family.name in others) and not is_again:
            raise SettingError(
                f"{name}, {family.name!r}, cannot be registered: {known} has this name already."
            )
    if any(f.default is MISSING and f.default_factory is MISSING for f in fields(given)):
        names = {}
    FAMILIES[name] = (family, names)
    return family


def family_names() -> list[str]:
    """List the names by which a family can be asked for."""
    return [name for _, names in FAMILIES.values() for name in names]


def families_for(*kinds: Kind) -> list[str]:
    """List the names of the families that read columns of some kinds."""
    return [
        name
        for class_name, (_, names) in FAMILIES.items()
        for name in names
        if set(family_class(class_name).kinds) & set(kinds)
    ]


def class_names() -> list[str]:
    """List the classes that a model file may name."""
    return list(FAMILIES)


def family_class(name: str) -> type[Family]:
    """Find the class of a family, which is imported when it is first asked for."""
    home, _ = FAMILIES[name]
    if isinstance(home, str):
        home = getattr(import_module(f"priory.families.{home}"), name)
    return home


def names_of(protocol: type, given: str = "is_likelihood") -> str:
    """List the families that follow a protocol, with the options of which `given` says so."""
    found: list[str] = []
    for class_name, (_, names) in FAMILIES.items():
        cls = family_class(class_name)
        if issubclass(cls, protocol):
            able = [name for name, options in names.items() if getattr(cls(**options), given)]
            found += able if names else [cls.name]
    return ", ".join(found[:-1]) + " and " * (len(found) > 1) + found[-1]
