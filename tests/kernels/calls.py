"""A sound call of every kernel, and what becomes of it when one array is another."""

import contextlib

import numpy as np

from priory.kernels import (
    adagrad,
    additive,
    counts,
    cuts,
    hashes,
    labels,
    loo_rows,
    loo_words,
    markup,
    messages,
    numbers,
    pairs,
    score,
    screening,
    strings,
    telling,
    text,
    utf8,
    vocabulary,
    word_scores,
    words,
)

N, D, K = 5, 3, 2
MODULES = (
    adagrad, additive, counts, cuts, hashes, labels, loo_rows, loo_words, markup, messages, numbers,
    pairs, score, screening, strings, telling, text, utf8, vocabulary, word_scores, words,
)  # fmt: skip


def f8(*shape):
    return np.ones(shape)


def i8(*shape):
    return np.zeros(shape, dtype=np.int64)


def i4(*shape):
    return np.zeros(shape, dtype=np.int32)


def sums(n):
    return [f8(K, D) for _ in range(n)]


def csr():
    return [f8(4), np.array([0, 1, 2, 0], np.int32), np.array([0, 1, 2, 3, 3, 4])]


def word_rows(n=4):
    return [np.arange(n + 1), np.array([0, 1, -1, 0], np.int32)]


def f4(*shape):
    return np.ones(shape, dtype=np.float32)


def texts():
    return list(utf8.encode_texts(["a free lunch", "", "now"]))


def some_pairs():
    return pairs.Pairs(i4(1), i4(1), i8(1), f8(1), f8(1), f8(1))


def some_scores():
    V = 2
    return word_scores.WordScores(i4(V) - 1, f8(0, K), i8(V + 1), i4(0), f8(0), f8(V), f8(V), f8(K))


def loo_sums():
    return loo_words.LooSums([0, 1], [0], [1], [1.0], [1.0], [1], K)


def vocabulary_of_two():
    return vocabulary.Vocabulary(["free", "now"])


def pieces():
    import pyarrow as pa

    found = [None if b is None else memoryview(b) for b in pa.array(["a", "b"]).buffers()]
    return [(32, 2, 0, found)]


