"""How good predictions are: metrics, curves, intervals, thresholds, comparisons, plots.

scikit-learn, SciPy and matplotlib are imported when a metric needs them, never before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from priory.base.lazy import importer

if TYPE_CHECKING:
    from priory.evaluation.auc_difference import AucDifference, delong
    from priory.evaluation.comparison import Comparison, compare
    from priory.evaluation.confusion import ConfusionTable, Outcomes
    from priory.evaluation.curves import Gain, PrecisionRecall, Roc
    from priory.evaluation.evaluation import ClassMetrics, Evaluation
    from priory.evaluation.held_out import evaluate
    from priory.evaluation.intervals import Interval
    from priory.evaluation.label_errors import LabelErrors, find_label_errors
    from priory.evaluation.learning_curves import LearningCurve, learning_curve
    from priory.evaluation.reliability import Reliability
    from priory.evaluation.thresholds import Threshold
    from priory.evaluation.validation import cross_validate, leave_one_out

__all__ = [
    "AucDifference",
    "ClassMetrics",
    "Comparison",
    "ConfusionTable",
    "Evaluation",
    "Gain",
    "Interval",
    "LabelErrors",
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
    "find_label_errors",
    "learning_curve",
    "leave_one_out",
]

__getattr__ = importer(
    globals(),
    {
        "AucDifference": "auc_difference",
        "ClassMetrics": "evaluation",
        "Comparison": "comparison",
        "ConfusionTable": "confusion",
        "Evaluation": "evaluation",
        "Gain": "curves",
        "Interval": "intervals",
        "LabelErrors": "label_errors",
        "LearningCurve": "learning_curves",
        "Outcomes": "confusion",
        "PrecisionRecall": "curves",
        "Reliability": "reliability",
        "Roc": "curves",
        "Threshold": "thresholds",
        "compare": "comparison",
        "cross_validate": "validation",
        "delong": "auc_difference",
        "evaluate": "held_out",
        "find_label_errors": "label_errors",
        "learning_curve": "learning_curves",
        "leave_one_out": "validation",
    },
)
