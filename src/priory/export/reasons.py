"""The reasons of a prediction in SQL: the columns that speak most for it.

A column speaks for the predicted class k, against the next best class r, by

    w_j (log P(x_j | k) − log P(x_j | r))

Reasons are the columns in which this is largest, as long as it is above zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

__all__ = ["reason_levels"]

LEAST = "CAST('-1e308' AS DOUBLE)"
"""Less than any difference that is a reason."""


def reason_levels(
    titles: Sequence[str],
    n_classes: int,
    n_reasons: int,
    at: str,
    most: Callable[[Sequence[str]], str],
) -> dict[str, dict[str, str]]:
    """Write the levels that find the reasons, above those of the scores.

    Below them stand the score of each class (t0, …), that of each column and class (e0_0, …) and
    the largest (`most`); `at` is how such names begin, `most` writes the largest of some values.
    """
    n, columns = range(n_classes), range(len(titles))
    best = " ".join(f"WHEN {at}t{k} = {at}most THEN {k}" for k in n)
    others = [f"CASE WHEN {at}best = {k} THEN {LEAST} ELSE {at}t{k} END" for k in n]
    following = " ".join(f"WHEN {at}best <> {k} AND {at}t{k} = {at}next THEN {k}" for k in n)

    def of_class(j: int, which: str) -> str:
        cases = " ".join(f"WHEN {at}{which} = {k} THEN {at}e{j}_{k}" for k in n)
        return f"CASE {cases} END"

    levels = {
        "chosen": {"best": f"CASE {best} END"},
        "others": {"next": most(others)},
        "following": {"second": f"CASE {following} END"},
        "differences": {
            f"d{j}": f"coalesce({of_class(j, 'best')} - {of_class(j, 'second')}, {LEAST})"
            for j in columns
        },
    }
    before = [f"{at}d{j}" for j in columns]
    for i in range(n_reasons):
        levels[f"largest{i}"] = {f"largest{i}": most(before)}
        found = " ".join(f"WHEN {before[j]} = {at}largest{i} THEN {j}" for j in columns)
        levels[f"place{i}"] = {
            f"place{i}": f"CASE WHEN {at}largest{i} > 0 THEN CASE {found} END END"
        }
        if i + 1 < n_reasons:
            levels[f"left{i}"] = {
                f"l{i}_{j}": f"CASE WHEN {at}place{i} = {j} THEN {LEAST} ELSE {before[j]} END"
                for j in columns
            }
            before = [f"{at}l{i}_{j}" for j in columns]
    return levels
