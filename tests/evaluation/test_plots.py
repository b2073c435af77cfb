"""Pictures are drawn, with every part that they should have."""

import sys

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

from priory import compare
from priory.base.errors import SettingError
from priory.evaluation import Evaluation

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
    curves = {1: 0, 2: 2, 3: 5, 7: 9}.get(k, 4)  # the mean, the points; of many the three lowest
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


def scored(n=400, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    scores = 1 / (1 + np.exp(-(1.2 * (2 * truth - 1) + rng.normal(0, 1.5, n))))
    return Evaluation(truth, scores, [0, 1])


def points(axes):
    """Return the points that are marked: the small ones with their thresholds, and the large."""
    marks = [line for line in axes.lines if line.get_marker() == "o" and len(line.get_xdata())]
    small = [m for m in marks if m.get_markersize() < 6]
    large = [m for m in marks if m.get_markersize() > 6]
    at = [(float(m.get_xdata()[0]), float(m.get_ydata()[0])) for m in small]
    written = {t.xy: t.get_text() for t in axes.texts}
    assert set(written) == set(at)
    return written, [(m.get_label(), *m.get_xdata(), *m.get_ydata()) for m in large]


def test_thresholds_along_a_curve():
    e = scored()
    axes = e.roc().plot()
    written, chosen = points(axes)
    assert 4 <= len(written) <= 6
    assert not chosen
    for (false, true), text in written.items():
        told = e.at(float(text))  # the text is rounded, so the rates are near
        assert told.false_positive_rate()[1] == pytest.approx(false, abs=0.03)
        assert told.recall()[1] == pytest.approx(true, abs=0.03)
    axes.figure.canvas.draw()
    renderer = axes.figure.canvas.get_renderer()
    boxes = [text.get_window_extent(renderer) for text in axes.texts]
    for i, one in enumerate(boxes):
        assert axes.get_window_extent(renderer).x1 >= one.x1
        assert not any(one.overlaps(other) for other in boxes[i + 1 :])


def test_the_chosen_threshold():
    e = scored()
    found = e.threshold(recall=0.9)
    written, chosen = points(e.roc().plot(threshold=found))
    label = f"threshold {found.threshold:.2g}"
    assert chosen == [(label, found.false_positive_rate, found.recall)]
    assert all(abs(x - chosen[0][1]) > 0.1 or abs(y - chosen[0][2]) > 0.1 for x, y in written)
    for one, words in ((e, "P ≥ 0.5"), (e.at(found), f"P ≥ {found.threshold:.2g}")):
        _, chosen = points(axes_of(one.plot())["ROC"])
        rates = one.false_positive_rate()[1], one.recall()[1]
        assert chosen == [(f"as predicted, {words}", *rates)]
    other = Evaluation(e.labels, e.probabilities, [0, 1], predictions=e.labels)  # by no threshold
    assert points(axes_of(other.plot())["ROC"])[1] == [("as predicted", 0.0, 1.0)]
    with pytest.raises(SettingError, match=r"the result of Evaluation.threshold, not 0.5"):
        e.roc().plot(threshold=0.5)
    with pytest.raises(SettingError, match="threshold is of the class 1, but the curve is of 0"):
        e.roc(0).plot(threshold=found)


def test_thresholds_of_a_model_that_is_too_sure():
    scores = [1 - 1e-12, 1 - 1e-9, 1e-5, 1e-9, 1e-12, 1 - 1e-7]
    e = Evaluation([1, 1, 1, 0, 0, 0], scores, [0, 1])
    written, _ = points(e.roc().plot())
    assert "1−1e-09" in written.values()


@pytest.mark.parametrize("k", [2, 3])
def test_comparison(k):
    e = many(k)
    other = e._with(probabilities=np.full((500, k), 1 / k))
    places = axes_of(compare(e, other, ("good", "bad"), n_resamples=20).plot())
    assert set(places) == {"ROC of class 1" if k == 2 else "ROC", "reliability"}
    for place in places.values():
        assert [text.get_text()[:3] for text in place.get_legend().get_texts()] == ["goo", "bad"]


def test_comparison_without_curves():
    from priory.base.errors import InputError

    e = Evaluation(["a", "a"], [0.2, 0.3], ["a", "b"])
    with pytest.raises(InputError, match="There is no ROC curve to plot: all rows are of one"):
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
    with pytest.raises(ImportError, match=r"Plots need matplotlib: pip install 'priory\[plot\]'"):
        many(2).plot()
