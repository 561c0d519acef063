/* session/drain.c - see drain.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "drain.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "capture/wire.h"
#include "losses.h"
#include "process.h"
#include "signals.h"

enum {
    DRAIN_FIRST_NS = 20000000,    /* to a first capture that can be read soon */
    DRAIN_SLOWEST_NS = 200000000, /* between two passes */
    DRAIN_CONTINUOUS_NS = 500000000, /* the same, where nobody waits for a flush */
    DRAIN_FASTEST_NS = 2000000,
    /* together with a pass, well within the promised second */
    DRAIN_FLUSH_NS = 800000000,
    DRAIN_LOOK_NS = 200000000,    /* between two looks at the loader's counters */
    DRAIN_LOOK_SHARE = 20, /* after a look, rest this many times as long as it took */
    /* after a look in vain, rest this long, then twice as long each time ... */
    DRAIN_VAIN_NS = 1000000,
    DRAIN_VAIN_MOST_NS = 1000000000, /* ... up to this */
    DRAIN_WAIT_PRIVATE = 0 | 128, /* FUTEX_WAIT within this process only */
};

#define DRAIN_FOREVER UINT64_MAX /* until the bell rings */

static void drain_report_thread(struct jsprof *p, struct jsp_thread *t)
{
    char line[JSP_EMBEDDED_ACCOUNT];
    size_t n = jsp_losses_thread(line, t, jsp_tallies_of(&p->output.tallies, t->tally));
    if (jsp_writer_chunk(&p->output.writer, JSP_WIRE_FILE_LOSSES, line, n) == 0) {
        t->written = t->counts;
        t->tasks_written = t->task_counts;
        t->link->is_fresh = false;
    }
}

/* Write the last account of a thread that is gone, and release its record. */
static void drain_forget(struct jsprof *p, struct jsp_thread *t)
{
    jsp_drain_open(p, t);
    if (!p->fold_ns || t->counts.expirations)
        drain_report_thread(p, t);
    jsp_counts_add(&p->gone, &t->counts);
    jsp_tallies_leave(&p->output.tallies, t->tally);
    *t->at = t->next;
    if (t->next)
        t->next->at = t->at;
    t->listed = false;
    p->stuck = p->stuck || t->stuck;
    p->n_left--;
    jsp_spare_put(&p->spares, t);
}

static bool drain_threads(struct jsprof *p, bool dropping)
{
    for (struct jsp_thread_link **at = &p->links, *link; (link = *at) != NULL;) {
        if (!jsp_drain_thread(p, link, dropping))
            return false;
        if (link->is_known || link->thread->owned) {
            at = &link->next;
            continue;
        }
        if (!dropping && jsp_output_is_full(&p->output))
            return false;
        *at = link->next;
        drain_forget(p, link->thread);
    }
    return true;
}

/* Set the timers again if the host has replaced our signal handler. */
static void drain_signal(struct jsprof *p)
{
    if (!p->running || !jsp_signals_look(p->setup.signo))
        return;
    for (struct jsp_thread *t = p->threads; t; t = t->next)
        jsp_thread_rearm(t);
}

static bool drain_is_due(const struct jsprof *p, uint64_t now)
{
    uint64_t every_ns = p->fold_ns ? p->fold_ns : DRAIN_FLUSH_NS;
    return p->asked != p->served || now - p->flushed_ns >= every_ns;
}

/* Before the counts are written, find out which threads block the signal. The thread
 * whose handler does this has just received it. */
static void drain_masks(struct jsprof *p, uint64_t now)
{
    if (!p->running || !drain_is_due(p, now))
        return;
    for (struct jsp_thread_link *link = p->links; link; link = link->next)
        if (!jsp_drain_is_still(link) && link->thread != p->alone.drained)
            jsp_thread_look(link->thread);
}

bool jsp_drain_pass(struct jsprof *p, bool dropping)
{
    uint64_t began = jsp_now_ns(CLOCK_MONOTONIC);
    drain_masks(p, began);
    p->builds = p->running;
    bool waits_any = jsp_objects_any_old(&p->objects) || jsp_codes_any_dead(&p->codes);
    p->quiet = waits_any && !jsp_sleeper_busy(&p->sleeper);
    p->fullest = 0;
    drain_signal(p);
    if (p->on_drain)
        p->on_drain(p->on_drain_data);
    jsp_sched_read(&p->sched, p->threads);
    if (!jsp_tasks_stall(&p->tasks))
        jsp_stall_marks(p);
    jsp_gone_look(p, began);
    if (!drain_threads(p, dropping))
        return false;
    if (jsp_tasks_stall(&p->tasks))
        jsp_stall_marks(p); /* when it is known which turns are long */
    if (p->quiet)
        p->quiet_ns = began;
    return true;
}

