/* page/page.c - a capture, or two to compare, as one page for a browser.
 *
 * SPDX-License-Identifier: MIT
 */
#include "page.h"

#include <errno.h>
#include <stdlib.h>

#include "meta.h"

static int html_build(struct jsp_page_data *d)
{
    const struct jsp_html *h = d->page;
    bool is_time = true;
    for (uint32_t c = 0; c < h->n; c++)
        is_time &= jsp_unit_is_time(h->captures[c].profile->unit);
    int err = jsp_page_calls_build(&d->calls, h);
    if (err == 0)
        err = jsp_page_events_build(&d->events, h);
    if (err == 0)
        err = jsp_page_tree_build(&d->tree, h);
    for (uint32_t c = 0; err == 0 && c < h->n; c++)
        if (d->tree.empty >> c & 1 && !d->calls.of[c].is_there &&
            (h->captures[c].profile->samples || !d->events.groups[c].n))
            err = -ENODATA;
    if (err == 0)
        err = jsp_page_listings_build(&d->listings, h, &d->tree);
    if (err == 0)
        err = jsp_page_labels_build(&d->labels, h, &d->tree);
    if (err == 0)
        err = jsp_page_stacks_build(&d->stacks, h, &d->tree, &d->listings, &d->labels);
    if (err == 0)
        err = jsp_page_time_build(&d->time, h, &d->stacks);
    if (err == 0)
        err = jsp_page_tree_encode(&d->tree, &d->tree_bytes);
    if (err == 0)
        jsp_page_stacks_encode(&d->stacks, &d->stacks_bytes);
    if (err == 0)
        err = jsp_page_time_encode(&d->time, is_time, &d->time_bytes);
    if (err == 0)
        err = jsp_page_spans_build(&d->spans, h);
    if (err == 0)
        err = jsp_page_spans_encode(&d->spans, h, &d->spans_bytes);
    return err < 0 ? err : d->stacks_bytes.error;
}

int jsp_page_write(const struct jsp_html *h)
{
    struct jsp_page_data *d = calloc(1, sizeof *d);
    if (!d)
        return -ENOMEM;
    d->page = h;
    int err = html_build(d);
    if (err == 0) {
        jsp_sink_put(h->out, jsp_page_frame_head, jsp_page_frame_head_size);
        err = jsp_page_meta(d, h->out);
        jsp_sink_put(h->out, jsp_page_frame_middle, jsp_page_frame_middle_size);
        jsp_page_base64(h->out, &d->tree_bytes);
        jsp_sink_byte(h->out, '\n');
        jsp_page_base64(h->out, &d->stacks_bytes);
        jsp_sink_byte(h->out, '\n');
        jsp_page_base64(h->out, &d->time_bytes);
        jsp_sink_byte(h->out, '\n');
        jsp_page_base64(h->out, &d->spans_bytes);
        jsp_sink_put(h->out, jsp_page_frame_tail, jsp_page_frame_tail_size);
    }
    jsp_page_tree_free(&d->tree);
    jsp_page_listings_free(&d->listings);
    jsp_page_labels_free(&d->labels);
    jsp_page_stacks_free(&d->stacks);
    jsp_page_time_free(&d->time);
    jsp_page_events_free(&d->events);
    jsp_page_spans_free(&d->spans);
    jsp_page_calls_free(&d->calls);
    jsp_page_bytes_free(&d->tree_bytes);
    jsp_page_bytes_free(&d->stacks_bytes);
    jsp_page_bytes_free(&d->time_bytes);
    jsp_page_bytes_free(&d->spans_bytes);
    free(d);
    return err;
}
