"""Rows for every engine: labels, truths, integers and numbers, with gaps and weights."""

import numpy as np
import pyarrow as pa


def mixed(n=3000, classes=("no", "perhaps", "yes"), seed=0):
    """Make a table in which every kind of column tells something of the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(classes), n)
    labels = np.array(["red", "green", "blue", "it's", 'a "b"', " blank ", "ä, ö"], dtype=object)
    columns = {
        "colour": labels[(rng.poisson(1.0 + y)) % len(labels)],
        "flag": rng.random(n) < 0.2 + 0.2 * y,
        "count": rng.poisson(2 + 2 * y),
        "huge id": rng.integers(-3, 3, n) * 2**56 + 7,
        "x": rng.normal(y, 1.0),
        "Tailed": np.exp(rng.normal(0.3 * y, 2.0)) * rng.choice([-1.0, 1.0], n),
        "offset": 1e9 + rng.normal(y, 1.0),
        "rounded": np.round(rng.normal(y, 1.0), 1),
        "zero": np.where(rng.random(n) < 0.5, 0.0, -0.0),
        "single": rng.normal(y, 1.0).astype(np.float32),
    }
    weight = rng.choice([0.0, 0.5, 1.0, 3.0], n)
    made = {}
    for j, (name, values) in enumerate(columns.items()):
        gaps = rng.random(n) < 0.02 * j
        made[name] = pa.array(values.tolist(), mask=gaps)
    made["single"] = made["single"].cast(pa.float32())
    made["empty"] = pa.nulls(n, pa.float64())
    made["w"] = pa.array(weight)
    made["kind"] = pa.array([classes[k] for k in y], mask=rng.random(n) < 0.01)
    return pa.table(made)
