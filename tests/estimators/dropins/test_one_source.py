"""There is one source of every formula: the core, which knows nothing of the drop-ins."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import priory

SOURCE = Path(priory.__file__).parent
DROPINS = sorted((SOURCE / "estimators" / "dropins").glob("*.py"))

WITHOUT_DROPINS = """
import importlib, pkgutil, sys
sys.modules["priory.estimators.dropins"] = None
import priory
names = [m.name for m in pkgutil.walk_packages(priory.__path__, "priory.")]
for name in names:
    if not name.startswith("priory.estimators.dropins") and not name.endswith("__main__"):
        importlib.import_module(name)
table = {"x": ["a", "a", "b", "b"], "n": [1.0, 2.0, 8.0, 9.0]}
model = priory.NaiveBayes().fit(table, [0, 0, 1, 1])
assert model.predict({"x": ["b"], "n": [8.0]}).tolist() == [1]
print(len(names))
"""


def test_the_core_works_without_the_drop_ins():
    command = [sys.executable, "-W", "error", "-c", WITHOUT_DROPINS]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) > 40


def test_no_module_of_the_core_names_the_drop_ins():
    core = [p for p in SOURCE.rglob("*.py") if "dropins" not in p.parts and p.parent != SOURCE]
    core += list(SOURCE.glob("*.py"))
    core = [p for p in core if p.name != "__init__.py"]  # they list public names
    naming = [p.name for p in core if "dropins" in _imported(ast.parse(p.read_text("utf-8")))]
    assert len(core) > 30
    assert naming == []


def _imported(tree):
    """Return every part of every name that a module imports from."""
    parts = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            parts |= {part for alias in node.names for part in alias.name.split(".")}
        elif isinstance(node, ast.ImportFrom):
            parts |= set((node.module or "").split("."))
            parts |= {alias.name for alias in node.names}
    return parts


SHAPING = {
    "array", "array_equal", "asarray", "concatenate", "dtype", "float64", "isnan",
    "ma.is_masked", "maximum", "nan_to_num", "ones", "promote_types", "sort", "stack", "trunc",
    "where", "zeros",
}  # fmt: skip
"""What the drop-ins may ask of NumPy: to make, join and compare arrays."""

EXPONENTIALS = {("base.py", "predict_proba"), ("gaussian.py", "class_prior_")}
"""Where they may turn a log-probability into a probability."""


@pytest.mark.parametrize("path", DROPINS, ids=lambda p: p.name)
def test_drop_ins_have_no_mathematics_of_their_own(path):
    calls = list(_calls(ast.parse(path.read_text("utf-8"))))
    strange = {(where, what) for where, what in calls if what not in SHAPING | {"exp"}}
    assert strange == set()
    exponentials = {(path.name, where) for where, what in calls if what == "exp"}
    assert exponentials <= EXPONENTIALS


@pytest.mark.parametrize("path", DROPINS, ids=lambda p: p.name)
def test_drop_ins_do_not_divide_or_raise_to_powers(path):
    tree = ast.parse(path.read_text("utf-8"))
    operators = {type(n.op) for n in ast.walk(tree) if isinstance(n, ast.BinOp)}
    assert operators.isdisjoint({ast.Div, ast.Pow, ast.MatMult, ast.FloorDiv})
    assert _imported(tree).isdisjoint({"math", "scipy"})


def test_the_search_finds_mathematics():
    bad = "import numpy as np\ndef f(x):\n    return np.log(x) / np.exp(np.linalg.det(x))\n"
    assert set(_calls(ast.parse(bad))) == {("f", "log"), ("f", "exp"), ("f", "linalg.det")}


def _calls(tree):
    """Give the name of every function of NumPy that is called, with the function it is in."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func)
                if name.startswith("np."):
                    yield function.name, name.removeprefix("np.")
