/* Words of UTF-8 text: splitting, a vocabulary, counts in a document, sums per (word, class).
 * Everything here runs without Python; a function that needs memory returns −1 when there is none. */
#ifndef PRIORY_TEXT_H
#define PRIORY_TEXT_H

#include "loops.h"

/* ---- characters ------------------------------------------------------------------------------
 * The tables are filled from Python's own, once, when the module is loaded. */

#define TEXT_PAGES 0x1100 /* of 256 code points each */
#define TEXT_WORD 1       /* its lower case is a word character: \w */
#define TEXT_SPECIAL 2    /* its lower case depends on its neighbours or is several code points */

static uint8_t text_byte[256];         /* lower case of ASCII; 0: no word; 128: starts a code point */
static uint16_t text_page[TEXT_PAGES]; /* equal pages are kept once */
static int32_t *text_entries;          /* 4·(lower case − code point) + flags */

static inline int32_t text_entry(uint32_t c)
{
    return text_entries[((uint32_t)text_page[c >> 8] << 8) | (c & 255)];
}

static inline int32_t text_shift(int32_t entry)
{
    return (entry - (entry & 3)) / 4;
}

/* Read a code point; return how many bytes it takes, or 0 where the bytes are no UTF-8.
 * Lone surrogates are read as Python's 'surrogatepass' writes them. */
static inline ptrdiff_t text_decode(const uint8_t *p, const uint8_t *end, uint32_t *c)
{
    uint32_t a = p[0];
    ptrdiff_t left = end - p;
    *c = a;
    if (a < 0x80)
        return 1;
    if (a < 0xC2 || left < 2 || (p[1] & 0xC0) != 0x80)
        return 0;
    if (a < 0xE0) {
        *c = (a & 0x1F) << 6 | (p[1] & 0x3F);
        return 2;
    }
    if (left < 3 || (p[2] & 0xC0) != 0x80)
        return 0;
    if (a < 0xF0) {
        *c = (a & 0x0F) << 12 | (uint32_t)(p[1] & 0x3F) << 6 | (p[2] & 0x3F);
        return *c >= 0x800 ? 3 : 0;
    }
    if (a > 0xF4 || left < 4 || (p[3] & 0xC0) != 0x80)
        return 0;
    *c = (a & 0x07) << 18 | (uint32_t)(p[1] & 0x3F) << 12 | (uint32_t)(p[2] & 0x3F) << 6 | (p[3] & 0x3F);
    return *c >= 0x10000 && *c < 0x110000 ? 4 : 0;
}

static inline uint8_t *text_encode(uint32_t c, uint8_t *out)
{
    if (c < 0x80) {
        *out++ = (uint8_t)c;
    } else if (c < 0x800) {
        *out++ = (uint8_t)(0xC0 | c >> 6);
        *out++ = (uint8_t)(0x80 | (c & 0x3F));
    } else {
        if (c < 0x10000) {
            *out++ = (uint8_t)(0xE0 | c >> 12);
        } else {
            *out++ = (uint8_t)(0xF0 | c >> 18);
            *out++ = (uint8_t)(0x80 | (c >> 12 & 0x3F));
        }
        *out++ = (uint8_t)(0x80 | (c >> 6 & 0x3F));
        *out++ = (uint8_t)(0x80 | (c & 0x3F));
    }
    return out;
}

/* Write the code points of a text, a space for each byte that is no UTF-8; return their number. */
PRIORY_UNUSED static ptrdiff_t text_code_points(const uint8_t *p, const uint8_t *end, uint32_t *out)
{
    ptrdiff_t n = 0;
    while (p < end) {
        ptrdiff_t size = text_decode(p, end, &out[n]);
        if (size == 0)
            out[n] = ' ';
        p += size ? size : 1;
        n++;
    }
    return n;
}

/* ---- splitting -------------------------------------------------------------------------------- */

typedef struct {
    const uint8_t *bytes; /* in lower case */
    uint32_t size, hash;
} text_word;

/* A hash of bytes that come one by one: eight are gathered, then mixed in. */
typedef struct {
    uint64_t mixed, gathered;
    unsigned bits;
} text_hash;

static inline void hash_mix(text_hash *h)
{
    h->mixed = (h->mixed ^ h->gathered) * 0x9E3779B97F4A7C15u;
    h->mixed ^= h->mixed >> 32;
    h->gathered = 0;
    h->bits = 0;
}

static inline void hash_byte(text_hash *h, uint8_t byte)
{
    h->gathered |= (uint64_t)byte << h->bits;
    h->bits += 8;
    if (h->bits == 64)
        hash_mix(h);
}

