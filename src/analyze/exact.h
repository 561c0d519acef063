/* analyze/exact.h - the exact calls of a capture: the file jsprof/calls.
 *
 * Records after the last commit are incomplete and do not count. Times are in ticks of
 * the capture's clock; jsp_exact_ns converts them to nanoseconds. Texts are borrowed from
 * the open capture. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_EXACT_H
#define JSP_ANALYZE_EXACT_H

#include <stdbool.h>
#include <stdint.h>

#include "naming.h"
#include "base/hash.h"
#include "capture/read.h"
#include "capture/wire.h"

enum { /* flags of jsp_exact.modes */
    JSP_EXACT_COUNTS = 1,
    JSP_EXACT_TIME = 2,
    JSP_EXACT_ALLOC = 4,
    JSP_EXACT_EDGES = 8,
};

struct jsp_exact_cost {
    uint64_t calls, self, total; /* an edge has no self */
    uint64_t self_bytes, total_bytes;
};

struct jsp_exact_function {
    const char *shown;           /* "name (file:line)"; owned by the calls */
    struct jsp_read_text name, file;
    uint32_t id, kind, line;
    struct jsp_exact_cost cost;
};

struct jsp_exact_edge {
    uint32_t caller, callee;     /* positions in functions[] */
    struct jsp_exact_cost cost;
};

struct jsp_exact_mode {
    uint64_t time, modes;
};

struct jsp_exact {
    bool is_there;               /* the file has a commit */
    int32_t pid;
    bool has_others;             /* other processes of this capture have counts, too */
    struct jsp_exact_function *functions; /* also those without calls */
    struct jsp_exact_edge *edges;
    struct jsp_exact_mode *changes;
    uint32_t n_functions, n_edges, n_changes;
    uint64_t modes;              /* all modes that were on at any time */
    uint64_t commit[JSP_WIRE_COMMIT_FIELDS];
    struct jsp_exact_work *work;
};

/* Read the calls. Malformed records are counted in `defects` (may be NULL). Return 0 or
 * -ENOMEM. */
int jsp_exact_read(struct jsp_exact *out, const struct jsp_read *capture,
                   struct jsp_read_defects *defects);

/* Show the functions as the naming does; NULL: as they were recorded. Return 0 or -ENOMEM. */
int jsp_exact_show(struct jsp_exact *c, struct jsp_naming *n);

/* Free the calls. */
void jsp_exact_free(struct jsp_exact *c);

/* Convert ticks of the capture's clock to ns. */
uint64_t jsp_exact_ns(const struct jsp_exact *c, uint64_t ticks);

/* Return true if all counts are 0. */
bool jsp_exact_is_empty(const struct jsp_exact_cost *cost);

enum jsp_exact_sort {
    JSP_EXACT_BY_SELF,
    JSP_EXACT_BY_TOTAL,
    JSP_EXACT_BY_CALLS,
    JSP_EXACT_BY_EACH,  /* total divided by calls */
    JSP_EXACT_BY_BYTES, /* self_bytes */
    JSP_EXACT_BY_NAME,
};

/* Return the positions in functions[] of those that are not empty, largest first, at least the
 * first `most` (0: all). *n is the number of all such positions. The caller frees the memory.
 * Return NULL without memory. */
uint32_t *jsp_exact_order(const struct jsp_exact *c, enum jsp_exact_sort by, uint32_t most,
                          uint32_t *n);

/* Return the positions in edges[], as jsp_exact_order does. */
uint32_t *jsp_exact_order_edges(const struct jsp_exact *c, enum jsp_exact_sort by,
                                uint32_t most, uint32_t *n);

/* Return the total of one call, or 0 without calls. */
uint64_t jsp_exact_each(const struct jsp_exact_cost *cost);

/* A comparison of two captures. Functions are the same if name, file and line are equal. The
 * remaining ones are then matched by name and file, in order, because code above them may have
 * grown. Times are in ns, because each capture has its own clock. */
struct jsp_exact_pair {
    /* from the second capture if it is there */
    const struct jsp_exact_function *function;
    bool in_first, in_second;
    struct jsp_exact_cost first, second;       /* in ns */
};

/* List the functions that are not empty in both, the greatest change first. The caller
 * frees *out. Return 0 or -ENOMEM. */
int jsp_exact_compare(struct jsp_exact_pair **out, uint32_t *n, const struct jsp_exact *first,
                      const struct jsp_exact *second, enum jsp_exact_sort by);

#endif
