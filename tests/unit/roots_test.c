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

static const struct {
    const char *what;
    const char *const *before, *const *after;
    struct {
        const char *before, *after;
        uint32_t n;
    } roots[2]; /* n = 0: there are no more */
    struct {
        int side;
        const char *recorded, *shown;
    } names[7];
} pairs[] = {
    { "two folders are cut off",
      LIST("a (/s/v1/lib/x.js:1:1)", "b (/s/v1/y.js:2)", "/s/v1/main.js", "same (/s/z.js:1)",
           "old (/s/v1/old.js:1)"),
      LIST("a (/s/v2/lib/x.js:9:9)", "b (/s/v2/y.js:2)", "/s/v2/main.js", "same (/s/z.js:1)",
           "new (/s/v2/new.js:1)"),
      { { "/s/v1/", "/s/v2/", 3 } },
      { { 0, "a ", "a (lib/x.js:1:1)" }, { 1, "a ", "a (lib/x.js:9:9)" }, { 0, "/s/", "main.js" },
        { 1, "/s/", "main.js" }, { 0, "same", "same (/s/z.js:1)" }, { 0, "old", "old (old.js:1)" },
        { 1, "new", "new (new.js:1)" } } },
    { "a relative path is below the folder without a name",
      LIST("a (lib/x.js:1:1)", "b (y.js:2)", "/z.js"),
      LIST("a (/s/lib/x.js:1:1)", "b (/s/y.js:2)", "/z.js"), { { "", "/s/", 2 } },
      { { 0, "a ", "a (lib/x.js:1:1)" }, { 1, "a ", "a (lib/x.js:1:1)" }, { 1, "/z", "/z.js" } } },
    { "a program may have two parts",
      LIST("a (/app1/x.js:1)", "b (/app1/x.js:2)", "c (/lib/1/y.js:1)"),
      LIST("a (/app2/x.js:1)", "b (/app2/x.js:2)", "c (/lib/2/y.js:1)"),
      { { "/app1/", "/app2/", 2 }, { "/lib/1/", "/lib/2/", 1 } }, { { 1, "c ", "c (y.js:1)" } } },
    { "files of one name are told apart by their folders",
      LIST("run (/v1/a/index.js:1)", "run (/v1/b/index.js:1)"),
      LIST("run (/v2/b/index.js:1)", "run (/v2/a/index.js:1)"), { { "/v1/", "/v2/", 2 } },
      { { 0, "run (/v1/a", "run (a/index.js:1)" }, { 1, "run (/v2/b", "run (b/index.js:1)" } } },
    { "a file that moved takes no other with it",
      LIST("a (/s/x.js:1)", "b (/s/y.js:1)"), LIST("a (/s/lib/x.js:1)", "b (/s/y.js:1)"),
      { { "/s/", "/s/lib/", 1 } },
      { { 0, "a ", "a (x.js:1)" }, { 1, "a ", "a (x.js:1)" }, { 0, "b ", "b (/s/y.js:1)" },
        { 1, "b ", "b (/s/y.js:1)" } } },
    { "a tie between two folders pairs neither",
      LIST("get (/a/util.js:1)", "put (/c/util.js:1)"),
      LIST("get (/x/util.js:1)", "get (/y/util.js:1)", "put (/d/util.js:1)"),
      { { "/c/", "/d/", 1 } },
      { { 0, "get", "get (/a/util.js:1)" }, { 1, "get (/x", "get (/x/util.js:1)" } } },
    { "a second function decides between two folders",
      LIST("get (/a/util.js:1)", "put (/a/util.js:9)"),
      LIST("get (/x/util.js:1)", "get (/y/util.js:1)", "put (/y/util.js:9)"),
      { { "/a/", "/y/", 2 } }, { { 0 } } },
    { "a folder below the other is no tie", LIST("get (/a/util.js:1)"),
      LIST("get (/b/util.js:1)", "get (/b/test/util.js:1)"), { { "/a/", "/b/", 1 } }, { { 0 } } },
    { "different programs remain different",
      LIST("a (/v1/x.js:1)", "b", "c (/v1/my.js:1)", "d (/v1/q.js:1)"),
      LIST("z (/v2/x.js:1)", "b", "c (/v2/y.js:1)", "e (/v2/q.js:1)"), { { 0 } },
      { { 0, "a ", "a (/v1/x.js:1)" }, { 1, "z ", "z (/v2/x.js:1)" } } },
};

TEST(folders_that_two_captures_do_not_share_are_cut_off)
{
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        int bad = test_bad;
        uint32_t n = 0;
        strip(pairs[i].before, pairs[i].after);
        for (; n < 2 && pairs[i].roots[n].n && CHECK(n < roots.n); n++) {
            CHECK_STR(roots.list[n].of[0], pairs[i].roots[n].before);
            CHECK_STR(roots.list[n].of[1], pairs[i].roots[n].after);
            CHECK_EQ(roots.list[n].n_functions, pairs[i].roots[n].n);
        }
        CHECK_EQ(roots.n, n);
        for (int k = 0; k < 7 && pairs[i].names[k].recorded; k++)
            CHECK_STR(name(pairs[i].names[k].side, pairs[i].names[k].recorded),
                      pairs[i].names[k].shown);
        if (test_bad > bad)
            printf("# %s\n", pairs[i].what);
        end();
    }
}

TEST_MAIN()
