/* analyze/native_files.c - the files from which a capture's native code was mapped.
 *
 * SPDX-License-Identifier: MIT
 */
#include "native_files.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/elf_debug.h"

enum {
    NATIVES_PAGE = 4096,
    NATIVES_MOST = 1 << 14, /* a bound, because a capture may claim any number of files */
};

int jsp_native_files_init(struct jsp_native_files *n)
{
    memset(n, 0, sizeof *n);
    return jsp_hash_init(&n->by_path, 0);
}

void jsp_native_files_free(struct jsp_native_files *n)
{
    for (uint32_t i = 0; i < n->n; i++)
        jsp_symtab_free(&n->files[i].table);
    free(n->files);
    jsp_hash_free(&n->by_path);
    jsp_store_free(&n->store);
    memset(n, 0, sizeof *n);
}

/* Return true if the file has the recorded build id. */
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

static bool natives_is_same(const struct jsp_native_files *n, const struct jsp_native_file *f,
                            const struct jsp_elf *elf)
{
    struct stat st;
    if (f->build_id.len)
        return natives_is_build(f, elf);
    return fstat(elf->fd, &st) == 0 && (f->inode == 0 || st.st_ino == f->inode) &&
           (n->recorded == 0 || st.st_mtime <= n->recorded);
}

/* Read names from an open file and, if it has none, from its debug file. */
static int natives_take(const struct jsp_native_files *n, struct jsp_native_file *f,
                        const struct jsp_elf *elf)
{
    const char *const roots[] = { n->symbols, JSP_ELF_DEBUG_ROOT };
    struct jsp_elf debug;
    bool has_debug = false;
    for (int i = 0; i < 2 && !has_debug; i++) {
        struct jsp_elf_debug_place place = { f->name, roots[i] };
        has_debug = roots[i] && jsp_elf_debug_open(&debug, elf, place) == 0;
    }
    int err = jsp_symtab_load(&f->table, elf, has_debug ? &debug : NULL);
    if (has_debug)
        jsp_elf_close(&debug);
    return err;
}

/* Read names from the recorded path. Return 0 or the reason why there are none. */
static int natives_read(const struct jsp_native_files *n, struct jsp_native_file *f)
{
    struct jsp_elf elf;
    int fd = jsp_elf_file(f->name);
    int err = fd < 0 ? fd : jsp_elf_open(&elf, fd);
    if (err < 0)
        return err;
    err = natives_is_same(n, f, &elf) ? natives_take(n, f, &elf) : -ESTALE;
    jsp_elf_close(&elf);
    f->from = err ? NULL : f->name;
    return err;
}

/* A debug file has the segments of its program but not their offsets in the program's
 * file. With one segment of code its offset is known: the mapping begins with its first
 * page. */
static void natives_place_code(const struct jsp_native_file *f, struct jsp_elf *elf)
{
    Elf64_Phdr *code = NULL;
    size_t n = 0;
    for (size_t i = 0; i < elf->n_segments; i++)
        if (elf->segments[i].p_type == PT_LOAD && elf->segments[i].p_flags & PF_X) {
            code = &elf->segments[i];
            n++;
        }
    if (n != 1 || code->p_filesz)
        return;
    code->p_offset = f->offset + code->p_vaddr % NATIVES_PAGE;
    code->p_filesz = code->p_memsz;
}

/* Read a file of the user's folder. The build id decides if the capture has one. */
static int natives_try(struct jsp_native_files *n, struct jsp_native_file *f, const char *path)
{
    struct jsp_elf elf;
    int fd = jsp_elf_file(path);
    int err = fd < 0 ? fd : jsp_elf_open(&elf, fd);
    if (err < 0)
        return err;
    if (f->build_id.len && !natives_is_build(f, &elf))
        err = -ESTALE;
    if (!err)
        natives_place_code(f, &elf);
    if (!err)
        err = natives_take(n, f, &elf);
    jsp_elf_close(&elf);
    if (err)
        return err;
    f->from = jsp_store_text(&n->store, path, strlen(path));
    n->unsure += f->build_id.len == 0;
    return 0;
}

/* Try "DIR/.build-id/xx/yyyy.debug", the same without ".debug", "DIR/path" and
 * "DIR/name". If none fits, the error of the recorded path remains. */
static int natives_elsewhere(struct jsp_native_files *n, struct jsp_native_file *f, int reason)
{
    char path[PATH_MAX];
    const char *id = f->build_id.at, *slash = strrchr(f->name, '/');
    int rest = f->build_id.len > 2 ? (int)f->build_id.len - 2 : 0, err = reason;
    for (int way = 0; n->symbols && err && way < 4; way++) {
        int len;
        if (way < 2 && !rest)
            continue;
        if (way < 2)
            len = snprintf(path, sizeof path, "%s/.build-id/%.2s/%.*s%s", n->symbols, id,
                           rest, id + 2, way ? "" : ".debug");
        else
            len = snprintf(path, sizeof path, "%s/%s", n->symbols,
                           way == 2 ? f->name : slash ? slash + 1 : f->name);
        if (len > 0 && (size_t)len < sizeof path)
            err = natives_try(n, f, path);
        if (err == -ESTALE)
            reason = err;
    }
    return err ? reason : 0;
}

int jsp_native_files_file(struct jsp_native_files *n, const struct jsp_lookup_map *m)
{
    if (m->path.len == 0 || m->path.at[0] != '/')
        return -ENOENT;
    uint64_t h = jsp_hash_bytes(n->by_path.seed + m->inode, m->path.at, m->path.len);
    uint32_t hash = (uint32_t)(h >> 16), probe = hash, at;
    while ((at = jsp_hash_next(&n->by_path, hash, &probe)) != 0) {
        const struct jsp_native_file *f = &n->files[at - 1];
        if (f->inode == m->inode && jsp_read_equal(f->path, m->path) &&
            jsp_read_equal(f->build_id, m->build_id))
            return (int)at - 1;
    }
    if (n->n == NATIVES_MOST)
        return -ENOENT;
    if (jsp_grow(&n->files, &n->room, n->n, sizeof *n->files) < 0)
        return -ENOMEM;
    struct jsp_native_file *f = &n->files[n->n];
    *f = (struct jsp_native_file){
        m->path, m->build_id, .inode = m->inode, .offset = m->offset
    };
    f->name = jsp_store_text(&n->store, m->path.at, m->path.len);
    if (!f->name || jsp_hash_add(&n->by_path, hash, n->n) < 0)
        return -ENOMEM;
    f->reason = natives_read(n, f);
    if (f->reason)
        f->reason = natives_elsewhere(n, f, f->reason);
    return (int)n->n++;
}

bool jsp_native_files_place(struct jsp_native_files *n, const struct jsp_lookup_map *m,
                            uint64_t addr, struct jsp_native_place *out)
{
    int file = jsp_native_files_file(n, m);
    if (file < 0 || n->files[file].reason)
        return false;
    out->file = (uint32_t)file;
    return jsp_symtab_vaddr(&n->files[file].table, addr - m->start + m->offset,
                            &out->vaddr);
}
