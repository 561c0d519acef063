/* tags.c - what labels cost: ns for one set, and for a push with its pop, on a thread of a session
 * that does not run.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench.h"

#include <jsprof.h>

enum { TAGS_CALLS = 1000000, TAGS_ROUNDS = 9 };

static jsprof_thread *thread;

static double tags_set(void)
{
    double begin = bench_ns(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < TAGS_CALLS; i++)
        jsprof_label_set(thread, "route", i & 1 ? "/login" : "/logout");
    return (bench_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / TAGS_CALLS;
}

static double tags_level(void)
{
    double begin = bench_ns(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < TAGS_CALLS; i++)
        jsprof_label_pop(thread, jsprof_label_push(thread, "step", "parse"));
    return (bench_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / TAGS_CALLS;
}

int main(void)
{
    const jsprof_options options = { .size = sizeof options, .flags = JSPROF_DESCRIBE };
    jsprof *session;
    double set = 1e9, level = 1e9;
    bench_need(jsprof_open(&session, &options) == 0 &&
               jsprof_thread_attach(session, "main", &thread) == 0, "opening a session");
    for (int i = 0; i < TAGS_ROUNDS; i++) {
        double one = tags_set(), other = tags_level();
        set = one < set ? one : set;
        level = other < level ? other : level;
    }
    printf("a label: set %.0f ns, push and pop %.0f ns (the best of %d rounds)\n", set, level,
           TAGS_ROUNDS);
    bench_need(jsprof_close(session) == 0, "closing");
    return 0;
}
