/* capture_builder.h - captures made in memory, valid and defective, in both byte orders.
 *
 * SPDX-License-Identifier: MIT
 *
 * For tests, generators and fuzzing seeds. Bytes are written one by one, from the
 * format's description and not through the project's own structs, so that a mistake
 * there shows. Running out of room is a bug of the caller and ends the program.
 */
#ifndef CAPTURE_BUILDER_H
#define CAPTURE_BUILDER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct builder {
    uint8_t *bytes;           /* owned */
    size_t size, room, frame; /* frame: where the last one began */
    bool is_big;
    int32_t pid, tid;
    int64_t time;
};

static inline void build_raw(struct builder *b, const void *data, size_t n)
{
    if (b->size + n > b->room) {
        b->room = 2 * (b->size + n) + 4096;
        b->bytes = realloc(b->bytes, b->room);
        if (!b->bytes)
            abort();
    }
    if (n)
        memcpy(b->bytes + b->size, data, n);
    b->size += n;
}

static inline void build_zero(struct builder *b, size_t n)
{
    for (; n > 0; n--)
        build_raw(b, "", 1);
}

static inline void build_put(struct builder *b, size_t at, uint64_t value, int width)
{
    for (int i = 0; i < width; i++)
        b->bytes[at + (size_t)i] =
            (uint8_t)(value >> 8 * (b->is_big ? width - 1 - i : i));
}

static inline void build_int(struct builder *b, uint64_t value, int width)
{
    build_zero(b, (size_t)width);
    build_put(b, b->size - (size_t)width, value, width);
}

/* Text in a field of `width`, or with its 0 when width is 0. */
static inline void build_text(struct builder *b, const char *text, size_t width)
{
    size_t n = strlen(text) + (width == 0);
    if (width && n > width)
        n = width;
    build_raw(b, text, n);
    build_zero(b, width ? width - n : 0);
}

static inline void build_start(struct builder *b, bool is_big)
{
    static const uint8_t magic[5] = { 0x5E, 0x97, 0xCA, 0xFD, 1 };
    *b = (struct builder){ .is_big = is_big, .pid = 100, .tid = 100, .time = 1000000000 };
    build_raw(b, magic, sizeof magic);
    build_int(b, !is_big, 1);
    build_zero(b, 2);
    build_text(b, "2026-01-02T03:04:05Z", 64);
    build_int(b, 1000000000, 8);
    build_int(b, 3000000000, 8);
    build_zero(b, 168);
}

/* Everything until build_end is the body of this frame. */
static inline void build_begin(struct builder *b, int type)
{
    b->frame = b->size;
    build_int(b, 0, 2);
    build_int(b, 0, 2);
    build_int(b, (uint32_t)b->pid, 4);
    build_int(b, (uint64_t)(b->time += 1000000), 8);
    build_int(b, (uint64_t)type, 1);
    build_zero(b, 7);
}

static inline void build_end(struct builder *b)
{
    build_zero(b, (8 - b->size % 8) % 8);
    build_put(b, b->frame, b->size - b->frame, 2);
}

static inline void build_sample(struct builder *b, const uint64_t *addrs, int n)
{
    build_begin(b, 2);
    build_int(b, (uint64_t)n, 2);
    build_int(b, 0, 2);
    build_int(b, (uint32_t)b->tid, 4);
    for (int i = 0; i < n; i++)
        build_int(b, addrs[i], 8);
    build_end(b);
}

static inline void build_map(struct builder *b, uint64_t start, uint64_t end,
                             const char *path)
{
    build_begin(b, 3);
    build_int(b, start, 8);
    build_int(b, end, 8);
    build_zero(b, 16);
    build_text(b, path, 0);
    build_end(b);
}

static inline void build_process(struct builder *b, const char *command)
{
    build_begin(b, 4);
    build_text(b, command, 0);
    build_end(b);
}

static inline void build_jit(struct builder *b, uint64_t addr, const char *name)
{
    build_begin(b, 7);
    build_int(b, 1, 4);
    build_int(b, addr, 8);
    build_text(b, name, 0);
    build_end(b);
}

static inline void build_metadata(struct builder *b, const char *id, const char *value)
{
    build_begin(b, 11);
    build_text(b, id, 40);
    build_text(b, value, 0);
    build_end(b);
}

static inline void build_chunk(struct builder *b, const char *path, const void *data,
                               size_t n)
{
    build_begin(b, 13);
    build_int(b, b->is_big ? 0x8000 : 1, 2);
    build_int(b, n, 2);
    build_text(b, path, 256);
    build_raw(b, data, n);
    build_end(b);
}

static inline void build_mark(struct builder *b, int64_t duration, const char *group,
                              const char *name, const char *message)
{
    build_begin(b, 10);
    build_int(b, (uint64_t)duration, 8);
    build_text(b, group, 24);
    build_text(b, name, 40);
    build_text(b, message, 0);
    build_end(b);
}

/* A counter: its group, its name and what it counts. */
static inline void build_counter(struct builder *b, uint32_t id, const char *const texts[3],
                                 bool is_real)
{
    build_begin(b, 8);
    build_int(b, 1, 2);
    build_zero(b, 6);
    build_text(b, texts[0], 32);
    build_text(b, texts[1], 32);
    build_text(b, texts[2], 52);
    build_int(b, b->is_big ? id << 8 | is_real : id | (uint32_t)is_real << 24, 4);
    build_zero(b, 8);
    build_end(b);
}

static inline void build_value(struct builder *b, uint32_t id, uint64_t bits)
{
    build_begin(b, 9);
    build_int(b, 1, 2);
    build_zero(b, 6);
    build_int(b, id, 4);
    build_zero(b, 28);
    build_int(b, bits, 8);
    build_zero(b, 56);
    build_end(b);
}

static inline size_t build_varint(uint8_t *to, uint64_t value)
{
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        to[n++] = (uint8_t)(value | 0x80);
    to[n++] = (uint8_t)value;
    return n;
}

static inline uint64_t build_tag(uint32_t id)
{
    return 0xE000000000000000u | id;
}

#endif
