/* unit/embedded_test.c - src/capture/embedded.c and read_embedded.c: each record of an embedded
 * file reads back as it was, whole or not at all, and garbage is refused.
 *
 * SPDX-License-Identifier: MIT
 */
#include "capture/embedded.h"

#include "test.h"

static uint8_t bytes[4096];

/* Called for each prefix of the record: whether it reads as one, and up to where. */
typedef bool reader(const uint8_t **at, const uint8_t *end);

#define READER_OF_TWO(name, type, other, get) \
    static bool name(const uint8_t **at, const uint8_t *end) \
    { \
        type a; \
        other b; \
        return get(at, end, &a, &b); \
    }

#define READER(name, type, get) \
    static bool name(const uint8_t **at, const uint8_t *end) \
    { \
        type got; \
        return get(at, end, &got); \
    }

/* Every shorter record is refused; the whole one ends where it ended. */
static void only_whole(size_t n, reader *read)
{
    for (size_t cut = 0; cut < n; cut++) {
        const uint8_t *at = bytes;
        if (!CHECK(!read(&at, bytes + cut)))
            printf("# cut to %zu of %zu\n", cut, n);
    }
    const uint8_t *at = bytes;
    CHECK(read(&at, bytes + n));
    CHECK_EQ(at - bytes, n);
}

/* So many bytes of the record are none. */
static void refused(size_t n, reader *read)
{
    const uint8_t *at = bytes;
    CHECK(!read(&at, bytes + n));
}

static bool is_text(struct jsp_read_text t, const char *text)
{
    return t.len == strlen(text) && memcmp(t.at, text, t.len) == 0;
}

static const uint64_t edges[] = { 0, 1, 0x7f, 0x80, UINT32_MAX, 1ull << 63, UINT64_MAX };
enum { EDGES = sizeof edges / sizeof *edges };

/* Bytes that no number ends in, and a number of 65 bits. */
static const uint8_t garbage[][12] = {
    { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
    { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02, 0, 0 },
};

static void no_garbage(uint8_t first, reader *read)
{
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
        bytes[0] = first;
        memcpy(bytes + 1, garbage[i], sizeof garbage[i]);
        const uint8_t *at = bytes;
        CHECK(!read(&at, bytes + 1 + sizeof garbage[i]));
    }
}

/* -- jsprof/samples and jsprof/pcs ------------------------------------------- */

READER_OF_TWO(read_block, uint64_t, uint64_t, jsp_embedded_block_get)

TEST(a_block_reads_back)
{
    uint64_t first, count;
    for (int i = 0; i < EDGES; i++) {
        const uint8_t *at = bytes;
        size_t n = jsp_embedded_block_put(bytes, edges[i], edges[EDGES - 1 - i]);
        CHECK(n <= JSP_EMBEDDED_BLOCK);
        only_whole(n, read_block);
        CHECK(jsp_embedded_block_get(&at, bytes + n, &first, &count));
        CHECK(first == edges[i] && count == edges[EDGES - 1 - i]);
    }
    bytes[0] = 2; /* another tag */
    refused(3, read_block);
    no_garbage(1, read_block);
}

READER(read_weight, struct jsp_weight, jsp_embedded_weight_get)

TEST(a_weight_reads_back_with_its_lines)
{
    for (int i = 0; i < EDGES; i++) {
        struct jsp_weight w = { .weight = edges[i], .cpu_ns = edges[EDGES - 1 - i],
                                .cut = edges[i], .n_lines = 20 }, got;
        size_t n = jsp_embedded_weight_put(bytes, &w), lines = n;
        CHECK(n <= JSP_EMBEDDED_WEIGHT);
        for (uint32_t line = 0; line < w.n_lines; line++)
            n += jsp_varint_put(bytes + n, edges[line % EDGES]);
        only_whole(n, read_weight);
        const uint8_t *at = bytes;
        CHECK(jsp_embedded_weight_get(&at, bytes + n, &got));
        CHECK(got.weight == w.weight && got.cpu_ns == w.cpu_ns && got.cut == w.cut);
        CHECK_EQ(got.n_lines, 20);
        CHECK(got.lines == bytes + lines && got.known);
        CHECK_EQ(got.lines_bytes, n - lines);
    }
    struct jsp_weight many = { .n_lines = JSP_WIRE_MAX_ADDRS + 1 };
    size_t n = jsp_embedded_weight_put(bytes, &many);
    memset(bytes + n, 0, sizeof bytes - n);
    refused(sizeof bytes, read_weight);
    no_garbage(0, read_weight);
}

