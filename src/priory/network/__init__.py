"""Between naive and joint: probability tables, hypotheses and belief networks."""

from priory.network.hypotheses import Hypotheses
from priory.network.joint_table import JointTable

__all__ = ["Hypotheses", "JointTable"]
