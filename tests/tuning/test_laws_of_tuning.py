"""What the tuned default promises, on every road to it: priors, weights, pieces, few rows."""

import copy
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

import priory
from priory import (
    Classifier,
    NaiveBayes,
    Settings,
    TextNB,
    evaluate,
    leave_one_out,
    train,
)
from priory.base.errors import ForgetError, InputError, SettingError, StaleTuningWarning
from priory.classifier.classifier import load
from priory.data.columns import Frame, Labels, Numbers
from priory.sources import forget, update
from priory.statistics.sampling import Sample

SAME = {"rtol": 1e-4, "atol": 1e-6}
"""Scores are kept as float32, so that the last bits of sums may move probabilities so far."""

DATA = Path(__file__).parents[3] / "shared" / "data"
REAL = ("glass", "heart_c", "horse_colic", "titanic")


def mixed(n=400, seed=0, classes=3):
    """Return a table of numbers, codes, labels and gaps, in which equal rows are rare."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    table = pd.DataFrame(
        {
            "size": rng.normal(size=n) + y,
            "income": np.exp(rng.normal(size=n) + y / 2),
            "code": rng.poisson(2 + y),
            "colour": np.where(rng.random(n) < 0.4, y, rng.integers(0, 3, n)).astype(str),
            "truth": rng.random(n) < 0.3 + 0.2 * y,
        }
    )
    table.loc[rng.random(n) < 0.1, "size"] = np.nan
    table.loc[rng.random(n) < 0.1 * y, "colour"] = None
    return table, np.array(["a", "b", "c", "d", "e"])[y]


def few_kinds(n=600, seed=1):
    """Return a table of labels alone, whose rows come again and again."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    flip = rng.random((3, n)) < 0.3
    return pd.DataFrame({f"l{j}": np.where(flip[j], 1 - y, y).astype(str) for j in range(3)}), y


def real(name):
    path = DATA / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"{path.name} is not there")
    table = pd.read_csv(path, keep_default_na=False, na_values=["", "?"])
    left_out = [c for c in ("split", "group", "Name", "Ticket", "Cabin") if c in table]
    table = table.drop(columns=left_out).head(600)
    y = table.pop("target").astype(str).to_numpy()
    return table, y


TABLES = {"mixed": mixed, "few kinds": few_kinds}
MODELS = {
    "default": {},
    "temperature": {"weights": "temperature"},
    "pairs": {"pairs": "auto"},
    "tan": {"structure": "tan"},
    "gaussian": {"families": "auto", "smoothing": 1.0},
}
tables = pytest.mark.parametrize("table", TABLES)
models = pytest.mark.parametrize("options", MODELS.values(), ids=MODELS)
weightings = pytest.mark.parametrize("weighting", [None, "integers", "exponential"])


def weights_of(weighting, n):
    rng = np.random.default_rng(5)
    if weighting is None:
        return None
    return rng.integers(1, 6, n).astype(float) if weighting == "integers" else rng.exponential(1, n)


# 1. A prior given is the prior used


def test_a_prior_given_is_the_prior_used():
    rng = np.random.default_rng(0)
    y = (rng.random(4000) < 0.1).astype(int)
    x = rng.normal(size=4000) + 2 * y
    model = NaiveBayes("gaussian", class_prior={0: 0.1, 1: 0.9}).fit({"x": x}, y)
    right = 0.9 / (0.9 + 0.1 * np.exp(-0.0))  # at x = 1 both densities are the same
    assert model.predict_proba({"x": [1.0]})[0, 1] == pytest.approx(right, abs=0.04)


def test_a_uniform_prior_raises_the_recall_of_a_rare_class():
    rng = np.random.default_rng(0)
    y = (rng.random(5000) < 0.02).astype(int)
    X = {"x": rng.normal(size=5000) + 2 * y}
    plain = evaluate(NaiveBayes().fit(X, y), X, y)
    uniform = evaluate(NaiveBayes(class_prior="uniform").fit(X, y), X, y)
    assert uniform.recall()[1] > 0.7 > plain.recall()[1]


