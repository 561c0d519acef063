/* image/symtab_work.h - what the makers of a symtab hand from one to the next.
 *
 * Each reader adds what it knows of functions; jsp_symtab_flatten makes ranges of it
 * all. Only symtab*.c include this.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_SYMTAB_WORK_H
#define JSP_IMAGE_SYMTAB_WORK_H

#include "symtab.h"

enum jsp_symtab_class {
    JSP_SYMTAB_START, /* begins and ends, has no name */
    JSP_SYMTAB_LABEL, /* has a name and no end */
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
    uint32_t begin;   /* from the base */
    uint32_t size;    /* 0: not known */
    uint8_t class;
    uint8_t flags;
};

/* A symbol table and its strings, as they stand in the file. */
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
    bool failed;    /* for want of memory */
};

/* A function at this address; addresses outside the code are passed over. */
void jsp_symtab_add(struct jsp_symtab_work *w, uint64_t vaddr, uint64_t size,
                    struct jsp_symtab_entry like);

/* Where the section (or segment) of code ends that holds this address. */
uint64_t jsp_symtab_edge(const struct jsp_elf *elf, uint64_t vaddr);

/* The string at this place of the source, or "". */
const char *jsp_symtab_text(const struct jsp_symtab_source *source, uint32_t at);

/* A symbol of the source as an entry, but for its address and size. */
struct jsp_symtab_entry jsp_symtab_like(const struct jsp_symtab_source *source,
                                        const Elf64_Sym *symbol);

/* Which of two names at one address a reader would rather see: negative for a. */
long jsp_symtab_compare(const struct jsp_symtab_entry *a,
                        const struct jsp_symtab_entry *b);

/* Read both sources and add their functions. */
void jsp_symtab_read(struct jsp_symtab_work *w, const struct jsp_elf *debug);

/* Add the stubs of .plt, .plt.sec and .plt.got; needs both sources. */
void jsp_symtab_plt(struct jsp_symtab_work *w);

/* Add the starts of functions that .eh_frame_hdr lists. */
void jsp_symtab_starts(struct jsp_symtab_work *w);

/* Sort the entries and make the table's ranges and names of them. -ENOMEM. */
int jsp_symtab_flatten(struct jsp_symtab_work *w, struct jsp_symtab *t);

#endif
