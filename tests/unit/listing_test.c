/* unit/listing_test.c - src/session/listing.c and pcs.c: what a host registers is what
 * src/analyze/bytecode.c reads from the file, and only of functions that were met.
 *
 * SPDX-License-Identifier: MIT
 */
#include "session/listing.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyze/bytecode.h"
#include "capture/wire.h"
#include "sigsafe/names.h"
#include "test.h"

enum { MANY = 5000, ARENA = 1 << 20, SLOTS = 1 << 14 };

static struct jsp_arena arena;
static struct jsp_listings all;
static struct jsp_writer w;
static struct jsp_read r;
static struct jsp_bytecode code;
static struct jsp_read_defects defects;
static struct jsp_pcs pcs;
static int fd;

static bool begin(void)
{
    static uint64_t bytes[ARENA / 8], slots[SLOTS];
    memset(slots, 0, sizeof slots);
    struct jsp_arena_memory memory = { bytes, ARENA, slots, SLOTS };
    jsp_arena_init(&arena, &memory);
    all = (struct jsp_listings){ .arena = &arena };
    jsp_pcs_drop(&pcs);
    fd = memfd_create("capture", 0);
    return CHECK_EQ(jsp_writer_open(&w, dup(fd), 77), 0);
}

/* Write all there is, and open it. */
static bool written(void)
{
    char path[64], why[JSP_READ_WHY];
    while (jsp_listings_write(&all, &w) == -ENOBUFS)
        if (!CHECK_EQ(jsp_writer_flush(&w), 0))
            return false;
    jsp_pcs_write(&pcs, &w);
    CHECK_EQ(jsp_writer_close(&w), 0);
    jsp_listings_free(&all);
    memset(&defects, 0, sizeof defects);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return CHECK_EQ(jsp_read_open(&r, path, why), 0);
}

static bool read_back(const char *name)
{
    return CHECK_EQ(jsp_bytecode_read(&code, &r, name, &defects), 0) &&
           CHECK_EQ(defects.count[JSP_READ_RECORD], 0) && CHECK(code.is_there);
}

static void end(void)
{
    jsp_bytecode_free(&code);
    jsp_read_close(&r);
    close(fd);
}

static uint32_t label(const char *name, enum jsprof_kind kind)
{
    return jsp_arena_intern(&arena, name, (uint32_t)strlen(name), (uint8_t)kind);
}

static jsprof_function function(char *name)
{
    return (jsprof_function){ .text = name, .len = (uint32_t)strlen(name) };
}

static int add(char *name, const jsprof_listing_row *rows, uint32_t n)
{
    jsprof_function f = function(name);
    jsprof_listing listing = { .size = sizeof listing, .function = &f, .rows = rows,
                               .n_rows = n };
    return jsp_listings_add(&all, &listing);
}

static const uint64_t to_nine[] = { 9, 5 };
static const jsprof_listing_row three[] = {
    { .pc = 5, .text = "load a", .line = 3 },
    { .pc = 7, .text = "branch 9 5", .line = 4, .targets = to_nine, .n_targets = 2 },
    { .pc = 9, .text = "return", .line = 4, .ends = true },
};

static bool is_text(const struct jsp_bytecode_row *row, const char *text)
{
    return row->text.len == strlen(text) && memcmp(row->text.at, text, row->text.len) == 0;
}

TEST(rows_come_back_as_they_were_registered)
{
    if (!begin())
        return;
    CHECK_EQ(add("f (x:1)", three, 3), 0);
    CHECK_EQ(jsp_listings_row(&all, label("f (x:1)", JSPROF_KIND_VM), 7), 2);
    if (!written() || !read_back("f (x:1)"))
        return;
    CHECK_EQ(code.n, 3);
    CHECK_EQ(code.n_claimed, 3);
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_EQ(code.rows[i].pc, three[i].pc);
        CHECK_EQ(code.rows[i].line, three[i].line);
        CHECK_EQ(code.rows[i].ends, three[i].ends);
        CHECK_EQ(code.rows[i].n_targets, three[i].n_targets);
        CHECK(is_text(&code.rows[i], three[i].text));
    }
    CHECK_EQ(code.targets[code.rows[1].first_target], 9);
    CHECK_EQ(code.targets[code.rows[1].first_target + 1], 5);
    CHECK_EQ(jsp_bytecode_at(&code, 9), 2);
    CHECK_EQ(jsp_bytecode_at(&code, 8), 3);
    CHECK(!code.is_shared);
    end();
}

