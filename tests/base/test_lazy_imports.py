"""Importing priory, and predicting with it, stays light."""

import subprocess
import sys

import pytest

import priory

USE = """
import priory
classifier = priory.Classifier(priory.Settings.textbook()).update(
    {"word": ["u", "v", None], "number": [1.0, 2.0, 3.0], "truth": [True, False, None]}, [0, 1, 1]
)
classifier.predict_proba({"word": ["u"], "number": [None], "truth": [True]})
classifier.forget({"word": ["v"], "number": [2.0], "truth": [False]}, [1])
print(classifier.explain({"word": "u", "number": 1.5, "truth": True}))
"""


def modules_after(code):
    """Return the names of the modules that are loaded after some code in a fresh Python."""
    code += "\nimport sys\nprint('\\n'.join(m.partition('.')[0] for m in sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    return set(result.stdout.split())


def test_import_is_light():
    loaded = modules_after("import priory")
    assert "priory" in loaded
    assert not loaded & {"sklearn", "pandas", "duckdb", "scipy", "pyarrow", "polars", "numpy"}


def test_classifier_needs_numpy_alone():
    loaded = modules_after(USE)
    assert "numpy" in loaded
    assert not loaded & {"sklearn", "pandas", "duckdb", "scipy", "polars", "pyarrow"}


def test_evaluation_brings_nothing_before_it_is_asked():
    code = (
        "import priory.evaluation; e = priory.evaluation.Evaluation([0, 1], [0.2, 0.7], [0, 1]); "
        "e.accuracy, e.brier"
    )
    heavy = {"sklearn", "pandas", "duckdb", "scipy", "polars", "pyarrow", "matplotlib"}
    assert not modules_after(code) & heavy
    assert {"sklearn", "scipy"} <= modules_after(code + "; e.auc; priory.compare(e, e)")


def test_estimator_brings_scikit_learn():
    assert "sklearn" in modules_after("import priory; priory.NaiveBayes")


@pytest.mark.parametrize("name", priory.__all__)
def test_every_public_name_is_there(name):
    assert getattr(priory, name).__name__ == name
    assert name in dir(priory)


def test_unknown_name():
    with pytest.raises(AttributeError, match=r"module 'priory' has no attribute 'NaiveBaies'"):
        _ = priory.NaiveBaies
