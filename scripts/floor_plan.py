"""Draw the map of the packages from their imports, into CONTRIBUTING.md.

python scripts/floor_plan.py          write it
python scripts/floor_plan.py --check  say whether it is current
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "priory"
PAGE = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- map: begin (make map) -->", "<!-- map: end -->"


def layers() -> list[str]:
    """List the packages from the top to the bottom, as the import contract orders them."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contract = config["tool"]["importlinter"]["contracts"][0]
    names = [re.findall(r"\w+", layer) for layer in contract["layers"]]
    return [name for layer in names for name in layer if (SOURCE / name).is_dir()]


def files(package: str) -> list[Path]:
    """List the source files of a package; compiled ones count as they are written."""
    kinds = {".py", ".pyx", ".pxd", ".h"}
    return sorted(p for p in (SOURCE / package).rglob("*") if p.suffix in kinds)


def imported(path: Path) -> Iterator[str]:
    """Yield the packages that a file imports, inside functions and for types too."""
    text = path.read_text("utf-8")
    if path.suffix != ".py":
        yield from re.findall(r"^(?:from|cimport|import) priory\.(\w+)", text, re.MULTILINE)
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module == "priory":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("priory."):
            yield str(node.module).split(".")[1]
        elif isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
            yield from (parts[1] for parts in names if parts[0] == "priory" and len(parts) > 1)


def summary(package: str) -> str:
    """Find what a package is for: the first line of its docstring."""
    tree = ast.parse((SOURCE / package / "__init__.py").read_text("utf-8"))
    return (ast.get_docstring(tree) or "").splitlines()[0].rstrip(".")


def draw() -> str:
    """Draw the map as a table: each package imports only from those below it."""
    packages = layers()
    uses: dict[str, set[str]] = defaultdict(set)
    rows = ["| package | holds | modules | lines | imports |", "|---|---|---:|---:|---|"]
    for package in packages:
        found = files(package)
        for path in found:
            uses[package] |= {name for name in imported(path) if name in packages}
        uses[package].discard(package)
        lines = sum(path.read_text("utf-8").count("\n") for path in found)
        modules = sum(path.name != "__init__.py" for path in found)
        below = " ".join(name for name in packages if name in uses[package])
        about = f"{lines / 1000:.1f}k"
        rows.append(f"| `{package}` | {summary(package)} | {modules} | {about} | {below} |")
    return "\n".join(rows)


def main(arguments: list[str]) -> int:
    """Write the map, or check it."""
    page = PAGE.read_text("utf-8")
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    current = f"{before}{BEGIN}\n{draw()}\n{END}{after}"
    if arguments == ["--check"]:
        if current != page:
            print("The map in CONTRIBUTING.md is not current: run `make map`.", file=sys.stderr)
        return int(current != page)
    PAGE.write_text(current, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
