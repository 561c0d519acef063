/* captures_events.c - marks, counters, other programs' frames, in the captures for the tests
 * of the tool.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/captures.h"

/* Every text that a capture can hold is an order to a terminal. */
static const char captures_text[] = "\033[31mx\033[0m\r";

void captures_hostile(struct builder *b)
{
    const uint64_t addrs[3] = { build_tag(1), 0x400100, build_tag(2) };
    build_start(b, false);
    build_process(b, captures_text);
    build_metadata(b, "jsprof.version", captures_text);
    build_metadata(b, "jsprof.clock", "cpu");
    build_metadata(b, "jsprof.hz", "1000");
    build_metadata(b, "jsprof.host", captures_text);
    build_jit(b, addrs[0], captures_text);
    build_jit(b, addrs[2], "\033]0;title\007 \xff\xc2\x9b 31m \xe2\x80\xae");
    build_map(b, 0x400000, 0x500000, "/\033[31mx/\033[31mx");
    for (int i = 0; i < 4; i++)
        build_sample(b, addrs, 3);
    build_mark(b, 1000000, captures_text, captures_text, captures_text);
    build_counter(b, 1, (const char *const[3]){ captures_text, captures_text, captures_text },
                  false);
    build_value(b, 1, 7);
    build_begin(b, 12);
    build_int(b, 1, 8);
    build_text(b, captures_text, 32);
    build_text(b, captures_text, 0);
    build_end(b);
    build_chunk(b, captures_text, "data", 4);
    captures_losses(b, "session state=final time=1 hz=1000 clock=cpu\n"
                    "thread id=1 tid=100 name=%1B[31mx%1B[0m%0D expirations=4 kept=4 "
                    "samples=4\n");
}

/* A sample of the allocator, or with n = 0 that it freed the block. */
static void captures_block(struct builder *b, uint64_t block, int64_t size,
                           const uint64_t *addrs, uint32_t n)
{
    build_begin(b, 14);
    build_int(b, block, 8);
    build_int(b, (uint64_t)size, 8);
    build_int(b, (uint32_t)b->tid, 4);
    build_int(b, n, 2);
    build_zero(b, 2);
    for (uint32_t i = 0; i < n; i++)
        build_int(b, addrs[i], 8);
    build_end(b);
}

/* `work` allocates three blocks and frees two, `main` one that stays; beside samples of time. */
void captures_allocations(struct builder *b)
{
    const uint64_t addrs[2] = { build_tag(2), build_tag(1) };
    captures_start(b, false);
    captures_samples(b);
    for (uint64_t i = 1; i <= 3; i++)
        captures_block(b, i, 1000 * (int64_t)i, addrs, 2);
    captures_block(b, 4, 65536, addrs + 1, 1);
    captures_block(b, 1, 0, NULL, 0);
    captures_block(b, 2, 0, NULL, 0);
    captures_losses(b, "session state=final time=500000000 hz=1000 clock=cpu\n"
                    "thread id=1 tid=100 name=main expirations=12 kept=12 samples=6 "
                    "alloc_bytes=71536 alloc_samples=4\n"
                    "thread id=2 tid=200 name=second expirations=4 kept=4 samples=2\n");
}