/* Has the thread's line in the file to be written anew? The chunks of a continuous recording would
 * be larger than its samples: `is_brief` asks for the first line of each thread. The file's total
 * has the sums, see drain_flush. */
static bool drain_is_to_report(const struct jsp_thread *t, bool is_brief)
{
    if (is_brief)
        return t->counts.expirations && !t->written.expirations;
    return memcmp(&t->counts, &t->written, sizeof t->written) != 0 ||
           memcmp(&t->task_counts, &t->tasks_written, sizeof t->tasks_written) != 0;
}

void jsp_drain_report(struct jsprof *p, const char *state)
{
    char text[JSP_EMBEDDED_ACCOUNT];
    struct jsp_embedded_account line = { .tag = JSP_ACCOUNT_SESSION, .session = {
        .time = jsp_now_ns(CLOCK_MONOTONIC), .hz = p->hz, .samples = p->output.n_samples,
        .labels = jsp_counted(&p->arena.n_labels), .label_bytes = jsp_counted(&p->arena.used),
        .labels_lost = jsp_counted(&p->arena.n_lost) - p->labels_lost_before,
        .labels_cut = p->gone.labels_cut, .marks_lost = jsp_marks_lost(&p->marks),
        .allocs_lost = p->output.allocs.n_lost,
        .tasks_unwritten = p->output.tasks.n_lost,
        .tags_unwritten = p->output.labels.n_lost + jsp_counted(&p->tasks.n_tags_gone) -
                          p->tags_gone_before,
        .tags_bad = p->output.labels.n_bad,
        .tags_stray = jsp_tags_stray() - p->stray_before,
        .forks = p->given.children ? 0 : jsp_process_forks() - p->forks_before,
        .addresses_missed = jsp_bundle_missed(p->output.natives.bundle),
        .write_error = -p->output.writer.error,
    } };
    strcpy(line.session.state, state);
    strcpy(line.session.clock, jsp_clocks[p->setup.clock].key);
    if (p->looks[0] && jsp_writer_metadata(&p->output.writer, "jsprof.looks", p->looks) == 0)
        p->looks[0] = 0;
    if (jsp_tasks_any(&p->tasks)) /* else it is a cold page of each thread */
        for (struct jsp_thread *t = p->threads; t; t = t->next)
            jsp_drain_open(p, t);
    p->is_idle = false;
    if (jsp_output_side(&p->output) < 0)
        return; /* losses are written after the samples that they count */
    p->is_idle = p->reported == p->output.writer.appended;
    if (jsp_tasks_stall(&p->tasks) && p->running && p->is_idle)
        return; /* no turn was long: write nothing */
    bool is_brief = p->described && strcmp(state, "running") == 0;
    for (struct jsp_thread_link *link = p->links; link; link = link->next) {
        line.session.labels_cut += link->labels_cut;
        if (!link->is_fresh)
            continue;
        if (drain_is_to_report(link->thread, is_brief)) {
            p->is_idle = false;
            drain_report_thread(p, link->thread);
        } else if (!is_brief)
            link->is_fresh = false;
    }
    if (is_brief) {
        p->reported = p->output.writer.appended;
        return;
    }
    size_t n = jsp_embedded_account_put(text, &line);
    jsp_writer_chunk(&p->output.writer, JSP_WIRE_FILE_LOSSES, text, n);
    p->described = p->fold_ns != 0;
    p->reported = p->output.writer.appended;
}

/* Copy the state after a flush, which returned `flushed`, to where every thread may read
 * it. */
static void drain_sync(struct jsprof *p, int flushed)
{
    jsp_output_settle(&p->output);
    p->flush_error = flushed;
    p->write_error = p->output.writer.error;
    p->unwritten = jsp_output_unwritten(&p->output);
}

void jsp_drain_counts(const struct jsprof *p, struct jsp_counts *sum)
{
    *sum = p->gone;
    for (const struct jsp_thread *t = p->threads; t; t = t->next)
        jsp_counts_add(sum, &t->counts);
}

struct jsp_tally jsp_drain_tally(const struct jsprof *p)
{
    struct jsp_tally tally = jsp_tallies_sum(&p->output.tallies);
    if (p->write_error) {
        tally.samples -= p->unwritten.samples;
        tally.kept -= p->unwritten.kept;
        tally.lost += p->unwritten.kept;
    }
    return tally;
}

