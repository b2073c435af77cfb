/* Texts split into words.
 * Everything here runs without Python; a function that needs memory returns −1 when there is none. */
#ifndef PRIORY_TEXT_H
#define PRIORY_TEXT_H

#include "text_utf8.h"
#include "vocabulary.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* ---- characters ------------------------------------------------------------------------------
 * The tables are filled from Python's own, once, before the first text is read. */

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

#define TEXT_BLOCK 64 /* bytes looked at together */
#define LAST_BYTE ((uint64_t)1 << (TEXT_BLOCK - 1))

/* Of a block of bytes, a bit each: the ASCII word characters, and whatever is not ASCII. */
typedef struct {
    uint64_t word, wide;
} byte_kinds;

#if defined(__SSE2__)
/* Which of 16 bytes are among `count` ones from `first` on: by one signed comparison, which such a
 * shift makes of an unsigned one. */
static inline __m128i bytes_from(__m128i bytes, int first, int count)
{
    return _mm_cmplt_epi8(_mm_sub_epi8(bytes, _mm_set1_epi8((char)(first + 128))), _mm_set1_epi8((char)(count - 128)));
}

/* Copy a block, in lower case if asked. */
PRIORY_INLINE byte_kinds copy_block(const uint8_t *from, int lower, uint8_t *to)
{
    byte_kinds kinds = {0, 0};
    for (int i = 0; i < TEXT_BLOCK; i += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(from + i));
        __m128i small = _mm_or_si128(bytes, _mm_and_si128(bytes_from(bytes, 'A', 26), _mm_set1_epi8('a' - 'A')));
        __m128i word = _mm_or_si128(_mm_or_si128(bytes_from(small, 'a', 26), bytes_from(bytes, '0', 10)),
                                    _mm_cmpeq_epi8(bytes, _mm_set1_epi8('_')));
        _mm_storeu_si128((__m128i *)(to + i), lower ? small : bytes);
        kinds.word |= (uint64_t)(unsigned)_mm_movemask_epi8(word) << i;
        kinds.wide |= (uint64_t)(unsigned)_mm_movemask_epi8(bytes) << i;
    }
    return kinds;
}
#else
PRIORY_INLINE byte_kinds copy_block(const uint8_t *from, int lower, uint8_t *to)
{
    byte_kinds kinds = {0, 0};
    for (int i = 0; i < TEXT_BLOCK; i++) {
        uint8_t byte = text_byte[from[i]], ascii = from[i] < 128;
        to[i] = lower && ascii && byte ? byte : from[i];
        kinds.word |= (uint64_t)(ascii && byte) << i;
        kinds.wide |= (uint64_t)!ascii << i;
    }
    return kinds;
}
#endif

static inline int lowest_bit(uint64_t bits) /* there is one */
{
#if defined(__GNUC__)
    return __builtin_ctzll(bits);
#else
    int at = 0;
    for (; !(bits & 255); bits >>= 8)
        at += 8;
    for (; !(bits & 1); bits >>= 1)
        at++;
    return at;
#endif
}

/* Read a word character that is not ASCII, and write it; return 0 where there is none, and −1 where
 * it is special. */
