/* sim_kernel.c - src/session/kernel.h on the simulated machine, and the walk of a sleeper. What the
 * real kernel takes for a question, the looker spends here.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sim.h"

enum {
    COST_NOW = 30, COST_CLOCK = 300, COST_AT = 3400, COST_NAPS = 25000, COST_HERE = 15000,
    COST_DELAY = 8000, COST_UNTIL = 6000, COST_SEND = 1500, COST_WALK = 5000, COST_WAKE = 5000,
    ALARM = 1, /* the number of the alarm's timer; the others have their thread's */
};

static struct jsp_record kernel_walked; /* the last walk of a sleeper */

uint64_t jsp_kernel_now_ns(clockid_t clock)
{
    sim_spend(clock == CLOCK_MONOTONIC ? COST_NOW : COST_CLOCK);
    if (clock == CLOCK_MONOTONIC)
        return sim.now;
    const struct sim_thread *t = sim_find(-clock);
    return t && t->is != SIM_GONE ? sim_cpu_ns(t) : 0;
}

static uint64_t way_ns(void)
{
    return sim_random(8) ? SIM_WAY_FROM_NS + sim_random(SIM_WAY_TO_NS - SIM_WAY_FROM_NS)
                         : SIM_WAY_LEAST_NS + sim_random(SIM_WAY_MOST_NS - SIM_WAY_LEAST_NS);
}

int jsp_kernel_send(pid_t pid, pid_t tid, int signo, siginfo_t *info)
{
    (void)pid;
    (void)info;
    sim_spend(COST_SEND);
    struct sim_thread *t = sim_find(tid);
    if (!t || !signo)
        return t ? 0 : -ESRCH;
    if (t->is == SIM_READY) {
        t->signals |= SIM_LOOK;
        return 0;
    }
    t->under_way |= SIM_LOOK;
    sim_later(sim.now + way_ns(), t, SIM_LOOK);
    return 0;
}

static timer_t timer_of(uintptr_t number)
{
    return (timer_t)(void *)number;
}

int jsp_kernel_timer_open(timer_t *timer, const struct jsp_kernel_timer *setup)
{
    bool is_alarm = setup->clock == CLOCK_PROCESS_CPUTIME_ID;
    *timer = timer_of(is_alarm ? (uintptr_t)ALARM : (uintptr_t)setup->tid);
    return 0;
}

bool jsp_kernel_timer_set(timer_t timer, uint64_t ns)
{
    if (timer == timer_of(ALARM)) {
        sim.alarm_at = ns ? sim.process_ns + ns : 0;
        return true;
    }
    struct sim_thread *t = sim_find((pid_t)(uintptr_t)timer);
    if (t)
        t->deep_at = ns ? sim_cpu_ns(t) + ns : 0;
    return t;
}

bool jsp_kernel_timer_close(timer_t timer)
{
    return jsp_kernel_timer_set(timer, 0) || true;
}

bool jsp_kernel_sleep(int signo, uint64_t ns)
{
    (void)signo;
    sim.has_alarm = false;
    sim.in_turn = false;
    sim_leavers();
    sim_rest(ns);
    sim.in_turn = true;
    sim_spend(COST_WAKE);
    return sim.has_alarm;
}

uint64_t jsp_kernel_tick_ns(void)
{
    return SIM_TICK_NS;
}

uint64_t jsp_kernel_most_files(void)
{
    return 0;
}

int jsp_kernel_try(const struct jsp_task_file *folder, pid_t pid)
{
    (void)folder;
    (void)pid;
    return 0;
}

struct jsp_sleep jsp_kernel_at(const struct jsp_task_file *folder, pid_t tid,
                               struct jsp_task_file *call)
{
    (void)folder;
    (void)call;
    sim_spend(COST_AT);
    const struct sim_thread *t = sim_find(tid);
    struct jsp_sleep at = { .is = JSP_SLEEP_READY };
    if (!t || t->is == SIM_GONE)
        at.is = JSP_SLEEP_GONE;
    else if (t->is == SIM_ASLEEP || t->is == SIM_LEAVES)
        at.is = JSP_SLEEP_ASLEEP;
    return at;
}

struct jsp_rec_state jsp_kernel_state(const struct jsp_task_file *folder, pid_t tid,
                                      const struct jsp_sleep *at, uint64_t asleep_ns)
{
    (void)folder;
    (void)tid;
    (void)at;
    return (struct jsp_rec_state){ .state = JSP_STATE_ASLEEP, .asleep_ns = asleep_ns };
}

bool jsp_kernel_switches(const struct jsp_task_file *folder, pid_t tid, struct jsp_switches *out)
{
    (void)folder;
    sim_spend(COST_NAPS);
    const struct sim_thread *t = sim_find(tid);
    if (t)
        *out = (struct jsp_switches){ t->naps, t->stops };
    return t;
}

bool jsp_kernel_is_here(const struct jsp_task_file *folder, pid_t tid)
{
    (void)folder;
    sim_spend(COST_HERE);
    const struct sim_thread *t = sim_find(tid);
    return t && t->cpu == sim.self.cpu;
}

uint64_t jsp_kernel_delay_ns(const struct jsp_task_file *folder, pid_t tid)
{
    (void)folder;
    sim_spend(COST_DELAY);
    const struct sim_thread *t = sim_find(tid);
    return t ? t->waited_ns + 1 : 0; /* a real thread has waited before it ran */
}

uint64_t jsp_kernel_until_ns(const struct jsp_task_file *folder, pid_t tid)
{
    (void)folder;
    sim_spend(COST_UNTIL);
    const struct sim_thread *t = sim_find(tid);
    return t ? t->until_ns : 0;
}

enum jsp_sleep_walk jsp_sleeper_walk(struct jsp_sleeper *z, const struct jsp_sampled *s,
                                     const struct jsp_sleep *at)
{
    (void)z;
    (void)at;
    sim_spend(COST_WALK);
    const struct sim_thread *t = sim_find((pid_t)s->number);
    kernel_walked = (struct jsp_record){ .task = t->step.function + 1 };
    return s->paused ? JSP_SLEEP_PAUSED : JSP_SLEEP_WALKED;
}

void jsp_sleeper_note(struct jsp_sleeper *z, const struct jsp_sampled *t)
{
    (void)z;
    (void)t;
}

struct jsp_record *jsp_sleeper_record(const struct jsp_sleeper *z)
{
    (void)z;
    return &kernel_walked;
}
