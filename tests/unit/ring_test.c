/* unit/ring_test.c - src/sigsafe/ring.c: what a full, an empty and a busy ring do.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sigsafe/ring.h"

#include <pthread.h>
#include <sched.h>

#include "test.h"

enum { CAPACITY = 64, LAPS = 200000 };

static uint64_t words[CAPACITY];
static struct jsp_ring ring;

TEST(record_comes_back_whole_across_the_wrap)
{
    uint64_t in[5] = { 1, 2, 3, 4, 5 }, out[8];
    jsp_ring_init(&ring, words, CAPACITY);
    for (int lap = 0; lap < 3 * CAPACITY; lap++) { /* every offset, thrice */
        in[0] = (uint64_t)lap;
        CHECK_EQ(jsp_ring_push(&ring, in, 5), true);
        CHECK_EQ(jsp_ring_pop(&ring, out, 8), 5);
        CHECK_EQ(memcmp(in, out, sizeof in), 0);
    }
}

TEST(full_ring_refuses_and_keeps_the_old)
{
    uint64_t in[32] = { 7 }, out[31];
    jsp_ring_init(&ring, words, CAPACITY);
    CHECK_EQ(jsp_ring_push(&ring, in, 31), true);
    in[0] = 8;
    CHECK_EQ(jsp_ring_push(&ring, in, 32), false); /* one word too many */
    CHECK_EQ(jsp_ring_used(&ring), 32);            /* and nothing was written */
    CHECK_EQ(jsp_ring_push(&ring, in, 31), true);  /* 2 * (1 + 31): exactly full */
    CHECK_EQ(jsp_ring_used(&ring), CAPACITY);
    CHECK_EQ(jsp_ring_push(&ring, in, 0), false);
    CHECK_EQ(jsp_ring_pop(&ring, out, 31), 31);
    CHECK_EQ(out[0], 7);
    CHECK_EQ(jsp_ring_pop(&ring, out, 31), 31);
    CHECK_EQ(out[0], 8);
}

TEST(empty_ring_gives_nothing)
{
    uint64_t out[1] = { 5 };
    jsp_ring_init(&ring, words, CAPACITY);
    CHECK_EQ(jsp_ring_pop(&ring, out, 1), 0);
    CHECK_EQ(out[0], 5);
    CHECK_EQ(jsp_ring_used(&ring), 0);
}

TEST(record_longer_than_the_buffer_stays)
{
    uint64_t in[4] = { 9 }, out[4];
    jsp_ring_init(&ring, words, CAPACITY);
    jsp_ring_push(&ring, in, 4);
    CHECK_EQ(jsp_ring_pop(&ring, out, 3), -EMSGSIZE);
    CHECK_EQ(jsp_ring_pop(&ring, out, 4), 4);
}

static void *produce(void *arg)
{
    (void)arg;
    for (uint64_t i = 0; i < LAPS; i++) {
        uint64_t rec[3] = { i, ~i, i * 3 };
        while (!jsp_ring_push(&ring, rec, 3))
            sched_yield();
    }
    return NULL;
}

TEST(records_arrive_once_in_order_and_whole_under_race) /* means most under tsan */
{
    pthread_t t;
    uint64_t rec[3], torn = 0, overfull = 0;
    jsp_ring_init(&ring, words, CAPACITY);
    CHECK_EQ(pthread_create(&t, NULL, produce, NULL), 0);
    for (uint64_t next = 0; next < LAPS;) {
        overfull += jsp_ring_used(&ring) > CAPACITY;
        if (jsp_ring_pop(&ring, rec, 3) != 3) {
            sched_yield();
            continue;
        }
        torn += rec[0] != next || rec[1] != ~next || rec[2] != next * 3;
        next++;
    }
    pthread_join(t, NULL);
    CHECK_EQ(torn, 0);
    CHECK_EQ(overfull, 0);
}

TEST_MAIN()
