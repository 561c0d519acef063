/* export/sink.h - bytes on their way out of an exporter.
 *
 * SPDX-License-Identifier: MIT
 *
 * Exporters write a great many small pieces. They are gathered here and handed on in
 * blocks; the first failure is kept, everything after it is dropped, and jsp_sink_flush
 * tells of it, so that no exporter checks each piece. One thread.
 */
#ifndef JSP_EXPORT_SINK_H
#define JSP_EXPORT_SINK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { JSP_SINK_BLOCK = 1 << 16 };

/* Take all `n` bytes: 0, or a negative errno. */
typedef int jsp_sink_write(void *context, const void *bytes, size_t n);

struct jsp_sink {
    jsp_sink_write *write;
    void *context;
    int error;      /* the first one, negative errno */
    size_t used;    /* of block */
    uint64_t total; /* bytes put, written or not */
    char block[JSP_SINK_BLOCK];
};

void jsp_sink_init(struct jsp_sink *s, jsp_sink_write *write, void *context);

/* Hand on what is left. 0, or the first error there was. */
int jsp_sink_flush(struct jsp_sink *s);

/* More than the block has room for. */
void jsp_sink_put_long(struct jsp_sink *s, const void *bytes, size_t n);

static inline void jsp_sink_put(struct jsp_sink *s, const void *bytes, size_t n)
{
    if (n > sizeof s->block - s->used) {
        jsp_sink_put_long(s, bytes, n);
        return;
    }
    if (n == 0)
        return; /* there may be no bytes to point to */
    memcpy(s->block + s->used, bytes, n);
    s->used += n;
    s->total += n;
}

static inline void jsp_sink_byte(struct jsp_sink *s, char byte)
{
    if (s->used == sizeof s->block)
        jsp_sink_put_long(s, NULL, 0);
    s->block[s->used++] = byte;
    s->total++;
}

static inline void jsp_sink_text(struct jsp_sink *s, const char *text)
{
    jsp_sink_put(s, text, strlen(text));
}

void jsp_sink_u64(struct jsp_sink *s, uint64_t n); /* in decimal */
void jsp_sink_i64(struct jsp_sink *s, int64_t n);

/* Memory as the end of a sink: everything that was put, for those who need it twice. */
struct jsp_bytes {
    char *at; /* owned */
    size_t n, room;
};
int jsp_bytes_write(void *context, const void *bytes, size_t n); /* a jsp_bytes */
void jsp_bytes_free(struct jsp_bytes *b);

#endif
