/* export/sink.c - the buffered output of an exporter.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sink.h"

#include <errno.h>
#include <stdlib.h>

enum { SINK_DIGITS = 20 };

void jsp_sink_init(struct jsp_sink *s, jsp_sink_write *write, void *context)
{
    s->write = write;
    s->context = context;
    s->error = 0;
    s->used = 0;
    s->total = 0;
}

static void sink_hand_on(struct jsp_sink *s, const void *bytes, size_t n)
{
    if (s->error == 0 && n > 0)
        s->error = s->write(s->context, bytes, n);
}

int jsp_sink_flush(struct jsp_sink *s)
{
    sink_hand_on(s, s->block, s->used);
    s->used = 0;
    return s->error;
}

void jsp_sink_put_long(struct jsp_sink *s, const void *bytes, size_t n)
{
    jsp_sink_flush(s);
    s->total += n;
    if (n >= sizeof s->block) {
        sink_hand_on(s, bytes, n);
    } else if (n > 0) {
        memcpy(s->block, bytes, n);
        s->used = n;
    }
}

void jsp_sink_u64(struct jsp_sink *s, uint64_t n)
{
    char digits[SINK_DIGITS];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    jsp_sink_put(s, digits + at, sizeof digits - at);
}

void jsp_sink_i64(struct jsp_sink *s, int64_t n)
{
    if (n < 0)
        jsp_sink_byte(s, '-');
    jsp_sink_u64(s, n < 0 ? -(uint64_t)n : (uint64_t)n);
}

int jsp_bytes_write(void *context, const void *bytes, size_t n)
{
    struct jsp_bytes *b = context;
    if (n > b->room - b->n) {
        size_t room = 2 * (b->n + n);
        char *more = realloc(b->at, room);
        if (!more)
            return -ENOMEM;
        b->at = more;
        b->room = room;
    }
    memcpy(b->at + b->n, bytes, n);
    b->n += n;
    return 0;
}

void jsp_bytes_free(struct jsp_bytes *b)
{
    free(b->at);
    *b = (struct jsp_bytes){ 0 };
}
