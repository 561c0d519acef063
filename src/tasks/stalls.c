/* tasks/stalls.c - see stalls.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "stalls.h"

#include "tasks.h"

#define STALLS_WRITTEN (UINT64_C(1) << 63)
#define STALLS_USED (UINT64_C(1) << 63) /* in `by`: the task has run since it was ready */

/* -- Slots ---------------------------------------------------------------------- */

static uint64_t stalls_get(const _Atomic uint64_t *word)
{
    /* ORDER: relaxed. `number` orders the words of a slot. */
    return atomic_load_explicit(word, memory_order_relaxed);
}

static void stalls_set(_Atomic uint64_t *word, uint64_t value)
{
    /* ORDER: relaxed. As above. */
    atomic_store_explicit(word, value, memory_order_relaxed);
}

static struct jsp_stalls_slot *stalls_slot(const struct jsp_tasks_shared *shared, uint64_t number)
{
    return &shared->table->slots[number % JSP_STALLS_SLOTS];
}

/* Return the slot of a task if it still has it. */
static struct jsp_stalls_slot *stalls_find(const struct jsp_tasks_shared *shared, uint64_t number)
{
    struct jsp_stalls_slot *slot = stalls_slot(shared, number);
    /* ORDER: acquire, pairs with the release in stalls_fill. */
    bool is_it = number && atomic_load_explicit(&slot->number, memory_order_acquire) == number;
    return is_it ? slot : NULL;
}

/* Copy a task and its labels. Return false if another task has taken the slot meanwhile. */
static bool stalls_copy(struct jsp_tasks_shared *shared, uint64_t number,
                        struct jsp_tasks_made *out)
{
    const struct jsp_stalls_slot *slot = stalls_slot(shared, number);
    uint64_t name = stalls_get(&slot->name), origin = stalls_get(&slot->origin);
    uint64_t tags_at = stalls_get(&shared->table->tags_at[number % JSP_STALLS_SLOTS]);
    out->rec = (struct jsp_tasks_rec){
        .tag = JSP_TASKS_NEW, .task = number, .parent = stalls_get(&slot->parent),
        .begin_ns = stalls_get(&slot->time_ns), .kind = (uint32_t)name,
        .name = (uint32_t)(name >> 32), .stack = (uint32_t)origin,
        .depth = (uint32_t)(origin >> 32),
    };
    if (tags_at)
        out->rec.n_tags = jsp_stalls_tags_get(shared->table, tags_at, out->tags);
    /* ORDER: acquire fence: the loads above are before the one below. */
    atomic_thread_fence(memory_order_acquire);
    bool is_it = stalls_get(&slot->number) == number;
    if (is_it && tags_at && !out->rec.n_tags)
        /* ORDER: relaxed. A statistic. */
        atomic_fetch_add_explicit(&shared->n_tags_gone, 1, memory_order_relaxed);
    return is_it;
}

static void stalls_fill(struct jsp_stalls_table *table, const struct jsp_tasks_rec *made,
                        uint64_t tags_at)
{
    struct jsp_stalls_slot *slot = &table->slots[made->task % JSP_STALLS_SLOTS];
    stalls_set(&slot->number, 0);
    /* ORDER: release fence: a copy that sees a word below sees the 0, too. */
    atomic_thread_fence(memory_order_release);
    stalls_set(&slot->parent, made->parent);
    stalls_set(&slot->time_ns, made->begin_ns);
    stalls_set(&slot->name, (uint64_t)made->name << 32 | made->kind);
    stalls_set(&slot->origin, (uint64_t)made->depth << 32 | made->stack);
    stalls_set(&slot->runs, 0);
    stalls_set(&slot->ready_ns, 0);
    stalls_set(&slot->by, 0);
    if (stalls_get(&table->n_tags)) /* else all are 0, and take no memory */
        stalls_set(&table->tags_at[made->task % JSP_STALLS_SLOTS], tags_at);
    /* ORDER: release, pairs with the acquire in stalls_find. */
    atomic_store_explicit(&slot->number, made->task, memory_order_release);
}

/* -- Records --------------------------------------------------------------------- */

static void stalls_stage_words(struct jsp_tasks *k, const void *rec, uint32_t n)
{
    if (!jsp_ring_stage(&k->ring, &k->stalls.tail, rec, n))
        k->stalls.n_full++;
}

/* Stage a task. */
static void stalls_stage_made(struct jsp_tasks *k, const struct jsp_tasks_made *made)
{
    stalls_stage_words(k, made, JSP_TASKS_REC_WORDS + (uint32_t)(made->rec.n_tags + 7) / 8);
}

