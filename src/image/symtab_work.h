/* image/symtab_work.h - the data that the makers of a symtab share.
 *
 * Each reader adds the functions that it finds; jsp_symtab_flatten makes ranges of them
 * all. Only symtab*.c include this.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_SYMTAB_WORK_H
#define JSP_IMAGE_SYMTAB_WORK_H

#include "symtab.h"

enum jsp_symtab_class {
    JSP_SYMTAB_START, /* has a begin and an end, but no name */
    JSP_SYMTAB_LABEL, /* has a name, but no end */
    JSP_SYMTAB_SIZED, /* has both */
};

enum {
    JSP_SYMTAB_LOCAL = 1,
    JSP_SYMTAB_WEAK = 2,
    JSP_SYMTAB_UNTYPED = 4,
    JSP_SYMTAB_PLT = 8, /* the stub that calls the function of this name */
};

struct jsp_symtab_entry {
    const char *name; /* borrowed from a text of the work; NULL: a start */
    uint32_t begin;   /* relative to the base */
    uint32_t size;    /* 0: not known */
    uint8_t class;
    uint8_t flags;
};

/* A symbol table and its strings, as they are stored in the file. */
struct jsp_symtab_source {
    Elf64_Sym *symbols; /* owned */
    size_t n;
    char *text;         /* owned, ends in NUL */
    size_t text_size;
};

struct jsp_symtab_work {
    const struct jsp_elf *elf;
    uint64_t base;  /* of all code */
    uint64_t limit; /* its size, below 4 GiB */
    struct jsp_symtab_entry *entries; /* owned */
    size_t n;
    size_t room;
    struct jsp_symtab_source full;    /* .symtab, ours or the debug file's */
    struct jsp_symtab_source dynamic; /* .dynsym */
    bool failed;    /* memory ran out */
};

/* Add a function at this address. Addresses outside the code are skipped. */
void jsp_symtab_add(struct jsp_symtab_work *w, uint64_t vaddr, uint64_t size,
                    struct jsp_symtab_entry like);

/* Return the end of the section (or segment) of code that contains this address. */
uint64_t jsp_symtab_edge(const struct jsp_elf *elf, uint64_t vaddr);

/* Return the string at this offset of the source, or "". */
const char *jsp_symtab_text(const struct jsp_symtab_source *source, uint32_t at);

/* Return a symbol of the source as an entry, without its address and size. */
struct jsp_symtab_entry jsp_symtab_like(const struct jsp_symtab_source *source,
                                        const Elf64_Sym *symbol);

/* Compare two names at one address. Negative: `a` is the better one for a reader. */
long jsp_symtab_compare(const struct jsp_symtab_entry *a,
                        const struct jsp_symtab_entry *b);

/* Read both sources and add their functions. */
void jsp_symtab_read(struct jsp_symtab_work *w, const struct jsp_elf *debug);

/* Add the stubs of .plt, .plt.sec and .plt.got; both sources must be read before. */
void jsp_symtab_plt(struct jsp_symtab_work *w);

/* Add the starts of functions that .eh_frame_hdr lists. */
void jsp_symtab_starts(struct jsp_symtab_work *w);

/* Sort the entries and make the table's ranges and names of them. Return 0 or -ENOMEM. */
int jsp_symtab_flatten(struct jsp_symtab_work *w, struct jsp_symtab *t);

#endif
