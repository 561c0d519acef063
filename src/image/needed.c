/* image/needed.c - see needed.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "needed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "forkgate.h"

/* The memory of an object, from its first to its last segment. */
struct needed_memory {
    uintptr_t base, low, high;
};

static void needed_segments(struct jsp_needed_object *o, struct needed_memory *m,
                            const struct dl_phdr_info *info)
{
    *m = (struct needed_memory){ info->dlpi_addr, UINTPTR_MAX, 0 };
    o->start = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + p->p_vaddr, end = at + p->p_memsz;
        if (p->p_type == PT_DYNAMIC)
            o->dynamic = (const void *)at;
        if (p->p_type != PT_LOAD)
            continue;
        m->low = at < m->low ? at : m->low;
        m->high = end > m->high ? end : m->high;
        if (!(p->p_flags & PF_X))
            continue;
        o->start = at < o->start ? at : o->start;
        o->end = end > o->end ? end : o->end;
    }
    if (o->start > o->end)
        o->start = o->end;
}

/* Return where `bytes` bytes lie, or NULL if they are not in the object. Some loaders have added
 * the base to the addresses of a dynamic section in place, others not. */
static const void *needed_place(const struct needed_memory *m, uintptr_t at, size_t bytes)
{
    if (at < m->low)
        at += m->base;
    return at < m->low || at >= m->high || bytes > m->high - at ? NULL : (const void *)at;
}

static void needed_filter(struct jsp_needed_object *o, const struct needed_memory *m,
                          uintptr_t table)
{
    struct {
        uint32_t buckets, first, words, shift;
    } head;
    const char *at = needed_place(m, table, sizeof head);
    if (!table || !at)
        return;
    memcpy(&head, at, sizeof head);
    at = needed_place(m, (uintptr_t)at + sizeof head, head.words * sizeof *o->filter);
    if (!at || !head.words || head.words & (head.words - 1) || (uintptr_t)at % sizeof *o->filter)
        return;
    o->filter = (const void *)at;
    o->filter_words = head.words;
    o->filter_shift = head.shift % 32;
}

/* Find the strings and the filter of names. */
static void needed_text(struct jsp_needed_object *o, const struct needed_memory *m)
{
    uintptr_t text = 0, table = 0;
    for (const ElfW(Dyn) *d = o->dynamic; d && d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_STRTAB)
            text = d->d_un.d_ptr;
        if (d->d_tag == DT_STRSZ)
            o->text_bytes = d->d_un.d_val;
        if (d->d_tag == DT_GNU_HASH)
            table = d->d_un.d_ptr;
    }
    o->text = needed_place(m, text, o->text_bytes);
    if (!o->dynamic || !o->text)
        o->dynamic = NULL;
    else
        needed_filter(o, m, table);
}

static const char *needed_string(const struct jsp_needed_object *o, const ElfW(Dyn) *d)
{
    return d->d_un.d_val < o->text_bytes ? o->text + d->d_un.d_val : "";
}

static int needed_visit(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct jsp_needed *needed = arg;
    struct needed_memory memory;
    (void)size;
    if (jsp_forkgate_is_closed())
        return -EAGAIN;
    if (jsp_grow(&needed->at, &needed->capacity, needed->n, sizeof *needed->at) < 0)
        return -ENOMEM;
    struct jsp_needed_object *o = &needed->at[needed->n++];
    memset(o, 0, sizeof *o);
    needed_segments(o, &memory, info);
    needed_text(o, &memory);
    const char *path = info->dlpi_name, *slash = path ? strrchr(path, '/') : NULL;
    const char *name = slash ? slash + 1 : path;
    for (const ElfW(Dyn) *d = o->dynamic; d && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_SONAME)
            name = needed_string(o, d);
    if (name)
        memcpy(o->name, name, strnlen(name, sizeof o->name - 1));
    return 0;
}

struct jsp_needed_object *jsp_needed_at(const struct jsp_needed *needed, uintptr_t address)
{
    for (uint32_t i = 0; i < needed->n; i++)
        if (address >= needed->at[i].start && address < needed->at[i].end)
            return &needed->at[i];
    return NULL;
}

bool jsp_needed_each(const struct jsp_needed *needed, const struct jsp_needed_object *object,
                     jsp_needed_fn each, void *arg)
{
    for (const ElfW(Dyn) *d = object->dynamic; d && d->d_tag != DT_NULL; d++) {
        if (d->d_tag != DT_NEEDED)
            continue;
        const char *name = needed_string(object, d), *slash = strrchr(name, '/');
        name = slash ? slash + 1 : name;
        struct jsp_needed_object *found = NULL;
        for (uint32_t i = 0; *name && i < needed->n && !found; i++)
            if (strncmp(needed->at[i].name, name, JSP_NEEDED_NAME - 1) == 0)
                found = &needed->at[i];
        each(arg, name, found);
    }
    return object->dynamic != NULL;
}

uint32_t jsp_needed_hash(const char *name)
{
    uint32_t hash = 5381;
    for (; *name; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

bool jsp_needed_may_define(const struct jsp_needed_object *object, uint32_t hash)
{
    enum { BITS = 8 * sizeof *object->filter };
    if (!object->filter)
        return true;
    ElfW(Addr) word = object->filter[hash / BITS & (object->filter_words - 1)];
    return word >> hash % BITS & word >> (hash >> object->filter_shift) % BITS & 1;
}

void jsp_needed_free(struct jsp_needed *needed)
{
    free(needed->at);
    *needed = (struct jsp_needed){ .at = NULL };
}

static void needed_by_program(void *unused, const char *name, struct jsp_needed_object *other)
{
    (void)unused, (void)name;
    if (other)
        other->is_needed = true;
}

int jsp_needed_look(struct jsp_needed *needed)
{
    *needed = (struct jsp_needed){ .at = NULL };
    if (!jsp_forkgate_enter())
        return -EAGAIN;
    int err = dl_iterate_phdr(needed_visit, needed);
    jsp_forkgate_leave();
    if (err)
        jsp_needed_free(needed);
    else if (needed->n)
        jsp_needed_each(needed, needed->at, needed_by_program, NULL);
    return err;
}