/* Stage any other record. */
static void stalls_stage(struct jsp_tasks *k, const struct jsp_tasks_rec *rec)
{
    stalls_stage_words(k, rec, JSP_TASKS_REC_SHORT);
}

bool jsp_stalls_take(struct jsp_tasks_shared *shared, uint64_t number,
                     struct jsp_tasks_made *out)
{
    struct jsp_stalls_slot *slot = stalls_find(shared, number);
    if (!slot || stalls_get(&slot->runs) & STALLS_WRITTEN || !stalls_copy(shared, number, out))
        return false;
    /* ORDER: relaxed. Of two threads that take it, one finds the bit clear. */
    uint64_t runs = atomic_fetch_or_explicit(&slot->runs, STALLS_WRITTEN, memory_order_relaxed);
    if (stalls_get(&slot->number) == number)
        return !(runs & STALLS_WRITTEN);
    /* ORDER: relaxed. It was the bit of the task that has the slot now. */
    atomic_fetch_and_explicit(&slot->runs, ~STALLS_WRITTEN, memory_order_relaxed);
    return false;
}

/* Stage a task and those that led to it, unless the capture has them. */
static void stalls_explain_chain(struct jsp_tasks *k, uint64_t number)
{
    struct jsp_tasks_made made;
    for (int i = 0; i < JSP_STALLS_CHAIN && jsp_stalls_take(k->shared, number, &made); i++) {
        stalls_stage_made(k, &made);
        number = made.rec.parent;
    }
}

/* Do the same for what made it ready. */
static void stalls_explain(struct jsp_tasks *k, uint64_t number)
{
    const struct jsp_stalls_slot *slot = stalls_find(k->shared, number);
    uint64_t ready_ns = slot ? stalls_get(&slot->ready_ns) : 0;
    uint64_t by = slot ? stalls_get(&slot->by) & ~STALLS_USED : 0;
    stalls_explain_chain(k, number);
    if (!ready_ns)
        return;
    stalls_explain_chain(k, by);
    /* a timer that no task set again has the maker of before */
    stalls_stage(k, &(struct jsp_tasks_rec){ .tag = by ? JSP_TASKS_READY : JSP_TASKS_DUE,
                                             .task = number, .begin_ns = ready_ns,
                                             .end_ns = by });
}

/* Stage what the runs among the staged records are. */
static void stalls_explain_all(struct jsp_tasks *k)
{
    struct jsp_tasks_rec rec;
    uint64_t at = jsp_ring_tail(&k->ring), end = k->stalls.tail;
    while (at < end) {
        jsp_ring_staged(&k->ring, &at, (uint64_t *)(void *)&rec, JSP_TASKS_REC_WORDS);
        if (rec.tag == JSP_TASKS_RUN)
            stalls_explain(k, rec.task);
    }
}

static void stalls_publish(struct jsp_tasks *k)
{
    uint64_t half = k->ring.capacity / 2, before = jsp_ring_used(&k->ring);
    jsp_ring_commit(&k->ring, k->stalls.tail);
    k->stalls.n_kept = 0;
    jsp_count(&k->n_lost, k->stalls.n_full);
    k->stalls.n_full = 0;
    if (before < half && jsp_ring_used(&k->ring) >= half)
        jsp_ask_ring(k->self->ask);
}

/* Take back what is staged, except tasks that lose their slots. */
static void stalls_take_back(struct jsp_tasks *k)
{
    struct jsp_tasks_made made;
    uint64_t at = jsp_ring_tail(&k->ring), end = k->stalls.tail;
    k->stalls.tail = at;
    k->stalls.n_full = 0;
    if (!k->stalls.n_kept)
        return;
    while (at < end) { /* a record is copied before its words are overwritten */
        jsp_ring_staged(&k->ring, &at, (uint64_t *)(void *)&made, sizeof made / 8);
        if (made.rec.tag == JSP_TASKS_NEW)
            stalls_stage_made(k, &made);
    }
    stalls_publish(k);
}

void jsp_stalls_push(struct jsp_tasks *k, const struct jsp_tasks_rec *rec)
{
    struct jsp_stalls *s = &k->stalls;
    uint64_t begin = stalls_get(&s->begin_ns);
    if (!begin)
        return;
    if (s->is_long && rec->tag == JSP_TASKS_RUN)
        stalls_explain(k, rec->task);
    stalls_stage(k, rec);
    if (!s->is_long && rec->end_ns > begin && rec->end_ns - begin > s->limit_ns) {
        s->is_long = true;
        stalls_explain_all(k);
    }
    if (s->is_long)
        stalls_publish(k);
}

