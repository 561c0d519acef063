/* page_listings_test.c - src/page/listings.c: the operation of each sample, and the limits of what
 * a page gets.
 *
 * SPDX-License-Identifier: MIT
 */
#include "capture_builder.h"
#include "page/listings.h"
#include "test.h"

enum { HOT = 1, COLD, OUTER, ROWS = 30000 };

static struct builder b;

static void build_listing(uint8_t number, const char *name, uint32_t rows)
{
    uint8_t data[4096] = { 1, number };
    size_t n = 2 + build_varint(data + 2, rows);
    n += build_varint(data + n, strlen(name));
    memcpy(data + n, name, strlen(name));
    build_chunk(&b, "jsprof/listings", data, n + strlen(name));
    for (uint32_t first = 0; first < rows; first += 200) {
        uint32_t count = rows - first < 200 ? rows - first : 200;
        data[0] = 2;
        n = 2 + build_varint(data + 2, first);
        n += build_varint(data + n, count);
        for (uint32_t i = first; i < first + count; i++) {
            n += build_varint(data + n, 10 + i); /* pc */
            memcpy(data + n, "\0\0\0\2op", 6);
            n += 6;
        }
        build_chunk(&b, "jsprof/listings", data, n);
    }
}

/* Two samples of hot in its rows 1 and 7, one of cold in its row 2, one of hot called by outer in a
 * row that its listing does not have, one without any. */
static void build(uint32_t hot_rows, uint32_t cold_rows)
{
    const uint64_t hot[] = { build_tag(HOT), build_tag(OUTER) }, cold = build_tag(COLD);
    build_start(&b, false);
    build_process(&b, "host");
    build_jit(&b, build_tag(HOT), "hot (a.x:1)");
    build_jit(&b, build_tag(COLD), "cold (a.x:9)");
    build_jit(&b, build_tag(OUTER), "outer (a.x:20)");
    build_sample(&b, hot, 1);
    build_sample(&b, hot, 1);
    build_sample(&b, &cold, 1);
    build_sample(&b, hot, 2);
    build_sample(&b, hot, 2);
    build_listing(7, "hot (a.x:1)", hot_rows);
    build_listing(8, "cold (a.x:9)", cold_rows);
    build_chunk(&b, "jsprof/pcs", "\1\0\4" "\0\1\1" "\0\1\7" "\0\1\2" "\0\1\377\377\177", 17);
}

/* Make the listings of a page, and check the row of each of the five samples. */
static void rows_are(const struct jsp_html *of, const uint32_t wanted[5], uint32_t on_page)
{
    struct jsp_read r;
    struct jsp_profile p;
    struct jsp_page_tree t;
    struct jsp_page_listings l;
    struct jsp_profile_samples times = { 0 };
    char why[JSP_READ_WHY];
    const struct jsp_profile_options load = { .sampled = jsp_profile_keep,
                                              .sampled_context = &times };
    CHECK_EQ(jsp_read_memory(&r, b.bytes, b.size, why), 0);
    CHECK_EQ(jsp_profile_load(&p, &r, &load), 0);
    CHECK_EQ(times.n, 5);
    struct jsp_page_capture captures[2] = { { .profile = &p, .times = &times },
                                            { .profile = &p, .times = &times } };
    struct jsp_html page = *of;
    page.captures = captures;
    CHECK_EQ(jsp_page_tree_build(&t, &page), 0);
    CHECK_EQ(jsp_page_listings_build(&l, &page, &t), 0);
    CHECK_EQ(l.rows != NULL, on_page != 0);
    for (int i = 0; l.rows && i < 5; i++)
        CHECK_EQ(l.rows[i], wanted[i]);
    uint32_t n = 0;
    for (uint32_t i = 0; i < l.n; i++)
        n += l.list[i].code.n != 0;
    CHECK_EQ(n, on_page);
    jsp_page_listings_free(&l);
    jsp_page_tree_free(&t);
    free(times.list);
    jsp_profile_free(&p);
    jsp_read_close(&r);
}

static const struct jsp_html asked = { .n = 1, .has_sources = true };

TEST(each_sample_has_the_row_of_its_innermost_function)
{
    build(10, 10);
    rows_are(&asked, (const uint32_t[]){ 1, 7, 2, 0, 0 }, 2);
}

TEST(nobody_asked)
{
    rows_are(&(const struct jsp_html){ .n = 1 }, NULL, 0);
    rows_are(&(const struct jsp_html){ .n = 2, .has_sources = true }, NULL, 0);
}

TEST(the_hottest_function_has_room_first)
{
    b.size = 0;
    build(ROWS, ROWS);
    rows_are(&asked, (const uint32_t[]){ 1, 7, 0, 0, 0 }, 1);
    b.size = 0;
    build(2 * ROWS, ROWS); /* one listing alone is too large: the other one fits */
    rows_are(&asked, (const uint32_t[]){ 0, 0, 2, 0, 0 }, 1);
}

int main(void)
{
    RUN_ALL();
    free(b.bytes);
    return DONE();
}
