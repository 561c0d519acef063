/* image/maps.h - the process's memory map, as the kernel reports it.
 *
 * The source is /proc/self/maps and not the loader: the loader protects its list with a
 * lock that the host may hold while it waits for us, and does not know deleted files.
 * Where there is no /proc, the loader's list is used instead. The map keeps only mappings
 * that can hold code or tables of code: mappings of files, the vdso, and executable
 * memory without a file.
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
    uint64_t offset; /* offset of `start` in the file */
    uint64_t dev; /* as in st_dev, but some file systems report another number to stat */
    uint64_t inode;  /* 0: no file */
    const char *path; /* "" for none; "[vdso]"; may end in " (deleted)" */
    bool is_readable;
    bool is_writable;
    bool is_executable;
};

struct jsp_maps {
    struct jsp_map *list; /* owned */
    size_t n;
    char *text;           /* owned; the paths point into it */
    bool is_partial;      /* from the loader: memory without a file is missing */

    /* Always:  list[i].start < list[i].end <= list[i + 1].start */
};

/* Read this process's current map into `maps` (zeroed at first) and free the old one.
 * Return 0, -ENOMEM or the errno of reading; on failure the old map stays. */
int jsp_maps_read(struct jsp_maps *maps);

/* Do the same with the loader's list, as far as that goes. Return -EAGAIN if a thread
 * forks. */
int jsp_maps_of_loader(struct jsp_maps *maps);

/* Do the same with this text, a block that ends in NUL; `maps` takes it over. Lines that
 * make no sense are skipped. On -ENOMEM the text stays the caller's. */
int jsp_maps_take(struct jsp_maps *maps, char *text);

/* Return the mapping that holds `addr`, or NULL. */
const struct jsp_map *jsp_maps_find(const struct jsp_maps *maps, uint64_t addr);

/* Free the list and its text. */
void jsp_maps_free(struct jsp_maps *maps);

#endif
