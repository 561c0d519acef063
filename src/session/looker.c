/* session/looker.c - see looker.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "looker.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "drain.h"

#define LOOKER_IDLE_NS UINT64_C(5000000000)       /* the process is idle */
#define LOOKER_DEEPEST_NS UINT64_C(3600000000000) /* sleep no longer */

enum {
    /* Nobody sends this signal, and the looker's thread never unblocks it. The sampling
     * signal would not do: while a thread waits for a signal, it takes those to the process,
     * too. */
    LOOKER_BELL = SIGSTKFLT,
    LOOKER_AWAKE_NS = 50000000, /* stay awake for so long, if that is longer than 16 periods */
    LOOKER_SHORT = 4,           /* a turn of 1/4 of a tick is short */
    LOOKER_OWN_NS = 20000,      /* the looker itself runs so long before it sleeps */
    LOOKER_DESCRIPTORS = 4,     /* take one of so many */
    LOOKER_STILL = 32,          /* of many threads, let one rest after so many looks in vain */
    LOOKER_DEEP = 4,            /* wall clock: sleep for 1/4 of the time without a thread */
    LOOKER_DEEPER = 16,         /* CPU clock, idle: for 16 times as long */
    LOOKER_PART = 8,            /* 7/8 of the time are all of it, for a thread that runs */
    LOOKER_LATE_NS = 150000,    /* later than that, the looker has waited for a tick ... */
    LOOKER_LATE = 8,            /* ... unless it always takes so long */
    LOOKER_HALT_NS = 100000000, /* later than that, something has stopped it, perhaps */
    LOOKER_ASK_NS = 1000000000, /* the looker's own waits are known from so long ago */
    /* Looks in place of late ones come within so long: whole numbers of most kernels' ticks */
    LOOKER_EXTRA_NS = 20000000,
};

void jsp_looker_open(struct jsp_looker *looker)
{
    pthread_mutex_init(&looker->lock, NULL);
}

/* -- Looks -------------------------------------------------------------------- */

/* The thread does not run now. Return true if it waits for our
 * processor: we have taken it, or another thread did before. */
static bool looker_is_behind(const struct jsp_looker *l, struct jsp_looked *t)
{
    return jsp_kernel_at(&l->folder, t->tid, &t->call).is != JSP_SLEEP_ASLEEP &&
           jsp_kernel_is_here(&l->folder, t->tid);
}

/* Did we take the processor from the thread, which waits for ours and has run for `ran_ns`? If it
 * has run for a part of the time only, it came during that time, or had to go during it. */
static bool looker_has_stopped(struct jsp_looker *l, const struct jsp_looked *t,
                               const struct jsp_looker_moment *m, uint64_t ran_ns)
{
    const struct jsp_looker_moment one = { .since = m->since, .points = 1 };
    if (m->since - m->since / LOOKER_PART < ran_ns)
        return true;
    return t->was == JSP_LOOKED_UNKNOWN ? jsp_looker_share(l, &one, ran_ns)
                                        : t->was == JSP_LOOKED_OFF;
}

/* Was the thread, which has run for `ran_ns`, on a processor until we looked? */
static enum jsp_looked_was looker_was(struct jsp_looker *l, struct jsp_looked *t,
                                      const struct jsp_looker_moment *m, uint64_t ran_ns)
{
    if (!m->is_fair)
        return JSP_LOOKED_UNKNOWN;
    t->is_awake = jsp_kernel_now_ns(t->cpu_clock) != t->ran_ns; /* its clock goes on */
    if (t->is_awake)
        return JSP_LOOKED_ON;
    enum jsp_looker_took took = jsp_looker_took(l, t);
    if (took == JSP_LOOKER_PERHAPS && looker_is_behind(l, t) && looker_has_stopped(l, t, m, ran_ns))
        took = JSP_LOOKER_TOOK;
    return took == JSP_LOOKER_TOOK ? JSP_LOOKED_ON : JSP_LOOKED_OFF;
}

