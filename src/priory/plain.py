"""Settings as plain JSON values: families and priors by name and options, no code."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from priory.errors import SettingError, did_you_mean, listing
from priory.families import FAMILIES, Binomial
from priory.priors import Dirichlet, Laplace, MEstimate, NormalInverseGamma

__all__ = ["from_plain", "to_plain"]

FAMILY_TYPES: list[type] = [*(type(family) for family in FAMILIES.values()), Binomial]
PRIOR_TYPES: list[type] = [Laplace, MEstimate, Dirichlet, NormalInverseGamma]
TYPES = {cls.__name__: cls for cls in FAMILY_TYPES + PRIOR_TYPES}
"""Every type of object that a setting may hold; a file can name no other."""


def to_plain(value: Any) -> Any:
    """Return a setting as JSON values; its inverse is `from_plain`.

    >>> to_plain({"age": FAMILIES["gaussian"], ("a", "b"): "joint"})["map"][1]
    [{'list': ['a', 'b']}, 'joint']
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        raise SettingError(f"The setting {value!r} is not finite, so it cannot be saved.")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {"map": [[to_plain(key), to_plain(item)] for key, item in value.items()]}
    if isinstance(value, tuple | list | np.ndarray):
        return {"list": [to_plain(item) for item in value]}
    name = type(value).__name__
    if is_dataclass(value) and TYPES.get(name) is type(value):
        return {
            "type": name,
            "options": {f.name: to_plain(getattr(value, f.name)) for f in fields(value)},
        }
    raise SettingError(
        f"The setting {value!r:.60} cannot be saved: a model file holds no code, so families and "
        "priors must be those of priory."
    )


def from_plain(plain: Any) -> Any:
    """Return the setting of JSON values, lists as tuples; anything unknown is refused.

    >>> from_plain(to_plain(FAMILIES["gaussian"]))
    Gaussian(shared=False, var_smoothing=0.0)
    """
    if plain is None or isinstance(plain, bool | int | float | str):
        return plain
    if isinstance(plain, dict):
        if plain.keys() == {"map"}:
            return {from_plain(key): from_plain(item) for key, item in plain["map"]}
        if plain.keys() == {"list"} and isinstance(plain["list"], list):
            return tuple(from_plain(item) for item in plain["list"])
        if plain.keys() == {"type", "options"} and isinstance(plain["options"], dict):
            name = str(plain["type"])
            if name not in TYPES:
                raise SettingError(
                    f"There is no family or prior {name!r}. Known: {listing(TYPES, 30)}."
                    f"{did_you_mean(name, TYPES)}"
                )
            options = {key: from_plain(item) for key, item in plain["options"].items()}
            return TYPES[name](**options)
    raise SettingError(f"{plain!r:.60} is no setting.")
