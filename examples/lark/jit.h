/* jit.h - which functions become native code, for how long, and how they are run.
 *
 * A function is compiled once it was called, or its loops went round, often enough.
 * Native code makes no entries for the profiler, as in larger compilers: it is known
 * by its addresses, which profile.c registers.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LARK_JIT_H
#define LARK_JIT_H

#include "lark.h"

struct lark_jit_options {
    bool off;
    bool no_rows;         /* leave the profiler to the frame pointers */
    uint32_t threshold;   /* calls and rounds before a function is compiled */
    uint32_t cache_bytes; /* for all native code */
};

enum {
    LARK_JIT_THRESHOLD = 500,
    LARK_JIT_CACHE_BYTES = 1 << 20,
    LARK_JIT_CACHE_MOST = 1 << 30,
};

/* False, and errno: there is no memory for code; the interpreter goes on alone. */
bool lark_jit_open(struct lark *l, const struct lark_jit_options *options);
void lark_jit_close(struct lark *l);

/* The interpreter was here: is there native code to go on with, or is it time to make
 * it? */
bool lark_jit_ready(struct lark *l, struct lark_function *f);

/* Go on natively at an operation that finds no operands. As lark_run_function. */
bool lark_jit_run(struct lark *l, struct lark_function *f, struct lark_value *slots,
                  uint32_t op);

/* One line about what was done, on stderr. */
void lark_jit_print_stats(const struct lark *l);

#endif
