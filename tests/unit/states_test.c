/* states_test.c - src/session/states.c, src/analyze/states.c: the state of a sample reads back
 * as it was recorded, from SAMPLE frames, from jsprof/stacks and after every conversion.
 *
 * SPDX-License-Identifier: MIT
 */
#include <sys/mman.h>
#include <sys/syscall.h>

#include "analyze/functions.h"
#include "analyze/samples.h"
#include "capture_builder.h"
#include "export/export.h"
#include "export/merge.h"
#include "session/output.h"
#include "test.h"

enum { ARENA = 1 << 14, SLOTS = 1 << 8, MANY = 9 * 1300 };

static struct jsp_arena arena;
static struct jsp_codes codes;
static struct jsp_output out;
static struct jsp_sink sink;
static uint32_t tally, lock, leaf;

static void begin(int fd, bool is_compact)
{
    static uint64_t bytes[ARENA / 8], slots[SLOTS];
    memset(slots, 0, sizeof slots);
    struct jsp_arena_memory memory = { bytes, ARENA, slots, SLOTS };
    jsp_arena_init(&arena, &memory);
    jsp_codes_init(&codes);
    leaf = jsp_arena_intern(&arena, "leaf", 4, JSPROF_KIND_VM);
    lock = jsp_arena_intern(&arena, "the big lock", 12, JSPROF_KIND_LABEL);
    memset(&out, 0, sizeof out);
    CHECK_EQ(is_compact ? jsp_output_pack(&out) : 0, 0);
    CHECK_EQ(jsp_output_open(&out, fd, &arena), 0);
    CHECK_EQ(jsp_tallies_take(&out.tallies, &tally), 0);
    out.frames.codes = &codes;
    CHECK_EQ(jsp_writer_process(&out.writer, "host"), 0);
}

/* The states of the samples, in turn. The first is of a library that knows none. */
static const struct jsp_rec_state states[] = {
    { 0 },
    { .state = JSP_STATE_RUNNING },
    { .state = JSP_STATE_WAITING },
    { .state = JSP_STATE_ASLEEP, .call = SYS_ppoll + 1, .asleep_ns = 5 },
    { .state = JSP_STATE_ASLEEP, .call = SYS_read + 1, .descriptor = 8,
      .asleep_ns = 90000000000 },
    { .state = JSP_STATE_ASLEEP, .call = SYS_read + 1 + JSP_STATES_CALLS * JSP_STATE_ON_PIPE,
      .descriptor = 8 },
    { .state = JSP_STATE_ASLEEP, .call = 1001, .descriptor = UINT32_MAX },
    { .state = JSP_STATE_ASLEEP, .call = JSP_STATES_CALLS * JSP_N_STATE_ON }, /* the last name */
    { .state = JSP_STATE_ASLEEP, .call = 1 + JSP_STATES_CALLS * JSP_N_STATE_ON }, /* none */
    { .state = JSP_STATE_ASLEEP, .call = UINT32_MAX }, /* no such call */
    { .state = JSP_STATE_ASLEEP }, /* in a page fault */
    { .state = JSP_STATE_HOST },
};
enum { STATES = sizeof states / sizeof *states };
static const char *const details[STATES] = { "", "", "", "ppoll", "read", "read (pipe)",
                                             "system call 1000", "system call 1023 (inotify)", "",
                                             "", "", "the big lock" };

static void record_state(int i, const struct jsp_rec_state *state)
{
    uint64_t space[64] = { 0 };
    struct jsp_record *r = (void *)space;
    *r = (struct jsp_record){ .time_ns = 1000000000u + (uint64_t)i * 1000, .weight = 1,
                              .cpu_ns = 1000, .state = *state };
    if (r->state.state == JSP_STATE_HOST)
        r->state.what = lock;
    r->n[JSP_RUN_LINKS] = 1;
    r->frames[0] = (struct jsp_rec_frame){ .id = leaf };
    jsp_output_record(&out, r, (struct jsp_output_from){ tally, 9 });
    if (jsp_output_is_full(&out)) {
        CHECK_EQ(jsp_output_flush(&out), 0);
        jsp_output_settle(&out);
    }
}

static void written(int n)
{
    CHECK_EQ(jsp_output_side(&out), 0);
    CHECK_EQ(jsp_output_finish(&out), 0);
    CHECK_EQ(jsp_tallies_sum(&out.tallies).samples, n);
    CHECK_EQ(jsp_output_close(&out), 0);
    jsp_codes_free(&codes);
}

