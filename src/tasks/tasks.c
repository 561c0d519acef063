/* tasks/tasks.c - see tasks.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tasks.h"

#include "capture/wire.h"

void jsp_tasks_init(struct jsp_tasks *k, const struct jsp_tasks_memory *memory)
{
    k->self = memory->self;
    k->shared = memory->shared;
    k->stacks = memory->stacks;
    k->stalls.limit_ns = jsp_tasks_stall(memory->shared);
    k->tid = memory->tid;
    k->asked.uc_stack.ss_flags = SS_DISABLE;
    jsp_names_init(&k->names, memory->arena);
    jsp_ring_init(&k->ring, memory->words, memory->n_words);
}

void jsp_tasks_renew(struct jsp_tasks *k, pid_t tid)
{
    _Atomic uint64_t *const all[] = { &k->n_lost, &k->n_unmatched, &k->n_left, &k->n_deep,
                                      &k->n_foreign };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        /* ORDER: relaxed. There is no other thread in this process. */
        atomic_store_explicit(all[i], 0, memory_order_relaxed);
    memset(k->stacks, 0, JSP_TASKS_STACKS * sizeof *k->stacks);
    k->n_stacks = 0;
    jsp_ring_init(&k->ring, k->ring.words, k->ring.capacity);
    k->tid = tid;
    /* ORDER: relaxed. There is no other thread in this process. */
    atomic_store_explicit(&k->stalls.begin_ns, 0, memory_order_relaxed);
}

/* -- Into and out of a function of tasks ------------------------------------- */

/* Return false if the thread is another one, or its session has ended, or a signal handler
 * calls during another call. `k` may be freed memory. */
static bool tasks_enter(struct jsp_tasks *k, struct jsp_sampled *self)
{
    struct jsp_running *r = &self->running;
    /* ORDER: relaxed. Only this thread stores it. */
    if (atomic_load_explicit(&r->is_inside, memory_order_relaxed)) {
        jsp_count(&k->n_foreign, 1);
        return false;
    }
    /* ORDER: seq_cst, before the load of `closed`; see B1 in sigsafe/backtrace.c. */
    atomic_store_explicit(&r->is_inside, true, memory_order_seq_cst);
    if (!atomic_load_explicit(&self->closed, memory_order_seq_cst)) { /* ORDER: seq_cst, B1 */
        uint64_t limit_ns = jsp_tasks_stall(k->shared);
        if (limit_ns != k->stalls.limit_ns)
            jsp_stalls_limit(k, limit_ns);
        return true;
    }
    /* ORDER: release: nothing of the session is read after it. */
    atomic_store_explicit(&r->is_inside, false, memory_order_release);
    return false;
}

static void tasks_exit(struct jsp_sampled *self)
{
    /* ORDER: release: all reads of the session are done before. */
    atomic_store_explicit(&self->running.is_inside, false, memory_order_release);
}

/* Note that the host reports what runs. */
static void tasks_note_any(struct jsp_tasks *k)
{
    if (!jsp_tasks_any(k->shared))
        /* ORDER: relaxed. A flag that is set once. */
        atomic_store_explicit(&k->shared->has_any, true, memory_order_relaxed);
}

/* Is the session running? Otherwise nobody drains the ring. */
static bool tasks_is_on(const struct jsp_sampled *self)
{
    /* ORDER: relaxed. A record too many waits in the ring. */
    return atomic_load_explicit(&self->armed, memory_order_relaxed);
}

/* Push the words of a record, and wake the drain when the ring becomes half full. */
static void tasks_push_words(struct jsp_tasks *k, const void *rec, uint32_t n)
{
    uint64_t half = k->ring.capacity / 2, before = jsp_ring_used(&k->ring);
    if (!jsp_ring_push(&k->ring, rec, n))
        jsp_count(&k->n_lost, 1);
    if (before < half && before + n + 1 >= half)
        jsp_ask_ring(k->self->ask);
    jsp_ask_note(k->self->ask);
}

