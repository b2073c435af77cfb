"""Values that a column's type declares: Laplace's V counts them, with rows or without."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.naive_bayes import CategoricalNB

from priory import BeliefNetwork, Classifier, NaiveBayes, Settings, load, train
from priory.base.errors import SchemaError
from priory.data.schema import Schema
from priory.families import Categorical
from priory.families.priors import MEstimate

VALUES = ["high", "low", "mid", "none"]
SEEN = ["low", "mid", "low", None, "mid", "mid"]
Y = ["a", "b", "a", "b", "b", "a"]


def of_arrow(values=SEEN, listed=VALUES):
    codes = pa.array([None if v is None else listed.index(v) for v in values], pa.int8())
    return pa.table({"x": pa.DictionaryArray.from_arrays(codes, pa.array(listed))})


TABLES = {
    "pandas": lambda v=SEEN: pd.DataFrame({"x": pd.Categorical(v, VALUES)}),
    "pandas ordered": lambda v=SEEN: pd.DataFrame({"x": pd.Categorical(v, VALUES, ordered=True)}),
    "polars": lambda v=SEEN: pl.DataFrame({"x": pl.Series(v, dtype=pl.Enum(VALUES))}),
    "Arrow": of_arrow,
    "pandas of Arrow": lambda v=SEEN: of_arrow(v).to_pandas(types_mapper=pd.ArrowDtype),
    "columns of polars": lambda v=SEEN: {"x": pl.Series(v, dtype=pl.Enum(VALUES))},
}


def with_classes(table, how):
    """Return a table with the classes as one more column."""
    if how.startswith("pandas"):
        return table.assign(y=Y)
    if how == "polars":
        return table.with_columns(y=pl.Series(Y))
    if how == "Arrow":
        return table.append_column("y", pa.array(Y))
    return {**table, "y": Y}


def learned(table, y=Y, **settings):
    return Classifier(Settings.textbook(**settings)).update(table, y)


def p_of(classifier, value="low"):
    """Return P(value | k) of each class."""
    parameters = classifier.model.terms[0].parameters
    return np.exp(parameters.log_p[parameters.labels.index(value)])


@pytest.mark.parametrize("how", TABLES)
class TestTypes:
    def test_as_scikit_learn_counts_them(self, how):
        there = [i for i, v in enumerate(SEEN) if v is not None]
        codes = np.array([[VALUES.index(SEEN[i])] for i in there])
        peer = CategoricalNB(alpha=0.7, min_categories=4).fit(codes, [Y[i] for i in there])
        classifier = learned(TABLES[how](), smoothing=0.7)
        found = np.stack([p_of(classifier, v) for v in VALUES], axis=1)
        np.testing.assert_allclose(found, np.exp(peer.feature_log_prob_[0]), rtol=1e-12)

    def test_as_declared_by_hand(self, how):
        by_hand = learned({"x": SEEN}, families={"x": Categorical(values=tuple(VALUES))})
        new = TABLES[how](VALUES)
        found = learned(TABLES[how]())
        np.testing.assert_array_equal(found.predict_proba(new), by_hand.predict_proba(new))
        assert found.model.terms[0].family == by_hand.model.terms[0].family

    def test_also_of_a_column_that_families_name(self, how):
        found = learned(TABLES[how](), families="categorical")
        np.testing.assert_array_equal(p_of(found), p_of(learned(TABLES[how]())))

    def test_forgetting_keeps_them(self, how):
        classifier = learned(TABLES[how]())
        rows = [1, 4, 5]  # all that are "mid"
        classifier.forget(TABLES[how]([SEEN[i] for i in rows]), [Y[i] for i in rows])
        np.testing.assert_allclose(p_of(classifier, "low"), [3 / 6, 1 / 4])

    def test_saved_and_read_again(self, how, tmp_path):
        classifier = learned(TABLES[how]())
        classifier.save(tmp_path / "m.priory")
        again = load(tmp_path / "m.priory")
        assert again.statistics == classifier.statistics
        assert again.statistics.schema["x"].values == tuple(VALUES)
        np.testing.assert_array_equal(p_of(again), p_of(classifier))

    def test_from_a_source(self, how):
        table = TABLES[how]()
        found = train(with_classes(table, how), "y", settings=Settings.textbook())
        np.testing.assert_array_equal(p_of(found), p_of(learned(TABLES[how]())))

    def test_a_network_counts_them_too(self, how):
        naive = NaiveBayes.textbook(1).fit(TABLES[how](), Y)
        (column,) = naive.schema_.columns
        network = BeliefNetwork([("y", column)], smoothing={"y": 0.0})
        network.update(with_classes(TABLES[how](), how)).update(with_classes(TABLES[how](), how))
        naive.partial_fit(TABLES[how](), Y)
        new = TABLES[how]([*VALUES, None])
        found = network.predict_proba(new, "y")
        np.testing.assert_allclose(found, naive.predict_proba(new), atol=1e-12)


def test_pieces_declare_more_and_all_of_it_counts():
    first, second = of_arrow(["low", "mid"], ["low", "mid"]), of_arrow(["high"], ["high", "none"])
    pieces = learned(first, ["a", "b"]).update(second, ["a"])
    merged = learned(first, ["a", "b"]).merge(learned(second, ["a"]))
    other = learned(second, ["a"]).merge(learned(first, ["a", "b"]))
    whole = learned(of_arrow(["low", "mid", "high"], VALUES), ["a", "b", "a"])
    chunks = pa.chunked_array([*first["x"].chunks, *second["x"].chunks])
    both = pa.table({"x": chunks, "y": ["a", "b", "a"]})
    source = train(both, "y", settings=Settings.textbook())
    stream = train(both.to_reader(), "y", settings=Settings.textbook())
    for found in pieces, merged, other, source, stream:
        assert found.statistics == whole.statistics
        assert found.statistics.schema["x"].values == tuple(VALUES)
        np.testing.assert_array_equal(p_of(found), p_of(whole))


def test_plain_strings_may_follow():
    classifier = learned(TABLES["pandas"]()).update({"x": ["low", "new"]}, ["a", "b"])
    assert classifier.model.terms[0].parameters.labels == (*sorted([*VALUES, "new"]),)


def test_equal_statistics_give_equal_models():
    more = learned(TABLES["pandas"]()).statistics
    assert more != learned({"x": SEEN}).statistics  # "high" and "none" count in one of them
    used = pd.DataFrame({"x": pd.Categorical(SEEN)})
    assert learned(used).statistics == learned({"x": SEEN}).statistics


def test_only_a_smoothing_that_is_asked_for_counts_them():
    table = TABLES["pandas"]()
    np.testing.assert_allclose(p_of(learned(table, smoothing=0)), [2 / 3, 0])
    assert learned(table, smoothing=0).model.terms[0].parameters.labels == ("low", "mid")
    assert learned(table, smoothing="auto").model.terms[0].parameters.labels == ("low", "mid")
    found = learned(table, smoothing=MEstimate(4))
    np.testing.assert_allclose(p_of(found), [(2 + 1) / (3 + 4), 1 / 6])


def test_a_value_without_rows_is_not_unseen():
    strict = learned(TABLES["pandas"](), unseen="error")
    np.testing.assert_allclose(p_of(strict, "none"), [1 / 7, 1 / 6])
    assert strict.predict_proba({"x": ["none"]}).shape == (1, 2)


def test_a_file_without_rare_values_does_not_list_them(tmp_path):
    learned(TABLES["pandas"]()).save(tmp_path / "m.priory", min_count=3)
    assert load(tmp_path / "m.priory").statistics.schema["x"].values == ()
    assert b"none" not in (tmp_path / "m.priory").read_bytes()


def test_values_that_are_no_labels_are_refused():
    plain = learned(TABLES["pandas"]()).statistics.schema.to_dict()
    plain["blocks"][0]["values"] = [["nested"]]
    with pytest.raises(SchemaError, match="'x' declares values that are no labels"):
        Schema.from_dict(plain)
