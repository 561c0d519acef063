/* capture/append.c - frames, appended to the writer's buffer; see writer.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "writer.h"

#include <errno.h>
#include <string.h>

#include "embedded.h"
#include "encode.h"
#include "sigsafe/room.h"

enum {
    APPEND_LEAST = 32,   /* do not begin a frame with less room */
    APPEND_TEXT = 4095,  /* longest command line, value or name; the rest is cut */
};

/* Begin a frame at the end of the buffer. Return false if less than a header and `spare`
 * would be left. */
static bool append_frame_at(const struct jsp_writer *w, struct jsp_encode *e,
                            enum jsp_wire_type type, int64_t time, size_t spare)
{
    struct jsp_encode_head head = { .time = time, .pid = w->pid, .cpu = -1,
                                    .type = (uint8_t)type };
    if (w->used + spare + APPEND_LEAST > w->capacity)
        return false;
    *e = (struct jsp_encode){ .at = w->bytes + w->used, .room = w->capacity - w->used - spare };
    jsp_encode_begin(e, &head);
    return true;
}

static bool append_frame(const struct jsp_writer *w, struct jsp_encode *e,
                         enum jsp_wire_type type)
{
    return append_frame_at(w, e, type, (int64_t)jsp_now_ns(CLOCK_MONOTONIC), 0);
}

/* End the frame, or drop it if it did not fit. */
static int append_end(struct jsp_writer *w, struct jsp_encode *e)
{
    if (e->is_cut)
        return -ENOBUFS;
    size_t len = jsp_encode_end(e);
    w->used += len;
    w->appended += len;
    return 0;
}

static struct jsp_read_text append_text(const char *text, size_t most)
{
    return (struct jsp_read_text){ text, (uint32_t)strnlen(text, most) };
}

int jsp_writer_process(struct jsp_writer *w, const char *command_line)
{
    struct jsp_encode e;
    if (!append_frame(w, &e, JSP_WIRE_PROCESS))
        return -ENOBUFS;
    jsp_encode_text(&e, append_text(command_line, APPEND_TEXT));
    return append_end(w, &e);
}

int jsp_writer_metadata(struct jsp_writer *w, const char *id, const char *value)
{
    struct jsp_read_pair pair = { append_text(id, 39), append_text(value, APPEND_TEXT) };
    struct jsp_encode e;
    if (!append_frame(w, &e, JSP_WIRE_METADATA))
        return -ENOBUFS;
    jsp_encode_metadata(&e, &pair);
    return append_end(w, &e);
}

int jsp_writer_map(struct jsp_writer *w, const struct jsp_read_map *map)
{
    struct jsp_encode e;
    if (!append_frame(w, &e, JSP_WIRE_MAP))
        return -ENOBUFS;
    jsp_encode_map(&e, map);
    return append_end(w, &e);
}

int jsp_writer_copy(struct jsp_writer *w, const void *frame)
{
    uint16_t len;
    memcpy(&len, frame, sizeof len);
    if (w->used + len + JSP_WRITER_SPARE > w->capacity)
        return -ENOBUFS;
    memcpy(w->bytes + w->used, frame, len);
    w->used += len;
    w->appended += len;
    return 0;
}

int jsp_writer_timestamp(struct jsp_writer *w)
{
    struct jsp_encode e;
    return append_frame(w, &e, JSP_WIRE_TIMESTAMP) ? append_end(w, &e) : -ENOBUFS;
}

int jsp_writer_jitmap(struct jsp_writer *w, uint64_t addr, const char *name)
{
    struct jsp_encode e;
    if (!append_frame(w, &e, JSP_WIRE_JITMAP))
        return -ENOBUFS;
    jsp_encode_names(&e);
    jsp_encode_name(&e, addr, append_text(name, APPEND_TEXT));
    return append_end(w, &e);
}

int jsp_writer_sample(struct jsp_writer *w, const struct jsp_writer_sample *sample)
{
    struct jsp_encode e;
    if (!append_frame_at(w, &e, JSP_WIRE_SAMPLE, (int64_t)sample->time_ns, JSP_WRITER_SPARE))
        return -ENOBUFS;
    jsp_encode_sample(&e, sample->tid, sample->n_addrs);
    jsp_encode_u64s(&e, sample->addrs, sample->n_addrs);
    return append_end(w, &e);
}

