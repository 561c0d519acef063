/* image/symbols_file.h - the ELF file that is really mapped, however it can be reached.
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
    void *image; /* owned: what `elf` reads, when no file can be read */
};

/* Open what `map`, one of `maps`, maps; `path` is its path without " (deleted)".
 * -ESTALE: the file is gone and its image is of no use; -EBADMSG, open's errno. */
int jsp_symbols_file_open(struct jsp_symbols_file *file, const struct jsp_maps *maps,
                          const struct jsp_map *map, const char *path);

void jsp_symbols_file_close(struct jsp_symbols_file *file);

#endif
