/* export/strings.h - a table of strings, each stored once and referred to by its number.
 *
 * String 0 is the empty one. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_EXPORT_STRINGS_H
#define JSP_EXPORT_STRINGS_H

#include "base/hash.h"
#include "base/store.h"
#include "capture/read.h"

struct jsp_strings {
    struct jsp_read_text *list; /* text that `store` owns */
    uint32_t n, room;
    struct jsp_hash by_text;
    struct jsp_store store;
    int error; /* the first one: -ENOMEM */
};

/* Lay out an empty list. Return 0 or -ENOMEM. */
int jsp_strings_init(struct jsp_strings *s);

/* Free the list and its texts. */
void jsp_strings_free(struct jsp_strings *s);

/* Return the number of a text, which may be new; 0 with s->error without memory. */
uint32_t jsp_strings_add(struct jsp_strings *s, struct jsp_read_text text);

/* Return the number of a text that ends in NUL, as jsp_strings_add does. */
uint32_t jsp_strings_text(struct jsp_strings *s, const char *text);

/* Return the number of a known text, or 0. */
uint32_t jsp_strings_find(const struct jsp_strings *s, struct jsp_read_text text);

#endif
