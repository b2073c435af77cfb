"""Letters made up for the tests: two kinds of words, some of both in each."""

import random

HAM = [f"{word}{i}" for i in range(40) for word in ("meeting", "notes", "lunch", "review")]
SPAM = [f"{word}{i}" for i in range(40) for word in ("winner", "pills", "casino", "refund")]
BOTH = [f"{word}{i}" for i in range(40) for word in ("the", "please", "today", "open")]


def letter(rng: random.Random, spam: bool, extra: str = "") -> bytes:
    own, other = (SPAM, HAM) if spam else (HAM, SPAM)
    words = [rng.choice(own if rng.random() < 0.35 else BOTH) for _ in range(rng.randint(15, 60))]
    words += [rng.choice(other) for _ in range(rng.randint(0, 2))]
    domain = f"bulk{rng.randint(0, 9)}.example" if spam else f"work{rng.randint(0, 9)}.example"
    subject = " ".join(rng.choices(own + BOTH, k=3))
    head = [
        f"Received: from mx.{domain} (mx.{domain} [198.51.{rng.randint(0, 99)}.7]) by here.example",
        f"From: Someone <a{rng.randint(0, 99)}@{domain}>",
        "To: me@here.example",
        f"Subject: {subject}",
        f"Message-ID: <{rng.getrandbits(64)}@{domain}>",
    ]
    return (
        "\n".join(head) + "\n\n" + " ".join(words) + f" nr{rng.getrandbits(40)}\n" + extra
    ).encode()


def letters(n: int, seed: int = 0) -> tuple[list[bytes], list[bytes]]:
    """Write n letters of spam and n of ham."""
    rng = random.Random(seed)
    return [letter(rng, True) for _ in range(n)], [letter(rng, False) for _ in range(n)]


def mbox(messages: list[bytes]) -> bytes:
    line = b"From a@b.example Mon Jan  1 00:00:00 2001\n"
    return b"".join(line + message.rstrip(b"\n") + b"\n\n" for message in messages)
