/* read_test.c - src/capture/read*.c: what is kept of a capture that lies.
 *
 * SPDX-License-Identifier: MIT
 */
#include "capture/read.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/wire.h"
#include "capture_builder.h"
#include "test.h"

static struct builder b;
static struct jsp_read r;
static struct jsp_read_defects d;
static struct jsp_read_cursor c;
static struct jsp_read_frame f;
static char why[JSP_READ_WHY];

static const uint64_t two[2] = { 0xE000000000000007u, 0x1234567890u };

/* Complete the capture, and open it at its first frame, until the next one is opened. */
static bool opened(void)
{
    static uint8_t *bytes;
    jsp_read_close(&r);
    if (bytes != b.bytes)
        free(bytes);
    bytes = b.bytes;
    memset(&d, 0, sizeof d);
    int err = jsp_read_memory(&r, bytes, b.size, why);
    if (CHECK_EQ(err, 0))
        jsp_read_start(&c, &r, &d);
    return err == 0;
}

static uint64_t all_defects(void)
{
    uint64_t n = 0;
    for (int i = 0; i < JSP_READ_N_CAUSES; i++)
        n += d.count[i];
    return n;
}

static int frames_left(void)
{
    int n = 0;
    while (jsp_read_next(&c, &f))
        n++;
    return n;
}

static void round_trip(bool is_big)
{
    struct jsp_read_sample s;
    struct jsp_read_map m;
    build_start(&b, is_big);
    build_map(&b, 0x1000, 0x2000, "/lib/libfoo.so");
    b.tid = -5;
    build_sample(&b, two, 2);
    if (!opened())
        return;
    CHECK_EQ(r.time, 1000000000);
    CHECK_EQ(r.end_time, 3000000000);
    CHECK_STR(r.capture_time, "2026-01-02T03:04:05Z");
    CHECK(jsp_read_next(&c, &f) && f.type == JSP_WIRE_MAP && jsp_read_map(&c, &f, &m));
    CHECK_EQ(m.start, 0x1000);
    CHECK_EQ(m.end, 0x2000);
    CHECK_EQ(m.path.len, 14);
    CHECK(jsp_read_next(&c, &f) && jsp_read_sample(&c, &f, &s));
    CHECK_EQ(f.pid, 100);
    CHECK_EQ(f.time, 1002000000);
    CHECK_EQ(s.tid, -5);
    CHECK_EQ(s.n_addrs, 2);
    CHECK_EQ(jsp_read_u64(&r, s.addrs) == two[0], true);
    CHECK_EQ(jsp_read_u64(&r, s.addrs + 8), 0x1234567890);
    CHECK(!jsp_read_next(&c, &f));
    CHECK_EQ(all_defects(), 0);
}

TEST(capture_of_each_byte_order_reads_as_written)
{
    round_trip(false);
    round_trip(true);
}

TEST(a_closed_capture_is_not_mapped_any_more)
{
    unsigned char is_there;
    int fd = memfd_create("capture", MFD_CLOEXEC);
    build_start(&b, false);
    CHECK(pwrite(fd, b.bytes, b.size, 0) == (ssize_t)b.size);
    struct jsp_read mapped;
    CHECK_EQ(jsp_read_descriptor(&mapped, fd, why), 0);
    void *at = (void *)(uintptr_t)mapped.bytes;
    jsp_read_close(&mapped);
    CHECK(mincore(at, 1, &is_there) < 0);
    close(fd);
    free(b.bytes);
}

TEST(last_chunk_is_known_in_both_byte_orders)
{
    struct jsp_read_chunk chunk;
    for (int is_big = 0; is_big < 2; is_big++) {
        build_start(&b, is_big);
        build_chunk(&b, "jsprof/losses", "abc", 3);
        if (!opened())
            return;
        CHECK(jsp_read_next(&c, &f) && jsp_read_chunk(&c, &f, &chunk));
        CHECK_EQ(chunk.is_last, true);
        CHECK_EQ(chunk.len, 3);
        CHECK_EQ(memcmp(chunk.data, "abc", 3), 0);
        build_put(&b, b.frame + 24, 0, 2);
        CHECK(jsp_read_chunk(&c, &f, &chunk));
        CHECK_EQ(chunk.is_last, false);
    }
}

