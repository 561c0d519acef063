/* page/calls.h - the exact calls of a page, as JSON.
 *
 * SPDX-License-Identifier: MIT
 *
 * Those with the most self time (without times, the most calls), so many as fit a page.
 * For src/page only.
 */
#ifndef JSP_PAGE_CALLS_H
#define JSP_PAGE_CALLS_H

#include "analyze/exact.h"
#include "page/page.h"
#include "export/json.h"

struct jsp_page_calls {
    struct jsp_exact of[JSP_HTML_MOST];
};

/* -ENOMEM; jsp_page_calls_free in any case. */
int jsp_page_calls_build(struct jsp_page_calls *c, const struct jsp_html *h);
void jsp_page_calls_free(struct jsp_page_calls *c);

/* "calls": [null or {"modes", "own", "gc", "left", "limits": {...},
 *   "functions": [[name, kind, calls, self ns, total ns, self bytes, total bytes], ...],
 *   "edges": [[caller, callee, calls, total ns], ...]}, ...], positions in functions; those
 * that are there for an edge alone have no figures. */
int jsp_page_calls_put(const struct jsp_page_calls *c, const struct jsp_html *h,
                       struct jsp_json *j); /* -ENOMEM */

#endif
