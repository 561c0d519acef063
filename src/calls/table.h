/* calls/table.h - one thread's exact calls: counts and times by function, edges,
 * and the calls that are open.
 *
 * Everything lies in one mapping that the thread's first touch of a page fills: a
 * function that was never called costs nothing, and no two threads share a cache line.
 * The owner thread writes, without locks; others read single words, and what belongs
 * together between two events, where the version stays the same (calls_read.h).
 *
 * Time runs on a clock of the table's own: the ticks between two events, without what
 * counting itself took. Self time is what it advances while a function is innermost;
 * total, what it advances from the first open activation to the last. So the sum of all
 * self times is the time inside, whatever the calls were.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CALLS_TABLE_H
#define JSP_CALLS_TABLE_H

#include "clock.h"
#include "session/function.h"

enum {
    JSP_CALLS_BLOCK = 512,  /* functions to one byte of `touched` */
    JSP_CALLS_BLOCKS = JSP_FUNCTION_IDS / JSP_CALLS_BLOCK,
    JSP_CALLS_OPEN = 1 << 18,     /* calls that can be open in one thread */
    JSP_CALLS_EDGES = 1 << 17,    /* edges that are told apart */
    JSP_CALLS_EDGE_SLOTS = 1 << 18,
    JSP_CALLS_LEVELS = 16,        /* stacks, each resumed from the one before */
    JSP_CALLS_ASIDE = 1 << 16,    /* suspended stacks on which something is open */
    JSP_CALLS_EPOCHS = 64,        /* changes of modes that are remembered */
};

/* In jsprof_thread.counting: the inline and the shortest ways do not know what to do. Set
 * with new modes, taken off by the owner where it knows them and the clock is the counter. */
enum { JSP_CALLS_ASK = 1 << 16 };

/* One function or one edge. All but `calls` are of this table's clock and of its bytes;
 * signed, because a measured cost may be more than what one call took. */
struct jsp_calls_row {
    _Atomic uint64_t self, total, start; /* start: when the first that is open began */
    _Atomic uint64_t self_bytes, total_bytes, start_bytes;
    _Atomic uint64_t calls;              /* beside those in `counts`, see jsp_calls */
    _Atomic uint64_t outer;              /* the outermost entry on the running stack; 0: none */
};

_Static_assert(sizeof(struct jsp_calls_row) == JSP_FUNCTION_CELL, "functions know the size");

struct jsp_calls_edge {
    uint32_t caller, callee;
    struct jsp_calls_row row;
};

enum { JSP_CALLS_KEY_ARRAY = 1, JSP_CALLS_KEY_GC = 2 }; /* bits that no link's address has */

/* One call that is open. Entries hang together from the outermost to the innermost one, and
 * behind that the free ones: so an enter and a leave only move `top`.
 * Always: e->next is NULL or e->next->up == e. */
struct jsp_calls_entry {
    struct jsp_calls_row *_Atomic row; /* the function's */
    uintptr_t key;                     /* the link's address, or 4 * depth + 1; or 2: kind GC */
    struct jsp_calls_entry *up, *next;
    uint32_t edge;                     /* by which it was called; UINT32_MAX: not known */
};

/* A stack that is running or has resumed the one that is. */
struct jsp_calls_level {
    const void *stack;            /* jsprof_cstack; NULL: the thread's own */
    uint32_t base;                /* depth of the array when it was switched to */
    struct jsp_calls_entry floor; /* below its entries, no call: key 0, the row is its caller's */
};

/* A suspended stack with open calls, which have no time. */
struct jsp_calls_aside {
    const void *stack;
    struct jsp_calls_entry *top, *bottom; /* hang together */
    uint32_t next; /* in the chain or among the spare ones; 0: none */
};

/* What happened: it tells what counting takes from it to the next event. */
enum jsp_calls_event { JSP_CALLS_ENTER, JSP_CALLS_LEAVE, JSP_CALLS_OTHER, JSP_CALLS_EVENTS };

/* From one change of modes to the next. */
struct jsp_calls_epoch {
    uint32_t modes;
    uint64_t start;
    _Atomic uint64_t stop; /* 0: it runs */
    uint64_t cost[JSP_CALLS_EVENTS]; /* of counting, from such an event to the next */
};

/* What threads of a session have in common. Epoch n stands in epochs[n % 64]. */
struct jsp_calls_shared {
    _Atomic uint32_t holders; /* the session and each table */
    struct jsp_calls_clock clock;
    _Atomic uint32_t epoch; /* the last one; 0: none began */
    struct jsp_calls_epoch epochs[JSP_CALLS_EPOCHS];
};

struct jsp_calls {
    /* Constant after create. */
    uint64_t *counts;  /* by function: calls while nothing else was; not 0: its block is touched */
    uint8_t *touched;  /* by block */
    size_t bytes;
    struct jsp_calls_shared *shared;       /* held */
    struct jsp_calls_row *rows;            /* by function */
    struct jsp_calls_entry *entries;
    struct jsp_calls_edge *edges;          /* 0: all for which there was no room */

