/* session/run.c - the calls on an open session: start, stop, flush, its counters and its exact
 * calls. See session.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>

#include "drain.h"
#include "live.h"
#include "process.h"
#include "sigsafe/regs.h"
#include "signals.h"

enum { RUN_SOURCE = 96 }; /* bytes of what the capture says of the source */

static int run_arm_all(struct jsprof *p)
{
    for (struct jsp_thread *t = p->threads; t; t = t->next) {
        int err = t->owned ? jsp_thread_arm(t, &p->setup) : 0;
        if (err)
            return err;
    }
    return 0;
}

static void run_disarm_all(struct jsprof *p)
{
    for (struct jsp_thread *t = p->threads; t; t = t->next)
        jsp_thread_disarm(t);
}

static void run_give_signal(struct jsprof *p)
{
    jsp_process_lock();
    jsp_signals_give(p->setup.signo);
    jsp_process_unlock();
}

/* Make what the looker needs to walk threads that sleep. */
static int run_open_sleeper(struct jsprof *p)
{
    struct jsp_thread_setup like = p->setup;
    like.allocs = NULL;
    like.spares = NULL;
    int err = jsp_thread_create(&p->hand, &like, 0, "");
    if (err)
        return err;
    p->hand->owned = p->hand->listed = false;
    err = jsp_sleeper_open(&p->sleeper, &p->hand->sampled);
    if (err)
        jsp_thread_release(p->hand);
    return err;
}

static void run_close_sleeper(struct jsprof *p)
{
    jsp_sleeper_close(&p->sleeper);
    jsp_thread_release(p->hand);
}

static int run_start_looker(struct jsprof *p)
{
    bool is_wall = p->setup.clock == JSP_CLOCK_WALL;
    const struct jsp_looker_setup setup = { p->setup.period_ns, p->setup.signo,
                                            is_wall ? &p->sleeper : NULL, &p->ask };
    int err = is_wall ? run_open_sleeper(p) : 0;
    if (err)
        return err;
    err = jsp_looker_start(&p->looker, &setup);
    if (err && is_wall)
        run_close_sleeper(p);
    return err;
}

/* End the looker, which samples no thread any more. */
static void run_stop_looker(struct jsprof *p)
{
    bool is_wall = p->looker.runs && p->looker.sleeper;
    if (p->looker.runs)
        jsp_looker_stop(&p->looker);
    else if (!p->looker.looks[JSP_LOOK_CUT] && !p->looker.looks[JSP_LOOK_AGAIN])
        return; /* no event has interrupted a call */
    jsp_looks_put(p->looks, p->looker.looks, is_wall ? 0 : JSP_LOOK_CUT);
    memset(p->looker.looks, 0, sizeof p->looker.looks); /* a second stop has none */
    if (is_wall)
        run_close_sleeper(p);
}

static int run_take_signal(struct jsprof *p, int signo)
{
    p->setup.signo = signo;
    jsp_process_lock();
    int err = jsp_signals_take(signo, p->chain);
    jsp_process_unlock();
    return err;
}

/* Install the handler for the threads' events, if they may have some and their signal is free,
 * otherwise for the host's signal. Store why there are no events in *refused; 0: there are.
 * Return 0 or a negative errno. */
static int run_choose_signal(struct jsprof *p, int *refused)
{
    /* A recording that asks for timers gets them. */
    *refused = -EOPNOTSUPP;
    p->setup.user_events = false;
    if (p->given.perf && p->given.looker)
        *refused = jsp_event_try(false);
    if (JSP_REGS_TELL_CALLS && (*refused == -EACCES || *refused == -EPERM)) {
        p->setup.user_events = true;
        *refused = jsp_event_try(true);
    }
    if (!*refused)
        *refused = run_take_signal(p, p->given.signo == SIGPROF ? JSP_EVENT_SIGNAL
                                                                : p->given.signo);
    p->setup.events = !*refused;
    return p->setup.events ? 0 : run_take_signal(p, p->given.signo);
}

/* Write what takes the place of events, and why there are none: jsprof info shows it, and so says
 * what would allow them. */
static void run_other_text(const struct jsprof *p, int refused, char text[RUN_SOURCE])
{
    const char *other = p->given.alone ? "timer" : "looker";
    if (!p->given.perf || !refused)
        strcpy(text, p->given.alone ? "timer (no_thread was asked for)" : other);
    else if (refused == -EACCES || refused == -EPERM)
        snprintf(text, RUN_SOURCE, "%s (perf events need sysctl kernel.perf_event_paranoid=2, or "
                                   "CAP_PERFMON)", other);
    else if (refused == -EBUSY)
        snprintf(text, RUN_SOURCE, "%s (no perf event: the program handles SIGURG)", other);
    else
        snprintf(text, RUN_SOURCE, "%s (no perf event: error %d)", other, -refused);
}

static void run_event_text(const struct jsprof *p, char text[RUN_SOURCE])
{
    snprintf(text, RUN_SOURCE, "%sperf event%s",
             p->setup.clock == JSP_CLOCK_CPU ? "" : "looker and ",
             p->setup.user_events ? ", in the kernel a timer (better: sysctl "
                                    "kernel.perf_event_paranoid=1)" : "");
}

