/* session/session.c - the begin and the end of a session, and what a fork does to it; see
 * session.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "session.h"

#include <sys/mman.h>

#include "drain.h"
#include "function.h"
#include "live.h"
#include "losses.h"
#include "process.h"
#include "signals.h"
#include "sigsafe/crash.h"

static void session_thread_exit(void)
{
    for (struct jsp_sampled *s; (s = jsp_sampled_first()) != NULL;)
        jsp_session_detach((struct jsp_thread *)(void *)s);
}

static void session_leave(struct jsprof *p)
{
    jsp_writer_leave(&p->output.writer);
    jsp_looker_leave(&p->looker);
    jsp_sched_abandon(&p->sched, p->threads);
    for (struct jsp_thread *t = p->threads; t; t = t->next)
        jsp_event_leave(&t->sampled.timer);
}

static bool session_is_child; /* set from session_in_child to session_after_fork */

static void session_in_child(void)
{
    jsp_function_in_child();
    jsp_live_each(session_leave);
    jsp_signals_in_child();
    jsp_crash_in_child();
    session_is_child = true;
}

static void session_after_fork(void)
{
    jsp_signals_after_fork();
    if (session_is_child)
        jsp_live_each(jsp_child_go_on);
    session_is_child = false;
}

static const struct jsp_process_hooks session_hooks = {
    jsp_signals_before_fork, session_after_fork, session_in_child, session_thread_exit,
};

/* -- Opening ---------------------------------------------------------------- */

int jsp_session_open(struct jsprof **out, const struct jsp_session_setup *setup)
{
    struct jsprof *p;
    int err = jsp_process_init(&session_hooks);
    if (!err)
        err = jsp_session_new(&p, setup->label_bytes);
    if (err)
        return err;
    err = jsp_session_fill(p, setup);
    if (err) {
        jsp_session_free(p);
        return err;
    }
    jsp_warm_libc();
    jsp_live_add(p);
    *out = p;
    return 0;
}

/* -- Closing ---------------------------------------------------------------- */

static struct jsprof *session_kept; /* protected by the process lock */

/* Keep the session for ever, because its data are inconsistent or still in use. */
static void session_keep(struct jsprof *p)
{
    jsp_process_lock();
    p->kept = session_kept;
    session_kept = p;
    jsp_process_unlock();
}

/* Give up a session in a forked child: the file is the parent's, and another thread of
 * the parent may have been changing anything except what is constant since open. */
static void session_abandon(struct jsprof *p)
{
    for (struct jsp_sampled *s; (s = jsp_sampled_find(p)) != NULL;) {
        s->session = NULL;
        s->own.alloc_homes = NULL;
    }
    for (struct jsp_thread *t = p->threads; t; t = t->next)
        jsp_thread_forget(t);
    p->links = NULL;
    jsp_live_remove(p);
    jsp_output_abandon(&p->output);
    jsp_perfmap_abandon(&p->perf);
    munmap(p->arena.bytes, p->label_bytes);
    munmap(p->arena.slots, p->slots_bytes);
    session_keep(p);
}

/* Remove the session from threads that never detached; they become inert. */
static void session_orphan_all(struct jsprof *p)
{
    jsp_process_lock();
    pthread_mutex_lock(&p->lock);
    for (struct jsp_thread *t = p->threads, *next; t; t = next) {
        next = t->next;
        /* first: a call of the thread is in the session by this pointer */
        jsp_thread_seal(t);
        t->session = NULL;
        t->sampled.session = NULL;
        t->listed = false;
        p->stuck = p->stuck || t->stuck;
        jsp_thread_release(t);
    }
    p->threads = NULL;
    p->links = NULL;
    pthread_mutex_unlock(&p->lock);
    jsp_process_unlock();
}

int jsp_session_close(struct jsprof *p)
{
    int err = jsp_live_end(p);
    if (err == -ECHILD) {
        session_abandon(p);
        return 0;
    }
    if (err)
        return err;
    struct jsp_signals_hushed hushed;
    int kept = jsp_continuous_quit(p);
    pthread_mutex_lock(&p->lock);
    if (!p->draining)
        /* otherwise the drain's last flush waits */
        jsp_writer_forgive(&p->output.writer);
    pthread_mutex_unlock(&p->lock);
    jsp_session_halt(p);
    pthread_mutex_lock(&p->lock);
    jsp_calls_stop(&p->calls, p->threads);
    pthread_mutex_unlock(&p->lock);
    struct jsp_counts counts;
    jsp_session_last(p, &counts);
    session_orphan_all(p);
    jsp_live_remove(p);
    jsp_signals_hush(&hushed);
    err = jsp_session_complete(p, &counts);
    int closed = jsp_output_close(&p->output);
    err = kept ? kept : err ? err : closed;
    jsp_signals_unhush(&hushed);
    if (p->stuck) {
        session_keep(p);
        return err;
    }
    pthread_mutex_destroy(&p->change);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->served_cond);
    jsp_session_free(p);
    return err;
}