@tables
@models
@pytest.mark.parametrize("prior", ["uniform", "given"])
def test_odds_move_by_the_ratio_of_the_priors(table, options, prior):
    X, y = TABLES[table]()
    shares = pd.Series(y).value_counts(normalize=True).sort_index()
    K = len(shares)
    wanted = np.full(K, 1 / K) if prior == "uniform" else np.arange(1, K + 1) / (K * (K + 1) / 2)
    asked = "uniform" if prior == "uniform" else dict(zip(shares.index, wanted, strict=True))
    plain = NaiveBayes(**options).fit(X, y)
    moved = NaiveBayes(**options, class_prior=asked).fit(X, y)
    expected = plain.predict_proba(X) * (wanted / shares.to_numpy())
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(moved.predict_proba(X), expected, rtol=1e-9)
    again = plain.change_settings(class_prior=asked)
    np.testing.assert_allclose(again.predict_proba(X), moved.predict_proba(X), rtol=1e-9)


@tables
@models
@pytest.mark.parametrize("prior", [None, "uniform"])
def test_nothing_known_leaves_the_class_prior(table, options, prior):
    X, y = TABLES[table]()
    model = NaiveBayes(**options, class_prior=prior, missing="skip").fit(X, y)
    shares = pd.Series(y).value_counts(normalize=True).sort_index().to_numpy()
    expected = shares if prior is None else np.full(len(shares), 1 / len(shares))
    gaps = X.head(1).astype(object).map(lambda _: None)
    np.testing.assert_allclose(model.predict_proba(gaps)[0], expected, rtol=1e-12)
    if table == "few kinds":  # a number is never unknown
        unknown = X.head(1).map(lambda _: "never seen")
        np.testing.assert_allclose(model.predict_proba(unknown)[0], expected, rtol=1e-12)


def test_the_prior_of_texts():
    texts = ["win cash", "cash prize", "lunch noon", "see you", "at lunch", "noon then"] * 5
    y = np.array(["spam", "spam", "ham", "ham", "ham", "ham"] * 5)
    plain = TextNB().fit(texts, y)
    moved = TextNB(class_prior={"ham": 0.2, "spam": 0.8}).fit(texts, y)
    expected = plain.predict_proba(texts) * np.array([0.2, 0.8]) / np.array([2 / 3, 1 / 3])
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(moved.predict_proba(texts), expected, rtol=1e-9)
    np.testing.assert_allclose(moved.predict_proba(["unheard of"])[0], [0.2, 0.8])


def test_reported_figures_are_of_the_prior_asked_for():
    X, y = mixed()
    prior = {"a": 0.8, "b": 0.1, "c": 0.1}
    found = leave_one_out(NaiveBayes(class_prior=prior), X, y)
    plain = leave_one_out(NaiveBayes(), X, y)
    assert (found.predictions == "a").mean() > (plain.predictions == "a").mean() + 0.05


# 2. Weights are the importance of rows


@tables
@models
@weightings
@pytest.mark.parametrize("factor", [1e-6, 10.0])
def test_only_the_ratios_of_weights_matter(table, options, weighting, factor):
    X, y = TABLES[table]()
    weight = weights_of(weighting, len(y))
    base = np.ones(len(y)) if weight is None else weight
    a = NaiveBayes(**options).fit(X, y, sample_weight=weight).predict_proba(X)
    b = NaiveBayes(**options).fit(X, y, sample_weight=base * factor).predict_proba(X)
    np.testing.assert_allclose(a, b, **SAME)


def test_weights_that_add_to_one_do_not_turn_tuning_off():
    X, y = load_wine(return_X_y=True)
    weight = np.full(len(y), 1 / len(y))
    model = NaiveBayes().fit(X, y, sample_weight=weight)
    assert model.classifier_.state == "tuned"
    assert model.score(X, y) > 0.95


@pytest.mark.parametrize("weighting", ["constant", "integers", "exponential"])
@pytest.mark.parametrize(
    "load_set",
    [load_iris, load_wine, pytest.param(load_breast_cancer, marks=pytest.mark.long)],
)
def test_reported_figures_agree_with_held_out_ones(load_set, weighting):
    X, y = load_set(return_X_y=True)
    rng = np.random.default_rng(0)
    weight = np.full(len(y), 10.0) if weighting == "constant" else weights_of(weighting, len(y))
    fold = rng.integers(0, 4, len(y))
    held, reported = [], []
    for f in range(4):
        rest = fold != f
        model = NaiveBayes().fit(X[rest], y[rest], sample_weight=weight[rest])
        held.append(evaluate(model, X[~rest], y[~rest], sample_weight=weight[~rest]).log_loss)
        reported.append(leave_one_out(model, X[rest], y[rest], weight[rest]).log_loss)
    assert np.mean(reported) == pytest.approx(np.mean(held), abs=0.06)


