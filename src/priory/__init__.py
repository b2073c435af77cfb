"""priory: the Bayesian classifier that learns by counting.

Any table in, one pass, and out comes a model that says which class, how sure, and why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from priory.base.lazy import importer
from priory.base.version import __version__ as __version__

if TYPE_CHECKING:
    from priory.classifier.classifier import Classifier
    from priory.data.schema import Schema
    from priory.estimators.dropins import (
        BernoulliNB,
        CategoricalNB,
        ComplementNB,
        GaussianNB,
        MultinomialNB,
    )
    from priory.estimators.loading import load
    from priory.estimators.naive_bayes import NaiveBayes
    from priory.estimators.text import TextNB
    from priory.evaluation import Comparison, Evaluation, Threshold, compare, evaluate
    from priory.evaluation.learning_curves import LearningCurve, learning_curve
    from priory.evaluation.validation import cross_validate, leave_one_out
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
    from priory.families.priors import Dirichlet, Laplace, MEstimate, NormalInverseGamma
    from priory.model.explanation import Explanation
    from priory.model.informative import Informative
    from priory.model.model import Model
    from priory.network import BeliefNetwork, Hypotheses, JointTable
    from priory.sources import read_folder, read_mbox, train
    from priory.statistics.statistics import Statistics
    from priory.text.analyzer import Analyzer
    from priory.tuning.settings import Settings

# Where each public name lives. They are imported when first used, so that `import priory` costs
# next to nothing and scikit-learn is loaded for its estimators alone.
_HOME = {
    "NaiveBayes": "estimators",
    "TextNB": "estimators",
    "BernoulliNB": "estimators",
    "CategoricalNB": "estimators",
    "ComplementNB": "estimators",
    "GaussianNB": "estimators",
    "MultinomialNB": "estimators",
    "Classifier": "classifier",
    "load": "estimators",
    "train": "sources",
    "Settings": "tuning",
    "Analyzer": "text",
    "Informative": "model",
    "Explanation": "model",
    "Comparison": "evaluation",
    "Evaluation": "evaluation",
    "Threshold": "evaluation",
    "compare": "evaluation",
    "cross_validate": "evaluation",
    "leave_one_out": "evaluation",
    "LearningCurve": "evaluation",
    "learning_curve": "evaluation",
    "read_folder": "sources",
    "read_mbox": "sources",
    "evaluate": "evaluation",
    "Model": "model",
    "Statistics": "statistics",
    "Schema": "data",
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
    "Dirichlet": "families.priors",
    "Laplace": "families.priors",
    "MEstimate": "families.priors",
    "NormalInverseGamma": "families.priors",
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
