/* source_map_test.c - src/analyze/{json_in,source_map,map_find,original_name}.c: what good maps
 * mean, and what bad ones do.
 *
 * SPDX-License-Identifier: MIT
 */
#include "test.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/map_find.h"
#include "analyze/original_name.h"
#include "analyze/source_map.h"

static struct jsp_source_map map;
static const char *why;

static int reads(const char *text)
{
    jsp_source_map_free(&map);
    why = "";
    /* In memory of exactly that size, so that a sanitizer sees one byte too far. */
    size_t len = strlen(text);
    char *copy = malloc(len + 1);
    memcpy(copy, text, len);
    int err = jsp_source_map_read(&map, copy, len, &why);
    free(copy);
    return err;
}

#define MAP(mappings) \
    "{\"version\":3,\"sources\":[\"a.ts\",\"b.ts\"],\"names\":[\"f\",\"g\"]," \
    "\"mappings\":\"" mappings "\"}"

/* "source:line:column name", counted from 0. */
static const char *at(uint32_t line, uint32_t column)
{
    static char text[64];
    const struct jsp_source_map_segment *s = jsp_source_map_find(&map, line, column);
    if (!s)
        return "none";
    snprintf(text, sizeof text, "%" PRIu32 ":%" PRIu32 ":%" PRIu32 " %d", s->source, s->to_line,
             s->to_column, (int)s->name);
    return text;
}

TEST(each_segment_continues_the_numbers_of_the_last)
{
    CHECK_EQ(reads(MAP("AAAA,IAAIA,GCCD;;CDDE,E")), 0);
    CHECK_EQ(map.n_segments, 5);
    CHECK_STR(at(0, 0), "0:0:0 -1");
    CHECK_STR(at(0, 3), "0:0:0 -1");
    CHECK_STR(at(0, 4), "0:0:4 0");
    CHECK_STR(at(0, 7), "1:1:3 -1");
    CHECK_STR(at(0, 4000), "1:1:3 -1");
    CHECK_STR(at(1, 0), "none"); /* a line without mappings */
    CHECK_STR(at(2, 0), "none");
    CHECK_STR(at(2, 1), "0:0:5 -1");
    CHECK_STR(at(2, 3), "none");
}

TEST(a_place_without_an_original_has_none)
{
    CHECK_EQ(reads(MAP("AAAA,C,CAAC")), 0);
    CHECK_STR(at(0, 0), "0:0:0 -1");
    CHECK_STR(at(0, 1), "none");
    CHECK_STR(at(0, 2), "0:0:1 -1");
    CHECK_EQ(jsp_source_map_from(&map, 0, 1), 1);
    CHECK_EQ(jsp_source_map_from(&map, 1, 0), 3);
}

TEST(mappings_out_of_order_are_sorted)
{
    CHECK_EQ(reads(MAP("IAAA,HAAC")), 0); /* column 4, then 1 */
    CHECK_STR(at(0, 0), "none");
    CHECK_STR(at(0, 2), "0:0:1 -1");
    CHECK_STR(at(0, 4), "0:0:0 -1");
}

TEST(broken_mappings_are_refused)
{
    static const char *const bad[] = {
        MAP("!"),        MAP("A!"),       MAP("AA"),      MAP("AAA"),         MAP("AAAAAA"),
        MAP("g"),        MAP("ggggggggA"), MAP("D"),      MAP("ADAA"),        MAP("AEAA"),
        MAP("AAAAE"),    MAP("AADA"),     MAP("AAAD"),    MAP("+/////HAAA"),  MAP("A A"),
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (!CHECK_EQ(reads(bad[i]), -EBADMSG))
            printf("# %s\n", bad[i]);
        CHECK_STR(why, "its mappings are broken");
        CHECK_EQ(map.n_segments, 0);
    }
}

TEST(a_map_that_is_none_is_refused)
{
    static const char *const bad[] = {
        "", "{", "[]", "3", "null", "{\"version\":3}", "{\"version\":2,\"mappings\":\"\"}",
        "{\"mappings\":\"\"}", "{\"version\":3,\"mappings\":7}",
        "{\"version\":3,\"mappings\":\"\",\"sources\":[1]}",
        "{\"version\":3,\"mappings\":\"\",\"sources\":[\"a\",]}",
        "{\"version\":3,\"mappings\":\"\",\"sources\":\"a\"}",
        "{\"version\":3,\"mappings\":\"\",\"names\":[[]]}",
        "{\"version\":3,\"sections\":[{}]}", "{\"version\":3,\"sections\":[7]}",
        "{\"version\":3,\"sections\":[{\"offset\":{\"line\":-1},\"map\":{\"mappings\":\"\"}}]}",
        "{\"version\":3,\"sections\":[{\"offset\":{},\"url\":\"x\"}]}",
        "{\"version\":99999999999,\"mappings\":\"\"}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (!CHECK_EQ(reads(bad[i]), -EBADMSG))
            printf("# %s\n", bad[i]);
        CHECK(*why);
    }
}

