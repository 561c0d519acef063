/* export/html_meta.h - everything of a page that is not a long row of numbers, as JSON.
 *
 * SPDX-License-Identifier: MIT
 *
 * For the html*.c files only.
 */
#ifndef JSP_EXPORT_HTML_META_H
#define JSP_EXPORT_HTML_META_H

#include "export/html_calls.h"
#include "export/html_events.h"
#include "export/html_time.h"

struct jsp_html_data {
    const struct jsp_html *page;
    struct jsp_html_tree tree;
    struct jsp_html_stacks stacks;
    struct jsp_html_time time;
    struct jsp_html_events events;
    struct jsp_html_calls calls;
    struct jsp_html_bytes tree_bytes, stacks_bytes, time_bytes;
};

int jsp_html_meta(const struct jsp_html_data *d, struct jsp_sink *out); /* -ENOMEM */

#endif
