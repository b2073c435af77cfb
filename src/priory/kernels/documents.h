/* How often each word occurs in one document.
 * Everything here runs without Python; a function that needs memory returns −1 when there is none. */
#ifndef PRIORY_DOCUMENTS_H
#define PRIORY_DOCUMENTS_H

#include "vocabulary.h"

#define TEXT_SPARSE (-1)  /* the place of a word with few classes */
#define TEXT_DROPPED (-2) /* the place of a word that counts for nothing */

typedef struct {
    int32_t *tf;   /* of each word; 0 between documents */
    int32_t *seen; /* the words with tf > 0, in order of appearance */
    int64_t tf_room, seen_room, n_seen;
} document;

static int document_room(document *d, int64_t words)
{
    if (grow_zeros((void **)&d->tf, &d->tf_room, words, sizeof(int32_t)) < 0)
        return -1;
    return grow_array((void **)&d->seen, &d->seen_room, words + 1, sizeof(int32_t));
}

PRIORY_UNUSED static void document_free(document *d)
{
    free_array(d->tf, d->tf_room, sizeof(int32_t));
    free_array(d->seen, d->seen_room, sizeof(int32_t));
}

/* Return how many bytes of memory it has. */
PRIORY_UNUSED static int64_t document_size(const document *d)
{
    return (d->tf_room + d->seen_room) * (int64_t)sizeof(int32_t);
}

/* Lend its memory, between documents. */
PRIORY_UNUSED static void document_lend(document *d)
{
    lend_array(d->tf, d->tf_room, sizeof(int32_t));
    lend_array(d->seen, d->seen_room, sizeof(int32_t));
}

static inline void document_see(document *d, int32_t code)
{
    d->seen[d->n_seen] = code; /* without a branch: nobody could tell */
    d->n_seen += d->tf[code]++ == 0;
}

/* Count words of a document, new ones too. */
PRIORY_UNUSED static int document_add(document *d, vocabulary *v, const text_word *words, ptrdiff_t n)
{
    if (document_room(d, v->count + n) < 0)
        return -1;
    prefetch_words(v, words, n, d->tf);
    int32_t *tf = d->tf, *seen = d->seen;
    int64_t n_seen = d->n_seen;
    text_slot *slots = v->slots;
    int bits = v->bits;
    for (ptrdiff_t i = 0; i < n; i++) {
        int32_t code = find_slot(v, slots, bits, words + i)->code - 1;
        if (code < 0) {
            if ((code = vocabulary_add(v, words + i)) < 0) {
                d->n_seen = n_seen;
                return -1;
            }
            slots = v->slots;
            bits = v->bits;
        }
        seen[n_seen] = code; /* without a branch: nobody could tell */
        n_seen += (uint32_t)tf[code]++ < 1;
    }
    d->n_seen = n_seen;
    return 0;
}

/* Count the words of a document whose code is below `known` and whose place, if there are places,
 * is not TEXT_DROPPED. */
PRIORY_UNUSED static int document_find(document *d, const vocabulary *v, int64_t known,
                                       const int32_t *place, const text_word *words, ptrdiff_t n)
{
    if (document_room(d, known) < 0)
        return -1;
    prefetch_words(v, words, n, place);
    for (ptrdiff_t i = 0; i < n; i++) {
        int32_t code = vocabulary_find(v, words + i);
        if (code >= 0 && code < known && (place == NULL || place[code] != TEXT_DROPPED))
            document_see(d, code);
    }
    return 0;
}

static double text_logs[256]; /* log(1 + tf) */

/* Every module that includes this must fill its logarithms once, when it is loaded. */
PRIORY_UNUSED static void fill_logs(void)
{
    for (int tf = 0; tf < 256; tf++)
        text_logs[tf] = log1p(tf);
}

static inline double log1p_tf(int32_t tf)
{
    return tf < 256 ? text_logs[tf] : log1p((double)tf);
}

/* 1 / the length of the vector of log(1 + tf) */
static inline double document_scale(const document *d)
{
    double squares = 0.0;
    for (int64_t i = 0; i < d->n_seen; i++) {
        double log_tf = log1p_tf(d->tf[d->seen[i]]);
        squares += log_tf * log_tf;
    }
    return squares > 0.0 ? 1.0 / sqrt(squares) : 0.0;
}

static inline void document_clear(document *d)
{
    for (int64_t i = 0; i < d->n_seen; i++)
        d->tf[d->seen[i]] = 0;
    d->n_seen = 0;
}

#endif
