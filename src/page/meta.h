/* page/meta.h - all data of a page except the long rows of numbers, as JSON.
 *
 * For src/page only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_PAGE_META_H
#define JSP_PAGE_META_H

#include "analyze/events.h"
#include "analyze/exact.h"
#include "export/json.h"
#include "page.h"
#include "spans.h"
#include "time.h"

/* -- calls.c: the exact calls with the most self time (without times, the most calls), as many
 * as fit a page */

struct jsp_page_calls {
    struct jsp_exact of[JSP_HTML_MOST];
};

/* Read the calls. Return 0 or -ENOMEM. Call jsp_page_calls_free in any case. */
int jsp_page_calls_build(struct jsp_page_calls *c, const struct jsp_html *h);

/* Free the calls. */
void jsp_page_calls_free(struct jsp_page_calls *c);

/* Write
 *   "calls": [null or {"modes", "own", "gc", "left", "limits": {...},
 *    "functions": [[name, kind, calls, self ns, total ns, self bytes, total bytes], ...],
 *    "edges": [[caller, callee, calls, total ns], ...]}, ...]
 * Caller and callee are positions in functions; functions that are listed only for an
 * edge come last. */
int jsp_page_calls_put(const struct jsp_page_calls *c, const struct jsp_html *h,
                       struct jsp_json *j); /* 0 or -ENOMEM */

/* -- events.c: marks and counters. If there are too many marks, the page gets the longest
 * ones; if a counter has too many values, the smallest and the largest of each run of
 * them. The page shows how many were dropped. Sums over the whole time are of all. */

struct jsp_page_events {
    struct jsp_events of[JSP_HTML_MOST];
    struct jsp_events_groups groups[JSP_HTML_MOST]; /* of all marks and values */
    int64_t least;      /* marks of at least this duration are on the page */
    uint64_t left_out;  /* number of dropped marks */
};

/* Read the events. Return 0 or -ENOMEM. Call jsp_page_events_free in any case. */
int jsp_page_events_build(struct jsp_page_events *e, const struct jsp_html *h);

/* Free the events. */
void jsp_page_events_free(struct jsp_page_events *e);

/* Write
 *   "marks": {"list": [[capture, us, us, group, name, message], ...], "left": n},
 *   "counters": [{"capture", "group", "name", "what", "step", "points": [us, value, ...]}, ...],
 *   "eventSums": [[capture, "mark" or "counter", group, name, count, sum, least, mean,
 *                  median, 95%, most], ...]
 * A duration has three digits after the point; a counter's point represents step values. */
void jsp_page_events_put(const struct jsp_page_events *e, const struct jsp_html *h,
                         struct jsp_json *j);

struct jsp_page_data {
    const struct jsp_html *page;
    struct jsp_page_tree tree;
    struct jsp_page_listings listings;
    struct jsp_page_labels labels;
    struct jsp_page_stacks stacks;
    struct jsp_page_time time;
    struct jsp_page_events events;
    struct jsp_page_spans spans;
    struct jsp_page_calls calls;
    struct jsp_page_bytes tree_bytes, stacks_bytes, time_bytes, spans_bytes;
};

/* -- sources.c: the files that functions and lines name, as "sources": {"path": "text", ...}, as
 * many as fit;
 * nothing if the page was not asked for them. Return 0 or -ENOMEM. */
int jsp_page_sources_put(const struct jsp_page_data *d, struct jsp_json *j);

/* Write all of the page that is JSON. Return 0 or -ENOMEM. */
int jsp_page_meta(const struct jsp_page_data *d, struct jsp_sink *out);

#endif
