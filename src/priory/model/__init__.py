"""The immutable model, and what follows from it: explanations, information, bits, samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from priory.base.lazy import importer

if TYPE_CHECKING:
    from priory.model.description import DescriptionLength, DescriptionPart, ModelDescription
    from priory.model.explanation import Explanation
    from priory.model.importance import Importance
    from priory.model.information import (
        column_importances,
        column_information,
        word_importances,
    )
    from priory.model.linear_form import LinearForm
    from priory.model.model import Model
    from priory.model.row_explanation import RowExplanation, RowFactor
    from priory.model.top_features import TopFeature, TopFeatures

__all__ = [
    "DescriptionLength",
    "DescriptionPart",
    "Explanation",
    "Importance",
    "LinearForm",
    "Model",
    "ModelDescription",
    "RowExplanation",
    "RowFactor",
    "TopFeature",
    "TopFeatures",
    "column_importances",
    "column_information",
    "word_importances",
]

__getattr__ = importer(
    globals(),
    {
        "DescriptionLength": "description",
        "DescriptionPart": "description",
        "Explanation": "explanation",
        "Importance": "importance",
        "LinearForm": "linear_form",
        "Model": "model",
        "ModelDescription": "description",
        "RowExplanation": "row_explanation",
        "RowFactor": "row_explanation",
        "TopFeature": "top_features",
        "TopFeatures": "top_features",
        "column_importances": "information",
        "column_information": "information",
        "word_importances": "information",
    },
)
