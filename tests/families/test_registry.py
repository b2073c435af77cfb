"""A family of three methods works everywhere; every list of families follows from the registry."""

import re
from dataclasses import dataclass, make_dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy import stats

from priory import NaiveBayes, Settings, leave_one_out, load
from priory.base.errors import (
    ModelFileError,
    NoLikelihoodError,
    NoPosteriorError,
    NotLinearError,
    PrioryError,
    SettingError,
)
from priory.data.schema import Kind
from priory.export import to_json
from priory.families import (
    Family,
    Gaussian,
    Words,
    as_family,
    class_names,
    families_for,
    family_class,
    family_names,
    register,
    registry,
)
from priory.families.base import log_shares
from priory.families.protocols import as_conjugate, as_linear, as_parametric
from priory.tuning.choices import choices_for


@dataclass(frozen=True)
class Geometric(Family):
    """Give P(x | k) = p_k (1 − p_k)^x."""

    name: ClassVar[str] = "geometric"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.NUMBERS,)

    def parameters(self, table, prior):
        counts = np.stack([table.moments.s1.value[:, 0], table.moments.weight[:, 0]])
        return log_shares(counts, prior.pseudo_counts([False, True], counts.sum(axis=1))[:, None])

    def log_likelihood(self, column, parameters):
        x = column.values[:, :1]
        return np.where(np.isnan(x), 0.0, parameters[1] + x * parameters[0])

    def sample(self, parameters, y, rng):
        return rng.geometric(np.exp(parameters[1])[y]) - 1.0


@pytest.fixture(autouse=True)
def geometric(monkeypatch):
    monkeypatch.setattr(registry, "FAMILIES", dict(registry.FAMILIES))
    register(Geometric)


@pytest.fixture
def data():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 60)
    x = rng.geometric(np.array([0.7, 0.3, 0.1])[y]) - 1.0
    x[::9] = np.nan
    return {"x": x}, np.array(["a", "b", "c"])[y]


def textbook(smoothing=1.0):
    return NaiveBayes.textbook(smoothing, families={"x": "geometric"})


