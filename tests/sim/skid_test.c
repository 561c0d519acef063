/* skid_test.c - a short system call: the looker's signal is the sample, or puts it off.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "sim.h"
#include "test.h"

enum { WORK, CALL };

/* Work for `data` us, then a call of 0.08 us. */
static struct sim_step skid(struct sim_thread *t)
{
    return t->n_step % 2 ? (struct sim_step){ SIM_CALL, CALL, 80 }
                         : (struct sim_step){ SIM_RUN, WORK, t->data * SIM_US };
}

static double skid_share(uint64_t us, bool is_wall, bool is_delayed)
{
    sim_open(&(struct sim_setup){ .seed = us, .cpus = 2, .hz = 1000, .is_wall = is_wall,
                                  .is_delayed = is_delayed });
    sim_thread(skid)->data = us;
    sim_pass(4 * SIM_S);
    struct sim_sum s = sim_close();
    printf("# %s, each %llu us, %s: %.1f %% of %llu points, true %.1f +-%.1f\n",
           is_wall ? "wall" : "cpu", (unsigned long long)us, is_delayed ? "put off" : "at once",
           sim_share(&s, CALL), (unsigned long long)s.all_got, sim_truth(&s, CALL),
           sim_chance(&s, CALL));
    CHECK_EQ(s.n_bad, 0);
    return sim_share(&s, CALL) - sim_truth(&s, CALL) - sim_chance(&s, CALL);
}

/* Expected: the fault of a signal from another processor, which is why the sample is put off. */
TEST(signal_that_is_the_sample_gives_a_short_call_what_ran_before_it)
{
    for (int wall = 0; wall < 2; wall++) {
        CHECK(skid_share(6, wall, false) > 80);
        CHECK(skid_share(20, wall, false) > 20);
        CHECK(skid_share(100, wall, false) > 4);
    }
}

TEST(sample_that_is_put_off_gives_a_short_call_its_own_time)
{
    for (int wall = 0; wall < 2; wall++) {
        CHECK(skid_share(6, wall, true) < 2);
        CHECK(skid_share(20, wall, true) < 2);
        CHECK(skid_share(100, wall, true) < 2);
    }
}

TEST_MAIN()
