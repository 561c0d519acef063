/* session/function_check.h - is a function that the host gives back still on a stack?
 *
 * For debug builds of hosts. The calling thread's stacks are looked through, and those of
 * the other threads of its sessions, which run meanwhile: each word is read with care.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_FUNCTION_CHECK_H
#define JSP_SESSION_FUNCTION_CHECK_H

struct jsprof_function;

/* End the process, with a line on stderr, if it is. */
void jsp_function_check(const struct jsprof_function *f);

#endif
