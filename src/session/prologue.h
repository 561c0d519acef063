/* session/prologue.h - the frame pointer of a function that made a call, from its code.
 *
 * The kernel reports no frame pointer of a thread that sleeps. A function that uses one sets it
 * in its first instructions, and then moves the stack pointer by a fixed distance: it pushes
 * registers, which the unwind rules describe, and subtracts a number. So at each of its calls
 * the frame pointer is that far from the stack pointer. A call with more than six arguments
 * pushes the others, which makes it farther. A function that takes memory from the stack later has
 * another distance; the return address, which has to follow a call, shows that.
 *
 * Code written by hand may have no such prologue: libffi's frame pointer is the end of the
 * arguments on the stack, for example. Then it is looked for near the stack pointer.
 *
 * The looker calls this.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_PROLOGUE_H
#define JSP_SESSION_PROLOGUE_H

#include "sigsafe/unwind.h"

/* Find the frame pointer of the function to which pc belongs, while its stack pointer is `sp`.
 * `how` is the rule there, which needs the frame pointer. Return false if it is not found. */
struct jsp_prologue_at {
    uintptr_t pc, sp;
    uint32_t how;
};
bool jsp_prologue_fp(struct jsp_memread *mem, const struct jsp_prologue_at *at, uintptr_t *fp);

#endif
