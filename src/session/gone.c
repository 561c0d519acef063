/* session/gone.c - see drain.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "drain.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    GONE_EVERY_NS = 1000000000,
    GONE_MOST = 128, /* threads that one look asks about, on average */
};

/* Return true if the thread has ended. Ask in two ways, because a sandbox may fail either
 * with an error of its own, and memory that a thread still uses must not be freed. If
 * another thread has the number now, the answer is no, until that one ends. */
static bool gone_is(const struct jsp_thread *t)
{
    struct timespec unused;
    return clock_gettime(t->cpu_clock, &unused) < 0 && errno == EINVAL &&
           syscall(SYS_tgkill, t->pid, t->tid, 0) < 0 && errno == ESRCH;
}

/* Detach a thread that has ended. Its own list of sessions ended with it. */
static void gone_let_go(struct jsprof *p, struct jsp_thread *t)
{
    jsp_thread_disarm(t);
    jsp_sched_leave(&p->sched, t);
    jsp_calls_detach_gone(&p->calls, t);
    jsp_drain_left(p, t);
}

/* Ask about one of so many parts of the threads. Return how many threads there are. */
static uint32_t gone_collect(struct jsprof *p, uint32_t part, uint32_t parts)
{
    int saved_errno = errno;
    uint32_t n = 0;
    for (const struct jsp_thread_link *at = p->links; at; at = at->next, n++)
        if (at->id % parts == part && at->thread->owned && gone_is(at->thread))
            gone_let_go(p, at->thread);
    errno = saved_errno;
    return n;
}

void jsp_gone_collect(struct jsprof *p)
{
    gone_collect(p, 0, 1);
}

void jsp_gone_look(struct jsprof *p, uint64_t now_ns)
{
    if (now_ns - p->gone_ns < GONE_EVERY_NS)
        return;
    p->gone_ns = now_ns;
    jsp_spares_trim(&p->spares, p->spares.n - p->spares.least);
    uint32_t parts = 1 + p->gone_threads / GONE_MOST;
    p->gone_threads = gone_collect(p, p->gone_turn++ % parts, parts);
}