@pytest.mark.parametrize("name", REAL)
def test_weights_of_real_tables_do_no_harm(name):
    X, y = real(name)
    rng = np.random.default_rng(1)
    rest = rng.random(len(y)) < 0.7
    weight = rng.choice([1.0, 10.0], len(y))
    known = np.isin(y[~rest], y[rest])
    losses = []
    for given_weight in (None, weight[rest]):
        model = NaiveBayes().fit(X[rest], y[rest], sample_weight=given_weight)
        losses.append(evaluate(model, X[~rest][known], y[~rest][known]).log_loss)
    assert losses[1] < losses[0] + 0.3


@pytest.mark.parametrize(
    "weight", [np.array([1e-12, 1e12]), np.array([1e90, 1.0]), np.array([1.0, 0.0])]
)
def test_extreme_weights_give_a_model_that_can_be_kept(weight, tmp_path):
    X, y = mixed()
    model = NaiveBayes().fit(X, y, sample_weight=np.resize(weight, len(y)))
    p = model.predict_proba(X)
    assert np.isfinite(p).all()
    model.save(tmp_path / "m.priory")
    np.testing.assert_allclose(priory.load(tmp_path / "m.priory").predict_proba(X), p)


@pytest.mark.parametrize("weight", [0.0, np.nan, np.inf, -1.0, 1e308])
def test_weights_that_cannot_be_are_refused(weight):
    X, y = mixed(60)
    with pytest.raises((InputError, SettingError), match="weight"):
        NaiveBayes().fit(X, y, sample_weight=np.full(len(y), weight))


# 3. No model is silently untuned or stale


def roads(X, y, options, tmp_path):
    """Return the same rows learned in all the ways there are."""
    order = np.random.default_rng(3).permutation(len(y))
    parts = np.array_split(np.arange(len(y)), 7)
    asked = Settings(**options)
    chunks = NaiveBayes(**options)
    merged = None
    for part in parts:
        chunks.partial_fit(X.iloc[part], y[part])
        one = NaiveBayes(**options).partial_fit(X.iloc[part], y[part])
        merged = one if merged is None else merged + one
    extra = Classifier(asked).update(X, y).update(X.head(40), y[:40])
    rows = X.assign(target=y)
    rows.to_parquet(tmp_path / "rows.parquet")
    table = pa.Table.from_pandas(rows, preserve_index=False)
    stream = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=37))
    half = len(y) // 2
    begun = train(rows.head(half), "target", settings=asked)
    update(begun, rows.tail(len(y) - half))
    kept = Classifier(asked).update(X.head(half), y[:half])
    kept.save(tmp_path / "m.priory", keep_sample=True)
    kept = load(tmp_path / "m.priory").update(X.tail(len(y) - half), y[half:])
    once_more = train(rows, "target", settings=asked)
    update(once_more, rows.head(30))
    forget(once_more, rows.head(30))
    return {
        "permuted": NaiveBayes(**options).fit(X.iloc[order], y[order]),
        "chunks": chunks,
        "merged": merged,
        "classifier": Classifier(asked).fit(X, y),
        "fitted twice": Classifier(asked).fit(X.head(9), y[:9]).fit(X, y),
        "learned": Classifier(asked).update(X, y),
        "forgotten": extra.forget(X.head(40), y[:40]),
        "file": train(tmp_path / "rows.parquet", "target", settings=asked),
        "stream": train(stream, "target", settings=asked),
        "updated": begun,
        "updated and forgotten": once_more,
        "loaded with its sample": kept,
    }


@tables
@pytest.mark.parametrize("size", [50_000, 120])
@pytest.mark.parametrize("name", ["default", "temperature", "gaussian"])
def test_every_road_gives_the_same_model(table, size, name, tmp_path):
    X, y = TABLES[table]()
    options = {**MODELS[name], "sample_size": size}
    expected = NaiveBayes(**options).fit(X, y).predict_proba(X)
    for road, model in roads(X, y, options, tmp_path).items():
        classifier = getattr(model, "classifier_", model)
        assert classifier.state == "tuned", road
        tolerance = SAME if size > len(y) or "forg" not in road else {"atol": 0.1}
        np.testing.assert_allclose(model.predict_proba(X), expected, err_msg=road, **tolerance)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"pairs": "auto"},
        {"structure": "tan"},
        {"structure": "hill-climb"},
        {"structure": [("size", "code"), ("truth", "code")]},
    ],
    ids=str,
)
def test_parts_that_begin_alike_are_merged_into_the_whole(options):
    X, y = mixed()
    first = Classifier(Settings(**options)).update(X[:200], y[:200])
    whole = first.copy().update(X[200:], y[200:])
    parts = first.merge(first.blank().update(X[200:], y[200:]))
    assert parts.state == whole.state == "tuned"
    np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), **SAME)


