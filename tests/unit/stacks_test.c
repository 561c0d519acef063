/* stacks_test.c - src/capture/pack.c and read_stacks.c: what goes into jsprof/stacks comes
 * out of it, and of a damaged one only what is right.
 *
 * SPDX-License-Identifier: MIT
 */
#include "capture/pack.h"

#include <errno.h>

#include "capture/read.h"
#include "capture_builder.h"
#include "test.h"

enum { SAMPLES = 4000, DEPTH = 40, CHUNKS = 256 };

struct told {
    int64_t time;
    int32_t pid, tid;
    int16_t cpu;
    uint32_t n;
    uint64_t addrs[DEPTH];
    uint32_t lines[DEPTH], rows[DEPTH];
    bool known;
    uint64_t weight, cpu_ns, cut;
    struct jsp_read_state state;
    uint64_t task;
};

static struct told told[SAMPLES];
static struct builder b;
static struct jsp_pack pack;
static struct jsp_read r;
static struct jsp_read_defects d;
static uint64_t seed;
static int chunk_of[SAMPLES], chunks, left_out; /* left_out: this chunk is lost */
static bool is_wide; /* every number of a frame takes as many bytes as it can */

static uint32_t chance(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % below);
}

/* Odd things now and then: other threads, backward times, no weight, huge numbers. */
static void invent(struct told *s, int i, uint32_t threads)
{
    *s = (struct told){ .time = 1000000000ll * 1000 + i * 1000000ll + chance(900000),
                        .pid = 100 + (int32_t)(chance(threads) % 3), .cpu = -1,
                        .tid = 100 + (int32_t)chance(threads), .n = 1 + chance(DEPTH),
                        .known = chance(50) != 0, .weight = 1 };
    uint32_t way = chance(8);
    for (uint32_t f = 0; f < s->n; f++) {
        uint32_t out = s->n - f; /* equal callers stand at the same distance from the root */
        bool is_leaf = f < 2;
        s->addrs[f] = out % 3 ? build_tag(out * 5 + way) : 0x7f0000001000u + 64 * out + way;
        if (is_leaf)
            s->addrs[f] += chance(9);
        if (chance(500) == 0)
            s->addrs[f] = (uint64_t)0 - chance(3000);
        s->lines[f] = out % 4 ? out + way : 0;
        s->rows[f] = is_leaf ? chance(4) : 0;
        if (is_wide) {
            s->addrs[f] = (uint64_t)f << 62 ^ (uint64_t)chance(1u << 30) << 20;
            s->lines[f] = s->rows[f] = UINT32_MAX - chance(1000);
        }
    }
    if (chance(20) == 0)
        s->time -= 5000000000ll;
    if (chance(10) == 0)
        s->cpu = (int16_t)chance(300);
    s->weight = chance(4) ? 1 : chance(40);
    s->cpu_ns = chance(3) ? 1000000 + chance(2000) : (uint64_t)chance(3) << 62;
    s->cut = chance(30) ? 0 : chance(100000);
    if (chance(2)) /* in one half of the samples, of every kind */
        s->state.state = (enum jsp_state)chance(JSP_N_STATES);
    if (s->state.state == JSP_STATE_ASLEEP)
        s->state = (struct jsp_read_state){ s->state.state, chance(400), (uint64_t)chance(3) << 60,
                                            (uint64_t)0 - chance(3), 0 };
    if (s->state.state == JSP_STATE_HOST)
        s->state.name = UINT32_MAX - chance(3);
    s->task = chance(2) ? 0 : (uint64_t)chance(100000) << (chance(2) ? 0 : 30);
    if (!s->known) {
        s->weight = 1;
        s->cpu_ns = 0;
    }
}

static void take_block(void)
{
    const uint8_t *bytes = NULL;
    size_t n = jsp_pack_block(&pack, &bytes);
    CHECK(n <= JSP_PACK_HEAD + JSP_PACK_BLOCK); /* what one chunk of a file can hold */
    if (n && chunks++ != left_out)
        build_chunk(&b, "jsprof/stacks", bytes, n);
    jsp_pack_next(&pack);
}

