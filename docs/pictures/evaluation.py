"""Draw the picture of docs/evaluation.md, by running that page.

python docs/pictures/evaluation.py
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def main() -> None:
    """Run the first block of the page and draw its evaluation."""
    page = (HERE.parent / "evaluation.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    block = re.search(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert block is not None
    exec(block[1], names)
    figure = names["evaluation"].plot()
    figure.savefig(HERE / "evaluation.png", dpi=80, metadata={"Software": None})


if __name__ == "__main__":
    main()