READER(read_pcs, struct jsp_embedded_pcs, jsp_embedded_pcs_get)

TEST(rows_read_back)
{
    const uint32_t rows[] = { 0, 1, UINT32_MAX };
    struct jsp_embedded_pcs got;
    const uint8_t *at = bytes;
    uint64_t row;
    size_t n = jsp_embedded_pcs_put(bytes, UINT64_MAX, rows, 3);
    only_whole(n, read_pcs);
    CHECK(jsp_embedded_pcs_get(&at, bytes + n, &got));
    CHECK(got.skip == UINT64_MAX);
    CHECK_EQ(got.n, 3);
    for (int i = 0; i < 3; i++)
        CHECK(jsp_read_varint(&got.rows, bytes + n, &row) && row == rows[i]);
    n = jsp_varint_put(bytes, 0);
    n += jsp_varint_put(bytes + n, JSP_WIRE_MAX_ADDRS + 1);
    memset(bytes + n, 0, sizeof bytes - n);
    refused(sizeof bytes, read_pcs);
    no_garbage(0, read_pcs);
}

/* -- jsprof/states ------------------------------------------------------------ */

READER(read_state, struct jsp_read_state, jsp_embedded_state_get)

TEST(a_state_reads_back)
{
    for (int i = 0; i < EDGES * JSP_N_STATES; i++) {
        uint64_t edge = edges[i % EDGES];
        struct jsp_read_state s = { .state = (enum jsp_state)(i / EDGES) }, got;
        if (s.state == JSP_STATE_ASLEEP)
            s = (struct jsp_read_state){ s.state, edge, edges[EDGES - 1 - i % EDGES], edge, 0 };
        if (s.state == JSP_STATE_HOST)
            s.name = (uint32_t)edge;
        size_t n = jsp_embedded_state_put(bytes, &s);
        CHECK(n <= JSP_EMBEDDED_STATE);
        only_whole(n, read_state);
        const uint8_t *at = bytes;
        CHECK(jsp_embedded_state_get(&at, bytes + n, &got));
        CHECK(got.state == s.state && got.call == s.call && got.descriptor == s.descriptor &&
              got.asleep_ns == s.asleep_ns && got.name == s.name);
    }
    bytes[0] = JSP_N_STATES;
    refused(5, read_state);
    no_garbage(JSP_STATE_ASLEEP, read_state);
}

READER_OF_TWO(read_call_name, uint64_t, struct jsp_read_text, jsp_embedded_call_name_get)

TEST(the_name_of_a_system_call_reads_back)
{
    struct jsp_read_text name;
    const uint8_t *at = bytes;
    uint64_t number;
    size_t n = jsp_embedded_call_name_put(bytes, UINT64_MAX, (struct jsp_read_text){ "poll", 4 });
    CHECK(n <= JSP_EMBEDDED_CALL_NAME + 4);
    only_whole(n, read_call_name);
    CHECK(jsp_embedded_call_name_get(&at, bytes + n, &number, &name));
    CHECK(number == UINT64_MAX && is_text(name, "poll"));
    bytes[0] = JSP_WIRE_BLOCK; /* another tag */
    refused(n, read_call_name);
    no_garbage(JSP_WIRE_STATES_CALL, read_call_name);
}

/* -- jsprof/frames and jsprof/loops ------------------------------------------ */

READER_OF_TWO(read_kind, uint32_t, uint64_t, jsp_embedded_kind_get)

