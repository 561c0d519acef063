/* sigsafe/unwind_step.h - the steps of a walk that are not of the common kind.
 *
 * Between unwind.c and unwind_step.c, in the handler or not, as unwind.h says.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_UNWIND_STEP_H
#define JSP_SIGSAFE_UNWIND_STEP_H

#include "unwind.h"
#include "unwind_expr.h"

/* A walk at one of its frames. */
struct jsp_unwind_walk {
    struct jsp_unwinder *u;
    const struct jsp_unwind_map *map;
    struct jsp_regs_core at;
    const struct jsp_regs *regs; /* of an interrupted frame; or NULL */
    bool is_exact;               /* at.pc is the instruction to be run next */
    uint32_t crossings;          /* trampolines that may still be crossed */
    bool is_told;                /* out: by the host's walker */
    uintptr_t cfa;               /* out: of the frame that was left */
};

enum { JSP_STEP_ON = -1 }; /* not an end: go on */

/* Leave the frame at w->at, whose rows say `how`; neither SP nor FP. JSP_STEP_ON, or
 * the enum jsp_unwind_stop why not. */
int jsp_unwind_step(struct jsp_unwind_walk *w, uint32_t how);

#endif
