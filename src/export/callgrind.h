/* export/callgrind.h - functions, lines and calls with costs, for Callgrind's format.
 *
 * Its readers know an inclusive cost only for each call, and compute a function's own
 * total as the sum over the calls of it. So if functions call each other in a cycle, the
 * costs of the calls of one are scaled to its real total; a function's direct calls of
 * itself cost nothing. Outside of cycles nothing changes. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_EXPORT_CALLGRIND_H
#define JSP_EXPORT_CALLGRIND_H

#include "base/store.h"
#include "export.h"

struct callgrind_function {
    struct jsp_read_text name, file, object; /* file, object: empty if unknown */
    uint32_t line;                           /* of its definition; 0: unknown */
    uint32_t number; /* appended to a name that other functions have, too; 0: none */
    uint64_t total;
};

struct callgrind_self {
    uint32_t function, line;
    uint64_t cost;
};

struct callgrind_call {
    uint32_t caller, callee, line; /* line: of the call; 0: unknown */
    uint64_t calls, cost;
};

struct callgrind {
    struct callgrind_function *functions;
    struct callgrind_self *selves;
    struct callgrind_call *calls;
    uint32_t n_functions, n_selves, n_calls;
    uint32_t functions_room, selves_room, calls_room;
    const char *event; /* unit of the costs: one word */
    uint64_t all;      /* the sum of the selves */
    struct jsp_store store;
};

/* Fill from the capture's exact calls. Return 1, 0 if the capture has none that make a
 * graph, or -ENOMEM. */
int callgrind_exact(struct callgrind *c, struct jsp_export *e);

/* Fill from sampled stacks; a thread calls its outermost functions. Return 0, -ENODATA or
 * -ENOMEM. */
int callgrind_stacks(struct callgrind *c, struct jsp_export *e);

/* Add a function and return it, or NULL without memory. */
struct callgrind_function *callgrind_function_add(struct callgrind *c);

/* Add own cost and return it, or NULL without memory. */
struct callgrind_self *callgrind_self_add(struct callgrind *c);

/* Add a call and return it, or NULL without memory. */
struct callgrind_call *callgrind_call_add(struct callgrind *c);

#endif
