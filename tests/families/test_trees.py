"""TAN, AODE and edges against dictionaries and loops, written from the formulas alone."""

from collections import Counter
from itertools import product
from math import log

import numpy as np
import pandas as pd
import pytest

from priory import BeliefNetwork, Classifier, NaiveBayes, Settings
from priory.base.errors import NotLinearError, SettingError
from priory.data.pairing import Pairing
from priory.families import Aode, Conditional
from priory.families.priors import MEstimate
from priory.tuning.choices import prior_of

CLASSES = ("a", "b", "c")


@pytest.fixture
def data():
    """Return labels that depend on each other given the class, numbers among them, and gaps."""
    rng = np.random.default_rng(5)
    n = 400
    y = rng.integers(0, 3, n)
    size = rng.integers(0, 4, n)
    frame = pd.DataFrame(
        {
            "colour": np.array(["red", "green", "blue"])[(size + y * rng.integers(0, 2, n)) % 3],
            "size": np.array(list("smlx"))[size],
            "weight": size + rng.normal(size=n) + y,
            "wet": (size + y + (rng.random(n) < 0.2)) % 2 == 0,
            "noise": rng.choice(["u", "v"], n),
        }
    )
    for column in frame:
        frame[column] = frame[column].astype(object).where(rng.random(n) > 0.1, None)
    frame["weight"] = frame["weight"].astype(float)
    return frame, np.array(CLASSES)[y]


def plain(structure, smoothing, **more):
    return NaiveBayes("plain", smoothing, None, missing="skip", structure=structure, **more)


def coded(frame, block):
    """Return rows as tuples of labels and bins, None for a gap."""
    columns = []
    for name, ends in zip(block.columns, block.pairing.edges, strict=True):
        values = frame[name].tolist()
        if ends is not None:
            cuts = ends[1:-1]
            values = [None if x != x else sum(x > cut for cut in cuts) for x in values]
        columns.append(values)
    return list(zip(*columns, strict=True))


class Reference:
    """Count rows one by one, and estimate P(v | k) and P(v | u, k) from the counts."""

    def __init__(self, rows, y, smoothing):
        self.n, self.smoothing = Counter(), smoothing
        d = len(rows[0])
        for row, k in zip(rows, y, strict=True):
            for j in range(d):
                if row[j] is not None:
                    self.n[j, row[j], k] += 1
                    self.n[j, k] += 1
                    self.n[j, row[j]] += 1
                    self.n[j, None] += 1
                    for i in range(d):
                        if i != j and row[i] is not None:
                            self.n[i, row[i], j, row[j], k] += 1
                            self.n[i, row[i], j, k] += 1
        self.domain = [{row[j] for row in rows} - {None} for j in range(d)]

    def alone(self, j, v, k):
        V = len(self.domain[j])
        if isinstance(self.smoothing, MEstimate):
            m, p = self.smoothing.m, (self.n[j, v] + 1) / (self.n[j, None] + V)
            return (self.n[j, v, k] + m * p) / (self.n[j, k] + m)
        return (self.n[j, v, k] + self.smoothing) / (self.n[j, k] + self.smoothing * V)

    def given(self, j, v, i, u, k):
        if u is None or u not in self.domain[i]:
            return self.alone(j, v, k)
        both, parent = self.n[i, u, j, v, k], self.n[i, u, j, k]
        if isinstance(self.smoothing, MEstimate):
            m = self.smoothing.m
            return (both + m * self.alone(j, v, k)) / (parent + m)
        return (both + self.smoothing) / (parent + self.smoothing * len(self.domain[j]))

    def knows(self, j, v):
        return v is not None and v in self.domain[j]


SMOOTHING = [1.0, 0.25, MEstimate(2.0, "marginal")]


