/* recode_test.c - src/export/recode.c: an address is what it was when it was sampled, also
 * where samples of before and after its change could go into one block.
 *
 * SPDX-License-Identifier: MIT
 */
#include "analyze/functions.h"
#include "capture_builder.h"
#include "export/export.h"
#include "test.h"

static struct builder b;
static struct jsp_sink sink;

/* The samples of a function, as the report has them; 0: there is none. */
static uint64_t samples_of(struct jsp_profile *p, const char *name)
{
    struct jsp_functions f;
    uint64_t n = 0;
    if (!CHECK_EQ(jsp_functions_build(&f, p, NULL), 0))
        return 0;
    for (uint32_t i = 0; i < f.n; i++)
        if (strcmp(p->functions[f.rows[i].function].name, name) == 0)
            n += f.rows[i].self_samples;
    jsp_functions_free(&f);
    return n;
}

static void check(const void *bytes, size_t n, uint64_t packed)
{
    struct jsp_read r;
    struct jsp_profile p;
    char why[JSP_READ_WHY];
    if (!CHECK_EQ(jsp_read_memory(&r, bytes, n, why), 0) ||
        !CHECK_EQ(jsp_profile_load(&p, &r, NULL), 0))
        return;
    CHECK_EQ(p.packed, packed);
    CHECK_EQ(samples_of(&p, "old"), 3);
    CHECK_EQ(samples_of(&p, "new"), 2);
    CHECK_EQ(samples_of(&p, "[libold.so]"), 1);
    CHECK_EQ(samples_of(&p, "[libnew.so]"), 1);
    jsp_profile_free(&p);
    jsp_read_close(&r);
}

static void recode(const void *bytes, size_t n, jsp_export_write *to, struct jsp_bytes *out)
{
    struct jsp_read r;
    struct jsp_profile p;
    struct jsp_export e = { .profile = &p, .out = &sink };
    char why[JSP_READ_WHY];
    *out = (struct jsp_bytes){ 0 };
    if (!CHECK_EQ(jsp_read_memory(&r, bytes, n, why), 0) ||
        !CHECK_EQ(jsp_profile_load(&p, &r, NULL), 0))
        return;
    jsp_sink_init(&sink, jsp_bytes_write, out);
    CHECK_EQ(to(&e), 0);
    CHECK_EQ(jsp_sink_flush(&sink), 0);
    jsp_profile_free(&p);
    jsp_read_close(&r);
}

static void round_trip(bool is_big)
{
    const uint64_t vm = build_tag(1), native = 0x10010;
    struct jsp_bytes compact, plain;
    build_start(&b, is_big);
    build_process(&b, "host");
    build_jit(&b, vm, "old");
    build_map(&b, 0x10000, 0x20000, "/nowhere/libold.so");
    build_sample(&b, &native, 1);
    for (int i = 0; i < 3; i++)
        build_sample(&b, &vm, 1);
    build_jit(&b, build_tag(2), "another"); /* which changes nothing */
    build_jit(&b, vm, "new");
    build_sample(&b, &vm, 1);
    build_map(&b, 0x10000, 0x20000, "/nowhere/libnew.so");
    build_sample(&b, &native, 1);
    build_sample(&b, &vm, 1);
    check(b.bytes, b.size, 0);
    recode(b.bytes, b.size, jsp_export_compact, &compact);
    check(compact.at, compact.n, 7);
    recode(compact.at, compact.n, jsp_export_syscap, &plain);
    check(plain.at, plain.n, 0);
    jsp_bytes_free(&compact);
    jsp_bytes_free(&plain);
    free(b.bytes);
}

TEST(names_and_maps_that_change_keep_their_samples)
{
    round_trip(false);
    round_trip(true);
}

TEST_MAIN()