/* A capture of these states, `n` of them from `from` on, in turn. */
static struct jsp_bytes recorded_of(bool is_compact, int from, int n,
                                    const struct jsp_rec_state *of, int n_of)
{
    struct jsp_bytes bytes = { 0 };
    int fd = memfd_create("capture", 0);
    begin(dup(fd), is_compact);
    for (int i = from; i < from + n; i++)
        record_state(i, &of[i % n_of]);
    written(n);
    bytes.n = (size_t)lseek(fd, 0, SEEK_END);
    bytes.at = malloc(bytes.n);
    CHECK_EQ(pread(fd, bytes.at, bytes.n, 0), bytes.n);
    close(fd);
    return bytes;
}

static struct jsp_bytes recorded(bool is_compact, int from)
{
    return recorded_of(is_compact, from, MANY, states, STATES);
}

static bool is_text(struct jsp_read_text t, const char *text)
{
    return t.len == strlen(text) && memcmp(t.at, text, t.len) == 0;
}

static bool is_right(const struct jsp_profile *p, const struct jsp_sample *s, int32_t pid, int i)
{
    const struct jsp_rec_state *was = &states[i % STATES];
    const struct jsp_read_state *is = &s->state;
    bool has_call = was->call && was->call <= JSP_STATES_CALLS * JSP_N_STATE_ON;
    return is->state == was->state && is->asleep_ns == was->asleep_ns &&
           is->call == (has_call ? was->call : 0) && is->descriptor == was->descriptor &&
           !is->name == (was->state != JSP_STATE_HOST) &&
           s->body.n_addrs == (was->state == JSP_STATE_WAITING ? 2 : 1) &&
           is_text(jsp_samples_detail(p, s, pid), details[i % STATES]);
}

static bool load(struct jsp_read *r, struct jsp_profile *p, struct jsp_bytes bytes)
{
    char why[JSP_READ_WHY];
    return CHECK_EQ(jsp_read_memory(r, bytes.at, bytes.n, why), 0) &&
           CHECK_EQ(jsp_profile_load(p, r, NULL), 0);
}

/* Check the samples of a capture, which has MANY from each of these places on. */
static void check(struct jsp_bytes bytes, const int *from, int n_from)
{
    struct jsp_read r;
    struct jsp_profile p;
    struct jsp_read_cursor c;
    struct jsp_read_frame f;
    struct jsp_samples samples;
    struct jsp_sample s;
    int n = 0, wrong = 0;
    if (!load(&r, &p, bytes))
        return;
    for (int i = 0; i < JSP_READ_N_CAUSES; i++)
        CHECK_EQ(p.defects.count[i], 0);
    jsp_read_start(&c, &r, NULL);
    jsp_samples_start(&samples, &p, NULL);
    while (jsp_read_next(&c, &f))
        if (f.type == 2 && CHECK(jsp_samples_take(&samples, &f, &s))) {
            wrong += !is_right(&p, &s, f.pid, from[n / MANY % n_from] + n % MANY);
            n++;
        }
    CHECK_EQ(n, MANY * n_from);
    CHECK_EQ(wrong, 0);
    jsp_profile_free(&p);
    jsp_read_close(&r);
}

static struct jsp_bytes recode(struct jsp_bytes bytes, jsp_export_write *to)
{
    struct jsp_read r;
    struct jsp_profile p;
    struct jsp_export e = { .profile = &p, .out = &sink };
    struct jsp_bytes got = { 0 };
    CHECK(load(&r, &p, bytes));
    jsp_sink_init(&sink, jsp_bytes_write, &got);
    CHECK_EQ(to(&e), 0);
    CHECK_EQ(jsp_sink_flush(&sink), 0);
    jsp_profile_free(&p);
    jsp_read_close(&r);
    return got;
}

static void every_form(bool is_compact)
{
    const int from = 3; /* begin in the middle of the turn */
    struct jsp_bytes first = recorded(is_compact, from);
    check(first, &from, 1);
    struct jsp_bytes compact = recode(first, jsp_export_compact);
    check(compact, &from, 1);
    struct jsp_bytes plain = recode(compact, jsp_export_syscap);
    check(plain, &from, 1);
    struct jsp_bytes again = recode(plain, jsp_export_syscap);
    check(again, &from, 1);
    jsp_bytes_free(&first);
    jsp_bytes_free(&compact);
    jsp_bytes_free(&plain);
    jsp_bytes_free(&again);
}

