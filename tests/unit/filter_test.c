/* filter_test.c - src/analyze/filter.c, categories.c, groups.c, walk.c: which stacks and
 * samples count, and for which group.
 *
 * SPDX-License-Identifier: MIT
 */
#include "analyze/filter.h"

#include "analyze/walk.h"
#include "profile.h"

static struct jsp_categories *categories;

enum { MAIN = 1, WORK, LEAF };

/* Four samples, a millisecond apart: leaf<work<main, work<main, a library's<main, main. */
static void build(void)
{
    build_start(&b, false);
    build_process(&b, "host script");
    build_jit(&b, build_tag(MAIN), "main (a.js:1)");
    build_jit(&b, build_tag(WORK), "work(int)");
    build_jit(&b, build_tag(LEAF), "leaf");
    build_map(&b, 0x10000, 0x20000, "/usr/lib/nowhere/libx.so.1");
    sample(3, build_tag(LEAF), build_tag(WORK), build_tag(MAIN));
    sample(2, build_tag(WORK), build_tag(MAIN), 0);
    sample(2, 0x10010, build_tag(MAIN), 0);
    sample(1, build_tag(MAIN), 0, 0);
}

static bool load(const struct jsp_profile_options *options)
{
    build();
    return loaded_with(options);
}

static void filtered(const struct jsp_filter_options *o)
{
    char why[JSP_FILTER_WHY] = "";
    struct jsp_select select = { 0 };
    if (CHECK_EQ(jsp_filter_open(&select.filter, o, why), 0))
        CHECK_EQ(jsp_functions_build(&fs, &p, &select), 0);
    jsp_filter_close(select.filter);
}

static const struct {
    struct jsp_filter_options options;
    uint64_t samples;
    uint32_t n; /* functions that are left */
    struct {
        const char *name;
        uint64_t self, total;
    } rows[2];
} kept[] = {
    { { .only = "^wo.k" }, 2, 3, { { "main (a.js:1)", 0, 2 }, { "leaf", 1, 1 } } },
    { { .under = "work" }, 2, 2, { { "work(int)", 1, 2 }, { "leaf", 1, 1 } } },
    { { .without = "^wo.k" }, 2, 2, { { "main (a.js:1)", 1, 2 }, { "[libx.so.1]", 1, 1 } } },
    { { .only = "main", .without = "leaf" }, 3, 3, { { "main (a.js:1)", 1, 3 } } },
    { { .under = "work", .without = "main" }, 2, 2, { { "work(int)", 1, 2 } } }, /* under first */
    { { .hide = "^(work|main)" }, 4, 3, { { "leaf", 1, 1 }, { "[hidden]", 2, 2 } } },
    { { .hide = "^leaf$" }, 4, 3, { { "work(int)", 2, 2 } } }, /* it counts for its caller */
    { { .focus = "^(work|leaf)" }, 2, 2, { { "work(int)", 1, 2 }, { "leaf", 1, 1 } } },
    { { .top_of = 1 + JSPROF_KIND_VM }, 4, 4, { { "leaf", 1, 1 }, { "main (a.js:1)", 1, 2 } } },
    { { .top_of = 1 + JSPROF_KIND_NATIVE }, 1, 1, { { "[libx.so.1]", 1, 1 } } },
    { { .hide_system = true }, 4, 3, { { "main (a.js:1)", 2, 4 } } },
};

TEST(each_option_keeps_its_part_of_the_stacks)
{
    if (!load(NULL))
        return;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        int bad = test_bad;
        filtered(&kept[i].options);
        CHECK_EQ(fs.samples, kept[i].samples);
        CHECK_EQ(fs.n, kept[i].n);
        for (int k = 0; k < 2 && kept[i].rows[k].name; k++) {
            CHECK_EQ(row(kept[i].rows[k].name).self, kept[i].rows[k].self);
            CHECK_EQ(row(kept[i].rows[k].name).total, kept[i].rows[k].total);
        }
        if (test_bad > bad)
            printf("# by row %zu, of %s\n", i, kept[i].rows[0].name);
        jsp_functions_free(&fs);
    }
}

