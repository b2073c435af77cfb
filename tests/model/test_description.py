"""Description length and evidence: against sums over rows, networks, prequential products."""

from math import log, log2

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln

from priory import BeliefNetwork, Classifier, Hypotheses, NaiveBayes, Settings, TextNB
from priory.base.errors import NoLikelihoodError, NoPosteriorError, SettingError
from priory.data.schema import Kind
from priory.families import Binomial, Gaussian, StudentT, families_for
from priory.families.priors import Laplace, NormalInverseGamma
from priory.statistics.information import bic


def labels(seed=0, n=120):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    table = {
        "a": np.array(list("pqr"))[np.where(rng.random(n) < 0.5, y, rng.integers(0, 3, n))],
        "b": rng.integers(0, 2, n).astype(bool),
    }
    return pd.DataFrame(table), np.array(["x", "y", "z"])[y]


def numbers(seed=0, n=90):
    """Return few whole numbers, so that every family of numbers can model them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return {"v": rng.binomial(9, 0.2 + 0.2 * y).astype(float)}, y


def log_joint_of_rows(model, X, y):
    """Return Σ log P(x, k) of the rows, worked out row by row."""
    posterior = model.predict_log_proba(X)
    own = posterior[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return float((model.score_samples(X) + own).sum())


ONE_COLUMN = families_for(Kind.NUMBERS)


class TestDescriptionLength:
    @pytest.mark.parametrize(
        "family", [*(f for f in ONE_COLUMN if f != "bernoulli"), Binomial(9), StudentT()]
    )
    def test_data_are_the_rows_of_every_family_of_numbers(self, family):
        X, y = numbers()
        model = NaiveBayes(family, smoothing=0.5, weights=None, missing="skip").fit(X, y)
        length = model.description_length(X, y)
        assert length.data == pytest.approx(-log_joint_of_rows(model, X, y) / log(2), rel=1e-9)
        assert length.hypothesis == pytest.approx(0.5 * log2(90) * length.parameters)
        assert length.total == length.hypothesis + length.data
        own = model.predict_proba(X)[np.arange(90), y]
        assert length.classes_given_rows == pytest.approx(-np.log2(own).sum())

    @pytest.mark.parametrize(
        "families", ["plain", {("a", "b"): "joint"}, {"b": "bernoulli"}, "categorical"]
    )
    @pytest.mark.parametrize("missing", ["skip", "category"])
    def test_data_are_the_rows_of_labels(self, families, missing):
        X, y = labels()
        if missing == "category":
            if isinstance(families, dict) and ("a", "b") in families:
                pytest.skip("gaps of a block of several columns do not speak")
            X = X.astype(object).mask(np.random.default_rng(1).random(X.shape) < 0.2, None)
        model = NaiveBayes(families, smoothing=1.0, weights=None, missing=missing).fit(X, y)
        expected = -log_joint_of_rows(model, X, y) / log(2)
        assert model.description_length().data == pytest.approx(expected, rel=1e-9)

    def test_several_columns_of_numbers(self):
        rng = np.random.default_rng(0)
        y = rng.integers(0, 2, 60)
        X = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 3)) + y[:, None]
        model = NaiveBayes("multivariate-gaussian", weights=None, missing="skip").fit(X, y)
        length = model.description_length()
        assert length.data == pytest.approx(-log_joint_of_rows(model, X, y) / log(2), rel=1e-9)
        assert length.parameters == 1 + 2 * 3 + 2 * 6

    @pytest.mark.parametrize("family", ["multinomial", "bernoulli"])
    def test_counts_and_words_are_told_in_their_order(self, family):
        texts = ["red sea red", "blue sea", "blue blue sky", "red", "sky"]
        y = np.array([0, 1, 1, 0, 1])
        model = TextNB(family, smoothing=1.0, weights=None).fit(texts, y)
        total = log_joint_of_rows(model, texts, y)
        if family == "multinomial":  # without the number of orders of the same words
            total -= sum(log(orders) for orders in (3, 2, 3, 1, 1))
        length = model.description_length()
        assert length.data == pytest.approx(-total / log(2), rel=1e-9)
        assert length.parameters == 1 + 2 * (4 if family == "bernoulli" else 3)
        counts = np.array([[2, 1, 0, 0], [0, 1, 1, 0], [0, 0, 2, 1], [1, 0, 0, 0], [0, 0, 0, 1]])
        of_counts = NaiveBayes(
            {("x0", "x1", "x2", "x3"): family}, smoothing=1.0, weights=None, missing="skip"
        ).fit(counts, y)
        assert of_counts.description_length().total == pytest.approx(length.total, rel=1e-9)

    @given(seed=st.integers(0, 1000))
    def test_without_smoothing_it_is_that_of_the_naive_network(self, seed):
        X, y = labels(seed)
        length = NaiveBayes.textbook(smoothing=0).fit(X, y).description_length()
        network = BeliefNetwork([("k", "a"), ("k", "b")]).update(X.assign(k=y))
        score = sum(bic(table, 120) for table in network._counts.tables.values())
        assert length.total == pytest.approx(-score / log(2), rel=1e-9)

    def test_more_parameters_must_earn_their_keep(self):
        rng = np.random.default_rng(0)
        y = rng.integers(0, 2, 300)
        independent = {"a": rng.choice(list("pqrst"), 300), "b": rng.choice(list("pqrst"), 300)}
        naive, joint = (
            NaiveBayes(f, smoothing=1.0, weights=None, missing="skip")
            .fit(independent, y)
            .description_length()
            for f in ("plain", {("a", "b"): "joint"})
        )
        assert joint.parameters > naive.parameters
        assert joint.total > naive.total

    def test_given_priors_cost_nothing(self):
        X, y = labels()
        model = NaiveBayes.textbook().fit(X, y)
        free = model.description_length().parts[0]
        assert (free.title, free.parameters) == ("the classes", 2)
        model.change_settings(class_prior="uniform")
        told = model.description_length().parts[0]
        assert told.parameters == 0
        assert told.length.data == pytest.approx(120 * log2(3))

    def test_print_and_plain_values(self):
        X, y = labels()
        length = NaiveBayes.textbook().fit(X, y).description_length(X, y)
        lines = str(length).splitlines()
        assert lines[0].split() == ["bits", "parameters", "L(h)", "L(D", "|", "h)", "total"]
        assert lines[1].startswith("the classes")
        assert lines[4].startswith("total")
        assert "the classes given the rows" in lines[-1]
        found = length.to_dict()
        assert found["total"] == pytest.approx(
            sum(p["hypothesis"] + p["data"] for p in found["parts"])
        )

    def test_tuned_models_have_one_too(self):
        X, y = numbers(n=300)
        model = NaiveBayes().fit(X, y)
        assert np.isfinite(model.description_length(X, y).total)

    def test_refused(self):
        counts = [[2, 0], [0, 3], [1, 1]]
        model = NaiveBayes({("x0", "x1"): "complement"}).fit(counts, [0, 1, 1])
        with pytest.raises(NoLikelihoodError, match="complement gives no probability of the data"):
            model.description_length()
        texts = TextNB("complement").fit(["red sea", "blue sky"], [0, 1])
        message = "complement words gives no probability of the data"
        with pytest.raises(NoLikelihoodError, match=message):
            texts.description_length()
        with pytest.raises(SettingError, match="takes rows and their classes, or neither"):
            model.description_length(counts)


class TestEvidence:
    @given(seed=st.integers(0, 1000), alpha=st.sampled_from([0.5, 1.0, 2.0]))
    def test_of_labels_is_that_of_the_naive_network(self, seed, alpha):
        X, y = labels(seed)
        classifier = Classifier(Settings.textbook(families="categorical", smoothing=alpha)).update(
            X, y
        )
        network = BeliefNetwork([("k", "a"), ("k", "b")], smoothing=alpha).update(X.assign(k=y))
        alone = BeliefNetwork(nodes=["k"], smoothing=alpha).update(X.assign(k=y))
        expected = network.log_evidence() - alone.log_evidence()
        assert classifier.log_evidence() == pytest.approx(expected, rel=1e-10)

    @pytest.mark.parametrize(
        ("family", "prior"),
        [
            ("student-t", NormalInverseGamma(mean=1.0, kappa=2.0, alpha=1.5, beta=3.0)),
            (Binomial(9), Laplace(0.7)),
            ("categorical", Laplace(0.7)),
        ],
    )
    def test_is_the_product_of_predictions_before_each_row(self, family, prior):
        """A predictive density is that of the next row: their product is the evidence."""
        X, y = numbers(n=25)
        if family == "categorical":
            from priory.families import Categorical

            family = Categorical(values=tuple(range(10)))
        whole = Classifier(
            Settings.textbook(families={"v": family}, smoothing={"v": prior})
        ).update(X, y)
        total = 0.0
        for i in range(25):
            own = y[:i] == y[i]
            seen = Classifier(Settings.textbook(families={"v": family}, smoothing={"v": prior}))
            if not own.any():
                # The prior alone speaks of the first row of a class.
                one = Classifier(Settings.textbook(families={"v": family}, smoothing={"v": prior}))
                total += one.update({"v": X["v"][i : i + 1]}, [0]).log_evidence()
                continue
            seen.update({"v": X["v"][:i][own]}, np.zeros(int(own.sum()), dtype=int))
            total += self.next_row(seen, X["v"][i], family)
        assert whole.log_evidence() == pytest.approx(total, rel=1e-9)

    @staticmethod
    def next_row(classifier, x, family):
        if not isinstance(family, Binomial):
            return float(classifier.score_samples({"v": [x]})[0])
        # The predictive of a binomial with a Beta prior is the beta-binomial.
        a, b = classifier.posterior("v").counts[0][::-1]
        t = family.trials

        def beta(p, q):
            return gammaln(p) + gammaln(q) - gammaln(p + q)

        choose = gammaln(t + 1) - gammaln(x + 1) - gammaln(t - x + 1)
        return float(choose + beta(a + x, b + t - x) - beta(a, b))

    def test_of_a_gaussian_is_that_of_its_student_t(self):
        X, y = numbers()
        prior = NormalInverseGamma()
        found = [
            Classifier(Settings.textbook(families={"v": family}, smoothing={"v": prior}))
            .update(X, y)
            .log_evidence()
            for family in (Gaussian(), StudentT())
        ]
        assert found[0] == pytest.approx(found[1])

    def test_of_a_poisson(self):
        """Against the negative binomial, which is the predictive of Gamma and Poisson."""
        from scipy.stats import nbinom

        x = np.array([2.0, 0.0, 5.0, 1.0])
        whole = Classifier(Settings.textbook(families="poisson", smoothing=2.0)).update(
            {"v": x}, [0] * 4
        )
        shape, rate = 2.0 * x.mean(), 2.0
        total = 0.0
        for value in x:
            total += nbinom.logpmf(value, shape, rate / (rate + 1))
            shape, rate = shape + value, rate + 1
        assert whole.log_evidence() == pytest.approx(total)

    def test_of_every_conjugate_family_and_no_other(self):
        X, y = numbers()
        for name in ONE_COLUMN:
            if name == "bernoulli":
                continue
            prior = NormalInverseGamma() if name.startswith("gaussian") else 1.0
            classifier = Classifier(Settings.textbook(families={"v": name}, smoothing={"v": prior}))
            if name in ("student-t", "log-normal", "rank-normal"):
                classifier = Classifier(Settings.textbook(families={"v": name}))
            classifier.update(X, y)
            if name in ("kernel-density", "gaussian-shared"):
                with pytest.raises(NoPosteriorError, match=r"Column 'v': .* no conjugate prior"):
                    classifier.log_evidence()
            else:
                assert np.isfinite(classifier.log_evidence())

    def test_of_words_and_counts(self):
        texts, y = ["red sea red", "blue sea", "blue blue sky", "red", "sky"], [0, 1, 1, 0, 1]
        words = TextNB("multinomial", smoothing=0.5, weights=None).fit(texts, y)
        counts = np.array([[2, 1, 0, 0], [0, 1, 1, 0], [0, 0, 2, 1], [1, 0, 0, 0], [0, 0, 0, 1]])
        of_counts = NaiveBayes(
            {("x0", "x1", "x2", "x3"): "multinomial"}, smoothing=0.5, weights=None, missing="skip"
        ).fit(counts, y)
        assert words.log_evidence() == pytest.approx(of_counts.log_evidence())

    def test_of_gaps_and_joint_tables(self):
        X, y = labels()
        joint = NaiveBayes({("a", "b"): "joint"}, smoothing=1.0, weights=None, missing="skip")
        pairs = {"ab": [f"{a}{b}" for a, b in zip(X["a"], X["b"], strict=True)]}
        one = NaiveBayes("categorical", smoothing=1.0, weights=None, missing="skip").fit(pairs, y)
        assert joint.fit(X, y).log_evidence() == pytest.approx(one.log_evidence())
        gappy = X.assign(a=X["a"].where(np.arange(120) % 3 > 0, None))
        kept = {"smoothing": 1.0, "weights": None}
        silent = NaiveBayes("plain", missing="skip", **kept).fit(gappy, y).log_evidence()
        spoken = NaiveBayes("plain", missing={"a": "category"}, **kept).fit(gappy, y)
        there = NaiveBayes("plain", missing="skip", **kept).fit({"t": gappy["a"].isna()}, y)
        assert spoken.log_evidence() == pytest.approx(silent + there.log_evidence())

    def test_needs_a_prior(self):
        X, y = labels()
        with pytest.raises(SettingError, match="Column 'a': The evidence needs a prior with"):
            NaiveBayes.textbook(smoothing=0).fit(X, y).log_evidence()
        with pytest.raises(SettingError, match="Column 'v': gaussian has no prior here"):
            NaiveBayes.textbook(families="gaussian").fit(*numbers()).log_evidence()

    def test_hypotheses_still_take_classifiers_that_learn(self):
        X, y = labels(n=30)
        rivals = {"one": NaiveBayes.textbook(), "other": NaiveBayes.textbook(0.1)}
        for model in rivals.values():
            model.fit(X, y)
        after = Hypotheses(rivals, learning=True).update(X.head(5), y[:5])
        assert set(after.posterior) == {"one", "other"}
