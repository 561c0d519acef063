/* unit/table_test.c - src/image/table.c: rows out of an .eh_frame that is written here, of
 * objects and of offsets at the edge of what there can be.
 *
 * SPDX-License-Identifier: MIT
 */
#include "image/table.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sigsafe/regs.h"
#include "test.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { IS_SANITIZED = 1 };
#else
enum { IS_SANITIZED = 0 };
#endif
enum { START = 0x400000, SIZE = 0x10000, NOP = 0 };

/* Zeros after the records end the section. */
static uint8_t bytes[4096];
static size_t used;

static void put(const void *what, size_t n)
{
    if (n)
        memcpy(bytes + used, what, n);
    used += n;
}

/* A record: its length, then what is in it, padded with DW_CFA_nop. */
static size_t record(const void *head, size_t n_head, const void *program, size_t n_program)
{
    size_t at = used;
    uint32_t len = (uint32_t)((n_head + n_program + 7) & ~(size_t)7);
    put(&len, sizeof len);
    put(head, n_head);
    put(program, n_program);
    used = at + sizeof len + len;
    return at;
}

/* Addresses as they are; code by 1, data by -8; the CFA is the stack pointer and 16. */
static void begin(void)
{
    static const uint8_t cie[] = { 0, 0, 0, 0, 1, 0, 1, 0x78, JSP_REG_RA };
    static const uint8_t program[] = { 0x0C, JSP_REG_SP, 16, 0x80 | JSP_REG_RA, 1 };
    memset(bytes, NOP, sizeof bytes);
    used = 0;
    record(cie, sizeof cie, program, sizeof program);
}

static void function(uint64_t start, uint64_t length, const void *program, size_t n)
{
    uint8_t head[20];
    uint32_t back = (uint32_t)used + 4;
    memcpy(head, &back, sizeof back);
    memcpy(head + 4, &start, sizeof start);
    memcpy(head + 12, &length, sizeof length);
    record(head, sizeof head, program, n);
}

static int build(struct jsp_table *table, uint64_t size)
{
    struct jsp_ehframe_section section = { bytes, used + 4, 0 };
    return jsp_table_build(table, &section, START, START + size);
}

static enum jsp_how kind_at(const struct jsp_table *table, uint64_t offset)
{
    return jsp_how_kind(jsp_unwind_object_how(&table->object, START + offset));
}

TEST(functions_out_of_order_are_found_and_what_lies_between_is_not_known)
{
    struct jsp_table table;
    begin();
    function(START + 0x300, 0x80, NULL, 0);
    function(START + 0x100, 0xF8, NULL, 0);
    function(START + 0x200, 0x80, NULL, 0);
    if (!CHECK_EQ(build(&table, SIZE), 0))
        return;
    CHECK_EQ(table.n_fdes, 3);
    CHECK_EQ(kind_at(&table, 0xFF), JSP_HOW_NONE);
    CHECK_EQ(kind_at(&table, 0x100), JSP_HOW_SP);
    CHECK_EQ(kind_at(&table, 0x1FF), JSP_HOW_SP); /* padding: nobody runs it */
    CHECK_EQ(kind_at(&table, 0x27F), JSP_HOW_SP);
    CHECK_EQ(kind_at(&table, 0x280), JSP_HOW_NONE);
    CHECK_EQ(kind_at(&table, 0x300), JSP_HOW_SP);
    CHECK_EQ(kind_at(&table, 0x380), JSP_HOW_NONE);
    CHECK_EQ(kind_at(&table, SIZE - 1), JSP_HOW_NONE);
    jsp_table_free(&table);
}

TEST(table_that_nobody_wants_any_more_is_given_up)
{
    static const _Atomic bool unwanted = true;
    struct jsp_table table = { .n_fdes = 7 };
    begin();
    function(START, 16, NULL, 0);
    struct jsp_ehframe_section section = { bytes, used + 4, 0 };
    CHECK_EQ(jsp_table_build_unless(&unwanted, &table, &section, START, START + SIZE),
             -ECANCELED);
    CHECK_EQ(table.n_fdes, 7);
}
TEST(function_that_is_not_inside_of_the_object_is_refused)
{
    struct jsp_table table;
    begin();
    function(START - 1, 16, NULL, 0);
    function(START + SIZE - 15, 16, NULL, 0);
    function(START + SIZE - 16, 16, NULL, 0);
    if (!CHECK_EQ(build(&table, SIZE), 0))
        return;
    CHECK_EQ(table.n_refused, 2);
    CHECK_EQ(kind_at(&table, SIZE - 1), JSP_HOW_SP);
    jsp_table_free(&table);
}

/* DW_CFA_offset_extended_sf of the frame pointer; the undefined-behaviour sanitizer sees
 * what is done with the lowest offset there is. */
TEST(register_that_is_restored_is_as_at_the_beginning)
{
    static const uint8_t program[] = { 0x80 | JSP_REG_FP, 2, 0x40 | 4, 0xC0 | JSP_REG_FP };
    struct jsp_table table;
    begin();
    function(START, 4, NULL, 0);
    function(START + 4, 16, program, sizeof program);
    if (!CHECK_EQ(build(&table, SIZE), 0))
        return;
    uint32_t before = jsp_unwind_object_how(&table.object, START);
    CHECK(jsp_unwind_object_how(&table.object, START + 4) != before);
    CHECK_EQ(jsp_unwind_object_how(&table.object, START + 8), before);
    jsp_table_free(&table);
}

