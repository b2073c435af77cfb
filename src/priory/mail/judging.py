"""Judge single messages from an index of telling words, without loading the model.

The index is made of the model file, lies beside it, and is made anew when the model has changed. It
is a header of JSON, then the hashes of words in order, then what each speaks for. A message is
judged as the model would (`priory predict`), but nothing large has to be loaded, not even NumPy.
"""

from __future__ import annotations

import json
import math
import mmap
import os
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from priory.base.errors import ModelFileError
from priory.mail.places import HAM, SPAM, index_of
from priory.mail.wording import words_of

__all__ = ["Judge", "Verdict", "hash_of", "keep_index", "state_of", "write_index"]

MAGIC = b"PRIMAIL1"
GROUPS = 4


class Verdict(NamedTuple):
    """What a message is: "spam", "ham" or "unsure", and how probable it is that it is spam.

    >>> Verdict("unsure", 0.7).exit_code
    2
    """

    label: str
    probability: float

    @property
    def exit_code(self) -> int:
        """The exit code of the shell: 0 for spam, 1 for ham, 2 for unsure."""
        return {SPAM: 0, HAM: 1}.get(self.label, 2)


class Judge:
    """Judge messages by the index of a model file; it follows the file when that changes.

    log-odds = log π_spam / π_ham + Σ of the most telling words, as `TellingWords` says.
    """

    def __init__(self, model: str) -> None:
        self.model = model
        self._state: list[int] = []
        self._open()

    def verdict(self, message: bytes) -> Verdict:
        """Judge a message."""
        return self._banded(self.log_odds(words_of(message)))

    def refresh(self) -> None:
        """Read the index anew if the model file is another since."""
        if state_of(self.model) != self._state:
            self._open()

    def log_odds(self, words: Iterable[str]) -> float:
        """Add up what the most telling words speak for."""
        groups: tuple[list[float], ...] = tuple([] for _ in range(GROUPS))
        hashes, evidence, n = self._hashes, self._evidence, self._n
        for word in set(words):
            key = hash_of(word)
            at = bisect_left(hashes, key)
            if at < n and hashes[at] == key:
                found = evidence[at]
                groups[2 * (":" in word) + (found > 0)].append(found)
        total = self._prior
        for factor, group in zip(self._factors, groups, strict=True):
            total += factor * math.fsum(sorted(group, key=abs, reverse=True)[: self._most])
        return total

    def _banded(self, log_odds: float) -> Verdict:
        low, high = self._bands
        label = SPAM if log_odds >= high else HAM if log_odds <= low else "unsure"
        p = 1.0 / (1.0 + math.exp(-log_odds)) if log_odds > -700 else 0.0
        return Verdict(label, p)

    def _open(self) -> None:
        self._state = state_of(self.model)
        content = self._read(index_of(self.model))
        if content is None:
            from priory.mail.filtering import MailFilter  # loads the model, and writes the index

            content = memoryview(MailFilter.load(self.model).index(self._state))
            keep_index(self.model, bytes(content))
        size = int.from_bytes(content[8:12], "little")
        head: Mapping[str, Any] = json.loads(bytes(content[12 : 12 + size]))
        start, self._n = -(-(12 + size) // 8) * 8, head["words"]
        end = start + 8 * self._n
        self._hashes = content[start:end].cast("Q")
        self._evidence = content[end : end + 8 * self._n].cast("d")
        self._prior, self._most, self._factors = head["prior"], head["most"], head["factors"]
        self._bands = head["bands"]

    def _read(self, path: str) -> memoryview | None:
        """Map the index, if there is one of the model as it is now."""
        try:
            with open(path, "rb") as file:
                content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            size = int.from_bytes(content[8:12], "little")
            head = json.loads(bytes(content[12 : 12 + size]))
            whole = -(-(12 + size) // 8) * 8 + 16 * head["words"] == len(content)
            fits = content[:8] == MAGIC and head["model"] == self._state and whole
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return content if fits else None


def hash_of(word: str) -> int:
    """Hash a word to 64 bits, the same on every machine.

    >>> hash_of("free") == hash_of("free"), hash_of("free") < 2**64
    (True, True)
    """
    return int.from_bytes(_digest(word), "little")


def _digest(word: str) -> bytes:
    return blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def state_of(model: str) -> list[int]:
    """Tell one state of a model file from another: its size, when it was written, its inode."""
    try:
        found = os.stat(model)
    except OSError as error:
        raise ModelFileError(
            f"There is no filter at {model!r} ({error.strerror}). Learn first: priory mail learn "
            "--spam junk.mbox --ham inbox/, or name another by --model."
        ) from None
    return [found.st_size, found.st_mtime_ns, found.st_ino]


def write_index(head: Mapping[str, Any], words: Sequence[str], evidence: Any) -> bytes:
    """Make an index of words and an array of what each speaks for."""
    import numpy as np

    digests = b"".join([_digest(word) for word in words])
    hashes = np.frombuffer(digests, np.dtype("<u8")).astype(np.uint64)
    order = np.argsort(hashes)
    text = json.dumps({**head, "words": len(words)}).encode()
    padding = b" " * (-(12 + len(text)) % 8)
    size = (len(text) + len(padding)).to_bytes(4, "little")
    arrays = (hashes[order], np.asarray(evidence, dtype=np.float64)[order])
    return b"".join([MAGIC, size, text, padding, *(array.tobytes() for array in arrays)])


def keep_index(model: str, content: bytes) -> None:
    """Write the index of a model for the next time, where its folder allows it.

    Who may not read the model may not read its words either.
    """
    from priory.base.replacing import replacing

    try:
        with replacing(index_of(model), like=model) as made, open(made, "wb") as file:
            file.write(content)
    except OSError:
        return