/* Look at one thread. Return true if it has run since the last look. */
static bool looker_look(struct jsp_looker *l, struct jsp_looked *t,
                        const struct jsp_looker_moment *m)
{
    enum jsp_deep deep = jsp_deep_end(l, t, JSP_PUT_ARMED);
    l->has_met |= deep != JSP_DEEP_STILL;
    if (deep == JSP_DEEP_RAN) /* its handler is about to end */
        return true;
    uint64_t ran = jsp_kernel_now_ns(t->cpu_clock), by = ran - t->ran_ns;
    t->waited += m->points;
    if (!by || ran < t->ran_ns) { /* the clock of a thread that is gone reads 0 */
        t->was = JSP_LOOKED_OFF;
        return deep == JSP_DEEP_MET;
    }
    t->ran_ns = ran;
    t->balance += jsp_looker_periods(l, by);
    t->was = looker_was(l, t, m, by);
    if (t->was == JSP_LOOKED_ON) {
        t->debt += jsp_looker_repay(l, m->n_met ? jsp_looker_tick(l, t, m->n_met, by)
                                                : jsp_looker_meet(l, t));
        if (!jsp_looker_dozes(l, t))
            jsp_looker_report(l, t, m->now);
    }
    t->is_awake = false;
    l->has_met |= t->was != JSP_LOOKED_OFF;
    t->is_short = t->was != JSP_LOOKED_ON && by < l->tick_ns / LOOKER_SHORT;
    return true;
}

static void looker_unlink(struct jsp_looked *t)
{
    *t->link = t->next;
    if (t->next)
        t->next->link = t->link;
    t->link = NULL;
}

static void looker_link(struct jsp_looked *t, struct jsp_looked **list)
{
    t->next = *list;
    t->link = list;
    if (t->next)
        t->next->link = &t->next;
    *list = t;
}

/* Let the thread rest if it has not run for long, or no longer. */
static void looker_sort(struct jsp_looker *l, struct jsp_looked *t, bool has_run)
{
    t->n_still = has_run ? 0 : t->n_still + 1;
    bool is_to_rest = l->n >= JSP_LOOKER_MANY && t->n_still >= LOOKER_STILL;
    if (is_to_rest == t->is_resting)
        return;
    t->is_resting = is_to_rest;
    looker_unlink(t);
    looker_link(t, is_to_rest
                       ? &l->resting[jsp_tick_random(&l->random) >> 32 & (JSP_LOOKER_GROUPS - 1)]
                       : &l->threads);
}

/* Return this look for a thread that was perhaps left out of some before. */
static struct jsp_looker_moment looker_moment(const struct jsp_looker *l,
                                              const struct jsp_looked *t,
                                              const struct jsp_looker_moment *m)
{
    struct jsp_looker_moment own = *m;
    uint32_t points = (uint32_t)(l->points - t->points_seen);
    if (points != m->points) {
        own.points = points;
        own.since = m->now - t->seen_ns;
    }
    return own;
}

/* Return true if a thread of the list has run since the last look at it. */
static bool looker_list(struct jsp_looker *l, struct jsp_looked *list,
                        const struct jsp_looker_moment *m)
{
    bool any = false;
    for (struct jsp_looked *t = list, *next; t; t = next) {
        next = t->next;
        if (next) { /* while the kernel is asked about this one */
            __builtin_prefetch(next);
            __builtin_prefetch(&next->is_known);
        }
        struct jsp_looker_moment own = looker_moment(l, t, m);
        if (!own.points && t->is_resting) /* it has just come to rest here */
            continue;
        bool has_run = l->sleeper ? jsp_looker_wall(l, t, &own) : looker_look(l, t, &own);
        t->points_seen = l->points;
        t->seen_ns = m->now;
        looker_sort(l, t, has_run);
        any |= has_run;
    }
    return any;
}

/* Return how many threads have run since the last look. */
static uint32_t looker_have_run(const struct jsp_looker *l)
{
    uint32_t n = 0;
    for (const struct jsp_looked *t = l->threads; t; t = t->next)
        n += jsp_kernel_now_ns(t->cpu_clock) > t->ran_ns;
    return n;
}

static void looker_round(struct jsp_looker *l, const struct jsp_looker_moment *m)
{
    l->points += m->points;
    l->came_ns = 0;
    l->has_taken = l->has_met = false;
    bool any = looker_list(l, l->threads, m);
    if (m->points)
        any |= looker_list(l, l->resting[jsp_tick_random(&l->random) >> 32 &
                                         (JSP_LOOKER_GROUPS - 1)], m);
    if (any && (l->has_met || !jsp_deep_may(l)))
        l->ran_ns = m->now;
    if (any)
        jsp_ask_note(l->ask);
    l->looked_ns = m->now;
}

