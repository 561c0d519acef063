/* export/gzip.c - a gzip file (RFC 1952) whose blocks have deflate's fixed codes (RFC 1951).
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdbool.h>
#include <string.h>

#include "sink.h"

enum {
    GZIP_FAR = 32768,  /* the greatest distance of a match */
    GZIP_LEAST = 4,    /* bytes of a match that is looked for */
    GZIP_MOST = 258,
    GZIP_TRIES = 16,   /* earlier places that are compared */
    GZIP_END = 256,    /* the symbol that ends a block */
};

static uint32_t gzip_crc(uint32_t crc, const unsigned char *at, size_t n)
{
    static uint32_t table[256];
    for (uint32_t i = 1; table[255] == 0 && i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xEDB88320u : 0);
    }
    crc = ~crc;
    while (n-- > 0)
        crc = crc >> 8 ^ table[(crc ^ *at++) & 0xFF];
    return ~crc;
}

static void gzip_number(struct jsp_sink *out, uint32_t n)
{
    for (int i = 0; i < 4; i++, n >>= 8)
        jsp_sink_byte(out, (char)(n & 0xFF));
}

/* -- Bits --------------------------------------------------------------------------- */

/* Put the low `n` bits, at most 16, the lowest first. */
static void gzip_bits(struct jsp_gzip *g, uint32_t bits, uint32_t n)
{
    g->bits |= bits << g->n_bits;
    for (g->n_bits += n; g->n_bits >= 8; g->n_bits -= 8, g->bits >>= 8)
        jsp_sink_byte(g->out, (char)(g->bits & 0xFF));
}

/* Codes are put with their highest bit first. */
static void gzip_code(struct jsp_gzip *g, uint32_t code, uint32_t n)
{
    uint32_t turned = 0;
    for (uint32_t i = 0; i < n; i++)
        turned |= (code >> i & 1) << (n - 1 - i);
    gzip_bits(g, turned, n);
}

/* A byte, the end, or a length, in the fixed code. */
static void gzip_symbol(struct jsp_gzip *g, uint32_t symbol)
{
    if (symbol < 144)
        gzip_code(g, 0x30 + symbol, 8);
    else if (symbol < 256)
        gzip_code(g, 0x190 + symbol - 144, 9);
    else if (symbol < 280)
        gzip_code(g, symbol - 256, 7);
    else
        gzip_code(g, 0xC0 + symbol - 280, 8);
}

static uint32_t gzip_log2(uint32_t n)
{
    return 31 - (uint32_t)__builtin_clz(n);
}

static void gzip_match(struct jsp_gzip *g, uint32_t length, uint32_t distance)
{
    uint32_t n = length - 3, d = distance - 1;
    uint32_t extra = n < 8 || length == GZIP_MOST ? 0 : gzip_log2(n) - 2;
    gzip_symbol(g, length == GZIP_MOST ? 285 : 257 + 4 * extra + (n >> extra));
    gzip_bits(g, n & ((1u << extra) - 1), extra);
    extra = d < 4 ? 0 : gzip_log2(d) - 1;
    gzip_code(g, 2 * extra + (d >> extra), 5);
    gzip_bits(g, d & ((1u << extra) - 1), extra);
}

/* -- Matches -------------------------------------------------------------------------- */

static uint32_t *gzip_head(struct jsp_gzip *g, uint32_t at)
{
    uint32_t four;
    memcpy(&four, g->bytes + at, sizeof four);
    return &g->head[four * 2654435761u >> (32 - JSP_GZIP_HASH)];
}

/* Let later places find this one. Places are counted from 1: 0 is none. */
static void gzip_remember(struct jsp_gzip *g, uint32_t at)
{
    if (at + GZIP_LEAST > g->n)
        return;
    uint32_t *head = gzip_head(g, at);
    g->before[at] = *head;
    *head = at + 1;
}

/* Return the length of the longest match among the latest places with these four bytes, or 0. */
static uint32_t gzip_find(struct jsp_gzip *g, uint32_t at, uint32_t *distance)
{
    uint32_t best = 0, most = g->n - at < GZIP_MOST ? g->n - at : GZIP_MOST;
    if (most < GZIP_LEAST)
        return 0;
    uint32_t next = *gzip_head(g, at);
    for (int tries = 0; next && at - (next - 1) <= GZIP_FAR && tries < GZIP_TRIES; tries++) {
        const unsigned char *a = g->bytes + next - 1, *b = g->bytes + at;
        uint32_t n = 0;
        while (n < most && a[n] == b[n])
            n++;
        if (n > best) {
            best = n;
            *distance = at - (next - 1);
        }
        next = g->before[next - 1];
    }
    return best >= GZIP_LEAST ? best : 0;
}

/* Write what was gathered as a block; it refers to no block before. */
static void gzip_block(struct jsp_gzip *g, bool is_last)
{
    uint32_t distance = 0;
    memset(g->head, 0, sizeof g->head);
    gzip_bits(g, is_last, 1);
    gzip_bits(g, 1, 2); /* fixed codes */
    for (uint32_t at = 0; at < g->n;) {
        uint32_t n = gzip_find(g, at, &distance);
        if (n)
            gzip_match(g, n, distance);
        else
            gzip_symbol(g, g->bytes[at]);
        for (n = n ? n : 1; n > 0; n--)
            gzip_remember(g, at++);
    }
    gzip_symbol(g, GZIP_END);
    g->n = 0;
}

/* -- The file --------------------------------------------------------------------------- */

void jsp_gzip_start(struct jsp_gzip *g, struct jsp_sink *out)
{
    /* magic, deflate, no flags, no time, no hint, made on Unix */
    static const char head[10] = { '\x1f', '\x8b', 8, 0, 0, 0, 0, 0, 0, 3 };
    g->out = out;
    g->crc = g->size = g->bits = g->n_bits = g->n = 0;
    jsp_sink_put(out, head, sizeof head);
}

int jsp_gzip_write(void *context, const void *bytes, size_t n)
{
    struct jsp_gzip *g = context;
    const unsigned char *at = bytes;
    g->crc = gzip_crc(g->crc, bytes, n);
    g->size += (uint32_t)n;
    while (n > 0) {
        size_t part = sizeof g->bytes - g->n;
        part = n < part ? n : part;
        memcpy(g->bytes + g->n, at, part);
        g->n += (uint32_t)part;
        at += part;
        n -= part;
        if (g->n == sizeof g->bytes)
            gzip_block(g, false);
    }
    return g->out->error;
}

void jsp_gzip_end(struct jsp_gzip *g)
{
    gzip_block(g, true);
    gzip_bits(g, 0, (8 - g->n_bits) % 8);
    gzip_number(g->out, g->crc);
    gzip_number(g->out, g->size);
}