TEST(a_kind_reads_back)
{
    const uint8_t *at = bytes;
    uint64_t kind;
    uint32_t id;
    size_t n = jsp_embedded_kind_put(bytes, UINT32_MAX, UINT64_MAX);
    CHECK(n <= JSP_EMBEDDED_PAIR);
    only_whole(n, read_kind);
    CHECK(jsp_embedded_kind_get(&at, bytes + n, &id, &kind));
    CHECK(id == UINT32_MAX && kind == UINT64_MAX);
    n = jsp_varint_put(bytes, 1ull << 32); /* no id */
    n += jsp_varint_put(bytes + n, 0);
    refused(n, read_kind);
    no_garbage(0, read_kind);
}

static bool read_loop(const uint8_t **at, const uint8_t *end)
{
    return jsp_embedded_loop_get(at, end, (uint64_t[2]){ 0 });
}

TEST(a_loop_reads_back)
{
    uint64_t range[2] = { 0, UINT64_MAX }, got[2];
    const uint8_t *at = bytes;
    size_t n = jsp_embedded_loop_put(bytes, range);
    CHECK(n <= JSP_EMBEDDED_PAIR);
    only_whole(n, read_loop);
    CHECK(jsp_embedded_loop_get(&at, bytes + n, got));
    CHECK(got[0] == 0 && got[1] == UINT64_MAX);
    no_garbage(0, read_loop);
}

/* -- jsprof/listings --------------------------------------------------------- */

READER(read_listing, struct jsp_embedded_listing, jsp_embedded_listing_get)

static void listing_reads_back(struct jsp_embedded_listing l)
{
    struct jsp_embedded_listing got;
    const uint8_t *at = bytes;
    size_t n = jsp_embedded_listing_put(bytes, &l);
    CHECK(n <= JSP_EMBEDDED_LISTING + l.name.len);
    only_whole(n, read_listing);
    CHECK(jsp_embedded_listing_get(&at, bytes + n, &got));
    CHECK_EQ(got.tag, l.tag);
    CHECK_EQ(got.number, l.number);
    CHECK_EQ(got.first, l.first);
    CHECK_EQ(got.count, l.count);
    CHECK_EQ(got.name.len, l.name.len);
    CHECK(!l.name.len || memcmp(got.name.at, l.name.at, l.name.len) == 0);
}

TEST(the_head_of_a_listing_reads_back)
{
    struct jsp_read_text name = { "f (a.c:1)", 9 };
    listing_reads_back((struct jsp_embedded_listing){ JSP_WIRE_LISTING, 0, 0, UINT32_MAX, name });
    listing_reads_back(
        (struct jsp_embedded_listing){ JSP_WIRE_LISTING_ROWS, 1, UINT32_MAX, 7, { 0 } });
    listing_reads_back(
        (struct jsp_embedded_listing){ JSP_WIRE_LISTING_OTHER, UINT32_MAX, 0, 0, { 0 } });
    memset(bytes, 0, 8);
    refused(8, read_listing); /* tag 0 */
    bytes[0] = JSP_WIRE_LISTING_OTHER + 1;
    refused(8, read_listing);
    no_garbage(JSP_WIRE_LISTING_OTHER, read_listing);
}

READER(read_row, struct jsp_embedded_row, jsp_embedded_row_get)

TEST(a_row_reads_back_with_its_targets)
{
    struct jsp_embedded_row row = { .pc = UINT64_MAX, .line = UINT32_MAX, .ends = true,
                                    .n_targets = EDGES, .targets = edges,
                                    .text = { "JMP", 3 } }, got;
    const uint8_t *at = bytes;
    uint64_t target;
    size_t n = jsp_embedded_row_put(bytes, &row);
    only_whole(n, read_row);
    CHECK(jsp_embedded_row_get(&at, bytes + n, &got));
    CHECK(got.pc == UINT64_MAX && got.line == UINT32_MAX && got.ends && is_text(got.text, "JMP"));
    CHECK_EQ(got.n_targets, EDGES);
    for (int i = 0; i < EDGES; i++)
        CHECK(jsp_read_varint(&got.packed, bytes + n, &target) && target == edges[i]);
    row = (struct jsp_embedded_row){ .ends = false };
    n = jsp_embedded_row_put(bytes, &row);
    CHECK_EQ(n, 5);
    only_whole(n, read_row);
    bytes[2] = 2; /* neither true nor false */
    refused(n, read_row);
    no_garbage(0, read_row);
}

