/* calls/rows.c - writes the calls of a session to the capture: jsprof/calls, as
 * docs/capture.md describes. See jsp_calls_write in calls.h.
 *
 * SPDX-License-Identifier: MIT
 */

#include "calls.h"
#include "capture/embedded.h"
#include "session/output.h"
#include "sigsafe/names.h"

enum {
    /* a function's record is the longest */
    ROWS_RECORD = 1 + 7 * JSP_VARINT_MAX + JSP_LABEL_MAX,
};
_Static_assert((int)JSP_WIRE_CALLS_IDS == JSP_FUNCTION_IDS, "ids are indices");
_Static_assert((int)JSP_WIRE_CALLS_NO_FUNCTION == JSP_FUNCTION_NONE, "those too");

struct rows {
    struct jsp_calls_session *s;
    struct jsp_output *out;
    int (*flush)(struct jsp_output *);
    struct jsp_embedded_call commit;
    bool changed;
};

/* -- Records ------------------------------------------------------------------- */

static int rows_chunk(struct rows *t)
{
    struct jsp_calls_session *s = t->s;
    int err = s->used ? jsp_writer_chunk(&t->out->writer, JSP_WIRE_FILE_CALLS, s->buffer,
                                         s->used) : 0;
    if (!err)
        s->used = 0;
    return err;
}

/* Make room for one more record. The lock is released while the file is written. */
static int rows_room(struct rows *t)
{
    int err = 0;
    if (t->s->used + ROWS_RECORD <= JSP_CALLS_BUFFER)
        return 0;
    if (jsp_output_is_full(t->out)) {
        pthread_mutex_unlock(&t->s->lock);
        err = t->flush(t->out);
        pthread_mutex_lock(&t->s->lock);
    }
    return err ? err : rows_chunk(t);
}

static void rows_put(struct rows *t, const struct jsp_embedded_call *record)
{
    t->s->used += (uint32_t)jsp_embedded_call_put(t->s->buffer + t->s->used, record);
    t->changed = true;
}

static int rows_function(struct rows *t, uint32_t index)
{
    uint8_t *byte = &t->s->defined[index / 8], bit = (uint8_t)(1u << index % 8);
    const struct jsprof_function *f = jsp_function_at(index);
    if (*byte & bit || !f)
        return 0;
    int err = rows_room(t);
    if (err)
        return err;
    struct jsp_embedded_call record = {
        .tag = JSP_WIRE_CALLS_FUNCTION,
        .function = { index, f->kind, f->line, { f->text, f->name_len },
                      { f->file_len ? f->text + f->name_len + 2 : "", f->file_len } },
    };
    rows_put(t, &record);
    *byte |= bit;
    return 0;
}

/* Return true if `now` differs from `written`, the values appended last. The caller copies `now`
 * to `written` only after it has appended them: after a failed flush they are still new. */
static bool rows_is_new(const struct jsp_calls_cell *now, const struct jsp_calls_cell *written)
{
    return memcmp(now, written, sizeof *now) != 0;
}

static int rows_row(struct rows *t, uint32_t index, const struct jsp_calls_cell *cell)
{
    if (!rows_is_new(cell, &t->s->written[index]))
        return 0;
    int err = rows_function(t, index);
    if (!err)
        err = rows_room(t);
    if (err)
        return err;
    struct jsp_embedded_call record = {
        .tag = JSP_WIRE_CALLS_ROW,
        .row = { index, { cell->calls, (uint64_t)cell->self, (uint64_t)cell->total,
                          cell->self_bytes, cell->total_bytes } },
    };
    rows_put(t, &record);
    t->s->written[index] = *cell;
    return 0;
}

static int rows_edge(struct rows *t, uint32_t edge)
{
    const struct jsp_calls_edge *e = &t->s->merged->edges[edge];
    struct jsp_calls_cell *cell = &t->s->edges[edge];
    jsp_calls_cell_show(cell);
    if (!rows_is_new(cell, &t->s->written_edges[edge]))
        return 0;
    int err = rows_function(t, e->caller);
    if (!err)
        err = rows_function(t, e->callee);
    if (!err)
        err = rows_room(t);
    if (err)
        return err;
    struct jsp_embedded_call record = {
        .tag = JSP_WIRE_CALLS_EDGE,
        .edge = { e->caller, e->callee, cell->calls, (uint64_t)cell->total },
    };
    rows_put(t, &record);
    t->s->written_edges[edge] = *cell;
    return 0;
}

/* -- A snapshot ---------------------------------------------------------------- */

/* Convert a time of the clock to CLOCK_MONOTONIC. */
static uint64_t rows_time(const struct jsp_calls_clock *clock, uint64_t tick)
{
    if (clock->source != JSP_CALLS_COUNTER)
        return tick;
    return clock->ns0 + jsp_calls_clock_ns(tick - clock->tick0, clock->ticks_per_second);
}

static int rows_modes(struct rows *t)
{
    const struct jsp_calls_shared *shared = t->s->shared;
    /* ORDER: relaxed. The caller holds the lock of the threads that store it. */
    uint32_t last = atomic_load_explicit(&shared->epoch, memory_order_relaxed);
    if (last - t->s->written_epoch >= JSP_CALLS_EPOCHS)
        t->s->written_epoch = last - JSP_CALLS_EPOCHS + 1;
    while (t->s->written_epoch < last) {
        int err = rows_room(t);
        if (err)
            return err;
        uint32_t n = ++t->s->written_epoch;
        const struct jsp_calls_epoch *epoch = &shared->epochs[n % JSP_CALLS_EPOCHS];
        struct jsp_embedded_call record = {
            .tag = JSP_WIRE_CALLS_MODE,
            .mode = { rows_time(&shared->clock, epoch->start), epoch->modes },
        };
        rows_put(t, &record);
    }
    return 0;
}

