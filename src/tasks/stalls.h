/* tasks/stalls.h - stall mode: only turns that take longer than a limit reach the capture.
 *
 * A window is a turn of the thread's loop, or outside of turns an outermost run. Its records are
 * staged in the ring: written, but not published. At its end the thread publishes them if the
 * window was long, and takes them back if not, so the drain sees nothing of a quick turn. A turn
 * that begins inside another one ends that one's window.
 *
 * Samples wait in their own ring until the drain knows their window: see session/stalls.c.
 *
 * What a task is called and who made it must be known if it runs in a long window much later. So
 * tasks do not go into the ring when they are made but into a table of slots by number, which all
 * threads share. A run in a long window writes its task and the tasks that led to it, once. A task
 * that has run not once but never or often may run again: when another number takes its slot, it
 * is written whatever happens.
 *
 * So are the labels under which a task was made. They have other sizes than a slot: all threads
 * append them to one ring, where the oldest are overwritten, and a task in a long turn whose labels
 * are gone has none, which is counted. See stalls_tags.c.
 *
 *                          owner thread   drain
 *   jsp_stalls_limit            yes         -
 *   jsp_stalls_open             yes         -
 *   jsp_stalls_close            yes         -
 *   jsp_stalls_push             yes         -
 *   jsp_stalls_keep             yes         -
 *   jsp_stalls_made             yes         -
 *   jsp_stalls_ready            yes         -
 *   jsp_stalls_ran              yes         -
 *   jsp_stalls_take             yes        yes
 *   jsp_stalls_window            -         yes
 *   jsp_stalls_tags_now         yes         -
 *   jsp_stalls_tags_get         yes        yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_TASKS_STALLS_H
#define JSP_TASKS_STALLS_H

#include "sigsafe/ring.h"

struct jsp_tasks;
struct jsp_tasks_made;
struct jsp_tasks_rec;
struct jsp_tasks_shared;

enum {
    JSP_STALLS_SLOTS = 1 << 16,
    JSP_STALLS_CHAIN = 64,
    JSP_STALLS_TAGS = 1 << 19, /* words of labels: 4 MiB, as the slots have */
};

/* A task. Its words are atomic because any thread may take the slot: `number` is 0 meanwhile. */
struct jsp_stalls_slot {
    _Atomic uint64_t number;
    _Atomic uint64_t parent, time_ns;
    _Atomic uint64_t name;   /* kind, and the name above 32 bits */
    _Atomic uint64_t origin; /* stack, and the thread above 32 bits */
    _Atomic uint64_t runs;   /* how often it began; the upper bit: it is in the capture */
    _Atomic uint64_t ready_ns, by; /* 0: nothing made it ready since its last run */
};
_Static_assert(sizeof(struct jsp_stalls_slot) == JSP_CACHELINE, "a slot is a cache line");

/* All of it. Pages that nobody has touched take no memory: labels cost none until one is set. */
struct jsp_stalls_table {
    struct jsp_stalls_slot slots[JSP_STALLS_SLOTS];
    _Atomic uint64_t n_tags;                   /* words that were given out for labels, ever */
    _Atomic uint64_t tags_at[JSP_STALLS_SLOTS]; /* of the task in the slot; 0: it has none */
    _Atomic uint64_t tags[JSP_STALLS_TAGS];
};

struct jsp_stalls {
    /* Written by the owner thread. */
    uint64_t limit_ns; /* 0: no stall mode; see jsp_stalls_limit */
    bool is_long;      /* the window has exceeded the limit: nothing is staged */
    uint32_t n_kept;   /* staged records that are published in any case */
    uint32_t n_full;   /* records that did not fit, since the last were published */
    uint64_t tail;     /* of the ring, with what is staged */
    uint64_t tags_at;  /* of the labels that the thread stored last; 0: none */
    _Atomic uint64_t begin_ns; /* of the window; 0: none is open */
};

/* Take over another limit: an open window ends, and what it staged is dropped. */
void jsp_stalls_limit(struct jsp_tasks *k, uint64_t limit_ns);

/* Begin a window. */
void jsp_stalls_open(struct jsp_tasks *k, uint64_t now);

/* End the window: publish what it staged if it was long, otherwise drop it. Return true if it
 * was long. */
bool jsp_stalls_close(struct jsp_tasks *k, uint64_t now);

/* Stage a record, or publish it in a long window; drop it outside of windows. */
void jsp_stalls_push(struct jsp_tasks *k, const struct jsp_tasks_rec *rec);

/* Publish an outer turn, whatever its window is. */
void jsp_stalls_keep(struct jsp_tasks *k, const struct jsp_tasks_rec *turn);

/* Put a new task into its slot. */
void jsp_stalls_made(struct jsp_tasks *k, const struct jsp_tasks_rec *made);

/* Note the moment from which the task can run, `in_ns` after the record's time, and its
 * cause. */
void jsp_stalls_ready(struct jsp_tasks *k, const struct jsp_tasks_rec *ready, uint64_t in_ns);

/* Note a run that begins now: if the task is not due yet, it is now. */
void jsp_stalls_ran(struct jsp_tasks *k, uint64_t number, uint64_t now);

/* Copy a task that is in its slot and not in the capture yet, with its labels: the caller writes
 * it. Return false for any other. */
bool jsp_stalls_take(struct jsp_tasks_shared *shared, uint64_t number,
                     struct jsp_tasks_made *out);

/* -- stalls_tags.c */

/* Store the labels that the thread has now. Return where they are, or 0 without any. */
uint64_t jsp_stalls_tags_now(struct jsp_tasks *k);

/* Copy such labels. Return how many bytes they are, or 0 if they are overwritten. */
uint32_t jsp_stalls_tags_get(const struct jsp_stalls_table *table, uint64_t at, uint8_t *to);

/* Return the begin of the open window, or 0. What was published before is seen afterwards. */
static inline uint64_t jsp_stalls_window(const struct jsp_stalls *s)
{
    /* ORDER: acquire, pairs with the release in jsp_stalls_close. */
    return atomic_load_explicit(&s->begin_ns, memory_order_acquire);
}

#endif
