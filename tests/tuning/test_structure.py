"""Which columns are counted together, and what stays true when they are."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

import priory
from priory import Classifier, NaiveBayes, Settings, leave_one_out, load
from priory.base.errors import (
    ForgetError,
    MissingValueError,
    ModelFileError,
    SchemaError,
    SettingError,
    StaleTuningWarning,
    TooLargeError,
)
from priory.classifier.storage import Stored, write
from priory.data.pairing import Pairing
from priory.statistics.information import beyond_chance, pairwise_information
from priory.tuning.structure import choose_structure
from priory.tuning.trees import spanning_tree

EDGES = (("a", "b"), ("c", "b"), ("a", "c"))
STRUCTURES = [
    {"structure": "tan"},
    {"structure": "aode"},
    {"structure": "joint"},
    {"structure": "hill-climb"},
    {"structure": EDGES},
    {"pairs": "auto"},
]


def name(case):
    (found,) = case.values()
    return found if isinstance(found, str) else "edges"


def information(codes, sizes, y, weight=None):
    return beyond_chance(pairwise_information(codes, sizes, y, weight), sizes, len(np.unique(y)))


def table(n=300, seed=0):
    """Return a mixed table whose columns depend on each other given the class, with gaps.

    What a test draws beside it needs another seed: with the same one it would follow the classes.
    """
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    a = rng.integers(0, 4, n)
    frame = pd.DataFrame(
        {
            "a": np.array(list("pqrs"))[a],
            "b": np.array(list("xyz"))[(a + y + (rng.random(n) < 0.2)) % 3],
            "c": np.where(rng.random(n) < 0.1, np.nan, a + rng.normal(size=n)),
            "d": rng.normal(size=n) + y,
        }
    )
    frame.loc[rng.random(n) < 0.1, "b"] = None
    return frame, np.array(["no", "yes", "so"])[y]


def together(schema):
    return [block for block in schema if block.pairing is not None]


def assert_same_counts(a, b):
    """Hold what is counted together, and rows, to the last bit; moments are double-doubles."""
    assert a.schema.blocks == b.schema.blocks
    np.testing.assert_array_equal(a.rows, b.rows)
    for block in a.schema:
        if block.pairing is not None or block.kind == "labels":
            assert a.tables[block.name] == b.tables[block.name], block.name


# What is chosen


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_information_is_that_of_scikit_learn(seed, gaps):
    rng = np.random.default_rng(seed)
    n, sizes = int(rng.integers(5, 60)), [2, 3, 5, 4]
    y = rng.integers(0, 3, n)
    codes = [rng.integers(-1 if gaps else 0, size, n) for size in sizes]
    found = pairwise_information(codes, sizes, y)
    for i, a in enumerate(codes):
        for j, b in enumerate(codes):
            if i == j:
                continue
            expected = 0.0
            for k in range(3):
                some = (y == k) & (a >= 0) & (b >= 0)
                expected += some.sum() * mutual_info_score(a[some], b[some]) if some.any() else 0.0
            assert found[i, j] == pytest.approx(expected, abs=1e-8)


def test_weights_are_repetition_for_information():
    rng = np.random.default_rng(1)
    y, codes = rng.integers(0, 2, 50), [rng.integers(-1, 3, 50) for _ in range(4)]
    times = rng.integers(1, 4, 50)
    weighted = information(codes, [3] * 4, y, times.astype(float))
    repeated = information([np.repeat(c, times) for c in codes], [3] * 4, np.repeat(y, times))
    np.testing.assert_allclose(weighted, repeated, rtol=1e-10)


def test_the_tree_is_the_heaviest_one():
    networkx = pytest.importorskip("networkx")
    rng = np.random.default_rng(2)
    for _ in range(20):
        weights = rng.normal(size=(7, 7))
        weights += weights.T
        graph = networkx.Graph()
        for i in range(7):
            for j in range(i):
                graph.add_edge(i, j, weight=weights[i, j])
        best = networkx.maximum_spanning_tree(graph).size(weight="weight")
        edges = spanning_tree(weights)
        assert sum(weights[i, j] for i, j in edges) == pytest.approx(best)
        reached = {0}
        for i, j in edges:  # parents come before their children
            assert i in reached
            reached.add(j)


def test_a_tree_joins_the_columns_that_depend_on_each_other():
    frame, y = table()
    schema = Classifier(Settings.textbook(structure="tan")).update(frame, y).statistics.schema
    pairs = {frozenset(block.columns) for block in together(schema)}
    assert frozenset("ab") in pairs
    assert frozenset("ac") in pairs
    rng, edges = np.random.default_rng(3), []
    for _ in range(20):
        noise = {c: rng.permutation(frame[c].to_numpy()) for c in frame}
        alone = Classifier(Settings.textbook(structure="tan")).update(noise, y)
        edges.append(len(together(alone.statistics.schema)))
        if not edges[-1]:
            free = noise, alone
    assert np.mean(edges) < 1.0, "of three edges, chance gives few"
    noise, alone = free
    naive = Classifier(Settings.textbook()).update(noise, y)
    np.testing.assert_array_equal(alone.predict_proba(frame), naive.predict_proba(frame))


def test_of_many_columns_of_noise_few_are_joined():
    """Pairs are judged together: of 2,775 pairs some hundred pass two deviations each."""
    frame, y = table(400)
    rng = np.random.default_rng(8)
    noise = {f"noise{j}": rng.integers(0, 3, 400).astype(str) for j in range(71)}
    wide = frame.assign(**noise)
    for said in (
        {b.columns for b in together(NaiveBayes.textbook(structure="tan").fit(wide, y).schema_)},
        {pair.columns for pair in NaiveBayes.textbook().fit(wide, y).diagnose(wide, y).pairs},
    ):
        found = {frozenset(pair) for pair in said}
        assert {frozenset("ab"), frozenset("ac")} <= found
        assert sum(any(c.startswith("noise") for c in pair) for pair in found) <= 3


@pytest.mark.parametrize("how", STRUCTURES, ids=name)
def test_neither_the_order_of_rows_nor_of_classes_changes_the_choice(how):
    frame, y = table(3000)
    order = np.random.default_rng(1).permutation(len(y))
    setting = Settings.textbook(sample_size=1000, **how)
    first = Classifier(setting).update(frame, y).statistics
    second = Classifier(setting).update(frame.iloc[order], y[order]).statistics
    assert_same_counts(first, second)


def test_climbing_finds_who_depends_on_whom():
    rng = np.random.default_rng(0)
    n = 4000
    y, a, b = rng.integers(0, 2, (3, n))
    child = np.where(rng.random(n) < 0.9, 2 * a + b, rng.integers(0, 4, n))
    frame = pd.DataFrame({"a": a, "b": b, "child": child, "noise": rng.integers(0, 3, n)})
    frame = frame.astype(str)
    found = {}
    for most in (1, 2, 3):
        settings = Settings.textbook(structure="hill-climb", max_parents=most)
        schema = Classifier(settings).update(frame, y).statistics.schema
        found[most] = [set(block.columns) for block in together(schema)]
        parents = [len(block.columns) - 1 for block in together(schema)]
        assert max(parents) <= most
    assert {"a", "b", "child"} in found[2]
    assert found[3] == found[2], "a third parent would not pay"
    assert all("noise" not in columns for columns in found[2])
    by_hand = Classifier(Settings.textbook(structure=[("a", "child"), ("b", "child")]))
    by_hand.update(frame, y)
    climbed = Classifier(Settings.textbook(structure="hill-climb")).update(frame, y)
    np.testing.assert_allclose(
        np.sort(by_hand.score_samples(frame)).mean(),
        np.sort(climbed.score_samples(frame)).mean(),
        atol=0.01,
    )


def test_gaps_that_come_together_do_not_hide_the_rows():
    """Each column has gaps, and hardly a row is whole; climbing still looks at all of them."""
    rng = np.random.default_rng(1)
    n = 3000
    y, a = rng.integers(0, 2, (2, n))
    columns = {f"c{j}": np.where(rng.random(n) < 0.8, a, 1 - a) for j in range(6)}
    frame = pd.DataFrame(columns).astype(str).mask(rng.random((n, 6)) < 0.5, None)
    assert frame.notna().all(axis=1).mean() < 0.05
    schema = NaiveBayes(structure="hill-climb").fit(frame, y).schema_
    assert len(together(schema)) >= 3


@pytest.mark.parametrize("how", [{"structure": "hill-climb"}, {"structure": EDGES}], ids=name)
def test_few_rows_many_classes_and_empty_columns(how):
    frame, _ = table(40)
    many = np.array([f"class {i % 20}" for i in range(40)])
    frame["empty"] = None
    for options in ({}, {"families": "plain", "smoothing": 1.0, "weights": None}):
        model = NaiveBayes(**options, **how).fit(frame, many)
        p = model.predict_proba(frame)
        assert p.shape == (40, 20)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        one = NaiveBayes(**options, **how).fit(frame[:3], ["u", "v", "u"])
        assert len(one.predict(frame)) == 40
    single = NaiveBayes(**how).fit(frame, ["only"] * 40)
    assert set(single.predict(frame)) == {"only"}
    rest = NaiveBayes(structure=[("empty", "a"), ("a", "b")]).fit(frame, many)
    assert [block.columns for block in together(rest.schema_)] == [("a", "b")]


def test_names_and_columns_of_many_values_stay_alone():
    frame, y = table(400)
    rng = np.random.default_rng(101)
    frame["name"] = [f"row {i}" for i in range(400)]
    frame["town"] = [f"town {i}" for i in rng.integers(0, 90, 400)]
    frame["empty"] = None
    frame["same"] = "always"
    with pytest.warns(priory.base.errors.IdentifierWarning):
        schema = Classifier(Settings.textbook(structure="aode")).fit(frame, y).schema
    (block,) = together(schema)
    assert block.columns == ("a", "b", "c", "d")
    families = dict(schema.families)
    assert families["town"] == "categorical"
    assert families["a"] == "in every pair of columns"


def test_a_family_that_is_asked_for_is_kept():
    frame, y = table()
    model = NaiveBayes({"c": "student-t"}, structure="aode").fit(frame, y)
    assert dict(model.schema_.families)["c"] == "student-t"
    (block,) = together(model.schema_)
    assert block.columns == ("a", "b", "d")


def test_text_keeps_its_own_block():
    frame, y = table(200)
    rng = np.random.default_rng(101)
    words = ["red", "green", "blue", "small", "large", "wet", "dry", "warm"]
    frame["text"] = [" ".join(rng.choice(words, 8)) for _ in range(200)]
    model = NaiveBayes(structure="tan", text="text").fit(frame, y)
    assert "text" in {term.block.name for term in model.model_.terms}
    assert all("text" not in block.columns for block in together(model.schema_))


# What stays true


@pytest.mark.parametrize("how", STRUCTURES, ids=name)
@settings(max_examples=4, deadline=None)
@given(st.integers(0, 10**6))
def test_sums_of_parts_are_sums_of_all(how, seed):
    frame, y = table(120, seed)
    rng = np.random.default_rng(seed + 10**7)
    whole = Classifier(Settings.textbook(**how)).update(frame, y)
    order = rng.permutation(len(y))
    parts = np.split(order, np.sort(rng.integers(0, len(y), 2)))
    merged = whole.blank()
    for part in parts:
        if len(part):
            merged.merge(whole.blank().update(frame.iloc[part], y[part]))
    assert_same_counts(merged.statistics, whole.statistics)
    weight = rng.integers(1, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), weight)
    a = whole.blank().update(frame, y, weight)
    b = whole.blank().update(frame.iloc[repeated], y[repeated])
    np.testing.assert_allclose(
        a.predict_joint_log_proba(frame), b.predict_joint_log_proba(frame), rtol=1e-10
    )
    rest, gone = order[:70], order[70:]
    forgotten = whole.forget(frame.iloc[gone], y[gone])
    kept = forgotten.blank().update(frame.iloc[rest], y[rest])
    assert_same_counts(forgotten.statistics, kept.statistics)


@pytest.mark.parametrize("how", STRUCTURES, ids=name)
def test_threads_count_the_same(how):
    frame, y = table(200_000)
    one, two = (
        Classifier(Settings.textbook(n_threads=n, sample_size=2000, **how)).update(frame, y)
        for n in (1, 2)
    )
    assert one.statistics == two.statistics
    some = frame.iloc[:70_000]
    np.testing.assert_array_equal(one.predict_proba(some), two.predict_proba(some))


@pytest.mark.parametrize("how", STRUCTURES, ids=name)
def test_leaving_out_equals_learning_again(how):
    frame, y = table(60, 4)
    model = Classifier(Settings.textbook(missing="skip", **how)).update(frame, y)
    left = model.held_out(frame, y).posterior
    for i in range(0, 60, 3):
        rest = np.arange(60) != i
        again = model.blank().update(frame[rest], y[rest])
        again.declare(model.classes)
        expected = again.predict_proba(frame.iloc[[i]])[0]
        np.testing.assert_allclose(left[i], expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("how", STRUCTURES, ids=name)
def test_a_model_file_keeps_everything(how, tmp_path):
    frame, y = table()
    model = NaiveBayes(**how).fit(frame, y)
    model.save(tmp_path / "m.priory")
    loaded = load(tmp_path / "m.priory").classifier_
    assert loaded.statistics == model.statistics_
    assert loaded.settings.structure == how.get("structure", "naive")
    np.testing.assert_array_equal(loaded.predict_proba(frame), model.predict_proba(frame))
    assert str(loaded.schema) == str(model.schema_)
    again = loaded.to_sklearn()
    assert again.get_params() == model.get_params()
    loaded.update(frame[:10], y[:10])
    with pytest.warns(StaleTuningWarning):
        loaded.forget(frame[:10], y[:10]).predict(frame[:1])
    assert_same_counts(loaded.statistics, model.statistics_)
    model.save(tmp_path / "few.priory", min_count=20)
    few = load(tmp_path / "few.priory").classifier_
    few.predict(frame)
    for block in together(few.statistics.schema):
        held = few.statistics.tables[block.name]
        assert held.rows.sum(axis=0).min(initial=20) >= 20


def damaged(model, path, change):
    """Write a model file whose header was changed by someone who can seal it."""

    class Changed:
        def __init__(self, statistics):
            self.statistics = statistics

        def to_arrow(self):
            made = self.statistics.to_arrow()
            header = json.loads(made.schema.metadata[b"priory"])
            change(header)
            return made.replace_schema_metadata({b"priory": json.dumps(header).encode()})

    with pytest.MonkeyPatch.context() as patch:  # the writer would not write it
        patch.setattr("priory.classifier.storage._check_readable", lambda content, name: None)
        write(path, Stored(Changed(model.statistics_), model.classifier_.settings))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda p: p.update(use="knot"), "use is 'knot'"),
        (lambda p: p["edges"].pop(), "pairs are not|not there|bins of other"),
        (lambda p: p.update(pairs=[[0, 7]]), "columns that are not there"),
        (lambda p: p.update(pairs=[[1, 0]]), "pairs are not those"),
        (lambda p: p.update(edges=[[3.0, 2.0, 1.0, 0.0], None]), "not in order"),
        (lambda p: p.update(edges=[["a", 2.0], None]), "no numbers"),
        (lambda p: p.update(edges=[[0.0, 1.0], [0.0, 1.0]]), "a bin of"),
    ],
)
def test_a_file_with_other_pairs_is_refused(tmp_path, change, match):
    frame, y = table()
    model = NaiveBayes.textbook().set_params(structure="tan").fit(frame[["a", "b"]], y)

    def of_block(header):
        (block,) = [b for b in header["schema"]["blocks"] if "pairing" in b]
        change(block["pairing"])

    damaged(model, tmp_path / "m.priory", of_block)
    with pytest.raises(ModelFileError, match=match):
        load(tmp_path / "m.priory")


def test_a_file_that_does_not_say_which_pairs_is_refused(tmp_path):
    frame, y = table()
    model = NaiveBayes.textbook().set_params(structure="tan").fit(frame, y)
    for change, match in (
        (lambda b: b.pop("pairing"), "does not say which pairs|stands twice"),
        (lambda b: b.update(kind="joint"), "is counted as"),
        (lambda b: b.update(columns=["a", "a"]), "bins of other columns"),
        (lambda b: b.update(columns=["a", "d"]), "which the block does not count|not of columns"),
    ):

        def of_block(header, change=change):
            change(next(b for b in header["schema"]["blocks"] if "pairing" in b))

        damaged(model, tmp_path / "m.priory", of_block)
        with pytest.raises(ModelFileError, match=match):
            load(tmp_path / "m.priory")


# What is tuned


def test_pairs_tell_what_no_column_does():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 600))
    frame = {"a": np.array(list("xy"))[a], "b": np.array(list("uv"))[b]}
    y = np.where(rng.random(600) < 0.9, a ^ b, rng.integers(0, 2, 600))
    plain, paired = NaiveBayes(pairs=None).fit(frame, y), NaiveBayes().fit(frame, y)
    assert plain.score(frame, y) < 0.8  # three of the four combinations
    assert paired.score(frame, y) > 0.9
    assert leave_one_out(paired, frame, y).how == "cross-fitted"
    assert leave_one_out(paired, frame, y).accuracy > 0.9
    assert NaiveBayes(structure="tan").fit(frame, y).score(frame, y) > 0.9
    assert NaiveBayes(structure="aode").fit(frame, y).score(frame, y) > 0.9
    assert NaiveBayes(structure="joint").fit(frame, y).score(frame, y) > 0.9


def test_what_is_printed_names_the_pairs():
    frame, y = table()
    model = NaiveBayes(pairs="auto").fit(frame, y)
    printed = str(model.schema_)
    assert "a × b" in printed
    assert "they share" in printed
    assert " correction " in printed
    whole = frame.dropna()
    worked = str(model.explain(whole.iloc[:1])[0])
    assert "correction of a = " in worked
    posterior = model.explain(frame.iloc[:9])
    np.testing.assert_allclose(
        [row.posterior for row in posterior], model.predict_proba(frame.iloc[:9])
    )
    for row, joint in zip(posterior, model.predict_joint_log_proba(frame.iloc[:9]), strict=True):
        np.testing.assert_allclose(row.log_joint - row.log_joint[0], joint - joint[0], atol=1e-9)
    tan = NaiveBayes(structure="tan").fit(frame, y)
    assert "in a → b" in str(tan.schema_)
    assert "× P(b = " in str(tan.explain(whole.iloc[:1])[0])
    gaps = pd.DataFrame({"a": ["p", None], "b": [None, "x"], "c": [np.nan] * 2, "d": [0.0] * 2})
    for made in (model, tan, NaiveBayes(structure="aode").fit(frame, y)):
        assert "never seen" not in str(made.explain(gaps))


@pytest.mark.parametrize("how", STRUCTURES, ids=name)
def test_one_row_is_a_batch_of_one(how):
    frame, y = table()
    classifier = Classifier(Settings.textbook(**how)).update(frame, y)
    expected = classifier.predict_proba(frame[:40])
    for i in range(40):
        row = {c: None if v != v else v for c, v in frame.iloc[i].to_dict().items()}
        np.testing.assert_allclose(classifier.predict_proba(row)[0], expected[i], rtol=1e-13)


def test_gaps_may_speak_in_a_tree():
    frame, y = table(600)
    gone = (y == "yes") & (np.random.default_rng(102).random(600) < 0.7)
    frame.loc[gone, "b"] = None
    model = NaiveBayes(structure="tan").fit(frame, y)
    assert "b is missing" in model.classifier_.weights
    assert "× P(b is missing | class)" in str(model.explain(frame[gone].iloc[:1]))
    drawn, labels = model.sample(2000, random_state=0)
    assert drawn["b"].isna()[labels == "yes"].mean() > 0.5
    with pytest.raises(MissingValueError, match="Column 'b' has"):
        NaiveBayes(structure="tan", missing={"b": "error"}).fit(frame, y)


def test_another_structure_is_read_out_of_the_same_counts():
    frame, y = table()
    model = NaiveBayes("plain", 1.0, None, missing="skip", structure="tan").fit(frame, y)
    expected = NaiveBayes("plain", 1.0, None, missing="skip", structure="tan").fit(frame, y)
    np.testing.assert_array_equal(model.predict_proba(frame), expected.predict_proba(frame))
    model.change_settings(structure="naive")
    naive = NaiveBayes.textbook().fit(frame, y)
    np.testing.assert_array_equal(model.predict_proba(frame), naive.predict_proba(frame))
    model.change_settings(structure="tan")
    with pytest.raises(SettingError, match="counted together that were not"):
        model.change_settings(structure="aode")


# From files and the shell


@pytest.mark.parametrize("how", STRUCTURES, ids=name)
def test_a_file_is_trained_like_a_table(how, tmp_path):
    frame, y = table(500)
    frame.assign(target=y).to_csv(tmp_path / "t.csv", index=False)
    from_file = priory.train(tmp_path / "t.csv", "target", **how)
    direct = NaiveBayes(**how).fit(frame, y)
    assert from_file.statistics == direct.statistics_
    np.testing.assert_allclose(from_file.predict_proba(frame), direct.predict_proba(frame))
    assert from_file.provenance.figures.how == "cross-fitted"
    rows = from_file.statistics.n_rows
    from priory.sources import forget, update

    assert update(from_file, tmp_path / "t.csv", where="a = 'p'") > 0
    forget(from_file, tmp_path / "t.csv", where="a = 'p'")
    assert from_file.statistics.n_rows == rows
    assert_same_counts(from_file.statistics, direct.statistics_)


def test_a_stream_is_read_once():
    import pyarrow as pa

    frame, y = table(50)
    made = pa.table({**{c: frame[c] for c in frame}, "target": y})
    with pytest.raises(SettingError, match="stream can be read once"):
        priory.train(made.to_reader(), "target", structure="tan")


# What is refused


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"structure": "star"}, "'naive', 'tan', 'aode', 'joint', 'hill-climb' or .* not 'star'"),
        ({"structure": None}, "structure must be one of"),
        ({"pairs": "some"}, "pairs must be None or 'auto', not 'some'"),
        ({"pairs": True}, "pairs must be None or 'auto'"),
        ({"structure": "tan", "families": "gaussian"}, "families='gaussian' for all of them"),
        ({"structure": "aode", "unseen": "error"}, "unseen must be 'skip', not 'error'"),
        ({"structure": "aode", "missing": "category"}, "missing must not be 'category'"),
        ({"families": {"x": priory.families.Aode()}}, "families names a family of pairs"),
        ({"structure": "hill-clim"}, r"or \(parent, child\) pairs of columns.*'hill-climb'"),
        ({"structure": {"a": "b"}}, "structure must be one of"),
        ({"structure": 3}, "structure must be one of"),
        ({"structure": [("a", "b", "c")]}, r"An edge is a pair \(parent, child\), not"),
        ({"structure": [("a", "a")]}, "'a' cannot be its own parent"),
        ({"structure": [("a", "b"), ("b", "a")]}, "it has the cycle 'a' → 'b' → 'a'|'b' →"),
        ({"structure": [("a", "b"), ("a", "b")]}, "'a' → 'b' is given twice"),
        ({"structure": [(p, "x") for p in "abcdefg"]}, "column 'x' 7 parents; 6 are the most"),
        ({"structure": "hill-climb", "max_parents": 0}, "max_parents must be"),
        ({"structure": "hill-climb", "max_parents": 7}, "max_parents must be at most 6, not 7"),
        ({"structure": "tan", "max_parents": 3}, "only structure='hill-climb' looks at it"),
    ],
)
def test_settings_that_cannot_be_honoured(given, match):
    with pytest.raises(SettingError, match=match):
        Settings.textbook(**given)


@pytest.mark.parametrize(
    ("edges", "options", "error", "match"),
    [
        (
            [("a", "bb")],
            {},
            SchemaError,
            r"a column 'bb' that the data do not have. Columns: 'a', 'b', .* mean 'b'.* The class "
            "is a parent of every column as it is; .* BeliefNetwork, which predicts any",
        ),
        ([("target", "a")], {}, SchemaError, "BeliefNetwork"),
        (
            [("a", "c")],
            {"families": {"c": "student-t"}},
            SettingError,
            "'c' parents, but it is a unique identifier",
        ),
        ([("t", "a")], {"text": "t"}, SettingError, "'t', which is counted as words"),
        (
            [("c", "a")],
            {"families": {("c", "d"): "multivariate-gaussian"}},
            SettingError,
            "'c', which is part of a block",
        ),
    ],
)
def test_edges_that_cannot_be_honoured(edges, options, error, match):
    frame, y = table()
    frame["t"] = "some words of a text " + frame["a"]
    with pytest.raises(error, match=match):
        NaiveBayes(structure=edges, **options).fit(frame, y)


def test_a_family_of_its_own_may_be_a_parent():
    frame, y = table()
    model = NaiveBayes({"c": "student-t"}, structure=[("c", "b")]).fit(frame, y)
    assert dict(model.schema_.families)["c"] == "student-t"
    assert [block.columns for block in together(model.schema_)] == [("c", "b")]


def test_other_edges_must_be_counted_anew():
    frame, y = table()
    model = NaiveBayes.textbook(structure=[("a", "b")]).fit(frame, y)
    before = model.predict_proba(frame)
    with pytest.raises(SettingError, match="counted together that were not"):
        model.set_params(structure=[("b", "a")]).change_settings()
    model.set_params(structure="naive").change_settings()
    model.set_params(structure=[["a", "b"]]).change_settings()
    np.testing.assert_array_equal(model.predict_proba(frame), before)


def test_so_many_values_cannot_be_told_apart():
    rng = np.random.default_rng(0)
    frame = {name: [f"{name}{i}" for i in rng.integers(0, 300, 400)] for name in "abcdefg"}
    edges = [(name, "g") for name in "abcdef"]
    with pytest.raises(TooLargeError, match="7 columns that are counted together have"):
        NaiveBayes(structure=edges).fit(frame, rng.integers(0, 2, 400))


def test_parts_that_chose_other_pairs_do_not_add():
    frame, y = table()
    other = frame.assign(a=np.where(frame["d"] > 1, "p", "q"))
    first = Classifier(Settings.textbook(structure="tan")).update(frame, y)
    second = Classifier(Settings.textbook(structure="tan")).update(other, y)
    with pytest.raises(SchemaError, match=r"other pairs of columns: .* blank\(\)"):
        first.merge(second)
    shifted = Classifier(Settings.textbook(structure="aode")).update(
        frame.assign(d=frame["d"] * 2), y
    )
    with pytest.raises(SchemaError, match=r"other bins on the other side.* blank\(\)"):
        Classifier(Settings.textbook(structure="aode")).update(frame, y).merge(shifted)


def test_a_column_with_the_name_of_a_block():
    frame, y = table()
    with pytest.raises(SchemaError, match="both a column and a block of columns"):
        Classifier(Settings.textbook(structure="aode")).update(
            frame.rename(columns={"d": "every pair of columns"}), y
        )


def test_rows_that_were_never_learned_cannot_be_forgotten():
    frame, y = table()
    some = ~((frame["a"] == "p") & (frame["b"] == "x")).to_numpy()
    frame, y = frame[some], y[some]
    classifier = Classifier(Settings.textbook(structure="aode")).update(frame, y)
    (block,) = together(classifier.statistics.schema)
    held = classifier.statistics.tables[block.name]

    def counted(rows, labels):
        return (
            classifier.blank()
            .update(rows, labels)
            .statistics.with_classes(classifier.classes)
            .tables[block.name]
        )

    with pytest.raises(ForgetError, match="value 'never' was never learned"):
        held - counted(frame.iloc[[0]].assign(b="never"), y[:1])
    whole = frame.dropna().iloc[[0]]
    with pytest.raises(ForgetError, match="cannot be forgotten"):
        held - counted(pd.concat([whole] * 200), [y[0]] * 200)
    with pytest.raises(ForgetError, match="never learned together"):
        held - counted(whole.assign(a="p", b="x", c=np.nan, d=np.nan), [y[0]])


@pytest.mark.parametrize(
    ("use", "n_columns", "pairs", "match"),
    [
        ("aode", 3, ((0, 1), (1, 0), (0, 2)), "a pair stands twice"),
        ("aode", 3, ((0, 1), (0, 2)), "not those of 'aode'"),
        ("aode", 10**6, (), "not those of 'aode'"),  # and no list of all of them is made
        ("joint", 3, ((0, 1),), "not those of 'joint'"),
        ("edge", 3, ((0, 1),), "not those of 'edge'"),
        ("edge", 3, ((0, 1, 2),), "not those of 'edge'"),
        ("climbed", 3, ((0, 1),), "not those of 'climbed'"),
        ("given", 8, (tuple(range(8)),), "not those of 'given'"),
        ("given", 3, ((0, 0, 2),), "columns that are not there"),
        ("correction", 3, (), "not those of 'correction'"),
    ],
)
def test_a_pairing_is_checked(use, n_columns, pairs, match):
    with pytest.raises(SchemaError, match=match):
        Pairing(use, (None,) * n_columns, pairs)


def test_one_column_has_no_structure():
    frame, y = table()
    for how in STRUCTURES:
        if how == {"structure": EDGES}:
            continue
        model = Classifier(Settings.textbook(**how)).update(frame[["a"]], y)
        assert not together(model.statistics.schema)
    counted = Classifier(Settings.textbook()).update(frame, y).statistics
    assert choose_structure(counted, Settings.textbook(), None, None) == ()
