"""Export to JSON: every parameter by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from priory.base.errors import SettingError
from priory.base.labels import label_token
from priory.base.typing import Label
from priory.export.decisions import Exported, rule_to_json, with_rule
from priory.families.telling_words import TellingWords
from priory.families.transforms import Identity, LogTransform, Transform
from priory.families.words import Words
from priory.model.term import Term

__all__ = ["factor_to_json", "to_json"]

ByClass: TypeAlias = Callable[[Any], Any]
VERSION = 1
"""Of the schema; it changes whenever readers have to change."""


def to_json(classifier: Exported) -> dict[str, Any]:
    """Export a model as JSON values: class priors, and the parameters of each factor by class.

        score(k) = log prior[k] + Σ_factors weight · log factor[k] + bias[k]

    The bias of a factor is added unless the value is missing or unseen. The posterior is e^score,
    normalised; a row that is impossible under every class has the prior. The documentation of the
    command line describes "parameters" for each family. What `classifier.decide` gives has its
    rule under "decision".

    >>> from priory import Classifier, Settings
    >>> classifier = Classifier(Settings.textbook())
    >>> classifier = classifier.update({"x": ["a", "b", "b"]}, ["no", "no", "yes"])
    >>> told = to_json(classifier)
    >>> told["factors"][0]["parameters"]["values"]
    ['a', 'b']
    >>> told["factors"][0]["parameters"]["probability"]["no"]
    [0.5, 0.5]
    """
    bare, rule = with_rule(classifier)
    model = bare.model
    by_class = partial(_by_class, _names(model.classes))
    return {
        "format": "priory",
        "version": VERSION,
        "classes": list(model.classes),
        "prior": by_class(np.exp(model.log_prior)),
        "factors": [factor_to_json(term, by_class) for term in model.terms],
        **({} if rule is None else {"decision": rule_to_json(rule)}),
    }


def _names(classes: Sequence[Label]) -> list[str]:
    """Make keys of classes: 1 and "1" must differ."""
    names = [str(label) for label in classes]
    return names if len(set(names)) == len(names) else [label_token(label) for label in classes]


def _by_class(names: Sequence[str], values: Any) -> dict[str, Any]:
    """Convert an array whose first axis are the classes to a mapping by their names."""
    return dict(zip(names, map(_finite, np.asarray(values).tolist()), strict=True))


def _finite(value: Any) -> Any:
    """Convert numbers to JSON; an infinite one becomes a string."""
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return str(value) if isinstance(value, float) and not np.isfinite(value) else value


def factor_to_json(term: Term, by_class: ByClass) -> dict[str, Any]:
    """Export one factor; `by_class` writes an array whose first axis are the classes."""
    block = term.block
    told: dict[str, Any] = {
        "columns": list(block.columns),
        "about": term.about,
        "family": term.family.name,
        "weight": term.weight,
    }
    if term.offset is not None and term.offset.any():
        told["bias"] = by_class(term.offset)
    if term.about == "missing":
        told["columns"] = [block.columns[-1]]
        p = term.parameters
        missing, there = np.exp(p.log_on[0]), np.exp(p.log_off[0])
        return {**told, "parameters": {"missing": by_class(missing), "there": by_class(there)}}
    if block.pairing is not None:
        told["bins"] = [None if ends is None else list(ends) for ends in block.pairing.edges]
    if term.family.name not in PARAMETERS:  # a family of the user's own
        raise SettingError(
            f"Column {block.title!r} is modelled by {term.family.name}, which has no JSON form."
        )
    return {**told, "parameters": PARAMETERS[term.family.name](term, by_class)}


def _categorical(term: Term, by_class: ByClass) -> dict[str, Any]:
    p, n = np.exp(term.parameters.log_p), len(term.parameters.labels)
    told = {
        "values": list(term.parameters.labels),
        "probability": by_class(p[:n].T),
        "unseen": term.family.unseen,  # type: ignore[attr-defined]
    }
    return {**told, "any other": by_class(p[n])} if len(p) > n else told


def _as_named(term: Term, by_class: ByClass) -> dict[str, Any]:
    """Convert parameters whose first axis are the classes, by their names."""
    found = {f.name: getattr(term.parameters, f.name) for f in fields(term.parameters)}
    return {name: by_class(values) for name, values in found.items()}


def _student_t(term: Term, by_class: ByClass) -> dict[str, Any]:
    p = term.parameters
    return {
        "degrees of freedom": by_class(p.dof),
        "location": by_class(p.location),
        "squared scale": by_class(p.scale2),
        "transform": _transform(p.transform),
    }


def _transform(transform: Transform) -> dict[str, Any] | None:
    if isinstance(transform, Identity):
        return None
    kind = "log" if isinstance(transform, LogTransform) else "rank"
    told = {f.name: getattr(transform, f.name) for f in fields(transform)}  # type: ignore[arg-type]
    return {"kind": kind, **{name: np.asarray(x).tolist() for name, x in told.items()}}


def _joint(term: Term, by_class: ByClass) -> dict[str, Any]:
    p = term.parameters
    values = [
        [domain[code] for domain, code in zip(p.domains, codes, strict=True)]
        for codes in p.codes.tolist()
    ]
    prior = {f.name: getattr(p.prior, f.name) for f in fields(p.prior)}
    return {
        "domains": [list(domain) for domain in p.domains],
        "combinations": values,
        "count": by_class(p.weight),
        "smoothing": {"prior": type(p.prior).__name__, **prior},
    }


def _conditional(term: Term, by_class: ByClass) -> dict[str, Any]:
    return {
        "parent values": [list(values) for values in term.parameters.parents],
        "values": list(term.parameters.children),
        **_given(term.parameters, by_class),
    }


def _given(counts: Any, by_class: ByClass) -> dict[str, Any]:
    """Tabulate P(v | u, k), parents × values for each class."""
    p = np.exp(counts.grid()[..., :-1, :])
    return {"probability": by_class(np.moveaxis(p, -1, 0))}


def _correction(term: Term, by_class: ByClass) -> dict[str, Any]:
    """Tabulate the scores of cells, with an axis for each column, for each class."""
    p = term.parameters
    return {
        "values": [list(values) for values in p.labels],
        "score": by_class(np.moveaxis(p.scores, -1, 0)),
    }


def _aode(term: Term, by_class: ByClass) -> dict[str, Any]:
    p, columns = term.parameters, term.block.columns
    every = range(len(columns))
    return {
        "least": float(term.family.least),  # type: ignore[attr-defined]
        "columns": [
            {
                "column": columns[i],
                "values": list(one.children),
                "count": p.weight[i].tolist(),
                "probability": by_class(one.shares(np.full(len(v), -1), v)[0].T),
            }
            for i, one in enumerate(p.alone)
            for v in [np.arange(len(one.children))]
        ],
        "pairs": [
            {"parent": columns[i], "column": columns[j], **_given(counts, by_class)}
            for i in every
            for j, counts in zip((j for j in every if j != i), p.given[i], strict=True)
        ],
    }


def _words(term: Term, by_class: ByClass) -> dict[str, Any]:
    family, analyzer = term.family, term.block.analyzer
    assert isinstance(family, Words)
    told: dict[str, Any] = {
        "readout": family.readout,
        "term": family.term,
        "splitting": None if analyzer is None else analyzer.to_dict(),
        "words": term.parameters.words.tolist(),
    }
    weights = term.parameters.table
    if family.readout == "bernoulli":
        weights_of = term.parameters.weights
        log_presence = weights_of.log_presence(np.flatnonzero(weights_of.kept))
        present, absent = (np.exp(log_p.T) for log_p in log_presence)
        return {**told, "present": by_class(present), "absent": by_class(absent)}
    if family.readout == "multinomial" and not family.idf:
        return {**told, "probability": by_class(np.exp(weights.T))}
    return {**told, "weight": by_class(weights.T)}


def _telling_words(term: Term, by_class: ByClass) -> dict[str, Any]:
    family, analyzer, p = term.family, term.block.analyzer, term.parameters
    assert isinstance(family, TellingWords)
    telling = np.flatnonzero(p.evidence)
    return {
        "most": family.most,
        "splitting": None if analyzer is None else analyzer.to_dict(),
        "words": p.vocabulary.take(telling.astype(np.int32)).words(),
        "group": p.group[telling].tolist(),
        "factor": family.factors.tolist(),
        "probability": by_class(np.exp(p.log_p[telling].T)),
    }


PARAMETERS: dict[str, Callable[[Term, ByClass], dict[str, Any]]] = {
    "aode": _aode,
    "bernoulli": lambda term, by_class: {
        "present": by_class(np.exp(term.parameters.log_on.T)),
        "absent": by_class(np.exp(term.parameters.log_off.T)),
    },
    "binomial": lambda term, by_class: {
        "trials": int(term.family.trials),  # type: ignore[attr-defined]
        "success": by_class(np.exp(term.parameters.log_on.T)),
        "failure": by_class(np.exp(term.parameters.log_off.T)),
    },
    "categorical": _categorical,
    "complement": lambda term, by_class: {"weight": by_class(term.parameters.table.T)},
    "conditional": _conditional,
    "correction": _correction,
    "gaussian": _as_named,
    "histogram": lambda term, by_class: {
        "cuts": term.parameters.cuts.tolist(),
        "probability": by_class(np.exp(term.parameters.log_p.T)),
    },
    "joint": _joint,
    "kernel-density": lambda term, by_class: {
        "centres": term.parameters.centres.tolist(),
        "share": by_class(term.parameters.shares),
        "bandwidth": by_class(term.parameters.bandwidths),
        "own": by_class(term.parameters.own),
        "pool": by_class(term.parameters.pool),
    },
    "multinomial": lambda term, by_class: {
        "probability": by_class(np.exp(term.parameters.table.T))
    },
    "multivariate-gaussian": _as_named,
    "poisson": _as_named,
    "student-t": _student_t,
    "telling-words": _telling_words,
    "words": _words,
}
