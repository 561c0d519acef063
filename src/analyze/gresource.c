/* analyze/gresource.c - see gresource.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "gresource.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/block.h"
#include "image/elf_debug.h"

enum {
    GRESOURCE_DEPTH = 64,   /* parts of a path */
    GRESOURCE_FILES = 4096, /* mapped files that are opened */
    GRESOURCE_HEAD = 8,     /* size and flags before a file's bytes */
    GRESOURCE_PACKED = 1,   /* a flag */
};

static const char gresource_scheme[] = "resource://", gresource_prefix[] = ".gresource.";

/* The type of a value follows it, after a NUL. */
static const char gresource_type[] = "\0(uuay)";

struct gresource_head {
    char magic[8]; /* "GVariant" in this machine's byte order */
    uint32_t version, options;
    uint32_t from, to; /* the root's table */
};

struct gresource_item {
    uint32_t hash;
    uint32_t parent; /* UINT32_MAX: none */
    uint32_t key;    /* the part of the path after that of the parent */
    uint16_t key_size;
    char type;       /* v: a value */
    char unused;
    uint32_t from, to;
};

struct gresource {
    struct jsp_read_text table;
    size_t items; /* where they begin */
    uint32_t n;
};

/* Return the bytes from `from` to `to`, or a NULL `at`. */
static struct jsp_read_text gresource_span(struct jsp_read_text table, uint64_t from, uint64_t to)
{
    if (from > to || to > table.len)
        return (struct jsp_read_text){ NULL, 0 };
    return (struct jsp_read_text){ table.at + from, (uint32_t)(to - from) };
}

static bool gresource_open(struct gresource *g, struct jsp_read_text table)
{
    struct gresource_head head;
    uint32_t sizes[2]; /* words of a filter, and of buckets */
    if (table.len < sizeof head)
        return false;
    memcpy(&head, table.at, sizeof head);
    struct jsp_read_text root = gresource_span(table, head.from, head.to);
    if (memcmp(head.magic, "GVariant", sizeof head.magic) != 0 || head.version ||
        !root.at || root.len < sizeof sizes)
        return false;
    memcpy(sizes, root.at, sizeof sizes);
    uint64_t before = sizeof sizes + 4ull * (sizes[0] & 0x7ffffff) + 4ull * sizes[1];
    if (before > root.len)
        return false;
    *g = (struct gresource){ table, head.from + before,
                             (uint32_t)((root.len - before) / sizeof(struct gresource_item)) };
    return true;
}

static struct gresource_item gresource_item(const struct gresource *g, uint32_t i)
{
    struct gresource_item item;
    memcpy(&item, g->table.at + g->items + (size_t)i * sizeof item, sizeof item);
    return item;
}

/* Compare a path with that of the item, from the end. */
static bool gresource_is(const struct gresource *g, struct gresource_item item, const char *path)
{
    size_t left = strlen(path);
    for (int depth = 0; depth < GRESOURCE_DEPTH; depth++) {
        struct jsp_read_text key =
            gresource_span(g->table, item.key, (uint64_t)item.key + item.key_size);
        if (!key.at || key.len > left || memcmp(path + left - key.len, key.at, key.len) != 0)
            return false;
        left -= key.len;
        if (item.parent >= g->n)
            return item.parent == UINT32_MAX && left == 0;
        item = gresource_item(g, item.parent);
    }
    return false;
}

/* A file is stored with a NUL after it, which its size does not count. */
static struct jsp_read_text gresource_bytes(const struct gresource *g, struct gresource_item item)
{
    static const struct jsp_read_text none = { NULL, 0 };
    struct jsp_read_text value = gresource_span(g->table, item.from, item.to);
    uint32_t head[2], tail = sizeof gresource_type - 1;
    if (!value.at || value.len < GRESOURCE_HEAD + tail ||
        memcmp(value.at + value.len - tail, gresource_type, tail) != 0)
        return none;
    memcpy(head, value.at, sizeof head);
    uint32_t len = value.len - GRESOURCE_HEAD - tail;
    if (head[1] & GRESOURCE_PACKED || head[0] > len)
        return none;
    return (struct jsp_read_text){ value.at + GRESOURCE_HEAD, head[0] };
}

struct jsp_read_text jsp_gresource_find(struct jsp_read_text table, const char *path)
{
    struct gresource g;
    if (!gresource_open(&g, table))
        return (struct jsp_read_text){ NULL, 0 };
    for (uint32_t i = 0; i < g.n; i++) {
        struct gresource_item item = gresource_item(&g, i);
        if (item.type == 'v' && gresource_is(&g, item, path))
            return gresource_bytes(&g, item);
    }
    return (struct jsp_read_text){ NULL, 0 };
}

/* Make a source of the bytes. */
static int gresource_take(struct jsp_source *s, struct jsp_read_text file, const char *from,
                          const char *path)
{
    char *label = NULL, *text = malloc((size_t)file.len + 1);
    if (!text || asprintf(&label, "%s:%s", from, path) < 0) {
        free(text);
        return -ENOMEM;
    }
    memcpy(text, file.at, file.len);
    int err = jsp_source_of_text(s, label, text, file.len);
    free(label);
    return err;
}

/* Search all resources of a mapped file. */
static int gresource_of_file(struct jsp_source *s, const char *from, const char *path)
{
    struct jsp_elf elf;
    struct stat st;
    int err = -ENOENT, fd = jsp_elf_file(from);
    if (fd < 0 || jsp_elf_open(&elf, fd) < 0)
        return -ENOENT;
    for (size_t i = 0; elf.section_names && err == -ENOENT && i < elf.n_sections; i++) {
        const Elf64_Shdr *section = &elf.sections[i];
        if (section->sh_name >= elf.section_names_size || section->sh_size > UINT32_MAX ||
            strncmp(elf.section_names + section->sh_name, gresource_prefix,
                    sizeof gresource_prefix - 1) != 0)
            continue;
        char *bytes = jsp_elf_read_section(&elf, section);
        struct jsp_read_text table = { bytes, (uint32_t)section->sh_size }, file = { NULL, 0 };
        if (bytes)
            file = jsp_gresource_find(table, path);
        if (file.at)
            err = gresource_take(s, file, from, path);
        jsp_block_free(bytes);
    }
    if (err == 0 && fstat(elf.fd, &st) == 0)
        s->changed = st.st_mtime;
    jsp_elf_close(&elf);
    return err;
}

int jsp_gresource_read(struct jsp_source *s, const struct jsp_lookup *maps, const char *url)
{
    struct jsp_read_text last = { "", 0 };
    int err = -ENOENT, n_files = 0;
    memset(s, 0, sizeof *s);
    if (strncmp(url, gresource_scheme, sizeof gresource_scheme - 1) != 0)
        return -ENOENT;
    const char *path = url + sizeof gresource_scheme - 1;
    for (uint32_t i = 0; err == -ENOENT && i < maps->n_maps && n_files < GRESOURCE_FILES; i++) {
        struct jsp_read_text of = maps->maps[i].path;
        if (of.len == 0 || *of.at != '/' || jsp_read_equal(of, last))
            continue;
        last = of;
        n_files++;
        char *from = strndup(of.at, of.len);
        err = from ? gresource_of_file(s, from, path) : -ENOMEM;
        free(from);
    }
    return err;
}
