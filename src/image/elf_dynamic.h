/* image/elf_dynamic.h - the symbol table that the loader uses: for files without section
 * headers, and for objects of which only the running image is left.
 *
 * Outside the handler only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_ELF_DYNAMIC_H
#define JSP_IMAGE_ELF_DYNAMIC_H

#include "elf.h"

struct jsp_elf_dynamic {
    struct jsp_elf_span symbols;
    struct jsp_elf_span text; /* the names */
};

/* Find the table. Return false if the file has none that makes sense. */
bool jsp_elf_dynamic(const struct jsp_elf *elf, struct jsp_elf_dynamic *found);

#endif