/* Marks of 1 to 20 ms, the first at 4 ms, one each millisecond; counters. */
void captures_events(struct builder *b)
{
    static const int64_t heap[5] = { 1000, -3, 4000, -7, 2000 };
    double load[2] = { 0.25, 0.75 };
    uint64_t bits[2];
    build_start(b, false);
    b->time = 1003000000;
    for (int i = 0; i < 20; i++) {
        char message[16];
        snprintf(message, sizeof message, "why %d", i);
        build_mark(b, (i + 1) * 1000000, "gc", "sweep", message);
    }
    build_counter(b, 7, (const char *const[3]){ "gc", "heap", "bytes" }, false);
    build_counter(b, 8, (const char *const[3]){ "app", "load", "" }, true);
    for (int i = 0; i < 5; i++)
        build_value(b, 7, (uint64_t)(i == 3 ? -3 : heap[i]));
    memcpy(bits, load, sizeof bits);
    build_value(b, 8, bits[0]);
    build_value(b, 8, bits[1]);
    build_process(b, "host script.x");
    captures_names(b);
    captures_samples(b);
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

/* Frames that only other programs write, and that we copy. */
static void captures_others(struct builder *b)
{
    build_begin(b, 5); /* FORK */
    build_int(b, 103, 4);
    build_end(b);
    build_begin(b, 12); /* LOG */
    build_int(b, 4, 2);
    build_zero(b, 6);
    build_text(b, "domain", 32);
    build_text(b, "a message", 0);
    build_end(b);
    build_begin(b, 14); /* ALLOCATION */
    build_int(b, 0x1234, 8);
    build_int(b, 99, 8);
    build_int(b, 1001, 4);
    build_int(b, 2, 2);
    build_zero(b, 2);
    build_int(b, 0x400100, 8);
    build_int(b, build_tag(1), 8);
    build_end(b);
    build_begin(b, 15); /* OVERLAY */
    build_int(b, 1, 4);
    build_int(b, 4, 2);
    build_int(b, 4, 2);
    build_raw(b, "/src\0/dst\0", 10);
    build_end(b);
    build_begin(b, 1); /* TIMESTAMP */
    build_end(b);
    build_begin(b, 6); /* EXIT */
    build_end(b);
}

/* 70 threads of three processes, objects of one name in two folders, frames of each kind,
 * losses of each cause, a thread that came twice, spans that nest and overlap. */
static void captures_crowd_of(struct builder *b, bool is_big)
{
    static const char *const names[] = { "main (/srv/x.js:1:1)", "[garbage]",
                                         "sort (/srv/x.js:9:2)", "native of host",
                                         "main (/srv/y.js:1:1)" };
    uint8_t kinds[32];
    size_t n = 0;
    build_start(b, is_big);
    for (int i = 0; i < 3; i++) {
        b->pid = 100 + i;
        build_process(b, i == 0 ? "/srv/bin/one --flag" : i == 1 ? "/opt/two" : "");
        build_map(b, 0x400000, 0x500000, i == 1 ? "/opt/two" : "/srv/bin/one");
        build_map(b, 0x7f0000000000u, 0x7f0000010000u, "/usr/lib/x/libsame.so.1");
        build_map(b, 0x7f0000010000u, 0x7f0000020000u, "/opt/lib/libsame.so.1");
        build_map(b, 0x7f0000020000u, 0x7f0000030000u, "[vdso]");
    }
    b->pid = 100;
    build_metadata(b, "jsprof.version", "0.0.9");
    build_metadata(b, "jsprof.clock", "wall");
    build_metadata(b, "jsprof.hz", "1000");
    build_metadata(b, "jsprof.host", "h");
    for (uint32_t i = 0; i < 5; i++) {
        build_jit(b, build_tag(i + 1), names[i]);
        n += build_varint(kinds + n, i + 1);
        n += build_varint(kinds + n, (const uint64_t[]){ 1, 3, 0, 2, 1 }[i]);
    }
    build_chunk(b, "jsprof/frames", kinds, n);
    for (int i = 0; i < 70; i++)
        for (int k = 0; k <= i % 3; k++) {
            const uint64_t addrs[6] = { build_tag(2 + (uint32_t)(i + k) % 4),
                                        0x400100 + 16 * (uint64_t)(i % 4),
                                        0x7f0000000500u + (uint64_t)k, 0x7f0000010500u,
                                        i % 7 ? build_tag(1) : 0x7f0000020010u, 0x400010 };
            b->pid = 100 + i % 3;
            b->tid = 1000 + i;
            build_sample(b, addrs + i % 3, 6 - i % 3);
            if (i % 10 == 0)
                build_mark(b, (5 - k) * 1000000, i % 20 ? "loop" : "gc",
                           k % 2 ? "inner" : "outer", k ? "" : "m");
        }
    b->pid = 100;
    captures_losses(b, captures_reattached);
    captures_others(b);
    b->pid = 101;
    captures_losses(b, "thread id=4 tid=1001 name=other expirations=3 kept=2 lost_blocked=1\n");
    build_counter(b, 3, (const char *const[3]){ "loop", "depth", "turns" }, false);
    for (uint64_t i = 0; i < 5; i++)
        build_value(b, 3, i * i);
}

void captures_crowd(struct builder *b)
{
    captures_crowd_of(b, false);
}

void captures_crowd_big(struct builder *b)
{
    captures_crowd_of(b, true);
}