static void put(const struct told *s)
{
    struct jsp_pack_sample sample = {
        s->time, s->pid, s->tid, s->cpu, s->n, s->addrs, s->lines, s->rows,
        s->known, s->weight, s->cpu_ns, s->cut, s->state,
        s->task, 0,
    };
    int err;
    while ((err = jsp_pack_put(&pack, &sample)) == -ENOBUFS)
        take_block();
    CHECK_EQ(err, 0);
}

/* A capture of samples that were invented, `every` of them in a chunk. */
static void record(uint32_t threads, int every, uint32_t limit, bool is_big)
{
    seed = 7;
    chunks = 0;
    build_start(&b, is_big);
    if (!CHECK_EQ(jsp_pack_init(&pack), 0))
        return;
    pack.limit = limit;
    for (int i = 0; i < SAMPLES; i++) {
        invent(&told[i], i, threads);
        put(&told[i]);
        chunk_of[i] = chunks;
        if (i % every == every - 1)
            take_block();
    }
    take_block();
    jsp_pack_free(&pack);
}

static bool open_it(void)
{
    char why[JSP_READ_WHY];
    memset(&d, 0, sizeof d);
    return CHECK_EQ(jsp_read_memory(&r, b.bytes, b.size, why), 0);
}

static void close_it(void)
{
    jsp_read_close(&r);
    free(b.bytes);
}

static bool same_stack(const struct told *s, const struct jsp_read_sample *body, uint32_t ref)
{
    uint32_t rows[DEPTH] = { 0 }, node = body->node;
    uint64_t line;
    if (body->n_addrs != s->n || body->tid != s->tid)
        return false;
    uint32_t n = jsp_read_rows(&r, ref, rows, DEPTH), one[] = { 0, 99 };
    if ((n && !rows[n - 1]) || jsp_read_rows(&r, ref, one, 1) > 1 || one[1] != 99)
        return false;
    for (uint32_t i = 0; i < s->n; i++)
        if (!node || jsp_read_node(&r, &node, &line) != s->addrs[i] || line != s->lines[i] ||
            rows[i] != s->rows[i] || (rows[i] && i >= n))
            return false;
    return node == 0;
}

static bool same_state(const struct jsp_read_state *a, const struct jsp_read_state *to)
{
    return a->state == to->state && a->call == to->call && a->descriptor == to->descriptor &&
           a->asleep_ns == to->asleep_ns && a->name == to->name;
}

static bool same(const struct told *s, const struct jsp_read_cursor *c,
                 const struct jsp_read_frame *f)
{
    struct jsp_read_sample body;
    const struct jsp_read_packed *p = &f->packed;
    return f->type == 2 && jsp_read_sample(c, f, &body) && same_stack(s, &body, p->ref) &&
           f->time == s->time && f->pid == s->pid && f->cpu == s->cpu &&
           p->known == s->known && p->weight == s->weight && p->cpu_ns == s->cpu_ns &&
           p->cut == s->cut && p->task == s->task && same_state(&p->state, &s->state);
}

/* Check that every sample read is one that was written, in order. Return their number. Only
 * samples of the chunk that is missing, and those that depend on it, may be missing. */
static int compare(void)
{
    struct jsp_read_cursor c;
    struct jsp_read_frame f;
    int at = 0, n = 0;
    jsp_read_start(&c, &r, &d);
    while (jsp_read_next(&c, &f)) {
        if (!f.packed.node)
            continue;
        while (at < SAMPLES && (chunk_of[at] == left_out || !same(&told[at], &c, &f)))
            at++;
        if (!CHECK(at < SAMPLES))
            return n;
        at++;
        n++;
    }
    return n;
}

static void whole(uint32_t threads, int every, uint32_t limit, bool is_big)
{
    left_out = -1;
    record(threads, every, limit, is_big);
    if (!open_it())
        return;
    CHECK_EQ(compare(), SAMPLES);
    CHECK_EQ(compare(), SAMPLES); /* and again, by another cursor */
    for (int i = 0; i < JSP_READ_N_CAUSES; i++)
        CHECK_EQ(d.count[i], 0);
    close_it();
}