/* -- jsprof/calls ------------------------------------------------------------ */

READER(read_call, struct jsp_embedded_call, jsp_embedded_call_get)

static struct jsp_embedded_call call_back(struct jsp_embedded_call r)
{
    struct jsp_embedded_call got = { 0 };
    const uint8_t *at = bytes;
    size_t n = jsp_embedded_call_put(bytes, &r);
    only_whole(n, read_call);
    CHECK(jsp_embedded_call_get(&at, bytes + n, &got));
    CHECK_EQ(got.tag, r.tag);
    return got;
}

TEST(each_record_of_calls_reads_back)
{
    struct jsp_embedded_call got = call_back((struct jsp_embedded_call){
        .tag = JSP_WIRE_CALLS_FUNCTION,
        .function = { UINT32_MAX, 1, 0, { "name", 4 }, { "", 0 } } });
    CHECK(got.function.id == UINT32_MAX && got.function.kind == 1 && got.function.line == 0);
    CHECK(is_text(got.function.name, "name") && is_text(got.function.file, ""));
    got = call_back((struct jsp_embedded_call){
        .tag = JSP_WIRE_CALLS_ROW, .row = { UINT64_MAX, { 0, 1, 0x80, UINT64_MAX, 5 } } });
    CHECK(got.row.id == UINT64_MAX && got.row.figures[0] == 0 && got.row.figures[2] == 0x80 &&
          got.row.figures[3] == UINT64_MAX && got.row.figures[4] == 5);
    got = call_back((struct jsp_embedded_call){ .tag = JSP_WIRE_CALLS_EDGE,
                                                .edge = { 0, UINT64_MAX, 3, 0x3fff } });
    CHECK(got.edge.caller == 0 && got.edge.callee == UINT64_MAX && got.edge.calls == 3 &&
          got.edge.total == 0x3fff);
    got = call_back((struct jsp_embedded_call){ .tag = JSP_WIRE_CALLS_MODE,
                                                .mode = { UINT64_MAX, 15 } });
    CHECK(got.mode.time == UINT64_MAX && got.mode.modes == 15);
    struct jsp_embedded_call commit = { .tag = JSP_WIRE_CALLS_COMMIT };
    for (int i = 0; i < JSP_WIRE_COMMIT_FIELDS; i++)
        commit.fields[i] = edges[i % EDGES];
    got = call_back(commit);
    CHECK(memcmp(got.fields, commit.fields, sizeof got.fields) == 0);
}

TEST(a_commit_of_another_version_is_read_as_far_as_it_is_known)
{
    struct jsp_embedded_call got;
    const uint8_t *at = bytes;
    size_t n = 2;
    bytes[0] = JSP_WIRE_CALLS_COMMIT;
    bytes[1] = JSP_WIRE_COMMIT_FIELDS + 2;
    for (int i = 0; i < JSP_WIRE_COMMIT_FIELDS + 2; i++)
        n += jsp_varint_put(bytes + n, 7);
    CHECK(jsp_embedded_call_get(&at, bytes + n, &got));
    CHECK_EQ(at - bytes, n);
    CHECK_EQ(got.fields[JSP_WIRE_COMMIT_FIELDS - 1], 7);
    bytes[1] = 1;
    at = bytes;
    CHECK(jsp_embedded_call_get(&at, bytes + 3, &got));
    CHECK_EQ(got.fields[0], 7);
    CHECK_EQ(got.fields[1], 0);
    memset(bytes, 0, 16);
    refused(16, read_call); /* tag 0 */
    bytes[0] = JSP_WIRE_CALLS_COMMIT + 1;
    refused(16, read_call);
    for (uint8_t tag = JSP_WIRE_CALLS_FUNCTION; tag <= JSP_WIRE_CALLS_COMMIT; tag++)
        no_garbage(tag, read_call);
}

