/* image/symtab_flatten.c - disjoint ranges from overlapping symbols; see symtab_work.h.
 *
 * One sweep over the entries in order of address, with a stack of those that are still
 * open. The address belongs to the innermost open one; when that ends, the one around it
 * continues.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>

#include "base/block.h"
#include "symtab_work.h"

enum {
    FLATTEN_BITS = 11,
    FLATTEN_BUCKETS = 1 << FLATTEN_BITS,
    FLATTEN_DEPTH = 32,      /* nesting depth; deeper entries are dropped */
    FLATTEN_LONGEST = 4096,  /* bytes of a name */
};

struct flatten_open {
    uint32_t end;
    uint32_t name;
    uint8_t class;
};

struct flatten {
    const struct jsp_symtab_work *work;
    struct jsp_symtab *table;
    size_t ranges_room;
    size_t names_room;
    uint32_t cursor; /* all addresses before it are in ranges */
    uint32_t depth;
    struct flatten_open open[FLATTEN_DEPTH];
    bool failed;
};

struct flatten_digit {
    unsigned shift;
    /* FLATTEN_BUCKETS counters, on the heap because callers have little stack */
    size_t *at;
};

/* Sort stably by one digit of `begin`. */
static void flatten_pass(const struct jsp_symtab_entry *from, struct jsp_symtab_entry *to,
                         size_t n, struct flatten_digit digit)
{
    unsigned shift = digit.shift;
    size_t *at = digit.at;
    memset(at, 0, FLATTEN_BUCKETS * sizeof *at);
    for (size_t i = 0; i < n; i++)
        at[from[i].begin >> shift & (FLATTEN_BUCKETS - 1)]++;
    for (size_t i = 0, sum = 0; i < FLATTEN_BUCKETS; i++) {
        size_t count = at[i];
        at[i] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[at[from[i].begin >> shift & (FLATTEN_BUCKETS - 1)]++] = from[i];
}

/* Sort by radix: symbol tables are large, and the key is one word. */
static int flatten_sort(struct jsp_symtab_work *w)
{
    struct jsp_symtab_entry *other = jsp_block_grow(NULL, (w->n + 1) * sizeof *other);
    size_t *at = jsp_block_grow(NULL, FLATTEN_BUCKETS * sizeof *at);
    if (!other || !at) {
        jsp_block_free(other);
        jsp_block_free(at);
        return -ENOMEM;
    }
    for (unsigned shift = 0; shift < 32; shift += FLATTEN_BITS) {
        struct jsp_symtab_entry *from = w->entries;
        flatten_pass(from, other, w->n, (struct flatten_digit){ shift, at });
        w->entries = other;
        other = from;
    }
    jsp_block_free(other);
    jsp_block_free(at);
    w->room = w->n + 1;
    return 0;
}

/* Count leading underscores, which mark private names; those of a mangled name do not. */
static size_t flatten_underscores(const char *name)
{
    return strncmp(name, "_Z", 2) == 0 ? 0 : strspn(name, "_");
}

long jsp_symtab_compare(const struct jsp_symtab_entry *a,
                        const struct jsp_symtab_entry *b)
{
    if (a->class != b->class || !a->name || !b->name)
        return b->class - a->class;
    if ((a->flags ^ b->flags) & JSP_SYMTAB_LOCAL)
        return a->flags & JSP_SYMTAB_LOCAL ? 1 : -1;
    if ((a->flags ^ b->flags) & JSP_SYMTAB_UNTYPED)
        return a->flags & JSP_SYMTAB_UNTYPED ? 1 : -1;
    long by_underscores =
        (long)flatten_underscores(a->name) - (long)flatten_underscores(b->name);
    if (by_underscores)
        return by_underscores;
    if ((a->flags ^ b->flags) & JSP_SYMTAB_WEAK)
        return a->flags & JSP_SYMTAB_WEAK ? 1 : -1;
    long by_length = (long)strlen(a->name) - (long)strlen(b->name);
    return by_length ? by_length : strcmp(a->name, b->name);
}

/* Store a name without the "@VERSION" that linkers append to versioned symbols. */
static uint32_t flatten_name(struct flatten *f, const struct jsp_symtab_entry *e)
{
    struct jsp_symtab *t = f->table;
    size_t len = e->name ? strnlen(e->name, FLATTEN_LONGEST) : 0;
    const char *version = len ? memchr(e->name + 1, '@', len - 1) : NULL;
    const char *suffix = e->flags & JSP_SYMTAB_PLT ? "@plt" : "";
    if (!len)
        return 0;
    len = version ? (size_t)(version - e->name) : len;
    if (t->names_size + len + 5 > f->names_room) {
        size_t room = f->names_room * 2 + len + 5;
        char *more = room < UINT32_MAX ? jsp_block_grow(t->names, room) : NULL;
        if (!more) {
            f->failed = true;
            return 0;
        }
        t->names = more;
        f->names_room = room;
    }
    uint32_t at = (uint32_t)t->names_size;
    memcpy(t->names + at, e->name, len);
    strcpy(t->names + at + len, suffix);
    t->names_size += len + strlen(suffix) + 1;
    return at;
}

/* Give the range from the cursor to `until` to the innermost open entry. */
static void flatten_report(struct flatten *f, uint32_t until)
{
    struct jsp_symtab *t = f->table;
    if (f->cursor >= until)
        return;
    if (jsp_block_room(&t->ranges, &f->ranges_room, t->n_ranges, sizeof *t->ranges) < 0) {
        f->failed = true;
        return;
    }
    t->ranges[t->n_ranges++] =
        (struct jsp_symtab_range){ f->cursor, until, f->open[f->depth - 1].name };
    f->cursor = until;
}

/* End the entries that end at `until` or before. */
static void flatten_close(struct flatten *f, uint32_t until)
{
    while (f->depth && f->open[f->depth - 1].end <= until) {
        flatten_report(f, f->open[f->depth - 1].end);
        f->depth--;
    }
}

/* Open an entry; the address now belongs to it. `next` is where the following entry
 * begins. */
static void flatten_enter(struct flatten *f, const struct jsp_symtab_entry *e,
                          uint32_t next)
{
    uint64_t base = f->work->base;
    const struct flatten_open *around = f->depth ? &f->open[f->depth - 1] : NULL;
    uint64_t end = (uint64_t)e->begin + e->size;

    if (around && e->class < JSP_SYMTAB_SIZED && around->class >= e->class)
        if (around->class == JSP_SYMTAB_SIZED || e->class == JSP_SYMTAB_START)
            return; /* a label or a part inside of a function */
    if (!e->size) {
        uint64_t edge = jsp_symtab_edge(f->work->elf, base + e->begin) - base;
        end = next < edge ? next : edge;
    }
    end = end < f->work->limit ? end : f->work->limit;
    if (around)
        flatten_report(f, e->begin);
    f->cursor = e->begin;
    while (f->depth && f->open[f->depth - 1].end <= end)
        f->depth--;
    if (f->depth == FLATTEN_DEPTH)
        return;
    f->open[f->depth++] =
        (struct flatten_open){ (uint32_t)end, flatten_name(f, e), e->class };
}

int jsp_symtab_flatten(struct jsp_symtab_work *w, struct jsp_symtab *t)
{
    struct flatten f = { .work = w, .table = t, .names_room = 64 };
    t->names = jsp_block_zeros(1, f.names_room);
    t->names_size = 1;
    if (!t->names || flatten_sort(w) < 0)
        return -ENOMEM;
    for (size_t i = 0, n; i < w->n && !f.failed; i += n) {
        /* Take the best of the entries at one address, with the largest size among them. */
        struct jsp_symtab_entry best = w->entries[i];
        uint32_t size = best.size;
        for (n = 1; i + n < w->n && w->entries[i + n].begin == best.begin; n++) {
            const struct jsp_symtab_entry *other = &w->entries[i + n];
            if (jsp_symtab_compare(other, &best) < 0)
                best = *other;
            size = other->size > size ? other->size : size;
        }
        best.size = best.size ? best.size : size;
        flatten_close(&f, best.begin);
        flatten_enter(&f, &best, i + n < w->n ? w->entries[i + n].begin : UINT32_MAX);
    }
    flatten_close(&f, UINT32_MAX);
    return f.failed ? -ENOMEM : 0;
}