/* leaf < work < main < work < main, and main < main. */
TEST(collapsed_recursion_keeps_one_call_of_a_function_and_the_innermost_as_self)
{
    const uint64_t deep[] = { build_tag(LEAF), build_tag(WORK), build_tag(MAIN), build_tag(WORK),
                              build_tag(MAIN) };
    const uint64_t left[] = { build_tag(MAIN), build_tag(LEAF), build_tag(WORK),
                              build_tag(MAIN) };
    const uint64_t twice[] = { build_tag(MAIN), build_tag(MAIN) };
    struct jsp_filter_options o = { .is_collapsed = true };
    struct jsp_profile_frame frames[JSP_PROFILE_DEPTH];
    struct jsp_select select = { 0 };
    char why[JSP_FILTER_WHY];
    build_start(&b, false);
    build_process(&b, "host script");
    build_jit(&b, build_tag(MAIN), "main");
    build_jit(&b, build_tag(WORK), "work");
    build_jit(&b, build_tag(LEAF), "leaf");
    build_sample(&b, deep, 5);
    build_sample(&b, left, 4);
    build_sample(&b, twice, 2);
    CHECK(loaded_with(NULL));
    CHECK_EQ(jsp_filter_open(&select.filter, &o, why), 0);
    for (int again = 0; again < 2; again++) {
        CHECK_EQ(jsp_select_frames(&select, &p, 0, frames), 3);
        CHECK_STR(p.functions[frames[0].function].name, "leaf");
        CHECK_STR(p.functions[frames[1].function].name, "work");
        CHECK_STR(p.functions[frames[2].function].name, "main");
        CHECK_EQ(jsp_select_frames(&select, &p, 1, frames), 1);
        CHECK_STR(p.functions[frames[0].function].name, "main");
        CHECK_EQ(jsp_select_frames(&select, &p, 2, frames), 1);
    }
    jsp_filter_close(select.filter);
}

TEST(a_function_answers_to_its_name_without_file_or_arguments)
{
    const struct jsp_function f = { .name = "main (/a.js:1)",
                                    .recorded = "main (file:///a.js:1)",
                                    .module = "" };
    const struct jsp_function g = { .name = "work(int)", .recorded = "work(int)", .module = "" };
    CHECK(jsp_filter_names(&f, "main"));
    CHECK(jsp_filter_names(&f, "main (/a.js:1)"));
    CHECK(jsp_filter_names(&f, "main (file:///a.js:1)"));
    CHECK(!jsp_filter_names(&f, "mai"));
    CHECK(!jsp_filter_names(&f, ""));
    CHECK(jsp_filter_names(&g, "work"));
    CHECK(!jsp_filter_names(&g, "work(int) const"));
}

TEST(a_category_is_of_the_innermost_function)
{
    struct jsp_categories_defect defect;
    const char *rules = "mine name=work*  # ours\n\n# nothing\nmine name=no file=no\n";
    struct jsp_read_text text = { rules, (uint32_t)strlen(rules) };
    if (!load(NULL) || !CHECK_EQ(jsp_categories_open(&categories, text, &defect), 0))
        return;
    filtered(&(struct jsp_filter_options){ .category = "mine", .categories = categories });
    CHECK_EQ(fs.samples, 1);
    CHECK_EQ(row("work(int)").self, 1);
    jsp_functions_free(&fs);
    filtered(&(struct jsp_filter_options){ .category = "library", .categories = categories });
    CHECK_EQ(fs.samples, 1);
    CHECK_EQ(row("main (a.js:1)").self, 0);
    jsp_functions_free(&fs);
    filtered(&(struct jsp_filter_options){ .category = "script", .categories = categories });
    CHECK_EQ(fs.samples, 2); /* leaf and main: work is ours */
    jsp_categories_close(categories);
}

/* A JITMAP of an address that is no tag is compiled code. */
static void build_compiled(void)
{
    build_start(&b, false);
    build_process(&b, "host script");
    build_jit(&b, build_tag(MAIN), "main (a.js:1)");
    build_jit(&b, build_tag(WORK), "work (a.js:2)");
    build_jit(&b, 0x5000, "work (a.js:2)");
    sample(2, build_tag(WORK), build_tag(MAIN), 0);
    sample(2, 0x5000, build_tag(MAIN), 0);
    sample(3, 0x5000, build_tag(WORK), build_tag(MAIN));
    sample(1, build_tag(MAIN), 0, 0);
}

