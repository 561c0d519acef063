/* waits_test.c - jsprof_wait_begin and _end: samples in between have the state "host" and the
 * name; calls that do not fit together change nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#include "signal/host.h"

static struct host h;
static jsprof_thread *me;

static bool begin(void)
{
    return host_begin_with(&h, host_options(1000, JSPROF_CLOCK_CPU), &me);
}

/* Return how much of the weight is in waits of this name; NULL: in no state at all. */
static uint64_t weight_of(const char *name)
{
    const struct jsp_profile *p = &h.profile;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < p->n_stacks; i++) {
        const struct jsp_profile_state *s = jsp_profile_state(p, i);
        bool is_it = name ? s->state == JSP_STATE_HOST && jsp_read_is(s->detail, name)
                          : s->state == JSP_STATE_UNKNOWN;
        sum += is_it ? p->stacks[i].weight : 0;
    }
    return sum;
}

static void ended(void)
{
    CHECK_EQ(jsprof_thread_detach(me), 0);
    CHECK(host_close(&h));
}

TEST(samples_of_a_wait_have_the_name_of_the_outermost_one)
{
    char name[] = "the big lock";
    if (!begin())
        return;
    host_sampled(&h, 10);
    jsprof_wait_begin(me, name);
    host_sampled(&h, 20);
    jsprof_wait_end(me);
    memset(name, 'x', sizeof name - 1); /* the host's again */
    host_sampled(&h, 10);
    jsprof_wait_begin(me, "a pool");
    jsprof_wait_begin(me, "its lock");
    host_sampled(&h, 10);
    jsprof_wait_end(me);
    host_sampled(&h, 10);
    jsprof_wait_end(me);
    jsprof_wait_begin(me, NULL); /* it needs no name */
    host_sampled(&h, 10);
    jsprof_wait_end(me);
    jsprof_wait_begin(me, "");
    host_sampled(&h, 10);
    jsprof_wait_end(me);
    ended();
    uint64_t lock = weight_of("the big lock"), pool = weight_of("a pool"), none = weight_of("");
    CHECK(lock >= 18);
    CHECK(pool >= 18);
    CHECK(none >= 18);
    CHECK(weight_of(NULL) >= 18);
    CHECK_EQ(lock + pool + none + weight_of(NULL), h.profile.weight);
}

static void *elsewhere(void *unused)
{
    (void)unused;
    jsprof_wait_end(me);
    jsprof_wait_begin(me, "another thread's");
    return NULL;
}

/* Ends without a begin, and calls from another thread, do nothing; so a later pair works. */
TEST(calls_that_do_not_fit_do_nothing)
{
    pthread_t other;
    jsprof_wait_begin(NULL, "nothing");
    jsprof_wait_end(NULL);
    if (!begin())
        return;
    jsprof_wait_end(me);
    jsprof_wait_end(me);
    jsprof_wait_begin(me, "mine");
    if (CHECK_EQ(pthread_create(&other, NULL, elsewhere, NULL), 0))
        pthread_join(other, NULL);
    host_sampled(&h, 10);
    jsprof_wait_end(me);
    if (CHECK_EQ(pthread_create(&other, NULL, elsewhere, NULL), 0))
        pthread_join(other, NULL);
    host_sampled(&h, 10);
    ended();
    CHECK(weight_of("mine") >= 8);
    CHECK(weight_of(NULL) >= 8);
    CHECK_EQ(weight_of("mine") + weight_of(NULL), h.profile.weight);
}

TEST(after_its_detach_a_thread_does_not_wait)
{
    if (!begin())
        return;
    jsprof_wait_begin(me, "for ever");
    host_sampled(&h, 5);
    CHECK_EQ(jsprof_thread_detach(me), 0);
    jsprof_wait_begin(me, "freed"); /* only the address is looked at */
    CHECK_EQ(jsprof_thread_attach(h.prof, "again", &me), 0);
    host_sampled(&h, 10);
    ended();
    CHECK(weight_of("for ever") >= 4);
    CHECK_EQ(weight_of("freed"), 0);
    CHECK(weight_of(NULL) >= 8);
}

TEST_MAIN()
