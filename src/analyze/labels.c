/* analyze/labels.c - the labels of each sample. See labels.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "labels.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "capture/taskfile.h"

/* Pairs that count, of a set or of a chain of tasks; and so many tasks of it are asked. */
enum { LABELS_PAIRS = 1 << 12, LABELS_CHAIN = 1 << 12 };

int jsp_labels_init(struct jsp_labels_read *l)
{
    struct jsp_hash *const tables[] = { &l->by_number, &l->by_task, &l->by_set, &l->by_seen,
                                        &l->by_made };
    int err = 0;
    for (size_t i = 0; err == 0 && i < sizeof tables / sizeof *tables; i++)
        err = jsp_hash_init(tables[i], 0);
    if (err == 0)
        err = jsp_grow(&l->sets, &l->sets_room, 0, sizeof *l->sets);
    if (err == 0)
        l->sets[l->n_sets++] = (struct jsp_label_set){ .n = 0 };
    return err;
}

void jsp_labels_free(struct jsp_labels_read *l)
{
    struct jsp_hash *const tables[] = { &l->by_number, &l->by_task, &l->by_set, &l->by_seen,
                                        &l->by_made };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        jsp_hash_free(tables[i]);
    for (uint32_t i = 1; i < l->n_sets; i++)
        free((void *)(uintptr_t)l->sets[i].pairs);
    jsp_weights_free(&l->blocks);
    free(l->known);
    free(l->sets);
    free(l->seen);
    free(l->makers);
    *l = (struct jsp_labels_read){ .n_known = 0 };
}

/* -- The file --------------------------------------------------------------- */

static uint32_t labels_hash(const struct jsp_hash *table, uint64_t number, int32_t pid)
{
    return (uint32_t)jsp_hash_mix(jsp_hash_mix(table->seed, number), (uint32_t)pid);
}

/* Return what a number means: that of a set or a trace, or that of a task. */
static const struct jsp_label_known *labels_find(const struct jsp_labels_read *l, bool is_task,
                                                 uint64_t number, int32_t pid)
{
    const struct jsp_hash *table = is_task ? &l->by_task : &l->by_number;
    uint32_t hash = labels_hash(table, number, pid), probe = hash, at;
    while ((at = jsp_hash_next(table, hash, &probe)) != 0) {
        const struct jsp_label_known *k = &l->known[at - 1];
        if (k->pid == pid && (is_task ? k->record.other : k->record.number) == number)
            return k;
    }
    return NULL;
}

/* Add a definition; the first one of a number counts. */
static int labels_define(struct jsp_labels_read *l, const uint8_t **at, const uint8_t *end,
                         int32_t pid)
{
    struct jsp_label_known k = { .pid = pid };
    if (!jsp_labels_record_get(at, end, &k.record))
        return -EBADMSG;
    bool is_task = k.record.tag == JSP_WIRE_LABELS_TASK;
    uint64_t number = is_task ? k.record.other : k.record.number;
    if (labels_find(l, is_task, number, pid))
        return 0;
    if (jsp_grow(&l->known, &l->known_room, l->n_known, sizeof *l->known) < 0)
        return -ENOMEM;
    l->has_task_labels |= is_task;
    l->known[l->n_known] = k;
    struct jsp_hash *table = is_task ? &l->by_task : &l->by_number;
    return jsp_hash_add(table, labels_hash(table, number, pid), l->n_known++);
}

static bool labels_skip(const uint8_t **at, const uint8_t *end)
{
    uint64_t folded;
    return jsp_read_varint(at, end, &folded);
}

int jsp_labels_add(struct jsp_labels_read *l, const struct jsp_read_chunk *chunk, int32_t pid,
                   uint64_t offset)
{
    static const struct jsp_weights_record record = { labels_skip, 1 };
    const uint8_t *at = chunk->data, *end = at + chunk->len;
    const struct jsp_weights_block of = { .end = end, .offset = offset };
    int err = 0;
    while (err == 0 && at < end)
        err = *at == JSP_WIRE_BLOCK ? jsp_weights_block(&l->blocks, &at, &of, &record)
                                    : labels_define(l, &at, end, pid);
    return err;
}

