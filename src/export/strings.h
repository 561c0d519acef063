/* export/strings.h - a table of strings, each told once and named by its number.
 *
 * SPDX-License-Identifier: MIT
 *
 * String 0 is the empty one. One thread.
 */
#ifndef JSP_EXPORT_STRINGS_H
#define JSP_EXPORT_STRINGS_H

#include "base/hash.h"
#include "capture/read.h"

struct jsp_strings {
    struct jsp_read_text *list; /* text that `store` owns */
    uint32_t n, room;
    struct jsp_hash by_text;
    struct jsp_store store;
    int error; /* the first one: -ENOMEM */
};

int jsp_strings_init(struct jsp_strings *s); /* -ENOMEM */
void jsp_strings_free(struct jsp_strings *s);

/* The number of a text, which may be new; 0 with s->error where there is no memory. */
uint32_t jsp_strings_add(struct jsp_strings *s, struct jsp_read_text text);
uint32_t jsp_strings_text(struct jsp_strings *s, const char *text);

/* The number of a text that is there; 0: it is not. */
uint32_t jsp_strings_find(const struct jsp_strings *s, struct jsp_read_text text);

#endif
