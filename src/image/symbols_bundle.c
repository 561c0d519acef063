/* image/symbols_bundle.c - see symbols_bundle.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "symbols_bundle.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/grow.h"
#include "capture/wire.h"
#include "kallsyms.h"

enum { BUNDLE_FIRST_ROOM = 1024, BUNDLE_MARKERS = 4096 };

static const uint64_t bundle_kernel = 1ull << 63, bundle_tag = 0xE000000000000000u,
                      bundle_tag_mask = 0xFFFFFFFF00000000u;

struct bundle_range {
    uint64_t begin;
    uint64_t end;
    uint64_t last; /* the highest address seen in it */
    uint32_t name; /* offset in the text */
    uint32_t tag;
};

struct bundle_given {
    struct bundle_given *next;
    uint64_t start;
    char name[];
};

struct jsp_bundle {
    struct jsp_symbols *symbols;
    struct bundle_given *_Atomic given; /* owned: a list that grows at its front, newest first */
    /* owned: a hash set; 0 is an empty slot. The drain looks up each address of each sample
     * here; base/hash.h would read an array of the addresses besides. */
    uint64_t *seen;
    size_t seen_room;            /* a power of two */
    size_t n_seen;
    uint64_t *pending;           /* owned: seen and not named yet */
    size_t n_pending;
    uint32_t pending_room;
    struct bundle_range *ranges; /* owned */
    size_t n_ranges;
    uint32_t ranges_room;
    char *text;                  /* owned; text[0] is the empty string */
    size_t text_used;
    size_t text_room;
    uint32_t tag;                /* offset of the last module name that was stored */
    uint64_t missed;

    /* Always, except inside settle:  ranges[i].begin <= last < end <= ranges[i + 1].begin
     *          every address of `seen` is pending or in a range */
};

/* The arguments of a settle. */
struct bundle_by {
    const struct jsp_maps *maps;
    bool last;
};

int jsp_bundle_open(struct jsp_bundle **out)
{
    struct jsp_bundle *b = calloc(1, sizeof *b);
    if (!b)
        return -ENOMEM;
    b->text = calloc(1, BUNDLE_FIRST_ROOM);
    b->seen = calloc(BUNDLE_FIRST_ROOM, sizeof *b->seen);
    b->text_room = b->seen_room = BUNDLE_FIRST_ROOM;
    b->text_used = 1;
    if (!b->text || !b->seen || jsp_symbols_open(&b->symbols, JSP_SYMBOLS_BUDGET) < 0) {
        jsp_bundle_close(b);
        return -ENOMEM;
    }
    *out = b;
    return 0;
}

void jsp_bundle_close(struct jsp_bundle *b)
{
    if (!b)
        return;
    /* ORDER: relaxed. No other thread has the bundle any more. */
    struct bundle_given *given = atomic_load_explicit(&b->given, memory_order_relaxed), *next;
    for (; given; given = next) {
        next = given->next;
        free(given);
    }
    jsp_symbols_close(b->symbols);
    free(b->seen);
    free(b->pending);
    free(b->ranges);
    free(b->text);
    free(b);
}

uint64_t jsp_bundle_missed(const struct jsp_bundle *b)
{
    return b->missed;
}

bool jsp_bundle_is_settled(const struct jsp_bundle *b)
{
    return b->n_pending == 0;
}

/* Return the slot of an address, or the empty slot for it. The table is never full. */
static size_t bundle_slot(const uint64_t *seen, size_t room, uint64_t addr)
{
    size_t at = (size_t)((addr * 0x9E3779B97F4A7C15u) >> 20) & (room - 1);
    while (seen[at] && seen[at] != addr)
        at = (at + 1) & (room - 1);
    return at;
}

static bool bundle_rehash(struct jsp_bundle *b)
{
    size_t room = b->seen_room * 2;
    uint64_t *more = calloc(room, sizeof *more);
    if (!more)
        return false;
    for (size_t i = 0; i < b->seen_room; i++)
        if (b->seen[i])
            more[bundle_slot(more, room, b->seen[i])] = b->seen[i];
    free(b->seen);
    b->seen = more;
    b->seen_room = room;
    return true;
}

bool jsp_bundle_see(struct jsp_bundle *b, uint64_t addr)
{
    bool is_marker = addr == 0 || addr >= (uint64_t)-BUNDLE_MARKERS;
    if (is_marker || (addr & bundle_tag_mask) == bundle_tag)
        return true;
    if (b->seen[bundle_slot(b->seen, b->seen_room, addr)] == addr)
        return true;
    if (jsp_grow(&b->pending, &b->pending_room, (uint32_t)b->n_pending,
                 sizeof *b->pending) < 0 ||
        b->n_seen == JSP_BUNDLE_ADDRESSES ||
        (b->n_seen >= b->seen_room / 2 && !bundle_rehash(b))) {
        b->missed++;
        return false;
    }
    b->seen[bundle_slot(b->seen, b->seen_room, addr)] = addr;
    b->n_seen++;
    b->pending[b->n_pending++] = addr;
    return true;
}

