/* image/xz.c - see xz.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "xz.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/block.h"
#include "lzma.h"

enum {
    XZ_STREAM_HEADER = 12,
    XZ_CHECKS = 16,       /* kinds of checksums after a block */
    XZ_FILTER_LZMA2 = 0x21,
    XZ_HAS_PACKED = 0x40, /* bits of a block's flags */
    XZ_HAS_SIZE = 0x80,
    XZ_FILTERS = 0x03,
    XZ_RESERVED = 0x3c,
    XZ_LZMA = 0x80,       /* bits of a chunk's first byte */
    XZ_NEW_STATE = 1,
    XZ_NEW_PROPERTIES = 2,
    XZ_NEW_DICTIONARY = 3,
};

struct xz {
    const uint8_t *in;
    size_t n;
    size_t at;          /* next byte of the input */
    struct jsp_lzma *lzma; /* NULL: only add up the sizes */
    uint64_t size;      /* bytes of output so far */
};

static bool xz_has(const struct xz *x, size_t n)
{
    return n <= x->n - x->at;
}

/* Skip a number of seven bits a byte, of nine bytes at most. */
static bool xz_skip_number(struct xz *x, size_t end)
{
    for (int i = 0; i < 9 && x->at < end; i++)
        if (!(x->in[x->at++] & 0x80))
            return true;
    return false;
}

/* Read the header of a block; `at` is its first byte, which is not 0. */
static int xz_block_header(struct xz *x)
{
    size_t size = ((size_t)x->in[x->at] + 1) * 4;
    if (!xz_has(x, size))
        return -EBADMSG;
    size_t end = x->at + size;
    uint8_t flags = x->in[x->at + 1];
    x->at += 2;
    if (flags & XZ_RESERVED)
        return -ENOTSUP;
    if ((flags & XZ_HAS_PACKED && !xz_skip_number(x, end)) ||
        (flags & XZ_HAS_SIZE && !xz_skip_number(x, end)))
        return -EBADMSG;
    if (flags & XZ_FILTERS || x->at >= end || x->in[x->at] != XZ_FILTER_LZMA2)
        return -ENOTSUP;
    x->at = end;
    return 0;
}

/* Read a chunk that is stored as it is. */
static int xz_stored(struct xz *x, uint8_t control)
{
    if (!xz_has(x, 3) || control > 2)
        return -EBADMSG;
    size_t size = ((size_t)x->in[x->at + 1] << 8 | x->in[x->at + 2]) + 1;
    x->at += 3;
    if (!xz_has(x, size))
        return -EBADMSG;
    if (x->lzma && control == 1)
        jsp_lzma_forget(x->lzma);
    if (x->lzma)
        jsp_lzma_store(x->lzma, x->in + x->at, size);
    x->at += size;
    x->size += size;
    return 0;
}

/* Read a chunk that is compressed. */
static int xz_packed(struct xz *x, uint8_t control)
{
    int fresh = control >> 5 & 3;
    size_t head = fresh >= XZ_NEW_PROPERTIES ? 6 : 5;
    if (!xz_has(x, head))
        return -EBADMSG;
    const uint8_t *p = x->in + x->at;
    size_t size = ((size_t)(control & 31) << 16 | (size_t)p[1] << 8 | p[2]) + 1;
    size_t packed = ((size_t)p[3] << 8 | p[4]) + 1;
    x->at += head;
    if (!xz_has(x, packed))
        return -EBADMSG;
    if (x->lzma) {
        if (fresh == XZ_NEW_DICTIONARY)
            jsp_lzma_forget(x->lzma);
        if (fresh >= XZ_NEW_PROPERTIES && !jsp_lzma_properties(x->lzma, p[5]))
            return -EBADMSG;
        if (fresh >= XZ_NEW_STATE)
            jsp_lzma_reset(x->lzma);
        if (!jsp_lzma_decode(x->lzma, x->in + x->at, packed, size))
            return -EBADMSG;
    }
    x->at += packed;
    x->size += size;
    return 0;
}

/* Read the chunks of a block, to the byte 0 that ends it. */
static int xz_chunks(struct xz *x)
{
    for (int err = 0; !err;) {
        if (!xz_has(x, 1))
            return -EBADMSG;
        uint8_t control = x->in[x->at];
        if (control == 0) {
            x->at++;
            return 0;
        }
        err = control & XZ_LZMA ? xz_packed(x, control) : xz_stored(x, control);
        if (err)
            return err;
        if (x->size > JSP_XZ_MOST)
            return -EBADMSG;
    }
    return -EBADMSG;
}

/* Read all blocks, up to the index. */
static int xz_stream(struct xz *x)
{
    static const uint8_t magic[] = { 0xfd, '7', 'z', 'X', 'Z', 0 };
    static const uint8_t checks[XZ_CHECKS] = { 0,  4,  4,  4,  8,  8,  8,  16,
                                               16, 16, 32, 32, 32, 64, 64, 64 };
    if (x->n < XZ_STREAM_HEADER || memcmp(x->in, magic, sizeof magic) != 0 || x->in[6] ||
        x->in[7] >= XZ_CHECKS)
        return -EBADMSG;
    x->at = XZ_STREAM_HEADER;
    while (xz_has(x, 2) && x->in[x->at] != 0) {
        int err = xz_block_header(x);
        if (!err)
            err = xz_chunks(x);
        if (err)
            return err;
        size_t after = (4 - x->at % 4) % 4 + checks[x->in[7]];
        if (!xz_has(x, after))
            return -EBADMSG;
        x->at += after;
    }
    return xz_has(x, 2) && x->size ? 0 : -EBADMSG;
}

int jsp_xz_decode(const uint8_t *in, size_t n, struct jsp_xz_output *out)
{
    struct xz sizes = { .in = in, .n = n };
    int err = xz_stream(&sizes);
    if (err)
        return err;
    struct jsp_xz_output made = { jsp_block_grow(NULL, sizes.size), sizes.size };
    struct xz x = { .in = in, .n = n, .lzma = jsp_block_zeros(1, sizeof *x.lzma) };
    err = made.bytes && x.lzma ? 0 : -ENOMEM;
    if (!err) {
        jsp_lzma_begin(x.lzma, made.bytes, made.size);
        err = xz_stream(&x);
    }
    jsp_block_free(x.lzma);
    if (err)
        jsp_block_free(made.bytes);
    else
        *out = made;
    return err;
}
