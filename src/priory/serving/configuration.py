"""How a server is set up: models, tokens and limits, as one value that workers can be sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from priory.base.errors import SettingError, check_number

__all__ = ["LOOPBACK", "Configuration", "Limits"]

LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class Limits:
    """What one request may take; more is refused with 413, 429 or 503.

    `body` is in bytes, `rows` counts those of a batch and `explained` those that are worked out,
    `seconds` bounds receiving and answering, `at_once` how many requests are worked on.

    >>> Limits(rows=10).rows
    10
    """

    body: int = 64 * 2**20
    rows: int = 200_000
    explained: int = 100
    seconds: float = 30.0
    at_once: int = 64

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            check_number(name, value, above=0)


@dataclass(frozen=True)
class Configuration:
    """The models by name, who may ask and change them, and how much.

    >>> one = Configuration({"days": "days.priory"})
    >>> Configuration.from_json(one.to_json()) == one
    True
    """

    models: Mapping[str, str]
    token_file: str | None = None
    learn: bool = False
    tries: bool = True
    """Whether files may be tried on the page: by one process, which keeps them in memory."""
    drift: bool = False
    """Whether what is asked is counted, to be compared with what was learned."""
    hosts: tuple[str, ...] = LOOPBACK
    """Names by which the server may be called where it asks for no token."""
    log: str = "requests"
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if not self.models:
            raise SettingError("models must name one model file or more.")
        for name in self.models:
            if not name.isprintable() or not name.strip(". ") or "/" in name:
                raise SettingError(
                    f"models: {name!r} cannot stand in an address; name the model otherwise, as "
                    "NAME=FILE."
                )
        if self.learn and self.token_file is None:
            raise SettingError(
                "learn needs token_file: whoever may change a model has a token with the scope "
                "learn."
            )
        if self.log not in ("requests", "errors", "none"):
            raise SettingError(f"log must be requests, errors or none, not {self.log!r}.")

    @property
    def first(self) -> str:
        """The model that is meant where none is named."""
        return next(iter(self.models))

    def to_json(self) -> str:
        """Write it for a worker."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Configuration:
        """Read what `to_json` wrote."""
        plain = json.loads(text)
        limits = Limits(**plain.pop("limits"))
        return cls(**{**plain, "hosts": tuple(plain["hosts"])}, limits=limits)
