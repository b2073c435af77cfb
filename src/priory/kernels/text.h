/* Texts split into words.
 * Everything here runs without Python; a function that needs memory returns −1 when there is none. */
#ifndef PRIORY_TEXT_H
#define PRIORY_TEXT_H

#include "text_utf8.h"
#include "vocabulary.h"
#include "word_kinds.h"

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
#define TEXT_KIND 4       /* from this bit on, three say its kind, by word_kinds.h */
#define TEXT_FLAGS 127

static uint8_t text_byte[256];         /* lower case of ASCII; 0: no word; 128: starts a code point */
static uint16_t text_page[TEXT_PAGES]; /* equal pages are kept once */
static int32_t *text_entries;          /* 128·(lower case − code point) + flags */

/* Of code points with two bytes: those of its lower case, the first one lowest, and flags from TEXT_SHORT on;
 * TEXT_ODD where the lower case is special or has not two bytes itself. */
#define TEXT_SHORT 16
#define TEXT_ODD ((uint32_t)1 << 31)
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

/* Of a block of bytes, a bit each: those of words, those of characters that stand alone with their marks,
 * and the first one of each; the first one of each character of a word. */
typedef struct {
    uint64_t word, alone, starts, leads;
    int used; /* bytes before the first character that is not whole, or odd */
    int odd;  /* the word there must be written character by character: a lower case has another size, or a
                 format character is left out */
} word_bits;

PRIORY_INLINE int character_kind(int32_t entry, int lower, int two)
{
    return two ? (entry & (lower ? TEXT_WORD : TEXT_CASED)) != 0 : entry >> TEXT_KIND & 7; /* KIND_WORD is 1 */
}

/* Read the characters of a block that are not ASCII, and write their lower case if it is as long. `open` is the
 * kind of what goes on from the block before, `last` says that the text ends with this block. */
PRIORY_INLINE void read_wide(const uint8_t *block, uint64_t wide, int lower, int two, int open, int last,
                             uint8_t *low, word_bits *bits)
{
    while (wide) {
        int i = lowest_bit(wide), kind, odd = 0;
        const uint8_t *p = block + i;
        ptrdiff_t size;
        if (!last && i > TEXT_BLOCK - 4) {
            ptrdiff_t whole = p[0] < 0xC2 ? 1 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
            if (i + whole > TEXT_BLOCK) {
                bits->used = i;
                return;
            }
        }
        if (p[0] >= 0xC2 && p[0] < 0xE0 && i + 1 < TEXT_BLOCK && (p[1] & 0xC0) == 0x80) {
            uint32_t entry = text_short[(p[0] & 0x1F) << 6 | (p[1] & 0x3F)];
            size = 2;
            kind = character_kind((int32_t)(entry >> TEXT_SHORT), lower, two);
            if (lower) {
                low[i] = (uint8_t)entry;
                low[i + 1] = (uint8_t)(entry >> 8);
                odd = (entry & TEXT_ODD) != 0;
            }
        } else {
            uint32_t c;
            size = text_decode(p, block + TEXT_BLOCK, &c);
            if (size == 0) {
                wide &= wide - 1;
                continue;
            }
            int32_t entry = text_entry(c);
            kind = character_kind(entry, lower, two);
            if (lower && text_shift(entry) != 0) {
                uint8_t out[4];
                odd = (entry & TEXT_SPECIAL) || text_encode(c + (uint32_t)text_shift(entry), out) - out != size;
                if (!odd)
                    memcpy(low + i, out, (size_t)size);
            }
        }
        uint64_t rest = size + i < TEXT_BLOCK ? ~(uint64_t)0 << (size + i) : 0, own = ~rest & ~(uint64_t)0 << i;
        if (kind == KIND_WORD) {
            if (odd) {
                bits->used = i;
                bits->odd = 1;
                return;
            }
            bits->word |= own;
            bits->leads |= (uint64_t)1 << i;
        } else if (!two && kind == KIND_ALONE) {
            bits->alone |= own;
            bits->starts |= (uint64_t)1 << i;
        } else if (!two && (kind == KIND_MARK || kind == KIND_FORMAT)) {
            int in_word = i ? (int)(bits->word >> (i - 1) & 1) : open == KIND_WORD;
            int in_alone = i ? (int)(bits->alone >> (i - 1) & 1) : open == KIND_ALONE;
            if (in_word && kind == KIND_FORMAT) {
                bits->used = i;
                bits->odd = 1;
                return;
            }
            bits->word |= in_word ? own : 0;
            bits->alone |= in_alone && kind == KIND_MARK ? own : 0;
        }
        wide &= rest;
    }
}

/* Write the word at `*from` character by character; return how many it has, −1 where one is special and the
 * text is not `exact`. */
