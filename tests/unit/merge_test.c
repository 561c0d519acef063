/* unit/merge_test.c - src/sigsafe/merge.c: VM frames and native frames come out in the
 * order in which they were called. Random stacks are made from their true order, and
 * the record keeps of them what a sample would.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sigsafe/merge.h"

#include "test.h"

enum { MAX = 96, ROUNDS = 30000, NATIVE = 1 << 20 };

static alignas(8) unsigned char memory[sizeof(struct jsp_record) +
                                       MAX * (sizeof(struct jsp_rec_frame) +
                                              sizeof(struct jsp_rec_native))];
static struct jsp_record *const record = (void *)memory;
static struct jsp_merged merged[2 * MAX];
static uint32_t truth[2 * MAX]; /* labels and NATIVE | ips, outermost first */
static uint32_t n_truth;
static uint64_t loop_range[1][2] = { { NATIVE + 1000, NATIVE + 2000 } };
static const struct jsp_loops no_loops, loops = { loop_range, 1 };
static uint64_t state = 1;

static uint32_t chance(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % n);
}

/* What a sample holds, before it is one record. */
static struct {
    struct jsp_rec_frame runs[JSP_N_RUNS][MAX];
    uint32_t n[JSP_N_RUNS];
    struct jsp_rec_native natives[MAX]; /* outermost first */
    uint32_t n_natives;
} stack;

static void begin(void)
{
    memset(&stack, 0, sizeof stack);
    n_truth = 0;
}

static void vm(int run, uint64_t sp, uint32_t entry)
{
    uint32_t id = n_truth + 1;
    stack.runs[run][stack.n[run]++] = (struct jsp_rec_frame){ .id = id, .sp = sp,
                                                              .line = id * 3, .entry = entry };
    truth[n_truth++] = id;
}

static void native(uint64_t ip, uint64_t cfa)
{
    stack.natives[stack.n_natives++] = (struct jsp_rec_native){ ip, cfa };
    truth[n_truth++] = (uint32_t)ip;
}

static uint32_t n_vm(void)
{
    uint32_t n = 0;
    for (int run = 0; run < JSP_N_RUNS; run++)
        n += stack.n[run];
    return n;
}

static void pack(void)
{
    uint32_t at = 0;
    *record = (struct jsp_record){ .n_native = (uint16_t)stack.n_natives };
    for (int run = 0; run < JSP_N_RUNS; run++) {
        record->n[run] = (uint16_t)stack.n[run];
        for (uint32_t i = 0; i < stack.n[run]; i++)
            record->frames[at++] = stack.runs[run][i];
    }
    for (uint32_t i = 0; i < stack.n_natives; i++)
        jsp_record_natives(record)[i] = stack.natives[stack.n_natives - 1 - i];
}

static bool same_frame(const struct jsp_merged *got, uint32_t want, bool is_leaf)
{
    if (want & NATIVE)
        return CHECK(got->native) && CHECK_EQ(got->ip, want) && CHECK_EQ(got->leaf, is_leaf);
    return CHECK(!got->native) && CHECK_EQ(got->id, want) && CHECK_EQ(got->line, want * 3);
}

/* What comes out is the true order, frame by frame. */
static bool check_order(const struct jsp_loops *of)
{
    uint32_t left = stack.n_natives;
    pack();
    if (!CHECK_EQ(jsp_merge(record, of, merged), n_truth))
        return false;
    for (uint32_t i = 0; i < n_truth; i++) {
        left -= (truth[i] & NATIVE) != 0;
        if (!same_frame(&merged[n_truth - 1 - i], truth[i], left == 0))
            return false;
    }
    return true;
}

/* The VM frames of one native frame, which ends below `low`. A frame may do without its
 * address if the one right outside of it is of its own run. */
static void fill_native(uint64_t high, uint64_t low)
{
    uint32_t most = chance(4);
    uint64_t sp = high;
    int before = -1;
    for (uint32_t i = 0; i < most && sp > low && n_vm() < MAX; i++) {
        int run = (int)chance(JSP_N_RUNS);
        sp -= 1 + chance((uint32_t)(sp - low));
        vm(run, run == before && chance(2) ? 0 : sp, 0);
        before = run;
    }
}

static void make_stack(void)
{
    uint64_t cfa = 1 << 19;
    uint32_t most = 1 + chance(20);
    begin();
    if (chance(3) == 0) /* the walk began further in: these are outside of all it saw */
        for (uint32_t i = chance(4), sp = 1 << 20; i-- > 0; sp -= 8)
            vm(JSP_RUN_HOST, stack.n[JSP_RUN_HOST] && chance(2) ? 0 : sp, 0);
    for (uint32_t i = 0; i < most; i++) {
        uint64_t next = cfa - 1 - chance(64);
        bool is_first = n_truth == 0 && chance(2);
        native(NATIVE + i, is_first ? UINTPTR_MAX : cfa);
        fill_native(cfa, next);
        cfa = next;
    }
}

