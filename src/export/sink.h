/* export/sink.h - the buffered output of an exporter.
 *
 * Exporters write many small pieces. The sink collects them and passes them on in blocks.
 * It keeps the first failure and drops everything after it; jsp_sink_flush returns it, so
 * no exporter checks each piece. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_EXPORT_SINK_H
#define JSP_EXPORT_SINK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { JSP_SINK_BLOCK = 1 << 16 };

/* Write all `n` bytes. Return 0 or a negative errno. */
typedef int jsp_sink_write(void *context, const void *bytes, size_t n);

struct jsp_sink {
    jsp_sink_write *write;
    void *context;
    int error;      /* the first one, negative errno */
    size_t used;    /* bytes in `block` */
    uint64_t total; /* all bytes put, written or not */
    char block[JSP_SINK_BLOCK];
};

/* Lay out an empty sink, which passes its bytes to `write`. */
void jsp_sink_init(struct jsp_sink *s, jsp_sink_write *write, void *context);

/* Pass on the remaining bytes. Return 0 or the first error. */
int jsp_sink_flush(struct jsp_sink *s);

/* Put bytes that do not fit into the block. */
void jsp_sink_put_long(struct jsp_sink *s, const void *bytes, size_t n);

/* Put `n` bytes. */
static inline void jsp_sink_put(struct jsp_sink *s, const void *bytes, size_t n)
{
    if (n > sizeof s->block - s->used) {
        jsp_sink_put_long(s, bytes, n);
        return;
    }
    if (n == 0)
        return; /* the pointer may be NULL */
    memcpy(s->block + s->used, bytes, n);
    s->used += n;
    s->total += n;
}

/* Put a byte. */
static inline void jsp_sink_byte(struct jsp_sink *s, char byte)
{
    if (s->used == sizeof s->block)
        jsp_sink_put_long(s, NULL, 0);
    s->block[s->used++] = byte;
    s->total++;
}

/* Put a text that ends in NUL. */
static inline void jsp_sink_text(struct jsp_sink *s, const char *text)
{
    jsp_sink_put(s, text, strlen(text));
}

/* Put a number, in decimal. */
void jsp_sink_u64(struct jsp_sink *s, uint64_t n);

/* Put a number that may be below 0, in decimal. */
void jsp_sink_i64(struct jsp_sink *s, int64_t n);

/* Memory as the target of a sink: all bytes that were put, for callers that need them
 * twice. */
struct jsp_bytes {
    char *at; /* owned */
    size_t n, room;
};

/* Append the bytes to the jsp_bytes that is the context. A jsp_sink_write. */
int jsp_bytes_write(void *context, const void *bytes, size_t n);

/* Free the bytes. */
void jsp_bytes_free(struct jsp_bytes *b);

/* -- gzip.c: a gzip file around bytes. The command uses no library but libc, so this compresses by
 * itself: earlier bytes are found again, and each block has Huffman's codes of its own. */

enum { JSP_GZIP_BLOCK = 65536, JSP_GZIP_HASH = 14 };

struct jsp_gzip {
    struct jsp_sink *out;
    uint32_t crc, size;
    uint32_t bits, n_bits; /* that fill no byte yet */
    uint32_t n;            /* bytes of the block that is being gathered */
    unsigned char bytes[JSP_GZIP_BLOCK];
    uint32_t head[1 << JSP_GZIP_HASH], before[JSP_GZIP_BLOCK]; /* equal bytes, the latest first */
    uint32_t tokens[JSP_GZIP_BLOCK], n_tokens; /* a byte, or the length << 16 | distance - 1 */
};

/* Begin a gzip file in a sink. */
void jsp_gzip_start(struct jsp_gzip *g, struct jsp_sink *out);

/* Compress bytes; the context is a jsp_gzip. A jsp_sink_write. */
int jsp_gzip_write(void *context, const void *bytes, size_t n);

/* End a block: what follows has other bytes. */
void jsp_gzip_cut(struct jsp_gzip *g);

/* End the file. */
void jsp_gzip_end(struct jsp_gzip *g);

#endif
