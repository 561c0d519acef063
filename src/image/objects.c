/* image/objects.c - see objects.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "objects.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/block.h"
#include "loaded.h"

struct jsp_object {
    struct jsp_object *next;
    struct jsp_loaded loaded;
    struct jsp_ehframe_section section; /* dropped when its table is made */
    struct jsp_table table;
    bool is_kept;                       /* also belongs to the old list */
    bool is_unread;                     /* its table is not made yet */
    bool is_refused;                    /* and cannot be made */
    bool is_copied;                     /* `section` was copied in this look */
    _Atomic uint32_t is_met;            /* set by handlers while is_unread */
};

/* One look. */
struct objects_look {
    struct jsp_objects *o;
    struct jsp_loaded_seen seen;
    uint64_t epoch;
    struct jsp_object *list; /* new objects, and those kept from o->list */
    uint32_t n;
    bool builds;             /* make the tables of the objects that handlers have met */
};

static void objects_drop_copy(struct jsp_object *object)
{
    jsp_block_free((void *)(uintptr_t)object->section.bytes);
    object->section.bytes = NULL;
    object->is_copied = false;
}

static void objects_free_one(struct jsp_object *object)
{
    if (!object)
        return;
    objects_drop_copy(object);
    jsp_table_free(&object->table);
    free(object);
}

/* Return true if handlers wait for the object's rows. */
static bool objects_is_wanted(const struct jsp_object *object)
{
    /* ORDER: relaxed. The request that woke the drain published it. */
    return object->is_unread && !object->is_refused &&
           atomic_load_explicit(&object->is_met, memory_order_relaxed);
}

static int objects_meet(void *arg, const struct jsp_loaded *loaded)
{
    struct objects_look *look = arg;
    int err = 0;
    /* An object of the old list moves to the new one. */
    struct jsp_object **at = &look->o->list, *object;
    while (*at && memcmp(&(*at)->loaded, loaded, sizeof *loaded) != 0)
        at = &(*at)->next;
    object = *at;
    if (object) {
        *at = object->next;
        object->is_kept = true;
    } else {
        object = calloc(1, sizeof *object);
        if (!object)
            return -ENOMEM;
        object->loaded = *loaded;
        object->table.object.start = loaded->start;
        object->table.object.end = loaded->end;
        object->is_unread = loaded->header != 0;
    }
    object->next = look->list;
    look->list = object;
    look->n++;
    object->is_copied = object->is_unread ? look->builds && objects_is_wanted(object)
                                          : !object->is_kept;
    if (object->is_copied)
        err = jsp_loaded_copy(loaded, look->o->pid, &object->section);
    return err;
}

/* No later look would build these. */
static const _Atomic bool objects_never;

/* Build the tables of the objects that were copied, now that the loader's lock is free
 * again. Without a table, walks go on by the object's single records, or end with
 * NO_TABLE. */
static void objects_build(struct objects_look *look)
{
    for (struct jsp_object *object = look->list; object; object = object->next) {
        if (!object->is_copied)
            continue;
        const struct jsp_loaded *l = &object->loaded;
        const _Atomic bool *unwanted = object->is_unread ? &look->o->is_hurried : &objects_never;
        int err = jsp_table_build_unless(unwanted, &object->table, &object->section, l->start,
                                         l->end);
        object->is_unread = object->is_unread && err < 0;
        object->is_refused = err < 0 && err != -ECANCELED;
        objects_drop_copy(object);
    }
}

