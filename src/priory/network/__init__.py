"""Between naive and joint: probability tables, hypotheses and belief networks."""

from priory.network.belief_network import BeliefNetwork
from priory.network.beliefs import Beta, Dirichlet, GammaPoisson, Normal
from priory.network.binning import binned
from priory.network.factors import BDeu
from priory.network.hypotheses import Hypotheses
from priory.network.joint_table import JointTable
from priory.network.mixed_network import MixedNetwork

__all__ = [
    "BDeu",
    "BeliefNetwork",
    "Beta",
    "Dirichlet",
    "GammaPoisson",
    "Hypotheses",
    "JointTable",
    "MixedNetwork",
    "Normal",
    "binned",
]
