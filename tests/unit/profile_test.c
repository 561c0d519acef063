/* profile_test.c - src/analyze/: which function gets which share, and why.
 *
 * SPDX-License-Identifier: MIT
 */
#include "analyze/profile.h"

#include <errno.h>

#include "analyze/functions.h"
#include "analyze/tree.h"
#include "capture_builder.h"
#include "jsprof.h"
#include "test.h"

static struct builder b;
static struct jsp_read r;
static struct jsp_profile p;
static struct jsp_functions fs;

static const uint64_t f1 = 0xE000000000000001u, f2 = 0xE000000000000002u,
                      f3 = 0xE000000000000003u;

static void begin(bool is_big)
{
    build_start(&b, is_big);
    build_process(&b, "host script");
    build_jit(&b, f1, "main");
    build_jit(&b, f2, "work");
    build_jit(&b, f3, "leaf");
}

static void sample(int n, const uint64_t a0, uint64_t a1, uint64_t a2)
{
    const uint64_t addrs[3] = { a0, a1, a2 };
    build_sample(&b, addrs, n);
}

static bool loaded(void)
{
    char why[JSP_READ_WHY];
    return CHECK_EQ(jsp_read_memory(&r, b.bytes, b.size, why), 0) &&
           CHECK_EQ(jsp_profile_load(&p, &r, NULL), 0) &&
           CHECK_EQ(jsp_functions_build(&fs, &p, NULL), 0);
}

static void unloaded(void)
{
    jsp_functions_free(&fs);
    jsp_profile_free(&p);
    jsp_read_close(&r);
    free(b.bytes);
}

static struct jsp_function_row row(const char *name)
{
    for (uint32_t i = 0; i < fs.n; i++)
        if (strcmp(p.functions[fs.rows[i].function].name, name) == 0)
            return fs.rows[i];
    return (struct jsp_function_row){ .self = 999, .total = 999 };
}

/* One block of jsprof/samples; each record {weight, cpu_ns, cut, line of the leaf}. */
static void block(uint64_t first, const uint64_t (*records)[4], size_t n)
{
    uint8_t data[1024];
    size_t at = 0;
    data[at++] = 1;
    at += build_varint(data + at, first);
    at += build_varint(data + at, n);
    for (size_t i = 0; i < n; i++) {
        for (int j = 0; j < 3; j++)
            at += build_varint(data + at, records[i][j]);
        at += build_varint(data + at, 1);
        at += build_varint(data + at, records[i][3]);
    }
    build_chunk(&b, "jsprof/samples", data, at);
}

TEST(self_and_total_are_counted_in_both_byte_orders)
{
    for (int is_big = 0; is_big < 2; is_big++) {
        begin(is_big);
        sample(3, f3, f2, f1);
        sample(2, f2, f1, 0);
        sample(2, f2, f1, 0);
        if (!loaded())
            return;
        CHECK_EQ(p.samples, 3);
        CHECK_EQ(p.n_stacks, 2);
        CHECK_EQ(p.unit, JSP_VALUE_COUNT);
        CHECK_EQ(row("main").self, 0);
        CHECK_EQ(row("main").total, 3);
        CHECK_EQ(row("work").self, 2);
        CHECK_EQ(row("work").total, 3);
        CHECK_EQ(row("leaf").self, 1);
        unloaded();
    }
}

TEST(recursion_does_not_count_a_sample_twice)
{
    begin(false);
    sample(3, f2, f2, f1);
    if (!loaded())
        return;
    CHECK_EQ(row("work").total, 1);
    CHECK_EQ(row("work").self, 1);
    unloaded();
}

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
    unloaded();
}

TEST(name_that_comes_after_its_sample_still_names_it)
{
    begin(false);
    sample(1, build_tag(9), 0, 0);
    build_jit(&b, build_tag(9), "late name");
    if (!loaded())
        return;
    CHECK_EQ(row("late name").self, 1);
    unloaded();
}

