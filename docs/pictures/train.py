"""Draw what `priory train` prints: `python docs/pictures/train.py` writes train.svg beside it."""

import io
import re
from pathlib import Path

from rich.console import Console

import priory
from priory.cli.reports import print_summary

HERE = Path(__file__).parent
DATA = HERE.parents[1] / "examples" / "play_tennis.csv"


def main() -> None:
    """Record the report of the shipped example, and keep it as a picture."""
    console = Console(record=True, width=64, file=io.StringIO(), highlight=False)
    console.print("[bold green]$[/] priory train play_tennis.csv --target play")
    print_summary(priory.train(DATA, "play"), io.StringIO(), console)
    svg = console.export_svg(title="priory train", unique_id="train")
    # The reader's own fonts: nothing is fetched.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"
    (HERE / "train.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
