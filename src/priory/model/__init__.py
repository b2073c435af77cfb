"""The immutable model, and what is read from it: explanations, information, bits, samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from priory.base.lazy import importer

if TYPE_CHECKING:
    from priory.model.explanation import Explanation
    from priory.model.informative import Informative
    from priory.model.model import LinearForm, Model

__all__ = ["Explanation", "Informative", "LinearForm", "Model"]

__getattr__ = importer(
    globals(),
    {
        "Explanation": "explanation",
        "Informative": "informative",
        "LinearForm": "model",
        "Model": "model",
    },
)