SOUND = {
    "count_dense": lambda: (
        counts.count_dense, [f8(N, D), i4(N), f8(N), i8(K, D), f8(K, D), f8(K, D)]
    ),
    "count_present_dense": lambda: (
        counts.count_present_dense, [f8(N, D), i4(N), f8(N), 0.5, i8(K, D), f8(K, D)]
    ),
    "count_csr": lambda: (
        counts.count_csr, [*csr(), i4(N), f8(N), i8(K, D), f8(K, D), f8(K, D)]
    ),
    "add_pairs_csr": lambda: (
        adagrad.add_pairs_csr,
        [*word_rows(), f4(4), i4(4), np.array([0, 1, 2]), i4(2), f4(1, 2), f4(4, K)],
    ),
    "take_groups": lambda: (
        adagrad.take_groups,
        [
            *word_rows(), i4(4), i4(4), f8(4), i4(4), np.array([0, 1, 2]), i4(2), f8(1, 2),
            f8(1, 2), 0, 1,
        ],
    ),
    "known_words": lambda: (
        adagrad.known_words, [*word_rows(), i4(4), i4(4), np.ones((1, 2), np.uint8), f4(4)]
    ),
    "pair_slots": lambda: (adagrad.pair_slots, [*word_rows(), i4(4, 3), i4(4, 3)]),
    "learn_words": lambda: (
        adagrad.learn_words,
        [
            i4(3), *word_rows(), f4(4), i4(4), f4(4), f4(4, 3), f4(4, 3), f4(4, 2), i4(4, 3),
            i4(4, 3), f4(2, 2, 1), f4(2), f8(2, 3), f8(2), 0.5, 0.1, 0.1,
        ],
    ),
    "add_cells": lambda: (additive.add_cells, [i4(N, D), f8(K, 2), f8(N, 2)]),
    "sum_cells": lambda: (additive.sum_cells, [i4(N, D), f8(N, 2), f8(K, 2)]),
    "log_loss_residuals": lambda: (additive.log_loss_residuals, [f8(N, 2), i4(N), f8(N)]),
    "additive_gradient": lambda: (
        additive.additive_gradient, [i4(N, D), f8(K, 2), f8(N, 2), i4(N), f8(N), f8(K, 2)]
    ),
    "cell_losses": lambda: (additive.cell_losses, [f8(N, D, 1), f8(N, D, 2)]),
    "mdl_cuts": lambda: (cuts.mdl_cuts, [f8(N, K)]),
    "shared_without": lambda: (
        screening.shared_without, [i4(N), i4(N), 1, 1, i4(N), f8(N), 2, K]
    ),
    "left_over": lambda: (
        screening.left_over, [i4(N), i4(N), 1, 1, f8(N, 2), f8(N, 2), 4.0]
    ),
    "text_checksums": lambda: (
        hashes.text_checksums, [np.zeros(N, np.uint8), i8(D), np.zeros(D - 1, np.uint64)]
    ),
    "add_numbers": lambda: (hashes.add_numbers, [np.zeros(N, np.uint64), f8(N), 1]),
    "encode_objects": lambda: (labels.encode_objects, [np.array(["a", 1, None], dtype=object)]),
    "encode_integers": lambda: (labels.encode_integers, [i8(N)]),
    "encode_range": lambda: (labels.encode_range, [i8(N), 0, i4(N), np.zeros(2, np.uint8)]),
    "narrow_codes": lambda: (labels.narrow_codes, [i8(N), np.zeros(N, np.int8)]),
    "pack_codes": lambda: (labels.pack_codes, [f8(N, D), i4(D, N + 1), 1, i8(D)]),
    "count_joint": lambda: (labels.count_joint, [[i4(N), i8(N)], [2, 2], i8(4)]),
    "count_labels": lambda: (labels.count_labels, [i4(N), i4(N), f8(N), i8(K, D), f8(K, D)]),
    "class_moments": lambda: (
        numbers.class_moments, [f8(N, D), i4(N), f8(N), i8(K, D), *sums(6)]
    ),
    "add_rows": lambda: (numbers.add_rows, [f8(N, D), i4(N), i8(K, D), *sums(6)]),
    "central_moments": lambda: (numbers.central_moments, sums(8)),
    "add_up": lambda: (numbers.add_up, [f8(N, D), f8(N, D), f8(D), f8(D)]),
    "count_cells": lambda: (numbers.count_cells, [f8(N), i4(N), f8(N), K, 0, 8]),
    "sort_pairs": lambda: (pairs.sort_pairs, [some_pairs(), 1]),
    "take_pairs": lambda: (pairs.take_pairs, [some_pairs(), np.array([True])]),
    "add_pairs": lambda: (pairs.add_pairs, [some_pairs(), some_pairs()]),
    "subtract_pairs": lambda: (pairs.subtract_pairs, [some_pairs(), some_pairs()]),
    "sum_by": lambda: (pairs.sum_by, [i4(N), f8(N), 1]),
    "log_plus": lambda: (pairs.log_plus, [f8(N), 1.0]),
    "add_gaussian": lambda: (score.add_gaussian, [f8(N, D), *sums(3), f8(N, K)]),
    "add_student_t": lambda: (score.add_student_t, [f8(N, D), *sums(4), f8(N, K)]),
    "add_counts_dense": lambda: (score.add_counts_dense, [f8(N, D), f8(D, K), f8(N, K)]),
    "add_present_dense": lambda: (score.add_present_dense, [f8(N, D), 0.5, f8(D, K), f8(N, K)]),
    "add_counts_csr": lambda: (score.add_counts_csr, [*csr(), f8(D, K), f8(N, K)]),
    "log_normalize": lambda: (score.log_normalize, [f8(N, K), f8(N)]),
    "softmax": lambda: (score.softmax, [f8(N, K), f8(N)]),
    "log_shares": lambda: (score.log_shares, [f8(K, D), f8(D), f8(K), 0, D, f8(D, K)]),
    "argmax_rows": lambda: (score.argmax_rows, [f8(N, K), i4(N)]),
    "Lookups": lambda: (
        lambda *given: score.Lookups([given[:4], given[:4]]).add(1, given[4]),
        [i4(N), i4(2), f8(1, K), i4(N), f8(N - 1, K)],
    ),
    "encode_strings": lambda: (strings.encode_strings, [pieces()]),
    "encode_fixed_strings": lambda: (strings.encode_fixed_strings, [np.array(["ab", "c"])]),
    "borrow_texts": lambda: (utf8.borrow_texts, [np.array(["a", None], dtype=object)]),
    "encode_texts": lambda: (utf8.encode_texts, [np.array(["a", None], dtype=object)]),
    "text_sizes": lambda: (utf8.text_sizes, [["a", None]]),
    "encode_tokens": lambda: (utf8.encode_tokens, [[["a"], None]]),
    "Borrowed": lambda: (utf8.Borrowed, [np.array(["a", None], dtype=object)]),
    "Splitter": lambda: (text.Splitter().split, ["a text"]),
    "character_tables": lambda: (text.character_tables, []),
    "character_stretches": lambda: (text.character_stretches, []),
    "read_page": lambda: (markup.read_page, ["<p>a", {}, {}, lambda tag: (None, [], []), str]),
    "read_attributes": lambda: (markup.read_attributes, ["a=b", frozenset("a")]),
    "read_header": lambda: (messages.read_header, [b"A: b", 9, 9]),
    "cut_links": lambda: (messages.cut_links, ["a@b www.c"]),
    "cut_addresses": lambda: (messages.cut_addresses, ["a@b"]),
    "most_telling": lambda: (
        telling.most_telling, [np.array([0, 2, 3]), i4(3), f8(2), i8(2), 1]
    ),
    "Vocabulary": lambda: (
        vocabulary.Vocabulary.from_buffers, [np.frombuffer(b"ab", np.uint8), np.array([0, 1, 2])]
    ),
    "place_pairs": lambda: (
        word_scores.place_pairs,
        [i4(2), i4(2), f8(2), i4(2) - 1, f8(2), f8(2), f8(K), f8(2, K), i4(2), f8(2)],
    ),
    "score_words": lambda: (
        word_scores.score_words, [*texts(), vocabulary_of_two(), some_scores(), f8(3, K)]
    ),
    "WordScores": lambda: (
        word_scores.WordScores, [i4(2) - 1, f8(0, K), i8(3), i4(0), f8(0), f8(2), f8(2), f8(K)]
    ),
    "count_words": lambda: (words.count_words, [*texts(), i4(3), f8(3), vocabulary_of_two(), K]),
    "count_matrix": lambda: (words.count_matrix, [*texts(), vocabulary_of_two()]),
    "WordCounter": lambda: (
        words.WordCounter(vocabulary_of_two(), K).add, [*texts(), i4(3), f8(3)]
    ),
    "GaussianSums": lambda: (
        lambda own, pooled, *more: loo_rows.GaussianSums(own, pooled, 0, 0, 0, 0, 0.5).add(*more),
        [f8(K, D, 6), f8(D, 4) * 9, f8(N, D), i4(N), f8(N), f8(N, K)],
    ),
    "add_student_t_loo": lambda: (
        loo_rows.add_student_t_loo,
        [f8(N), i4(N), f8(N, 4), f8(N, 2), f8(K, 4), 1.0, 1.0, 9.0, f8(N, K)],
    ),
    "LooSums": lambda: (
        loo_sums().without, [np.array([0, 1, 1]), i4(1), i4(1) + 1, i4(2), f8(2)]
    ),
}  # fmt: skip