/* Return true if this look, which was due, comes in time. */
static bool looker_is_fair(struct jsp_looker *l, uint64_t now)
{
    bool is_late = now > l->due_ns + LOOKER_LATE_NS;
    l->n_late = is_late ? l->n_late + 1 : 0;
    return l->n_late % LOOKER_LATE == 0;
}

/* The looker comes far too late, and did not wait for a processor for most of that time: somebody
 * stopped the process meanwhile (Ctrl-Z), or the machine. */
static bool looker_was_halted(struct jsp_looker *l, uint64_t now)
{
    bool is_late = now > l->due_ns + LOOKER_HALT_NS;
    if (!is_late && now < l->asked_ns + LOOKER_ASK_NS)
        return false;
    uint64_t delay_ns = jsp_kernel_delay_ns(&l->folder, l->tid), before = l->delay_ns;
    l->delay_ns = delay_ns;
    l->asked_ns = now;
    return is_late && delay_ns && delay_ns - before < (now - l->due_ns) / 2;
}

/* Look once more for each of so many points, whose look came late. The moments are as random as
 * the points were; if there are too many of them, the balance makes up for the others. */
static void looker_owe(struct jsp_looker *l, uint64_t now, uint32_t points)
{
    if (jsp_tick_over(l->tick.load)) /* it looks as often as it may */
        return;
    for (; points && l->n_extra < JSP_LOOKER_EXTRA; points--)
        l->extra[l->n_extra++] = now + jsp_tick_random(&l->random) % LOOKER_EXTRA_NS;
}

/* Return how many of these looks are due. They are made now, as one. */
static uint32_t looker_take_extra(struct jsp_looker *l, uint64_t now)
{
    uint32_t n = l->n_extra;
    l->n_extra = 0;
    for (uint32_t i = 0; i < n; i++)
        if (l->extra[i] > now)
            l->extra[l->n_extra++] = l->extra[i];
    return n - l->n_extra;
}

static void looker_expect(struct jsp_looker *l, uint64_t now)
{
    l->due_ns = jsp_tick_next(&l->tick, now, l->tick.load);
    for (uint32_t i = 0; i < l->n_extra; i++)
        if (l->extra[i] < l->due_ns)
            l->due_ns = l->extra[i];
}

/* Return how long to sleep when no thread has run for so long, or, on the CPU clock, no look has
 * met one. A thread may run meanwhile between two ticks, without the alarm; on the wall clock it
 * may sleep elsewhere then. So the sleeps are short before it is clear that the process is idle,
 * and random, so that they are in step with no sleep of the program. */
static uint64_t looker_deep(struct jsp_looker *l, uint64_t idle_ns)
{
    uint64_t part = l->sleeper ? idle_ns / LOOKER_DEEP : idle_ns;
    if (idle_ns >= LOOKER_IDLE_NS)
        part = l->sleeper ? LOOKER_DEEPEST_NS : idle_ns * LOOKER_DEEPER;
    uint64_t ns = part / 2 + jsp_tick_random(&l->random) % (part + 1);
    return ns < LOOKER_DEEPEST_NS ? ns : LOOKER_DEEPEST_NS;
}

/* Look, if a point has passed. `is_alarm`: a tick that met a thread of the process caused this
 * look. If none of ours has run, it met the drain, for example: sleep on. Return how long to sleep
 * then. A deep sleep ends with the alarm, too. */