TEST(samples_keep_their_states_in_every_form)
{
    every_form(false);
    every_form(true);
}

TEST(merged_captures_keep_the_states_of_each)
{
    const int from[] = { 1, 5 };
    struct jsp_bytes in[2], joined = { 0 };
    struct jsp_read r[2];
    struct jsp_profile p[2], *inputs[2] = { &p[0], &p[1] };
    for (int i = 0; i < 2; i++) {
        in[i] = recorded(i, from[i]);
        CHECK(load(&r[i], &p[i], in[i]));
    }
    struct jsp_merge m = { .inputs = inputs, .n = 2, .out = &sink };
    jsp_sink_init(&sink, jsp_bytes_write, &joined);
    CHECK_EQ(jsp_merge_write(&m), 0);
    CHECK_EQ(jsp_sink_flush(&sink), 0);
    check(joined, from, 2);
    for (int i = 0; i < 2; i++) {
        jsp_profile_free(&p[i]);
        jsp_read_close(&r[i]);
        jsp_bytes_free(&in[i]);
    }
    jsp_bytes_free(&joined);
}

/* A thread without a processor has a row of its own below the function that it was in. */
TEST(time_without_a_processor_is_a_frame_of_its_own)
{
    struct jsp_read r;
    struct jsp_profile p;
    struct jsp_functions f;
    uint64_t found = 0;
    struct jsp_bytes bytes = recorded(false, 0);
    CHECK(load(&r, &p, bytes));
    CHECK_EQ(jsp_functions_build(&f, &p, NULL), 0);
    for (uint32_t i = 0; i < f.n; i++)
        if (strcmp(p.functions[f.rows[i].function].name, "[waiting for a processor]") == 0) {
            found = f.rows[i].self_samples;
            CHECK_EQ(p.functions[f.rows[i].function].kind, JSPROF_KIND_SYNTH);
        }
    CHECK_EQ(found, MANY / STATES);
    jsp_functions_free(&f);
    jsp_profile_free(&p);
    jsp_read_close(&r);
    jsp_bytes_free(&bytes);
}

/* A name comes into the file when a sample first has its call. They take more than one chunk. */
TEST(each_of_a_thousand_calls_has_its_name)
{
    static struct jsp_rec_state calls[JSP_STATES_CALLS];
    struct jsp_read r;
    struct jsp_profile p;
    struct jsp_read_cursor c;
    struct jsp_read_frame f;
    struct jsp_samples samples;
    struct jsp_sample s;
    uint32_t n = 0;
    for (uint32_t i = 0; i < JSP_STATES_CALLS; i++)
        calls[i] = (struct jsp_rec_state){ .state = JSP_STATE_ASLEEP, .call = i + 1 };
    struct jsp_bytes bytes = recorded_of(false, 0, 2 * JSP_STATES_CALLS, calls, JSP_STATES_CALLS);
    const char *name = memmem(bytes.at, bytes.n, "call 1007", 9);
    CHECK(name && !memmem(name + 9, bytes.n - (size_t)(name + 9 - bytes.at), "call 1007", 9));
    CHECK(load(&r, &p, bytes));
    jsp_read_start(&c, &r, NULL);
    jsp_samples_start(&samples, &p, NULL);
    while (jsp_read_next(&c, &f))
        if (f.type == 2 && CHECK(jsp_samples_take(&samples, &f, &s))) {
            CHECK_EQ(s.state.call, n++ % JSP_STATES_CALLS + 1);
            CHECK(jsp_samples_detail(&p, &s, f.pid).len > 0);
        }
    CHECK_EQ(n, 2 * JSP_STATES_CALLS);
    jsp_profile_free(&p);
    jsp_read_close(&r);
    jsp_bytes_free(&bytes);
}

/* -- Bytes as docs/capture.md has them ---------------------------------------- */

static struct jsp_read_defects defects;

