/* page/bytes.c - numbers for the page: varints in memory, written as base64.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bytes.h"

#include "base/grow.h"
#include "capture/varint.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static bool bytes_reserve(struct jsp_page_bytes *b, uint32_t n)
{
    if (!b->error && b->room - b->n < n)
        b->error = jsp_grow_by(&b->at, &b->room, b->n, n, 1);
    return !b->error;
}

void jsp_page_varint(struct jsp_page_bytes *b, uint64_t value)
{
    if (!bytes_reserve(b, JSP_VARINT_MAX))
        return;
    b->n += (uint32_t)jsp_varint_put(b->at + b->n, value);
}

/* Append `more`. An error of either becomes the result's. */
int jsp_page_append(struct jsp_page_bytes *b, const struct jsp_page_bytes *more)
{
    if (more->error)
        b->error = more->error;
    if (more->n && bytes_reserve(b, more->n)) {
        memcpy(b->at + b->n, more->at, more->n);
        b->n += more->n;
    }
    return b->error;
}

void jsp_page_base64(struct jsp_sink *out, const struct jsp_page_bytes *b)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (uint32_t i = 0; i < b->n; i += 3) {
        uint32_t left = b->n - i, three = (uint32_t)b->at[i] << 16;
        three |= left > 1 ? (uint32_t)b->at[i + 1] << 8 : 0;
        three |= left > 2 ? b->at[i + 2] : 0;
        char four[4] = { digits[three >> 18], digits[three >> 12 & 63],
                         left > 1 ? digits[three >> 6 & 63] : '=',
                         left > 2 ? digits[three & 63] : '=' };
        jsp_sink_put(out, four, sizeof four);
    }
}

void jsp_page_bytes_free(struct jsp_page_bytes *b)
{
    free(b->at);
    memset(b, 0, sizeof *b);
}
