/* session/looked.c - one thread under the looker: its expirations and its signals. See looker.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "looker.h"

#include "sigsafe/hidden.h"
#include "unseen.h"

enum {
    LOOKED_LEEWAY = JSP_LOOKER_WHOLE, /* chance alone may move the balance so far ... */
    LOOKED_CHANCE = 2 * JSP_LOOKER_WHOLE, /* ... and so far where looks draw each point */
    LOOKED_MUCH = 16, /* make up for a 16th of the balance at once */
    LOOKED_BACK = 16, /* and give back a 16th of what was borrowed */
    LOOKED_OVER = 8,  /* periods that threads may leave with too many expirations */
    LOOKED_SAME_NS = 1000, /* moments of one switch */
};

void jsp_looked_note(const struct jsp_looked *t)
{
    /* ORDER: release, pairs with the acquire of the drain: `owed`, or the sample, is seen. */
    atomic_fetch_add_explicit(t->news, 1, memory_order_release);
}

int jsp_looker_queue(const struct jsp_looker *l, pid_t tid, int signo, uint64_t number)
{
    /* Exec drops a timer's signals only. Others stay pending, and would end the new program. */
    siginfo_t info = { .si_signo = signo, .si_code = SI_TIMER };
    info.si_value.sival_ptr = jsp_sample_value(number);
    jsp_sample_set_sent_ns(&info, jsp_kernel_now_ns(CLOCK_MONOTONIC));
    return jsp_kernel_send(l->pid, tid, signo, &info);
}

bool jsp_looker_dozes(const struct jsp_looker *l, struct jsp_looked *t)
{
    return jsp_kernel_at(&l->folder, t->tid, &t->call).is == JSP_SLEEP_ASLEEP;
}

enum jsp_looker_took jsp_looker_took(struct jsp_looker *l, const struct jsp_looked *t)
{
    if (l->has_taken) /* we have one processor */
        return JSP_LOOKER_NOT;
    if (!l->came_ns)
        l->came_ns = jsp_kernel_until_ns(&l->folder, l->tid);
    uint64_t until_ns = l->came_ns ? jsp_kernel_until_ns(&l->folder, t->tid) : 0;
    if (!until_ns)
        return JSP_LOOKER_PERHAPS;
    uint64_t apart = until_ns > l->came_ns ? until_ns - l->came_ns : l->came_ns - until_ns;
    l->has_taken = apart < LOOKED_SAME_NS;
    return l->has_taken ? JSP_LOOKER_TOOK : JSP_LOOKER_NOT;
}

static void looked_send(const struct jsp_looker *l, struct jsp_looked *t, uint64_t now)
{
    t->sent_ns = now;
    t->waited = 0;
    jsp_looked_note(t);
    jsp_looker_queue(l, t->tid, l->signo, t->sampled->number);
}

bool jsp_looker_owe_more(struct jsp_looked *t)
{
    /* L1. ORDER: acquire, pairs with the handler's exchange: it is done with owed_ns. */
    uint64_t owed = atomic_load_explicit(&t->sampled->owed, memory_order_acquire);
    while (owed) {
        /* ORDER: acq_rel, as above and below. */
        if (atomic_compare_exchange_weak_explicit(&t->sampled->owed, &owed, owed + t->debt,
                                                  memory_order_acq_rel, /* ORDER: as above */
                                                  memory_order_acquire)) { /* ORDER: above */
            t->debt = 0;
            return true;
        }
    }
    return false;
}

/* Send the signal again: a handler of the host may have had it, or it was ignored. One that
 * still waits stays alone, because the kernel queues every real-time signal. */
static void looked_send_again(const struct jsp_looker *l, struct jsp_looked *t, uint64_t now)
{
    t->sent_ns = now;
    if (!jsp_unseen_waits(t->tid, l->signo))
        looked_send(l, t, now);
}

/* Report the thread's expirations by a signal, unless the last sample asked for a rest. A
 * signal that nobody took is sent again after some time. */
void jsp_looker_report(const struct jsp_looker *l, struct jsp_looked *t, uint64_t now)
{
    struct jsp_sampled *s = t->sampled;
    if (jsp_looker_owe_more(t)) {
        if (now - t->sent_ns >= JSP_HIDDEN_AGAIN_NS)
            looked_send_again(l, t, now);
        return;
    }
    /* ORDER: relaxed. A hint. */
    if (!t->debt || t->waited <= atomic_load_explicit(&s->rest, memory_order_relaxed))
        return;
    s->told = t->state;
    s->told_awake = t->is_awake;
    s->told_ran_ns = t->ran_ns;
    t->has_offered = false;
    /* ORDER: relaxed. The release below publishes it. */
    atomic_store_explicit(&s->owed_ns, now, memory_order_relaxed);
    /* L1. ORDER: release, pairs with the acquire of the handler that sees a weight. */
    atomic_store_explicit(&s->owed, t->debt, memory_order_release);
    t->debt = 0;
    looked_send(l, t, now);
}

