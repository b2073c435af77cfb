/* Texts split into words. Everything here runs without Python. */
#ifndef PRIORY_TEXT_H
#define PRIORY_TEXT_H

#include "text_utf8.h"
#include "vocabulary.h"

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

#endif
