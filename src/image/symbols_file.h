/* image/symbols_file.h - the ELF file that is really mapped, by any way to reach it.
 *
 * Outside the handler only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_SYMBOLS_FILE_H
#define JSP_IMAGE_SYMBOLS_FILE_H

#include "elf.h"
#include "maps.h"

struct jsp_symbols_file {
    struct jsp_elf elf;
    void *image; /* owned: the source of `elf` if no file can be read */
};

/* Open the file of `map`, one of `maps`; `path` is its path without " (deleted)". Return
 * 0, -EBADMSG, the errno of open, or -ESTALE if the file is gone and its image is not
 * usable. */
int jsp_symbols_file_open(struct jsp_symbols_file *file, const struct jsp_maps *maps,
                          const struct jsp_map *map, const char *path);

void jsp_symbols_file_close(struct jsp_symbols_file *file);

#endif
