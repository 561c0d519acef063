/* captures.c - writes one named capture to standard output, for the tests of the tool.
 *
 * SPDX-License-Identifier: MIT
 *
 *     captures NAME >FILE        without a NAME: the names there are
 */
#include "cli/captures.h"

static struct builder b;

static void captures_names(void)
{
    build_jit(&b, build_tag(1), "main (/srv/app/start.js:1:1)");
    build_jit(&b, build_tag(2), "work (/srv/app/lib/deep/inside/work.js:20:3)");
    build_jit(&b, build_tag(3), "leaf, \"quoted\" (/srv/app/leaf.js:7:1)");
}

static void captures_start(bool is_big)
{
    build_start(&b, is_big);
    build_process(&b, "host script.x");
    build_metadata(&b, "jsprof.version", "0.1.0");
    build_metadata(&b, "jsprof.clock", "cpu");
    build_metadata(&b, "jsprof.hz", "1000");
    build_metadata(&b, "jsprof.host", "host");
    captures_names();
}

/* Six samples of 10 ms in thread 100, two in thread 200; each stands for two. */
static void captures_samples(void)
{
    static const int which[8] = { 2, 2, 2, 1, 1, 3, 2, 2 };
    uint8_t data[256];
    size_t at = 3;
    memcpy(data, "\1\0\10", 3);
    for (int i = 0; i < 8; i++) {
        uint64_t addrs[3] = { build_tag((uint32_t)which[i]), build_tag(1), 0 };
        b.tid = i < 6 ? 100 : 200;
        build_sample(&b, which[i] == 1 ? addrs + 1 : addrs, which[i] == 1 ? 1 : 2);
        at += build_varint(data + at, 2);
        at += build_varint(data + at, 10000000);
        at += build_varint(data + at, 0);
        at += build_varint(data + at, 1);
        at += build_varint(data + at, (uint64_t)(20 + which[i]));
    }
    build_chunk(&b, "jsprof/samples", data, at);
}

static void captures_losses(const char *text)
{
    build_chunk(&b, "jsprof/losses", text, strlen(text));
}

static const char captures_thread_one[] =
    "thread id=1 tid=100 name=main expirations=15 kept=12 samples=6 lost_ring=2 "
    "lost_paused=1 lost_late=0 lost_write=0 lost_stack=0 cpu_ns=12000000 "
    "wall_ns=24000000\n";
static const char captures_thread_two[] =
    "thread id=2 tid=200 name=helper%20two expirations=4 kept=4 samples=2 "
    "cpu_ns=4000000 wall_ns=24000000\n";

static void captures_whole(const char *state)
{
    char text[1024];
    captures_samples();
    snprintf(text, sizeof text, "session state=%s time=9000000 hz=1000 clock=cpu\n%s%s",
             state, captures_thread_one, captures_thread_two);
    captures_losses(text);
}

static void captures_good(void)
{
    captures_start(false);
    captures_whole("final");
}

static void captures_big(void)
{
    captures_start(true);
    captures_whole("final");
}

static void captures_killed(void)
{
    captures_start(false);
    captures_whole("running");
    build_put(&b, 80, 0, 8);
}

static void captures_unbalanced(void)
{
    captures_good();
    captures_losses("thread id=1 tid=100 name=main expirations=99 kept=12 lost_ring=3\n");
}

static void captures_missing(void)
{
    captures_good();
    captures_losses("thread id=1 tid=100 name=main expirations=50 kept=50\n");
}

static void captures_nameless(void)
{
    captures_good();
    captures_losses("session state=final time=9000000 hz=1000 clock=cpu labels_lost=3 "
                    "labels_cut=1 addresses_missed=1234\n");
}

static void captures_foreign(void)
{
    static const uint64_t addrs[5] = { (uint64_t)-128, 0xffffffff81001000u,
                                       (uint64_t)-512, 0x7f0000001500u, 0x400100u };
    build_start(&b, false);
    build_process(&b, "/usr/bin/other");
    build_map(&b, 0x400000, 0x500000, "/usr/bin/other");
    build_map(&b, 0x7f0000000000u, 0x7f0000010000u, "/usr/lib/libfoo.so.1");
    build_sample(&b, addrs, 5);
    build_sample(&b, addrs + 3, 2);
}

