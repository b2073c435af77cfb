"""Settings: each one is honoured or refused."""

import inspect
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import CategoricalNB

from priory import Classifier, NaiveBayes, Settings, train
from priory.base.errors import (
    IdentifierWarning,
    MissingValueError,
    SchemaError,
    SettingError,
    UnseenValueError,
)
from priory.cli.training import train as shell_train
from priory.families import Categorical, Gaussian
from priory.families.priors import Dirichlet, Laplace, MEstimate, NormalInverseGamma, as_prior
from priory.tuning.choices import choices_for

X = {
    "word": ["red", "blue", "red", "green"],
    "number": [1.0, 2.5, 3.0, 4.0],
    "whole": [1, 2, 1, 3],
    "truth": [True, False, True, True],
}
Y = ["a", "b", "a", "b"]
GAP = {"word": [None], "number": [2.0], "whole": [1], "truth": [True]}
VIOLET = {**GAP, "word": ["violet"]}


def families(settings, table=X):
    model = Classifier(settings).update(table, Y).model
    return {term.block.name: term.family.name for term in model.terms}


def fit(**settings):
    classifier = Classifier(Settings.textbook(**settings)).update(X, Y)
    _ = classifier.model
    return classifier


class TestFamilies:
    def test_plain_goes_by_kind(self):
        assert families(Settings.textbook()) == {
            "word": "categorical",
            "number": "gaussian",
            "whole": "gaussian",
            "truth": "bernoulli",
        }

    def test_by_column_the_others_stay_plain(self):
        found = families(
            Settings.textbook(families={"whole": "poisson", "number": Gaussian(shared=True)})
        )
        assert found == {
            "word": "categorical",
            "number": "gaussian",
            "whole": "poisson",
            "truth": "bernoulli",
        }

    def test_several_columns_in_one_block(self):
        found = families(Settings.textbook(families={("whole", "number"): "gaussian"}))
        assert found["whole, number"] == "gaussian"
        assert len(found) == 3

    def test_one_for_all(self):
        assert set(families(Settings.textbook(families="categorical")).values()) == {"categorical"}
        assert families(
            Settings.textbook(families="multinomial"), {"a": [1, 2, 3, 4], "b": [0, 1, 0, 1]}
        ) == {"a, b": "multinomial"}

    def test_columns_named_by_numbers(self):
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame(np.arange(12).reshape(4, 3) % 5)
        assert families(Settings.textbook(families={1: "poisson"}), frame)["1"] == "poisson"

    def test_unknown(self):
        with pytest.raises(SettingError, match=r"no family 'gausian'.* Did you mean 'gaussian'\?"):
            Settings.textbook(families={"number": "gausian"})
        with pytest.raises(SettingError, match=r"There is no family 5"):
            Settings.textbook(5)

    def test_unknown_column(self):
        with pytest.raises(SchemaError, match=r"Column 'wrod' was not found.* Did you mean 'word'"):
            fit(families={"wrod": "categorical"})

    def test_column_of_the_wrong_kind(self):
        message = r"Column 'word' is read as numbers, but holds 'red'.*\{'word': 'categorical'\}"
        with pytest.raises(SchemaError, match=message):
            fit(families={"word": "gaussian"})

    def test_several_columns_for_a_family_of_one(self):
        with pytest.raises(SettingError, match=r"histogram models one column, not the 2 of"):
            fit(families={("number", "whole"): "histogram"})

    def test_sparse_for_a_family_of_numbers(self):
        with pytest.raises(SettingError, match=r"sparse matrix is read as counts, which gaussian"):
            Classifier(Settings.textbook(families="gaussian")).update(
                sp.csr_matrix(np.eye(4)[:, :3]), Y
            )

    def test_read_out_that_was_not_counted(self):
        classifier = Classifier(Settings.textbook(families="categorical")).update(X, Y)
        with pytest.raises(
            SettingError, match=r"Column 'number' was counted as labels, which hist"
        ):
            classifier.change_settings(Settings.textbook(families={"number": "histogram"}))