TEST(what_goes_in_comes_out)
{
    whole(1, SAMPLES, JSP_PACK_NODES, false);
    whole(5, 100, JSP_PACK_NODES, false);
    whole(5, 100, JSP_PACK_NODES, true);
}

TEST(a_block_may_end_behind_any_sample)
{
    whole(3, 1, JSP_PACK_NODES, false);
    whole(3, 7, JSP_PACK_NODES, false);
}

TEST(a_table_that_is_full_begins_anew)
{
    whole(3, SAMPLES, 300, false);
    CHECK(chunks > 10);
    whole(3, 9, 64, false);
}

TEST(more_threads_than_a_block_tells_apart)
{
    whole(200, SAMPLES, JSP_PACK_NODES, false);
}

TEST(frames_of_the_largest_numbers_fill_blocks_and_no_more)
{
    is_wide = true;
    whole(5, SAMPLES, JSP_PACK_NODES, false);
    is_wide = false;
    CHECK(chunks > 50);
}

TEST(equal_stacks_have_equal_numbers_across_tables)
{
    struct jsp_read_cursor c;
    struct jsp_read_frame f;
    uint32_t first = 0, n = 0;
    left_out = -1;
    build_start(&b, false);
    CHECK_EQ(jsp_pack_init(&pack), 0);
    for (int i = 0; i < 4; i++) {
        struct told s = { .n = 2, .addrs = { build_tag(1), build_tag(2) }, .lines = { 5, 0 },
                          .rows = { (uint32_t)i, 0 }, .known = true, .weight = 1 };
        put(&s);
        take_block();
        jsp_pack_forget(&pack);
    }
    jsp_pack_free(&pack);
    if (!open_it())
        return;
    jsp_read_start(&c, &r, &d);
    while (jsp_read_next(&c, &f))
        if (f.packed.node) {
            first = first ? first : f.packed.node;
            CHECK_EQ(f.packed.node, first);
            n++;
        }
    CHECK_EQ(n, 4);
    close_it();
}

TEST(the_deepest_stack_goes_through_several_blocks)
{
    static uint64_t addrs[JSP_WIRE_MAX_ADDRS];
    struct jsp_pack_sample deep = { .n = JSP_WIRE_MAX_ADDRS, .addrs = addrs, .cpu = -1 };
    struct jsp_read_cursor c;
    struct jsp_read_frame f;
    struct jsp_read_sample body;
    uint64_t line;
    left_out = -1;
    for (int i = 0; i < JSP_WIRE_MAX_ADDRS; i++)
        addrs[i] = (uint64_t)i * 0x9E3779B97F4A7C15u;
    build_start(&b, false);
    CHECK_EQ(jsp_pack_init(&pack), 0);
    while (jsp_pack_put(&pack, &deep) == -ENOBUFS)
        take_block();
    take_block();
    jsp_pack_free(&pack);
    if (!open_it())
        return;
    jsp_read_start(&c, &r, &d);
    while (jsp_read_next(&c, &f) && !f.packed.node)
        continue;
    if (CHECK(jsp_read_sample(&c, &f, &body)) && CHECK_EQ(body.n_addrs, JSP_WIRE_MAX_ADDRS)) {
        int wrong = 0;
        for (int i = 0; i < JSP_WIRE_MAX_ADDRS; i++)
            wrong += jsp_read_node(&r, &body.node, &line) != addrs[i];
        CHECK_EQ(wrong, 0);
        CHECK_EQ(body.node, 0);
    }
    close_it();
}

