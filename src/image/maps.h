/* image/maps.h - the process's memory map, as the kernel tells it.
 *
 * Read from /proc/self/maps and not from the loader: the loader's list sits behind a
 * lock that the host may hold while it waits for us, and knows no deleted files.
 * Where there is no /proc, the loader's list has to do.
 * Only what can hold code or the tables of code is kept: mappings of files, the vdso
 * and executable memory without a file.
 *
 * Outside the handler only, one thread at a time for each struct.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_MAPS_H
#define JSP_IMAGE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jsp_map {
    uint64_t start; /* first address */
    uint64_t end;   /* one past the last */
    uint64_t offset; /* in the file, of `start` */
    uint64_t dev;    /* as in st_dev; some file systems tell stat another one */
    uint64_t inode;  /* 0: no file */
    const char *path; /* "" for none; "[vdso]"; may end in " (deleted)" */
    bool is_readable;
    bool is_writable;
    bool is_executable;
};

struct jsp_maps {
    struct jsp_map *list; /* owned */
    size_t n;
    char *text;           /* owned: what the paths point into */
    bool is_partial;      /* of the loader: memory without a file is not shown */

    /* Always:  list[i].start < list[i].end <= list[i + 1].start */
};

/* This process's map of now, in place of what `maps` (zeroed at first) held. On
 * failure, -ENOMEM or an errno of reading, it holds what it held before. */
int jsp_maps_read(struct jsp_maps *maps);

/* The same by the loader's list, as far as that goes. -EAGAIN: a thread forks. */
int jsp_maps_of_loader(struct jsp_maps *maps);

/* The same from this text, a block that ends in NUL and is the map's afterwards; lines
 * that make no sense are passed over. -ENOMEM: it stays the caller's. */
int jsp_maps_take(struct jsp_maps *maps, char *text);

/* The mapping that holds `addr`, or NULL. */
const struct jsp_map *jsp_maps_find(const struct jsp_maps *maps, uint64_t addr);

void jsp_maps_free(struct jsp_maps *maps);

#endif
