"""Between naive and joint: probability tables, hypotheses and belief networks."""

from priory.network.joint_table import JointTable

__all__ = ["JointTable"]
