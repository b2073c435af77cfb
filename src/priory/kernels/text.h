/* Texts split into words, or into the n-grams of their words or characters.
 * Everything here runs without Python; a function that needs memory returns −1 when there is none. */
#ifndef PRIORY_TEXT_H
#define PRIORY_TEXT_H

#include "text_utf8.h"
#include "vocabulary.h"

/* ---- characters ------------------------------------------------------------------------------
 * The tables are filled from Python's own, once, when the module is loaded. */

#define TEXT_PAGES 0x1100 /* of 256 code points each */
#define TEXT_WORD 1       /* its lower case is a word character: \w */
#define TEXT_SPECIAL 2    /* its lower case depends on its neighbours or is several code points */
#define TEXT_CASED 4      /* it is a word character as it is */
#define TEXT_SPACE 8      /* it is white space: \s */
#define TEXT_FLAGS 15

static uint8_t text_byte[256];         /* lower case of ASCII; 0: no word; 128: starts a code point */
static uint16_t text_page[TEXT_PAGES]; /* equal pages are kept once */
static int32_t *text_entries;          /* 16·(lower case − code point) + flags */

/* Of code points with two bytes: those of its lower case, the first one lowest, and flags from
 * TEXT_SHORT on; no TEXT_WORD where the lower case is special or has not two bytes itself. */
#define TEXT_SHORT 16
static uint32_t text_short[0x800];

static inline int32_t text_entry(uint32_t c)
{
    return text_entries[((uint32_t)text_page[c >> 8] << 8) | (c & 255)];
}

