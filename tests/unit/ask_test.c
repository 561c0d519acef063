/* unit/ask_test.c - src/sigsafe/ask.c and stack.c: a handler asks the drain to look at what is
 * loaded where a walk ended in unknown code, and only there; and whom it wakes.
 *
 * SPDX-License-Identifier: MIT
 */
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "session/session.h"
#include "test.h"

static void burn_ms(uint64_t ms)
{
    uint64_t end = jsp_now_ns(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000;
    while (jsp_now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
        continue;
}

/* How often the drain was asked in a session of plain C code; *samples are what it has. */
static uint32_t rings_of_a_session(uint64_t *samples)
{
    jsprof_options options = { .size = sizeof options, .flags = JSPROF_USE_FD, .hz = 1000 };
    jsprof_stats stats = { .size = sizeof stats };
    jsprof_thread *me;
    jsprof *prof;
    *samples = 0;
    options.fd = memfd_create("capture", MFD_CLOEXEC);
    if (!CHECK_EQ(jsprof_open(&prof, &options), 0))
        return 1;
    CHECK_EQ(jsprof_thread_attach(prof, "main", &me), 0);
    CHECK_EQ(jsprof_start(prof), 0);
    burn_ms(100);
    uint32_t rings = atomic_load_explicit(&prof->ask.bell, memory_order_relaxed);
    CHECK_EQ(jsprof_stop(prof), 0);
    CHECK_EQ(jsprof_stats_get(prof, &stats), 0);
    *samples = stats.samples;
    CHECK_EQ(jsprof_close(prof), 0);
    CHECK_EQ(jsprof_thread_detach(me), 0);
    close(options.fd);
    return rings;
}

TEST(whole_stacks_wake_nobody)
{
    uint64_t samples = 0;
    uint32_t rings = 1;
#ifndef __GLIBC__
    SKIP("needs a C library with unwind rows");
    return;
#endif
    for (int i = 0; i < 20 && (rings || samples < 5); i++)
        rings = rings_of_a_session(&samples);
    CHECK_EQ(rings, 0);
    CHECK(samples >= 5);
}

TEST(drain_is_asked_once_until_it_has_looked_and_not_while_it_rests)
{
    struct jsp_ask ask = { 0 };
    CHECK(jsp_ask_look(&ask));
    CHECK(jsp_ask_look(&ask));
    CHECK_EQ(jsp_ask_state(&ask), JSP_ASK_YES);
    CHECK_EQ(atomic_load(&ask.bell), 1);
    jsp_ask_set(&ask, JSP_ASK_REST);
    CHECK(jsp_ask_look(&ask));
    jsp_ask_set(&ask, JSP_ASK_VAIN);
    CHECK(!jsp_ask_look(&ask));
    CHECK_EQ(atomic_load(&ask.bell), 1);
    jsp_ask_set(&ask, JSP_ASK_NO);
    CHECK(jsp_ask_look(&ask));
    CHECK_EQ(atomic_load(&ask.bell), 2);
}

int main(void)
{
    RUN(whole_stacks_wake_nobody);
    RUN(drain_is_asked_once_until_it_has_looked_and_not_while_it_rests);
    return DONE();
}
