/* source_map_test.c - src/analyze/{json_in,source_map,map_find,original_name,originals,naming}.c:
 * what good maps mean, and what bad ones do.
 *
 * SPDX-License-Identifier: MIT
 */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/map_find.h"
#include "analyze/naming.h"
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

/* -- Files ------------------------------------------------------------------ */

static char folder[] = "/tmp/source_map_test.XXXXXX";

static void put(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    if (CHECK(f != NULL)) {
        fputs(text, f);
        fclose(f);
    }
}

static struct jsp_naming_options options;
static struct jsp_naming *naming;

static void start(void)
{
    jsp_naming_close(naming);
    naming = NULL;
    CHECK_EQ(jsp_naming_open(&naming, &options), 0);
}

static uint32_t generated;

static const char *shown(const char *name)
{
    static char text[512];
    struct jsp_naming_name out;
    if (!CHECK_EQ(jsp_naming_name(naming, (struct jsp_read_text){ name, (uint32_t)strlen(name) },
                                  &out), 0))
        return "(failed)";
    snprintf(text, sizeof text, "%s", out.text);
    free(out.text);
    generated = out.generated;
    return text;
}

/* "line" or "file:line" of a line of the function that was shown last. */
static const char *line(uint32_t number)
{
    static char text[512];
    struct jsp_naming_line out = { 0 };
    if (!CHECK(generated != 0) ||
        !CHECK_EQ(jsp_naming_line(naming, generated, number, &out), 0))
        return "(failed)";
    snprintf(text, sizeof text, "%s%s%" PRIu32, out.file ? out.file : "", out.file ? ":" : "",
             out.line);
    free(out.file);
    return text;
}

/* Two functions; the first one was renamed, and both were moved. */
#define OUT_JS "function f(a) {\n  return a;\n}\nvar g = function (b) { return b };\n"
#define OUT_MAP(more) \
    "{\"version\":3,\"file\":\"out.js\",\"sources\":[\"../in.ts\"],\"names\":[\"found\"]," more \
    "\"mappings\":\"AAIA,SAASA,EAAE,CAAC;EACV;;AAIF,IAAI,CAAC,GAAG,UAAU,CAAC\"}"

TEST(a_function_and_its_lines_have_their_originals)
{
    put("js/out.js", OUT_JS "//# sourceMappingURL=out.js.map\n");
    put("js/out.js.map", OUT_MAP(""));
    put("in.ts", "\n\n\n\nfunction found(a: T) {\n\n\n\n\nconst g = (b) => b;\n");
    start();
    CHECK_STR(shown("f (js/out.js:1:10)"), "found (in.ts:5:10)");
    CHECK_STR(line(2), "6");
    CHECK_STR(line(1), "5");
    CHECK_STR(line(3), "0"); /* no mapping */
    CHECK_STR(line(99), "0");
    CHECK_STR(shown("f (js/out.js:1:11)"), "found (in.ts:5:10)"); /* columns from 1 */
    CHECK_STR(shown("get f (js/out.js:1:10)"), "get found (in.ts:5:10)");
    CHECK_STR(shown("A.f (js/out.js:1:10)"), "found (in.ts:5:10)");
    CHECK_STR(shown("f/< (js/out.js:1:10)"), "f/< (in.ts:5:10)");
    CHECK_STR(shown("g (js/out.js:4:17)"), "g (in.ts:10:9)");
    CHECK_STR(shown("js/out.js:4:17"), "in.ts:10:9"); /* a function without a name */
    CHECK_STR(shown("A.prototype.g (js/out.js:4:17)"), "A.prototype.g (in.ts:10:9)");
    CHECK_STR(shown("js/out.js"), "in.ts");
    CHECK_STR(line(2), "6");
    CHECK_STR(shown("f (js/other.js:1:10)"), "f (js/other.js:1:10)");
    CHECK_EQ(generated, 0);
    CHECK_STR(shown("found"), "found");
    CHECK_EQ(jsp_originals_n_mapped(jsp_naming_originals(naming)), 1);
}