TEST(weights_and_cpu_time_belong_to_their_own_sample)
{
    static const uint64_t first[][4] = { { 3, 5000, 0, 10 }, { 1, 100, 0, 20 } };
    static const uint64_t third[][4] = { { 2, 70, 0, 21 } };
    begin(false);
    build_metadata(&b, "jsprof.clock", "cpu");
    build_metadata(&b, "jsprof.hz", "1000");
    sample(1, f1, 0, 0);
    sample(1, f2, 0, 0);
    block(0, first, 2);
    sample(1, f2, 0, 0);
    block(2, third, 1);
    sample(1, f3, 0, 0); /* the file was cut before this one's record */
    if (!loaded())
        return;
    CHECK_EQ(p.weight, 7);
    CHECK_EQ(p.unit, JSP_VALUE_CPU);
    CHECK_EQ(row("main").self, 5000);
    CHECK_EQ(row("work").self, 170);
    CHECK_EQ(row("leaf").self, 1000000); /* unknown: weight x period */
    CHECK_EQ(row("work").line, 20);
    CHECK_EQ(row("work").line_value, 100);
    unloaded();
}

TEST(records_behind_long_lists_of_lines_are_found)
{
    enum { DEEP = 21 };
    uint64_t addrs[DEEP];
    uint8_t data[256];
    size_t at = 0;
    data[at++] = 1;
    at += build_varint(data + at, 0);
    at += build_varint(data + at, 2);
    for (uint64_t i = 0; i < 2; i++) {
        at += build_varint(data + at, 3 + i);
        at += build_varint(data + at, 1000000);
        at += build_varint(data + at, 0);
        at += build_varint(data + at, DEEP);
        for (uint64_t j = 0; j < DEEP; j++)
            at += build_varint(data + at, j * j * j * j);
    }
    for (int i = 0; i < DEEP; i++)
        addrs[i] = f2;
    begin(false);
    build_sample(&b, addrs, DEEP);
    build_sample(&b, addrs, DEEP);
    build_chunk(&b, "jsprof/samples", data, at);
    if (!loaded())
        return;
    struct jsp_profile_frame frames[JSP_PROFILE_DEPTH];
    CHECK_EQ(p.weight, 7);
    CHECK_EQ(p.n_stacks, 1);
    CHECK_EQ(jsp_profile_frames(&p, 0, frames), DEEP);
    CHECK_EQ(frames[20].line, 160000);
    CHECK_EQ(p.defects.count[JSP_READ_RECORD], 0);
    unloaded();
}

TEST(wall_clock_shares_are_weight_times_period)
{
    static const uint64_t records[][4] = { { 3, 5, 0, 0 }, { 1, 7, 0, 0 } };
    begin(false);
    build_metadata(&b, "jsprof.clock", "wall");
    build_metadata(&b, "jsprof.hz", "100");
    sample(1, f1, 0, 0);
    sample(1, f2, 0, 0);
    block(0, records, 2);
    if (!loaded())
        return;
    CHECK_EQ(row("main").self, 30000000);
    CHECK_EQ(row("work").self, 10000000);
    unloaded();
}

TEST(cut_frames_do_not_blame_the_deepest_kept_one)
{
    static const uint64_t records[][4] = { { 1, 5, 40, 0 } };
    begin(false);
    sample(1, f1, 0, 0);
    block(0, records, 1);
    if (!loaded())
        return;
    CHECK_EQ(row("main").self, 0);
    CHECK_EQ(row("[frames cut]").self, 1);
    unloaded();
}

TEST(lying_record_counts_are_refused_and_said)
{
    static const uint8_t lies[][4] = {
        { 1, 0, 100, 1 }, /* 100 records in one byte */
        { 2, 0, 0, 0 },   /* an unknown block */
        { 1, 0, 1, 1 },   /* a record cut short */
    };
    for (size_t i = 0; i < 3; i++) {
        begin(false);
        sample(1, f1, 0, 0);
        build_chunk(&b, "jsprof/samples", lies[i], 4);
        if (!loaded())
            return;
        CHECK_EQ(p.defects.count[JSP_READ_RECORD], 1);
        CHECK_EQ(p.weight, 1);
        unloaded();
    }
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
    unloaded();
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
    unloaded();
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
    unloaded();
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
    unloaded();
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
    unloaded();
}

