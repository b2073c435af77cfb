/* UTF-8: one code point read, one written; a whole string of Python's written. */
#ifndef PRIORY_TEXT_UTF8_H
#define PRIORY_TEXT_UTF8_H

#include "clones.h"

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

/* A Python string keeps each of its code points in `width` bytes: 1, 2 or 4. */
PRIORY_INLINE uint32_t string_unit(const void *data, int width, ptrdiff_t i)
{
    return width == 1   ? ((const uint8_t *)data)[i]
           : width == 2 ? ((const uint16_t *)data)[i]
                        : ((const uint32_t *)data)[i];
}

PRIORY_INLINE ptrdiff_t units_size(const void *data, int width, ptrdiff_t n)
{
    ptrdiff_t size = n;
    for (ptrdiff_t i = 0; i < n; i++) {
        uint32_t c = string_unit(data, width, i);
        size += (c >= 0x80) + (c >= 0x800) + (c >= 0x10000);
    }
    return size;
}

PRIORY_INLINE void encode_units(const void *data, int width, ptrdiff_t n, uint8_t *out)
{
    ptrdiff_t i = 0;
    while (i < n - 1) { /* two bytes fit: at least one more character follows */
        uint64_t eight;
        if (width == 1 && i + 8 <= n) {
            memcpy(&eight, (const uint8_t *)data + i, 8);
            if (!(eight & 0x8080808080808080u)) {
                memcpy(out, &eight, 8);
                out += 8;
                i += 8;
                continue;
            }
        }
        for (ptrdiff_t end = i + 8 < n - 1 ? i + 8 : n - 1; i < end; i++) {
            uint32_t c = string_unit(data, width, i);
            if (c < 0x800) { /* by arithmetic: letters with and without accents alternate, no branch is foreseen */
                uint32_t wide = c >= 0x80;
                out[0] = (uint8_t)(c ^ ((0 - wide) & (c ^ (0xC0 | c >> 6))));
                out[1] = (uint8_t)(0x80 | (c & 0x3F));
                out += 1 + wide;
            } else {
                out = text_encode(c, out);
            }
        }
    }
    if (i < n)
        text_encode(string_unit(data, width, i), out);
}

/* Return how many bytes a Python string has in UTF-8, lone surrogates as text_decode reads them. */
PRIORY_UNUSED static ptrdiff_t text_encoded_size(const void *data, int width, ptrdiff_t n)
{
    return width == 1 ? units_size(data, 1, n) : width == 2 ? units_size(data, 2, n) : units_size(data, 4, n);
}

/* Write a Python string, and not a byte more. */
PRIORY_UNUSED static void text_encode_string(const void *data, int width, ptrdiff_t n, uint8_t *out)
{
    width == 1 ? encode_units(data, 1, n, out) : width == 2 ? encode_units(data, 2, n, out) : encode_units(data, 4, n, out);
}

/* Return whether all bytes are UTF-8. */
PRIORY_UNUSED static int text_valid(const uint8_t *p, const uint8_t *end)
{
    while (p < end) {
        uint32_t c;
        ptrdiff_t size = text_decode(p, end, &c);
        if (size == 0)
            return 0;
        p += size;
    }
    return 1;
}

#endif
