/* session/looker_wall.c - looks at threads on the wall clock; see looker.h.
 *
 * Each sampling point of the elapsed time counts for each thread. A thread that runs, or waits
 * for a processor, gets a signal. One that sleeps is walked from here. As long as its CPU clock
 * stays the same, its stack does, too, and only the number of points is added up; a record
 * without a stack reports them later.
 *
 * A late look has several points. So many of them count for running as the thread has run; the
 * others count for the place where it slept before, except the last one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "looker.h"

#include <stdio.h>

enum {
    WALL_AGAIN_NS = 1000000000, /* repeat a sleeper's sample at least so often ... */
    WALL_AGAIN_PART = 4,        /* ... or after 1/4 of its sleep, which is longer, ... */
    WALL_AGAIN_MOST = 4,        /* ... but after 4 times that at most; ... */
    WALL_AGAIN_RATE = 64,       /* ... of many threads, about so many in that time altogether */
    WALL_TRIES = 3,             /* walks of a thread that moves meanwhile */
    WALL_AWAKE_NS = 6000,       /* a thread that sleeps often must run so long on ... */
    WALL_BUSY = 8,              /* ... unless it has run for 7/8 of the time */
    WALL_SHORT_NS = 50000,      /* one that has run no longer must do so once more ... */
    WALL_DEBT = 100,            /* ... unless it owes so many points */
    WALL_REST = 20,             /* points that no sleep will explain any more ... */
    WALL_LOOKS = 32,            /* ... after so many looks that found none */
    WALL_NAPS = 4,              /* then ask each so many looks only whether it has slept, ... */
    WALL_NAPS_MOST = 16,        /* ... or after more of them, up to so many */
    WALL_READY_LEAST = 8,       /* so many looks are enough to estimate how often it is stopped; */
    WALL_READY_MOST = 64,       /* older ones count half as much after so many of a kind */
};

/* -- Threads that have not run ----------------------------------------------- */

/* Return for how long it has slept. A walk may have found it asleep after `now`. */
static uint64_t wall_slept_ns(const struct jsp_looked *t, uint64_t now)
{
    return now > t->slept_ns ? now - t->slept_ns : 0;
}

/* Return how many of the points, at which the thread seemed to sleep, it waited for a processor, as
 * the kernel's run queues count. A thread that was woken has not run yet when it waits, so no look
 * finds a difference. */
static uint32_t wall_waited(const struct jsp_looker *l, struct jsp_looked *t, uint64_t points)
{
    uint64_t delay_ns = jsp_kernel_delay_ns(&l->folder, t->tid);
    if (delay_ns > t->delay_ns) {
        t->behind += jsp_looker_periods(l, delay_ns - t->delay_ns);
        t->delay_ns = delay_ns;
    }
    uint64_t most = t->behind > 0 ? (uint64_t)t->behind / JSP_LOOKER_WHOLE : 0;
    points = points < most ? points : most;
    t->behind -= (int64_t)points * JSP_LOOKER_WHOLE;
    return (uint32_t)points;
}

/* Repeat the last sample for the points since then. At so many of them it waited. */
static void wall_again(struct jsp_looked *t, uint64_t now, enum jsp_put_as as, uint32_t waited)
{
    struct jsp_record same = { .time_ns = now, .weight = (uint32_t)t->again,
                               .taker = JSP_TAKER_AGAIN, .waited = waited,
                               .state.asleep_ns = wall_slept_ns(t, now) };
    if (!t->again)
        return;
    if (jsp_sampled_put(t->sampled, &same, t->ran_ns, as) == JSP_PUT_BUSY)
        t->rest += (int64_t)t->again;
    jsp_looked_note(t);
    t->again = 0;
    t->put_ns = now;
}

