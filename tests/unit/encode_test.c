/* unit/encode_test.c - src/capture/encode.c: what is encoded in either byte order reads back
 * as it was, and what does not fit is cut and reported.
 *
 * SPDX-License-Identifier: MIT
 */
#include "capture/encode.h"

#include "capture_builder.h"
#include "test.h"

static uint8_t bytes[JSP_WIRE_MAX_FRAME + 64];
static struct jsp_encode e;
static struct builder file;
static struct jsp_read capture;
static struct jsp_read_cursor cursor;
static struct jsp_read_frame frame;

static const struct jsp_encode_head edges = { INT64_MIN, INT32_MIN, -1, 0 };

static void begin(uint8_t type, bool is_swapped)
{
    struct jsp_encode_head head = edges;
    head.type = type;
    e = (struct jsp_encode){ .at = bytes, .room = sizeof bytes, .swap = is_swapped };
    jsp_encode_begin(&e, &head);
}

/* The frame in a file of its order, as the reader has it until the next one. */
static bool read_back(bool is_swapped)
{
    static struct jsp_read_defects defects;
    char why[JSP_READ_WHY];
    size_t n = jsp_encode_end(&e);
    jsp_read_close(&capture);
    free(file.bytes);
    build_start(&file, (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != is_swapped);
    build_raw(&file, bytes, n);
    if (!CHECK_EQ(jsp_read_memory(&capture, file.bytes, file.size, why), 0))
        return false;
    memset(&defects, 0, sizeof defects);
    jsp_read_start(&cursor, &capture, &defects);
    if (!CHECK(jsp_read_next(&cursor, &frame)))
        return false;
    CHECK_EQ(e.is_cut, false);
    CHECK_EQ(capture.swap, is_swapped);
    CHECK_EQ(frame.len, n);
    CHECK_EQ(frame.time, INT64_MIN);
    CHECK_EQ(frame.pid, INT32_MIN);
    CHECK_EQ(frame.cpu, -1);
    for (int i = 0; i < JSP_READ_N_CAUSES; i++)
        CHECK_EQ(defects.count[i], 0);
    return true;
}

static bool is_text(struct jsp_read_text t, const char *text)
{
    return t.len == strlen(text) && memcmp(t.at, text, t.len) == 0;
}

static struct jsp_read_text text_of(const char *text)
{
    return jsp_encode_string(text);
}

static void one_sample(bool is_swapped)
{
    const uint64_t addrs[] = { 0, UINT64_MAX, 0x0123456789ABCDEF };
    struct jsp_read_sample s;
    begin(JSP_WIRE_SAMPLE, is_swapped);
    jsp_encode_sample(&e, INT32_MAX, 3);
    jsp_encode_u64s(&e, addrs, 3);
    if (!read_back(is_swapped) || !CHECK(jsp_read_sample(&cursor, &frame, &s)))
        return;
    CHECK_EQ(s.tid, INT32_MAX);
    CHECK_EQ(s.n_addrs, 3);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(jsp_read_u64(&capture, s.addrs + 8 * i), addrs[i]);
}

static void one_map(bool is_swapped, const char *build_id)
{
    struct jsp_read_map map = { 1, UINT64_MAX, 1ull << 40, 7, text_of("/a b"),
                                text_of(build_id) }, got;
    begin(JSP_WIRE_MAP, is_swapped);
    jsp_encode_map(&e, &map);
    if (!read_back(is_swapped) || !CHECK(jsp_read_map(&cursor, &frame, &got)))
        return;
    CHECK_EQ(got.start, 1);
    CHECK_EQ(got.end, UINT64_MAX);
    CHECK_EQ(got.offset, 1ull << 40);
    CHECK_EQ(got.inode, 7);
    CHECK(is_text(got.path, "/a b"));
    CHECK(is_text(got.build_id, build_id));
}

static void one_fork(bool is_swapped)
{
    int32_t child;
    begin(JSP_WIRE_FORK, is_swapped);
    jsp_encode_fork(&e, INT32_MIN);
    if (!read_back(is_swapped) || !CHECK(jsp_read_fork(&cursor, &frame, &child)))
        return;
    CHECK_EQ(child, INT32_MIN);
}

static void one_mark(bool is_swapped)
{
    struct jsp_read_mark mark = { INT64_MIN, text_of("123456789012345678901234"),
                                  text_of(""), text_of("said") }, got;
    begin(JSP_WIRE_MARK, is_swapped);
    jsp_encode_mark(&e, &mark);
    if (!read_back(is_swapped) || !CHECK(jsp_read_mark(&cursor, &frame, &got)))
        return;
    CHECK_EQ(got.duration, INT64_MIN);
    CHECK(is_text(got.group, "123456789012345678901234"));
    CHECK(is_text(got.name, ""));
    CHECK(is_text(got.message, "said"));
}

static void one_pair(bool is_swapped, uint8_t type)
{
    struct jsp_read_pair pair = { text_of("key"), text_of("") }, got;
    begin(type, is_swapped);
    if (type == JSP_WIRE_LOG)
        jsp_encode_log(&e, 0x1234, &pair);
    else
        jsp_encode_metadata(&e, &pair);
    if (!read_back(is_swapped) || !CHECK(jsp_read_pair(&cursor, &frame, &got)))
        return;
    CHECK(is_text(got.key, "key"));
    CHECK(is_text(got.value, ""));
    if (type == JSP_WIRE_LOG)
        CHECK_EQ(jsp_read_u16(&capture, frame.at + 24), 0x1234);
}

static void two_names(bool is_swapped)
{
    struct jsp_read_names names;
    struct jsp_read_text name;
    uint64_t addr;
    begin(JSP_WIRE_JITMAP, is_swapped);
    jsp_encode_names(&e);
    jsp_encode_name(&e, UINT64_MAX, text_of("first"));
    jsp_encode_name(&e, 0, text_of(""));
    if (!read_back(is_swapped) || !CHECK(jsp_read_names(&cursor, &frame, &names)))
        return;
    CHECK_EQ(names.left, 2);
    CHECK(jsp_read_name(&cursor, &frame, &names, &addr, &name));
    CHECK(addr == UINT64_MAX && is_text(name, "first"));
    CHECK(jsp_read_name(&cursor, &frame, &names, &addr, &name));
    CHECK(addr == 0 && is_text(name, ""));
    CHECK(!jsp_read_name(&cursor, &frame, &names, &addr, &name));
}

static void one_counter(bool is_swapped, bool is_real)
{
    struct jsp_read_counter c = { text_of("g"), text_of("n"), text_of("w"), 0xFFFFFF, is_real,
                                  UINT64_MAX - 1 }, got;
    struct jsp_read_counters all;
    begin(JSP_WIRE_CTRDEF, is_swapped);
    jsp_encode_counter(&e, &c);
    if (!read_back(is_swapped) || !CHECK(jsp_read_counters(&cursor, &frame, &all)) ||
        !CHECK(jsp_read_counter(&cursor, &frame, &all, &got)))
        return;
    CHECK(is_text(got.group, "g") && is_text(got.name, "n") && is_text(got.what, "w"));
    CHECK_EQ(got.id, 0xFFFFFF);
    CHECK_EQ(got.is_real, is_real);
    CHECK_EQ(got.bits, UINT64_MAX - 1);
    CHECK(!jsp_read_counter(&cursor, &frame, &all, &got));
}

static void one_value(bool is_swapped)
{
    struct jsp_read_counter got;
    struct jsp_read_counters all;
    begin(JSP_WIRE_CTRSET, is_swapped);
    jsp_encode_value(&e, 4095, UINT64_MAX);
    if (!read_back(is_swapped) || !CHECK(jsp_read_counters(&cursor, &frame, &all)) ||
        !CHECK(jsp_read_counter(&cursor, &frame, &all, &got)))
        return;
    CHECK_EQ(got.id, 4095);
    CHECK_EQ(got.bits, UINT64_MAX);
    CHECK(!jsp_read_counter(&cursor, &frame, &all, &got));
}

static void one_chunk(bool is_swapped, bool is_last, size_t n)
{
    static uint8_t data[JSP_WIRE_MAX_CHUNK];
    struct jsp_read_chunk got;
    begin(JSP_WIRE_FILE_CHUNK, is_swapped);
    memset(data, 0xA5, sizeof data);
    jsp_encode_chunk(&e, &(struct jsp_encode_chunk){ "jsprof/x", n, is_last });
    jsp_encode_put(&e, data, n);
    if (!read_back(is_swapped) || !CHECK(jsp_read_chunk(&cursor, &frame, &got)))
        return;
    CHECK(is_text(got.path, "jsprof/x"));
    CHECK_EQ(got.is_last, is_last);
    if (CHECK_EQ(got.len, n) && n)
        CHECK(memcmp(got.data, data, n) == 0);
}

static void all_of(bool is_swapped)
{
    one_sample(is_swapped);
    one_map(is_swapped, "");
    one_map(is_swapped, "0123abcd");
    one_fork(is_swapped);
    one_mark(is_swapped);
    one_pair(is_swapped, JSP_WIRE_METADATA);
    one_pair(is_swapped, JSP_WIRE_LOG);
    two_names(is_swapped);
    one_counter(is_swapped, false);
    one_counter(is_swapped, true);
    one_value(is_swapped);
    one_chunk(is_swapped, false, 1);
    one_chunk(is_swapped, true, 0);
    one_chunk(is_swapped, false, JSP_WIRE_MAX_CHUNK);
}

TEST(each_frame_reads_back_in_either_order)
{
    all_of(false);
    all_of(true);
}

TEST(what_has_no_room_is_cut_and_reported)
{
    static char longer[JSP_WIRE_MAX_FRAME + 1];
    memset(longer, 'x', sizeof longer - 1);
    memset(bytes, 0x5A, JSP_WIRE_MAX_FRAME + 1);
    begin(JSP_WIRE_PROCESS, false);
    jsp_encode_text(&e, text_of(longer));
    CHECK(e.is_cut);
    CHECK_EQ(jsp_encode_end(&e), JSP_WIRE_MAX_FRAME);
    CHECK_EQ(bytes[JSP_WIRE_MAX_FRAME - 2], 'x');
    CHECK_EQ(bytes[JSP_WIRE_MAX_FRAME - 1], 0); /* a text keeps its end */
    CHECK_EQ(bytes[JSP_WIRE_MAX_FRAME], 0x5A);
    begin(JSP_WIRE_PROCESS, false);
    jsp_encode_text(&e, (struct jsp_read_text){ longer, JSP_WIRE_MAX_FRAME - 25 });
    CHECK(!e.is_cut); /* exactly full */
    CHECK_EQ(jsp_encode_end(&e), JSP_WIRE_MAX_FRAME);
    begin(JSP_WIRE_PROCESS, false);
    CHECK(jsp_encode_room(&e, JSP_WIRE_MAX_FRAME - 24) != NULL);
    CHECK(jsp_encode_room(&e, 1) == NULL);
    CHECK(e.is_cut);
}

TEST(a_frame_keeps_within_a_room_that_is_no_whole_number_of_words)
{
    static const uint8_t zeros[40];
    memset(bytes, 0x5A, 48);
    e = (struct jsp_encode){ .at = bytes, .room = 39 };
    jsp_encode_begin(&e, &edges);
    jsp_encode_put(&e, zeros, 9);
    CHECK(e.is_cut);
    CHECK_EQ(jsp_encode_end(&e), 32);
    CHECK_EQ(bytes[32], 0x5A);
    e.room = 40;
    jsp_encode_begin(&e, &edges);
    jsp_encode_field(&e, text_of("x"), 24);
    CHECK(e.is_cut);
    CHECK_EQ(e.used, 40);
    CHECK_EQ(bytes[40], 0x5A);
    memset(bytes, 0x5A, 40);
    e = (struct jsp_encode){ .at = bytes, .room = 0 };
    jsp_encode_begin(&e, &edges);
    jsp_encode_name(&e, 1, text_of("x"));
    CHECK(e.is_cut);
    CHECK_EQ(bytes[0], 0x5A);
}

int main(void)
{
    RUN_ALL();
    free(file.bytes);
    return DONE();
}
