/* image/symtab.h - the functions of one object file, as disjoint ranges of addresses.
 *
 * A table is built once from all sources that describe functions: .symtab of the file or
 * of its debug file, .dynsym, the stubs of the procedure linkage table, and the starts of
 * functions that .eh_frame_hdr lists even in a stripped library. Where these disagree,
 * the innermost symbol with a size wins; a symbol without a size ends where the next one
 * begins. No part of the file stays open or mapped.
 *
 * Addresses are the file's own (p_vaddr). Outside the handler only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_SYMTAB_H
#define JSP_IMAGE_SYMTAB_H

#include "elf.h"

/* Addresses [begin, end), relative to the table's base. */
struct jsp_symtab_range {
    uint32_t begin;
    uint32_t end;
    uint32_t name; /* offset in `names`; 0: a function without a known name */
};

/* A part of the file that holds code. */
struct jsp_symtab_part {
    uint64_t offset;
    uint64_t vaddr;
    uint64_t size;
};

struct jsp_symtab {
    uint64_t base;
    struct jsp_symtab_range *ranges; /* owned */
    size_t n_ranges;
    char *names;                     /* owned; names[0] is the empty string */
    size_t names_size;
    struct jsp_symtab_part *parts;   /* owned */
    size_t n_parts;

    /* Always:  ranges[i].begin < ranges[i].end <= ranges[i + 1].begin */
};

/* Read `elf`, and `debug` (may be NULL) for more names. Return 0 or -ENOMEM. A file
 * without symbols gives a table without ranges. */
int jsp_symtab_load(struct jsp_symtab *t, const struct jsp_elf *elf,
                    const struct jsp_elf *debug);

/* Free the table, which may be one that failed to load. */
void jsp_symtab_free(struct jsp_symtab *t);

/* Store the address of a byte of the file. Return false if the byte is not code. */
bool jsp_symtab_vaddr(const struct jsp_symtab *t, uint64_t offset, uint64_t *vaddr);

struct jsp_symtab_found {
    uint64_t begin; /* this result holds for all addresses in [begin, end) */
    uint64_t end;
    const char *name; /* "": a function without a name; NULL: unknown */
};

/* Return the function at `vaddr`. */
struct jsp_symtab_found jsp_symtab_find(const struct jsp_symtab *t, uint64_t vaddr);

#endif
