/* gzip_test.c - src/export/gzip.c: the program gzip reads what it writes, and small it is.
 *
 * SPDX-License-Identifier: MIT
 */
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export/sink.h"

enum { MOST = 300000 };

static struct jsp_gzip gzip;
static struct jsp_sink sink;
static unsigned char in[MOST], back[MOST + 1];

/* Write `n` bytes of `in` in pieces, and end a block after each `cut` of them; 0: after none.
 * Return the size, or 0 if gzip gives other bytes back. */
static size_t packed_cut(size_t n, size_t piece, size_t cut)
{
    struct jsp_bytes out = { .n = 0 };
    char path[] = "/tmp/gzip_test.XXXXXX", command[64];
    size_t size = 0, got = 0;
    jsp_sink_init(&sink, jsp_bytes_write, &out);
    jsp_gzip_start(&gzip, &sink);
    for (size_t at = 0, i = 1; at < n; at += piece, i++) {
        jsp_gzip_write(&gzip, in + at, piece < n - at ? piece : n - at);
        if (cut && i % cut == 0)
            jsp_gzip_cut(&gzip);
    }
    jsp_gzip_end(&gzip);
    int fd = jsp_sink_flush(&sink) == 0 ? mkstemp(path) : -1;
    if (fd >= 0 && write(fd, out.at, out.n) == (ssize_t)out.n) {
        snprintf(command, sizeof command, "gzip -dc <%s", path);
        FILE *f = popen(command, "r");
        got = f ? fread(back, 1, sizeof back, f) : 0;
        if (f && pclose(f) == 0 && got == n && memcmp(in, back, n) == 0)
            size = out.n;
    }
    if (fd >= 0) {
        close(fd);
        unlink(path);
    }
    jsp_bytes_free(&out);
    return size;
}

static size_t packed(size_t n, size_t piece)
{
    return packed_cut(n, piece, 0);
}

TEST(gzip_reads_nothing_one_byte_and_all_bytes)
{
    CHECK_EQ(packed(0, 1), 20); /* 10 of the head, 2 of an empty block, 8 of the end */
    in[0] = 200;
    CHECK_EQ(packed(1, 1) > 0, true);
    for (size_t i = 0; i < 1024; i++)
        in[i] = (unsigned char)(i * 7);
    CHECK_EQ(packed(1024, 100) > 0, true);
}

TEST(each_length_of_a_match_comes_back)
{
    uint32_t wrong = 0;
    for (size_t length = 1; length < 300; length += length > 20 && length < 250 ? 13 : 1) {
        for (size_t i = 0; i < length; i++) /* twice the same bytes, between others */
            in[i] = in[length + 1 + i] = (unsigned char)(i * i * 31 + i / 7);
        in[length] = 1;
        in[2 * length + 1] = 2;
        wrong += packed(2 * length + 2, 1000) == 0;
    }
    CHECK_EQ(wrong, 0);
}

TEST(each_distance_of_a_match_comes_back)
{
    static const char text[] = "these bytes come twice";
    uint32_t wrong = 0;
    for (size_t far = sizeof text; far < 40000; far += far / 4) {
        memset(in, 'x', far + sizeof text);
        memcpy(in, text, sizeof text);
        memcpy(in + far, text, sizeof text);
        wrong += packed(far + sizeof text, 4096) == 0;
    }
    memset(in, 'x', 40000);
    memcpy(in, text, sizeof text);
    for (size_t far = 32766; far < 32771; far++) { /* the greatest distance is 32768 */
        memset(in + 32000, 'x', 8000);
        memcpy(in + far, text, sizeof text);
        wrong += packed(far + sizeof text, 4096) == 0;
    }
    CHECK_EQ(wrong, 0);
}

TEST(blocks_begin_anywhere)
{
    uint32_t random = 1;
    for (size_t i = 0; i < MOST; i++) {
        random = random * 1664525 + 1013904223;
        in[i] = (unsigned char)(random >> 24);
    }
    CHECK_EQ(packed(JSP_GZIP_BLOCK - 1, 1000) > 0, true);
    CHECK_EQ(packed(JSP_GZIP_BLOCK, 65536) > 0, true);
    CHECK_EQ(packed(JSP_GZIP_BLOCK + 1, 99999) > 0, true);
    CHECK_EQ(packed(MOST, 12345) > 0, true);
}

TEST(what_repeats_becomes_small)
{
    for (size_t i = 0; i < MOST; i++)
        in[i] = (unsigned char)"function (file.js:12)"[i % 21];
    size_t size = packed(MOST, 5000);
    CHECK_EQ(size > 0 && size < MOST / 50, true);
}

/* A block may end at any bit, be as long as the buffer, or be empty, which is no block. */
TEST(a_cut_block_comes_back)
{
    uint32_t wrong = 0;
    for (size_t i = 0; i < MOST; i++)
        in[i] = (unsigned char)(i * i >> 7);
    for (size_t piece = 1; piece < 40; piece++)
        wrong += packed_cut(300, piece, 1) == 0;
    wrong += packed_cut(MOST, JSP_GZIP_BLOCK, 1) == 0;
    wrong += packed_cut(MOST, JSP_GZIP_BLOCK - 1, 1) == 0;
    wrong += packed_cut(MOST, JSP_GZIP_BLOCK / 2, 2) == 0;
    CHECK_EQ(wrong, 0);
    CHECK_EQ(packed_cut(JSP_GZIP_BLOCK, JSP_GZIP_BLOCK, 1), packed(JSP_GZIP_BLOCK, 1000));
}

/* Each block has codes of its own: bytes of one kind after those of another one. */
TEST(a_cut_between_other_bytes_makes_the_file_smaller)
{
    enum { HALF = JSP_GZIP_BLOCK / 2 };
    uint32_t random = 1;
    for (size_t i = 0; i < 2 * HALF; i++) {
        random = random * 1664525 + 1013904223;
        in[i] = (unsigned char)((i < HALF ? 0 : 128) + (random >> 24) % (i < HALF ? 4 : 128));
    }
    size_t apart = packed_cut(2 * HALF, HALF, 1), together = packed(2 * HALF, HALF);
    CHECK(apart > 0);
    CHECK(apart < together);
}

TEST_MAIN()
