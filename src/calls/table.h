/* calls/table.h - one thread's exact calls: counts and times by function, edges, and the
 * open calls.
 *
 * Everything lies in one mapping, whose pages are filled when the thread first touches
 * them: a function that was never called costs nothing, and no two threads share a cache
 * line. The owner thread writes, without locks. Other threads read single words; they
 * read several words together between two events, when the version stays the same
 * (read.h).
 *
 * Time runs on a clock of the table: the ticks between events, minus the cost of
 * counting. Self time is how far this clock advances while a function is innermost.
 * Total time is how far it advances while at least one activation of the function is
 * open. So the sum of all self times is the time inside, for any sequence of calls.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CALLS_TABLE_H
#define JSP_CALLS_TABLE_H

#include "clock.h"
#include "session/function.h"

enum {
    JSP_CALLS_BLOCK = 512,  /* functions for one byte of `touched` */
    JSP_CALLS_BLOCKS = JSP_FUNCTION_IDS / JSP_CALLS_BLOCK,
    JSP_CALLS_OPEN = 1 << 18,     /* open calls in one thread */
    JSP_CALLS_EDGES = 1 << 17,    /* distinct edges */
    JSP_CALLS_EDGE_SLOTS = 1 << 18,
    JSP_CALLS_LEVELS = 16,        /* stacks, each resumed from the previous one */
    JSP_CALLS_ASIDE = 1 << 16,    /* suspended stacks with open calls */
    JSP_CALLS_EPOCHS = 64,        /* changes of modes that are remembered */
};

/* A flag in jsprof_thread.counting: the inline and the fast paths do not apply. New modes
 * set it; the owner clears it when it has taken over the modes and the clock is the
 * counter. */
enum { JSP_CALLS_ASK = 1 << 16 };

/* One function or one edge. All fields but `calls` are values of this table's clock or
 * byte count. They are signed, because the estimated cost may exceed the time of a
 * call. */
struct jsp_calls_row {
    _Atomic uint64_t self, total, start; /* start: begin of the first open activation */
    _Atomic uint64_t self_bytes, total_bytes, start_bytes;
    _Atomic uint64_t calls;              /* in addition to `counts`, see jsp_calls */
    _Atomic uint64_t outer;              /* the outermost entry on the running stack; 0: none */
};

_Static_assert(sizeof(struct jsp_calls_row) == JSP_FUNCTION_CELL, "functions know the size");

struct jsp_calls_edge {
    uint32_t caller, callee;
    struct jsp_calls_row row;
};

/* bits that are 0 in every link's address */
enum { JSP_CALLS_KEY_ARRAY = 1, JSP_CALLS_KEY_GC = 2 };
#define JSP_CALLS_KEY_HOST ((uintptr_t)1 << (sizeof(uintptr_t) * 8 - 1))

/* One open call. Entries are linked from the outermost to the innermost one, and the free
 * ones follow: so an enter or a leave only moves `top`. Always: e->next is NULL or
 * e->next->up == e. */
struct jsp_calls_entry {
    struct jsp_calls_row *_Atomic row; /* the function's */
    /* the link's address, or 4 * depth + 1, or jsp_calls_host_link; + 2: kind GC */
    uintptr_t key;
    struct jsp_calls_entry *up, *next;
    uint32_t edge;                     /* the edge of the call; UINT32_MAX: unknown */
};

/* The running stack, or one that has resumed it. */
struct jsp_calls_level {
    const void *stack;            /* jsprof_cstack; NULL: the thread's own */
    uint32_t base;                /* depth of the array at the switch to it */
    /* below its entries; no call: key 0, and the row is the caller's */
    struct jsp_calls_entry floor;
};

/* A suspended stack with open calls, whose time does not advance. */
struct jsp_calls_aside {
    const void *stack;
    struct jsp_calls_entry *top, *bottom; /* both ends of a chain */
    uint32_t next; /* the next in its chain or list of free ones; 0: none */
};

/* The kind of an event, which determines its cost up to the next event. */
enum jsp_calls_event { JSP_CALLS_ENTER, JSP_CALLS_LEAVE, JSP_CALLS_OTHER, JSP_CALLS_EVENTS };

/* The time from one change of modes to the next. */
struct jsp_calls_epoch {
    uint32_t modes;
    uint64_t start;
    _Atomic uint64_t stop; /* 0: this epoch is the current one */
    uint64_t cost[JSP_CALLS_EVENTS]; /* cost of counting from such an event to the next */
};

/* Data that all threads of a session share. Epoch n is stored in epochs[n % 64]. */
struct jsp_calls_shared {
    _Atomic uint32_t holders; /* the session and each table */
    struct jsp_calls_clock clock;
    _Atomic uint32_t epoch; /* the current one; 0: none has begun */
    struct jsp_calls_epoch epochs[JSP_CALLS_EPOCHS];
};

struct jsp_calls {
    /* Constant after create. */
    /* by function: calls while only counts were on; not 0: its block is touched */
    uint64_t *counts;
    uint8_t *touched;  /* by block */
    size_t bytes;
    struct jsp_calls_shared *shared;       /* held */
    struct jsp_calls_row *rows;            /* by function */
    struct jsp_calls_entry *entries;
    struct jsp_calls_edge *edges;          /* edge 0 collects all edges without room */

