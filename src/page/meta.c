/* page/meta.c - all data of a page except the long rows of numbers, as JSON.
 *
 * SPDX-License-Identifier: MIT
 */
#include "meta.h"

#include <string.h>

#include "export/json.h"
#include "jsprof.h"

static void meta_capture(struct jsp_json *j, const struct jsp_page_capture *c)
{
    const struct jsp_profile *p = c->profile;
    int64_t start = jsp_page_time_start(c);
    jsp_json_open(j, '{');
    jsp_json_key_text(j, "label", c->label);
    struct jsp_read_text command =
        jsp_profile_command(p, p->n_threads ? p->threads[0].pid : 0);
    jsp_json_key(j, "command");
    if (command.len)
        jsp_json_bytes(j, command.at, command.len);
    else
        jsp_json_text(j, p->host);
    static const char *const others[] = { "count", "alloc", "live" };
    jsp_json_key_text(j, "unit", jsp_unit_is_time(p->unit) ? jsp_clocks[p->unit].key
                                                           : others[p->unit - JSP_VALUE_COUNT]);
    jsp_json_key_u64(j, "hz", p->hz);
    jsp_json_key_u64(j, "samples", p->samples);
    jsp_json_key_u64(j, "value", p->value);
    if (c->idle)
        jsp_json_key_u64(j, "idle", c->idle);
    /* The number of equally weighted samples that would give the same certainty. */
    double value = (double)p->value;
    jsp_json_key_double(j, "worth", p->squares > 0 ? value * value / p->squares : 0);
    jsp_json_key_text(j, "recorded", p->capture->capture_time);
    jsp_json_key_u64(j, "duration",
                     p->last_time > start ? (uint64_t)p->last_time - (uint64_t)start : 0);
    if (jsp_profile_lacks_end(p))
        jsp_json_key_bool(j, "lacksEnd", true);
    struct jsp_account_verdict v;
    jsp_account_verdict(&p->account, &v);
    if (p->account.n_threads || v.is_total) {
        jsp_json_key_u64(j, "expirations", v.sum.expirations);
        jsp_json_key_u64(j, "lost", jsp_account_lost(&v.sum));
    }
    jsp_json_close(j, '}');
}

static void meta_threads(struct jsp_json *j, const struct jsp_html *h)
{
    jsp_json_key_open(j, "threads", '[');
    for (uint32_t c = 0; c < h->n; c++) {
        const struct jsp_profile *p = h->captures[c].profile;
        for (uint32_t i = 0; i < p->n_threads; i++) {
            const struct jsp_thread_info *t = &p->threads[i];
            jsp_json_open(j, '{');
            jsp_json_key_u64(j, "capture", c);
            jsp_json_key_i64(j, "pid", t->pid);
            jsp_json_key_i64(j, "tid", t->tid);
            jsp_json_key_text(j, "name", t->losses ? t->losses->name : "");
            jsp_json_close(j, '}');
        }
    }
    jsp_json_close(j, ']');
}

static void meta_functions(struct jsp_json *j, const struct jsp_page_tree *t)
{
    jsp_json_key_open(j, "names", '[');
    for (uint32_t i = 0; i < t->n_functions; i++)
        jsp_json_text(j, t->functions[i].name);
    jsp_json_close(j, ']');
    jsp_json_key_open(j, "modules", '[');
    for (uint32_t i = 0; i < t->n_functions; i++)
        jsp_json_text(j, t->functions[i].module);
    jsp_json_close(j, ']');
    jsp_json_key_open(j, "frames", '[');
    for (uint32_t i = 0; i < t->calls.n_frames; i++) {
        jsp_json_u64(j, t->calls.frames[i].function);
        jsp_json_u64(j, t->calls.frames[i].kind);
        jsp_json_u64(j, t->calls.frames[i].origin);
    }
    jsp_json_close(j, ']');
    jsp_json_key_open(j, "kinds", '[');
    for (uint32_t i = 0; i < JSP_N_KINDS; i++)
        jsp_json_text(j, jsp_kind_name(i));
    jsp_json_close(j, ']');
}

/* Write a file's name once for all its consecutive lines. */
static void meta_lines(struct jsp_json *j, const struct jsp_page_stacks *s, bool is_vm)
{
    const char *before = "";
    jsp_json_key_open(j, is_vm ? "vmPlaces" : "places", '[');
    for (uint32_t i = 0; i < s->n_places; i++) {
        const struct jsp_page_line *is = is_vm ? &s->places[i].vm : &s->places[i].leaf;
        if (strcmp(is->file, before) != 0)
            jsp_json_text(j, before = is->file);
        jsp_json_u64(j, is->line);
    }
    jsp_json_close(j, ']');
}

