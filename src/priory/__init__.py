"""priory: the Bayesian classifier that learns by counting.

Any table in, one pass, and out comes a model that says which class, how sure, and why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from priory.later import importer
from priory.version import __version__ as __version__

if TYPE_CHECKING:
    from priory.analyzer import Analyzer
    from priory.classifier import Classifier
    from priory.dropins import (
        BernoulliNB,
        CategoricalNB,
        ComplementNB,
        GaussianNB,
        MultinomialNB,
    )
    from priory.estimators import NaiveBayes
    from priory.evaluation import Comparison, Evaluation, Threshold, compare, evaluate
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
        Words,
    )
    from priory.informative import Informative
    from priory.learning_curves import LearningCurve, learning_curve
    from priory.loading import load
    from priory.model import Model
    from priory.network import BeliefNetwork, Hypotheses, JointTable
    from priory.network_classifier import NetworkClassifier
    from priory.priors import Dirichlet, Laplace, MEstimate, NormalInverseGamma
    from priory.schema import Schema
    from priory.settings import Settings
    from priory.sources import read_folder, read_mbox, train
    from priory.statistics import Statistics
    from priory.textnb import TextNB
    from priory.validation import cross_validate, leave_one_out

# Where each public name lives. They are imported when first used, so that `import priory` costs
# next to nothing and scikit-learn is loaded for its estimators alone.
_HOME = {
    "NaiveBayes": "estimators",
    "NetworkClassifier": "network_classifier",
    "TextNB": "textnb",
    "BernoulliNB": "dropins",
    "CategoricalNB": "dropins",
    "ComplementNB": "dropins",
    "GaussianNB": "dropins",
    "MultinomialNB": "dropins",
    "Classifier": "classifier",
    "load": "loading",
    "train": "sources",
    "Settings": "settings",
    "Analyzer": "analyzer",
    "Informative": "informative",
    "Explanation": "explanation",
    "Comparison": "evaluation",
    "Evaluation": "evaluation",
    "Threshold": "evaluation",
    "compare": "evaluation",
    "cross_validate": "validation",
    "leave_one_out": "validation",
    "LearningCurve": "learning_curves",
    "learning_curve": "learning_curves",
    "read_folder": "sources",
    "read_mbox": "sources",
    "evaluate": "evaluation",
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
    "Words": "families",
    "Dirichlet": "priors",
    "Laplace": "priors",
    "MEstimate": "priors",
    "NormalInverseGamma": "priors",
    "BeliefNetwork": "network",
    "Hypotheses": "network",
    "JointTable": "network",
}

__all__ = [
    "Analyzer",
    "BeliefNetwork",
    "Bernoulli",
    "BernoulliNB",
    "Binomial",
    "Categorical",
    "CategoricalNB",
    "Classifier",
    "Comparison",
    "Complement",
    "ComplementNB",
    "Dirichlet",
    "Evaluation",
    "Explanation",
    "Gaussian",
    "GaussianNB",
    "Histogram",
    "Hypotheses",
    "Informative",
    "Joint",
    "JointTable",
    "KernelDensity",
    "Laplace",
    "LearningCurve",
    "MEstimate",
    "Model",
    "Multinomial",
    "MultinomialNB",
    "MultivariateGaussian",
    "NaiveBayes",
    "NetworkClassifier",
    "NormalInverseGamma",
    "Poisson",
    "Schema",
    "Settings",
    "Statistics",
    "StudentT",
    "TextNB",
    "Threshold",
    "Words",
    "compare",
    "cross_validate",
    "evaluate",
    "learning_curve",
    "leave_one_out",
    "load",
    "read_folder",
    "read_mbox",
    "train",
]


__getattr__ = importer(globals(), _HOME)


def __dir__() -> list[str]:
    return sorted(__all__)
