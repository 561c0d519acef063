/* beside.c - prints what the reading library has and the command does not ask for: each counter
 * with its number of values and their sum, what runs of tasks have inside, and the turns of loops.
 *
 * SPDX-License-Identifier: MIT
 *
 *     beside CAPTURE
 */
#include <inttypes.h>
#include <jsprof-read.h>
#include <stdio.h>

static void counters(jsprof_read_events *e)
{
    jsprof_read_counter counter = { .size = sizeof counter };
    jsprof_read_value value = { .size = sizeof value };
    for (uint64_t i = 0; jsprof_read_counters(e, i, &counter, 1) == 1; i++) {
        double sum = 0;
        uint32_t n = 0;
        for (uint64_t j = 0; jsprof_read_values(e, j, &value, 1) == 1; j++)
            if (value.counter == i) {
                sum += value.value;
                n++;
            }
        printf("%s/%s: %u of %u values, %.12g\n", counter.group, counter.name, n,
               counter.n_values, sum);
    }
}

int main(int argc, char **argv)
{
    const jsprof_read_input in = { .size = sizeof in, .path = argc > 1 ? argv[1] : "" };
    const jsprof_read_options o = { .size = sizeof o, .inputs = &in, .n_inputs = 1 };
    jsprof_reader *r;
    jsprof_read_events *e;
    jsprof_read_tasks *t;
    jsprof_read_run run = { .size = sizeof run };
    jsprof_read_turn turn = { .size = sizeof turn };
    if (jsprof_read_open(&r, &o, NULL) < 0)
        return 1;
    if (jsprof_read_events_open(&e, r, NULL) == 0) {
        counters(e);
        jsprof_read_events_close(e);
    }
    if (jsprof_read_tasks_open(&t, r, NULL) == 0) {
        for (uint64_t i = 0; jsprof_read_runs(t, i, &run, 1) == 1; i++)
            printf("run of %d on %d at %" PRId64 " for %" PRId64 ", inner %" PRId64 ", depth %u\n",
                   (int)run.task, run.tid, run.time, run.duration, run.inner, run.depth);
        for (uint64_t i = 0; jsprof_read_turns(t, i, &turn, 1) == 1; i++)
            printf("turn on %d at %" PRId64 " for %" PRId64 ", inner %" PRId64 "\n", turn.tid,
                   turn.time, turn.duration, turn.inner);
        jsprof_read_tasks_close(t);
    }
    jsprof_read_close(r);
    return 0;
}
