/* kinds.c - captures for the tests of exports, to standard output.
 *
 * SPDX-License-Identifier: MIT
 *
 *     kinds every      all kinds of frames, three threads in two processes, marks, counters
 *     kinds hostile    the same with names that try to break out of each format
 *     kinds crowd      150,000 processes, a thread, a function and a sample each
 *     kinds threads    the same threads in one process
 *     kinds back       samples of one thread that are in the file from last to first
 */
#include "unit/capture_builder.h"

enum { KINDS_CROWD = 150000 };
enum { KINDS_MAIN = 1, KINDS_WORK, KINDS_WAIT, KINDS_GC, KINDS_N };

struct kinds_names {
    const char *command, *thread; /* of process and, percent-encoded, of its first thread */
    const char *functions[KINDS_N], *natives[2];
    const char *group, *mark, *message, *counter;
};

static const struct kinds_names kinds_every = {
    .command = "host script.x",
    .thread = "main",
    .functions = { NULL, "start (/srv/app.js:1:1)", "work (/srv/lib.js:20:3)", "wait",
                   "collect" },
    .natives = { "run", "allocate" },
    .group = "gc",
    .mark = "sweep",
    .message = "full",
    .counter = "heap",
};

static const struct kinds_names kinds_hostile = {
    .command = "\033]0;gotcha\007</script>\"\\\n host",
    .thread = "%1b%5b31mred%0a%22%3c/script%3e;%ff",
    .functions = { NULL, "start\033[31m;\n\t\"</script><script>alert(1)</script>\\ (/a;b.js:1:1)",
                   "work\xff\xc3(\xed\xa0\x80,'%s%n{}[] (/srv/\"lib\".js:20:3)",
                   "wait\xe2\x80\xae"
                   "evil\xc2\x9b"
                   "31m = cmd|' /C calc'!A0",
                   "collect\r\b\x7f \xe2\x80\xa8 (not a place" },
    .natives = { "run\033[2J (char const*) 7", "allocate;\n}]}" },
    .group = "g\"c\033[0m</b>",
    .mark = "sweep\n\xff</script>",
    .message = "full\033[31m\"}]\\",
    .counter = "heap\033\"\\\xff",
};

static struct builder b;
static uint8_t kinds_records[1024];
static size_t kinds_used;
static unsigned kinds_count;

/* One sample, leaf first, that counts two expirations and so many ms. */
static void kinds_sample(const uint64_t *addrs, int n, uint64_t ms)
{
    build_sample(&b, addrs, n);
    kinds_count++;
    kinds_used += build_varint(kinds_records + kinds_used, 2);
    kinds_used += build_varint(kinds_records + kinds_used, ms * 1000000);
    kinds_used += build_varint(kinds_records + kinds_used, 0);
    kinds_used += build_varint(kinds_records + kinds_used, 1);
    kinds_used += build_varint(kinds_records + kinds_used, 42);
}

static void kinds_samples(void)
{
    const uint64_t c = 0x400510, libc = 0x7f0000000110u, start = build_tag(KINDS_MAIN);
    const uint64_t work = build_tag(KINDS_WORK), wait = build_tag(KINDS_WAIT);
    const uint64_t gc = build_tag(KINDS_GC), kernel = (uint64_t)-128, user = (uint64_t)-512;
    for (int i = 0; i < 3; i++)
        kinds_sample((const uint64_t[]){ work, start, c }, 3, 10);
    for (int i = 0; i < 2; i++)
        kinds_sample((const uint64_t[]){ start, c }, 2, 10);
    kinds_sample((const uint64_t[]){ libc, work, start, c }, 4, 20);
    kinds_sample((const uint64_t[]){ kernel, 0xffffffff81000000u, user, start, c }, 5, 10);
    kinds_sample((const uint64_t[]){ gc, c }, 2, 30);
    b.tid = 200;
    kinds_sample((const uint64_t[]){ wait }, 1, 10);
    b.pid = b.tid = 300;
    for (int i = 0; i < 2; i++)
        kinds_sample((const uint64_t[]){ start }, 1, 10);
    b.pid = b.tid = 100;
}

static void kinds_symbols(const struct kinds_names *n)
{
    static const uint64_t starts[2] = { 0x400500, 0x7f0000000100u };
    uint8_t symbols[3 * 32 + 256] = { 0 };
    size_t text = 3 * 32 + 1;
    for (int i = 0; i < 2; i++) {
        uint64_t range[2] = { starts[i], starts[i] + 0x100 };
        uint32_t rest[2] = { 100, (uint32_t)text };
        memcpy(symbols + 32 * i, range, sizeof range);
        memcpy(symbols + 32 * i + 16, rest, sizeof rest);
        text += strlen(strcpy((char *)symbols + text, n->natives[i])) + 1;
    }
    build_chunk(&b, "__symbols__", symbols, text);
}