class TestSmoothing:
    def test_number_is_for_all_probabilities(self):
        model = fit(smoothing=0.5).model
        p = np.exp(model.terms[0].parameters.log_p).T  # blue, green, red
        np.testing.assert_allclose(p, [[0.5 / 3.5, 0.5 / 3.5, 2.5 / 3.5], [3 / 7, 3 / 7, 1 / 7]])

    def test_by_column(self):
        model = fit(smoothing={"word": 0}).model
        assert np.exp(model.terms[0].parameters.log_p).T[0].tolist() == [0.0, 0.0, 1.0]
        truth = np.exp(model.terms[3].parameters.log_on[0])
        np.testing.assert_allclose(truth, [3 / 4, 2 / 4])  # the family's own: α = 1

    def test_auto_is_two_rows_of_the_column_as_a_whole(self):
        untuned = {"sample_size": 0}
        auto = fit(smoothing="auto", **untuned)
        told = fit(smoothing=MEstimate(2.0, "marginal"), **untuned)
        np.testing.assert_array_equal(
            auto.predict_joint_log_proba(X), told.predict_joint_log_proba(X)
        )

    def test_prior_asked_for_by_name_is_honoured_or_refused(self):
        with pytest.raises(
            SettingError, match=r"smoothing of column 'number' is Laplace.* takes Nor"
        ):
            fit(smoothing={"number": 1.0})
        with pytest.raises(
            SettingError, match=r"'word' is NormalInverseGamma.* takes Laplace, MEst"
        ):
            fit(smoothing={"word": NormalInverseGamma()})

    @pytest.mark.parametrize("wrong", [-1, np.nan, np.inf])
    def test_wrong_number(self, wrong):
        with pytest.raises(SettingError, match=r"alpha must be a finite number of at least 0"):
            Settings.textbook(smoothing=wrong)

    @pytest.mark.parametrize("wrong", [True, None, "lots", [1.0]])
    def test_no_number(self, wrong):
        with pytest.raises(
            SettingError, match=r"smoothing must be a number of at least 0 or a pri"
        ):
            Settings.textbook(smoothing={"word": wrong})

    def test_unknown_column(self):
        message = r"smoothing names a column 'wort' .* Columns: 'word', .* Did you mean 'word'\?"
        with pytest.raises(SchemaError, match=message):
            fit(smoothing={"wort": 1.0})


class TestPriors:
    def test_numbers_are_laplace(self):
        assert as_prior(2) == as_prior(np.float32(2)) == Laplace(2.0)
        assert as_prior(MEstimate(3.0)) == MEstimate(3.0)

    def test_laplace(self):
        with pytest.raises(
            SettingError, match=r"alpha must be a finite number of at least 0, not -1"
        ):
            Laplace(-1)

    def test_m_estimate(self):
        with pytest.raises(SettingError, match=r"m must be a finite number of at least 0, not -2"):
            MEstimate(-2)
        with pytest.raises(SettingError, match=r"p must be 'uniform', 'marginal' or .* not 'flat'"):
            MEstimate(1, "flat")
        with pytest.raises(SettingError, match=r"p must add up to 1, but adds up to 0\.75"):
            MEstimate(1, {"a": 0.5, "b": 0.25})
        with pytest.raises(SettingError, match=r"p\['a'\] must be .* at least 0, not -0\.5"):
            MEstimate(1, {"a": -0.5, "b": 1.5})

    def test_dirichlet(self):
        with pytest.raises(SettingError, match=r"counts\['a'\] must be .* at least 0, not -1"):
            Dirichlet({"a": -1})

    @pytest.mark.parametrize("name", ["kappa", "alpha", "beta"])
    def test_normal_inverse_gamma(self, name):
        with pytest.raises(SettingError, match=rf"{name} must be a finite number above 0, not 0"):
            NormalInverseGamma(**{name: 0})


