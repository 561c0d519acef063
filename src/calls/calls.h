/* calls/calls.h - the exact calls of a session: its threads' tables, what they come to,
 * and when they are on. jsprof.h, section 10, says what a host sees of it.
 *
 * One lock of its own, taken inside the session's. Under it a table can not go away, and
 * nobody changes the modes. It is open while the file is written.
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
    struct jsp_calls_horizon h;  /* as of the last look */
};

/* What was told of something, or what it comes to now. */
struct jsp_calls_sums {
    struct jsp_calls_cell *now, *told; /* owned */
};

struct jsp_calls_session {
    pthread_mutex_t lock;

    struct jsp_calls_clock clock; /* before the first modes; all 0: the best there is */

    /* Under `lock`. */
    struct jsp_calls_shared *shared;  /* held; NULL: nothing was ever counted */
    struct jsp_calls_member *members; /* owned */
    uint32_t n_members, capacity;
    struct jsp_calls *gone;           /* owned: sums over threads that are gone */
    struct jsp_calls *merged;         /* owned: its edges are those of all tables */
    struct jsp_calls_cell *edges;     /* owned: sums of these */
    struct jsp_calls_cell *block;     /* owned: sums of JSP_CALLS_BLOCK functions */
    struct jsp_calls_cell total;      /* as of the last look: gc, and the rest of it */

    /* Of who writes the output, which is one at a time. */
    struct jsp_calls_cell *told;      /* owned: of functions, as last written */
    struct jsp_calls_cell *told_edges;
    uint8_t *defined;                 /* owned: bits of functions that are in the file */
    uint8_t *buffer;                  /* owned */
    uint32_t used;
    uint32_t told_epoch;
};

void jsp_calls_open(struct jsp_calls_session *s);
void jsp_calls_close(struct jsp_calls_session *s);

/* With the session's lock held: `threads` are its. -ENOMEM. */
int jsp_calls_set(struct jsp_calls_session *s, struct jsp_thread *threads, uint32_t modes);

/* The calling thread's. -ENOMEM. */
int jsp_calls_attach(struct jsp_calls_session *s, struct jsp_thread *t);
void jsp_calls_detach(struct jsp_calls_session *s, struct jsp_thread *t);

/* The same for a thread that is no more, on any other. */
void jsp_calls_detach_gone(struct jsp_calls_session *s, struct jsp_thread *t);

/* Nothing is counted any more, for the session goes away. */
void jsp_calls_stop(struct jsp_calls_session *s, struct jsp_thread *threads);

/* -- What it comes to, with `lock` held ----------------------------------------- */

/* Look at the clock, for all threads at once; sums of what follows are as of then. */
void jsp_calls_look(struct jsp_calls_session *s);

/* False: nothing of this block was ever counted. */
bool jsp_calls_sum_block(const struct jsp_calls_session *s, uint32_t block,
                         struct jsp_calls_cell *cells);

/* Into s->edges, by the numbers of s->merged; how many there are. */
uint32_t jsp_calls_sum_edges(struct jsp_calls_session *s);

/* Own cost made less than nothing of what took next to none: show 0. The ticks that
 * were missing. */
uint64_t jsp_calls_cell_show(struct jsp_calls_cell *cell);

struct jsp_calls_account {
    uint64_t own, gc, depth_lost, underflows, clock_back, foreign;
    uint32_t threads, waiting, modes;
};

struct jsp_calls_account jsp_calls_account(const struct jsp_calls_session *s);

/* -- To the outside -------------------------------------------------------------- */

/* Append what has changed, and a commit; `flush` whenever the buffer is half full. 0, or
 * what flush answered: then what was appended waits for the next commit. */
int jsp_calls_write(struct jsp_calls_session *s, struct jsp_output *out,
                    int (*flush)(struct jsp_output *));

/* See jsprof_calls_snapshot. */
int jsp_calls_snapshot(struct jsp_calls_session *s, jsprof_calls *out);

#endif
