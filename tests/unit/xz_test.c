/* xz_test.c - src/image/xz.c: what `xz` wrote comes back, and damaged files do no harm.
 *
 * SPDX-License-Identifier: MIT
 */
#include "image/xz.h"

#include <errno.h>
#include <stdlib.h>

#include "base/block.h"
#include "test.h"

enum { SENTENCES = 3, RAMP = 30, ZEROS = 40 };

static const char sentence[] =
    "The quick brown fox. The quick brown box: the lazy dog, the crazy dog; ";
static const char tail[] = "abcabcabdabcabd";

/* Literals, matches, and each kind of repeated match: 298 bytes. */
static const uint8_t packed[] = {
    0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x01, 0x69, 0x22, 0xde, 0x36, 0x02,
    0x00, 0x21, 0x01, 0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0xe0, 0x01,
    0x29, 0x00, 0x5d, 0x5d, 0x00, 0x2a, 0x1a, 0x08, 0xa2, 0x03, 0x25, 0x66, 0xf1,
    0x4b, 0x78, 0xc5, 0xa2, 0x05, 0xff, 0x2e, 0xe6, 0xd9, 0xd2, 0x20, 0x1a, 0xaf,
    0x02, 0xed, 0x92, 0xd2, 0xd0, 0x81, 0xe3, 0x34, 0x97, 0x71, 0xeb, 0xbd, 0xe4,
    0x4c, 0x3c, 0x82, 0xc4, 0xa3, 0x49, 0xae, 0x0a, 0xe9, 0x78, 0x3a, 0x3c, 0xc4,
    0xf0, 0x5c, 0xed, 0x8c, 0xe0, 0x6d, 0xa9, 0x81, 0x80, 0x2c, 0xba, 0x1f, 0x0a,
    0xaf, 0x0b, 0x9f, 0x03, 0x19, 0x00, 0xe8, 0xe7, 0x13, 0xdc, 0xbc, 0xd7, 0x4f,
    0x3b, 0xf6, 0x4a, 0x36, 0xe6, 0x8b, 0x85, 0xed, 0x28, 0xc1, 0xec, 0x4f, 0xb6,
    0x76, 0x40, 0x3f, 0x5b, 0xe0, 0x16, 0x00, 0x00, 0x00, 0x00, 0x00, 0xd8, 0xc6,
    0xd5, 0xef, 0x00, 0x01, 0x75, 0xaa, 0x02, 0x00, 0x00, 0x00, 0x13, 0x07, 0x24,
    0x08, 0x3e, 0x30, 0x0d, 0x8b, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x59, 0x5a,
};

/* 40 bytes without a pattern, which xz stores as they are. */
static const uint8_t stored[] = {
    0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x01, 0x69, 0x22, 0xde, 0x36, 0x02,
    0x00, 0x21, 0x01, 0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0x01, 0x00,
    0x27, 0x00, 0x8a, 0x22, 0xc8, 0x7c, 0x3e, 0x0e, 0xec, 0xf5, 0xef, 0xf7, 0x0d,
    0x31, 0x63, 0xa3, 0xf1, 0x6a, 0xd4, 0x4c, 0xd2, 0x66, 0x08, 0xb8, 0x76, 0x5f,
    0x39, 0x21, 0x17, 0x1b, 0x2d, 0x4d, 0x7b, 0xd4, 0x1e, 0x76, 0xdc, 0x50, 0xd2,
    0x62, 0x00, 0x00, 0xe5, 0xd0, 0xaf, 0x2c, 0x00, 0x01, 0x3c, 0x28, 0x2e, 0x64,
    0xc0, 0x66, 0x90, 0x42, 0x99, 0x0d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x01, 0x59,
    0x5a,
};

static size_t expected(uint8_t *out)
{
    uint8_t *at = out;
    for (int i = 0; i < SENTENCES; i++, at += sizeof sentence - 1)
        memcpy(at, sentence, sizeof sentence - 1);
    for (int i = 0; i < RAMP; i++)
        *at++ = (uint8_t)(200 + i);
    memset(at, 0, ZEROS);
    memcpy(at + ZEROS, tail, sizeof tail - 1);
    return (size_t)(at + ZEROS + sizeof tail - 1 - out);
}

