/* hidden_test.c - src/sigsafe/hidden.c: a signal that comes late was withheld only if the thread
 * ran meanwhile.
 *
 * SPDX-License-Identifier: MIT
 */
#include "../signal/host.h"

#include "sigsafe/hidden.h"

enum { MS = 1000000 };

static void nothing(int sig, siginfo_t *info, void *ucontext)
{
    (void)sig, (void)info, (void)ucontext;
}

struct history {
    enum jsp_clock clock;
    uint64_t late_ms, ran_ms;
    uint32_t overrun; /* UINT32_MAX: of a looker, the first try */
};

/* A thread that had no signal for one period, and then for so long again. */
static bool is_hidden(const struct history *y)
{
    static struct jsp_memread mem;
    ucontext_t u; /* not after a system call */
    memset(&u, 0, sizeof u);
    struct jsp_arrival a = { .ucontext = &u, .signo = SIGPROF, .handler = nothing,
                             .overrun = y->overrun, .clock = y->clock,
                             .late_ns = y->late_ms * MS, .ran_ns = y->ran_ms * MS,
                             .took_ns = (y->late_ms + 1) * MS };
    jsp_memread_init(&mem, 0, 0, getpid());
    return jsp_hidden(&mem, &a);
}

TEST(thread_without_a_processor_was_not_withheld_its_signal)
{
    for (uint64_t late = 1; late < 1100; late++) {
        CHECK(!is_hidden(&(struct history){ JSP_CLOCK_WALL, late, 1, UINT32_MAX }));
        CHECK(!is_hidden(&(struct history){ JSP_CLOCK_WALL, late, 1, (uint32_t)late / 250 }));
    }
}

TEST(thread_that_ran_while_its_signal_was_discarded_was_withheld_it)
{
    for (uint32_t tries = 1; tries < 4; tries++) {
        uint64_t late = 250 * tries + 1;
        CHECK(is_hidden(&(struct history){ JSP_CLOCK_WALL, late, late, tries }));
        CHECK(is_hidden(&(struct history){ JSP_CLOCK_CPU, late, late, tries }));
    }
}

TEST_MAIN()