TEST(random_stacks_come_out_as_they_were_called)
{
    for (int round = 0; round < ROUNDS; round++) {
        make_stack();
        if (!check_order(chance(2) ? &loops : &no_loops))
            return;
    }
}

/* One native activation of the loop, with its VM frames if it has any. */
static void activation(uint32_t n_frames)
{
    for (uint32_t i = chance(3); i > 0; i--)
        native(NATIVE + chance(1000), 8);
    native(NATIVE + 1001 + chance(999), 8);
    for (uint32_t i = 0; i < n_frames; i++)
        vm(JSP_RUN_HOST, 0, i == 0);
}

TEST(each_native_activation_of_a_loop_takes_one_run_of_frames)
{
    for (int round = 0; round < ROUNDS; round++) {
        bool is_missed = chance(2); /* the walk did not see the outer ones */
        begin();
        for (uint32_t i = is_missed ? chance(4) : 0; i > 0; i--)
            for (uint32_t left = 1 + chance(3), all = left; left > 0; left--)
                vm(JSP_RUN_HOST, 0, left == all);
        for (uint32_t i = 1 + chance(5); i > 0; i--)
            activation(1 + chance(4));
        if (!is_missed && chance(2)) /* entered, but nothing was pushed yet */
            activation(0);
        for (uint32_t i = chance(3); i > 0; i--)
            native(NATIVE + chance(1000), 8);
        if (!check_order(&loops))
            return;
    }
}

/* A host's C function is the outermost VM frame: C called it. */
TEST(frames_before_the_first_entry_are_outside_of_all_loops)
{
    for (uint32_t entered_or_left = 0; entered_or_left < 2; entered_or_left++) {
        begin();
        native(NATIVE + 1, 8);
        vm(JSP_RUN_HOST, 0, 0);
        vm(JSP_RUN_HOST, 0, 0);
        native(NATIVE + 1500, 8);
        vm(JSP_RUN_HOST, 0, JSPROF_FRAME_ENTRY);
        vm(JSP_RUN_HOST, 0, 0);
        activation(2);
        native(NATIVE + 2, 8);
        if (entered_or_left)
            activation(0);
        check_order(&loops);
    }
    begin(); /* the unwinder did not see the first loop */
    vm(JSP_RUN_HOST, 0, 0);
    vm(JSP_RUN_HOST, 0, JSPROF_FRAME_ENTRY);
    activation(2);
    check_order(&loops);
    begin(); /* a host that marks no entry */
    native(NATIVE + 1500, 8);
    vm(JSP_RUN_ARRAY, 0, 0);
    vm(JSP_RUN_ARRAY, 0, 0);
    native(NATIVE + 3, 8);
    check_order(&loops);
}

/* It is in the loop or not. Only if its loop is missing, it is the innermost of all. */
TEST(function_that_is_only_called_takes_no_loop_of_its_callers)
{
    begin();
    activation(2);
    activation(3);
    native(NATIVE + 2, 8);
    vm(JSP_RUN_HOST, 0, JSPROF_FRAME_ENTRY | JSPROF_FRAME_CALLED);
    check_order(&loops);
    begin();
    vm(JSP_RUN_HOST, 0, JSPROF_FRAME_ENTRY); /* the unwinder did not see its loop */
    activation(2);
    vm(JSP_RUN_HOST, 0, JSPROF_FRAME_ENTRY | JSPROF_FRAME_CALLED);
    check_order(&loops);
    begin();
    activation(2);
    native(NATIVE + 1500, 8);
    vm(JSP_RUN_HOST, 0, JSPROF_FRAME_ENTRY | JSPROF_FRAME_CALLED);
    native(NATIVE + 2, 8);
    check_order(&loops);
}

/* The leaf is looked up where it is, callers one byte back. */
TEST(call_at_the_very_end_of_a_loop_is_inside_of_it)
{
    begin();
    native(NATIVE + 2000, 8); /* returns to behind the loop */
    vm(JSP_RUN_ARRAY, 0, 1);
    native(NATIVE + 2000, 8); /* the leaf is not in it */
    check_order(&loops);
    begin();
    vm(JSP_RUN_ARRAY, 0, 1); /* the only native frame is the leaf, behind the loop */
    native(NATIVE + 2000, 8);
    pack();
    CHECK_EQ(jsp_merge(record, &loops, merged), 2);
    CHECK_EQ(merged[1].id, 1);
}

TEST(cut_leaves_leave_their_mark_innermost)
{
    begin();
    activation(2);
    activation(2);
    vm(JSP_RUN_HOST, 0, 0); /* "[deeper frames cut]", as the handler appends it */
    stack.runs[JSP_RUN_HOST][stack.n[JSP_RUN_HOST] - 1].gap = 1;
    native(NATIVE + 5, 8);
    check_order(&loops);
    begin();
    native(NATIVE + 1, UINTPTR_MAX);
    vm(JSP_RUN_LINKS, 900, 0);
    vm(JSP_RUN_LINKS, 800, 0);
    vm(JSP_RUN_LINKS, 0, 0);
    native(NATIVE + 2, 700);
    check_order(&no_loops);
}