/* Return how many of the points met the thread, if it had a processor for `ran_ns` of the
 * time: on average its share, in whole numbers. */
uint64_t jsp_looker_share(struct jsp_looker *l, const struct jsp_looker_moment *m,
                          uint64_t ran_ns)
{
    uint64_t since = m->since ? m->since : 1, ran = ran_ns < since ? ran_ns : since;
    unsigned __int128 exact = ((unsigned __int128)m->points * ran << 32) / since;
    uint64_t whole = (uint64_t)(exact >> 32);
    return whole + ((jsp_tick_random(&l->random) >> 32) < (uint32_t)exact);
}

int64_t jsp_looker_periods(const struct jsp_looker *l, uint64_t ns)
{
    return (int64_t)((unsigned __int128)ns * JSP_LOOKER_WHOLE / l->period_ns);
}

/* Return the balance as if nothing was borrowed, a part of which is given back. */
static int64_t looked_balance(struct jsp_looked *t)
{
    t->borrowed -= t->borrowed / LOOKED_BACK;
    return t->balance + t->borrowed;
}

/* Return the points after this look of a thread that ran for `ran_ns`, given those found:
 * keep their sum near the CPU time. */
uint64_t jsp_looker_balance(const struct jsp_looker *l, struct jsp_looked *t, uint64_t ran_ns,
                               uint64_t points)
{
    t->balance += jsp_looker_periods(l, ran_ns);
    t->balance -= (int64_t)points * JSP_LOOKER_WHOLE;
    int64_t balance = looked_balance(t), by = 0;
    if (balance > LOOKED_LEEWAY)
        by = (balance - LOOKED_LEEWAY) / JSP_LOOKER_WHOLE;
    else if (balance < -LOOKED_LEEWAY)
        by = (balance + LOOKED_LEEWAY) / JSP_LOOKER_WHOLE;
    by = by < -(int64_t)points ? -(int64_t)points : by;
    t->balance -= by * JSP_LOOKER_WHOLE;
    return (uint64_t)((int64_t)points + by);
}

uint64_t jsp_looker_meet(const struct jsp_looker *l, struct jsp_looked *t)
{
    int64_t most = LOOKED_CHANCE + (int64_t)l->n_extra * JSP_LOOKER_WHOLE;
    int64_t balance = looked_balance(t) - JSP_LOOKER_WHOLE;
    if (balance < -LOOKED_CHANCE)
        return 0;
    t->balance -= JSP_LOOKER_WHOLE;
    if (balance <= most)
        return 1;
    int64_t by = 1 + balance / JSP_LOOKER_WHOLE / LOOKED_MUCH;
    t->balance -= by * JSP_LOOKER_WHOLE;
    return 1 + (uint64_t)by;
}

uint64_t jsp_looker_repay(struct jsp_looker *l, uint64_t points)
{
    for (; points && l->carry < -LOOKED_OVER * JSP_LOOKER_WHOLE; points--)
        l->carry += JSP_LOOKER_WHOLE;
    return points;
}

/* The first tick comes anywhere in a tick's time after the thread woke up. After so much of it,
 * the chance to come now is one over the time that is left, and that time is what one such sample
 * stands for: on average each moment before the tick has its time, and those after it have looks of
 * their own. If the thread has run for longer, it was in several turns that no tick has met, and
 * nobody knows when the last one began. */
uint64_t jsp_looker_tick(struct jsp_looker *l, struct jsp_looked *t, uint32_t n_met,
                         uint64_t ran_ns)
{
    uint64_t left_ns = ran_ns < l->tick_ns ? l->tick_ns - ran_ns : l->tick_ns;
    uint64_t exact = (uint64_t)jsp_looker_periods(l, left_ns / n_met);
    uint64_t points = (exact + (jsp_tick_random(&l->random) >> 32) % JSP_LOOKER_WHOLE) /
                      JSP_LOOKER_WHOLE;
    t->balance -= (int64_t)points * JSP_LOOKER_WHOLE;
    t->borrowed += (int64_t)points * JSP_LOOKER_WHOLE - jsp_looker_periods(l, ran_ns);
    return points;
}

/* Any moment of such turns may be met, so each sample may stand for all the time before it. The
 * part of a period that is left makes one of them at random, and the rest is for the next. */
uint64_t jsp_looker_turns(struct jsp_looker *l, struct jsp_looked *t)
{
    int64_t part = (int64_t)(jsp_tick_random(&l->random) >> 32) % JSP_LOOKER_WHOLE;
    int64_t points = (looked_balance(t) + part) / JSP_LOOKER_WHOLE;
    points = points > 0 ? points : 0;
    t->balance -= points * JSP_LOOKER_WHOLE;
    return (uint64_t)points;
}
