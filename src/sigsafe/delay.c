/* sigsafe/delay.c - see delay.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "delay.h"

#define DELAY_NS_OF_S 1000000000u

static int delay_set(const struct jsp_delay *d, uint64_t at_ns)
{
    const struct itimerspec when = {
        .it_value = { (time_t)(at_ns / DELAY_NS_OF_S), (long)(at_ns % DELAY_NS_OF_S) },
    };
    return timer_settime(d->timer, TIMER_ABSTIME, &when, NULL);
}

/* Set the timer to a random moment. Return false if a sandbox refuses. */
static bool delay_draw(struct jsp_sampled *self, const struct jsp_arrival *a, uint64_t stops)
{
    struct jsp_delay *d = &self->delay;
    uint64_t by = jsp_tick_random(&self->tick.random) % (d->most_ns - JSP_DELAY_LEAST_NS);
    uint64_t at_ns = a->now_ns[JSP_CLOCK_WALL] + JSP_DELAY_LEAST_NS + by;
    if (delay_set(d, at_ns) != 0)
        return false;
    d->is_set = true;
    d->n_set++;
    d->stops = stops;
    /* ORDER: relaxed. Threads that look from outside take it as a hint. */
    atomic_store_explicit(&self->owed_ns, at_ns, memory_order_relaxed);
    return true;
}

/* The timer's signal has come. Draw again if the thread lost its processor since it was set. */
static bool delay_again(struct jsp_sampled *self, const struct jsp_arrival *a)
{
    struct jsp_delay *d = &self->delay;
    struct rusage used;
    return a->late_ns > JSP_DELAY_LATE_NS && d->n_set < JSP_DELAY_SETS &&
           syscall(SYS_getrusage, RUSAGE_THREAD, &used) == 0 &&
           (uint64_t)used.ru_nivcsw != d->stops &&
           delay_draw(self, a, (uint64_t)used.ru_nivcsw);
}

bool jsp_delay_begin(struct jsp_sampled *self, const struct jsp_arrival *a)
{
    struct jsp_delay *d = &self->delay;
    struct rusage used;
    if (d->is_set)
        return delay_again(self, a);
    if (self->told.state != JSP_STATE_UNKNOWN && self->told.state != JSP_STATE_RUNNING)
        return false;
    d->n_set = 0;
    d->most_ns = 0;
    if (d->has_timer && syscall(SYS_getrusage, RUSAGE_THREAD, &used) == 0)
        d->most_ns = jsp_delay_most_ns(d, self->tick.period_ns, (uint64_t)used.ru_nvcsw,
                                       a->now_ns[JSP_CLOCK_CPU]);
    if (d->most_ns && delay_draw(self, a, (uint64_t)used.ru_nivcsw))
        return true;
    jsp_count(&d->n_prompt, 1);
    return false;
}