TEST(a_pc_is_in_the_last_row_that_begins_at_or_before_it)
{
    if (!begin())
        return;
    CHECK_EQ(add("f", three, 3), 0);
    uint32_t vm = label("f", JSPROF_KIND_VM), jit = label("f", JSPROF_KIND_JIT);
    uint32_t other = label("g", JSPROF_KIND_VM);
    static const uint32_t want[] = { 0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 3 };
    for (uint64_t pc = 0; pc < sizeof want / sizeof *want; pc++) {
        CHECK_EQ(jsp_listings_row(&all, vm, pc), want[pc]);
        CHECK_EQ(jsp_listings_row(&all, jit, pc), want[pc]);
    }
    CHECK_EQ(jsp_listings_row(&all, vm, UINT64_MAX), 3);
    CHECK_EQ(jsp_listings_row(&all, other, 7), 0);
    CHECK_EQ(add("g", three, 3), 0); /* it was looked up in vain before */
    CHECK_EQ(jsp_listings_row(&all, other, 7), 2);
    CHECK_EQ(add("empty", NULL, 0), 0);
    CHECK_EQ(jsp_listings_row(&all, label("empty", JSPROF_KIND_VM), 1), 0);
    if (written())
        end();
}

TEST(functions_that_no_sample_met_are_not_in_the_file)
{
    if (!begin())
        return;
    CHECK_EQ(add("met", three, 3), 0);
    CHECK_EQ(add("not met", three, 3), 0);
    CHECK_EQ(jsp_listings_row(&all, label("met", JSPROF_KIND_VM), 5), 1);
    if (!written() || !read_back("met"))
        return;
    jsp_bytecode_free(&code);
    CHECK_EQ(jsp_bytecode_read(&code, &r, "not met", &defects), 0);
    CHECK(!code.is_there);
    end();
}

TEST(a_second_listing_of_one_name_is_refused_and_the_file_says_so)
{
    if (!begin())
        return;
    CHECK_EQ(add("f", three, 3), 0);
    CHECK_EQ(add("f", three, 3), 0); /* the same again is none */
    CHECK_EQ(jsp_listings_row(&all, label("f", JSPROF_KIND_VM), 5), 1);
    CHECK_EQ(jsp_listings_write(&all, &w), 0);
    CHECK_EQ(add("f", three, 2), -EEXIST);
    if (!written() || !read_back("f"))
        return;
    CHECK(code.is_shared);
    CHECK_EQ(code.n, 3);
    end();
}

TEST(what_can_not_be_a_listing_is_refused_and_changes_nothing)
{
    static const struct {
        jsprof_listing_row rows[2];
        uint32_t n;
    } bad[] = {
        { { { .pc = 5, .text = "a" }, { .pc = 5, .text = "b" } }, 2 },
        { { { .pc = 0, .text = "a" } }, 1 },
        { { { .pc = 1 } }, 1 },
        { { { .pc = 1, .text = "a", .n_targets = 1 } }, 1 }, /* that are nowhere */
        { { { .pc = 1, .text = "a", .targets = to_nine,
              .n_targets = JSPROF_LISTING_TARGETS + 1 } }, 1 },
    };
    if (!begin())
        return;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (!CHECK_EQ(add("f", bad[i].rows, bad[i].n), -EINVAL))
            printf("# listing %zu\n", i);
    CHECK_EQ(all.n, 0);
    CHECK_EQ(all.bytes, 0);
    if (written())
        end();
}

