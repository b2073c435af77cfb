"""Conditional tables: given by the user, or estimated from counts with a prior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from priory.base.errors import InputError, SettingError, check_number, listing
from priory.base.graph import Graph
from priory.base.typing import FloatArray
from priory.families.evidence import log_dirichlet_evidence
from priory.families.priors import DiscretePrior, Laplace, as_prior
from priory.network.variables import Domain, Domains, code_of, numbers, places

__all__ = [
    "BDeu",
    "Factor",
    "NetworkPrior",
    "Smoothing",
    "TablePrior",
    "given_domain",
    "given_table",
    "log_evidence",
    "pseudo_counts",
    "read_priors",
    "shares",
]


class Factor(NamedTuple):
    """Hold a table over some variables, an axis for each."""

    variables: tuple[str, ...]
    array: FloatArray


@dataclass(frozen=True)
class BDeu:
    """Spread the same equivalent sample size over every table of a network: a = ess / (q · r).

    q is the number of combinations of the parents' values, r that of the node's own values.
    Networks that imply the same independences then have the same evidence (Heckerman, Geiger
    and Chickering 1995).

    >>> BDeu(8.0).of(q=2, r=2)
    2.0
    """

    ess: float = 1.0

    def __post_init__(self) -> None:
        check_number("ess", self.ess, above=0)

    def of(self, q: int, r: int) -> float:
        """Compute the pseudo-count of one cell."""
        return self.ess / (q * r)


@dataclass(frozen=True, eq=False)
class TablePrior:
    """Believe a given table, each of its rows as if it had been counted in so many rows.

    a = strength · P(value | parents)
    """

    table: FloatArray
    domain: Domain
    strength: float

    def of(self, domain: Domain, shape: tuple[int, ...]) -> FloatArray:
        """Compute the pseudo-counts of every cell; the values must be those of the table."""
        if domain != self.domain or shape != self.table.shape:
            new = [
                v for v, place in zip(domain, places(domain, self.domain), strict=True) if place < 0
            ]
            raise InputError(
                f"A node with a given table has the values {listing(self.domain)}; the rows also "
                f"hold {listing(new)}."
                if new
                else "The given table of a node does not fit the values of its parents in the rows."
            )
        return self.strength * self.table


NetworkPrior: TypeAlias = DiscretePrior | BDeu | TablePrior
Smoothing: TypeAlias = float | NetworkPrior


def read_priors(smoothing: Any, graph: Graph) -> dict[str, NetworkPrior]:
    """Read the prior of every node: one for all of them, or a mapping of nodes to priors."""

    def one(given: Any) -> NetworkPrior:
        prior = given if isinstance(given, BDeu) else as_prior(given)
        if not isinstance(prior, DiscretePrior | BDeu):
            raise SettingError(f"smoothing must be a prior over values, not {prior!r}.")
        return prior

    if not isinstance(smoothing, Mapping):
        return dict.fromkeys(graph.nodes, one(smoothing))
    for name in smoothing:
        graph.find(name)
    return {name: one(smoothing.get(name, 1.0)) for name in graph.nodes}


def pseudo_counts(prior: NetworkPrior, domain: Domain, counts: FloatArray) -> FloatArray:
    """Compute the pseudo-counts of a table, parents × values, as far as they differ."""
    r = len(domain)
    if isinstance(prior, TablePrior):
        return prior.of(domain, counts.shape)
    if isinstance(prior, BDeu):
        return np.full(r, prior.of(max(counts.size // max(r, 1), 1), max(r, 1)))
    if isinstance(prior, Laplace) and isinstance(prior.alpha, tuple):
        raise SettingError(
            "A network takes one alpha, not one for each column; give {node: alpha}."
        )
    return prior.pseudo_counts(domain, counts.reshape(-1, r).sum(axis=0))


def shares(counts: FloatArray, pseudo: FloatArray) -> FloatArray:
    """Estimate P(value | parents) = (n + a) / (N + Σa).

    Without a prior, combinations of parents that never came take the node's shares over all of
    them, or equal ones if there is no row at all.
    """
    smoothed = counts + pseudo
    totals = smoothed.sum(axis=-1, keepdims=True)
    if (totals > 0).all():
        return np.asarray(smoothed / totals)
    pooled = smoothed.reshape(-1, counts.shape[-1]).sum(axis=0)
    pooled = pooled / pooled.sum() if pooled.sum() > 0 else np.full(len(pooled), 1 / len(pooled))
    return np.where(totals > 0, smoothed / np.where(totals > 0, totals, 1.0), pooled)


def log_evidence(counts: FloatArray, pseudo: FloatArray) -> float:
    """Compute the log marginal likelihood of a node given its parents, under Dirichlet priors.

    Σ_parents log Γ(A)/Γ(A + N) + Σ_v log Γ(a_v + n_v)/Γ(a_v)
    """
    a = np.broadcast_to(pseudo, counts.shape)
    if (a[counts > 0] <= 0).any():
        raise SettingError(
            "The evidence needs a prior with a pseudo-count above 0 for every value that came; "
            "give the network a smoothing above 0, or log_evidence(BDeu())."
        )
    return log_dirichlet_evidence(counts, a)


def given_domain(table: Any, parents: Sequence[str]) -> Domain | None:
    """Find the values of a node that its table itself names, None if it names none."""
    if parents and isinstance(table, Mapping) and table:
        return given_domain(next(iter(table.values())), ())
    if isinstance(table, Mapping) and table:
        return tuple(table)
    if isinstance(table, int | float) and not isinstance(table, bool):
        return (False, True)
    size = np.shape(table)[-1] if np.ndim(table) else 0
    return tuple(range(size)) if size else None


def given_table(name: str, table: Any, parents: Sequence[str], domains: Domains) -> FloatArray:
    """Read a table as an array, parents × values; its rows must add up to 1.

    It is an array, or {parent values: row} where a row is {value: P}, a sequence, or, of a
    boolean, P(true); a node without parents has just the row.
    """
    shape = tuple(len(domains[v]) for v in (*parents, name))
    if isinstance(table, np.ndarray) or (isinstance(table, Sequence) and parents):
        result = numbers(table, f"The table of {name!r}")
        if result.shape != shape:
            raise InputError(
                f"The table of {name!r} must have the shape {shape}, of "
                f"{listing([*parents, name])}, not {result.shape}."
            )
    elif not parents:
        result = _row(name, table, domains[name])
    elif not isinstance(table, Mapping):
        raise InputError(
            f"The table of {name!r} must have a row for each combination of {listing(parents)}, "
            f"not {table!r:.60}."
        )
    else:
        result = np.full(shape, np.nan)
        for key, row in table.items():
            values = key if isinstance(key, tuple) else (key,)
            if len(values) != len(parents):
                raise InputError(
                    f"A row of the table of {name!r} is for {key!r}; its parents are "
                    f"{listing(parents)}."
                )
            place = tuple(code_of(v, p, domains[p]) for v, p in zip(values, parents, strict=True))
            result[place] = _row(name, row, domains[name])
        if np.isnan(result).any():
            place = tuple(np.argwhere(np.isnan(result))[0][:-1])
            missing = {p: domains[p][i] for p, i in zip(parents, place, strict=True)}
            raise InputError(f"The table of {name!r} has no row for {missing}.")
    return _normalized(name, result, parents, domains)


def _row(name: str, row: Any, domain: Domain) -> FloatArray:
    if isinstance(row, Mapping):
        result = np.zeros(len(domain))
        for value, p in row.items():
            result[code_of(value, name, domain)] = p
        return result
    if isinstance(row, int | float | np.number) and len(domain) == 2:
        true = code_of(True, name, domain)
        return np.where(np.arange(2) == true, float(row), 1.0 - float(row))
    result = numbers(row, f"The table of {name!r}")
    if result.shape != (len(domain),):
        raise InputError(
            f"A row of the table of {name!r} must have {len(domain)} probabilities, for "
            f"{listing(domain)}, not {row!r:.60}."
        )
    return result


def _normalized(
    name: str, table: FloatArray, parents: Sequence[str], domains: Domains
) -> FloatArray:
    if not np.isfinite(table).all() or (table < 0).any():
        wrong = table[~(np.isfinite(table) & (table >= 0))][0]
        raise InputError(
            f"The table of {name!r} holds {float(wrong)!r}, which is not a probability."
        )
    totals = table.sum(axis=-1, keepdims=True)
    off = np.abs(totals - 1.0)
    if (off > 1e-6).any():
        place = np.unravel_index(int(off.argmax()), off.shape)[:-1]
        where = {p: domains[p][i] for p, i in zip(parents, place, strict=True)}
        row = f"The row of {where} in the table" if where else "The table"
        raise InputError(
            f"{row} of {name!r} must add up to 1, but adds up to {totals[place][0]:.9g}."
        )
    return np.asarray(np.where(off > 1e-15, table / totals, table))
