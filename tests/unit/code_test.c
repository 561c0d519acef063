/* unit/code_test.c - src/session/code.c: which code was at an address at what time,
 * against a plain list of all that ever was registered.
 *
 * SPDX-License-Identifier: MIT
 */
#include "session/code.h"

#include <errno.h>

#include "test.h"

enum { SPACE = 400, OPERATIONS = 4000, QUESTIONS = 40, ROUNDS = 10, MOST_LINES = 4 };

static struct jsp_codes codes;
static uint64_t now = 1000;
static uint64_t floor_ns; /* nobody asks for what was before */
static uint64_t state = 7;

/* The plain list. */
static struct plain {
    uint64_t start, end, birth, death;
    uint32_t label, n_lines;
    struct jsp_code_line lines[MOST_LINES];
} plain[2 * OPERATIONS];
static uint32_t n_plain;

static uint32_t chance(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % n);
}

static void plain_add(const struct plain *p)
{
    for (uint32_t i = 0; i < n_plain; i++)
        if (plain[i].death == UINT64_MAX && plain[i].start < p->end && p->start < plain[i].end)
            plain[i].death = p->birth;
    plain[n_plain++] = *p;
}

static struct plain *plain_alive(uint64_t start)
{
    for (uint32_t i = 0; i < n_plain; i++)
        if (plain[i].death == UINT64_MAX && plain[i].start == start)
            return &plain[i];
    return NULL;
}

static const struct plain *plain_find(uint64_t ip, uint64_t time)
{
    for (uint32_t i = 0; i < n_plain; i++)
        if (ip >= plain[i].start && ip < plain[i].end && time >= plain[i].birth &&
            time < plain[i].death)
            return &plain[i];
    return NULL;
}

static uint32_t plain_line(const struct plain *p, uint64_t ip)
{
    uint32_t line = 0;
    for (uint32_t i = 0; i < p->n_lines; i++)
        if (p->lines[i].offset <= ip - p->start)
            line = p->lines[i].line;
    return line;
}

static bool ask(uint64_t ip, uint64_t time)
{
    struct jsp_code_hit hit = { 0, 0, 0 };
    const struct plain *p = plain_find(ip, time);
    if (!CHECK_EQ(jsp_codes_find(&codes, ip, time, &hit), p != NULL))
        return false;
    return !p || (CHECK_EQ(hit.label, p->label) && CHECK_EQ(hit.line, plain_line(p, ip)) &&
                  CHECK_EQ(hit.pc, 7 * (uint64_t)plain_line(p, ip)));
}

/* What the handler sees is what lives now. */
static bool ask_handler(uint64_t ip)
{
    uint32_t label = 0;
    jsprof_code_row row;
    const struct plain *p = plain_find(ip, now);
    if (!CHECK_EQ(jsp_jitrows_label(&codes.handler, ip, &label), p != NULL) || !p)
        return !p;
    return CHECK_EQ(label, p->label) &&
           CHECK_EQ(jsp_jitrows_find(&codes.handler, ip, &row), JSP_JITROWS_POINTER);
}

static void add(void)
{
    struct plain p = { .start = chance(SPACE), .birth = now, .death = UINT64_MAX,
                       .label = n_plain + 1, .n_lines = chance(MOST_LINES + 1) };
    jsprof_code_pc pcs[MOST_LINES];
    p.end = p.start + 1 + chance(chance(8) ? 12 : SPACE);
    for (uint32_t i = 0, offset = chance(3); i < p.n_lines; i++, offset += 1 + chance(4))
        p.lines[i] = (struct jsp_code_line){ offset, 100 + chance(100) };
    struct jsp_code_def def = { .start = p.start, .length = p.end - p.start,
                                .label = p.label, .lines = p.lines, .n_lines = p.n_lines,
                                .pcs = pcs, .n_pcs = p.n_lines };
    for (uint32_t i = 0; i < p.n_lines; i++)
        pcs[i] = (jsprof_code_pc){ .pc = 7 * p.lines[i].line, .offset = p.lines[i].offset };
    CHECK_EQ(jsp_codes_add(&codes, &def, now), 0);
    plain_add(&p);
}

static void drop(uint64_t start)
{
    struct plain *p = plain_alive(start);
    CHECK_EQ(jsp_codes_remove(&codes, start, now), p ? 0 : -ENOENT);
    if (p)
        p->death = now;
}

