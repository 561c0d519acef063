/* jit.h - which functions become native code, for how long, and how they are run.
 *
 * A function is compiled after enough calls or enough rounds of its loops. Native code
 * makes no entries for the profiler, as in larger compilers: the profiler knows it by its
 * addresses, which profile.c registers.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LARK_JIT_H
#define LARK_JIT_H

#include "lark.h"

struct lark_jit_options {
    bool off;
    bool no_rows;         /* without unwind rows the profiler uses frame pointers */
    uint32_t threshold;   /* calls and rounds before a function is compiled */
    uint32_t cache_bytes; /* bytes for all native code */
};

enum {
    LARK_JIT_THRESHOLD = 500,
    LARK_JIT_CACHE_BYTES = 1 << 20,
    LARK_JIT_CACHE_MOST = 1 << 30,
};

/* Return false, and errno, if there is no memory for code; the interpreter then runs
 * everything. */
bool lark_jit_open(struct lark *l, const struct lark_jit_options *options);
void lark_jit_close(struct lark *l);

/* Note that the interpreter is at this place. Return true if there is native code
 * with which to continue; make that code if it is time to. */
bool lark_jit_ready(struct lark *l, struct lark_function *f);

/* Continue natively at an operation that has no operands. As lark_run_function. */
bool lark_jit_run(struct lark *l, struct lark_function *f, struct lark_value *slots,
                  uint32_t op);

/* Print one line about the native code on stderr. */
void lark_jit_print_stats(const struct lark *l);

#endif
