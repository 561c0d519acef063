/* image/symbols.h - names for native addresses of this process.
 *
 * Objects are read when the first address in them is asked for, from the very file
 * that is mapped: where the path now leads to another file, the old one is reached
 * through /proc, or the running image is read instead. Tables are kept within a
 * budget and read again when they were given up.
 *
 * One thread at a time; it may allocate and open files, and takes no lock of the
 * loader's. Never in the handler.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_SYMBOLS_H
#define JSP_IMAGE_SYMBOLS_H

#include "maps.h"

enum { JSP_SYMBOL_NAME = 512, JSP_SYMBOL_MODULE = 64 }; /* bytes */

enum jsp_symbol_kind {
    JSP_SYMBOL_NAMED,   /* a function's name */
    JSP_SYMBOL_START,   /* "libx.so+0x1230": a function that starts there */
    JSP_SYMBOL_MODULE_ONLY, /* "[libx.so]" */
    JSP_SYMBOL_MEMORY,  /* "[anonymous memory]": code that no file holds */
    JSP_SYMBOL_UNKNOWN, /* "[unknown]": nothing is mapped there */
};

struct jsp_symbol {
    uint64_t begin; /* every address from begin to before end has this answer */
    uint64_t end;
    enum jsp_symbol_kind kind;
    char name[JSP_SYMBOL_NAME];
    char module[JSP_SYMBOL_MODULE]; /* the object's file name; "" for none */
};

struct jsp_symbols;

enum { JSP_SYMBOLS_BUDGET = 1 << 26 }; /* bytes of tables */

/* Begin, with that many bytes for all tables but the one in use. -ENOMEM. The caller's
 * thread may take the loader's lock. */
int jsp_symbols_open(struct jsp_symbols **out, size_t budget);

void jsp_symbols_close(struct jsp_symbols *s);

/* Give up all tables: nobody will ask for a while. */
void jsp_symbols_rest(struct jsp_symbols *s);

/* What stands at `addr`, by a map of now; always an answer. A frame that is no leaf
 * wants its return address less one. */
void jsp_symbols_resolve(struct jsp_symbols *s, const struct jsp_maps *maps,
                         uint64_t addr, struct jsp_symbol *out);

/* How many bytes of tables are held now. */
size_t jsp_symbols_bytes(const struct jsp_symbols *s);

#endif
