/* export/places.h - functions in their source files, numbered: a function whose lines are in two
 * files is two places.
 *
 * One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_EXPORT_PLACES_H
#define JSP_EXPORT_PLACES_H

#include "base/hash.h"

struct jsp_place {
    uint32_t function, file; /* in the profile */
};

struct jsp_places {
    struct jsp_place *list; /* owned */
    uint32_t n, room;
    struct jsp_hash by_place;
    int error; /* the first one: -ENOMEM */
};

/* Lay out an empty list. Return 0 or -ENOMEM. */
int jsp_places_init(struct jsp_places *p);

/* Free the list. */
void jsp_places_free(struct jsp_places *p);

/* Return the number of a place, which may be new; 0 with p->error without memory. */
uint32_t jsp_places_add(struct jsp_places *p, uint32_t function, uint32_t file);

#endif