static void move(uint64_t from, uint64_t to)
{
    struct plain *p = plain_alive(from);
    struct jsp_code_def moved = { .start = 7 };
    int err = jsp_codes_move(&codes, from, to, now, &moved);
    if (!CHECK_EQ(err, p ? 0 : -ENOENT) || !p)
        return;
    struct plain there = *p;
    there.end = to + (p->end - p->start);
    there.start = to;
    there.birth = now;
    p->death = now;
    plain_add(&there);
    CHECK(moved.start == to && moved.length == there.end - to && moved.label == there.label);
}

/* A time that may be asked for, and may be up to so much later than now. */
static uint64_t since_floor(uint32_t later)
{
    return floor_ns + chance((uint32_t)(now - floor_ns) + later);
}

/* What the child of a fork does: the arrays may have been in the middle of a change. */
static void take_over(void)
{
    struct jsp_code *newest = codes.newest;
    for (struct jsp_code *c = newest; c; c = c->older)
        c->newer = NULL; /* as if the fork came between the two steps of a link */
    codes.newest = NULL;
    jsp_codes_free(&codes);
    jsp_codes_init(&codes);
    CHECK_EQ(jsp_codes_take_over(&codes, newest), 0);
}

static void operate(void)
{
    uint32_t what = chance(21);
    const struct plain *p = n_plain ? &plain[chance(n_plain)] : NULL;
    uint64_t start = p && chance(4) ? p->start : chance(SPACE);
    now += chance(3); /* several things at one moment, too */
    if (what < 12)
        add();
    else if (what < 16)
        drop(start);
    else if (what < 19)
        move(start, chance(SPACE));
    else if (what == 20)
        take_over();
    else
        jsp_codes_prune(&codes, floor_ns = since_floor(1));
}

static void finish(void)
{
    jsp_codes_free(&codes);
    n_plain = 0;
    floor_ns = 0;
}

TEST(random_code_is_found_at_every_time_that_may_be_asked_for)
{
    for (int round = 0; round < ROUNDS; round++) {
        jsp_codes_init(&codes);
        bool good = true;
        for (int i = 0; i < OPERATIONS / ROUNDS && good; i++) {
            operate();
            for (int q = 0; q < QUESTIONS && good; q++)
                good = ask(chance(2 * SPACE), since_floor(2)) && ask_handler(chance(2 * SPACE));
        }
        finish();
    }
}

/* A thousand functions at one address, and only the last of them lives. */
TEST(address_reused_a_thousand_times_is_each_function_at_its_time)
{
    struct jsp_code_hit hit;
    jsp_codes_init(&codes);
    for (uint32_t i = 0; i < 1000; i++) {
        struct jsp_code_def def = { .start = 4096, .length = 64 + i % 2, .label = i };
        CHECK_EQ(jsp_codes_add(&codes, &def, 100 + i * 10), 0);
    }
    CHECK(!jsp_codes_find(&codes, 4096, 99, &hit));
    for (uint32_t i = 0; i < 1000; i++) {
        CHECK(jsp_codes_find(&codes, 4096, 100 + i * 10, &hit));
        CHECK_EQ(hit.label, i);
        CHECK(jsp_codes_find(&codes, 4096 + 63, 109 + i * 10, &hit));
        CHECK_EQ(hit.label, i);
        CHECK_EQ(jsp_codes_find(&codes, 4096 + 64, 109 + i * 10, &hit), i % 2);
    }
    jsp_codes_prune(&codes, 100 + 500 * 10);
    jsp_codes_prune(&codes, 100 + 900 * 10);
    CHECK(codes.n_dead < 1000 - 499 && codes.n_dead >= 99);
    for (uint32_t i = 900; i < 1000; i++)
        CHECK(jsp_codes_find(&codes, 4096, 105 + i * 10, &hit) && hit.label == i);
    CHECK_EQ(jsp_codes_remove(&codes, 4096, 20000), 0);
    CHECK_EQ(jsp_codes_remove(&codes, 4096, 20001), -ENOENT);
    CHECK(jsp_codes_find(&codes, 4096, 19999, &hit) && hit.label == 999);
    CHECK(!jsp_codes_find(&codes, 4096, 20000, &hit));
    finish();
}