static uint64_t looker_turn(struct jsp_looker *l, bool is_alarm)
{
    bool asked = l->asks;
    uint64_t on_ns = asked ? jsp_deep_goes_on(l, is_alarm) : 0;
    uint64_t now = jsp_kernel_now_ns(CLOCK_MONOTONIC), awake = JSP_LOOKER_AWAKE * l->period_ns;
    if (on_ns)
        return on_ns == JSP_LOOKER_DEEPLY ? looker_deep(l, now - l->ran_ns) : on_ns;
    is_alarm |= asked;
    struct jsp_looker_moment m = { now, now - l->looked_ns, jsp_tick_passed(&l->tick, now),
                               false, l->sleeper && !l->is_deep && looker_was_halted(l, now), 0 };
    uint32_t extra = looker_take_extra(l, now);
    bool looks = m.points || extra;
    if (is_alarm && l->n >= JSP_LOOKER_MANY) /* one of those that rest, perhaps */
        l->ran_ns = now;
    if (looks) {
        m.n_met = is_alarm && l->is_deep ? looker_have_run(l) : 0;
        m.is_fair = m.n_met || (!is_alarm && looker_is_fair(l, now));
        looker_round(l, &m);
        /* a quarter of the time at most, however many threads there are */
        jsp_tick_spent(&l->tick, jsp_kernel_now_ns(CLOCK_MONOTONIC) - now);
        if (!m.is_fair && !is_alarm)
            looker_owe(l, now, m.points + extra);
    }
    looker_expect(l, now);
    awake = awake > LOOKER_AWAKE_NS ? awake : LOOKER_AWAKE_NS;
    l->is_deep = l->has_alarm && now - l->ran_ns > awake && now >= l->awake_ns &&
                 (looks || !is_alarm);
    if (l->is_deep && jsp_deep_may(l))
        l->is_deep = jsp_deep_begin(l);
    if (l->is_deep)
        return looker_deep(l, now - l->ran_ns);
    now = jsp_kernel_now_ns(CLOCK_MONOTONIC);
    return l->due_ns > now ? l->due_ns - now : 0;
}

/* -- The looker's thread ---------------------------------------------------- */

/* Let the process's next tick ring the bell. */
static bool looker_set_alarm(const struct jsp_looker *l)
{
    return jsp_kernel_timer_set(l->alarm, LOOKER_OWN_NS);
}

void jsp_looker_awake(struct jsp_looker *l)
{
    const struct jsp_kernel_timer setup = { CLOCK_PROCESS_CPUTIME_ID, l->tid, LOOKER_BELL, NULL };
    l->has_alarm = jsp_kernel_timer_open(&l->alarm, &setup) == 0;
}

static void looker_prepare(void *looker)
{
    struct jsp_looker *l = looker;
    /* without slack: the kernel would wake us together with the timers of the program */
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    l->tid = (pid_t)syscall(SYS_gettid);
    jsp_looker_awake(l);
}

/* Sleep until the time is over or the bell rings. Return true if the alarm rang it. */
static bool looker_sleep(struct jsp_looker *l, uint64_t ns)
{
    if (l->is_deep && !looker_set_alarm(l)) {
        l->has_alarm = false;
        return false;
    }
    return jsp_kernel_sleep(LOOKER_BELL, ns);
}

bool jsp_looker_turn(struct jsp_looker *l, bool is_alarm)
{
    uint64_t ns = looker_turn(l, is_alarm);
    pthread_mutex_unlock(&l->lock);
    is_alarm = ns && looker_sleep(l, ns);
    pthread_mutex_lock(&l->lock);
    return is_alarm;
}

static void *looker_main(void *looker)
{
    struct jsp_looker *l = looker;
    bool is_alarm = false;
    pthread_mutex_lock(&l->lock);
    while (!l->quit)
        is_alarm = jsp_looker_turn(l, is_alarm);
    pthread_mutex_unlock(&l->lock);
    if (l->has_alarm)
        jsp_kernel_timer_close(l->alarm);
    return NULL;
}