class TestMissing:
    def test_skip_leaves_the_factor_out(self):
        classifier = fit(smoothing=1.0)
        red = classifier.predict_joint_log_proba({**GAP, "word": ["red"]})
        np.testing.assert_allclose(
            classifier.predict_joint_log_proba(GAP), red - np.log([3 / 5, 1 / 5]), rtol=1e-13
        )

    def test_category_lets_the_gap_speak(self):
        table = {"x": ["u", None, None, "v", "u", "u"]}
        y = ["a", "a", "a", "b", "b", "b"]
        classifier = Classifier(Settings.textbook(smoothing=0, missing="category")).update(table, y)
        found = np.exp(classifier.predict_joint_log_proba({"x": [None, "u"]}))
        # P(k) P(missing | k), then P(k) P(there | k) P(u | k)
        np.testing.assert_allclose(found, [[2 / 6, 0], [1 / 6, 2 / 6]], rtol=1e-14)

    def test_category_of_numbers(self):
        table = {"x": [1.0, None, None, 2.0, 3.0, 4.0], "z": [0.0] * 6}
        y = ["a", "a", "a", "b", "b", "b"]
        classifier = Classifier(Settings.textbook(smoothing=1, missing={"x": "category"})).update(
            table, y
        )
        odds = np.exp(classifier.predict_joint_log_proba({"x": [None], "z": [None]}))[0]
        np.testing.assert_allclose(odds, [0.5 * 3 / 5, 0.5 * 1 / 5], rtol=1e-14)

    def test_error_at_learning_and_at_prediction(self):
        message = r"Column 'word' has 1 missing values, the first in row 0. Fill them in, or set"
        with pytest.raises(MissingValueError, match=message):
            Classifier(Settings.textbook(missing="error")).update(GAP, ["a"])
        with pytest.raises(MissingValueError, match=message):
            fit(missing={"word": "error"}).predict(GAP)

    def test_error_for_one_column_lets_others_be(self):
        classifier = fit(missing={"number": "error"})
        assert len(classifier.predict(GAP)) == 1

    def test_error_for_a_block_of_several(self):
        settings = Settings.textbook(
            {("number", "whole"): "gaussian"}, missing={("number", "whole"): "error"}
        )
        classifier = Classifier(settings).update(X, Y)
        with pytest.raises(MissingValueError, match=r"'number, whole' has 1 missing values"):
            classifier.predict({**GAP, "number": [None]})

    def test_category_for_a_block_of_several_is_refused(self):
        with pytest.raises(
            SettingError, match=r"missing='category' is for single columns, not for"
        ):
            fit(families={("number", "whole"): "gaussian"}, missing="category")

    @pytest.mark.parametrize("wrong", ["ignore", None, ["skip"]])
    def test_other_policies_are_refused(self, wrong):
        with pytest.raises(
            SettingError, match=r"missing must be one of 'auto', 'skip', 'category', 'error'"
        ):
            Settings.textbook(missing=wrong)

    def test_unknown_column(self):
        with pytest.raises(SchemaError, match=r"missing names a column 'words' .* mean 'word'\?"):
            fit(missing={"words": "error"})


class TestUnseen:
    def test_skip_is_like_a_gap(self):
        classifier = fit(unseen="skip")
        np.testing.assert_array_equal(
            classifier.predict_joint_log_proba(VIOLET), classifier.predict_joint_log_proba(GAP)
        )

    def test_smooth_is_one_more_value(self):
        classifier = Classifier(Settings.textbook(unseen="smooth")).update({"word": X["word"]}, Y)
        found = np.exp(classifier.predict_joint_log_proba({"word": ["violet", "red"]}))
        np.testing.assert_allclose(found, 0.5 * np.array([[1 / 6, 1 / 6], [3 / 6, 1 / 6]]))

    @pytest.mark.parametrize("unseen", ["error", {"word": "error"}])
    def test_error(self, unseen):
        message = r"Column 'word': value 'violet' was never learned. Values: 'blue', 'green', 'red'"
        with pytest.raises(UnseenValueError, match=message):
            fit(unseen=unseen).predict(VIOLET)

    def test_error_holds_for_a_family_given_as_an_object(self):
        classifier = fit(families={"word": Categorical(values=("pink",))}, unseen="error")
        assert len(classifier.predict({**VIOLET, "word": ["pink"]})) == 1
        with pytest.raises(UnseenValueError, match=r"'violet' was never learned"):
            classifier.predict(VIOLET)

    def test_family_that_knows_none_is_refused_by_name(self):
        with pytest.raises(
            SettingError, match=r"unseen of column 'number' is 'error', but gaussian"
        ):
            fit(unseen={"number": "error"})

    def test_other_policies_are_refused(self):
        with pytest.raises(SettingError, match=r"unseen must be one of 'skip', 'smooth', 'error'"):
            Settings.textbook(unseen={"word": "ignore"})

    def test_unknown_column(self):
        with pytest.raises(SchemaError, match=r"unseen names a column 'colour'"):
            fit(unseen={"colour": "skip"})


