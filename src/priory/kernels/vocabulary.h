/* Words as bytes with a hash, and a vocabulary: words numbered in order of appearance.
 * Everything here runs without Python; a function that needs memory returns −1 when there is none. */
#ifndef PRIORY_VOCABULARY_H
#define PRIORY_VOCABULARY_H

#include "arrays.h"
#include "hashing.h"

#define TEXT_PADDING 16         /* readable bytes after a word */
#define TEXT_LONGEST 0x7FFFFFFF /* bytes of a word, or of a text */

typedef struct {
    const uint8_t *bytes; /* TEXT_PADDING readable bytes follow */
    uint64_t first, second; /* eight bytes each, zeros after the last */
    uint32_t size, hash;
} text_word;

/* Eight bytes read as one number: entry 8 + n keeps the first n, entry n those of bytes 8 to n − 1. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define FIRST_BYTES(n) (~(uint64_t)0 << (64 - 8 * (n)))
#else
#define FIRST_BYTES(n) (~(uint64_t)0 >> (64 - 8 * (n)))
#endif
static const uint64_t text_masks[25] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0,
    FIRST_BYTES(1), FIRST_BYTES(2), FIRST_BYTES(3), FIRST_BYTES(4),
    FIRST_BYTES(5), FIRST_BYTES(6), FIRST_BYTES(7), ~(uint64_t)0, ~(uint64_t)0,
    ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0,
};

/* Read up to eight bytes as one number; all eight must be readable. */
static inline uint64_t some_bytes(const uint8_t *bytes, uint32_t size)
{
    uint64_t eight;
    memcpy(&eight, bytes, 8);
    return eight & text_masks[8 + (size < 8 ? size : 8)];
}

#define HASH_SIZES 31 /* bits of a hash that are the size of the word, at most 16: its place is in others */

static inline text_word text_word_of(const uint8_t *bytes, uint32_t size)
{
    uint64_t first, second;
    uint32_t known = size < 16 ? size : 16;
    memcpy(&first, bytes, 8);
    memcpy(&second, bytes + 8, 8);
    first &= text_masks[known + 8];
    second &= text_masks[known];
    uint64_t mixed = hash_of(first, second);
    for (uint32_t i = 16; i < size; i += 8)
        mixed = hash_of(some_bytes(bytes + i, size - i), mixed);
    text_word word = {bytes, first, second, size, ((uint32_t)(mixed >> 32) & ~(uint32_t)HASH_SIZES) | known};
    return word;
}

/* ---- the vocabulary ---------------------------------------------------------------------------- */

#define TEXT_AHEAD 6                /* words between a prefetch and its use */
#define TEXT_TOGETHER 64            /* words looked up together */
#define TF_NEAR ((int64_t)1 << 17) /* numbers of so many words are near anyway */

/* Words of up to eight bytes are in the slot itself, of others enough to tell nearly all apart. Slots
 * are small, because most of the time goes into fetching them. */