    /* Written by the owner; first what the shortest event needs, in one line. */
    /* jsp_calls_me() of its thread, and NULL in the middle of an event: nobody's then. */
    alignas(JSP_CACHELINE) const void *_Atomic owner;
    _Atomic uint64_t last;         /* when the time began that no row has; and by that clock, */
    _Atomic uint64_t time;         /* the table's: each event changes one of these, or */
    int64_t least;                 /* less than this since `last`: not the usual event */
    uint64_t cost[JSP_CALLS_EVENTS]; /* from such an event to the next, ticks */
    struct jsp_calls_entry *_Atomic top; /* innermost; or the floor of the level that runs */
    _Atomic uint32_t seq;          /* this: so the three are a version */
    _Atomic bool timed;            /* rows, not only counts, were ever written */
    bool plain;                    /* calls and time by the counter, and nothing else */
    _Atomic uint64_t not_own;      /* what of last - time is not own cost */
    _Atomic uint64_t bytes_now;    /* that were ever told of */
    _Atomic uint32_t epoch;        /* the one it was last seen in */
    uint32_t modes;                /* of that epoch */
    uint32_t base;                 /* of the level that runs */
    uint32_t level;                /* that runs */
    uint32_t n_entries;            /* that were ever used */
    uint32_t beyond;               /* enters for which there was no entry */
    struct jsp_calls_entry *spare; /* free ones that hang nowhere, by `next` */
    struct jsp_calls_level levels[JSP_CALLS_LEVELS];
    struct jsp_calls_row gc;       /* of all functions of kind GC: total */
    _Atomic uint64_t own;          /* of a sum of tables; else it is in last - time */
    _Atomic uint64_t depth_lost, underflows, clock_back;
    _Atomic uint32_t n_edges;
    uint32_t n_asides, spare_aside;
    uint32_t *edge_slots;          /* hash: index of an edge; 0: free */
    struct jsp_calls_aside *asides; /* 0 is none */
    uint32_t *aside_slots;         /* hash: chains of them */

    /* Written by any thread that is not the owner, and by signal handlers. */
    alignas(JSP_CACHELINE) _Atomic uint64_t foreign;
};

/* Zeroed but for the clock, with one holder. NULL: no memory. */
struct jsp_calls_shared *jsp_calls_shared_new(const struct jsp_calls_clock *clock);
void jsp_calls_shared_drop(struct jsp_calls_shared *shared);

/* A table for the thread whose jsp_calls_me() is `owner`; no thread's: not NULL either.
 * -ENOMEM. */
int jsp_calls_create(struct jsp_calls **out, struct jsp_calls_shared *shared,
                     const void *owner);
void jsp_calls_destroy(struct jsp_calls *c);

/* Something of this thread alone, without asking the system who it is. */
static inline const void *jsp_calls_me(void)
{
    return jsp_counter_thread();
}

/* The edge from `caller` to `callee`, made if it is new; 0: there is no room. */
uint32_t jsp_calls_edge(struct jsp_calls *c, uint32_t caller, uint32_t callee);

/* What counting took; of one moment between two events only. */
static inline uint64_t jsp_calls_own(const struct jsp_calls *c)
{
    return jsp_counted(&c->own) + jsp_counted(&c->last) - jsp_counted(&c->time) -
           jsp_counted(&c->not_own);
}

/* Let the inline hooks of a thread find its table, or (NULL) none. */
static inline void jsp_calls_give(jsprof_thread *t, struct jsp_calls *c)
{
    t->counts = c ? c->counts : NULL;
    t->calls = c;
}

/* The innermost entry, and a function's row. The owner alone stores them, and a reader of
 * them looks again whether the version is the same. */
static inline struct jsp_calls_entry *jsp_calls_top(const struct jsp_calls *c)
{
    /* ORDER: relaxed. As above. */
    return atomic_load_explicit(&c->top, memory_order_relaxed);
}

static inline struct jsp_calls_row *jsp_calls_row(const struct jsp_calls_entry *e)
{
    /* ORDER: relaxed. As above. */
    return atomic_load_explicit(&e->row, memory_order_relaxed);
}

static inline void jsp_calls_touch(struct jsp_calls *c, uint32_t index)
{
    _Atomic uint8_t *touched = (_Atomic uint8_t *)&c->touched[index / JSP_CALLS_BLOCK];
    /* ORDER: relaxed. One writer; who reads 0 finds what was counted the next time. */
    if (!atomic_load_explicit(touched, memory_order_relaxed))
        atomic_store_explicit(touched, 1, memory_order_relaxed); /* ORDER: relaxed, same */
}

static inline bool jsp_calls_is_touched(const struct jsp_calls *c, uint32_t block)
{
    const _Atomic uint8_t *touched = (const _Atomic uint8_t *)&c->touched[block];
    /* ORDER: relaxed, as in jsp_calls_touch. */
    return atomic_load_explicit(touched, memory_order_relaxed);
}

static inline _Atomic uint64_t *jsp_calls_count(const struct jsp_calls *c, uint32_t index)
{
    return (_Atomic uint64_t *)&c->counts[index];
}

#endif
