/* Documents summed per (word, class).
 * Everything here runs without Python; a function that needs memory returns −1 when there is none. */
#ifndef PRIORY_WORDS_H
#define PRIORY_WORDS_H

#include "documents.h"
#include "pairs.h"

/* ---- sums per (word, class), of all pairs that may occur ----------------------------------------
 * Of texts that count 1 each. Each class has its words in chunks, which exist once one of their words
 * does. Texts come class by class, so that the sums they need are near; and words that are new with them
 * are neighbours, so that classes which have none of these have no chunk for them. */

#define DENSE_MOST ((int64_t)1 << 22) /* with more words × classes, only pairs that occur are kept */
#define DENSE_CHUNK 16                /* words of a class */

typedef struct {
    uint64_t numbers; /* of rows, and 2^32 times that of words */
    double log_tf;
} dense_sum;

static inline int64_t dense_rows(const dense_sum *sum)
{
    return (int64_t)(uint32_t)sum->numbers;
}

static inline int64_t dense_count(const dense_sum *sum)
{
    return (int64_t)(sum->numbers >> 32);
}

typedef struct {
    dense_sum *sums; /* chunk after chunk; the first is nobody's and stays zero */
    int64_t sums_room, chunks;
    int32_t *places; /* K × room: the chunk of these words, or 0 */
    int64_t K, room, words;
    int64_t total; /* of the words counted, so that no `count` overflows */
    uint64_t *counts; /* of one document: the place of a sum, and 2^32·tf */
    int64_t counts_room;
} dense_table;

static inline dense_sum *dense_at(const dense_table *t, int32_t label, int64_t word)
{
    return t->sums + (int64_t)t->places[label * t->room + word / DENSE_CHUNK] * DENSE_CHUNK + word % DENSE_CHUNK;
}

PRIORY_UNUSED static void dense_clear(dense_table *t)
{
    dense_table none = {NULL, 0, 0, NULL, t->K, 0, 0, 0, NULL, 0};
    free_array(t->sums, t->sums_room, sizeof(dense_sum));
    free_array(t->places, t->K * t->room, sizeof(int32_t));
    free_array(t->counts, t->counts_room, sizeof(uint64_t));
    *t = none;
}

PRIORY_UNUSED static int64_t dense_size(const dense_table *t)
{
    return t->sums_room * (int64_t)sizeof(dense_sum) + t->K * t->room * (int64_t)sizeof(int32_t)
           + t->counts_room * (int64_t)sizeof(uint64_t);
}

/* Lend the memory of sums that nobody needs any more. */
PRIORY_UNUSED static void dense_lend(dense_table *t)
{
    lend_array(t->sums, t->sums_room, sizeof(dense_sum));
    lend_array(t->places, t->K * t->room, sizeof(int32_t));
    lend_array(t->counts, t->counts_room, sizeof(uint64_t));
}

/* Begin anew, with so many classes, in the memory that is there. */
PRIORY_UNUSED static void dense_restart(dense_table *t, int64_t K)
{
    if (K == t->K && t->places != NULL) {
        memset(t->places, 0, (size_t)(K * t->room) * sizeof(int32_t));
    } else {
        free_array(t->places, t->K * t->room, sizeof(int32_t));
        t->places = NULL;
        t->room = 0;
    }
    t->K = K;
    t->chunks = t->words = t->total = 0;
}

/* Give a new chunk, all zero, to a place. */
static int dense_chunk(dense_table *t, int32_t *place)
{
    if (grow_array((void **)&t->sums, &t->sums_room, (t->chunks + 1) * DENSE_CHUNK, sizeof(dense_sum)) < 0)
        return -1;
    memset(t->sums + t->chunks * DENSE_CHUNK, 0, DENSE_CHUNK * sizeof(dense_sum));
    *place = (int32_t)t->chunks++;
    return 0;
}