TEST(losses_take_the_last_whole_line_of_each_key)
{
    static const char early[] =
        "session state=running time=5 hz=250 clock=wall\n"
        "thread id=1 tid=100 name=a%20b kept=1 expirations=1\n";
    static const char late[] =
        "thread id=1 tid=100 name=a%20b kept=7 expirations=9 "
        "lost_ring=2 new_word=3\nthread id=1 tid=100 kept=8";
    begin(false);
    build_chunk(&b, "jsprof/losses", early, sizeof early - 1);
    sample(1, f1, 0, 0);
    build_chunk(&b, "jsprof/losses", late, sizeof late - 1);
    if (!loaded())
        return;
    CHECK_EQ(p.account.n_threads, 1);
    CHECK_EQ(p.account.threads[0].kept, 7);
    CHECK_EQ(p.account.threads[0].expirations, 9);
    CHECK_EQ(jsp_account_lost(&p.account.threads[0]), 2);
    CHECK_STR(p.account.threads[0].name, "a b");
    CHECK_STR(p.account.session.state, "running");
    CHECK_EQ(p.hz, 250);
    CHECK_EQ(p.unit, JSP_VALUE_WALL);
    CHECK_EQ(p.defects.count[JSP_READ_RECORD], 1); /* the line without an end */
    CHECK(p.threads[0].losses == &p.account.threads[0]);
    unloaded();
}

TEST(reused_tid_is_balanced_over_all_its_threads)
{
    static const char lines[] =
        "thread id=1 tid=100 kept=1 expirations=1\n"
        "thread id=2 tid=100 kept=2 expirations=2\n"
        "thread id=3 tid=101 kept=5 expirations=5\n";
    begin(false);
    build_chunk(&b, "jsprof/losses", lines, sizeof lines - 1);
    for (int i = 0; i < 3; i++)
        sample(1, f1, 0, 0);
    if (!loaded())
        return;
    const struct jsp_account_thread *t = p.account.threads;
    CHECK_EQ(p.account.n_threads, 3);
    CHECK_EQ(t[0].is_newest, false);
    CHECK_EQ(t[1].is_newest, true);
    CHECK_EQ(t[1].kept_of_tid, 3);
    CHECK_EQ(t[1].in_file, 3);
    CHECK_EQ(t[2].kept_of_tid, 5);
    CHECK_EQ(t[2].in_file, 0);
    unloaded();
}

TEST(threads_are_apart_and_can_be_chosen)
{
    begin(false);
    sample(1, f1, 0, 0);
    b.tid = 101;
    sample(1, f1, 0, 0);
    sample(1, f2, 0, 0);
    if (!loaded())
        return;
    const bool only[2] = { false, true };
    struct jsp_select select = { .threads = only };
    struct jsp_functions chosen;
    CHECK_EQ(p.n_threads, 2);
    CHECK_EQ(jsp_functions_build(&chosen, &p, &select), 0);
    CHECK_EQ(chosen.samples, 2);
    CHECK_EQ(chosen.n, 2);
    jsp_functions_free(&chosen);
    unloaded();
}

static const struct jsp_tree_node *child(const struct jsp_tree *t, uint32_t node,
                                         uint32_t i)
{
    const struct jsp_tree_node *n = &t->nodes[node];
    return CHECK(i < n->n_children) ? &t->nodes[t->order[n->first_child + i]] : n;
}

TEST(tree_stands_on_its_roots_or_on_its_leaves)
{
    struct jsp_tree t;
    struct jsp_tree_options options = { 0 };
    begin(false);
    sample(3, f3, f2, f1);
    sample(2, f2, f1, 0);
    sample(2, f3, f1, 0);
    if (!loaded())
        return;
    CHECK_EQ(jsp_tree_build(&t, &p, &options), 0);
    CHECK_EQ(t.nodes[0].total, 3);
    CHECK_EQ(t.nodes[0].n_children, 1);
    CHECK_STR(p.functions[child(&t, 0, 0)->function].name, "main");
    CHECK_EQ(child(&t, 1, 0)->total, 2); /* work, the larger, before leaf */
    CHECK_EQ(child(&t, 1, 0)->self, 1);
    CHECK_EQ(child(&t, 1, 1)->total, 1);
    jsp_tree_free(&t);
    options.is_bottom_up = true;
    CHECK_EQ(jsp_tree_build(&t, &p, &options), 0);
    CHECK_EQ(t.nodes[0].n_children, 2);
    CHECK_STR(p.functions[child(&t, 0, 0)->function].name, "leaf");
    CHECK_EQ(child(&t, 0, 0)->total, 2);
    CHECK_EQ(child(&t, 0, 0)->self, 2);
    CHECK_EQ(child(&t, 0, 0)->n_children, 2);
    jsp_tree_free(&t);
    unloaded();
}

