/* session/function_check.h - a check that a freed function is on no stack.
 *
 * For debug builds of hosts. It searches the calling thread's stacks, and those of the
 * other threads of its sessions, which run meanwhile: each word is read with care.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_FUNCTION_CHECK_H
#define JSP_SESSION_FUNCTION_CHECK_H

struct jsprof_function;

/* If the function is on a stack, write a line to stderr and abort. */
void jsp_function_check(const struct jsprof_function *f);

#endif