/* Return for how long a sleeper's points may wait. */
static uint64_t wall_again_ns(const struct jsp_looker *l, const struct jsp_looked *t, uint64_t now)
{
    uint64_t part = wall_slept_ns(t, now) / WALL_AGAIN_PART, least = WALL_AGAIN_NS;
    uint64_t turn = l->n * least / WALL_AGAIN_RATE;
    part = part < WALL_AGAIN_MOST * least ? part : WALL_AGAIN_MOST * least;
    return part > turn ? part : turn;
}

static void wall_still(struct jsp_looker *l, struct jsp_looked *t, uint64_t now, uint64_t points)
{
    l->looks[JSP_LOOK_STILL]++;
    t->again += points;
    if (now - t->put_ns >= WALL_AGAIN_NS && now - t->put_ns >= wall_again_ns(l, t, now))
        wall_again(t, now, JSP_PUT_ARMED, 0);
}

/* -- Threads that sleep now -------------------------------------------------- */

/* Return true if the thread has not run since its clock read t->ran_ns. */
static bool wall_is_still(const struct jsp_looked *t)
{
    return jsp_kernel_now_ns(t->cpu_clock) == t->ran_ns;
}

static struct jsp_rec_state wall_state(const struct jsp_looker *l, const struct jsp_looked *t,
                                       uint64_t now, const struct jsp_sleep *at)
{
    return jsp_kernel_state(&l->folder, t->tid, at, wall_slept_ns(t, now));
}

/* Store the stack of a thread that was walked, for all points at which it did not run. */
static void wall_keep(struct jsp_looker *l, struct jsp_looked *t, uint64_t now,
                      const struct jsp_sleep *at, enum jsp_put_as as)
{
    struct jsp_record *r = jsp_sleeper_record(l->sleeper);
    r->time_ns = now;
    r->weight = (uint32_t)t->rest;
    r->taker = JSP_TAKER_LOOKER;
    r->waited = 0;
    if (r->state.state != JSP_STATE_HOST) {
        r->state = wall_state(l, t, now, at);
        if (t->rest > 1) /* one is of now, when it sleeps */
            r->waited = wall_waited(l, t, (uint64_t)t->rest - 1);
    }
    enum jsp_put put = jsp_sampled_put(t->sampled, r, t->ran_ns, as);
    jsp_looked_note(t);
    if (put == JSP_PUT_BUSY)
        return;
    t->rest = 0;
    t->is_known = put == JSP_PUT_KEPT;
    t->put_ns = now;
}

/* Sample a thread that sleeps. Return false if only a signal can. */
static bool wall_walk(struct jsp_looker *l, struct jsp_looked *t, uint64_t now,
                      const struct jsp_sleep *at)
{
    static const enum jsp_look looks[JSP_N_SLEEPS] = {
        [JSP_SLEEP_WALKED] = JSP_LOOK_WALKED, [JSP_SLEEP_PAUSED] = JSP_LOOK_WALKED,
        [JSP_SLEEP_HOST] = JSP_LOOK_HOST, [JSP_SLEEP_ELSEWHERE] = JSP_LOOK_ELSEWHERE,
        [JSP_SLEEP_POINTER] = JSP_LOOK_POINTER,
    };
    enum jsp_sleep_walk walk = jsp_sleeper_walk(l->sleeper, t->sampled, at);
    jsp_sleeper_note(l->sleeper, t->sampled);
    if (!wall_is_still(t))
        return true;
    l->looks[looks[walk]]++;
    if (walk != JSP_SLEEP_WALKED && walk != JSP_SLEEP_PAUSED)
        return false;
    wall_keep(l, t, now, at, walk == JSP_SLEEP_PAUSED ? JSP_PUT_PAUSED : JSP_PUT_ARMED);
    return true;
}

static bool wall_is_owed(const struct jsp_looked *t)
{
    /* ORDER: relaxed. Only the looker makes it nonzero. */
    return atomic_load_explicit(&t->sampled->owed, memory_order_relaxed);
}

/* Report the points at which the thread did not run by a signal, too. */
static void wall_signal(struct jsp_looker *l, struct jsp_looked *t, uint64_t now)
{
    if (t->rest > 0) {
        t->debt += (uint64_t)t->rest;
        t->rest = 0;
    }
    jsp_looker_report(l, t, now);
}

