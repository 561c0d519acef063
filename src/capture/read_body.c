/* capture/read_body.c - reads the body of each frame type, completely inside its frame.
 *
 * SPDX-License-Identifier: MIT
 */
#include "read.h"

#include "read_stacks.h"
#include "wire.h"

static bool read_refuse(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                        enum jsp_read_cause why)
{
    jsp_read_count(c->defects, why, f->offset);
    return false;
}

static bool read_room(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                      size_t bytes)
{
    return f->len >= bytes || read_refuse(c, f, JSP_READ_SHORT);
}

/* Return the text of a field of fixed width, which may lack a NUL. */
static struct jsp_read_text read_field(const struct jsp_read_frame *f, size_t at,
                                       size_t width)
{
    const char *s = (const char *)f->at + at;
    return (struct jsp_read_text){ s, (uint32_t)strnlen(s, width) };
}

/* Return the text from `at` to the frame's end, where a NUL is required. */
static struct jsp_read_text read_tail(const struct jsp_read_cursor *c,
                                      const struct jsp_read_frame *f, size_t at)
{
    struct jsp_read_text t = read_field(f, at, f->len - at);
    if (t.len == f->len - at && f->len > at)
        jsp_read_count(c->defects, JSP_READ_STRING, f->offset);
    return t;
}

bool jsp_read_sample(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                     struct jsp_read_sample *out)
{
    out->node = f->packed.node;
    if (out->node) {
        out->addrs = NULL;
        out->n_addrs = c->capture->stacks->nodes.at[out->node].depth;
        out->tid = f->packed.tid;
        return true;
    }
    if (!read_room(c, f, sizeof(struct jsp_wire_sample)))
        return false;
    out->n_addrs =
        jsp_read_u16(c->capture, f->at + offsetof(struct jsp_wire_sample, n_addrs));
    out->tid =
        (int32_t)jsp_read_u32(c->capture, f->at + offsetof(struct jsp_wire_sample, tid));
    out->addrs = f->at + sizeof(struct jsp_wire_sample);
    if (out->n_addrs > (f->len - sizeof(struct jsp_wire_sample)) / sizeof(uint64_t))
        return read_refuse(c, f, JSP_READ_ADDRS);
    return out->n_addrs > 0 || read_refuse(c, f, JSP_READ_EMPTY);
}

bool jsp_read_allocation(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                         struct jsp_read_allocation *out)
{
    const struct jsp_read *r = c->capture;
    if (!read_room(c, f, sizeof(struct jsp_wire_allocation)))
        return false;
    out->block = jsp_read_u64(r, f->at + offsetof(struct jsp_wire_allocation, block));
    out->size = (int64_t)jsp_read_u64(r, f->at + offsetof(struct jsp_wire_allocation, size));
    out->at = (struct jsp_read_sample){
        .addrs = f->at + sizeof(struct jsp_wire_allocation),
        .n_addrs = jsp_read_u16(r, f->at + offsetof(struct jsp_wire_allocation, n_addrs)),
        .tid = (int32_t)jsp_read_u32(r, f->at + offsetof(struct jsp_wire_allocation, tid)),
    };
    if (out->at.n_addrs > (f->len - sizeof(struct jsp_wire_allocation)) / sizeof(uint64_t))
        return read_refuse(c, f, JSP_READ_ADDRS);
    return out->at.n_addrs > 0 || out->size <= 0 || read_refuse(c, f, JSP_READ_EMPTY);
}

bool jsp_read_is_allocation(const struct jsp_read *r, const struct jsp_read_frame *f)
{
    size_t at = offsetof(struct jsp_wire_allocation, size);
    return f->type == JSP_WIRE_ALLOCATION && f->len >= sizeof(struct jsp_wire_allocation) &&
           (int64_t)jsp_read_u64(r, f->at + at) > 0;
}

