/* The scores of a text, or of any row of counts, under the sums of all but itself. Everything here runs without
 * Python. */
#ifndef PRIORY_LOO_WORDS_H
#define PRIORY_LOO_WORDS_H

#include "elementary.h"

#define WITHOUT_BLOCK 1024 /* pairs whose logarithms are taken together, or K if that is more */
#define WITHOUT_AHEAD 8

enum { TERM_COUNT, TERM_LOG, TERM_BINARY, TERM_UNIT };      /* x: tf, log(1 + tf) / length, 1, 1 though tf goes */
enum { SCORE_FIXED, SCORE_MULTINOMIAL, SCORE_COMPLEMENT }; /* of the classes that are not the text's own */
enum { PSEUDO_SAME, PSEUDO_UNIFORM, PSEUDO_MARGINAL, PSEUDO_GIVEN }; /* a_w: m, m / words, m · share, its own */

typedef struct {
    int64_t start; /* of the word's pairs */
    int32_t n;     /* pairs */
    int32_t texts; /* that have the word; 0 if it is not read out */
    double total;  /* what it counted in all classes */
} left_word;

/* The sums of all texts, per word and class that occur together, by word, then class. */
typedef struct {
    int64_t K;
    const left_word *words;
    const int32_t *labels;
    const int64_t *rows;    /* texts of each pair */
    const double *n;        /* what each pair counted */
    int64_t n_words, least; /* words that are read out; texts that such a word must be in */
    double everything;    /* what those words counted */
    int term, score, pseudo;
    double m;
    const double *given;          /* a_w of each word; or NULL */
    const double *leaves;         /* of each pair: what its class loses when the word leaves */
    const double *deltas;         /* fixed, of each pair: what the word adds beyond a word never seen */
    const double *texts_of;       /* Bernoulli, of each class: texts + a_0; or NULL */
    const double *with_word;      /* idf, of each word: the weight of the texts that have it; or NULL */
    const double *log1p_with_word;
    double all_texts;
} loo_sums;

/* The words of one text that stay when it leaves. */
typedef struct {
    int64_t n;
    int32_t *word;
    int64_t *own;      /* the pair of the word and the text's class, −1 for none */
    double *x, *taken; /* what the text has of the word; what goes with it */
    double *idf, *pseudo, *logs;
    double *pairs; /* room for a block */
    int64_t *hits; /* room for K, all 0 */
} left_words;

typedef struct {
    double weight;      /* Σ x·idf of the words that stay */
    double taken;       /* from the sums of the own class, by these words */
    double own;         /* Σ x·idf·log of the own class */
    double pooled;      /* Σ x·idf·log of all classes together, for one that nothing is known of */
    double pseudo_gone; /* Σ a of the words that leave, where it is given */
    int64_t n_leaving;  /* words that leave */
    int64_t is_learned; /* whether the sums can hold this text */
} loo_scores;

PRIORY_CLONES static void logs_of(double *restrict u, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++)
        u[i] = log_of(u[i], 0.0);
}

PRIORY_INLINE double positive(double a)
{
    return a > 0.0 ? a : 0.0;
}

/* Return the pair of a word and a class, −1 for none. */
static inline int64_t pair_of(const loo_sums *s, int32_t word, int32_t label)
{
    const int32_t *labels = s->labels + s->words[word].start;
    int64_t n = s->words[word].n, at = 0;
    if (n == s->K)
        return s->words[word].start + label;
    for (; n > 1; n -= n / 2) /* without a branch, which would be guessed wrong half the time */
        at += labels[at + n / 2 - 1] < label ? n / 2 : 0;
    return n == 1 && labels[at] == label ? s->words[word].start + at : -1;
}

PRIORY_INLINE void prefetch_pairs(const double *of_pairs, const left_word *word)
{
    for (int64_t j = 0; j < word->n && j < 32; j += 8)
        PRIORY_PREFETCH(of_pairs + word->start + j);
}

/* Add times · (values[j] − minus) to the class of each of a word's pairs. */
PRIORY_INLINE void add_to_classes(const loo_sums *s, int32_t word, const double *restrict values, double minus,
                                  double times, double *restrict out)
{
    int64_t start = s->words[word].start, n = s->words[word].n;
    const int32_t *restrict labels = s->labels + start;
    if (n == s->K)
        for (int64_t k = 0; k < n; k++)
            out[k] += times * (values[k] - minus);
    else
        for (int64_t j = 0; j < n; j++)
            out[labels[j]] += times * (values[j] - minus);
}

/* Count a word for each class that has it. */
static void count_classes(const loo_sums *s, int32_t word, int64_t *restrict hits)
{
    const int32_t *labels = s->labels + s->words[word].start;
    for (int64_t j = 0; j < s->words[word].n; j++)
        hits[labels[j]]++;
}

