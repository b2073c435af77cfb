/* Columns of strings, coded in order of first appearance, where they lie: Arrow's with offsets of 32 or
 * 64 bits, Arrow's views, and rows of one width as NumPy has them. Nothing is copied, so the columns must
 * stay until the last code is written. Not one byte is read that is not in them. */
#ifndef PRIORY_STRINGS_H
#define PRIORY_STRINGS_H

#include "vocabulary.h"

#if defined(__GNUC__)
#define PRIORY_ASIDE __attribute__((noinline, cold, unused)) /* what is done seldom */
#else
#define PRIORY_ASIDE
#endif

/* ---- one string ---------------------------------------------------------------------------------- */

static inline uint64_t eight_bytes(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, 8);
    return word;
}

/* The bytes of a string of fewer than eight as one number, zeros after its last; no other is read. */
static inline uint64_t few_bytes(const uint8_t *bytes, int64_t size)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (size >= 4) { /* two words that may overlap: the bytes in both are the same */
        uint32_t low, high;
        memcpy(&low, bytes, 4);
        memcpy(&high, bytes + size - 4, 4);
        return low | (uint64_t)high << 8 * (size - 4);
    }
    if (size == 0)
        return 0;
    return bytes[0] | (uint64_t)bytes[size / 2] << 8 * (size / 2) | (uint64_t)bytes[size - 1] << 8 * (size - 1);
#else
    uint64_t word = 0;
    memcpy(&word, bytes, (size_t)size);
    return word;
#endif
}

static const uint64_t BYTES[8] = {
    0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF, 0xFFFFFFFFFF, 0xFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF,
};

/* The same, at once, where eight bytes may be read. */
static inline uint64_t few_of_eight(const uint8_t *bytes, int64_t size)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return eight_bytes(bytes) & BYTES[size];
#else
    return few_bytes(bytes, size);
#endif
}

typedef struct {
    const uint8_t *bytes;
    int64_t size;
    uint64_t first, last; /* eight bytes each, which may overlap; of fewer than eight `first` has all */
} known_string;

/* Return whether all is the same between the first and the last eight bytes. */
static inline int same_middle(const uint8_t *a, const uint8_t *b, int64_t size)
{
    for (int64_t i = 8; i < size - 8; i += 8)
        if (eight_bytes(a + i) != eight_bytes(b + i))
            return 0;
    return 1;
}

PRIORY_INLINE uint32_t string_hash(const uint8_t *bytes, int64_t size, uint64_t first, uint64_t last)
{
    uint64_t mixed = hash_of(first, last) + (uint64_t)size;
    for (int64_t i = 8; i < size - 8; i += 8)
        mixed = hash_of(eight_bytes(bytes + i), mixed);
    return (uint32_t)(mixed >> 32);
}

/* ---- the strings seen ---------------------------------------------------------------------------- */

typedef struct {
    uint32_t hash;
    int32_t code; /* + 1; 0: free */
} string_slot;

#define STRINGS_RECENT 9 /* bits of the number of short strings at hand */

typedef struct {
    string_slot *slots; /* 2^bits, at most two thirds taken */
    int bits;
    int64_t count;
    known_string *strings; /* of each code */
    int64_t room;
    /* Short strings, each in the one place that it may have: the bytes with the size as the eighth. */
    uint64_t recent[1 << STRINGS_RECENT];
    int32_t recent_codes[1 << STRINGS_RECENT];
} string_table;

static void strings_free_slots(string_table *t)
{
    if (t->slots != NULL)
        free_array(t->slots, (int64_t)1 << t->bits, sizeof(string_slot));
}

/* Double the slots, or make the first. */
static int strings_grow(string_table *t)
{
    int bits = t->slots == NULL ? 8 : t->bits + 1;
    size_t mask = ((size_t)1 << bits) - 1;
    string_slot *grown = bits > 31 ? NULL : (string_slot *)zeros((int64_t)1 << bits, sizeof(string_slot));
    if (grown == NULL)
        return -1;
    for (size_t i = 0; t->slots != NULL && i < (size_t)1 << t->bits; i++) {
        string_slot slot = t->slots[i];
        if (slot.code == 0)
            continue;
        size_t at = text_place(slot.hash, bits);
        while (grown[at].code != 0)
            at = (at + 1) & mask;
        grown[at] = slot;
    }
    strings_free_slots(t);
    t->slots = grown;
    t->bits = bits;
    return 0;
}

