/* unit/merge_test.c - src/sigsafe/merge.c: runs of frames become one stack, ordered by
 * stack address, each run in its own order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sigsafe/merge.h"

#include "test.h"

enum { MAX = 64, ROUNDS = 20000 };

static alignas(8) unsigned char memory[sizeof(struct jsp_record) +
                                       MAX * sizeof(struct jsp_rec_frame)];
static struct jsp_record *const record = (void *)memory;
static struct jsp_merged merged[MAX];
static const struct jsp_loops none;
static uint64_t state = 1;

static uint32_t chance(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % n);
}

/* Frames with falling addresses, ids in order, some of them without an address. */
static void fill(void)
{
    uint32_t at = 0;
    for (int run = 0; run < JSP_N_RUNS; run++) {
        uint64_t sp = 1000;
        record->n[run] = (uint16_t)chance(MAX / JSP_N_RUNS + 1);
        for (uint32_t i = 0; i < record->n[run]; i++, at++) {
            sp -= chance(20);
            record->frames[at] = (struct jsp_rec_frame){
                .id = at, .sp = chance(4) ? sp : 0, .line = (uint32_t)run };
        }
    }
}

/* The plain way: give every frame its address, then sort, stable, outermost first. */
static void sort_plainly(uint32_t *order, uint32_t n)
{
    uint64_t sp[MAX];
    uint32_t at = 0;
    for (int run = 0; run < JSP_N_RUNS; run++) {
        uint64_t carried = 0; /* a run without any address is inside of everything */
        for (uint32_t i = 0; i < record->n[run]; i++)
            if (record->frames[at + i].sp)
                carried = UINT64_MAX;
        for (uint32_t i = 0; i < record->n[run]; i++, at++) {
            carried = record->frames[at].sp ? record->frames[at].sp : carried;
            sp[at] = carried;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t to = i;
        for (; to > 0 && sp[order[to - 1]] < sp[i]; to--)
            order[to] = order[to - 1];
        order[to] = i;
    }
}

TEST(random_runs_come_out_as_a_stable_sort_has_them)
{
    uint32_t order[MAX];
    for (int round = 0; round < ROUNDS; round++) {
        fill();
        uint32_t n = jsp_record_frames(record);
        sort_plainly(order, n);
        jsp_merge(record, &none, merged);
        for (uint32_t i = 0; i < n; i++)
            if (!CHECK_EQ(merged[n - 1 - i].id, order[i]))
                return;
    }
}

TEST(run_that_goes_up_keeps_its_own_order)
{
    *record = (struct jsp_record){ .n = { 3, 1, 0, 0 } };
    record->frames[0] = (struct jsp_rec_frame){ .id = 0, .sp = 100 };
    record->frames[1] = (struct jsp_rec_frame){ .id = 1, .sp = 900 }; /* a coroutine's */
    record->frames[2] = (struct jsp_rec_frame){ .id = 2, .sp = 50 };
    record->frames[3] = (struct jsp_rec_frame){ .id = 3, .sp = 80 };
    jsp_merge(record, &none, merged);
    CHECK_EQ(merged[3].id, 0);
    CHECK_EQ(merged[2].id, 1);
    CHECK_EQ(merged[1].id, 3);
    CHECK_EQ(merged[0].id, 2);
}

TEST(no_frames_are_no_frames)
{
    *record = (struct jsp_record){ .weight = 1 };
    merged[0].id = 77;
    jsp_merge(record, &none, merged);
    CHECK_EQ(merged[0].id, 77);
}

int main(void)
{
    RUN(random_runs_come_out_as_a_stable_sort_has_them);
    RUN(run_that_goes_up_keeps_its_own_order);
    RUN(no_frames_are_no_frames);
    return DONE();
}
