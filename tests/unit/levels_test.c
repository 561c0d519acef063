/* unit/levels_test.c - src/sigsafe/levels.c: addresses on several C stacks in one order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sigsafe/levels.h"
#include "sigsafe/merge.h"
#include "sigsafe/regs.h"
#include "sigsafe/unwind.h"

#include "test.h"

enum { MAX = 32, VM = 1, NATIVE = 100 };

static alignas(8) unsigned char memory[sizeof(struct jsp_record) +
                                       MAX * (sizeof(struct jsp_rec_frame) +
                                              sizeof(struct jsp_rec_native))];
static struct jsp_record *const record = (void *)memory;
static struct jsp_merged merged[2 * MAX];
static struct jsp_levels levels;
static const stack_t no_alt = { .ss_flags = SS_DISABLE };

static const void *at(uintptr_t address)
{
    return (const void *)address;
}

/* Frames by link, outermost first; the natives innermost first. */
static void fill(const uint64_t *sps, const struct jsp_rec_native *natives,
                 uint16_t n_native, uint16_t stop)
{
    *record = (struct jsp_record){ .n_native = n_native, .stop = stop };
    for (; sps[record->n[0]]; record->n[0]++)
        record->frames[record->n[0]] =
            (struct jsp_rec_frame){ .id = VM + record->n[0], .sp = sps[record->n[0]] };
    for (uint16_t i = 0; i < n_native; i++)
        jsp_record_natives(record)[i] = natives[i];
}

/* "1 101 100": VM frames by label, natives by ip, outermost first. */
static const char *order(uintptr_t sp)
{
    static const struct jsp_loops none;
    static char text[256];
    size_t used = 0;
    jsp_levels_apply(&levels, record, sp);
    for (uint32_t n = jsp_merge(record, &none, merged); n-- > 0;)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%d", used ? " " : "",
                                 merged[n].native ? (int)merged[n].ip : (int)merged[n].id);
    text[used] = 0;
    return text;
}

TEST(own_stack_alone_is_left_as_it_is)
{
    static const struct jsp_rec_native natives[] = { { 100, 0x5000 }, { 101, UINTPTR_MAX } };
    static const uint64_t sps[] = { 0x6000, 0 };
    jsp_levels_find(&levels, NULL, &no_alt, 0x4000);
    CHECK_EQ(levels.n, 0);
    fill(sps, natives, 2, JSP_STOP_END);
    CHECK_STR(order(0x4000), "101 1 100");
    CHECK_EQ(record->frames[0].sp, 0x6000);
    CHECK_EQ(jsp_record_natives(record)[0].cfa, 0x5000);
}

/* Two coroutines, the inner one further up in memory than all the others. */
TEST(resumers_are_further_out_wherever_their_stacks_lie)
{
    static const struct jsp_rec_native natives[] = { { 100, 0x9800 }, { 101, UINTPTR_MAX } };
    static const uint64_t sps[] = { 0x5800, 0x1800, 0x9900, 0 };
    const jsprof_cstack outer = { NULL, at(0x1000), at(0x2000) };
    const jsprof_cstack inner = { &outer, at(0x9000), at(0xA000) };
    jsp_levels_find(&levels, &inner, &no_alt, 0x9700);
    CHECK_EQ(levels.n, 2);
    fill(sps, natives, 2, JSP_STOP_END);
    CHECK_STR(order(0x9700), "1 2 101 3 100"); /* not inside the coroutine's first frame */
}

/* The alternate stack begins where the coroutine's ends, as its first frame does. */
TEST(cfa_at_the_seam_of_two_stacks_belongs_to_the_lower_one)
{
    static const struct jsp_rec_native natives[] = {
        { 100, 0x2900 }, { 101, 0x1800 }, { 102, 0x2000 }, { 103, UINTPTR_MAX },
    };
    static const uint64_t sps[] = { 0x5000, 0x1900, 0x2880, 0 };
    const jsprof_cstack lower = { NULL, at(0x1000), at(0x2000) };
    const stack_t alt = { .ss_sp = (void *)(uintptr_t)0x2000, .ss_size = 0x1000 };
    jsp_levels_find(&levels, &lower, &alt, 0x2700);
    fill(sps, natives, 4, JSP_STOP_END);
    CHECK_STR(order(0x2700), "1 103 102 2 101 100 3");
}

/* The signal's frames are on an alternate stack above the thread's own. */
TEST(code_on_the_alternate_stack_is_inside_what_it_interrupted)
{
    static const struct jsp_rec_native natives[] = {
        { 100, 0x9800 }, { 101, 0x9900 }, { 102, 0x4000 }, { 103, 0x5000 },
        { 104, UINTPTR_MAX },
    };
    static const uint64_t sps[] = { 0x5800, 0x4800, 0x9880, 0 };
    const stack_t alt = { .ss_sp = (void *)(uintptr_t)0x9000, .ss_size = 0x1000 };
    jsp_levels_find(&levels, NULL, &alt, 0x9700);
    CHECK_EQ(levels.n, 1);
    fill(sps, natives, 5, JSP_STOP_END);
    CHECK_STR(order(0x9700), "104 1 103 2 102 101 3 100");
    jsp_levels_find(&levels, NULL, &alt, 0x4000); /* there is one, nobody is on it */
    CHECK_EQ(levels.n, 0);
}