/* A map with one more than `most` of something, and with exactly as many. */
static void bounded(const char *before, const char *each, const char *after, uint32_t most,
                    const char *complaint)
{
    size_t n = strlen(each), len = strlen(before);
    char *text = malloc(len + (most + 1) * n + strlen(after) + 1);
    if (!CHECK(text != NULL))
        return;
    memcpy(text, before, len);
    for (uint32_t i = 0; i <= most; i++, len += n)
        memcpy(text + len, each, n);
    strcpy(text + len, after);
    CHECK_EQ(reads(text), -EBADMSG);
    CHECK_STR(why, complaint);
    strcpy(text + len - n, after);
    CHECK_EQ(reads(text), 0);
    free(text);
}

TEST(a_map_has_only_so_much)
{
    bounded("{\"version\":3,\"sources\":[\"\"", ",\"\"", "],\"mappings\":\"\"}",
            JSP_SOURCE_MAP_SOURCES - 1, "it has too many sources");
    char path[256] = ",\"";
    memset(path + 2, 'x', 252);
    path[254] = '"';
    bounded("{\"version\":3,\"sourceRoot\":\"0123456789abcdef\",\"mappings\":\"\","
            "\"sources\":[\"\"", path, "]}",
            (JSP_SOURCE_MAP_PATHS - 16) / (16 + 252), "it has too many sources");
    bounded("{\"version\":3,\"names\":[\"\"", ",\"\"", "],\"mappings\":\"\"}",
            JSP_SOURCE_MAP_NAMES - 1, "it has too many names");
    bounded("{\"version\":3,\"mappings\":\"A", ",C", "\"}", JSP_SOURCE_MAP_SEGMENTS - 1,
            "it has too many mappings");
}

TEST(every_cut_of_a_map_is_refused)
{
    static const char whole[] =
        "{\"version\":3,\"sourceRoot\":\"r\\u00e9\",\"x\":[{\"y\":[1,true,null]}],"
        "\"sources\":[\"a\",null],\"sourcesContent\":[\"\\\"\",null],\"names\":[],"
        "\"mappings\":\"AAAA;AACA\"}";
    char text[sizeof whole];
    CHECK_EQ(reads(whole), 0);
    for (size_t n = 0; n + 1 < sizeof whole; n++) {
        memcpy(text, whole, n);
        text[n] = 0;
        if (!CHECK_EQ(reads(text), -EBADMSG))
            printf("# %s\n", text);
    }
}

TEST(deep_nesting_is_refused)
{
    char text[4096] = "{\"version\":3,\"mappings\":\"\",\"x\":";
    size_t at_text = strlen(text);
    memset(text + at_text, '[', 2000);
    text[at_text + 2000] = 0;
    CHECK_EQ(reads(text), -EBADMSG);
    CHECK_EQ(reads("{\"version\":3,\"mappings\":\"\",\"x\":[[[[{\"a\":[]}]]]]}"), 0);
}

TEST(the_root_comes_before_relative_sources)
{
    CHECK_EQ(reads("{\"version\":3,\"sourceRoot\":\"src\",\"mappings\":\"\",\"sources\":"
                   "[\"a.ts\",\"/b.ts\",\"webpack://x/c.ts\",\"d\\u00e9\\ud83d\\ude00\\ud83d\"]}"),
             0);
    CHECK_STR(map.sources[0].path, "src/a.ts");
    CHECK_STR(map.sources[1].path, "/b.ts");
    CHECK_STR(map.sources[2].path, "webpack://x/c.ts");
    CHECK_STR(map.sources[3].path, "src/d\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbd");
}

TEST(sections_begin_at_their_offsets)
{
    CHECK_EQ(reads(")]}'\n{\"version\":3,\"sections\":["
                   "{\"offset\":{\"line\":0,\"column\":10},\"map\":" MAP("AAAA;AACA") "},"
                   "{\"offset\":{\"line\":5,\"column\":0},\"map\":" MAP("ACAAC") "}]}"),
             0);
    CHECK_EQ(map.n_sources, 4);
    CHECK_STR(at(0, 9), "none");
    CHECK_STR(at(0, 10), "0:0:0 -1");
    CHECK_STR(at(1, 0), "0:1:0 -1");
    CHECK_STR(at(5, 0), "3:0:0 3");
}

