/* sigsafe/unwind_step.h - the rare kinds of steps of a walk.
 *
 * unwind.c calls unwind_step.c, in the handler or outside, as unwind.h allows.
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
    /* all registers of an interrupted frame; otherwise NULL */
    const struct jsp_regs *regs;
    bool is_exact; /* at.pc is the next instruction to run, not a return address */
    uint32_t crossings;          /* trampolines that may still be crossed */
    bool is_reported;                /* out: the host's walker reported this frame */
    uintptr_t cfa;               /* out: CFA of the frame that was left */
};

enum { JSP_STEP_ON = -1 }; /* the walk continues */

/* Leave the frame at w->at by the rows' `how`, which is neither SP nor FP. Return
 * JSP_STEP_ON, or the enum jsp_unwind_stop that is the reason why the walk ends. */
int jsp_unwind_step(struct jsp_unwind_walk *w, uint32_t how);

#endif