class TestIdentifiers:
    def test_ten_different_strings_name_rows(self):
        table = {"id": [f"n{i}" for i in range(20)], "x": list(range(20))}
        y = [i % 3 for i in range(20)]
        classifier = Classifier(Settings.textbook()).update(table, y)
        with pytest.warns(
            IdentifierWarning, match=r"Column 'id' .*left out.*\{'id': 'categorical'\}"
        ):
            assert [term.block.name for term in classifier.model.terms] == ["x"]
        assert "left out" in str(classifier.schema)

    def test_declared_they_are_used(self):
        table = {"id": [f"n{i}" for i in range(20)], "x": list(range(20))}
        classifier = Classifier(Settings.textbook(families={"id": "categorical"})).update(
            table, [i % 3 for i in range(20)]
        )
        assert [term.block.name for term in classifier.model.terms] == ["id", "x"]

    def test_few_rows_are_no_reason(self):
        classifier = Classifier(Settings.textbook()).update(
            {"word": list("abcdefghi")}, list("uvwuvwuvw")
        )
        assert len(classifier.model.terms) == 1

    def test_numbers_are_no_identifiers(self):
        classifier = Classifier(Settings.textbook(families="categorical")).update(
            {"n": range(20)}, [0, 1] * 10
        )
        assert len(classifier.model.terms) == 1


# Whole numbers that are codes

BITS = {"x": [0, 1, 1, 0, 1, 1, 0], "z": [3, 3, 7, 7, 7, 3, 9]}
OF_BITS = ["a", "b", "b", "a", "a", "b", "b"]