static void load_compiled(void)
{
    struct jsp_categories_defect defect;
    build_compiled();
    CHECK(loaded_with(NULL));
    CHECK_EQ(jsp_categories_open(&categories, (struct jsp_read_text){ 0 }, &defect), 0);
}

TEST(a_function_counts_as_jit_or_as_script_by_how_it_ran)
{
    load_compiled();
    filtered(&(struct jsp_filter_options){ .category = "jit", .categories = categories });
    CHECK_EQ(fs.samples, 2);
    jsp_functions_free(&fs);
    filtered(&(struct jsp_filter_options){ .category = "script", .categories = categories });
    CHECK_EQ(fs.samples, 2);
    jsp_categories_close(categories);
}

static void grouped(enum jsp_group_by by, struct jsp_groups **groups)
{
    CHECK_EQ(jsp_groups_open(groups, by, categories), 0);
    CHECK_EQ(jsp_functions_build_by(&fs, &p, NULL, *groups), 0);
    jsp_functions_sort(&fs, &p, JSP_SORT_TOTAL);
    CHECK_EQ(fs.samples, 4);
    CHECK(!fs.has_lines);
}

TEST(a_group_counts_a_stack_once_and_its_innermost_frame_as_self)
{
    struct jsp_groups *groups = NULL;
    load_compiled();
    grouped(JSP_GROUP_CATEGORY, &groups);
    if (CHECK_EQ(fs.n, 2)) {
        CHECK_STR(jsp_functions_name(&fs, &p, &fs.rows[0]), "script");
        CHECK_EQ(fs.rows[0].self, 2);
        CHECK_EQ(fs.rows[0].total, 4);
        CHECK_STR(jsp_functions_name(&fs, &p, &fs.rows[1]), "jit");
        CHECK_EQ(fs.rows[1].self, 2);
        CHECK_EQ(fs.rows[1].total, 2);
    }
    jsp_functions_free(&fs);
    jsp_groups_close(groups);
    grouped(JSP_GROUP_KIND, &groups);
    if (CHECK_EQ(fs.n, 2)) {
        CHECK_STR(jsp_functions_name(&fs, &p, &fs.rows[0]), "vm");
        CHECK_STR(jsp_functions_name(&fs, &p, &fs.rows[1]), "jit");
    }
    jsp_functions_free(&fs);
    jsp_groups_close(groups);
    jsp_categories_close(categories);
}

/* Return the samples whose innermost frame is of this tier, and the kind's word where the tier is
 * unknown. */
static uint64_t of_tier(const char *name)
{
    for (uint32_t i = 0; i < fs.n; i++)
        if (strcmp(jsp_functions_name(&fs, &p, &fs.rows[i]), name) == 0)
            return fs.rows[i].self;
    return 0;
}

TEST(a_tier_is_recorded_with_the_kind_and_makes_no_other_function)
{
    static const uint16_t kinds[] = { 0,
                                      (uint32_t)JSPROF_KIND_VM | JSPROF_TIER_INTERPRETER,
                                      (uint32_t)JSPROF_KIND_JIT | JSPROF_TIER_OPTIMIZED,
                                      (uint32_t)JSPROF_KIND_JIT | JSPROF_TIER_WASM,
                                      JSPROF_KIND_JIT,
                                      JSPROF_KIND_JIT | 15 << 4 }; /* unknown to us */
    struct jsp_groups *groups = NULL;
    uint8_t data[32];
    size_t n = 0;
    build_start(&b, false);
    build_process(&b, "host script");
    for (uint32_t i = 1; i < sizeof kinds / sizeof *kinds; i++) {
        build_jit(&b, build_tag(i), "work (a.js:2)");
        n += build_varint(data + n, i);
        n += build_varint(data + n, kinds[i]);
        sample(1, build_tag(i), 0, 0);
    }
    build_chunk(&b, "jsprof/frames", data, n);
    CHECK(loaded_with(NULL));
    CHECK_EQ(jsp_groups_open(&groups, JSP_GROUP_TIER, NULL), 0);
    CHECK_EQ(jsp_functions_build_by(&fs, &p, NULL, groups), 0);
    CHECK_EQ(p.n_functions, 1);
    CHECK_EQ(of_tier("interpreter"), 1);
    CHECK_EQ(of_tier("optimized"), 1);
    CHECK_EQ(of_tier("wasm"), 1);
    CHECK_EQ(of_tier("jit"), 2);
    jsp_groups_close(groups);
}