def test_it_is_scored_as_scipy_does(data):
    X, y = data
    model = textbook(0.5).fit(X, y)
    seen = ~np.isnan(X["x"])
    at = np.array([0.0, 3.0, 20.0])
    expected = np.stack(
        [
            np.log((y == k).mean())
            + stats.geom.logpmf(at + 1, (n + 0.5) / (n + X["x"][seen & (y == k)].sum() + 1.0))
            for k in "abc"
            for n in [(seen & (y == k)).sum()]
        ],
        axis=1,
    )
    np.testing.assert_allclose(model.predict_joint_log_proba({"x": at}), expected, rtol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_left_out_by_brute_force(data, weighted):
    X, y = data
    weight = np.resize([1.0, 2.0, 0.5], len(y)) if weighted else None
    left = leave_one_out(textbook().fit(X, y, weight), X, y, weight)
    for i in range(0, len(y), 7):
        others = np.arange(len(y)) != i
        given = None if weight is None else weight[others]
        rest = textbook().fit({"x": X["x"][others]}, y[others], given)
        expected = rest.predict_proba({"x": X["x"][[i]]})[0]
        np.testing.assert_allclose(left.probabilities[i], expected, rtol=1e-9)


def test_it_is_tuned_explained_drawn_merged_and_forgotten(data):
    X, y = data
    model = NaiveBayes({"x": "geometric"}).fit(X, y)
    assert (model.predict({"x": [0.0, 40.0]}) == ["a", "c"]).all()
    shown = str(model.explain({"x": [2.0, None]}))
    assert "P(x = 2 | class)" in shown and "missing" in shown
    drawn, classes = textbook().fit(X, y).sample(2000, random_state=0)
    values = np.asarray(drawn["x"], dtype=float)
    assert values[classes == "c"].mean() > 3 * values[classes == "a"].mean()
    halves = [textbook().fit({"x": X["x"][some]}, y[some]) for some in (slice(30), slice(30, None))]
    both = halves[0].merge(halves[1])
    np.testing.assert_array_equal(both.predict_proba(X), textbook().fit(X, y).predict_proba(X))
    both.forget({"x": X["x"][30:]}, y[30:])
    alone = textbook().fit({"x": X["x"][:30]}, y[:30])
    np.testing.assert_allclose(both.predict_proba(X), alone.predict_proba(X), rtol=1e-12)
    assert "geometric has no table of parameters" in set(both.classifier_.tables()["parameter"])


@pytest.mark.parametrize("family", ["geometric", Geometric()], ids=str)
@pytest.mark.parametrize("weights", [None, "auto"])
def test_it_is_saved_and_loaded_where_it_is_registered(
    data, tmp_path, monkeypatch, family, weights
):
    X, y = data
    model = NaiveBayes({"x": family}, weights=weights).fit(X, y)
    model.save(tmp_path / "m.priory")
    again = load(tmp_path / "m.priory")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    without = {name: home for name, home in registry.FAMILIES.items() if name != "Geometric"}
    monkeypatch.setattr(registry, "FAMILIES", without)
    with pytest.raises(ModelFileError, match=r"(?i)'geometric'.*priory\.families\.register"):
        load(tmp_path / "m.priory")


def test_a_family_that_is_not_registered_is_not_saved(data, tmp_path, monkeypatch):
    X, y = data
    model = NaiveBayes.textbook(families={"x": Geometric()}).fit(X, y)
    monkeypatch.delitem(registry.FAMILIES, "Geometric")
    with pytest.raises(SettingError, match=r"cannot be saved.*priory\.families\.register"):
        model.save(tmp_path / "m.priory")


def test_what_it_cannot_do_is_refused_with_those_that_can(data):
    X, y = data
    model = textbook().fit(X, y)
    with pytest.raises(NotLinearError, match=r"geometric, which is not linear.*gaussian-shared"):
        model.linear_form()
    with pytest.raises(
        NoPosteriorError, match=r"geometric has no conjugate prior.*binomial.*joint"
    ):
        model.posterior("x")
    with pytest.raises(NoPosteriorError, match=r"'x': geometric has no conjugate prior"):
        model.classifier_.log_evidence()
    with pytest.raises(NoLikelihoodError, match=r"geometric does not count its parameters"):
        model.classifier_.description_length()
    with pytest.raises(SettingError, match=r"'x' is modelled by geometric, which has no JSON form"):
        to_json(model.classifier_)


@pytest.mark.parametrize("take", [as_linear, as_conjugate, lambda f, _: as_parametric(f)])
def test_the_lists_follow_from_the_protocols(take):
    able, message = set(), ""
    for name in family_names():
        try:
            take(as_family(name), "x")
            able.add(name)
        except PrioryError as error:
            message = str(error)
    told = re.sub(r"^.*(Linear are|Conjugate are|length\.) | have one\.$|\.$", "", message)
    assert set(re.split(", | and ", told)) == able | {"binomial"}


def test_options_decide_what_a_family_can_do():
    assert as_linear(Gaussian(shared=True), "x") and as_conjugate(Words(), "x")
    with pytest.raises(NotLinearError):
        as_linear(Gaussian(), "x")
    with pytest.raises(NoPosteriorError):
        as_conjugate(Words("bernoulli"), "x")


def test_families_by_kind():
    assert "geometric" in families_for(Kind.NUMBERS)
    assert families_for(Kind.SCATTER) == ["multivariate-gaussian"]
    for kind in Kind:
        for name in families_for(kind):
            assert kind in as_family(name).kinds


def test_a_column_of_another_kind_is_refused_with_the_families_for_it():
    labels = NaiveBayes.textbook().fit({"x": ["a", "b"]}, [0, 1])
    with pytest.raises(
        SettingError, match=r"geometric does not model.*Families for labels: 'categorical'"
    ):
        choices_for(Settings.textbook(families={"x": "geometric"}), labels.statistics_)


def test_a_name_is_given_once():
    def named(cls, name, *options, kinds=(Kind.NUMBERS,)):
        made = make_dataclass(cls, options, bases=(Geometric,), frozen=True)
        made.name, made.kinds = name, kinds
        return made

    register(named("Geometric", "geometric"))  # the same again, as a notebook has it
    with pytest.raises(SettingError, match="'gaussian', cannot be registered: Gaussian has"):
        register(named("Normal", "gaussian"))
    with pytest.raises(SettingError, match="Gaussian has this name already"):
        register(named("Gaussian", "normal"))
    with pytest.raises(SettingError, match="Pure must name the kinds of column"):
        register(named("Pure", "pure", kinds=()))
    with pytest.raises(SettingError, match="a frozen dataclass that inherits Family"):
        register(int)
    shifted = register(named("Shifted", "shifted", ("by", int)))
    assert "shifted" not in family_names() and family_class("Shifted") is shifted
    with pytest.raises(SettingError, match=r"There is no family 'shifted'"):
        Settings(families="shifted")


def test_every_class_of_the_registry_can_be_imported_by_its_name():
    import priory.families

    for name in class_names():
        assert getattr(priory.families, name) is family_class(name)
    with pytest.raises(AttributeError, match="no attribute 'Magic'"):
        _ = priory.families.Magic