/* Push any record but a task. */
static void tasks_push(struct jsp_tasks *k, const struct jsp_tasks_rec *rec)
{
    if (!tasks_is_on(k->self))
        return;
    if (k->stalls.limit_ns)
        jsp_stalls_push(k, rec);
    else
        tasks_push_words(k, rec, JSP_TASKS_REC_SHORT);
}

static bool tasks_is_own(const struct jsp_tasks *k, uint64_t handle)
{
    return handle >> JSP_TASKS_MARK_SHIFT == k->shared->mark;
}

/* Return the number of a handle; 0 and a count for one that another session made. */
static uint64_t tasks_number(struct jsp_tasks *k, uint64_t handle)
{
    if (tasks_is_own(k, handle))
        return handle & JSP_TASKS_NUMBER;
    if (handle)
        jsp_count(&k->n_foreign, 1);
    return 0;
}

/* -- Tasks -------------------------------------------------------------------- */

static uint32_t tasks_name(struct jsp_tasks *k, const char *text, const jsprof_function *f)
{
    const jsprof_frame frame = { .function = f, .label = text, .kind = JSPROF_KIND_LABEL };
    return f || (text && *text) ? jsp_names_of(&k->names, &frame) : JSP_LABEL_LOST;
}

/* Push a task with its labels. Stall mode keeps both until the task is in a long turn. */
static void tasks_made(struct jsp_tasks *k, const struct jsp_tasks_rec *rec)
{
    struct jsp_tasks_made made;
    const struct jsp_tags *tags = &k->self->tags;
    if (k->stalls.limit_ns) {
        jsp_stalls_made(k, rec);
        return;
    }
    if (!jsp_tags_any(tags)) {
        tasks_push_words(k, rec, JSP_TASKS_REC_WORDS);
        return;
    }
    made.rec = *rec;
    made.rec.n_tags = jsp_tags_take(tags, NULL, made.tags);
    tasks_push_words(k, &made, JSP_TASKS_REC_WORDS + (uint32_t)(made.rec.n_tags + 7) / 8);
}

uint64_t jsp_tasks_new(struct jsp_tasks *k, const struct jsp_tasks_what *what)
{
    struct jsp_sampled *self = k->self;
    if (!tasks_enter(k, self))
        return 0;
    /* ORDER: relaxed. Only uniqueness counts. */
    uint64_t number =
        atomic_fetch_add_explicit(&k->shared->last_task, 1, memory_order_relaxed) + 1;
    if (tasks_is_on(self)) {
        struct jsp_tasks_rec rec = {
            .tag = JSP_TASKS_NEW, .task = number, .parent = jsp_running_now(&self->running),
            .begin_ns = jsp_now_ns(CLOCK_MONOTONIC),
            .kind = tasks_name(k, what->kind, NULL),
            .name = tasks_name(k, what->name, what->function),
        };
        if (what->has_stack)
            rec.stack = (uint32_t)jsp_tasks_stack(k);
        rec.depth = (uint32_t)k->tid;
        tasks_made(k, &rec);
    }
    uint64_t mark = k->shared->mark;
    tasks_exit(self);
    return mark << JSP_TASKS_MARK_SHIFT | (number & JSP_TASKS_NUMBER);
}

void jsp_tasks_begin(struct jsp_tasks *k, uint64_t handle)
{
    struct jsp_sampled *self = k->self;
    if (!tasks_enter(k, self))
        return;
    uint64_t number = tasks_number(k, handle), now = jsp_now_ns(CLOCK_MONOTONIC);
    tasks_note_any(k);
    if (k->stalls.limit_ns) {
        if (!k->n_turns && !jsp_running_depth(&self->running) && tasks_is_on(self))
            jsp_stalls_open(k, now);
        jsp_stalls_ran(k, number, now);
    }
    uint32_t depth = jsp_running_depth(&self->running);
    if (depth < JSP_RUNNING_MOST) /* before a sample has the task, as its labels are other ones */
        k->tags[depth] = jsp_tags_begin(&self->tags, number);
    if (!jsp_running_push(&self->running, number, now))
        jsp_count(&k->n_deep, 1);
    tasks_exit(self);
}