/* Two frames, and then the last one's header is spoiled. */
static void spoil_length(uint64_t len, enum jsp_read_cause cause)
{
    build_start(&b, false);
    build_process(&b, "x");
    build_sample(&b, two, 2);
    size_t bad = b.frame;
    build_put(&b, bad, len, 2);
    if (!opened())
        return;
    CHECK_EQ(frames_left(), 1);
    CHECK_EQ(d.count[cause], 1);
    CHECK_EQ(d.first[cause], bad);
    CHECK_EQ(all_defects(), 1);
}

TEST(length_that_can_not_be_ends_the_reading_and_not_the_reader)
{
    spoil_length(0, JSP_READ_LENGTH);
    spoil_length(16, JSP_READ_LENGTH); /* less than a header */
    spoil_length(47, JSP_READ_LENGTH); /* not aligned */
    spoil_length(56, JSP_READ_CUT);    /* past the end of the file */
}

TEST(truncated_tail_keeps_the_frames_before)
{
    build_start(&b, false);
    build_process(&b, "x");
    build_sample(&b, two, 2);
    size_t whole = b.size;
    for (size_t cut = 1; cut < 48; cut++) {
        b.size = whole - cut;
        if (!opened())
            return;
        CHECK_EQ(frames_left(), 1);
        CHECK_EQ(d.count[JSP_READ_CUT], 1);
    }
}

TEST(unknown_types_are_skipped_and_counted)
{
    static const int types[] = { 0, 16, 255 };
    build_start(&b, false);
    for (int i = 0; i < 3; i++) {
        build_begin(&b, types[i]);
        build_end(&b);
    }
    build_process(&b, "after");
    if (!opened())
        return;
    CHECK(jsp_read_next(&c, &f) && f.type == JSP_WIRE_PROCESS);
    CHECK_EQ(d.count[JSP_READ_TYPE], 3);
    CHECK_EQ(d.first[JSP_READ_TYPE], 256);
}

TEST(sample_that_claims_more_addresses_than_it_has_is_refused)
{
    struct jsp_read_sample s;
    build_start(&b, false);
    build_sample(&b, two, 2);
    build_put(&b, b.frame + 24, 3, 2);
    if (!opened())
        return;
    CHECK(jsp_read_next(&c, &f));
    CHECK(!jsp_read_sample(&c, &f, &s));
    CHECK_EQ(d.count[JSP_READ_ADDRS], 1);
    build_put(&b, b.frame + 24, 0, 2);
    CHECK(!jsp_read_sample(&c, &f, &s));
    CHECK_EQ(d.count[JSP_READ_EMPTY], 1);
    build_put(&b, b.frame + 24, 2, 2);
    CHECK(jsp_read_sample(&c, &f, &s));
}

TEST(text_without_its_end_stops_at_the_frame)
{
    struct jsp_read_text t;
    build_start(&b, false);
    build_begin(&b, JSP_WIRE_PROCESS);
    build_text(&b, "12345678", 8);
    build_end(&b);
    build_process(&b, "next");
    if (!opened())
        return;
    CHECK(jsp_read_next(&c, &f) && jsp_read_process(&c, &f, &t));
    CHECK_EQ(t.len, 8);
    CHECK_EQ(d.count[JSP_READ_STRING], 1);
    CHECK(jsp_read_next(&c, &f) && jsp_read_process(&c, &f, &t));
    CHECK_EQ(t.len, 4);
    CHECK_EQ(d.count[JSP_READ_STRING], 1);
}

