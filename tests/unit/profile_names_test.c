/* profile_names_test.c - src/analyze/: which name an address has, at the time of its
 * sample.
 *
 * SPDX-License-Identifier: MIT
 */
#include "profile.h"

TEST(address_reuse_does_not_rename_earlier_samples)
{
    begin(false);
    sample(1, f3, 0, 0);
    build_jit(&b, f3, "later");
    sample(1, f3, 0, 0);
    sample(1, f3, 0, 0);
    if (!loaded())
        return;
    CHECK_EQ(row("leaf").self, 1);
    CHECK_EQ(row("later").self, 2);
}

TEST(name_that_comes_after_its_sample_still_names_it)
{
    begin(false);
    sample(1, build_tag(9), 0, 0);
    build_jit(&b, build_tag(9), "late name");
    if (!loaded())
        return;
    CHECK_EQ(row("late name").self, 1);
}

TEST(compiled_and_interpreted_code_of_one_name_is_one_function)
{
    static const uint8_t kinds[] = { 3, JSPROF_KIND_JIT };
    begin(false);
    build_jit(&b, f3, "work");
    build_chunk(&b, "jsprof/frames", kinds, sizeof kinds);
    sample(1, f2, 0, 0);
    sample(1, f3, 0, 0);
    sample(1, f3, 0, 0);
    if (!loaded())
        return;
    CHECK_EQ(row("work").self, 3);
    CHECK_EQ(row("work").kind, JSPROF_KIND_JIT);
}

TEST(context_markers_are_no_frames_and_natives_go_by_module)
{
    const uint64_t addrs[4] = { (uint64_t)-128, 0xffffffff81000000u, (uint64_t)-512,
                                0x1500 };
    begin(false);
    build_map(&b, 0x1000, 0x2000, "/usr/lib/libfoo.so.1");
    build_sample(&b, addrs, 4);
    if (!loaded())
        return;
    CHECK_EQ(fs.n, 2);
    CHECK_EQ(row("[kernel]").self, 1);
    CHECK_EQ(row("[libfoo.so.1]").total, 1);
    CHECK_EQ(row("[libfoo.so.1]").kind, JSPROF_KIND_NATIVE);
}

/* An address belongs to the module that was mapped there when it was sampled. */
TEST(module_mapped_over_another_does_not_take_its_samples)
{
    begin(false);
    build_map(&b, 0x1000, 0x2000, "/first.so");
    sample(1, 0x1500, 0, 0);
    build_map(&b, 0x1000, 0x2000, "/second.so");
    sample(1, 0x1500, 0, 0);
    if (!loaded())
        return;
    CHECK_EQ(row("[first.so]").self, 1);
    CHECK_EQ(row("[second.so]").self, 1);
}

static void symbol(struct builder *s, uint64_t begin_at, uint64_t end_at, uint32_t name)
{
    build_int(s, begin_at, 8);
    build_int(s, end_at, 8);
    build_int(s, 100, 4);
    build_int(s, name, 4);
    build_int(s, 0, 8);
}

TEST(bundled_symbols_serve_both_conventions_of_an_end)
{
    struct builder s = { 0 };
    symbol(&s, 0x100, 0x200, 96);
    symbol(&s, 0x300, 0x300, 102); /* one address, its end included */
    build_zero(&s, 32);
    build_text(&s, "first", 0);
    build_text(&s, "second", 0);
    begin(false);
    build_chunk(&b, "__symbols__", s.bytes, 50); /* in two chunks, cut anywhere */
    build_chunk(&b, "__symbols__", s.bytes + 50, s.size - 50);
    sample(3, 0x100, 0x300, 0x250);
    free(s.bytes);
    if (!loaded())
        return;
    CHECK_EQ(row("first").self, 1);
    CHECK_EQ(row("second").total, 1);
    CHECK_EQ(row("[unknown]").total, 1);
}

TEST(symbol_whose_name_lies_outside_is_skipped_and_said)
{
    struct builder s = { 0 };
    symbol(&s, 0x100, 0x200, 5000);
    build_zero(&s, 32);
    begin(false);
    build_chunk(&b, "__symbols__", s.bytes, s.size);
    sample(1, 0x100, 0, 0);
    free(s.bytes);
    if (!loaded())
        return;
    CHECK_EQ(p.defects.count[JSP_READ_SYMBOLS], 1);
    CHECK_EQ(row("[unknown]").self, 1);
}

TEST_MAIN()
