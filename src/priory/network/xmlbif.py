"""XMLBIF: the Bayesian interchange format as XML, version 0.3."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TypeAlias
from xml.etree import ElementTree as ET

import numpy as np

from priory.base.errors import InputError, listing
from priory.base.graph import Graph
from priory.base.typing import FloatArray
from priory.network.variables import Domain, Domains

__all__ = ["parse", "text"]

LABELS = "labels = "

Parsed: TypeAlias = tuple[dict[str, tuple[str, ...]], Domains, dict[str, FloatArray]]


def parse(source: bytes | str) -> Parsed:
    """Parse the parents, the values and the tables of every variable."""
    start = source if isinstance(source, bytes) else source.encode("utf-8")
    if b"<!ENTITY" in start:  # which could unpack to any size
        raise InputError("The XML declares entities, which are not read.")
    try:
        network = ET.fromstring(start).find("NETWORK")
    except ET.ParseError as error:
        raise InputError(f"The text is no XML: {error}.") from None
    if network is None:
        raise InputError("The XML holds no NETWORK; is it in the XMLBIF format?")
    domains: dict[str, Domain] = {}
    for variable in network.findall("VARIABLE"):
        name = _text(variable, "NAME")
        words = tuple((o.text or "").strip() for o in variable.findall("OUTCOME"))
        if name in domains or not words or len(set(words)) < len(words):
            raise InputError(
                f"Variable {name!r} stands twice, has no OUTCOME, or has one of them twice."
            )
        domains[name] = _labels(variable, words)
    found: dict[str, tuple[tuple[str, ...], FloatArray]] = {}
    for definition in network.findall("DEFINITION"):
        name = _text(definition, "FOR")
        parents = tuple((g.text or "").strip() for g in definition.findall("GIVEN"))
        unknown = [v for v in (*parents, name) if v not in domains]
        if unknown:
            raise InputError(f"A DEFINITION names {listing(unknown)}, which is no VARIABLE.")
        shape = tuple(len(domains[v]) for v in (*parents, name))
        words = tuple(_text(definition, "TABLE").split())
        try:
            table = np.array(words, dtype=np.float64)
        except ValueError:
            raise InputError(f"The TABLE of {name!r} holds something that is no number.") from None
        if table.size != int(np.prod(shape)):
            raise InputError(
                f"The TABLE of {name!r} must have {int(np.prod(shape))} numbers, not {table.size}."
            )
        found[name] = parents, table.reshape(shape)
    missing = [name for name in domains if name not in found]
    if missing or not domains:
        raise InputError(
            f"There is no DEFINITION of {listing(missing)}." if missing else "There is no VARIABLE."
        )
    return (
        {name: found[name][0] for name in domains},
        domains,
        {name: found[name][1] for name in domains},
    )


def text(name: str, graph: Graph, domains: Domains, tables: Mapping[str, FloatArray]) -> str:
    """Write a network as XML; numbers keep all their digits."""
    root = ET.Element("BIF", VERSION="0.3")
    network = ET.SubElement(root, "NETWORK")
    ET.SubElement(network, "NAME").text = name
    for node in graph.nodes:
        variable = ET.SubElement(network, "VARIABLE", TYPE="nature")
        ET.SubElement(variable, "NAME").text = node
        for value in domains[node]:
            ET.SubElement(variable, "OUTCOME").text = str(value)
        if not all(isinstance(value, str) for value in domains[node]):
            ET.SubElement(variable, "PROPERTY").text = LABELS + json.dumps(list(domains[node]))
    for node in graph.nodes:
        definition = ET.SubElement(network, "DEFINITION")
        ET.SubElement(definition, "FOR").text = node
        for parent in graph.parents[node]:
            ET.SubElement(definition, "GIVEN").text = parent
        ET.SubElement(definition, "TABLE").text = " ".join(map(repr, tables[node].ravel().tolist()))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, "unicode") + "\n"


def _text(element: ET.Element, tag: str) -> str:
    found = element.find(tag)
    if found is None or not (found.text or "").strip():
        raise InputError(f"A {element.tag} has no {tag}.")
    return (found.text or "").strip()


def _labels(variable: ET.Element, words: tuple[str, ...]) -> Domain:
    """Find what the words stand for: numbers and booleans are kept in a property."""
    for found in variable.findall("PROPERTY"):
        written = (found.text or "").strip()
        if written.startswith(LABELS):
            try:
                labels = tuple(json.loads(written.removeprefix(LABELS)))
            except ValueError:
                continue
            if tuple(map(str, labels)) == words:
                return labels
    return words
