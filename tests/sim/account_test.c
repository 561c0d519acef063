/* account_test.c - the account of a recording on a simulated machine: each point is in a sample or
 * in the loss that took it, and each wait for a processor is known.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "sim.h"
#include "test.h"

enum { A, B, C, D };

static struct sim_step step(enum sim_does does, uint32_t function, uint64_t least, uint64_t most)
{
    return (struct sim_step){ does, function, (least + sim_random(most - least)) * SIM_US };
}

/* By turns: usual code, and code during which no sample can be taken or the signal waits. */
static struct sim_step mixed(struct sim_thread *t)
{
    switch (t->n_step % 5) {
    case 0: return step(SIM_RUN, A, 1000, 2000);
    case 1: return step(SIM_BLOCKED, B, 1000, 2000);
    case 2: return step(SIM_PAUSED, C, 1000, 2000);
    case 3: return (struct sim_step){ .does = SIM_MOVES };
    default: return step(SIM_RUN, D, 1000, 2000);
    }
}

/* Every other step is a fork of 1 to 3 ms. */
static struct sim_step forks(struct sim_thread *t)
{
    return t->n_step % 2 ? step(SIM_FORKS, B, 1000, 3000) : step(SIM_RUN, A, 1000, 3000);
}

static struct sim_step turns(struct sim_thread *t)
{
    return t->n_step % 3 == 2   ? step(SIM_SLEEP, C, 2000, 6000)
           : t->n_step % 3 == 1 ? step(SIM_RUN, B, 10, 2000)
                                : step(SIM_RUN, A, 10, 2000);
}

static struct sim_step spin(struct sim_thread *t)
{
    return step(SIM_RUN, t->n_step % 2 ? B : A, 100, 900);
}

/* Run for a moment, sleep for half a second, and end. */
static struct sim_step ends_after_a_sleep(struct sim_thread *t)
{
    return t->n_step == 0   ? step(SIM_RUN, A, 100, 1000)
           : t->n_step == 1 ? step(SIM_SLEEP, B, 400000, 600000)
           : t->n_step == 2 ? step(SIM_RUN, A, 5, 30)
                            : (struct sim_step){ .does = SIM_EXIT };
}

/* Sleep for a second, run for a moment, and end. */
static struct sim_step ends_after_a_turn(struct sim_thread *t)
{
    return t->n_step == 0   ? step(SIM_SLEEP, B, 900000, 1100000)
           : t->n_step == 1 ? step(SIM_RUN, A, 100, 3000)
                            : (struct sim_step){ .does = SIM_EXIT };
}

static uint64_t all_lost(const struct sim_sum *s)
{
    uint64_t lost = s->undelivered;
    for (int cause = 0; cause < JSP_N_LOSSES; cause++)
        lost += s->lost[cause];
    return lost;
}

static struct sim_sum look(const char *name, const struct sim_setup *setup, sim_script *script,
                           int n_threads)
{
    sim_open(setup);
    for (int i = 0; i < n_threads; i++)
        sim_thread(script);
    sim_pass(20 * SIM_S);
    struct sim_sum s = sim_close();
    printf("# %s, %s: %llu points and %llu lost of %llu ms\n", name,
           setup->is_wall ? "wall" : "cpu", (unsigned long long)s.all_got,
           (unsigned long long)all_lost(&s), (unsigned long long)(s.all_ns / SIM_MS));
    for (uint32_t f = A; f <= D; f++)
        if (s.true_ns[f])
            printf("#   %c %.1f %% for %.1f, chance %.1f\n", 'A' + (char)f, sim_share(&s, f),
                   sim_truth(&s, f), sim_chance(&s, f));
    CHECK_EQ(s.n_bad, 0);
    return s;
}

/* Return the distance of points from a time, in points, 1 ms each. */
static double off(uint64_t points, uint64_t ns)
{
    double by = (double)points - (double)ns / (double)SIM_MS;
    return by < 0 ? -by : by;
}

/* -- Losses ------------------------------------------------------------------------ */

/* Beside the signal's way and the delay, a twentieth of a turn of 1.5 ms each. */
TEST(time_without_samples_is_in_its_loss)
{
    for (int wall = 0; wall < 2; wall++) {
        const struct sim_setup setup = { .seed = 5, .cpus = 2, .hz = 1000, .is_wall = wall };
        struct sim_sum s = look("signals that wait", &setup, mixed, 1);
        CHECK_EQ(s.got[B] + s.got[C], 0);
        CHECK(off(s.lost[JSP_LOST_BLOCKED], s.true_ns[B]) < 0.05 * (double)s.true_ns[B] / 1e6);
        CHECK(off(s.lost[JSP_LOST_PAUSED], s.true_ns[C]) < 0.05 * (double)s.true_ns[C] / 1e6);
        CHECK(off(s.all_got + all_lost(&s), s.all_ns) < 4);
    }
}