static uint32_t looker_most(void)
{
    uint64_t n = jsp_kernel_most_files() / LOOKER_DESCRIPTORS;
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

void jsp_looker_begin(struct jsp_looker *l, const struct jsp_looker_setup *setup)
{
    l->pid = getpid();
    l->signo = setup->signo;
    l->period_ns = setup->period_ns;
    l->sleeper = setup->sleeper;
    l->ask = setup->ask;
    memset(l->looks, 0, sizeof l->looks);
    l->quit = false;
    l->carry = 0;
    l->n_late = l->n_extra = 0;
    l->delay_ns = l->asked_ns = 0;
    l->is_deep = l->asks = false;
    l->n_moments = 0;
    l->has_rung = false;
    l->awake_ns = 0;
    l->tick_ns = jsp_kernel_tick_ns();
    l->ran_ns = l->looked_ns = jsp_kernel_now_ns(CLOCK_MONOTONIC);
    l->due_ns = l->looked_ns;
    jsp_tick_init(&l->tick, l->period_ns, l->looked_ns, (uint64_t)(uintptr_t)l);
    l->random = l->tick.random;
    l->n_most = looker_most();
}

int jsp_looker_start(struct jsp_looker *l, const struct jsp_looker_setup *setup)
{
    jsp_looker_begin(l, setup);
    jsp_task_folder(&l->folder);
    int err = jsp_kernel_try(&l->folder, l->pid);
    if (!err)
        err = jsp_spawn(&l->thread, &(struct jsp_spawn){ looker_main, l, "jsprof-looker",
                                                         looker_prepare });
    l->runs = !err;
    if (err)
        jsp_task_close(&l->folder);
    return err;
}

void jsp_looker_stop(struct jsp_looker *l)
{
    if (!l->runs)
        return;
    l->runs = false;
    pthread_mutex_lock(&l->lock);
    l->quit = true;
    pthread_mutex_unlock(&l->lock);
    pthread_kill(l->thread, LOOKER_BELL);
    pthread_join(l->thread, NULL);
    jsp_task_close(&l->folder);
}

void jsp_looker_add(struct jsp_looker *l, struct jsp_looked *t)
{
    pthread_mutex_lock(&l->lock);
    /* Not now: most threads that live for a moment meet no look. */
    t->call.fd = l->n < l->n_most ? JSP_TASK_LATER : -1;
    t->added_ns = t->seen_ns = jsp_kernel_now_ns(CLOCK_MONOTONIC);
    t->n_cut_before = jsp_counted(&t->sampled->n_cut_calls);
    t->n_again_before = jsp_counted(&t->sampled->n_again_calls);
    t->behind = 0;
    t->points_seen = l->points;
    looker_link(t, &l->threads);
    jsp_deep_open(l, t);
    l->n++;
    if (l->asks)
        jsp_deep_ask(l, t);
    pthread_mutex_unlock(&l->lock);
}

/* Return how much of the thread's time no look has counted. */
static int64_t looker_uncounted(const struct jsp_looker *l, const struct jsp_looked *t)
{
    uint64_t ran = jsp_kernel_now_ns(t->cpu_clock);
    return t->balance + (ran > t->ran_ns ? jsp_looker_periods(l, ran - t->ran_ns) : 0);
}

/* Return the expirations of the time that no look has counted. What is less or more than
 * whole periods goes to the next thread that leaves: so short threads, too, have as many
 * expirations as their time together. If they had more, see jsp_looker_repay. */
static uint64_t looker_settle(struct jsp_looker *l, struct jsp_looked *t)
{
    l->carry += l->sleeper ? jsp_looker_wall_leave(l, t) : looker_uncounted(l, t);
    int64_t n = l->carry > 0 ? l->carry / JSP_LOOKER_WHOLE : 0;
    l->carry -= n * JSP_LOOKER_WHOLE;
    return (uint64_t)n;
}

uint64_t jsp_looker_remove(struct jsp_looker *l, struct jsp_looked *t)
{
    pthread_mutex_lock(&l->lock);
    uint64_t n = 0;
    if (t->link) {
        looker_unlink(t);
        jsp_task_close(&t->call);
        l->n--;
        l->looks[JSP_LOOK_CUT] += jsp_counted(&t->sampled->n_cut_calls) - t->n_cut_before;
        l->looks[JSP_LOOK_AGAIN] += jsp_counted(&t->sampled->n_again_calls) - t->n_again_before;
        l->looks[JSP_LOOK_PROMPT] += jsp_counted(&t->sampled->delay.n_prompt);
        jsp_deep_end(l, t, JSP_PUT_DISARMED);
        jsp_deep_settle(l, t);
        jsp_deep_close(l, t);
        n = looker_settle(l, t) + t->debt + t->ran;
        jsp_looked_note(t);
    }
    pthread_mutex_unlock(&l->lock);
    return n;
}

static void looker_leave_list(struct jsp_looked **list)
{
    for (struct jsp_looked *t = *list; t; t = t->next)
        jsp_task_close(&t->call);
    *list = NULL;
}

void jsp_looker_leave(struct jsp_looker *l)
{
    looker_leave_list(&l->threads);
    for (int i = 0; i < JSP_LOOKER_GROUPS; i++)
        looker_leave_list(&l->resting[i]);
    if (l->runs)
        jsp_task_close(&l->folder);
}
