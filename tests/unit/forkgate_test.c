/* unit/forkgate_test.c - src/image/forkgate.c: no walk over the loaded objects while a thread
 * forks, and walks again afterwards. A child that was forked in a walk hangs in dlopen.
 *
 * SPDX-License-Identifier: MIT
 */
#include "image/forkgate.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "test.h"

enum { FORKS = 300, WHILE = 20 };

static _Atomic int walking, walks; /* walks under way; begun so far */
static _Atomic bool over;

/* Returns a pointer to something where the thread may walk. */
static void *may_walk(void *unused)
{
    static char yes;
    (void)unused;
    if (!jsp_forkgate_enter())
        return jsp_forkgate_is_closed() ? NULL : &yes; /* both must say the same */
    bool is_closed = jsp_forkgate_is_closed();
    jsp_forkgate_leave();
    return is_closed ? NULL : &yes;
}

static bool other_may_walk(void)
{
    pthread_t thread;
    void *may = NULL;
    if (CHECK_EQ(pthread_create(&thread, NULL, may_walk, NULL), 0))
        pthread_join(thread, &may);
    return may != NULL;
}

TEST(other_threads_walk_before_and_after_a_fork_but_not_meanwhile)
{
    for (int i = 0; i < 3; i++) {
        CHECK(other_may_walk());
        jsp_forkgate_close();
        CHECK(!other_may_walk());
        CHECK(may_walk(NULL)); /* in the handlers of its own fork */
        jsp_forkgate_close(); /* a handler forks */
        jsp_forkgate_open();
        CHECK(!other_may_walk());
        jsp_forkgate_open();
    }
    CHECK(other_may_walk());
}

/* Walks once, and for a while after a fork has begun to wait for it, which it does for a second. */
static void *walk_long(void *unused)
{
    if (!jsp_forkgate_enter())
        return unused;
    atomic_store(&walking, 1);
    while (!jsp_forkgate_is_closed())
        sched_yield();
    for (int i = 0; i < WHILE; i++)
        sched_yield();
    atomic_store(&walking, 0);
    jsp_forkgate_leave();
    return unused;
}

TEST(fork_waits_for_the_walk_that_is_under_way)
{
    pthread_t thread;
    if (!CHECK_EQ(pthread_create(&thread, NULL, walk_long, NULL), 0))
        return;
    while (!atomic_load(&walking))
        sched_yield();
    jsp_forkgate_close();
    CHECK_EQ(atomic_load(&walking), 0);
    while (atomic_load(&walking)) /* until it has seen the gate closed */
        sched_yield();
    jsp_forkgate_open();
    pthread_join(thread, NULL);
}

/* Return how often this thread has slept. */
static long sleeps(void)
{
    struct rusage used;
    getrusage(RUSAGE_THREAD, &used);
    return used.ru_nvcsw;
}

TEST(fork_gives_a_walk_that_does_not_end_a_second_asleep_and_goes_on)
{
    long before = sleeps();
    prctl(PR_SET_TIMERSLACK, 1ul); /* the test need not take two */
    CHECK(jsp_forkgate_enter());
    jsp_forkgate_close();
    CHECK(sleeps() - before > 1000);
    jsp_forkgate_open();
    jsp_forkgate_leave();
    CHECK(other_may_walk());
}

static void *walk_again_and_again(void *unused)
{
    while (!atomic_load(&over)) {
        if (jsp_forkgate_enter()) {
            atomic_store(&walking, 1);
            atomic_fetch_add(&walks, 1);
            atomic_store(&walking, 0);
            jsp_forkgate_leave();
        }
        sched_yield();
    }
    return unused;
}

TEST(no_fork_meets_a_walk)
{
    pthread_t thread;
    int met = 0;
    atomic_store(&over, false);
    if (!CHECK_EQ(pthread_create(&thread, NULL, walk_again_and_again, NULL), 0))
        return;
    for (int i = 0; i < FORKS; i++) {
        int before = atomic_load(&walks);
        while (atomic_load(&walks) == before) /* it goes on between forks */
            sched_yield();
        jsp_forkgate_close();
        met += atomic_load(&walking);
        jsp_forkgate_open();
    }
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    CHECK_EQ(met, 0);
}

TEST(child_walks_though_its_parent_was_in_a_walk_or_another_fork)
{
    CHECK(jsp_forkgate_enter()); /* the walk of a thread that the child does not have */
    jsp_forkgate_close();
    jsp_forkgate_in_child();
    CHECK(may_walk(NULL));
    CHECK(!other_may_walk()); /* this fork is still under way */
    jsp_forkgate_open();
    CHECK(other_may_walk());
    long before = sleeps();
    jsp_forkgate_close();
    CHECK(sleeps() - before < 1000); /* it waits for no walk of the parent's */
    jsp_forkgate_open();
}

TEST_MAIN()
