"""The model: class priors, evidence, impossible rows, sampling, the linear form."""

import warnings

import numpy as np
import pytest
from scipy.special import logsumexp

from priory import Classifier, Settings
from priory.base.errors import ImpossibleEvidenceWarning, InputError, NotLinearError, SettingError
from priory.families import Bernoulli
from priory.families.priors import Laplace
from priory.model import Model
from priory.model.model import Choice
from priory.tuning.choices import choices_for

X = {
    "word": ["red", "blue", "red", "green", "red"],
    "number": [1.0, 2.5, 3.0, 4.0, 0.5],
    "truth": [True, False, True, True, False],
    "other": [3.0, 1.0, 2.0, None, 2.5],
}
Y = ["a", "b", "a", "c", "b"]


def prior(class_prior, X=X, y=Y, **settings):
    classifier = Classifier(Settings.textbook(class_prior=class_prior, **settings)).update(X, y)
    return np.exp(classifier.model.log_prior)


class TestClassPrior:
    def test_none_is_the_share_of_the_rows(self):
        np.testing.assert_allclose(prior(None), [0.4, 0.4, 0.2])

    def test_none_counts_weights(self):
        classifier = Classifier(Settings.textbook()).update(X, Y, [1, 2, 1, 5, 1])
        np.testing.assert_allclose(np.exp(classifier.model.log_prior), [0.2, 0.3, 0.5])

    def test_uniform(self):
        np.testing.assert_allclose(prior("uniform"), [1 / 3] * 3)

    def test_uniform_leaves_out_classes_that_were_only_declared(self):
        classifier = (
            Classifier(Settings.textbook(class_prior="uniform")).update(X, Y).declare(["d"])
        )
        np.testing.assert_allclose(np.exp(classifier.model.log_prior), [1 / 3] * 3 + [0])

    def test_words(self):
        counts = np.array([[3.0, 1, 0, 0], [1, 1, 1, 1], [0, 0, 0, 2]])
        found = prior("words", counts, ["a", "b", "a"], families="multinomial")
        np.testing.assert_allclose(found, [6 / 10, 4 / 10])

    def test_given_in_the_order_of_the_classes(self):
        np.testing.assert_allclose(prior([0.5, 0.2, 0.3]), [0.5, 0.2, 0.3])

    def test_given_by_name(self):
        np.testing.assert_allclose(prior({"c": 0.3, "a": 0.5, "b": 0.2}), [0.5, 0.2, 0.3])

    def test_given_by_the_text_of_a_class(self):
        found = prior({"2": 0.3, "true": 0.7}, {"x": [1.0, 2.0]}, [2, True])
        np.testing.assert_allclose(found, [0.7, 0.3])
        found = prior({"1": 0.3, 1: 0.7}, {"x": [1.0, 2.0]}, [1, "1"])
        np.testing.assert_allclose(found, [0.7, 0.3])
        with pytest.raises(SettingError, match="must name every class: it names '1', 1, the"):
            prior({"1": 0.3, 1: 0.7}, {"x": [1.0, 2.0]}, [1, 2])

    def test_zero_rules_a_class_out(self):
        classifier = Classifier(Settings.textbook(class_prior=[0.0, 0.5, 0.5])).update(X, Y)
        assert (classifier.predict_proba(X)[:, 0] == 0.0).all()

    def test_one_and_true_and_its_string_are_three_classes(self):
        found = prior([0.2, 0.3, 0.5], {"x": [1.0, 2.0, 3.0, 4.0]}, [1, "1", True, 1])
        np.testing.assert_allclose(found, [0.2, 0.3, 0.5])  # True, 1, "1"

    def test_by_name_one_is_not_true(self):
        with pytest.raises(SettingError, match=r"it names True, False, the classes are 0, 1"):
            prior({True: 0.5, False: 0.5}, {"x": [1.0, 2.0, 3.0, 4.0]}, [1, 0, 0, 1])

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ("flat", r"class_prior must be None, 'uniform', 'words' or .* not 'flat'"),
            (
                "words",
                r"class_prior='words' needs a column of text or a block of counts; there is none",
            ),
            ([0.5, 0.5], r"Number of priors must match number of classes: class_prior has 2"),
            ([0.5, 0.6, -0.1], r"Priors must be non-negative: class_prior is \[0.5, 0.6, -0.1\]"),
            ([0.5, 0.5, np.nan], r"Priors must be non-negative"),
            ([0.5, 0.5, 0.5], r"The sum of the priors should be 1: class_prior adds to 1.5"),
            (["x", "y", "z"], r"class_prior must be numbers, not \['x', 'y', 'z'\]"),
            ({"a": 1.0}, r"class_prior must name every class: it names 'a', the classes are 'a', "),
            ({"a": 0.5, "b": 0.5, "d": 0.0}, r"class_prior must name every class"),
        ],
    )
    def test_refused(self, wrong, message):
        with pytest.raises(SettingError, match=message):
            prior(wrong)