def test_copies_are_tuned_alike():
    X, y = mixed()
    texts = [f"{a} {b} x{i}" for i, (a, b) in enumerate(zip(X["colour"], X["code"], strict=True))]
    for model, rows in ((NaiveBayes(), X), (TextNB(), texts)):
        model.fit(rows[:300], y[:300])
        for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            other.partial_fit(rows[300:], y[300:])
            fresh = type(model)().fit(rows, y)
            assert other.classifier_.state == "tuned"
            np.testing.assert_allclose(other.predict_proba(rows), fresh.predict_proba(rows), **SAME)


def test_learning_on_chooses_anew():
    X, y = mixed(1000)
    model = NaiveBayes().fit(X[:15], y[:15])
    model.partial_fit(X[15:], y[15:])
    fresh = NaiveBayes().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), fresh.predict_proba(X), **SAME)


def test_a_few_more_rows_keep_the_choice():
    X, y = mixed(1000)
    model = NaiveBayes().fit(X[:990], y[:990])
    before = model.classifier_.tuning
    model.partial_fit(X[990:], y[990:]).predict(X)
    assert model.classifier_.tuning is before
    model.recalibrate()
    fresh = NaiveBayes().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), fresh.predict_proba(X), **SAME)


def test_what_is_forgotten_leaves_the_weights_too():
    X, y = mixed(500)
    odd = X.head(100).assign(size=lambda t: -5 * t["size"], colour="grey")
    both = NaiveBayes().fit(pd.concat([X, odd], ignore_index=True), np.append(y, y[:100]))
    both.forget(odd, y[:100])
    np.testing.assert_allclose(
        both.predict_proba(X), NaiveBayes().fit(X, y).predict_proba(X), **SAME
    )


def test_a_file_without_the_sample_says_stale(tmp_path):
    X, y = mixed()
    model = Classifier().update(X[:300], y[:300])
    model.save(tmp_path / "m.priory")
    loaded = load(tmp_path / "m.priory")
    assert loaded.state == "tuned"
    loaded.update(X[300:], y[300:])
    with pytest.warns(StaleTuningWarning, match="keep_sample"):
        loaded.predict(X)
    assert loaded.state == "stale"
    loaded.predict(X)  # once is enough: warnings are errors
    loaded.save(tmp_path / "n.priory")
    with pytest.warns(StaleTuningWarning):
        assert load(tmp_path / "n.priory").state == "stale"
    with pytest.raises(SettingError, match="no sample of the rows"):
        loaded.recalibrate()
    loaded.recalibrate(X, y)
    assert loaded.state == "tuned"


def test_no_sample_is_not_tuned():
    X, y = mixed()
    model = Classifier(Settings(sample_size=0)).fit(X, y)
    assert model.state == "not tuned" and model.tuning is None
    assert Classifier(Settings.textbook()).fit(X, y).state == "textbook"


def test_a_sample_is_not_kept_beside_min_count(tmp_path):
    X, y = mixed()
    with pytest.raises(SettingError, match="ask for one of them"):
        Classifier().update(X, y).save(tmp_path / "m.priory", min_count=5, keep_sample=True)


# The sample


def sample_of(values, y, size, weight=None):
    frame = Frame(len(values), {"x": Numbers(np.asarray(values, dtype=float)[:, None])})
    return Sample.of(frame, Labels(np.asarray(y), tuple(range(max(y) + 1))), weight, size)


def contents(sample):
    return sorted(
        zip(
            sample.frame["x"].values[:, 0].tolist(),
            [sample.y.value(i) for i in range(len(sample))],
            sample.rows.tolist(),
            sample.weight.round(9).tolist(),
            strict=True,
        )
    )


ROWS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 2)), min_size=1, max_size=120)


