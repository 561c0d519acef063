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

/* The files that a folder may have instead of the recorded one. */
enum natives_way {
    NATIVES_BY_ID,          /* DIR/.build-id/xx/yyyy.debug */
    NATIVES_PROGRAM_BY_ID,  /* DIR/.build-id/xx/yyyy */
    NATIVES_CACHED,         /* DIR/xxyyyy/debuginfo */
    NATIVES_CACHED_PROGRAM, /* DIR/xxyyyy/executable */
    NATIVES_BY_PATH,        /* DIR/path */
    NATIVES_BY_NAME,        /* DIR/name */
    NATIVES_WAYS,
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

static bool natives_debug(const struct jsp_native_files *n, const struct jsp_native_file *f,
                          const struct jsp_elf *elf, struct jsp_elf *debug)
{
    const char *const roots[] = { n->symbols, n->cache, JSP_ELF_DEBUG_ROOT };
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        struct jsp_elf_debug_place place = { f->name, roots[i] };
        if (roots[i] && jsp_elf_debug_open(debug, elf, place) == 0)
            return true;
    }
    return jsp_elf_debug_inside(debug, elf) == 0;
}

/* Read names from an open file and, if it has none, from its debug file. */
static int natives_take(const struct jsp_native_files *n, struct jsp_native_file *f,
                        const struct jsp_elf *elf)
{
    struct jsp_elf debug;
    bool has_debug = natives_debug(n, f, elf, &debug), has_names = has_debug;
    for (size_t i = 0; i < elf->n_sections && !has_names; i++)
        has_names = elf->sections[i].sh_type == SHT_SYMTAB;
    f->is_skipped = !f->is_needed && !has_names;
    int err = f->is_skipped ? 0 : jsp_symtab_load(&f->table, elf, has_debug ? &debug : NULL);
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
    n->unsure += f->build_id.len == 0 && !f->is_skipped;
    return 0;
}

/* Write the path of a file that `root` may have instead of the recorded one. Return false if
 * it can not be, or does not fit. */
static bool natives_way(char path[PATH_MAX], const char *root, const struct jsp_native_file *f,
                        enum natives_way way)
{
    const char *id = f->build_id.at, *slash = strrchr(f->name, '/');
    int all = (int)f->build_id.len, rest = all - 2, n = -1;
    if (way <= NATIVES_CACHED_PROGRAM && rest <= 0)
        return false;
    if (way == NATIVES_BY_ID || way == NATIVES_PROGRAM_BY_ID)
        n = snprintf(path, PATH_MAX, "%s/.build-id/%.2s/%.*s%s", root, id, rest, id + 2,
                     way == NATIVES_BY_ID ? ".debug" : "");
    else if (way == NATIVES_CACHED || way == NATIVES_CACHED_PROGRAM)
        n = snprintf(path, PATH_MAX, "%s/%.*s/%s", root, all, id,
                     way == NATIVES_CACHED ? "debuginfo" : "executable");
    else
        n = snprintf(path, PATH_MAX, "%s/%s", root,
                     way == NATIVES_BY_PATH ? f->name : slash ? slash + 1 : f->name);
    return n > 0 && n < PATH_MAX;
}

/* Search the user's folder, then the cache, which has files by build id. If none fits, the error
 * of the recorded path remains. */
static int natives_elsewhere(struct jsp_native_files *n, struct jsp_native_file *f, int reason)
{
    char path[PATH_MAX];
    const char *const roots[] = { n->symbols, n->cache };
    int err = reason;
    for (int at = 0; err && at < NATIVES_WAYS + NATIVES_BY_PATH; at++) {
        const char *root = roots[at / NATIVES_WAYS];
        if (!root || !natives_way(path, root, f, (enum natives_way)(at % NATIVES_WAYS)))
            continue;
        err = natives_try(n, f, path);
        if (err == -ESTALE)
            reason = err;
    }
    return err ? reason : 0;
}

/* Read the file, or read it again because now all that it has is needed. */
static void natives_load(struct jsp_native_files *n, struct jsp_native_file *f)
{
    f->is_skipped = false;
    f->reason = natives_read(n, f);
    if (f->reason)
        f->reason = natives_elsewhere(n, f, f->reason);
}

/* Return the position of the mapped file, after reading it. Return -ENOENT if no file is
 * mapped there, or -ENOMEM. */
static int natives_file(struct jsp_native_files *n, const struct jsp_lookup_map *m,
                        bool is_needed)
{
    if (m->path.len == 0 || m->path.at[0] != '/')
        return -ENOENT;
    uint64_t h = jsp_hash_bytes(n->by_path.seed + m->inode, m->path.at, m->path.len);
    uint32_t hash = (uint32_t)(h >> 16), probe = hash, at;
    while ((at = jsp_hash_next(&n->by_path, hash, &probe)) != 0) {
        const struct jsp_native_file *f = &n->files[at - 1];
        if (f->inode == m->inode && jsp_read_equal(f->path, m->path) &&
            jsp_read_equal(f->build_id, m->build_id))
            break;
    }
    if (at) {
        struct jsp_native_file *f = &n->files[at - 1];
        f->is_needed |= is_needed;
        if (f->is_needed && f->is_skipped)
            natives_load(n, f);
        return (int)at - 1;
    }
    if (n->n == NATIVES_MOST)
        return -ENOENT;
    if (jsp_grow(&n->files, &n->room, n->n, sizeof *n->files) < 0)
        return -ENOMEM;
    struct jsp_native_file *f = &n->files[n->n];
    *f = (struct jsp_native_file){
        m->path, m->build_id, .inode = m->inode, .offset = m->offset, .is_needed = is_needed
    };
    f->name = jsp_store_text(&n->store, m->path.at, m->path.len);
    if (!f->name || jsp_hash_add(&n->by_path, hash, n->n) < 0)
        return -ENOMEM;
    natives_load(n, f);
    return (int)n->n++;
}

static bool natives_place(struct jsp_native_files *n, const struct jsp_lookup_map *m,
                          uint64_t addr, bool is_needed, struct jsp_native_place *out)
{
    int file = natives_file(n, m, is_needed);
    if (file < 0 || n->files[file].reason)
        return false;
    out->file = (uint32_t)file;
    return jsp_symtab_vaddr(&n->files[file].table, addr - m->start + m->offset,
                            &out->vaddr);
}

bool jsp_native_files_place(struct jsp_native_files *n, const struct jsp_lookup_map *m,
                            uint64_t addr, struct jsp_native_place *out)
{
    bool is_needed = true;
    return natives_place(n, m, addr, is_needed, out);
}

const char *jsp_native_files_later(struct jsp_native_files *n, const struct jsp_lookup_map *m,
                                   uint64_t addr)
{
    struct jsp_native_place place;
    bool is_needed = false;
    if (!natives_place(n, m, addr, is_needed, &place))
        return NULL;
    const char *name = jsp_symtab_find(&n->files[place.file].table, place.vaddr).name;
    return name && *name ? name : NULL;
}
