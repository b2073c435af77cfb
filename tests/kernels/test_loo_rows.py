import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from priory.kernels.loo_rows import GaussianSums

ROWS = st.sampled_from([0, 1, 31, 32, 33, 70, 700])
COLUMNS = st.sampled_from([1, 2, 5, 63, 64, 65, 130])
LAYOUTS = st.sampled_from(["C", "F", "strided", "float32"])
K = 3
PRECISE = 1e-3


def lay_out(X, layout):
    if layout == "F":
        X = np.asfortranarray(X)
    elif layout == "strided":
        X = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    elif layout == "float32":
        X = X.astype(np.float32)
    X.flags.writeable = False
    return X


def log_normal(x, mean, variance):
    return -0.5 * np.log(2 * np.pi * variance) - (x - mean) ** 2 / (2 * variance)


class Made:
    """Rows, and sums of three classes that they may have been counted in."""

    def __init__(self, seed, n, d, layout="C", weighted=False, gaps=0.0, smoothing=0.0):
        self.rng = rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, d)) + 3
        X[rng.random(X.shape) < gaps] = np.nan
        self.X = lay_out(X, layout)
        self.y = rng.integers(0, K, n).astype(np.int32)
        self.amount = rng.choice([0.25, 1.0], n) if weighted else np.ones(n)
        self.size, self.mean = rng.uniform(20, 40, (K, d)), rng.normal(size=(K, d)) + 3
        self.scatter, self.room = self.size * rng.uniform(2, 4, (K, d)), np.full((K, d), np.inf)
        self.all, self.centre = self.size.sum(axis=0), self.mean.mean(axis=0)
        self.spread = self.scatter.sum(axis=0) / self.all
        self.smoothing, self.epsilon = smoothing, smoothing * self.spread.max()
        self.variance = self.scatter / self.size + self.epsilon

    def sums(self, same=0.0):
        log_norm = -0.5 * np.log(2 * np.pi * self.variance)
        own = (self.size, self.mean, self.scatter, self.room, 1 / self.variance, log_norm)
        pooled = (self.all, self.centre, self.all * self.spread, self.spread)
        tables = np.stack(own, axis=-1), np.stack(pooled, axis=-1)
        return GaussianSums(*tables, self.smoothing, self.epsilon, same, PRECISE, 1.0)

    def epsilons(self):
        x, a = self.X.astype(float), self.amount[:, None]
        left = self.all - a
        v = (self.all * self.spread - a * (x - self.centre) ** 2 * self.all / left) / left
        return self.smoothing * np.where(np.isnan(x), self.spread, v).max(axis=1, initial=0.0)

    def twin(self, epsilon):
        x, a, y = self.X.astype(float), self.amount[:, None], self.y
        more = epsilon - self.epsilon
        terms = log_normal(x[:, None], self.mean, self.variance + more[:, None, None])
        z, left = x - self.mean[y], self.size[y] - a
        v = (self.scatter[y] - a * z**2 * self.size[y] / left) / left + epsilon[:, None]
        terms[np.arange(len(y)), y] = log_normal(x, self.mean[y] - a * z / left, v)
        return np.where(np.isnan(x)[:, None], 0.0, terms).sum(axis=2)


@given(
    st.integers(0, 9), ROWS, COLUMNS, LAYOUTS, st.booleans(), st.sampled_from([0.0, 0.2]),
    st.sampled_from([0.0, 0.3]),
)  # fmt: skip
def test_densities_equal_their_twin(seed, n, d, layout, weighted, gaps, smoothing):
    made = Made(seed, n, d, layout, weighted, gaps, smoothing)
    before = made.rng.normal(size=(n, K))
    out = before.copy()
    lost = made.sums().add(made.X, made.y, made.amount, out)
    assert not lost.any()
    expected = before + made.twin(made.epsilons())
    np.testing.assert_allclose(out, expected, rtol=1e-11, atol=1e-11)


@given(st.integers(0, 9), st.sampled_from([5, 700]), COLUMNS)
def test_only_a_change_that_matters_shifts_the_other_classes(seed, n, d):
    made = Made(seed, n, d, smoothing=0.3)
    out = np.zeros((n, K))
    epsilon = made.epsilons()
    change = np.abs(epsilon - made.epsilon)
    same = float(np.median(change))
    made.sums(same).add(made.X, made.y, made.amount, out)
    shifted, plain = made.twin(epsilon), made.twin(np.full(n, made.epsilon))
    own = np.arange(n), made.y
    plain[own] = shifted[own]
    clear = np.abs(change - same) > 1e-9 * made.epsilon  # rounding may turn the median either way
    expected = np.where((change > same)[:, None], shifted, plain)
    np.testing.assert_allclose(out[clear], expected[clear], rtol=1e-11, atol=1e-11)


def test_rows_that_would_lose_digits_are_told_and_left_alone():
    made = Made(0, 700, 2)
    made.room[1, 1] = 0.0  # no row may take anything
    out = np.ones((700, K))
    lost = made.sums().add(made.X, made.y, made.amount, out)
    np.testing.assert_array_equal(lost, made.y == 1)
    assert (out[lost] == 1).all() and (out[~lost] != 1).all()


def test_a_row_that_most_of_the_smoothing_goes_with_is_told():
    made = Made(0, 40, 1, smoothing=0.3)
    far = np.sqrt(made.spread[0] * (made.all[0] - 1))  # it takes the whole pooled scatter with it
    made.X = made.X.copy()
    made.X[7, 0] = made.centre[0] + far
    lost = made.sums().add(made.X, made.y, made.amount, np.zeros((40, K)))
    assert np.flatnonzero(lost).tolist() == [7]


def test_what_stands_beside_a_row_does_not_change_it():
    made = Made(0, 700, 5, gaps=0.01, smoothing=0.3)
    whole, alone = np.zeros((700, K)), np.zeros((700, K))
    sums = made.sums(same=0.001)
    sums.add(made.X, made.y, made.amount, whole)
    for i in range(700):
        sums.add(made.X[[i]], made.y[[i]], made.amount[[i]], alone[i : i + 1])
    np.testing.assert_allclose(alone, whole, rtol=1e-14)
