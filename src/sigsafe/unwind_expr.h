/* sigsafe/unwind_expr.h - an interpreter of DWARF expressions, as unwind rules use them.
 *
 * The bytes are a private, unchecked copy from some object. Every operation is bounded by
 * the bytes, by a small stack and by a number of steps.
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

/* The known registers of the frame that is being left. */
struct jsp_unwind_env {
    struct jsp_regs_core at;
    /* all registers of an interrupted frame; otherwise NULL */
    const struct jsp_regs *regs;
    struct jsp_memread *mem;
};

/* Store the value of a register of this frame. Return false if it is unknown. */
bool jsp_unwind_reg(const struct jsp_unwind_env *env, uint32_t reg, uint64_t *value);

/* Evaluate an expression with `first` on its stack (the CFA, if the result is the address
 * of a saved register). Return false if it cannot be evaluated; *result is then
 * untouched. */
bool jsp_unwind_expr(const struct jsp_unwind_env *env, const uint8_t *code, uint32_t n,
                     uint64_t first, uint64_t *result);

#endif