PRIORY_UNUSED static int strings_start(string_table *t)
{
    memset(t, 0, sizeof *t);
    memset(t->recent, 0xFF, sizeof t->recent); /* no short string has 255 bytes */
    return strings_grow(t);
}

PRIORY_UNUSED static void strings_end(string_table *t)
{
    strings_free_slots(t);
    free_array(t->strings, t->room, sizeof *t->strings);
}

/* Give a string that is not there the next code; −1: no memory. */
PRIORY_ASIDE static int32_t string_add(string_table *t, const uint8_t *bytes, int64_t size, uint64_t first,
                                           uint64_t last, uint32_t hash)
{
    if (grow_array((void **)&t->strings, &t->room, t->count + 1, sizeof *t->strings) < 0)
        return -1;
    if (3 * (t->count + 1) > (int64_t)2 << t->bits && strings_grow(t) < 0)
        return -1;
    size_t mask = ((size_t)1 << t->bits) - 1, at = text_place(hash, t->bits);
    while (t->slots[at].code != 0)
        at = (at + 1) & mask;
    known_string added = {bytes, size, first, last};
    t->strings[t->count++] = added;
    t->slots[at].hash = hash;
    t->slots[at].code = (int32_t)t->count;
    return (int32_t)t->count - 1;
}

PRIORY_INLINE int32_t string_code(string_table *t, const uint8_t *bytes, int64_t size, uint64_t first, uint64_t last)
{
    uint32_t hash = string_hash(bytes, size, first, last);
    size_t mask = ((size_t)1 << t->bits) - 1, at = text_place(hash, t->bits);
    for (;; at = (at + 1) & mask) {
        string_slot slot = t->slots[at];
        if (slot.code == 0)
            return string_add(t, bytes, size, first, last, hash);
        const known_string *known = t->strings + slot.code - 1;
        if (slot.hash == hash && known->first == first && known->last == last && known->size == size
            && (size <= 16 || same_middle(known->bytes, bytes, size)))
            return slot.code - 1;
    }
}

static inline uint64_t short_key(uint64_t bytes, int64_t size)
{
    return bytes | (uint64_t)size << 56;
}

static inline size_t short_place(uint64_t key)
{
    return key * 0x9E3779B97F4A7C15u >> (64 - STRINGS_RECENT);
}

PRIORY_ASIDE static int32_t short_string_code(string_table *t, const uint8_t *bytes, int64_t size, uint64_t first)
{
    int32_t code = string_code(t, bytes, size, first, 0);
    if (code >= 0) {
        uint64_t key = short_key(first, size);
        t->recent[short_place(key)] = key;
        t->recent_codes[short_place(key)] = code;
    }
    return code;
}

/* Return the code of a string, of which `readable` bytes may be read; −1: no memory. */
PRIORY_INLINE int32_t code_of_string(string_table *t, const uint8_t *bytes, int64_t size, int64_t readable)
{
    if (size >= 8)
        return string_code(t, bytes, size, eight_bytes(bytes), eight_bytes(bytes + size - 8));
    uint64_t first = readable >= 8 ? few_of_eight(bytes, size) : few_bytes(bytes, size);
    uint64_t key = short_key(first, size);
    size_t place = short_place(key);
    return t->recent[place] == key ? t->recent_codes[place] : short_string_code(t, bytes, size, first);
}

/* ---- columns of them ------------------------------------------------------------------------------ */

enum { OFFSETS_32, OFFSETS_64, VIEWS, ONE_WIDTH };

typedef struct {
    int layout;
    int64_t n_rows, first; /* the column begins at row `first` of what follows */
    const uint8_t *valid;  /* a bit a row; NULL: all are there */
    const uint8_t *rows;   /* offsets, views, or the strings themselves */
    int64_t stride, width; /* of strings of one width */
    int64_t n_buffers;     /* of bytes: one with offsets, any number with views */
    const uint8_t **buffers;
    int64_t *sizes;
} string_column;

#define STRING_VIEW 16   /* bytes of a view */
#define STRING_INLINE 12 /* bytes of a string that stand in the view itself */

enum { STRINGS_NO_MEMORY = -1, STRINGS_OUTSIDE = -2 };

