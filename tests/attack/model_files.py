"""Model files of every kind, changed here and there and sealed again.

That is what one would do who wants to be believed. Each is refused with a reason, or is a model
whose probabilities are probabilities.
"""

import contextlib
import io
import json
import warnings
from copy import deepcopy
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from priory import Classifier, Settings, load
from priory.base.errors import ModelFileError, PrioryError
from priory.classifier import layout
from priory.classifier.classifier import load as load_classifier
from priory.statistics.longtable import COLUMNS, SUMS

NUMBERS = [
    0, 1, -1, 2, 0.5, 1e-300, 1e300, -1e300, 1e-320, 2**31, 2**53, 2**53 + 2, 2**62, 1e16, 7.25,
    float("inf"), float("nan"), -0.0,
]  # fmt: skip
VALUES = [
    None, True, False, 0, 1, -1, 10**6, 2**70, 0.5, -0.5, 1e308, "", "x", "null", "auto", "\x00",
    [], [[]], {}, {"list": []}, {"type": "Gaussian", "options": {}}, [1, "1", True], "y" * 100,
]  # fmt: skip


def rows(n=60):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, n)
    words = np.array(["free", "money", "see", "you", "tomorrow", "now"])
    number = np.where(rng.random(n) < 0.2, np.nan, rng.normal(y, 1.0))
    X = {
        "text": [" ".join(rng.choice(words, 6)) for _ in y],
        "number": number,
        "twice": rng.normal(size=n) + y,
        "label": [None if rng.random() < 0.1 else "ab"[k % 2] for k in y],
        "other": rng.choice(["p", "q", "r"], n).tolist(),
        "flag": (rng.random(n) < 0.3 + 0.2 * y).tolist(),
        "whole": rng.poisson(2 + y, n).tolist(),
    }
    return X, [f"c{k}" for k in y]


def models():
    """Make a model of each kind, by name."""
    X, y = rows()
    table = {name: values for name, values in X.items() if name != "text"}
    labels = {name: table[name] for name in ("label", "other", "flag", "whole")}
    numbers = {name: table[name] for name in ("number", "twice")}
    counts = {
        f"n{j}": (1 + np.random.default_rng(j).poisson(1.0, len(y))).tolist() for j in range(4)
    }
    weights = np.random.default_rng(0).random(len(y)) * 3
    textbook = Settings.textbook
    made = {
        "textbook": (textbook(), table, None),
        "tuned": (Settings(), table, None),
        "weighted": (textbook(), table, weights),
        "text": (textbook(text=["text"]), X, None),
        "tuned text": (Settings(text=["text"]), X, weights),
        "multivariate": (
            textbook(families={("number", "twice"): "multivariate-gaussian"}), numbers, None,
        ),
        "joint": (textbook(families={("label", "other"): "joint"}), labels, None),
        "counts": (textbook(families={tuple(counts): "multinomial"}), counts, None),
        "presence": (textbook(families={tuple(counts): "bernoulli"}), counts, None),
        "category": (textbook(missing="category"), table, None),
        "gaps": (Settings(missing="category"), table, weights),
        **{
            f"structure {how}": (textbook(structure=how), labels, None)
            for how in ("tan", "aode", "hill-climb", "joint")
        },
        **{
            family: (textbook(families=family), numbers, None)
            for family in ("student-t", "histogram", "kernel-density", "gaussian")
        },
        "poisson": (textbook(families={"whole": "poisson"}), {"whole": table["whole"]}, None),
    }  # fmt: skip
    return {name: (Classifier(s).update(X, y, w), X) for name, (s, X, w) in made.items()}


def mutated(rng, content):
    """Change a few places of the table, the header or the bytes, and seal it all again."""
    if rng.random() < 0.15:
        end = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
        changed = bytearray(content[: end - 24] + content[end:])
        for _ in range(rng.integers(1, 4)):
            changed[rng.integers(4, len(changed) - 4)] = rng.integers(256)
        return layout.sealed(bytes(changed))
    table = pq.read_table(io.BytesIO(content), read_dictionary=list(COLUMNS[:4]))
    header = json.loads(pq.read_metadata(io.BytesIO(content)).metadata[b"priory"])
    for _ in range(rng.integers(1, 4)):
        if rng.random() < 0.4:
            header = _other_header(rng, header)
        else:
            table = _other_table(rng, table)
    out = io.BytesIO()
    table = table.replace_schema_metadata(None)
    options = {"compression": "NONE", "store_schema": False, "write_statistics": False}
    with pq.ParquetWriter(out, table.schema, **options) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({b"priory": json.dumps(header).encode()})
    return layout.sealed(out.getvalue())