/* Decode a copy of exactly this size, so that a sanitizer sees each read outside. */
static int decoded(const uint8_t *in, size_t n, struct jsp_xz_output *out)
{
    uint8_t *copy = malloc(n ? n : 1);
    *out = (struct jsp_xz_output){ NULL, 0 };
    if (!CHECK(copy != NULL))
        return -ENOMEM;
    memcpy(copy, in, n);
    int err = jsp_xz_decode(copy, n, out);
    free(copy);
    return err;
}

TEST(packed_file_comes_back)
{
    uint8_t want[512];
    size_t n = expected(want);
    struct jsp_xz_output out;
    if (CHECK_EQ(decoded(packed, sizeof packed, &out), 0) && CHECK_EQ(out.size, n))
        CHECK_EQ(memcmp(out.bytes, want, n), 0);
    jsp_block_free(out.bytes);
}

TEST(stored_file_comes_back)
{
    struct jsp_xz_output out;
    if (CHECK_EQ(decoded(stored, sizeof stored, &out), 0) && CHECK_EQ(out.size, 40))
        for (unsigned i = 0; i < 40; i++)
            CHECK_EQ(out.bytes[i], (i * i * 7 + i * 131 + (i >> 3) * 29) & 255);
    jsp_block_free(out.bytes);
}

/* The decoder reads two bytes of the index, which ends the file. */
TEST(truncated_file_is_refused)
{
    struct jsp_xz_output out;
    size_t shortest = 0;
    for (size_t n = 0; n < sizeof packed; n++)
        if (decoded(packed, n, &out) == 0) {
            shortest = shortest ? shortest : n;
            jsp_block_free(out.bytes);
        } else {
            CHECK_EQ(shortest, 0);
            CHECK(out.bytes == NULL);
        }
    CHECK(shortest > sizeof packed - 24);
}

TEST(file_with_another_filter_is_refused)
{
    uint8_t copy[sizeof packed];
    struct jsp_xz_output out;
    memcpy(copy, packed, sizeof copy);
    copy[14] = 0x04; /* the filter of x86 code */
    CHECK_EQ(decoded(copy, sizeof copy, &out), -ENOTSUP);
    copy[0]++;
    CHECK_EQ(decoded(copy, sizeof copy, &out), -EBADMSG);
}

/* Each chunk claims 2 MiB from one byte, together 78 GiB, for which -ENOMEM would be the answer. */
TEST(file_that_would_not_fit_is_refused_before_memory_is_taken)
{
    enum { CHUNKS = 40000, CHUNK = 7, HEAD = 24 };
    static uint8_t bomb[HEAD + CHUNKS * CHUNK + 64];
    struct jsp_xz_output out;
    memcpy(bomb, packed, HEAD);
    for (int i = 0; i < CHUNKS; i++)
        memcpy(bomb + HEAD + i * CHUNK, (uint8_t[CHUNK]){ 0xff, 0xff, 0xff, 0, 0, 0x5d, 0 },
               CHUNK);
    CHECK_EQ(decoded(bomb, sizeof bomb, &out), -EBADMSG);
    CHECK(out.bytes == NULL);
}

/* The index and checksums are not read, so some changes keep the output. */
TEST(changed_bits_do_no_harm)
{
    uint8_t copy[sizeof packed];
    struct jsp_xz_output out;
    int refused = 0;
    for (size_t bit = 0; bit < 8 * sizeof packed; bit++) {
        memcpy(copy, packed, sizeof copy);
        copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
        int err = decoded(copy, sizeof copy, &out);
        CHECK(err ? out.bytes == NULL : out.size > 0);
        refused += err != 0;
        jsp_block_free(out.bytes);
    }
    CHECK(refused > 4 * (int)sizeof packed);
}

TEST_MAIN()