/* Have places for so many words. */
PRIORY_UNUSED static int dense_room(dense_table *t, int64_t words)
{
    int32_t nobody;
    if (t->chunks == 0 && dense_chunk(t, &nobody) < 0)
        return -1;
    if (words > t->room * DENSE_CHUNK) {
        int64_t room = 2 * words / DENSE_CHUNK + 1;
        int32_t *grown = (int32_t *)zeros(t->K * room, sizeof(int32_t));
        if (grown == NULL)
            return -1;
        for (int64_t k = 0; k < t->K && t->room; k++)
            memcpy(grown + k * room, t->places + k * t->room, (size_t)t->room * sizeof(int32_t));
        free_array(t->places, t->K * t->room, sizeof(int32_t));
        t->places = grown;
        t->room = room;
    }
    t->words = words > t->words ? words : t->words;
    return 0;
}

/* Add a counted document to the sums of its class, and clear it. */
PRIORY_UNUSED static int document_sum(document *d, dense_table *t, int64_t words, int32_t label)
{
    int64_t n = d->n_seen, total = 0;
    if (dense_room(t, words) < 0 || grow_array((void **)&t->counts, &t->counts_room, n, sizeof(uint64_t)) < 0)
        return -1;
    int32_t *places = t->places + label * t->room, *tf = d->tf;
    const int32_t *seen = d->seen;
    uint64_t *counts = t->counts;
    double squares = 0.0;
    for (int64_t i = 0; i < n; i++) {
        uint32_t word = (uint32_t)seen[i], chunk = word / DENSE_CHUNK, times = (uint32_t)tf[word];
        if (places[chunk] == 0 && dense_chunk(t, places + chunk) < 0)
            return -1;
        uint64_t at = (uint64_t)(uint32_t)places[chunk] * DENSE_CHUNK + word % DENSE_CHUNK;
        PRIORY_PREFETCH(t->sums + at);
        counts[i] = at | (uint64_t)times << 32;
        tf[word] = 0;
        double log_tf = log1p_tf((int32_t)times);
        squares += log_tf * log_tf;
        total += times;
    }
    double scale = squares > 0.0 ? 1.0 / sqrt(squares) : 0.0;
    dense_sum *sums = t->sums;
    for (int64_t i = 0; i < n; i++) {
        dense_sum *sum = sums + (uint32_t)counts[i];
        uint64_t times = counts[i] >> 32;
        sum->numbers += times << 32 | 1;
        sum->log_tf += scale * log1p_tf((int32_t)times);
    }
    t->total += total;
    d->n_seen = 0;
    return 0;
}

/* Where another has sums of some classes, mark what lacks a chunk here, with −1; its word i is number
 * codes[i] here. Threads may do this, and then that, for classes of their own. */
PRIORY_UNUSED static void dense_mark(dense_table *t, const dense_table *other, const int32_t *codes,
                                     int64_t first_class, int64_t end_class)
{
    for (int64_t k = first_class; k < end_class; k++) {
        int32_t *places = t->places + k * t->room;
        for (int64_t word = 0; word < other->words; word += DENSE_CHUNK) {
            int32_t chunk = other->places[k * other->room + word / DENSE_CHUNK];
            const dense_sum *from = other->sums + (int64_t)chunk * DENSE_CHUNK;
            for (int64_t j = 0; chunk && j < DENSE_CHUNK; j++)
                if (from[j].numbers && places[codes[word + j] / DENSE_CHUNK] == 0)
                    places[codes[word + j] / DENSE_CHUNK] = -1;
        }
    }
}

/* Give a chunk to every place that is marked. */
PRIORY_UNUSED static int dense_fill(dense_table *t)
{
    for (int64_t i = 0; i < t->K * t->room; i++)
        if (t->places[i] < 0 && dense_chunk(t, t->places + i) < 0)
            return -1;
    return 0;
}