static int objects_by_start(const void *a, const void *b)
{
    const struct jsp_unwind_object *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* Fill `unread` for the objects of the map. Return false if all have rows. */
static bool objects_unread(const struct objects_look *look, const struct jsp_unwind_map *map,
                           struct jsp_unwind_unread *unread)
{
    bool any = false;
    memset(unread, 0, map->n * sizeof *unread);
    for (struct jsp_object *object = look->list; object; object = object->next) {
        const struct jsp_unwind_object *at = jsp_unwind_map_find(map, object->loaded.start);
        if (!object->is_unread || !at)
            continue;
        unread[at - map->objects] = (struct jsp_unwind_unread){
            object->loaded.header, (uint32_t)object->loaded.n_sorted, &object->is_met };
        any = true;
    }
    return any;
}

static struct jsp_unwind_map *objects_map(const struct objects_look *look)
{
    size_t n = look->n, each = sizeof(uintptr_t) + sizeof(struct jsp_unwind_object) +
                               sizeof(struct jsp_unwind_unread);
    struct jsp_unwind_map *map = malloc(sizeof *map + n * each);
    if (!map)
        return NULL;
    struct jsp_unwind_object *objects = (void *)(map + 1);
    struct jsp_unwind_unread *unread = (void *)(objects + n);
    uintptr_t *starts = (void *)(unread + n);
    uint32_t i = 0;
    for (const struct jsp_object *object = look->list; object; object = object->next)
        objects[i++] = object->table.object;
    qsort(objects, n, sizeof *objects, objects_by_start);
    for (i = 0; i < n; i++) {
        starts[i] = objects[i].start;
        if (i && objects[i - 1].end > objects[i].start)
            objects[i - 1].end = objects[i].start;
    }
    *map = (struct jsp_unwind_map){ look->o->generation + 1, look->n, starts, objects, NULL };
    if (objects_unread(look, map, unread))
        map->unread = unread;
    return map;
}

/* Undo the look: kept objects go back; no thread has seen the others. */
static int objects_give_back(struct objects_look *look, int err)
{
    struct jsp_objects *o = look->o;
    while (look->list) {
        struct jsp_object *object = look->list;
        look->list = object->next;
        if (!object->is_kept) {
            objects_free_one(object);
            continue;
        }
        objects_drop_copy(object);
        object->is_kept = false;
        object->next = o->list;
        o->list = object;
    }
    return err;
}

/* Return n list cells, which retire the old map and the rest of the old list, or NULL
 * without memory. They are allocated before the new map is published, so nothing can fail
 * after it. */
static struct jsp_object_old *objects_cells(size_t n)
{
    struct jsp_object_old *list = NULL;
    for (size_t i = 0; i < n; i++) {
        struct jsp_object_old *cell = calloc(1, sizeof *cell);
        if (!cell) {
            while (list) {
                cell = list->next;
                free(list);
                list = cell;
            }
            return NULL;
        }
        cell->next = list;
        list = cell;
    }
    return list;
}

static void objects_publish(struct objects_look *look, struct jsp_unwind_map *map,
                            struct jsp_object_old *cells)
{
    struct jsp_objects *o = look->o;
    /* O1. ORDER: acq_rel: the map's contents are visible with its address; only this
     * thread stores it. */
    struct jsp_unwind_map *gone = atomic_exchange_explicit(&o->map, map,
                                                           memory_order_acq_rel);
    struct jsp_object *left = o->list;
    while (cells) {
        struct jsp_object_old *cell = cells;
        cells = cell->next;
        cell->epoch = look->epoch;
        cell->map = gone;
        gone = NULL;
        if (!cell->map) {
            cell->object = left;
            left = left->next;
        }
        cell->next = o->old;
        o->old = cell;
    }
    o->list = look->list;
    o->n = look->n;
    o->generation = map->generation;
    for (struct jsp_object *object = o->list; object; object = object->next)
        object->is_kept = false;
}

static int objects_take(struct objects_look *look)
{
    struct jsp_objects *o = look->o;
    size_t n_old = 1;
    int end = jsp_loaded_each(&look->seen, o->pid, objects_meet, look);
    if (end == 1)
        return 0;
    if (end < 0)
        return objects_give_back(look, end);
    objects_build(look);
    for (const struct jsp_object *object = o->list; object; object = object->next)
        n_old++;
    struct jsp_unwind_map *map = objects_map(look);
    struct jsp_object_old *cells = objects_cells(n_old);
    if (!map || !cells) {
        free(map);
        while (cells) {
            struct jsp_object_old *next = cells->next;
            free(cells);
            cells = next;
        }
        return objects_give_back(look, -ENOMEM);
    }
    objects_publish(look, map, cells);
    o->adds = look->seen.adds;
    o->subs = look->seen.subs;
    return 1;
}

int jsp_objects_refresh(struct jsp_objects *o, uint64_t epoch)
{
    struct objects_look look = { .o = o, .seen = { o->adds, o->subs }, .epoch = epoch };
    return objects_take(&look);
}

void jsp_objects_hurry(struct jsp_objects *o, bool is_hurried)
{
    /* ORDER: relaxed. The builder reads nothing else of the thread that sets it. */
    atomic_store_explicit(&o->is_hurried, is_hurried, memory_order_relaxed);
}

int jsp_objects_build(struct jsp_objects *o, uint64_t epoch)
{
    const struct jsp_object *object = o->list;
    while (object && !objects_is_wanted(object))
        object = object->next;
    if (!object)
        return jsp_objects_refresh(o, epoch);
    /* a copy is safe only under the loader's lock, and of an object that is still there */
    struct objects_look look = { .o = o, .seen = { UINT64_MAX, UINT64_MAX }, .epoch = epoch,
                                 .builds = true };
    return objects_take(&look);
}

int jsp_objects_init(struct jsp_objects *o)
{
    *o = (struct jsp_objects){ .pid = getpid(), .adds = UINT64_MAX, .subs = UINT64_MAX };
    struct jsp_unwind_map *empty = calloc(1, sizeof *empty);
    if (!empty)
        return -ENOMEM;
    empty->generation = o->generation = 1;
    /* ORDER: relaxed. No other thread has seen *o yet. */
    atomic_store_explicit(&o->map, empty, memory_order_relaxed);
    int err = jsp_objects_refresh(o, 0);
    jsp_objects_reclaim(o, UINT64_MAX); /* no handler has seen the empty map */
    if (err >= 0 || err == -EAGAIN)
        return 0;
    jsp_objects_free(o);
    return err;
}

size_t jsp_objects_build_id(const struct jsp_objects *o, uint64_t start, uint64_t end,
                            uint8_t id[JSP_ELF_BUILD_ID])
{
    const struct jsp_object *object = o->list;
    while (object && (object->loaded.start < start || object->loaded.start >= end))
        object = object->next;
    if (!object)
        return 0;
    memcpy(id, object->loaded.id, object->loaded.n_id);
    return object->loaded.n_id;
}

void jsp_objects_reclaim(struct jsp_objects *o, uint64_t quiet)
{
    for (struct jsp_object_old **at = &o->old; *at;) {
        struct jsp_object_old *cell = *at;
        if (cell->epoch >= quiet) {
            at = &cell->next;
            continue;
        }
        *at = cell->next;
        free(cell->map);
        objects_free_one(cell->object);
        free(cell);
    }
}

void jsp_objects_free(struct jsp_objects *o)
{
    jsp_objects_reclaim(o, UINT64_MAX);
    for (struct jsp_object *object = o->list, *next; object; object = next) {
        next = object->next;
        objects_free_one(object);
    }
    /* ORDER: relaxed. No handler reads any more. */
    free(atomic_load_explicit(&o->map, memory_order_relaxed));
    *o = (struct jsp_objects){ .list = NULL };
}
