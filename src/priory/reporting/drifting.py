"""Drift on a page: how rows differ from those learned, column by column, and in their classes."""

from __future__ import annotations

from priory.base.formatting import shown
from priory.deciding.drift import ColumnDrift, Drift
from priory.deciding.priors import PriorEstimate
from priory.reporting.charts import bar
from priory.reporting.markup import Html, h, joined
from priory.reporting.scales import percent
from priory.reporting.tables import MOST_CLASSES, section, table

__all__ = ["drifting"]

MOST_COLUMNS = 200
"""So many columns a table has: the most suspicious."""


def drifting(found: Drift) -> Html:
    """Tabulate every column, the most suspicious first, and the shares of the classes."""
    return joined(_columns(found), _classes(found.prior, found.is_calibrated))


def _columns(found: Drift) -> Html:
    drifted, n = len(found.drifted), len(found.columns)
    told = f"{drifted} of {n} columns" if drifted else "No column"
    more = n - MOST_COLUMNS
    return section(
        "columns",
        f"{told} drifted",
        table(
            ("column", "drifted", "distance", "p corrected", "never learned", "missing", ""),
            [_column(one) for one in found.columns[:MOST_COLUMNS]],
            f"Columns of {found.n_rows:,} rows beside those learned, the most suspicious first",
            (2, 3, 4, 5),
        ),
        h("p", f"And {more:,} more columns, less suspicious.") if more > 0 else None,
        h(
            "p",
            "The distance is the share of rows that would have to change for both to be alike. "
            "p is how often chance alone would bring as much in any column; at most 0.05 counts "
            "as drift.",
            class_="soft",
        ),
    )


def _column(one: ColumnDrift) -> tuple[object, ...]:
    gaps = percent(one.missing)
    if round(one.learned_missing, 3) != round(one.missing, 3):
        gaps = f"{percent(one.learned_missing)} → {gaps}"
    return (
        one.column,
        (h("strong", "drifted"),) if one.has_drifted else "–",
        f"{one.distance:.3f}",
        "< 0.001" if one.p_corrected < 0.001 else f"{one.p_corrected:.3f}",
        percent(one.unseen),
        gaps,
        bar(one.distance),
    )


def _classes(prior: PriorEstimate, is_calibrated: bool) -> Html:
    moved = "have moved" if prior.p_value <= 0.05 else "are about as they were"
    every = zip(
        prior.classes,
        prior.learned.tolist(),
        prior.prior.tolist(),
        prior.low.tolist(),
        prior.high.tolist(),
        strict=True,
    )
    rows = [
        (shown(k), percent(was), percent(now), f"{percent(low)} – {percent(high)}", bar(now))
        for k, was, now, low, high in sorted(every, key=lambda row: -row[2])[:MOST_CLASSES]
    ]
    caution = (
        "The model is not tuned, so these shares are not to be trusted."
        if not is_calibrated
        else "Estimated from what the model says of the rows, as if each class looked as it did."
    )
    p = "< 0.001" if prior.p_value < 0.001 else f"= {prior.p_value:.3f}"
    return section(
        "classes",
        f"The shares of the classes {moved}" if is_calibrated else "The shares of the classes",
        table(
            ("class", "learned", "now", f"{prior.level:.0%} interval", ""),
            rows,
            f"Shares of the classes, learned and now; p {p} for no change",
            (1, 2, 3),
        ),
        h("p", caution, class_="soft"),
    )