/* Return the file's build id, which may follow the path's NUL after "@". */
static struct jsp_read_text read_build_id(const struct jsp_read_frame *f,
                                          struct jsp_read_text path)
{
    const char *at = path.at + path.len, *end = (const char *)f->at + f->len;
    if (end - at < 3 || at[1] != '@')
        return (struct jsp_read_text){ at, 0 };
    at += 2;
    return (struct jsp_read_text){ at, (uint32_t)strnlen(at, (size_t)(end - at)) };
}

bool jsp_read_map(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                  struct jsp_read_map *out)
{
    const struct jsp_read *r = c->capture;
    if (!read_room(c, f, sizeof(struct jsp_wire_map)))
        return false;
    out->start = jsp_read_u64(r, f->at + offsetof(struct jsp_wire_map, start));
    out->end = jsp_read_u64(r, f->at + offsetof(struct jsp_wire_map, end));
    out->offset = jsp_read_u64(r, f->at + offsetof(struct jsp_wire_map, offset));
    out->inode = jsp_read_u64(r, f->at + offsetof(struct jsp_wire_map, inode));
    out->path = read_tail(c, f, sizeof(struct jsp_wire_map));
    out->build_id = read_build_id(f, out->path);
    return true;
}

bool jsp_read_process(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                      struct jsp_read_text *out)
{
    *out = read_tail(c, f, sizeof(struct jsp_wire_frame));
    return true;
}

bool jsp_read_fork(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                   int32_t *child)
{
    size_t at = sizeof(struct jsp_wire_frame);
    if (!read_room(c, f, at + sizeof *child))
        return false;
    *child = (int32_t)jsp_read_u32(c->capture, f->at + at);
    return true;
}

bool jsp_read_mark(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                   struct jsp_read_mark *out)
{
    if (!read_room(c, f, sizeof(struct jsp_wire_mark)))
        return false;
    out->duration = (int64_t)jsp_read_u64(
        c->capture, f->at + offsetof(struct jsp_wire_mark, duration));
    out->group = read_field(f, offsetof(struct jsp_wire_mark, group), 24);
    out->name = read_field(f, offsetof(struct jsp_wire_mark, name), 40);
    out->message = read_tail(c, f, sizeof(struct jsp_wire_mark));
    return true;
}

enum { READ_VALUES = 8 }; /* in one group of a CTRSET */

bool jsp_read_counters(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                       struct jsp_read_counters *out)
{
    size_t head = offsetof(struct jsp_wire_ctrdef, counter);
    bool is_set = f->type == JSP_WIRE_CTRSET;
    size_t each = is_set ? sizeof(struct jsp_wire_values) : sizeof(struct jsp_wire_counter);
    if (!read_room(c, f, head))
        return false;
    uint32_t n = jsp_read_u16(c->capture, f->at + offsetof(struct jsp_wire_ctrdef, n));
    uint32_t room = (uint32_t)((f->len - head) / each);
    if (n > room)
        jsp_read_count(c->defects, JSP_READ_VALUES, f->offset);
    out->at = 0;
    out->n = (n < room ? n : room) * (is_set ? READ_VALUES : 1);
    return true;
}

/* Skip unused places, which have id 0. */
static bool read_value(const struct jsp_read *r, const uint8_t *groups,
                       struct jsp_read_counters *all, struct jsp_read_counter *out)
{
    while (all->at < all->n) {
        uint32_t group = all->at / READ_VALUES, i = all->at % READ_VALUES;
        const uint8_t *at = groups + group * sizeof(struct jsp_wire_values);
        all->at++;
        out->id = jsp_read_u32(r, at + 4 * i);
        out->bits = jsp_read_u64(r, at + offsetof(struct jsp_wire_values, values) + 8 * i);
        if (out->id)
            return true;
    }
    return false;
}