TEST(jitmap_that_promises_too_much_gives_what_it_has)
{
    struct jsp_read_names names;
    struct jsp_read_text t;
    uint64_t addr;
    int n = 0;
    build_start(&b, false);
    build_jit(&b, build_tag(1), "f (a.js:1)");
    build_put(&b, b.frame + 24, UINT32_MAX, 4);
    if (!opened())
        return;
    CHECK(jsp_read_next(&c, &f) && jsp_read_names(&c, &f, &names));
    while (jsp_read_name(&c, &f, &names, &addr, &t))
        n++;
    CHECK_EQ(n, 1);
    CHECK_EQ(d.count[JSP_READ_NAMES], 1);
}

TEST(chunk_longer_than_its_frame_is_refused)
{
    struct jsp_read_chunk chunk;
    build_start(&b, false);
    build_chunk(&b, "x", "abcd", 4);
    build_put(&b, b.frame + 26, 5, 2); /* 284 + 4 is aligned: no padding to hide in */
    if (!opened())
        return;
    CHECK(jsp_read_next(&c, &f));
    CHECK(!jsp_read_chunk(&c, &f, &chunk));
    CHECK_EQ(d.count[JSP_READ_CHUNK], 1);
}

/* Every type with an empty body must be refused or read as empty, never read past. */
TEST(frames_too_short_for_their_type_are_refused)
{
    struct jsp_read_sample s;
    struct jsp_read_map m;
    struct jsp_read_mark k;
    struct jsp_read_pair p;
    struct jsp_read_chunk h;
    struct jsp_read_names n;
    int32_t child;
    build_start(&b, false);
    build_begin(&b, JSP_WIRE_SAMPLE);
    build_end(&b);
    uint8_t *exact = malloc(b.size); /* so that a sanitizer sees one byte too far */
    if (!CHECK(exact != NULL))
        return;
    memcpy(exact, b.bytes, b.size);
    jsp_read_close(&r);
    CHECK_EQ(jsp_read_memory(&r, exact, b.size, why), 0);
    memset(&d, 0, sizeof d);
    jsp_read_start(&c, &r, &d);
    CHECK(jsp_read_next(&c, &f));
    CHECK(!jsp_read_sample(&c, &f, &s) && !jsp_read_map(&c, &f, &m));
    CHECK(!jsp_read_mark(&c, &f, &k) && !jsp_read_pair(&c, &f, &p));
    CHECK(!jsp_read_chunk(&c, &f, &h) && !jsp_read_names(&c, &f, &n));
    CHECK(!jsp_read_fork(&c, &f, &child));
    CHECK_EQ(d.count[JSP_READ_SHORT], 7);
    free(exact);
    free(b.bytes);
}

static void refused(const void *bytes, uint64_t size, const char *reason)
{
    uint64_t aligned[64] = { 0 };
    memcpy(aligned, bytes, size);
    CHECK_EQ(jsp_read_memory(&r, aligned, size, why), -EBADMSG);
    CHECK_STR(why, reason);
}

TEST(what_is_no_capture_is_refused_with_its_reason)
{
    refused("", 0, "empty file");
    refused("\177ELF....", 8, "not a Sysprof capture (starts with 7f 45 4c 46)");
    refused("\x5e\x97", 2, "not a Sysprof capture (starts with 5e 97)");
    refused("\x5e\x97\xca\xfd\1", 5, "cut inside the file header (5 of 256 bytes)");
    build_start(&b, false);
    b.bytes[4] = 2;
    refused(b.bytes, b.size, "capture format version 2, this jsprof reads version 1");
    free(b.bytes);
}

TEST(varint_ends_at_the_buffer_and_at_64_bits)
{
    static const uint8_t most[10] = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 1 };
    uint8_t more[10];
    uint64_t v = 0;
    const uint8_t *at = most;
    CHECK(jsp_read_varint(&at, most + 10, &v));
    CHECK(v == UINT64_MAX && at == most + 10);
    at = most;
    CHECK(!jsp_read_varint(&at, most + 9, &v));
    memcpy(more, most, 10);
    more[9] = 2;
    at = more;
    CHECK(!jsp_read_varint(&at, more + 10, &v));
}

TEST_MAIN()
