/* calls/read.h - a reader of a thread's table, while the thread writes it.
 *
 * Any thread may read, while it keeps the table from being destroyed. The values of one row are
 * of one moment. Open calls count with their time so far.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CALLS_READ_H
#define JSP_CALLS_READ_H

#include "table.h"

/* A row for output, in ticks. Times may be negative, see jsp_calls_row. */
struct jsp_calls_cell {
    uint64_t calls;
    int64_t self, total;
    uint64_t self_bytes, total_bytes;
};

/* Add a cell to a sum. */
void jsp_calls_cell_add(struct jsp_calls_cell *sum, const struct jsp_calls_cell *more);

/* The moment up to which the time of open calls counts. */
struct jsp_calls_horizon {
    uint64_t now;    /* the clock's time */
    uint32_t epoch;  /* the current epoch */
    uint32_t naps;   /* how often the reader may still sleep until a thread ends its event */
    bool torn;       /* the naps were used up, so rows may mix two moments */
};

/* Return the present moment of this table, as the horizon of a reading. The caller holds the
 * lock of the threads. */
struct jsp_calls_horizon jsp_calls_horizon(const struct jsp_calls *c);

/* Read the row of a function, with the time of its open calls up to the horizon. */
void jsp_calls_read_function(const struct jsp_calls *c, uint32_t index,
                             struct jsp_calls_horizon *h, struct jsp_calls_cell *out);

/* Read the row of an edge, likewise. */
void jsp_calls_read_edge(const struct jsp_calls *c, uint32_t edge,
                         struct jsp_calls_horizon *h, struct jsp_calls_cell *out);

/* Read the row of the garbage collection, likewise. */
void jsp_calls_read_gc(const struct jsp_calls *c, struct jsp_calls_horizon *h,
                       struct jsp_calls_cell *out);

/* Return the time that counting took. */
uint64_t jsp_calls_read_own(const struct jsp_calls *c, struct jsp_calls_horizon *h);

/* Return the number of edges; edge 0 collects those without room. */
uint32_t jsp_calls_n_edges(const struct jsp_calls *c);

/* Return true if the thread has not yet taken over the current modes. */
bool jsp_calls_waits(const struct jsp_calls *c);

#endif