/* Part the words of a text into those that stay and those that leave with it. */
static loo_scores part_words(const loo_sums *s, const int32_t *words, int64_t n, int32_t y, double amount,
                            left_words *t, double *restrict gone)
{
    loo_scores text = {0.0, 0.0, 0.0, 0.0, 0.0, 0, 1};
    double squares = 0.0, staying_squares = 0.0, off = 0.0;
    double lift = s->with_word ? 1.0 + log1p(positive(s->all_texts - amount)) : 1.0;
    t->n = 0;
    if (s->term == TERM_LOG || s->term == TERM_BINARY)
        for (int64_t i = 0; i < n; i++)
            t->x[i] = s->term == TERM_LOG ? 1.0 + t->x[i] : 1.0;
    if (s->term == TERM_LOG)
        logs_of(t->x, n);
    for (int64_t i = 0; i < n; i++) {
        int32_t word = words[i];
        double x = t->x[i];
        if (i + 2 * WITHOUT_AHEAD < n)
            PRIORY_PREFETCH(s->words + words[i + 2 * WITHOUT_AHEAD]);
        if (i + WITHOUT_AHEAD < n)
            PRIORY_PREFETCH(s->labels + s->words[words[i + WITHOUT_AHEAD]].start);
        squares += x * x;
        if (s->words[word].texts == 0)
            continue;
        int64_t own = pair_of(s, word, y);
        if (own < 0)
            text.is_learned = 0;
        PRIORY_PREFETCH(s->n + own);
        PRIORY_PREFETCH(s->rows + own);
        if (s->texts_of) { /* the word is no longer one that the text might have lacked */
            double lacking = s->texts_of[y] - amount - (own < 0 ? 0.0 : s->n[own]);
            off += lacking > 0.0 ? log(lacking) : 0.0;
        }
        if (s->words[word].texts - 1 < s->least) {
            double times = s->with_word ? lift - s->log1p_with_word[word] : 1.0;
            add_to_classes(s, word, s->leaves + s->words[word].start, 0.0, times, gone);
            text.n_leaving++;
            text.pseudo_gone += s->given ? s->given[word] : 0.0;
            continue;
        }
        staying_squares += x * x;
        t->word[t->n] = word;
        t->own[t->n] = own;
        t->x[t->n++] = x;
    }
    double scale = s->term == TERM_LOG && t->n ? 1.0 / sqrt(staying_squares) : 1.0;
    if (s->term == TERM_LOG && n)
        amount /= sqrt(squares);
    for (int64_t i = 0; i < t->n; i++) {
        t->taken[i] = amount * t->x[i];
        t->x[i] = s->term == TERM_UNIT ? 1.0 : scale * t->x[i];
        t->idf[i] = 1.0;
    }
    text.own = -off;
    return text;
}

/* Weigh the words that stay by their idf, which the text's leaving changes for all classes. */
static void weigh_words(const loo_sums *s, double amount, left_words *t, double *restrict gone)
{
    double lift = 1.0 + log1p(positive(s->all_texts - amount));
    for (int64_t i = 0; i < t->n; i++) {
        int32_t word = t->word[i];
        double log_with = log1p(positive(s->with_word[word] - amount));
        t->idf[i] = lift - log_with;
        t->x[i] *= t->idf[i];
        /* `gone` is taken from sums that were weighed by texts − amount, but by all texts with the word. */
        add_to_classes(s, word, s->n + s->words[word].start, 0.0, log_with - s->log1p_with_word[word], gone);
    }
}

/* Write the pseudo-count of each word that stays. */
static void smooth_words(const loo_sums *s, double everything, int64_t words, left_words *t)
{
    double each = s->m, share = 0.0;
    if (s->pseudo == PSEUDO_UNIFORM)
        each = s->m / (double)(words > 1 ? words : 1);
    if (s->pseudo == PSEUDO_MARGINAL)
        each = share = s->m / (everything + (double)words);
    for (int64_t i = 0; i < t->n; i++)
        t->pseudo[i] = s->given ? s->given[t->word[i]]
                                : each + share * positive(s->words[t->word[i]].total - t->taken[i]);
}

/* Sum x·log (n + a) of the text's own class, or of its complement, which loses nothing. Without a prior a
 * word may be impossible; the complement has one. */
static void score_own(const loo_sums *s, const left_words *t, loo_scores *text)
{
    int is_possible = 1;
    for (int64_t i = 0; i < t->n; i++) {
        int64_t own = t->own[i];
        double n = own < 0 ? 0.0 : s->n[own], left = n - t->taken[i];
        if (left < -1e-9 * n)
            text->is_learned = 0;
        if (s->score == SCORE_COMPLEMENT)
            left = s->words[t->word[i]].total - n;
        else if (own < 0 || s->rows[own] == 1)
            left = 0.0;
        t->logs[i] = t->idf[i] * positive(left) + t->pseudo[i];
        if (t->logs[i] <= 0.0) {
            is_possible = 0;
            t->logs[i] = 1.0;
        }
    }
    logs_of(t->logs, t->n);
    for (int64_t i = 0; i < t->n; i++) {
        text->own += t->x[i] * t->logs[i];
        text->weight += t->x[i];
        text->taken += t->idf[i] * t->taken[i];
    }
    if (!is_possible)
        text->own = -INFINITY;
}