/* What was between the innermost and the outermost C frames. */
TEST(c_frames_that_were_left_out_are_one_with_a_name)
{
    begin();
    native(NATIVE + 1, UINTPTR_MAX);
    vm(JSP_RUN_LINKS, 900, 0);
    native(NATIVE + 2, 850);
    truth[n_truth] = n_truth + 1; /* stands for those from 800 down to 600 */
    stack.natives[stack.n_natives++] = (struct jsp_rec_native){ JSP_NATIVE_CUT, 800 };
    n_truth++;
    vm(JSP_RUN_LINKS, 750, 0);
    vm(JSP_RUN_LINKS, 650, 0);
    native(NATIVE + 3, 600);
    pack();
    record->cut_native = 3 + 1;
    CHECK_EQ(jsp_merge(record, &no_loops, merged), n_truth);
    CHECK(!merged[3].native);
    CHECK_EQ(merged[3].id, 4);
    CHECK_EQ(merged[2].id, 5);
    CHECK_EQ(merged[4].ip, NATIVE + 2);
    CHECK_EQ(merged[0].ip, NATIVE + 3);
}

/* Two activations were seen outside the cut, one inside it, and two are in the cut. */
TEST(activations_that_were_left_out_stand_where_they_were)
{
    begin();
    activation(2);
    activation(1);
    uint32_t gap = n_truth;
    stack.natives[stack.n_natives++] = (struct jsp_rec_native){ JSP_NATIVE_CUT, 8 };
    n_truth++;
    for (uint32_t i = 0; i < 4; i++)
        vm(JSP_RUN_HOST, 0, i % 2 == 0);
    activation(3);
    pack();
    record->cut_native = 99;
    CHECK_EQ(jsp_merge(record, &loops, merged), n_truth);
    CHECK_EQ(merged[n_truth - 1 - gap].id, 99);
    for (uint32_t i = 0; i < n_truth; i++)
        if (i != gap)
            CHECK_EQ(merged[n_truth - 1 - i].native ? merged[n_truth - 1 - i].ip
                                                    : merged[n_truth - 1 - i].id, truth[i]);
}

/* The VM frames of the two activations in the middle did not fit. */
TEST(leaf_inside_a_gap_of_the_vm_stays_in_the_innermost_loop)
{
    begin();
    activation(2);
    activation(2);
    vm(JSP_RUN_HOST, 0, 0);
    stack.runs[JSP_RUN_HOST][stack.n[JSP_RUN_HOST] - 1].gap = 1;
    native(NATIVE + 1500, 8);
    native(NATIVE + 1501, 8);
    activation(1);
    activation(3);
    native(NATIVE + 5, 8);
    check_order(&loops);
}

TEST(only_native_frames_stay_as_they_are)
{
    begin();
    for (uint32_t i = 0; i < 30; i++)
        native(NATIVE + i, i ? 1000 - i : UINTPTR_MAX);
    check_order(&no_loops);
    check_order(&loops);
}

TEST(only_vm_frames_are_ordered_by_address)
{
    begin();
    vm(JSP_RUN_HOST, 0, 0);
    vm(JSP_RUN_HOST, 500, 0);
    vm(JSP_RUN_LINKS, 400, 0);
    vm(JSP_RUN_LINKS, 0, 0);
    vm(JSP_RUN_ARRAY, 300, 0);
    vm(JSP_RUN_WALKER, 200, 0);
    check_order(&no_loops);
    check_order(&loops);
}

TEST(frames_without_any_address_stand_inside_of_what_has_one)
{
    begin();
    native(NATIVE + 1, UINTPTR_MAX);
    vm(JSP_RUN_LINKS, 900, 0);
    native(NATIVE + 2, 800);
    vm(JSP_RUN_HOST, 0, 0);
    vm(JSP_RUN_HOST, 0, 0);
    check_order(&no_loops);
    check_order(&loops); /* one address is enough to go by addresses */
}

TEST(frame_at_the_seam_belongs_to_the_caller)
{
    begin();
    native(NATIVE + 1, 900);
    vm(JSP_RUN_LINKS, 800, 0); /* the lowest byte of the caller */
    native(NATIVE + 2, 800);
    vm(JSP_RUN_ARRAY, 799, 0);
    check_order(&no_loops);
}

TEST(run_that_goes_up_keeps_its_own_order)
{
    begin();
    vm(JSP_RUN_LINKS, 100, 0);
    vm(JSP_RUN_LINKS, 900, 0); /* a coroutine's that nobody told of */
    vm(JSP_RUN_ARRAY, 80, 0);
    vm(JSP_RUN_LINKS, 50, 0);
    check_order(&no_loops);
}

TEST(no_frames_are_no_frames)
{
    begin();
    pack();
    merged[0].id = 77;
    CHECK_EQ(jsp_merge(record, &loops, merged), 0);
    CHECK_EQ(merged[0].id, 77);
}

TEST_MAIN()
