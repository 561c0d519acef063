/* page/meta.h - all data of a page except the long rows of numbers, as JSON.
 *
 * For src/page only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_PAGE_META_H
#define JSP_PAGE_META_H

#include "calls.h"
#include "events.h"
#include "time.h"

struct jsp_page_data {
    const struct jsp_html *page;
    struct jsp_page_tree tree;
    struct jsp_page_stacks stacks;
    struct jsp_page_time time;
    struct jsp_page_events events;
    struct jsp_page_calls calls;
    struct jsp_page_bytes tree_bytes, stacks_bytes, time_bytes;
};

int jsp_page_meta(const struct jsp_page_data *d, struct jsp_sink *out); /* 0 or -ENOMEM */

#endif
