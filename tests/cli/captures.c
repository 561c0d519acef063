/* captures.c - writes one named capture to standard output, for the tests of the tool.
 *
 * SPDX-License-Identifier: MIT
 *
 *     captures NAME >FILE             without a NAME: the names there are
 *     captures of FUNCTION=LINE...    a sample of 10 ms of each function at that line
 */
#include "cli/captures.h"

void captures_names(struct builder *b)
{
    build_jit(b, build_tag(1), "main (/srv/app/start.js:1:1)");
    build_jit(b, build_tag(2), "work (/srv/app/lib/deep/inside/work.js:20:3)");
    build_jit(b, build_tag(3), "leaf, \"quoted\" (/srv/app/leaf.js:7:1)");
}

void captures_start(struct builder *b, bool is_big)
{
    build_start(b, is_big);
    build_process(b, "host script.x");
    build_metadata(b, "jsprof.version", "0.1.0");
    build_metadata(b, "jsprof.clock", "cpu");
    build_metadata(b, "jsprof.hz", "1000");
    build_metadata(b, "jsprof.host", "host");
    captures_names(b);
}

/* Six samples of 10 ms in thread 100, two in thread 200; each has weight 2. */
void captures_samples(struct builder *b)
{
    static const int which[8] = { 2, 2, 2, 1, 1, 3, 2, 2 };
    uint8_t data[256];
    size_t at = 3;
    memcpy(data, "\1\0\10", 3);
    for (int i = 0; i < 8; i++) {
        uint64_t addrs[3] = { build_tag((uint32_t)which[i]), build_tag(1), 0 };
        b->tid = i < 6 ? 100 : 200;
        build_sample(b, which[i] == 1 ? addrs + 1 : addrs, which[i] == 1 ? 1 : 2);
        at += build_varint(data + at, 2);
        at += build_varint(data + at, 10000000);
        at += build_varint(data + at, 0);
        at += build_varint(data + at, 1);
        at += build_varint(data + at, (uint64_t)(20 + which[i]));
    }
    build_chunk(b, "jsprof/samples", data, at);
}

void captures_losses(struct builder *b, const char *text)
{
    build_chunk(b, "jsprof/losses", text, strlen(text));
}

static const char captures_thread_one[] =
    "thread id=1 tid=100 name=main expirations=15 kept=12 samples=6 lost_ring=2 "
    "lost_paused=1 lost_late=0 lost_write=0 lost_stack=0 cpu_ns=12000000 "
    "wall_ns=24000000\n";
static const char captures_thread_two[] =
    "thread id=2 tid=200 name=helper%20two expirations=4 kept=4 samples=2 "
    "cpu_ns=4000000 wall_ns=24000000\n";

static void captures_whole(struct builder *b, const char *state)
{
    char text[1024];
    captures_samples(b);
    snprintf(text, sizeof text, "session state=%s time=9000000 hz=1000 clock=cpu\n%s%s",
             state, captures_thread_one, captures_thread_two);
    captures_losses(b, text);
}

void captures_good(struct builder *b)
{
    captures_start(b, false);
    captures_whole(b, "final");
}

static void captures_big(struct builder *b)
{
    captures_start(b, true);
    captures_whole(b, "final");
}

static void captures_killed(struct builder *b)
{
    captures_start(b, false);
    captures_whole(b, "running");
    build_put(b, 80, 0, 8);
}

/* Threads that ended before a signal came, as thousands of short ones do. */
static void captures_ended(struct builder *b)
{
    captures_good(b);
    captures_losses(b, "thread id=3 tid=300 name=short expirations=30 lost_undelivered=30\n"
                    "thread id=4 tid=301 name=short expirations=30 lost_undelivered=30\n");
}

static void captures_unbalanced(struct builder *b)
{
    captures_good(b);
    captures_losses(b, "thread id=1 tid=100 name=main expirations=99 kept=12 lost_ring=3\n");
}

static void captures_missing(struct builder *b)
{
    captures_good(b);
    captures_losses(b, "thread id=1 tid=100 name=main expirations=50 kept=50\n");
}

static void captures_nameless(struct builder *b)
{
    captures_good(b);
    captures_losses(b, "session state=final time=9000000 hz=1000 clock=cpu labels_lost=3 "
                    "labels_cut=1 addresses_missed=1234\n");
}

static void captures_foreign(struct builder *b)
{
    static const uint64_t addrs[5] = { (uint64_t)-128, 0xffffffff81001000u,
                                       (uint64_t)-512, 0x7f0000001500u, 0x400100u };
    build_start(b, false);
    build_process(b, "/usr/bin/other");
    build_map(b, 0x400000, 0x500000, "/usr/bin/other");
    build_map(b, 0x7f0000000000u, 0x7f0000010000u, "/usr/lib/libfoo.so.1");
    build_sample(b, addrs, 5);
    build_sample(b, addrs + 3, 2);
}