TEST(direct_recursion_is_one_node_unless_asked_for)
{
    struct jsp_tree t;
    struct jsp_tree_options options = { 0 };
    begin(false);
    sample(3, f2, f2, f1);
    if (!loaded())
        return;
    CHECK_EQ(jsp_tree_build(&t, &p, &options), 0);
    CHECK_EQ(t.n, 3); /* the whole, main, work */
    jsp_tree_free(&t);
    options.is_recursive = true;
    CHECK_EQ(jsp_tree_build(&t, &p, &options), 0);
    CHECK_EQ(t.n, 4);
    jsp_tree_free(&t);
    unloaded();
}

TEST(many_stacks_and_names_outgrow_every_first_table)
{
    enum { MANY = 3000 };
    char name[32];
    begin(false);
    for (uint32_t i = 10; i < 10 + MANY; i++) {
        snprintf(name, sizeof name, "f%u", (unsigned)i);
        build_jit(&b, build_tag(i), name);
        sample(2, build_tag(i), f1, 0);
        sample(2, build_tag(i), f1, 0);
    }
    if (!loaded())
        return;
    CHECK_EQ(p.n_stacks, MANY);
    CHECK_EQ(row("main").total, 2 * MANY);
    CHECK_EQ(row("f3009").self, 2);
    unloaded();
}

struct told {
    int n;
    struct jsp_profile_sample samples[8];
};

static int tell(void *context, const struct jsp_profile_sample *s)
{
    struct told *t = context;
    t->samples[t->n++] = *s;
    return t->n == 4 ? -ECANCELED : 0;
}

TEST(samples_are_told_in_file_order_with_their_stack_and_time)
{
    struct told t = { 0 };
    const struct jsp_profile_options options = { .sampled = tell, .sampled_context = &t };
    char why[JSP_READ_WHY];
    begin(false);
    sample(2, f2, f1, 0);
    int64_t first = b.time;
    sample(1, f1, 0, 0);
    sample(2, f2, f1, 0);
    CHECK_EQ(jsp_read_memory(&r, b.bytes, b.size, why), 0);
    CHECK_EQ(jsp_profile_load(&p, &r, &options), 0);
    CHECK_EQ(t.n, 3);
    CHECK_EQ(t.samples[0].time, first);
    CHECK_EQ(t.samples[2].time, b.time);
    CHECK_EQ(t.samples[1].value, 1);
    CHECK_EQ(t.samples[0].stack, t.samples[2].stack);
    CHECK(t.samples[0].stack != t.samples[1].stack);
    unloaded();

    t.n = 0;
    begin(false);
    for (int i = 0; i < 5; i++)
        sample(1, f1, 0, 0);
    CHECK_EQ(jsp_read_memory(&r, b.bytes, b.size, why), 0);
    CHECK_EQ(jsp_profile_load(&p, &r, &options), -ECANCELED); /* as the fourth answers */
    CHECK_EQ(t.n, 4);
    unloaded();
}

int main(void)
{
    RUN(self_and_total_are_counted_in_both_byte_orders);
    RUN(recursion_does_not_count_a_sample_twice);
    RUN(address_reuse_does_not_rename_earlier_samples);
    RUN(name_that_comes_after_its_sample_still_names_it);
    RUN(weights_and_cpu_time_belong_to_their_own_sample);
    RUN(records_behind_long_lists_of_lines_are_found);
    RUN(wall_clock_shares_are_weight_times_period);
    RUN(cut_frames_do_not_blame_the_deepest_kept_one);
    RUN(lying_record_counts_are_refused_and_said);
    RUN(compiled_and_interpreted_code_of_one_name_is_one_function);
    RUN(context_markers_are_no_frames_and_natives_go_by_module);
    RUN(module_mapped_over_another_does_not_take_its_samples);
    RUN(bundled_symbols_serve_both_conventions_of_an_end);
    RUN(symbol_whose_name_lies_outside_is_skipped_and_said);
    RUN(losses_take_the_last_whole_line_of_each_key);
    RUN(reused_tid_is_balanced_over_all_its_threads);
    RUN(threads_are_apart_and_can_be_chosen);
    RUN(samples_are_told_in_file_order_with_their_stack_and_time);
    RUN(tree_stands_on_its_roots_or_on_its_leaves);
    RUN(direct_recursion_is_one_node_unless_asked_for);
    RUN(many_stacks_and_names_outgrow_every_first_table);
    return DONE();
}
