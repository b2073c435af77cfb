"""Plots of beliefs and hypotheses, with matplotlib."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from priory.base.html import shown_once
from priory.families.posteriors import tails

__all__ = ["plot_densities", "plot_posterior", "shortest"]


def shortest(distribution: Any, level: float) -> tuple[float, float]:
    """Find the shortest interval of a distribution that has this probability."""
    from scipy.optimize import minimize_scalar

    tails(level)  # checks it
    ends = (0.0, 1.0 - level)

    def width(below: float) -> float:
        return float(distribution.ppf(min(below + level, 1.0)) - distribution.ppf(below))

    found = minimize_scalar(width, bounds=ends, method="bounded", options={"xatol": 1e-10})
    below = min((float(found.x), *ends), key=width)
    return float(distribution.ppf(below)), float(distribution.ppf(min(below + level, 1.0)))


def plot_densities(distributions: Mapping[str, Any], level: float, label: str) -> Any:
    """Plot densities, each with its shortest interval shaded; return the figure."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3.2))
    for name, distribution in distributions.items():
        first, last = distribution.ppf([0.0005, 0.9995]).tolist()
        x = np.linspace(first, last, 400)
        density = distribution.pdf(x)
        (line,) = axes.plot(x, density, label=name or None)
        low, high = shortest(distribution, level)
        inside = (x >= low) & (x <= high)
        axes.fill_between(x[inside], density[inside], alpha=0.25, color=line.get_color())
    if any(distributions):
        axes.legend()
    axes.set(xlabel=label, ylabel="density", title=f"{level:.0%} of the probability shaded")
    axes.set_ylim(bottom=0)
    figure.tight_layout()
    return shown_once(figure)


def plot_posterior(prior: Mapping[str, float], posterior: Mapping[str, float]) -> Any:
    """Plot the probability of each hypothesis before and after the data; return the figure."""
    import matplotlib.pyplot as plt

    names, place = [*posterior], np.arange(len(posterior))
    figure, axes = plt.subplots(figsize=(6, max(1.6, 0.4 * len(names) + 0.9)))
    if len(names) > MOST_BARS:
        axes.plot(place, [*prior.values()], label="before", color="#b9c2dd")
        axes.plot(place, [*posterior.values()], label="after", color="#4a5aa8")
        axes.set(xlabel="hypothesis", ylabel="probability")
        figure.set_size_inches(6, 3.2)
    else:
        axes.barh(place - 0.2, [*prior.values()], 0.35, label="before", color="#b9c2dd")
        axes.barh(place + 0.2, [*posterior.values()], 0.35, label="after", color="#4a5aa8")
        axes.set_yticks(place, names)
        axes.invert_yaxis()
        axes.set(xlabel="probability", xlim=(0, 1))
    axes.legend()
    figure.tight_layout()
    return shown_once(figure)


MOST_BARS = 30
"""More hypotheses than this are drawn as a line."""
