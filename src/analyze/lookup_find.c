/* analyze/lookup_find.c - looks up an address in the capture's definitions.
 *
 * SPDX-License-Identifier: MIT
 */
#include "lookup.h"

#include <string.h>

#include "base/bisect.h"

/* Bounds for files with many overlapping maps or loops. */
enum { LOOKUP_MAPS_BACK = 64, LOOKUP_LOOPS = 256 };

static bool lookup_jit_up_to(const void *item, const void *key)
{
    const struct jsp_lookup_jit *a = item;
    const struct jsp_lookup_key *k = key;
    if (a->addr != k->addr)
        return a->addr < k->addr;
    if (a->pid != k->pid)
        return a->pid < k->pid;
    return a->epoch <= k->epoch;
}

const struct jsp_lookup_jit *jsp_lookup_jit(const struct jsp_lookup *n,
                                            struct jsp_lookup_key k)
{
    size_t at = jsp_bisect(n->jits, n->n_jits, sizeof *n->jits, lookup_jit_up_to, &k);
    const struct jsp_lookup_jit *before = at > 0 ? &n->jits[at - 1] : NULL;
    const struct jsp_lookup_jit *after = at < n->n_jits ? &n->jits[at] : NULL;
    if (before && before->addr == k.addr && before->pid == k.pid)
        return before;
    if (after && after->addr == k.addr)
        return after;
    /* Ids belong to the document: another process may have defined this one. */
    return before && before->addr == k.addr ? before : NULL;
}

static bool lookup_map_up_to(const void *item, const void *key)
{
    const struct jsp_lookup_map *a = item;
    const struct jsp_lookup_key *k = key;
    return a->pid != k->pid ? a->pid < k->pid : a->start <= k->addr;
}

const struct jsp_lookup_map *jsp_lookup_map(const struct jsp_lookup *n,
                                            struct jsp_lookup_key k)
{
    const struct jsp_lookup_map *best = NULL;
    size_t low = jsp_bisect(n->maps, n->n_maps, sizeof *n->maps, lookup_map_up_to, &k);
    for (size_t i = 0; i < LOOKUP_MAPS_BACK && i < low; i++) {
        const struct jsp_lookup_map *m = &n->maps[low - 1 - i];
        if (m->pid != k.pid)
            break;
        if (k.addr >= m->end)
            continue;
        bool is_younger = m->epoch > k.epoch;
        if (!best || (best->epoch > k.epoch && m->epoch < best->epoch) ||
            (!is_younger && m->epoch > best->epoch))
            best = m;
    }
    return best;
}

static bool lookup_symbol_up_to(const void *item, const void *key)
{
    const struct jsp_lookup_symbol *s = item;
    const struct jsp_lookup_key *k = key;
    uint32_t pid = (uint32_t)k->pid;
    return s->pid != pid ? s->pid < pid : s->begin <= k->addr;
}

/* `end` is exclusive for some writers and inclusive for others: an address at the
 * end belongs here unless the next symbol begins there, which is found first. */
const struct jsp_lookup_symbol *jsp_lookup_symbol(const struct jsp_lookup *n,
                                                  struct jsp_lookup_key k)
{
    size_t low = jsp_bisect(n->symbols, n->n_symbols, sizeof *n->symbols,
                            lookup_symbol_up_to, &k);
    if (low == 0)
        return NULL;
    const struct jsp_lookup_symbol *s = &n->symbols[low - 1];
    return s->pid == (uint32_t)k.pid && k.addr <= s->end ? s : NULL;
}

static bool lookup_kind_up_to(const void *item, const void *key)
{
    return ((const struct jsp_lookup_kind *)item)->id <= *(const uint32_t *)key;
}

bool jsp_lookup_kind(const struct jsp_lookup *n, uint32_t id, uint32_t *kind)
{
    size_t low = jsp_bisect(n->kinds, n->n_kinds, sizeof *n->kinds, lookup_kind_up_to, &id);
    if (low == 0 || n->kinds[low - 1].id != id)
        return false;
    *kind = n->kinds[low - 1].kind;
    return true;
}

static bool lookup_loop_up_to(const void *item, const void *key)
{
    const struct jsp_lookup_loop *l = item;
    const struct jsp_lookup_key *k = key;
    return l->pid != k->pid ? l->pid < k->pid : l->start <= k->addr;
}

/* A file's code may be mapped again elsewhere: libffi maps its table of trampolines so. Only
 * the first loops of a process are compared. */
static bool lookup_is_loop_elsewhere(const struct jsp_lookup *n, struct jsp_lookup_key k)
{
    const struct jsp_lookup_map *m = jsp_lookup_map(n, k);
    if (!m || m->path.len == 0 || m->path.at[0] != '/')
        return false;
    uint64_t offset = k.addr - m->start + m->offset;
    struct jsp_lookup_key lowest = { 0, k.pid, k.epoch };
    size_t from = jsp_bisect(n->loops, n->n_loops, sizeof *n->loops, lookup_loop_up_to, &lowest);
    for (size_t i = from; i < n->n_loops && i - from < LOOKUP_LOOPS; i++) {
        const struct jsp_lookup_loop *l = &n->loops[i];
        struct jsp_lookup_key first = { l->start, l->pid, k.epoch };
        if (l->pid != k.pid)
            break;
        const struct jsp_lookup_map *of = jsp_lookup_map(n, first);
        if (!of || of->inode != m->inode || of->path.len != m->path.len ||
            memcmp(of->path.at, m->path.at, m->path.len) != 0)
            continue;
        uint64_t start = l->start - of->start + of->offset;
        uint64_t end = l->end < of->end ? l->end : of->end;
        if (offset >= start && offset - start < end - l->start)
            return true;
    }
    return false;
}

bool jsp_lookup_is_loop(const struct jsp_lookup *n, struct jsp_lookup_key k)
{
    size_t low = jsp_bisect(n->loops, n->n_loops, sizeof *n->loops, lookup_loop_up_to, &k);
    if (low > 0 && n->loops[low - 1].pid == k.pid && k.addr < n->loops[low - 1].end)
        return true;
    return lookup_is_loop_elsewhere(n, k);
}
