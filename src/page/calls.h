/* page/calls.h - the exact calls of a page, as JSON.
 *
 * The calls with the most self time (without times, the most calls), as many as fit a
 * page. For src/page only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_PAGE_CALLS_H
#define JSP_PAGE_CALLS_H

#include "analyze/exact.h"
#include "page.h"
#include "export/json.h"

struct jsp_page_calls {
    struct jsp_exact of[JSP_HTML_MOST];
};

/* Read the calls. Return 0 or -ENOMEM. Call jsp_page_calls_free in any case. */
int jsp_page_calls_build(struct jsp_page_calls *c, const struct jsp_html *h);
void jsp_page_calls_free(struct jsp_page_calls *c);

/* Write
 *   "calls": [null or {"modes", "own", "gc", "left", "limits": {...},
 *    "functions": [[name, kind, calls, self ns, total ns, self bytes, total bytes], ...],
 *    "edges": [[caller, callee, calls, total ns], ...]}, ...]
 * Caller and callee are positions in functions; functions that are listed only for an
 * edge come last. */
int jsp_page_calls_put(const struct jsp_page_calls *c, const struct jsp_html *h,
                       struct jsp_json *j); /* 0 or -ENOMEM */

#endif
