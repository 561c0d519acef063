/* sigsafe/regs_aarch64.h - see regs.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_REGS_AARCH64_H
#define JSP_SIGSAFE_REGS_AARCH64_H

#include "room.h"

enum { JSP_RED_ZONE = 0 };

/* Return the stack pointer that the signal interrupted. */
static inline uintptr_t jsp_regs_sp(const void *ucontext)
{
    return (uintptr_t)((const ucontext_t *)ucontext)->uc_mcontext.sp;
}

/* DWARF's numbers of the registers that a walk follows. `extra` is the link register. */
enum { JSP_REG_EXTRA = 30, JSP_REG_FP = 29, JSP_REG_SP = 31, JSP_REG_RA = 30, JSP_N_REGS = 32 };

/* The caller's pc is the value of the link register on entry. */
enum { JSP_RA_IN_EXTRA = 1, JSP_TRAMPOLINE_BYTES = 8 };

/* Offset from a signal trampoline's sp to the interrupted registers. The kernel stores a
 * siginfo_t first. */
enum { JSP_TRAMPOLINE_REGS = sizeof(siginfo_t) + offsetof(ucontext_t, uc_mcontext.regs) };

struct jsp_regs { /* as the kernel leaves them: x0 to x30, sp, pc */
    uint64_t in_order[33];
};

struct jsp_regs_core {
    uintptr_t pc, sp, fp, extra;
};

/* Return the registers in the ucontext, borrowed. */
static inline const struct jsp_regs *jsp_regs_of(const void *ucontext)
{
    return (const void *)((const ucontext_t *)ucontext)->uc_mcontext.regs;
}

/* Return a register by its DWARF number, which is below JSP_N_REGS. */
static inline uint64_t jsp_regs_get(const struct jsp_regs *regs, uint32_t reg)
{
    uint64_t value;
    memcpy(&value, &regs->in_order[reg], sizeof value);
    return value;
}

/* Return the registers that a walk follows. */
static inline struct jsp_regs_core jsp_regs_core(const struct jsp_regs *regs)
{
    return (struct jsp_regs_core){
        jsp_regs_get(regs, 32), jsp_regs_get(regs, JSP_REG_SP),
        jsp_regs_get(regs, JSP_REG_FP), jsp_regs_get(regs, JSP_REG_EXTRA),
    };
}

/* Return the current registers of the function that calls this. */
static inline __attribute__((always_inline)) struct jsp_regs_core jsp_regs_here(void)
{
    struct jsp_regs_core c;
    __asm__ volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29\n\tmov %3, x30"
                     : "=&r"(c.pc), "=&r"(c.sp), "=&r"(c.fp), "=&r"(c.extra));
    return c;
}

/* Store the current registers of the function that calls this, without those that calls
 * change. */
static inline __attribute__((always_inline)) void jsp_regs_store(ucontext_t *to)
{
    struct jsp_regs_core core;
    uint64_t *x = (uint64_t *)to->uc_mcontext.regs;
    __asm__ volatile("adr %0, .\n\tmov %1, sp\n\tstp x19, x20, [%2, #152]\n\t"
                     "stp x21, x22, [%2, #168]\n\tstp x23, x24, [%2, #184]\n\t"
                     "stp x25, x26, [%2, #200]\n\tstp x27, x28, [%2, #216]\n\t"
                     "stp x29, x30, [%2, #232]"
                     : "=&r"(core.pc), "=&r"(core.sp) : "r"(x) : "memory");
    to->uc_mcontext.sp = core.sp;
    to->uc_mcontext.pc = core.pc;
}

/* A signal handler returns to this code: mov x8, #139; svc #0. */
static inline bool jsp_regs_is_trampoline(const uint8_t code[JSP_TRAMPOLINE_BYTES])
{
    static const uint8_t is[] = { 0x68, 0x11, 0x80, 0xD2, 0x01, 0x00, 0x00, 0xD4 };
    return memcmp(code, is, sizeof is) == 0;
}

/* On this machine the compilers' rules are right up to the last instruction. */
enum { JSP_LEAVING_BYTES = 4 };

/* Return false: the compilers' rules hold at each instruction. */
static inline bool jsp_regs_is_leaving(const uint8_t code[JSP_LEAVING_BYTES])
{
    (void)code;
    return false;
}

/* A system call that has returned: its result and the remaining arguments. The result
 * overwrote the first argument, so `first` is 0. */
struct jsp_regs_call {
    uint64_t result, first, second, third, fourth;
};

enum { JSP_CALL_BYTES = 4, JSP_CALL_ANY = -1 };

/* Return the result and the remaining arguments of the system call from which these registers
 * come. `first` is 0. */
static inline struct jsp_regs_call jsp_regs_call(const struct jsp_regs *regs)
{
    return (struct jsp_regs_call){
        jsp_regs_get(regs, 0), 0, jsp_regs_get(regs, 1), jsp_regs_get(regs, 2),
        jsp_regs_get(regs, 3),
    };
}

/* Only the code before pc tells whether a system call has just returned. */
enum { JSP_REGS_TELL_CALLS = false };

/* Return true if this system call may have just returned. Its number remains in x8. */
static inline bool jsp_regs_may_follow(const struct jsp_regs *regs, int number)
{
    return number == JSP_CALL_ANY || jsp_regs_get(regs, 8) == (uint64_t)number;
}

/* Return true if the code before pc makes a system call: svc #0. */
static inline bool jsp_regs_follows(const uint8_t before[JSP_CALL_BYTES], int number)
{
    static const uint8_t is[] = { 0x01, 0x00, 0x00, 0xD4 };
    (void)number;
    return memcmp(before, is, sizeof is) == 0;
}

/* The first argument is lost, so no call can be made again. */
enum { JSP_NUMBER_BYTES = JSP_CALL_BYTES };

/* Return -1: no call can be made again. */
static inline int jsp_regs_number(const uint8_t before[JSP_NUMBER_BYTES])
{
    (void)before;
    return -1;
}

/* Do nothing: no call can be made again. */
static inline void jsp_regs_make_call(void *ucontext, int number)
{
    (void)ucontext, (void)number;
}

/* Signed return addresses (PAC) carry their signature above the 48 address bits; code
 * is never mapped above them. */
static inline uintptr_t jsp_regs_strip(uintptr_t ra)
{
    return ra & (((uintptr_t)1 << 48) - 1);
}

#endif
