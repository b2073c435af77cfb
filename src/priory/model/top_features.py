"""Top features: the words and values that most favour each class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import nlargest

import numpy as np

from priory.base.errors import SettingError
from priory.base.formatting import aligned
from priory.base.html import html_table, html_together
from priory.base.typing import FloatArray, Label
from priory.families.protocols import LinearFamily
from priory.model.model import Model
from priory.statistics.statistics import Statistics

__all__ = ["TopFeature", "TopFeatures", "top_features"]


@dataclass(frozen=True)
class TopFeature:
    """One word or value: its count in the class, and its log-odds."""

    feature: str
    count: float
    log_odds: float
    weight: float
    """Its mean contribution to the log-odds of the class, over the rows of the class."""


@dataclass(frozen=True, repr=False)
class TopFeatures:
    """The words and values that most favour each class; print it to see them.

    log-odds = log P(v | k) − log P(v | not k), the other classes weighted by their priors.
    Sorted by the mean contribution over the rows of the class, so that rare words do not come
    first.

    >>> from priory import TextNB
    >>> texts, labels = ["free cash", "cash now", "at noon"], ["spam", "spam", "ham"]
    >>> best = TextNB.textbook().fit(texts, labels).top_features(1)
    >>> best["spam"][0].feature, best["spam"][0].count
    ('cash', 2.0)
    """

    by_class: dict[Label, tuple[TopFeature, ...]]

    def __getitem__(self, label: Label) -> tuple[TopFeature, ...]:
        return self.by_class[label]

    def __iter__(self) -> Iterator[Label]:
        return iter(self.by_class)

    def __len__(self) -> int:
        return len(self.by_class)

    def __repr__(self) -> str:
        n = sum(map(len, self.by_class.values()))
        return f"<TopFeatures: {n} features of {len(self)} classes>"

    def __str__(self) -> str:
        return "\n\n".join(map(aligned, self._tables()))

    def _repr_html_(self) -> str:
        return html_together(*(html_table(head, rows) for head, *rows in self._tables()))

    def _tables(self) -> Iterator[list[tuple[str, ...]]]:
        """Generate the rows of the table of each class, the header first."""
        for label, features in self.by_class.items():
            rows: list[tuple[str, ...]] = [(str(label), "count", "log-odds")]
            rows += [(f.feature, f"{f.count:g}", f"{f.log_odds:.2f}") for f in features]
            yield rows

    def to_dict(self) -> dict[str, list[dict[str, str | float]]]:
        """Convert to plain JSON values."""
        return {
            str(label): [vars(f) for f in features] for label, features in self.by_class.items()
        }


def top_features(model: Model, statistics: Statistics, n: int) -> TopFeatures:
    """Find the n words or values that most favour each class."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise SettingError(f"n must be an integer of at least 1, not {n!r}.")
    best: list[list[TopFeature]] = [[] for _ in model.classes]
    for term in model.terms:
        if term.about != "value" or not isinstance(term.family, LinearFamily):
            continue
        table = statistics.tables[term.block.name]
        for features, weights, counts in term.family.features(term.block, table, term.parameters):
            odds = _log_odds(weights, model.log_prior)
            share = counts / np.maximum(statistics.weight, np.finfo(float).tiny)
            with np.errstate(invalid="ignore"):  # 0 · ∞: absent from the class
                mean = np.where(counts > 0, share * odds, -np.inf)
            for k, so_far in enumerate(best):
                top = np.argsort(-mean[:, k], kind="stable")[:n]
                so_far += [
                    TopFeature(
                        features[v], float(counts[v, k]), float(odds[v, k]), float(mean[v, k])
                    )
                    for v in top.tolist()
                    if mean[v, k] > 0
                ]
                best[k] = nlargest(n, so_far, key=lambda found: found.weight)
    return TopFeatures(dict(zip(model.classes, map(tuple, best), strict=True)))


def _log_odds(weights: FloatArray, log_prior: FloatArray) -> FloatArray:
    """Compute log P(v | k) − log P(v | not k), values × classes."""
    odds = np.zeros_like(weights)
    for k in range(weights.shape[1]):
        others = np.delete(np.arange(weights.shape[1]), k)
        if len(others):
            prior = log_prior[others] - np.logaddexp.reduce(log_prior[others])
            odds[:, k] = weights[:, k] - np.logaddexp.reduce(weights[:, others] + prior, axis=1)
    return odds
