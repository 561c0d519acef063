/* analyze/order.c - the order of runs in two captures. See order.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "order.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"

struct order_count { /* how many tasks of this maker, kind and name there were */
    uint64_t key;
    uint32_t n;
};

/* Return the number of tasks with the key so far, and count one more; UINT32_MAX: no memory. */
static uint32_t order_count(struct jsp_hash *by, struct order_count *counts, uint64_t key)
{
    uint32_t hash = (uint32_t)(key >> 32), probe = hash, at;
    while ((at = jsp_hash_next(by, hash, &probe)) != 0)
        if (counts[at - 1].key == key)
            return counts[at - 1].n++;
    counts[by->used] = (struct order_count){ key, 1 };
    return jsp_hash_add(by, hash, by->used) < 0 ? UINT32_MAX : 0;
}

/* Name each task after its maker, kind, name and number among such tasks. */
static int order_tasks(const struct jsp_tasks *t, uint64_t *keys)
{
    struct order_count *counts = malloc(((size_t)t->n_tasks + 1) * sizeof *counts);
    struct jsp_hash by = { 0 };
    int err = counts ? jsp_hash_init(&by, 0) : -ENOMEM;
    for (uint32_t i = 0; err == 0 && i < t->n_tasks; i++) { /* makers are at lower positions */
        const struct jsp_task *k = &t->tasks[i];
        const struct jsp_task_what *w = &t->whats[k->what];
        uint64_t key = k->parent == JSP_TASK_NONE ? 1 : keys[k->parent];
        key = jsp_hash_bytes(key, w->kind.at, w->kind.len);
        key = jsp_hash_bytes(jsp_hash_mix(key, w->kind.len), w->name.at, w->name.len);
        uint32_t n = order_count(&by, counts, key);
        err = n == UINT32_MAX ? -ENOMEM : 0;
        keys[i] = jsp_hash_mix(key, n);
    }
    jsp_hash_free(&by);
    free(counts);
    return err;
}

static int order_compare_runs(const void *a, const void *b, void *tasks)
{
    const struct jsp_tasks *t = tasks;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (t->runs[x].begin != t->runs[y].begin)
        return t->runs[x].begin < t->runs[y].begin ? -1 : 1;
    return (x > y) - (x < y);
}

static int order_side(struct jsp_order_side *s, const struct jsp_tasks *t)
{
    uint64_t *keys = malloc(((size_t)t->n_tasks + 1) * sizeof *keys);
    s->tasks = t;
    s->runs = malloc(((size_t)t->n_runs + 1) * sizeof *s->runs);
    s->keys = calloc((size_t)t->n_runs + 1, sizeof *s->keys);
    int err = keys && s->runs && s->keys ? order_tasks(t, keys) : -ENOMEM;
    for (uint32_t i = 0; err == 0 && i < t->n_runs; i++)
        s->runs[i] = i; /* a run of an unknown task keeps the key 0 */
    for (uint32_t i = 0; err == 0 && i < t->n_tasks; i++)
        for (uint32_t k = 0; k < t->tasks[i].n_runs; k++)
            s->keys[t->runs_of[t->tasks[i].first_run + k]] = jsp_hash_mix(keys[i], k + 1);
    if (err == 0 && t->n_runs)
        qsort_r(s->runs, t->n_runs, sizeof *s->runs, order_compare_runs,
                (void *)(uintptr_t)t);
    free(keys);
    return err;
}

/* Return the key of the nth run in the order. */
static uint64_t order_key(const struct jsp_order_side *s, uint32_t n)
{
    return s->keys[s->runs[n]];
}

/* Find the run of the other side at which the orders differ. */
static void order_find(struct jsp_order_side *s, const struct jsp_order_side *other)
{
    s->other = s->at;
    if (other->at == other->tasks->n_runs)
        s->other = s->tasks->n_runs;
    while (s->other < s->tasks->n_runs && order_key(s, s->other) != order_key(other, other->at))
        s->other++;
}

int jsp_order_compare(struct jsp_order *o, const struct jsp_tasks *a, const struct jsp_tasks *b)
{
    struct jsp_order_side *x = &o->sides[0], *y = &o->sides[1];
    *o = (struct jsp_order){ 0 };
    int err = order_side(x, a);
    if (err == 0)
        err = order_side(y, b);
    if (err < 0)
        return err;
    uint32_t at = 0;
    while (at < a->n_runs && at < b->n_runs && order_key(x, at) == order_key(y, at))
        at++;
    o->is_same = at == a->n_runs && at == b->n_runs;
    x->at = y->at = at;
    order_find(x, y);
    order_find(y, x);
    return 0;
}

void jsp_order_free(struct jsp_order *o)
{
    for (int i = 0; i < 2; i++) {
        free(o->sides[i].runs);
        free(o->sides[i].keys);
    }
    *o = (struct jsp_order){ 0 };
}
