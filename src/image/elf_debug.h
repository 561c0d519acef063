/* image/elf_debug.h - the separate file with the symbols of a stripped one.
 *
 * It is searched like debuggers do: by build id below the root's .build-id, and as
 * debuginfod's cache has it, ROOT/BUILDID/debuginfo; else by the name in .gnu_debuglink
 * next to the file, in .debug/ beside it, and below the root. A file fits if the build ids
 * are equal or, where one has none, the checksum of the link is right. Some distributions
 * put compressed symbols into the stripped file itself (.gnu_debugdata).
 *
 * Outside the handler only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_ELF_DEBUG_H
#define JSP_IMAGE_ELF_DEBUG_H

#include "elf.h"

/* Distributions install debug files below this folder. */
#define JSP_ELF_DEBUG_ROOT "/usr/lib/debug"

struct jsp_elf_debug_place {
    const char *path; /* of the file itself */
    const char *root; /* JSP_ELF_DEBUG_ROOT */
};

/* Open the debug file of `elf`. Return 0, or -ENOENT if no file fits, or if none is
 * needed because `elf` has its symbols itself. */
int jsp_elf_debug_open(struct jsp_elf *debug, const struct jsp_elf *elf,
                       struct jsp_elf_debug_place place);

/* Open the symbols that `elf` has in .gnu_debugdata. Return 0, -ENOENT if it has none or has
 * a .symtab, too, -EBADMSG, -ENOTSUP or -ENOMEM. */
int jsp_elf_debug_inside(struct jsp_elf *debug, const struct jsp_elf *elf);

/* Open the file if it is a regular one. Return a descriptor or a negative errno. */
int jsp_elf_file(const char *path);

#endif