@settings(max_examples=60)
@given(ROWS, st.integers(4, 40), st.integers(1, 6), st.randoms(use_true_random=False))
def test_a_sample_depends_on_the_rows_alone(rows, size, parts, random):
    whole = sample_of(*zip(*rows, strict=True), size)
    shuffled = rows[:]
    random.shuffle(shuffled)
    pieces = [shuffled[i::parts] for i in range(parts) if shuffled[i::parts]]
    samples = [sample_of(*zip(*piece, strict=True), size) for piece in pieces]
    total = samples[0]
    for one in samples[1:]:
        total = total + one
    assert contents(total) == contents(whole)
    assert len(whole) <= max(size, 3 + size)


@settings(max_examples=40)
@given(ROWS, ROWS)
def test_forgotten_rows_leave_the_sample(a, b):
    both = sample_of(*zip(*(a + b), strict=True), 1000)
    left = both - sample_of(*zip(*b, strict=True), 1000)
    assert contents(left) == contents(sample_of(*zip(*a, strict=True), 1000))


def test_a_rare_class_is_in_the_sample():
    rng = np.random.default_rng(0)
    y = (np.arange(200_000) < 60).astype(int)
    sample = sample_of(rng.normal(size=200_000), y, 2000)
    rare = np.array([sample.y.value(i) == 1 for i in range(len(sample))])
    assert rare.sum() == 60 and len(sample) <= 2000
    model = NaiveBayes(sample_size=2000).fit({"x": rng.normal(size=200_000) + 3 * y}, y)
    scored = model.classifier_.tuning.scored
    assert scored.weight[scored.labels == 1].sum() == pytest.approx(60)
    assert scored.weight[scored.labels == 0].sum() == pytest.approx(200_000 - 60)


def test_two_orders_of_a_table_with_repeats_share_their_sample():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 300_000, 400_000)
    y = values % 2
    order = rng.permutation(len(y))
    a, b = sample_of(values, y, 50_000), sample_of(values[order], y[order], 50_000)
    assert np.array_equal(a.hashes, b.hashes) and np.array_equal(a.rows, b.rows)
    assert a.rows.max() > 1


# 4. Few rows


@pytest.mark.parametrize("n", [2, 5, 10, 19, 20, 40])
def test_few_rows_are_not_overconfident(n):
    losses, priors = [], []
    for load_set in (load_iris, load_wine, load_breast_cancer):
        X, y = load_set(return_X_y=True)
        for seed in range(6):
            order = np.random.default_rng(seed).permutation(len(y))
            some, rest = order[:n], order[n : n + 100]
            seen, counts = np.unique(y[some], return_counts=True)
            if len(seen) < 2:
                continue
            rest = rest[np.isin(y[rest], seen)]
            model = NaiveBayes().fit(X[some], y[some])
            places = np.searchsorted(seen, y[rest])
            p = model.predict_proba(X[rest])[np.arange(len(rest)), places]
            losses.append(-np.log(p).mean())
            priors.append(-np.log(counts[places] / n).mean())
    assert np.mean(losses) < np.mean(priors)


def test_two_rows_are_not_certain():
    model = NaiveBayes().fit({"x": [0.0, 1.0], "c": ["a", "b"]}, [0, 1])
    assert model.predict_proba({"x": [1.0], "c": ["b"]})[0].max() < 0.95


# 8. Every row asked is answered


def test_every_row_asked_is_answered():
    X, y = mixed(900)
    model = NaiveBayes(sample_size=200).fit(X, y)
    before = model.classifier_.tuning
    found = leave_one_out(model, X, y)
    assert found.probabilities.shape == (900, 3) and found.how == "cross-fitted"
    assert list(found.labels) == list(y)
    assert model.classifier_.tuning is before  # nothing was tuned a second time
    some = leave_one_out(model, X[:50], y[:50])
    np.testing.assert_allclose(some.probabilities, found.probabilities[:50], rtol=1e-9)


def test_rows_that_were_never_learned_are_refused():
    X, y = mixed(300)
    model = NaiveBayes().fit(X, y)
    strange = X.head(20).assign(size=1e3)
    for ask in (model.recalibrate, lambda *rows: leave_one_out(model, *rows)):
        with pytest.raises(ForgetError, match=r"not all learned|never learned"):
            ask(strange, y[:20])


# As a user meets it


def test_a_class_without_rows_is_no_class():
    X, y = mixed(200)
    model = NaiveBayes().fit(X, pd.Categorical(y, ["a", "b", "c", "never"]))
    assert model.predict_proba(X).shape == (200, 3)