/* Format the sum over all threads, as of the last flush: a line of JSP_EMBEDDED_ACCOUNT bytes
 * for the reserved place in the file. The caller holds `lock`. Return its size. */
static size_t drain_total(const struct jsprof *p, const char *state, char *line)
{
    struct jsp_counts counts;
    jsp_drain_counts(p, &counts);
    struct jsp_losses_total total = { state, p->write_error, &counts, jsp_drain_tally(p) };
    return jsp_losses_total(line, &total);
}

/* Write the waiting data, and the calls of this moment after them. */
static int drain_out(struct jsprof *p, int (*flush)(struct jsp_output *))
{
    int err = jsp_calls_write(&p->calls, &p->output, flush);
    int flushed = flush(&p->output);
    return flushed ? flushed : err;
}

int jsp_drain_write(struct jsprof *p, int (*flush)(struct jsp_output *))
{
    struct jsp_signals_hushed hushed;
    char line[JSP_EMBEDDED_ACCOUNT];
    jsp_signals_hush(&hushed);
    int err = drain_out(p, flush);
    jsp_signals_unhush(&hushed);
    drain_sync(p, err);
    if (err) /* this moment's lines are not in the file */
        jsp_writer_fill(&p->output.writer, line,
                        drain_total(p, p->running ? "running" : "stopped", line));
    return err;
}

/* Return the time until the next pass, shorter when the last one found a ring that fills up. */
static uint64_t drain_pace(const struct jsprof *p, uint64_t interval)
{
    bool filling = p->fullest > p->setup.ring_words / 4;
    bool idle = p->fullest < p->setup.ring_words / 16;
    if (filling && interval > DRAIN_FASTEST_NS)
        return interval / 2;
    uint64_t slowest = p->fold_ns ? DRAIN_CONTINUOUS_NS : DRAIN_SLOWEST_NS;
    return idle && interval < slowest ? interval * 2 : interval;
}

/* Release `lock` and sleep until the bell has rung, the time is over or a signal
 * comes. */
static void drain_sleep(struct jsprof *p, uint32_t bell, uint64_t ns)
{
    struct timespec most = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };
    pthread_mutex_unlock(&p->lock);
    syscall(SYS_futex, &p->ask.bell, DRAIN_WAIT_PRIVATE, bell,
            ns == DRAIN_FOREVER ? NULL : &most, NULL, 0);
    pthread_mutex_lock(&p->lock);
}

/* Is a ring half full? Only tasks, and samples of allocations, come so fast. Who fills a half rings
 * the bell; so if it has not rung since the last pass, no ring is. */
static bool drain_is_late(const struct jsprof *p, uint32_t bell)
{
    bool is_late = false;
    if (bell == p->heard)
        return false;
    for (const struct jsp_thread *t = p->threads; t && !is_late; t = t->next)
        is_late = (p->setup.allocs &&
                   jsp_ring_used(&t->sampled.ring) >= t->sampled.ring.capacity / 2) ||
                  jsp_ring_used(&t->tasks.ring) >= t->tasks.ring.capacity / 2;
    return is_late;
}

/* Return true if each sample rings the bell of a drain that sleeps deeply, and nothing else has to
 * be found out. */
static bool drain_is_rung(const struct jsprof *p)
{
    return p->setup.looker || p->setup.events;
}

/* Sleep until something is written, or somebody asks for something; with timers, for a segment at
 * most. */
static void drain_wait_deeply(struct jsprof *p)
{
    uint64_t now = jsp_now_ns(CLOCK_MONOTONIC);
    uint64_t until = drain_is_rung(p) ? DRAIN_FOREVER : now + p->fold_ns;
    for (; now < until; now = jsp_now_ns(CLOCK_MONOTONIC)) {
        /* ORDER: acquire, as in drain_wait. */
        uint32_t bell = atomic_load_explicit(&p->ask.bell, memory_order_acquire);
        if (p->quit || p->asked != p->served || jsp_ask_has_rows(&p->ask) ||
            jsp_ask_state(&p->ask) == JSP_ASK_YES || jsp_ask_sleep(&p->ask) != JSP_ASK_DEEP)
            break;
        drain_sleep(p, bell, until == DRAIN_FOREVER ? until : until - now);
    }
    jsp_ask_rise(&p->ask);
}

