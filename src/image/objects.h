/* image/objects.h - the loaded objects, and the map of them that handlers read.
 *
 * The drain calls refresh often; as long as the loader's counters say that nothing
 * was opened or closed it costs one call. Otherwise new objects get a table, made of
 * a copy of their .eh_frame that the kernel took (so a file truncated under us is an
 * error, not a SIGBUS), tables of objects that are still there are kept, and a new
 * map takes the place of the old one. That, and the tables only it had, are retired:
 * stamped with the caller's epoch and freed once the caller says that no handler may
 * still be reading what was retired then.
 *
 * Outside the handler only, one thread at a time for each struct; jsp_objects_map is
 * for any thread and for the handler.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_OBJECTS_H
#define JSP_IMAGE_OBJECTS_H

#include <sys/types.h>

#include "table.h"

struct jsp_object; /* one that is loaded, with its table */

/* What is to be freed. */
struct jsp_object_old {
    struct jsp_object_old *next;
    uint64_t epoch;
    struct jsp_unwind_map *map; /* owned, or NULL */
    struct jsp_object *object;  /* owned, or NULL */
};

struct jsp_objects { /* zeroed: before init */
    struct jsp_unwind_map *_Atomic map; /* owned; never NULL after init */

    struct jsp_object *list;            /* owned; those of the map */
    struct jsp_object_old *old;         /* owned */
    uint64_t generation;                /* maps made */
    uint64_t adds, subs;                /* the loader's counters at the last refresh */
    pid_t pid;
    uint32_t n;
};

/* Take the first look; while another thread forks, leave that to the next refresh.
 * -ENOMEM. */
int jsp_objects_init(struct jsp_objects *o);

/* Look again; `epoch` stamps what is retired. 1: there is a new map; 0: nothing
 * changed; -ENOMEM, or -EAGAIN because another thread forks: the old map stays, and the
 * next call tries again. */
int jsp_objects_refresh(struct jsp_objects *o, uint64_t epoch);

/* Free what was retired before `quiet`: no handler that began then still runs. */
void jsp_objects_reclaim(struct jsp_objects *o, uint64_t quiet);

/* Free everything: no handler may read any more. */
void jsp_objects_free(struct jsp_objects *o);

/* The map of now. */
static inline const struct jsp_unwind_map *jsp_objects_map(struct jsp_objects *o)
{
    /* ORDER: acquire, pairs with O1: the map's contents before its address. */
    return atomic_load_explicit(&o->map, memory_order_acquire);
}

#endif