/* Record the runs from place `from` on as ended now, innermost first. `ended` is the place of
 * the one that the host ends; the others were left. */
static void tasks_end_from(struct jsp_tasks *k, uint32_t from, uint32_t ended, uint64_t now)
{
    struct jsp_running *r = &k->self->running;
    uint32_t depth = jsp_running_depth(r);
    depth = depth < JSP_RUNNING_MOST ? depth : JSP_RUNNING_MOST;
    for (uint32_t at = depth; at-- > from;) {
        bool is_left = at != ended;
        const struct jsp_tasks_rec rec = {
            .tag = JSP_TASKS_RUN, .task = jsp_running_task(r, at), .depth = at, .end_ns = now,
            .begin_ns = jsp_running_begin_ns(r, at),
            .flags = is_left ? JSP_WIRE_RUN_LEFT : 0,
        };
        tasks_push(k, &rec);
        if (is_left)
            jsp_count(&k->n_left, 1);
    }
    jsp_running_cut(r, from);
    if (from < depth)
        jsp_tags_end(&k->self->tags, k->tags[from]);
    if (k->stalls.limit_ns && !from && !k->n_turns && ended != UINT32_MAX)
        jsp_stalls_close(k, now);
}

void jsp_tasks_end(struct jsp_tasks *k, uint64_t handle)
{
    struct jsp_sampled *self = k->self;
    if (!tasks_enter(k, self))
        return;
    struct jsp_running *r = &self->running;
    uint32_t depth = jsp_running_depth(r);
    bool is_own = tasks_is_own(k, handle);
    if (depth > JSP_RUNNING_MOST) { /* the innermost run has no place to compare with */
        jsp_running_cut(r, depth - 1);
    } else {
        uint32_t place = jsp_running_find(r, is_own ? handle & JSP_TASKS_NUMBER : 0);
        if (place) /* a wrong handle was counted when its run began */
            tasks_end_from(k, place - 1, place - 1, jsp_now_ns(CLOCK_MONOTONIC));
        else
            jsp_count(handle && !is_own ? &k->n_foreign : &k->n_unmatched, 1);
    }
    tasks_exit(self);
}

/* Record a moment of a task; it will be due after `from_now_ns`, or was due then. */
static void tasks_moment(struct jsp_tasks *k, uint64_t handle, enum jsp_tasks_tag tag,
                         int64_t from_now_ns)
{
    struct jsp_sampled *self = k->self;
    if (!handle || !tasks_enter(k, self))
        return;
    uint64_t number = tasks_number(k, handle);
    uint64_t in_ns = from_now_ns > 0 ? (uint64_t)from_now_ns : 0;
    uint64_t ago_ns = from_now_ns < 0 ? (uint64_t)-from_now_ns : 0;
    struct jsp_tasks_rec rec = { .tag = tag, .task = number, .depth = (uint32_t)in_ns,
                                 .stack = (uint32_t)(in_ns >> 32) };
    if (number) {
        rec.begin_ns = jsp_now_ns(CLOCK_MONOTONIC);
        rec.begin_ns -= ago_ns < rec.begin_ns ? ago_ns : 0;
        rec.end_ns = tag != JSP_TASKS_DONE ? jsp_running_now(&self->running) : 0;
        if (!k->stalls.limit_ns)
            tasks_push(k, &rec);
        else if (tag != JSP_TASKS_DONE)
            jsp_stalls_ready(k, &rec, in_ns);
    }
    tasks_exit(self);
}

void jsp_tasks_ready(struct jsp_tasks *k, uint64_t handle)
{
    tasks_moment(k, handle, JSP_TASKS_READY, 0);
}

