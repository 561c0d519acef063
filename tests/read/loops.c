/* loops.c - prints what the reading library says of the tasks of a capture in groups: runs by
 * name, stalls, and chains of one task; and where the runs of a second capture differ.
 *
 * SPDX-License-Identifier: MIT
 *
 *     loops WHICH CAPTURE [CAPTURE]
 */
#include <inttypes.h>
#include <jsprof-read.h>
#include <stdio.h>

static jsprof_read_error error = { .size = sizeof error };

static int failed(void)
{
    printf("%d: %s\n", error.code, error.message);
    return 1;
}

static int runs(jsprof_reader *r)
{
    jsprof_read_run_groups *g;
    jsprof_read_run_groups_sum sum = { .size = sizeof sum };
    jsprof_read_run_group row = { .size = sizeof row };
    const jsprof_read_order order = { .size = sizeof order, .sort = "runs" };
    if (jsprof_read_run_groups_open(&g, r, &order, &error) < 0)
        return failed();
    jsprof_read_run_groups_of(g, &sum);
    printf("%" PRIu64 " runs of %" PRIu64 " tasks, %" PRIu64 " turns, the longest of %.0f\n",
           sum.runs, sum.tasks, sum.turns, sum.turn_max);
    for (uint64_t i = 0; jsprof_read_run_group_rows(g, i, &row, 1) == 1; i++)
        printf("%s %s: %" PRIu64 " runs of %.0f, self %.0f, max %.0f, open %" PRIu64
               ", delays %" PRIu64 "\n", row.is_unknown ? "unknown" : row.kind, row.name, row.runs,
               row.total, row.self, row.max, row.open, row.delays);
    jsprof_read_run_groups_close(g);
    return 0;
}

static int stalls(jsprof_reader *r)
{
    jsprof_read_stalls *s;
    jsprof_read_stalls_sum sum = { .size = sizeof sum };
    jsprof_read_stall row = { .size = sizeof row };
    if (jsprof_read_stalls_open(&s, r, "5ms", &error) < 0)
        return failed();
    jsprof_read_stalls_of(s, &sum);
    printf("%" PRIu64 " stalls in %" PRIu64 " turns\n", sum.stalls, sum.turns);
    for (uint64_t i = 0; jsprof_read_stall_rows(s, i, &row, 1) == 1; i++)
        printf("stall at %" PRId64 " for %" PRId64 " on %d, %s in %s\n", row.time, row.duration,
               row.tid, row.cause, row.name ? row.name : "no task");
    jsprof_read_stalls_close(s);
    return jsprof_read_stalls_open(&s, r, "soon", &error) < 0 ? failed() : 0;
}

static int chains(jsprof_reader *r, const char *which)
{
    jsprof_read_chains *c;
    jsprof_read_chain chain = { .size = sizeof chain };
    jsprof_read_link link = { .size = sizeof link };
    jsprof_read_frame frame = { .size = sizeof frame };
    jsprof_read_ready by = { .size = sizeof by };
    if (jsprof_read_chains_open(&c, r, which, NULL, &error) < 0)
        return failed();
    for (uint64_t i = 0; jsprof_read_chain_rows(c, i, &chain, 1) == 1; i++) {
        printf("chain of %" PRIu64 " tasks, %" PRIu64 " runs of %.0f, delay %" PRId64 "\n",
               chain.tasks, chain.runs, chain.total, chain.delay);
        for (uint64_t k = 0; jsprof_read_ready_by(c, i, k, &by, 1) == 1; k++)
            printf("  %" PRIu64 " ready by %s %s\n", by.runs, by.kind, by.name);
        for (uint64_t k = 0; jsprof_read_links(c, i, k, &link, 1) == 1; k++) {
            printf("  %s %s", link.kind, link.name);
            for (uint64_t f = 0; jsprof_read_link_frames(c, i, k, f, &frame, 1) == 1; f++)
                printf(" < %s", frame.name);
            putchar('\n');
        }
    }
    jsprof_read_chains_close(c);
    return jsprof_read_chains_open(&c, r, "nobody", NULL, &error) < 0 ? failed() : 0;
}

static int diverge(jsprof_reader *before, jsprof_reader *after)
{
    jsprof_read_tasks *a = NULL, *b = NULL;
    jsprof_read_divergence d = { .size = sizeof d };
    int err = jsprof_read_tasks_open(&a, before, &error);
    if (err == 0)
        err = jsprof_read_tasks_open(&b, after, &error);
    if (err == 0)
        err = jsprof_read_diverge(a, b, &d, &error);
    if (err == 0)
        printf("%s at %" PRIu64 " of %" PRIu64 " and %" PRIu64 "\n",
               d.is_same ? "same" : "different", d.at, d.runs[0], d.runs[1]);
    jsprof_read_tasks_close(a);
    jsprof_read_tasks_close(b);
    return err ? failed() : 0;
}

int main(int argc, char **argv)
{
    jsprof_reader *r[2] = { NULL, NULL };
    for (int i = 0; i < 2; i++) {
        const jsprof_read_input in = { .size = sizeof in, .path = argv[argc > 3 ? 2 + i : 2] };
        const jsprof_read_options o = { .size = sizeof o, .inputs = &in, .n_inputs = 1 };
        if (jsprof_read_open(&r[i], &o, &error) < 0)
            return failed();
    }
    runs(r[0]);
    stalls(r[0]);
    chains(r[0], argv[1]);
    diverge(r[0], r[1]);
    jsprof_read_close(r[0]);
    jsprof_read_close(r[1]);
    return 0;
}