/* Read a sample of which this is the file jsprof/states. */
static struct jsp_read_state state_of(const char *bytes, size_t n, char detail[16])
{
    struct builder b;
    struct jsp_read r;
    struct jsp_profile p;
    struct jsp_read_cursor c;
    struct jsp_read_frame f;
    struct jsp_samples samples;
    struct jsp_sample s = { 0 };
    const uint64_t at = build_tag(1);
    build_start(&b, false);
    build_process(&b, "host");
    build_jit(&b, build_tag(1), "f");
    build_sample(&b, &at, 1);
    build_chunk(&b, "jsprof/states", bytes, n);
    CHECK(load(&r, &p, (struct jsp_bytes){ .at = (char *)b.bytes, .n = b.size }));
    defects = p.defects;
    jsp_read_start(&c, &r, NULL);
    jsp_samples_start(&samples, &p, NULL);
    while (jsp_read_next(&c, &f))
        if (f.type == 2)
            CHECK(jsp_samples_take(&samples, &f, &s));
    struct jsp_read_text text = jsp_samples_detail(&p, &s, f.pid);
    snprintf(detail, 16, "%.*s", (int)text.len, text.at);
    jsp_profile_free(&p);
    jsp_read_close(&r);
    free(b.bytes);
    return s.state;
}

TEST(the_bytes_mean_what_the_page_says)
{
    char detail[16];
    struct jsp_read_state s = state_of("\1\0\1\3\10\6\xe8\7\2\7\4poll", 15, detail);
    CHECK_EQ(defects.count[JSP_READ_RECORD], 0);
    CHECK_EQ(s.state, JSP_STATE_ASLEEP);
    CHECK_EQ(s.call, 8);
    CHECK_EQ(s.descriptor, 6);
    CHECK_EQ(s.asleep_ns, 1000);
    CHECK_STR(detail, "poll");
    s = state_of("\1\0\1\4\1", 5, detail);
    CHECK_EQ(s.state, JSP_STATE_HOST);
    CHECK_EQ(s.name, 1);
    s = state_of("\1\0\1\2", 4, detail);
    CHECK_EQ(s.state, JSP_STATE_WAITING);
    s = state_of("\1\1\1\2", 4, detail); /* of another sample */
    CHECK_EQ(s.state, JSP_STATE_UNKNOWN);
    CHECK_EQ(defects.count[JSP_READ_RECORD], 0);
}

TEST(lies_are_refused_and_said)
{
    static const struct {
        const char *bytes;
        size_t n;
    } lies[] = {
        { "\1\0\1\6", 4 },         /* a state of a newer library */
        { "\1\0\1", 3 },           /* no record */
        { "\1\0\2\1", 4 },         /* one of two */
        { "\1\0\1\3\1\1", 6 },     /* a record cut short */
        { "\1\0\1\4\xff\xff\xff\xff\x7f", 9 }, /* an id of 35 bits */
        { "\2\7\5poll", 7 },       /* a name cut short */
        { "\3\0\1\1", 4 },         /* no such tag */
    };
    char detail[16];
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct jsp_read_state s = state_of(lies[i].bytes, lies[i].n, detail);
        CHECK_EQ(s.state, JSP_STATE_UNKNOWN);
        CHECK_EQ(defects.count[JSP_READ_RECORD], 1);
    }
}

/* Captures of many processes have the names of each. */
TEST(names_of_many_calls_are_kept)
{
    enum { NAMES = 20000 };
    struct jsp_states_read s = { 0 };
    CHECK_EQ(jsp_states_init(&s), 0);
    for (uint32_t i = 0; i < NAMES; i++) {
        uint8_t bytes[16] = { 2 };
        size_t n = 1 + build_varint(bytes + 1, i / 100);
        bytes[n] = (uint8_t)(1 + i % 3);
        memcpy(bytes + n + 1, "abc", 3);
        struct jsp_read_chunk chunk = { .data = bytes, .len = (uint32_t)n + 2 + i % 3 };
        CHECK_EQ(jsp_states_add(&s, &chunk, (int32_t)(i % 100), 0), 0);
    }
    for (uint32_t i = 0; i < NAMES; i++)
        CHECK_EQ(jsp_states_name(&s, i / 100, (int32_t)(i % 100)).len, 1 + i % 3);
    CHECK_EQ(jsp_states_name(&s, 0, 100).len, 0);
    CHECK_EQ(jsp_states_name(&s, NAMES / 100, 0).len, 0);
    jsp_states_free(&s);
}

TEST_MAIN()
