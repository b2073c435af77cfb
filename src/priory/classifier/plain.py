"""Settings and what was tuned as plain JSON: families and priors by name and options, no code."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from priory import families
from priory.base.errors import SettingError, UnknownFamilyError, did_you_mean, listing
from priory.base.labels import label_key
from priory.classifier.packing import packed, unpacked
from priory.data.pairing import Pairing
from priory.data.schema import Block, Kind, Schema
from priory.families.correction import CorrectionParameters
from priory.families.priors import Dirichlet, Laplace, MEstimate, NormalInverseGamma
from priory.kernels.vocabulary import Vocabulary
from priory.model.term import Choice
from priory.text.analyzer import Analyzer
from priory.tuning.tuned import Tuning

if TYPE_CHECKING:
    from priory.families.word_correction import WordCorrection

__all__ = ["from_plain", "to_plain", "tuning_from_plain", "tuning_to_plain"]

NOTHING = Pairing("joint", (), ())
PRIOR_TYPES: dict[str, type] = {
    cls.__name__: cls for cls in (Laplace, MEstimate, Dirichlet, NormalInverseGamma)
}
"""With the families that are registered, every type of object that a setting may hold."""


def to_plain(value: Any) -> Any:
    """Write a setting as JSON values; its inverse is `from_plain`.

    >>> to_plain({"age": Laplace(0.5), ("a", "b"): "joint"})["map"][1]
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
    if isinstance(value, list):
        return {"items": [to_plain(item) for item in value]}
    if isinstance(value, Set):
        return {"set": sorted((to_plain(item) for item in value), key=str)}
    if isinstance(value, tuple | np.ndarray):
        return {"list": [to_plain(item) for item in value]}
    if isinstance(value, Analyzer):
        return {"analyzer": value.to_dict()}
    name = type(value).__name__
    if is_dataclass(value) and name in _types() and _type(name) is type(value):
        return {
            "type": name,
            "options": {f.name: to_plain(getattr(value, f.name)) for f in fields(value)},
        }
    raise SettingError(
        f"The setting {value!r:.60} cannot be saved: a model file holds no code, so families and "
        "priors must be those of priory, or families that are registered: priory.families.register."
    )


def from_plain(plain: Any) -> Any:
    """Read the setting of JSON values, arrays as tuples; anything unknown is refused.

    >>> from_plain(to_plain(families.Gaussian()))
    Gaussian(shared=False, var_smoothing=0.0)
    """
    if plain is None or isinstance(plain, bool | int | float | str):
        return plain
    if isinstance(plain, dict):
        if plain.keys() == {"map"}:
            return {from_plain(key): from_plain(item) for key, item in plain["map"]}
        if plain.keys() == {"list"} and isinstance(plain["list"], list):
            return tuple(from_plain(item) for item in plain["list"])
        if plain.keys() == {"items"} and isinstance(plain["items"], list):
            return [from_plain(item) for item in plain["items"]]
        if plain.keys() == {"set"} and isinstance(plain["set"], list):
            return {from_plain(item) for item in plain["set"]}
        if plain.keys() == {"analyzer"}:
            return Analyzer.from_dict(plain["analyzer"])
        if plain.keys() == {"type", "options"} and isinstance(plain["options"], dict):
            name = str(plain["type"])
            known = _types()
            if name not in known:
                raise UnknownFamilyError(
                    f"There is no family or prior {name!r}. Known: {listing(known, 30)}."
                    f"{did_you_mean(name, known)}"
                )
            options = {key: from_plain(item) for key, item in plain["options"].items()}
            return _type(name)(**options)
    raise SettingError(f"{plain!r:.60} is no setting.")


def tuning_to_plain(tuning: Tuning) -> dict[str, Any]:
    """Write what was chosen as JSON values, without the scores that it was chosen on."""
    return {
        "choices": [
            [name, to_plain(choice.family), to_plain(choice.prior), choice.missing]
            for name, choice in tuning.choices.items()
        ],
        "weights": [[name, about, float(w)] for (name, about), w in tuning.weights.items()],
        "corrections": [
            {
                "pairing": (block.pairing or NOTHING).to_dict(),
                "columns": list(block.columns),
                "why": block.why,
                "labels": [list(labels) for labels in p.labels],
                "scores": p.scores.tolist(),
            }
            for block, p in tuning.corrections
        ],
        "words": {name: _plain_words(found) for name, found in tuning.words.items()},
        "temperature": float(tuning.temperature),
        "classes": list(tuning.classes),
        "bias": [float(b) for b in tuning.bias],
        "scale": float(tuning.scale),
        "n_rows": int(tuning.n_rows),
        "how": tuning.how,
    }


