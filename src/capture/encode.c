/* capture/encode.c - see encode.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "encode.h"

/* -- Parts ------------------------------------------------------------------ */

void *jsp_encode_room(struct jsp_encode *e, size_t n)
{
    if (n > e->room - e->used) {
        e->is_cut = true;
        return NULL;
    }
    e->used += n;
    return e->at + e->used - n;
}

static void encode_zeros(struct jsp_encode *e, size_t n)
{
    size_t left = e->room - e->used;
    e->is_cut |= n > left;
    n = n < left ? n : left;
    memset(e->at + e->used, 0, n);
    e->used += n;
}

/* Inlined, because the compiler knows the size of most parts. */
static inline void encode_put(struct jsp_encode *e, const void *bytes, size_t n)
{
    size_t left = e->room - e->used;
    if (__builtin_expect(n > left, 0)) {
        e->is_cut = true;
        memcpy(e->at + e->used, bytes, left);
        e->used = e->room;
        return;
    }
    memcpy(e->at + e->used, bytes, n);
    e->used += n;
}

void jsp_encode_put(struct jsp_encode *e, const void *bytes, size_t n)
{
    if (n)
        encode_put(e, bytes, n);
}

static uint16_t encode_16(const struct jsp_encode *e, uint16_t v)
{
    return e->swap ? __builtin_bswap16(v) : v;
}

static uint32_t encode_32(const struct jsp_encode *e, uint32_t v)
{
    return e->swap ? __builtin_bswap32(v) : v;
}

static uint64_t encode_64(const struct jsp_encode *e, uint64_t v)
{
    return e->swap ? __builtin_bswap64(v) : v;
}

void jsp_encode_u16(struct jsp_encode *e, uint16_t v)
{
    v = encode_16(e, v);
    encode_put(e, &v, sizeof v);
}

void jsp_encode_u32(struct jsp_encode *e, uint32_t v)
{
    v = encode_32(e, v);
    encode_put(e, &v, sizeof v);
}

void jsp_encode_u64(struct jsp_encode *e, uint64_t v)
{
    v = encode_64(e, v);
    encode_put(e, &v, sizeof v);
}

void jsp_encode_u64s(struct jsp_encode *e, const uint64_t *v, size_t n)
{
    if (!e->swap)
        jsp_encode_put(e, v, n * sizeof *v);
    for (size_t i = 0; e->swap && i < n; i++)
        jsp_encode_u64(e, v[i]);
}

void jsp_encode_text(struct jsp_encode *e, struct jsp_read_text text)
{
    size_t left = e->room - e->used;
    e->is_cut |= text.len >= left;
    jsp_encode_put(e, text.at, text.len < left ? text.len : left ? left - 1 : 0);
    encode_zeros(e, 1);
}

void jsp_encode_field(struct jsp_encode *e, struct jsp_read_text text, size_t width)
{
    size_t n = text.len < width ? text.len : width;
    jsp_encode_put(e, text.at, n);
    encode_zeros(e, width - n);
}

/* -- Frames ----------------------------------------------------------------- */

void jsp_encode_begin(struct jsp_encode *e, const struct jsp_encode_head *head)
{
    size_t room = e->room < JSP_WIRE_MAX_FRAME ? e->room : JSP_WIRE_MAX_FRAME;
    e->room = room & ~(size_t)(JSP_WIRE_ALIGN - 1);
    e->used = 0;
    e->is_cut = false;
    struct jsp_wire_frame frame = { /* the length follows when it is known */
        .cpu = (int16_t)encode_16(e, (uint16_t)head->cpu),
        .pid = (int32_t)encode_32(e, (uint32_t)head->pid),
        .time = (int64_t)encode_64(e, (uint64_t)head->time),
        .type = head->type,
    };
    encode_put(e, &frame, sizeof frame);
}

size_t jsp_encode_end(struct jsp_encode *e)
{
    while (e->used % JSP_WIRE_ALIGN)
        e->at[e->used++] = 0;
    uint16_t len = encode_16(e, (uint16_t)e->used);
    memcpy(e->at, &len, sizeof len);
    return e->used;
}

/* Return true for a big-endian file. There, bit fields begin with the highest bit,
 * otherwise with the lowest. */
