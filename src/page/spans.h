/* page/spans.h - runs of tasks and turns of loops, as the page gets them for its timeline.
 *
 * If there are too many, the page gets the longest ones: a run inside one that is left out is
 * shorter, so it is left out, too. For src/page only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_PAGE_SPANS_H
#define JSP_PAGE_SPANS_H

#include "analyze/flows.h"
#include "bytes.h"
#include "export/json.h"
#include "page.h"

struct jsp_page_spans {
    struct jsp_tasks tasks[JSP_HTML_MOST];
    struct jsp_flows flows[JSP_HTML_MOST];
    uint32_t *numbers[JSP_HTML_MOST]; /* by run: its number on the page, from 1; 0: left out */
    uint64_t n;        /* spans on the page, of all captures */
    uint64_t left_out;
    int64_t least;     /* ns: spans that are not shorter are on the page */
    bool has_delays;
};

/* Read the tasks and choose the spans. Return 0 or -ENOMEM. Call jsp_page_spans_free in any
 * case. */
int jsp_page_spans_build(struct jsp_page_spans *s, const struct jsp_html *h);

/* Free the tasks and the spans. */
void jsp_page_spans_free(struct jsp_page_spans *s);

/* Write all spans, thread by thread, those around others first: {0 for a turn, or the kind
 * and name + 1} << 1 | has a cause, begin since the one before, duration; [number - cause's
 * number, in zigzag] [delay + 1, or 0]. Times are in steps of 100 ns. Numbers count through all
 * threads. Leave out more spans until the bytes fit. Return 0 or -ENOMEM. */
int jsp_page_spans_encode(struct jsp_page_spans *s, const struct jsp_html *h,
                          struct jsp_page_bytes *out);

/* Write "runs": {"n", "left", "least": ns, "hasDelays", "step": ns, "late": ns,
 * "whats": [kind, name, ...],
 * "lanes": [[capture, pid, tid, spans], ...]}; nothing if there are none. Return 0 or -ENOMEM. */
int jsp_page_spans_put(const struct jsp_page_spans *s, const struct jsp_html *h,
                       struct jsp_json *j);

#endif