static void kinds_tables(const struct kinds_names *n)
{
    static const uint8_t kinds[KINDS_N] = { 0, 0, 1, 2, 3 };
    uint8_t data[64] = { 1 };
    size_t at = 0;
    for (uint32_t i = 1; i < KINDS_N; i++) {
        b.pid = 100;
        build_jit(&b, build_tag(i), n->functions[i]);
        at += build_varint(data + at, i);
        at += build_varint(data + at, kinds[i]);
    }
    b.pid = 300;
    build_process(&b, "child");
    build_jit(&b, build_tag(KINDS_MAIN), n->functions[KINDS_MAIN]);
    b.pid = 100;
    build_chunk(&b, "jsprof/frames", data, at);
}

static void kinds_counter(const struct kinds_names *n)
{
    static const uint64_t values[3] = { 1000, 400, 2500 };
    build_counter(&b, 7, (const char *const[3]){ n->group, n->counter, "bytes in use" }, false);
    for (int i = 0; i < 3; i++)
        build_value(&b, 7, values[i]);
}

static void kinds_write(const struct kinds_names *n)
{
    char losses[512];
    uint8_t block[1100] = { 1, 0 };
    build_start(&b, false);
    build_process(&b, n->command);
    build_metadata(&b, "jsprof.version", "0.1.0");
    build_metadata(&b, "jsprof.clock", "cpu");
    build_metadata(&b, "jsprof.hz", "100");
    build_metadata(&b, "jsprof.host", "host");
    build_map(&b, 0x400000, 0x500000, "/srv/bin/host");
    build_map(&b, 0x7f0000000000u, 0x7f0000010000u, "/usr/lib/libc.so.6");
    kinds_tables(n);
    build_mark(&b, 2000000, n->group, n->mark, n->message);
    build_mark(&b, 0, n->group, n->mark, n->message);
    kinds_samples();
    kinds_counter(n);
    size_t at = 2 + build_varint(block + 2, kinds_count);
    memcpy(block + at, kinds_records, kinds_used);
    build_chunk(&b, "jsprof/samples", block, at + kinds_used);
    kinds_symbols(n);
    snprintf(losses, sizeof losses,
             "session state=final time=9000000 hz=100 clock=cpu\n"
             "thread id=1 tid=100 name=%s expirations=17 kept=16 lost_ring=1\n"
             "thread id=2 tid=200 name=helper expirations=2 kept=2\n",
             n->thread);
    build_chunk(&b, "jsprof/losses", losses, strlen(losses));
}

static void kinds_crowd(bool is_process_each)
{
    build_start(&b, false);
    for (int i = 0; i < KINDS_CROWD; i++) {
        char command[32];
        b.tid = 100 + i;
        snprintf(command, sizeof command, "prog%d", i);
        if (is_process_each)
            b.pid = b.tid;
        if (is_process_each || i == 0)
            build_process(&b, command);
        build_jit(&b, build_tag((uint32_t)i), command);
        build_sample(&b, (const uint64_t[]){ build_tag((uint32_t)i) }, 1);
    }
}

static void kinds_back(void)
{
    build_start(&b, false);
    for (int i = 3; i > 0; i--) {
        b.time = 1000000000 * (int64_t)i;
        build_sample(&b, (const uint64_t[]){ build_tag(KINDS_MAIN) }, 1);
    }
}

static bool kinds_choose(const char *name)
{
    if (strcmp(name, "back") == 0)
        kinds_back();
    else if (strcmp(name, "crowd") == 0)
        kinds_crowd(true);
    else if (strcmp(name, "threads") == 0)
        kinds_crowd(false);
    else if (strcmp(name, "hostile") == 0)
        kinds_write(&kinds_hostile);
    else if (strcmp(name, "every") == 0)
        kinds_write(&kinds_every);
    return b.size > 0;
}

int main(int argc, char **argv)
{
    if (argc != 2 || !kinds_choose(argv[1])) {
        fputs("usage: kinds every|hostile|crowd|threads|back >FILE\n", stderr);
        return 2;
    }
    size_t written = fwrite(b.bytes, 1, b.size, stdout);
    bool is_whole = written == b.size;
    free(b.bytes);
    return !is_whole;
}