TEST(modules_are_files_or_words_in_brackets)
{
    struct jsp_groups *groups = NULL;
    if (!load(NULL))
        return;
    categories = NULL;
    grouped(JSP_GROUP_MODULE, &groups);
    if (CHECK_EQ(fs.n, 2)) {
        CHECK_STR(jsp_functions_name(&fs, &p, &fs.rows[0]), "[vm]");
        CHECK_EQ(fs.rows[0].self, 3);
        CHECK_STR(jsp_functions_name(&fs, &p, &fs.rows[1]), "libx.so.1");
        CHECK_EQ(fs.rows[1].self, 1);
    }
    jsp_groups_close(groups);
}

TEST(wrong_rules_and_expressions_are_refused_with_a_reason)
{
    static const struct {
        const char *text;
        uint32_t line;
    } bad[] = { { "a kind=vm\nb kind=wrong\n", 2 },
                { "a colour=red\n", 1 },
                { "name=foo\n", 1 },
                { "\n\na name\n", 3 } };
    struct jsp_categories_defect defect;
    struct jsp_filter *filter;
    char why[JSP_FILTER_WHY] = "";
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct jsp_read_text text = { bad[i].text, (uint32_t)strlen(bad[i].text) };
        CHECK_EQ(jsp_categories_open(&categories, text, &defect), -EBADMSG);
        CHECK_EQ(defect.line, bad[i].line);
        CHECK(defect.why != NULL);
    }
    struct jsp_read_text nul = { "a\0b\n", 4 };
    CHECK_EQ(jsp_categories_open(&categories, nul, &defect), -EBADMSG);
    CHECK_EQ(jsp_filter_open(&filter, &(struct jsp_filter_options){ .only = "(" }, why),
             -EINVAL);
    CHECK(strncmp(why, "only: ", 6) == 0 && why[6]);
    CHECK_EQ(jsp_filter_open(&filter,
                             &(struct jsp_filter_options){ .only = "a", .focus = "[" }, why),
             -EINVAL);
    CHECK(strncmp(why, "focus: ", 7) == 0 && why[7]);
}

TEST(a_span_of_time_counts_from_the_start_and_is_half_open)
{
    struct jsp_profile_options o = { .from_ns = 7000000, .to_ns = 8000000 };
    if (!load(&o)) /* frames stand at 1 ms, 2 ms, ...: the samples at 6, 7, 8 and 9 */
        return;
    CHECK_EQ(p.samples, 1);
    CHECK_EQ(jsp_functions_build(&fs, &p, NULL), 0);
    CHECK_EQ(row("work(int)").self, 1);
}

TEST(a_walk_gives_every_counted_sample_and_no_other)
{
    struct jsp_profile_options o = { .from_ns = 7000000 };
    for (int is_part = 0; is_part < 2; is_part++) {
        struct jsp_walk walk;
        struct jsp_walk_item item;
        uint64_t n = 0, value = 0;
        int64_t before = 0;
        if (!load(is_part ? &o : NULL))
            return;
        jsp_walk_start(&walk, &p, NULL);
        for (; jsp_walk_next(&walk, &item); n++) {
            CHECK(item.time > before);
            before = item.time;
            CHECK(item.stack < p.n_stacks);
            value += item.value;
        }
        CHECK_EQ(n, is_part ? 3 : 4);
        CHECK_EQ(n, p.samples);
        CHECK_EQ(value, p.value);
    }
}

TEST_MAIN()
