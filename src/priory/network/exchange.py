"""A network in other forms: files, graphs of other libraries, pictures."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any, Self

from priory.network import bif, drawing, files, xmlbif
from priory.network.expressions import EventLike
from priory.network.graphs import dot
from priory.network.queries import NetworkQueries

__all__ = ["NetworkExchange"]


class NetworkExchange(NetworkQueries):
    """Read and write networks, and draw them."""

    @classmethod
    def _of_parsed(cls, parsed: tuple[Any, Mapping[str, Any], Mapping[str, Any]]) -> Self:
        raise NotImplementedError

    @classmethod
    def read_bif(cls, path: str | PathLike[str]) -> Self:
        """Read a network from a file in the Bayesian interchange format (BIF), gzipped or not.

        It is read as UTF-8, or where that fails as Latin-1.
        """
        return cls.from_bif(files.read_text(path))

    @classmethod
    def from_bif(cls, text: str) -> Self:
        """Parse a network from a text in the Bayesian interchange format."""
        return cls._of_parsed(bif.parse(text))

    def to_bif(self, name: str = "unknown") -> str:
        """Write the network as a text in the Bayesian interchange format."""
        return bif.text(name, self.graph, self.values, self.tables)

    def write_bif(self, path: str | PathLike[str], name: str = "unknown") -> None:
        """Write the network to a file in the Bayesian interchange format, gzipped if it ends so."""
        files.write_text(path, self.to_bif(name))

    @classmethod
    def read_xmlbif(cls, path: str | PathLike[str]) -> Self:
        """Read a network from a file in XMLBIF, gzipped or not."""
        return cls._of_parsed(xmlbif.parse(files.read_bytes(path)))

    def to_xmlbif(self, name: str = "unknown") -> str:
        """Write the network as a text in XMLBIF, the format of AISpace, Weka and others."""
        return xmlbif.text(name, self.graph, self.values, self.tables)

    def write_xmlbif(self, path: str | PathLike[str], name: str = "unknown") -> None:
        """Write the network to a file in XMLBIF, gzipped if its name ends so."""
        files.write_text(path, self.to_xmlbif(name))

    def to_dot(self, name: str = "network") -> str:
        """Write the graph in the language of Graphviz."""
        return dot(self.graph, name)

    def to_networkx(self) -> Any:
        """Make a `networkx.DiGraph` of the nodes and edges.

        >>> from priory import BeliefNetwork
        >>> BeliefNetwork("A->B").to_networkx().edges
        OutEdgeView([('A', 'B')])
        """
        import networkx

        graph = networkx.DiGraph()
        graph.add_nodes_from(self.nodes)
        graph.add_edges_from(self.edges)
        return graph

    def to_svg(self, given: EventLike | None = None, bars: bool | None = None) -> str:
        """Draw the network: parents above their children, as a text in SVG.

        With `bars`, the default for up to 12 nodes or with evidence, every node shows the
        probabilities of its values, given what is known.
        """
        if bars is None:
            bars = self._tables is not None and (len(self.nodes) <= 12 or given is not None)
        known = set(self._evidence(given).fixed) if given is not None else set()
        shown = self.marginals(given) if bars else {}
        return drawing.svg(self.graph, shown, known)

    def _repr_svg_(self) -> str:
        return self.to_svg()
