"""priory: a Bayesian classifier that learns by counting.

Any table goes in; one pass later there is a model that predicts a class, says how certain the
prediction is, and explains it.

What most users need is here. Everything else is imported from its package: `priory.families` and
`priory.families.priors`, `priory.evaluation`, `priory.text`, `priory.sources`, `priory.model`,
`priory.data`, `priory.statistics`, `priory.export`, `priory.network`, `priory.reporting`,
`priory.base.errors`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from priory.base.lazy import importer
from priory.base.version import __version__ as __version__

if TYPE_CHECKING:
    from priory.base.errors import PrioryError, PrioryWarning
    from priory.classifier import Classifier
    from priory.estimators import (
        BernoulliNB,
        CategoricalNB,
        ComplementNB,
        GaussianNB,
        MultinomialNB,
        NaiveBayes,
        TextNB,
        load,
    )
    from priory.evaluation import (
        compare,
        cross_validate,
        evaluate,
        find_label_errors,
        leave_one_out,
    )
    from priory.network import BeliefNetwork, Hypotheses, JointTable
    from priory.reporting import nomogram, report
    from priory.sources import train
    from priory.tuning import Settings

__all__ = [
    "BeliefNetwork",
    "BernoulliNB",
    "CategoricalNB",
    "Classifier",
    "ComplementNB",
    "GaussianNB",
    "Hypotheses",
    "JointTable",
    "MultinomialNB",
    "NaiveBayes",
    "PrioryError",
    "PrioryWarning",
    "Settings",
    "TextNB",
    "compare",
    "cross_validate",
    "evaluate",
    "find_label_errors",
    "leave_one_out",
    "load",
    "nomogram",
    "report",
    "train",
]

# Names are imported when first used, so that `import priory` costs next to nothing and
# scikit-learn is loaded for its estimators alone.
__getattr__ = importer(
    globals(),
    {
        "BeliefNetwork": "network",
        "BernoulliNB": "estimators",
        "CategoricalNB": "estimators",
        "Classifier": "classifier",
        "ComplementNB": "estimators",
        "GaussianNB": "estimators",
        "Hypotheses": "network",
        "JointTable": "network",
        "MultinomialNB": "estimators",
        "NaiveBayes": "estimators",
        "PrioryError": "base.errors",
        "PrioryWarning": "base.errors",
        "Settings": "tuning",
        "TextNB": "estimators",
        "compare": "evaluation",
        "cross_validate": "evaluation",
        "evaluate": "evaluation",
        "find_label_errors": "evaluation",
        "leave_one_out": "evaluation",
        "load": "estimators",
        "nomogram": "reporting",
        "report": "reporting",
        "train": "sources",
    },
)


def __dir__() -> list[str]:
    return sorted(__all__)
