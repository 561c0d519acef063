/* walker_test.c - what a host's walker can do in the handler: compute names, and stop early.
 *
 * SPDX-License-Identifier: MIT
 */
#include "host.h"

static struct host h;
static jsprof_thread *me;
static volatile uint64_t n_walks, n_refused; /* the handler counts */

/* Write the names "frame 0" to "frame 9", each in memory of its own. */
static uint32_t walk_named(void *host, const void *ucontext, jsprof_frame *out, uint32_t max)
{
    (void)host, (void)ucontext;
    for (uint32_t i = 0; i < 10 && i < max; i++) {
        char *name = jsprof_scratch(me, sizeof "frame 0");
        n_refused += !name;
        if (name) {
            memcpy(name, "frame 0", sizeof "frame 0");
            name[6] = (char)('0' + i);
        }
        out[i] = (jsprof_frame){ .label = name };
    }
    n_refused += jsprof_scratch(me, 65536) != NULL; /* more than what is left */
    n_walks++;
    return 10;
}

/* Stop one frame after those that fit, as the walker of a very deep stack may. */
static uint32_t walk_deep(void *host, const void *ucontext, jsprof_frame *out, uint32_t max)
{
    (void)host, (void)ucontext;
    for (uint32_t i = 0; i < max; i++)
        out[i] = (jsprof_frame){ .label = "deep" };
    n_walks++;
    return max + 1;
}

static bool begin(jsprof_walk_sigsafe_fn walk)
{
    n_walks = n_refused = 0;
    return host_begin_with(&h, host_options(1000, JSPROF_CLOCK_WALL), &me) &&
           CHECK_EQ(jsprof_thread_set_walker(me, walk, NULL), 0);
}

static void burn_and_close(void)
{
    while (n_walks < 20)
        host_burn_ms(10);
    jsprof_thread_pause(me);
    if (host_close(&h))
        host_check(&h);
}

TEST(walker_computes_names_in_memory_that_is_its_own_until_the_sample_ends)
{
    if (!begin(walk_named))
        return;
    CHECK(jsprof_scratch(me, 8) == NULL); /* no sample is being taken */
    CHECK(jsprof_scratch(NULL, 8) == NULL);
    burn_and_close();
    uint64_t first = host_samples(&h, "frame 0");
    CHECK(first >= 20);
    for (char name[] = "frame 1"; name[6] <= '9'; name[6]++)
        CHECK_EQ(host_samples(&h, name), first);
    CHECK_EQ(n_refused, 0);
    host_free(&h);
    CHECK_EQ(jsprof_thread_detach(me), 0);
}

TEST(walker_that_stops_after_the_frames_that_fit_counts_one_as_cut)
{
    if (!begin(walk_deep))
        return;
    burn_and_close();
    CHECK(host_samples(&h, "deep") >= 20);
    CHECK_EQ(h.stats.frames_cut, n_walks);
    host_free(&h);
    CHECK_EQ(jsprof_thread_detach(me), 0);
}

int main(void)
{
    RUN(walker_computes_names_in_memory_that_is_its_own_until_the_sample_ends);
    RUN(walker_that_stops_after_the_frames_that_fit_counts_one_as_cut);
    return DONE();
}
