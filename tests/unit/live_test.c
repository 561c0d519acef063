/* live_test.c - src/sigsafe/live.c: what an object's own records say of an instruction is what
 * its table says; and records that lie are refused, within the calls that a walk has.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernel.h"
#include "test.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/block.h"
#include "image/loaded.h"
#include "image/table.h"
#include "sigsafe/live.h"

enum { PAGE = 4096, MOST_REPORTED = 5 };

static struct jsp_live live;
static struct jsp_memread mem;
static uint64_t n_asked, n_other, n_rules, n_calls;

static bool same_cell(const struct jsp_unwind_cell *a, const struct jsp_unwind_cell *b,
                      const struct jsp_unwind_object *of)
{
    bool is_expr = a->is == JSP_CELL_AT_EXPR || a->is == JSP_CELL_IS_EXPR;
    if (!is_expr)
        return memcmp(a, b, sizeof *a) == 0;
    return a->is == b->is && a->n == b->n &&
           memcmp(of->exprs + a->value, live.exprs + b->value, a->n) == 0;
}

static bool same_rule(const struct jsp_unwind_object *o, uint32_t theirs, uint32_t ours)
{
    const struct jsp_unwind_rule *a = &o->rules[jsp_how_rule(theirs)],
                                 *b = &live.rules[jsp_how_rule(ours)];
    n_rules++;
    return same_cell(&a->cfa, &b->cfa, o) && same_cell(&a->ra, &b->ra, o) &&
           same_cell(&a->sp, &b->sp, o) && same_cell(&a->fp, &b->fp, o) &&
           same_cell(&a->extra, &b->extra, o) && a->is_signal == b->is_signal;
}

static void compare(const struct jsp_table *table, uint64_t pc)
{
    const struct jsp_unwind_object *o = &table->object;
    uint32_t told = jsp_unwind_object_how(o, pc), how = JSP_HOW_NONE;
    live.calls = JSP_LIVE_CALLS;
    jsp_live_forget(&live);
    bool found = jsp_live_how(&live, &mem, pc, &how);
    bool same = found && (jsp_how_kind(told) == JSP_HOW_RULE ?
                          jsp_how_kind(how) == JSP_HOW_RULE && same_rule(o, told, how) :
                          told == how);
    n_calls += JSP_LIVE_CALLS - live.calls;
    n_asked++;
    if (!same && n_other++ < MOST_REPORTED)
        printf("# %llx: table %x, record %x\n", (unsigned long long)pc, told, how);
}

static int each_object(void *arg, const struct jsp_loaded *loaded)
{
    struct jsp_ehframe_section section;
    struct jsp_ehframe_fde fde;
    struct jsp_table table;
    static struct jsp_ehframe e;
    (void)arg;
    if (jsp_loaded_copy(loaded, getpid(), &section) < 0 || !section.n)
        return 0;
    if (jsp_table_build(&table, &section, loaded->start, loaded->end) == 0) {
        jsp_ehframe_begin(&e, &section);
        for (uint64_t i = 0; jsp_ehframe_next(&e, &fde); i++) {
            compare(&table, fde.start);
            compare(&table, fde.start + fde.length / 2 + i % 7 % fde.length / 2);
            compare(&table, fde.start + fde.length - 1);
        }
        jsp_table_free(&table);
    }
    jsp_block_free((void *)(uintptr_t)section.bytes);
    return 0;
}

TEST(records_of_loaded_objects_say_what_their_tables_say)
{
    struct jsp_loaded_seen seen = { UINT64_MAX, UINT64_MAX };
    if (!kernel_copies()) {
        SKIP("needs process_vm_readv, which no emulator has");
        return;
    }
    jsp_live_init(&live, jsp_loaded_find());
    jsp_memread_init(&mem, 0, 0, getpid());
    if (!live.find_sigsafe) {
        SKIP("needs _dl_find_object: glibc 2.35");
        return;
    }
    jsp_loaded_each(&seen, getpid(), each_object, NULL);
    printf("# %llu instructions, %llu by a full rule, %llu calls\n",
           (unsigned long long)n_asked, (unsigned long long)n_rules,
           (unsigned long long)n_calls);
    CHECK(n_asked > 3000);
    CHECK(n_rules > 0);
    CHECK(n_calls < 10 * n_asked); /* 7 each by guesses, 12 by halves */
    CHECK_EQ(n_other, 0);
}