int jsp_labels_tasks(struct jsp_labels_read *l, const uint8_t *at, const uint8_t *end, int32_t pid)
{
    struct jsp_tasks_base base = { 0 };
    struct jsp_tasks_record r;
    while (at < end && jsp_tasks_record_get(&at, end, &base, &r)) {
        if (r.tag != JSP_WIRE_TASKS_NEW || !r.made.parent)
            continue;
        if (jsp_grow(&l->makers, &l->makers_room, l->n_makers, sizeof *l->makers) < 0)
            return -ENOMEM;
        l->makers[l->n_makers] = (struct jsp_label_maker){ r.made.task, r.made.parent, pid };
        uint32_t hash = labels_hash(&l->by_made, r.made.task, pid);
        if (jsp_hash_add(&l->by_made, hash, l->n_makers++) < 0)
            return -ENOMEM;
    }
    return 0; /* jsp_tasks_read counts a bad chunk */
}

void jsp_labels_get(const struct jsp_labels_read *l, struct jsp_weights_cursor *c,
                    uint64_t ordinal, uint64_t *last, uint64_t *out)
{
    const struct jsp_weights_block *b = jsp_weights_at(&l->blocks, c, ordinal);
    *out = 0;
    if (!b)
        return;
    if (ordinal == b->first)
        *last = 0;
    jsp_running_get(&c->at, b->end, last, out); /* was checked when it was added */
    jsp_weights_step(&l->blocks, c);
}

/* -- Sets ------------------------------------------------------------------- */

/* A set in the making: inner labels come first, and outer ones of the same key do not count. */
struct labels_make {
    struct jsp_labels_pair *pairs;
    uint32_t n;
    const uint8_t *trace;
};

static int labels_order(const void *left, const void *right)
{
    const struct jsp_labels_pair *a = left, *b = right;
    uint32_t both = a->key.len < b->key.len ? a->key.len : b->key.len;
    int order = memcmp(a->key.at, b->key.at, both);
    return order ? order : (a->key.len > b->key.len) - (a->key.len < b->key.len);
}

static void labels_merge(struct labels_make *m, const struct jsp_label_known *set)
{
    struct jsp_labels_pair pair;
    const uint8_t *at = set->record.set.at;
    uint32_t inner = m->n;
    for (uint32_t i = 0; i < set->record.set.n && m->n < LABELS_PAIRS; i++) {
        uint32_t same = 0;
        if (!jsp_labels_pair_get(&at, set->record.set.end, &pair))
            return;
        while (same < inner && !jsp_read_equal(m->pairs[same].key, pair.key))
            same++;
        if (same == inner)
            m->pairs[m->n++] = pair;
    }
}

/* Add the labels of one number. */
static void labels_collect(const struct jsp_labels_read *l, struct labels_make *m, uint64_t number,
                           int32_t pid)
{
    const struct jsp_label_known *k = number ? labels_find(l, false, number, pid) : NULL;
    if (k && k->record.tag == JSP_WIRE_LABELS_TRACE) {
        m->trace = m->trace ? m->trace : k->record.trace;
        k = k->record.other ? labels_find(l, false, k->record.other, pid) : NULL;
    }
    if (k && k->record.tag == JSP_WIRE_LABELS_SET)
        labels_merge(m, k);
}

/* Return the number of the task that made this one, or 0. It is a lower one. */
static uint64_t labels_maker(const struct jsp_labels_read *l, uint64_t task, int32_t pid)
{
    uint32_t hash = labels_hash(&l->by_made, task, pid), probe = hash, at;
    while ((at = jsp_hash_next(&l->by_made, hash, &probe)) != 0) {
        const struct jsp_label_maker *m = &l->makers[at - 1];
        if (m->task == task && m->pid == pid)
            return m->parent;
    }
    return 0;
}

/* Keep the pairs with a value, by key, and no trace of zeros. */
static void labels_settle(const struct jsp_labels_read *l, struct labels_make *m)
{
    static const uint8_t none[JSP_LABELS_TRACE];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < m->n; i++)
        if (m->pairs[i].has_value)
            m->pairs[kept++] = m->pairs[i];
    m->n = kept;
    qsort(m->pairs, kept, sizeof *m->pairs, labels_order);
    if (!l->has_traces || (m->trace && memcmp(m->trace, none, sizeof none) == 0))
        m->trace = NULL;
}