/* Add the sums of another, where there is a chunk for all of them. */
PRIORY_UNUSED static void dense_merge(dense_table *t, const dense_table *other, const int32_t *codes,
                                      int64_t first_class, int64_t end_class)
{
    for (int64_t k = first_class; k < end_class; k++)
        for (int64_t word = 0; word < other->words; word += DENSE_CHUNK) {
            int32_t chunk = other->places[k * other->room + word / DENSE_CHUNK];
            const dense_sum *from = other->sums + (int64_t)chunk * DENSE_CHUNK;
            for (int64_t j = 0; chunk && j < DENSE_CHUNK; j++) {
                if (from[j].numbers == 0)
                    continue;
                dense_sum *to = dense_at(t, (int32_t)k, codes[word + j]);
                to->numbers += from[j].numbers;
                to->log_tf += from[j].log_tf;
            }
        }
}

/* Return how many pairs occur among some chunks of words. */
PRIORY_UNUSED static int64_t dense_pairs(const dense_table *t, int64_t first, int64_t end)
{
    int64_t pairs = 0;
    for (int64_t k = 0; k < t->K; k++)
        for (int64_t at = first; at < end; at++) {
            const dense_sum *sums = t->sums + (int64_t)t->places[k * t->room + at] * DENSE_CHUNK;
            for (int64_t j = 0; j < DENSE_CHUNK; j++)
                pairs += sums[j].numbers > 0;
        }
    return pairs;
}

/* ---- sums per (word, class), of the pairs that occur --------------------------------------------
 * First every document's (word, tf) are written down, in the order of the documents, which numbers
 * new words. Then the classes are summed one after another: the sums of a class are close together,
 * and a word's place among them is one look into an array, not a search in a table of all pairs. */

typedef struct {
    int32_t word, tf;
} text_count;

typedef struct {
    text_count *counts;
    int64_t count, room;
} count_list;

typedef struct {
    int32_t word, label;
    int64_t rows;
    double weight, count, log_tf;
} text_pair;

typedef struct {
    text_pair *pairs; /* by class; within a class in order of appearance */
    int64_t count, room;
    int32_t *places; /* of each word's last pair, + 1 */
    int64_t class_start;
} pair_list;

/* Write down a counted document, and clear it. */
PRIORY_UNUSED static int document_write(document *d, count_list *list)
{
    if (grow_array((void **)&list->counts, &list->room, list->count + d->n_seen, sizeof(text_count)) < 0)
        return -1;
    for (int64_t i = 0; i < d->n_seen; i++) {
        text_count one = {d->seen[i], d->tf[d->seen[i]]};
        list->counts[list->count++] = one;
        d->tf[one.word] = 0;
    }
    d->n_seen = 0;
    return 0;
}

/* Add a document to the sums of its class: documents come class by class, in ascending order, and
 * class_start is the number of pairs before the class. `*words` grows by Σ w·tf. */
PRIORY_UNUSED static int pairs_add(pair_list *t, const text_count *counts, int64_t n, int32_t label,
                                   double w, double *words)
{
    double squares = 0.0;
    int64_t total = 0, first = t->class_start;
    if (t->count + n > INT32_MAX
        || grow_array((void **)&t->pairs, &t->room, t->count + n, sizeof(text_pair)) < 0)
        return -1;
    for (int64_t i = 0; i < n; i++) {
        double log_tf = log1p_tf(counts[i].tf);
        squares += log_tf * log_tf;
        total += counts[i].tf;
    }
    double scale = squares > 0.0 ? w / sqrt(squares) : 0.0;
    for (int64_t i = 0; i < n; i++) {
        if (i + 4 * TEXT_AHEAD < n)
            PRIORY_PREFETCH(t->places + counts[i + 4 * TEXT_AHEAD].word);
        if (i + 2 * TEXT_AHEAD < n) /* of a word that is new in the class: an old pair, and no harm */
            PRIORY_PREFETCH(t->pairs + t->places[counts[i + 2 * TEXT_AHEAD].word]);
        int32_t word = counts[i].word, tf = counts[i].tf;
        if (t->places[word] <= first) {
            text_pair fresh = {word, label, 0, 0.0, 0.0, 0.0};
            t->pairs[t->count] = fresh;
            t->places[word] = (int32_t)++t->count;
        }
        text_pair *pair = t->pairs + t->places[word] - 1;
        pair->rows += 1;
        pair->weight += w;
        pair->count += w * tf;
        pair->log_tf += scale * log1p_tf(tf);
    }
    *words += w * (double)total;
    return 0;
}

