"""Draw how often each pixel of each digit is on, as the Bernoulli family learns it.

    python docs/pictures/mnist_pixels.py mnist.parquet

The file has a column for each of the 784 pixels (0 to 255), `target` and `split` (train, test).
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow.parquet as pq
from sklearn.naive_bayes import BernoulliNB as TheirBernoulliNB

from priory import BernoulliNB

THRESHOLD = 127


def main(path: str) -> None:
    """Learn, compare, draw."""
    table = pq.read_table(path)
    split, y = (table[name].to_numpy() for name in ("split", "target"))
    pixels = table.drop_columns(["split", "target"])
    X = np.column_stack([column.to_numpy() for column in pixels.columns])
    train, test = split == "train", split == "test"

    model = BernoulliNB(binarize=THRESHOLD).fit(X[train], y[train])
    theirs = TheirBernoulliNB(binarize=THRESHOLD).fit(X[train], y[train])
    print(f"{train.sum()} rows learned, {test.sum()} predicted")
    print(f"priory        {model.score(X[test], y[test]):.4f}")
    print(f"scikit-learn  {theirs.score(X[test], y[test]):.4f}")
    same = model.predict(X[test]) == theirs.predict(X[test])
    print(f"equal predictions: {same.sum()} of {len(same)}")
    draw(np.exp(model.feature_log_prob_), model.classes_.tolist())


def draw(p: np.ndarray, classes: list[object]) -> None:
    """Draw P(pixel on | class) of every class."""
    figure, places = plt.subplots(2, 5, figsize=(7.5, 3.4), layout="constrained")
    for place, probabilities, label in zip(places.flat, p, classes, strict=True):
        image = place.imshow(probabilities.reshape(28, 28), cmap="Blues", vmin=0, vmax=1)
        place.set_title(str(label), fontsize=10)
        place.set_axis_off()
    figure.colorbar(image, ax=places, label="P(pixel on | class)", shrink=0.85)
    figure.savefig(Path(__file__).with_name("mnist_pixels.png"), dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:])
