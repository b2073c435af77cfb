"""Labels: booleans, numbers and strings, with 1, "1" and True kept apart.

Columns that are modelled together have tuples of labels.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import islice, repeat
from json.encoder import encode_basestring
from operator import lt
from typing import Any

import numpy as np

from priory.base.typing import AnyArray, IntArray, Key, Label

__all__ = [
    "are_in_order",
    "count_codes",
    "label_array",
    "label_key",
    "label_keys",
    "label_token",
    "label_tokens",
    "sorted_labels",
    "token_label",
    "token_labels",
    "union",
]


def count_codes(codes: AnyArray, size: int) -> IntArray:
    """Count each code below `size`; −1, a missing value, counts for nothing.

    >>> count_codes(np.array([2, 0, -1, 2], dtype=np.int8), 4).tolist()
    [1, 0, 2, 0]
    """
    return np.bincount(codes.astype(np.intp) + 1, minlength=size + 1)[1:]


def label_key(label: Key) -> tuple[Any, ...]:
    """Make the key by which a label is sorted and looked up.

    In Python ``1 == True``; as labels they differ, so the type comes first.

    >>> sorted(["b", 2, True, "a", 1.5], key=label_key)
    [True, 1.5, 2, 'a', 'b']
    """
    if isinstance(label, tuple):
        return (3, *map(label_key, label))
    if isinstance(label, bool):
        return (0, label)
    return (2 if isinstance(label, str) else 1, label)


def label_keys(labels: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Make the keys of many labels: at once where they are all strings.

    >>> label_keys(["a", "b"]), label_keys([True, 2])
    ([(2, 'a'), (2, 'b')], [(0, True), (1, 2)])
    """
    if _all_strings(labels):
        return list(zip(repeat(2), labels, strict=False))
    return list(map(label_key, labels))


def are_in_order(labels: Sequence[Any]) -> bool:
    """Tell whether labels are sorted, and each stands there once.

    >>> are_in_order([True, 1, "1"]), are_in_order(["a", "a"])
    (True, False)
    """
    keys = labels if _all_strings(labels) else label_keys(labels)
    return all(map(lt, keys, islice(keys, 1, None)))


def sorted_labels(labels: Iterable[Any]) -> tuple[Any, ...]:
    """Sort the distinct labels.

    >>> sorted_labels([1, "1", True, 1])
    (True, 1, '1')
    """
    labels = tuple(labels)
    if _all_strings(labels):
        return labels if are_in_order(labels) else tuple(sorted(dict.fromkeys(labels)))
    return tuple(sorted({label_key(label): label for label in labels}.values(), key=label_key))


def union(a: Sequence[Any], b: Sequence[Any]) -> tuple[tuple[Any, ...], IntArray, IntArray]:
    """Sort the union, and find the index of each label of `a` and of `b` in it.

    >>> labels, in_a, in_b = union(("a", "c"), ("b", "c"))
    >>> labels, in_a.tolist(), in_b.tolist()
    (('a', 'b', 'c'), [0, 2], [1, 2])
    """
    labels = sorted_labels([*a, *b])
    key: Callable[[Any], Any] = str if _all_strings(labels) else label_key
    place = {key(label): i for i, label in enumerate(labels)}
    where_a = np.array([place[key(label)] for label in a], dtype=np.intp)
    where_b = np.array([place[key(label)] for label in b], dtype=np.intp)
    return labels, where_a, where_b


def _all_strings(labels: Sequence[Any]) -> bool:
    """Tell whether all labels are strings, which need no keys."""
    return set(map(type, labels)) <= {str}


def label_token(label: Key) -> str:
    """Encode a label as JSON: typed, readable, and safe for lone surrogates.

    >>> label_token("Sunny"), label_token(1), label_token(True), label_token(("a", 1))
    ('"Sunny"', '1', 'true', '["a", 1]')
    """
    if type(label) is str:  # a vocabulary has very many
        token = encode_basestring(label)
        if token.isascii():
            return token
    else:
        token = json.dumps(label, ensure_ascii=False)
    try:
        token.encode()
    except UnicodeEncodeError:
        token = json.dumps(label, ensure_ascii=True)
    return token


def label_tokens(labels: Sequence[str]) -> list[str]:
    r"""Encode many strings at once, as `label_token` encodes each.

    >>> label_tokens(["a", 'b"\n'])
    ['"a"', '"b\\"\\n"']
    """
    joined = _BETWEEN.join(labels)
    try:
        joined.encode()
    except UnicodeEncodeError:  # of lone surrogates each has to be escaped
        return list(map(label_token, labels))
    if not labels or joined.count(_BETWEEN) >= len(labels):
        return list(map(label_token, labels))
    parted = encode_basestring(joined).replace(_BETWEEN, f'"{_BETWEEN}"')
    return parted.split(_BETWEEN)


_BETWEEN = "\x7f"
"""Parts strings that lack it; JSON has no other spelling for it."""


def token_label(token: str) -> Any:
    """Decode the label of a JSON token; the inverse of `label_token`.

    >>> token_label('"1"'), token_label("1")
    ('1', 1)
    """
    label = json.loads(token)
    return tuple(label) if isinstance(label, list) else label


_PLAIN_STRING = re.compile(r'"[^"\\\x00-\x1f]*+"').fullmatch
"""Finds the token of a string that is what stands between the quotes."""


def token_labels(tokens: Sequence[str]) -> list[Any]:
    """Decode many tokens, at once where they are plain values.

    >>> token_labels(['"a"', "1", "true"]), token_labels(['["a", 1]'])
    (['a', 1, True], [('a', 1)])
    """
    if tokens and tokens[0].startswith('"'):
        return [token[1:-1] if _PLAIN_STRING(token) else token_label(token) for token in tokens]
    joined = ",".join(tokens)
    if "[" not in joined and joined.count(",") == len(tokens) - 1:  # which only strings may hold
        with suppress(ValueError):
            found = json.loads(f"[{joined}]")
            if len(found) == len(tokens):
                return list(found)
    return list(map(token_label, tokens))


def label_array(labels: Sequence[Label]) -> AnyArray:
    """Give labels as an array of their own type, or of objects where they are mixed.

    >>> label_array([1, 2]).dtype.kind, label_array([1, "2"]).dtype.kind
    ('i', 'O')
    """
    types = {type(label) for label in labels}
    # NumPy's strings drop trailing NULs, which are part of a label.
    plain = types in ({bool}, {int}, {float}, {int, float}, {str})
    if plain and not any(isinstance(label, str) and "\0" in label for label in labels):
        array = np.array(labels)
        # NumPy makes floats, exact or not, of integers that do not fit into 64 bits together.
        if array.tolist() == list(labels) and (array.dtype.kind != "f" or float in types):
            return array
    result = np.empty(len(labels), dtype=object)
    result[:] = labels
    return result
