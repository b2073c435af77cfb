"""The scripts of docs/scale.md count parts elsewhere, and give the model of all rows."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import priory
from priory import load

from .rows import mixed

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
SCRIPTS = dict(
    re.findall(r"^```py\n# (\w+):[^\n]*\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
)


@pytest.mark.parametrize("name", ["multiprocessing", "dask", "ray"])
def test_parts_counted_elsewhere_add_up(name, tmp_path):
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    rows = mixed(600).select(["colour", "count", "x", "rounded", "kind"]).to_pandas()
    rows = rows.dropna(subset=["kind"]).rename(columns={"kind": "y"})
    rows["colour"] = rows["colour"].str.strip()
    paths = []
    for k, part in enumerate(np.array_split(np.arange(len(rows)), 5)):
        paths.append(str(tmp_path / f"part{k}.csv"))
        rows.iloc[part].to_csv(paths[-1], index=False)
    (tmp_path / "parts.py").write_text(SCRIPTS["multiprocessing"])
    (tmp_path / "script.py").write_text(SCRIPTS[name])
    path = os.pathsep.join([str(ROOT / "src"), str(tmp_path)])
    done = subprocess.run(
        [sys.executable, "script.py", "model.priory", *paths],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path, "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    model = load(tmp_path / "model.priory")
    whole = priory.train(pd.concat(map(pd.read_csv, paths)), "y")
    assert model.statistics.rows.tolist() == whole.statistics.rows.tolist()
    new = rows.drop(columns="y").head(100)
    np.testing.assert_allclose(model.predict_proba(new), whole.predict_proba(new), atol=1e-9)
