"""Certificates of forgetting: what a model knew before and after, as digests.

Learning is counting, and forgetting is subtracting: `after = before − rows`. A certificate has the
SHA-256 digest of the sums before, one of each row that was forgotten (with a salt of its own, so
that rows cannot be looked up in a list of digests), and that of the sums after. Whoever has the
model can check that it is the one certified; whoever has the rows and the model as it was before
can repeat the subtraction.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from priory.base.errors import InputError
from priory.base.typing import AnyArray
from priory.base.version import __version__
from priory.classifier.classifier import Classifier
from priory.data.columns import Combined, Frame, Labels
from priory.statistics.hashing import row_hashes
from priory.statistics.statistics import Statistics

__all__ = ["Certificate", "digest", "forget_certified", "row_digests"]

KIND = "priory certificate of forgetting"
PASSED = "passed"
"""How much ever passed through a sum, which forgetting does not take back."""


def digest(statistics: Statistics, counts_only: bool = False) -> str:
    """Digest every sum, in an order that does not depend on how it came about.

    With `counts_only` it is of rows and weights, which are exact however they were reached; sums of
    numbers are exact up to their last bits.

    >>> days = {"wind": ["weak", "strong", "weak"]}
    >>> whole = Classifier().update(days, ["Y", "N", "N"]).statistics
    >>> part = Classifier().update({"wind": ["weak", "strong"]}, ["N", "N"]).statistics
    >>> other = Classifier().update({"wind": ["weak"]}, ["Y"]).statistics
    >>> digest(part + other) == digest(whole), digest(part) == digest(whole)
    (True, False)
    """
    table = statistics.to_arrow()
    names = ["block", "part", "class", "key", "rows", "weight"]
    if not counts_only:
        names += ["weight_lo", "s1", "s1_lo", "s2", "s2_lo"]
    columns = [table.column(name).to_pylist() for name in names]
    lines = sorted(
        json.dumps([x.hex() if isinstance(x, float) else x for x in row], ensure_ascii=True)
        for row in zip(*columns, strict=True)
        if not (counts_only and row[1] == PASSED)
    )
    found = sha256()
    for line in lines:
        found.update(line.encode() + b"\n")
    return found.hexdigest()


def row_digests(frame: Frame, y: Labels, salt: str) -> list[str]:
    """Digest the values and the class of each row, in order of the digests.

    A row is first hashed to 64 bits, in the same way on every road that it can come.
    """
    single = {name: c for name, c in frame.columns.items() if not isinstance(c, Combined)}
    hashes = row_hashes(Frame(len(frame), single), y)
    return salted(hashes, salt)


def salted(hashes: AnyArray, salt: str) -> list[str]:
    """Digest hashes of rows with a salt."""
    start = bytes.fromhex(salt)
    return sorted(sha256(start + int(h).to_bytes(8, "little")).hexdigest() for h in hashes)


@dataclass(frozen=True)
class Certificate:
    """What was forgotten, and the model before and after."""

    issued: str
    version: str
    salt: str
    rows: int
    row_digests: tuple[str, ...]
    before: str
    before_rows: int
    after: str
    after_counts: str
    after_rows: int
    tuning: str

    @classmethod
    def of(
        cls, before: Statistics, after: Classifier, digests: Sequence[str], salt: str
    ) -> Certificate:
        """Certify that a classifier has forgotten rows."""
        return cls(
            datetime.now(UTC).isoformat(timespec="seconds"),
            __version__,
            salt,
            len(digests),
            tuple(digests),
            digest(before),
            before.n_rows,
            digest(after.statistics),
            digest(after.statistics, counts_only=True),
            after.statistics.n_rows,
            _tuning_of(after),
        )

    def to_json(self) -> str:
        """Write it as JSON."""
        return json.dumps({"certificate": KIND, **asdict(self)}, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Read it from JSON; anything else is refused."""
        try:
            plain = json.loads(text)
            if plain.pop("certificate") != KIND:
                raise ValueError("another kind of file")
            plain["row_digests"] = tuple(plain["row_digests"])
            found = cls(**plain)
            bytes.fromhex(found.salt)
            if not all(isinstance(one, str) for one in (found.before, found.after, found.tuning)):
                raise ValueError("digests that are no texts")
            return found
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"This is no certificate of priory: {error!r:.100}.") from None

    def check(
        self,
        after: Statistics,
        before: Statistics | None = None,
        forgotten: Statistics | None = None,
        digests: Sequence[str] | None = None,
    ) -> dict[str, bool]:
        """Check what is at hand: each claim, and whether it holds."""
        found = {
            "the model is the one certified": digest(after) == self.after,
            "it has as many rows": after.n_rows == self.after_rows,
        }
        if before is not None:
            found["the model before is the one certified"] = digest(before) == self.before
        if digests is not None:
            same = sorted(digests) == sorted(self.row_digests)
            found["the rows are those forgotten"] = same
        if before is not None and forgotten is not None:
            left = before - forgotten
            found["before − rows = after"] = digest(left) == self.after
        return found


def forget_certified(classifier: Classifier, X: Any, y: Any) -> Certificate:
    """Forget rows, and certify it.

    >>> days = {"wind": ["weak", "strong", "weak"]}
    >>> model = Classifier().update(days, ["Y", "N", "N"])
    >>> paper = forget_certified(model, {"wind": ["strong"]}, ["N"])
    >>> paper.rows, all(paper.check(model.statistics).values())
    (1, True)
    """
    before, salt = classifier.statistics, new_salt()
    frame, labels, _ = classifier._learned_rows(X, y, None)
    digests = row_digests(frame, labels, salt)
    classifier.forget(X, y)
    return Certificate.of(before, classifier, digests, salt)


def new_salt() -> str:
    """Draw a salt."""
    return secrets.token_hex(16)


def _tuning_of(classifier: Classifier) -> str:
    if not classifier.statistics.n_rows:
        return "nothing is left, and nothing was tuned anew"
    if not classifier.settings.is_tuned:
        return "nothing was tuned: the model follows from the sums alone"
    if classifier.has_sample:
        return "chosen anew, on the sample of rows without those forgotten"
    return (
        "kept: families, weights and corrections were chosen when the rows were still known, and "
        "no sample of rows is at hand to choose on; train with --keep-sample, or train anew"
    )
