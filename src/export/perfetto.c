/* export/perfetto.c - a trace in Perfetto's own format (ui.perfetto.dev, trace_processor).
 *
 * All packets are of one sequence, whose first packet begins the tables of names. Processes and
 * threads are tracks, and so are the states and the labels of a thread, counters, and marks that
 * do not overlap each other. Field numbers are those of Perfetto's protos/perfetto/trace. Samples
 * are of the kind that version 58 introduced, because only these have a value.
 *
 * SPDX-License-Identifier: MIT
 */
#include "perfetto.h"

#include <errno.h>
#include <stdlib.h>

#include "shown_names.h"

enum { PERFETTO_IS_FIRST = 1 };

/* Begin the tables, and say what the samples count. */
static void perfetto_first(struct perfetto *x)
{
    static const struct {
        const char *name;
        uint32_t unit;
    } units[JSP_N_VALUES] = {
        [JSP_VALUE_COUNT] = { "samples", 9 },
        [JSP_VALUE_ALLOC] = { "allocated", 4 },
        [JSP_VALUE_LIVE] = { "live", 4 },
#define PERFETTO_CLOCK(CLOCK, key, unit, name, meaning) [JSP_VALUE_##CLOCK] = { key, 1 },
        JSP_CLOCKS(PERFETTO_CLOCK)
    };
    perfetto_text(x, &x->part, 2, perfetto_of(units[x->p->unit].name));
    jsp_proto_u64(&x->part, 3, units[x->p->unit].unit);
    perfetto_text(x, &x->inner, 1, perfetto_of("jsprof"));
    jsp_proto_nest(&x->inner, 2, &x->part);
    jsp_proto_nest(&x->part, 100, &x->inner); /* defaults of samples */
    jsp_proto_nest(&x->packet, PERFETTO_DEFAULTS, &x->part);
    jsp_proto_u64(&x->packet, PERFETTO_CLEARED, 1);
    jsp_proto_u64(&x->packet, PERFETTO_SEQUENCE, 1);
    jsp_proto_u64(&x->packet, PERFETTO_FLAGS, PERFETTO_IS_FIRST);
    x->error = jsp_proto_put(x->e->out, PERFETTO_PACKET, &x->packet);
}

/* -- Processes and threads ------------------------------------------------------ */

/* Collect the processes of all that the trace has. Return 0 or -ENOMEM. */
static int perfetto_pids(struct perfetto *x)
{
    const struct jsp_timeline *t = &x->timeline;
    uint32_t n = 0, kept = 0;
    size_t most = (size_t)x->p->n_threads + t->tasks.n_threads + t->events.n_marks +
                  t->events.n_counters;
    x->pids = malloc((most + 1) * sizeof *x->pids);
    if (!x->pids)
        return -ENOMEM;
    for (uint32_t i = 0; i < x->p->n_threads; i++)
        x->pids[n++] = x->p->threads[i].pid;
    for (uint32_t i = 0; i < t->tasks.n_threads; i++)
        x->pids[n++] = t->tasks.threads[i].pid;
    for (uint32_t i = 0; i < t->events.n_marks; i++)
        x->pids[n++] = t->events.marks[i].pid;
    for (uint32_t i = 0; i < t->events.n_counters; i++)
        x->pids[n++] = t->events.counters[i].pid;
    qsort(x->pids, n, sizeof *x->pids, perfetto_compare);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || x->pids[i] != x->pids[kept - 1])
            x->pids[kept++] = x->pids[i];
    x->n_pids = kept;
    return 0;
}

static void perfetto_thread(struct perfetto *x, uint64_t id, int32_t pid, int32_t tid,
                            const char *name)
{
    jsp_proto_u64(&x->part, 1, (uint64_t)(int64_t)pid);
    jsp_proto_u64(&x->part, 2, (uint64_t)(int64_t)tid);
    perfetto_text(x, &x->part, 5, perfetto_of(name));
    jsp_proto_nest(&x->inner, 4, &x->part);
    perfetto_track(x, id, perfetto_process(x, pid), perfetto_of(""));
}

static void perfetto_threads(struct perfetto *x)
{
    const struct jsp_tasks *t = &x->timeline.tasks;
    for (uint32_t i = 0; i < x->n_pids; i++) {
        struct jsp_read_text command = jsp_profile_command(x->p, x->pids[i]);
        jsp_proto_u64(&x->part, 1, (uint64_t)(int64_t)x->pids[i]);
        perfetto_text(x, &x->part, 2, command);
        perfetto_text(x, &x->part, 6, command);
        jsp_proto_nest(&x->inner, 3, &x->part);
        perfetto_track(x, perfetto_id(PERFETTO_OF_PROCESS, i), 0, perfetto_of(""));
    }
    for (uint32_t i = 0; i < x->p->n_threads; i++)
        if (x->from.moments.first[i] < x->from.moments.first[i + 1])
            perfetto_thread(x, perfetto_id(PERFETTO_OF_THREAD, i), x->p->threads[i].pid,
                            x->p->threads[i].tid, jsp_shown_of_thread(x->p, i));
    for (uint32_t i = 0; i < t->n_threads; i++) {
        uint32_t at = x->timeline.task_thread[i];
        if (x->timeline.flows.threads[i] && (x->p->threads[at].pid != t->threads[i].pid ||
                                             x->p->threads[at].tid != t->threads[i].tid))
            perfetto_thread(x, perfetto_id(PERFETTO_OF_TASKS, i), t->threads[i].pid,
                            t->threads[i].tid, "");
    }
}

/* -- All of it ------------------------------------------------------------------ */

int jsp_export_perfetto(struct jsp_export *e)
{
    struct perfetto *x = calloc(1, sizeof *x);
    if (!x)
        return -ENOMEM;
    x->e = e;
    x->p = e->profile;
    x->frames = malloc(JSP_PROFILE_DEPTH * sizeof *x->frames);
    int err = jsp_timeline_build(&x->timeline, &x->from, e, JSP_CALLTREE_LINES);
    if (err == 0)
        err = jsp_strings_init(&x->sources);
    if (err == 0)
        err = x->frames ? perfetto_pids(x) : -ENOMEM;
    if (err == 0) {
        perfetto_first(x);
        perfetto_threads(x);
        perfetto_tables(x);
        perfetto_samples(x);
        perfetto_tasks(x);
        perfetto_states(x);
        perfetto_labels(x);
        perfetto_marks(x);
        perfetto_counters(x);
        err = x->error ? x->error : x->sources.error;
    }
    jsp_tables_free(&x->from);
    jsp_timeline_free(&x->timeline);
    jsp_strings_free(&x->sources);
    jsp_proto_free(&x->packet);
    jsp_proto_free(&x->inner);
    jsp_proto_free(&x->part);
    jsp_proto_free(&x->text);
    free(x->pids);
    free(x->frames);
    free(x);
    return err;
}