bool jsp_read_counter(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                      struct jsp_read_counters *all, struct jsp_read_counter *out)
{
    const struct jsp_read *r = c->capture;
    size_t head = offsetof(struct jsp_wire_ctrdef, counter);
    if (f->type == JSP_WIRE_CTRSET)
        return read_value(r, f->at + head, all, out);
    if (all->at == all->n)
        return false;
    size_t at = head + all->at++ * sizeof(struct jsp_wire_counter);
    out->group = read_field(f, at, 32);
    out->name = read_field(f, at + offsetof(struct jsp_wire_counter, name), 32);
    out->what = read_field(f, at + offsetof(struct jsp_wire_counter, what), 52);
    uint32_t both =
        jsp_read_u32(r, f->at + at + offsetof(struct jsp_wire_counter, id_and_type));
    /* Bit fields: the first is the lowest, or in a big-endian file the highest. */
    bool is_little = r->bytes[5] & 1;
    out->id = is_little ? both & 0xFFFFFF : both >> 8;
    out->is_real = (is_little ? both >> 24 : both & 0xFF) == 1;
    out->bits = jsp_read_u64(r, f->at + at + offsetof(struct jsp_wire_counter, value));
    return true;
}

bool jsp_read_pair(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                   struct jsp_read_pair *out)
{
    bool is_log = f->type == JSP_WIRE_LOG;
    size_t width = is_log ? 32 : 40, value = sizeof(struct jsp_wire_metadata);
    if (!read_room(c, f, value))
        return false;
    out->key = read_field(f, value - width, width);
    out->value = read_tail(c, f, value);
    return true;
}

bool jsp_read_chunk(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                    struct jsp_read_chunk *out)
{
    const struct jsp_read *r = c->capture;
    size_t data = offsetof(struct jsp_wire_chunk, data);
    if (!read_room(c, f, data))
        return false;
    uint16_t bits = jsp_read_u16(r, f->at + offsetof(struct jsp_wire_chunk, is_last));
    /* A 1-bit field is the lowest bit or the highest, by the machine's byte order. */
    out->is_last = bits & (r->bytes[5] & 1 ? 0x0001 : 0x8001);
    out->len = jsp_read_u16(r, f->at + offsetof(struct jsp_wire_chunk, len));
    out->path = read_field(f, offsetof(struct jsp_wire_chunk, path), 256);
    out->data = f->at + data;
    return out->len <= f->len - data || read_refuse(c, f, JSP_READ_CHUNK);
}

bool jsp_read_file(struct jsp_read_cursor *c, const char *path, struct jsp_read_frame *frame,
                   struct jsp_read_chunk *chunk)
{
    while (jsp_read_raw(c, frame))
        if (frame->type == JSP_WIRE_FILE_CHUNK && jsp_read_chunk(c, frame, chunk) &&
            jsp_read_is(chunk->path, path))
            return true;
    return false;
}

bool jsp_read_names(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                    struct jsp_read_names *out)
{
    size_t body = sizeof(struct jsp_wire_frame) + sizeof(uint32_t);
    if (!read_room(c, f, body))
        return false;
    out->left = jsp_read_u32(c->capture, f->at + sizeof(struct jsp_wire_frame));
    out->at = f->at + body;
    out->end = f->at + f->len;
    return true;
}

bool jsp_read_name(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                   struct jsp_read_names *names, uint64_t *addr,
                   struct jsp_read_text *name)
{
    if (names->left == 0)
        return false;
    size_t room = (size_t)(names->end - names->at);
    if (room <= sizeof *addr) {
        names->left = 0;
        return read_refuse(c, f, JSP_READ_NAMES);
    }
    *addr = jsp_read_u64(c->capture, names->at);
    *name =
        read_field(f, (size_t)(names->at - f->at) + sizeof *addr, room - sizeof *addr);
    if (name->len == room - sizeof *addr)
        jsp_read_count(c->defects, JSP_READ_STRING, f->offset);
    size_t used = sizeof *addr + name->len + 1;
    names->at = used < room ? names->at + used : names->end;
    names->left--;
    return true;
}
