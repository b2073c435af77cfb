/* N-grams of words and of characters.
 * Everything here runs without Python; a function that needs memory returns −1 when there is none. */
#ifndef PRIORY_NGRAMS_H
#define PRIORY_NGRAMS_H

#include "text.h"

/* ---- n-grams of words: joined by one space, they lie in a row, and each n-gram is a part of it -- */

typedef struct {
    uint8_t *bytes; /* the last words, a space after each but before those that are glued to it */
    int64_t bytes_room;
    int64_t *places; /* where each of them begins, and ends */
    int64_t places_room, count;
    int dropped; /* the last word was left out */
} word_row;

PRIORY_UNUSED static void word_row_free(word_row *row)
{
    free_array(row->bytes, row->bytes_room, 1);
    free_array(row->places, row->places_room, sizeof(int64_t));
}

/* Add words to the row, and write the n-grams of `low` to `high` words that end with each of them, shorter ones
 * first; return how many. Words that are glued follow the one before without a space, and are a pair with it even
 * if `high` is 1, unless the pair is in `stops`. */
PRIORY_UNUSED static ptrdiff_t word_ngrams(word_row *row, const text_word *words, const uint8_t *glued, ptrdiff_t n,
                                           int64_t low, int64_t high, const vocabulary *stops, text_word *out)
{
    int64_t longest = high > 1 ? high : 2;
    int64_t keep = row->count < longest - 1 ? row->count : longest - 1, size = n;
    for (ptrdiff_t i = 0; i < n; i++)
        size += words[i].size;
    if (row->count > keep) { /* only these can still be part of an n-gram */
        const int64_t *kept = row->places + 2 * (row->count - keep);
        int64_t first = kept[0];
        memmove(row->bytes, row->bytes + first, (size_t)(kept[2 * keep - 1] - first));
        for (int64_t i = 0; i < 2 * keep; i++)
            row->places[i] = kept[i] - first;
        row->count = keep;
    }
    int64_t end = keep ? row->places[2 * keep - 1] : 0;
    if (grow_array((void **)&row->bytes, &row->bytes_room, end + size + TEXT_PADDING, 1) < 0
        || grow_array((void **)&row->places, &row->places_room, 2 * (keep + n), sizeof(int64_t)) < 0)
        return -1;
    for (ptrdiff_t i = 0; i < n; i++, row->count++) {
        if (row->count > 0 && !glued[i])
            row->bytes[end++] = ' ';
        memcpy(row->bytes + end, words[i].bytes, words[i].size);
        row->places[2 * row->count] = end;
        row->places[2 * row->count + 1] = end += words[i].size;
    }
    memset(row->bytes + end, 0, TEXT_PADDING);
    ptrdiff_t written = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        const int64_t *place = row->places + 2 * (keep + i);
        int is_pair = glued[i] && keep + i > 0;
        for (int64_t length = low; length <= (is_pair ? longest : high) && length <= keep + i + 1; length++) {
            int64_t start = place[2 - 2 * length];
            out[written] = text_word_of(row->bytes + start, (uint32_t)(place[1] - start));
            written += !(is_pair && length == 2 && stops != NULL && vocabulary_find(stops, out + written) >= 0);
        }
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
