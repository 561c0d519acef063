/* lookup_find.c - looks up an address in the capture's definitions.
 *
 * SPDX-License-Identifier: MIT
 */
#include "analyze/lookup.h"

/* A bound for files with many overlapping maps. */
enum { LOOKUP_MAPS_BACK = 64 };

static bool lookup_jit_before(const struct jsp_lookup_jit *a, struct jsp_lookup_key k)
{
    if (a->addr != k.addr)
        return a->addr < k.addr;
    if (a->pid != k.pid)
        return a->pid < k.pid;
    return a->epoch <= k.epoch;
}

/* Return the number of entries that are not after the key. */
static uint32_t lookup_jit_upper(const struct jsp_lookup *n, struct jsp_lookup_key k)
{
    uint32_t low = 0, high = n->n_jits;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (lookup_jit_before(&n->jits[mid], k))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

const struct jsp_lookup_jit *jsp_lookup_jit(const struct jsp_lookup *n,
                                            struct jsp_lookup_key k)
{
    uint32_t at = lookup_jit_upper(n, k);
    const struct jsp_lookup_jit *before = at > 0 ? &n->jits[at - 1] : NULL;
    const struct jsp_lookup_jit *after = at < n->n_jits ? &n->jits[at] : NULL;
    if (before && before->addr == k.addr && before->pid == k.pid)
        return before;
    if (after && after->addr == k.addr)
        return after;
    /* Ids belong to the document: another process may have defined this one. */
    return before && before->addr == k.addr ? before : NULL;
}

static bool lookup_map_before(const struct jsp_lookup_map *a, struct jsp_lookup_key k)
{
    return a->pid != k.pid ? a->pid < k.pid : a->start <= k.addr;
}

const struct jsp_lookup_map *jsp_lookup_map(const struct jsp_lookup *n,
                                            struct jsp_lookup_key k)
{
    const struct jsp_lookup_map *best = NULL;
    uint32_t low = 0, high = n->n_maps;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (lookup_map_before(&n->maps[mid], k))
            low = mid + 1;
        else
            high = mid;
    }
    for (uint32_t i = 0; i < LOOKUP_MAPS_BACK && i < low; i++) {
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

/* Some writers mean `end` exclusively, others inclusively: an address at the end belongs
 * here unless the next symbol begins there; that one is found first. */
const struct jsp_lookup_symbol *jsp_lookup_symbol(const struct jsp_lookup *n,
                                                  struct jsp_lookup_key k)
{
    uint32_t low = 0, high = n->n_symbols, pid = (uint32_t)k.pid;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        const struct jsp_lookup_symbol *s = &n->symbols[mid];
        if (s->pid != pid ? s->pid < pid : s->begin <= k.addr)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == 0)
        return NULL;
    const struct jsp_lookup_symbol *s = &n->symbols[low - 1];
    return s->pid == pid && k.addr <= s->end ? s : NULL;
}

bool jsp_lookup_kind(const struct jsp_lookup *n, uint32_t id, uint32_t *kind)
{
    uint32_t low = 0, high = n->n_kinds;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (n->kinds[mid].id <= id)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == 0 || n->kinds[low - 1].id != id)
        return false;
    *kind = n->kinds[low - 1].kind;
    return true;
}

bool jsp_lookup_is_loop(const struct jsp_lookup *n, struct jsp_lookup_key k)
{
    uint32_t low = 0, high = n->n_loops;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        const struct jsp_lookup_loop *l = &n->loops[mid];
        if (l->pid != k.pid ? l->pid < k.pid : l->start <= k.addr)
            low = mid + 1;
        else
            high = mid;
    }
    return low > 0 && n->loops[low - 1].pid == k.pid && k.addr < n->loops[low - 1].end;
}
