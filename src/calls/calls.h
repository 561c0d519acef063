/* calls/calls.h - the exact calls of a session: the tables of its threads, their sums,
 * and the modes. jsprof.h, section 10, describes what a host sees of it.
 *
 * It has one lock of its own, taken inside the session's. While it is held, no table can
 * go away, and no thread changes the modes. It is released while the file is written.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CALLS_CALLS_H
#define JSP_CALLS_CALLS_H

#include <pthread.h>

#include "read.h"

struct jsp_thread;
struct jsp_output;

struct jsp_calls_member {
    struct jsp_calls *c;         /* borrowed from its thread */
    struct jsp_calls_horizon h;  /* as of the last call of jsp_calls_look */
};

/* The sums of a function or an edge: now, and as last written. */
struct jsp_calls_sums {
    struct jsp_calls_cell *now, *written; /* owned */
};

struct jsp_calls_session {
    pthread_mutex_t lock;

    /* set before the first modes; all 0: choose the best clock */
    struct jsp_calls_clock clock;

    /* Protected by `lock`. */
    struct jsp_calls_shared *shared;  /* one holder; NULL: nothing was ever counted */
    struct jsp_calls_member *members; /* owned */
    uint32_t n_members, capacity;
    struct jsp_calls *gone;           /* owned: sums over threads that have ended */
    struct jsp_calls *merged;         /* owned: has the edges of all tables */
    struct jsp_calls_cell total;      /* as of the last look */

    /* Used by the thread that writes the output; only one does so at a time. */
    struct jsp_calls_cell *written;      /* owned: sums of functions, as last written */
    struct jsp_calls_cell *written_edges;
    /* owned: sums that are being written. `lock` is free meanwhile, so nobody else may use
     * them. */
    struct jsp_calls_cell *edges;     /* by edge of `merged` */
    struct jsp_calls_cell *block;     /* of JSP_CALLS_BLOCK functions */
    uint8_t *defined; /* owned: one bit for each function that is in the file */
    uint8_t *buffer;                  /* owned */
    uint32_t used;
    uint32_t written_epoch;
};

/* Lay out a zeroed session without modes and members. */
void jsp_calls_open(struct jsp_calls_session *s);

/* Free the session's tables. No thread is attached any more. */
void jsp_calls_close(struct jsp_calls_session *s);

/* Change the modes of these threads, which are the session's. The caller holds the
 * session's lock. Return 0 or -ENOMEM. */
int jsp_calls_set(struct jsp_calls_session *s, struct jsp_thread *threads, uint32_t modes);

/* Give the calling thread a table if modes are on. Return 0 or -ENOMEM. */
int jsp_calls_attach(struct jsp_calls_session *s, struct jsp_thread *t);

/* Stop counting for the calling thread, end its open calls, and keep what it counted. */
void jsp_calls_detach(struct jsp_calls_session *s, struct jsp_thread *t);

/* Do the same as detach, on any other thread, for a thread that has ended. */
void jsp_calls_detach_gone(struct jsp_calls_session *s, struct jsp_thread *t);

/* Stop all counting, because the session ends. */
void jsp_calls_stop(struct jsp_calls_session *s, struct jsp_thread *threads);

/* -- Sums, with `lock` held --------------------------------------------------- */

/* Read the clock once for all threads; the sums below are as of that moment. */
void jsp_calls_look(struct jsp_calls_session *s);

/* Sum a block of functions into `cells`. Return false if nothing in it was ever
 * counted. */
bool jsp_calls_sum_block(const struct jsp_calls_session *s, uint32_t block,
                         struct jsp_calls_cell *cells);

/* Sum all edges by the numbers of s->merged, into the first of JSP_CALLS_EDGES cells, of
 * which those that are new to `merged` must be 0. Return how many there are. */
uint32_t jsp_calls_sum_edges(struct jsp_calls_session *s, struct jsp_calls_cell *cells);

/* Clamp a negative self time to 0: the estimated overhead exceeded the measured time.
 * Return the clamped amount in ticks. */
uint64_t jsp_calls_cell_show(struct jsp_calls_cell *cell);

struct jsp_calls_account {
    uint64_t own, gc, depth_lost, underflows, clock_back, foreign;
    uint32_t threads, waiting, modes;
};

/* Return the account of all threads, gone ones included. There is a table; the caller holds
 * the lock of the threads. */
struct jsp_calls_account jsp_calls_account(const struct jsp_calls_session *s);

/* -- Output ------------------------------------------------------------------- */

/* Append all changes and a commit to the output; call `flush` whenever its buffer is half
 * full. Return 0 or the error of `flush`; what was appended then waits for the next
 * commit. */
int jsp_calls_write(struct jsp_calls_session *s, struct jsp_output *out,
                    int (*flush)(struct jsp_output *));

/* Forget what was written, because another file begins. */
void jsp_calls_write_anew(struct jsp_calls_session *s);

/* See jsprof_calls_snapshot. */
int jsp_calls_snapshot(struct jsp_calls_session *s, jsprof_calls *out);

/* bytes of jsprof/calls before they become a chunk */
enum { JSP_CALLS_BUFFER = 1 << 15 };

#endif