static uint32_t labels_set_hash(const struct jsp_labels_read *l, const struct labels_make *m)
{
    uint64_t h = jsp_hash_mix(l->by_set.seed, m->n);
    for (uint32_t i = 0; i < m->n; i++) {
        h = jsp_hash_bytes(h, m->pairs[i].key.at, m->pairs[i].key.len);
        h = jsp_hash_bytes(h, m->pairs[i].value.at, m->pairs[i].value.len);
    }
    return (uint32_t)(m->trace ? jsp_hash_bytes(h, m->trace, JSP_LABELS_TRACE) : h);
}

static bool labels_is_set(const struct jsp_label_set *s, const struct labels_make *m)
{
    bool is = s->n == m->n && !s->trace == !m->trace &&
              (!s->trace || memcmp(s->trace, m->trace, JSP_LABELS_TRACE) == 0);
    for (uint32_t i = 0; is && i < m->n; i++)
        is = jsp_read_equal(s->pairs[i].key, m->pairs[i].key) &&
             jsp_read_equal(s->pairs[i].value, m->pairs[i].value);
    return is;
}

/* Find or add the set. */
static int labels_set(struct jsp_labels_read *l, const struct labels_make *m, uint32_t *out)
{
    uint32_t hash = labels_set_hash(l, m), probe = hash, at;
    *out = 0;
    if (!m->n && !m->trace)
        return 0;
    while ((at = jsp_hash_next(&l->by_set, hash, &probe)) != 0)
        if (labels_is_set(&l->sets[at - 1], m)) {
            *out = at - 1;
            return 0;
        }
    struct jsp_labels_pair *pairs = malloc((m->n + 1u) * sizeof *pairs);
    if (!pairs || jsp_grow(&l->sets, &l->sets_room, l->n_sets, sizeof *l->sets) < 0) {
        free(pairs);
        return -ENOMEM;
    }
    memcpy(pairs, m->pairs, m->n * sizeof *pairs);
    *out = l->n_sets;
    l->sets[l->n_sets++] = (struct jsp_label_set){ pairs, m->n, m->trace };
    return jsp_hash_add(&l->by_set, hash, *out);
}

static int labels_build(struct jsp_labels_read *l, const struct jsp_label_sample *s,
                        uint32_t *set)
{
    struct labels_make m = { .pairs = malloc(LABELS_PAIRS * sizeof *m.pairs) };
    if (!m.pairs)
        return -ENOMEM;
    uint64_t task = s->task;
    labels_collect(l, &m, s->number, s->pid);
    for (int i = 0; task && l->has_task_labels && i < LABELS_CHAIN; i++) {
        const struct jsp_label_known *k = labels_find(l, true, task, s->pid);
        if (k)
            labels_collect(l, &m, k->record.number, s->pid);
        task = labels_maker(l, task, s->pid);
    }
    labels_settle(l, &m);
    int err = labels_set(l, &m, set);
    free(m.pairs);
    return err;
}

int jsp_labels_of_sample(struct jsp_labels_read *l, const struct jsp_label_sample *s,
                         uint32_t *set)
{
    *set = 0;
    uint64_t task = l->has_task_labels ? s->task : 0;
    if (!s->number && !task)
        return 0;
    uint64_t h = jsp_hash_mix(jsp_hash_mix(l->by_seen.seed, s->number), task);
    uint32_t hash = (uint32_t)jsp_hash_mix(h, (uint32_t)s->pid), probe = hash, at;
    while ((at = jsp_hash_next(&l->by_seen, hash, &probe)) != 0) {
        const struct jsp_label_task *k = &l->seen[at - 1];
        if (k->number == s->number && k->task == task && k->pid == s->pid) {
            *set = k->set;
            return 0;
        }
    }
    int err = labels_build(l, s, set);
    if (err < 0 || jsp_grow(&l->seen, &l->seen_room, l->n_seen, sizeof *l->seen) < 0)
        return -ENOMEM;
    l->seen[l->n_seen] = (struct jsp_label_task){ s->number, task, s->pid, *set };
    return jsp_hash_add(&l->by_seen, hash, l->n_seen++);
}

const struct jsp_labels_pair *jsp_labels_value(const struct jsp_labels_read *l, uint32_t set,
                                               struct jsp_read_text key)
{
    for (uint32_t i = 0; i < l->sets[set].n; i++)
        if (jsp_read_equal(l->sets[set].pairs[i].key, key))
            return &l->sets[set].pairs[i];
    return NULL;
}
