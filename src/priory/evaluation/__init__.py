"""How good predictions are: figures, curves, intervals, thresholds, comparisons, pictures.

scikit-learn, SciPy and matplotlib are imported when a figure needs them, never before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from priory.base.lazy import importer

if TYPE_CHECKING:
    from priory.evaluation.auc_difference import AucDifference, delong
    from priory.evaluation.comparison import Comparison, compare
    from priory.evaluation.confusion import ConfusionTable, Outcomes
    from priory.evaluation.curves import Gain, PrecisionRecall, Roc
    from priory.evaluation.evaluation import ClassFigures, Evaluation
    from priory.evaluation.judge import evaluate
    from priory.evaluation.learning_curves import LearningCurve, learning_curve
    from priory.evaluation.reliability import Reliability
    from priory.evaluation.thresholds import Threshold
    from priory.evaluation.validation import cross_validate, leave_one_out

__all__ = [
    "AucDifference",
    "ClassFigures",
    "Comparison",
    "ConfusionTable",
    "Evaluation",
    "Gain",
    "LearningCurve",
    "Outcomes",
    "PrecisionRecall",
    "Reliability",
    "Roc",
    "Threshold",
    "compare",
    "cross_validate",
    "delong",
    "evaluate",
    "learning_curve",
    "leave_one_out",
]

__getattr__ = importer(
    globals(),
    {
        "AucDifference": "auc_difference",
        "ClassFigures": "evaluation",
        "Comparison": "comparison",
        "ConfusionTable": "confusion",
        "Evaluation": "evaluation",
        "Gain": "curves",
        "LearningCurve": "learning_curves",
        "Outcomes": "confusion",
        "PrecisionRecall": "curves",
        "Reliability": "reliability",
        "Roc": "curves",
        "Threshold": "thresholds",
        "compare": "comparison",
        "cross_validate": "validation",
        "delong": "auc_difference",
        "evaluate": "judge",
        "learning_curve": "learning_curves",
        "leave_one_out": "validation",
    },
)
