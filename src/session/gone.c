/* session/gone.c - see gone.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "gone.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { GONE_EVERY_NS = 1000000000 };

/* Two questions, because a sandbox may answer either with an error of its own, and memory
 * that a thread still uses must not go. Where another thread has got the number meanwhile
 * the answer is no, until that one ends. */
static bool gone_is(const struct jsp_thread *t)
{
    struct timespec unused;
    return clock_gettime(t->cpu_clock, &unused) < 0 && errno == EINVAL &&
           syscall(SYS_tgkill, t->pid, t->tid, 0) < 0 && errno == ESRCH;
}

/* Nothing unlinks it from the thread's own list, which went with the thread. */
static void gone_let_go(struct jsprof *p, struct jsp_thread *t)
{
    jsp_thread_disarm(t);
    jsp_calls_detach_gone(&p->calls, t);
    t->owned = false;
}

void jsp_gone_collect(struct jsprof *p)
{
    int saved_errno = errno;
    for (struct jsp_thread *t = p->threads; t; t = t->next)
        if (t->owned && gone_is(t))
            gone_let_go(p, t);
    errno = saved_errno;
}

void jsp_gone_look(struct jsprof *p, uint64_t now_ns)
{
    if (now_ns - p->gone_ns < GONE_EVERY_NS)
        return;
    p->gone_ns = now_ns;
    jsp_gone_collect(p);
}
