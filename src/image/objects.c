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
};

/* One refresh. */
struct objects_look {
    struct jsp_objects *o;
    struct jsp_object *list; /* new objects, and those kept from o->list */
    uint32_t n;
};

static void objects_free_one(struct jsp_object *object)
{
    if (!object)
        return;
    jsp_block_free((void *)(uintptr_t)object->section.bytes);
    jsp_table_free(&object->table);
    free(object);
}

static int objects_meet(void *arg, const struct jsp_loaded *loaded)
{
    struct objects_look *look = arg;
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
        int err = jsp_loaded_copy(loaded, look->o->pid, &object->section);
        if (err < 0) {
            free(object);
            return err;
        }
    }
    object->next = look->list;
    look->list = object;
    look->n++;
    return 0;
}

/* Build the tables of new objects, now that the loader's lock is free again. */
static void objects_build(struct objects_look *look)
{
    for (struct jsp_object *object = look->list; object; object = object->next) {
        if (object->is_kept)
            continue;
        const struct jsp_loaded *l = &object->loaded;
        struct jsp_unwind_object empty = { .start = l->start, .end = l->end };
        if (jsp_table_build(&object->table, &object->section, l->start, l->end) < 0)
            object->table.object = empty; /* walks that end there report NO_TABLE */
        jsp_block_free((void *)(uintptr_t)object->section.bytes);
        object->section.bytes = NULL;
    }
}

static int objects_by_start(const void *a, const void *b)
{
    const struct jsp_unwind_object *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

static struct jsp_unwind_map *objects_map(const struct objects_look *look)
{
    size_t n = look->n, each = sizeof(uintptr_t) + sizeof(struct jsp_unwind_object);
    struct jsp_unwind_map *map = malloc(sizeof *map + n * each);
    if (!map)
        return NULL;
    struct jsp_unwind_object *objects = (void *)(map + 1);
    uintptr_t *starts = (void *)(objects + n);
    uint32_t i = 0;
    for (const struct jsp_object *object = look->list; object; object = object->next)
        objects[i++] = object->table.object;
    qsort(objects, n, sizeof *objects, objects_by_start);
    for (i = 0; i < n; i++) {
        starts[i] = objects[i].start;
        if (i && objects[i - 1].end > objects[i].start)
            objects[i - 1].end = objects[i].start;
    }
    *map = (struct jsp_unwind_map){ look->o->generation + 1, look->n, starts, objects };
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
                            struct jsp_object_old *cells, uint64_t epoch)
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
        cell->epoch = epoch;
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

int jsp_objects_refresh(struct jsp_objects *o, uint64_t epoch)
{
    struct objects_look look = { .o = o };
    struct jsp_loaded_seen seen = { o->adds, o->subs };
    size_t n_old = 1;
    int end = jsp_loaded_each(&seen, o->pid, objects_meet, &look);
    if (end == 1)
        return 0;
    if (end < 0)
        return objects_give_back(&look, end);
    objects_build(&look);
    for (const struct jsp_object *object = o->list; object; object = object->next)
        n_old++;
    struct jsp_unwind_map *map = objects_map(&look);
    struct jsp_object_old *cells = objects_cells(n_old);
    if (!map || !cells) {
        free(map);
        while (cells) {
            struct jsp_object_old *next = cells->next;
            free(cells);
            cells = next;
        }
        return objects_give_back(&look, -ENOMEM);
    }
    objects_publish(&look, map, cells, epoch);
    o->adds = seen.adds;
    o->subs = seen.subs;
    return 1;
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
    if (err >= 0 || err == -EAGAIN)
        return 0;
    jsp_objects_free(o);
    return err;
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