void jsp_tasks_due(struct jsp_tasks *k, uint64_t handle, int64_t in_ns)
{
    const int64_t most = INT64_MAX / 2; /* so that the moment is none after the end of time */
    tasks_moment(k, handle, JSP_TASKS_DUE,
                 in_ns > most ? most : in_ns < -most ? -most : in_ns);
}

void jsp_tasks_done(struct jsp_tasks *k, uint64_t handle)
{
    tasks_moment(k, handle, JSP_TASKS_DONE, 0);
}

uint64_t jsp_tasks_now(const struct jsp_tasks *k)
{
    uint64_t number = jsp_running_now(&k->self->running);
    return number ? k->shared->mark << JSP_TASKS_MARK_SHIFT | number : 0;
}

/* -- Turns -------------------------------------------------------------------- */

void jsp_tasks_turn_begin(struct jsp_tasks *k)
{
    struct jsp_sampled *self = k->self;
    if (!tasks_enter(k, self))
        return;
    uint64_t now = jsp_now_ns(CLOCK_MONOTONIC);
    tasks_note_any(k);
    if (k->stalls.limit_ns) {
        bool was_long = jsp_stalls_close(k, now);
        if (k->n_turns && k->n_turns <= JSP_TASKS_TURNS)
            k->turns[k->n_turns - 1].is_long |= was_long;
        if (tasks_is_on(self))
            jsp_stalls_open(k, now);
    }
    if (k->n_turns < JSP_TASKS_TURNS)
        k->turns[k->n_turns] = (struct jsp_tasks_turn){
            .begin_ns = now, .depth = jsp_running_depth(&self->running),
        };
    else
        jsp_count(&k->n_deep, 1);
    k->n_turns++;
    tasks_exit(self);
}

/* Record a turn that ends now, and the runs that it leaves. */
static void tasks_end_turn(struct jsp_tasks *k, const struct jsp_tasks_turn *turn, uint64_t now)
{
    if (jsp_running_depth(&k->self->running) > turn->depth)
        tasks_end_from(k, turn->depth, UINT32_MAX, now);
    uint64_t inner = turn->inner_ns ? turn->inner_end_ns - turn->inner_ns : 0;
    const struct jsp_tasks_rec rec = {
        .tag = JSP_TASKS_TURN, .depth = k->n_turns, .begin_ns = turn->begin_ns, .end_ns = now,
        .task = inner,
    };
    if (turn->is_long && !jsp_stalls_window(&k->stalls))
        jsp_stalls_keep(k, &rec);
    else
        tasks_push(k, &rec);
    if (!k->n_turns)
        return;
    struct jsp_tasks_turn *outer = &k->turns[k->n_turns - 1];
    outer->inner_ns = outer->inner_ns ? outer->inner_ns : turn->begin_ns;
    outer->inner_end_ns = now;
}

void jsp_tasks_turn_end(struct jsp_tasks *k)
{
    struct jsp_sampled *self = k->self;
    if (!tasks_enter(k, self))
        return;
    uint64_t now = jsp_now_ns(CLOCK_MONOTONIC);
    if (!k->n_turns)
        jsp_count(&k->n_unmatched, 1);
    else if (--k->n_turns < JSP_TASKS_TURNS)
        tasks_end_turn(k, &k->turns[k->n_turns], now);
    if (k->stalls.limit_ns)
        jsp_stalls_close(k, now);
    tasks_exit(self);
}

/* -- The drain ---------------------------------------------------------------- */

bool jsp_tasks_pop(struct jsp_tasks *k, struct jsp_tasks_made *out)
{
    out->rec = (struct jsp_tasks_rec){ 0 };
    return jsp_ring_pop(&k->ring, (uint64_t *)(void *)out, sizeof *out / 8) > 0;
}

void jsp_tasks_counts(const struct jsp_tasks *k, struct jsp_tasks_counts *out)
{
    *out = (struct jsp_tasks_counts){
        jsp_counted(&k->n_lost), jsp_counted(&k->n_unmatched), jsp_counted(&k->n_left),
        jsp_counted(&k->n_deep), jsp_counted(&k->n_foreign),
    };
}