PRIORY_INLINE ptrdiff_t write_word(const uint8_t **from, const uint8_t *end, int lower, int two, int exact,
                                   uint8_t **to)
{
    const uint8_t *p = *from;
    uint8_t *out = *to;
    ptrdiff_t characters = 0;
    while (p < end) {
        uint32_t c;
        ptrdiff_t size = text_decode(p, end, &c);
        int32_t entry = size ? text_entry(c) : 0;
        int kind = character_kind(entry, lower, two);
        if (lower && !exact && (entry & TEXT_SPECIAL))
            return -1;
        if (kind == KIND_WORD || (kind == KIND_MARK && characters > 0)) {
            out = text_encode(lower ? c + (uint32_t)text_shift(entry) : c, out);
            characters++;
        } else if (kind != KIND_FORMAT || characters == 0) {
            break;
        }
        p += size;
    }
    *from = p;
    *to = out;
    return characters;
}

/* The words of a text so far. */
typedef struct {
    text_word *words;
    uint8_t *glued; /* of each, whether it stands alone right after another such; NULL: such pairs are words */
    ptrdiff_t n, room;
    ptrdiff_t before, before_end; /* where the last one is that stands alone */
    int again;                    /* the first one was given before, and is here for the pair with it */
} word_list;

PRIORY_INLINE int words_full(const word_list *list)
{
    return list->n + (list->glued == NULL) >= list->room;
}

PRIORY_INLINE void add_alone(word_list *list, const uint8_t *low, ptrdiff_t first, ptrdiff_t end)
{
    int glued = list->before_end == first;
    if (!list->again) {
        if (list->glued != NULL)
            list->glued[list->n] = (uint8_t)glued;
        list->words[list->n++] = text_word_of(low + first, (uint32_t)(end - first));
        if (glued && list->glued == NULL)
            list->words[list->n++] = text_word_of(low + list->before, (uint32_t)(end - list->before));
    }
    list->again = 0;
    list->before = first;
    list->before_end = end;
}

/* Stop for lack of room before what begins at `first`; return the place to go on from. */
PRIORY_INLINE ptrdiff_t stop_before(word_list *list, ptrdiff_t first, int kind)
{
    list->again = kind == KIND_ALONE && list->before_end == first;
    return list->again ? list->before : first;
}

PRIORY_INLINE void split_words(const uint8_t **from, const uint8_t *end, int lower, int two, uint8_t *low,
                               word_list *list, int *special)
{
    const uint8_t *text = *from;
    ptrdiff_t size = end - text, at = 0, first = 0; /* of the word that is open */
    uint8_t *odd_low = low + size + TEXT_BLOCK, rest[TEXT_BLOCK];
    int open = 0, several = 0; /* the kind of what goes on from the block before; it has two characters */
    list->before = list->before_end = -1;
    while (at < size || open) {
        const uint8_t *block = text + at;
        int last = size - at < TEXT_BLOCK;
        if (last) { /* the zeros end a word that reaches the end of the text */
            memset(rest, 0, TEXT_BLOCK);
            if (size > at)
                memcpy(rest, block, (size_t)(size - at));
            block = rest;
        }
        byte_kinds kinds = copy_block(block, lower, low + at);
        word_bits bits = {kinds.word, 0, 0, kinds.word, TEXT_BLOCK, 0};
        uint64_t settled = ~(uint64_t)0;
        if (kinds.wide) {
            read_wide(block, kinds.wide, lower, two, open, last, low + at, &bits);
            if (bits.used < TEXT_BLOCK)
                settled = ((uint64_t)1 << bits.used) - 1;
            bits.word &= settled;
        }
        uint64_t after = bits.word << 1 | (open == KIND_WORD); /* bytes after one of a word */
        if ((two || (bits.alone == 0 && open != KIND_ALONE)) && list->room - list->n > TEXT_BLOCK / 2 + 1) {
            uint64_t runs = bits.word;
            if (two && !kinds.wide)
                runs &= after | bits.word >> 1 | LAST_BYTE; /* not those of one byte */
            uint64_t starts = runs & ~after, ends = ~runs & (runs << 1 | (open != 0)) & settled;
            text_word *words = list->words + list->n;
            if (open && ends) {
                int stop = lowest_bit(ends);
                *words = text_word_of(low + first, (uint32_t)(at + stop - first));
                words += !two || several || stop > 0;
                ends &= ends - 1;
                open = 0;
            }
            for (; ends; starts &= starts - 1, ends &= ends - 1) {
                int start = lowest_bit(starts), stop = lowest_bit(ends);
                *words = text_word_of(low + at + start, (uint32_t)(stop - start));
                words += !two || !kinds.wide || (bits.leads & (((uint64_t)1 << stop) - 1)) >> start > 1;
            }
            list->n = words - list->words;
            if (starts) {
                int start = lowest_bit(starts);
                first = at + start;
                open = KIND_WORD;
                several = (bits.leads & settled) >> start > 1;
            } else if (open && bits.used > 0) {
                several = 1;
            }
        } else {
            uint64_t inside = bits.alone << 1 | (open == KIND_ALONE);
            uint64_t starts = (bits.word & ~after) | bits.starts;
            uint64_t ends = ((~bits.word & after) | (inside & (bits.starts | ~bits.alone))) & settled;
            while (open || starts) {
                int stop = ends ? lowest_bit(ends) : bits.used;
                if (open) {
                    several |= stop > 0;
                } else {
                    int start = lowest_bit(starts);
                    starts &= starts - 1;
                    first = at + start;
                    open = bits.starts >> start & 1 ? KIND_ALONE : KIND_WORD;
                    several = (stop < TEXT_BLOCK ? bits.leads & (((uint64_t)1 << stop) - 1) : bits.leads) >> start > 1;
                }
                if (!ends)
                    break;
                if (words_full(list)) {
                    *from = text + stop_before(list, first, open);
                    return;
                }
                if (open == KIND_ALONE) {
                    add_alone(list, low, first, at + stop);
                } else {
                    list->words[list->n] = text_word_of(low + first, (uint32_t)(at + stop - first));
                    list->n += !two || several;
                }
                ends &= ends - 1;
                open = 0;
            }
        }
        at += bits.used;
        if (!bits.odd)
            continue;
        if (open == KIND_ALONE ? words_full(list) : list->n >= list->room) {
            *from = text + stop_before(list, open ? first : at, open);
            return;
        }
        if (open == KIND_ALONE) {
            add_alone(list, low, first, at);
            open = 0;
        }
        const uint8_t *p = text + (open ? first : at);
        uint8_t *to = odd_low;
        if (list->n >= list->room) {
            *from = p;
            return;
        }
        ptrdiff_t characters = write_word(&p, end, lower, two, special == NULL, &to);
        if (characters < 0) {
            *special = 1;
            return;
        }
        if (characters > two)
            list->words[list->n++] = text_word_of(odd_low, (uint32_t)(to - odd_low));
        odd_low = to;
        at = p - text;
        open = 0;
    }
    *from = end;
}