/* -- Paths and names -------------------------------------------------------- */

static bool path_is(const char *directory, const char *source, const char *want)
{
    char *path = jsp_map_path(directory, source);
    bool is = CHECK_STR(path, want);
    free(path);
    return is;
}

TEST(a_source_is_relative_to_its_map)
{
    path_is("ts/out", "../hot.ts", "ts/hot.ts");
    path_is("out", "../hot.ts", "hot.ts");
    path_is("", "../hot.ts", "../hot.ts");
    path_is("", "./a/./b//c.ts", "a/b/c.ts");
    path_is("out", "../../../hot.ts", "../../hot.ts");
    path_is("/a/b", "../../../../x.ts", "/x.ts");
    path_is("/a", "../b/../c/", "/c");
    path_is("/a", "/b/../c.ts", "/c.ts");
    path_is("/", "c.ts", "/c.ts");
    path_is("/a", "file:///b%20c.ts", "/b c.ts");
    path_is("/a", "webpack:///./x.ts", "webpack:///./x.ts");
    path_is("a", "..", "");
}

/* `line` has a | where the function begins. */
static void named(const char *line, const char *want)
{
    char text[256], *bar;
    snprintf(text, sizeof text, "%s", line);
    bar = strchr(text, '|');
    memmove(bar, bar + 1, strlen(bar));
    struct jsp_read_text found = jsp_original_name_find(
        (struct jsp_read_text){ text, (uint32_t)strlen(text) }, (uint32_t)(bar - text));
    snprintf(text, sizeof text, "%.*s", (int)found.len, found.at);
    if (!CHECK_STR(text, want))
        printf("# %s\n", line);
}

TEST(a_line_that_names_its_function_is_understood)
{
    named("|function f(a: number) {", "f");
    named("|export default async function* f<T, U<V>>(a: T) {", "f");
    named("export function f|(a) {", "f");
    named("    |private static async f(n: number): void {", "f");
    named("    |get size(): number {", "size");
    named("    |get(key: K) {", "get");
    named("    |#hidden(key) {", "hidden");
    named("const f = |(a) => a;", "f");
    named("const f: Area = |(a: Shape): number => {", "f");
    named("let f = async |(a) => a;", "f");
    named("var f = |function (a) {", "f");
    named("var f = function |(a) {", "f");
    named("this.f = |x => x;", "f");
    named("  f: |function () {},", "f");
    named("  f: async |x => x,", "f");
    named("export const f = async (|o: Opt): Promise<number> => {", "f");
    named("    f(|n: number): number {", "f");
}

TEST(a_line_that_does_not_is_left_alone)
{
    named("list.map(|x => x)", "");
    named("list.map(|(x) => x)", "");
    named("list.map((|x) => x)", "");
    named("list.map(|x => { return (x); })", "");
    named("    |constructor(public a: number) {", "");
    named("(|function () {", "");
    named("if (a == |(b)) {", "");
    named("return |(a) => a;", "");
    named("const f: Map<string, number> = |(a) => a;", "");
    named("|", "");
    named("x|", "");
    CHECK_EQ(jsp_original_name_find((struct jsp_read_text){ "abc(", 4 }, 99).len, 0);
}

static int64_t before(const char *line, const char *own)
{
    char text[256], *bar;
    snprintf(text, sizeof text, "%s", line);
    bar = strchr(text, '|');
    memmove(bar, bar + 1, strlen(bar));
    return jsp_original_name_before((struct jsp_read_text){ text, (uint32_t)strlen(text) },
                                    (uint32_t)(bar - text),
                                    (struct jsp_read_text){ own, (uint32_t)strlen(own) });
}

TEST(a_generated_name_is_found_before_its_function)
{
    CHECK_EQ(before("var c=async |o=>{", "c"), 4);
    CHECK_EQ(before("var c=async o|=>{", "c"), 4); /* columns from 1 */
    CHECK_EQ(before("var c=function|(o){", "c"), 4);
    CHECK_EQ(before("e=|e=>e", "e"), 0);
    CHECK_EQ(before("e=e|=>e", "e"), 0);
    CHECK_EQ(before("return{c:|(o)=>o}", "c"), 7);
    CHECK_EQ(before("c=a.map(|(o)=>o)", "c"), -1);
    CHECK_EQ(before("var cc=|(o)=>o", "c"), -1);
    CHECK_EQ(before("|c", ""), -1);
    CHECK_EQ(before("c|", "c"), -1);
}

int main(void)
{
    RUN_ALL();
    jsp_source_map_free(&map);
    return DONE();
}
