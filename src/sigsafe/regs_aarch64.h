/* sigsafe/regs_aarch64.h - see regs.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_REGS_AARCH64_H
#define JSP_SIGSAFE_REGS_AARCH64_H

#include "room.h"

enum { JSP_RED_ZONE = 0 };

static inline uintptr_t jsp_regs_sp(const void *ucontext)
{
    return (uintptr_t)((const ucontext_t *)ucontext)->uc_mcontext.sp;
}

#endif
