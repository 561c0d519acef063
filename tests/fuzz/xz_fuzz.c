/* xz_fuzz.c - any bytes as an xz file, and as the LZMA of a chunk whose head is whole.
 *
 * A success has written the whole output, which is below the bound.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "base/block.h"
#include "image/xz.h"

enum { FUZZ_HEAD = 30, FUZZ_TAIL = 16, FUZZ_MOST = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_decode(const uint8_t *data, size_t size)
{
    unsigned seen = 0;
    struct jsp_xz_output out;
    if (jsp_xz_decode(data, size, &out) != 0)
        return;
    if (out.size == 0 || out.size > JSP_XZ_MOST)
        abort();
    for (size_t i = 0; i < out.size; i++)
        seen += out.bytes[i];
    __asm__ volatile("" : : "r"(seen)); /* a sanitizer sees bytes that nothing wrote */
    jsp_block_free(out.bytes);
}

/* The first three bytes choose the output's size and lc, lp and pb; the others are the chunk. */
static void fuzz_chunk(const uint8_t *data, size_t size)
{
    static const uint8_t head[FUZZ_HEAD] = { 0xfd, '7', 'z', 'X', 'Z', 0, 0, 0, 0, 0, 0, 0,
                                             2, 0, 0x21, 1, 0x16, 0, 0, 0, 0, 0, 0, 0, 0xe0 };
    static uint8_t file[FUZZ_HEAD + FUZZ_MOST + FUZZ_TAIL];
    if (size < 4 || size - 3 > FUZZ_MOST)
        return;
    size_t packed = size - 3;
    memcpy(file, head, sizeof head);
    memcpy(file + 25, data, 2);
    file[27] = (uint8_t)((packed - 1) >> 8);
    file[28] = (uint8_t)(packed - 1);
    file[29] = data[2] % 225;
    memcpy(file + FUZZ_HEAD, data + 3, packed);
    memset(file + FUZZ_HEAD + packed, 0, FUZZ_TAIL);
    fuzz_decode(file, FUZZ_HEAD + packed + FUZZ_TAIL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_decode(data, size);
    fuzz_chunk(data, size);
    return 0;
}
