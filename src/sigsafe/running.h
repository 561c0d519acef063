/* sigsafe/running.h - the tasks that run on one thread now, innermost last.
 *
 * The owner thread begins and ends runs. Its handler, and the looker while the thread sleeps,
 * read the innermost one for a sample. The drain reads all of them at a flush, so that a
 * capture also has the runs that never end. `seq` is odd while the owner changes them.
 *
 *                       handler, looker   owner thread   drain
 *   jsp_running_now           yes             yes          -
 *   jsp_running_push           -              yes          -
 *   jsp_running_cut            -              yes          -
 *   jsp_running_find           -              yes          -
 *   jsp_running_copy           -               -          yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_RUNNING_H
#define JSP_SIGSAFE_RUNNING_H

#include "room.h"

enum {
    JSP_RUNNING_MOST = 64, /* runs inside each other that have a place */
    JSP_RUNNING_TRIES = 16,
};

struct jsp_running_one {
    _Atomic uint64_t task; /* as in the capture; 0: none that the session made */
    _Atomic uint64_t begin_ns;
};

struct jsp_running {
    _Atomic uint32_t seq;
    _Atomic uint32_t depth;  /* may exceed JSP_RUNNING_MOST: the excess has no place */
    _Atomic bool is_inside;  /* the owner is inside a function of tasks */
    struct jsp_running_one at[JSP_RUNNING_MOST];
};

/* Return how many runs are open. Those below the depth, up to JSP_RUNNING_MOST, can be read. */
static inline uint32_t jsp_running_depth(const struct jsp_running *r)
{
    /* ORDER: acquire, so that the runs below it are seen; on the owner thread it costs
     * nothing. */
    return atomic_load_explicit(&r->depth, memory_order_acquire);
}

/* Return the task of the run at this place, which is below JSP_RUNNING_MOST. */
static inline uint64_t jsp_running_task(const struct jsp_running *r, uint32_t at)
{
    /* ORDER: relaxed. `depth` or `seq` orders it. */
    return atomic_load_explicit(&r->at[at].task, memory_order_relaxed);
}

/* Return when the run at this place began. */
static inline uint64_t jsp_running_begin_ns(const struct jsp_running *r, uint32_t at)
{
    /* ORDER: relaxed. As above. */
    return atomic_load_explicit(&r->at[at].begin_ns, memory_order_relaxed);
}

/* Return the task of the innermost run that has a place, or 0. */
static inline uint64_t jsp_running_now(const struct jsp_running *r)
{
    uint32_t depth = jsp_running_depth(r);
    depth = depth < JSP_RUNNING_MOST ? depth : JSP_RUNNING_MOST;
    return depth ? jsp_running_task(r, depth - 1) : 0;
}

/* Begin a change of the runs. The owner thread ends it with jsp_running_set_depth. */
static inline void jsp_running_change(struct jsp_running *r)
{
    /* ORDER: relaxed. Only the owner stores it; the fences below and in copy order it. */
    uint32_t seq = atomic_load_explicit(&r->seq, memory_order_relaxed);
    atomic_store_explicit(&r->seq, seq + 1, memory_order_relaxed); /* ORDER: as above */
    /* R3. ORDER: release fence, pairs with the acquire fence in copy: a drain that sees a
     * later store also sees that `seq` was odd. */
    atomic_thread_fence(memory_order_release);
}

/* End a change: publish the runs and their number. */
static inline void jsp_running_set_depth(struct jsp_running *r, uint32_t depth)
{
    /* R4. ORDER: release: the handler and the drain see a run before the depth that covers
     * it. */
    atomic_store_explicit(&r->depth, depth, memory_order_release);
    /* ORDER: relaxed load, release store: the drain sees an even `seq` after all of it. */
    uint32_t seq = atomic_load_explicit(&r->seq, memory_order_relaxed);
    atomic_store_explicit(&r->seq, seq + 1, memory_order_release); /* ORDER: as above */
}

/* Begin a run. Return false if it has no place: only the depth counts it. */
static inline bool jsp_running_push(struct jsp_running *r, uint64_t task, uint64_t begin_ns)
{
    uint32_t depth = jsp_running_depth(r);
    bool has_place = depth < JSP_RUNNING_MOST;
    jsp_running_change(r);
    if (has_place) {
        /* ORDER: relaxed, both. R4 publishes them. */
        atomic_store_explicit(&r->at[depth].task, task, memory_order_relaxed);
        /* ORDER: relaxed, as above. */
        atomic_store_explicit(&r->at[depth].begin_ns, begin_ns, memory_order_relaxed);
    }
    jsp_running_set_depth(r, depth + 1);
    return has_place;
}

/* End all runs from this depth on. */
static inline void jsp_running_cut(struct jsp_running *r, uint32_t depth)
{
    jsp_running_change(r);
    jsp_running_set_depth(r, depth);
}

/* Return the place + 1 of the innermost run of a task, or 0. At most JSP_RUNNING_MOST
 * steps. */
static inline uint32_t jsp_running_find(const struct jsp_running *r, uint64_t task)
{
    uint32_t depth = jsp_running_depth(r);
    depth = depth < JSP_RUNNING_MOST ? depth : JSP_RUNNING_MOST;
    while (depth && jsp_running_task(r, depth - 1) != task)
        depth--;
    return depth;
}

/* The runs of one moment, for another thread. */
struct jsp_running_copy {
    uint32_t n;
    struct {
        uint64_t task, begin_ns;
    } at[JSP_RUNNING_MOST];
};

/* Return false if the owner changed them at every try. */
static inline bool jsp_running_copy(const struct jsp_running *r, struct jsp_running_copy *out)
{
    for (int i = 0; i < JSP_RUNNING_TRIES; i++) {
        /* ORDER: acquire, pairs with the release in set_depth. */
        uint32_t before = atomic_load_explicit(&r->seq, memory_order_acquire);
        uint32_t depth = jsp_running_depth(r);
        if (before & 1)
            continue;
        out->n = depth < JSP_RUNNING_MOST ? depth : JSP_RUNNING_MOST;
        for (uint32_t at = 0; at < out->n; at++) {
            out->at[at].task = jsp_running_task(r, at);
            out->at[at].begin_ns = jsp_running_begin_ns(r, at);
        }
        /* ORDER: acquire fence, pairs with R3. */
        atomic_thread_fence(memory_order_acquire);
        /* ORDER: relaxed, after the fence. */
        if (atomic_load_explicit(&r->seq, memory_order_relaxed) == before)
            return true;
    }
    return false;
}

#endif