/* Sum x·log N, N what all classes but the text together have of each word. */
static double score_pooled(const loo_sums *s, const left_words *t)
{
    double sum = 0.0;
    for (int64_t i = 0; i < t->n; i++) {
        const left_word *word = s->words + t->word[i];
        double left = word->texts == 1 ? 0.0 : t->idf[i] * positive(word->total - t->taken[i]);
        sum += t->x[i] * log(left);
    }
    return sum;
}

/* Add what does not depend on the text but through x. */
PRIORY_CLONES static void score_fixed(const loo_sums *s, const left_words *t, double *restrict out)
{
    for (int64_t i = 0; i < t->n; i++) {
        if (i + WITHOUT_AHEAD < t->n)
            prefetch_pairs(s->deltas, s->words + t->word[i + WITHOUT_AHEAD]);
        add_to_classes(s, t->word[i], s->deltas + s->words[t->word[i]].start, 0.0, t->x[i], out);
    }
}

/* Add x·log (n + a), or of the complement without the text, for every class: the logarithm for a
 * class without the word, and what that of each pair is more. */
PRIORY_CLONES static void score_changed(const loo_sums *s, const left_words *t, double *restrict out)
{
    int64_t room = s->K > WITHOUT_BLOCK ? s->K : WITHOUT_BLOCK, first = 0;
    int is_complement = s->score == SCORE_COMPLEMENT;
    int64_t impossible = 0; /* words that a class must have had */
    double shared = 0.0;
    for (int64_t i = 0; i < t->n; i++) {
        double rest = is_complement ? positive(s->words[t->word[i]].total - t->taken[i]) : 0.0;
        t->logs[i] = t->idf[i] * rest + t->pseudo[i];
        if (t->logs[i] <= 0.0) {
            t->logs[i] = 1.0;
            impossible++;
            count_classes(s, t->word[i], t->hits);
        }
    }
    logs_of(t->logs, t->n);
    while (first < t->n) {
        int64_t used = 0, last = first;
        for (; last < t->n; last++) {
            int32_t word = t->word[last];
            int64_t start = s->words[word].start, m = s->words[word].n;
            const double *restrict n = s->n + start;
            double *restrict to = t->pairs + used;
            double idf = t->idf[last], pseudo = t->pseudo[last], rest = s->words[word].total - t->taken[last];
            if (used + m > room)
                break;
            if (last + WITHOUT_AHEAD < t->n)
                prefetch_pairs(s->n, s->words + t->word[last + WITHOUT_AHEAD]);
            if (is_complement)
                for (int64_t j = 0; j < m; j++)
                    to[j] = idf * positive(rest - n[j]) + pseudo;
            else
                for (int64_t j = 0; j < m; j++)
                    to[j] = idf * n[j] + pseudo;
            used += m;
        }
        logs_of(t->pairs, used);
        for (used = 0; first < last; first++) {
            int32_t word = t->word[first];
            add_to_classes(s, word, t->pairs + used, t->logs[first], t->x[first], out);
            used += s->words[word].n;
            shared += t->x[first] * t->logs[first];
        }
    }
    for (int64_t k = 0; k < s->K; k++)
        out[k] += shared;
    if (impossible)
        for (int64_t k = 0; k < s->K; k++) {
            if (t->hits[k] < impossible)
                out[k] = -INFINITY;
            t->hits[k] = 0;
        }
}

/* Add to `out`, for every class, what the words that stay add before the sums they are shares of are
 * known; of the own class that is in the result. Add what the sums lose by the words that leave to `gone`.
 * `t->x` comes with how often the text has each word. */
PRIORY_UNUSED static loo_scores loo_text(const loo_sums *s, const int32_t *words, int64_t n, int32_t y,
                                            double amount, left_words *t, double *out, double *gone)
{
    loo_scores text = part_words(s, words, n, y, amount, t, gone);
    double everything = s->everything;
    if (s->with_word)
        weigh_words(s, amount, t, gone);
    if (s->pseudo == PSEUDO_MARGINAL) {
        for (int64_t k = 0; k < s->K; k++)
            everything -= gone[k];
        for (int64_t i = 0; i < t->n; i++)
            everything -= t->taken[i];
    }
    smooth_words(s, positive(everything), s->n_words - text.n_leaving, t);
    score_own(s, t, &text);
    if (s->score == SCORE_MULTINOMIAL && s->m <= 0.0)
        text.pooled = score_pooled(s, t);
    if (s->score == SCORE_FIXED)
        score_fixed(s, t, out);
    else
        score_changed(s, t, out);
    return text;
}

#endif
