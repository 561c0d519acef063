/* sigsafe/insn.h - the effect of one machine instruction on the stack frame.
 *
 * The reader knows only the instructions that occur in prologues and epilogues and
 * refuses all others. Each architecture has its own file.
 *
 * Pure functions; any thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_INSN_H
#define JSP_SIGSAFE_INSN_H

#include "room.h"

/* The effects happen in this order: sp = fp, if from_fp; sp += before; the loads, from
 * sp; sp += after. */
struct jsp_insn {
    uint8_t length;             /* in bytes */
    bool builds;                /* only prologues contain it */
    bool saves_fp, sets_fp;     /* saves the caller's fp; makes fp point to this frame */
    bool from_fp;
    bool loads_fp, loads_extra; /* see regs_*.h for the extra register */
    bool returns, jumps;        /* returns, or may jump out of the function */
    int32_t before, after;
    int32_t fp_at, extra_at;    /* offsets of the loads */
};

/* Read the instruction that begins at `code`, of which n bytes can be read. Return false
 * if it is none of those known here.
 *
 * static bool jsp_insn_read(const uint8_t *code, size_t n, struct jsp_insn *insn);
 *
 * Return true if the bytes before a return address are a call.
 *
 * static bool jsp_insn_is_call(const uint8_t before[JSP_INSN_CALL_BYTES]);
 *
 * Return true if the instruction at `at` is inside a stub that a linker made, which jumps
 * on to the called function. Set *by to how far the stub has moved the stack pointer so
 * far.
 *
 * static bool jsp_insn_in_stub(const uint8_t *code, size_t n, size_t at, int32_t *by); */
#if defined(__x86_64__)
#include "insn_x86_64.h"
#elif defined(__aarch64__)
#include "insn_aarch64.h"
#endif

#endif
