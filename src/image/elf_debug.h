/* image/elf_debug.h - the separate file that has the symbols of a stripped one.
 *
 * Found as debuggers find it: by build id below /usr/lib/debug/.build-id, else by the
 * name in .gnu_debuglink next to the file, in .debug/ beside it, and below
 * /usr/lib/debug. Believed when the build ids agree or, where one has none, the
 * checksum of the link does.
 *
 * Outside the handler only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_ELF_DEBUG_H
#define JSP_IMAGE_ELF_DEBUG_H

#include "elf.h"

/* Open the debug file of `elf`, whose own path is `path`. -ENOENT: none that fits, or
 * none is needed because the file has its symbols itself. */
int jsp_elf_debug_open(struct jsp_elf *debug, const struct jsp_elf *elf, const char *path);

/* Open a regular file that may be anything. -errno; the answer is a descriptor. */
int jsp_elf_file(const char *path);

#endif
