/* json_test.c - src/export/{json,sink,utf8,names}.c: any bytes come out as valid JSON.
 *
 * SPDX-License-Identifier: MIT
 */
#include "test.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "export/json.h"
#include "analyze/name_parts.h"
#include "export/shown_names.h"

static struct jsp_sink sink;
static struct jsp_bytes bytes;
static struct jsp_json json;

static void start(void)
{
    jsp_bytes_free(&bytes);
    jsp_sink_init(&sink, jsp_bytes_write, &bytes);
    jsp_json_init(&json, &sink);
}

static const char *written(void)
{
    jsp_sink_byte(&sink, 0);
    return jsp_sink_flush(&sink) == 0 ? bytes.at : "(failed)";
}

static const char *string_of(const char *text, size_t n)
{
    start();
    jsp_json_bytes(&json, text, n);
    return written();
}
#define STRING(text) string_of(text, sizeof text - 1)

TEST(commas_come_by_themselves)
{
    start();
    jsp_json_open(&json, '{');
    jsp_json_key_u64(&json, "a", UINT64_MAX);
    jsp_json_key_open(&json, "b", '[');
    jsp_json_i64(&json, INT64_MIN);
    jsp_json_open(&json, '[');
    jsp_json_close(&json, ']');
    jsp_json_null(&json);
    jsp_json_close(&json, ']');
    jsp_json_key_bool(&json, "c", true);
    jsp_json_key_text(&json, "d", "");
    jsp_json_close(&json, '}');
    CHECK_STR(written(), "{\"a\":18446744073709551615,\"b\":[-9223372036854775808,[],null],"
                         "\"c\":true,\"d\":\"\"}");
}

TEST(a_string_can_not_end_itself_nor_a_script_element)
{
    CHECK_STR(STRING("a\"b\\c"), "\"a\\\"b\\\\c\"");
    CHECK_STR(STRING("</script><!--&"),
              "\"\\u003c/script\\u003e\\u003c!--\\u0026\"");
    CHECK_STR(STRING("\0\n\x1b[0m\x7f"), "\"\\u0000\\u000a\\u001b[0m\\u007f\"");
}

TEST(what_reorders_or_hides_text_is_escaped)
{
    CHECK_STR(STRING("\xc2\x9b\xe2\x80\xae\xe2\x80\xa8\xef\xbb\xbf"),
              "\"\\u009b\\u202e\\u2028\\ufeff\"");
    CHECK_STR(STRING("\xf3\xa0\x81\x81"), "\"\\udb40\\udc41\"");
    CHECK_STR(STRING("caf\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x98\x80"),
              "\"caf\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x98\x80\"");
}

#define FFFD "\xef\xbf\xbd"
TEST(what_is_not_utf8_is_replaced)
{
    CHECK_STR(STRING("\xff|\xc3(|\xc0\xaf|\xe2\x82"),
              "\"" FFFD "|" FFFD "(|" FFFD FFFD "|" FFFD "\"");
    CHECK_STR(STRING("\xed\xa0\x80|\xf4\x90\x80\x80|\xf0\x9f\x98"),
              "\"" FFFD FFFD FFFD "|" FFFD FFFD FFFD FFFD "|" FFFD "\"");
    CHECK_STR(STRING("\xe0\x80\xaf|\xf8\x88|\xc2\"\xc2"),
              "\"" FFFD FFFD FFFD "|" FFFD FFFD "|" FFFD "\\\"" FFFD "\"");
}

static const char *number(double n)
{
    start();
    jsp_json_double(&json, n);
    return written();
}

TEST(a_number_has_the_fewest_digits_that_read_back)
{
    CHECK_STR(number(0.1), "0.1");
    CHECK_STR(number(1.0 / 3), "0.3333333333333333");
    CHECK_STR(number(1e300), "1e+300");
    CHECK_STR(number(-0.5), "-0.5");
    CHECK_STR(number(123456789012345678.0), "1.2345678901234568e+17");
    CHECK_STR(number(NAN), "null");
    CHECK_STR(number(-INFINITY), "null");
    CHECK_EQ(strtod(number(DBL_MAX), NULL) == DBL_MAX, true);
    CHECK_EQ(strtod(number(DBL_TRUE_MIN), NULL) == DBL_TRUE_MIN, true);
}