/* Samples of ours that went into another program's recording, without our files: the clock
 * is named, and a sample may stand for many of its ticks. */
static void captures_passed_on(void)
{
    static const uint64_t addrs[1] = { 0x400100 };
    build_start(&b, false);
    build_metadata(&b, "jsprof.clock", "cpu");
    build_metadata(&b, "jsprof.hz", "1000");
    build_process(&b, "/usr/bin/other");
    build_map(&b, 0x400000, 0x500000, "/usr/bin/other");
    build_sample(&b, addrs, 1);
    build_sample(&b, addrs, 1);
}

/* Another program under the same process number. */
static void captures_foreign2(void)
{
    static const uint64_t addrs[2] = { 0x400200, 0x400100 };
    build_start(&b, false);
    build_process(&b, "/usr/bin/third");
    build_map(&b, 0x400000, 0x500000, "/usr/bin/third");
    build_sample(&b, addrs, 2);
    build_sample(&b, addrs, 2);
}

/* An hour after good by the time of day, on a clock that began much later. */
static void captures_otherboot(void)
{
    const uint64_t addr = build_tag(1);
    uint8_t data[64];
    size_t n = 3;
    captures_start(false);
    memcpy(b.bytes + 8, "2026-01-02T04:04:05Z", 20);
    build_put(&b, 72, 5000000, 8);
    build_put(&b, 80, 90000000, 8);
    b.time = 11000000;
    b.tid = 300;
    memcpy(data, "\1\0\1", 3);
    for (int i = 0; i < 4; i++)
        n += build_varint(data + n, (const uint64_t[4]){ 1, 10000000, 0, 0 }[i]);
    build_sample(&b, &addr, 1);
    build_chunk(&b, "jsprof/samples", data, n);
    const char *text = "thread id=1 tid=300 name=later expirations=1 kept=1 samples=1\n";
    build_chunk(&b, "jsprof/losses", text, strlen(text));
}

static void captures_evil(void)
{
    const uint64_t evil[4] = { build_tag(9), build_tag(10), build_tag(11),
                               build_tag(12) };
    captures_start(false);
    build_process(&b, "\033]0;title\007 host");
    build_jit(&b, evil[0], "\033[31mred\033[0m\rover\b\t(a\nb)");
    build_jit(&b, evil[1], "bad \xff\xc3( utf8 \xc0\xaf");
    build_jit(&b, evil[2],
              "rtl \xe2\x80\xae"
              "evil \xc2\x9b"
              "31m");
    build_jit(&b, evil[3], "caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac");
    for (int i = 0; i < 4; i++)
        build_sample(&b, evil + i, 1);
}

static void captures_defects(void)
{
    captures_start(false);
    captures_samples();
    build_sample(&b, NULL, 0);
    build_begin(&b, 99);
    build_end(&b);
    build_begin(&b, 2);
    build_int(&b, 500, 2);
    build_end(&b);
    build_begin(&b, 7);
    build_int(&b, 7, 4);
    build_raw(&b, "12345678abcdefghijkl", 20);
    build_end(&b);
    build_chunk(&b, "jsprof/samples", "\1\0\377", 3);
    build_chunk(&b, "jsprof/losses", "nonsense\n", 9);
    build_begin(&b, 4);
    b.size -= 3;
}

/* main -> outer -> inner -> helper, both interpreted by run_loop; then without the
 * helper; then only the loop. Walks that ended in several ways. */