TEST(memory_that_is_no_object_is_not_asked_twice)
{
    uint32_t how = JSP_HOW_NONE;
    if (!live.find_sigsafe) {
        SKIP("needs _dl_find_object: glibc 2.35");
        return;
    }
    live.calls = JSP_LIVE_CALLS;
    CHECK(!jsp_live_how(&live, &mem, (uintptr_t)&mem - 0x10000000, &how));
    CHECK_EQ(live.calls, JSP_LIVE_CALLS);
}

TEST(walks_of_one_sample_share_their_calls)
{
    jsp_live_grant(&live, JSP_LIVE_CALLS);
    CHECK_EQ(live.calls, JSP_LIVE_CALLS);
    jsp_live_limit(&live);
    CHECK_EQ(jsp_live_left(&live), JSP_LIVE_CALLS_UNREAD);
    jsp_live_grant(&live, JSP_LIVE_CALLS);
    CHECK_EQ(live.calls, JSP_LIVE_CALLS);
    live.calls -= 500; /* what a walk takes */
    CHECK_EQ(jsp_live_left(&live), JSP_LIVE_CALLS_UNREAD - 500);
    jsp_live_grant(&live, JSP_LIVE_CALLS_UNREAD);
    CHECK_EQ(live.calls, JSP_LIVE_CALLS_UNREAD - 500);
    live.calls = 0;
    jsp_live_grant(&live, JSP_LIVE_CALLS);
    CHECK_EQ(live.calls, 0);
    jsp_live_unlimit(&live);
    jsp_live_grant(&live, JSP_LIVE_CALLS);
    CHECK_EQ(live.calls, JSP_LIVE_CALLS);
}

/* -- Objects that lie -------------------------------------------------------------------- */

static uint8_t *header; /* two pages, the second of which can not be read */

static int find_sigsafe(void *pc, struct jsp_live_found *found)
{
    (void)pc;
    *found = (struct jsp_live_found){ .header = header };
    return 0;
}

static void lie(uint32_t seed)
{
    static const uint8_t good[] = { 1, 0x1B, 3, 0x3B };
    for (uint32_t i = 0; i < PAGE; i++)
        header[i] = (uint8_t)((seed = seed * 1103515245 + 12345) >> 16);
    memcpy(header, good, sizeof good);
    if (seed & 0x10000) /* small offsets: records that lie inside of the page */
        for (uint32_t i = 8; i < PAGE / 2; i += 4)
            memset(header + i + 1, (seed & 0x20000) && i % 8 ? 0 : header[i] & 3, 3);
}

TEST(objects_whose_records_lie_are_refused_or_answered_within_the_calls_of_a_walk)
{
    header = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(header + PAGE, PAGE);
    jsp_live_init(&live, find_sigsafe);
    uint32_t n = 0, n_none = 0;
    for (uint32_t seed = 1; seed <= 3000; seed++) {
        uint32_t how = JSP_HOW_NONE;
        lie(seed);
        jsp_live_forget(&live);
        live.calls = JSP_LIVE_CALLS;
        uint32_t mine = mem.calls;
        jsp_live_how(&live, &mem, (uintptr_t)header + seed % PAGE, &how);
        n += mem.calls == mine && live.calls > JSP_LIVE_CALLS - 64;
        n_none += how == JSP_HOW_NONE;
    }
    CHECK_EQ(n, 3000);
    printf("# %u of 3000 refused\n", n_none);
    munmap(header, PAGE);
}

TEST(object_that_was_unmapped_meanwhile_is_refused)
{
    uint32_t how = JSP_HOW_RULE;
    live.calls = JSP_LIVE_CALLS;
    CHECK(jsp_live_how(&live, &mem, (uintptr_t)header + 1, &how));
    CHECK_EQ(how, JSP_HOW_NONE);
}

TEST_MAIN()
