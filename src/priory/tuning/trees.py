"""The heaviest spanning tree, and what of it is worth having."""

from __future__ import annotations

import numpy as np

from priory.base.typing import FloatArray

__all__ = ["spanning_tree", "worthy_edges"]


def worthy_edges(weights: FloatArray) -> list[tuple[int, int]]:
    """Find the edges of the heaviest spanning tree that weigh anything above 0.

    >>> worthy_edges(np.array([[0.0, 1.0, -3.0], [1.0, 0.0, -2.0], [-3.0, -2.0, 0.0]]))
    [(0, 1)]
    """
    return [edge for edge in spanning_tree(weights) if weights[edge] > 0]


def spanning_tree(weights: FloatArray, root: int = 0) -> list[tuple[int, int]]:
    """Find the edges of the heaviest spanning tree, from the root outwards (Prim 1957).

    Of edges that weigh the same, the one of the first node is taken.

    >>> spanning_tree(np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]]))
    [(0, 2), (2, 1)]
    >>> spanning_tree(np.full((3, 3), -np.inf))  # edges that cannot be are at the end
    [(0, 1), (0, 2)]
    """
    n = len(weights)
    nearest, heaviest = np.full(n, root), weights[root].astype(np.float64).copy()
    outside = np.ones(n, dtype=np.bool_)
    outside[root] = False
    edges = []
    while outside.any():
        left = np.flatnonzero(outside)
        j = int(left[heaviest[left].argmax()])
        edges.append((int(nearest[j]), j))
        outside[j] = False
        closer = outside & (weights[j] > heaviest)
        nearest[closer], heaviest[closer] = j, weights[j][closer]
    return edges