static void drain_wait(struct jsprof *p, uint64_t ns)
{
    uint64_t now = jsp_now_ns(CLOCK_MONOTONIC), until = now + ns;
    if (jsp_ask_state(&p->ask) == JSP_ASK_REST && p->rested_ns < until)
        until = p->rested_ns; /* nobody was asked to look at what was loaded since */
    while (now < until) {
        /* ORDER: acquire, pairs with the release of the ringing thread: what it rang for
         * is seen. */
        uint32_t bell = atomic_load_explicit(&p->ask.bell, memory_order_acquire);
        if (p->quit || p->asked != p->served || jsp_ask_has_rows(&p->ask) ||
            jsp_ask_state(&p->ask) == JSP_ASK_YES || p->n_left >= JSP_DRAIN_LEFT ||
            drain_is_late(p, bell))
            return;
        drain_sleep(p, bell, until - now);
        now = jsp_now_ns(CLOCK_MONOTONIC);
    }
}

/* Look at the loaded objects, and make the rows that handlers wait for, unless the session
 * has stopped. */
static enum jsp_natives_news drain_objects(struct jsprof *p)
{
    uint64_t opened = p->objects.adds, closed = p->objects.subs;
    uint64_t now = jsp_now_ns(CLOCK_MONOTONIC);
    jsp_ask_take_rows(&p->ask);
    int is_new = p->builds ? jsp_objects_build(&p->objects, now)
                           : jsp_objects_refresh(&p->objects, now);
    bool same = p->objects.adds == opened && p->objects.subs == closed;
    if (is_new != 1 || (same && opened != UINT64_MAX))
        return JSP_NATIVES_SAME;
    return p->objects.subs == closed ? JSP_NATIVES_OPENED : JSP_NATIVES_CLOSED;
}

/* Decide how soon handlers may ask again, after a look that took `cpu_ns` of processor
 * time. */
static void drain_rest(struct jsprof *p, enum jsp_natives_news news, uint64_t cpu_ns)
{
    uint64_t rest = cpu_ns * DRAIN_LOOK_SHARE;
    enum jsp_ask_state state = jsp_ask_state(&p->ask);
    if (news == JSP_NATIVES_SAME && state != JSP_ASK_YES) {
        if (state == JSP_ASK_REST) /* making the rows of a new object is a part of its cost */
            p->rested_ns += rest;
        return;
    }
    p->pause_ns = news != JSP_NATIVES_SAME ? 0 :
                  p->pause_ns ? p->pause_ns * 2 : DRAIN_VAIN_NS;
    if (p->pause_ns > DRAIN_VAIN_MOST_NS)
        p->pause_ns = DRAIN_VAIN_MOST_NS;
    p->rested_ns = jsp_now_ns(CLOCK_MONOTONIC) + (rest > p->pause_ns ? rest : p->pause_ns);
    jsp_ask_set(&p->ask, news == JSP_NATIVES_SAME ? JSP_ASK_VAIN : JSP_ASK_REST);
}

/* Is it time to look at the loaded objects between two flushes? */
static bool drain_is_to_look(struct jsprof *p, uint64_t now)
{
    enum jsp_ask_state state = jsp_ask_state(&p->ask);
    if ((state == JSP_ASK_REST || state == JSP_ASK_VAIN) && now >= p->rested_ns)
        jsp_ask_set(&p->ask, JSP_ASK_NO);
    return p->native && (state == JSP_ASK_YES || jsp_ask_has_rows(&p->ask) ||
                         now - p->looked_ns >= DRAIN_LOOK_NS);
}

/* Check whether the loader opened or closed anything, and if so, update what depends on
 * it. */
static void drain_look_quickly(struct jsprof *p)
{
    uint64_t began = jsp_now_ns(CLOCK_THREAD_CPUTIME_ID);
    p->looked_ns = jsp_now_ns(CLOCK_MONOTONIC);
    enum jsp_natives_news news = drain_objects(p);
    if (news != JSP_NATIVES_SAME)
        jsp_natives_refresh(&p->output.natives, &p->output.writer, news);
    drain_rest(p, news, jsp_now_ns(CLOCK_THREAD_CPUTIME_ID) - began);
}

void jsp_drain_look(struct jsprof *p, uint64_t quiet_ns)
{
    if (p->native) {
        enum jsp_natives_news news = drain_objects(p);
        jsp_objects_reclaim(&p->objects, quiet_ns);
        jsp_natives_refresh(&p->output.natives, &p->output.writer, news);
    }
    jsp_codes_prune(&p->codes, quiet_ns);
}