/* A handler may hold rows that it found a moment before the removal. */
TEST(dead_code_outlives_the_first_look_after_its_death)
{
    jsp_codes_init(&codes);
    for (uint32_t i = 0; i < 200; i++) {
        struct jsp_code_def def = { .start = 4096, .length = 64, .label = i };
        jsp_codes_add(&codes, &def, 100);
    }
    CHECK_EQ(codes.n_dead, 199);
    jsp_codes_prune(&codes, 150);
    CHECK_EQ(codes.n_dead, 199);
    jsp_codes_prune(&codes, 150); /* no later than the look before */
    CHECK_EQ(codes.n_dead, 199);
    jsp_codes_prune(&codes, 151);
    CHECK_EQ(codes.n_dead, 0);
    CHECK_EQ(codes.n, 1);
    finish();
}

TEST(what_fails_changes_nothing)
{
    static const struct jsp_code_def bad[] = {
        { .start = 4096, .length = 0 },
        { .start = UINT64_MAX - 4, .length = 6 },
        { .start = 1, .length = UINT64_MAX },
    };
    struct jsp_code_def def = { .start = 4096, .length = 64, .label = 5 }, moved;
    struct jsp_code_hit hit;
    jsp_codes_init(&codes);
    CHECK_EQ(jsp_codes_add(&codes, &def, 100), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_EQ(jsp_codes_add(&codes, &bad[i], 200), -EINVAL);
    CHECK_EQ(jsp_codes_move(&codes, 4097, 1, 200, &moved), -ENOENT);
    CHECK_EQ(jsp_codes_move(&codes, 4096, UINT64_MAX - 10, 200, &moved), -EINVAL);
    CHECK_EQ(jsp_codes_remove(&codes, 4095, 200), -ENOENT);
    CHECK_EQ(codes.n, 1);
    CHECK(jsp_codes_find(&codes, 4096 + 63, 300, &hit) && hit.label == 5);
    CHECK_EQ(jsp_codes_remove(&codes, 4096, 400), 0);
    finish();
}

TEST(line_table_says_the_last_line_at_or_before_an_address)
{
    static const struct jsp_code_line lines[] = { { 4, 10 }, { 8, 11 }, { 8, 12 }, { 60, 9 } };
    static const uint32_t want[][2] = { { 0, 0 },  { 3, 0 },   { 4, 10 }, { 7, 10 },
                                        { 8, 12 }, { 59, 12 }, { 60, 9 }, { 63, 9 } };
    struct jsp_code_def def = { .start = 4096, .length = 64, .lines = lines, .n_lines = 4 };
    struct jsp_code_def moved;
    jsp_codes_init(&codes);
    CHECK_EQ(jsp_codes_add(&codes, &def, 100), 0);
    CHECK_EQ(jsp_codes_move(&codes, 4096, 4100, 200, &moved), 0); /* onto itself, too */
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct jsp_code_hit hit = { 0, 77, 0 };
        CHECK(jsp_codes_find(&codes, 4096 + want[i][0], 150, &hit));
        CHECK_EQ(hit.line, want[i][1]);
        CHECK(jsp_codes_find(&codes, 4100 + want[i][0], 250, &hit));
        CHECK_EQ(hit.line, want[i][1]);
    }
    finish();
}

/* Rows are copied; between two of them the first one counts, before the first none. */
TEST(rows_of_the_host_are_found_by_offset)
{
    jsprof_code_row rows[] = { { 2, 8, -8, 0, 0 }, { 5, 16, -8, -16, 0 } }, row;
    struct jsp_code_def def = { .start = 4096, .length = 64, .rows = rows, .n_rows = 2 };
    jsp_codes_init(&codes);
    CHECK_EQ(jsp_codes_add(&codes, &def, 100), 0);
    memset(rows, 0xFF, sizeof rows);
    CHECK_EQ(jsp_jitrows_find(&codes.handler, 4097, &row), JSP_JITROWS_NONE);
    CHECK_EQ(jsp_jitrows_find(&codes.handler, 4098, &row), JSP_JITROWS_ROW);
    CHECK_EQ(row.cfa, 8);
    CHECK_EQ(jsp_jitrows_find(&codes.handler, 4100, &row), JSP_JITROWS_ROW);
    CHECK_EQ(row.cfa, 8);
    CHECK_EQ(jsp_jitrows_find(&codes.handler, 4101, &row), JSP_JITROWS_ROW);
    CHECK_EQ(row.fp_at, -16);
    CHECK_EQ(jsp_jitrows_find(&codes.handler, 4096 + 64, &row), JSP_JITROWS_NONE);
    CHECK_EQ(jsp_jitrows_find(&codes.handler, 4095, &row), JSP_JITROWS_NONE);
    finish();
}

TEST_MAIN()
