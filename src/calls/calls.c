/* calls/calls.c - the threads whose calls are counted, and the modes; see calls.h for the
 * contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "calls.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/grow.h"
#include "event.h"
#include "session/thread.h"

/* -- Opening and closing ------------------------------------------------------- */

void jsp_calls_open(struct jsp_calls_session *s)
{
    pthread_mutex_init(&s->lock, NULL);
}

static void *calls_map(size_t n, size_t size)
{
    void *at = mmap(NULL, n * size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    madvise(at, n * size, MADV_NOHUGEPAGE); /* so that a touch takes a page, not 2 MiB */
    return at;
}

static void calls_unmap(void *at, size_t n, size_t size)
{
    if (at)
        munmap(at, n * size);
}

static void calls_free_memory(struct jsp_calls_session *s)
{
    jsp_calls_destroy(s->gone);
    jsp_calls_destroy(s->merged);
    calls_unmap(s->edges, JSP_CALLS_EDGES, sizeof *s->edges);
    calls_unmap(s->written, JSP_FUNCTION_IDS, sizeof *s->written);
    calls_unmap(s->written_edges, JSP_CALLS_EDGES, sizeof *s->written_edges);
    free(s->defined);
    free(s->buffer);
    free(s->block);
    jsp_calls_shared_drop(s->shared);
    s->gone = s->merged = NULL;
    s->edges = s->written = s->written_edges = NULL;
    s->defined = s->buffer = NULL;
    s->block = NULL;
    s->shared = NULL;
}

/* Zero memory of calls_map, and give it back to the system. */
static void calls_zero(void *at, size_t n, size_t size)
{
    if (madvise(at, n * size, MADV_DONTNEED) < 0)
        memset(at, 0, n * size);
}

void jsp_calls_write_anew(struct jsp_calls_session *s)
{
    pthread_mutex_lock(&s->lock);
    if (s->shared) {
        calls_zero(s->written, JSP_FUNCTION_IDS, sizeof *s->written);
        calls_zero(s->written_edges, JSP_CALLS_EDGES, sizeof *s->written_edges);
        memset(s->defined, 0, JSP_FUNCTION_IDS / 8);
        s->used = s->written_epoch = 0;
    }
    pthread_mutex_unlock(&s->lock);
}

/* Allocate what the first modes need. */
static int calls_begin(struct jsp_calls_session *s)
{
    if (s->shared)
        return 0;
    if (!s->clock.ticks_per_second)
        jsp_calls_clock_open(&s->clock);
    s->shared = jsp_calls_shared_new(&s->clock);
    s->edges = calls_map(JSP_CALLS_EDGES, sizeof *s->edges);
    s->written = calls_map(JSP_FUNCTION_IDS, sizeof *s->written);
    s->written_edges = calls_map(JSP_CALLS_EDGES, sizeof *s->written_edges);
    s->defined = calloc(1, JSP_FUNCTION_IDS / 8);
    s->buffer = malloc(JSP_CALLS_BUFFER);
    s->block = malloc(JSP_CALLS_BLOCK * sizeof *s->block);
    bool good = s->shared && s->edges && s->written && s->written_edges &&
                s->defined && s->buffer && s->block &&
                jsp_calls_create(&s->gone, s->shared, s) == 0 &&
                jsp_calls_create(&s->merged, s->shared, s) == 0;
    if (!good) {
        calls_free_memory(s);
        return -ENOMEM;
    }
    jsp_function_hold();
    return 0;
}

void jsp_calls_close(struct jsp_calls_session *s)
{
    if (s->shared)
        jsp_function_drop();
    calls_free_memory(s);
    free(s->members);
    pthread_mutex_destroy(&s->lock);
}

/* -- Epochs -------------------------------------------------------------------- */

static uint32_t calls_epoch(const struct jsp_calls_session *s)
{
    /* ORDER: relaxed. The caller holds the lock of the threads that store it. */
    return atomic_load_explicit(&s->shared->epoch, memory_order_relaxed);
}

static struct jsp_calls_epoch *calls_epoch_at(const struct jsp_calls_session *s, uint32_t n)
{
    return &s->shared->epochs[n % JSP_CALLS_EPOCHS];
}

/* End the current epoch and begin the next one at the same moment. */
static void calls_next(struct jsp_calls_session *s, const struct jsp_calls_epoch *next)
{
    uint32_t n = calls_epoch(s);
    struct jsp_calls_epoch *to = calls_epoch_at(s, n + 1);
    uint64_t now = jsp_calls_now(&s->shared->clock);
    /* ORDER: relaxed, all of these: P1 publishes them. */
    atomic_store_explicit(&calls_epoch_at(s, n)->stop, now, memory_order_relaxed);
    to->modes = next->modes;
    to->start = now;
    memcpy(to->cost, next->cost, sizeof to->cost);
    atomic_store_explicit(&to->stop, 0, memory_order_relaxed); /* ORDER: relaxed, as above */
    /* P1. ORDER: release, pairs with the acquire at the beginning of an event. */
    atomic_store_explicit(&s->shared->epoch, n + 1, memory_order_release);
}

/* -- Threads ------------------------------------------------------------------- */

/* Give this thread a table that counts nothing yet. */
static int calls_member(struct jsp_calls_session *s, struct jsp_thread *t)
{
    if (t->calls || !t->owned)
        return 0;
    int err = jsp_grow(&s->members, &s->capacity, s->n_members, sizeof *s->members);
    if (!err)
        err = jsp_calls_create(&t->calls, s->shared, t->me);
    if (err)
        return err;
    s->members[s->n_members++] = (struct jsp_calls_member){ .c = t->calls };
    jsp_calls_give(&t->sampled.own, t->calls);
    return 0;
}

/* Return the value of `counting` for these modes. Plain counting needs no flag: an
 * increment does not depend on the modes before. */
static uint32_t calls_written(uint32_t modes)
{
    return modes & ~(uint32_t)JSPROF_CALLS_COUNT ? modes | JSP_CALLS_ASK : modes;
}

static void calls_turn(struct jsp_thread *threads, uint32_t modes)
{
    for (struct jsp_thread *t = threads; t; t = t->next) {
        bool mine = t->owned && t->me == jsp_calls_me();
        if (!t->calls)
            continue;
        /* ORDER: release, pairs with jsprof_counting in jsprof.h: the table is
         * visible. */
        __atomic_store_n(&t->sampled.own.counting, calls_written(modes), __ATOMIC_RELEASE);
        if (mine) /* the other threads notice the modes at their next call */
            jsp_calls_see(t->calls, &t->sampled.own);
    }
}

static int calls_set_locked(struct jsp_calls_session *s, struct jsp_thread *threads,
                            uint32_t modes)
{
    struct jsp_calls_epoch next = { .modes = modes };
    int err = modes || s->shared ? calls_begin(s) : 0;
    if (err || !s->shared)
        return err;
    if (modes == calls_epoch_at(s, calls_epoch(s))->modes)
        return 0;
    err = jsp_calls_cost_measure(&s->shared->clock, &next);
    for (struct jsp_thread *t = threads; t && !err && modes; t = t->next)
        err = calls_member(s, t);
    if (err)
        return err;
    calls_next(s, &next);
    calls_turn(threads, modes);
    return 0;
}

int jsp_calls_set(struct jsp_calls_session *s, struct jsp_thread *threads, uint32_t modes)
{
    pthread_mutex_lock(&s->lock);
    int err = calls_set_locked(s, threads, modes);
    pthread_mutex_unlock(&s->lock);
    return err;
}

void jsp_calls_stop(struct jsp_calls_session *s, struct jsp_thread *threads)
{
    jsp_calls_set(s, threads, 0); /* this needs no memory */
}

int jsp_calls_attach(struct jsp_calls_session *s, struct jsp_thread *t)
{
    pthread_mutex_lock(&s->lock);
    uint32_t modes = s->shared ? calls_epoch_at(s, calls_epoch(s))->modes : 0;
    int err = modes ? calls_member(s, t) : 0;
    if (!err && modes) {
        t->sampled.own.counting = calls_written(modes);
        jsp_calls_see(t->calls, &t->sampled.own);
    }
    pthread_mutex_unlock(&s->lock);
    return err;
}

/* -- Threads that end --------------------------------------------------------- */

static void calls_add(_Atomic uint64_t *to, const _Atomic uint64_t *from)
{
    jsp_count(to, jsp_counted(from));
}

static void calls_add_row(struct jsp_calls_row *to, const struct jsp_calls_row *from)
{
    calls_add(&to->self, &from->self);
    calls_add(&to->total, &from->total);
    calls_add(&to->self_bytes, &from->self_bytes);
    calls_add(&to->total_bytes, &from->total_bytes);
    calls_add(&to->calls, &from->calls);
}

static void calls_add_functions(struct jsp_calls *to, const struct jsp_calls *from, bool timed)
{
    for (uint32_t block = 0; block < JSP_CALLS_BLOCKS; block++) {
        if (!jsp_calls_is_touched(from, block))
            continue;
        uint32_t end = (block + 1) * JSP_CALLS_BLOCK;
        jsp_calls_touch(to, block * JSP_CALLS_BLOCK);
        for (uint32_t i = block * JSP_CALLS_BLOCK; i < end; i++) {
            calls_add(jsp_calls_count(to, i), jsp_calls_count(from, i));
            if (timed)
                calls_add_row(&to->rows[i], &from->rows[i]);
        }
    }
}

/* Add all counts of a table without open calls. */
static void calls_add_all(struct jsp_calls *to, const struct jsp_calls *from)
{
    /* ORDER: relaxed, both. The owner runs this, or has ended, so there is no other
     * writer. */
    bool timed = atomic_load_explicit(&from->timed, memory_order_relaxed);
    if (timed)
        atomic_store_explicit(&to->timed, true, memory_order_relaxed); /* ORDER: relaxed */
    calls_add_functions(to, from, timed);
    for (uint32_t i = 0; i < jsp_calls_n_edges(from); i++) {
        uint32_t at = i ? jsp_calls_edge(to, from->edges[i].caller, from->edges[i].callee) : 0;
        calls_add_row(&to->edges[at].row, &from->edges[i].row);
    }
    calls_add_row(&to->gc, &from->gc);
    jsp_count(&to->own, jsp_calls_own(from));
    calls_add(&to->depth_lost, &from->depth_lost);
    calls_add(&to->underflows, &from->underflows);
    calls_add(&to->clock_back, &from->clock_back);
    calls_add(&to->foreign, &from->foreign);
}

/* Remove the thread's table, whose open calls have ended. */
static void calls_leave(struct jsp_calls_session *s, struct jsp_thread *t)
{
    struct jsp_calls *c = t->calls;
    pthread_mutex_lock(&s->lock);
    uint32_t i = 0;
    while (s->members[i].c != c)
        i++;
    s->members[i] = s->members[--s->n_members];
    calls_add_all(s->gone, c);
    pthread_mutex_unlock(&s->lock);
    jsp_calls_give(&t->sampled.own, NULL);
    t->calls = NULL;
    jsp_calls_destroy(c);
}

void jsp_calls_detach(struct jsp_calls_session *s, struct jsp_thread *t)
{
    if (!t->calls)
        return;
    t->sampled.own.counting = 0;
    jsp_calls_end(t->calls);
    calls_leave(s, t);
}

void jsp_calls_detach_gone(struct jsp_calls_session *s, struct jsp_thread *t)
{
    if (!t->calls)
        return;
    jsp_calls_end_gone(t->calls);
    calls_leave(s, t);
}