static void captures_merged(void)
{
    static const char *const names[] = { "main", "run_loop", "helper" };
    const uint64_t addrs[6] = { 0x403010, 0x401010,     build_tag(2),
                                0x401020, build_tag(1), 0x400510 };
    uint8_t symbols[4 * 32 + 64] = { 0 }, loop[16];
    size_t text = 4 * 32 + 1, n = build_varint(loop, 0x401000);
    n += build_varint(loop + n, 0x402000);
    captures_start(false);
    build_map(&b, 0x400000, 0x500000, "/srv/bin/host");
    for (uint32_t i = 0; i < 3; i++) {
        const uint64_t starts[3] = { 0x400500, 0x401000, 0x403000 };
        uint64_t range[2] = { starts[i], starts[i] + 0x100 };
        uint32_t rest[2] = { 100, (uint32_t)text };
        memcpy(symbols + 32 * i, range, sizeof range);
        memcpy(symbols + 32 * i + 16, rest, sizeof rest);
        text += strlen(strcpy((char *)symbols + text, names[i])) + 1;
    }
    build_sample(&b, addrs, 6);
    build_sample(&b, addrs + 1, 5);
    build_sample(&b, addrs + 1, 5);
    build_sample(&b, addrs + 3, 1);
    build_chunk(&b, "jsprof/loops", loop, n);
    build_chunk(&b, "__symbols__", symbols, text);
    captures_losses("thread id=1 tid=100 name=main expirations=4 kept=4 samples=4 frames_bad=7 "
                    "stop_end=9997 stop_full=0 stop_no_table=2 stop_stack=1\n");
}

static size_t captures_row(uint8_t *to, const uint64_t numbers[3], uint64_t target,
                           const char *text)
{
    size_t n = 0;
    for (int i = 0; i < 3; i++)
        n += build_varint(to + n, numbers[i]);
    n += build_varint(to + n, target != 0);
    if (target)
        n += build_varint(to + n, target);
    n += build_varint(to + n, strlen(text));
    memcpy(to + n, text, strlen(text));
    return n + strlen(text);
}

/* The listing of `work`, its rows in two records. */
static void captures_rows(void)
{
    static const char name[] = "work (/srv/app/lib/deep/inside/work.js:20:3)";
    uint8_t data[256];
    size_t n = 0;
    memcpy(data, "\1\7\4\54", 4);
    memcpy(data + 4, name, sizeof name - 1);
    build_chunk(&b, "jsprof/listings", data, 4 + sizeof name - 1);
    memcpy(data, "\2\7\0\3", n = 4);
    n += captures_row(data + n, (const uint64_t[]){ 10, 20, 0 }, 0, "push 1");
    n += captures_row(data + n, (const uint64_t[]){ 12, 21, 0 }, 18, "unless \"18\"");
    n += captures_row(data + n, (const uint64_t[]){ 16, 22, 1 }, 10, "again\033[31m 10");
    build_chunk(&b, "jsprof/listings", data, n);
    memcpy(data, "\2\7\3\1", n = 4);
    n += captures_row(data + n, (const uint64_t[]){ 18, 23, 1 }, 0, "return");
    build_chunk(&b, "jsprof/listings", data, n);
}

/* And the row of each of its samples: 16, 16, 12; 16; none. */
static void captures_listing(void)
{
    captures_good();
    captures_rows();
    build_chunk(&b, "jsprof/pcs", "\1\0\4" "\0\1\3" "\0\1\3" "\0\1\2" "\3\1\3", 15);
}

/* main -> work, at row 12 -> leaf -> work, at row 16. */
static void captures_nested(void)
{
    const uint64_t addrs[4] = { build_tag(2), build_tag(3), build_tag(2), build_tag(1) };
    captures_start(false);
    build_sample(&b, addrs, 4);
    captures_rows();
    build_chunk(&b, "jsprof/pcs", "\1\0\1" "\0\4\3\0\2\0", 9);
}

/* Claims that are not so: rows out of order, targets nowhere, a block that is cut. */
static void captures_lies(void)
{
    captures_listing();
    build_chunk(&b, "jsprof/listings", "\2\7\3\1\22\27\1\0\0", 9); /* row 3 again */
    build_chunk(&b, "jsprof/listings", "\3\7", 2);
    build_chunk(&b, "jsprof/listings", "\11", 1);
    build_chunk(&b, "jsprof/pcs", "\1\10\377", 3);
}

