/* image/objects.h - the loaded objects, and their map for handlers.
 *
 * The drain calls refresh often; as long as the loader's counters show that no object was
 * opened or closed, it costs one call. Otherwise a new map replaces the old one. A new
 * object is in it without rows: most objects are never met in a sample. Once a handler has
 * met it, build gives it a table, made from a copy of its .eh_frame that the kernel took
 * (so a file that is truncated meanwhile is an error, not a SIGBUS). An object from which
 * the handler cannot read single records gets its table at once.
 *
 * Tables of objects that are still loaded are kept. The old map, and tables that only it
 * used, are retired: they get the caller's epoch and are freed once the caller confirms
 * that no handler can still be reading them.
 *
 * Outside the handler only, one thread at a time for each struct; any thread and the
 * handler may call jsp_objects_map, any thread jsp_objects_hurry.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_OBJECTS_H
#define JSP_IMAGE_OBJECTS_H

#include <sys/types.h>

#include "elf.h"
#include "table.h"

struct jsp_object; /* a loaded object with its table */

/* A retired map or object, which will be freed later. */
struct jsp_object_old {
    struct jsp_object_old *next;
    uint64_t epoch;
    struct jsp_unwind_map *map; /* owned, or NULL */
    struct jsp_object *object;  /* owned, or NULL */
};

struct jsp_objects { /* zeroed: before init */
    struct jsp_unwind_map *_Atomic map; /* owned; never NULL after init */

    struct jsp_object *list;            /* owned; the objects of the map */
    struct jsp_object_old *old;         /* owned */
    uint64_t generation;                /* number of maps made */
    uint64_t adds, subs;                /* the loader's counters at the last refresh */
    pid_t pid;
    uint32_t n;

    _Atomic bool is_hurried;            /* set by any thread */
};

/* Take the first look; if another thread forks, leave it to the next refresh. Return 0 or
 * -ENOMEM. */
int jsp_objects_init(struct jsp_objects *o);

/* Look again; retired maps and objects get `epoch`. Return 1 if there is a new map, and 0
 * if nothing has changed. On -ENOMEM, or -EAGAIN because another thread forks, the old
 * map stays, and the next call tries again. */
int jsp_objects_refresh(struct jsp_objects *o, uint64_t epoch);

/* Make the tables of the objects that handlers have met, and look again in any case where
 * there are such objects; otherwise do as refresh. Return as refresh. */
int jsp_objects_build(struct jsp_objects *o, uint64_t epoch);

/* Copy the build id of the object whose code begins in [start, end). Return its size, or 0 if
 * there is no such object, or it has none in its memory. */
size_t jsp_objects_build_id(const struct jsp_objects *o, uint64_t start, uint64_t end,
                            uint8_t id[JSP_ELF_BUILD_ID]);

/* Give up the table that another thread is building, and make no more of them: nobody will
 * walk by it. With false, make them again. Any thread may call this. */
void jsp_objects_hurry(struct jsp_objects *o, bool is_hurried);

/* Return true if retired objects wait to be freed. */
static inline bool jsp_objects_any_old(const struct jsp_objects *o)
{
    return o->old != NULL;
}

/* Free the objects retired before `quiet`: no handler that began then still runs. */
void jsp_objects_reclaim(struct jsp_objects *o, uint64_t quiet);

/* Free everything. No handler may read any more. */
void jsp_objects_free(struct jsp_objects *o);

/* Return the current map. */
static inline const struct jsp_unwind_map *jsp_objects_map(struct jsp_objects *o)
{
    /* ORDER: acquire, pairs with O1: the map's contents are visible with its address. */
    return atomic_load_explicit(&o->map, memory_order_acquire);
}

#endif
