/* sigsafe/regs_x86_64.h - see regs.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_REGS_X86_64_H
#define JSP_SIGSAFE_REGS_X86_64_H

#include "room.h"

enum { JSP_RED_ZONE = 128 }; /* bytes below sp that a leaf function may use */

/* Return the stack pointer that the signal interrupted. */
static inline uintptr_t jsp_regs_sp(const void *ucontext)
{
    return (uintptr_t)((const ucontext_t *)ucontext)->uc_mcontext.gregs[REG_RSP];
}

/* DWARF's numbers of the registers that a walk follows. `extra` is one more register,
 * from which some frames are addressed: rbx, in the dynamic linker's lazy binding. */
enum {
    JSP_REG_EXTRA = 3,
    JSP_REG_FP = 6,
    JSP_REG_SP = 7,
    JSP_REG_RA = 16,
    JSP_N_REGS = 17,
};

/* The return address is always at CFA - 8. */
enum { JSP_RA_IN_EXTRA = 0, JSP_TRAMPOLINE_BYTES = 9 };

/* Offset from a signal trampoline's sp to the interrupted registers. */
enum { JSP_TRAMPOLINE_REGS = offsetof(ucontext_t, uc_mcontext.gregs) };

struct jsp_regs { /* as the kernel leaves them, in its order */
    uint64_t in_order[REG_RIP + 1];
};

struct jsp_regs_core {
    uintptr_t pc, sp, fp, extra;
};

/* Return the registers in the ucontext, borrowed. */
static inline const struct jsp_regs *jsp_regs_of(const void *ucontext)
{
    return (const void *)((const ucontext_t *)ucontext)->uc_mcontext.gregs;
}

/* Return a register by its DWARF number, which is below JSP_N_REGS. */
static inline uint64_t jsp_regs_get(const struct jsp_regs *regs, uint32_t reg)
{
    static const uint8_t place[JSP_N_REGS] = {
        REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
        REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
    };
    uint64_t value;
    memcpy(&value, &regs->in_order[place[reg]], sizeof value);
    return value;
}

/* Return the registers that a walk follows. */
static inline struct jsp_regs_core jsp_regs_core(const struct jsp_regs *regs)
{
    return (struct jsp_regs_core){
        jsp_regs_get(regs, JSP_REG_RA), jsp_regs_get(regs, JSP_REG_SP),
        jsp_regs_get(regs, JSP_REG_FP), jsp_regs_get(regs, JSP_REG_EXTRA),
    };
}

/* Return the current registers of the function that calls this. */
static inline __attribute__((always_inline)) struct jsp_regs_core jsp_regs_here(void)
{
    struct jsp_regs_core c;
    __asm__ volatile("leaq 0(%%rip), %0\n\tmovq %%rsp, %1\n\t"
                     "movq %%rbp, %2\n\tmovq %%rbx, %3"
                     : "=&r"(c.pc), "=m"(c.sp), "=m"(c.fp), "=m"(c.extra));
    return c;
}

/* Store the current registers of the function that calls this, without those that calls
 * change. */
static inline __attribute__((always_inline)) void jsp_regs_store(ucontext_t *to)
{
    __asm__ volatile("leaq 0(%%rip), %%rax\n\tmovq %%rax, %c1(%0)\n\t"
                     "movq %%rsp, %c2(%0)\n\tmovq %%rbp, %c3(%0)\n\t"
                     "movq %%rbx, %c4(%0)\n\tmovq %%r12, %c5(%0)\n\t"
                     "movq %%r13, %c6(%0)\n\tmovq %%r14, %c7(%0)\n\t"
                     "movq %%r15, %c8(%0)"
                     :
                     : "r"(to->uc_mcontext.gregs), "i"(8 * REG_RIP), "i"(8 * REG_RSP),
                       "i"(8 * REG_RBP), "i"(8 * REG_RBX), "i"(8 * REG_R12),
                       "i"(8 * REG_R13), "i"(8 * REG_R14), "i"(8 * REG_R15)
                     : "rax", "memory");
}