static inline int64_t offset_at(const string_column *c, int layout, int64_t row)
{
    int32_t narrow;
    int64_t wide;
    if (layout == OFFSETS_32) {
        memcpy(&narrow, c->rows + row * 4, 4); /* nobody promises that they are aligned */
        return narrow;
    }
    memcpy(&wide, c->rows + row * 8, 8);
    return wide;
}

/* Return the code of the string in a row, or what is wrong. */
PRIORY_INLINE int32_t code_at(string_table *t, const string_column *c, int layout, int64_t row)
{
    const uint8_t *bytes;
    int64_t start, size, readable;
    if (layout == ONE_WIDTH)
        return code_of_string(t, c->rows + row * c->stride, c->width, c->width);
    if (layout == VIEWS) {
        int32_t view[4]; /* size, first bytes, buffer, where in it */
        memcpy(view, c->rows + row * STRING_VIEW, STRING_VIEW);
        size = view[0];
        if ((uint64_t)size <= STRING_INLINE)
            return code_of_string(t, c->rows + row * STRING_VIEW + 4, size, STRING_INLINE);
        if (view[2] < 0 || view[2] >= c->n_buffers)
            return STRINGS_OUTSIDE;
        bytes = c->buffers[view[2]];
        readable = c->sizes[view[2]];
        start = view[3];
    } else {
        bytes = c->buffers[0];
        readable = c->sizes[0];
        start = offset_at(c, layout, row);
        size = (int64_t)((uint64_t)offset_at(c, layout, row + 1) - (uint64_t)start); /* wild ones may wrap */
    }
    if ((uint64_t)start > (uint64_t)readable || (uint64_t)size > (uint64_t)(readable - start))
        return STRINGS_OUTSIDE;
    return code_of_string(t, bytes + start, size, readable - start);
}

/* Write the codes of rows as long as their strings are short and at hand, as most are; return the first
 * row that is not. All of them are there. */
PRIORY_INLINE int64_t encode_recent(const string_table *t, const string_column *c, int layout, int64_t from, int64_t to,
                                    int32_t *codes)
{
    const uint64_t *recent = t->recent;
    const int32_t *recent_codes = t->recent_codes;
    const uint8_t *bytes = c->buffers[0];
    int64_t start = offset_at(c, layout, from), last = c->sizes[0] - 8;
    if (start < 0)
        return from;
    for (int64_t row = from; row < to; row++) {
        int64_t end = offset_at(c, layout, row + 1), size = (int64_t)((uint64_t)end - (uint64_t)start);
        if ((uint64_t)size >= 8 || start > last) /* so none begins before the one before it ended */
            return row;
        uint64_t key = short_key(few_of_eight(bytes + start, size), size);
        size_t place = short_place(key);
        if (recent[place] != key)
            return row;
        codes[row - from] = recent_codes[place];
        start = end;
    }
    return to;
}

PRIORY_INLINE int encode_rows(string_table *t, const string_column *c, int layout, int64_t from, int64_t to, int32_t *codes)
{
    for (int64_t row = from; row < to; row++) {
        if (c->valid != NULL && !(c->valid[row >> 3] >> (row & 7) & 1)) {
            codes[row - from] = -1;
            continue;
        }
        if (c->valid == NULL && (layout == OFFSETS_32 || layout == OFFSETS_64)) {
            row = encode_recent(t, c, layout, row, to, codes + (row - from));
            if (row == to)
                break;
        }
        int32_t code = code_at(t, c, layout, row);
        if (code < 0)
            return code;
        codes[row - from] = code;
    }
    return 0;
}

/* Write the codes of some rows, −1 for one that is missing; 0, or what went wrong. */
PRIORY_UNUSED static int encode_column(string_table *t, const string_column *c, int64_t from, int64_t to, int32_t *codes)
{
    from += c->first;
    to += c->first;
    switch (c->layout) {
    case OFFSETS_32:
        return encode_rows(t, c, OFFSETS_32, from, to, codes);
    case OFFSETS_64:
        return encode_rows(t, c, OFFSETS_64, from, to, codes);
    case VIEWS:
        return encode_rows(t, c, VIEWS, from, to, codes);
    default:
        return encode_rows(t, c, ONE_WIDTH, from, to, codes);
    }
}

#endif