/* The samples of two seconds do not fit into the ring. */
TEST(samples_that_find_the_ring_full_are_counted)
{
    for (int wall = 0; wall < 2; wall++) {
        const struct sim_setup setup = { .seed = 6, .cpus = 2, .hz = 1000, .is_wall = wall,
                                         .is_delayed = true, .drain_ns = 2 * SIM_S };
        struct sim_sum s = look("slow drain", &setup, turns, 1);
        CHECK(s.lost[JSP_LOST_RING] > 100);
        CHECK(off(s.all_got + all_lost(&s), s.all_ns) < 4);
    }
}

static struct sim_sum lives(const struct sim_setup *setup, sim_script *script, uint64_t apart_us)
{
    sim_open(setup);
    for (int i = 0; i < 3000; i++) {
        sim_thread(script);
        sim_pass((apart_us / 2 + sim_random(apart_us)) * SIM_US);
    }
    sim_pass(2 * SIM_S);
    struct sim_sum s = sim_close();
    printf("# lives, %s: %llu points and %llu lost of %llu ms\n", setup->is_wall ? "wall" : "cpu",
           (unsigned long long)s.all_got, (unsigned long long)s.undelivered,
           (unsigned long long)(s.all_ns / SIM_MS));
    CHECK_EQ(s.n_bad, 0);
    CHECK(off(s.all_got + s.undelivered, s.all_ns) < 12); /* 8 may be carried over */
    return s;
}

/* Forty threads at once, so a turn of the looker is long enough for some to end meanwhile. These,
 * 1 of 20, have the points of their last sleep as undelivered: 2.5 % of all time. That is today's
 * fault. */
TEST(threads_that_end_after_a_sleep_have_all_of_it)
{
    const struct sim_setup setup = { .seed = 7, .cpus = 2, .hz = 1000, .is_wall = true,
                                     .is_delayed = true };
    struct sim_sum s = lives(&setup, ends_after_a_sleep, 12000);
    CHECK(off(s.got[B], s.true_ns[B]) < 0.04 * (double)s.true_ns[B] / 1e6);
}

/* Their samples come with the tick, and some end before the looker has counted them. */
TEST(threads_that_end_after_a_tick_have_their_time)
{
    const struct sim_setup setup = { .seed = 7, .cpus = 2, .hz = 1000, .is_delayed = true };
    lives(&setup, ends_after_a_turn, 200000);
}

/* -- The machine's pauses ------------------------------------------------------------ */

TEST(process_that_is_stopped_each_second_has_its_time)
{
    for (int wall = 0; wall < 2; wall++) {
        const struct sim_setup setup = { .seed = 8, .cpus = 2, .hz = 1000, .is_wall = wall,
                                         .is_delayed = true, .halt_at = 500 * SIM_MS,
                                         .halt_until = 800 * SIM_MS, .halt_each = SIM_S };
        struct sim_sum s = look("stopped each second", &setup, spin, 2);
        printf("#   %llu points while stopped\n", (unsigned long long)s.stopped);
        /* of 12,000: a thread that did not run then has waited; 1,796 and more with other seeds */
        CHECK(wall ? s.stopped > 1000 : s.stopped == 0);
        CHECK(off(s.all_got + all_lost(&s), s.all_ns) < 8);
        for (uint32_t f = A; f <= B; f++) {
            double by = sim_share(&s, f) - sim_truth(&s, f);
            CHECK((by < 0 ? -by : by) < sim_chance(&s, f));
        }
    }
}

static void waits(const struct sim_sum *s)
{
    printf("#   %llu points of waits for %llu ms\n", (unsigned long long)s->waited,
           (unsigned long long)(s->true_waited_ns / SIM_MS));
    CHECK(off(s->waited, s->true_waited_ns) < 0.01 * (double)s->true_waited_ns / 1e6);
}

/* Of four threads on two processors two wait, and of six with sleeps one. A looker that does not
 * subtract what it has charged charges it again. */
TEST(waits_for_a_processor_are_known)
{
    const struct sim_setup setup = { .seed = 9, .cpus = 2, .hz = 1000, .is_wall = true,
                                     .is_delayed = true, .late_of_1000 = 100 };
    struct sim_sum s = look("waits", &setup, spin, 4);
    waits(&s);
    s = look("waits after sleeps", &setup, turns, 6);
    waits(&s);
    /* Expected: of a thread that sleeps often, a wait in the middle of a turn is charged to the
     * sleep before it. 72 % in the sleep for 60. */
    CHECK(sim_share(&s, C) > sim_truth(&s, C) + 5);
}

/* -- Ticks ---------------------------------------------------------------------------- */