/* Samples of ours in another program's recording, without our files: the clock has a name,
 * and a sample may count many of its ticks. */
static void captures_passed_on(struct builder *b)
{
    static const uint64_t addrs[1] = { 0x400100 };
    build_start(b, false);
    build_metadata(b, "jsprof.clock", "cpu");
    build_metadata(b, "jsprof.hz", "1000");
    build_process(b, "/usr/bin/other");
    build_map(b, 0x400000, 0x500000, "/usr/bin/other");
    build_sample(b, addrs, 1);
    build_sample(b, addrs, 1);
}

/* Another program under the same process number. */
static void captures_foreign2(struct builder *b)
{
    static const uint64_t addrs[2] = { 0x400200, 0x400100 };
    build_start(b, false);
    build_process(b, "/usr/bin/third");
    build_map(b, 0x400000, 0x500000, "/usr/bin/third");
    build_sample(b, addrs, 2);
    build_sample(b, addrs, 2);
}

/* An hour after good by the time of day, on a clock that began much later. */
static void captures_otherboot(struct builder *b)
{
    const uint64_t addr = build_tag(1);
    uint8_t data[64];
    size_t n = 3;
    captures_start(b, false);
    memcpy(b->bytes + 8, "2026-01-02T04:04:05Z", 20);
    build_put(b, 72, 5000000, 8);
    build_put(b, 80, 90000000, 8);
    b->time = 11000000;
    b->tid = 300;
    memcpy(data, "\1\0\1", 3);
    for (int i = 0; i < 4; i++)
        n += build_varint(data + n, (const uint64_t[4]){ 1, 10000000, 0, 0 }[i]);
    build_sample(b, &addr, 1);
    build_chunk(b, "jsprof/samples", data, n);
    const char *text = "thread id=1 tid=300 name=later expirations=1 kept=1 samples=1\n";
    build_chunk(b, "jsprof/losses", text, strlen(text));
}

static void captures_evil(struct builder *b)
{
    const uint64_t evil[4] = { build_tag(9), build_tag(10), build_tag(11),
                               build_tag(12) };
    captures_start(b, false);
    build_process(b, "\033]0;title\007 host");
    build_jit(b, evil[0], "\033[31mred\033[0m\rover\b\t(a\nb)");
    build_jit(b, evil[1], "bad \xff\xc3( utf8 \xc0\xaf");
    build_jit(b, evil[2],
              "rtl \xe2\x80\xae"
              "evil \xc2\x9b"
              "31m");
    build_jit(b, evil[3], "caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac");
    for (int i = 0; i < 4; i++)
        build_sample(b, evil + i, 1);
}

static void captures_defects(struct builder *b)
{
    captures_start(b, false);
    captures_samples(b);
    build_sample(b, NULL, 0);
    build_begin(b, 99);
    build_end(b);
    build_begin(b, 2);
    build_int(b, 500, 2);
    build_end(b);
    build_begin(b, 7);
    build_int(b, 7, 4);
    build_raw(b, "12345678abcdefghijkl", 20);
    build_end(b);
    build_chunk(b, "jsprof/samples", "\1\0\377", 3);
    build_chunk(b, "jsprof/losses", "nonsense\n", 9);
    build_begin(b, 4);
    b->size -= 3;
}

/* main -> outer -> inner -> helper, both interpreted by run_loop; then without the
 * helper; then only the loop. Walks that ended in several ways. */
static void captures_merged(struct builder *b)
{
    static const char *const names[] = { "main", "run_loop", "helper" };
    const uint64_t addrs[6] = { 0x403010, 0x401010,     build_tag(2),
                                0x401020, build_tag(1), 0x400510 };
    uint8_t symbols[4 * 32 + 64] = { 0 }, loop[16];
    size_t text = 4 * 32 + 1, n = build_varint(loop, 0x401000);
    n += build_varint(loop + n, 0x402000);
    captures_start(b, false);
    build_map(b, 0x400000, 0x500000, "/srv/bin/host");
    for (uint32_t i = 0; i < 3; i++) {
        const uint64_t starts[3] = { 0x400500, 0x401000, 0x403000 };
        uint64_t range[2] = { starts[i], starts[i] + 0x100 };
        uint32_t rest[2] = { 100, (uint32_t)text };
        memcpy(symbols + 32 * i, range, sizeof range);
        memcpy(symbols + 32 * i + 16, rest, sizeof rest);
        text += strlen(strcpy((char *)symbols + text, names[i])) + 1;
    }
    build_sample(b, addrs, 6);
    build_sample(b, addrs + 1, 5);
    build_sample(b, addrs + 1, 5);
    build_sample(b, addrs + 3, 1);
    build_chunk(b, "jsprof/loops", loop, n);
    build_chunk(b, "__symbols__", symbols, text);
    captures_losses(b, "thread id=1 tid=100 name=main expirations=4 kept=4 samples=4 frames_bad=7 "
                    "stop_end=9997 stop_full=0 stop_no_table=2 stop_stack=1\n");
}

