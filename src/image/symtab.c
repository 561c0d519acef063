/* image/symtab.c - see symtab.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "symtab.h"

#include <errno.h>
#include <string.h>

#include "base/bisect.h"
#include "base/block.h"
#include "symtab_work.h"

/* Note the code segments; base and limit span them all. Return 0 or -ENOMEM. */
static int symtab_parts(struct jsp_symtab *t, struct jsp_symtab_work *w)
{
    uint64_t low = UINT64_MAX, high = 0;
    t->parts = jsp_block_zeros(w->elf->n_segments + 1, sizeof *t->parts);
    if (!t->parts)
        return -ENOMEM;
    for (size_t i = 0; i < w->elf->n_segments; i++) {
        const Elf64_Phdr *p = &w->elf->segments[i];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || p->p_filesz == 0 ||
            p->p_vaddr > UINT64_MAX - p->p_filesz)
            continue;
        t->parts[t->n_parts++] =
            (struct jsp_symtab_part){ p->p_offset, p->p_vaddr, p->p_filesz };
        low = p->p_vaddr < low ? p->p_vaddr : low;
        high = p->p_vaddr + p->p_filesz > high ? p->p_vaddr + p->p_filesz : high;
    }
    t->base = w->base = high ? low : 0;
    w->limit = high > low ? high - low : 0;
    w->limit = w->limit > UINT32_MAX ? UINT32_MAX : w->limit;
    return 0;
}

int jsp_symtab_load(struct jsp_symtab *t, const struct jsp_elf *elf,
                    const struct jsp_elf *debug)
{
    struct jsp_symtab_work w = { .elf = elf };
    *t = (struct jsp_symtab){ .base = 0 };
    int err = symtab_parts(t, &w);
    if (!err && w.limit) {
        jsp_symtab_read(&w, debug);
        jsp_symtab_plt(&w);
        jsp_symtab_starts(&w);
        err = w.failed ? -ENOMEM : jsp_symtab_flatten(&w, t);
    }
    jsp_block_free(w.entries);
    jsp_block_free(w.full.symbols);
    jsp_block_free(w.full.text);
    jsp_block_free(w.dynamic.symbols);
    jsp_block_free(w.dynamic.text);
    if (err)
        jsp_symtab_free(t);
    return err;
}

void jsp_symtab_free(struct jsp_symtab *t)
{
    jsp_block_free(t->ranges);
    jsp_block_free(t->names);
    jsp_block_free(t->parts);
    *t = (struct jsp_symtab){ .base = 0 };
}

bool jsp_symtab_vaddr(const struct jsp_symtab *t, uint64_t offset, uint64_t *vaddr)
{
    for (size_t i = 0; i < t->n_parts; i++) {
        const struct jsp_symtab_part *p = &t->parts[i];
        if (offset < p->offset || offset - p->offset >= p->size)
            continue;
        *vaddr = p->vaddr + (offset - p->offset);
        return true;
    }
    return false;
}

/* Return the gap around an address that no range covers, cut to its segment. */
static struct jsp_symtab_found symtab_gap(const struct jsp_symtab *t, uint64_t vaddr,
                                          size_t next)
{
    struct jsp_symtab_found gap = { vaddr, vaddr + 1, NULL };
    for (size_t i = 0; i < t->n_parts; i++) {
        const struct jsp_symtab_part *p = &t->parts[i];
        if (vaddr < p->vaddr || vaddr - p->vaddr >= p->size)
            continue;
        gap.begin = p->vaddr;
        gap.end = p->vaddr + p->size;
    }
    if (next > 0 && t->base + t->ranges[next - 1].end > gap.begin)
        gap.begin = t->base + t->ranges[next - 1].end;
    if (next < t->n_ranges && t->base + t->ranges[next].begin < gap.end)
        gap.end = t->base + t->ranges[next].begin;
    return gap;
}

static bool symtab_ends_up_to(const void *item, const void *key)
{
    return ((const struct jsp_symtab_range *)item)->end <= *(const uint64_t *)key;
}

struct jsp_symtab_found jsp_symtab_find(const struct jsp_symtab *t, uint64_t vaddr)
{
    uint64_t at = vaddr - t->base;
    if (vaddr < t->base)
        return (struct jsp_symtab_found){ vaddr, vaddr + 1, NULL };
    size_t low = jsp_bisect(t->ranges, t->n_ranges, sizeof *t->ranges, symtab_ends_up_to, &at);
    if (low == t->n_ranges || t->ranges[low].begin > at)
        return symtab_gap(t, vaddr, low);
    const struct jsp_symtab_range *r = &t->ranges[low];
    return (struct jsp_symtab_found){ t->base + r->begin, t->base + r->end,
                                      t->names + r->name };
}