/* Report so many points as ones in this state. Return how many are left: 0, unless the thread has a
 * rest from signals. */
static int64_t wall_report_as(struct jsp_looker *l, struct jsp_looked *t, uint64_t now,
                              enum jsp_state state, int64_t points)
{
    uint64_t debt = t->debt;
    t->debt = (uint64_t)points;
    t->state = (struct jsp_rec_state){ .state = (uint32_t)state };
    jsp_looker_report(l, t, now);
    uint64_t left = t->debt;
    t->debt = debt;
    return (int64_t)left;
}

/* Report the time for which the process was stopped, before all else. Return true if there is some,
 * which no signal has on its way yet. */
static bool wall_halted(struct jsp_looker *l, struct jsp_looked *t, uint64_t now)
{
    if (t->halted <= 0 || wall_is_owed(t))
        return false;
    t->halted = wall_report_as(l, t, now, JSP_STATE_STOPPED, t->halted);
    return true;
}

/* Report so many of the points at which the thread did not run as a wait for a processor. */
static void wall_owe_waits(struct jsp_looked *t, int64_t points)
{
    t->rest -= points;
    t->debt += (uint64_t)points;
    /* ORDER: relaxed. The handler returns what comes without its expirations. */
    atomic_fetch_add_explicit(&t->sampled->waited, (uint64_t)points, memory_order_relaxed);
}

/* Report the points at which the thread ran, but one less for each look in place of a late one that
 * is still to come: that look reports it. */
static void wall_report(struct jsp_looker *l, struct jsp_looked *t, uint64_t now)
{
    uint64_t most = t->debt ? t->debt - 1 : 0, held = most < l->n_extra ? most : l->n_extra;
    t->debt -= held;
    jsp_looker_report(l, t, now);
    t->debt += held;
}

static void wall_run(struct jsp_looker *l, struct jsp_looked *t, uint64_t now)
{
    if (wall_halted(l, t, now))
        return;
    if (t->rest + t->stood >= WALL_REST && !wall_is_owed(t)) {
        t->rest += t->stood;
        t->stood = 0;
        uint32_t waited = wall_waited(l, t, (uint64_t)t->rest);
        wall_owe_waits(t, waited);
        /* it has not run at many points, and yet no look found it asleep or waiting: a debugger
         * stops it at each signal, for example */
        if (!waited && t->n_unslept >= WALL_LOOKS) {
            t->rest = wall_report_as(l, t, now, JSP_STATE_UNKNOWN, t->rest);
            return;
        }
    }
    t->state = (struct jsp_rec_state){ .state = JSP_STATE_RUNNING };
    wall_report(l, t, now);
}

/* Return true if the looker has to report something of a thread that runs. What an event counts is
 * reported by that. */
static bool wall_has_more(const struct jsp_looked *t)
{
    return !t->has_event || t->halted > 0 || t->rest + t->stood >= WALL_REST;
}

/* The thread waits for a processor, where it ran before. If we did not take the processor, it has
 * stopped for a reason of its own or the scheduler's, so the points at which it ran do not belong
 * to this place. If we did, those at which it waited do not. */
static void wall_wait(struct jsp_looker *l, struct jsp_looked *t, uint64_t now,
                      enum jsp_looker_took took)
{
    if (wall_halted(l, t, now) || (took == JSP_LOOKER_TOOK && !wall_has_more(t)))
        return;
    uint64_t held = took == JSP_LOOKER_NOT ? t->debt : 0;
    t->debt -= held;
    t->state = (struct jsp_rec_state){ .state = JSP_STATE_RUNNING };
    t->rest += t->stood;
    t->stood = 0;
    int64_t rest = t->rest;
    if (rest >= WALL_REST) { /* it has slept, perhaps: the next sleep has what is no wait */
        wall_owe_waits(t, wall_waited(l, t, (uint64_t)rest));
        t->slept += t->rest;
        t->rest = 0;
    } else if (rest > 0) {
        t->behind -= rest * JSP_LOOKER_WHOLE;
        wall_owe_waits(t, rest);
    }
    wall_signal(l, t, now);
    t->debt += held;
}