/* End a recording of ours, as its host does. */
static void captures_close(struct builder *b)
{
    b->time -= 1000000; /* no later than what was recorded */
    captures_losses(b, "session state=final time=9000000 hz=1000 clock=cpu\n");
}

/* As good, but 200 samples, in which work has all but vanished. */
static void captures_changed(struct builder *b)
{
    captures_start(b, false);
    for (int i = 0; i < 200; i++) {
        uint64_t addrs[2] = { build_tag(i < 4 ? 2 : i < 29 ? 3 : 1), build_tag(1) };
        build_sample(b, i < 29 ? addrs : addrs + 1, i < 29 ? 2 : 1);
    }
}

static void captures_calls(struct builder *b)
{
    captures_start(b, false);
    captures_write_calls(b);
}

/* Another process wrote counts into the same capture. */
static void captures_calls_others(struct builder *b)
{
    captures_calls(b);
    b->pid = 101;
    captures_write_calls3(b);
}

static void captures_calls2(struct builder *b)
{
    captures_start(b, true);
    captures_write_calls2(b);
}

static void captures_calls3(struct builder *b)
{
    captures_start(b, false);
    captures_write_calls3(b);
}

static void captures_circle(struct builder *b)
{
    captures_start(b, false);
    captures_write_circle(b);
}

static void captures_badcalls(struct builder *b)
{
    captures_start(b, false);
    captures_write_badcalls(b);
}

static void captures_empty(struct builder *b)
{
    captures_start(b, false);
}

static const struct {
    const char *name;
    void (*write)(struct builder *);
    bool is_closed; /* it gets the end of its recording after that */
} captures[] = {
    { "good", captures_good },       { "big", captures_big },
    { "killed", captures_killed },   { "ended", captures_ended },
    { "unbalanced", captures_unbalanced },
    { "missing", captures_missing }, { "foreign", captures_foreign },
    { "evil", captures_evil, true },
    { "defects", captures_defects },
    { "empty", captures_empty, true },
    { "merged", captures_merged, true },
    { "listing", captures_listing },
    { "nested", captures_nested, true },
    { "lies", captures_lies },
    { "foreign2", captures_foreign2 },
    { "otherboot", captures_otherboot, true },
    { "hostile", captures_hostile }, { "events", captures_events },
    { "changed", captures_changed, true },
    { "calls", captures_calls, true },
    { "calls2", captures_calls2, true },
    { "badcalls", captures_badcalls, true },
    { "calls3", captures_calls3, true },
    { "circle", captures_circle, true },
    { "callsothers", captures_calls_others, true },
    { "nameless", captures_nameless }, { "passedon", captures_passed_on },
    { "allocations", captures_allocations },
    { "states", captures_states },     { "statesbig", captures_states_big },
    { "looked", captures_looked },     { "lookedwall", captures_looked_wall },
    { "timed", captures_timed },
    { "tasks", captures_tasks },       { "tasks2", captures_tasks2 },
    { "causes", captures_causes },
    { "crowd", captures_crowd },       { "crowdbig", captures_crowd_big },
};

/* The beginning is that of the others without their functions. */
static void captures_of(struct builder *b, char **words, int n)
{
    uint8_t data[4096];
    size_t at = 2 + build_varint(data + 2, (uint64_t)n);
    build_start(b, false);
    build_process(b, "host script.x");
    build_metadata(b, "jsprof.version", "0.1.0");
    build_metadata(b, "jsprof.clock", "cpu");
    build_metadata(b, "jsprof.hz", "100");
    memcpy(data, "\1\0", 2);
    for (int i = 0; i < n && at < sizeof data - 64; i++) {
        char *line = strrchr(words[i], '=');
        uint64_t addr = build_tag((uint32_t)i + 1);
        *line++ = 0;
        build_jit(b, addr, words[i]);
        build_sample(b, &addr, 1);
        at += build_varint(data + at, 1);
        at += build_varint(data + at, 10000000);
        at += build_varint(data + at, 0);
        at += build_varint(data + at, 1);
        at += build_varint(data + at, strtoul(line, NULL, 10));
    }
    build_chunk(b, "jsprof/samples", data, at);
    captures_close(b);
}

int main(int argc, char **argv)
{
    struct builder b = { 0 };
    if (argc > 2 && strcmp(argv[1], "of") == 0)
        captures_of(&b, argv + 2, argc - 2);
    for (size_t i = 0; i < sizeof captures / sizeof *captures; i++) {
        if (argc < 2) {
            puts(captures[i].name);
        } else if (strcmp(captures[i].name, argv[1]) == 0) {
            captures[i].write(&b);
            if (captures[i].is_closed)
                captures_close(&b);
        }
    }
    size_t written = b.bytes ? fwrite(b.bytes, 1, b.size, stdout) : 0;
    free(b.bytes);
    return argc > 1 && (!b.size || written != b.size);
}