static void meta_places(struct jsp_json *j, const struct jsp_page_stacks *s)
{
    meta_lines(j, s, false);
    meta_lines(j, s, true);
    if (!s->is_by_sample)
        return;
    jsp_json_key_open(j, "rows", '[');
    for (uint32_t i = 0; i < s->n_places; i++)
        jsp_json_u64(j, s->places[i].row);
    jsp_json_close(j, ']');
}

/* Write the states of all stacks, if any is known: each state and for how many it holds. */
static void meta_states(struct jsp_json *j, const struct jsp_page_data *d)
{
    bool has_any = false;
    for (uint32_t c = 0; c < d->page->n; c++)
        has_any |= jsp_profile_has_states(d->page->captures[c].profile);
    if (!has_any)
        return;
    jsp_json_key_open(j, "states", '[');
    for (uint32_t i = 0, n; i < d->stacks.n; i += n) {
        enum jsp_state state = d->stacks.list[i].state;
        for (n = 1; i + n < d->stacks.n && d->stacks.list[i + n].state == state; n++)
            continue;
        jsp_json_u64(j, state);
        jsp_json_u64(j, n);
    }
    jsp_json_close(j, ']');
}

/* Write the sets of labels of all stacks: a set and, if it has more than one stack, minus how many
 * more. */
static void meta_labels(struct jsp_json *j, const struct jsp_page_data *d)
{
    jsp_page_labels_put(&d->labels, j);
    if (d->labels.n_sets < 2)
        return;
    jsp_json_key_open(j, "labels", '[');
    for (uint32_t i = 0, n; i < d->stacks.n; i += n) {
        uint32_t labels = d->stacks.list[i].labels;
        for (n = 1; i + n < d->stacks.n && d->stacks.list[i + n].labels == labels; n++)
            continue;
        jsp_json_u64(j, labels);
        if (n > 1)
            jsp_json_i64(j, -(int64_t)(n - 1));
    }
    jsp_json_close(j, ']');
}

static void meta_sizes(struct jsp_json *j, const struct jsp_page_data *d)
{
    jsp_json_key_u64(j, "nodes", d->tree.n_numbered);
    jsp_json_key_u64(j, "least", d->tree.least);
    jsp_json_key_u64(j, "stacks", d->stacks.n);
    jsp_json_key_u64(j, "times", d->time.n);
    jsp_json_key_u64(j, "spans", d->time.n_spans);
    jsp_json_key_u64(j, "span", d->time.span_ns);
    jsp_json_key_u64(j, "unit", d->time.unit);
    jsp_json_key_open(j, "bytes", '[');
    jsp_json_u64(j, d->tree_bytes.n);
    jsp_json_u64(j, d->stacks_bytes.n);
    jsp_json_u64(j, d->time_bytes.n);
    jsp_json_u64(j, d->spans_bytes.n);
    jsp_json_close(j, ']');
}

int jsp_page_meta(const struct jsp_page_data *d, struct jsp_sink *out)
{
    struct jsp_json j;
    jsp_json_init(&j, out);
    jsp_json_open(&j, '{');
    jsp_json_key_text(&j, "version", JSPROF_VERSION_STRING);
    jsp_json_key_open(&j, "captures", '[');
    for (uint32_t c = 0; c < d->page->n; c++)
        meta_capture(&j, &d->page->captures[c]);
    jsp_json_close(&j, ']');
    meta_threads(&j, d->page);
    meta_functions(&j, &d->tree);
    meta_places(&j, &d->stacks);
    meta_sizes(&j, d);
    meta_states(&j, d);
    meta_labels(&j, d);
    jsp_page_events_put(&d->events, d->page, &j);
    int err = jsp_page_calls_put(&d->calls, d->page, &j);
    if (err == 0)
        err = jsp_page_spans_put(&d->spans, d->page, &j);
    if (err == 0)
        err = jsp_page_sources_put(d, &j);
    jsp_page_listings_put(&d->listings, &j);
    jsp_json_key_u64(&j, "hidden", d->page->hidden);
    jsp_json_close(&j, '}');
    return err;
}
