/* image/needed.h - the loaded objects in the loader's order, and their dependencies.
 *
 * The caller finds out with it which objects lie between the program and the C library.
 * Outside the handler only: the look takes the loader's lock.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_NEEDED_H
#define JSP_IMAGE_NEEDED_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

enum { JSP_NEEDED_NAME = 64 };

struct jsp_needed_object {
    uintptr_t start, end;     /* executable memory; equal: none */
    /* borrowed from the object; NULL: the object has none that can be read */
    const ElfW(Dyn) *dynamic;
    const char *text;         /* borrowed from the object: its strings */
    size_t text_bytes;
    /* borrowed from the object: its filter of names; NULL: it has none that can be read */
    const ElfW(Addr) *filter;
    uint32_t filter_words, filter_shift;
    bool is_needed;           /* the first object, the program, needs this one */
    int mark;                 /* for the caller; 0 at first */
    /* DT_SONAME, or else the file's name without its folder */
    char name[JSP_NEEDED_NAME];
};

struct jsp_needed {
    struct jsp_needed_object *at; /* owned */
    uint32_t n, capacity;
};

/* Read the list. Return 0, -ENOMEM, or -EAGAIN if another thread forks (see
 * forkgate.h). */
int jsp_needed_look(struct jsp_needed *needed);

/* Free the list. */
void jsp_needed_free(struct jsp_needed *needed);

/* Return the object whose executable memory contains this address, or NULL. */
struct jsp_needed_object *jsp_needed_at(const struct jsp_needed *needed, uintptr_t address);

/* Call `each` for every object that this one needs. `other` is NULL if no loaded object
 * has that name. The caller keeps `object` loaded meanwhile. Return false if its list can
 * not be read. */
typedef void (*jsp_needed_fn)(void *arg, const char *name, struct jsp_needed_object *other);
bool jsp_needed_each(const struct jsp_needed *needed, const struct jsp_needed_object *object,
                     jsp_needed_fn each, void *arg);

/* Return the hash of a symbol's name, as the loader's filter has it (DT_GNU_HASH). */
uint32_t jsp_needed_hash(const char *name);

/* Return false if the object defines no symbol whose name has this hash. Return true for those
 * that it defines, and for a few others: the loader reads the same filter first. */
bool jsp_needed_may_define(const struct jsp_needed_object *object, uint32_t hash);

#endif