def _other_table(rng, table):
    columns = {name: table[name].to_pylist() for name in table.column_names}
    i, j = rng.integers(0, table.num_rows, 2) if table.num_rows else (0, 0)
    how = rng.integers(6)
    if not table.num_rows:
        return table
    if how == 0:  # a number becomes another
        name = rng.choice(["rows", *SUMS])
        value = NUMBERS[rng.integers(len(NUMBERS))]
        if name == "rows":
            value = int(np.clip(value, -(2**62), 2**62)) if np.isfinite(value) else -7
        columns[name][i] = value if name == "rows" else float(value)
    elif how == 1:  # a little more, or less
        name = rng.choice(["rows", *SUMS])
        scale = rng.choice([0.5, 0.999, 1.001, 2.0, -1.0, 1e6])
        columns[name][i] = type(columns[name][i])(columns[name][i] * scale)
    elif how == 2:  # a row goes, or comes twice
        for values in columns.values():
            values.append(values[i]) if rng.random() < 0.1 else values.pop(i)
    elif how == 3:  # a key, part, class or block becomes that of another row
        name = rng.choice(COLUMNS[:4])
        columns[name][i] = columns[name][j]
    elif how == 4:
        name = rng.choice(COLUMNS[:4])
        columns[name][i] = [None, "", "null", '"x"', "1e999", "[1]", "true"][rng.integers(7)]
    else:  # two rows change places in one column
        name = rng.choice(table.column_names)
        columns[name][i], columns[name][j] = columns[name][j], columns[name][i]
    shortest = min(map(len, columns.values()))
    arrays = [pa.array(columns[n][:shortest], table[n].type) for n in table.column_names]
    return pa.table(arrays, names=table.column_names)


def _other_header(rng, header):
    """Change one place of it, however deep."""
    at = header
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        if not keys:
            return header
        key = keys[rng.integers(len(keys))]
        if isinstance(at[key], dict | list) and at[key] and rng.random() < 0.85:
            at = at[key]
            continue
        how = rng.integers(4)
        if how == 0:
            del at[key]
        elif how == 1 and isinstance(at[key], int | float) and not isinstance(at[key], bool):
            at[key] = at[key] * float(rng.choice([-1, 0, 0.5, 2, 1e9]))
        elif how == 2 and isinstance(at, list):
            at.append(deepcopy(at[key]))
        else:
            at[key] = deepcopy(VALUES[rng.integers(len(VALUES))])
        return header


def check(path, X):
    """Load a file and ask it everything; return whether it was refused."""
    try:
        model = load(path)
    except ModelFileError:
        return True
    if not isinstance(model, Classifier):
        model = model.classifier_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            p = model.predict_proba(X)
        except PrioryError:
            return False
        assert not np.isnan(p).any(), "a probability is NaN"
        assert (p >= 0).all() and np.allclose(p.sum(axis=1), 1.0, atol=1e-6), "no probabilities"
        for ask in (lambda: str(model.explain(X)[0]), lambda: model.sample(3, random_state=0)):
            with contextlib.suppress(PrioryError):
                ask()
    return False


def run(rng, folder, enough):
    """Attack until it is enough; return what was done."""
    folder, refused, believed = Path(folder), 0, 0
    kinds = []
    for name, (model, X) in models().items():
        model.save(folder / f"{name}.priory")
        load_classifier(folder / f"{name}.priory")
        kinds.append((name, (folder / f"{name}.priory").read_bytes(), X))
    path = folder / "mutant.priory"
    while not enough(refused + believed):
        name, content, X = kinds[rng.integers(len(kinds))]
        path.write_bytes(mutated(rng, content))
        try:
            was_refused = check(path, X)
        except Exception as error:
            kept = Path(f"mutant-{name}-{refused + believed}.priory").absolute()
            kept.write_bytes(path.read_bytes())
            raise AssertionError(f"{name}: {error!r}; kept as {kept}") from error
        refused, believed = refused + was_refused, believed + (not was_refused)
    return f"{refused} model files refused, {believed} believed, of {len(kinds)} kinds"