void jsp_stalls_limit(struct jsp_tasks *k, uint64_t limit_ns)
{
    k->stalls.limit_ns = limit_ns;
    k->stalls.n_full = 0;
    stalls_set(&k->stalls.begin_ns, 0);
}

void jsp_stalls_open(struct jsp_tasks *k, uint64_t now)
{
    struct jsp_stalls *s = &k->stalls;
    s->tail = jsp_ring_tail(&k->ring);
    s->is_long = false;
    s->n_kept = 0;
    stalls_set(&s->begin_ns, now);
}

bool jsp_stalls_close(struct jsp_tasks *k, uint64_t now)
{
    struct jsp_stalls *s = &k->stalls;
    uint64_t begin = stalls_get(&s->begin_ns);
    if (!begin)
        return false;
    if (!s->is_long && now - begin > s->limit_ns) {
        s->is_long = true;
        stalls_explain_all(k);
    }
    if (s->is_long) {
        stalls_stage(k, &(struct jsp_tasks_rec){ .tag = JSP_TASKS_STALL, .begin_ns = begin,
                                                 .end_ns = now });
        stalls_publish(k);
    } else {
        stalls_take_back(k);
    }
    /* ORDER: release, pairs with the acquire in jsp_stalls_window: a drain that sees no window
     * has seen that it was long. */
    atomic_store_explicit(&s->begin_ns, 0, memory_order_release);
    return s->is_long;
}

/* Publish, whatever the window is, what the caller stages in between. */
static bool stalls_keep_begin(struct jsp_tasks *k)
{
    bool is_open = stalls_get(&k->stalls.begin_ns);
    if (!is_open)
        k->stalls.tail = jsp_ring_tail(&k->ring);
    return is_open;
}

static void stalls_keep_end(struct jsp_tasks *k, bool is_open)
{
    k->stalls.n_kept++;
    if (!is_open || k->stalls.is_long)
        stalls_publish(k);
}

void jsp_stalls_keep(struct jsp_tasks *k, const struct jsp_tasks_rec *turn)
{
    bool is_open = stalls_keep_begin(k);
    stalls_stage(k, turn);
    stalls_keep_end(k, is_open);
}

/* -- Tasks ------------------------------------------------------------------------ */

/* Publish the task whose slot a new one takes, if it may run again. */
static void stalls_evict(struct jsp_tasks *k, const struct jsp_stalls_slot *slot)
{
    struct jsp_tasks_made old;
    uint64_t number = stalls_get(&slot->number), runs = stalls_get(&slot->runs);
    bool may_run = number && runs != 1 && !(runs & STALLS_WRITTEN);
    if (!may_run || !stalls_copy(k->shared, number, &old))
        return;
    bool is_open = stalls_keep_begin(k);
    stalls_stage_made(k, &old);
    stalls_keep_end(k, is_open);
}

void jsp_stalls_made(struct jsp_tasks *k, const struct jsp_tasks_rec *made)
{
    stalls_evict(k, stalls_slot(k->shared, made->task));
    stalls_fill(k->shared->table, made, jsp_stalls_tags_now(k));
}

void jsp_stalls_ready(struct jsp_tasks *k, const struct jsp_tasks_rec *ready, uint64_t in_ns)
{
    struct jsp_stalls_slot *slot = stalls_find(k->shared, ready->task);
    if (!slot)
        return;
    stalls_set(&slot->ready_ns, ready->begin_ns + in_ns);
    stalls_set(&slot->by, ready->end_ns);
}

void jsp_stalls_ran(struct jsp_tasks *k, uint64_t number, uint64_t now)
{
    struct jsp_stalls_slot *slot = stalls_find(k->shared, number);
    if (!slot)
        return;
    /* ORDER: relaxed. See jsp_stalls_take. */
    atomic_fetch_add_explicit(&slot->runs, 1, memory_order_relaxed);
    uint64_t by = stalls_get(&slot->by);
    if (by & STALLS_USED)
        stalls_set(&slot->ready_ns, 0); /* that was for an earlier run */
    else if (stalls_get(&slot->ready_ns) > now)
        stalls_set(&slot->ready_ns, now);
    stalls_set(&slot->by, by | STALLS_USED);
}
