/* page/time.h - the samples by spans of time, as the page gets them.
 *
 * Spans are equal. They are made longer until their data fit a page; a stack has one
 * entry in a span, with its samples and its value there. Values are in a round unit; the
 * remainder of a stack's value goes to its next span. Both captures count their time from
 * their own start. For src/page only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_PAGE_TIME_H
#define JSP_PAGE_TIME_H

#include "stacks.h"

struct jsp_page_time_at { /* a stack in a span; stack: position in jsp_page_stacks */
    uint32_t span, stack;
    uint64_t value;
    uint32_t samples;
};

struct jsp_page_time {
    struct jsp_page_time_at *list; /* by span, then stack */
    uint32_t n, n_stacks;
    uint64_t span_ns; /* the length of a span */
    uint32_t n_spans;
    uint64_t unit; /* of values: this many ns, or samples */
};

/* Count the samples. Return 0 or -ENOMEM. Call jsp_page_time_free in any case. */
int jsp_page_time_build(struct jsp_page_time *t, const struct jsp_html *h,
                        const struct jsp_page_stacks *s);

/* Free the counts. */
void jsp_page_time_free(struct jsp_page_time *t);

/* Write for each span: the number of stacks, then for each {stacks since the previous one
 * << 1 | has samples other than 1} [samples] value. is_time: values are ns, not samples.
 * Make spans longer until the bytes are few enough. Return 0 or -ENOMEM. */
int jsp_page_time_encode(struct jsp_page_time *t, bool is_time,
                         struct jsp_page_bytes *out);

/* Return when the time of a capture begins, in ns. */
int64_t jsp_page_time_start(const struct jsp_page_capture *c);

#endif