static void captures_mark(int64_t duration, const char *message)
{
    build_begin(&b, 10);
    build_int(&b, (uint64_t)duration, 8);
    build_text(&b, "gc", 24);
    build_text(&b, "sweep", 40);
    build_text(&b, message, 0);
    build_end(&b);
}

static void captures_define(uint32_t id, const char *const texts[3], bool is_real)
{
    build_begin(&b, 8);
    build_int(&b, 1, 2);
    build_zero(&b, 6);
    build_text(&b, texts[0], 32);
    build_text(&b, texts[1], 32);
    build_text(&b, texts[2], 52);
    build_int(&b, b.is_big ? id << 8 | is_real : id | (uint32_t)is_real << 24, 4);
    build_zero(&b, 8);
    build_end(&b);
}

static void captures_value(uint32_t id, uint64_t bits)
{
    build_begin(&b, 9);
    build_int(&b, 1, 2);
    build_zero(&b, 6);
    build_int(&b, id, 4);
    build_zero(&b, 28);
    build_int(&b, bits, 8);
    build_zero(&b, 56);
    build_end(&b);
}

/* Every text that a capture can hold is one for a terminal to obey. */
static const char captures_text[] = "\033[31mx\033[0m\r";

static void captures_hostile(void)
{
    const uint64_t addrs[3] = { build_tag(1), 0x400100, build_tag(2) };
    build_start(&b, false);
    build_process(&b, captures_text);
    build_metadata(&b, "jsprof.version", captures_text);
    build_metadata(&b, "jsprof.clock", "cpu");
    build_metadata(&b, "jsprof.hz", "1000");
    build_metadata(&b, "jsprof.host", captures_text);
    build_jit(&b, addrs[0], captures_text);
    build_jit(&b, addrs[2], "\033]0;title\007 \xff\xc2\x9b 31m \xe2\x80\xae");
    build_map(&b, 0x400000, 0x500000, "/\033[31mx/\033[31mx");
    for (int i = 0; i < 4; i++)
        build_sample(&b, addrs, 3);
    build_begin(&b, 10);
    build_int(&b, 1000000, 8);
    build_text(&b, captures_text, 24);
    build_text(&b, captures_text, 40);
    build_text(&b, captures_text, 0);
    build_end(&b);
    captures_define(1, (const char *const[3]){ captures_text, captures_text, captures_text },
                    false);
    captures_value(1, 7);
    build_begin(&b, 12);
    build_int(&b, 1, 8);
    build_text(&b, captures_text, 32);
    build_text(&b, captures_text, 0);
    build_end(&b);
    build_chunk(&b, captures_text, "data", 4);
    captures_losses("session state=final time=1 hz=1000 clock=cpu\n"
                    "thread id=1 tid=100 name=%1B[31mx%1B[0m%0D expirations=4 kept=4 "
                    "samples=4\n");
}

/* Marks of 1 to 20 ms, the first at 4 ms, one each millisecond; counters. */
static void captures_events(void)
{
    static const int64_t heap[5] = { 1000, -3, 4000, -7, 2000 };
    double load[2] = { 0.25, 0.75 };
    uint64_t bits[2];
    build_start(&b, false);
    b.time = 1003000000;
    for (int i = 0; i < 20; i++) {
        char message[16];
        snprintf(message, sizeof message, "why %d", i);
        captures_mark((i + 1) * 1000000, message);
    }
    captures_define(7, (const char *const[3]){ "gc", "heap", "bytes" }, false);
    captures_define(8, (const char *const[3]){ "app", "load", "" }, true);
    for (int i = 0; i < 5; i++)
        captures_value(7, (uint64_t)(i == 3 ? -3 : heap[i]));
    memcpy(bits, load, sizeof bits);
    captures_value(8, bits[0]);
    captures_value(8, bits[1]);
    build_process(&b, "host script.x");
    captures_names();
    captures_samples();
}

