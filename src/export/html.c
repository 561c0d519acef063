/* html.c - a capture, or two to compare, as one page for a browser.
 *
 * SPDX-License-Identifier: MIT
 */
#include "export/html.h"

#include <errno.h>
#include <stdlib.h>

#include "export/html_meta.h"
#include "export/html_page.h"

static bool html_is_time(const struct jsp_html *h)
{
    bool is_time = true;
    for (uint32_t c = 0; c < h->n; c++)
        is_time &= h->captures[c].profile->unit != JSP_VALUE_COUNT;
    return is_time;
}

static int html_build(struct jsp_html_data *d)
{
    const struct jsp_html *h = d->page;
    int err = jsp_html_calls_build(&d->calls, h);
    if (err == 0)
        err = jsp_html_tree_build(&d->tree, h);
    for (uint32_t c = 0; err == 0 && c < h->n; c++)
        if (d->tree.empty >> c & 1 && !d->calls.of[c].is_there)
            err = -ENODATA;
    if (err == 0)
        err = jsp_html_stacks_build(&d->stacks, h, &d->tree);
    if (err == 0)
        err = jsp_html_time_build(&d->time, h, &d->stacks);
    if (err == 0)
        err = jsp_html_events_build(&d->events, h);
    if (err == 0)
        err = jsp_html_tree_encode(&d->tree, &d->tree_bytes);
    if (err == 0)
        jsp_html_stacks_encode(&d->stacks, &d->stacks_bytes);
    if (err == 0)
        err = jsp_html_time_encode(&d->time, html_is_time(h), &d->time_bytes);
    return err < 0 ? err : d->stacks_bytes.error;
}

static int html_put(const struct jsp_html_data *d)
{
    struct jsp_sink *out = d->page->out;
    jsp_sink_put(out, jsp_html_page_head, jsp_html_page_head_size);
    int err = jsp_html_meta(d, out);
    jsp_sink_put(out, jsp_html_page_middle, jsp_html_page_middle_size);
    jsp_html_base64(out, &d->tree_bytes);
    jsp_sink_byte(out, '\n');
    jsp_html_base64(out, &d->stacks_bytes);
    jsp_sink_byte(out, '\n');
    jsp_html_base64(out, &d->time_bytes);
    jsp_sink_put(out, jsp_html_page_tail, jsp_html_page_tail_size);
    return err;
}

int jsp_html_write(const struct jsp_html *h)
{
    struct jsp_html_data *d = calloc(1, sizeof *d);
    if (!d)
        return -ENOMEM;
    d->page = h;
    int err = html_build(d);
    if (err == 0)
        err = html_put(d);
    jsp_html_tree_free(&d->tree);
    jsp_html_stacks_free(&d->stacks);
    jsp_html_time_free(&d->time);
    jsp_html_events_free(&d->events);
    jsp_html_calls_free(&d->calls);
    jsp_html_bytes_free(&d->tree_bytes);
    jsp_html_bytes_free(&d->stacks_bytes);
    jsp_html_bytes_free(&d->time_bytes);
    free(d);
    return err;
}