/* The thread has moved under the walk. Return true if it sleeps again. */
static bool wall_follow(struct jsp_looker *l, struct jsp_looked *t, struct jsp_sleep *at)
{
    uint64_t ran = jsp_kernel_now_ns(t->cpu_clock);
    if (ran < t->ran_ns)
        return false;
    t->balance += jsp_looker_periods(l, ran - t->ran_ns);
    t->ran_ns = ran;
    t->slept_ns = jsp_kernel_now_ns(CLOCK_MONOTONIC);
    *at = jsp_kernel_at(&l->folder, t->tid, &t->call);
    return at->is == JSP_SLEEP_ASLEEP;
}

static void wall_asleep(struct jsp_looker *l, struct jsp_looked *t, uint64_t now,
                        struct jsp_sleep *at)
{
    /* else it blocks the signal, or is about to wake up for it */
    bool is_walked = !wall_is_owed(t);
    for (int i = 0; i < WALL_TRIES && t->rest > 0 && is_walked; i++) {
        is_walked = wall_walk(l, t, now, at);
        if (!is_walked || t->rest <= 0 || wall_is_still(t) || !wall_follow(l, t, at))
            break;
    }
    if (!is_walked) {
        t->state = wall_state(l, t, now, at);
        wall_signal(l, t, now);
        return;
    }
    if (t->rest > 0) { /* the next sleep has them */
        l->looks[JSP_LOOK_MOVED]++;
        t->slept += t->rest;
        t->rest = 0;
    }
}

/* -- One thread -------------------------------------------------------------- */

/* Return the points since the last look that this thread has lived through. */
static uint64_t wall_points(struct jsp_looker *l, struct jsp_looked *t,
                            const struct jsp_looker_moment *m)
{
    bool is_new = t->seen_ns > l->looked_ns;
    uint64_t points = is_new && (m->points > 1 || !m->is_fair)
                          ? jsp_looker_share(l, m, m->now - t->seen_ns) : m->points;
    t->n_points += points;
    t->waited += m->points;
    return jsp_looker_repay(l, points);
}

/* Split the points of a thread that has run for `ran_ns`: those at which it ran become its
 * debt, unless its event counts them. Return the number of the others, less than 0 if the balance
 * asks for it. */
static int64_t wall_split(struct jsp_looker *l, struct jsp_looked *t,
                          const struct jsp_looker_moment *m, uint64_t points, uint64_t ran_ns,
                          enum jsp_look is, enum jsp_looker_took took)
{
    bool is_seen = points == 1 && m->points == 1 && m->is_fair &&
                   (t->has_event || is == JSP_LOOK_RUNS || is == JSP_LOOK_WALKED ||
                    took != JSP_LOOKER_PERHAPS);
    uint64_t ran = is_seen ? is == JSP_LOOK_RUNS || took == JSP_LOOKER_TOOK
                           : jsp_looker_share(l, m, ran_ns);
    if (m->n_met && !t->has_event && (is == JSP_LOOK_RUNS || is == JSP_LOOK_WAITS)) {
        t->balance += jsp_looker_periods(l, ran_ns);
        ran = jsp_looker_tick(l, t, m->n_met, ran_ns);
    } else {
        ran = jsp_looker_balance(l, t, ran_ns, ran < points ? ran : points);
    }
    t->debt += t->has_event ? 0 : ran;
    return (int64_t)points - (int64_t)ran;
}

/* The thread has left the place where it slept. Charge it with all but the last of the points,
 * unless the thread sleeps again: then it may have left at any of them. */
