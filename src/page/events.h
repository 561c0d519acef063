/* page/events.h - marks and counters of a page, as JSON.
 *
 * SPDX-License-Identifier: MIT
 *
 * The longest marks, when there are too many, and of a counter with too many values the
 * least and the largest of each run of them; the page says what is left out. For the
 * files of src/page only.
 */
#ifndef JSP_PAGE_EVENTS_H
#define JSP_PAGE_EVENTS_H

#include "analyze/events.h"
#include "page/page.h"
#include "export/json.h"

struct jsp_page_events {
    struct jsp_events of[JSP_HTML_MOST];
    int64_t least;      /* duration of a mark that is told */
    uint64_t left_out;  /* marks that are not */
};

/* -ENOMEM; jsp_page_events_free in any case. */
int jsp_page_events_build(struct jsp_page_events *e, const struct jsp_html *h);
void jsp_page_events_free(struct jsp_page_events *e);

/* "marks": {"list": [[capture, us, us, group, name, message], ...], "left": n},
 * "counters": [{"capture", "group", "name", "points": [us, value, ...]}, ...] */
void jsp_page_events_put(const struct jsp_page_events *e, const struct jsp_html *h,
                         struct jsp_json *j);

#endif
