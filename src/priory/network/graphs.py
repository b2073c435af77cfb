"""Graphs in other forms: texts such as "A->B<-C", networkx, DOT."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from priory.base.errors import SettingError
from priory.base.graph import Graph

__all__ = ["dot", "graph_of"]

ARROW = re.compile(r"\s*(->|<-|→|←)\s*")


def graph_of(edges: Any, nodes: Iterable[str] = ()) -> Graph:
    """Read a graph: pairs, a mapping of nodes to parents, a text, or a DiGraph of networkx.

    >>> graph_of("A->B<-C; C->D; E").edges
    (('A', 'B'), ('C', 'B'), ('C', 'D'))
    """
    if isinstance(edges, str):
        named, pairs = _arrows(edges)
        return Graph.of([*dict.fromkeys(pairs)], [*dict.fromkeys([*nodes, *named])])
    if hasattr(edges, "nodes") and hasattr(edges, "edges"):  # networkx
        if not edges.is_directed():
            raise SettingError("The graph must be directed; give a networkx.DiGraph.")
        return Graph.of(
            [(str(a), str(b)) for a, b in edges.edges()], [*nodes, *map(str, edges.nodes())]
        )
    return Graph.of(edges, nodes)


def _arrows(text: str) -> tuple[list[str], list[tuple[str, str]]]:
    names, pairs = list[str](), list[tuple[str, str]]()
    for chain in re.split(r"[;\n]", text):
        if not chain.strip():
            continue
        parts = ARROW.split(chain.strip())
        for i in range(0, len(parts), 2):
            if not parts[i].strip():
                raise SettingError(f"An arrow in {chain.strip()!r} leads nowhere; write 'A->B<-C'.")
            names.append(parts[i].strip())
        for i in range(1, len(parts), 2):
            a, b = parts[i - 1].strip(), parts[i + 1].strip()
            pairs.append((a, b) if parts[i] in ("->", "→") else (b, a))
    return [*dict.fromkeys(names)], pairs


def dot(graph: Graph, name: str = "network") -> str:
    """Write a graph in the language of Graphviz.

    >>> print(dot(graph_of("A->B")))
    digraph "network" {
      "A";
      "B";
      "A" -> "B";
    }
    """

    def quoted(word: str) -> str:
        return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'

    lines = [f"digraph {quoted(name)} {{"]
    lines += [f"  {quoted(node)};" for node in graph.nodes]
    lines += [f"  {quoted(a)} -> {quoted(b)};" for a, b in graph.edges]
    return "\n".join([*lines, "}"])
