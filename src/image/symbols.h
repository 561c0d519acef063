/* image/symbols.h - names for native addresses of this process.
 *
 * An object is read at the first look-up of an address in it, from the very file that is
 * mapped: if the path now leads to another file, the old one is reached through /proc, or
 * the running image is read instead. Tables are kept within a budget, and read again if
 * they were dropped.
 *
 * One thread at a time; it may allocate and open files, and takes no lock of the loader.
 * Never in the handler.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_SYMBOLS_H
#define JSP_IMAGE_SYMBOLS_H

#include "elf.h"
#include "maps.h"

enum { JSP_SYMBOL_NAME = 512, JSP_SYMBOL_MODULE = 64 }; /* bytes */

enum jsp_symbol_kind {
    JSP_SYMBOL_NAMED,   /* a function's name */
    JSP_SYMBOL_START,   /* "libx.so+0x1230": an unnamed function that starts there */
    JSP_SYMBOL_MODULE_ONLY, /* "[libx.so]" */
    JSP_SYMBOL_MEMORY,  /* "[anonymous memory]": code without a file */
    JSP_SYMBOL_UNKNOWN, /* "[unknown]": nothing is mapped there */
};

struct jsp_symbol {
    uint64_t begin; /* this result holds for all addresses in [begin, end) */
    uint64_t end;
    enum jsp_symbol_kind kind;
    char name[JSP_SYMBOL_NAME];
    char module[JSP_SYMBOL_MODULE]; /* the object's file name; "" for none */
};

struct jsp_symbols;

enum { JSP_SYMBOLS_BUDGET = 1 << 26 }; /* bytes of all tables */

/* Open a resolver that keeps at most `budget` bytes of tables besides the table in use.
 * Return 0 or -ENOMEM. The calling thread must be allowed to take the loader's lock. */
int jsp_symbols_open(struct jsp_symbols **out, size_t budget);

/* Free the resolver and all its tables. NULL does nothing. */
void jsp_symbols_close(struct jsp_symbols *s);

/* Drop all tables, because no look-up will come for a while. */
void jsp_symbols_rest(struct jsp_symbols *s);

/* Describe the code at `addr`, by a current map; this never fails. For a return address
 * pass the address minus one. */
void jsp_symbols_resolve(struct jsp_symbols *s, const struct jsp_maps *maps,
                         uint64_t addr, struct jsp_symbol *out);

/* Return the bytes of all tables that are held now. */
size_t jsp_symbols_bytes(const struct jsp_symbols *s);

/* -- symbols_file.c: the ELF file that is really mapped, by any way to reach it */

struct jsp_symbols_file {
    struct jsp_elf elf;
    void *image; /* owned: the source of `elf` if no file can be read */
};

/* Open the file of `map`, one of `maps`; `path` is its path without " (deleted)". Return
 * 0, -EBADMSG, the errno of open, or -ESTALE if the file is gone and its image is not
 * usable. */
int jsp_symbols_file_open(struct jsp_symbols_file *file, const struct jsp_maps *maps,
                          const struct jsp_map *map, const char *path);

/* Close the file and free its image. */
void jsp_symbols_file_close(struct jsp_symbols_file *file);

#endif