typedef struct {
    uint64_t first; /* as a text_word has it */
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

static inline size_t text_place(uint32_t hash, int bits)
{
    return hash >> (32 - bits);
}

static void free_slots(vocabulary *v)
{
    if (v->slots != NULL)
        free_array(v->slots, (int64_t)1 << v->bits, sizeof(text_slot));
}

/* Have 2^bits slots. */
static int resize_slots(vocabulary *v, int bits)
{
    size_t mask = ((size_t)1 << bits) - 1;
    text_slot *moved = bits > 31 ? NULL : (text_slot *)zeros((int64_t)1 << bits, sizeof(text_slot));
    if (moved == NULL)
        return -1;
    for (size_t i = 0; v->slots != NULL && i < (size_t)1 << v->bits; i++) {
        text_slot slot = v->slots[i];
        if (slot.code == 0)
            continue;
        size_t at = text_place(slot.hash, bits);
        while (moved[at].code != 0)
            at = (at + 1) & mask;
        moved[at] = slot;
    }
    free_slots(v);
    v->slots = moved;
    v->bits = bits;
    return 0;
}

/* Double the table of slots, or make the first. */
static int grow_slots(vocabulary *v)
{
    return resize_slots(v, v->slots == NULL ? 8 : v->bits + 1);
}

PRIORY_UNUSED static int vocabulary_start(vocabulary *v)
{
    memset(v, 0, sizeof *v);
    if (grow_slots(v) < 0 || grow_array((void **)&v->starts, &v->starts_room, 2, 8) < 0)
        return -1;
    v->starts[0] = 0;
    return 0;
}

PRIORY_UNUSED static void vocabulary_end(vocabulary *v)
{
    free_slots(v);
    free_array(v->starts, v->starts_room, sizeof(int64_t));
    free_array(v->bytes, v->bytes_room, 1);
}

/* Return how many bytes of memory it has, at least. */
PRIORY_UNUSED static int64_t vocabulary_size(const vocabulary *v)
{
    return (int64_t)(sizeof(text_slot) << v->bits) + v->starts_room * 8 + v->bytes_room;
}

/* Lend the memory of a vocabulary that nobody needs any more; it must be cleared before it is used. */
PRIORY_UNUSED static void vocabulary_lend(vocabulary *v)
{
    lend_array(v->slots, (int64_t)1 << v->bits, sizeof(text_slot));
    lend_array(v->starts, v->starts_room, sizeof(int64_t));
    lend_array(v->bytes, v->bytes_room, 1);
}

/* Have not many more slots than the words need: they may come from a vocabulary of more words. */
PRIORY_UNUSED static int vocabulary_trim(vocabulary *v)
{
    int bits = 8;
    while (3 * v->count > (int64_t)2 << bits)
        bits++;
    return v->bits > bits + 1 ? resize_slots(v, bits) : 0;
}

/* Leave no word in it. */
PRIORY_UNUSED static void vocabulary_clear(vocabulary *v)
{
    memset(v->slots, 0, sizeof(text_slot) << v->bits);
    v->starts[0] = v->count = 0;
}

/* Make room for so many words and bytes in all. */
PRIORY_UNUSED static int vocabulary_reserve(vocabulary *v, int64_t words, int64_t bytes)
{
    while (3 * words > (int64_t)2 << v->bits)
        if (grow_slots(v) < 0)
            return -1;
    if (grow_array((void **)&v->starts, &v->starts_room, words + 1, 8) < 0)
        return -1;
    return grow_array((void **)&v->bytes, &v->bytes_room, bytes + TEXT_PADDING, 1);
}

/* Make `to`, which is empty, an equal of `from`. */
PRIORY_UNUSED static int vocabulary_copy(vocabulary *to, const vocabulary *from)
{
    size_t slots = sizeof(text_slot) << from->bits;
    text_slot *copied = (text_slot *)zeros((int64_t)1 << from->bits, sizeof(text_slot));
    if (copied == NULL)
        return -1;
    memcpy(copied, from->slots, slots);
    free_slots(to);
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

/* Return whether a word of more than eight bytes, the first of which are the same, has this code. */
static inline int vocabulary_is(const vocabulary *v, int64_t code, const text_word *word)
{
    const uint8_t *bytes = v->bytes + v->starts[code];
    uint32_t size = (uint32_t)(v->starts[code + 1] - v->starts[code]);
    return size == word->size && some_bytes(bytes + 8, size - 8) == word->second
           && (size <= 16 || memcmp(bytes + 16, word->bytes + 16, size - 16) == 0);
}

/* Return where the word is, or the free slot where it would be; slots and bits are the vocabulary's. */
static inline text_slot *find_slot(const vocabulary *v, text_slot *slots, int bits, const text_word *word)
{
    size_t at = text_place(word->hash, bits), mask = ((size_t)1 << bits) - 1;
    for (;; at = (at + 1) & mask) {
        text_slot *slot = slots + at;
        if (slot->first == word->first && slot->hash == word->hash
            && (word->size <= 8 || slot->code == 0 || vocabulary_is(v, slot->code - 1, word)))
            return slot;
        if (slot->code == 0)
            return slot;
    }
}

static inline text_slot *vocabulary_slot(const vocabulary *v, const text_word *word)
{
    return find_slot(v, v->slots, v->bits, word);
}

/* Put a word where it is not yet, at the end of the words' bytes. */
static inline void slot_take(vocabulary *v, text_slot *slot, const text_word *word)
{
    slot->first = word->first;
    slot->hash = word->hash;
    v->starts[v->count + 1] = v->starts[v->count] + word->size;
    slot->code = (int32_t)++v->count;
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
        if (grow_slots(v) < 0)
            return -1;
        slot = vocabulary_slot(v, word);
    }
    if (word->size)
        memcpy(v->bytes + start, word->bytes, word->size);
    memset(v->bytes + end, 0, TEXT_PADDING);
    slot_take(v, slot, word);
    return slot->code - 1;
}

static inline text_word vocabulary_word(const vocabulary *v, int64_t code)
{
    return text_word_of(v->bytes + v->starts[code], (uint32_t)(v->starts[code + 1] - v->starts[code]));
}

/* Bring near what looking for words will need: their slots, then the counts of the words that these
 * name. Inlined in any case: a compiler may take a function that only prefetches for one that does
 * nothing, and leave it out. */
PRIORY_INLINE void prefetch_words(const vocabulary *v, const text_word *words, ptrdiff_t n, const int32_t *tf)
{
    for (ptrdiff_t i = 0; i < n; i++)
        PRIORY_PREFETCH(v->slots + text_place(words[i].hash, v->bits));
    if (tf == NULL || v->count < TF_NEAR)
        return;
    for (ptrdiff_t i = 0; i < n; i++) {
        int32_t code = v->slots[text_place(words[i].hash, v->bits)].code;
        PRIORY_PREFETCH(tf + (code ? code - 1 : 0));
    }
}

/* Add the words of another, writing their codes here. */
PRIORY_UNUSED static int vocabulary_extend(vocabulary *v, const vocabulary *other, int32_t *codes)
{
    text_word words[TEXT_TOGETHER];
    for (int64_t first = 0; first < other->count; first += TEXT_TOGETHER) {
        int64_t n = other->count - first < TEXT_TOGETHER ? other->count - first : TEXT_TOGETHER;
        for (int64_t i = 0; i < n; i++)
            words[i] = vocabulary_word(other, first + i);
        prefetch_words(v, words, n, NULL);
        for (int64_t i = 0; i < n; i++)
            if ((codes[first + i] = vocabulary_add(v, words + i)) < 0)
                return -1;
    }
    return 0;
}

/* Add chosen words of another to an empty vocabulary; return how many there were before the first
 * that is there twice. */
PRIORY_UNUSED static int64_t vocabulary_take(vocabulary *v, const vocabulary *other,
                                             const int32_t *codes, int64_t n)
{
    int64_t bytes = 0;
    for (int64_t i = 0; i < n; i++)
        bytes += other->starts[codes[i] + 1] - other->starts[codes[i]];
    if (vocabulary_reserve(v, n, bytes) < 0)
        return -1;
    for (int64_t i = 0; i < n; i++) {
        text_word word = vocabulary_word(other, codes[i]);
        int32_t code = vocabulary_add(v, &word);
        if (code != i)
            return code < 0 ? -1 : i;
    }
    return n;
}

/* Fill an empty vocabulary from words kept as Arrow keeps them (the starts are checked); return how
 * many there were before the first that is there twice. */
PRIORY_UNUSED static int64_t vocabulary_fill(vocabulary *v, const uint8_t *bytes,
                                             const int64_t *starts, int64_t n)
{
    int64_t size = starts[n] - starts[0];
    if (vocabulary_reserve(v, n, size) < 0)
        return -1;
    if (size) /* in one go: the words lie here as they lay there */
        memcpy(v->bytes, bytes + starts[0], (size_t)size);
    memset(v->bytes + size, 0, TEXT_PADDING);
    for (int64_t i = 0; i < n; i++) {
        text_word word = text_word_of(v->bytes + (starts[i] - starts[0]), (uint32_t)(starts[i + 1] - starts[i]));
        text_slot *slot = vocabulary_slot(v, &word);
        if (slot->code != 0)
            return i;
        slot_take(v, slot, &word);
    }
    return n;
}

typedef struct {
    uint64_t first; /* eight bytes, the first one highest; shorter words have zeros */
    const uint8_t *bytes;
    uint32_t size;
    int32_t code;
} sorted_word;

static int compare_words(const void *a, const void *b)
{
    const sorted_word *p = (const sorted_word *)a, *q = (const sorted_word *)b;
    if (p->first != q->first)
        return p->first < q->first ? -1 : 1;
    int order = memcmp(p->bytes, q->bytes, p->size < q->size ? p->size : q->size);
    return order != 0 ? order : (p->size > q->size) - (p->size < q->size);
}

/* Write the codes in the order of the words' bytes. */
PRIORY_UNUSED static int vocabulary_order(const vocabulary *v, int32_t *codes)
{
    if (v->count == 0)
        return 0;
    sorted_word *words = (sorted_word *)malloc((size_t)v->count * sizeof(sorted_word));
    if (words == NULL)
        return -1;
    for (int64_t i = 0; i < v->count; i++) {
        const uint8_t *bytes = v->bytes + v->starts[i];
        uint32_t size = (uint32_t)(v->starts[i + 1] - v->starts[i]);
        uint64_t first = 0;
        for (uint32_t j = 0; j < 8; j++)
            first = first << 8 | (j < size ? bytes[j] : 0);
        sorted_word word = {first, bytes, size, (int32_t)i};
        words[i] = word;
    }
    qsort(words, (size_t)v->count, sizeof(sorted_word), compare_words);
    for (int64_t i = 0; i < v->count; i++)
        codes[i] = words[i].code;
    free(words);
    return 0;
}

#endif
