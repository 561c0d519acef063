/* sessions.c - how much longer a thread works under 24 sessions of 10 kHz.
 *
 * SPDX-License-Identifier: MIT
 */
#include "signal/host.h"

#include "bench.h"

enum { SESSIONS = 24, SESSIONS_HZ = 10000, SESSIONS_WORK = 20000000 };

/* Return the CPU time of always the same work. */
static __attribute__((noinline)) double sessions_work(void)
{
    double begin = bench_ns(CLOCK_THREAD_CPUTIME_ID);
    for (volatile uint32_t i = 0; i < SESSIONS_WORK; i = i + 1)
        continue;
    return bench_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
}

static double sessions_sampled(void)
{
    static struct host hosts[SESSIONS];
    jsprof_thread *me[SESSIONS];
    for (int i = 0; i < SESSIONS; i++)
        bench_need(host_begin_with(&hosts[i], host_options(SESSIONS_HZ, JSPROF_CLOCK_WALL),
                                   &me[i]), "a session");
    double ns = sessions_work();
    for (int i = 0; i < SESSIONS; i++) {
        bench_need(jsprof_thread_detach(me[i]) == 0 && jsprof_close(hosts[i].prof) == 0, "close");
        close(hosts[i].fd);
    }
    return ns;
}

int main(void)
{
    static struct bench_series ratio;
    bench_pin();
    for (int i = bench_rounds(11); i > 0; i--) {
        double plain = sessions_work();
        bench_add(&ratio, sessions_sampled() / plain);
    }
    bench_print(&(struct bench_row){ "24 sessions of 10 kHz on one thread", "<= 4 x", 4, "x",
                                     "the work alone" }, &ratio);
    return 0;
}
