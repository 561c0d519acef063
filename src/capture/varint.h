/* capture/varint.h - numbers in little-endian base 128, as in docs/capture.md.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CAPTURE_VARINT_H
#define JSP_CAPTURE_VARINT_H

#include <stddef.h>
#include <stdint.h>

enum { JSP_VARINT_MAX = 10 }; /* bytes */

/* Write `value` at `to` (room for JSP_VARINT_MAX) and return the bytes used. */
static inline size_t jsp_varint_put(uint8_t *to, uint64_t value)
{
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        to[n++] = (uint8_t)(value | 0x80);
    to[n++] = (uint8_t)value;
    return n;
}

/* Map small numbers of either sign to small numbers: 0, -1, 1, -2, ... */
static inline uint64_t jsp_varint_fold(uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}

/* Undo jsp_varint_fold. */
static inline uint64_t jsp_varint_unfold(uint64_t folded)
{
    return folded >> 1 ^ (0 - (folded & 1));
}

#endif