/* As good, but 200 samples, in which work has all but vanished. */
static void captures_changed(void)
{
    captures_start(false);
    for (int i = 0; i < 200; i++) {
        uint64_t addrs[2] = { build_tag(i < 4 ? 2 : i < 29 ? 3 : 1), build_tag(1) };
        build_sample(&b, i < 29 ? addrs : addrs + 1, i < 29 ? 2 : 1);
    }
}

/* A mark of `ms` from the present moment on. */
static void captures_span(const char *group, const char *name, int ms, const char *message)
{
    build_begin(&b, 10);
    build_int(&b, (uint64_t)ms * 1000000, 8);
    build_text(&b, group, 24);
    build_text(&b, name, 40);
    build_text(&b, message, 0);
    build_end(&b);
}

static const char captures_reattached[] =
    "session state=final time=500000000 hz=1000 clock=wall labels_lost=3 marks_lost=2\n"
    "thread id=1 tid=1000 name=first expirations=100 kept=70 samples=40 lost_ring=1 "
    "lost_paused=2 lost_late=3 lost_write=4 lost_stack=5 lost_blocked=6 lost_undelivered=9 "
    "frames_cut=7 frames_bad=8 underflows=9 stop_end=30 stop_full=4 stop_no_table=5 stop_stack=1 "
    "cpu_ns=80000000 wall_ns=100000000\n"
    "thread id=2 tid=1003 name=second expirations=20 kept=20 samples=20 cpu_ns=20000000 "
    "wall_ns=20000000\n"
    "thread id=3 tid=1000 name=first expirations=50 kept=45 samples=30 lost_late=5 "
    "cpu_ns=40000000 wall_ns=50000000\n";

/* The frames that other programs write, and we only hand on. */
static void captures_others(void)
{
    build_begin(&b, 5); /* FORK */
    build_int(&b, 103, 4);
    build_end(&b);
    build_begin(&b, 12); /* LOG */
    build_int(&b, 4, 2);
    build_zero(&b, 6);
    build_text(&b, "domain", 32);
    build_text(&b, "a message", 0);
    build_end(&b);
    build_begin(&b, 14); /* ALLOCATION */
    build_int(&b, 0x1234, 8);
    build_int(&b, 99, 8);
    build_int(&b, 1001, 4);
    build_int(&b, 2, 2);
    build_zero(&b, 2);
    build_int(&b, 0x400100, 8);
    build_int(&b, build_tag(1), 8);
    build_end(&b);
    build_begin(&b, 15); /* OVERLAY */
    build_int(&b, 1, 4);
    build_int(&b, 4, 2);
    build_int(&b, 4, 2);
    build_raw(&b, "/src\0/dst\0", 10);
    build_end(&b);
    build_begin(&b, 1); /* TIMESTAMP */
    build_end(&b);
    build_begin(&b, 6); /* EXIT */
    build_end(&b);
}

/* 70 threads of three processes, objects of one name in two folders, frames of each kind,
 * losses of each cause, a thread that came twice, spans that nest and overlap. */
