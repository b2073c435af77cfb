"""BernoulliNB on the 70,000 digits of MNIST, as right as scikit-learn's."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import sklearn.naive_bayes as theirs

from priory import BernoulliNB

MNIST = Path(__file__).parents[2] / "shared" / "data" / "mnist.parquet"


@pytest.fixture(scope="module")
def digits():
    if not MNIST.exists():
        pytest.skip(f"the data are not here: {MNIST}")
    table = pq.read_table(MNIST)
    y = table["target"].to_numpy()
    pixels = [name for name in table.column_names if name.startswith("px")]
    X = np.empty((len(y), len(pixels)), dtype=np.uint8)
    for j, name in enumerate(pixels):
        X[:, j] = table[name].to_numpy() > 127
    if "split" in table.column_names:
        test = table["split"].to_numpy() == "test"
    else:
        test = np.arange(len(y)) >= len(y) - len(y) // 6
    return X, y, test


def test_accuracy_is_scikit_learns(digits):
    X, y, test = digits
    assert 9_000 < test.sum() < 12_000
    ours, their = (m.fit(X[~test], y[~test]) for m in (BernoulliNB(), theirs.BernoulliNB()))
    np.testing.assert_array_equal(ours.feature_count_, their.feature_count_)
    found, expected = (m.predict_log_proba(X[test]) for m in (ours, their))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    accuracy = ours.score(X[test], y[test])
    assert accuracy == their.score(X[test], y[test])
    assert accuracy > 0.83


def test_chunks_give_the_same_counts(digits):
    X, y, test = digits
    chunked = BernoulliNB()
    for part in np.array_split(np.flatnonzero(~test), 7):
        chunked.partial_fit(X[part], y[part], classes=np.unique(y))
    assert chunked.statistics_ == BernoulliNB().fit(X[~test], y[~test]).statistics_