TEST(register_that_is_saved_as_far_away_as_can_be_has_a_full_rule)
{
    static const uint8_t far[] = { 0x11, JSP_REG_FP, 0x80, 0x80, 0x80, 0x80, 0x01 };
    struct jsp_table table;
    begin();
    function(START, 16, far, sizeof far);
    if (!CHECK_EQ(build(&table, SIZE), 0))
        return;
    uint32_t how = jsp_unwind_object_how(&table.object, START);
    if (CHECK_EQ(jsp_how_kind(how), JSP_HOW_RULE))
        CHECK_EQ(table.object.rules[jsp_how_rule(how)].fp.value, INT32_MIN);
    jsp_table_free(&table);
}

TEST(object_of_nearly_4_gib_with_few_rows_is_laid_out)
{
    static const uint64_t sizes[] = { 1ull << 31, (1ull << 32) - 2 };
    for (int i = 0; i < 2; i++) {
        struct jsp_table table;
        begin();
        function(START + sizes[i] - 16, 16, NULL, 0);
        if (!CHECK_EQ(build(&table, sizes[i]), 0))
            return;
        CHECK_EQ(kind_at(&table, 0), JSP_HOW_NONE);
        CHECK_EQ(kind_at(&table, sizes[i] - 17), JSP_HOW_NONE);
        CHECK_EQ(kind_at(&table, sizes[i] - 1), JSP_HOW_SP);
        jsp_table_free(&table);
    }
    struct jsp_table table;
    CHECK_EQ(build(&table, (1ull << 32) - 1), -EFBIG);
}

/* -- Memory that ends --------------------------------------------------------------------- */

enum { MANY = 20000, EACH = 24, STEP = 1 << 16, STEPS = 200 };

static uint64_t mapped_bytes(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%lu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* With so much more memory than there is now. */
static int build_within(struct jsp_table *table, const struct jsp_ehframe_section *section,
                        uint64_t more)
{
    struct rlimit was, now;
    uint64_t mapped = mapped_bytes();
    getrlimit(RLIMIT_AS, &was);
    now = (struct rlimit){ mapped + more, was.rlim_max };
    setrlimit(RLIMIT_AS, &now);
    int err = jsp_table_build(table, section, START, START + 16ull * MANY);
    setrlimit(RLIMIT_AS, &was);
    return err;
}

static struct jsp_ehframe_section many_functions(void)
{
    uint8_t *all = calloc(1, sizeof bytes + (size_t)MANY * (EACH + 8));
    begin();
    size_t n = used;
    memcpy(all, bytes, used);
    for (uint64_t i = 0; i < MANY; i++) {
        /* The frame is as large as the number says: every row differs from the one before. */
        uint8_t fde[EACH + 4] = { EACH }, wide = (uint8_t)(i % 2 ? 16 : 32);
        uint32_t back = (uint32_t)n + 4;
        uint64_t start = START + 16 * i, length = 16;
        memcpy(fde + 4, &back, sizeof back);
        memcpy(fde + 8, &start, sizeof start);
        memcpy(fde + 16, &length, sizeof length);
        fde[24] = 0x0E; /* DW_CFA_def_cfa_offset */
        fde[25] = wide;
        memcpy(all + n, fde, sizeof fde);
        n += sizeof fde;
    }
    return (struct jsp_ehframe_section){ all, n + 4, 0 };
}

/* A host at its limit continues, with stacks that end there: it neither dies nor walks by
 * half a table, and the library frees the memory that it got. */
TEST(object_whose_table_finds_no_memory_is_refused_as_a_whole)
{
    static const uint8_t untouched[sizeof(struct jsp_table)];
    struct jsp_table table = { 0 };
    int err = -ENOMEM, steps = 0, n_refused = 0;
    if (IS_SANITIZED || getenv("RUN_UNDER") || !mapped_bytes()) {
        SKIP("needs a limit to its memory that no sanitizer or emulator bears, and /proc");
        return;
    }
    struct jsp_ehframe_section section = many_functions();
    for (; err && steps < STEPS; steps++) {
        uint64_t before = mapped_bytes();
        err = build_within(&table, &section, (uint64_t)steps * STEP);
        if (!err)
            break;
        CHECK_EQ(err, -ENOMEM);
        CHECK_EQ(memcmp(&table, untouched, sizeof table), 0);
        n_refused += mapped_bytes() <= before + STEP;
    }
    CHECK_EQ(err, 0);
    CHECK(steps > 3); /* more than one place found none */
    CHECK_EQ(n_refused, steps);
    CHECK_EQ(table.n_fdes, MANY);
    CHECK_EQ(kind_at(&table, 16 * (MANY - 1)), JSP_HOW_SP);
    printf("# refused with up to %d KiB more\n", (steps - 1) * STEP / 1024);
    jsp_table_free(&table);
    free((void *)(uintptr_t)section.bytes);
}

TEST_MAIN()
