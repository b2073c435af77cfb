/* Words counted in a document, and summed per (word, class).
 * Everything here runs without Python; a function that needs memory returns −1 when there is none. */
#ifndef PRIORY_WORDS_H
#define PRIORY_WORDS_H

#include "vocabulary.h"

/* ---- how often each word occurs in one document ------------------------------------------------ */

#define TEXT_SPARSE (-1)  /* the place of a word with few classes */
#define TEXT_DROPPED (-2) /* the place of a word that counts for nothing */

typedef struct {
    int32_t *tf;   /* of each word; 0 between documents */
    int32_t *seen; /* the words with tf > 0, in order of appearance */
    int64_t tf_room, seen_room, n_seen;
} document;

static int document_room(document *d, int64_t words)
{
    int64_t before = d->tf_room;
    if (words > before && before == 0) { /* fresh pages are zero without being touched */
        d->tf = (int32_t *)calloc((size_t)words, sizeof(int32_t));
        if (d->tf == NULL)
            return -1;
        d->tf_room = words;
    } else if (words > before) {
        if (grow_array((void **)&d->tf, &d->tf_room, words, sizeof(int32_t)) < 0)
            return -1;
        memset(d->tf + before, 0, (size_t)(d->tf_room - before) * sizeof(int32_t));
    }
    return grow_array((void **)&d->seen, &d->seen_room, words + 1, sizeof(int32_t));
}

static inline void document_see(document *d, int32_t code)
{
    d->seen[d->n_seen] = code; /* without a branch: nobody could tell */
    d->n_seen += d->tf[code]++ == 0;
}

typedef struct {
    int32_t rows, count; /* of texts that count 1 each */
    double log_tf;
} dense_sum;

/* Count words of a document, new ones too; the `sums` of its class, if given, are brought near. */
PRIORY_UNUSED static int document_add(document *d, vocabulary *v, const text_word *words, ptrdiff_t n,
                                      const dense_sum *sums)
{
    if (document_room(d, v->count + n) < 0)
        return -1;
    prefetch_words(v, words, n, d->tf);
    for (ptrdiff_t i = 0; i < n; i++) {
        int32_t code = vocabulary_add(v, words + i);
        if (code < 0)
            return -1;
        if (sums != NULL)
            PRIORY_PREFETCH(sums + code); /* where there is no room for a new word yet: no harm */
        document_see(d, code);
    }
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

static double text_logs[256]; /* log(1 + tf), filled when the module is loaded */

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

/* ---- sums per (word, class), of all pairs ---------------------------------------------------------
 * As long as there is room for all words of every class. Each class has its words side by side:
 * documents come class by class, so that the sums they need are near; and words that are new with
 * them are neighbours, so that other classes, which most of these are never seen in, do not even
 * touch the memory. */

#define DENSE_FIRST ((int64_t)1 << 15)
#define DENSE_MOST ((int64_t)1 << 22) /* with more sums than these, only pairs that occur are kept */
#define DENSE_BLOCK 256               /* words of a class whose sums are touched, or not: a page */

typedef struct {
    dense_sum *sums;  /* K × room */
    uint8_t *touched; /* K × room / DENSE_BLOCK */
    int64_t words, K, room;
    int64_t total; /* of the words counted, so that no `count` overflows */
} dense_table;

PRIORY_UNUSED static void dense_clear(dense_table *t)
{
    free(t->sums);
    free(t->touched);
    t->sums = NULL;
    t->touched = NULL;
    t->words = t->room = t->total = 0;
}

/* Have sums, zero at first, of so many words. The second time there is room for all that may come:
 * what is not used is not touched. */
PRIORY_UNUSED static int dense_room(dense_table *t, int64_t words)
{
    if (words > t->room) {
        int64_t room = (t->room == 0 ? DENSE_FIRST : 2 * DENSE_MOST) / t->K, blocks = t->room / DENSE_BLOCK;
        room = words > room ? words + words / 2 : room;
        room = (room + DENSE_BLOCK - 1) / DENSE_BLOCK * DENSE_BLOCK;
        dense_table grown = {NULL, NULL, t->words, t->K, room, t->total};
        grown.sums = (dense_sum *)calloc((size_t)(t->K * room), sizeof(dense_sum));
        grown.touched = (uint8_t *)calloc((size_t)(t->K * room / DENSE_BLOCK), 1);
        if (grown.sums == NULL || grown.touched == NULL) {
            dense_clear(&grown);
            return -1;
        }
        for (int64_t i = 0; i < t->K * blocks; i++)
            if (t->touched[i]) {
                int64_t block = i % blocks, row = i / blocks * room;
                grown.touched[row / DENSE_BLOCK + block] = 1;
                memcpy(grown.sums + row + block * DENSE_BLOCK, t->sums + i * DENSE_BLOCK,
                       DENSE_BLOCK * sizeof(dense_sum));
            }
        dense_clear(t);
        *t = grown;
    }
    t->words = words > t->words ? words : t->words;
    return 0;
}

/* Add a counted document to the sums of its class, and clear it. */
PRIORY_UNUSED static int document_sum(document *d, dense_table *t, int64_t words, int32_t label)
{
    if (dense_room(t, words) < 0)
        return -1;
    double scale = document_scale(d);
    dense_sum *sums = t->sums + label * t->room;
    uint8_t *touched = t->touched + label * (t->room / DENSE_BLOCK);
    for (int64_t i = 0; i < d->n_seen; i++) {
        int32_t word = d->seen[i], tf = d->tf[word];
        sums[word].rows += 1;
        sums[word].count += tf;
        sums[word].log_tf += scale * log1p_tf(tf);
        touched[word / DENSE_BLOCK] = 1;
        t->total += tf;
        d->tf[word] = 0;
    }
    d->n_seen = 0;
    return 0;
}

/* Add the sums that another has of some classes; its word i is number places[i] here, where there is
 * room for all. */
PRIORY_UNUSED static void dense_merge(dense_table *t, const dense_table *other, const int32_t *places,
                                      int64_t first_class, int64_t end_class)
{
    int64_t blocks = other->room / DENSE_BLOCK;
    for (int64_t i = first_class * blocks; i < end_class * blocks; i++) {
        if (!other->touched[i])
            continue;
        const dense_sum *from = other->sums + i * DENSE_BLOCK;
        const int32_t *place = places + i % blocks * DENSE_BLOCK;
        dense_sum *sums = t->sums + i / blocks * t->room;
        uint8_t *touched = t->touched + i / blocks * (t->room / DENSE_BLOCK);
        for (int64_t j = 0; j < DENSE_BLOCK; j++) {
            if (from[j].rows == 0)
                continue;
            dense_sum *to = sums + place[j];
            to->rows += from[j].rows;
            to->count += from[j].count;
            to->log_tf += from[j].log_tf;
            touched[place[j] / DENSE_BLOCK] = 1;
        }
    }
}

/* Return how many pairs occur in some blocks of words. */
PRIORY_UNUSED static int64_t dense_pairs(const dense_table *t, int64_t first_block, int64_t end_block)
{
    int64_t pairs = 0, blocks = t->room / DENSE_BLOCK;
    for (int64_t k = 0; k < t->K; k++)
        for (int64_t i = k * blocks + first_block; i < k * blocks + end_block; i++)
            if (t->touched[i])
                for (int64_t j = 0; j < DENSE_BLOCK; j++)
                    pairs += t->sums[i * DENSE_BLOCK + j].rows > 0;
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

#endif
