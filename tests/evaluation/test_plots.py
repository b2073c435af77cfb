"""Pictures are drawn, with every part that they should have."""

import sys

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

from priory import Evaluation, compare

from .test_rendering import many

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def axes_of(figure):
    figure.canvas.draw()
    return {place.get_title().split(",")[0]: place for place in figure.axes}


@pytest.mark.parametrize("k", [1, 2, 3, 7, 8, 20, 60])
def test_evaluation(k):
    e = Evaluation(["a", "a"], [[1.0], [1.0]], ["a"]) if k == 1 else many(k)
    places = axes_of(e.plot())
    assert set(places) == {"confusion matrix", "ROC", "reliability"}
    labels = [text.get_text() for text in places["confusion matrix"].get_yticklabels()]
    assert labels[0] == str(e.classes[0])
    assert len(labels) == (30 if k == 60 else k)
    numbers = [text.get_text() for text in places["confusion matrix"].texts]
    assert (str(e.confusion_matrix[0, 0]) in numbers) == (k <= 25)
    legend = places["ROC"].get_legend()
    curves = {1: 0, 2: 1, 3: 4, 7: 8}.get(k, 4)  # with the mean; of many the three lowest
    assert (len(legend.get_texts()) if legend else 0) == curves


@pytest.mark.parametrize("k", [2, 3, 20])
def test_nothing_overlaps(k):
    names = [f"a rather long name {i}" for i in range(k)]
    figure = many(k, names=names).plot()
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    boxes = [place.get_tightbbox(renderer) for place in figure.axes]
    for i, one in enumerate(boxes):
        assert one.x0 >= 0
        assert one.y0 >= 0
        assert one.x1 <= figure.bbox.x1
        assert one.y1 <= figure.bbox.y1
        for other in boxes[i + 1 :]:
            apart = (
                one.x1 <= other.x0 or other.x1 <= one.x0 or one.y1 <= other.y0 or other.y1 <= one.y0
            )
            assert apart, (one, other)


def test_predictions_alone_have_one_picture():
    figure = Evaluation.of_predictions(list("aab"), list("abb"), sample_weight=[0.5, 1, 1]).plot()
    assert set(axes_of(figure)) == {"confusion matrix"}


def test_odd_evaluations():
    rows = [[0.8, 0.2, 0], [0.4, 0.6, 0], [0.3, 0.7, 0]]
    for weights in (None, [0.25, 1, 0]):
        places = axes_of(Evaluation(["a", "a", "_b"], rows, ["a", "_b", "$x_$"], weights).plot())
        names = places["confusion matrix"].get_yticklabels()
        assert names[2].get_text() == r"\$x_\$"  # a dollar, and no mathematics
    axes_of(Evaluation(["_a", "_b"], [0.2, 0.3], ["_a", "_b"], how="$").plot())
    assert plt.gcf().axes[1].get_legend().get_texts()[0].get_text().startswith(" _b")
    axes_of(Evaluation(["a", "a"], [0.2, 0.3], ["a", "b"]).plot())  # no ROC to draw


@pytest.mark.parametrize("k", [2, 3])
def test_comparison(k):
    e = many(k)
    other = e._with(probabilities=np.full((500, k), 1 / k))
    places = axes_of(compare(e, other, ("good", "bad"), n_resamples=20).plot())
    assert set(places) == {"ROC of class 1" if k == 2 else "ROC", "reliability"}
    for place in places.values():
        assert [text.get_text()[:3] for text in place.get_legend().get_texts()] == ["goo", "bad"]


def test_comparison_without_curves():
    from priory.errors import InputError

    e = Evaluation(["a", "a"], [0.2, 0.3], ["a", "b"])
    with pytest.raises(InputError, match="There is no ROC curve to draw: all rows are of one"):
        compare(e, e, n_resamples=20).plot()


def test_curves_draw_on_axes_that_are_given():
    e = many(2)
    _, axes = plt.subplots()
    for curve in (e.roc(), e.precision_recall(), e.gain()):
        assert curve.plot(axes) is axes
        assert curve.plot() is not axes
        assert len(axes.get_legend().get_texts()) >= 1


def test_names_are_no_mathematics():
    axes = Evaluation([r"$x_$", "b"], [0.2, 0.7], [r"$x_$", "b"]).roc("$x_$").plot()
    axes.figure.canvas.draw()


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(
        ImportError, match=r"Pictures need matplotlib: pip install 'priory\[plot\]'"
    ):
        many(2).plot()