TEST(a_time_has_every_digit_that_is_not_zero)
{
    start();
    jsp_json_open(&json, '[');
    jsp_json_ms(&json, 1234567);
    jsp_json_ms(&json, 1500000);
    jsp_json_ms(&json, 1);
    jsp_json_ms(&json, 20000000);
    jsp_json_us(&json, 1234567);
    jsp_json_us(&json, 10);
    jsp_json_us(&json, 0);
    jsp_json_close(&json, ']');
    CHECK_STR(written(), "[1.234567,1.5,0.000001,20,1234.567,0.01,0]");
}

TEST(pieces_of_any_size_arrive_in_order)
{
    static char block[3 * JSP_SINK_BLOCK];
    size_t sizes[] = { 1, JSP_SINK_BLOCK - 1, JSP_SINK_BLOCK, JSP_SINK_BLOCK + 1, 7,
                       2 * JSP_SINK_BLOCK + 5, JSP_SINK_BLOCK - 7, 8 };
    size_t at = 0, wrong = 0;
    start();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memset(block, (int)('a' + i), sizes[i]);
        jsp_sink_put(&sink, block, sizes[i]);
        at += sizes[i];
    }
    CHECK_EQ(sink.total, at);
    CHECK_EQ(jsp_sink_flush(&sink), 0);
    CHECK_EQ(bytes.n, at);
    at = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizes[i]; k++)
            wrong += bytes.at[at++] != (char)('a' + i);
    CHECK_EQ(wrong, 0);
}

static int sink_calls;
static int full(void *context, const void *at, size_t n)
{
    (void)context, (void)at, (void)n;
    sink_calls++;
    return -28;
}

TEST(the_first_failure_is_kept_and_nothing_is_written_after_it)
{
    jsp_sink_init(&sink, full, NULL);
    for (int i = 0; i < 3 * JSP_SINK_BLOCK; i++)
        jsp_sink_byte(&sink, 'x');
    CHECK_EQ(jsp_sink_flush(&sink), -28);
    CHECK_EQ(sink_calls, 1);
}

static void splits(const char *name, const char *want)
{
    struct jsp_name_parts p = jsp_name_split(name);
    char got[256];
    snprintf(got, sizeof got, "%.*s|%.*s|%u|%u", (int)p.name.len, p.name.at,
             (int)p.file.len, p.file.len ? p.file.at : "", p.line, p.column);
    CHECK_STR(got, want);
}

TEST(a_name_is_split_into_function_file_line_and_column)
{
    splits("f (/a/b.js:12:3)", "f|/a/b.js|12|3");
    splits("f (/a/b.js:12)", "f|/a/b.js|12|0");
    splits("f (b.js:12345:678)", "f|b.js|12345|678");
    splits("f (b.js:999999999)", "f|b.js|999999999|0");
    splits("f (g) (file:///x y.js:1:2)", "f (g)|file:///x y.js|1|2");
    splits("operator() (int)", "operator() (int)||0|0");
    splits("(anonymous)", "(anonymous)||0|0");
    splits("f (:1)", "f (:1)||0|0");
    splits("f (a:)", "f (a:)||0|0");
    splits("f (a:99999999999)", "f (a:99999999999)||0|0");
    splits("/a/b.js:12:3", "/a/b.js:12:3|/a/b.js|12|3"); /* a function without a name */
    splits("b.js:12", "b.js:12|b.js|12|0");
    splits("b.js", "b.js||0|0");
    splits("b:12", "b:12||0|0");
    splits("", "||0|0");
}

TEST(a_name_in_a_line_can_not_leave_it)
{
    start();
    jsp_shown_plain(&sink, "a;b\nc\x1b[1m\xff caf\xc3\xa9 \xef\xbf\xbd \xe2\x80\xae", ';');
    CHECK_STR(written(), "a:b\\x0ac\\x1b[1m\\xff caf\xc3\xa9 \xef\xbf\xbd \\xe2\\x80\\xae");
}

int main(void)
{
    RUN_ALL();
    jsp_bytes_free(&bytes);
    return DONE();
}
