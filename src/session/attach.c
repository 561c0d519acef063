/* session/attach.c - attaches threads to a session and detaches them; see session.h for
 * the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <unistd.h>

#include "crash.h"
#include "drain.h"
#include "live.h"
#include "session/alone/alone.h"
#include "process.h"
#include "signals.h"

void jsp_session_list(struct jsprof *p, struct jsp_thread *t)
{
    t->next = p->threads;
    t->at = &p->threads;
    if (t->next)
        t->next->at = &t->next;
    p->threads = t;
    t->link->next = p->links;
    p->links = t->link;
}

static int attach_locked(struct jsprof *p, const char *name, struct jsp_thread **out)
{
    struct jsp_thread *t;
    uint32_t tally;
    int err = jsp_tallies_take(&p->output.tallies, &tally);
    if (err)
        return err;
    err = jsp_thread_create(&t, &p->setup, p->n_ids, name);
    if (err) {
        jsp_tallies_leave(&p->output.tallies, tally);
        return err;
    }
    t->tally = tally;
    jsp_sampled_link(&t->sampled);
    err = jsp_calls_attach(&p->calls, t);
    if (!err && p->running)
        err = jsp_thread_arm(t, &p->setup);
    if (!err)
        jsp_sched_add(&p->sched, t);
    if (err) {
        jsp_calls_detach(&p->calls, t);
        jsp_sampled_unlink(&t->sampled);
        t->owned = false;
        t->listed = false;
        jsp_thread_release(t);
        jsp_tallies_leave(&p->output.tallies, tally);
        return err;
    }
    p->n_ids++;
    jsp_session_list(p, t);
    jsp_ask_note(&p->ask);
    *out = t;
    return 0;
}

/* Detach a thread. The drain, if there is one, has yet to read its last samples. */
static void attach_undo(struct jsprof *p, struct jsp_thread *t)
{
    jsp_thread_disarm(t);
    jsp_sched_leave(&p->sched, t);
    jsp_calls_detach(&p->calls, t);
    jsp_sampled_unlink(&t->sampled);
    jsp_drain_left(p, t);
    jsp_ask_note(&p->ask);
    if (p->draining || jsp_drain_pass(p, false))
        return;
    jsp_drain_write(p, jsp_output_flush);
    jsp_drain_pass(p, true);
}

/* Start a drain if a run without one cannot serve this additional thread. */
static int attach_serve(struct jsprof *p, struct jsp_thread *t)
{
    if (!p->running || p->draining || jsp_alone_serves(p))
        return 0;
    int err = jsp_drain_spawn(p);
    p->draining = !err;
    if (err)
        attach_undo(p, t);
    return err;
}

static int attach_here(struct jsprof *p, const char *name, struct jsp_thread **out)
{
    int err = jsp_thread_check();
    if (err)
        return err;
    if (jsp_sampled_find(p))
        return -EALREADY;
    err = jsp_sigframe_check();
    if (!err)
        err = jsp_process_watch_thread();
    if (err)
        return err;
    struct jsp_thread *t;
    pthread_mutex_lock(&p->lock);
    err = attach_locked(p, name, &t);
    if (!err)
        err = attach_serve(p, t);
    pthread_mutex_unlock(&p->lock);
    if (!err)
        *out = t;
    return err;
}

int jsp_session_attach(struct jsprof *p, const char *name, struct jsp_thread **out)
{
    int err = jsp_live_enter(p);
    if (err)
        return err;
    jsp_crash_attach();
    err = attach_here(p, name, out);
    if (err)
        jsp_crash_detach();
    jsp_live_leave(p);
    return err;
}

int jsp_session_owns(const struct jsp_thread *t)
{
    /* check this first: otherwise it may be freed already */
    if (!jsp_sampled_is_linked(&t->sampled))
        return -EPERM;
    return t->pid == getpid() ? 0 : -ECHILD;
}

int jsp_session_detach(struct jsp_thread *t)
{
    int err = jsp_session_owns(t);
    if (!err || err == -ECHILD)
        jsp_crash_detach();
    if (err == -ECHILD) { /* a copy in a forked child: drop it, free nothing */
        jsp_sampled_unlink(&t->sampled);
        return 0;
    }
    if (err)
        return err;
    jsp_process_lock(); /* keeps close away during the access */
    struct jsprof *p = t->session;
    if (p) {
        pthread_mutex_lock(&p->lock);
        attach_undo(p, t);
        pthread_mutex_unlock(&p->lock);
    } else {
        jsp_sampled_unlink(&t->sampled);
        t->owned = false;
        jsp_thread_release(t);
    }
    jsp_process_unlock();
    return 0;
}
