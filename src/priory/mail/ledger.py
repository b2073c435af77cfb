"""The ledger: which messages were learned as what, and what speaks for each without itself."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from priory.base.errors import ModelFileError
from priory.base.typing import AnyArray, BoolArray
from priory.families.telling_words import GROUPS

__all__ = ["Ledger", "digests_of"]

WIDTH = GROUPS + 1


@dataclass(frozen=True, eq=False)
class Ledger:
    """Hold a line for each message learned: a digest of its words, its class, its held-out sums.

    The sums are Σ log P(w | spam) − log P(w | ham) of the most telling words of each group, as the
    model says them that has not learned the message; then the least that words of the text could
    have brought it to, had the sender padded it.
    """

    digest: AnyArray
    is_spam: BoolArray
    sums: AnyArray

    @classmethod
    def empty(cls) -> Ledger:
        """Make the ledger of no messages."""
        sums = np.zeros((0, WIDTH), dtype=np.float32)
        return cls(np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.bool_), sums)

    def __len__(self) -> int:
        return len(self.digest)

    def find(self, digests: AnyArray) -> AnyArray:
        """Find the line of each digest, −1 where there is none."""
        if not len(self):
            return np.full(len(digests), -1)
        order = np.argsort(self.digest)
        place = np.searchsorted(self.digest, digests, sorter=order)
        line = order[np.minimum(place, len(order) - 1)]
        return np.where(self.digest[line] == digests, line, -1)

    def replaced(self, lines: Ledger) -> Ledger:
        """Write lines, in the place of those with the same digests."""
        kept = lines.find(self.digest) < 0
        return Ledger(
            np.concatenate([self.digest[kept], lines.digest]),
            np.concatenate([self.is_spam[kept], lines.is_spam]),
            np.concatenate([self.sums[kept], lines.sums]),
        )

    def to_plain(self) -> dict[str, Any]:
        """Write the ledger as plain JSON values."""
        return {
            "messages": len(self),
            "digest": _text(self.digest.astype("<u8")),
            "is_spam": _text(np.packbits(self.is_spam)),
            "sums": _text(self.sums.astype("<f4")),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Ledger:
        """Read the ledger of plain JSON values."""
        try:
            n = int(plain["messages"])
            bits = np.frombuffer(base64.b64decode(plain["is_spam"]), np.uint8)
            digest = np.frombuffer(base64.b64decode(plain["digest"]), "<u8").astype(np.uint64)
            sums = np.frombuffer(base64.b64decode(plain["sums"]), "<f4").astype(np.float32)
            sums, is_spam = sums.reshape(n, WIDTH), np.unpackbits(bits, count=n).astype(np.bool_)
            if len(digest) != n or len(is_spam) != n or not np.isfinite(sums).all():
                raise ValueError("its arrays do not fit")
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"The ledger of messages is damaged: {error}.") from None
        return cls(digest, is_spam, sums)


def digests_of(words: Sequence[bytes]) -> AnyArray:
    """Digest the words of each message: messages with the same words are the same."""
    digests = b"".join(blake2b(some, digest_size=8).digest() for some in words)
    return np.frombuffer(digests, "<u8").astype(np.uint64)


def _text(values: AnyArray) -> str:
    return base64.b64encode(values.tobytes()).decode("ascii")