/* Store a string and return its offset, or 0 if there is no room. */
static uint32_t bundle_text(struct jsp_bundle *b, const char *s)
{
    size_t n = strlen(s) + 1;
    while (b->text_room - b->text_used < n) {
        char *more =
            b->text_room < JSP_BUNDLE_TEXT ? realloc(b->text, b->text_room * 2) : NULL;
        if (!more)
            return 0;
        b->text = more;
        b->text_room *= 2;
    }
    memcpy(b->text + b->text_used, s, n);
    b->text_used += n;
    return (uint32_t)(b->text_used - n);
}

/* Return the index of the first range that ends after `addr`, among the n sorted ones. */
static size_t bundle_find(const struct jsp_bundle *b, size_t n, uint64_t addr)
{
    struct jsp_bisect_number than = { offsetof(struct bundle_range, end), addr };
    return jsp_bisect_up_to(b->ranges, n, sizeof *b->ranges, than);
}

/* Add a range for the part of the symbol that no range covers yet. The first `n` ranges
 * are sorted; those after them were added for lower addresses than this. */
static int bundle_add(struct jsp_bundle *b, size_t n, uint64_t addr,
                      const struct jsp_symbol *symbol)
{
    if (jsp_grow(&b->ranges, &b->ranges_room, (uint32_t)b->n_ranges, sizeof *b->ranges) < 0)
        return -ENOMEM;
    size_t next = bundle_find(b, n, addr);
    uint64_t floor = next ? b->ranges[next - 1].end : 0;
    if (b->n_ranges > n && b->ranges[b->n_ranges - 1].end > floor)
        floor = b->ranges[b->n_ranges - 1].end;
    uint64_t ceiling = next < n ? b->ranges[next].begin : UINT64_MAX;
    struct bundle_range r = { symbol->begin > floor ? symbol->begin : floor,
                              symbol->end < ceiling ? symbol->end : ceiling, addr, 0, 0 };
    if (*symbol->module && strcmp(b->text + b->tag, symbol->module) != 0)
        b->tag = bundle_text(b, symbol->module);
    r.tag = *symbol->module ? b->tag : 0;
    r.name = bundle_text(b, symbol->name);
    if (!r.name)
        r.name = r.tag;
    b->ranges[b->n_ranges++] = r;
    return 0;
}

/* Return true if the address is in a known range, and let that range reach it. */
static bool bundle_known(struct jsp_bundle *b, size_t n, uint64_t addr)
{
    size_t at = bundle_find(b, n, addr);
    struct bundle_range *r =
        at < n && b->ranges[at].begin <= addr ? &b->ranges[at] : NULL;
    if (!r && b->n_ranges > n && addr < b->ranges[b->n_ranges - 1].end &&
        addr >= b->ranges[b->n_ranges - 1].begin)
        r = &b->ranges[b->n_ranges - 1];
    if (r && r->last < addr)
        r->last = addr;
    return r != NULL;
}

static int bundle_order(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right; /* both begin with the number to sort by */
    return *a < *b ? -1 : *a > *b;
}

int jsp_bundle_give(struct jsp_bundle *b, uint64_t start, const char *name)
{
    size_t n = strnlen(name, JSP_SYMBOL_NAME - 1);
    struct bundle_given *given = malloc(sizeof *given + n + 1);
    if (!given)
        return -ENOMEM;
    given->start = start;
    memcpy(given->name, name, n);
    given->name[n] = 0;
    /* ORDER: relaxed. Only the exchange below makes this value matter. */
    given->next = atomic_load_explicit(&b->given, memory_order_relaxed);
    /* G1. ORDER: release, pairs with G2. The name becomes visible before the list has it. */
    while (!atomic_compare_exchange_weak_explicit(&b->given, &given->next, given,
                                                  memory_order_release, memory_order_relaxed))
        ;
    return 0;
}

void jsp_bundle_take_over(struct jsp_bundle *b, struct jsp_bundle *from)
{
    /* ORDER: relaxed. No other thread has the bundles. */
    struct bundle_given *given = atomic_load_explicit(&from->given, memory_order_relaxed);
    /* ORDER: relaxed; as above. */
    atomic_store_explicit(&from->given, NULL, memory_order_relaxed);
    /* ORDER: relaxed; as above. */
    atomic_store_explicit(&b->given, given, memory_order_relaxed);
}

