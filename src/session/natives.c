/* session/natives.c - see natives.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "natives.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/encode.h"
#include "image/elf_debug.h"
#include "thread.h"

/* Each reading of symbol tables names several addresses. The first comes soon; later ones
 * are rarer, because less and less new code is found. */
static const uint64_t natives_first_pause = 1000000000u, natives_longest = 60000000000u;

int jsp_natives_open(struct jsp_natives *natives)
{
    natives->is_stale = true;
    return jsp_bundle_open(&natives->bundle);
}

void jsp_natives_renew(struct jsp_natives *natives, struct jsp_bundle *bundle)
{
    const struct jsp_objects *objects = natives->objects;
    jsp_bundle_take_over(bundle, natives->bundle);
    jsp_natives_close(natives);
    memset(natives, 0, sizeof *natives);
    natives->objects = objects;
    natives->bundle = bundle;
    natives->is_stale = true;
}

void jsp_natives_close(struct jsp_natives *natives)
{
    if (natives->bundle)
        jsp_bundle_close(natives->bundle);
    jsp_maps_free(&natives->maps);
    jsp_maps_free(&natives->since);
    free(natives->written);
    natives->bundle = NULL;
    natives->written = NULL;
    natives->n_written = 0;
}

/* Find the mapping of an address. Hosts map memory for code at any time. The mapping of a
 * closed object stays in `maps` until a refresh has named its addresses. */
static const struct jsp_map *natives_map(struct jsp_natives *natives, uint64_t addr)
{
    const struct jsp_map *map = jsp_maps_find(&natives->maps, addr);
    if (map)
        return map;
    if (!natives->has_looked) {
        natives->has_looked = natives->is_stale = true;
        jsp_maps_read(&natives->since);
    }
    return jsp_maps_find(&natives->since, addr);
}

bool jsp_natives_see(struct jsp_natives *natives, uint64_t addr)
{
    uint64_t slot = addr * 0x9E3779B97F4A7C15u >> 52;
    struct jsp_natives_seen *seen = &natives->seen[slot];
    if (seen->addr == addr)
        return seen->in_file;
    const struct jsp_map *map = natives_map(natives, addr);
    jsp_bundle_see(natives->bundle, addr);
    /* An address that is not mapped as of the last look belongs to a newer object. Only a
     * partial map, from the loader, lacks memory that hosts map for code. */
    natives->has_seen = true;
    *seen = (struct jsp_natives_seen){ addr, map ? *map->path : !natives->since.is_partial };
    return seen->in_file;
}
_Static_assert(JSP_NATIVES_CACHE == 1 << 12, "jsp_natives_see keeps the upper 12 bits");

bool jsp_natives_function(struct jsp_natives *natives, uint64_t addr, char out[JSP_SYMBOL_NAME])
{
    const struct jsp_map *map = natives_map(natives, addr);
    bool is_old = map && map == jsp_maps_find(&natives->maps, addr);
    return map && jsp_bundle_function(natives->bundle, is_old ? &natives->maps : &natives->since,
                                      addr, out);
}

int jsp_natives_symbol(uint64_t addr, char out[JSP_SYMBOL_NAME])
{
    struct jsp_natives *natives = calloc(1, sizeof *natives);
    int err = natives ? jsp_natives_open(natives) : -ENOMEM;
    if (!err && !jsp_natives_function(natives, addr, out))
        err = -ENOENT;
    if (natives)
        jsp_natives_close(natives);
    free(natives);
    return err;
}

static int natives_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool natives_written(const struct jsp_natives *natives, uint64_t key)
{
    return natives->n_written && bsearch(&key, natives->written, natives->n_written, sizeof key,
                                      natives_compare);
}

static void natives_hex(char *to, const uint8_t *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        *to++ = digits[bytes[i] >> 4];
        *to++ = digits[bytes[i] & 15];
    }
    *to = 0;
}

/* Find the build id of the very file that is mapped. Return its size, or 0 if it has none. */
static size_t natives_file_id(const struct jsp_map *map, uint8_t id[JSP_ELF_BUILD_ID])
{
    struct jsp_elf elf;
    struct stat st;
    int fd = jsp_elf_file(map->path);
    if (fd < 0 || fstat(fd, &st) < 0 || st.st_ino != map->inode) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    if (jsp_elf_open(&elf, fd) < 0)
        return 0;
    size_t n = jsp_elf_build_id(&elf, id);
    jsp_elf_close(&elf);
    return n;
}

