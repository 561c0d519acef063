/* sim_thread.c - the threads of the simulated machine: they follow their scripts, and leave.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sim.h"

#include <stdlib.h>

void sim_step_begin(struct sim_thread *t)
{
    t->serial = ++sim.n_serials;
    sim_event_push((struct sim_event){ .at = sim.now + t->left_ns, .serial = t->serial,
                                  .tid = t->tid, .is = EVENT_STEP });
}

/* The thread detaches, and is no more. */
void sim_leave(struct sim_thread *t)
{
    if (!t->is_other) {
        sim_settle(t);
        sim.n_bad += !sim_drain(t);
        sim_sum_up(t);
    }
    sim.n_left++;
    for (uint32_t i = 0; i < sim.n_threads; i++)
        if (sim.threads[i] == t)
            sim.threads[i] = sim.threads[--sim.n_threads];
    free(t->words);
    free(t->sampled);
    free(t);
}

void sim_leavers(void)
{
    struct sim_thread *t = sim.leaving;
    sim.leaving = NULL;
    for (struct sim_thread *next; t; t = next) {
        next = t->next;
        sim_leave(t);
    }
}

static void next_step(struct sim_thread *t)
{
    int c = t->cpu;
    t->step = t->script(t);
    t->n_step++;
    t->left_ns = t->step.ns;
    if (t->step.does == SIM_SLEEP) {
        sim_sleep_for(t, t->step.ns);
    } else if (t->step.does == SIM_MOVES) {
        sim_give_up(t, SIM_ASLEEP);
        t->cpu = (c + 1) % sim.setup.cpus;
        t->serial = 0;
        sim_enqueue(t, false);
        sim_dispatch(t->cpu);
    } else if (t->step.does == SIM_EXIT) {
        if (!t->is_other)
            sim_disarm(t);
        sim_give_up(t, SIM_LEAVES);
        if (sim.in_turn) { /* it waits for the looker's lock */
            t->next = sim.leaving;
            sim.leaving = t;
        } else {
            sim_leave(t);
        }
    } else {
        if (t->step.does == SIM_PAUSED)
            jsp_sampled_pause(t->sampled, 1);
        sim_step_begin(t);
        if (sim.resched[c])
            sim_preempt(c);
    }
}

void sim_step_end(struct sim_thread *t)
{
    sim_charge(t);
    if (t == &sim.self) /* sim_spend waits for it */
        return;
    if (sim_holds_signals(t->step.does)) {
        t->signals |= t->under_way;
        t->under_way = 0;
        sim_take_signals(t);
    }
    if (t->step.does == SIM_PAUSED)
        jsp_sampled_pause(t->sampled, -1);
    next_step(t);
}

static struct sim_thread *thread_new(sim_script *script, bool is_other)
{
    struct sim_thread *t = calloc(1, sizeof *t);
    if (sim.n_threads == sim.room) {
        sim.room = sim.room ? 2 * sim.room : 16;
        sim.threads = realloc(sim.threads, sim.room * sizeof(struct sim_thread *));
    }
    sim.threads[sim.n_threads++] = t;
    t->script = script;
    t->is_other = is_other;
    t->only = -1;
    t->tid = ++sim.n_tids;
    t->cpu = (int)sim_random((uint64_t)sim.setup.cpus);
    t->since = sim.now;
    t->step.does = SIM_RUN;
    t->is = SIM_READY;
    return t;
}

struct sim_thread *sim_other(sim_script *script)
{
    struct sim_thread *t = thread_new(script, true);
    sim_enqueue(t, false);
    sim_dispatch(t->cpu);
    return t;
}

struct sim_thread *sim_thread(sim_script *script)
{
    struct sim_thread *t = thread_new(script, false);
    struct jsp_sampled *s = t->sampled = aligned_alloc(64, (sizeof *s + 63) / 64 * 64);
    memset(s, 0, sizeof *s);
    t->words = calloc(SIM_RING, sizeof *t->words);
    jsp_ring_init(&s->ring, t->words, SIM_RING);
    s->number = (uint64_t)t->tid;
    /* ORDER: relaxed, all. There is one real thread. */
    atomic_store_explicit(&s->is_looked, !sim.setup.has_events, memory_order_relaxed);
    atomic_store_explicit(&s->armed, true, memory_order_relaxed); /* ORDER: as above */
    atomic_store_explicit(&s->owed_ns, UINT64_MAX, memory_order_relaxed); /* ORDER: as above */
    s->ask = &sim.ask;
    t->looked = (struct jsp_looked){ .sampled = s, .tid = t->tid, .cpu_clock = -t->tid,
                                     .has_event = sim.setup.has_events, .news = &t->news };
    jsp_tick_init(&s->tick, sim.looker.period_ns, 0, (uint64_t)t->tid + sim.setup.seed);
    jsp_looker_add(&sim.looker, &t->looked);
    sim_enqueue(t, false);
    sim_dispatch(t->cpu);
    return t;
}
