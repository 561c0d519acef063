/* sim_handler.c - the handler of a simulated thread: a model of src/sigsafe/sample.c and delay.c,
 * on the real struct jsp_sampled and its ring. A record's `task` is the function, plus 1.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sim.h"

static void handler_push(struct sim_thread *t, uint32_t weight, uint16_t taker)
{
    struct jsp_sampled *s = t->sampled;
    struct jsp_record r = { .time_ns = sim.now, .weight = weight, .taker = taker,
                            .task = t->step.function + 1 };
    jsp_count(&s->expirations, weight);
    if (!jsp_ring_push(&s->ring, (const uint64_t *)(const void *)&r, jsp_record_size(&r)))
        jsp_count(&s->lost[JSP_LOST_RING], weight);
}

/* The timer of the looker's question has brought the thread here. */
static void handler_offer(struct sim_thread *t)
{
    struct jsp_sampled *s = t->sampled;
    handler_push(t, 0, JSP_TAKER_OFFER);
    s->offer_ns[JSP_CLOCK_WALL] = sim.now;
    s->offer_ns[JSP_CLOCK_CPU] = sim_cpu_ns(t);
    s->offer_loss = NULL;
    /* ORDER: relaxed. There is one real thread. */
    atomic_store_explicit(&s->offer, JSP_OFFER_MADE, memory_order_relaxed);
}

static void handler_count(struct sim_thread *t)
{
    struct jsp_sampled *s = t->sampled;
    /* ORDER: relaxed, as above. */
    atomic_store_explicit(&s->waited, 0, memory_order_relaxed);
    handler_push(t, jsp_sampled_take_owed(s), JSP_TAKER_HANDLER);
    s->last_ns[JSP_CLOCK_WALL] = sim.now;
    s->last_ns[JSP_CLOCK_CPU] = sim_cpu_ns(t);
}

/* Set the timer that brings the sample. */
static void handler_draw(struct sim_thread *t)
{
    struct jsp_delay *d = &t->sampled->delay;
    uint64_t at = sim.now + JSP_DELAY_LEAST_NS + sim_random(d->most_ns - JSP_DELAY_LEAST_NS);
    d->is_set = true;
    d->n_set++;
    d->stops = t->stops;
    /* ORDER: relaxed, as above. */
    atomic_store_explicit(&t->sampled->due_ns, at, memory_order_relaxed);
    sim_later(at, t, SIM_LOCAL);
}

/* Return true if the sample comes later: jsp_delay_begin. */
static bool handler_delays(struct sim_thread *t)
{
    struct jsp_sampled *s = t->sampled;
    struct jsp_delay *d = &s->delay;
    uint64_t due = jsp_counted(&s->due_ns), ran = sim_cpu_ns(t);
    if (!sim.setup.is_delayed)
        return false;
    if (d->is_set) {
        bool is_again = sim.now > due + JSP_DELAY_LATE_NS && d->n_set < JSP_DELAY_SETS &&
                        t->stops != d->stops;
        if (is_again)
            handler_draw(t);
        return is_again;
    }
    if (s->told.state != JSP_STATE_UNKNOWN && s->told.state != JSP_STATE_RUNNING)
        return false;
    d->n_set = 0;
    d->most_ns = jsp_delay_most_ns(d, sim.looker.period_ns, t->naps, ran);
    if (d->most_ns)
        handler_draw(t);
    return d->most_ns;
}

void sim_handle(struct sim_thread *t, enum sim_signal signal)
{
    struct jsp_sampled *s = t->sampled;
    t->n_cut += t->is == SIM_ASLEEP;
    /* ORDER: relaxed, as above. */
    if (signal == SIM_DEEP &&
        atomic_load_explicit(&s->offer, memory_order_relaxed) == JSP_OFFER_ASKED) {
        handler_offer(t);
        return;
    }
    /* ORDER: relaxed, as above. */
    if (!atomic_load_explicit(&s->owed, memory_order_relaxed))
        return;
    if (s->delay.is_set && signal != SIM_LOCAL && sim.now < jsp_counted(&s->due_ns))
        return;
    if (!handler_delays(t))
        handler_count(t);
}

static void handler_give(struct sim_thread *t, uint32_t function, uint64_t weight)
{
    t->got[function] += weight;
    t->squares[function] += weight * weight;
}

void sim_drain(struct sim_thread *t)
{
    union {
        struct jsp_record record;
        uint64_t words[sizeof(struct jsp_record) / 8];
    } r;
    if (!t->sampled)
        return;
    while (jsp_ring_pop(&t->sampled->ring, r.words, sizeof r.words / 8) > 0) {
        if (r.record.taker != JSP_TAKER_AGAIN)
            t->last = (uint32_t)r.record.task - 1;
        handler_give(t, t->last, r.record.weight);
    }
}
