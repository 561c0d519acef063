/* heap.c - allocation, marking, sweeping.
 *
 * SPDX-License-Identifier: MIT
 */
#include "heap.h"

#include "profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAP_LEAST_LIMIT = 4 << 20 }; /* bytes in use before the first collection */

void *lark_heap_resize(void *block, size_t bytes)
{
    void *moved = realloc(block, bytes ? bytes : 1);
    if (!moved) {
        fprintf(stderr, "lark: out of memory: no block of %zu bytes\n", bytes);
        exit(1);
    }
    return moved;
}

void *lark_heap_grow(void *block, uint32_t *capacity, uint32_t n, size_t item_bytes)
{
    if (n <= *capacity)
        return block;
    uint32_t larger = *capacity < 8 ? 8 : *capacity * 2;
    *capacity = larger < n ? n : larger;
    return lark_heap_resize(block, *capacity * item_bytes);
}

/* Arrays whose items are still to be marked: a stack of our own, so that nesting needs no
 * C stack. */
struct heap_gray {
    uint32_t n, capacity;
    struct lark_array **arrays;
};

static void heap_mark(struct heap_gray *gray, const struct lark_value *v)
{
    if ((v->type != LARK_STRING && v->type != LARK_ARRAY) || v->as.object->marked)
        return;
    v->as.object->marked = true;
    if (v->type != LARK_ARRAY)
        return;
    gray->arrays = lark_heap_grow(gray->arrays, &gray->capacity, gray->n + 1,
                                  sizeof(struct lark_array *));
    gray->arrays[gray->n++] = v->as.array;
}

static void heap_mark_many(struct heap_gray *gray, const struct lark_value *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        heap_mark(gray, &v[i]);
}

static void heap_mark_all(struct lark *l)
{
    struct heap_gray gray = { 0 };
    heap_mark_many(&gray, l->stack, (size_t)(l->top - l->stack));
    heap_mark_many(&gray, l->globals, l->n_globals);
    for (uint32_t i = 0; i < l->n_functions; i++)
        heap_mark_many(&gray, l->functions[i]->consts, l->functions[i]->n_consts);
    for (int i = 0; i < 256; i++)
        if (l->letters[i])
            l->letters[i]->object.marked = true;
    while (gray.n) {
        struct lark_array *array = gray.arrays[--gray.n];
        heap_mark_many(&gray, array->items, array->n);
    }
    free(gray.arrays);
}

static size_t heap_object_bytes(const struct lark_object *object)
{
    if (object->type == LARK_STRING)
        return sizeof(struct lark_string) +
               ((const struct lark_string *)object)->n_bytes + 1;
    return sizeof(struct lark_array) +
           ((const struct lark_array *)object)->capacity * sizeof(struct lark_value);
}

static void heap_free(struct lark *l, struct lark_object *object)
{
    lark_profile_free(object);
    l->heap_bytes -= heap_object_bytes(object);
    if (object->type == LARK_ARRAY)
        free(((struct lark_array *)object)->items);
    free(object);
}

static void heap_sweep(struct lark *l)
{
    struct lark_object **from = &l->objects;
    while (*from) {
        struct lark_object *object = *from;
        if (object->marked) {
            object->marked = false;
            from = &object->next;
        } else {
            *from = object->next;
            heap_free(l, object);
        }
    }
}

static void heap_collect(struct lark *l)
{
    struct lark_profile_frame frame;
    lark_profile_enter_work(&frame, LARK_PROFILE_GC);
    heap_mark_all(l);
    heap_sweep(l);
    l->heap_limit = l->heap_bytes * 2;
    if (l->heap_limit < HEAP_LEAST_LIMIT)
        l->heap_limit = HEAP_LEAST_LIMIT;
    lark_profile_leave(&frame);
}

/* While a script is compiled nothing is reachable yet, so heap_limit is SIZE_MAX. */
static void *heap_new(struct lark *l, size_t bytes, size_t more, enum lark_type type)
{
    if (l->heap_bytes + bytes + more > l->heap_limit)
        heap_collect(l);
    struct lark_object *object = lark_heap_resize(NULL, bytes);
    *object = (struct lark_object){ .next = l->objects, .type = type };
    l->objects = object;
    l->heap_bytes += bytes + more;
    lark_profile_alloc(object, bytes + more);
    return object;
}

struct lark_string *lark_heap_string(struct lark *l, size_t n_bytes)
{
    if (n_bytes > UINT32_MAX - 64) {
        fprintf(stderr, "lark: out of memory: no string of %zu bytes\n", n_bytes);
        exit(1);
    }
    struct lark_string *s = heap_new(l, sizeof(*s) + n_bytes + 1, 0, LARK_STRING);
    s->n_bytes = (uint32_t)n_bytes;
    s->bytes[n_bytes] = 0;
    return s;
}

struct lark_string *lark_heap_text(struct lark *l, const char *text, size_t n_bytes)
{
    struct lark_string *s = lark_heap_string(l, n_bytes);
    memcpy(s->bytes, text, n_bytes);
    return s;
}

struct lark_string *lark_heap_letter(struct lark *l, uint8_t byte)
{
    if (!l->letters[byte])
        l->letters[byte] = lark_heap_text(l, (const char *)&byte, 1);
    return l->letters[byte];
}

struct lark_array *lark_heap_array(struct lark *l, size_t n)
{
    if (n > UINT32_MAX / 2) {
        fprintf(stderr, "lark: out of memory: no array of %zu items\n", n);
        exit(1);
    }
    size_t more = n * sizeof(struct lark_value);
    struct lark_array *array = heap_new(l, sizeof(*array), more, LARK_ARRAY);
    array->n = array->capacity = (uint32_t)n;
    array->items = lark_heap_resize(NULL, more);
    memset(array->items, 0, more);
    return array;
}

void lark_heap_append(struct lark *l, struct lark_array *array, struct lark_value item)
{
    uint32_t before = array->capacity;
    if (array->n >= UINT32_MAX / 2) {
        fprintf(stderr, "lark: out of memory: no array of %u items\n", array->n);
        exit(1);
    }
    array->items = lark_heap_grow(array->items, &array->capacity, array->n + 1,
                                  sizeof(struct lark_value));
    l->heap_bytes += (array->capacity - before) * sizeof(struct lark_value);
    lark_profile_alloc(array, (array->capacity - before) * sizeof(struct lark_value));
    array->items[array->n++] = item;
}

void lark_heap_free_all(struct lark *l)
{
    while (l->objects) {
        struct lark_object *object = l->objects;
        l->objects = object->next;
        heap_free(l, object);
    }
}
