/* export/gzip.c - a gzip file around bytes, without compressing them (RFC 1952, RFC 1951).
 *
 * SPDX-License-Identifier: MIT
 */
#include "sink.h"

enum { GZIP_STORED = 65535, GZIP_LAST = 1 };

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

static void gzip_number(struct jsp_sink *out, uint32_t n, int width)
{
    for (int i = 0; i < width; i++, n >>= 8)
        jsp_sink_byte(out, (char)(n & 0xFF));
}

static void gzip_block(struct jsp_gzip *g, int last, const char *at, size_t n)
{
    jsp_sink_byte(g->out, (char)last);
    gzip_number(g->out, (uint32_t)n, 2);
    gzip_number(g->out, ~(uint32_t)n, 2);
    jsp_sink_put(g->out, at, n);
}

void jsp_gzip_start(struct jsp_gzip *g, struct jsp_sink *out)
{
    /* magic, deflate, no flags, no time, no hint, made on Unix */
    static const char head[10] = { '\x1f', '\x8b', 8, 0, 0, 0, 0, 0, 0, 3 };
    *g = (struct jsp_gzip){ .out = out };
    jsp_sink_put(out, head, sizeof head);
}

int jsp_gzip_write(void *context, const void *bytes, size_t n)
{
    struct jsp_gzip *g = context;
    const char *at = bytes;
    g->crc = gzip_crc(g->crc, bytes, n);
    g->size += (uint32_t)n;
    while (n > 0) {
        size_t part = n < GZIP_STORED ? n : GZIP_STORED;
        gzip_block(g, 0, at, part);
        at += part;
        n -= part;
    }
    return g->out->error;
}

void jsp_gzip_end(struct jsp_gzip *g)
{
    gzip_block(g, GZIP_LAST, "", 0);
    gzip_number(g->out, g->crc, 4);
    gzip_number(g->out, g->size, 4);
}
