/* calls/read.h - what the table of a thread says, while the thread writes it.
 *
 * Any thread that keeps the table from being destroyed. Each row is of one moment, and
 * what is open has its time so far in it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CALLS_READ_H
#define JSP_CALLS_READ_H

#include "table.h"

/* A row as it is shown, in ticks. May be negative, see jsp_calls_row. */
struct jsp_calls_cell {
    uint64_t calls;
    int64_t self, total;
    uint64_t self_bytes, total_bytes;
};

void jsp_calls_cell_add(struct jsp_calls_cell *sum, const struct jsp_calls_cell *more);

/* Until when the open calls of a thread have run. */
struct jsp_calls_horizon {
    uint64_t now;    /* of the clock */
    uint32_t epoch;  /* that runs */
    uint32_t naps;   /* for which a thread in the middle of an event is waited for; then */
    bool torn;       /* rows may be of two moments */
};

struct jsp_calls_horizon jsp_calls_horizon(const struct jsp_calls *c);

void jsp_calls_read_function(const struct jsp_calls *c, uint32_t index,
                             struct jsp_calls_horizon *h, struct jsp_calls_cell *out);
void jsp_calls_read_edge(const struct jsp_calls *c, uint32_t edge,
                         struct jsp_calls_horizon *h, struct jsp_calls_cell *out);
void jsp_calls_read_gc(const struct jsp_calls *c, struct jsp_calls_horizon *h,
                       struct jsp_calls_cell *out);

/* What counting took. */
uint64_t jsp_calls_read_own(const struct jsp_calls *c, struct jsp_calls_horizon *h);

/* Edges that are there; 0 is the one for the rest. */
uint32_t jsp_calls_n_edges(const struct jsp_calls *c);

/* The thread was not seen since the modes changed. */
bool jsp_calls_waits(const struct jsp_calls *c);

#endif
