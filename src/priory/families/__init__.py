"""Families: one likelihood a file, each a read-out of a table of sums."""

from __future__ import annotations

from priory.errors import SettingError, did_you_mean, listing
from priory.families.base import Family, Linear
from priory.families.bernoulli import Bernoulli
from priory.families.categorical import Categorical
from priory.families.complement import Complement
from priory.families.gaussian import Gaussian
from priory.families.histogram import Histogram
from priory.families.multinomial import Multinomial
from priory.families.poisson import Poisson
from priory.families.student_t import StudentT

__all__ = [
    "FAMILIES",
    "Bernoulli",
    "Categorical",
    "Complement",
    "Family",
    "Gaussian",
    "Histogram",
    "Linear",
    "Multinomial",
    "Poisson",
    "StudentT",
    "as_family",
]

FAMILIES: dict[str, Family] = {
    "categorical": Categorical(),
    "bernoulli": Bernoulli(),
    "multinomial": Multinomial(),
    "complement": Complement(),
    "gaussian": Gaussian(),
    "gaussian-shared": Gaussian(shared=True),
    "student-t": StudentT(),
    "histogram": Histogram(),
    "histogram-mdl": Histogram(cut="mdl"),
    "poisson": Poisson(),
}
"""The families that have a name; others are made by their class."""


def as_family(family: object) -> Family:
    """Return the family that a setting means, by name or as it is.

    >>> as_family("gaussian")
    Gaussian(shared=False, var_smoothing=0.0)
    """
    if isinstance(family, Family):
        return family
    if isinstance(family, str) and family in FAMILIES:
        return FAMILIES[family]
    raise SettingError(
        f"There is no family {family!r}. Families: {listing(FAMILIES, 20)}."
        f"{did_you_mean(str(family), FAMILIES)}"
    )
