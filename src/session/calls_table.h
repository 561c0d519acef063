/* session/calls_table.h - one thread's exact calls: counts and times by function, edges,
 * and the calls that are open.
 *
 * Everything lies in one mapping that the thread's first touch of a page fills: a
 * function that was never called costs nothing, and no two threads share a cache line.
 * The owner thread writes, without locks; others read single words, and what belongs
 * together between two equal, even values of `seq` (calls_read.h).
 *
 * Time runs on a clock of the table's own, `time`: the ticks between two events, without
 * what counting itself took. Self time is what it advances while a function is innermost;
 * total, what it advances from the first open activation to the last. So the sum of all
 * self times is the time inside, whatever the calls were.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_CALLS_TABLE_H
#define JSP_SESSION_CALLS_TABLE_H

#include "calls_clock.h"
#include "function.h"

enum {
    JSP_CALLS_BLOCK = 512,  /* functions to one byte of `touched`; jsprof.h knows it */
    JSP_CALLS_BLOCKS = JSP_FUNCTION_IDS / JSP_CALLS_BLOCK,
    JSP_CALLS_OPEN = 1 << 18,     /* calls that can be open in one thread */
    JSP_CALLS_EDGES = 1 << 17,    /* edges that are told apart */
    JSP_CALLS_EDGE_SLOTS = 1 << 18,
    JSP_CALLS_LEVELS = 16,        /* stacks, each resumed from the one before */
    JSP_CALLS_ASIDE = 1 << 16,    /* suspended stacks on which something is open */
    JSP_CALLS_EPOCHS = 64,        /* changes of modes that are remembered */
};

/* One function or one edge. All but `calls` are of this table's clock and of its bytes;
 * signed, because a measured cost may be more than what one call took. */
struct jsp_calls_row {
    _Atomic uint64_t self, total, start; /* start: when the first that is open began */
    _Atomic uint64_t self_bytes, total_bytes, start_bytes;
    _Atomic uint64_t calls;              /* beside those in `counts`, see jsp_calls */
    _Atomic uint64_t open;               /* activations on the running stack */
};

struct jsp_calls_edge {
    uint32_t caller, callee;
    struct jsp_calls_row row;
};

/* One call that is open. */
struct jsp_calls_entry {
    struct jsp_calls_entry *up; /* its caller, or the next free one */
    uintptr_t key;              /* the link's address, or 2 * depth + 1 */
    uint32_t index;             /* of the function */
    uint32_t edge;              /* by which it was called; UINT32_MAX: not known */
    uint32_t gc;                /* 1: a function of kind GC */
};

/* A stack that is running or has resumed the one that is. */
struct jsp_calls_level {
    const void *stack;             /* jsprof_cstack; NULL: the thread's own */
    struct jsp_calls_entry *top;   /* innermost; of the last level, see jsp_calls.top */
    struct jsp_calls_entry *floor; /* the innermost one of the levels before */
    uint32_t base;                 /* depth of the array when it was switched to */
};

/* A suspended stack with open calls, which have no time. */
struct jsp_calls_aside {
    const void *stack;
    struct jsp_calls_entry *top, *bottom;
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
    uint64_t *counts;  /* by function: calls while nothing else was counted */
    uint8_t *touched;  /* by block */
    size_t bytes;
    struct jsp_calls_shared *shared;       /* held */
    const void *owner;                     /* jsp_calls_me() of its thread */
    struct jsp_calls_row *rows;            /* by function */
    struct jsp_calls_entry *entries;
    struct jsp_calls_edge *edges;          /* 0: all for which there was no room */
    uint32_t *edge_slots;                  /* hash: index of an edge; 0: free */
    struct jsp_calls_aside *asides;        /* 0 is none */
    uint32_t *aside_slots;                 /* hash: chains of them */

    /* Written by the owner. */
    alignas(JSP_CACHELINE) _Atomic uint32_t seq; /* odd: in the middle of an event */
    _Atomic uint32_t epoch;        /* the one it was last seen in */
    uint32_t modes;                /* of that epoch */
    _Atomic uint64_t time;         /* the table's clock, at the last event; */
    _Atomic uint64_t offset;       /* to that of the processor then */
    _Atomic uint64_t not_own;      /* what of `offset` is not own cost */
    uint64_t cost_next;            /* of what happened last, until the next event */
    _Atomic uint64_t bytes_now;    /* that were ever told of */
    struct jsp_calls_entry *top, *floor; /* of the level that runs */
    struct jsp_calls_row *_Atomic self;  /* of the function of `top`, or outside */
    struct jsp_calls_entry *spare;
    uint32_t n_entries;            /* that were ever used */
    uint32_t base;                 /* of the level that runs */
    bool plain;                    /* calls and time by the counter, and nothing else */
    uint32_t beyond;               /* enters for which there was no entry */
    uint32_t level;                /* that runs */
    struct jsp_calls_level levels[JSP_CALLS_LEVELS];
    uint64_t cost[JSP_CALLS_EVENTS]; /* from such an event to the next, ticks */
    _Atomic bool timed;            /* rows, not only counts, were ever written */
    struct jsp_calls_row gc;       /* of all functions of kind GC: total */
    _Atomic uint64_t own;          /* of a sum of tables; else it is in `offset` */
    _Atomic uint64_t depth_lost, underflows, clock_back;
    _Atomic uint32_t n_edges;
    uint32_t n_asides, spare_aside;

    /* Written by any thread that is not the owner, and by signal handlers. */
    alignas(JSP_CACHELINE) _Atomic uint64_t foreign;
};

/* Zeroed but for the clock, with one holder. NULL: no memory. */
struct jsp_calls_shared *jsp_calls_shared_new(const struct jsp_calls_clock *clock);
void jsp_calls_shared_drop(struct jsp_calls_shared *shared);

/* A table for the thread whose jsp_calls_me() is `owner`. -ENOMEM. */
int jsp_calls_create(struct jsp_calls **out, struct jsp_calls_shared *shared,
                     const void *owner);
void jsp_calls_destroy(struct jsp_calls *c);

/* Something of this thread alone, without asking the system who it is. */
extern _Thread_local char jsp_calls_here;

static inline const void *jsp_calls_me(void)
{
    return &jsp_calls_here;
}

/* The edge from `caller` to `callee`, made if it is new; 0: there is no room. */
uint32_t jsp_calls_edge(struct jsp_calls *c, uint32_t caller, uint32_t callee);

/* What counting took; of one moment between two events only. */
static inline uint64_t jsp_calls_own(const struct jsp_calls *c)
{
    return jsp_counted(&c->own) + jsp_counted(&c->offset) - jsp_counted(&c->not_own);
}

/* Let the inline hooks of a thread find its table, or (NULL) none. */
static inline void jsp_calls_give(jsprof_thread *t, struct jsp_calls *c)
{
    t->counts = c ? c->counts : NULL;
    t->touched = c ? c->touched : NULL;
    t->calls = c;
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
