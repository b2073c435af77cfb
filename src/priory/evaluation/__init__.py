"""How good predictions are: figures, curves, intervals, thresholds, comparisons, pictures.

scikit-learn, SciPy and matplotlib are imported when a figure needs them, never before.
"""

from priory.evaluation.comparison import Comparison, compare
from priory.evaluation.confusion import ConfusionTable, Outcomes
from priory.evaluation.curves import Gain, PrecisionRecall, Roc
from priory.evaluation.delong import AucDifference, delong
from priory.evaluation.evaluation import ClassFigures, Evaluation
from priory.evaluation.judge import evaluate
from priory.evaluation.reliability import Reliability
from priory.evaluation.thresholds import Threshold

__all__ = [
    "AucDifference",
    "ClassFigures",
    "Comparison",
    "ConfusionTable",
    "Evaluation",
    "Gain",
    "Outcomes",
    "PrecisionRecall",
    "Reliability",
    "Roc",
    "Threshold",
    "compare",
    "delong",
    "evaluate",
]
