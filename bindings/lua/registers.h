/* registers.h - the interrupted registers in which a compiler keeps what lives long.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_REGISTERS_H
#define JSPROF_LUA_REGISTERS_H

#include <stdint.h>
#include <ucontext.h>

enum { JSP_LUA_REGISTERS = 12 };

#if defined(__x86_64__)
static inline uint32_t jsp_lua_registers(const void *ucontext, uintptr_t *out)
{
    static const int kept[] = { REG_RBX, REG_RBP, REG_R12, REG_R13, REG_R14, REG_R15,
                                REG_R8, REG_R9, REG_R10, REG_R11, REG_RSI, REG_RDI };
    const ucontext_t *context = ucontext;
    for (int i = 0; i < JSP_LUA_REGISTERS; i++)
        out[i] = (uintptr_t)context->uc_mcontext.gregs[kept[i]];
    return JSP_LUA_REGISTERS;
}
static inline uintptr_t jsp_lua_stack_pointer(const void *ucontext)
{
    return (uintptr_t)((const ucontext_t *)ucontext)->uc_mcontext.gregs[REG_RSP];
}
static inline uintptr_t jsp_lua_instruction(const void *ucontext)
{
    return (uintptr_t)((const ucontext_t *)ucontext)->uc_mcontext.gregs[REG_RIP];
}
/* Make the context of a thread of which no other registers are known. */
static inline void jsp_lua_registers_asleep(ucontext_t *here, uintptr_t pc, uintptr_t sp)
{
    here->uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
    here->uc_mcontext.gregs[REG_RSP] = (greg_t)sp;
}
#elif defined(__aarch64__)
static inline void jsp_lua_registers_asleep(ucontext_t *here, uintptr_t pc, uintptr_t sp)
{
    here->uc_mcontext.pc = pc;
    here->uc_mcontext.sp = sp;
}
static inline uintptr_t jsp_lua_stack_pointer(const void *ucontext)
{
    return (uintptr_t)((const ucontext_t *)ucontext)->uc_mcontext.sp;
}
static inline uintptr_t jsp_lua_instruction(const void *ucontext)
{
    return (uintptr_t)((const ucontext_t *)ucontext)->uc_mcontext.pc;
}
static inline uint32_t jsp_lua_registers(const void *ucontext, uintptr_t *out)
{
    const ucontext_t *context = ucontext;
    for (int i = 0; i < 10; i++)
        out[i] = (uintptr_t)context->uc_mcontext.regs[19 + i];
    return 10;
}
#else
static inline uintptr_t jsp_lua_stack_pointer(const void *ucontext)
{
    return (uintptr_t)ucontext;
}
static inline void jsp_lua_registers_asleep(ucontext_t *here, uintptr_t pc, uintptr_t sp)
{
    (void)here, (void)pc, (void)sp;
}
/* 0: not known */
static inline uintptr_t jsp_lua_instruction(const void *ucontext)
{
    (void)ucontext;
    return 0;
}
static inline uint32_t jsp_lua_registers(const void *ucontext, uintptr_t *out)
{
    (void)ucontext, (void)out;
    return 0;
}
#endif

#endif