static int64_t wall_left(struct jsp_looker *l, struct jsp_looked *t, int64_t points,
                         bool is_asleep)
{
    if (!t->is_known)
        return points;
    t->is_known = false;
    if (points > 1) {
        uint64_t most = (uint64_t)points - 1;
        uint64_t stayed = is_asleep ? (jsp_tick_random(&l->random) >> 32) % (most + 1) : most;
        t->again += stayed;
        points -= (int64_t)stayed;
    }
    wall_again(t, t->seen_ns, JSP_PUT_ARMED, wall_waited(l, t, t->again));
    return points;
}

/* Keep the points that no sample has apart when the thread falls asleep and when it wakes up: those
 * at which it ran for its next turn, those of its sleep for the next sleep, those at which it stood
 * for the next signal. `points` are those since the last look at which it did not run. */
static void wall_part(struct jsp_looked *t, enum jsp_sleep_is is, int64_t points,
                      enum jsp_look look)
{
    bool was_asleep = t->slept_ns && t->is_asleep;
    bool wakes = look == JSP_LOOK_WAKES, stood = wakes && t->ready == JSP_READY_STOOD;
    if (was_asleep && is == JSP_SLEEP_READY && points > 0)
        t->slept += points;
    else
        t->rest += points;
    if (wakes && t->rest > 0) { /* a thread that was woken is where it slept */
        *(stood && t->rest < WALL_REST ? &t->stood : &t->slept) += t->rest;
        t->rest = 0;
    }
    if (is == JSP_SLEEP_GONE || (is == JSP_SLEEP_ASLEEP && (was_asleep || t->stood >= WALL_REST))) {
        t->rest += t->stood; /* no signal comes soon */
        t->stood = 0;
    }
    if (is == JSP_SLEEP_ASLEEP && !was_asleep) {
        t->ran += t->debt;
        t->debt = 0;
    }
    if (is != JSP_SLEEP_ASLEEP) {
        t->debt += t->ran;
        t->ran = 0;
    }
    t->n_unslept = is == JSP_SLEEP_ASLEEP || wakes ? 0 : t->n_unslept + 1;
    if (is != JSP_SLEEP_READY || t->n_unslept >= WALL_LOOKS) { /* no sleep will explain them */
        t->rest += t->slept;
        t->slept = 0;
    }
}

/* Return why a thread waits for a processor that was stopped so often since it waited last, and has
 * slept so often. If it did both, nobody knows which was the last; then chance decides, by the
 * looks that were certain, or by those numbers. */
static enum jsp_looked_ready wall_ready_by(struct jsp_looker *l, struct jsp_looked *t,
                                           uint64_t stops, uint64_t naps)
{
    if (!naps || !stops) {
        uint32_t *n = naps ? &t->n_woken : &t->n_stopped;
        if ((*n)++ == WALL_READY_MOST) {
            t->n_woken /= 2;
            t->n_stopped /= 2;
        }
        return naps ? JSP_READY_WOKEN : JSP_READY_STOPPED;
    }
    if (t->n_woken + t->n_stopped >= WALL_READY_LEAST) {
        naps = t->n_woken;
        stops = t->n_stopped;
    }
    return jsp_tick_random(&l->random) % (stops + naps) < stops ? JSP_READY_STOOD
                                                                : JSP_READY_WOKEN;
}

/* Return how often the thread had slept, and was stopped, as far as is known: since it waited last,
 * its event's handler may have asked. */
static struct jsp_switches wall_switches(const struct jsp_looked *t)
{
    uint64_t naps = jsp_counted(&t->sampled->timer.naps);
    uint64_t stops = jsp_counted(&t->sampled->timer.stops);
    return naps > t->switches.naps ? (struct jsp_switches){ naps, stops } : t->switches;
}

/* Return why the thread waits. If it may have been woken just now, a signal would be an
 * interruption of its sleep, even if that is over. */
