"""Draw the pictures of explaining.md: python docs/pictures/explaining.py DATA, a folder."""

import sys
from pathlib import Path

import matplotlib as mpl
import pandas as pd

from priory import NaiveBayes

mpl.use("Agg")
mpl.rcParams["svg.hashsalt"] = "priory"
HERE = Path(__file__).parent


def main(folder: str) -> None:
    """Draw the waterfall of one person, and the shapes of two columns."""
    table = pd.read_csv(Path(folder) / "adult.csv.gz").drop(columns="split")
    X, y = table.drop(columns="target"), table["target"]
    model = NaiveBayes(pairs=None).fit(X[:20_000], y[:20_000])
    figure = model.explain(X[20_003:20_004])[0].plot()
    figure.savefig(HERE / "waterfall.svg", metadata={"Date": None})
    plain = NaiveBayes.textbook().fit(X[:3000], y[:3000])
    figure = plain.shapes(["age", "education"]).plot()
    figure.savefig(HERE / "shapes.svg", metadata={"Date": None})


if __name__ == "__main__":
    main(sys.argv[1])
