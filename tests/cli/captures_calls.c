/* captures_calls.c - exact calls in the captures for the tests of the tool.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/captures.h"

/* A record of jsprof/calls: its tag and numbers, then texts where there are any. */
static void captures_call(struct builder *b, int tag, int n, const uint64_t *numbers,
                          const char *name, const char *file)
{
    uint8_t data[512] = { (uint8_t)tag };
    size_t at = 1;
    for (int i = 0; i < n; i++)
        at += build_varint(data + at, numbers[i]);
    for (int i = 0; i < 2 && name; i++) {
        const char *text = i ? file : name;
        at += build_varint(data + at, strlen(text));
        memcpy(data + at, text, strlen(text));
        at += strlen(text);
    }
    build_chunk(b, "jsprof/calls", data, at);
}

#define CALL(tag, ...) \
    captures_call(b, tag, (int)(sizeof((uint64_t[]){ __VA_ARGS__ }) / 8), \
                  (uint64_t[]){ __VA_ARGS__ }, NULL, NULL)
enum { CALL_FUNCTION = 1, CALL_ROW, CALL_EDGE, CALL_MODE, CALL_COMMIT };

static void captures_call_names(struct builder *b, uint64_t line, const char *third,
                                uint64_t kind)
{
    captures_call(b, CALL_FUNCTION, 3, (uint64_t[]){ 3, 0, 1 }, "main", "/srv/a.js");
    captures_call(b, CALL_FUNCTION, 3, (uint64_t[]){ 4, 0, line }, "fib\033[31m, \"x\"",
                  "/srv/a.js");
    captures_call(b, CALL_FUNCTION, 3, (uint64_t[]){ 5, kind, 0 }, third, "");
}

/* Ticks are half a nanosecond. Later rows replace earlier ones; rows without a commit after
 * them do not count. */
void captures_write_calls(struct builder *b)
{
    CALL(CALL_MODE, 1000000000, 15);
    captures_call_names(b, 5, "collector", 3);
    CALL(CALL_ROW, 4, 1, 2, 3, 4, 5);
    CALL(CALL_COMMIT, 3, 1100000000, 1000000000, 0);
    CALL(CALL_ROW, 3, 1, 20000000, 400000000, 100, 5000);
    CALL(CALL_ROW, 4, 1000, 360000000, 380000000, 4900, 4900);
    CALL(CALL_ROW, 5, 2, 20000000, 20000000, 0, 0);
    CALL(CALL_EDGE, 1, 3, 1, 400000000);
    CALL(CALL_EDGE, 3, 4, 1, 380000000);
    CALL(CALL_EDGE, 4, 4, 999, 370000000);
    CALL(CALL_EDGE, 4, 5, 2, 20000000);
    CALL(CALL_EDGE, 0, 0, 7, 2000);
    CALL(CALL_COMMIT, 20, 1500000000, 2000000000, 1, 400000000, 30000000, 20000000, 2, 1, 0,
         7, 3, 2, 0, 5, 0, 0, 1003, 5000, 10, 12);
    CALL(CALL_ROW, 4, 99999, 1, 1, 0, 0);
}

void captures_write_calls2(struct builder *b)
{
    CALL(CALL_MODE, 1000000000, 3);
    captures_call_names(b, 9, "sort", 2);
    CALL(CALL_ROW, 3, 1, 10000000, 400000000, 0, 0);
    CALL(CALL_ROW, 4, 2000, 300000000, 380000000, 0, 0);
    CALL(CALL_ROW, 5, 5, 90000000, 90000000, 0, 0);
    CALL(CALL_MODE, 1250000000, 0);
    /* A field more than there are, and a commit that is short. */
    CALL(CALL_COMMIT, 21, 1400000000, 1000000000, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
         1, 1, 1, 77);
    CALL(CALL_COMMIT, 4, 1500000000, 1000000000, 0, 400000000);
}

/* What took nearly all the time before takes next to none. */
void captures_write_calls3(struct builder *b)
{
    CALL(CALL_MODE, 1000000000, 3);
    captures_call_names(b, 5, "collector", 3);
    CALL(CALL_ROW, 3, 1, 390000000, 400000000, 0, 0);
    CALL(CALL_ROW, 4, 500, 10000000, 10000000, 0, 0);
    CALL(CALL_COMMIT, 17, 1500000000, 1000000000, 0, 400000000, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0,
         0, 501);
}

/* main -> even -> odd -> even -> odd, 40 ns each but main's 100; odd calls itself, too.
 * Two functions of one name and file. */
void captures_write_circle(struct builder *b)
{
    CALL(CALL_MODE, 1000000000, 15);
    captures_call(b, CALL_FUNCTION, 3, (uint64_t[]){ 3, 0, 1 }, "main", "c.js");
    captures_call(b, CALL_FUNCTION, 3, (uint64_t[]){ 4, 0, 5 }, "fn", "c.js");
    captures_call(b, CALL_FUNCTION, 3, (uint64_t[]){ 5, 0, 9 }, "fn", "c.js");
    CALL(CALL_ROW, 3, 1, 100, 260, 0, 0);
    CALL(CALL_ROW, 4, 2, 80, 160, 0, 0);
    CALL(CALL_ROW, 5, 3, 80, 120, 0, 0);
    CALL(CALL_EDGE, 1, 3, 1, 260);
    CALL(CALL_EDGE, 3, 4, 1, 160);
    CALL(CALL_EDGE, 4, 5, 2, 120);
    CALL(CALL_EDGE, 5, 4, 1, 80);
    CALL(CALL_EDGE, 5, 5, 1, 20);
    CALL(CALL_COMMIT, 17, 1500000000, 1000000000, 0, 260, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6);
}

/* A row of no function, a function written twice, an id too large, a text that is cut. */
void captures_write_badcalls(struct builder *b)
{
    captures_write_calls(b);
    CALL(CALL_ROW, 9, 1, 1, 1, 1, 1);
    captures_call(b, CALL_FUNCTION, 3, (uint64_t[]){ 4, 0, 1 }, "again", "");
    captures_call(b, CALL_FUNCTION, 3, (uint64_t[]){ 1 << 20, 0, 1 }, "large", "");
    CALL(CALL_FUNCTION, 6, 0, 1, 200);
    CALL(CALL_EDGE, 3, 77, 1, 1);
    CALL(6, 1);
    CALL(CALL_COMMIT, 200, 1);
}