/* Rarely: up to 2.5 ms in A, and then in B. */
static struct sim_step rarely(struct sim_thread *t)
{
    return t->n_step % 3 == 0   ? step(SIM_SLEEP, C, 600000, 1000000)
           : t->n_step % 3 == 1 ? step(SIM_RUN, A, 50, 2500)
                                : step(SIM_RUN, B, 50, 2500);
}

/* The looker sleeps deeply, and the tick that meets a thread brings the sample. It stands for the
 * time from there on to the end of the tick, so the first function has its share. */
TEST(threads_that_run_rarely_have_their_shares_by_ticks)
{
    sim_open(&(struct sim_setup){ .seed = 11, .cpus = 2, .hz = 1000 });
    for (int i = 0; i < 2; i++)
        sim_thread(rarely);
    sim_pass(4000 * SIM_S);
    struct sim_sum s = sim_close();
    printf("# ticks: %llu points in %llu looks, A %.1f %% for %.1f, B %.1f for %.1f, "
           "chance %.1f\n", (unsigned long long)s.all_got, (unsigned long long)s.n_looks,
           sim_share(&s, A), sim_truth(&s, A), sim_share(&s, B), sim_truth(&s, B),
           sim_chance(&s, A));
    CHECK_EQ(s.n_bad, 0);
    CHECK(off(s.all_got + s.undelivered, s.all_ns) < 0.01 * (double)s.all_ns / 1e6);
    for (uint32_t f = A; f <= B; f++) {
        double by = sim_share(&s, f) - sim_truth(&s, f);
        CHECK((by < 0 ? -by : by) < sim_chance(&s, f) + 2); /* today's looker is off by 3 */
    }
}

/* A moment of work, and then a sleep that does not end here. */
static struct sim_step idle(struct sim_thread *t)
{
    return t->n_step ? (struct sim_step){ SIM_SLEEP, C, 100 * SIM_S } : step(SIM_RUN, A, 100, 3000);
}

/* The looker wakes up after half as long again as it has slept, or later: a few times in all. One
 * that stays awake looks 10,000 times. */
TEST(idle_process_wakes_the_looker_seldom)
{
    for (int wall = 0; wall < 2; wall++) {
        sim_open(&(struct sim_setup){ .seed = 13, .cpus = 2, .hz = 1000, .is_wall = wall });
        for (int i = 0; i < 3; i++)
            sim_thread(idle);
        sim_pass(10 * SIM_S);
        uint64_t before = sim.n_looks;
        sim_pass(10 * SIM_S);
        uint64_t looks = sim.n_looks - before;
        struct sim_sum s = sim_close();
        printf("# idle, %s: %llu looks, and %llu before\n", wall ? "wall" : "cpu",
               (unsigned long long)looks, (unsigned long long)before);
        CHECK_EQ(s.n_bad, 0);
        CHECK(looks <= 10);
    }
}

/* Wake up with each tick, and run for 3 ms: a third in A, the rest in B. */
static struct sim_step with_the_tick(struct sim_thread *t)
{
    uint64_t since = (sim.now + SIM_TICK_NS - SIM_MS) % SIM_TICK_NS;
    return t->n_step % 3 == 0   ? (struct sim_step){ SIM_SLEEP, C, SIM_TICK_NS - since }
           : t->n_step % 3 == 1 ? step(SIM_RUN, A, 1000, 1001)
                                : step(SIM_RUN, B, 2000, 2001);
}

/* -- Today's faults -------------------------------------------------------------------- */

/* Expected: a signal that waited for the end of a fork puts its sample off, into what runs then.
 * At once, the sample is in the fork. */
TEST(fork_loses_its_time_to_what_follows_if_the_sample_is_put_off)
{
    struct sim_setup setup = { .seed = 10, .cpus = 2, .hz = 1000 };
    struct sim_sum s = look("forks, at once", &setup, forks, 1);
    CHECK(sim_share(&s, B) > sim_truth(&s, B) - 5);
    setup.is_delayed = true;
    s = look("forks, put off", &setup, forks, 1);
    CHECK(sim_share(&s, B) < sim_truth(&s, B) - 25);
}

/* Expected: on one processor, a looker that is due in the first 0.7 ms of a turn waits for its end.
 * What begins each turn lacks these looks, and the balance gives their points to the few looks
 * after 0.7 ms: 86 to 90 % in A for 33, by seeds. */
TEST(turns_in_step_with_the_tick_on_one_processor_are_charged_to_their_beginning)
{
    const struct sim_setup setup = { .seed = 12, .cpus = 1, .hz = 1000 };
    struct sim_sum s = look("turns of 3 ms with each tick", &setup, with_the_tick, 1);
    CHECK(off(s.all_got + all_lost(&s), s.all_ns) < 4);
    CHECK(sim_share(&s, A) > sim_truth(&s, A) + 20);
}

TEST_MAIN()
