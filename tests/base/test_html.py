"""In a notebook results are tables whose every word is escaped, and figures are shown once."""

import json
import warnings
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from priory import Classifier, JointTable, NaiveBayes, Settings, TextNB, compare, evaluate
from priory.base.html import html_table, shown_once
from priory.evaluation import Evaluation, LearningCurve

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "examples" / "first_steps.ipynb"
TAGS = {"div", "p", "span", "strong", "table", "caption", "thead", "tbody", "tr", "th", "td"}
EVIL = "<script>alert('&')</script>"


class Tags(HTMLParser):
    """Collect the tags and the text of some HTML."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text, self.open = set(), "", []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def shown():
    """Return every kind of object that a notebook shows, with markup in all its names."""
    X = {EVIL: [EVIL, "b", "b", EVIL], "n": [1, 2, 3, 5], "t": ["yes", "no", "no", "yes"]}
    y = [EVIL, "k", "k", EVIL]
    classifier = Classifier(Settings.textbook({"n": "poisson"})).update(X, y)
    normal = Classifier(Settings.textbook()).update({EVIL: [1.0, 2.0, 3.0, 5.0]}, y)
    text = TextNB(analyzer=str.split, readout="multinomial", smoothing=1.0, weights=None)
    text.fit([f"{EVIL} a", "b c", "c d", EVIL], y)
    e = evaluate(classifier, X, y)
    ones = np.ones((1, 2, 3))
    return {
        "Classifier": classifier,
        "empty Classifier": Classifier(),
        "Schema": classifier.schema,
        "Statistics": classifier.statistics,
        "Explanation": classifier.explain(X),
        "RowExplanation": text.explain([f"{EVIL} z"])[0],
        "unknown words": text.explain([f"{EVIL}{EVIL} a"]),
        "TopFeatures": text.top_features(3),
        "LinearForm": classifier.linear_form(),
        "Dirichlet": classifier.posterior(EVIL),
        "Gamma": classifier.posterior("n"),
        "Normal": normal.posterior(EVIL),
        "description": classifier.description_length(),
        "Evaluation": e,
        "Roc": e.roc(EVIL),
        "PrecisionRecall": e.precision_recall(EVIL),
        "Gain": e.gain(EVIL),
        "Threshold": e.threshold(recall=0.9, positive=EVIL),
        "Reliability": e.reliability(),
        "ConfusionTable": e.confusion_table,
        "Comparison": compare(e, e, names=(EVIL, "b")),
        "JointTable": JointTable({(EVIL, 1): 0.5, ("b", 0): 0.5}, variables=[EVIL, "n"]),
        "LearningCurve": LearningCurve((EVIL,), np.array([5, 9]), ones / 4, ones, 30),
    }


@pytest.fixture(scope="module")
def objects():
    return shown()


@pytest.mark.parametrize("name", list(shown()))
def test_html_is_escaped_and_whole(objects, name):
    html = objects[name]._repr_html_()
    found = Tags(html)
    assert not found.open
    assert found.tags <= TAGS
    assert ("table" in found.tags) == (name != "empty Classifier")
    nameless = ("empty Classifier", "Reliability")
    assert ("<script>" in found.text) == (name not in nameless), html


@pytest.mark.parametrize("name", list(shown()))
def test_reprs_are_short(objects, name):
    assert len(repr(objects[name])) < 600
    assert "array(" not in repr(objects[name])


def test_html_has_what_the_text_has(objects):
    worked = objects["Explanation"][0]
    cells = Tags(worked._repr_html_()).text
    for word in str(worked).split():
        assert word.replace("×", "") in cells


def test_many_rows_are_cut_off():
    X = {"x": ["a", "b"] * 30}
    html = Classifier(Settings.textbook()).update(X, [0, 1] * 30).explain(X)._repr_html_()
    assert html.count("<table>") == 20
    assert "(40 more rows are not shown)" in html


def test_estimators_keep_the_picture_of_scikit_learn():
    model = NaiveBayes.textbook().fit({"x": ["a", "b"]}, [0, 1])
    assert "sk-container" in model._repr_html_()
    assert repr(model).startswith("NaiveBayes(")


def test_linear_forms_print_what_weighs_most():
    X = {"x": [f"v{i}" for i in range(30)] * 2}
    form = Classifier(Settings.textbook({"x": "categorical"})).update(X, [0, 1] * 30).linear_form()
    assert str(form).splitlines()[0].split() == ["0", "1"]
    assert str(form).splitlines()[1].split()[0] == "bias"
    assert str(form).endswith("(10 more features are not shown)")


def test_columns_of_words_begin_at_the_left():
    html = html_table(["a", "b", "c"], [["x", 1, "y"]], words=(0, 2))
    assert html.count('style="text-align: left"') == 4


def test_a_figure_stays_open_outside_of_a_notebook():
    plt = pytest.importorskip("matplotlib.pyplot")
    figure = Evaluation.of_predictions(["a", "b"], ["a", "a"]).plot()
    assert plt.fignum_exists(figure.number)
    plt.close(figure)


def test_a_figure_is_closed_where_the_notebook_would_show_it_twice(monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.setattr(plt, "get_backend", lambda: "module://matplotlib_inline.backend_inline")
    figure = plt.figure()
    assert shown_once(figure) is figure
    assert not plt.fignum_exists(figure.number)


def test_the_notebook_has_no_outputs():
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    assert all(not c["outputs"] and c["execution_count"] is None for c in cells if "outputs" in c)


def test_the_notebook_runs_in_a_kernel():
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Jupyter's own code
        notebook = nbformat.read(NOTEBOOK, as_version=4)
        there = {"metadata": {"path": str(ROOT)}}
        nbclient.NotebookClient(notebook, timeout=300, resources=there).execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in code:
        kinds = [set(output.get("data", ())) for output in cell.outputs]
        assert len(kinds) == 1, cell.source
        assert "image/png" in kinds[0] if ".plot(" in cell.source else "text/html" in kinds[0]
    assert sum(".plot(" in cell.source for cell in code) == 1