int jsp_writer_allocation(struct jsp_writer *w, const struct jsp_writer_allocation *a)
{
    const struct jsp_writer_sample *s = &a->sample;
    struct jsp_encode e;
    if (!append_frame_at(w, &e, JSP_WIRE_ALLOCATION, (int64_t)s->time_ns, JSP_WRITER_SPARE))
        return -ENOBUFS;
    jsp_encode_allocation(&e, &(struct jsp_encode_allocation){ a->number, a->size, s->tid,
                                                               s->n_addrs });
    jsp_encode_u64s(&e, s->addrs, s->n_addrs);
    return append_end(w, &e);
}

/* Append one chunk. A chunk without data is the last one. */
static int append_one_chunk(struct jsp_writer *w, const char *path, const void *data, size_t n)
{
    struct jsp_encode e;
    if (!append_frame(w, &e, JSP_WIRE_FILE_CHUNK))
        return -ENOBUFS;
    jsp_encode_chunk(&e, &(struct jsp_encode_chunk){ path, n, !data });
    jsp_encode_put(&e, data, n);
    return append_end(w, &e);
}

int jsp_writer_chunk(struct jsp_writer *w, const char *path, const void *data, size_t n)
{
    size_t frames = n / JSP_WIRE_MAX_CHUNK + 1;
    if (w->used + n + frames * (sizeof(struct jsp_wire_chunk) + JSP_WIRE_ALIGN) > w->capacity)
        return -ENOBUFS;
    for (size_t at = 0, piece; at < n; at += piece) {
        piece = n - at < JSP_WIRE_MAX_CHUNK ? n - at : JSP_WIRE_MAX_CHUNK;
        append_one_chunk(w, path, (const uint8_t *)data + at, piece);
    }
    return 0;
}

int jsp_writer_block(struct jsp_writer *w, const struct jsp_writer_block *block)
{
    uint8_t head[JSP_EMBEDDED_BLOCK];
    size_t n = jsp_embedded_block_put(head, block->first, block->count);
    struct jsp_encode e;
    if (!append_frame(w, &e, JSP_WIRE_FILE_CHUNK))
        return -ENOBUFS;
    jsp_encode_chunk(&e, &(struct jsp_encode_chunk){ block->path, n + block->n, false });
    jsp_encode_put(&e, head, n);
    jsp_encode_put(&e, block->data, block->n);
    return append_end(w, &e);
}

int jsp_writer_reserve(struct jsp_writer *w, const char *path, uint32_t n)
{
    struct jsp_encode e;
    if (w->base < 0)
        return 0;
    if (!append_frame(w, &e, JSP_WIRE_FILE_CHUNK))
        return -ENOBUFS;
    jsp_encode_chunk(&e, &(struct jsp_encode_chunk){ path, n, false });
    uint8_t *data = jsp_encode_room(&e, n);
    uint64_t slot = w->appended + e.used - n;
    if (data)
        memset(data, '\n', n);
    int err = append_end(w, &e);
    if (!err) {
        w->slot = slot;
        w->slot_bytes = n;
    }
    return err;
}

int jsp_writer_chunk_end(struct jsp_writer *w, const char *path)
{
    return append_one_chunk(w, path, NULL, 0);
}

int jsp_writer_file(struct jsp_writer *w, const char *path, const void *data, size_t n)
{
    for (size_t at = 0, piece; at < n; at += piece) {
        piece = n - at < JSP_WIRE_MAX_CHUNK ? n - at : JSP_WIRE_MAX_CHUNK;
        bool full = w->capacity - w->used < JSP_WIRE_MAX_FRAME;
        int err = full ? jsp_writer_flush_patiently(w) : 0;
        if (!err)
            err = append_one_chunk(w, path, (const uint8_t *)data + at, piece);
        if (err) {
            w->error = err; /* the file lacks its end */
            return err;
        }
    }
    return jsp_writer_chunk_end(w, path);
}
