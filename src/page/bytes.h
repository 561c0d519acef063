/* page/bytes.h - numbers for the page: varints in memory, written as base64.
 *
 * An error of memory is kept, and later numbers are dropped: check once, at the end.
 * Starts zeroed. For src/page only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_PAGE_BYTES_H
#define JSP_PAGE_BYTES_H

#include <stdint.h>

#include "export/sink.h"

struct jsp_page_bytes {
    uint8_t *at; /* owned */
    uint32_t n, room;
    int error; /* -ENOMEM */
};

/* Append a number as a varint. Without memory, set `error`. */
void jsp_page_varint(struct jsp_page_bytes *b, uint64_t value);

/* Append `more`. An error of either becomes that of `b`. Return it. */
int jsp_page_append(struct jsp_page_bytes *b, const struct jsp_page_bytes *more);

/* Write the bytes in base64. */
void jsp_page_base64(struct jsp_sink *out, const struct jsp_page_bytes *b);

/* Free the bytes. */
void jsp_page_bytes_free(struct jsp_page_bytes *b);

#endif