#define TEXT_REPEATS 3 /* a symbol that comes more often in a row is so many */

/* The same, of words and of symbols beside them, character by character. */
PRIORY_UNUSED static void split_symbols(const uint8_t **from, const uint8_t *end, int lower, uint8_t *low,
                                        word_list *list, int *special)
{
    const uint8_t *p = *from, *before = p; /* where the last character began that stands alone */
    uint8_t *to = low;
    list->before = list->before_end = -1;
    while (p < end) {
        uint32_t c, next;
        const uint8_t *first = p;
        ptrdiff_t size = text_decode(p, end, &c), start = to - low;
        int kind = size ? character_kind(text_entry(c), lower, 0) : KIND_OTHER;
        if (kind != KIND_WORD && kind != KIND_ALONE && kind != KIND_SYMBOL) {
            p += size ? size : 1;
            list->before_end = -1;
            continue;
        }
        if (words_full(list)) {
            list->again = kind == KIND_ALONE && list->before_end == start;
            *from = list->again ? before : first;
            return;
        }
        if (kind == KIND_WORD) {
            if (write_word(&p, end, lower, 0, special == NULL, &to) < 0) {
                *special = 1;
                return;
            }
        } else if (kind == KIND_SYMBOL) {
            for (int times = 0; p < end && text_decode(p, end, &next) && next == c; p += size)
                if (times++ < TEXT_REPEATS)
                    to = text_encode(c, to);
        } else {
            do {
                memcpy(to, p, (size_t)size);
                to += size;
                p += size;
                size = p < end ? text_decode(p, end, &next) : 0;
            } while (size && character_kind(text_entry(next), lower, 0) == KIND_MARK);
            add_alone(list, low, start, to - low);
            before = first;
            continue;
        }
        list->words[list->n++] = text_word_of(low + start, (uint32_t)(to - low - start));
        list->before_end = -1;
    }
    *from = end;
}

/* Add the next words, in lower case if asked, with their bytes in `low`: TEXT_BLOCK longer than the text twice over
 * and a half, as two bytes may become three. Bytes that are no UTF-8 part words. If `two`, words are scikit-learn's,
 * of at least two letters, digits or underscores; if `symbols`, they and punctuation are words too. `*special` is set where a special code point ends the work, unless it is
 * NULL. */
PRIORY_UNUSED static void text_split(const uint8_t **from, const uint8_t *end, int lower, int two, int symbols,
                                     uint8_t *low, word_list *list, int *special)
{
    if (list->glued != NULL)
        memset(list->glued, 0, (size_t)list->room);
    if (symbols)
        split_symbols(from, end, lower, low, list, lower ? special : NULL);
    else if (lower)
        two ? split_words(from, end, 1, 1, low, list, special) : split_words(from, end, 1, 0, low, list, special);
    else
        two ? split_words(from, end, 0, 1, low, list, NULL) : split_words(from, end, 0, 0, low, list, NULL);
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

/* Leave out the words that are in `stops`; return how many stay. What came after a word that is left out is
 * glued to none; `*dropped` says whether the last word was. */
PRIORY_UNUSED static ptrdiff_t drop_words(const vocabulary *stops, text_word *words, uint8_t *glued, ptrdiff_t n,
                                          int *dropped)
{
    ptrdiff_t kept = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        int drop = vocabulary_find(stops, words + i) >= 0;
        glued[kept] = glued[i] && !*dropped;
        words[kept] = words[i];
        kept += !drop;
        *dropped = drop;
    }
    return kept;
}

#endif