/* Give the symbol the host's name if its object has none. */
static void bundle_rename(struct jsp_bundle *b, struct jsp_symbol *symbol)
{
    /* G2. ORDER: acquire, pairs with G1: without it the newest name could be seen unwritten. */
    const struct bundle_given *given = atomic_load_explicit(&b->given, memory_order_acquire);
    while (given && given->start != symbol->begin)
        given = given->next;
    if (given && symbol->kind == JSP_SYMBOL_START)
        memcpy(symbol->name, given->name, strlen(given->name) + 1);
}

/* Name the first `count` addresses, which are the program's. Addresses that stay pending
 * move to the front; *kept counts them. */
static int bundle_users(struct jsp_bundle *b, size_t n, size_t count,
                        struct bundle_by by, size_t *kept)
{
    struct jsp_symbol symbol;
    int err = 0;
    for (size_t i = 0; !err && i < count; i++) {
        if (bundle_known(b, n, b->pending[i]))
            continue;
        if (!by.last && !jsp_maps_find(by.maps, b->pending[i])) {
            b->pending[(*kept)++] = b->pending[i];
            continue;
        }
        jsp_symbols_resolve(b->symbols, by.maps, b->pending[i], &symbol);
        bundle_rename(b, &symbol);
        err = bundle_add(b, n, b->pending[i], &symbol);
    }
    return err;
}

/* Name the pending addresses after the first `from`, which are the kernel's. */
static int bundle_kernels(struct jsp_bundle *b, size_t n, size_t from)
{
    size_t count = b->n_pending - from;
    struct jsp_kallsyms_name *list = count ? calloc(count, sizeof *list) : NULL;
    if (!count)
        return 0;
    if (!list)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        list[i].addr = b->pending[from + i];
    jsp_kallsyms_read(list, count); /* if it shows nothing, the name is [kernel] */
    int err = 0;
    for (size_t i = 0; !err && i < count; i++) {
        if (bundle_known(b, n, list[i].addr))
            continue;
        struct jsp_symbol symbol = { list[i].addr, list[i].addr + 1, JSP_SYMBOL_MODULE_ONLY,
                                     "[kernel]", "kernel" };
        if (list[i].begin) {
            symbol.begin = list[i].begin;
            symbol.end = list[i].end;
            strncpy(symbol.name, list[i].name, sizeof symbol.name - 1);
        }
        if (list[i].begin && list[i].module)
            strncpy(symbol.module, list[i].module, sizeof symbol.module - 1);
        err = bundle_add(b, n, list[i].addr, &symbol);
    }
    jsp_kallsyms_free(list, count);
    free(list);
    return err;
}

int jsp_bundle_settle(struct jsp_bundle *b, const struct jsp_maps *maps, bool last)
{
    size_t n = b->n_ranges, users = 0, kept = 0;
    if (!b->n_pending)
        return 0;
    qsort(b->pending, b->n_pending, sizeof *b->pending, bundle_order);
    while (users < b->n_pending && b->pending[users] < bundle_kernel)
        users++;
    int err = bundle_users(b, n, users, (struct bundle_by){ maps, last }, &kept);
    if (!err)
        err = bundle_kernels(b, n, users);
    qsort(b->ranges, b->n_ranges, sizeof *b->ranges, bundle_order);
    jsp_symbols_rest(b->symbols);
    if (!err)
        b->n_pending = kept;
    return err;
}

bool jsp_bundle_function(struct jsp_bundle *b, const struct jsp_maps *maps, uint64_t addr,
                         char out[JSP_SYMBOL_NAME])
{
    struct jsp_symbol symbol;
    jsp_symbols_resolve(b->symbols, maps, addr, &symbol);
    memcpy(out, symbol.name, JSP_SYMBOL_NAME);
    return symbol.kind == JSP_SYMBOL_NAMED && symbol.begin == addr;
}

int jsp_bundle_file(const struct jsp_bundle *b, int32_t pid, void **bytes, size_t *size)
{
    size_t table = (b->n_ranges + 1) * sizeof(struct jsp_wire_symbol);
    uint8_t *file = calloc(1, table + b->text_used);
    if (!file)
        return -ENOMEM;
    struct jsp_wire_symbol *e = (void *)file;
    for (size_t i = 0; i < b->n_ranges; i++) {
        const struct bundle_range *r = &b->ranges[i];
        /* Readers do not agree whether the end belongs to an entry. This matters only if
         * another one begins there; such an entry ends after the last address seen. */
        bool touches = i + 1 < b->n_ranges && r[1].begin == r->end;
        e[i] = (struct jsp_wire_symbol){ r->begin, touches ? r->last + 1 : r->end, pid,
                                         (uint32_t)table + r->name,
                                         r->tag ? (uint32_t)table + r->tag : 0, 0 };
    }
    memcpy(file + table, b->text, b->text_used);
    *bytes = file;
    *size = table + b->text_used;
    return 0;
}