@pytest.mark.parametrize("smoothing", SMOOTHING, ids=repr)
def test_tan_is_the_sum_of_its_branches(data, smoothing):
    frame, y = data
    model = plain("tan", smoothing).fit(frame, y)
    branches = [b for b in model.statistics_.schema if b.pairing is not None]
    assert {len(b.columns) for b in branches} == {2}
    assert len(branches) >= 3, "the columns depend on each other"
    terms = {t.block.name: t for t in model.model_.terms}
    children = {b.columns[1] for b in branches}
    assert terms.keys() == {b.name for b in branches} | (set(frame.columns) - children)
    new = unseen(frame)
    for table in (frame, new):
        found = model.predict_joint_log_proba(table) - model.model_.log_prior
        expected = np.zeros((len(table), 3))
        read = model.classifier_.frame(table)
        for name in set(frame.columns) - children:
            terms[name].add_log_likelihood(read, expected)
        for block in branches:
            reference = Reference(coded(frame, block), y, smoothing)
            for r, (u, v) in enumerate(coded(table, block)):
                for k, label in enumerate(CLASSES):
                    if reference.knows(1, v):
                        expected[r, k] += log(reference.given(1, v, 0, u, label))
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def given_parents(rows, y, smoothing, row, k):
    """Return P(v | the parents' values that are known, k), counted row by row."""
    reference = Reference(rows, y, smoothing)
    *parents, v = row
    last = len(parents)
    whole = [(r, label) for r, label in zip(rows, y, strict=True) if None not in r]
    known = [u if reference.knows(j, u) else None for j, u in enumerate(parents)]
    p = reference.alone(last, v, k)
    for i in range(1, last + 1):
        if known[i - 1] is None:
            continue
        here = [
            r
            for r, label in whole
            if label == k and all(u is None or r[j] == u for j, u in enumerate(known[:i]))
        ]
        n = sum(r[-1] == v for r in here)
        if isinstance(smoothing, MEstimate):
            p = (n + smoothing.m * p) / (len(here) + smoothing.m)
        else:
            p = (n + smoothing) / (len(here) + smoothing * len(reference.domain[last]))
    return p


GRAPH = [("size", "colour"), ("weight", "colour"), ("wet", "weight"), ("noise", "weight")]


@pytest.mark.parametrize("smoothing", SMOOTHING, ids=repr)
def test_several_parents_are_a_product_of_tables(data, smoothing):
    frame, y = data
    model = plain(GRAPH, smoothing).fit(frame, y)
    blocks = [b for b in model.statistics_.schema if b.pairing is not None]
    assert [b.columns for b in blocks] == [
        ("wet", "noise", "weight"),
        ("size", "weight", "colour"),
    ], "parents come before their children"
    terms = {t.block.name: t for t in model.model_.terms}
    assert terms.keys() == {*(b.name for b in blocks), "size", "wet", "noise"}
    for table in (frame[:80], unseen(frame)):
        found = model.predict_joint_log_proba(table) - model.model_.log_prior
        expected = np.zeros((len(table), 3))
        read = model.classifier_.frame(table)
        for name in ("size", "wet", "noise"):
            terms[name].add_log_likelihood(read, expected)
        for block in blocks:
            rows = coded(frame, block)
            values = {r[-1] for r in rows} - {None}
            for r, row in enumerate(coded(table, block)):
                if row[-1] in values:
                    expected[r] += [log(given_parents(rows, y, smoothing, row, k)) for k in CLASSES]
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_edges_of_whole_rows_are_a_belief_network(data):
    """With Laplace's smoothing and no gaps both are the product of the same tables."""
    frame, y = data
    rows = frame.drop(columns="weight").dropna()
    y = y[rows.index]
    edges = [("size", "colour"), ("wet", "colour"), ("size", "wet"), ("noise", "wet")]
    model = plain(edges, 0.5).fit(rows, y)
    smoothing = {**dict.fromkeys(rows.columns, 0.5), "class": 0.0}
    network = BeliefNetwork(
        [*(("class", name) for name in rows), *edges], smoothing=smoothing
    ).update(rows.assign(**{"class": y}))
    np.testing.assert_allclose(
        model.predict_proba(rows), network.predict_proba(rows, "class"), rtol=1e-10
    )
    np.testing.assert_allclose(model.score_samples(rows), network.score_samples(rows), rtol=1e-10)


@pytest.mark.parametrize("smoothing", SMOOTHING, ids=repr)
def test_aode_is_the_average_over_the_parents(data, smoothing):
    frame, y = data
    model = plain("aode", smoothing).fit(frame, y)
    (block,) = [b for b in model.statistics_.schema if b.pairing is not None]
    assert block.columns == tuple(frame.columns)
    rows = coded(frame, block)
    reference = Reference(rows, y, smoothing)
    new = unseen(frame)
    for table in (frame, new):
        found = model.predict_joint_log_proba(table) - model.model_.log_prior
        expected = np.zeros((len(table), 3))
        for r, row in enumerate(coded(table, block)):
            known = [j for j, v in enumerate(row) if reference.knows(j, v)]
            for k, label in enumerate(CLASSES):
                terms = []
                for i in known:
                    p = reference.alone(i, row[i], label)
                    for j in known:
                        if j != i:
                            p *= reference.given(j, row[j], i, row[i], label)
                    terms.append(p)
                expected[r, k] = log(sum(terms) / len(terms)) if terms else 0.0
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_rare_value_is_no_parent(data):
    frame, y = data
    classifier = Classifier(Settings.textbook(structure="aode")).update(frame, y)
    (block,) = [b for b in classifier.statistics.schema if b.pairing is not None]
    table, column = classifier.statistics.tables[block.name], classifier.frame(frame)[block.name]
    prior = prior_of(classifier.settings, block, Aode())
    naive, often = Aode(least=1e9), Aode()
    scores = naive.log_likelihood(column, naive.parameters(table, prior))
    reference = Reference(coded(frame, block), y, 1.0)
    expected = [
        [
            sum(log(reference.alone(j, v, k)) for j, v in enumerate(row) if v is not None)
            for k in CLASSES
        ]
        for row in coded(frame, block)
    ]
    np.testing.assert_allclose(scores, expected, rtol=1e-12)
    assert not np.allclose(scores, often.log_likelihood(column, often.parameters(table, prior)))


