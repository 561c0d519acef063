/* sigsafe/frame.h - the caller's registers for code without unwind rows, from its
 * instructions.
 *
 * Compiled code that keeps a frame pointer has not set it yet in its first instructions
 * and no longer has it in its last ones. Both are short sequences of simple instructions.
 * This module interprets the last ones up to the return. It undoes the first ones, from
 * the beginning of the code or from the pair that saves and sets the frame pointer. At
 * any other place the frame is complete, and the caller walks by the frame pointer.
 *
 *                       SIGPROF handler   any thread, for itself
 *   jsp_frame_leave           yes                  yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_FRAME_H
#define JSP_SIGSAFE_FRAME_H

#include "memread.h"
#include "regs.h"

/* The range of the code that at->pc is in: [start, end); both 0 if unknown. */
struct jsp_frame_code {
    uintptr_t start, end;
};

/* Store in *to the registers of the caller of the code that was interrupted at *at.
 * Return false if the frame seems to be complete. The caller checks that to->pc is
 * code. */
bool jsp_frame_leave(struct jsp_memread *mem, const struct jsp_frame_code *code,
                     const struct jsp_regs_core *at, struct jsp_regs_core *to);

#endif
