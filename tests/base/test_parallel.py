"""Counts do not depend on the number of threads at all, moments only in rounding."""

import os
import subprocess
import sys

import numpy as np
import pytest

import priory
from priory.base import parallel
from priory.base.errors import SettingError
from priory.base.parallel import at_most, check_threads, in_parallel, stretches, thread_count
from priory.data.coding import integer_labels


@pytest.fixture
def keen(monkeypatch):
    """Let a thread start for little work, so that tests need little data."""
    monkeypatch.setattr(parallel, "WORTHWHILE", 1000)


@pytest.fixture
def frame():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    n = 40_000
    columns = {
        "number": rng.normal(size=n) + 1e6,
        "label": rng.choice(np.array(["a", "b", "c"], dtype=object), n),
        "truth": rng.random(n) < 0.3,
    }
    data = pd.DataFrame(columns).mask(rng.random((n, 3)) < 0.05)
    return data, rng.integers(0, 3, n)


def test_threads_change_no_count_and_moments_only_in_rounding(frame, monkeypatch, keen):
    fitted = []
    for threads in (1, 2, 5):
        monkeypatch.setenv("PRIORY_NUM_THREADS", str(threads))
        fitted.append(priory.NaiveBayes.textbook().fit(*frame))
    one = fitted[0].statistics_
    for other in (model.statistics_ for model in fitted[1:]):
        assert other.tables["label"] == one.tables["label"]
        assert other.tables["number"].cells == one.tables["number"].cells
        a, b = (s.tables["number"].moments for s in (one, other))
        np.testing.assert_array_equal(a.rows, b.rows)
        np.testing.assert_allclose(a.mean, b.mean, rtol=1e-15)
        np.testing.assert_allclose(a.variance, b.variance, rtol=1e-11)
    a, b, _ = (model.predict_log_proba(frame[0]) for model in fitted)
    np.testing.assert_allclose(a, b, rtol=1e-9)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("low", [-(2**63), -2, 0, 2**63 - 12])
@pytest.mark.parametrize("values", [range(10), (0, 7), (3,), (0, 2, 65_535), (0, 1, 70_000)])
def test_integers_are_labels_whatever_the_threads(values, low, threads, keen):
    places = np.random.default_rng(0).integers(0, len(values), 10_000)
    if low > 0 and max(values) > 11:
        low -= 70_000
    y = np.array([low + value for value in values], dtype=np.int64)[places]
    for integers in (y, y[::-2], y[:100], y[:1], y[:0]):
        with at_most(threads):
            column = integer_labels(integers)
        assert column.codes.dtype == np.int32
        assert sorted(column.labels) == np.unique(integers).tolist()
        assert np.array(column.labels, dtype=np.int64)[column.codes].tolist() == integers.tolist()


def test_little_work_starts_no_thread(monkeypatch):
    def refuse(threads):
        raise AssertionError(f"{threads} threads for a hundred rows")

    monkeypatch.setattr(parallel, "_pool", refuse)
    X, y = np.arange(3000).reshape(100, 30) % 7, np.arange(100) % 3
    model = priory.CategoricalNB(n_threads=2).fit(X, y)  # a block for each column, so 30 tasks
    assert model.partial_fit(X, y).predict(X).shape == (100,)


def test_an_error_in_a_thread_is_the_error_of_the_call(monkeypatch, keen):
    monkeypatch.setenv("PRIORY_NUM_THREADS", "2")
    X = np.zeros((3000, 2))
    X[-1, 1] = np.inf
    with pytest.raises(ValueError, match="'x1' holds inf"):
        priory.NaiveBayes().fit(X, np.arange(len(X)) % 3)


@pytest.mark.parametrize("value", [0, -1, 1.5, True])
def test_thread_counts_that_make_no_sense_are_refused(value):
    with pytest.raises(SettingError, match="n_threads must be an integer of at least 1"):
        check_threads(value)


@pytest.mark.parametrize("value", ["0", "many", "-2"])
def test_so_are_those_of_the_environment(value, monkeypatch):
    monkeypatch.setenv("PRIORY_NUM_THREADS", value)
    with pytest.raises(SettingError, match="PRIORY_NUM_THREADS must be an integer"):
        thread_count()


def test_the_cores_that_the_process_may_use_are_the_default(monkeypatch):
    monkeypatch.delenv("PRIORY_NUM_THREADS", raising=False)
    assert thread_count() >= 1


def test_stretches_cover_all_rows_once():
    for n in (0, 1, 7, 199_999, 1_000_003):
        rows = np.concatenate([np.arange(n)[part] for part in stretches(n, 3, 4)])
        np.testing.assert_array_equal(rows, np.arange(n))


def test_results_come_in_the_order_of_the_tasks():
    assert in_parallel([lambda i=i: i * i for i in range(9)], 3) == [i * i for i in range(9)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_forking_between_calls_is_safe():
    code = """
import os, sys
import numpy as np, priory
X, y = np.random.default_rng(0).normal(size=(400_000, 3)), np.arange(400_000) % 2
model = priory.GaussianNB().fit(X, y)
child = os.fork()
if child == 0:
    os._exit(0 if np.isfinite(model.fit(X, y).predict_proba(X)).all() else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    environment = {**os.environ, "PRIORY_NUM_THREADS": "2"}
    command = [sys.executable, "-c", code]
    assert subprocess.run(command, env=environment, timeout=60, check=False).returncode == 0
