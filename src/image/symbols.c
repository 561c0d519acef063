/* image/symbols.c - see symbols.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "elf_debug.h"
#include "symtab.h"

enum { SYMBOLS_OBJECTS = 1024 }; /* a bound for programs that load ever new files */

struct symbols_object {
    uint64_t dev;
    uint64_t inode;
    char *path;      /* owned, without " (deleted)" */
    struct jsp_symtab table;
    size_t bytes;    /* size of the table; 0: not held */
    uint64_t used;   /* value of the clock at its last use */
    int reason;      /* negative errno that explains why there is no table */
};

struct jsp_symbols {
    jsp_demangle_fn *demangle;
    struct symbols_object *objects; /* owned; room for SYMBOLS_OBJECTS */
    size_t n;
    size_t bytes;
    size_t budget;   /* constant */
    uint64_t clock;

    /* Always:  n <= SYMBOLS_OBJECTS; bytes is the sum over the objects */
};

int jsp_symbols_open(struct jsp_symbols **out, size_t budget)
{
    struct jsp_symbols *s = calloc(1, sizeof *s);
    if (s)
        s->objects = malloc(SYMBOLS_OBJECTS * sizeof *s->objects); /* few are ever used */
    if (!s || !s->objects) {
        free(s);
        return -ENOMEM;
    }
    s->budget = budget;
    s->demangle = jsp_demangle_find();
    *out = s;
    return 0;
}

static void symbols_give_up(struct jsp_symbols *s, struct symbols_object *o)
{
    jsp_symtab_free(&o->table);
    s->bytes -= o->bytes;
    o->bytes = 0;
}

void jsp_symbols_rest(struct jsp_symbols *s)
{
    for (size_t i = 0; i < s->n; i++)
        symbols_give_up(s, &s->objects[i]);
}

void jsp_symbols_close(struct jsp_symbols *s)
{
    if (!s)
        return;
    jsp_symbols_rest(s);
    for (size_t i = 0; i < s->n; i++)
        free(s->objects[i].path);
    free(s->objects);
    free(s);
}

size_t jsp_symbols_bytes(const struct jsp_symbols *s)
{
    return s->bytes;
}

/* Return the length of the path without " (deleted)". */
static size_t symbols_path_length(const char *path)
{
    static const char deleted[] = " (deleted)";
    size_t n = strlen(path), tail = sizeof deleted - 1;
    return n > tail && strcmp(path + n - tail, deleted) == 0 ? n - tail : n;
}

/* Make room for the newest table: drop the ones that were unused for longest. */
static void symbols_shrink(struct jsp_symbols *s, const struct symbols_object *keep)
{
    while (s->bytes > s->budget) {
        struct symbols_object *oldest = NULL;
        for (size_t i = 0; i < s->n; i++) {
            struct symbols_object *o = &s->objects[i];
            if (o != keep && o->bytes && (!oldest || o->used < oldest->used))
                oldest = o;
        }
        if (!oldest)
            return;
        symbols_give_up(s, oldest);
    }
}

static void symbols_load(struct jsp_symbols *s, struct symbols_object *o,
                         const struct jsp_maps *maps, const struct jsp_map *map)
{
    struct jsp_symbols_file file;
    struct jsp_elf debug = { .fd = -1 };
    o->reason = jsp_symbols_file_open(&file, maps, map, o->path);
    if (o->reason)
        return;
    struct jsp_elf_debug_place place = { o->path, JSP_ELF_DEBUG_ROOT };
    bool has_debug = jsp_elf_debug_open(&debug, &file.elf, place) == 0 ||
                     jsp_elf_debug_inside(&debug, &file.elf) == 0;
    o->reason = jsp_symtab_load(&o->table, &file.elf, has_debug ? &debug : NULL);
    jsp_elf_close(&debug);
    jsp_symbols_file_close(&file);
    if (o->reason)
        return;
    o->bytes =
        sizeof *o + o->table.n_ranges * sizeof *o->table.ranges + o->table.names_size;
    s->bytes += o->bytes;
    symbols_shrink(s, o);
}

/* Return the object that is mapped there, with its table, or NULL if there is none. */
static struct symbols_object *symbols_object(struct jsp_symbols *s,
                                             const struct jsp_maps *maps,
                                             const struct jsp_map *map)
{
    struct symbols_object *o = NULL;
    size_t n = symbols_path_length(map->path);
    for (size_t i = 0; i < s->n && !o; i++) {
        struct symbols_object *known = &s->objects[i];
        if (known->inode == map->inode && known->dev == map->dev &&
            strlen(known->path) == n && memcmp(known->path, map->path, n) == 0)
            o = known;
    }
    if (!o && s->n < SYMBOLS_OBJECTS) {
        char *path = strndup(map->path, n);
        if (!path)
            return NULL;
        o = &s->objects[s->n++];
        *o = (struct symbols_object){ map->dev, map->inode, path, .reason = 0 };
    }
    if (!o)
        return NULL;
    o->used = ++s->clock;
    if (!o->bytes && !o->reason)
        symbols_load(s, o, maps, map);
    return o->bytes ? o : NULL;
}

static void symbols_function(struct jsp_symbols *s, const struct symbols_object *o,
                             const struct jsp_map *map, uint64_t addr,
                             struct jsp_symbol *out)
{
    uint64_t vaddr;
    if (!jsp_symtab_vaddr(&o->table, addr - map->start + map->offset, &vaddr))
        return;
    struct jsp_symtab_found found = jsp_symtab_find(&o->table, vaddr);
    /* the function's range, cut to the mapping, as addresses of the process */
    uint64_t before = vaddr - found.begin, after = found.end - vaddr;
    out->begin = before < addr - map->start ? addr - before : map->start;
    out->end = after < map->end - addr ? addr + after : map->end;
    if (!found.name)
        return;
    if (*found.name) {
        jsp_demangle(s->demangle, found.name, out->name, sizeof out->name);
        out->kind = JSP_SYMBOL_NAMED;
        return;
    }
    snprintf(out->name, sizeof out->name, "%s+0x%" PRIx64, out->module, found.begin);
    out->kind = JSP_SYMBOL_START;
}

void jsp_symbols_resolve(struct jsp_symbols *s, const struct jsp_maps *maps,
                         uint64_t addr, struct jsp_symbol *out)
{
    const struct jsp_map *map = jsp_maps_find(maps, addr);
    *out = (struct jsp_symbol){ addr, addr + 1, JSP_SYMBOL_UNKNOWN, "[unknown]", "" };
    if (!map)
        return;
    if (!map->inode && map->path[0] != '[') {
        *out = (struct jsp_symbol){ addr, addr + 1, JSP_SYMBOL_MEMORY,
                                    "[anonymous memory]", "" };
        return;
    }
    out->begin = map->start;
    out->end = map->end;
    const char *slash = strrchr(map->path, '/'), *name = slash ? slash + 1 : map->path;
    size_t n = symbols_path_length(name);
    snprintf(out->module, sizeof out->module, "%.*s", (int)(n < INT32_MAX ? n : 0), name);
    snprintf(out->name, sizeof out->name, *out->module == '[' ? "%s" : "[%s]", out->module);
    out->kind = JSP_SYMBOL_MODULE_ONLY;
    if (map->inode == 0 && strcmp(map->path, "[vdso]") != 0)
        return;
    const struct symbols_object *o = symbols_object(s, maps, map);
    if (o)
        symbols_function(s, o, map, addr, out);
}