static int rows_functions(struct rows *t)
{
    struct jsp_calls_cell *cells = t->s->block;
    int64_t inside = 0;
    for (uint32_t block = 0; block < JSP_CALLS_BLOCKS; block++) {
        if (!jsp_calls_sum_block(t->s, block, cells))
            continue;
        for (uint32_t i = 0; i < JSP_CALLS_BLOCK; i++) {
            uint32_t index = block * JSP_CALLS_BLOCK + i;
            inside += cells[i].self;
            t->commit.fields[JSP_WIRE_COMMIT_NEGATIVE] += jsp_calls_cell_show(&cells[i]);
            t->commit.fields[JSP_WIRE_COMMIT_CALLS] += cells[i].calls;
            t->commit.fields[JSP_WIRE_COMMIT_ALLOC] += cells[i].self_bytes;
            if (index == JSP_FUNCTION_OTHER)
                t->commit.fields[JSP_WIRE_COMMIT_FUNCTIONS_LOST] = cells[i].calls;
            int err = rows_row(t, index, &cells[i]);
            if (err)
                return err;
        }
    }
    t->commit.fields[JSP_WIRE_COMMIT_INSIDE] = inside > 0 ? (uint64_t)inside : 0;
    return 0;
}

static int rows_edges(struct rows *t)
{
    uint32_t n = jsp_calls_sum_edges(t->s, t->s->edges);
    int err = 0;
    for (uint32_t i = 0; i < n && !err; i++)
        err = rows_edge(t, i);
    t->commit.fields[JSP_WIRE_COMMIT_EDGES_LOST] = t->s->edges[0].calls;
    return err;
}

/* Return the last epoch that counted time, whose costs are known. Close begins one
 * without. */
static const struct jsp_calls_epoch *rows_timed_epoch(const struct jsp_calls_shared *shared)
{
    /* ORDER: relaxed. The caller holds the lock of the threads that store it. */
    uint32_t last = atomic_load_explicit(&shared->epoch, memory_order_relaxed);
    for (uint32_t i = 0; i < JSP_CALLS_EPOCHS && i < last; i++) {
        const struct jsp_calls_epoch *epoch = &shared->epochs[(last - i) % JSP_CALLS_EPOCHS];
        if (epoch->modes & JSPROF_CALLS_TIME)
            return epoch;
    }
    return &shared->epochs[last % JSP_CALLS_EPOCHS];
}

static void rows_account(struct rows *t)
{
    const struct jsp_calls_shared *shared = t->s->shared;
    struct jsp_calls_account a = jsp_calls_account(t->s);
    struct jsp_calls_rate rate = jsp_calls_clock_rate(&shared->clock);
    const struct jsp_calls_epoch *epoch = rows_timed_epoch(shared);
    uint64_t *f = t->commit.fields;
    f[JSP_WIRE_COMMIT_TICKS_PER_SECOND] = rate.ticks_per_second;
    f[JSP_WIRE_COMMIT_CLOCK] = shared->clock.source == JSP_CALLS_COUNTER;
    f[JSP_WIRE_COMMIT_OWN] = a.own;
    f[JSP_WIRE_COMMIT_GC] = a.gc;
    f[JSP_WIRE_COMMIT_THREADS] = a.threads;
    f[JSP_WIRE_COMMIT_WAITING] = a.waiting;
    f[JSP_WIRE_COMMIT_DEPTH_LOST] = a.depth_lost;
    f[JSP_WIRE_COMMIT_UNDERFLOWS] = a.underflows;
    f[JSP_WIRE_COMMIT_CLOCK_BACK] = a.clock_back;
    f[JSP_WIRE_COMMIT_CLOCK_OFF] = rate.off_ppm;
    f[JSP_WIRE_COMMIT_FOREIGN] = a.foreign;
    f[JSP_WIRE_COMMIT_ENTER_COST] = epoch->cost[JSP_CALLS_ENTER];
    f[JSP_WIRE_COMMIT_LEAVE_COST] = epoch->cost[JSP_CALLS_LEAVE];
}

static int rows_commit(struct rows *t)
{
    int err = rows_room(t);
    if (err)
        return err;
    rows_account(t);
    t->commit.fields[JSP_WIRE_COMMIT_TIME] = jsp_now_ns(CLOCK_MONOTONIC);
    rows_put(t, &t->commit);
    return rows_chunk(t);
}

/* Append all changes. Without any change no commit is needed. */
static int rows_all(struct rows *t)
{
    int err = rows_modes(t);
    if (!err)
        err = rows_functions(t);
    if (!err)
        err = rows_edges(t);
    if (!err && (t->changed || t->s->used))
        err = rows_commit(t);
    return err;
}

int jsp_calls_write(struct jsp_calls_session *s, struct jsp_output *out,
                    int (*flush)(struct jsp_output *))
{
    struct rows t = { .s = s, .out = out, .flush = flush,
                      .commit.tag = JSP_WIRE_CALLS_COMMIT };
    int err = 0;
    pthread_mutex_lock(&s->lock);
    if (s->shared) {
        jsp_calls_look(s);
        err = rows_all(&t);
        out->has_calls = true;
    }
    pthread_mutex_unlock(&s->lock);
    return err;
}
