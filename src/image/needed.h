/* image/needed.h - the loaded objects in the loader's order, and which needs which.
 *
 * For questions about what lies between the program and the C library. Outside the handler
 * only: the look takes the loader's lock.
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
    const ElfW(Dyn) *dynamic; /* borrowed from the object; NULL: none that can be read */
    const char *text;         /* borrowed, its strings */
    size_t text_bytes;
    bool is_needed;           /* by the first one, which is the program */
    int mark;                 /* the caller's; 0 at first */
    char name[JSP_NEEDED_NAME]; /* DT_SONAME, else the file's name without its folder */
};

struct jsp_needed {
    struct jsp_needed_object *at; /* owned */
    uint32_t n, capacity;
};

/* -EAGAIN: another thread forks, see forkgate.h; -ENOMEM. */
int jsp_needed_look(struct jsp_needed *needed);
void jsp_needed_free(struct jsp_needed *needed);

/* The object whose executable memory has this address; NULL: none. */
struct jsp_needed_object *jsp_needed_at(const struct jsp_needed *needed, uintptr_t address);

/* Call `each` for every object that this one needs, which is not closed meanwhile; `other` is
 * NULL where none bears that name. False: its list can not be read. */
typedef void (*jsp_needed_fn)(void *arg, const char *name, struct jsp_needed_object *other);
bool jsp_needed_each(const struct jsp_needed *needed, const struct jsp_needed_object *object,
                     jsp_needed_fn each, void *arg);

#endif
