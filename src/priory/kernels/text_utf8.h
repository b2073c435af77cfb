/* UTF-8: one code point read, one written. */
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
