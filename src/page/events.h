/* page/events.h - marks and counters of a page, as JSON.
 *
 * If there are too many marks, the page gets the longest ones; if a counter has too many
 * values, the smallest and the largest of each run of them. The page shows how many were
 * dropped. For the files of src/page only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_PAGE_EVENTS_H
#define JSP_PAGE_EVENTS_H

#include "analyze/events.h"
#include "page.h"
#include "export/json.h"

struct jsp_page_events {
    struct jsp_events of[JSP_HTML_MOST];
    int64_t least;      /* marks of at least this duration are on the page */
    uint64_t left_out;  /* number of dropped marks */
};

/* Read the events. Return 0 or -ENOMEM. Call jsp_page_events_free in any case. */
int jsp_page_events_build(struct jsp_page_events *e, const struct jsp_html *h);
void jsp_page_events_free(struct jsp_page_events *e);

/* Write
 *   "marks": {"list": [[capture, us, us, group, name, message], ...], "left": n},
 *   "counters": [{"capture", "group", "name", "points": [us, value, ...]}, ...] */
void jsp_page_events_put(const struct jsp_page_events *e, const struct jsp_html *h,
                         struct jsp_json *j);

#endif