static enum jsp_looked_ready wall_ready(struct jsp_looker *l, struct jsp_looked *t,
                                        uint64_t ran_ns)
{
    uint32_t each = t->n_unslept / WALL_LOOKS * WALL_NAPS;
    each = each < WALL_NAPS_MOST ? each : WALL_NAPS_MOST;
    bool is_steady = t->ready == JSP_READY_STOPPED && each && t->n_unslept % each;
    struct jsp_switches before = wall_switches(t);
    if (!ran_ns && t->is_asleep)
        return JSP_READY_WOKEN;
    if (!ran_ns || is_steady)
        return t->ready;
    if (!jsp_kernel_switches(&l->folder, t->tid, &t->switches))
        return JSP_READY_WOKEN;
    return wall_ready_by(l, t, t->switches.stops - before.stops,
                         t->switches.naps - before.naps);
}

/* Return how long the thread must run on to be sampled: longer than its turns between two
 * sleeps usually take, if they are short. Then it sleeps nearly all of the time, so its points
 * can wait. */
static uint64_t wall_awake_ns(const struct jsp_looked *t, uint64_t ran_ns)
{
    bool is_short = ran_ns > WALL_AWAKE_NS && ran_ns < WALL_SHORT_NS && t->debt < WALL_DEBT;
    return is_short ? ran_ns : WALL_AWAKE_NS;
}

/* Return true if the thread, which runs, is not about to sleep. Its way into a sleep and out of it
 * is a few microseconds of the kernel's, where a signal would be an interruption. */
static bool wall_is_awake(const struct jsp_looked *t, const struct jsp_looker_moment *m,
                          uint64_t ran_ns)
{
    if (m->since - ran_ns < m->since / WALL_BUSY)
        return true;
    uint64_t from = jsp_kernel_now_ns(t->cpu_clock), ran = from, enough = wall_awake_ns(t, ran_ns);
    do { /* at most `enough` turns */
        uint64_t now = jsp_kernel_now_ns(t->cpu_clock);
        if (now == ran)
            return false;
        ran = now;
    } while (ran - from < enough);
    return true;
}

static void wall_moved(struct jsp_looker *l, struct jsp_looked *t,
                       const struct jsp_looker_moment *m, uint64_t points, uint64_t ran)
{
    uint64_t ran_ns = ran - t->ran_ns;
    struct jsp_sleep at = { .is = JSP_SLEEP_READY };
    t->ran_ns = ran;
    enum jsp_looker_took took = JSP_LOOKER_PERHAPS;
    enum jsp_look is = JSP_LOOK_RUNS; /* its clock goes on */
    if (!ran_ns || wall_is_still(t)) {
        if (ran_ns || !t->is_ready) /* else it still waits: a thread falls asleep by running */
            at = jsp_kernel_at(&l->folder, t->tid, &t->call);
        if (at.is == JSP_SLEEP_READY)
            t->ready = wall_ready(l, t, ran_ns);
        is = at.is != JSP_SLEEP_READY ? JSP_LOOK_WALKED :
             t->ready == JSP_READY_STOPPED || (m->n_met && ran_ns > WALL_SHORT_NS)
                 ? JSP_LOOK_WAITS : JSP_LOOK_WAKES;
        if (is == JSP_LOOK_WAITS)
            took = ran_ns && (m->is_fair || t->has_event) ? jsp_looker_took(l, t) : JSP_LOOKER_NOT;
    }
    t->is_ready = at.is == JSP_SLEEP_READY;
    bool was_awake = !t->is_known;
    int64_t others = wall_left(l, t, wall_split(l, t, m, points, ran_ns, is, took),
                               at.is == JSP_SLEEP_ASLEEP);
    if (m->is_halted && was_awake && at.is == JSP_SLEEP_READY && others > 0) {
        t->halted += others;
        others = 0;
    }
    wall_part(t, at.is, others, is);
    t->is_asleep = at.is == JSP_SLEEP_ASLEEP;
    if (at.is == JSP_SLEEP_ASLEEP) {
        uint64_t since = m->now - t->seen_ns;
        if (ran_ns || !t->slept_ns)
            t->slept_ns = m->now - (since > ran_ns ? since - ran_ns : 0) / 2;
        wall_asleep(l, t, m->now, &at);
        return;
    }
    l->looks[at.is == JSP_SLEEP_GONE ? JSP_LOOK_GONE : is]++;
    t->is_awake = is == JSP_LOOK_WAITS || (is == JSP_LOOK_RUNS && wall_has_more(t) &&
                                           wall_is_awake(t, m, ran_ns) && !jsp_looker_dozes(l, t));
    if (at.is == JSP_SLEEP_GONE) { /* or its files cannot be read any more */
        t->state = (struct jsp_rec_state){ .state = JSP_STATE_UNKNOWN };
        wall_signal(l, t, m->now);
    } else if (is == JSP_LOOK_WAITS)
        wall_wait(l, t, m->now, took);
    else if (t->is_awake && m->is_fair)
        wall_run(l, t, m->now);
    t->is_awake = false;
}

