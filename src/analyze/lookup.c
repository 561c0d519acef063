/* analyze/lookup.c - collects a capture's definitions of addresses.
 *
 * SPDX-License-Identifier: MIT
 */
#include "lookup.h"

#include <errno.h>
#include <stdlib.h>

#include "capture/embedded.h"

enum { LOOKUP_SYMBOL_BYTES = sizeof(struct jsp_wire_symbol) };

int jsp_lookup_init(struct jsp_lookup *n)
{
    memset(n, 0, sizeof *n);
    return jsp_hash_init(&n->latest, 0);
}

void jsp_lookup_free(struct jsp_lookup *n)
{
    free(n->jits);
    free(n->maps);
    free(n->symbols);
    free(n->kinds);
    free(n->loops);
    free(n->symbol_bytes);
    jsp_hash_free(&n->latest);
    memset(n, 0, sizeof *n);
}

static uint32_t lookup_hash(const struct jsp_lookup *n, uint64_t addr, int32_t pid)
{
    return (uint32_t)jsp_hash_mix(jsp_hash_mix(n->latest.seed, addr), (uint32_t)pid);
}

/* Return the position + 1 of the newest definition, or 0 if there is none. */
static uint32_t lookup_latest(const struct jsp_lookup *n, uint64_t addr, int32_t pid)
{
    uint32_t hash = lookup_hash(n, addr, pid), probe = hash, at;
    while ((at = jsp_hash_next(&n->latest, hash, &probe)) != 0)
        if (n->jits[at - 1].addr == addr && n->jits[at - 1].pid == pid)
            return at;
    return 0;
}

bool jsp_lookup_renames(const struct jsp_lookup *n, uint64_t addr, int32_t pid,
                        struct jsp_read_text name)
{
    uint32_t at = lookup_latest(n, addr, pid);
    return at && !jsp_read_equal(n->jits[at - 1].name, name);
}

int jsp_lookup_define(struct jsp_lookup *n, struct jsp_lookup_key key,
                      struct jsp_read_text name)
{
    uint32_t at = lookup_latest(n, key.addr, key.pid);
    if (at &&
        (jsp_read_equal(n->jits[at - 1].name, name) || n->jits[at - 1].epoch == key.epoch)) {
        n->jits[at - 1].name = name;
        return 0;
    }
    if (jsp_grow(&n->jits, &n->jits_room, n->n_jits, sizeof *n->jits) < 0)
        return -ENOMEM;
    n->jits[n->n_jits] = (struct jsp_lookup_jit){ key.addr, name, key.pid, key.epoch };
    uint32_t hash = lookup_hash(n, key.addr, key.pid);
    if (!at)
        return jsp_hash_add(&n->latest, hash, n->n_jits++);
    jsp_hash_move(&n->latest, hash, at - 1, n->n_jits++);
    return 0;
}

int jsp_lookup_map_add(struct jsp_lookup *n, const struct jsp_read_map *map, int32_t pid,
                       uint32_t epoch)
{
    if (jsp_grow(&n->maps, &n->maps_room, n->n_maps, sizeof *n->maps) < 0)
        return -ENOMEM;
    n->maps[n->n_maps++] = (struct jsp_lookup_map){ map->start, map->end,      map->offset,
                                                 map->inode, map->path,     map->build_id,
                                                 pid,        epoch };
    return 0;
}

int jsp_lookup_symbols_add(struct jsp_lookup *n, const uint8_t *data, uint32_t len)
{
    if (jsp_grow_by(&n->symbol_bytes, &n->symbol_room, n->symbol_len, len, 1) < 0)
        return -ENOMEM;
    if (len)
        memcpy(n->symbol_bytes + n->symbol_len, data, len);
    n->symbol_len += len;
    return 0;
}

int jsp_lookup_kinds_add(struct jsp_lookup *n, const uint8_t *at, const uint8_t *end)
{
    uint64_t kind;
    uint32_t id;
    while (at < end) {
        if (!jsp_embedded_kind_get(&at, end, &id, &kind) || kind > UINT8_MAX)
            return -EBADMSG;
        if (jsp_grow(&n->kinds, &n->kinds_room, n->n_kinds, sizeof *n->kinds) < 0)
            return -ENOMEM;
        n->kinds[n->n_kinds++] = (struct jsp_lookup_kind){ id, (uint32_t)kind };
    }
    return 0;
}

