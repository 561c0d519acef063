/* analyze/spans.h - the spans of time in which marks of one name are open.
 *
 * Spans are half-open, in order of time, and do not touch each other. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_SPANS_H
#define JSP_ANALYZE_SPANS_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/read.h"

struct jsp_span {
    int64_t from, to; /* in the capture's time */
};

struct jsp_spans {
    struct jsp_span *at;
    uint32_t n, room;
    uint32_t n_marks; /* of the name, also those without a duration */
};

/* Return true if the mark has this name, or "GROUP/NAME". */
bool jsp_spans_is_named(const struct jsp_read_mark *m, const char *name);

/* Find the marks with this name, or with "GROUP/NAME", of all processes. Return 0 or -ENOMEM.
 * The caller calls jsp_spans_free also after an error. */
int jsp_spans_of_marks(struct jsp_spans *s, const struct jsp_read *capture, const char *name);

/* Free the spans. */
void jsp_spans_free(struct jsp_spans *s);

/* Return true if a span overlaps [from, to], a moment if both are equal. */
bool jsp_spans_overlap(const struct jsp_spans *s, int64_t from, int64_t to);

#endif
