"""Draw the accuracy over time of the example in docs/streams.md, by running that page.

python docs/pictures/streams.py
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

HERE = Path(__file__).parent
BEST = 0.847  # of Bayes' rule with the true centres, see best()
STYLES = {"no forgetting": "#999999", "window": "#1f77b4", "decay": "#d62728"}


def main() -> None:
    """Run the first two blocks of the page and draw what they found."""
    page = (HERE.parent / "streams.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for block in re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[:2]:
        exec(block, names)
    print(f"best possible: {best():.3f}")

    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "priory", "font.size": 9})
    figure, place = plt.subplots(figsize=(7.5, 3.2), layout="constrained")
    place.axhline(BEST, color="black", linestyle="--", linewidth=0.8)
    for name, figures in names["accuracy"].items():
        smooth = np.convolve(figures, np.ones(3) / 3, mode="valid")  # three days each
        place.plot(np.arange(2, 119), smooth, color=STYLES[name], label=name, linewidth=1.4)
    place.set(xlabel="day", ylabel="accuracy, mean of three days", ylim=(0.1, 1), xlim=(1, 119))
    place.spines[["top", "right"]].set_visible(False)
    place.legend(loc="lower left", frameon=False)
    figure.savefig(HERE / "streams.svg", metadata={"Date": None})


def best(n: int = 1_000_000) -> float:
    """Return how often Bayes' rule is right that knows the centres, one to each side."""
    rng = np.random.default_rng(1)
    spam = rng.random(n) < 0.4
    x = np.where(spam, 1, -1) + rng.normal(size=n)
    return float(np.mean((2 * x + np.log(0.4 / 0.6) > 0) == spam))


if __name__ == "__main__":
    main()