def test_classifier_and_estimator_have_the_same_defaults():
    X, y = mixed()
    np.testing.assert_array_equal(
        Classifier().fit(X, y).predict_proba(X), NaiveBayes().fit(X, y).predict_proba(X)
    )


def test_codes_may_be_categories():
    rng = np.random.default_rng(0)
    code, share = rng.integers(0, 500, 12_000), rng.random(500)
    y = (rng.random(12_000) < share[code]).astype(int)
    model = NaiveBayes().fit({"code": code[:9000]}, y[:9000])
    assert "categorical" in str(model.schema_)
    assert model.score({"code": code[9000:]}, y[9000:]) > 0.7


# What a review found


@pytest.mark.parametrize("factor", [0.01, 1e-6, 10.0])
@pytest.mark.parametrize("options", [{"select": "mdl"}, {"families": {"a": "log-normal"}}], ids=str)
def test_choices_by_hand_take_weights_for_importance_too(options, factor):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 149)
        X = {"a": np.exp(rng.normal(size=149) + y), "b": rng.normal(size=149) + 0.3 * y}
        one = NaiveBayes(**options).fit(X, y)
        other = NaiveBayes(**options).fit(X, y, sample_weight=np.full(149, factor))
        assert one.classifier_.weights.keys() == other.classifier_.weights.keys()
        np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), **SAME)


def test_small_updates_between_files_add_up(tmp_path):
    X, y = mixed(400)
    path = tmp_path / "m.priory"
    model = NaiveBayes().fit(X[:200], y[:200])
    for i in range(200, 400, 5):
        model.partial_fit(X[i : i + 5], y[i : i + 5]).predict(X[:1])
        model.save(path, keep_sample=True)
        model = priory.load(path)
    assert model.classifier_.tuning.n_rows > 380
    model.recalibrate()
    fresh = NaiveBayes().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), fresh.predict_proba(X), **SAME)
    model.partial_fit(X[:3], y[:3]).save(path)
    with pytest.warns(StaleTuningWarning):
        assert priory.load(path).classifier_.state == "stale"


def test_a_column_whose_rows_are_forgotten_is_gone():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 400)
    late = np.where(np.arange(400) < 200, np.nan, rng.normal(size=400) + 3 * y)
    X = pd.DataFrame({"late": late, "a": rng.normal(size=400) + y})
    left = NaiveBayes().fit(X, y).forget(X[200:], y[200:])
    fresh = NaiveBayes().fit(X[:200], y[:200])
    assert "late" not in left.classifier_.weights
    np.testing.assert_allclose(left.predict_proba(X[:200]), fresh.predict_proba(X[:200]), **SAME)


def test_a_class_that_was_only_declared_changes_nothing():
    X, y = mixed(300)
    plain, declared = NaiveBayes().fit(X, y), NaiveBayes().partial_fit(X, y, classes=list("abcd"))
    np.testing.assert_allclose(declared.predict_proba(X)[:, :3], plain.predict_proba(X), **SAME)
    found = leave_one_out(declared, X, y)
    np.testing.assert_array_equal(found.probabilities[:, 3], 0.0)
    assert found.log_loss == pytest.approx(leave_one_out(plain, X, y).log_loss, rel=1e-4)


def test_settings_that_cannot_be_tuned_say_so(tmp_path):
    X, y = mixed(200)
    NaiveBayes().fit(X, y).save(tmp_path / "m.priory")
    model = priory.load(tmp_path / "m.priory")
    with pytest.warns(StaleTuningWarning, match="not tuned"):
        model.change_settings(missing="skip")
    assert model.classifier_.state == "not tuned"


def test_one_class_that_is_left_is_not_tuned():
    X, y = mixed(200)
    model = NaiveBayes().fit(X, y).forget(X[y != "a"], y[y != "a"])
    assert model.classifier_.state == "not tuned"
    assert (model.predict_proba(X) == 1.0).all()


def test_a_column_that_was_empty_may_hold_labels_later(tmp_path):
    pd.DataFrame({"a": [1, 2, 3, 4], "b": [None] * 4, "y": list("pqpq")}).to_csv(
        tmp_path / "first.csv", index=False
    )
    pd.DataFrame({"a": [1, 2], "b": ["x", "z"], "y": ["p", "q"]}).to_csv(
        tmp_path / "second.csv", index=False
    )
    model = train(tmp_path / "first.csv", "y", settings=Settings.textbook())
    assert update(model, tmp_path / "second.csv") == 2
    assert model.statistics.tables["b"].labels == ("x", "z")
