/* sim.c - the simulated machine: its events, its time and the looker's. See sim.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sim.h"

#include <stdlib.h>

struct sim sim;
static struct sim_event *heap;
static uint32_t n_heap, heap_room;

/* -- Events, the earliest first --------------------------------------------- */

void sim_event_push(struct sim_event e)
{
    if (n_heap == heap_room) {
        heap_room = heap_room ? 2 * heap_room : 64;
        heap = realloc(heap, heap_room * sizeof *heap);
    }
    uint32_t i = n_heap++;
    for (; i && heap[(i - 1) / 2].at > e.at; i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = e;
}

static struct sim_event heap_pop(void)
{
    struct sim_event top = heap[0], e = heap[--n_heap];
    uint32_t i = 0;
    for (uint32_t next; (next = 2 * i + 1) < n_heap; i = next) {
        next += next + 1 < n_heap && heap[next + 1].at < heap[next].at;
        if (heap[next].at >= e.at)
            break;
        heap[i] = heap[next];
    }
    heap[i] = e;
    return top;
}

uint64_t sim_random(uint64_t n)
{
    return (jsp_tick_random(&sim.random) >> 16) % n;
}

struct sim_thread *sim_find(pid_t tid)
{
    for (uint32_t i = 0; i < sim.n_threads; i++)
        if (sim.threads[i]->tid == tid)
            return sim.threads[i];
    return tid == sim.self.tid ? &sim.self : NULL;
}

void sim_later(uint64_t at, struct sim_thread *t, enum sim_signal signal)
{
    sim_event_push((struct sim_event){ .at = at, .tid = t->tid, .is = EVENT_SIGNAL,
                                  .signal = signal });
}

/* -- Time ---------------------------------------------------------------------- */

uint64_t sim_cpu_ns(const struct sim_thread *t)
{
    return t->cpu_ns + (t->is == SIM_ON ? sim.now - t->since : 0);
}

void sim_charge(struct sim_thread *t)
{
    uint64_t ns = sim.now - t->since;
    t->since = sim.now;
    if (t->is == SIM_ON) {
        t->cpu_ns += ns;
        if (t->looked.has_event)
            sim_take_events(t);
        t->left_ns -= ns < t->left_ns ? ns : t->left_ns;
        sim.process_ns += t->is_other ? 0 : ns;
        sim.spent_ns += t->is_other ? 0 : ns;
    }
    if (t->is == SIM_READY && !(sim.is_halted && !t->is_other))
        t->waited_ns += ns;
    if (t != &sim.self && (t->is == SIM_ON || sim.setup.is_wall))
        t->true_ns[t->step.function] += ns;
}

void sim_charge_all(void)
{
    sim_charge(&sim.self);
    for (uint32_t i = 0; i < sim.n_threads; i++)
        sim_charge(sim.threads[i]);
}

bool sim_holds_signals(enum sim_does does)
{
    return does == SIM_CALL || does == SIM_BLOCKED || does == SIM_FORKS;
}

bool sim_takes_signals(const struct sim_thread *t)
{
    return !sim_holds_signals(t->step.does) || !t->left_ns;
}

void sim_take_signals(struct sim_thread *t)
{
    for (unsigned one = SIM_LOOK; one <= SIM_DEEP; one <<= 1)
        if (t->signals & one) {
            t->signals &= ~one;
            sim_handle(t, (enum sim_signal)one);
        }
}

/* -- What happens ------------------------------------------------------------- */

static void signal_comes(struct sim_thread *t, enum sim_signal signal)
{
    if (signal == SIM_LOOK && !(t->under_way & SIM_LOOK)) /* a system call has pulled it forward */
        return;
    t->under_way &= ~(unsigned)signal;
    if (t->is == SIM_ASLEEP || (t->is == SIM_ON && sim_takes_signals(t)))
        sim_handle(t, signal);
    else
        t->signals |= signal;
}

static void take_process_off(void)
{
    for (int c = 0; c < sim.setup.cpus; c++)
        if (sim.on[c] && !sim.on[c]->is_other)
            sim_preempt(c);
}

static void dispatch_all(void)
{
    for (int c = 0; c < sim.setup.cpus; c++)
        sim_dispatch(c);
}

static void tick(int c)
{
    struct sim_thread *t = sim.on[c];
    sim_event_push((struct sim_event){ .at = sim.now + SIM_TICK_NS, .tid = c, .is = EVENT_TICK });
    if (!t)
        return;
    sim_charge(t);
    if (t->deep_at && t->cpu_ns >= t->deep_at) {
        t->deep_at = 0;
        signal_comes(t, SIM_DEEP);
    }
    if (sim.alarm_at && !t->is_other && sim.process_ns >= sim.alarm_at) {
        sim.alarm_at = 0;
        if (sim.self.is == SIM_ASLEEP) {
            sim.has_alarm = true;
            sim_wake(&sim.self);
        }
    }
    if (sim.setup.quota_ns && sim.spent_ns >= sim.setup.quota_ns && !sim.is_throttled) {
        sim.is_throttled = true;
        take_process_off();
    } else if (sim.first[c] && sim.on[c] == t &&
               (sim_is_slice_over(t) ||
                (sim.first[c]->is_woken && sim.now - t->given >= SIM_GRAIN_NS))) {
        sim_preempt(c);
    }
}

static void halt(void)
{
    sim_charge_all();
    sim.is_halted = !sim.is_halted;
    if (sim.is_halted) {
        take_process_off();
        sim_event_push((struct sim_event){ .at = sim.setup.halt_until, .is = EVENT_HALT });
    } else if (sim.setup.halt_each) {
        sim.setup.halt_at += sim.setup.halt_each;
        sim.setup.halt_until += sim.setup.halt_each;
        sim_event_push((struct sim_event){ .at = SIM_S + sim.setup.halt_at, .is = EVENT_HALT });
    }
    dispatch_all();
}

static void quota(void)
{
    sim.spent_ns = 0;
    sim.is_throttled = false;
    sim_event_push((struct sim_event){ .at = sim.now + SIM_QUOTA_PERIOD_NS, .is = EVENT_QUOTA });
    dispatch_all();
}

static void happen(void)
{
    struct sim_event e = heap_pop();
    struct sim_thread *t = e.is <= EVENT_SIGNAL ? sim_find(e.tid) : NULL;
    sim.now = e.at;
    if (e.is == EVENT_TICK)
        tick(e.tid);
    else if (e.is == EVENT_QUOTA)
        quota();
    else if (e.is == EVENT_HALT)
        halt();
    else if (t && e.is == EVENT_SIGNAL)
        signal_comes(t, e.signal);
    else if (t && e.serial == t->serial && e.is == EVENT_STEP)
        sim_step_end(t);
    else if (t && e.serial == t->serial && t->is == SIM_ASLEEP) {
        t->serial = 0;
        sim_charge(t);
        t->left_ns = 0;
        sim_wake(t);
    }
}

/* -- The looker's time --------------------------------------------------------- */

void sim_spend(uint64_t ns)
{
    struct sim_thread *self = &sim.self;
    if (!sim.in_turn) /* another thread calls the looker */
        return;
    self->left_ns = ns;
    if (self->is == SIM_ON && heap[0].at > sim.now + ns) { /* nothing happens meanwhile */
        sim.now += ns;
        sim_charge(self);
        return;
    }
    if (self->is == SIM_ON)
        sim_step_begin(self);
    while (self->is != SIM_ON || self->left_ns)
        happen();
}

void sim_rest(uint64_t ns)
{
    struct sim_thread *self = &sim.self;
    uint64_t until = sim.now + ns < sim.end ? sim.now + ns : sim.end;
    self->left_ns = 0;
    sim_sleep_for(self, until > sim.now ? until - sim.now + sim_random(50 * SIM_US) : 0);
    while (self->is != SIM_ON)
        happen();
}

/* -- A machine and its threads ---------------------------------------------------- */

void sim_open(const struct sim_setup *setup)
{
    sim = (struct sim){ .setup = *setup, .now = SIM_S, .random = setup->seed * 2 + 1 };
    n_heap = 0;
    sim.n_serials = 0;
    sim.n_tids = 1000;
    sim.self = (struct sim_thread){ .tid = sim.n_tids, .is = SIM_ON, .only = -1, .since = sim.now,
                                    .given = sim.now, .step.does = SIM_RUN };
    sim.on[0] = &sim.self;
    for (int c = 0; c < setup->cpus; c++)
        sim_event_push((struct sim_event){ .at = sim.now + (uint64_t)(c + 1) * SIM_MS, .tid = c,
                                           .is = EVENT_TICK });
    if (setup->quota_ns)
        sim_event_push((struct sim_event){ .at = sim.now + SIM_QUOTA_PERIOD_NS,
                                           .is = EVENT_QUOTA });
    if (setup->halt_at)
        sim_event_push((struct sim_event){ .at = sim.now + setup->halt_at, .is = EVENT_HALT });
    sim.setup.halt_until += sim.now;
    static struct jsp_sleeper sleeper;
    sim.sleeper = setup->is_wall ? &sleeper : NULL;
    jsp_looker_open(&sim.looker);
    const struct jsp_looker_setup looks = { SIM_S / setup->hz, SIGPROF, sim.sleeper, &sim.ask };
    jsp_looker_begin(&sim.looker, &looks);
    sim.looker.tid = sim.self.tid;
    sim.looker.tick.random = sim.looker.random = sim.random;
    jsp_looker_awake(&sim.looker);
}
