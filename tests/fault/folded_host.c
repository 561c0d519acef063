/* fault/folded_host.c - a host that records itself all the time: for tests/fault/continuous.sh and
 * tests/bench/continuous.sh.
 *
 *     folded_host MS N DEPTH [names]
 *
 * Spends MS of CPU time: three quarters of it in "often", the rest in N stacks of DEPTH frames
 * each. All of them end in "rare". With a fourth argument their other frames have long names, each
 * stack its own. SIGTERM ends it early. A line says what there is at the end.
 *
 * SPDX-License-Identifier: MIT
 */
#include <jsprof.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUND_US = 2000, DEEPEST = 400 };

static bool has_names;
static volatile sig_atomic_t is_asked_to_end;

static void end(int signo)
{
    (void)signo;
    is_asked_to_end = 1;
}

static uint64_t cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

static void spend(uint64_t us)
{
    for (uint64_t until = cpu_us() + us; cpu_us() < until;)
        continue;
}

/* Lines make other stacks of the same functions. */
static void rare(jsprof_thread *me, uint32_t which, uint32_t depth)
{
    static char names[DEEPEST][80];
    for (uint32_t i = 0; i < depth; i++) {
        strcpy(names[i], "deeper");
        if (has_names)
            snprintf(names[i], sizeof names[i], "deeper_%050u_%u", which, i);
        jsprof_push(me, i + 1 == depth ? "rare" : names[i], "host.c", which + 1);
    }
    spend(ROUND_US / 4);
    for (uint32_t i = 0; i < depth; i++)
        jsprof_pop(me);
}

int main(int argc, char **argv)
{
    char why[400];
    jsprof *session;
    jsprof_thread *me;
    jsprof_stats s = { .size = sizeof s };
    has_names = argc == 5;
    if (argc != 4 && !has_names)
        return 2;
    uint64_t ms = strtoull(argv[1], NULL, 10);
    uint32_t n = (uint32_t)atoi(argv[2]), depth = (uint32_t)atoi(argv[3]);
    if (depth > DEEPEST)
        return 2;
    signal(SIGTERM, end);
    int err = jsprof_start_from_env(&session);
    if (err < 0) {
        printf("start: %s\n", jsprof_error_text(err, why, sizeof why));
        return 1;
    }
    if (session && jsprof_thread_attach(session, "main", &me) < 0)
        return 1;
    for (uint32_t i = 0; !is_asked_to_end && cpu_us() / 1000 < ms; i++) {
        jsprof_push(session ? me : NULL, "often", "host.c", 1);
        spend(ROUND_US * 3 / 4);
        jsprof_pop(session ? me : NULL);
        rare(session ? me : NULL, i % n, depth);
    }
    if (session && jsprof_stats_get(session, &s) < 0)
        return 1;
    err = jsprof_close(session);
    printf("close: %s\n", err ? jsprof_strerror(err) : "good");
    printf("expirations %" PRIu64 " kept %" PRIu64 " samples %" PRIu64 " lost_fold %" PRIu64 "\n",
           s.expirations, s.kept, s.samples, s.lost_fold);
    return 0;
}
