"""Codes are kept in as few bytes as hold them: nothing else may change where they just fit."""

import numpy as np
import pandas as pd
import pytest

import priory
from priory.data.columns import Labels


def table(n_labels, n_classes=2, n=1500):
    rng = np.random.default_rng(n_labels)
    city = rng.permutation(np.arange(n) % n_labels)
    kind, size = rng.integers(0, 3, n), rng.normal(size=n)
    y = (city % 7 + kind + rng.integers(0, 3, n)) % n_classes
    y[:n_classes] = np.arange(n_classes)
    names = np.array([f"city{i}" for i in range(n_labels)], dtype=object)[city]
    names[rng.random(n) < 0.3] = None
    names[np.unique(city, return_index=True)[1]] = [f"city{i}" for i in range(n_labels)]
    kinds = np.array(["a", "b", "c"], dtype=object)[kind]
    kinds[::11] = None
    return pd.DataFrame({"city": names, "kind": kinds, "size": size}), y.astype(str)


def told(make, X, y):
    model = make().fit(X, y)
    return model.predict_proba(X[::3]), priory.leave_one_out(model, X, y).log_loss


WAYS = {
    "default": priory.NaiveBayes,
    "no pairs": lambda: priory.NaiveBayes(pairs=None),
    "textbook": priory.NaiveBayes.textbook,
    **{
        structure: lambda structure=structure: priory.NaiveBayes(structure=structure)
        for structure in ("tan", "aode", "hill-climb")
    },
}


@pytest.mark.parametrize("n_labels", [127, 128, 129, 256])
@pytest.mark.parametrize("way", WAYS)
def test_as_wide_codes(way, n_labels, monkeypatch):
    X, y = table(n_labels)
    p, loss = told(WAYS[way], X, y)
    narrow = Labels.__init__

    def wide(self, codes, labels):
        narrow(self, np.asarray(codes).astype(np.int32), labels)

    monkeypatch.setattr(Labels, "__init__", wide)
    expected, its_loss = told(WAYS[way], X, y)
    np.testing.assert_allclose(p, expected, rtol=1e-12)
    assert loss == pytest.approx(its_loss, rel=1e-12)


@pytest.mark.parametrize("n_classes", [127, 128, 129])
def test_as_many_classes(n_classes):
    X, y = table(20, n_classes, 4 * n_classes)
    p, loss = told(priory.NaiveBayes, X, y)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert loss < np.log(n_classes) + 0.1
