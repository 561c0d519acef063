/* image/maps_loaded.c - the process's map from the loader, where /proc is not mounted.
 * See maps.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "maps.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/block.h"
#include "elf.h"
#include "elf_debug.h"
#include "forkgate.h"

enum { LOADED_NO_FILE = 1 }; /* an inode that no file of a program has */

/* The loader's data on one object, copied while its lock is held. */
struct loaded_object {
    char *path; /* owned */
    uint8_t id[JSP_ELF_BUILD_ID];
    size_t n_id;
    struct stat file;
};

struct loaded_segment {
    uint64_t start, end, offset;
    uint32_t flags; /* of the program header */
    size_t object;
};

struct loaded_list {
    struct loaded_object *objects;   /* owned */
    struct loaded_segment *segments; /* owned */
    size_t n_objects, n_segments;
    uint64_t vdso, page;
};

static int loaded_copy(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct loaded_list *list = arg;
    size_t n = list->n_objects, segments = list->n_segments + info->dlpi_phnum;
    (void)size;
    if (jsp_forkgate_is_closed())
        return -EAGAIN;
    void *objects = jsp_block_grow(list->objects, (n + 1) * sizeof *list->objects);
    list->objects = objects ? objects : list->objects;
    void *more = jsp_block_grow(list->segments, segments * sizeof *list->segments);
    list->segments = more ? more : list->segments;
    if (!objects || !more)
        return -ENOMEM;
    /* The first object is the program, for which the loader has no path. */
    const char *exec = n ? NULL : (const char *)(uintptr_t)getauxval(AT_EXECFN);
    const char *path = info->dlpi_name && *info->dlpi_name ? info->dlpi_name : exec;
    list->objects[n] = (struct loaded_object){ .path = strdup(path ? path : "") };
    if (!list->objects[n].path)
        return -ENOMEM;
    struct loaded_object *o = &list->objects[n];
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t at = info->dlpi_addr + p->p_vaddr, before = p->p_vaddr % list->page;
        if (p->p_type == PT_NOTE && !o->n_id)
            o->n_id = jsp_elf_note_id((const uint8_t *)(uintptr_t)at, p->p_memsz, o->id);
        if (p->p_type != PT_LOAD || !p->p_filesz)
            continue;
        list->segments[list->n_segments++] = (struct loaded_segment){
            at - before, (at + p->p_filesz + list->page - 1) & ~(list->page - 1),
            p->p_offset - before, p->p_flags, n,
        };
        if (at - before == list->vdso)
            *o->path = 0;
    }
    list->n_objects++;
    return 0;
}

/* Find the file, if it is the one that was loaded. If the memory has no build id, assume so. The
 * program may have been started by a relative path: make it absolute. */
static void loaded_find_file(struct loaded_object *o)
{
    char whole[PATH_MAX];
    char *path = *o->path && realpath(o->path, whole) ? strdup(whole) : NULL;
    if (path) {
        free(o->path);
        o->path = path;
    }
    int fd = *o->path ? jsp_elf_file(o->path) : -1;
    bool good = fd >= 0 && fstat(fd, &o->file) == 0;
    if (fd >= 0 && !good)
        close(fd);
    uint8_t id[JSP_ELF_BUILD_ID];
    struct jsp_elf elf;
    good = good && jsp_elf_open(&elf, fd) == 0;
    size_t n = good ? jsp_elf_build_id(&elf, id) : 0;
    if (good)
        jsp_elf_close(&elf);
    if (!good || (o->n_id && (n != o->n_id || memcmp(id, o->id, n) != 0)))
        o->file = (struct stat){ .st_ino = LOADED_NO_FILE };
}

static int loaded_order(const void *a, const void *b)
{
    const struct loaded_segment *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static void loaded_line(FILE *out, const struct loaded_list *list, const struct loaded_segment *s,
                        uint64_t end)
{
    const struct loaded_object *o = &list->objects[s->object];
    bool is_vdso = s->start == list->vdso;
    fprintf(out, "%" PRIx64 "-%" PRIx64 " %c%c%cp %08" PRIx64 " %x:%x %" PRIu64 " ", s->start,
            end, s->flags & PF_R ? 'r' : '-', s->flags & PF_W ? 'w' : '-',
            s->flags & PF_X ? 'x' : '-', s->offset, major(o->file.st_dev), minor(o->file.st_dev),
            is_vdso ? 0 : (uint64_t)o->file.st_ino);
    for (const char *c = is_vdso ? "[vdso]" : o->path; *c; c++)
        fputs(*c == '\n' ? "\\012" : (char[]){ *c, 0 }, out);
    fputc('\n', out);
}

/* Return the map as the kernel would have written it, in a block, or NULL without
 * memory. */
static char *loaded_text(const struct loaded_list *list)
{
    char *text = NULL, *block = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (!out)
        return NULL;
    for (size_t i = 0; i < list->n_segments; i++) {
        const struct loaded_segment *s = &list->segments[i], *next = s + 1;
        bool touches = i + 1 < list->n_segments && next->start < s->end;
        loaded_line(out, list, s, touches ? next->start : s->end);
    }
    bool bad = ferror(out);
    if (fclose(out) == 0 && !bad && (block = jsp_block_grow(NULL, n + 1)) != NULL)
        memcpy(block, text, n + 1);
    free(text);
    return block;
}

int jsp_maps_of_loader(struct jsp_maps *maps)
{
    struct loaded_list list = { .vdso = getauxval(AT_SYSINFO_EHDR),
                                .page = (uint64_t)sysconf(_SC_PAGESIZE) };
    if (!jsp_forkgate_enter())
        return -EAGAIN;
    int err = dl_iterate_phdr(loaded_copy, &list);
    jsp_forkgate_leave();
    for (size_t i = 0; !err && i < list.n_objects; i++)
        loaded_find_file(&list.objects[i]);
    if (!err && list.n_segments)
        qsort(list.segments, list.n_segments, sizeof *list.segments, loaded_order);
    char *text = err ? NULL : loaded_text(&list);
    for (size_t i = 0; i < list.n_objects; i++)
        free(list.objects[i].path);
    jsp_block_free(list.objects);
    jsp_block_free(list.segments);
    if (!err)
        err = text ? jsp_maps_take(maps, text) : -ENOMEM;
    if (err)
        jsp_block_free(text);
    maps->is_partial = !err;
    return err;
}
