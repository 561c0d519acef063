/* sigsafe/unwind_expr.h - DWARF's expressions, as unwind rules use them.
 *
 * The bytes are a private copy of what some object said, checked by nobody: every
 * operation is bounded by the bytes, by a small stack and by a number of steps.
 *
 *                       SIGPROF handler   any thread, for itself
 *   jsp_unwind_reg            yes                  yes
 *   jsp_unwind_expr           yes                  yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_UNWIND_EXPR_H
#define JSP_SIGSAFE_UNWIND_EXPR_H

#include "memread.h"
#include "regs.h"

/* What is known of the frame that is being left. */
struct jsp_unwind_env {
    struct jsp_regs_core at;
    const struct jsp_regs *regs; /* all of them, if it was interrupted; or NULL */
    struct jsp_memread *mem;
};

/* False: this register of this frame is not known. */
bool jsp_unwind_reg(const struct jsp_unwind_env *env, uint32_t reg, uint64_t *value);

/* Begins with `first` on its stack (the CFA, where it is the address of a saved
 * register). False: it can not be followed; *result is untouched. */
bool jsp_unwind_expr(const struct jsp_unwind_env *env, const uint8_t *code, uint32_t n,
                     uint64_t first, uint64_t *result);

#endif