TEST(a_chunk_that_is_lost_takes_only_what_hangs_on_it)
{
    left_out = 3;
    record(3, 200, JSP_PACK_NODES, false);
    if (!open_it())
        return;
    int n = compare();
    CHECK(n >= 600 && n < SAMPLES - 200);
    CHECK_EQ(d.count[JSP_READ_LOST], (uint64_t)(SAMPLES - 200 - n));
    CHECK(d.first[JSP_READ_LOST] > 256);
    close_it();
    left_out = 3; /* where tables are small, the next one knows it all */
    record(3, 200, 400, false);
    if (!open_it())
        return;
    n = compare();
    CHECK(n > SAMPLES - 600);
    close_it();
}

/* -- Bytes as docs/capture.md has them ---------------------------------------- */

static int copies = 1;

static int samples_of(const char *bytes, size_t n)
{
    struct jsp_read_cursor c;
    struct jsp_read_frame f;
    int samples = 0;
    build_start(&b, false);
    for (int i = 0; i < copies; i++)
        build_chunk(&b, "jsprof/stacks", bytes, n);
    if (!open_it())
        return -1;
    jsp_read_start(&c, &r, &d);
    while (jsp_read_next(&c, &f))
        samples += f.packed.node != 0;
    close_it();
    return samples;
}
#define SAMPLES_OF(bytes) samples_of(bytes, sizeof bytes - 1)

/* main (id 7, line 3) -> 0x1000; a sample of it: thread 9 of process 8, time 100, weight 2,
 * CPU time 5; another 10 later of weight 1, CPU time 10 as the time between. */
#define HEAD "\1\0\1\2"
#define NODES "\x82\0" "\3\x0e\3" "\0\x80\x40"
#define FIRST "\x32\1\x08\x09\xc8\1\0\5"
#define SECOND "\1\x0a\0\0"

TEST(the_bytes_mean_what_the_page_says)
{
    struct jsp_read_cursor c;
    struct jsp_read_frame f;
    struct jsp_read_sample s;
    uint64_t line;
    build_start(&b, false);
    build_chunk(&b, "jsprof/stacks", HEAD NODES FIRST SECOND,
                sizeof(HEAD NODES FIRST SECOND) - 1);
    if (!open_it())
        return;
    jsp_read_start(&c, &r, &d);
    CHECK(jsp_read_next(&c, &f) && f.type == 13);
    CHECK(jsp_read_next(&c, &f) && f.type == 2 && jsp_read_sample(&c, &f, &s));
    CHECK(f.time == 100 && f.pid == 8 && s.tid == 9 && s.n_addrs == 2);
    CHECK(f.packed.weight == 2 && f.packed.cpu_ns == 5 && f.packed.known);
    CHECK(jsp_read_node(&r, &s.node, &line) == 0x1000 && line == 0);
    CHECK(jsp_read_node(&r, &s.node, &line) == build_tag(7) && line == 3 && !s.node);
    CHECK(jsp_read_next(&c, &f) && jsp_read_sample(&c, &f, &s));
    CHECK(f.time == 110 && s.tid == 9 && f.packed.weight == 1 && f.packed.cpu_ns == 10);
    CHECK(!jsp_read_next(&c, &f));
    CHECK_EQ(d.count[JSP_READ_STACKS], 0);
    close_it();
}

/* The wrong record is counted once, at its place, and the records before it are kept. */
static void lie(const char *bytes, size_t n, int samples, size_t at)
{
    CHECK_EQ(samples_of(bytes, n), samples);
    CHECK_EQ(d.count[JSP_READ_STACKS], 1);
    CHECK_EQ(d.first[JSP_READ_STACKS], 256 + 284 + at);
}
#define LIE(bytes, samples, at) lie(bytes, sizeof bytes - 1, samples, at)

