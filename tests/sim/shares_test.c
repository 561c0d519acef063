/* shares_test.c - each function has its share of the samples, whatever the thread does when: on the
 * looker as it is, on a simulated machine.
 *
 * A share is right within chance, with weights as they were, and `near` points: by so much today's
 * looker is known to be wrong. A row whose `near` is large is a fault to be mended.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim.h"
#include "test.h"

enum { A, B, C, D };

static struct sim_step run(uint32_t function, uint64_t us)
{
    return (struct sim_step){ SIM_RUN, function, us * SIM_US };
}

static struct sim_step nap(uint32_t function, uint64_t us)
{
    return (struct sim_step){ SIM_SLEEP, function, us * SIM_US };
}

/* A tenth of each cycle of `data` us in A, which begins always at the same place of it; the rest
 * in B. */
static struct sim_step cycle(struct sim_thread *t)
{
    return t->n_step % 2 ? run(B, t->data - t->data / 10) : run(A, t->data / 10);
}

static struct sim_step at_random(struct sim_thread *t)
{
    return run(t->n_step % 2 ? B : A, 10 + sim_random(t->n_step % 2 ? 2700 : 300));
}

/* Three functions of `data` us after each sleep of 1 to 5 ms. */
static struct sim_step after_sleep(struct sim_thread *t)
{
    static const uint32_t functions[] = { A, B, C };
    return t->n_step % 4 == 3 ? nap(D, 1000 + sim_random(4000))
                              : run(functions[t->n_step % 4], t->data);
}

/* Seldom: 0.1 ms of work, ten times a second. */
static struct sim_step seldom(struct sim_thread *t)
{
    return t->n_step % 2 ? nap(D, 90000 + sim_random(20000)) : run(t->n_step % 4 ? A : B, 100);
}

/* Two thirds of its work, then a short nap: what it waits for a processor after it has been woken
 * is time of the nap. */
static struct sim_step short_naps(struct sim_thread *t)
{
    return t->n_step % 3 == 2 ? nap(D, 20 + sim_random(20)) : run(t->n_step % 3 ? B : A, t->data);
}

/* The same, of another program. */
static struct sim_step other_naps(struct sim_thread *t)
{
    return t->n_step % 2 ? nap(C, 20 + sim_random(80)) : run(C, 300 + sim_random(2000));
}

static struct sim_step spin(struct sim_thread *t)
{
    (void)t;
    return run(C, 100000);
}

/* 3 ms: a third in A, the rest in B. */
static struct sim_step once(struct sim_thread *t)
{
    return t->n_step == 0 ? run(A, 1000) : t->n_step == 1 ? run(B, 2000)
                                                          : (struct sim_step){ .does = SIM_EXIT };
}

/* 1 to 3 ms of work after each wait of 20 to 500 ms. */
static struct sim_step service(struct sim_thread *t)
{
    return t->n_step % 2 ? nap(D, 20000 + sim_random(480000)) : run(A, 1000 + sim_random(2000));
}

struct row {
    const char *name;
    sim_script *script;
    uint64_t data;
    int cpus, spinners, nappers;
    uint64_t quota_ns, halt_at, halt_until, seconds;
    int threads, hz;
    double near[3]; /* by enum by */
};

/* What counts the time that a thread runs: on the wall clock the looker, or an event of its own. */
enum by { BY_CPU, BY_WALL, BY_EVENT, N_BYS };

static void row_pass(const struct row *row)
{
    for (int i = 0; i < row->spinners; i++)
        sim_other(spin);
    for (int i = 0; i < row->nappers; i++)
        sim_other(other_naps);
    if (row->script == once) {
        for (int i = 0; i < 2000; i++) {
            sim_thread(once);
            sim_pass((1000 + sim_random(3000)) * SIM_US);
        }
        return;
    }
    for (int i = 0; i < (row->threads ? row->threads : 1); i++)
        sim_thread(row->script)->data = row->data;
    sim_pass(row->seconds ? row->seconds * SIM_S : 10 * SIM_S);
}