/* Start the looker if it can serve and is needed: events count CPU time alone. Write into the
 * capture what sends the signals. `refused`: why there are no events. The caller holds `lock`, and
 * there is no drain thread. */
static void run_choose_source(struct jsprof *p, int refused)
{
    char text[RUN_SOURCE];
    int err = 0;
    bool needs_looker = !p->given.alone && (!p->setup.events || p->setup.clock != JSP_CLOCK_CPU);
    if (!p->given.looker)
        strcpy(text, "timer");
    else if (p->setup.events && (needs_looker || p->setup.clock == JSP_CLOCK_CPU))
        run_event_text(p, text);
    else
        run_other_text(p, refused, text);
    if (p->given.looker && needs_looker && (err = run_start_looker(p)) < 0)
        snprintf(text, sizeof text,
                 err == -ENOENT ? "timer (no looker without /proc)" : "timer (no looker: error %d)",
                 -err);
    p->setup.looker = p->looker.runs ? &p->looker : NULL;
    p->setup.events &= p->setup.looker || p->setup.clock == JSP_CLOCK_CPU;
    p->setup.looks = p->looker.looks;
    if (!p->setup.looker)
        memset(p->looker.looks, 0, sizeof p->looker.looks);
    jsp_writer_metadata(&p->output.writer, "jsprof.source", text);
}

/* Record what the scheduler does, if the host asked for it. */
static void run_start_sched(struct jsprof *p)
{
    char text[JSP_SCHED_TEXT];
    if (!p->given.sched)
        return;
    jsp_sched_begin(&p->sched, &p->marks);
    for (struct jsp_thread *t = p->threads; t; t = t->next)
        if (t->owned)
            jsp_sched_add(&p->sched, t);
    jsp_sched_put(text, &p->sched, p->looker.runs && p->looker.sleeper);
    jsp_writer_metadata(&p->output.writer, "jsprof.sched", text);
}

/* End the drain of a start that failed. The caller holds `lock`. */
static void run_unspawn(struct jsprof *p)
{
    p->quit = true;
    jsp_ask_ring(&p->ask);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->drain, NULL);
    pthread_mutex_lock(&p->lock);
}

static int run_start_locked(struct jsprof *p, int refused)
{
    /* at what was loaded since open or since the last run */
    jsp_drain_look(p, p->quiet_ns);
    jsp_gone_collect(p); /* threads that are gone, which cannot be armed */
    jsp_objects_hurry(&p->objects, false);
    bool needs_drain = !jsp_alone_serves(p);
    run_choose_source(p, refused);
    run_start_sched(p);
    /* before the threads are armed: the caller, which is one of them, sleeps until it has begun */
    int err = needs_drain ? jsp_drain_spawn(p) : 0;
    bool has_drain = needs_drain && !err;
    if (!err)
        err = run_arm_all(p);
    if (err) {
        run_disarm_all(p);
        run_stop_looker(p);
        jsp_sched_end(&p->sched, p->threads);
    }
    if (err && has_drain)
        run_unspawn(p);
    p->running = !err;
    p->draining = !err && needs_drain;
    return err;
}

int jsp_session_run(struct jsprof *p)
{
    if (p->running)
        return 0;
    /* Only the calling thread's stack can be checked; it may have changed since
     * attach. */
    int err = jsp_sampled_find(p) ? jsp_sigframe_check() : 0;
    if (err)
        return err;
    int refused;
    err = run_choose_signal(p, &refused);
    if (err)
        return err;
    pthread_mutex_lock(&p->lock);
    err = run_start_locked(p, refused);
    pthread_mutex_unlock(&p->lock);
    if (err)
        run_give_signal(p);
    return err;
}

/* Write everything that waits, without a drain thread, and wait some time for a slow
 * pipe. The caller holds `lock`. */
static void run_finish(struct jsprof *p)
{
    jsp_writer_forgive(&p->output.writer);
    p->builds = false;
    jsp_drain_look(p, p->quiet_ns);
    jsp_gone_collect(p);
    while (!jsp_drain_pass(p, p->flush_error))
        jsp_drain_write(p, jsp_output_flush_patiently);
    jsp_drain_report(p, "stopped");
    jsp_drain_write(p, jsp_output_flush_patiently);
}

static void run_join(struct jsprof *p)
{
    pthread_join(p->drain, NULL);
    pthread_mutex_lock(&p->lock);
    p->draining = false;
    pthread_cond_broadcast(&p->served_cond);
    pthread_mutex_unlock(&p->lock);
}

/* Return the error that made data lost for good, otherwise the result of the flush. The
 * caller holds `lock`. */
static int run_error(const struct jsprof *p, int flushed)
{
    return p->write_error ? p->write_error : flushed;
}