static void captures_crowd_of(bool is_big)
{
    static const char *const names[] = { "main (/srv/x.js:1:1)", "[garbage]",
                                         "sort (/srv/x.js:9:2)", "native of host",
                                         "main (/srv/y.js:1:1)" };
    uint8_t kinds[32];
    size_t n = 0;
    build_start(&b, is_big);
    for (int i = 0; i < 3; i++) {
        b.pid = 100 + i;
        build_process(&b, i == 0 ? "/srv/bin/one --flag" : i == 1 ? "/opt/two" : "");
        build_map(&b, 0x400000, 0x500000, i == 1 ? "/opt/two" : "/srv/bin/one");
        build_map(&b, 0x7f0000000000u, 0x7f0000010000u, "/usr/lib/x/libsame.so.1");
        build_map(&b, 0x7f0000010000u, 0x7f0000020000u, "/opt/lib/libsame.so.1");
        build_map(&b, 0x7f0000020000u, 0x7f0000030000u, "[vdso]");
    }
    b.pid = 100;
    build_metadata(&b, "jsprof.version", "0.0.9");
    build_metadata(&b, "jsprof.clock", "wall");
    build_metadata(&b, "jsprof.hz", "1000");
    build_metadata(&b, "jsprof.host", "h");
    for (uint32_t i = 0; i < 5; i++) {
        build_jit(&b, build_tag(i + 1), names[i]);
        n += build_varint(kinds + n, i + 1);
        n += build_varint(kinds + n, (const uint64_t[]){ 1, 3, 0, 2, 1 }[i]);
    }
    build_chunk(&b, "jsprof/frames", kinds, n);
    for (int i = 0; i < 70; i++)
        for (int k = 0; k <= i % 3; k++) {
            const uint64_t addrs[6] = { build_tag(2 + (uint32_t)(i + k) % 4),
                                        0x400100 + 16 * (uint64_t)(i % 4),
                                        0x7f0000000500u + (uint64_t)k, 0x7f0000010500u,
                                        i % 7 ? build_tag(1) : 0x7f0000020010u, 0x400010 };
            b.pid = 100 + i % 3;
            b.tid = 1000 + i;
            build_sample(&b, addrs + i % 3, 6 - i % 3);
            if (i % 10 == 0)
                captures_span(i % 20 ? "loop" : "gc", k % 2 ? "inner" : "outer", 5 - k,
                              k ? "" : "m");
        }
    b.pid = 100;
    captures_losses(captures_reattached);
    captures_others();
    b.pid = 101;
    captures_losses("thread id=4 tid=1001 name=other expirations=3 kept=2 lost_blocked=1\n");
    captures_define(3, (const char *const[3]){ "loop", "depth", "turns" }, false);
    for (uint64_t i = 0; i < 5; i++)
        captures_value(3, i * i);
}

static void captures_crowd(void)
{
    captures_crowd_of(false);
}

static void captures_crowd_big(void)
{
    captures_crowd_of(true);
}

static void captures_calls(void)
{
    captures_start(false);
    captures_write_calls(&b);
}

/* Another process wrote counts into the same capture. */
static void captures_calls_others(void)
{
    captures_calls();
    b.pid = 101;
    captures_write_calls3(&b);
}

static void captures_calls2(void)
{
    captures_start(true);
    captures_write_calls2(&b);
}

static void captures_calls3(void)
{
    captures_start(false);
    captures_write_calls3(&b);
}

static void captures_circle(void)
{
    captures_start(false);
    captures_write_circle(&b);
}

static void captures_badcalls(void)
{
    captures_start(false);
    captures_write_badcalls(&b);
}

static void captures_empty(void)
{
    captures_start(false);
}

static const struct {
    const char *name;
    void (*write)(void);
} captures[] = {
    { "good", captures_good },       { "big", captures_big },
    { "killed", captures_killed },   { "unbalanced", captures_unbalanced },
    { "missing", captures_missing }, { "foreign", captures_foreign },
    { "evil", captures_evil },       { "defects", captures_defects },
    { "empty", captures_empty },     { "merged", captures_merged },
    { "listing", captures_listing }, { "nested", captures_nested }, { "lies", captures_lies },
    { "foreign2", captures_foreign2 }, { "otherboot", captures_otherboot },
    { "hostile", captures_hostile }, { "events", captures_events },
    { "changed", captures_changed },   { "calls", captures_calls },
    { "calls2", captures_calls2 },     { "badcalls", captures_badcalls },
    { "calls3", captures_calls3 },     { "circle", captures_circle },
    { "callsothers", captures_calls_others },
    { "nameless", captures_nameless }, { "passedon", captures_passed_on },
    { "crowd", captures_crowd },       { "crowdbig", captures_crowd_big },
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof captures / sizeof *captures; i++) {
        if (argc < 2)
            puts(captures[i].name);
        else if (strcmp(captures[i].name, argv[1]) == 0)
            captures[i].write();
    }
    size_t written = b.bytes ? fwrite(b.bytes, 1, b.size, stdout) : 0;
    free(b.bytes);
    return argc > 1 && (!b.size || written != b.size);
}
