/* export/callgrind.h - functions, lines and calls with costs, for Callgrind's format.
 *
 * SPDX-License-Identifier: MIT
 *
 * Its readers know an inclusive cost for each call only, and take as a function's own the
 * sum over the calls of it. So where functions call each other in circles, what the
 * calls of one cost is scaled to the time that it really took; a function's direct calls
 * of itself cost nothing. Elsewhere nothing changes. One thread.
 */
#ifndef JSP_EXPORT_CALLGRIND_H
#define JSP_EXPORT_CALLGRIND_H

#include "export/export.h"

struct callgrind_function {
    struct jsp_read_text name, file, object; /* file, object: empty where not known */
    uint32_t line;                           /* of its definition; 0: not known */
    uint32_t number;                         /* behind a name that others have; 0: none */
    uint64_t total;
};

struct callgrind_self {
    uint32_t function, line;
    uint64_t cost;
};

struct callgrind_call {
    uint32_t caller, callee, line; /* line: of the call, 0: not known */
    uint64_t calls, cost;
};

struct callgrind {
    struct callgrind_function *functions;
    struct callgrind_self *selves;
    struct callgrind_call *calls;
    uint32_t n_functions, n_selves, n_calls;
    uint32_t functions_room, selves_room, calls_room;
    const char *event; /* what costs are: one word */
    uint64_t all;      /* the sum of the selves */
    struct jsp_store store;
};

/* 1: filled from the capture's exact calls; 0: it has none that make a graph; -ENOMEM. */
int callgrind_exact(struct callgrind *c, struct jsp_export *e);

/* From sampled stacks; a thread calls its outermost functions. -ENODATA, -ENOMEM. */
int callgrind_stacks(struct callgrind *c, struct jsp_export *e);

/* Room for one more of each; NULL: no memory. */
struct callgrind_function *callgrind_function_add(struct callgrind *c);
struct callgrind_self *callgrind_self_add(struct callgrind *c);
struct callgrind_call *callgrind_call_add(struct callgrind *c);

#endif
