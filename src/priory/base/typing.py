"""Types shared by several modules."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["AnyArray", "BoolArray", "CodeArray", "FloatArray", "IntArray", "Key", "Label"]

Label: TypeAlias = bool | int | float | str
Key: TypeAlias = Label | tuple[Label, ...]
FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
CodeArray: TypeAlias = NDArray[np.int32]
BoolArray: TypeAlias = NDArray[np.bool_]
AnyArray: TypeAlias = NDArray[Any]
