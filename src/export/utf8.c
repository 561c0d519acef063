/* export/utf8.c - names from a capture as UTF-8, whatever their bytes are.
 *
 * SPDX-License-Identifier: MIT
 */
#include "utf8.h"

/* What a first byte says: the length, and which second bytes may follow it. */
struct utf8_first {
    size_t length; /* 0: no character starts so */
    unsigned char low, high;
};

static struct utf8_first utf8_first(unsigned char byte)
{
    if (byte < 0x80)
        return (struct utf8_first){ 1, 0, 0 };
    if (byte < 0xC2 || byte > 0xF4)
        return (struct utf8_first){ 0, 0, 0 };
    return (struct utf8_first){ byte < 0xE0   ? 2
                                : byte < 0xF0 ? 3
                                              : 4,
                                byte == 0xE0   ? 0xA0
                                : byte == 0xF0 ? 0x90
                                               : 0x80,
                                byte == 0xED   ? 0x9F
                                : byte == 0xF4 ? 0x8F
                                               : 0xBF };
}

uint32_t jsp_utf8_next(const unsigned char *at, size_t n, size_t *used)
{
    struct utf8_first first = utf8_first(at[0]);
    *used = 1;
    if (first.length <= 1)
        return first.length ? at[0] : JSP_UTF8_REPLACEMENT;
    uint32_t character = at[0] & (0xFFu >> (first.length + 1));
    for (size_t i = 1; i < first.length; i++) {
        unsigned char low = i == 1 ? first.low : 0x80, high = i == 1 ? first.high : 0xBF;
        if (i >= n || at[i] < low || at[i] > high) {
            *used = i;
            return JSP_UTF8_REPLACEMENT;
        }
        character = character << 6 | (at[i] & 0x3F);
    }
    *used = first.length;
    return character;
}

size_t jsp_utf8_put(char out[4], uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3F));
    out[0] = (char)((0xF0u << (4 - length) & 0xFF) | c);
    return length;
}

bool jsp_utf8_is_harmful(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c ||
           (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
           (c >= 0xe0000 && c <= 0xe0fff);
}
