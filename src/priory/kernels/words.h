/* Words counted in a document and summed per (word, class); such sums added; scores.
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
    return grow_array((void **)&d->seen, &d->seen_room, words, sizeof(int32_t));
}

static inline void document_see(document *d, int32_t code)
{
    if (d->tf[code]++ == 0)
        d->seen[d->n_seen++] = code;
}

/* Count words of a document, new ones too. */
PRIORY_UNUSED static int document_add(document *d, vocabulary *v, const text_word *words, ptrdiff_t n)
{
    if (document_room(d, v->count + n) < 0)
        return -1;
    for (ptrdiff_t i = 0; i < n; i++) {
        prefetch_word(v, words, i, n, d->tf);
        int32_t code = vocabulary_add(v, words + i);
        if (code < 0)
            return -1;
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
    for (ptrdiff_t i = 0; i < n; i++) {
        prefetch_word(v, words, i, n, place);
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

/* ---- sums as six arrays, by word, then class ------------------------------------------------------ */

typedef struct {
    int32_t *word, *label;
    int64_t *rows;
    double *weight, *count, *log_tf;
    int64_t n;
} pair_arrays;

static inline uint64_t pair_key(const pair_arrays *p, int64_t i)
{
    return (uint64_t)(uint32_t)p->word[i] << 32 | (uint32_t)p->label[i];
}

static inline void pair_copy(const pair_arrays *to, int64_t i, const pair_arrays *from, int64_t j)
{
    to->word[i] = from->word[j];
    to->label[i] = from->label[j];
    to->rows[i] = from->rows[j];
    to->weight[i] = from->weight[j];
    to->count[i] = from->count[j];
    to->log_tf[i] = from->log_tf[j];
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
        out->weight[i] = pair->weight;
        out->count[i] = pair->count;
        out->log_tf[i] = pair->log_tf;
    }
}

/* Return the first pair that does not come after the one before it, or n. */
PRIORY_UNUSED static int64_t pairs_ordered(const pair_arrays *p)
{
    for (int64_t i = 1; i < p->n; i++)
        if (pair_key(p, i) <= pair_key(p, i - 1))
            return i;
    return p->n;
}

/* Write the order of n keys, each below `keys`; of equal ones, that of `before`, or as they come. */
static int counting_order(const int32_t *key, int64_t n, int64_t keys, const int64_t *before, int64_t *order)
{
    int64_t *next = (int64_t *)calloc((size_t)keys + 1, sizeof(int64_t));
    if (next == NULL)
        return -1;
    for (int64_t i = 0; i < n; i++)
        next[key[i] + 1]++;
    for (int64_t k = 0; k < keys; k++)
        next[k + 1] += next[k];
    for (int64_t i = 0; i < n; i++) {
        int64_t at = before ? before[i] : i;
        order[next[key[at]]++] = at;
    }
    free(next);
    return 0;
}

/* Write the pairs by word, then class; codes are below `words` and `labels`. */
PRIORY_UNUSED static int pairs_arrange(const pair_arrays *p, int64_t words, int64_t labels, const pair_arrays *out)
{
    int64_t *order = (int64_t *)malloc((size_t)(p->n + 1) * sizeof(int64_t));
    int64_t *before = NULL;
    int failed = order == NULL || counting_order(p->word, p->n, words, NULL, order) < 0;
    for (int64_t i = 1; !failed && i < p->n; i++) {
        int64_t a = order[i - 1], b = order[i];
        if (p->word[a] != p->word[b] || p->label[a] < p->label[b])
            continue;
        before = (int64_t *)malloc((size_t)p->n * sizeof(int64_t)); /* classes first, then words */
        failed = before == NULL || counting_order(p->label, p->n, labels, NULL, before) < 0
                 || counting_order(p->word, p->n, words, before, order) < 0;
        break;
    }
    for (int64_t i = 0; !failed && i < p->n; i++) {
        if (i + 16 < p->n) {
            PRIORY_PREFETCH(p->rows + order[i + 16]);
            PRIORY_PREFETCH(p->weight + order[i + 16]);
            PRIORY_PREFETCH(p->count + order[i + 16]);
            PRIORY_PREFETCH(p->log_tf + order[i + 16]);
        }
        pair_copy(out, i, p, order[i]);
    }
    free(before);
    free(order);
    return failed ? -1 : 0;
}

/* Return how many pairs are in a, in b or in both. */
PRIORY_UNUSED static int64_t pairs_union(const pair_arrays *a, const pair_arrays *b)
{
    int64_t i = 0, j = 0, n = 0;
    for (; i < a->n && j < b->n; n++) {
        uint64_t p = pair_key(a, i), q = pair_key(b, j);
        i += p <= q;
        j += q <= p;
    }
    return n + (a->n - i) + (b->n - j);
}

PRIORY_UNUSED static void pairs_sum(const pair_arrays *a, const pair_arrays *b, const pair_arrays *out)
{
    int64_t i = 0, j = 0, n = 0;
    for (; i < a->n && j < b->n; n++) {
        uint64_t p = pair_key(a, i), q = pair_key(b, j);
        if (p > q) {
            pair_copy(out, n, b, j++);
            continue;
        }
        pair_copy(out, n, a, i++);
        if (p == q) {
            out->rows[n] += b->rows[j];
            out->weight[n] += b->weight[j];
            out->count[n] += b->count[j];
            out->log_tf[n] += b->log_tf[j++];
        }
    }
    for (; i < a->n; i++)
        pair_copy(out, n++, a, i);
    for (; j < b->n; j++)
        pair_copy(out, n++, b, j);
}

/* Return a − b, 0 where it is below by no more than rounding; `*bad` is set where it is below. */
static inline double sum_less(double a, double b, int *bad)
{
    double left = a - b;
    if (left >= 0.0)
        return left;
    if (!(left >= -1e-9 * a))
        *bad = 1;
    return 0.0;
}

/* Write a − b without the pairs that have no rows left, if there is an `out`; return how many they
 * are. Else return −1 where a has too few rows, −2 where it has too little of another sum, with the
 * place in b in `*at` and that in a, or −1, in `*in_a`. */
PRIORY_UNUSED static int64_t pairs_difference(const pair_arrays *a, const pair_arrays *b, const pair_arrays *out,
                                              int64_t *at, int64_t *in_a)
{
    int64_t i = 0, n = 0;
    for (int64_t j = 0; j < b->n; j++) {
        uint64_t q = pair_key(b, j);
        for (; i < a->n && pair_key(a, i) < q; i++, n++)
            if (out)
                pair_copy(out, n, a, i);
        *at = j;
        *in_a = -1;
        if (i == a->n || pair_key(a, i) > q)
            return -1;
        *in_a = i;
        if (b->rows[j] > a->rows[i])
            return -1;
        int bad = 0;
        double weight = sum_less(a->weight[i], b->weight[j], &bad);
        double count = sum_less(a->count[i], b->count[j], &bad);
        double log_tf = sum_less(a->log_tf[i], b->log_tf[j], &bad);
        if (bad)
            return -2;
        if (a->rows[i] > b->rows[j]) {
            if (out) {
                pair_copy(out, n, a, i);
                out->rows[n] -= b->rows[j];
                out->weight[n] = weight;
                out->count[n] = count;
                out->log_tf[n] = log_tf;
            }
            n++;
        }
        i++;
    }
    for (; i < a->n; i++, n++)
        if (out)
            pair_copy(out, n, a, i);
    return n;
}

/* ---- scores -------------------------------------------------------------------------------------
 * A word is dense, with a row of K numbers; or sparse, with numbers for some classes and the rest
 * shared: scale·class_part[k] + constant for every class, summed over the text's words first. */

typedef struct {
    int64_t V, K;
    const int32_t *place; /* of each word: its dense row, TEXT_SPARSE or TEXT_DROPPED */
    const double *dense;
    const int64_t *starts; /* of each word's classes, in ascending order */
    const int32_t *labels;
    const double *deltas, *scale, *constant, *class_part;
    int zero; /* a class without a number for a sparse word is impossible */
} word_scores;

typedef struct { /* of one text */
    double scale, constant;
    int64_t words, *hits; /* sparse words; how many of them have a number, per class */
} sparse_sums;

static inline void add_row(double *restrict out, const double *restrict row, ptrdiff_t K, double times)
{
    for (ptrdiff_t k = 0; k < K; k++)
        out[k] += times * row[k];
}

PRIORY_INLINE void prefetch_row(const double *row, ptrdiff_t K)
{
    for (ptrdiff_t k = 0; k < K && k < 64; k += 8)
        PRIORY_PREFETCH(row + k);
}

PRIORY_INLINE void prefetch_sparse(const word_scores *s, int32_t code)
{
    PRIORY_PREFETCH(s->starts + code);
    PRIORY_PREFETCH(s->scale + code);
    PRIORY_PREFETCH(s->constant + code);
}

static inline void add_sparse(const word_scores *s, int32_t code, double times, sparse_sums *sums, double *out)
{
    sums->words++;
    sums->scale += times * s->scale[code];
    sums->constant += times * s->constant[code];
    for (int64_t j = s->starts[code]; j < s->starts[code + 1]; j++) {
        out[s->labels[j]] += times * s->deltas[j];
        if (s->zero)
            sums->hits[s->labels[j]]++;
    }
}

/* Add what the sparse words of a text share, and begin the next text. */
PRIORY_UNUSED static void score_end(const word_scores *s, sparse_sums *sums, double *out)
{
    if (sums->words == 0)
        return;
    for (int64_t k = 0; k < s->K; k++) {
        if (sums->scale != 0.0) /* 0 · −inf is 0 */
            out[k] += sums->scale * s->class_part[k];
        out[k] += sums->constant;
        if (s->zero) {
            if (sums->hits[k] < sums->words)
                out[k] = -INFINITY;
            sums->hits[k] = 0;
        }
    }
    sums->words = 0;
    sums->scale = sums->constant = 0.0;
}

/* Add the scores of words, once for each time they occur; `found` has room for n. */
PRIORY_UNUSED static void score_block(const vocabulary *v, const word_scores *s, const text_word *words,
                                      ptrdiff_t n, int32_t *found, sparse_sums *sums, double *out)
{
    ptrdiff_t dense = 0, sparse = n; /* rows from the front, sparse words from the back */
    for (ptrdiff_t i = 0; i < n; i++) {
        prefetch_word(v, words, i, n, s->place);
        int32_t code = vocabulary_find(v, words + i);
        if (code < 0 || code >= s->V)
            continue;
        int32_t place = s->place[code];
        if (place >= 0) {
            found[dense++] = place;
            prefetch_row(s->dense + place * s->K, s->K);
        } else if (place == TEXT_SPARSE) {
            found[--sparse] = code;
            prefetch_sparse(s, code);
        }
    }
    for (ptrdiff_t i = 0; i < dense; i++)
        add_row(out, s->dense + found[i] * s->K, s->K, 1.0);
    for (ptrdiff_t i = sparse; i < n; i++) {
        if (i + TEXT_AHEAD < n) {
            int64_t start = s->starts[found[i + TEXT_AHEAD]];
            PRIORY_PREFETCH(s->labels + start);
            PRIORY_PREFETCH(s->deltas + start);
        }
        add_sparse(s, found[i], 1.0, sums, out);
    }
}

/* Add the scores of a counted document's words, times 1 or log(1 + tf) / length, and clear it. */
PRIORY_UNUSED static void score_document(document *d, int log_tf, const word_scores *s, sparse_sums *sums,
                                         double *out)
{
    double scale = log_tf ? document_scale(d) : 0.0;
    for (int64_t i = 0; i < d->n_seen; i++) {
        if (i + 2 * TEXT_AHEAD < d->n_seen) {
            int32_t ahead = d->seen[i + 2 * TEXT_AHEAD];
            if (s->place[ahead] >= 0)
                prefetch_row(s->dense + s->place[ahead] * s->K, s->K);
            else
                prefetch_sparse(s, ahead);
        }
        int32_t code = d->seen[i];
        double times = log_tf ? scale * log1p_tf(d->tf[code]) : 1.0;
        if (s->place[code] >= 0)
            add_row(out, s->dense + s->place[code] * s->K, s->K, times);
        else
            add_sparse(s, code, times, sums, out);
    }
    document_clear(d);
}

#endif