/* -- jsprof/losses ----------------------------------------------------------- */

READER(read_account, struct jsp_embedded_account, jsp_embedded_account_get)

static struct jsp_embedded_account account_back(const struct jsp_embedded_account *line)
{
    struct jsp_embedded_account got;
    const uint8_t *at = bytes;
    size_t n = jsp_embedded_account_put((char *)bytes, line);
    CHECK(n <= JSP_EMBEDDED_ACCOUNT && bytes[n - 1] == '\n');
    only_whole(n, read_account);
    memset(&got, 0xff, sizeof got);
    CHECK(jsp_embedded_account_get(&at, bytes + n, &got));
    CHECK_EQ(got.tag, line->tag);
    return got;
}

static const uint64_t most = 9999999999999999999u; /* 19 digits: the longest that is read */

static void counts(struct jsp_account_thread *t)
{
    t->expirations = most;
    t->kept = most - 1;
    t->samples = 2;
    for (int i = 0; i < JSP_N_LOSSES; i++)
        t->lost[i] = most - 100 + (uint64_t)i;
    t->frames_cut = 3;
    t->frames_bad = 4;
    t->underflows = 5;
    t->stop_end = 6;
    t->stop_full = 7;
    t->stop_no_table = 8;
    t->stop_stack = 9;
    t->stop_unreadable = 10;
    t->stop_rule = most;
    t->handler_ns = 0;
}

TEST(a_thread_reads_back)
{
    struct jsp_embedded_account line = { .tag = JSP_ACCOUNT_THREAD, .thread = {
        .id = UINT32_MAX, .tid = INT32_MIN, .clock_ns = { most, 11 } } };
    for (int i = 0; i < 63; i++) /* spaces, '=', '%', a newline, DEL, and bytes of UTF-8 */
        line.thread.name[i] = " =%\n\x7f\xc3\xa4x"[i % 8];
    counts(&line.thread);
    struct jsp_embedded_account got = account_back(&line);
    CHECK(memcmp(&got.thread, &line.thread, sizeof got.thread) == 0);
}

TEST(a_total_reads_back)
{
    struct jsp_embedded_account line = { .tag = JSP_ACCOUNT_TOTAL, .total = {
        .present = true, .state = "fifteen letters", .time = most, .write_error = -5 } };
    counts(&line.total.sum);
    struct jsp_embedded_account got = account_back(&line);
    CHECK(memcmp(&got.total, &line.total, sizeof got.total) == 0);
    struct jsp_account_thread sum = line.total.sum;
    jsp_embedded_account_add(&sum, &got.total.sum);
    CHECK(sum.samples == 4 && sum.stop_end == 12 && sum.lost[0] == 2 * (most - 100));
}

TEST(a_session_reads_back)
{
    struct jsp_embedded_account line = { .tag = JSP_ACCOUNT_SESSION, .session = {
        .present = true, .state = "final", .clock = "wall", .time = most, .hz = 1,
        .samples = 2, .labels = 3, .label_bytes = 4, .labels_lost = 5, .labels_cut = 6,
        .marks_lost = 7, .addresses_missed = most, .write_error = 28 } };
    struct jsp_embedded_account got = account_back(&line);
    CHECK(memcmp(&got.session, &line.session, sizeof got.session) == 0);
}

TEST(words_of_another_version_are_skipped_and_a_bad_line_is_passed)
{
    static const char text[] = "session new=x hz=7\nsession hz=x\nsessions hz=1\ntotal \n"
                               "thread id=3 name=%4x%4 \n";
    const uint8_t *at = (const uint8_t *)text, *end = at + sizeof text - 1;
    struct jsp_embedded_account got;
    CHECK(jsp_embedded_account_get(&at, end, &got) && got.session.hz == 7);
    for (int i = 0; i < 3; i++)
        CHECK(!jsp_embedded_account_get(&at, end, &got));
    CHECK(jsp_embedded_account_get(&at, end, &got) && got.thread.id == 3);
    CHECK_STR(got.thread.name, "%4x%4");
    CHECK(at == end);
}

TEST_MAIN()
