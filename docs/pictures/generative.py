"""Draw the picture of docs/generative.md, by running that page's first block.

python docs/pictures/generative.py
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

HERE = Path(__file__).parent


def main() -> None:
    """Run the first block of the page and draw its curve."""
    page = (HERE.parent / "generative.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    block = re.search(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert block is not None
    exec(block[1], names)
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "priory", "font.size": 9})
    names["curve"].plot().savefig(HERE / "generative.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