static int pair_compare(const void *a, const void *b)
{
    const text_pair *p = (const text_pair *)a, *q = (const text_pair *)b;
    if (p->word != q->word)
        return p->word < q->word ? -1 : 1;
    return (p->label > q->label) - (p->label < q->label);
}

/* Write the order of the pairs by word, then class. */
PRIORY_UNUSED static int pairs_sort(pair_list *t, int64_t words, int32_t *order)
{
    if (t->count < words / 16) { /* few: do not walk through all the words */
        if (t->count)
            qsort(t->pairs, (size_t)t->count, sizeof(text_pair), pair_compare);
        for (int64_t i = 0; i < t->count; i++)
            order[i] = (int32_t)i;
        return 0;
    }
    int64_t *next = (int64_t *)calloc((size_t)words + 1, sizeof(int64_t));
    if (next == NULL)
        return -1;
    for (int64_t i = 0; i < t->count; i++)
        next[t->pairs[i].word + 1]++;
    for (int64_t word = 0; word < words; word++)
        next[word + 1] += next[word];
    for (int64_t i = 0; i < t->count; i++) /* they are in the order of classes, and stay so */
        order[next[t->pairs[i].word]++] = (int32_t)i;
    free(next);
    return 0;
}

/* Write the pairs of a list in the given order. */
PRIORY_UNUSED static void pairs_from(const pair_list *t, const int32_t *order, const pair_arrays *out)
{
    for (int64_t i = 0; i < t->count; i++) {
        if (i + 16 < t->count)
            PRIORY_PREFETCH(t->pairs + order[i + 16]);
        const text_pair *pair = t->pairs + order[i];
        out->word[i] = pair->word;
        out->label[i] = pair->label;
        out->rows[i] = pair->rows;
        if (out->weight)
            out->weight[i] = pair->weight;
        out->count[i] = pair->count;
        out->log_tf[i] = pair->log_tf;
    }
}

/* Write the pairs that occur among some chunks of words, from place n on; `words_of` each class grows
 * by what they count. */
PRIORY_UNUSED static void pairs_of_dense(const dense_table *t, int64_t first, int64_t end, int64_t n,
                                         const pair_arrays *out, double *words_of)
{
    for (int64_t at = first; at < end; at++) {
        int64_t next[DENSE_CHUNK] = {0};
        for (int64_t k = 0; k < t->K; k++) {
            const dense_sum *sums = t->sums + (int64_t)t->places[k * t->room + at] * DENSE_CHUNK;
            for (int64_t j = 0; j < DENSE_CHUNK; j++)
                next[j] += sums[j].numbers > 0;
        }
        for (int64_t j = 0; j < DENSE_CHUNK; j++) { /* from how many there are to where they begin */
            int64_t pairs = next[j];
            next[j] = n;
            n += pairs;
        }
        for (int64_t k = 0; k < t->K; k++) {
            if (t->places[k * t->room + at] == 0)
                continue;
            const dense_sum *sums = t->sums + (int64_t)t->places[k * t->room + at] * DENSE_CHUNK;
            for (int64_t j = 0; j < DENSE_CHUNK; j++) {
                if (sums[j].numbers == 0)
                    continue;
                int64_t i = next[j]++;
                out->word[i] = (int32_t)(at * DENSE_CHUNK + j);
                out->label[i] = (int32_t)k;
                out->rows[i] = dense_rows(sums + j);
                out->count[i] = (double)dense_count(sums + j);
                out->log_tf[i] = sums[j].log_tf;
                words_of[k] += (double)dense_count(sums + j);
            }
        }
    }
}

#endif