    /* Written by the owner. The fields of the fast path come first, in one cache line. */
    /* jsp_calls_me() of its thread; NULL during an event, so that no thread owns it. */
    alignas(JSP_CACHELINE) const void *_Atomic owner;
    _Atomic uint64_t last;         /* time up to which rows are complete */
    _Atomic uint64_t time; /* the table's clock; each event changes `last`, `time` */
    int64_t least; /* fast path only if at least this much passed since `last` */
    uint64_t cost[JSP_CALLS_EVENTS]; /* cost from such an event to the next, ticks */
    /* innermost entry, or the floor of the current level */
    struct jsp_calls_entry *_Atomic top;
    _Atomic uint32_t seq;          /* ... or this: the three are a version */
    _Atomic bool timed;            /* rows, not only counts, were written once */
    bool plain;                    /* calls and time, perhaps with edges: no other mode */
    _Atomic uint64_t not_own;      /* the part of last - time that is not overhead */
    _Atomic uint64_t bytes_now;    /* all bytes that were reported */
    _Atomic uint32_t epoch;        /* epoch of the last event */
    uint32_t modes;                /* of that epoch */
    uint32_t base;                 /* of the current level */
    uint32_t level;                /* the current level */
    uint32_t n_entries;            /* entries that were used at least once */
    uint32_t beyond;               /* enters that found no free entry */
    struct jsp_calls_entry *spare; /* free entries outside the chain, linked by `next` */
    struct jsp_calls_level levels[JSP_CALLS_LEVELS];
    struct jsp_calls_row gc;       /* total of all functions of kind GC */
    /* overhead of merged tables; a thread's own is in last - time */
    _Atomic uint64_t own;
    _Atomic uint64_t depth_lost, underflows, clock_back;
    _Atomic uint32_t n_edges;
    uint32_t n_asides, spare_aside;
    /* hash: index of an edge; 0: free. An event may not allocate, as base/hash.h does. */
    uint32_t *edge_slots;
    struct jsp_calls_aside *asides; /* index 0 is none */
    uint32_t *aside_slots;         /* hash: chains of asides */

    /* Written by threads that are not the owner, and by signal handlers. */
    alignas(JSP_CACHELINE) _Atomic uint64_t foreign;
};

/* Return a zeroed struct with this clock and one holder, or NULL without memory. */
struct jsp_calls_shared *jsp_calls_shared_new(const struct jsp_calls_clock *clock);

/* Give up one hold, and free it after the last. NULL does nothing. */
void jsp_calls_shared_drop(struct jsp_calls_shared *shared);

/* Create a table for the thread whose jsp_calls_me() is `owner`. A table of no thread
 * needs an owner that is not NULL, too. Return 0 or a negative errno. */
int jsp_calls_create(struct jsp_calls **out, struct jsp_calls_shared *shared,
                     const void *owner);

/* Free the table, which no thread uses any more. NULL does nothing. */
void jsp_calls_destroy(struct jsp_calls *c);

/* Return a pointer that is unique to this thread, without a system call. */
static inline const void *jsp_calls_me(void)
{
    return jsp_counter_thread();
}

/* Return the edge from `caller` to `callee`, adding it if needed; 0 if there is no
 * room. */
uint32_t jsp_calls_edge(struct jsp_calls *c, uint32_t caller, uint32_t callee);

/* Return the time that counting took. Valid only between two events. */
static inline uint64_t jsp_calls_own(const struct jsp_calls *c)
{
    return jsp_counted(&c->own) + jsp_counted(&c->last) - jsp_counted(&c->time) -
           jsp_counted(&c->not_own);
}

/* Let the inline hooks of a thread use this table, or none (NULL). */
static inline void jsp_calls_give(jsprof_thread *t, struct jsp_calls *c)
{
    t->counts = c ? c->counts : NULL;
    t->calls = c;
}

/* Return the innermost entry. Only the owner stores it; a reader checks afterwards that the
 * version is the same. */
static inline struct jsp_calls_entry *jsp_calls_top(const struct jsp_calls *c)
{
    /* ORDER: relaxed. As above. */
    return atomic_load_explicit(&c->top, memory_order_relaxed);
}

/* Return the row of the entry's function, under the same rule. */
static inline struct jsp_calls_row *jsp_calls_row(const struct jsp_calls_entry *e)
{
    /* ORDER: relaxed. As above. */
    return atomic_load_explicit(&e->row, memory_order_relaxed);
}

/* Note that the function has counts, before the first one. */
static inline void jsp_calls_touch(struct jsp_calls *c, uint32_t index)
{
    _Atomic uint8_t *touched = (_Atomic uint8_t *)&c->touched[index / JSP_CALLS_BLOCK];
    /* ORDER: relaxed. One writer; a reader that sees 0 finds the counts the next time. */
    if (!atomic_load_explicit(touched, memory_order_relaxed))
        atomic_store_explicit(touched, 1, memory_order_relaxed); /* ORDER: relaxed, same */
}

/* Return true if a function of the block has counts. */
static inline bool jsp_calls_is_touched(const struct jsp_calls *c, uint32_t block)
{
    const _Atomic uint8_t *touched = (const _Atomic uint8_t *)&c->touched[block];
    /* ORDER: relaxed, as in jsp_calls_touch. */
    return atomic_load_explicit(touched, memory_order_relaxed);
}

/* Return the counter of the function, which is used while only counts are on. */
static inline _Atomic uint64_t *jsp_calls_count(const struct jsp_calls *c, uint32_t index)
{
    return (_Atomic uint64_t *)&c->counts[index];
}

/* cost.c: measure the cost of one enter and one leave for these modes on this
 * clock, in about a millisecond; all 0 if the modes do not count time. Return 0 or
 * -ENOMEM. Any thread. */
int jsp_calls_cost_measure(const struct jsp_calls_clock *clock, struct jsp_calls_epoch *epoch);

#endif
