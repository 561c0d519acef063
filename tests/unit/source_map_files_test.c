/* source_map_files_test.c - src/analyze/{originals,naming}.c: maps in files beside the generated
 * code, and what is shown of it by them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/naming.h"

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
    CHECK_STR(shown("g (js/out.js:4:18)"), "g (in.ts:10:9)"); /* columns from 1 */
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
    RUN_ALL();
    jsp_naming_close(naming);
    static const char *const made[] = { "js/out.js", "js/out.js.map", "js/data.js", "js/min.js",
                                        "in.ts", "js" };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        remove(made[i]);
    rmdir(folder);
    return DONE();
}
