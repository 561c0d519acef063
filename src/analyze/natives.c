/* natives.c - the files that a capture's native code was mapped from.
 *
 * SPDX-License-Identifier: MIT
 */
#include "analyze/natives.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/elf_debug.h"

enum { NATIVES_MOST = 1 << 14 }; /* files; a capture may lie about their number */

int jsp_natives_init(struct jsp_natives *n)
{
    memset(n, 0, sizeof *n);
    return jsp_hash_init(&n->by_path, 0);
}

void jsp_natives_free(struct jsp_natives *n)
{
    for (uint32_t i = 0; i < n->n; i++)
        jsp_symtab_free(&n->files[i].table);
    free(n->files);
    jsp_hash_free(&n->by_path);
    jsp_store_free(&n->store);
    memset(n, 0, sizeof *n);
}

/* Is this the build that the capture tells of? */
static bool natives_is_build(const struct jsp_native_file *f, const struct jsp_elf *elf)
{
    uint8_t id[JSP_ELF_BUILD_ID];
    char hex[2 * JSP_ELF_BUILD_ID + 1] = "";
    size_t n = jsp_elf_build_id(elf, id);
    for (size_t i = 0; i < n; i++)
        snprintf(hex + 2 * i, 3, "%02x", id[i]);
    return strlen(hex) == f->build_id.len &&
           memcmp(hex, f->build_id.at, f->build_id.len) == 0;
}

static bool natives_is_same(const struct jsp_natives *n, const struct jsp_native_file *f,
                            const struct jsp_elf *elf)
{
    struct stat st;
    if (f->build_id.len)
        return natives_is_build(f, elf);
    return fstat(elf->fd, &st) == 0 && (f->inode == 0 || st.st_ino == f->inode) &&
           (n->recorded == 0 || st.st_mtime <= n->recorded);
}

/* 0, or why there are no names. */
static int natives_read(const struct jsp_natives *n, struct jsp_native_file *f)
{
    struct jsp_elf elf, debug;
    struct jsp_elf_debug_place place = { f->name, JSP_ELF_DEBUG_ROOT };
    int fd = jsp_elf_file(f->name);
    int err = fd < 0 ? fd : jsp_elf_open(&elf, fd);
    if (err < 0)
        return err;
    if (natives_is_same(n, f, &elf)) {
        bool has_debug = jsp_elf_debug_open(&debug, &elf, place) == 0;
        err = jsp_symtab_load(&f->table, &elf, has_debug ? &debug : NULL);
        if (has_debug)
            jsp_elf_close(&debug);
    } else {
        err = -ESTALE;
    }
    jsp_elf_close(&elf);
    return err;
}

static bool natives_equal(struct jsp_read_text a, struct jsp_read_text b)
{
    return a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
}

/* Position + 1; 0: not known yet. */
static uint32_t natives_known(const struct jsp_natives *n, uint32_t hash,
                              const struct jsp_lookup_map *m)
{
    uint32_t probe = hash, at;
    while ((at = jsp_hash_next(&n->by_path, hash, &probe)) != 0) {
        const struct jsp_native_file *f = &n->files[at - 1];
        if (f->inode == m->inode && natives_equal(f->path, m->path) &&
            natives_equal(f->build_id, m->build_id))
            break;
    }
    return at;
}

int jsp_natives_file(struct jsp_natives *n, const struct jsp_lookup_map *m)
{
    if (m->path.len == 0 || m->path.at[0] != '/')
        return -ENOENT;
    uint64_t h = jsp_hash_bytes(n->by_path.seed + m->inode, m->path.at, m->path.len);
    uint32_t hash = (uint32_t)(h >> 16), at = natives_known(n, hash, m);
    if (at)
        return (int)at - 1;
    if (n->n == NATIVES_MOST)
        return -ENOENT;
    struct jsp_native_file *more = jsp_grow(n->files, &n->room, n->n, sizeof *more);
    if (!more)
        return -ENOMEM;
    n->files = more;
    struct jsp_native_file *f = &more[n->n];
    *f = (struct jsp_native_file){ m->path, m->build_id, .inode = m->inode };
    f->name = jsp_store_text(&n->store, m->path.at, m->path.len);
    if (!f->name || jsp_hash_add(&n->by_path, hash, n->n) < 0)
        return -ENOMEM;
    f->reason = natives_read(n, f);
    return (int)n->n++;
}

bool jsp_natives_place(struct jsp_natives *n, const struct jsp_lookup_map *m,
                       uint64_t addr, struct jsp_native_place *out)
{
    int file = jsp_natives_file(n, m);
    if (file < 0 || n->files[file].reason)
        return false;
    out->file = (uint32_t)file;
    return jsp_symtab_vaddr(&n->files[file].table, addr - m->start + m->offset,
                            &out->vaddr);
}
