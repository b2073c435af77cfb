"""What would change a prediction, what it rests on, which rows moved it; shapes and advice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from priory.base.lazy import importer

if TYPE_CHECKING:
    from priory.explaining.doctor import DependentColumns, Diagnosis
    from priory.explaining.influence import Influence
    from priory.explaining.reasons import Reasons
    from priory.explaining.shapes import Shape, Shapes
    from priory.explaining.what_if import Change, WhatIf

__all__ = [
    "Change",
    "DependentColumns",
    "Diagnosis",
    "Influence",
    "Reasons",
    "Shape",
    "Shapes",
    "WhatIf",
]

__getattr__ = importer(
    globals(),
    {
        "Change": "what_if",
        "DependentColumns": "doctor",
        "Diagnosis": "doctor",
        "Influence": "influence",
        "Reasons": "reasons",
        "Shape": "shapes",
        "Shapes": "shapes",
        "WhatIf": "what_if",
    },
)
