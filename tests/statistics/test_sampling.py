"""The sample of rows: whatever the pieces they come in, it is that of all of them at once."""

import numpy as np
import pytest

from priory.data.columns import Frame, Labels, Numbers
from priory.statistics.hashing import row_hashes
from priory.statistics.sampling import FEW, Pool, Sample


def drawn(n, distinct, seed=0, classes=3):
    """Draw rows of which many are equal, in classes of which one is rare."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, distinct, n).astype(float)
    y = np.minimum(rng.geometric(0.6, n) - 1, classes - 1).astype(np.int32)
    frame = Frame(n, {"x": Numbers(x[:, None]), "z": Labels((x % 7).astype(np.int32), "abcdefg")})
    return frame, Labels(y, ("often", "at times", "rarely")), rng.integers(0, 4, n).astype(float)


@pytest.mark.parametrize("size", [50, 400, 20_000])
@pytest.mark.parametrize("distinct", [90, 100_000])
@pytest.mark.parametrize("pieces", [[12_000], [2_000] * 6, [5, 3_000, 1, 994, 8_000], [500] * 24])
@pytest.mark.parametrize("weighted", [False, True])
def test_any_pieces_give_the_sample_of_the_whole(size, distinct, pieces, weighted):
    frame, y, weight = drawn(12_000, distinct)
    own = weight if weighted else None
    pool, first = Pool(size), 0
    assert max(pieces) >= FEW or len(pieces) > 20
    for n in pieces:
        some = slice(first, first + n)
        pool.add(frame.take(some), y.take(some), None if own is None else own[some])
        first += n
    whole, found = Sample.of(frame, y, own, size), pool.sample
    np.testing.assert_array_equal(found.hashes, whole.hashes)
    np.testing.assert_array_equal(found.rows, whole.rows)
    np.testing.assert_allclose(found.weight, whole.weight, rtol=1e-12)
    np.testing.assert_array_equal(
        found.frame["x"].values, whole.frame["x"].values, "the same rows, in the same order"
    )
    assert found.known == whole.known


def test_pools_of_parts_are_the_pool_of_all():
    frame, y, weight = drawn(9_000, 100_000, seed=1)
    parts = [Pool(300) for _ in range(3)]
    for i, pool in enumerate(parts):
        some = slice(3_000 * i, 3_000 * (i + 1))
        pool.add(frame.take(some), y.take(some), weight[some])
        if i:
            parts[0].absorb(pool)
    whole = Sample.of(frame, y, weight, 300)
    np.testing.assert_array_equal(parts[0].sample.hashes, whole.hashes)
    np.testing.assert_array_equal(parts[0].sample.rows, whole.rows)


def test_more_rows_are_let_in_only_if_they_may_stay():
    frame, y, _ = drawn(6_000, 100_000, seed=2)
    sample = Sample.of(frame.take(slice(0, 4_000)), y.take(slice(0, 4_000)), None, 200)
    rest = slice(4_000, 6_000)
    let_in = sample.lets_in(row_hashes(frame.take(rest), y.take(rest)), y.take(rest))
    assert 0 < let_in.mean() < 0.2
    whole = Sample.of(frame, y, None, 200)
    assert set(whole.frame["x"].values[:, 0]) <= {
        *sample.frame["x"].values[:, 0],
        *frame["x"].values[4_000:, 0][let_in],
    }