/* A signal handler returns to this code: mov $15, %rax; syscall. */
static inline bool jsp_regs_is_trampoline(const uint8_t code[JSP_TRAMPOLINE_BYTES])
{
    static const uint8_t is[] = { 0x48, 0xC7, 0xC0, 15, 0, 0, 0, 0x0F, 0x05 };
    return memcmp(code, is, sizeof is) == 0;
}

/* At ret, or at lea n(%r10), %rsp; ret, all preserved registers have the caller's values
 * again. For frames that gcc realigned, its rules still describe them as saved below the
 * frame pointer, which already has the caller's value. */
enum { JSP_LEAVING_BYTES = 5 };

/* Return true if the code is such a ret or lea. */
static inline bool jsp_regs_is_leaving(const uint8_t code[JSP_LEAVING_BYTES])
{
    return code[0] == 0xC3 || (code[0] == 0x49 && code[1] == 0x8D && code[2] == 0x62 &&
                               code[4] == 0xC3);
}

/* A system call that has returned: its result and the remaining arguments. */
struct jsp_regs_call {
    uint64_t result, first, second, third, fourth;
};

enum { JSP_CALL_BYTES = 7, JSP_CALL_ANY = -1 };

/* Return the result and the remaining arguments of the system call from which these registers
 * come. */
static inline struct jsp_regs_call jsp_regs_call(const struct jsp_regs *regs)
{
    return (struct jsp_regs_call){
        jsp_regs_get(regs, 0), jsp_regs_get(regs, 5), jsp_regs_get(regs, 4),
        jsp_regs_get(regs, 1), jsp_regs_get(regs, 10),
    };
}

/* The registers tell whether a system call has just returned. */
enum { JSP_REGS_TELL_CALLS = true };

/* Return true if a system call may have just returned. `syscall` leaves its return
 * address in rcx, and the result overwrites the number. */
static inline bool jsp_regs_may_follow(const struct jsp_regs *regs, int number)
{
    (void)number;
    return jsp_regs_get(regs, 2) == jsp_regs_get(regs, JSP_REG_RA);
}

/* Return true if the code before pc makes this system call. Often the previous
 * instruction is mov $number, %eax. */
static inline bool jsp_regs_follows(const uint8_t before[JSP_CALL_BYTES], int number)
{
    int32_t moved;
    memcpy(&moved, before + 1, sizeof moved);
    return before[5] == 0x0F && before[6] == 0x05 &&
           (number == JSP_CALL_ANY || before[0] != 0xB8 || moved == number);
}

/* Return the number of the system call before pc, or -1 if it is not in the instruction before
 * that: mov $number, %eax, or xor %eax, %eax. A prefix would make it another register's. */
enum { JSP_NUMBER_BYTES = JSP_CALL_BYTES + 1 };

/* Return the number of the system call that ends `before`, or -1 if it is not in sight. */
static inline int jsp_regs_number(const uint8_t before[JSP_NUMBER_BYTES])
{
    int32_t moved;
    memcpy(&moved, before + 2, sizeof moved);
    if (before[6] != 0x0F || before[7] != 0x05)
        return -1;
    if (before[1] == 0xB8 && before[0] >> 4 != 4)
        return moved;
    return before[4] == 0x31 && before[5] == 0xC0 && before[3] >> 4 != 4 ? 0 : -1;
}

/* Let the handler return to the system call before pc. */
static inline void jsp_regs_make_call(void *ucontext, int number)
{
    enum { CALL_BYTES = 2 };
    ucontext_t *u = ucontext;
    u->uc_mcontext.gregs[REG_RAX] = number;
    u->uc_mcontext.gregs[REG_RIP] -= CALL_BYTES;
}

/* Return addresses carry no signature here. */
static inline uintptr_t jsp_regs_strip(uintptr_t ra)
{
    return ra;
}

#endif