def others(array):
    """Give arrays of other shapes, then of other types."""
    yield "longer", np.concatenate([array, array[-1:], array[-1:]]) if len(array) else None
    yield "shorter", array[:-1] if len(array) else None
    yield "empty", array[:0] if len(array) else None
    yield "one more axis", array[None]
    yield "no axis", np.array(array.flat[0]) if array.size else None
    if array.ndim > 1:
        yield "wider", np.ascontiguousarray(np.concatenate([array, array], axis=-1))
        yield "narrower", np.ascontiguousarray(array[..., :-1])
        yield "flat", array.ravel()
    for kind in ("f4", "f8", "i8", "i4", "i1", "?", "c16", "M8[s]", "S3", "U3", "O", ">f8"):
        if array.dtype != kind:
            with contextlib.suppress(TypeError, ValueError):
                yield f"as {np.dtype(kind)}", array.astype(kind)
    yield "nothing", None


def wrong_calls(name):
    """Give each call of a kernel with one array replaced: what, the function, its arguments."""
    function, given = SOUND[name]()
    for i, array in enumerate(given):
        if not isinstance(array, np.ndarray):
            continue
        for how, other in others(array):
            if other is None and how != "nothing":
                continue
            function, fresh = SOUND[name]()
            fresh[i] = other
            yield f"argument {i} {how}", function, fresh


def kernels():
    """Name every function and class of the kernels."""
    found = set()
    for module in MODULES:
        for name, value in vars(module).items():
            own = getattr(value, "__module__", None) == module.__name__
            if own and callable(value) and not name.startswith("_"):
                found.add(name)
    return found