/* Its frame ends nobody knows where; the VM frames that were found are its callers. */
TEST(walk_that_gave_up_leaves_the_callers_outside)
{
    static const struct jsp_rec_native natives[] = { { 100, 0x4800 }, { 101, UINTPTR_MAX } };
    static const uint64_t sps[] = { 0x6000, 0x4800, 0x4700, 0 };
    jsp_levels_find(&levels, NULL, &no_alt, 0x4600);
    for (int stop = JSP_STOP_NO_TABLE; stop < JSP_N_STOPS; stop++) {
        fill(sps, natives, 2, (uint16_t)stop);
        CHECK_STR(order(0x4600), "1 2 101 100 3");
    }
    static const struct jsp_rec_native leaf[] = { { 100, UINTPTR_MAX } };
    fill(sps, leaf, 1, JSP_STOP_NO_TABLE);
    CHECK_STR(order(0x4600), "1 2 3 100");
    fill(sps, leaf, 1, JSP_STOP_END); /* the outermost: all is inside */
    CHECK_STR(order(0x4600), "100 1 2 3");
}

TEST(chain_of_too_many_coroutines_is_cut_not_overrun)
{
    static jsprof_cstack chain[JSP_LEVELS_MAX + 9];
    const stack_t alt = { .ss_sp = (void *)(uintptr_t)0x1000, .ss_size = 0x1000 };
    for (uintptr_t i = 0; i < JSP_LEVELS_MAX + 9; i++)
        chain[i] = (jsprof_cstack){ i ? &chain[i - 1] : NULL, at(0x10000 * (i + 1)),
                                    at(0x10000 * (i + 1) + 0x1000) };
    jsp_levels_find(&levels, &chain[JSP_LEVELS_MAX + 8], &alt, 0x1800);
    CHECK_EQ(levels.n, JSP_LEVELS_MAX);
    CHECK_EQ(levels.at[0].low, 0x1000);
    CHECK_EQ(levels.at[1].low, 0x10000 * (JSP_LEVELS_MAX + 9));
}

TEST(frames_without_an_address_get_none)
{
    static const uint64_t sps[] = { 0x1800, 0 };
    const jsprof_cstack one = { NULL, at(0x1000), at(0x2000) };
    fill(sps, NULL, 0, 0);
    record->frames[1] = (struct jsp_rec_frame){ .id = VM + 1 };
    record->n[0] = 2;
    jsp_levels_find(&levels, &one, &no_alt, 0x1700);
    CHECK_STR(order(0x1700), "1 2");
    CHECK_EQ(record->frames[1].sp, 0);
}

/* An array's entries, outermost first; how many lost their address, which is left as 0. */
static uint32_t check(const uint64_t *sps, uintptr_t sp)
{
    *record = (struct jsp_record){ .stop = JSP_STOP_END };
    for (; sps[record->n[JSP_RUN_ARRAY]]; record->n[JSP_RUN_ARRAY]++)
        record->frames[record->n[JSP_RUN_ARRAY]] =
            (struct jsp_rec_frame){ .sp = sps[record->n[JSP_RUN_ARRAY]] };
    jsp_levels_apply(&levels, record, sp);
    return jsp_levels_check(&levels, record, sp, (struct jsp_levels_own){ 0x1000, 0x9000 });
}

TEST(entry_whose_frame_is_gone_loses_its_address)
{
    static const uint64_t good[] = { 0x6000, 0x5000, 0x5000, 0x4000, 0 },
        below[] = { 0x6000, 0x3000, 0 }, within[] = { 0x6000, 0x4800, 0x5000, 0 },
        red[] = { 0x6000, 0x4000 - JSP_RED_ZONE, 0 },
        elsewhere[] = { 0x6000, 0xA000, 0x5000, 0 };
    jsp_levels_find(&levels, NULL, &no_alt, 0x4000);
    CHECK_EQ(check(good, 0x4000), 0);
    CHECK_EQ(check(below, 0x4000), 1);
    CHECK_EQ(record->frames[1].sp, 0);
    CHECK_EQ(record->frames[0].sp, 0x6000);
    CHECK_EQ(check(within, 0x4000), 1); /* the outer one can not be where it says */
    CHECK_EQ(record->frames[1].sp, 0);
    CHECK_EQ(record->frames[2].sp, 0x5000);
    CHECK_EQ(check(red, 0x4000), 0);
    CHECK_EQ(check(elsewhere, 0x4000), 0); /* a coroutine that nobody told of */
    CHECK_EQ(check(good, 0xB000), 0);
    CHECK_EQ(check(within, 0xB000), 1);
}

TEST(entry_on_the_stack_of_a_resumer_is_no_deeper_than_the_coroutine)
{
    static const uint64_t sps[] = { 0x2000, 0xA800, 0 };
    jsprof_cstack co = { .low = at(0xA000), .high = at(0xB000) };
    jsp_levels_find(&levels, &co, &no_alt, 0xA400);
    CHECK_EQ(check(sps, 0xA400), 0);
    CHECK_EQ(check(sps, 0xA900), 1); /* the inner one is below */
    CHECK_EQ(record->frames[1].sp, 0);
}

TEST_MAIN()
