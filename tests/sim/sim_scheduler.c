/* sim_scheduler.c - which thread of the simulated machine has a processor.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sim.h"

static bool is_inside(const struct sim_thread *t)
{
    return t->step.does == SIM_CALL && t->left_ns;
}

bool sim_may_run(const struct sim_thread *t)
{
    return t->is_other || !(sim.is_throttled || sim.is_halted);
}

void sim_enqueue(struct sim_thread *t, bool is_first)
{
    int c = t->cpu;
    sim_charge(t);
    t->is = SIM_READY;
    t->is_woken = is_first;
    t->next = is_first ? sim.first[c] : NULL;
    if (is_first) {
        sim.first[c] = t;
        sim.last[c] = sim.last[c] ? sim.last[c] : t;
        return;
    }
    if (sim.last[c])
        sim.last[c]->next = t;
    else
        sim.first[c] = t;
    sim.last[c] = t;
}

/* Take the first thread that may run on processor `c` from the queue of `from`, or NULL. */
static struct sim_thread *dequeue(int from, int c)
{
    struct sim_thread **link = &sim.first[from], *t, *before = NULL;
    while (*link && !(sim_may_run(*link) && (from == c || (*link)->only < 0))) {
        before = *link;
        link = &(*link)->next;
    }
    t = *link;
    if (!t)
        return NULL;
    *link = t->next;
    if (sim.last[from] == t)
        sim.last[from] = before;
    t->cpu = c;
    return t;
}

void sim_dispatch(int c)
{
    if (sim.on[c])
        return;
    struct sim_thread *t = dequeue(c, c);
    for (int from = 0; !t && from < sim.setup.cpus; from++)
        t = dequeue(from, c);
    if (!t)
        return;
    sim_charge(t);
    t->is = SIM_ON;
    t->given = sim.now;
    if (t == &sim.self)
        t->until_ns = sim.now;
    sim.on[c] = t;
    sim_step_begin(t);
    if (sim_takes_signals(t))
        sim_take_signals(t);
}

bool sim_is_slice_over(const struct sim_thread *t)
{
    return t->cpu_ns - t->slice_ns >= SIM_SLICE_NS;
}

/* Let a thread wait that has lost its processor: until all others had theirs if its slice is over,
 * else only while the thread runs that woke up. */
static void put_off(struct sim_thread *t)
{
    struct sim_thread *woken = sim.first[t->cpu];
    sim_charge(t);
    if (sim_is_slice_over(t) || !woken || !woken->is_woken) {
        t->slice_ns = t->cpu_ns;
        sim_enqueue(t, false);
        return;
    }
    t->is = SIM_READY;
    t->is_woken = false;
    t->next = woken->next;
    woken->next = t;
    if (sim.last[t->cpu] == woken)
        sim.last[t->cpu] = t;
}

void sim_preempt(int c)
{
    struct sim_thread *t = sim.on[c];
    sim.resched[c] = t && is_inside(t);
    if (!t || sim.resched[c])
        return;
    t->stops++;
    if (t != &sim.self)
        t->until_ns = sim.now;
    t->serial = 0;
    sim.on[c] = NULL;
    put_off(t);
    sim_dispatch(c);
}

void sim_wake(struct sim_thread *t)
{
    int cpus = sim.setup.cpus;
    if (t->only < 0 && sim.on[t->cpu])
        for (int c = 0; c < cpus; c++)
            if (!sim.on[c] || (sim.on[t->cpu] && sim.on[c]->given < sim.on[t->cpu]->given))
                t->cpu = c;
    sim_enqueue(t, true);
    struct sim_thread *on = sim.on[t->cpu];
    bool is_late = on && t == &sim.self && sim_random(1000) < sim.setup.late_of_1000;
    if (!on)
        sim_dispatch(t->cpu);
    else if (!is_late && sim.now - on->given >= SIM_GRAIN_NS && sim_may_run(t))
        sim_preempt(t->cpu);
}

void sim_give_up(struct sim_thread *t, enum sim_is is)
{
    int c = t->cpu;
    sim_charge(t);
    t->is = is;
    t->slice_ns = t->cpu_ns;
    t->until_ns = sim.now;
    t->serial = ++sim.n_serials;
    sim.on[c] = NULL;
    sim.resched[c] = false;
    sim_dispatch(c);
}

void sim_sleep_for(struct sim_thread *t, uint64_t ns)
{
    t->naps++;
    sim_give_up(t, SIM_ASLEEP);
    sim_event_push((struct sim_event){ .at = sim.now + ns, .serial = t->serial, .tid = t->tid,
                                  .is = EVENT_WAKE });
}