/* Find the build id of what is mapped, so that readers elsewhere can distinguish it from others
 * of its name; "" if it has none. The loaded object has it in memory; other mappings of code
 * have it only in their file. */
static void natives_build_id(char out[2 * JSP_ELF_BUILD_ID + 1], const struct jsp_natives *natives,
                             const struct jsp_map *map)
{
    uint8_t id[JSP_ELF_BUILD_ID];
    size_t n = natives->objects && map->inode
                   ? jsp_objects_build_id(natives->objects, map->start, map->end, id) : 0;
    natives_hex(out, id, n ? n : natives_file_id(map, id));
}

/* Append a MAP frame. Return true if it fits. */
static bool natives_write(const struct jsp_natives *natives, struct jsp_writer *w,
                          const struct jsp_map *map)
{
    char build_id[2 * JSP_ELF_BUILD_ID + 1];
    natives_build_id(build_id, natives, map);
    struct jsp_read_map to = { map->start, map->end, map->offset, map->inode,
                               jsp_encode_string(map->path), jsp_encode_string(build_id) };
    return jsp_writer_map(w, &to) == 0;
}

static void natives_write_new(struct jsp_natives *natives, struct jsp_writer *w)
{
    size_t n = natives->n_written;
    if (!natives->maps.n) /* realloc to no bytes would free the list */
        return;
    uint64_t *more = realloc(natives->written, (n + natives->maps.n) * sizeof *more);
    if (!more)
        return;
    natives->written = more;
    for (size_t i = 0; i < natives->maps.n; i++) {
        const struct jsp_map *map = &natives->maps.list[i];
        /* another file at the same place has another key */
        uint64_t key = map->start ^ map->offset << 20 ^ map->inode * 0x9E3779B97F4A7C15u;
        if (map->is_executable && *map->path && !natives_written(natives, key) &&
            natives_write(natives, w, map))
            more[n++] = key;
    }
    natives->n_written = n;
    qsort(more, n, sizeof *more, natives_compare);
}

static void natives_look(struct jsp_natives *natives, struct jsp_writer *w)
{
    if (jsp_maps_read(&natives->maps) != 0)
        return;
    jsp_maps_free(&natives->since);
    natives->has_looked = natives->is_stale = false;
    if (natives->has_seen) /* and the mappings may have changed */
        memset(natives->seen, 0, sizeof natives->seen);
    natives->has_seen = false;
    natives_write_new(natives, w);
}

static void natives_settle(struct jsp_natives *natives)
{
    uint64_t now = jsp_now_ns(CLOCK_MONOTONIC);
    if (now < natives->settle_ns || jsp_bundle_is_settled(natives->bundle))
        return;
    jsp_bundle_settle(natives->bundle, &natives->maps, false);
    natives->pause_ns = natives->pause_ns ? natives->pause_ns * 2 : natives_first_pause;
    if (natives->pause_ns > natives_longest)
        natives->pause_ns = natives_longest;
    natives->settle_ns = now + natives->pause_ns;
}

void jsp_natives_refresh(struct jsp_natives *natives, struct jsp_writer *w,
                         enum jsp_natives_news news)
{
    /* use the old map, which still has the closed objects */
    if (news == JSP_NATIVES_CLOSED)
        jsp_bundle_settle(natives->bundle, &natives->maps, false);
    bool is_needed = news != JSP_NATIVES_SAME;
    if (news == JSP_NATIVES_LAST) /* for the addresses that are named now */
        is_needed = !jsp_bundle_is_settled(natives->bundle);
    if (is_needed || natives->is_stale)
        natives_look(natives, w);
    if (news == JSP_NATIVES_OPENED)
        natives->pause_ns = natives->settle_ns = 0;
    if (news == JSP_NATIVES_LAST)
        jsp_bundle_settle(natives->bundle, &natives->maps, true);
    else
        natives_settle(natives);
}

int jsp_natives_bundle(struct jsp_natives *natives, struct jsp_writer *w)
{
    void *bytes;
    size_t size;
    int err = jsp_bundle_file(natives->bundle, w->pid, &bytes, &size);
    if (err)
        return err;
    err = jsp_writer_timestamp(w); /* Sysprof 3.46 loses it directly after another file */
    if (!err)
        err = jsp_writer_file(w, JSP_WIRE_FILE_SYMBOLS, bytes, size);
    free(bytes);
    return err;
}