static void row_look(const struct row *row, enum by by)
{
    static const char *const names[] = { "cpu", "wall", "wall, by events" };
    sim_open(&(struct sim_setup){ .seed = 7, .cpus = row->cpus,
                                  .hz = row->hz ? (uint32_t)row->hz : 1000,
                                  .is_wall = by != BY_CPU, .has_events = by == BY_EVENT,
                                  .is_delayed = true, .quota_ns = row->quota_ns,
                                  .halt_at = row->halt_at, .halt_until = row->halt_until });
    row_pass(row);
    struct sim_sum s = sim_close();
    double periods = (double)s.all_ns * (row->hz ? row->hz : 1000) / 1e9;
    printf("# %s, %s: %llu points and %llu undelivered of %.0f periods, %llu sleeps met\n",
           row->name, names[by], (unsigned long long)s.all_got,
           (unsigned long long)s.undelivered, periods,
           (unsigned long long)s.n_cut);
    CHECK_EQ(s.n_bad, 0);
    for (uint32_t f = A; f <= D; f++) {
        double off = sim_share(&s, f) - sim_truth(&s, f), most = sim_chance(&s, f);
        if (!s.true_ns[f])
            continue;
        printf("#   %c %.1f %% for %.1f, chance %.1f\n", 'A' + (char)f, sim_share(&s, f),
               sim_truth(&s, f), most);
        CHECK(off < most + row->near[by]);
        CHECK(-off < most + row->near[by]);
    }
    double all = (double)(s.all_got + s.undelivered);
    CHECK(all < periods * 1.02 + 20 && all > periods * 0.98 - 20);
}

static void rows_look(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (int by = 0; by < N_BYS; by++)
            row_look(&rows[i], (enum by)by);
}
#define ROWS_LOOK(rows) rows_look(rows, sizeof rows / sizeof *rows)

TEST(program_in_step_with_the_tick_has_its_shares)
{
    static const struct row rows[] = {
        { .name = "cycle of 1 ms", cycle, 1000, .cpus = 2 },
        { .name = "cycle of 4 ms", cycle, 4000, .cpus = 2 },
        { .name = "cycle of 10 ms", cycle, 10000, .cpus = 2 },
        { .name = "random turns", at_random, 0, .cpus = 2 },
    };
    ROWS_LOOK(rows);
}

TEST(functions_after_a_sleep_have_their_shares)
{
    static const struct row rows[] = {
        { .name = "turns of 0.3 ms", after_sleep, 100, .cpus = 2, .near = { 2, 2 } },
        { .name = "turns of 1.5 ms", after_sleep, 500, .cpus = 2, .near = { 3, 2 } },
        { .name = "turns of 6 ms", after_sleep, 2000, .cpus = 2, .near = { 1, 1 } },
        { .name = "0.1 ms, ten times a second", seldom, 0, .cpus = 2 },
    };
    ROWS_LOOK(rows);
}

TEST(program_beside_others_has_its_shares)
{
    static const struct row rows[] = {
        { .name = "cycle of 4 ms beside four spinners", cycle, 4000, .cpus = 2, .spinners = 4,
          .near = { 0, 1 } },
        { .name = "random turns on one processor beside two", at_random, 0, .cpus = 1,
          .spinners = 2 },
        { .name = "turns of 1.5 ms beside four", after_sleep, 500, .cpus = 2, .spinners = 4,
          .near = { 3, 6 } },
        { .name = "short naps beside three that nap", short_naps, 600, .cpus = 2, .nappers = 3,
          .near = { 90, 90, 6.5 } },
        { .name = "random turns, half of a processor", at_random, 0, .cpus = 2,
          .quota_ns = 50 * SIM_MS },
    };
    ROWS_LOOK(rows);
}

TEST(threads_of_three_milliseconds_have_their_shares_together)
{
    static const struct row rows[] = {
        { .name = "2,000 threads of 3 ms", once, 0, .cpus = 2 },
    };
    ROWS_LOOK(rows);
}

TEST(process_that_is_stopped_has_its_shares)
{
    static const struct row rows[] = {
        { .name = "stopped for 3 s", at_random, 0, .cpus = 2, .halt_at = 4 * SIM_S,
          .halt_until = 7 * SIM_S },
    };
    ROWS_LOOK(rows);
}

/* LONG=1: an hour, for which both clocks need some seconds. */
TEST(fifty_services_have_their_shares)
{
    const char *is_long = getenv("LONG");
    const struct row rows[] = {
        { .name = "fifty services", service, 0, .cpus = 2, .threads = 50, .hz = 100,
          .seconds = is_long && *is_long ? 3600 : 600, .near = { 5, 1 } },
    };
    ROWS_LOOK(rows);
}

TEST_MAIN()