def tuning_from_plain(plain: Any, schema: Schema) -> Tuning:
    """Read the tuning of JSON values; it must be of blocks that the schema counts."""
    if not isinstance(plain, dict):
        raise SettingError(f"{plain!r:.60} is no tuning.")
    choices = {}
    for name, family, prior, missing in plain["choices"]:
        block = schema.by_name.get(name)
        chosen = Choice(from_plain(family), from_plain(prior), missing)
        if block is None or not block.kind.is_counted:
            raise SettingError(f"a choice is for {name!r:.60}, which is not counted")
        if not isinstance(chosen.family, families.Family) or block.kind not in chosen.family.kinds:
            raise SettingError(f"the choice for {name!r:.60} is no family for {block.kind}")
        if chosen.prior is not None and not isinstance(chosen.prior, chosen.family.priors):
            raise SettingError(f"the choice for {name!r:.60} has no prior of its family")
        if missing not in ("skip", "category", "error"):
            raise SettingError(f"missing values of {name!r:.60} are treated as {missing!r:.40}")
        choices[name] = chosen
    weights = {}
    for name, about, weight in plain["weights"]:
        if name not in choices or about not in ("value", "missing"):
            raise SettingError(f"a weight is for {name!r:.60}, {about!r:.40}")
        weights[name, about] = _finite(weight, "a weight", least=0.0)
    classes = tuple(plain["classes"])
    if not all(isinstance(label, bool | int | float | str) for label in classes):
        raise SettingError("a class of the tuning is no label")
    bias = np.array([_finite(b, "a bias") for b in plain["bias"]], dtype=np.float64)
    if len(bias) != len(classes) or len({label_key(label) for label in classes}) < len(classes):
        raise SettingError("the biases are not one for each class")
    corrections = tuple(_correction(one, schema, len(classes)) for one in plain["corrections"])
    if plain["how"] not in ("leave-one-out", "cross-fitted"):
        raise SettingError(f"the tuning was made by {plain['how']!r:.40}")
    return Tuning(
        choices,
        weights,
        _finite(plain["temperature"], "the temperature", least=0.0),
        classes,
        bias,
        _finite(plain["scale"], "the scale", least=0.0),
        int(_finite(plain["n_rows"], "the number of rows", least=0.0)),
        plain["how"],
        corrections=corrections,
        words={
            name: _word_correction(one, name, schema, len(classes))
            for name, one in plain.get("words", {}).items()
        },
    )


def _plain_words(found: WordCorrection) -> dict[str, Any]:
    data, offsets = found.vocabulary.buffers()
    return {
        "bytes": packed(data, "|u1"),
        "offsets": packed(offsets, "<i8"),
        "word": packed(found.word, "<i4"),
        "label": packed(found.label, "<i4"),
        "value": packed(found.value, "<f4"),
    }


def _word_correction(plain: Any, name: str, schema: Schema, n_classes: int) -> WordCorrection:
    """Read the correction of the words of a column of texts."""
    from priory.families.word_correction import WordCorrection  # few models have texts

    block, of = schema.by_name.get(name), f"the words of {name!r:.60}"
    if block is None or block.kind is not Kind.WORDS:
        raise SettingError(f"a correction of words is for {name!r:.60}, which holds none")
    data, offsets = unpacked(plain["bytes"], "|u1", of=of), unpacked(plain["offsets"], "<i8", of=of)
    vocabulary = Vocabulary.from_buffers(data, offsets)
    value = unpacked(plain["value"], "<f4", of=of)
    word, label = (unpacked(plain[part], "<i4", len(value), of) for part in ("word", "label"))
    for codes, size in ((word, len(vocabulary)), (label, n_classes)):
        if len(codes) and not 0 <= codes.min() <= codes.max() < size:
            raise SettingError(f"a code in the correction of {of} stands for nothing")
    if not np.isfinite(value).all():
        raise SettingError(f"a number in the correction of {of} is not finite")
    if (np.diff(word.astype(np.int64) * n_classes + label) <= 0).any():
        raise SettingError(f"the correction of {of} names a pair twice")
    return WordCorrection(vocabulary, word, label, value)


def _correction(plain: Any, schema: Schema, n_classes: int) -> tuple[Block, CorrectionParameters]:
    """Read the correction of one or two columns; its cells must be theirs."""
    columns, pairing = tuple(plain["columns"]), Pairing.from_dict(plain["pairing"])
    labels = tuple(tuple(values) for values in plain["labels"])
    if pairing.use != "correction" or not len(columns) == len(pairing.edges) == len(labels):
        raise SettingError(f"a correction of {columns!r:.60} is not of its columns")
    for name, ends, values in zip(columns, pairing.edges, labels, strict=True):
        block = schema.by_name.get(name)
        wanted = Kind.LABELS if ends is None else Kind.NUMBERS
        if block is None or block.kind is not wanted:
            raise SettingError(
                f"a correction is for {name!r:.60}, which is not counted as {wanted}"
            )
        if ends is not None and values != tuple(range(len(ends) - 1)):
            raise SettingError(f"a correction of {name!r:.60} is not of its bins")
        if len({label_key(value) for value in values}) < len(values):
            raise SettingError(f"a correction of {name!r:.60} names a value twice")
    scores = np.array(plain["scores"], dtype=np.float64)
    if scores.shape != (*map(len, labels), n_classes) or not np.isfinite(scores).all():
        raise SettingError(f"a correction of {columns!r:.60} has no score for each cell and class")
    name, why = " × ".join(columns), str(plain["why"])
    block = Block(name, columns, Kind.PAIRS, why, None, pairing)
    return block, CorrectionParameters(labels, scores)


def _types() -> list[str]:
    return [*families.class_names(), *PRIOR_TYPES]


def _type(name: str) -> type[Any]:
    return PRIOR_TYPES.get(name) or families.family_class(name)


def _finite(value: Any, what: str, least: float = -math.inf) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SettingError(f"{what} is {value!r:.40}")
    if not math.isfinite(value) or value < least:
        raise SettingError(f"{what} is {value!r}")
    return float(value)
