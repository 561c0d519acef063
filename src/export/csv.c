/* export/csv.c - a table of stacks: one row for each stack of a thread.
 *
 * Quoted by RFC 4180. `value` is in `unit`; `function` and `kind` are those of the
 * innermost frame, `stack` has all frames, root first, separated by semicolons.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>

#include "export.h"
#include "shown_names.h"
#include "analyze/calltree.h"

static const char csv_head[] =
    "pid,tid,thread,samples,expirations,value,unit,depth,kind,function,line,stack\n";

struct csv {
    struct jsp_export *e;
    struct jsp_calltree stacks;
    uint32_t *frames;
    struct jsp_bytes cell;
    struct jsp_sink into; /* writes to `cell` */
};

/* Write the cell in quotes and empty it. */
static void csv_quoted(struct csv *x)
{
    struct jsp_sink *out = x->e->out;
    jsp_sink_flush(&x->into);
    jsp_sink_byte(out, '"');
    for (size_t i = 0; i < x->cell.n; i++) {
        if (x->cell.at[i] == '"')
            jsp_sink_byte(out, '"');
        jsp_sink_byte(out, x->cell.at[i]);
    }
    jsp_sink_byte(out, '"');
    x->cell.n = 0;
}

static void csv_row(struct csv *x, const struct jsp_calltree_count *c)
{
    const struct jsp_profile *p = x->e->profile;
    struct jsp_sink *out = x->e->out;
    uint32_t n = jsp_calltree_frames(&x->stacks, c->node, x->frames);
    const struct jsp_profile_frame *leaf = &x->stacks.frames[x->frames[0]];
    jsp_sink_i64(out, p->threads[c->thread].pid);
    jsp_sink_byte(out, ',');
    jsp_sink_i64(out, p->threads[c->thread].tid);
    jsp_sink_byte(out, ',');
    jsp_shown_plain(&x->into, jsp_shown_of_thread(p, c->thread), 0);
    csv_quoted(x);
    const uint64_t numbers[] = { c->samples, c->weight, c->value };
    for (int i = 0; i < 3; i++) {
        jsp_sink_byte(out, ',');
        jsp_sink_u64(out, numbers[i]);
    }
    jsp_sink_byte(out, ',');
    jsp_sink_text(out, jsp_unit_key(p->unit));
    jsp_sink_byte(out, ',');
    jsp_sink_u64(out, n);
    jsp_sink_byte(out, ',');
    jsp_sink_text(out, jsp_kind_name(leaf->kind));
    jsp_sink_byte(out, ',');
    jsp_shown_plain(&x->into, p->functions[leaf->function].name, 0);
    csv_quoted(x);
    jsp_sink_byte(out, ',');
    if (leaf->line)
        jsp_sink_u64(out, leaf->line);
    jsp_sink_byte(out, ',');
    for (uint32_t i = n; i-- > 0;) {
        uint32_t function = x->stacks.frames[x->frames[i]].function;
        jsp_shown_plain(&x->into, p->functions[function].name, ';');
        if (i > 0)
            jsp_sink_byte(&x->into, ';');
    }
    csv_quoted(x);
    jsp_sink_byte(out, '\n');
}

int jsp_export_csv(struct jsp_export *e)
{
    struct csv *x = calloc(1, sizeof *x);
    if (!x)
        return -ENOMEM;
    x->e = e;
    int err = jsp_calltree_of(&x->stacks, e->profile, e->select, JSP_CALLTREE_LINES);
    if (err == 0) {
        uint32_t n;
        struct jsp_calltree_count *counts = jsp_calltree_counts(&x->stacks, e->profile, &n);
        x->frames = malloc(JSP_PROFILE_DEPTH * sizeof *x->frames);
        jsp_sink_init(&x->into, jsp_bytes_write, &x->cell);
        jsp_sink_text(e->out, csv_head);
        for (uint32_t i = 0; x->frames && i < n; i++)
            csv_row(x, &counts[i]);
        err = counts && x->frames ? x->into.error : -ENOMEM;
        free(x->frames);
        free(counts);
        jsp_bytes_free(&x->cell);
        jsp_calltree_free(&x->stacks);
    }
    free(x);
    return err;
}