bool jsp_looker_wall(struct jsp_looker *l, struct jsp_looked *t,
                     const struct jsp_looker_moment *m)
{
    uint64_t ran = jsp_kernel_now_ns(t->cpu_clock), before = t->ran_ns;
    uint64_t points = wall_points(l, t, m);
    if (t->has_event && ran > before)
        jsp_looked_note(t);
    if (t->seen_ns == t->added_ns) /* the first look */
        t->delay_ns = jsp_kernel_delay_ns(&l->folder, t->tid);
    if (ran < before) { /* the clock of a thread that is gone reads 0 */
        l->looks[JSP_LOOK_GONE]++;
        t->rest += (int64_t)points;
    } else if (ran == before && t->is_known) {
        wall_still(l, t, m->now, points);
    } else {
        wall_moved(l, t, m, points, ran);
    }
    return ran > before || (ran == before && !t->is_known);
}

int64_t jsp_looker_wall_leave(struct jsp_looker *l, struct jsp_looked *t)
{
    uint64_t now = jsp_kernel_now_ns(CLOCK_MONOTONIC);
    int64_t left = jsp_looker_periods(l, now - t->added_ns) -
                   (int64_t)t->n_points * JSP_LOOKER_WHOLE;
    uint64_t ran = jsp_kernel_now_ns(t->cpu_clock);
    int64_t ran_since = ran > t->ran_ns ? jsp_looker_periods(l, ran - t->ran_ns) : 0;
    int64_t slept = left - ran_since;
    if (t->has_event) /* it has counted the time that it ran */
        left -= t->balance + ran_since;
    if (t->is_known && ran && slept >= JSP_LOOKER_WHOLE) {
        t->again += (uint64_t)(slept / JSP_LOOKER_WHOLE);
        left -= slept - slept % JSP_LOOKER_WHOLE;
    }
    wall_again(t, now, JSP_PUT_DISARMED, 0);
    if (t->rest > 0 && wall_is_owed(t)) { /* it blocks the signal, perhaps */
        t->debt += (uint64_t)t->rest;
        t->rest = 0;
        jsp_looker_owe_more(t);
    }
    return left + (t->rest + t->slept + t->stood + t->halted) * JSP_LOOKER_WHOLE;
}

void jsp_looks_put(char to[JSP_LOOKS_TEXT], const uint64_t looks[JSP_N_LOOKS],
                   enum jsp_look from)
{
    static const char *const names[JSP_N_LOOKS] = {
        "still", "walked", "running", "waiting", "woken", "moved", "gone",
        "with frames of the host", "on another stack", "without frame pointer",
        "calls interrupted", "calls made again", "sampled at once",
    };
    size_t n = 0;
    for (int i = (int)from; i < JSP_N_LOOKS; i++)
        n += (size_t)snprintf(to + n, JSP_LOOKS_TEXT - n, "%s%llu %s", i > (int)from ? ", " : "",
                              (unsigned long long)looks[i], names[i]);
}