static inline uint32_t hash_end(const text_hash *h, uint32_t size)
{
    uint64_t mixed = (h->mixed ^ h->gathered) * 0x9E3779B97F4A7C15u;
    mixed = ((mixed ^ mixed >> 32) + size) * 0xD6E8FEB86659FD93u;
    return (uint32_t)(mixed >> 32);
}

PRIORY_UNUSED static text_word text_word_of(const uint8_t *bytes, uint32_t size)
{
    text_hash h = {0, 0, 0};
    for (uint32_t i = 0; i < size; i++)
        hash_byte(&h, bytes[i]);
    text_word word = {bytes, size, hash_end(&h, size)};
    return word;
}

#if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* A high bit for each of eight bytes from `first` to `last`, all of them ASCII. */
static inline uint64_t bytes_between(uint64_t eight, uint64_t first, uint64_t last)
{
    const uint64_t each = 0x0101010101010101u;
    return (eight + each * (128 - first)) & ~(eight + each * (127 - last));
}

/* Read ASCII word characters, eight at a time, from the start of a word; return how many. The word
 * may go on: with other characters, or with the last bytes of a text, fewer than eight. */
static inline ptrdiff_t ascii_start(const uint8_t *p, const uint8_t *end, uint8_t *low, text_hash *h)
{
    const uint64_t each = 0x0101010101010101u;
    ptrdiff_t n = 0;
    while (end - p - n >= 8) {
        uint64_t eight, seven;
        memcpy(&eight, p + n, 8);
        seven = eight & each * 127;
        uint64_t capital = bytes_between(seven, 'A', 'Z') & each * 128;
        seven |= capital >> 2; /* A is 32 below a */
        uint64_t word = bytes_between(seven, 'a', 'z') | bytes_between(seven, '0', '9')
                        | bytes_between(seven, '_', '_');
        uint64_t other = ~(word & ~eight) & each * 128;
        memcpy(low + n, &seven, 8);
        if (other == 0) {
            h->gathered = seven;
            hash_mix(h);
            n += 8;
            continue;
        }
        h->bits = (unsigned)__builtin_ctzll(other) & ~7u;
        h->gathered = seven & (((uint64_t)1 << h->bits) - 1);
        return n + h->bits / 8;
    }
    return n;
}
#else
static inline ptrdiff_t ascii_start(const uint8_t *p, const uint8_t *end, uint8_t *low, text_hash *h)
{
    return 0;
}
#endif

/* Write the next words, `room` at most, with their bytes in `low` (twice as long as the text: two
 * bytes may become three). Words are runs of at least two word characters; bytes that are no
 * UTF-8 part words. `*special` is set where a special code point ends the work, unless it is NULL:
 * all words before its own are written. */
PRIORY_UNUSED static ptrdiff_t text_split(const uint8_t **from, const uint8_t *end, uint8_t *low,
                                          text_word *words, ptrdiff_t room, int *special)
{
    const uint8_t *p = *from;
    ptrdiff_t n = 0;
    while (n < room) {
        while (p < end && text_byte[*p] == 0)
            p++;
        if (p == end)
            break;
        text_hash h = {0, 0, 0};
        uint8_t *first = low;
        ptrdiff_t characters = text_byte[*p] < 128 ? ascii_start(p, end, low, &h) : 0;
        p += characters;
        low += characters;
        while (p < end) {
            uint8_t byte = text_byte[*p];
            if (byte == 0)
                break;
            if (byte < 128) {
                *low++ = byte;
                hash_byte(&h, byte);
                p++;
            } else {
                uint32_t c;
                ptrdiff_t size = text_decode(p, end, &c);
                int32_t entry = size ? text_entry(c) : 0;
                if ((entry & TEXT_SPECIAL) && special != NULL) {
                    *special = 1;
                    *from = p;
                    return n;
                }
                p += size ? size : 1;
                if (!(entry & TEXT_WORD))
                    break;
                uint8_t *next = text_encode(c + (uint32_t)text_shift(entry), low);
                while (low < next)
                    hash_byte(&h, *low++);
            }
            characters++;
        }
        if (characters < 2) {
            low = first;
            continue;
        }
        words[n].bytes = first;
        words[n].size = (uint32_t)(low - first);
        words[n].hash = hash_end(&h, words[n].size);
        n++;
    }
    *from = p;
    return n;
}

/* ---- vocabulary: words numbered in order of appearance ---------------------------------------- */

#define TEXT_AHEAD 6   /* words between a prefetch and its use */
#define TEXT_PADDING 8 /* readable bytes after a word */

