/* sigsafe/cursor.h - a reader of foreign bytes, in order and never past their end.
 *
 * A read past the end returns 0 and sets `bad`, so that a parser may check once, at the
 * end.
 *                    SIGPROF handler   any thread
 *   jsp_cursor_...        yes            yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_CURSOR_H
#define JSP_SIGSAFE_CURSOR_H

#include "room.h"

struct jsp_cursor {
    const uint8_t *at, *end; /* borrowed; at <= end */
    bool bad;
};

/* Return the number of bytes that are not read yet. */
static inline size_t jsp_cursor_left(const struct jsp_cursor *c)
{
    return (size_t)(c->end - c->at);
}

/* Skip `n` bytes. With fewer left, skip them and set `bad`. */
static inline void jsp_cursor_skip(struct jsp_cursor *c, uint64_t n)
{
    if (n > jsp_cursor_left(c)) {
        c->bad = true;
        n = jsp_cursor_left(c);
    }
    c->at += n;
}

/* Read n bytes as a little-endian number: all supported machines are little-endian. */
static inline uint64_t jsp_cursor_bytes(struct jsp_cursor *c, size_t n)
{
    uint64_t value = 0;
    if (n > jsp_cursor_left(c)) {
        jsp_cursor_skip(c, n);
        return 0;
    }
    memcpy(&value, c->at, n);
    c->at += n;
    return value;
}

/* Read one byte. At the end, return 0 and set `bad`. */
static inline uint8_t jsp_cursor_u8(struct jsp_cursor *c)
{
    if (c->at < c->end)
        return *c->at++;
    c->bad = true;
    return 0;
}

/* Read a LEB128 number, sign-extended if `is_signed`. If it is longer than 64 bits or cut
 * short, return a meaningless number and set `bad`. */
static inline uint64_t jsp_cursor_leb(struct jsp_cursor *c, bool is_signed)
{
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 64;) { /* at most 10 turns */
        uint8_t byte = jsp_cursor_u8(c);
        value |= (uint64_t)(byte & 0x7F) << shift;
        shift += 7;
        if (byte & 0x80)
            continue;
        if (is_signed && byte & 0x40 && shift < 64)
            value |= ~(uint64_t)0 << shift;
        return value;
    }
    c->bad = true;
    return 0;
}

/* Read an unsigned LEB128 number, as jsp_cursor_leb does. */
static inline uint64_t jsp_cursor_uleb(struct jsp_cursor *c)
{
    if (c->at < c->end && *c->at < 0x80) /* nearly all numbers have one byte */
        return *c->at++;
    return jsp_cursor_leb(c, false);
}

/* Read a signed LEB128 number, as jsp_cursor_leb does. */
static inline int64_t jsp_cursor_sleb(struct jsp_cursor *c)
{
    return (int64_t)jsp_cursor_leb(c, true);
}

#endif
