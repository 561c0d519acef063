/* switches.c - what a session costs two threads that hand a byte to each other on one processor.
 *
 * Each round is without a session, with each source, and again: ratios of the process's CPU time.
 *
 * SPDX-License-Identifier: MIT
 */
#include <jsprof.h>
#include <pthread.h>
#include <sys/mman.h>

#include "bench.h"

enum { SWITCHES_TURNS = 20000 };

struct switches {
    int there[2], back[2];
    jsprof *session; /* NULL: none */
};

static void *switches_other(void *switches)
{
    const struct switches *s = switches;
    jsprof_thread *t = NULL;
    char byte;
    bench_need(!s->session || jsprof_thread_attach(s->session, "other", &t) == 0, "attaching");
    while (read(s->there[0], &byte, 1) == 1 && byte)
        bench_need(write(s->back[1], &byte, 1) == 1, "write");
    if (t)
        jsprof_thread_detach(t);
    return NULL;
}

/* Return the CPU time of the turns, in ns. `source` NULL: without a session. */
static double switches_take(const char *source)
{
    struct switches s = { .session = NULL };
    jsprof_options o = { .size = sizeof o, .flags = JSPROF_USE_FD };
    jsprof_thread *t = NULL;
    pthread_t other;
    char byte = 1, end = 0;
    bench_need(pipe(s.there) == 0 && pipe(s.back) == 0, "pipe");
    if (source) {
        o.fd = memfd_create("capture", MFD_CLOEXEC);
        bench_need(jsprof_options_set(&o, "source", source) == 0 &&
                   jsprof_open(&s.session, &o) == 0 && jsprof_start(s.session) == 0 &&
                   jsprof_thread_attach(s.session, "one", &t) == 0, "starting a session");
    }
    bench_need(pthread_create(&other, NULL, switches_other, &s) == 0, "a second thread");
    double from = bench_ns(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < SWITCHES_TURNS; i++)
        bench_need(write(s.there[1], &byte, 1) == 1 && read(s.back[0], &byte, 1) == 1, "a turn");
    double took = bench_ns(CLOCK_PROCESS_CPUTIME_ID) - from;
    bench_need(write(s.there[1], &end, 1) == 1, "the end");
    pthread_join(other, NULL);
    if (source) {
        jsprof_thread_detach(t);
        bench_need(jsprof_close(s.session) == 0, "closing");
        close(o.fd);
    }
    for (int i = 0; i < 2; i++) {
        close(s.there[i]);
        close(s.back[i]);
    }
    return took;
}

int main(void)
{
    static const char *const sources[] = { "auto", "looker", "timer" };
    static struct bench_series series[3];
    bench_pin();
    bench_beside();
    for (int round = 0; round < bench_rounds(60); round++) {
        double without = switches_take(NULL);
        for (int i = 0; i < 3; i++)
            bench_add(&series[i], switches_take(sources[i]) / without);
    }
    for (int i = 0; i < 3; i++) {
        char budget[64];
        snprintf(budget, sizeof budget, "a byte there and back, source %s", sources[i]);
        bench_print(&(struct bench_row){ budget, i ? NULL : "<= 1.3x", 1.3, "x",
                                         "without a session" }, &series[i]);
    }
    return 0;
}
