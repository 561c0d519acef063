/* sigsafe/regs.h - the interrupted registers, in one small file for each architecture.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_REGS_H
#define JSP_SIGSAFE_REGS_H

#if defined(__x86_64__)
#include "regs_x86_64.h"
#elif defined(__aarch64__)
#include "regs_aarch64.h"
#else
#error "jsprof knows x86-64 and aarch64"
#endif

#endif
