/* session/looker_deep.c - while the looker sleeps deeply, it counts CPU time by the ticks that meet
 * the threads. See looker.h.
 *
 * Each thread has a timer of its own CPU time, whose signal comes with the first tick that meets
 * it: its handler takes a sample. Another timer wakes the looker, which then decides how much time
 * that sample stands for. It would come too late itself: turns of 0.1 ms are over by then.
 *
 * SPDX-License-Identifier: MIT
 */
#include "looker.h"

#include "signals.h"

enum {
    DEEP_OWN_NS = 20000, /* the timer is due after so much of the thread's time: at the next tick */
    DEEP_MOMENT_NS = 100000, /* until a handler is done that began with the alarm; ... */
    DEEP_MOMENTS = 4,    /* ... if it is not, twice as long, so often */
    DEEP_UNMET = 8,      /* ticks of CPU time that turns may have by chance and meet none */
};

/* For so long the looker stays awake after threads had more: they are in step with the tick. */
#define DEEP_STEP_NS UINT64_C(10000000000)

/* -- The threads' timers ------------------------------------------------------ */

static bool deep_set(const struct jsp_looked *t, uint64_t ns)
{
    return jsp_kernel_timer_set(t->timer, ns);
}

void jsp_deep_open(struct jsp_looker *l, struct jsp_looked *t)
{
    const struct jsp_kernel_timer setup = { t->cpu_clock, t->tid, l->signo,
                                            jsp_sample_value(t->sampled->number) };
    t->has_timer = !l->sleeper && l->n < JSP_LOOKER_MANY &&
                   jsp_kernel_timer_open(&t->timer, &setup) == 0;
    l->n_untimed += !t->has_timer;
}

static void deep_delete(const struct jsp_looker *l, struct jsp_looked *t)
{
    t->has_timer = false;
    if (!jsp_kernel_timer_close(t->timer) && !deep_set(t, 0)) /* a sandbox refuses */
        jsp_signals_survives(l->signo);
}

void jsp_deep_close(struct jsp_looker *l, struct jsp_looked *t)
{
    if (t->has_timer)
        deep_delete(l, t);
    else
        l->n_untimed--;
}

/* Disarm the timer, unless it may have expired. Where its signal is pending, the kernel would drop
 * it, and has dropped those of the looker meanwhile. */
static void deep_unset(const struct jsp_looked *t)
{
    if (t->has_timer && jsp_kernel_now_ns(t->cpu_clock) < t->sampled->offer_ns[JSP_CLOCK_CPU])
        deep_set(t, 0);
}

bool jsp_deep_ask(struct jsp_looker *l, struct jsp_looked *t)
{
    if (!t->has_timer)
        return false;
    if (t->is_asked || jsp_counted(&t->sampled->owed)) /* that signal would be dropped, too */
        return true;
    t->rang_ns = jsp_kernel_now_ns(t->cpu_clock);
    jsp_sampled_ask(t->sampled, t->rang_ns + DEEP_OWN_NS);
    t->is_asked = true;
    if (deep_set(t, DEEP_OWN_NS))
        return true;
    deep_delete(l, t);
    l->n_untimed++;
    return false;
}

bool jsp_deep_may(const struct jsp_looker *l)
{
    return !l->sleeper && l->n < JSP_LOOKER_MANY && !l->n_untimed;
}

bool jsp_deep_begin(struct jsp_looker *l)
{
    for (int i = 0; i < JSP_LOOKER_GROUPS; i++)
        if (l->resting[i]) /* not yet */
            return false;
    l->asks = true;
    for (struct jsp_looked *t = l->threads; t && l->asks; t = t->next)
        l->asks = jsp_deep_ask(l, t);
    return l->asks;
}

/* -- What has come of it ---------------------------------------------------- */

/* Return true if the thread has offered a sample, or can offer none: it was not asked, or there was
 * no stack for it. */
static bool deep_is_met(const struct jsp_looked *t, uint64_t ran_ns)
{
    return t->is_asked ? jsp_sampled_offer(t->sampled) == JSP_OFFER_MADE ||
                             jsp_sampled_offer(t->sampled) == JSP_OFFER_NONE
                       : ran_ns > t->ran_ns;
}

/* Return JSP_DEEP_MET if the looker is to look: there is a sample, or none although a thread has
 * run for long. JSP_DEEP_RAN: threads ran before the last alarm, so their handlers are not done,
 * or the tick has met another one. */
