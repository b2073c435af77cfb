"""What a run of one part found, kept as JSON, so that the page is made of the last run of each."""

from __future__ import annotations

import datetime
import json
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

__all__ = ["RESULTS", "Part", "load_average", "machine"]

RESULTS = Path(__file__).parent / "results"
PACKAGES = (
    "priory", "numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "duckdb", "mlpack", "river",
    "wnb", "vowpalwabbit", "fasttext", "polars", "pgmpy", "pyagrum",
    "lightgbm", "interpret-core", "catboost",
)  # fmt: skip


@dataclass(frozen=True)
class Part:
    """The last run of one part: when, on what, and what was found."""

    name: str
    date: str
    machine: list[str]
    data: Mapping[str, Any]
    note: str = ""

    @classmethod
    def now(cls, name: str, data: Mapping[str, Any], load: float | None = None) -> Part:
        """Return what has just been found."""
        return cls(name, datetime.date.today().isoformat(), machine(load), data)

    @classmethod
    def load(cls, name: str, folder: Path = RESULTS) -> Part:
        """Read what was kept."""
        return cls(**json.loads((folder / f"{name}.json").read_text(encoding="utf-8")))

    def save(self, folder: Path = RESULTS) -> None:
        """Keep it, in the place of what was there."""
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(asdict(self), indent=1, ensure_ascii=False)
        (folder / f"{self.name}.json").write_text(text + "\n", encoding="utf-8")


def load_average() -> float | None:
    """Return how busy the machine is, where it tells."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def machine(load: float | None) -> list[str]:
    """Describe what the figures were measured on."""
    found = []
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    busy = "unknown" if load is None else f"{load:.2f}"
    return [
        f"{_processor()}, {_cores()} cores, {platform.system()} {platform.machine()}",
        f"Python {platform.python_version()}; {', '.join(found)}",
        f"load average just before the run: {busy}",
    ]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown processor"


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
