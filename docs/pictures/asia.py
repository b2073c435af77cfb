"""Draw the asia network given a positive X-ray: `python docs/pictures/asia.py`."""

from pathlib import Path

from priory import BeliefNetwork

HERE = Path(__file__).parent
network = BeliefNetwork.read_bif(HERE.parents[1] / "examples" / "asia.bif")
(HERE / "asia.svg").write_text(network.to_svg(given={"xray": "yes"}), encoding="utf-8")