static enum jsp_deep deep_look(struct jsp_looker *l, bool is_alarm)
{
    bool has_rung = is_alarm ? false : l->has_rung;
    for (struct jsp_looked *t = l->threads; t; t = t->next) {
        uint64_t ran = jsp_kernel_now_ns(t->cpu_clock), by = ran > t->ran_ns ? ran - t->ran_ns : 0;
        if (deep_is_met(t, ran))
            return JSP_DEEP_MET;
        if (by > DEEP_UNMET * l->tick_ns) {
            l->awake_ns = jsp_kernel_now_ns(CLOCK_MONOTONIC) + DEEP_STEP_NS;
            return JSP_DEEP_MET;
        }
        if (!is_alarm)
            continue;
        has_rung |= by >= DEEP_OWN_NS && ran != t->rang_ns;
        t->rang_ns = ran;
    }
    l->has_rung = has_rung;
    return has_rung ? JSP_DEEP_RAN : JSP_DEEP_STILL;
}

uint64_t jsp_deep_goes_on(struct jsp_looker *l, bool is_alarm)
{
    enum jsp_deep is = deep_look(l, is_alarm);
    l->n_moments = is_alarm ? 0 : l->n_moments + 1;
    l->asks = is != JSP_DEEP_MET && l->has_alarm;
    l->is_deep = false;
    if (!l->asks)
        return 0;
    /* After the alarm, the handler may come a moment later than we. */
    if (is == JSP_DEEP_RAN && l->n_moments < DEEP_MOMENTS)
        return (uint64_t)DEEP_MOMENT_NS << l->n_moments;
    l->is_deep = true;
    l->has_rung = false;
    return JSP_LOOKER_DEEPLY;
}

/* Return how many points the sample of the tick stands for, if the thread had run for `ran_ns`
 * since it was asked. */
static uint64_t deep_points(struct jsp_looker *l, struct jsp_looked *t, uint64_t ran_ns)
{
    bool is_short = t->is_short && t->n_still < JSP_LOOKER_AWAKE;
    t->balance += jsp_looker_periods(l, ran_ns);
    return jsp_looker_repay(l, is_short ? jsp_looker_turns(l, t)
                                        : jsp_looker_tick(l, t, 1, ran_ns));
}

enum jsp_deep jsp_deep_end(struct jsp_looker *l, struct jsp_looked *t, enum jsp_put_as as)
{
    struct jsp_sampled *s = t->sampled;
    if (!t->is_asked)
        return JSP_DEEP_STILL;
    if (jsp_sampled_unask(s)) {
        deep_unset(t);
        t->is_asked = false;
        return JSP_DEEP_STILL;
    }
    bool is_made = jsp_sampled_offer(s) == JSP_OFFER_MADE;
    /* the owner thread may be about to use the ring */
    if (as != JSP_PUT_DISARMED && (!is_made || jsp_sampled_inside(s) || jsp_sampled_busy(s)))
        return JSP_DEEP_RAN;
    t->is_asked = false;
    t->has_offered = is_made;
    if (!is_made) /* its handler finds that it is disarmed */
        return JSP_DEEP_STILL;
    uint64_t at = s->offer_ns[JSP_CLOCK_CPU];
    uint64_t points = deep_points(l, t, at > t->ran_ns ? at - t->ran_ns : 0);
    if (jsp_sampled_accept(s, (uint32_t)points, as) == JSP_PUT_BUSY)
        t->debt += points; /* it is about to leave */
    jsp_looked_note(t);
    t->ran_ns = at > t->ran_ns ? at : t->ran_ns;
    return JSP_DEEP_MET;
}

void jsp_deep_settle(const struct jsp_looker *l, struct jsp_looked *t)
{
    uint64_t ran = jsp_kernel_now_ns(t->cpu_clock);
    if (!t->has_offered || !t->is_short || ran < t->ran_ns)
        return;
    t->balance += jsp_looker_periods(l, ran - t->ran_ns);
    t->ran_ns = ran;
    int64_t points = t->balance / JSP_LOOKER_WHOLE;
    if (points > 0 &&
        jsp_sampled_accept(t->sampled, (uint32_t)points, JSP_PUT_DISARMED) != JSP_PUT_BUSY)
        t->balance -= points * JSP_LOOKER_WHOLE;
}