TEST(without_source_maps_names_are_as_recorded)
{
    options.has_no_source_maps = true;
    start();
    CHECK_STR(shown("f (js/out.js:1:10)"), "f (js/out.js:1:10)");
    CHECK(jsp_naming_originals(naming) == NULL);
    options.has_no_source_maps = false;
}

TEST(the_paths_of_originals_follow_the_rules)
{
    static const char *const maps[] = { "/build=." }, *const trims[] = { "js/.." };
    options.maps = maps;
    options.n_maps = 1;
    start();
    CHECK_STR(shown("f (file:///build/js/out.js:1:10)"), "found (in.ts:5:10)");
    options.trims = trims;
    options.n_trims = 1;
    start();
    CHECK_STR(shown("x (js/../y.js:1:10)"), "x (y.js:1:10)");
    options = (struct jsp_naming_options){ 0 };
}

static const char *defect(void)
{
    static char text[512];
    struct jsp_originals_defect d;
    if (!jsp_originals_defect(jsp_naming_originals(naming), 0, &d))
        return "none";
    snprintf(text, sizeof text, "%s", d.why);
    return text;
}

TEST(a_map_that_does_not_fit_is_not_used)
{
    static const char *const recorded = "f (js/out.js:1:10)";
    start();
    jsp_naming_recorded(naming, 1000); /* in 1970 */
    CHECK_STR(shown(recorded), recorded);
    CHECK_STR(defect(), "it was changed after the recording (--source-maps uses it all the same)");
    options.source_maps = "js";
    start();
    jsp_naming_recorded(naming, 1000);
    CHECK_STR(shown(recorded), "found (in.ts:5:10)");
    options.source_maps = "js/out.js.map";
    start();
    CHECK_STR(shown("f (elsewhere/out.js:1:10)"), "found (in.ts:5:10)");
    CHECK_STR(shown("f (elsewhere/more.js:1:10)"), "f (elsewhere/more.js:1:10)");
    options.source_maps = NULL;
    put("js/out.js", "function f(a) {}\n//# sourceMappingURL=out.js.map");
    start();
    CHECK_STR(shown(recorded), recorded);
    CHECK_STR(defect(), "it has more lines than the file");
    put("js/out.js.map", "no map");
    start();
    CHECK_STR(shown(recorded), recorded);
    CHECK_STR(defect(), "it is not JSON, or not of the form of a source map");
    unlink("js/out.js.map"); /* as in many packages: nothing to complain about */
    start();
    CHECK_STR(shown(recorded), recorded);
    CHECK_STR(defect(), "none");
}

TEST(a_map_may_be_data_in_the_comment)
{
    static const char *const ends[] = {
        "//# sourceMappingURL=data:application/json;charset=utf-8;base64,"
        "eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbImEudHMiXSwibmFtZXMiOlsiZm91bmQiXSwibWFwcGluZ3Mi"
        "OiJBQUlBLFNBQVNBIn0=",
        "//# sourceMappingURL=data:,{%22version%22:3,%22sources%22:[%22a.ts%22],"
        "%22names%22:[%22found%22],%22mappings%22:%22AAIA,SAASA%22}\n\n",
        "/*# sourceMappingURL=data:,{%22version%22:3,%22sources%22:[%22a.ts%22],"
        "%22names%22:[%22found%22],%22mappings%22:%22AAIA,SAASA%22} */\n",
    };
    char text[1024];
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(text, sizeof text, "function f(a) {}\n%s", ends[i]);
        put("js/data.js", text);
        start();
        CHECK_STR(shown("f (js/data.js:1:10)"), "found (js/a.ts:5:10)");
    }
    static const char *const bad[] = { "data:x", "data:;base64,e!", "http://x/y.map", "" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, "function f(a) {}\n//# sourceMappingURL=%s\n", bad[i]);
        put("js/data.js", text);
        start();
        CHECK_STR(shown("f (js/data.js:1:10)"), "f (js/data.js:1:10)");
        CHECK_STR(defect(), i < 2 ? "its data in the file is broken" : "none");
    }
}

