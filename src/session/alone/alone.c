/* session/alone/alone.c - see alone.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "alone.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <ucontext.h>

#include "callable.h"
#include "calls/open.h"
#include "session/drain.h"

enum {
    ALONE_EVERY_NS = 200000000, /* as rarely as an idle drain thread */
    ALONE_STACK = 1 << 17, /* stack that a pass and a write may use */
    ALONE_TASK_LINKS = 2,  /* of /proc/self/task, besides one for each thread */
};

/* -- May a run have no drain thread? ------------------------------------------ */

static bool alone_is_only_thread(void)
{
    struct stat st;
    return stat("/proc/self/task", &st) == 0 && st.st_nlink == ALONE_TASK_LINKS + 1;
}

/* Threads that another C library made are unknown to this one's variable: they are noticed if
 * they exist by now. */
const volatile char *jsp_alone_flag(void)
{
    const volatile char *flag = dlsym(RTLD_DEFAULT, "__libc_single_threaded"); /* glibc 2.32 */
    return flag && *flag && alone_is_only_thread() ? flag : NULL;
}

/* Return true if the handler would run on an alternate stack, which is too small. */
static bool alone_has_alternate_stack(void)
{
    stack_t alt;
    return sigaltstack(NULL, &alt) < 0 || !(alt.ss_flags & SS_DISABLE);
}

/* Return true if a write to it always ends. A pipe or a terminal may take nothing for
 * ever, even with all signals blocked. */
static bool alone_never_waits(int fd)
{
    struct stat st;
    int flags = fcntl(fd, F_GETFL);
    return fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || (flags >= 0 && flags & O_NONBLOCK));
}

bool jsp_alone_serves(const struct jsprof *p)
{
    uint32_t n = 0;
    for (const struct jsp_thread *t = p->threads; t; t = t->next)
        n += t->owned;
    return p->alone.is_possible && n <= 1 && alone_is_only_thread() &&
           !alone_has_alternate_stack();
}

/* -- In the handler ------------------------------------------------------------- */

static bool alone_is_due(const struct jsp_thread *t, uint64_t now)
{
    return now - jsp_counted(&t->session->alone.passed_ns) >= ALONE_EVERY_NS ||
           jsp_ask_state(&t->session->ask) == JSP_ASK_YES ||
           jsp_ask_has_rows(&t->session->ask) ||
           jsp_ring_used(&t->sampled.ring) > t->sampled.ring.capacity / 4;
}

/* Return true if the thread's own stack has enough room. An alternate stack that was set
 * since the start may lie inside of it; the work is not done there. */
static bool alone_has_stack(const struct jsp_vmstack *vm, const stack_t *alt)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    bool on_alt = !(alt->ss_flags & SS_DISABLE) && here - (uintptr_t)alt->ss_sp < alt->ss_size;
    return !on_alt && here < vm->stack_high && here > vm->stack_low &&
           here - vm->stack_low >= ALONE_STACK;
}

/* Return true if no signal is blocked. The kernel sets only the first word. */
static bool alone_blocks_none(const ucontext_t *uc)
{
    uint64_t blocked;
    memcpy(&blocked, &uc->uc_sigmask, sizeof blocked);
    return !blocked;
}

/* Return true if the walk found no other handler. A handler that interrupted the C
 * library, and was interrupted, looks like a program. A walk that did not reach the end
 * may have missed it, but a handler's own signal is blocked. */
static bool alone_is_in_no_handler(const struct jsp_sampled *s, const ucontext_t *uc)
{
    return !s->unwinder.n_crossed &&
           (s->record->stop == JSP_STOP_END || alone_blocks_none(uc));
}

static bool alone_is_callable(const struct jsp_thread *t, const ucontext_t *uc)
{
    return jsp_callable(uc) && alone_has_stack(&t->sampled.vm, &uc->uc_stack) &&
           alone_is_in_no_handler(&t->sampled, uc) &&
           (!t->calls || jsp_calls_is_mine(t->calls));
}

static void alone_take(struct jsprof *p, const struct jsp_thread *t, uint64_t now)
{
    if (pthread_mutex_trylock(&p->lock) != 0)
        return;
    if (p->running && !p->draining) {
        p->alone.drained = t;
        jsp_drain_here(p, now);
        p->alone.drained = NULL;
    }
    /* ORDER: relaxed. A hint: the lock decides. Set it also if there is a drain by
     * now. */
    atomic_store_explicit(&p->alone.passed_ns, now, memory_order_relaxed);
    pthread_mutex_unlock(&p->lock);
}

static void alone_drain_sigsafe(struct jsp_sampled *self, const void *ucontext)
{
    struct jsp_thread *t = (struct jsp_thread *)(void *)self;
    uint64_t now = jsp_now_ns(CLOCK_MONOTONIC);
    if (!jsp_sampled_enter(self))
        return;
    /* ORDER: seq_cst, with `busy` set before it: see B1 in backtrace.c. */
    if (!atomic_load_explicit(&self->closed, memory_order_seq_cst) &&
        alone_is_due(t, now) && alone_is_callable(t, ucontext)) {
        int cancel; /* a thread that is cancelled in a write would keep the lock */
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
        jsp_callable_not(1);
        alone_take(t->session, t, now);
        jsp_callable_not(-1);
        pthread_setcancelstate(cancel, NULL);
        jsp_count(&self->handler_ns, jsp_now_ns(CLOCK_MONOTONIC) - now);
    }
    jsp_sampled_exit(self);
}

jsp_alone_sigsafe_fn *jsp_alone_open(struct jsp_alone *alone,
                                     const struct jsp_session_setup *setup)
{
    alone->is_possible = jsp_callable_init() && setup->alone && setup->native &&
                         alone_never_waits(setup->fd);
    return alone->is_possible ? alone_drain_sigsafe : NULL;
}
