/* image/elf_debug.h - the separate file that has the symbols of a stripped one.
 *
 * Found as debuggers find it: by build id below the root's .build-id, else by the
 * name in .gnu_debuglink next to the file, in .debug/ beside it, and below the root.
 * Believed when the build ids agree or, where one has none, the checksum of the link
 * does.
 *
 * Outside the handler only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_ELF_DEBUG_H
#define JSP_IMAGE_ELF_DEBUG_H

#include "elf.h"

/* Where distributions put debug files. */
#define JSP_ELF_DEBUG_ROOT "/usr/lib/debug"

struct jsp_elf_debug_place {
    const char *path; /* of the file itself */
    const char *root; /* JSP_ELF_DEBUG_ROOT */
};

/* Open the debug file of `elf`. -ENOENT: none that fits, or none is needed because the
 * file has its symbols itself. */
int jsp_elf_debug_open(struct jsp_elf *debug, const struct jsp_elf *elf,
                       struct jsp_elf_debug_place place);

/* Open a regular file that may be anything. -errno; the answer is a descriptor. */
int jsp_elf_file(const char *path);

#endif