TEST(a_line_of_distant_code_is_unknown)
{
    /* Lines 1 and 2 of the source, then line 1 and 40. */
    put("js/min.js", "a;b\na;b\n//# sourceMappingURL=data:,{%22version%22:3,%22sources%22:"
                     "[%22a.ts%22],%22mappings%22:%22AAAA,EACA;AADA,EAuCA%22}");
    start();
    shown("f (js/min.js:9:1)");
    CHECK_STR(line(1), "js/a.ts:1");
    CHECK_STR(line(2), "0");
    shown("f (js/min.js:1:1)"); /* within the function's own line, two are too many */
    CHECK_STR(line(1), "0");
}

TEST(a_line_of_very_many_segments_is_unknown)
{
    static char text[40000] = "a\n//# sourceMappingURL=data:,{%22version%22:3,%22sources%22:"
                              "[%22a.ts%22],%22mappings%22:%22AAAA";
    size_t len = strlen(text);
    for (int i = 0; i < 4097; i++, len += 5)
        memcpy(text + len, ",CAAC", 5);
    strcpy(text + len, "%22}");
    put("js/min.js", text);
    start();
    shown("f (js/min.js:1:1)");
    CHECK_STR(line(1), "0");
    text[len - 5] = 0;
    strcat(text, "%22}");
    put("js/min.js", text);
    start();
    shown("f (js/min.js:1:1)");
    CHECK_STR(line(1), "1");
}

TEST(a_source_in_the_map_is_read_from_it)
{
    struct jsp_source s;
    put("js/out.js", OUT_JS "//# sourceMappingURL=out.js.map\n");
    put("js/out.js.map", OUT_MAP("\"sourcesContent\":[\"one\\ntwo\\n\"],"));
    start();
    shown("f (js/out.js:1:10)");
    if (CHECK_EQ(jsp_naming_read(naming, &s, "in.ts", NULL), 0)) {
        CHECK_EQ(s.n_lines, 2);
        CHECK_EQ(memcmp(jsp_source_line(&s, 2).at, "two", 3), 0);
        jsp_source_free(&s);
    }
    CHECK_EQ(jsp_naming_read(naming, &s, "nowhere.ts", NULL), -ENOENT);
}

int main(void)
{
    if (!mkdtemp(folder) || chdir(folder) < 0 || mkdir("js", 0700) < 0)
        return 1;
    RUN(each_segment_continues_the_numbers_of_the_last);
    RUN(a_place_without_an_original_has_none);
    RUN(mappings_out_of_order_are_sorted);
    RUN(broken_mappings_are_refused);
    RUN(a_map_that_is_none_is_refused);
    RUN(a_map_has_only_so_much);
    RUN(every_cut_of_a_map_is_refused);
    RUN(deep_nesting_is_refused);
    RUN(the_root_comes_before_relative_sources);
    RUN(sections_begin_at_their_offsets);
    RUN(a_source_is_relative_to_its_map);
    RUN(a_line_that_names_its_function_is_understood);
    RUN(a_line_that_does_not_is_left_alone);
    RUN(a_generated_name_is_found_before_its_function);
    RUN(a_function_and_its_lines_have_their_originals);
    RUN(without_source_maps_names_are_as_recorded);
    RUN(the_paths_of_originals_follow_the_rules);
    RUN(a_map_that_does_not_fit_is_not_used);
    RUN(a_map_may_be_data_in_the_comment);
    RUN(a_line_of_distant_code_is_unknown);
    RUN(a_line_of_very_many_segments_is_unknown);
    RUN(a_source_in_the_map_is_read_from_it);
    jsp_source_map_free(&map);
    jsp_naming_close(naming);
    static const char *const made[] = { "js/out.js", "js/out.js.map", "js/data.js", "js/min.js",
                                        "in.ts", "js" };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        remove(made[i]);
    rmdir(folder);
    return DONE();
}