def test_probabilities_of_a_branch_add_up_to_one(data):
    frame, y = data
    edges = [*GRAPH, ("wet", "size")]
    settings = [Settings.textbook(structure=how) for how in ("tan", edges)]
    trees = [Classifier(how).update(frame, y) for how in settings]
    for term in (term for tree in trees for term in tree.model.terms):
        if isinstance(term.family, Conditional):
            p = term.parameters
            for u in range(-1, p.n_contexts):
                every = np.arange(len(p.children))
                alone, given = p.shares(np.full(len(every), u), every)
                np.testing.assert_allclose(alone.sum(axis=0), 1.0)
                np.testing.assert_allclose(given.sum(axis=0), 1.0)


def test_the_evidence_of_labels_adds_up_to_one(data):
    frame, y = data
    frame = frame.drop(columns=["weight"])
    every = pd.DataFrame(
        list(product(*(frame[c].dropna().unique() for c in frame))), columns=frame.columns
    )
    edges = [("size", "colour"), ("wet", "colour"), ("noise", "wet")]
    for structure in ("tan", "aode", "joint", "hill-climb", edges):
        model = plain(structure, 1.0).fit(frame, y)
        assert np.exp(model.score_samples(every)).sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    "structure",
    ["tan", "aode", "joint", "hill-climb", [("noise", "wet"), ("size", "wet"), ("wet", "weight")]],
    ids=str,
)
def test_drawn_rows_have_the_dependence_of_those_learned(data, structure):
    frame, y = data
    model = plain(structure, 0.01).fit(frame, y)
    drawn, _ = model.sample(20_000, random_state=3)
    assert list(drawn.columns) == list(frame.columns)
    if structure != "hill-climb":  # which finds it no parents, so that it is a Gaussian
        assert drawn["weight"].between(frame["weight"].min(), frame["weight"].max()).all()
    told = pd.crosstab(frame["size"], frame["wet"], normalize="index").to_numpy(dtype=float)
    again = pd.crosstab(drawn["size"], drawn["wet"], normalize="index").to_numpy(dtype=float)
    assert np.abs(told - again).max() < (0.2 if structure == "aode" else 0.1)


def test_what_they_cannot_do_they_say(data):
    frame, y = data
    model = plain("tan", 1.0).fit(frame.drop(columns="weight"), y)
    with pytest.raises(NotLinearError, match="conditional, which is not linear"):
        model.model_.linear_form()
    with pytest.raises(SettingError, match="least must be"):
        Aode(least=-1)
    with pytest.raises(SettingError, match="m-estimate with p='uniform' or 'marginal'"):
        plain("tan", {"size": MEstimate(1.0, dict.fromkeys("smlx", 0.25))}).fit(frame, y)


def test_bins_are_shown_by_their_ends():
    pairing = Pairing("edge", ((0.0, 1.5, 3.0, 9.0), None), ((0, 1),))
    assert pairing.bins(0, np.array([-9.0, 1.5, 1.6, 3.1, np.nan])).tolist() == [0, 0, 1, 2, -1]
    shown = [pairing.shown(0, b) for b in range(3)]
    assert shown == ["in (-∞, 1.5]", "in (1.5, 3]", "in (3, ∞)"]
    assert pairing.shown(1, "red") == "= red"


def unseen(frame):
    """Return rows of other combinations, with a value that was never learned."""
    new = frame.sample(60, random_state=1).reset_index(drop=True)
    new["size"] = new["size"].sample(frac=1, random_state=2).to_numpy()
    new.loc[:5, "colour"] = "mauve"
    return new