typedef struct {
    uint32_t hash;
    int32_t code; /* + 1; 0: free */
} text_slot;

typedef struct {
    text_slot *slots; /* 2^bits, at most two thirds taken; a word's place is its hash's first bits */
    int bits;
    int64_t count;
    int64_t *starts; /* of each word in `bytes`, and the end of the last */
    int64_t starts_room;
    uint8_t *bytes;
    int64_t bytes_room;
} vocabulary;

/* Compare words without a branch for each size: up to 7 bytes after both must be readable. */
static inline int same_bytes(const uint8_t *a, const uint8_t *b, uint32_t n)
{
    uint64_t x, y;
    for (; n > 8; n -= 8, a += 8, b += 8)
        if (memcmp(a, b, 8) != 0)
            return 0;
    if (n == 0)
        return 1;
    memcpy(&x, a, 8);
    memcpy(&y, b, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return (x ^ y) >> (64 - 8 * n) == 0;
#else
    return (x ^ y) << (64 - 8 * n) == 0;
#endif
}

static inline size_t text_place(uint32_t hash, int bits)
{
    return hash >> (32 - bits);
}

/* Double the table of slots (or make the first); the hashes in the slots are all it needs. */
static int grow_slots(text_slot **slots, int *bits)
{
    int wider = *slots == NULL ? 8 : *bits + 1;
    size_t mask = ((size_t)1 << wider) - 1;
    text_slot *grown = wider > 31 ? NULL : (text_slot *)calloc(mask + 1, sizeof(text_slot));
    if (grown == NULL)
        return -1;
    for (size_t i = 0; *slots != NULL && i < (size_t)1 << *bits; i++) {
        text_slot slot = (*slots)[i];
        if (slot.code == 0)
            continue;
        size_t at = text_place(slot.hash, wider);
        while (grown[at].code != 0)
            at = (at + 1) & mask;
        grown[at] = slot;
    }
    free(*slots);
    *slots = grown;
    *bits = wider;
    return 0;
}

/* Make room for `needed` elements of `size` bytes, half as many again. */
static int grow_array(void **array, int64_t *room, int64_t needed, size_t size)
{
    if (needed <= *room)
        return 0;
    int64_t wider = needed + needed / 2 + 64;
    void *grown = realloc(*array, (size_t)wider * size);
    if (grown == NULL)
        return -1;
    *array = grown;
    *room = wider;
    return 0;
}

PRIORY_UNUSED static int vocabulary_start(vocabulary *v)
{
    memset(v, 0, sizeof *v);
    if (grow_slots(&v->slots, &v->bits) < 0 || grow_array((void **)&v->starts, &v->starts_room, 2, 8) < 0)
        return -1;
    v->starts[0] = 0;
    return 0;
}

PRIORY_UNUSED static void vocabulary_end(vocabulary *v)
{
    free(v->slots);
    free(v->starts);
    free(v->bytes);
}

/* Make `to`, which is empty, an equal of `from`. */
PRIORY_UNUSED static int vocabulary_copy(vocabulary *to, const vocabulary *from)
{
    size_t slots = sizeof(text_slot) << from->bits;
    text_slot *copied = (text_slot *)malloc(slots);
    if (copied == NULL)
        return -1;
    memcpy(copied, from->slots, slots);
    free(to->slots);
    to->slots = copied;
    to->bits = from->bits;
    int64_t size = from->starts[from->count];
    if (grow_array((void **)&to->starts, &to->starts_room, from->count + 1, 8) < 0
        || grow_array((void **)&to->bytes, &to->bytes_room, size + TEXT_PADDING, 1) < 0)
        return -1;
    memcpy(to->starts, from->starts, (size_t)(from->count + 1) * 8);
    if (size)
        memcpy(to->bytes, from->bytes, (size_t)size);
    memset(to->bytes + size, 0, TEXT_PADDING);
    to->count = from->count;
    return 0;
}

/* Return where the word is, or the free slot where it would be. */
static inline text_slot *vocabulary_slot(const vocabulary *v, const text_word *word)
{
    size_t at = text_place(word->hash, v->bits), mask = ((size_t)1 << v->bits) - 1;
    for (;; at = (at + 1) & mask) {
        text_slot *slot = v->slots + at;
        if (slot->code == 0)
            return slot;
        if (slot->hash == word->hash) {
            const int64_t *start = v->starts + slot->code - 1;
            if (start[1] - start[0] == (int64_t)word->size
                && same_bytes(v->bytes + start[0], word->bytes, word->size))
                return slot;
        }
    }
}

static inline int32_t vocabulary_find(const vocabulary *v, const text_word *word)
{
    return vocabulary_slot(v, word)->code - 1; /* −1: not there */
}

/* Return the word's code, a new one if it is new; −1: no memory, or 2^31 slots are not enough. */
static inline int32_t vocabulary_add(vocabulary *v, const text_word *word)
{
    text_slot *slot = vocabulary_slot(v, word);
    if (slot->code != 0)
        return slot->code - 1;
    int64_t start = v->starts[v->count], end = start + word->size;
    if (grow_array((void **)&v->starts, &v->starts_room, v->count + 2, 8) < 0
        || grow_array((void **)&v->bytes, &v->bytes_room, end + TEXT_PADDING, 1) < 0)
        return -1;
    if (3 * (v->count + 1) > (int64_t)2 << v->bits) {
        if (grow_slots(&v->slots, &v->bits) < 0)
            return -1;
        slot = vocabulary_slot(v, word);
    }
    if (word->size)
        memcpy(v->bytes + start, word->bytes, word->size);
    memset(v->bytes + end, 0, TEXT_PADDING);
    v->starts[v->count + 1] = end;
    slot->hash = word->hash;
    slot->code = (int32_t)++v->count;
    return slot->code - 1;
}

/* Bring near what words further on will need, step by step: the slot, then where it says the word
 * is (and its count), then the word. Inlined in any case: a compiler may take a function that only
 * prefetches for one that does nothing, and leave it out. */
PRIORY_INLINE void prefetch_word(const vocabulary *v, const text_word *words, ptrdiff_t i, ptrdiff_t n,
                                 const int32_t *tf)
{
    if (i + 3 * TEXT_AHEAD < n)
        PRIORY_PREFETCH(v->slots + text_place(words[i + 3 * TEXT_AHEAD].hash, v->bits));
    if (i + 2 * TEXT_AHEAD < n) {
        int32_t code = v->slots[text_place(words[i + 2 * TEXT_AHEAD].hash, v->bits)].code;
        if (code != 0) {
            PRIORY_PREFETCH(v->starts + code - 1);
            if (tf != NULL)
                PRIORY_PREFETCH(tf + code - 1);
        }
    }
    if (i + TEXT_AHEAD < n) {
        int32_t code = v->slots[text_place(words[i + TEXT_AHEAD].hash, v->bits)].code;
        if (code != 0)
            PRIORY_PREFETCH(v->bytes + v->starts[code - 1]);
    }
}

/* ---- how often each word occurs in one document ------------------------------------------------ */

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

/* Count the words of a document whose code is below `known`. */
PRIORY_UNUSED static int document_find(document *d, const vocabulary *v, int64_t known,
                                       const text_word *words, ptrdiff_t n)
{
    if (document_room(d, known) < 0)
        return -1;
    for (ptrdiff_t i = 0; i < n; i++) {
        prefetch_word(v, words, i, n, NULL);
        int32_t code = vocabulary_find(v, words + i);
        if (code >= 0 && code < known)
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

/* ---- scores ------------------------------------------------------------------------------------- */

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

/* Add the weights of the words whose code is below `known`; `codes` has room for n. */
PRIORY_UNUSED static void score_block(const vocabulary *v, int64_t known, const text_word *words,
                                      ptrdiff_t n, int32_t *codes, const double *weights,
                                      ptrdiff_t K, double *out)
{
    ptrdiff_t found = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        prefetch_word(v, words, i, n, NULL);
        int32_t code = vocabulary_find(v, words + i);
        if (code < 0 || code >= known)
            continue;
        codes[found++] = code;
        prefetch_row(weights + code * K, K);
    }
    for (ptrdiff_t i = 0; i < found; i++)
        add_row(out, weights + codes[i] * K, K, 1.0);
}

/* Add the weights of a counted document's words, times 1 or log(1 + tf) / length, and clear it. */
PRIORY_UNUSED static void score_document(document *d, int log_tf, const double *weights, ptrdiff_t K,
                                         double *out)
{
    double scale = log_tf ? document_scale(d) : 0.0;
    for (int64_t i = 0; i < d->n_seen; i++) {
        int32_t code = d->seen[i];
        if (i + 2 * TEXT_AHEAD < d->n_seen)
            prefetch_row(weights + d->seen[i + 2 * TEXT_AHEAD] * K, K);
        add_row(out, weights + code * K, K, log_tf ? scale * log1p_tf(d->tf[code]) : 1.0);
    }
    document_clear(d);
}

#endif
