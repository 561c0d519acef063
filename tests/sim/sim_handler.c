/* sim_handler.c - the handler of a simulated thread: a model of src/sigsafe/sample.c and delay.c,
 * on the real struct jsp_sampled and its ring. A record's `task` is the function, plus 1.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sim.h"

/* Return the counter of the reason why no sample is kept now, or NULL. */
static _Atomic uint64_t *handler_loss(const struct sim_thread *t)
{
    struct jsp_sampled *s = t->sampled;
    return s->paused                     ? &s->lost[JSP_LOST_PAUSED]
           : t->step.does == SIM_BLOCKED ? &s->lost[JSP_LOST_BLOCKED]
                                         : NULL;
}

/* Store a record, if nothing counts it. Return what does. */
static _Atomic uint64_t *handler_push(struct sim_thread *t, uint32_t weight, uint16_t taker)
{
    struct jsp_sampled *s = t->sampled;
    struct jsp_record r = { .time_ns = sim.now, .weight = weight, .taker = taker,
                            .waited = s->met_waited, .task = t->step.function + 1,
                            .state = s->met };
    _Atomic uint64_t *loss = handler_loss(t);
    jsp_count(&s->expirations, weight);
    if (!loss &&
        !jsp_ring_push(&s->ring, (const uint64_t *)(const void *)&r, jsp_record_size(&r)))
        loss = &s->lost[JSP_LOST_RING];
    if (loss)
        jsp_count(loss, weight);
    return loss;
}

/* The timer of the looker's question has brought the thread here. */
static void handler_offer(struct sim_thread *t)
{
    struct jsp_sampled *s = t->sampled;
    s->met = (struct jsp_rec_state){ 0 };
    s->met_waited = 0;
    s->offer_loss = handler_push(t, 0, JSP_TAKER_OFFER);
    s->offer_ns[JSP_CLOCK_WALL] = sim.now;
    s->offer_ns[JSP_CLOCK_CPU] = sim_cpu_ns(t);
    /* ORDER: relaxed. There is one real thread. */
    atomic_store_explicit(&s->offer, JSP_OFFER_MADE, memory_order_relaxed);
}

/* As sample_weigh. */
static uint32_t handler_weigh(struct jsp_sampled *s)
{
    s->met = s->told;
    /* ORDER: relaxed, as above. */
    uint64_t waited = atomic_exchange_explicit(&s->waited, 0, memory_order_relaxed);
    uint32_t weight = jsp_sampled_take_owed(s);
    s->met_waited = waited < weight ? (uint32_t)waited : weight;
    /* ORDER: relaxed, as above. */
    atomic_fetch_add_explicit(&s->waited, waited - s->met_waited, memory_order_relaxed);
    return weight;
}

static void handler_count(struct sim_thread *t)
{
    struct jsp_sampled *s = t->sampled;
    handler_push(t, handler_weigh(s), JSP_TAKER_HANDLER);
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
    atomic_store_explicit(&t->sampled->owed_ns, at, memory_order_relaxed);
    sim_later(at, t, SIM_LOCAL);
}

/* Return true if the sample comes later: jsp_delay_begin. */
static bool handler_delays(struct sim_thread *t)
{
    struct jsp_sampled *s = t->sampled;
    struct jsp_delay *d = &s->delay;
    uint64_t due = jsp_counted(&s->owed_ns), ran = sim_cpu_ns(t);
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
    if (s->delay.is_set && signal != SIM_LOCAL && sim.now < jsp_counted(&s->owed_ns))
        return;
    if (handler_loss(t) || !handler_delays(t))
        handler_count(t);
}

void sim_take_events(struct sim_thread *t)
{
    struct jsp_sampled *s = t->sampled;
    uint32_t n = jsp_tick_passed(&s->tick, t->cpu_ns);
    t->n_events += n;
    if (n) {
        /* ORDER: relaxed, both, as above. */
        atomic_store_explicit(&s->timer.naps, t->naps, memory_order_relaxed);
        atomic_store_explicit(&s->timer.stops, t->stops, memory_order_relaxed); /* ORDER: above */
    }
    s->met = (struct jsp_rec_state){ .state = JSP_STATE_RUNNING };
    s->met_waited = 0;
    for (; n; n--)
        handler_push(t, 1, JSP_TAKER_HANDLER);
}

static void handler_give(struct sim_thread *t, uint32_t function, uint64_t weight)
{
    t->got[function] += weight;
    t->squares[function] += weight * weight;
}

bool sim_drain(struct sim_thread *t)
{
    union {
        struct jsp_record record;
        uint64_t words[sizeof(struct jsp_record) / 8];
    } r;
    while (jsp_ring_pop(&t->sampled->ring, r.words, sizeof r.words / 8) > 0) {
        uint32_t function = (uint32_t)r.record.task - 1;
        if (r.record.taker == JSP_TAKER_LOOKER || r.record.taker == JSP_TAKER_OFFER)
            t->last = function;
        handler_give(t, r.record.taker == JSP_TAKER_AGAIN ? t->last : function, r.record.weight);
        t->popped += r.record.weight;
        t->waited += r.record.waited;
        t->stopped += r.record.state.state == JSP_STATE_STOPPED ? r.record.weight : 0;
    }
    uint64_t lost = 0;
    for (int cause = 0; cause < JSP_N_LOSSES; cause++)
        lost += jsp_counted(&t->sampled->lost[cause]);
    return t->popped + lost == jsp_counted(&t->sampled->expirations);
}
