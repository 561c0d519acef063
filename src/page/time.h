/* page/time.h - the samples by spans of time, as the page gets them.
 *
 * SPDX-License-Identifier: MIT
 *
 * Spans are equal. They get longer until what stands in them fits
 * a page; a stack stands once in a span, with the samples and the value it has there.
 * Values are told in a round unit; what is left over of a stack goes to its next span.
 * Both captures count their time from their own start. For src/page only.
 */
#ifndef JSP_PAGE_TIME_H
#define JSP_PAGE_TIME_H

#include "page/stacks.h"

struct jsp_page_time_at { /* a stack in a span; position in jsp_page_stacks */
    uint32_t span, stack;
    uint64_t value;
    uint32_t samples;
};

struct jsp_page_time {
    struct jsp_page_time_at *list; /* by span, then stack */
    uint32_t n, n_stacks;
    uint64_t span_ns; /* the length of a span */
    uint32_t n_spans;
    uint64_t unit; /* of values: so many ns, or samples */
};

/* -ENOMEM; jsp_page_time_free in any case. */
int jsp_page_time_build(struct jsp_page_time *t, const struct jsp_html *h,
                        const struct jsp_page_stacks *s);
void jsp_page_time_free(struct jsp_page_time *t);

/* For each span: how many, then for each {stacks since the one before << 1 | has samples
 * other than 1} [samples] value. is_time: values are ns, not samples. Makes spans longer
 * until the bytes are few enough. */
int jsp_page_time_encode(struct jsp_page_time *t, bool is_time,
                         struct jsp_page_bytes *out);

/* When the time of a capture begins, ns. */
int64_t jsp_page_time_start(const struct jsp_page_capture *c);

#endif
