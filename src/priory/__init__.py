"""priory: the Bayesian classifier that learns by counting.

Any table in, one pass, and out comes a model that says which class, how sure, and why.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from priory.version import __version__ as __version__

if TYPE_CHECKING:
    from priory.classifier import Classifier, load
    from priory.dropins import (
        BernoulliNB,
        CategoricalNB,
        ComplementNB,
        GaussianNB,
        MultinomialNB,
    )
    from priory.estimators import NaiveBayes
    from priory.explanation import Explanation
    from priory.families import (
        Bernoulli,
        Binomial,
        Categorical,
        Complement,
        Gaussian,
        Histogram,
        Joint,
        KernelDensity,
        Multinomial,
        MultivariateGaussian,
        Poisson,
        StudentT,
    )
    from priory.model import Model
    from priory.priors import Dirichlet, Laplace, MEstimate, NormalInverseGamma
    from priory.schema import Schema
    from priory.settings import Settings
    from priory.sources import train
    from priory.statistics import Statistics

# Where each public name lives. They are imported when first used, so that `import priory` costs
# next to nothing and scikit-learn is loaded for its estimators alone.
_HOME = {
    "NaiveBayes": "estimators",
    "BernoulliNB": "dropins",
    "CategoricalNB": "dropins",
    "ComplementNB": "dropins",
    "GaussianNB": "dropins",
    "MultinomialNB": "dropins",
    "Classifier": "classifier",
    "load": "classifier",
    "train": "sources",
    "Settings": "settings",
    "Explanation": "explanation",
    "Model": "model",
    "Statistics": "statistics",
    "Schema": "schema",
    "Bernoulli": "families",
    "Binomial": "families",
    "Categorical": "families",
    "Complement": "families",
    "Gaussian": "families",
    "Histogram": "families",
    "Joint": "families",
    "KernelDensity": "families",
    "Multinomial": "families",
    "MultivariateGaussian": "families",
    "Poisson": "families",
    "StudentT": "families",
    "Dirichlet": "priors",
    "Laplace": "priors",
    "MEstimate": "priors",
    "NormalInverseGamma": "priors",
}

__all__ = [
    "Bernoulli",
    "BernoulliNB",
    "Binomial",
    "Categorical",
    "CategoricalNB",
    "Classifier",
    "Complement",
    "ComplementNB",
    "Dirichlet",
    "Explanation",
    "Gaussian",
    "GaussianNB",
    "Histogram",
    "Joint",
    "KernelDensity",
    "Laplace",
    "MEstimate",
    "Model",
    "Multinomial",
    "MultinomialNB",
    "MultivariateGaussian",
    "NaiveBayes",
    "NormalInverseGamma",
    "Poisson",
    "Schema",
    "Settings",
    "Statistics",
    "StudentT",
    "load",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'priory' has no attribute {name!r}")
    value = getattr(import_module(f"priory.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
