/* sigsafe/insn.h - what one machine instruction does to the stack frame.
 *
 * Only the instructions that prologues and epilogues are made of; of any other one
 * nothing is known. The reading of them is in one file for each machine.
 *
 * Pure functions; any thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_INSN_H
#define JSP_SIGSAFE_INSN_H

#include "room.h"

/* In this order: sp = fp, if from_fp; sp += before; the loads, from sp; sp += after. */
struct jsp_insn {
    uint8_t length;             /* in bytes */
    bool builds;                /* only prologues have it */
    bool saves_fp, sets_fp;     /* stores the caller's; makes it point to this frame */
    bool from_fp;
    bool loads_fp, loads_extra; /* see regs_*.h for the extra register */
    bool returns, jumps;        /* the last one of a function, or maybe */
    int32_t before, after;
    int32_t fp_at, extra_at;    /* of the loads */
};

/* The one that begins at `code`, of which n bytes can be read. False: none of ours.
 *
 * static bool jsp_insn_read(const uint8_t *code, size_t n, struct jsp_insn *insn);
 * static bool jsp_insn_is_call(const uint8_t before[JSP_INSN_CALL_BYTES]);
 * static bool jsp_insn_in_stub(const uint8_t *code, size_t n, size_t at, int32_t *by);
 *
 * The second: do the bytes in front of a return address call? The third: is the one at
 * `at` inside of a stub that a linker made, which jumps on to what was called? It has
 * moved the stack pointer so far. */
#if defined(__x86_64__)
#include "insn_x86_64.h"
#elif defined(__aarch64__)
#include "insn_aarch64.h"
#endif

#endif
