/* sigsafe/regs_x86_64.h - see regs.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_REGS_X86_64_H
#define JSP_SIGSAFE_REGS_X86_64_H

#include "room.h"

enum { JSP_RED_ZONE = 128 }; /* bytes below sp that a leaf function may use */

static inline uintptr_t jsp_regs_sp(const void *ucontext)
{
    return (uintptr_t)((const ucontext_t *)ucontext)->uc_mcontext.gregs[REG_RSP];
}

#endif