PRIORY_INLINE int wide_character(const uint8_t **from, const uint8_t *end, int lower, int exact, uint8_t **to)
{
    const uint8_t *p = *from;
    if (p[0] < 0xE0 && end - p > 1 && (p[1] & 0xC0) == 0x80) {
        uint32_t entry = text_short[(p[0] & 0x1F) << 6 | (p[1] & 0x3F)];
        if (entry >> TEXT_SHORT & (lower ? TEXT_WORD : TEXT_CASED)) {
            uint32_t bytes = lower ? entry & 0xFFFF : p[0] | (uint32_t)p[1] << 8;
            (*to)[0] = (uint8_t)bytes;
            (*to)[1] = (uint8_t)(bytes >> 8);
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
        *to += 3;
        return 1;
    }
    *to = text_encode(lower ? c + (uint32_t)text_shift(entry) : c, *to);
    return 1;
}

/* Write the words of a run of ASCII word characters and bytes that are not ASCII: there may be none,
 * or several. Return how many, up to `room`, with `*from` after the last. */
PRIORY_INLINE ptrdiff_t split_run(const uint8_t **from, const uint8_t *end, int lower, uint8_t **low,
                                  text_word *words, ptrdiff_t room, int *special)
{
    const uint8_t *p = *from;
    ptrdiff_t n = 0;
    while (n < room && p < end) {
        uint8_t *first = *low, *to = first;
        ptrdiff_t characters = 0;
        for (; p < end; characters++) {
            uint8_t byte = text_byte[*p];
            if (byte > 0 && byte < 128) {
                *to++ = lower ? byte : *p;
                p++;
                continue;
            }
            int is_word = byte ? wide_character(&p, end, lower, special == NULL, &to) : (p++, 0);
            if (is_word < 0) {
                *special = 1;
                *from = p;
                return n;
            }
            if (is_word == 0)
                break;
        }
        if (characters >= 2) {
            words[n++] = text_word_of(first, (uint32_t)(to - first));
            *low = to;
        }
    }
    *from = p;
    return n;
}

PRIORY_INLINE ptrdiff_t split_words(const uint8_t **from, const uint8_t *end, int lower, uint8_t *low,
                                    text_word *words, ptrdiff_t room, int *special)
{
    const uint8_t *text = *from;
    ptrdiff_t size = end - text, n = 0, first = 0; /* of the run that is open */
    uint8_t *wide_low = low + size + TEXT_BLOCK, rest[TEXT_BLOCK];
    int open = 0, wide = 0; /* whether a run goes on from the block before, and has other than ASCII */
    for (ptrdiff_t at = 0; at < size || open; at += TEXT_BLOCK) {
        const uint8_t *block = text + at;
        if (size - at < TEXT_BLOCK) { /* the zeros end a run that reaches the end of the text */
            memset(rest, 0, TEXT_BLOCK);
            if (size > at)
                memcpy(rest, block, (size_t)(size - at));
            block = rest;
        }
        byte_kinds kinds = copy_block(block, lower, low + at);
        if (kinds.wide == 0 && !(open && wide) && room - n > TEXT_BLOCK / 2) { /* nearly every block */
            uint64_t after = kinds.word << 1 | (uint64_t)open; /* a word character is before it */
            uint64_t runs = kinds.word & (after | kinds.word >> 1 | LAST_BYTE); /* not those of one byte */
            uint64_t starts = runs & ~after, ends = ~runs & (runs << 1 | (uint64_t)open);
            if (open && ends) {
                words[n] = text_word_of(low + first, (uint32_t)(at + lowest_bit(ends) - first));
                n += words[n].size >= 2;
                ends &= ends - 1;
                open = 0;
            }
            for (; ends; starts &= starts - 1, ends &= ends - 1) {
                int start = lowest_bit(starts);
                words[n++] = text_word_of(low + at + start, (uint32_t)(lowest_bit(ends) - start));
            }
            if (starts) {
                first = at + lowest_bit(starts);
                open = 1;
                wide = 0;
            }
            continue;
        }
        uint64_t runs = kinds.word | kinds.wide, edges = runs ^ (runs << 1 | (uint64_t)open);
        while (edges) {
            uint64_t inside = kinds.wide;
            if (!open) {
                int start = lowest_bit(edges);
                edges &= edges - 1;
                first = at + start;
                inside &= ~(uint64_t)0 << start;
                wide = 0;
                if (edges == 0) {
                    open = 1;
                    break;
                }
            }
            int last = lowest_bit(edges); /* the first byte after the run */
            edges &= edges - 1;
            open = 0;
            wide |= (inside & (((uint64_t)1 << last) - 1)) != 0;
            ptrdiff_t length = at + last - first;
            if (!wide) {
                words[n] = text_word_of(low + first, (uint32_t)length);
                n += length >= 2;
                if (n < room)
                    continue;
                *from = text + at + last;
                return n;
            }
            const uint8_t *p = text + first;
            n += split_run(&p, p + length, lower, &wide_low, words + n, room - n, special);
            if (n == room || (special != NULL && *special)) {
                *from = p;
                return n;
            }
        }
        if (open)
            wide |= (first > at ? kinds.wide >> (first - at) : kinds.wide) != 0;
    }
    *from = end;
    return n;
}

/* Write the next words, `room` at most, in lower case if asked, with their bytes in `low`: TEXT_BLOCK longer
 * than the text twice over and a half, as two bytes may become three. Words are runs of at least two word
 * characters; bytes that are no UTF-8 part words. `*special` is set where a special code point ends the
 * work, unless it is NULL: all words before its own are written. */
PRIORY_UNUSED static ptrdiff_t text_split(const uint8_t **from, const uint8_t *end, int lower, uint8_t *low,
                                          text_word *words, ptrdiff_t room, int *special)
{
    return lower ? split_words(from, end, 1, low, words, room, special)
                 : split_words(from, end, 0, low, words, room, NULL);
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

#endif
