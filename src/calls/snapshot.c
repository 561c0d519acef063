/* calls/snapshot.c - the calls of a session as plain arrays, for the host; see
 * calls.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/block.h"
#include "base/grow.h"
#include "calls.h"
#include "sigsafe/names.h"

struct snapshot {
    const struct jsp_calls_session *s;
    jsprof_calls *out;
    struct jsp_calls_cell *block, *edges; /* owned: the session's own may be in use */
    uint32_t capacity;
    uint64_t rate;
    int64_t inside; /* sum of self times in ticks */
    uint64_t negative;
};

static uint64_t snapshot_ns(const struct snapshot *snap, uint64_t ticks)
{
    return jsp_calls_clock_ns(ticks, snap->rate);
}

static void snapshot_row(struct snapshot *snap, uint32_t index,
                         const struct jsp_calls_cell *cell)
{
    static char no_text[1];
    static const struct jsprof_function nobody = { .text = no_text };
    const struct jsprof_function *f = jsp_function_at(index);
    f = f ? f : &nobody;
    snap->out->rows[snap->out->n_rows++] = (jsprof_calls_row){
        .name = f->text, .name_len = f->name_len,
        .file = f->file_len ? f->text + f->name_len + 2 : "", .file_len = f->file_len,
        .id = index, .line = f->line, .kind = f->kind, .calls = cell->calls,
        .self_ns = snapshot_ns(snap, (uint64_t)cell->self),
        .total_ns = snapshot_ns(snap, (uint64_t)cell->total),
        .self_bytes = cell->self_bytes, .total_bytes = cell->total_bytes,
    };
    snap->out->calls += cell->calls;
    if (index == JSP_FUNCTION_OTHER)
        snap->out->functions_lost = cell->calls;
}

static int snapshot_block(struct snapshot *snap, uint32_t block)
{
    static const struct jsp_calls_cell nothing;
    struct jsp_calls_cell *cells = snap->block;
    int err = 0;
    if (!jsp_calls_sum_block(snap->s, block, cells))
        return 0;
    for (uint32_t i = 0; i < JSP_CALLS_BLOCK && !err; i++) {
        if (memcmp(&cells[i], &nothing, sizeof nothing) == 0)
            continue;
        snap->inside += cells[i].self;
        snap->negative += jsp_calls_cell_show(&cells[i]);
        err = jsp_grow(&snap->out->rows, &snap->capacity, (uint32_t)snap->out->n_rows,
                       sizeof *snap->out->rows);
        if (!err)
            snapshot_row(snap, block * JSP_CALLS_BLOCK + i, &cells[i]);
    }
    return err;
}

static int snapshot_edges(struct snapshot *snap, struct jsp_calls_session *s)
{
    uint32_t n = jsp_calls_sum_edges(s, snap->edges);
    jsprof_calls_edge *to = malloc(n * sizeof *to);
    if (!to)
        return -ENOMEM;
    snap->out->edges = to;
    for (uint32_t i = 0; i < n; i++) {
        struct jsp_calls_cell cell = snap->edges[i];
        const struct jsp_calls_edge *e = &s->merged->edges[i];
        jsp_calls_cell_show(&cell);
        if (cell.calls || cell.total)
            to[snap->out->n_edges++] = (jsprof_calls_edge){
                e->caller, e->callee, cell.calls, snapshot_ns(snap, (uint64_t)cell.total) };
    }
    snap->out->edges_lost = snap->edges[0].calls;
    return 0;
}

static void snapshot_account(struct snapshot *snap, uint32_t off_ppm)
{
    struct jsp_calls_account a = jsp_calls_account(snap->s);
    jsprof_calls *out = snap->out;
    out->modes = a.modes;
    out->threads = a.threads;
    out->waiting = a.waiting;
    out->clock_off = off_ppm;
    out->inside_ns = snap->inside > 0 ? snapshot_ns(snap, (uint64_t)snap->inside) : 0;
    out->own_ns = snapshot_ns(snap, a.own);
    out->gc_ns = snapshot_ns(snap, a.gc);
    out->negative_ns = snapshot_ns(snap, snap->negative);
    out->depth_lost = a.depth_lost;
    out->underflows = a.underflows;
    out->clock_back = a.clock_back;
    out->foreign = a.foreign;
}

static int snapshot_locked(struct jsp_calls_session *s, jsprof_calls *out)
{
    struct jsp_calls_rate rate = jsp_calls_clock_rate(&s->shared->clock);
    struct snapshot snap = { .s = s, .out = out, .rate = rate.ticks_per_second };
    snap.block = jsp_block_zeros(JSP_CALLS_BLOCK, sizeof *snap.block);
    snap.edges = jsp_block_zeros(JSP_CALLS_EDGES, sizeof *snap.edges);
    int err = snap.block && snap.edges ? 0 : -ENOMEM;
    jsp_calls_look(s);
    for (uint32_t block = 0; block < JSP_CALLS_BLOCKS && !err; block++)
        err = snapshot_block(&snap, block);
    if (!err)
        err = snapshot_edges(&snap, s);
    snapshot_account(&snap, rate.off_ppm);
    jsp_block_free(snap.block);
    jsp_block_free(snap.edges);
    return err;
}

int jsp_calls_snapshot(struct jsp_calls_session *s, jsprof_calls *out)
{
    jsprof_calls made = { .size = sizeof made };
    pthread_mutex_lock(&s->lock);
    int err = s->shared ? snapshot_locked(s, &made) : -ENOENT;
    pthread_mutex_unlock(&s->lock);
    if (!err) {
        *out = made;
    } else {
        free(made.rows);
        free(made.edges);
    }
    return err;
}
