"""Where a model comes from: the sources it learned, and what was left out of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

__all__ = ["Figures", "LearnedSource", "Provenance"]

MOST_SOURCES = 1000
"""Of more sources than this the oldest are added up under one name."""


@dataclass(frozen=True)
class LearnedSource:
    """A source and how many of its rows were learned; forgotten ones count negative."""

    name: str
    rows: int


@dataclass(frozen=True)
class Figures:
    """Leave-one-out metrics of a model on the rows it was trained on.

    `how` says how: "exact leave-one-out" where nothing was tuned, else "cross-fitted".
    """

    how: str
    rows: int
    accuracy: float
    log_loss: float
    calibration_error: float

    def __post_init__(self) -> None:
        if not isinstance(self.how, str) or type(self.rows) is not int:
            raise TypeError("figures must say how they came about, and over how many rows")
        for name in ("accuracy", "log_loss", "calibration_error"):
            if not isinstance(getattr(self, name), float):
                raise TypeError(f"{name} must be a number")


@dataclass(frozen=True)
class Provenance:
    """What is known of the data behind a model; nothing here changes a prediction.

    `target` is the column the classes came from, `weight` that of the weights, `dropped` are
    columns left out on purpose. With `min_count` above 0, values in fewer rows were removed, so
    rows can no longer be forgotten. `figures` are of what was learned at first: what is learned
    on or merged has none. `estimator` says as what a model was saved: an estimator's name and its
    parameters, None for a classifier by itself. `streams` has the last batch that was learned of
    each stream, by its id, so that none is learned twice. `notes` are plain JSON values of whoever
    keeps a model for a purpose, by the name of the purpose; they are of what one model learned, and
    are lost where two are merged.

    >>> Provenance().with_source("days.csv", 14).sources
    (LearnedSource(name='days.csv', rows=14),)
    """

    target: str | None = None
    weight: str | None = None
    dropped: tuple[str, ...] = ()
    sources: tuple[LearnedSource, ...] = ()
    min_count: int = 0
    figures: Figures | None = None
    estimator: Mapping[str, Any] | None = None
    streams: Mapping[str, int] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)

    def with_source(self, name: str, rows: int) -> Provenance:
        """Add one more source."""
        return self._of((*self.sources, LearnedSource(name, rows)))

    def __add__(self, other: Provenance) -> Provenance:
        both = replace(
            self,
            target=self.target if self.target is not None else other.target,
            weight=self.weight if self.weight is not None else other.weight,
            dropped=tuple(dict.fromkeys(self.dropped + other.dropped)),
            min_count=max(self.min_count, other.min_count),
            streams={
                stream: max(one.streams.get(stream, -1) for one in (self, other))
                for stream in {**self.streams, **other.streams}
            },
            notes={},
        )
        return both._of(self.sources + other.sources)

    def _of(self, sources: tuple[LearnedSource, ...]) -> Provenance:
        if len(sources) > MOST_SOURCES:
            old, new = sources[: -MOST_SOURCES + 1], sources[-MOST_SOURCES + 1 :]
            sources = (LearnedSource("earlier sources", sum(source.rows for source in old)), *new)
        return replace(self, sources=sources, figures=None)

    def to_dict(self) -> dict[str, Any]:
        """Write the provenance as plain JSON values."""
        plain = {**asdict(self), "dropped": list(self.dropped)}
        for name in ("streams", "notes"):
            if not plain[name]:
                del plain[name]
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Provenance:
        """Read the provenance of plain JSON values, or raise TypeError or ValueError."""
        target, weight, dropped, least = (
            plain.get(name) for name in ("target", "weight", "dropped", "min_count")
        )
        if not all(name is None or isinstance(name, str) for name in (target, weight)):
            raise TypeError("target and weight must be names of columns")
        if not isinstance(dropped, list) or not all(isinstance(name, str) for name in dropped):
            raise TypeError("dropped must list names of columns")
        if type(least) is not int or least < 0:
            raise TypeError("min_count must be an integer of at least 0")
        sources = []
        for source in plain.get("sources", ()):
            name, rows = source["name"], source["rows"]
            if not isinstance(name, str) or type(rows) is not int:
                raise TypeError("a source must have a name and a number of rows")
            sources.append(LearnedSource(name, rows))
        figures, estimator = plain.get("figures"), plain.get("estimator")
        if not (estimator is None or isinstance(estimator, dict)):
            raise TypeError("estimator must be a description of one")
        streams = plain.get("streams", {})
        if not isinstance(streams, dict) or not all(type(i) is int for i in streams.values()):
            raise TypeError("streams must have the number of a batch each")
        notes = plain.get("notes", {})
        if not isinstance(notes, dict):
            raise TypeError("notes must be values by name")
        return cls(
            target,
            weight,
            tuple(dropped),
            tuple(sources[-MOST_SOURCES:]),
            least,
            None if figures is None else Figures(**figures),
            estimator,
            streams,
            notes,
        )