void jsp_drain_here(struct jsprof *p, uint64_t now)
{
    bool all = jsp_drain_pass(p, p->flush_error);
    if (drain_is_to_look(p, now))
        drain_look_quickly(p);
    if (all && now - p->flushed_ns < DRAIN_FLUSH_NS)
        return;
    jsp_drain_report(p, "running");
    jsp_drain_look(p, p->quiet_ns);
    jsp_drain_write(p, jsp_output_flush);
    p->flushed_ns = now;
}

/* Write without `lock`, while the output belongs to the drain alone. The last flush waits
 * for a slow pipe; a flush that nobody waits for waits a moment, so that the pipe takes
 * as much as it can. */
static bool drain_flush(struct jsprof *p, bool quit)
{
    uint64_t quiet_ns = p->quiet_ns;
    bool hurry = p->asked != p->served;
    pthread_mutex_unlock(&p->lock);
    jsp_drain_look(p, quiet_ns);
    if (quit)
        jsp_writer_forgive(&p->output.writer);
    int err = drain_out(p, quit ? jsp_output_flush_patiently
                                : hurry ? jsp_output_flush : jsp_output_flush_for_a_moment);
    pthread_mutex_lock(&p->lock);
    drain_sync(p, err);
    if (err || p->fold_ns) { /* this moment's lines are not in the file */
        char line[JSP_EMBEDDED_ACCOUNT];
        size_t n = drain_total(p, quit ? "stopped" : "running", line);
        pthread_mutex_unlock(&p->lock);
        jsp_writer_fill(&p->output.writer, line, n);
        pthread_mutex_lock(&p->lock);
    }
    return err != 0;
}

/* Return true if the drain may sleep until the bell rings: the last flush and the one before had
 * nothing to write. The looker rings it when a thread has run, which the host may have used to
 * replace our handler or to load an object, and the handler after each sample. A signal that is not
 * taken rings nothing; the disarming counts what it stood for. With timers the drain stays awake,
 * or looks after each segment of a continuous recording. */
static bool drain_may_rest(struct jsprof *p, bool failed)
{
    bool is_due = p->quit || p->asked != p->served || jsp_ask_state(&p->ask) != JSP_ASK_NO;
    return p->is_idle && (drain_is_rung(p) || p->fold_ns) && !failed && !is_due &&
           !p->sched.marks && !jsp_tasks_stall(&p->tasks) && jsp_ask_rest(&p->ask);
}

/* Return when to write a first capture: with a sample of a busy thread in it, if it is not long
 * until then. */
static uint64_t drain_first(const struct jsprof *p)
{
    uint64_t two_ns = 2000000000u / (p->hz ? p->hz : 1);
    two_ns = two_ns < DRAIN_SLOWEST_NS ? two_ns : DRAIN_SLOWEST_NS;
    return two_ns > DRAIN_FIRST_NS ? two_ns : DRAIN_FIRST_NS;
}

static void *drain_main(void *session)
{
    struct jsprof *p = session;
    uint64_t interval = drain_first(p);
    bool failed = false, all = true;

    pthread_mutex_lock(&p->lock);
    p->flushed_ns = 0;
    for (bool quit = false; !quit;) {
        if (all)
            drain_wait(p, interval);
        uint64_t asked = p->asked, now = jsp_now_ns(CLOCK_MONOTONIC);
        /* no thread is sampled after this, so the pass sees the last samples */
        bool stops = p->quit;
        /* ORDER: acquire, as in drain_wait: the pass sees what it rang for. */
        p->heard = atomic_load_explicit(&p->ask.bell, memory_order_acquire);
        all = jsp_drain_pass(p, failed);
        interval = drain_pace(p, interval);
        if (drain_is_to_look(p, now)) {
            pthread_mutex_unlock(&p->lock);
            drain_look_quickly(p);
            pthread_mutex_lock(&p->lock);
        }
        bool due = drain_is_due(p, now);
        quit = stops && all;
        if (all && !due && !quit)
            continue;
        jsp_drain_report(p, quit ? "stopped" : "running");
        failed = drain_flush(p, quit);
        jsp_keeper_look(p);
        p->flushed_ns = now;
        if (all)
            p->served = asked;
        pthread_cond_broadcast(&p->served_cond);
        if (all && !quit && drain_may_rest(p, failed)) {
            jsp_spares_trim(&p->spares, 0);
            drain_wait_deeply(p);
        }
    }
    p->served = p->asked;
    pthread_cond_broadcast(&p->served_cond);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

int jsp_drain_spawn(struct jsprof *p)
{
    p->quit = false;
    jsp_ask_rise(&p->ask);
    return jsp_spawn(&p->drain,
                     &(struct jsp_spawn){ drain_main, p, "jsprof-drain", NULL });
}