/* Rows of 1000 bytes and of the most targets: many records, more than one buffer. */
TEST(a_long_listing_goes_through_a_small_buffer_in_parts)
{
    static uint64_t targets[JSPROF_LISTING_TARGETS];
    static jsprof_listing_row rows[MANY];
    char text[1200];
    if (!begin())
        return;
    memset(text, 'x', sizeof text);
    text[1199] = 0;
    for (uint32_t i = 0; i < JSPROF_LISTING_TARGETS; i++)
        targets[i] = UINT64_MAX - i;
    for (uint32_t i = 0; i < MANY; i++)
        rows[i] = (jsprof_listing_row){ .pc = 1 + (uint64_t)i * i, .text = text, .line = i,
                                        .targets = targets,
                                        .n_targets = i % 1000 ? 0 : JSPROF_LISTING_TARGETS };
    CHECK_EQ(add("long", rows, MANY), 0);
    CHECK_EQ(jsp_listings_row(&all, label("long", JSPROF_KIND_VM), 5), 3);
    CHECK_EQ(jsp_listings_write(&all, &w), -ENOBUFS);
    CHECK(w.capacity - w.used >= JSP_WRITER_SPARE);
    if (!written() || !read_back("long"))
        return;
    CHECK_EQ(code.n, MANY);
    CHECK_EQ(code.n_targets, MANY / 1000 * JSPROF_LISTING_TARGETS);
    CHECK_EQ(code.rows[MANY - 1].pc, 1 + (uint64_t)(MANY - 1) * (MANY - 1));
    CHECK_EQ(code.rows[MANY - 1].text.len, 1023);
    CHECK_EQ(code.targets[code.n_targets - 1], UINT64_MAX - JSPROF_LISTING_TARGETS + 1);
    end();
}

TEST(each_of_many_listings_is_found_and_by_a_short_way)
{
    char name[32];
    int wrong = 0;
    if (!begin())
        return;
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "f%u", i);
        wrong += add(name, three, i % 4) != 0;
    }
    CHECK_EQ(wrong, 0);
    CHECK(all.by_name.mask >= all.n); /* more slots than listings */
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "f%u", i);
        wrong += jsp_listings_row(&all, label(name, JSPROF_KIND_VM), 100) != i % 4;
    }
    CHECK_EQ(wrong, 0);
    if (written())
        end();
}

TEST(listings_end_at_their_limit)
{
    char name[32], text[1024];
    int err = 0;
    uint32_t n = 0;
    if (!begin())
        return;
    memset(text, 'y', sizeof text - 1);
    text[1023] = 0;
    jsprof_listing_row rows[64];
    for (uint32_t i = 0; i < 64; i++)
        rows[i] = (jsprof_listing_row){ .pc = i + 1, .text = text };
    for (; !err && n < MANY; n++) {
        snprintf(name, sizeof name, "f%u", n);
        err = add(name, rows, 64);
    }
    CHECK_EQ(err, -E2BIG);
    CHECK(n > 400 && n < 520);
    CHECK(all.bytes <= JSP_LISTINGS_BYTES);
    if (written())
        end();
}

/* -- Samples ---------------------------------------------------------------- */

static void sample(uint64_t ordinal, uint32_t id, uint64_t pc)
{
    static struct jsp_frames frames;
    frames.n = 3; /* a C function, the one asked for, one without a listing */
    frames.at[0] = (struct jsp_merged){ .ip = 99, .native = true };
    frames.at[1] = (struct jsp_merged){ .id = id, .pc = pc };
    frames.at[2] = (struct jsp_merged){ .id = label("other", JSPROF_KIND_VM), .pc = 4 };
    CHECK(jsp_pcs_has_room(&pcs, &w, frames.n));
    jsp_pcs_put(&pcs, &all, &frames, ordinal);
}

TEST(each_sample_has_its_rows_whichever_have_none)
{
    struct jsp_bytecode_pcs cursor;
    uint32_t out[8], wrong = 0;
    if (!begin())
        return;
    CHECK_EQ(add("f", three, 3), 0);
    uint32_t id = label("f", JSPROF_KIND_VM);
    for (uint64_t i = 0; i < MANY; i++)
        sample(i, id, i % 7 == 0 ? 0 : i % 13);
    if (!written())
        return;
    jsp_bytecode_pcs_start(&cursor, &r, &defects);
    for (uint64_t i = 0; i < MANY; i++) {
        static const uint32_t rows[] = { 0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 3, 3 };
        uint32_t want = i % 7 == 0 ? 0 : rows[i % 13];
        uint32_t n = jsp_bytecode_pcs_get(&cursor, i, out, 8);
        wrong += n != (want ? 2 : 0) || (n && (out[0] != 0 || out[1] != want));
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(defects.count[JSP_READ_RECORD], 0);
    CHECK_EQ(jsp_bytecode_pcs_get(&cursor, MANY, out, 8), 0);
    end();
}

TEST_MAIN()