int jsp_lookup_loops_add(struct jsp_lookup *n, const uint8_t *at, const uint8_t *end,
                         int32_t pid)
{
    uint64_t range[2];
    while (at < end) {
        if (!jsp_embedded_loop_get(&at, end, range) || range[1] <= range[0])
            return -EBADMSG;
        if (jsp_grow(&n->loops, &n->loops_room, n->n_loops, sizeof *n->loops) < 0)
            return -ENOMEM;
        n->loops[n->n_loops++] = (struct jsp_lookup_loop){ .start = range[0], .end = range[1],
                                                       .pid = pid };
    }
    return 0;
}

static struct jsp_read_text lookup_symbol_text(const struct jsp_lookup *n, uint32_t at)
{
    const char *text = (const char *)n->symbol_bytes + at;
    return (struct jsp_read_text){ text, (uint32_t)strnlen(text, n->symbol_len - at) };
}

static int lookup_symbol(struct jsp_lookup *n, const struct jsp_read *r,
                         const uint8_t *at)
{
    uint32_t name = jsp_read_u32(r, at + offsetof(struct jsp_wire_symbol, name));
    uint32_t tag = jsp_read_u32(r, at + offsetof(struct jsp_wire_symbol, tag));
    struct jsp_lookup_symbol s = {
        .begin = jsp_read_u64(r, at + offsetof(struct jsp_wire_symbol, begin)),
        .end = jsp_read_u64(r, at + offsetof(struct jsp_wire_symbol, end)),
        .pid = jsp_read_u32(r, at + offsetof(struct jsp_wire_symbol, pid)),
    };
    if (name >= n->symbol_len || s.end < s.begin)
        return 1;
    s.name = lookup_symbol_text(n, name);
    if (tag > 0 && tag < n->symbol_len)
        s.module = lookup_symbol_text(n, tag);
    if (jsp_grow(&n->symbols, &n->symbols_room, n->n_symbols, sizeof *n->symbols) < 0)
        return -ENOMEM;
    n->symbols[n->n_symbols++] = s;
    return 0;
}

static int lookup_symbols(struct jsp_lookup *n, const struct jsp_read *r)
{
    static const uint8_t end[LOOKUP_SYMBOL_BYTES];
    int bad = 0;
    for (uint32_t at = 0; n->symbol_len - at >= LOOKUP_SYMBOL_BYTES;
         at += LOOKUP_SYMBOL_BYTES) {
        if (memcmp(n->symbol_bytes + at, end, sizeof end) == 0)
            return bad;
        int err = lookup_symbol(n, r, n->symbol_bytes + at);
        if (err < 0)
            return err;
        bad += err;
    }
    return bad;
}

static int lookup_by_jit(const void *a, const void *b)
{
    const struct jsp_lookup_jit *x = a, *y = b;
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->epoch > y->epoch) - (x->epoch < y->epoch);
}

static int lookup_by_map(const void *a, const void *b)
{
    const struct jsp_lookup_map *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->epoch > y->epoch) - (x->epoch < y->epoch);
}

static int lookup_by_symbol(const void *a, const void *b)
{
    const struct jsp_lookup_symbol *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static int lookup_by_loop(const void *a, const void *b)
{
    const struct jsp_lookup_loop *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

/* Join overlapping loops, so that one comparison is enough. */
static void lookup_join_loops(struct jsp_lookup *n)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n->n_loops; i++) {
        struct jsp_lookup_loop l = n->loops[i];
        struct jsp_lookup_loop *last = kept ? &n->loops[kept - 1] : NULL;
        if (!last || last->pid != l.pid || last->end < l.start)
            n->loops[kept++] = l;
        else if (l.end > last->end)
            last->end = l.end;
    }
    n->n_loops = kept;
}

static int lookup_by_kind(const void *a, const void *b)
{
    const struct jsp_lookup_kind *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

int jsp_lookup_seal(struct jsp_lookup *n, const struct jsp_read *capture)
{
    int bad = lookup_symbols(n, capture);
    jsp_hash_free(&n->latest);
    if (n->n_jits)
        qsort(n->jits, n->n_jits, sizeof *n->jits, lookup_by_jit);
    if (n->n_maps)
        qsort(n->maps, n->n_maps, sizeof *n->maps, lookup_by_map);
    if (n->n_symbols)
        qsort(n->symbols, n->n_symbols, sizeof *n->symbols, lookup_by_symbol);
    if (n->n_kinds)
        qsort(n->kinds, n->n_kinds, sizeof *n->kinds, lookup_by_kind);
    if (n->n_loops)
        qsort(n->loops, n->n_loops, sizeof *n->loops, lookup_by_loop);
    lookup_join_loops(n);
    return bad;
}