class TestAnswers:
    @pytest.fixture
    def classifier(self):
        return Classifier(Settings.textbook()).update(X, Y)

    def test_joint_is_prior_plus_factors(self, classifier):
        model, frame = classifier.model, classifier.frame(X)
        total = np.repeat(model.log_prior[None, :], 5, axis=0)
        for term in model.terms:
            term.add_log_likelihood(frame, total)
        np.testing.assert_allclose(classifier.predict_joint_log_proba(X), total, rtol=1e-15)
        assert [term.title for term in model.terms] == list(X)

    def test_posterior_and_evidence(self, classifier):
        scores = classifier.predict_joint_log_proba(X)
        evidence = logsumexp(scores, axis=1)
        np.testing.assert_allclose(classifier.score_samples(X), evidence, rtol=1e-13)
        posterior = classifier.predict_log_proba(X)
        np.testing.assert_allclose(posterior, scores - evidence[:, None], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(classifier.predict_proba(X), np.exp(posterior), rtol=1e-14)
        np.testing.assert_allclose(classifier.predict_proba(X).sum(axis=1), 1.0, rtol=1e-14)
        best = posterior.argmax(axis=1).tolist()
        assert classifier.predict(X).tolist() == [classifier.classes[k] for k in best]

    def test_tie_goes_to_the_first(self):
        classifier = Classifier(Settings.textbook()).update({"x": ["u", "u"]}, ["b", "a"])
        assert classifier.predict({"x": "u"}).tolist() == ["a"]

    def test_one_row_is_a_batch_of_one(self, classifier):
        together = classifier.predict_proba(X)
        for i in range(5):
            row = {name: values[i] for name, values in X.items()}
            np.testing.assert_array_equal(classifier.predict_proba(row)[0], together[i])

    def test_nothing_known_gives_the_prior(self, classifier):
        row = dict.fromkeys(X)
        np.testing.assert_allclose(classifier.predict_proba(row)[0], [0.4, 0.4, 0.2], rtol=1e-14)
        assert classifier.score_samples(row)[0] == pytest.approx(0.0, abs=1e-14)

    def test_no_rows(self, classifier):
        nothing = {name: [] for name in X}
        assert classifier.predict_proba(nothing).shape == (0, 3)
        assert classifier.predict(nothing).shape == (0,)
        assert classifier.score_samples(nothing).shape == (0,)

    def test_blocks_without_a_choice_are_left_out(self, classifier):
        choices = choices_for(classifier.settings, classifier.statistics)
        model = Model.read(classifier.statistics, {"word": choices["word"]})
        assert [term.title for term in model.terms] == ["word"]

    def test_no_columns_at_all_gives_the_prior(self):
        classifier = Classifier(Settings.textbook()).update(
            {"x": [None, None, None]}, ["a", "b", "a"]
        )
        np.testing.assert_allclose(classifier.predict_proba({"x": ["u"]}), [[2 / 3, 1 / 3]])


class TestImpossible:
    @staticmethod
    def fit():
        table = {"u": ["p", "q", "p"], "v": ["s", "t", "s"], "w": ["z", "z", "z"]}
        return Classifier(Settings.textbook(smoothing=0)).update(table, ["a", "b", "a"])

    def test_one_warning_counts_rows_and_names_columns(self):
        table = {"u": ["p", "q", "p"], "v": ["t", "s", "s"], "w": ["z"] * 3}
        with pytest.warns(ImpossibleEvidenceWarning) as caught:
            posterior = self.fit().predict_proba(table)
        assert len(caught) == 1
        text = str(caught[0].message)
        assert text.startswith(
            "2 rows are impossible under every class, because of column 'u', 'v';"
        )
        assert "'w'" not in text
        np.testing.assert_allclose(posterior, [[2 / 3, 1 / 3], [2 / 3, 1 / 3], [1, 0]])

    def test_one_row(self):
        with pytest.warns(ImpossibleEvidenceWarning, match=r"^1 row is impossible"):
            assert self.fit().predict({"u": "p", "v": "t", "w": "z"}).tolist() == ["a"]

    def test_scores_say_so_without_a_warning(self):
        row = {"u": "p", "v": "t", "w": "z"}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert np.isneginf(self.fit().predict_joint_log_proba(row)).all()
            assert np.isneginf(self.fit().score_samples(row)).all()

    @pytest.mark.parametrize("wrong", [np.inf, -np.inf, 1e300])
    @pytest.mark.parametrize("families", ["gaussian", "student-t", {("x", "z"): "gaussian"}])
    def test_numbers_too_large_are_an_error(self, wrong, families):
        table = {"z": [1.0, 2.0, 3.0], "x": [1.0, 2.0, 4.0]}
        classifier = Classifier(Settings.textbook(families)).update(table, ["a", "b", "a"])
        with pytest.raises(InputError, match=r"Column 'x' holds .* at most 1e150 in size"):
            classifier.predict({"z": [1.0], "x": [wrong]})


class TestSample:
    @pytest.fixture
    def classifier(self):
        return Classifier(Settings.textbook(families={("number", "other"): "gaussian"})).update(
            X, Y
        )

    def test_shape_and_order(self, classifier):
        columns, y = classifier.sample(7, random_state=0)
        assert list(columns) == list(X)
        assert {name: len(values) for name, values in columns.items()} == dict.fromkeys(X, 7)
        assert set(y) <= {"a", "b", "c"}
        assert set(columns["word"]) <= {"red", "blue", "green"}
        assert columns["truth"].dtype == bool

    def test_values_go_to_their_own_columns(self):
        table = np.array([[1.0, 100.0, -50.0], [1.1, 101.0, -51.0], [1.2, 102.0, -52.0]])
        classifier = Classifier(Settings.textbook(families={("x0", "x2"): "gaussian"})).update(
            table, [0, 0, 1]
        )
        columns, _ = classifier.sample(50, random_state=0)
        means = [columns[name].mean() for name in ("x0", "x1", "x2")]
        np.testing.assert_allclose(means, [1.1, 101, -51], atol=1)

    def test_seeded(self, classifier):
        one, other = classifier.sample(20, random_state=3), classifier.sample(20, random_state=3)
        assert one[1].tolist() == other[1].tolist()
        for name in X:
            assert one[0][name].tolist() == other[0][name].tolist()
        third = classifier.sample(20, random_state=4)
        assert third[0]["number"].tolist() != one[0]["number"].tolist()

    def test_one_class(self, classifier):
        columns, y = classifier.sample(30, y="c", random_state=0)
        assert set(y) == {"c"}
        assert len(columns["word"]) == 30

    @pytest.mark.parametrize("make", [list, np.array, tuple])
    def test_class_of_each_row(self, classifier, make):
        wanted = ["c", "a", "b", "a"]
        assert classifier.sample(4, y=make(wanted), random_state=0)[1].tolist() == wanted

    def test_frequencies_follow_the_class_prior(self, classifier):
        y = classifier.sample(20_000, random_state=0)[1]
        np.testing.assert_allclose([(y == k).mean() for k in "abc"], [0.4, 0.4, 0.2], atol=0.02)

    def test_gaps_are_drawn_where_they_speak(self):
        table = {"x": ["u", None, None, "v"] * 5, "n": [1.0, 2.0, None, 4.0] * 5}
        settings = Settings.textbook(smoothing=0, missing="category")
        classifier = Classifier(settings).update(table, ["a", "a", "a", "b"] * 5)
        columns, y = classifier.sample(20_000, random_state=0)
        gone = np.array([value is None for value in columns["x"]])
        assert gone[y == "a"].mean() == pytest.approx(2 / 3, abs=0.02)
        assert not gone[y == "b"].any()
        assert np.isnan(columns["n"][y == "a"]).mean() == pytest.approx(1 / 3, abs=0.02)

    def test_left_out_columns_are_gaps(self):
        table = {"empty": [None] * 4, "x": [1.0, 2.0, 3.0, 4.0]}
        columns, _ = (
            Classifier(Settings.textbook()).update(table, ["a", "b"] * 2).sample(3, random_state=0)
        )
        assert np.isnan(columns["empty"]).all()

    def test_no_rows(self, classifier):
        columns, y = classifier.sample(0)
        assert [len(values) for values in columns.values()] == [0, 0, 0, 0]
        assert len(y) == 0

    @pytest.mark.parametrize("wrong", [-1, 2.5, True, "3"])
    def test_wrong_number(self, classifier, wrong):
        with pytest.raises(SettingError, match=r"n must be a whole number of at least 0, not"):
            classifier.sample(wrong)

    def test_unknown_class(self, classifier):
        with pytest.raises(InputError, match=r"Class 'd' is not known. Classes: 'a', 'b', 'c'"):
            classifier.sample(3, y="d")

    def test_wrong_number_of_classes(self, classifier):
        with pytest.raises(InputError, match=r"y must be one class or one for each of the 3 rows"):
            classifier.sample(3, y=["a", "b"])


class TestLinearForm:
    def test_mixed_columns_are_one_sum(self):
        table = {name: X[name] for name in ("word", "truth", "number")}
        y = ["a", "b", "a", "b", "b"]
        settings = Settings.textbook(families={"number": "gaussian-shared"})
        classifier = Classifier(settings).update(table, y)
        form = classifier.linear_form()
        assert form.features == ("word=blue", "word=green", "word=red", "truth", "number")
        words = [[w == v for v in ("blue", "green", "red")] for w in X["word"]]
        features = np.column_stack([words, X["truth"], X["number"]]).astype(float)
        scores = classifier.predict_joint_log_proba(table)
        np.testing.assert_allclose(
            features @ form.w + form.b, scores[:, 1] - scores[:, 0], rtol=0, atol=1e-10
        )
        logistic = 1 / (1 + np.exp(-(features @ form.w + form.b)))
        np.testing.assert_allclose(classifier.predict_proba(table)[:, 1], logistic, rtol=1e-10)

    def test_more_classes_have_a_column_each(self):
        classifier = Classifier(Settings.textbook()).update({"truth": X["truth"]}, Y)
        form = classifier.linear_form()
        assert form.weights.shape == (1, 3)
        scores = np.array([[1.0], [0.0]]) @ form.weights + form.bias
        expected = classifier.predict_joint_log_proba({"truth": [True, False]})
        np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-12)
        with pytest.raises(NotLinearError, match=r"w and b are for two classes; there are 3"):
            _ = form.w
        with pytest.raises(NotLinearError, match=r"Use weights and bias"):
            _ = form.b

    def test_zero_probability_has_no_weight(self):
        classifier = Classifier(Settings.textbook(smoothing=0)).update({"word": X["word"]}, Y)
        with pytest.raises(
            NotLinearError, match=r"a weight would be infinite. .* smoothing above 0"
        ):
            classifier.linear_form()

    def test_gaps_have_a_feature_of_their_own(self):
        table, y = {"x": [True, None, False, True, None]}, ["a", "b", "a", "b", "b"]
        form = Classifier(Settings.textbook(missing="category")).update(table, y).linear_form()
        assert form.features == ("x", "x is missing")


def test_errors_of_a_family_name_the_column():
    statistics = Classifier(Settings.textbook()).update({"x": [0.0, 1.5]}, ["a", "b"]).statistics
    with pytest.raises(InputError, match=r"Column 'x': bernoulli takes booleans .* not 1.5"):
        Model.read(statistics, {"x": Choice(Bernoulli(), Laplace(1.0))})
