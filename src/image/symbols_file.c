/* image/symbols_file.c - see symbols.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "descriptor.h"
#include "elf_debug.h"

enum { FILE_MOST_IMAGE = 1 << 27 }; /* bytes of a running image that may be copied */

/* Open `path` if it is the mapped file. The device is not compared: file systems with
 * subvolumes report another one to stat than the map shows. */
static int file_same(const char *path, const struct jsp_map *map)
{
    struct stat st;
    int fd = jsp_elf_file(path);
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_ino == map->inode)
        return fd;
    if (fd >= 0)
        close(fd);
    return fd < 0 ? fd : -ESTALE;
}

static bool file_is_kin(const struct jsp_map *a, const struct jsp_map *b)
{
    return a->inode == b->inode && a->dev == b->dev && strcmp(a->path, b->path) == 0;
}

/* Find the mappings of one loading of an object: list [first, last). */
static void file_group(const struct jsp_maps *maps, const struct jsp_map *map,
                       size_t *first, size_t *last)
{
    size_t at = (size_t)(map - maps->list);
    for (*first = at; *first > 0 && maps->list[*first].offset != 0; (*first)--)
        if (!file_is_kin(&maps->list[*first - 1], map))
            break;
    for (*last = at + 1; *last < maps->n && maps->list[*last].offset != 0; (*last)++)
        if (!file_is_kin(&maps->list[*last], map))
            break;
}

/* Copy memory of this process by a system call, because it may vanish meanwhile. `mem` is
 * /proc/self/mem, negative if there is none. */
static bool file_memory(int mem, const struct jsp_map *m, uint8_t *to)
{
    for (uint64_t done = 0; done < m->end - m->start;) {
        struct iovec here = { to + done, m->end - m->start - done };
        struct iovec there = { (void *)(uintptr_t)(m->start + done), here.iov_len };
        ssize_t got = mem < 0 ? process_vm_readv(getpid(), &here, 1, &there, 1, 0) :
                      pread(mem, here.iov_base, here.iov_len, (off_t)(m->start + done));
        if (got <= 0)
            return false;
        done += (uint64_t)got;
    }
    return true;
}

/* Rebuild the file from its mappings, code and constants. */
static void *file_image(const struct jsp_maps *maps, const struct jsp_map *map,
                        size_t *size)
{
    size_t first, last;
    uint64_t end = 0;
    file_group(maps, map, &first, &last);
    for (size_t i = first; i < last; i++) {
        const struct jsp_map *m = &maps->list[i];
        if (m->offset > FILE_MOST_IMAGE || m->end - m->start > FILE_MOST_IMAGE)
            return NULL;
        end =
            m->offset + (m->end - m->start) > end ? m->offset + (m->end - m->start) : end;
    }
    if (end > FILE_MOST_IMAGE)
        return NULL;
    int mem = jsp_descriptor_open("/proc/self/mem", O_RDONLY, 0);
    uint8_t *image = calloc(1, end);
    bool whole = image != NULL;
    for (size_t i = first; whole && i < last; i++) {
        const struct jsp_map *m = &maps->list[i];
        if (m->is_readable && !m->is_writable)
            whole = file_memory(mem, m, image + m->offset);
    }
    if (mem >= 0)
        close(mem);
    if (!whole) {
        free(image);
        return NULL;
    }
    *size = end;
    return image;
}

/* Open the running image as a file. Return 0 or -ESTALE. */
static int file_from_memory(struct jsp_symbols_file *file, const struct jsp_maps *maps,
                            const struct jsp_map *map)
{
    size_t size, first, last;
    file->image = file_image(maps, map, &size);
    if (!file->image || jsp_elf_open_image(&file->elf, file->image, size) < 0) {
        free(file->image);
        file->image = NULL;
        return -ESTALE;
    }
    file_group(maps, map, &first, &last);
    const Elf64_Phdr *p = jsp_elf_segment_of(&file->elf, 0);
    file->elf.image_base = maps->list[first].start - (p ? p->p_vaddr : 0);
    return 0;
}

/* The path leads to another inode. If that is a copy of the same build, use it
 * instead. */
static void file_same_build(struct jsp_symbols_file *file, const char *path)
{
    uint8_t ours[JSP_ELF_BUILD_ID], other[JSP_ELF_BUILD_ID];
    struct jsp_elf elf;
    size_t n = jsp_elf_build_id(&file->elf, ours);
    int fd = n ? jsp_elf_file(path) : -1;
    if (fd < 0 || jsp_elf_open(&elf, fd) < 0)
        return;
    if (jsp_elf_build_id(&elf, other) != n || memcmp(ours, other, n) != 0) {
        jsp_elf_close(&elf);
        return;
    }
    jsp_symbols_file_close(file);
    file->elf = elf;
}

int jsp_symbols_file_open(struct jsp_symbols_file *file, const struct jsp_maps *maps,
                          const struct jsp_map *map, const char *path)
{
    *file = (struct jsp_symbols_file){ .elf = { .fd = -1 } };
    if (map->inode == 0)
        return file_from_memory(file, maps, map);
    int fd = file_same(path, map);
    if (fd < 0)
        fd = file_same(map->path, map); /* the file's real name may end in " (deleted)" */
    /* The kernel links to mapped files; the second link needs no privilege. */
    char link[64];
    snprintf(link, sizeof link, "/proc/self/map_files/%" PRIx64 "-%" PRIx64, map->start, map->end);
    if (fd < 0)
        fd = file_same(link, map);
    if (fd < 0)
        fd = file_same("/proc/self/exe", map);
    if (fd >= 0)
        return jsp_elf_open(&file->elf, fd);
    int err = file_from_memory(file, maps, map);
    if (!err)
        file_same_build(file, path);
    return err;
}

void jsp_symbols_file_close(struct jsp_symbols_file *file)
{
    jsp_elf_close(&file->elf);
    free(file->image);
    file->image = NULL;
}
