/* base/utf8.h - the characters of a text that should be UTF-8. Any thread; signal-safe.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_BASE_UTF8_H
#define JSP_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

enum { JSP_UTF8_REPLACEMENT = 0xFFFD };

/* What a first byte says: the length, and which second bytes may follow it. */
struct jsp_utf8_first {
    size_t length; /* 0: no character starts so */
    unsigned char low, high;
};

/* Return what this first byte says. Length 0: no character begins with it. */
static inline struct jsp_utf8_first jsp_utf8_first(unsigned char byte)
{
    if (byte < 0x80)
        return (struct jsp_utf8_first){ 1, 0, 0 };
    if (byte < 0xC2 || byte > 0xF4)
        return (struct jsp_utf8_first){ 0, 0, 0 };
    return (struct jsp_utf8_first){ byte < 0xE0   ? 2
                                    : byte < 0xF0 ? 3
                                                  : 4,
                                    byte == 0xE0   ? 0xA0
                                    : byte == 0xF0 ? 0x90
                                                   : 0x80,
                                    byte == 0xED   ? 0x9F
                                    : byte == 0xF4 ? 0x8F
                                                   : 0xBF };
}

/* Return the character at `at`, of `n` > 0 bytes, and store how many of them it takes.
 * Bytes that are not UTF-8 (overlong forms, surrogates and numbers beyond Unicode too)
 * become one replacement character for each run that could have been the start of one. */
static inline uint32_t jsp_utf8_next(const unsigned char *at, size_t n, size_t *used)
{
    struct jsp_utf8_first first = jsp_utf8_first(at[0]);
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

#endif