int jsp_session_halt(struct jsprof *p)
{
    jsp_objects_hurry(&p->objects, true); /* no walk comes after it */
    pthread_mutex_lock(&p->lock);
    bool was = p->running, drains = p->draining;
    p->running = false;
    if (was)
        run_disarm_all(p);
    run_stop_looker(p);
    jsp_sched_end(&p->sched, p->threads);
    if (was && !drains)
        run_finish(p);
    p->quit = true;
    jsp_ask_ring(&p->ask);
    pthread_mutex_unlock(&p->lock);
    if (drains)
        run_join(p);
    if (was)
        run_give_signal(p);
    pthread_mutex_lock(&p->lock);
    int err = run_error(p, p->flush_error);
    pthread_mutex_unlock(&p->lock);
    return err;
}

/* Flush without a drain thread. The caller holds `lock`. */
static int run_flush_here(struct jsprof *p)
{
    int err = 0;
    jsp_drain_look(p, p->quiet_ns);
    jsp_gone_collect(p);
    while (!err && !jsp_drain_pass(p, p->write_error))
        err = jsp_drain_write(p, jsp_output_flush);
    if (err)
        return err;
    jsp_drain_report(p, p->running ? "running" : "stopped");
    return jsp_drain_write(p, jsp_output_flush);
}

int jsp_session_flush(struct jsprof *p)
{
    int err = jsp_live_enter(p);
    if (err)
        return err;
    pthread_mutex_lock(&p->lock);
    uint64_t mine = ++p->asked;
    jsp_ask_ring(&p->ask);
    while (p->draining && p->served < mine)
        pthread_cond_wait(&p->served_cond, &p->lock);
    err = p->served < mine ? run_flush_here(p) : p->flush_error;
    err = run_error(p, err);
    pthread_mutex_unlock(&p->lock);
    jsp_live_leave(p);
    return err;
}

/* -- Calls ------------------------------------------------------------------ */

int jsp_session_calls(struct jsprof *p, uint32_t modes)
{
    int err = jsp_live_enter(p);
    if (err)
        return err;
    pthread_mutex_lock(&p->lock);
    err = jsp_calls_set(&p->calls, p->threads, modes);
    pthread_mutex_unlock(&p->lock);
    jsp_live_leave(p);
    return err;
}

int jsp_session_calls_allow(struct jsprof *p, uint32_t modes)
{
    int err = jsp_live_enter(p);
    if (err)
        return err;
    pthread_mutex_lock(&p->lock);
    p->given.calls_refused = JSPROF_CALLS_ALL & ~modes;
    pthread_mutex_unlock(&p->lock);
    jsp_live_leave(p);
    return 0;
}

int jsp_session_calls_ask(struct jsprof *p, uint32_t modes)
{
    int err = jsp_live_enter(p);
    if (err)
        return err;
    pthread_mutex_lock(&p->lock);
    uint32_t allowed = modes & ~p->given.calls_refused;
    err = modes && !allowed ? -EOPNOTSUPP : jsp_calls_set(&p->calls, p->threads, allowed);
    pthread_mutex_unlock(&p->lock);
    jsp_live_leave(p);
    return err;
}

int jsp_session_calls_snapshot(struct jsprof *p, jsprof_calls *out)
{
    int err = jsp_live_enter(p);
    if (err)
        return err;
    err = jsp_calls_snapshot(&p->calls, out);
    jsp_live_leave(p);
    return err;
}

/* -- Counters --------------------------------------------------------------- */

#define RUN_LOSS(CAUSE, cause, asked, name, meaning) \
    out->lost_##cause = c->lost[JSP_LOST_##CAUSE];

static void run_copy(jsprof_stats *out, const struct jsp_counts *c)
{
    out->expirations = c->expirations;
    JSP_LOSSES(RUN_LOSS)
    out->frames_cut = c->frames_cut;
    out->frames_bad = c->frames_bad;
    out->labels_cut = c->labels_cut;
    out->underflows = c->underflows;
    out->handler_ns = c->handler_ns;
    out->stop_end = c->stops[JSP_STOP_END];
    out->stop_full = c->stops[JSP_STOP_FULL];
    out->stop_no_table = c->stops[JSP_STOP_NO_TABLE];
    out->stop_stack = c->stops[JSP_STOP_STACK];
    out->stop_unreadable = c->stops[JSP_STOP_UNREADABLE];
    out->stop_rule = c->stops[JSP_STOP_RULE];
}

int jsp_session_stats(struct jsprof *p, jsprof_stats *out)
{
    struct jsp_counts sum;
    int err = jsp_live_enter(p);
    if (err)
        return err;
    pthread_mutex_lock(&p->lock);
    if (!p->draining)
        jsp_drain_pass(p, false); /* samples that came late */
    jsp_drain_counts(p, &sum);
    struct jsp_tally tally = jsp_drain_tally(p);
    sum.lost[JSP_LOST_WRITE] = tally.lost;
    sum.lost[JSP_LOST_FOLD] = tally.unfolded;
    run_copy(out, &sum);
    out->samples = tally.samples;
    out->kept = tally.kept;
    out->labels_lost = jsp_counted(&p->arena.n_lost) - p->labels_lost_before;
    out->write_error = p->write_error;
    out->marks_lost = jsp_marks_lost(&p->marks);
    pthread_mutex_unlock(&p->lock);
    jsp_live_leave(p);
    return 0;
}