static bool encode_is_big(const struct jsp_encode *e)
{
    return (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != e->swap;
}

void jsp_encode_sample(struct jsp_encode *e, int32_t tid, uint32_t n_addrs)
{
    struct {
        uint16_t n_addrs, pad;
        uint32_t tid;
    } body = { encode_16(e, (uint16_t)n_addrs), 0, encode_32(e, (uint32_t)tid) };
    encode_put(e, &body, sizeof body);
}

void jsp_encode_allocation(struct jsp_encode *e, const struct jsp_encode_allocation *a)
{
    jsp_encode_u64(e, a->block);
    jsp_encode_u64(e, (uint64_t)a->size);
    jsp_encode_u32(e, (uint32_t)a->tid);
    jsp_encode_u16(e, (uint16_t)a->n_addrs);
    jsp_encode_u16(e, 0);
}

/* The build id comes after the path's NUL, so a reader that does not know it reads only
 * the path. */
void jsp_encode_map(struct jsp_encode *e, const struct jsp_read_map *map)
{
    jsp_encode_u64(e, map->start);
    jsp_encode_u64(e, map->end);
    jsp_encode_u64(e, map->offset);
    jsp_encode_u64(e, map->inode);
    jsp_encode_text(e, map->path);
    if (map->build_id.len) {
        jsp_encode_put(e, "@", 1);
        jsp_encode_text(e, map->build_id);
    }
}

void jsp_encode_fork(struct jsp_encode *e, int32_t child)
{
    jsp_encode_u32(e, (uint32_t)child);
}

void jsp_encode_mark(struct jsp_encode *e, const struct jsp_read_mark *mark)
{
    jsp_encode_u64(e, (uint64_t)mark->duration);
    jsp_encode_field(e, mark->group, 24);
    jsp_encode_field(e, mark->name, 40);
    jsp_encode_text(e, mark->message);
}

void jsp_encode_metadata(struct jsp_encode *e, const struct jsp_read_pair *pair)
{
    jsp_encode_field(e, pair->key, 40);
    jsp_encode_text(e, pair->value);
}

void jsp_encode_log(struct jsp_encode *e, uint16_t severity, const struct jsp_read_pair *pair)
{
    jsp_encode_u16(e, severity);
    encode_zeros(e, 6);
    jsp_encode_field(e, pair->key, 32);
    jsp_encode_text(e, pair->value);
}

void jsp_encode_names(struct jsp_encode *e)
{
    jsp_encode_u32(e, 0);
}

void jsp_encode_name(struct jsp_encode *e, uint64_t addr, struct jsp_read_text name)
{
    uint8_t *at = e->at + sizeof(struct jsp_wire_frame);
    uint32_t n;
    if (e->is_cut)
        return;
    memcpy(&n, at, sizeof n);
    n = encode_32(e, encode_32(e, n) + 1);
    memcpy(at, &n, sizeof n);
    jsp_encode_u64(e, addr);
    jsp_encode_text(e, name);
}

void jsp_encode_counter(struct jsp_encode *e, const struct jsp_read_counter *c)
{
    uint32_t id = c->id & 0xFFFFFF;
    jsp_encode_u16(e, 1);
    encode_zeros(e, 6);
    jsp_encode_field(e, c->group, 32);
    jsp_encode_field(e, c->name, 32);
    jsp_encode_field(e, c->what, 52);
    jsp_encode_u32(e, encode_is_big(e) ? id << 8 | c->is_real : id | (uint32_t)c->is_real << 24);
    jsp_encode_u64(e, c->bits);
}

void jsp_encode_value(struct jsp_encode *e, uint32_t id, uint64_t bits)
{
    jsp_encode_u16(e, 1);
    encode_zeros(e, 6);
    jsp_encode_u32(e, id);
    encode_zeros(e, offsetof(struct jsp_wire_values, values) - sizeof id);
    jsp_encode_u64(e, bits);
    encode_zeros(e, sizeof(struct jsp_wire_values) - offsetof(struct jsp_wire_values, values) -
                        sizeof bits);
}

void jsp_encode_chunk(struct jsp_encode *e, const struct jsp_encode_chunk *chunk)
{
    jsp_encode_u16(e, (uint16_t)(chunk->is_last << (encode_is_big(e) ? 15 : 0)));
    jsp_encode_u16(e, (uint16_t)chunk->len);
    jsp_encode_field(e, jsp_encode_string(chunk->path), 256);
}
