/* captures_states.c - what threads were doing, in the captures for the tests of the tool.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/captures.h"

enum { MAIN = 1, WORK, LEAF, LOOP, POLL, WAITING, LOCK, READ };

struct captures_state {
    int tid, weight, state;
    int call, descriptor; /* + 1 each; of state 4: the id of the name */
    int frames[3];        /* leaf first */
};

/* 100 expirations of thread 100, 50 of thread 200, of 10 ms each. */
static const struct captures_state captures_doing[] = {
    { 100, 15, 1, 0, 0, { WORK, MAIN, 0 } },
    { 100, 20, 2, 0, 0, { WAITING, WORK, MAIN } },
    { 100, 40, 3, 272, 0, { POLL, LOOP, MAIN } }, /* ppoll: idle */
    { 100, 10, 3, 1, 8, { READ, WORK, MAIN } },
    { 100, 5, 3, 272, 0, { LEAF, MAIN, 0 } }, /* ppoll, but not in a loop */
    { 100, 8, 4, LOCK, 0, { WORK, MAIN, 0 } },
    { 100, 2, 3, 0, 0, { LEAF, MAIN, 0 } }, /* a page of memory */
    { 200, 30, 1, 0, 0, { LEAF, 0, 0 } },
    { 200, 10, 1, 0, 0, { POLL, LOOP, 0 } }, /* runs, so it is not idle */
    { 200, 10, 0, 0, 0, { LEAF, 0, 0 } },
};
enum { CAPTURES_DOING = sizeof captures_doing / sizeof *captures_doing };

static void captures_state_names(struct builder *b)
{
    static const uint8_t kinds[] = { LOOP, 4, POLL, 4, WAITING, 5, LOCK, 2, READ, 4 };
    uint8_t data[64];
    build_jit(b, build_tag(LOOP), "g_main_loop_run");
    build_jit(b, build_tag(POLL), "ppoll");
    build_jit(b, build_tag(WAITING), "[waiting for a processor]");
    build_jit(b, build_tag(LOCK), "the big lock");
    build_jit(b, build_tag(READ), "read");
    for (size_t i = 0; i < sizeof kinds; i += 2) {
        size_t n = build_varint(data, (uint32_t)build_tag(kinds[i]));
        n += build_varint(data + n, kinds[i + 1]);
        build_chunk(b, "jsprof/frames", data, n);
    }
    memcpy(data, "\2\0\4read\2\217\2\5ppoll", 16);
    build_chunk(b, "jsprof/states", data, 16);
}

/* The samples, with their weights and states beside them. */
static void captures_state_samples(struct builder *b)
{
    uint8_t weights[256] = { 1, 0, CAPTURES_DOING }, states[256] = { 1, 0, CAPTURES_DOING };
    size_t w = 3, s = 3;
    for (int i = 0; i < CAPTURES_DOING; i++) {
        const struct captures_state *is = &captures_doing[i];
        uint64_t addrs[3];
        int n = 0;
        for (; n < 3 && is->frames[n]; n++)
            addrs[n] = build_tag((uint32_t)is->frames[n]);
        b->tid = is->tid;
        build_sample(b, addrs, n);
        w += build_varint(weights + w, (uint64_t)is->weight);
        w += build_varint(weights + w, is->state == 1 ? 10000000u * (uint64_t)is->weight : 0);
        w += build_varint(weights + w, 0);
        w += build_varint(weights + w, 0);
        s += build_varint(states + s, (uint64_t)is->state);
        if (is->state == 4)
            s += build_varint(states + s, (uint64_t)is->call);
        if (is->state != 3)
            continue;
        s += build_varint(states + s, (uint64_t)is->call);
        s += build_varint(states + s, (uint64_t)is->descriptor);
        s += build_varint(states + s, 1500000);
    }
    build_chunk(b, "jsprof/samples", weights, w);
    build_chunk(b, "jsprof/states", states, s);
}

static void captures_state_all(struct builder *b, bool is_big)
{
    build_start(b, is_big);
    build_process(b, "host script.x");
    build_metadata(b, "jsprof.version", "0.1.0");
    build_metadata(b, "jsprof.clock", "wall");
    build_metadata(b, "jsprof.hz", "100");
    build_metadata(b, "jsprof.host", "host");
    captures_names(b);
    captures_state_names(b);
    captures_state_samples(b);
    captures_losses(b, "session state=final time=9000000 hz=100 clock=wall\n"
                       "thread id=1 tid=100 name=main expirations=100 kept=100 samples=7 "
                       "cpu_ns=150000000 wall_ns=1000000000\n"
                       "thread id=2 tid=200 name=helper expirations=50 kept=50 samples=3 "
                       "cpu_ns=400000000 wall_ns=500000000\n");
}

void captures_states(struct builder *b)
{
    captures_state_all(b, false);
}

void captures_states_big(struct builder *b)
{
    captures_state_all(b, true);
}

/* Three points of the looker, each with another CPU time since the one before. */
static void captures_points(struct builder *b, const char *clock, const char *source)
{
    static const uint64_t cpu_ns[3] = { 300000, 1700000, 100000 };
    uint8_t weights[64] = { 1, 0, 3 };
    const uint8_t states[] = { 1, 0, 3, 1, 1, 3, 1, 8, 100 };
    size_t n = 3;
    build_start(b, false);
    build_process(b, "host script.x");
    build_metadata(b, "jsprof.version", "0.1.0");
    build_metadata(b, "jsprof.clock", clock);
    build_metadata(b, "jsprof.hz", "1000");
    build_metadata(b, "jsprof.source", source);
    captures_names(b);
    captures_state_names(b);
    for (uint64_t i = 0; i < 3; i++) {
        const uint64_t addr = build_tag((uint32_t)(i < 2 ? MAIN + i : READ));
        b->tid = 100;
        build_sample(b, &addr, 1);
        n += build_varint(weights + n, 1);
        n += build_varint(weights + n, cpu_ns[i]);
        n += build_varint(weights + n, 0);
        n += build_varint(weights + n, 0);
    }
    build_chunk(b, "jsprof/samples", weights, n);
    if (strcmp(clock, "wall") == 0)
        build_chunk(b, "jsprof/states", states, sizeof states);
}

void captures_looked(struct builder *b)
{
    captures_points(b, "cpu", "looker");
}

void captures_looked_wall(struct builder *b)
{
    captures_points(b, "wall", "looker");
}

void captures_timed(struct builder *b)
{
    captures_points(b, "cpu", "timer (no looker without /proc)");
}
