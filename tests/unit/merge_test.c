/* unit/merge_test.c - src/sigsafe/merge.c: VM frames and native frames come out in the
 * order in which they were called. Random stacks are made from their true order, and
 * the record keeps of them what a sample would.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sigsafe/merge.h"

#include <stdlib.h>

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
    uint32_t cut; /* id of the frame that stands for those that were left out; 0: none were */
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
    *record = (struct jsp_record){ .n_native = (uint16_t)stack.n_natives,
                                   .cut_native = stack.cut };
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
    return CHECK(!got->native) && CHECK_EQ(got->id, want) &&
           CHECK_EQ(got->line, want == stack.cut ? 0 : want * 3);
}

/* What comes out is the true order, frame by frame. */
static bool check_order(const struct jsp_loops *of)
{
    uint32_t left = stack.n_natives - (stack.cut != 0);
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

static void cut(uint64_t cfa)
{
    stack.cut = n_truth + 1;
    truth[n_truth++] = stack.cut;
    stack.natives[stack.n_natives++] = (struct jsp_rec_native){ JSP_NATIVE_CUT, cfa };
}

/* Make a stack, outermost first. n7@800 is a native frame that ends at 800, n7 one of the usual
 * end, n7@- the outermost one; ~800 native frames that were left out; *2 an activation with two
 * frames. Frames of the VM are h (host), l (link), a (array) and w (walker), with their address:
 * l900. A frame with e is the entry of a loop, with c one that was only called, with g a gap. */
static void make(const char *words)
{
    begin();
    for (const char *at = words; *at; at += strcspn(at, " "), at += *at == ' ') {
        char *end;
        uint64_t number = strtoull(at + 1, &end, 10);
        uint64_t cfa = *end != '@' ? 8 : end[1] == '-' ? UINTPTR_MAX : strtoull(end + 1, NULL, 10);
        if (*at == 'n') {
            native(NATIVE + number, cfa);
        } else if (*at == '~') {
            cut(number);
        } else if (*at == '*') {
            activation((uint32_t)number);
        } else {
            int run = *at == 'h' ? JSP_RUN_HOST : *at == 'l' ? JSP_RUN_LINKS
                    : *at == 'a' ? JSP_RUN_ARRAY : JSP_RUN_WALKER;
            vm(run, number, *end == 'e' ? JSPROF_FRAME_ENTRY
                          : *end == 'c' ? JSPROF_FRAME_ENTRY | JSPROF_FRAME_CALLED : 0);
            stack.runs[run][stack.n[run] - 1].gap = *end == 'g';
        }
    }
}

static const struct {
    const char *what, *words;
    bool has_loops, is_both; /* both: with and without */
} scenes[] = {
    { "a function of C calls frames before the first entry", "n1 h h n1500 he h *2 n2", true, 0 },
    { "and a loop that has no frame yet", "n1 h h n1500 he h *2 n2 *0", true, 0 },
    { "the unwinder did not see the first loop", "h he *2", true, 0 },
    { "the host marks no entry", "n1500 a a n3", true, 0 },
    /* It is in the loop or not. Only if its loop is missing, it is the innermost of all. */
    { "a function that is only called takes no loop of its callers", "*2 *3 n2 hc", true, 0 },
    { "its loop is missing", "he *2 hc", true, 0 },
    { "its loop is there", "*2 n1500 hc n2", true, 0 },
    /* The leaf is looked up where it is, callers one byte back. */
    { "a call at the very end of a loop is inside of it", "n2000 ae n2000", true, 0 },
    { "the leaf after the loop is not", "ae n2000", true, 0 },
    { "cut leaves leave their mark innermost", "*2 *2 hg n5", true, 0 },
    { "and by addresses", "n1@- l900 l800 l n2@700", false, 0 },
    { "native frames that were left out", "n1@- l900 n2@850 ~800 l750 l650 n3@600", false, 0 },
    { "two activations that were left out", "*2 *1 ~8 he h he h *3", true, 0 },
    { "a leaf inside a gap of the VM", "*2 *2 hg n1500 n1501 *1 *3 n5", true, 0 },
    { "only native frames", "n0@- n1@999 n2@998 n3@997", false, true },
    { "only frames of the VM", "h h500 l400 l a300 w200", false, true },
    { "frames without an address, inside what has one", "n1@- l900 n2@800 h h", false, true },
    { "a frame at the lowest byte of its caller", "n1@900 l800 n2@800 a799", false, 0 },
    { "a coroutine that nobody reported goes up", "l100 l900 a80 l50", false, 0 },
    { "no frames", "", false, true },
};

TEST(each_scene_comes_out_as_it_was_called)
{
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        make(scenes[i].words);
        bool good = check_order(scenes[i].has_loops ? &loops : &no_loops);
        if (!good || (scenes[i].is_both && !check_order(&loops)))
            printf("# %s: %s\n", scenes[i].what, scenes[i].words);
    }
}

TEST_MAIN()
