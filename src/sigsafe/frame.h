/* sigsafe/frame.h - the frame of interrupted code that has no unwind rows, from its
 * instructions.
 *
 * Compiled code that keeps a frame pointer has none yet in its first instructions, and
 * none any more in its last. Both are straight lines of a few simple instructions: the
 * last ones are run in thought, up to the return; the first ones are undone, from where
 * the code begins, or from a pair that saves and sets the frame pointer. Anywhere else
 * the frame stands.
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

/* Where the code lies that at->pc is in: its first byte and one past its last; both 0
 * where nobody knows. */
struct jsp_frame_code {
    uintptr_t start, end;
};

/* The registers of the caller of what was interrupted at *at. False: its frame stands, as
 * far as can be seen. Whether to->pc is code is for the caller to see. */
bool jsp_frame_leave(struct jsp_memread *mem, const struct jsp_frame_code *code,
                     const struct jsp_regs_core *at, struct jsp_regs_core *to);

#endif