def family_of(values, **settings):
    y = ["a", "b"] * (len(values) // 2) + ["a"] * (len(values) % 2)
    classifier = Classifier(Settings.textbook(**settings)).update({"x": values}, y)
    return classifier.model.terms[0].family.name


class TestCodes:
    def test_they_are_read_as_categories(self):
        classifier = Classifier(Settings.textbook()).update(BITS, OF_BITS)
        said = Classifier(Settings.textbook("categorical")).update(BITS, OF_BITS)
        new = {"x": [0, 1, 2, None], "z": [3, 9, 8, 7]}
        np.testing.assert_array_equal(classifier.predict_proba(new), said.predict_proba(new))
        assert classifier.statistics.schema["x"].kind == "numbers"  # counted as ever
        assert "few small integers, read as categories" in str(classifier.schema)

    def test_as_scikit_learn_does(self):
        X = np.array([BITS["x"], np.array(BITS["z"]) // 3 - 1]).T
        ours = Classifier(Settings.textbook())
        peer = CategoricalNB(alpha=1.0).fit(X, OF_BITS)
        found = ours.update(X, OF_BITS).predict_log_proba(X)
        np.testing.assert_allclose(found, peer.predict_log_proba(X), atol=1e-12)

    @pytest.mark.parametrize(
        ("values", "family"),
        [
            ([0, 1] * 4, "categorical"),
            ([0.0, 1.0, np.nan, 0.0, 1.0], "categorical"),
            ([-1, 1, -1, 1], "categorical"),
            ([*range(10)] * 2, "categorical"),
            ([*range(11)] * 2, "gaussian"),  # too many different ones
            ([1, 99] * 2, "categorical"),
            ([1, 100] * 2, "gaussian"),  # too large
            ([1.5, 2.5] * 4, "gaussian"),  # not whole
            ([0, 1, 2], "gaussian"),  # not repeated
            ([0, 1, 2, 0, 1], "gaussian"),
            ([*range(2000)], "gaussian"),
        ],
    )
    def test_which_numbers_are_codes(self, values, family):
        assert family_of(values) == family

    def test_whoever_asks_for_a_normal_gets_one(self):
        assert family_of([0, 1] * 4, families="gaussian") == "gaussian"
        assert family_of([0, 1] * 4, families={"x": "gaussian"}) == "gaussian"
        assert family_of([0, 1] * 4, smoothing={"x": NormalInverseGamma()}) == "gaussian"
        auto = Settings.textbook(families="auto")
        statistics = Classifier(auto).update({"x": [0, 1] * 4}, ["a", "b"] * 4).statistics
        assert choices_for(auto, statistics)["x"].family.name == "gaussian"  # until it is tuned

    def test_new_rows_are_numbers(self):
        columns, _ = (
            Classifier(Settings.textbook()).update(BITS, OF_BITS).sample(50, random_state=0)
        )
        assert columns["x"].dtype == np.int64 and set(columns["z"]) == {3, 7, 9}

    @given(
        st.lists(st.sampled_from([0, 1, 2, 5, 1.5, 120, None]), min_size=2, max_size=12), st.data()
    )
    @settings(max_examples=60)
    def test_pieces_and_orders_do_not_matter(self, values, data):
        y = data.draw(st.lists(st.sampled_from("ab"), min_size=len(values), max_size=len(values)))
        order = data.draw(st.permutations(range(len(values))))
        cut = data.draw(st.integers(1, len(values) - 1))
        column = np.array(values, dtype=float)
        if np.isnan(column).all():
            return
        whole = Classifier(Settings.textbook()).update({"x": column}, y)
        parts = Classifier(Settings.textbook())
        for some in order[:cut], order[cut:]:
            parts.update({"x": column[list(some)]}, [y[i] for i in some])
        assert [t.family for t in parts.model.terms] == [t.family for t in whole.model.terms]
        new = {"x": [0.0, 1.0, 1.5, 120.0]}
        np.testing.assert_allclose(parts.predict_proba(new), whole.predict_proba(new), atol=1e-9)

    def test_a_row_of_weight_two_is_two_rows(self):
        y = ["a", "b", "a"]
        once = Classifier(Settings.textbook()).update({"x": [0, 1, 2]}, y, [2, 2, 2])
        assert once.model.terms[0].family.name == "categorical"


class TestOneHome:
    """Options are spelled out in `Settings`; everything else takes them by name."""

    names = tuple(f.name for f in fields(Settings))

    def test_every_surface_has_them_all(self):
        assert set(inspect.signature(NaiveBayes).parameters) == set(self.names)
        assert set(self.names) <= set(inspect.signature(train).parameters)
        assert set(self.names) <= set(inspect.signature(shell_train).parameters)

    @pytest.mark.parametrize("make", [Settings.auto, Settings.textbook, Settings().changed])
    def test_changes_by_name(self, make):
        assert make(select="mdl").select == "mdl" and make().select is None
        with pytest.raises(SettingError, match=r"no setting 'sample_sise'\. Did you mean 'sample_"):
            make(sample_sise=3)
        with pytest.raises(SettingError, match=r"no setting 'qqq'\. Settings: families, smoothing"):
            make(qqq=3)

    def test_auto_is_the_default(self):
        assert Settings.auto() == Settings() and Settings().changed() == Settings()

    def test_options_make_the_same_again(self):
        settings = Settings.textbook(text=["t"], structure="tan")
        assert Settings(**settings.options()) == settings
        assert Settings.auto(**settings.options()) == settings

    def test_train_takes_settings_and_changes(self):
        table = pd.DataFrame({"x": ["a", "b", "b"], "y": [0, 1, 1]})
        found = train(table, "y", settings=Settings.textbook(), class_prior="uniform").settings
        assert found == Settings.textbook(class_prior="uniform")
        assert train(table, "y").settings == Settings()
        with pytest.raises(SettingError, match="Did you mean 'smoothing'"):
            train(table, "y", smooting=1)

    def test_there_and_back(self):
        settings = Settings.textbook(smoothing=0.5, sample_size=9)
        classifier = Classifier(settings).update({"x": ["a", "b"]}, [0, 1])
        assert NaiveBayes.from_classifier(classifier).settings == settings
        assert classifier.to_sklearn().text is None

    @pytest.mark.parametrize("model", [NaiveBayes.textbook(), Classifier(Settings.textbook())])
    def test_a_change_that_fails_changes_nothing(self, model):
        model.fit({"x": ["a", "b"]}, [0, 1])
        before = model.settings
        for wrong in ({"smoothing": -1}, {"families": {"z": "categorical"}}):
            with pytest.raises((SettingError, SchemaError)):
                model.change_settings(**wrong)
            assert model.settings == before
        assert model.change_settings(smoothing=0).settings == before.changed(smoothing=0)
        assert model.predict_proba({"x": ["a"]}).tolist() == [[1.0, 0.0]]
