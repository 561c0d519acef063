/* roots_test.c - src/analyze/roots.c: the same program in two folders has the same functions.
 *
 * SPDX-License-Identifier: MIT
 */
#include "analyze/roots.h"

#include "analyze/select.h"
#include "capture_builder.h"
#include "test.h"

struct side {
    struct builder b;
    struct jsp_read r;
    struct jsp_profile p;
};
static struct side sides[2];
static struct jsp_roots roots;

/* A profile with these functions, which end with NULL. */
static bool side(int which, const char *const *names)
{
    struct side *s = &sides[which];
    char why[JSP_READ_WHY];
    *s = (struct side){ 0 };
    build_start(&s->b, false);
    build_process(&s->b, "host");
    for (uint32_t i = 0; names[i]; i++) {
        uint64_t addr = build_tag(i + 1);
        build_jit(&s->b, addr, names[i]);
        build_sample(&s->b, &addr, 1);
    }
    return CHECK_EQ(jsp_read_memory(&s->r, s->b.bytes, s->b.size, why), 0) &&
           CHECK_EQ(jsp_profile_load(&s->p, &s->r, NULL), 0) &&
           CHECK_EQ(jsp_select_resolve(NULL, &s->p), 0);
}

static void strip(const char *const *before, const char *const *after)
{
    struct jsp_profile *const both[] = { &sides[0].p, &sides[1].p };
    if (side(0, before) && side(1, after))
        CHECK_EQ(jsp_roots_strip(&roots, both), 0);
}

static void end(void)
{
    jsp_roots_free(&roots);
    for (int i = 0; i < 2; i++) {
        jsp_profile_free(&sides[i].p);
        jsp_read_close(&sides[i].r);
        free(sides[i].b.bytes);
    }
}

/* The shown name of the function whose recorded name begins so. */
static const char *name(int which, const char *recorded)
{
    const struct jsp_profile *p = &sides[which].p;
    for (uint32_t i = 0; i < p->n_functions; i++)
        if (strncmp(p->functions[i].recorded, recorded, strlen(recorded)) == 0)
            return p->functions[i].name;
    return "none";
}

#define LIST(...) (const char *const[]){ __VA_ARGS__, NULL }

static void root_is(uint32_t i, const char *before, const char *after, uint32_t n)
{
    if (!CHECK(i < roots.n))
        return;
    CHECK_STR(roots.list[i].of[0], before);
    CHECK_STR(roots.list[i].of[1], after);
    CHECK_EQ(roots.list[i].n_functions, n);
}

TEST(two_folders_are_cut_off)
{
    strip(LIST("a (/s/v1/lib/x.js:1:1)", "b (/s/v1/y.js:2)", "/s/v1/main.js", "same (/s/z.js:1)",
               "old (/s/v1/old.js:1)"),
          LIST("a (/s/v2/lib/x.js:9:9)", "b (/s/v2/y.js:2)", "/s/v2/main.js", "same (/s/z.js:1)",
               "new (/s/v2/new.js:1)"));
    CHECK_EQ(roots.n, 1);
    root_is(0, "/s/v1/", "/s/v2/", 3);
    CHECK_STR(name(0, "a "), "a (lib/x.js:1:1)");
    CHECK_STR(name(1, "a "), "a (lib/x.js:9:9)");
    CHECK_STR(name(0, "/s/"), "main.js");
    CHECK_STR(name(1, "/s/"), "main.js");
    CHECK_STR(name(0, "same"), "same (/s/z.js:1)");
    CHECK_STR(name(0, "old"), "old (old.js:1)");
    CHECK_STR(name(1, "new"), "new (new.js:1)");
    end();
}

TEST(a_relative_path_is_below_the_folder_without_a_name)
{
    strip(LIST("a (lib/x.js:1:1)", "b (y.js:2)", "/z.js"),
          LIST("a (/s/lib/x.js:1:1)", "b (/s/y.js:2)", "/z.js"));
    root_is(0, "", "/s/", 2);
    CHECK_STR(name(0, "a "), "a (lib/x.js:1:1)");
    CHECK_STR(name(1, "a "), "a (lib/x.js:1:1)");
    CHECK_STR(name(1, "/z"), "/z.js");
    end();
}

TEST(a_program_may_have_two_parts)
{
    strip(LIST("a (/app1/x.js:1)", "b (/app1/x.js:2)", "c (/lib/1/y.js:1)"),
          LIST("a (/app2/x.js:1)", "b (/app2/x.js:2)", "c (/lib/2/y.js:1)"));
    CHECK_EQ(roots.n, 2);
    root_is(0, "/app1/", "/app2/", 2);
    root_is(1, "/lib/1/", "/lib/2/", 1);
    CHECK_STR(name(1, "c "), "c (y.js:1)");
    end();
}

TEST(files_of_one_name_are_told_apart_by_their_folders)
{
    strip(LIST("run (/v1/a/index.js:1)", "run (/v1/b/index.js:1)"),
          LIST("run (/v2/b/index.js:1)", "run (/v2/a/index.js:1)"));
    root_is(0, "/v1/", "/v2/", 2);
    CHECK_STR(name(0, "run (/v1/a"), "run (a/index.js:1)");
    CHECK_STR(name(1, "run (/v2/b"), "run (b/index.js:1)");
    end();
}

TEST(a_file_that_moved_takes_no_other_with_it)
{
    strip(LIST("a (/s/x.js:1)", "b (/s/y.js:1)"), LIST("a (/s/lib/x.js:1)", "b (/s/y.js:1)"));
    root_is(0, "/s/", "/s/lib/", 1);
    CHECK_STR(name(0, "a "), "a (x.js:1)");
    CHECK_STR(name(1, "a "), "a (x.js:1)");
    CHECK_STR(name(0, "b "), "b (/s/y.js:1)");
    CHECK_STR(name(1, "b "), "b (/s/y.js:1)");
    end();
}

TEST(a_tie_between_two_folders_pairs_neither)
{
    strip(LIST("get (/a/util.js:1)", "put (/c/util.js:1)"),
          LIST("get (/x/util.js:1)", "get (/y/util.js:1)", "put (/d/util.js:1)"));
    CHECK_EQ(roots.n, 1);
    root_is(0, "/c/", "/d/", 1);
    CHECK_STR(name(0, "get"), "get (/a/util.js:1)");
    CHECK_STR(name(1, "get (/x"), "get (/x/util.js:1)");
    end();
}

TEST(a_second_function_decides_between_two_folders)
{
    strip(LIST("get (/a/util.js:1)", "put (/a/util.js:9)"),
          LIST("get (/x/util.js:1)", "get (/y/util.js:1)", "put (/y/util.js:9)"));
    CHECK_EQ(roots.n, 1);
    root_is(0, "/a/", "/y/", 2);
    end();
}

TEST(a_folder_below_the_other_is_no_tie)
{
    strip(LIST("get (/a/util.js:1)"), LIST("get (/b/util.js:1)", "get (/b/test/util.js:1)"));
    root_is(0, "/a/", "/b/", 1);
    end();
}

TEST(different_programs_remain_different)
{
    strip(LIST("a (/v1/x.js:1)", "b", "c (/v1/my.js:1)", "d (/v1/q.js:1)"),
          LIST("z (/v2/x.js:1)", "b", "c (/v2/y.js:1)", "e (/v2/q.js:1)"));
    CHECK_EQ(roots.n, 0);
    CHECK_STR(name(0, "a "), "a (/v1/x.js:1)");
    CHECK_STR(name(1, "z "), "z (/v2/x.js:1)");
    end();
}

TEST_MAIN()
