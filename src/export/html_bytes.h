/* export/html_bytes.h - numbers for the page: varints in memory, written as base64.
 *
 * SPDX-License-Identifier: MIT
 *
 * Running out of memory is kept, and what comes after it is dropped: ask once, at the
 * end. Starts zeroed. For the html*.c files only.
 */
#ifndef JSP_EXPORT_HTML_BYTES_H
#define JSP_EXPORT_HTML_BYTES_H

#include <stdint.h>

#include "export/sink.h"

struct jsp_html_bytes {
    uint8_t *at; /* owned */
    uint32_t n, room;
    int error; /* -ENOMEM */
};

void jsp_html_varint(struct jsp_html_bytes *b, uint64_t value);
int jsp_html_append(struct jsp_html_bytes *b, const struct jsp_html_bytes *more);
void jsp_html_base64(struct jsp_sink *out, const struct jsp_html_bytes *b);
void jsp_html_bytes_free(struct jsp_html_bytes *b);

#endif
