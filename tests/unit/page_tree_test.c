/* page_tree_test.c - src/page/tree.c: a tree that is too large for a page loses branches, whatever
 * their sizes are.
 *
 * SPDX-License-Identifier: MIT
 */
#include "capture_builder.h"
#include "page/tree.h"
#include "test.h"

enum { STACKS = 100, DEPTH = 4000, FUNCTIONS = 2000, MOST = 660000 };

static struct builder b;

/* Stacks of which each frame is one of many functions, so that no two share their nodes. */
static void build(void)
{
    static uint64_t addrs[DEPTH];
    uint32_t random = 1;
    build_start(&b, false);
    build_process(&b, "host");
    for (uint32_t i = 1; i <= FUNCTIONS; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%u", (unsigned)i);
        build_jit(&b, build_tag(i), name);
    }
    for (int s = 0; s < STACKS; s++) {
        for (int i = 0; i < DEPTH; i++) {
            random = random * 1664525 + 1013904223;
            addrs[i] = build_tag(1 + (random >> 8) % FUNCTIONS);
        }
        build_sample(&b, addrs, DEPTH);
    }
}

/* Make the page's tree of stacks with so many samples, and one more from stack to stack. */
static void make(uint32_t samples, uint32_t more)
{
    struct jsp_read r;
    struct jsp_profile p;
    struct jsp_page_tree t;
    struct jsp_page_bytes bytes = { 0 };
    char why[JSP_READ_WHY];
    CHECK_EQ(jsp_read_memory(&r, b.bytes, b.size, why), 0);
    CHECK_EQ(jsp_profile_load(&p, &r, NULL), 0);
    CHECK_EQ(p.n_stacks, STACKS);
    for (uint32_t i = 0; i < p.n_stacks; i++)
        p.stacks[i].samples = samples + i * more;
    struct jsp_page_capture capture = { .profile = &p };
    struct jsp_html page = { .captures = &capture, .n = 1 };
    CHECK_EQ(jsp_page_tree_build(&t, &page), 0);
    CHECK(t.least > samples);
    CHECK_EQ(jsp_page_tree_encode(&t, &bytes), 0);
    CHECK(bytes.n < MOST + MOST / 10);
    CHECK(more == 0 || bytes.n > MOST / 2);
    jsp_page_bytes_free(&bytes);
    jsp_page_tree_free(&t);
    jsp_profile_free(&p);
    jsp_read_close(&r);
}

TEST(branches_of_any_size_are_dropped)
{
    make(10, 1);
    make(70000, 700);
    make(10000000, 100000);
}

TEST(branches_of_one_size_are_dropped_together)
{
    make(10, 0);
    make(70000, 0);
}

int main(void)
{
    build();
    RUN_ALL();
    free(b.bytes);
    return DONE();
}
