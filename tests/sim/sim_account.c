/* sim_account.c - what became of each point of time on the simulated machine.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sim.h"

#include <math.h>
#include <stdio.h>

void sim_sum_up(const struct sim_thread *t)
{
    for (int f = 0; f < SIM_FUNCTIONS; f++) {
        sim.gone.true_ns[f] += t->true_ns[f];
        sim.gone.got[f] += t->got[f];
        sim.gone.squares[f] += t->squares[f];
    }
    for (int cause = 0; cause < JSP_N_LOSSES; cause++)
        sim.gone.lost[cause] += jsp_counted(&t->sampled->lost[cause]);
    sim.gone.waited += t->waited;
    sim.gone.stopped += t->stopped;
    sim.gone.true_waited_ns += t->waited_ns;
    sim.gone.n_cut += t->n_cut;
    sim.gone.undelivered += t->undelivered;
}

void sim_disarm(struct sim_thread *t)
{
    /* ORDER: relaxed. There is one real thread. */
    atomic_store_explicit(&t->sampled->armed, false, memory_order_relaxed);
}

/* Note the time and the points of a thread that leaves. */
void sim_settle(struct sim_thread *t)
{
    uint64_t time = sim.setup.is_wall ? sim.now - t->looked.added_ns
                                      : sim_cpu_ns(t) - t->begun_ns;
    sim_disarm(t);
    t->undelivered = jsp_looker_remove(&sim.looker, &t->looked) +
                     jsp_sampled_take_owed(t->sampled);
    uint64_t had = t->undelivered + jsp_counted(&t->sampled->expirations) - t->n_events;
    sim.left_time += jsp_looker_periods(&sim.looker, time);
    if (t->looked.has_event)
        sim.left_time -= jsp_looker_periods(&sim.looker, sim_cpu_ns(t) - t->begun_ns);
    sim.left_points += (int64_t)had * JSP_LOOKER_WHOLE;
    sim.slack++;
}

/* Return the points at which the looker has found that the thread ran, in JSP_LOOKER_WHOLEths. */
static int64_t ran(const struct sim_thread *t)
{
    return jsp_looker_periods(&sim.looker, t->looked.ran_ns - t->begun_ns) - t->looked.balance;
}

/* Points drawn = points reported + points owed, for this thread and its clock. Those of its event
 * are apart, and the looker leaves out those at which it ran. */
static void check(const struct sim_thread *t)
{
    const struct jsp_looked *k = &t->looked;
    int64_t whole = JSP_LOOKER_WHOLE;
    const struct jsp_sampled *s = t->sampled;
    uint64_t had = jsp_counted(&s->expirations) - t->n_events + jsp_counted(&s->owed) + k->debt;
    int64_t off;
    if (sim.setup.is_wall)
        off = (int64_t)(k->n_points - had - k->again - k->ran) -
              (k->rest + k->slept + k->stood + k->halted) -
              (k->has_event ? (ran(t) + whole / 2) / whole : 0);
    else
        off = ran(t) / whole - (int64_t)had;
    /* on the CPU clock each look rounds; a point that pays back for threads that are gone was
     * drawn, and nobody has it */
    bool is_rounded = !sim.setup.is_wall || k->has_event;
    int64_t most = is_rounded ? 1 + (int64_t)(sim.n_looks >> 16) : 0;
    bool is_bad = off < -most || (off > most && !sim.n_left);
    if (is_bad && !sim.n_bad++)
        printf("# account of thread %d is off by %lld points at %llu us\n", (int)t->tid,
               (long long)off, (unsigned long long)(sim.now / SIM_US));
}

/* Return the points of the thread that no sample or loss has counted yet, in
 * JSP_LOOKER_WHOLEths. */
static int64_t held(const struct sim_thread *t)
{
    const struct jsp_looked *k = &t->looked;
    int64_t points = (int64_t)(k->debt + jsp_counted(&t->sampled->owed));
    if (!sim.setup.is_wall)
        return points * JSP_LOOKER_WHOLE + k->balance;
    points += (int64_t)(k->again + k->ran) + k->rest + k->slept + k->stood + k->halted;
    return points * JSP_LOOKER_WHOLE;
}

/* Of all threads together, also of those that have left: points drawn = points owed + points
 * sampled + each loss + what the looker carries over to other threads. */
static void check_all(void)
{
    int64_t drawn = sim.left_time, known = sim.left_points + sim.looker.carry;
    for (uint32_t i = 0; i < sim.n_threads; i++) {
        struct sim_thread *t = sim.threads[i];
        if (t->is_other)
            continue;
        bool is_rounded = !sim.setup.is_wall || t->looked.has_event;
        uint64_t had = jsp_counted(&t->sampled->expirations) - t->n_events;
        drawn += sim.setup.is_wall
                     ? (int64_t)t->looked.n_points * JSP_LOOKER_WHOLE
                     : jsp_looker_periods(&sim.looker, t->looked.ran_ns - t->begun_ns);
        drawn -= t->looked.has_event ? ran(t) : 0;
        known += held(t) + (int64_t)had * JSP_LOOKER_WHOLE;
        /* a look at a thread that ran rounds its time down, and an offer before that, too */
        sim.slack += is_rounded && t->looked.ran_ns != t->checked_ns ? 2 : 0;
        t->checked_ns = t->looked.ran_ns;
    }
    int64_t off = drawn - known;
    if ((off < -sim.slack || off > sim.slack) && !sim.n_bad++)
        printf("# the account of all is off by %.2f points at %llu us\n",
               (double)off / JSP_LOOKER_WHOLE, (unsigned long long)(sim.now / SIM_US));
}

static void drain_all(void)
{
    if (sim.now < sim.drained_at + sim.setup.drain_ns)
        return;
    sim.drained_at = sim.now;
    for (uint32_t i = 0; i < sim.n_threads; i++)
        if (!sim.threads[i]->is_other)
            sim.n_bad += !sim_drain(sim.threads[i]);
}

void sim_pass(uint64_t ns)
{
    static bool is_alarm;
    sim.end = sim.now + ns;
    pthread_mutex_lock(&sim.looker.lock);
    while (sim.now < sim.end) {
        sim.in_turn = true;
        sim.n_looks++;
        is_alarm = jsp_looker_turn(&sim.looker, is_alarm);
        drain_all();
        for (uint32_t i = 0; i < sim.n_threads; i++)
            if (!sim.threads[i]->is_other)
                check(sim.threads[i]);
        check_all();
    }
    sim.in_turn = false;
    pthread_mutex_unlock(&sim.looker.lock);
}

struct sim_sum sim_close(void)
{
    sim_charge_all();
    while (sim.n_threads)
        sim_leave(sim.threads[0]);
    check_all();
    struct sim_sum *s = &sim.gone;
    for (int f = 0; f < SIM_FUNCTIONS; f++) {
        s->all_ns += s->true_ns[f];
        s->all_got += s->got[f];
        s->all_squares += s->squares[f];
    }
    s->n_looks = sim.n_looks;
    s->n_bad = sim.n_bad;
    return *s;
}

double sim_truth(const struct sim_sum *s, uint32_t function)
{
    return 100.0 * (double)s->true_ns[function] / (double)s->all_ns;
}

double sim_share(const struct sim_sum *s, uint32_t function)
{
    return 100.0 * (double)s->got[function] / (double)s->all_got;
}

double sim_chance(const struct sim_sum *s, uint32_t function)
{
    double p = sim_truth(s, function) / 100;
    return 442 * sqrt(p * (1 - p) * (double)s->all_squares) / (double)s->all_got;
}
