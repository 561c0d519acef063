/* lie_test.c - a capture that lies costs no memory: any 16 bytes of it, 64 KiB at most.
 *
 * SPDX-License-Identifier: MIT
 *
 * Our own malloc counts what is taken at most, for the whole way from bytes to a report,
 * a tree, lists and a merged capture.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/events.h"
#include "analyze/functions.h"
#include "analyze/neighbours.h"
#include "analyze/tree.h"
#include "analyze/walk.h"
#include "capture_builder.h"
#include "export/merge.h"
#include "test.h"

enum { LIE_BYTES = 16, LIE_COST = 64 << 10 };

/* A sanitizer has a malloc of its own, and only glibc gives its own another name. */
#if !defined(__GLIBC__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIE_COUNTS 0
#elif defined(__has_feature)
#define LIE_COUNTS (!__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer))
#else
#define LIE_COUNTS 1
#endif

static size_t lie_now, lie_most;

#if LIE_COUNTS
#include <malloc.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t each);
void *__libc_realloc(void *at, size_t n);
void __libc_free(void *at);

static void *lie_took(void *at)
{
    lie_now += at ? malloc_usable_size(at) : 0;
    lie_most = lie_now > lie_most ? lie_now : lie_most;
    return at;
}

void *malloc(size_t n)
{
    return lie_took(__libc_malloc(n));
}

void *calloc(size_t n, size_t each)
{
    return lie_took(__libc_calloc(n, each));
}

void *realloc(void *at, size_t n)
{
    size_t before = at ? malloc_usable_size(at) : 0;
    void *to = __libc_realloc(at, n);
    if (to)
        lie_now -= before;
    return lie_took(to);
}

void free(void *at)
{
    lie_now -= at ? malloc_usable_size(at) : 0;
    __libc_free(at);
}
#endif

static struct builder b;

static void lie_build(bool is_big)
{
    const uint64_t addrs[4] = { build_tag(1), (uint64_t)-512, 0x10010, build_tag(2) };
    uint8_t data[256] = { 0 };
    size_t n;
    build_start(&b, is_big);
    build_process(&b, "host script");
    build_metadata(&b, "jsprof.clock", "cpu");
    build_metadata(&b, "jsprof.hz", "1000");
    build_jit(&b, addrs[0], "main");
    build_jit(&b, addrs[3], "work");
    build_map(&b, 0x10000, 0x20000, "/nowhere/libx.so");
    for (int i = 0; i < 3; i++)
        build_sample(&b, addrs, 4);
    memcpy(data, "\1\0\3" "\1\12\0\1\5" "\1\12\0\0" "\2\12\1\0", 16);
    build_chunk(&b, "jsprof/samples", data, 16);
    n = build_varint(data, 1);
    n += build_varint(data + n, 1);
    build_chunk(&b, "jsprof/frames", data, n);
    build_chunk(&b, "jsprof/stacks", /* as in stacks_test.c */
                "\1\0\1\2" "\x82\0\3\x0e\3\0\x80\x40" "\x32\1\x08\x09\xc8\1\0\5" "\1\x0a\0\0",
                24);
    build_chunk(&b, "jsprof/losses", "thread id=1 tid=100 expirations=4 kept=4\n", 41);
    build_chunk(&b, "__symbols__", memset(data, 0, sizeof data), sizeof data);
    build_mark(&b, 5, "gc", "sweep", "why");
    build_counter(&b, 1, (const char *const[3]){ "", "", "" }, false);
    build_value(&b, 1, 0);
}

static void lie_views(struct jsp_profile *p)
{
    static struct jsp_sink sink;
    struct jsp_functions f;
    struct jsp_tree t;
    struct jsp_tree_options options = { .is_bottom_up = true };
    struct jsp_events e;
    struct jsp_neighbours n;
    struct jsp_bytes bytes = { 0 };
    struct jsp_merge m = { .inputs = &p, .n = 1, .out = &sink };
    if (jsp_functions_build(&f, p, NULL) == 0)
        jsp_functions_free(&f);
    if (jsp_tree_build(&t, p, &options) == 0)
        jsp_tree_free(&t);
    if (jsp_events_read(&e, p, (struct jsp_events_of){ 0 }) == 0)
        jsp_events_free(&e);
    if (jsp_neighbours_build(&n, p, NULL, "main") == 0)
        jsp_neighbours_free(&n);
    jsp_sink_init(&sink, jsp_bytes_write, &bytes);
    jsp_merge_write(&m);
    jsp_sink_flush(&sink);
    jsp_bytes_free(&bytes);
}

/* What reading these bytes takes at most. */
static size_t lie_cost(const uint8_t *bytes, size_t n)
{
    struct jsp_read r;
    struct jsp_profile p;
    char why[JSP_READ_WHY];
    size_t before = lie_now;
    lie_most = lie_now;
    if (jsp_read_memory(&r, bytes, n, why) == 0) {
        if (jsp_profile_load(&p, &r, NULL) == 0) {
            lie_views(&p);
            jsp_profile_free(&p);
        }
        jsp_read_close(&r);
    }
    CHECK_EQ(lie_now, before); /* and it is all given back */
    return lie_most - before;
}

TEST(any_16_bytes_cost_64_KiB_at_most)
{
    static const uint8_t lies[][2] = {
        { 0xFF, 0xFF }, { 0x7F, 0x7F }, { 0, 0 }, { 0x80, 0x80 }, { 1, 0xFF }, { 0xF8, 0xFF },
    };
    for (int is_big = 0; is_big < 2; is_big++) {
        lie_build(is_big);
        size_t honest = lie_cost(b.bytes, b.size), worst = 0, where = 0;
        uint8_t *copy = malloc(b.size);
        for (size_t lie = 0; lie < sizeof lies / sizeof *lies; lie++)
            for (size_t at = 0; at + LIE_BYTES <= b.size; at += 4) {
                memcpy(copy, b.bytes, b.size);
                for (size_t i = 0; i < LIE_BYTES; i++)
                    copy[at + i] = lies[lie][i % 2];
                size_t cost = lie_cost(copy, b.size);
                if (cost > worst) {
                    worst = cost;
                    where = at;
                }
            }
        printf("# %zu bytes cost %zu, with the worst lie (at %zu) %zu\n", b.size, honest,
               where, worst);
        CHECK(worst <= honest + LIE_COST);
        CHECK(!LIE_COUNTS || honest > 0);
        free(copy);
        free(b.bytes);
    }
}

TEST_MAIN()
