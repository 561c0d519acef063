/* unit/tally_test.c - src/session/tally.c: sums are right however threads come and go, and
 * a program that makes threads for ever keeps the slots of those that live at once.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "session/session.h"
#include "session/tally.h"

#include "test.h"

enum { ATTACHES = 3000, LIVE = 20 };

static struct jsp_tallies tallies;

static void check_sum(uint64_t kept, uint64_t samples, uint64_t lost)
{
    struct jsp_tally sum = jsp_tallies_sum(&tallies);
    CHECK_EQ(sum.kept, kept);
    CHECK_EQ(sum.samples, samples);
    CHECK_EQ(sum.lost, lost);
}

TEST(thread_that_left_keeps_its_slot_until_its_samples_are_written)
{
    uint32_t one, two, three;
    CHECK_EQ(jsp_tallies_take(&tallies, &one), 0);
    jsp_tallies_append(&tallies, one, 5);
    jsp_tallies_append(&tallies, one, 7);
    jsp_tallies_lose(&tallies, one, 2);
    jsp_tallies_leave(&tallies, one);
    CHECK_EQ(jsp_tallies_take(&tallies, &two), 0);
    CHECK(two != one);
    check_sum(12, 2, 2);
    jsp_tallies_settle(&tallies, one);
    jsp_tallies_give_up(&tallies, one, 7);
    check_sum(5, 1, 9);
    CHECK_EQ(jsp_tallies_take(&tallies, &three), 0);
    CHECK_EQ(three, one);
    CHECK_EQ(jsp_tallies_of(&tallies, three)->lost, 0);
    jsp_tallies_append(&tallies, three, 1);
    check_sum(6, 2, 9);
    jsp_tallies_free(&tallies);
}

TEST(as_many_slots_as_live_at_once)
{
    uint32_t slots[LIVE];
    for (int i = 0; i < LIVE; i++)
        CHECK_EQ(jsp_tallies_take(&tallies, &slots[i]), 0);
    uint32_t n = tallies.n;
    CHECK(n >= LIVE && n <= 2 * LIVE);
    for (int turn = 0; turn < ATTACHES; turn++) {
        uint32_t *slot = &slots[turn % LIVE];
        jsp_tallies_append(&tallies, *slot, 3);
        jsp_tallies_settle(&tallies, *slot);
        jsp_tallies_leave(&tallies, *slot);
        CHECK_EQ(jsp_tallies_take(&tallies, slot), 0);
    }
    CHECK_EQ(tallies.n, n);
    check_sum(3 * (uint64_t)ATTACHES, ATTACHES, 0);
    jsp_tallies_free(&tallies);
}

TEST(session_with_thousands_of_threads_in_turn_does_not_grow_by_them)
{
    jsprof_options options = { .size = sizeof options, .path = "/dev/null", .hz = 1000 };
    jsprof_thread *t;
    jsprof *p;
    if (!CHECK_EQ(jsprof_open(&p, &options), 0))
        return;
    CHECK_EQ(jsprof_start(p), 0);
    for (int i = 0; i < ATTACHES; i++) {
        CHECK_EQ(jsprof_thread_attach(p, "one of many", &t), 0);
        CHECK_EQ(jsprof_thread_detach(t), 0);
        if (i % 500 == 0)
            CHECK_EQ(jsprof_flush(p), 0);
    }
    CHECK_EQ(jsprof_stop(p), 0);
    CHECK(p->output.tallies.n < ATTACHES);
    CHECK_EQ(p->n_ids, ATTACHES);
    CHECK_EQ(jsprof_close(p), 0);
}

TEST_MAIN()
