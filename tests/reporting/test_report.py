"""What a report says, and what it does not hold."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest

from priory import Classifier, NaiveBayes, TextNB, load, report
from priory.base.errors import InputError, PrioryWarning, SettingError
from priory.examples import house_votes, play_tennis
from priory.reporting.page_data import page_data
from priory.reporting.reports import LIMIT, learned_figures

from ..export.test_export_json import columns_of


def data_of(found):
    """Return the data that the page computes with."""
    return json.loads(re.search(r'id="priory-data">(.*?)</script>', found.html)[1])


def test_the_rows_that_were_learned_are_known_by_their_counts():
    X, y = columns_of(n=300)
    model = NaiveBayes.textbook().fit(X, y)
    assert "exact leave-one-out" in report(model, X, y).html
    some = {name: values[:200] for name, values in X.items()}
    assert "held-out" in report(model, some, y[:200]).html
    assert "exact leave-one-out" in report(model, some, y[:200], learned=True).html
    other = NaiveBayes().fit(X, y)
    told = report(other, X, y)
    accuracy = learned_figures(other.classifier_).accuracy
    assert f"right in {100 * accuracy:.1f}\u00a0%" in told.html and "cross-fitted" in told.html


def test_sections():
    X, y = columns_of(n=300)
    html = NaiveBayes().fit(X, y).report(X, y).html
    for title in "How good it is", "What it goes by", "Try it", "Examples", "What was read":
        assert f">{title}" in html
    for name in X:
        assert f">{name}<" in html


def test_without_rows_it_tells_of_the_sample(tmp_path):
    X, y = columns_of(n=300)
    model = NaiveBayes().fit(X, y)
    assert "cross-fitted" in model.report().html
    model.save(tmp_path / "plain.priory")
    told = load(tmp_path / "plain.priory").report().html
    assert "How good it is was not measured" in told


def test_no_row_is_in_it_unless_asked_for():
    rng = np.random.default_rng(0)
    n = 300
    names = [f"secret {i}" for i in range(n)]
    X = {"name": names, "x": rng.normal(size=n).round(6), "text": [f"a note on {i}" for i in names]}
    X["kind"] = rng.choice(["a", "b"], n)
    y = rng.choice(["no", "yes"], n)
    with pytest.warns(PrioryWarning, match="'name'"):
        model = NaiveBayes(families={"x": "gaussian"}, text=[]).fit(X, y)
    html = model.report(X, y).html
    assert not re.search(r"secret \d", html)  # the words of texts are parameters, texts are not
    assert sum(f"{x:.6f}" in html for x in X["x"]) <= 3  # the median is one of them
    assert "It holds no row of the data" in html
    asked = model.report(X, y, rows=[7]).html
    assert f"{X['x'][7]:g}" in asked and "row 7" in asked
    assert "It holds the rows of the examples" in asked


def test_it_is_small():
    X, y = house_votes()
    assert len(report(NaiveBayes().fit(X, y), X, y).html.encode()) < 400_000
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(60_000)])
    texts = [" ".join(rng.choice(words, 60)) for _ in range(2000)]
    found = report(TextNB().fit(texts, rng.integers(0, 4, 2000)))
    assert len(found.html.encode()) < 400_000
    assert re.search(r"This page holds [\d,]+ of the model’s [\d,]+ words", found.html)
    assert len(data_of(found)["model"]["factors"][0]["parameters"]["words"]) > 1000


def test_words_that_are_left_out_change_answers_little():
    rng = np.random.default_rng(1)
    words = np.array([f"w{i}" for i in range(3000)])
    y = rng.integers(0, 2, 500)
    texts = [" ".join(rng.choice(words[k * 500 : k * 500 + 2500], 40)) for k in y]
    from priory.reporting.page_model import page_model

    from ..export.scorer import FAMILIES

    for readout in "multinomial", "bernoulli", "complement":
        model = TextNB(readout, 1.0, weights=None).fit(texts, y)
        whole, some = (page_model(model.classifier_, ["text"], most) for most in (None, 2000))
        both = []
        for data in (whole, some):
            factor = data["factors"][0]
            p = {k: _spelled(v) for k, v in factor["parameters"].items()}
            bias = np.array(factor.get("bias", [0.0, 0.0]))
            scores = [FAMILIES["words"](p, k, [texts[0]], [0, 1]) for k in (0, 1)]
            both.append(np.subtract(*(np.array(scores) + bias)))
        assert both[0] == pytest.approx(both[1], abs=1.5)


def _spelled(value):
    if isinstance(value, dict) and "distinct" in value:
        return [[row[i] for i in value["at"]] for row in value["distinct"]]
    return value


def test_what_a_browser_cannot_split_is_said():
    model = TextNB(analyzer="email").fit(
        ["Subject: a\n\nhello you"] * 3 + ["b c d"] * 3, [0, 1] * 3
    )
    html = report(model).html
    assert "A browser cannot split the texts" in html
    assert "priory-data" not in html.replace('getElementById("priory-data")', "")


def test_classifiers_have_reports_too():
    X, y = play_tennis()
    found = Classifier().fit(X, y).report(X, y)
    assert "cross-fitted" in found.html
    assert repr(found).startswith("<Report, ")
    assert found._repr_html_().startswith('<iframe srcdoc="&lt;!doctype html&gt;')


def test_bad_arguments():
    X, y = play_tennis()
    model = NaiveBayes.textbook().fit(X, y)
    with pytest.raises(SettingError, match="X and y, or neither"):
        report(model, X)
    with pytest.raises(SettingError, match="rows asks for rows of X"):
        report(model, rows=[1])
    for rows in [14], [-1], [True], ["a"]:
        with pytest.raises(InputError, match="rows must be numbers of rows from 0 to 13"):
            report(model, X, y, rows=rows)
    with pytest.raises(SettingError, match="must be one of priory's"):
        report("model", X, y)
    with pytest.raises(InputError, match="tells classes apart"):
        report(NaiveBayes.textbook().fit({"x": ["a"]}, ["b"]))


@pytest.fixture(scope="module")
def votes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("votes")
    priory("train", "src/priory/examples/house_votes.csv", "-t", "party", "-o", folder / "v.priory")
    return folder


def priory(*words):
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-m", "priory", *map(str, words)],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return done


def test_the_shell(votes):
    data = "src/priory/examples/house_votes.csv"
    out = votes / "r.html"
    done = priory("report", votes / "v.priory", data, "-o", out, "--row", "3", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["figures"]["how"] == "cross-fitted" and told["bytes"] == out.stat().st_size
    assert "row 3" in out.read_text("utf-8")
    where = ["--where", "crime = 'y'"]
    done = priory("report", votes / "v.priory", data, "-o", out, "--title", "A <b> title", *where)
    assert done.returncode == 0, done.stderr
    html = out.read_text("utf-8")
    assert "A &lt;b&gt; title" in html and "on the given rows" in html
    assert "saved to" in done.stderr
    done = priory("report", votes / "v.priory", "--row", "1", "-o", out)
    assert done.returncode == 2 and "--row asks for rows of the data" in done.stderr
    done = priory("report", votes / "v.priory", data, "--row", "999", "-o", out)
    assert done.returncode == 1 and "There is no row 999" in done.stderr


def test_the_limit_is_kept_by_leaving_the_form_out():
    X, y = play_tennis()
    from priory.reporting.content import Content

    content = Content(NaiveBayes.textbook().fit(X, y).classifier_, None, None, ())
    assert page_data(content, LIMIT).remark is None
    assert "too large for a page" in page_data(content, 100).remark


def test_bands_are_those_of_the_shapes():
    """The band of few rows reaches further on one side than on the other."""
    X = {"a": ["x"] * 4 + ["y"] * 30 + ["z"] * 30, "b": [0.5] * 64}
    y = ["p"] * 4 + ["p", "q"] * 30
    model = NaiveBayes.textbook().fit(X, y)
    shape = model.shapes()["a"]
    html = model.report(X, y).html
    card = html[html.index('<svg class="chart" role="img" aria-label="a: log-odds of q"') :]
    card = card[: card.index("</svg>")]
    scale = re.findall(r'x="([\d.]+)" y="[\d.]+" text-anchor="middle">([−+]?[\d.]+)<', card)
    places, levels = np.array([(float(x), float(v.replace("−", "-"))) for x, v in scale]).T
    slope, start = np.polyfit(places, levels, 1)
    drawn = re.findall(r'<line class="whisker" x1="([\d.]+)" x2="([\d.]+)"', card)
    for i, ends in list(enumerate(drawn))[1:]:  # the band of x goes beyond the picture
        low, high = slope * np.array(ends, dtype=float) + start
        assert low == pytest.approx(shape.low[i, 1], abs=0.02)
        assert high == pytest.approx(shape.high[i, 1], abs=0.02)
