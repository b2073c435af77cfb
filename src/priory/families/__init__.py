"""Families: one likelihood a file, each a read-out of a table of sums.

A family is imported when it is first asked for: most models need a few of them, and a single
prediction from the shell does not wait for the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from priory.base.errors import SettingError, did_you_mean, listing
from priory.base.lazy import importer
from priory.families.base import Family, Linear

if TYPE_CHECKING:
    from priory.families.aode import Aode
    from priory.families.bernoulli import Bernoulli
    from priory.families.binomial import Binomial
    from priory.families.categorical import Categorical
    from priory.families.complement import Complement
    from priory.families.conditional import Conditional
    from priory.families.edge import Edge
    from priory.families.gaussian import Gaussian
    from priory.families.histogram import Histogram
    from priory.families.joint import Joint
    from priory.families.kernel_density import KernelDensity
    from priory.families.multinomial import Multinomial
    from priory.families.multivariate_gaussian import MultivariateGaussian
    from priory.families.poisson import Poisson
    from priory.families.student_t import StudentT
    from priory.families.words import Words

__all__ = [
    "FAMILY_TYPES",
    "NAMED",
    "Aode",
    "Bernoulli",
    "Binomial",
    "Categorical",
    "Complement",
    "Conditional",
    "Edge",
    "Family",
    "Gaussian",
    "Histogram",
    "Joint",
    "KernelDensity",
    "Linear",
    "Multinomial",
    "MultivariateGaussian",
    "Poisson",
    "StudentT",
    "Words",
    "as_family",
]

FAMILY_TYPES = {
    "Aode": "aode",
    "Bernoulli": "bernoulli",
    "Binomial": "binomial",
    "Categorical": "categorical",
    "Complement": "complement",
    "Conditional": "conditional",
    "Edge": "edge",
    "Gaussian": "gaussian",
    "Histogram": "histogram",
    "Joint": "joint",
    "KernelDensity": "kernel_density",
    "Multinomial": "multinomial",
    "MultivariateGaussian": "multivariate_gaussian",
    "Poisson": "poisson",
    "StudentT": "student_t",
    "Words": "words",
}
"""The families, and the file of each."""

NAMED: dict[str, tuple[str, dict[str, Any]]] = {
    "categorical": ("Categorical", {}),
    "bernoulli": ("Bernoulli", {}),
    "multinomial": ("Multinomial", {}),
    "complement": ("Complement", {}),
    "gaussian": ("Gaussian", {}),
    "gaussian-shared": ("Gaussian", {"shared": True}),
    "student-t": ("StudentT", {}),
    "log-normal": ("StudentT", {"transform": "log"}),
    "rank-normal": ("StudentT", {"transform": "rank"}),
    "histogram": ("Histogram", {}),
    "histogram-mdl": ("Histogram", {"cut": "mdl"}),
    "kernel-density": ("KernelDensity", {}),
    "poisson": ("Poisson", {}),
    "multivariate-gaussian": ("MultivariateGaussian", {}),
    "joint": ("Joint", {}),
    "words": ("Words", {}),
}
"""The families that have a name, and what each is; others are made by their class."""


__getattr__ = importer(globals(), FAMILY_TYPES)


def as_family(family: object) -> Family:
    """Return the family that a setting means, by name or as it is.

    >>> as_family("gaussian")
    Gaussian(shared=False, var_smoothing=0.0)
    """
    if isinstance(family, Family):
        return family
    if isinstance(family, str) and family in NAMED:
        name, options = NAMED[family]
        made: Family = __getattr__(name)(**options)
        return made
    raise SettingError(
        f"There is no family {family!r}. Families: {listing(NAMED, 20)}."
        f"{did_you_mean(str(family), NAMED)}"
    )
