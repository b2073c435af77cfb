"""CSV, JSON lines and Parquet that are none: read, or refused with a reason."""

import json
import warnings
from pathlib import Path

from priory import Settings, train
from priory.base.errors import PrioryError

CELLS = [
    b"1", b"x", b"", b'"', b'""', b'"a,b"', b"1.5", b"NaN", b"inf", b"1e999", b"\x00", b"\xff\xfe",
    "é".encode(), b"true", b"2020-01-01", b"=1+1", b" ", b"\t", b"'", b"-0", b"0x10", b"a\nb",
    b'"a\nb"', b"9" * 400, b"z" * 5000, b"\r", b"NULL", b"\\", b"{", b"[1]",
]  # fmt: skip
TAME = [cell for cell in CELLS if len(cell) < 400 and not set(cell) & set(b'"\n\r\t\0\xff|;')]


def a_file(rng):
    """Make the bytes of a file, and its suffix."""
    how = rng.random()
    if how < 0.2:
        lines = []
        for _ in range(rng.integers(1, 20)):
            keys = rng.choice(["y", "a", "b", "", "\x00", "é"], rng.integers(0, 4))
            values = [1, "x", None, True, [1], {"a": 1}, 1e308, "\ud83d\ude00", 2**70]
            line = {key: values[rng.integers(len(values))] for key in keys.tolist()}
            line["y"] = ["yes", "no"][rng.integers(2)]
            text = json.dumps(line).encode()
            lines.append(text[: rng.integers(1, len(text) + 1)] if rng.random() < 0.05 else text)
        return b"\n".join(lines), ".jsonl"
    separator = [b",", b";", b"\t", b"|"][rng.integers(4)]
    end = [b"\n", b"\r\n", b"\r"][rng.integers(3)]
    width = int(rng.integers(1, 6))
    head = separator.join([b"y", b"a", b"b", b"a", b"", b'"c d"'][:width])
    lines = [head]
    cells_of = CELLS if rng.random() < 0.4 else TAME
    for _ in range(rng.integers(0, 30)):
        n = width if cells_of is TAME or rng.random() < 0.95 else int(rng.integers(0, 8))
        cells = [cells_of[i] for i in rng.integers(0, len(cells_of), n)]
        if rng.random() < 0.95:
            cells[:1] = ([b"yes", b"no"][rng.integers(2)],)
        lines.append(separator.join(cells))
    content = end.join(lines)
    if rng.random() < 0.2:
        place = int(rng.integers(0, len(content) + 1))
        content = content[:place] + rng.bytes(int(rng.integers(1, 9))) + content[place:]
    if rng.random() < 0.1:
        content = [b"\xef\xbb\xbf", b"\xff\xfe", b"PAR1", b"\x1f\x8b", b"\n\n"][
            rng.integers(5)
        ] + content
    suffixes = [".csv", ".csv", ".csv", ".csv", ".tsv", ".txt", ".csv.gz", ".parquet"]
    return content, suffixes[rng.integers(len(suffixes))]


def run(rng, folder, enough):
    """Attack until it is enough; return what was done."""
    read = refused = 0
    while not enough(read + refused):
        content, suffix = a_file(rng)
        path = Path(folder, f"data{suffix}")
        path.write_bytes(content)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = train(str(path), "y", settings=Settings.textbook())
                read += 1
                model.predict({name: ["x"] for name in model.statistics.schema.columns})
        except PrioryError as error:
            assert str(error).strip(), content
            refused += 1
        except Exception as error:
            raise AssertionError(f"{suffix} {content!r}: {error!r}") from error
        path.unlink()
    return f"{read} files read, {refused} refused"