static inline int32_t text_shift(int32_t entry)
{
    return (entry - (entry & TEXT_FLAGS)) / (TEXT_FLAGS + 1);
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

/* ---- words -------------------------------------------------------------------------------- */

#if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* A high bit for each of eight bytes from `first` to `last`, all of them ASCII. */
static inline uint64_t bytes_between(uint64_t eight, uint64_t first, uint64_t last)
{
    const uint64_t each = 0x0101010101010101u;
    return (eight + each * (128 - first)) & ~(eight + each * (127 - last));
}

/* Read ASCII word characters, eight at a time, from the start of a word; return how many. The word
 * may go on: with other characters, or with the last bytes of a text, fewer than eight. */
PRIORY_INLINE ptrdiff_t ascii_start(const uint8_t *p, const uint8_t *end, int lower, uint8_t *low, text_hash *h)
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
        seven = lower ? seven : eight;
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
static inline ptrdiff_t ascii_start(const uint8_t *p, const uint8_t *end, int lower, uint8_t *low, text_hash *h)
{
    return 0;
}
#endif

/* Read a word character that is not ASCII, and write it; return 0 where there is none, and −1 where
 * it is special. */
PRIORY_INLINE int wide_character(const uint8_t **from, const uint8_t *end, int lower, int exact,
                                 uint8_t **to, text_hash *h)
{
    const uint8_t *p = *from;
    if (p[0] < 0xE0 && end - p > 1 && (p[1] & 0xC0) == 0x80) {
        uint32_t entry = text_short[(p[0] & 0x1F) << 6 | (p[1] & 0x3F)];
        if (entry >> TEXT_SHORT & (lower ? TEXT_WORD : TEXT_CASED)) {
            uint32_t bytes = lower ? entry & 0xFFFF : p[0] | (uint32_t)p[1] << 8;
            (*to)[0] = (uint8_t)bytes;
            (*to)[1] = (uint8_t)(bytes >> 8);
            hash_bytes(h, bytes, 2);
            *to += 2;
            *from += 2;
            return 1;
        }
    }
    uint32_t c;
    ptrdiff_t size = text_decode(p, end, &c);
    int32_t entry = size ? text_entry(c) : 0;
    if (lower && !exact && (entry & TEXT_SPECIAL))
        return -1;
    *from += size ? size : 1;
    if (!(entry & (lower ? TEXT_WORD : TEXT_CASED)))
        return 0;
    if (size == 3 && (!lower || text_shift(entry) == 0)) {
        memcpy(*to, p, 3);
        hash_bytes(h, p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16, 3);
        *to += 3;
        return 1;
    }
    uint8_t *next = text_encode(lower ? c + (uint32_t)text_shift(entry) : c, *to);
    for (; *to < next; ++*to)
        hash_byte(h, **to);
    return 1;
}

PRIORY_INLINE ptrdiff_t split_words(const uint8_t **from, const uint8_t *end, int lower, uint8_t *low,
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
        ptrdiff_t characters = text_byte[*p] < 128 ? ascii_start(p, end, lower, low, &h) : 0;
        p += characters;
        low += characters;
        while (p < end) {
            uint8_t byte = text_byte[*p];
            if (byte == 0)
                break;
            if (byte < 128) {
                *low = lower ? byte : *p;
                hash_byte(&h, *low++);
                p++;
            } else {
                int is_word = wide_character(&p, end, lower, special == NULL, &low, &h);
                if (is_word < 0) {
                    *special = 1;
                    *from = p;
                    return n;
                }
                if (is_word == 0)
                    break;
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

/* Write the next words, `room` at most, with their bytes in `low` (twice as long as the text: two
 * bytes may become three). Words are runs of at least two word characters; bytes that are no
 * UTF-8 part words. `*special` is set where a special code point ends the work, unless it is NULL:
 * all words before its own are written. */
PRIORY_UNUSED static ptrdiff_t text_split(const uint8_t **from, const uint8_t *end, uint8_t *low,
                                          text_word *words, ptrdiff_t room, int *special)
{
    return split_words(from, end, 1, low, words, room, special);
}

/* The same, with capitals left as they are. */
PRIORY_UNUSED static ptrdiff_t text_split_cased(const uint8_t **from, const uint8_t *end, uint8_t *low,
                                                text_word *words, ptrdiff_t room)
{
    return split_words(from, end, 0, low, words, room, NULL);
}

/* The same, for words made elsewhere: whatever is between two bytes that are no UTF-8. */
PRIORY_UNUSED static ptrdiff_t text_split_given(const uint8_t **from, const uint8_t *end, uint8_t *low,
                                                text_word *words, ptrdiff_t room)
{
    const uint8_t *p = *from;
    ptrdiff_t n = 0;
    while (n < room && p < end) {
        const uint8_t *first = p;
        ptrdiff_t size = 1;
        while (p < end) {
            uint32_t c;
            size = text_decode(p, end, &c);
            if (size == 0)
                break;
            p += size;
        }
        if (p > first) {
            memcpy(low, first, (size_t)(p - first)); /* where bytes to read follow */
            words[n++] = text_word_of(low, (uint32_t)(p - first));
            low += p - first;
        }
        p += size == 0;
    }
    *from = p;
    return n;
}

/* Leave out the words that are in `stops`; return how many stay. */
PRIORY_UNUSED static ptrdiff_t drop_words(const vocabulary *stops, text_word *words, ptrdiff_t n)
{
    ptrdiff_t kept = 0;
    for (ptrdiff_t i = 0; i < n; i++)
        if (vocabulary_find(stops, words + i) < 0)
            words[kept++] = words[i];
    return kept;
}

/* ---- n-grams of words: joined by one space, they lie in a row, and each n-gram is a part of it -- */

typedef struct {
    uint8_t *bytes; /* the last words, a space after each */
    int64_t bytes_room;
    int64_t *starts; /* of each of them, and of the next */
    int64_t starts_room, count;
} word_row;

/* Add words to the row, and write the n-grams of `low` to `high` words that end with each of them,
 * shorter ones first; return how many. */
PRIORY_UNUSED static ptrdiff_t word_ngrams(word_row *row, const text_word *words, ptrdiff_t n,
                                           int64_t low, int64_t high, text_word *out)
{
    int64_t keep = row->count < high - 1 ? row->count : high - 1, size = n;
    for (ptrdiff_t i = 0; i < n; i++)
        size += words[i].size;
    if (row->count > keep) { /* only these can still be part of an n-gram */
        const int64_t *kept = row->starts + row->count - keep;
        int64_t first = kept[0];
        memmove(row->bytes, row->bytes + first, (size_t)(kept[keep] - first));
        for (int64_t i = 0; i <= keep; i++)
            row->starts[i] = kept[i] - first;
        row->count = keep;
    }
    int64_t end = keep ? row->starts[keep] : 0;
    if (grow_array((void **)&row->bytes, &row->bytes_room, end + size + TEXT_PADDING, 1) < 0
        || grow_array((void **)&row->starts, &row->starts_room, keep + n + 1, sizeof(int64_t)) < 0)
        return -1;
    row->starts[0] = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        memcpy(row->bytes + end, words[i].bytes, words[i].size);
        end += words[i].size;
        row->bytes[end++] = ' ';
        row->starts[++row->count] = end;
    }
    memset(row->bytes + end, 0, TEXT_PADDING);
    ptrdiff_t written = 0;
    for (int64_t last = keep + 1; last <= row->count; last++)
        for (int64_t length = low; length <= high && length <= last; length++) {
            int64_t start = row->starts[last - length];
            out[written++] = text_word_of(row->bytes + start, (uint32_t)(row->starts[last] - 1 - start));
        }
    return written;
}

/* ---- n-grams of characters ------------------------------------------------------------------------
 * First the whole text is written as they are taken from it, then each n-gram is a part of that. */

PRIORY_INLINE ptrdiff_t write_characters(const uint8_t *p, const uint8_t *end, int lower, int bounded,
                                         uint8_t *out, int *special)
{
    uint8_t *first = out, *space = out; /* where the white space began */
    int spaces = 0;
    while (p < end) {
        uint32_t c;
        ptrdiff_t size = text_decode(p, end, &c);
        if (size == 0)
            c = ' ';
        p += size ? size : 1;
        int32_t entry = text_entry(c);
        if (lower && (entry & TEXT_SPECIAL)) {
            *special = 1;
            return 0;
        }
        if (entry & TEXT_SPACE) {
            if (spaces++ == 0) {
                space = out;
                if (!bounded)
                    out = text_encode(c, out);
            } else if (!bounded) {
                *space = ' ';
                out = space + 1;
            }
            continue;
        }
        if (bounded && (spaces || out == first)) {
            if (out > first)
                *out++ = ' ';
            *out++ = ' ';
        }
        spaces = 0;
        out = text_encode(lower ? c + (uint32_t)text_shift(entry) : c, out);
    }
    if (bounded && out > first)
        *out++ = ' ';
    memset(out, 0, TEXT_PADDING);
    return out - first;
}

/* Write a text as UTF-8, in lower case if asked; return its size. White space of two characters and
 * more becomes one space; if `bounded`, each run without white space gets a space before and after,
 * and nothing else is between them. `*special` is set if the lower case asks for more than this. */
PRIORY_UNUSED static ptrdiff_t text_characters(const uint8_t *p, const uint8_t *end, int lower, int bounded,
                                               uint8_t *out, int *special)
{
    if (bounded)
        return lower ? write_characters(p, end, 1, 1, out, special) : write_characters(p, end, 0, 1, out, special);
    return lower ? write_characters(p, end, 1, 0, out, special) : write_characters(p, end, 0, 0, out, special);
}

typedef struct {
    const uint8_t *first, *at, *end; /* no n-gram begins before `first`; those that end by `at` are written */
} character_row;

/* Write the n-grams of `low` to `high` characters that end with the next characters, shorter ones
 * first; return how many, at most `room`, which holds high − low + 1 at least. If `bounded`, none
 * reaches beyond its run, and a run shorter than `low` is one itself. */
PRIORY_UNUSED static ptrdiff_t character_ngrams(character_row *row, int bounded, int64_t low, int64_t high,
                                                text_word *out, ptrdiff_t room)
{
    ptrdiff_t n = 0;
    while (row->at < row->end && n + (high - low + 1) <= room) {
        int closes = bounded && *row->at == ' ' && row->at > row->first;
        do
            row->at++;
        while (row->at < row->end && (*row->at & 0xC0) == 0x80);
        const uint8_t *p = row->at;
        int64_t length = 0;
        while (length < high && p > row->first) {
            do
                p--;
            while ((*p & 0xC0) == 0x80);
            if (++length >= low)
                out[n++] = text_word_of(p, (uint32_t)(row->at - p));
        }
        if (closes) {
            if (length < low)
                out[n++] = text_word_of(p, (uint32_t)(row->at - p));
            row->first = row->at;
        }
    }
    return n;
}

#endif