TEST(lies_are_told_with_their_place)
{
    CHECK_EQ(SAMPLES_OF(HEAD NODES FIRST SECOND), 2);
    CHECK_EQ(d.count[JSP_READ_STACKS], 0);
    copies = 2; /* the second numbers its nodes as the first does */
    CHECK_EQ(SAMPLES_OF(HEAD NODES FIRST SECOND), 2);
    CHECK_EQ(d.count[JSP_READ_STACKS], 1);
    copies = 1;
    LIE("\2\0\1\2", 0, 0);                                /* no such block */
    LIE("\1\0\0\0", 0, 0);                                /* node 0 is none */
    LIE("\1\0\xff\xff\xff\xff\x7f\0", 0, 0);              /* nor are there so many */
    LIE("\1\0", 0, 0);
    LIE("\1\0\1\3" NODES FIRST SECOND, 2, 24);            /* a sample less than it says */
    LIE("\1\0\1\1" NODES FIRST SECOND, 2, 24);
    LIE(HEAD NODES FIRST "\1\x0a\2\0", 1, 20);            /* a node that is not there yet */
    LIE(HEAD NODES FIRST "\1\x0a\3\0", 1, 20);            /* no node */
    LIE(HEAD NODES FIRST "\1\x0a\5\0", 1, 20);
    LIE(HEAD NODES FIRST "\x11\4\x0a\0\0", 1, 20);        /* a thread that is not there */
    LIE(HEAD NODES FIRST "\x11\x83\1\x0a\0\0", 1, 20);
    LIE(HEAD NODES FIRST "\x41\x20\x0a\0\0", 1, 20);      /* an unknown flag */
    LIE(HEAD NODES FIRST "\x41\x10\x0a\0\0", 1, 20);      /* no task */
    LIE(HEAD NODES FIRST "\1\x0a", 1, 20);                /* it ends too soon */
    LIE(HEAD NODES FIRST "\x41\x08\x0a\0\0\6", 1, 20);    /* an unknown state */
    LIE(HEAD NODES FIRST "\x41\x08\x0a\0\0\3\0\0", 1, 20); /* no time asleep */
    LIE(HEAD NODES FIRST "\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f\0\0", 1, 20);
    LIE(HEAD "\x80\0", 0, 4);                             /* no nodes */
    LIE(HEAD "\x81\2\0\0", 0, 4);                         /* below what is not there */
    LIE(HEAD "\x82\0\0\0", 0, 4);
    LIE(HEAD "\x81\0\x08\0", 0, 4);
    LIE(HEAD "\x81\0\2\0\xff\xff\xff\xff\x7f", 0, 4);     /* a line of 35 bits */
    LIE(HEAD "\x81\0\2\0\xff", 0, 4);                     /* a line that is cut */
    LIE(HEAD SECOND, 0, 4);                               /* a sample of no thread */
}

TEST(a_stack_is_never_deeper_than_the_format_has_it)
{
    static char bytes[4 + 65 * (2 + 127 * 2)];
    size_t n = 4;
    memcpy(bytes, "\1\0\1\0", 4);
    for (int i = 0; i < 65; i++) { /* 8255 nodes, each below the one before */
        bytes[n++] = (char)(0x80 | 127);
        bytes[n++] = 0;
        n += 254;
    }
    samples_of(bytes, n);
    CHECK_EQ(d.count[JSP_READ_STACKS], 1);
    CHECK_EQ(d.first[JSP_READ_STACKS], 256 + 284 + 4 + 64 * 256);
}

/* Whatever byte is wrong, nothing comes that was not put before it. */
TEST(no_flipped_byte_crashes_or_changes_what_was_before)
{
    left_out = -1;
    record(3, 1000, JSP_PACK_NODES, false);
    size_t end = b.size < 4000 ? b.size : 4000;
    int bad = 0, tried = 0;
    for (size_t at = 256 + 284; at < end; at += 3, tried++) {
        struct jsp_read_cursor c;
        struct jsp_read_frame f;
        b.bytes[at] ^= 0x5a;
        if (!open_it())
            return;
        jsp_read_start(&c, &r, &d);
        for (int i = 0; jsp_read_next(&c, &f);) {
            if (f.packed.node && f.offset + 80 <= at && !same(&told[i], &c, &f))
                bad++;
            i += f.packed.node != 0;
        }
        jsp_read_close(&r);
        b.bytes[at] ^= 0x5a;
    }
    CHECK_EQ(bad, 0);
    CHECK(tried > 1000);
    free(b.bytes);
}

TEST_MAIN()
