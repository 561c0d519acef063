/* session/call_names.h - the names of the system calls in which a thread may sleep.
 *
 * The numbers are those of the machine for which this is compiled. The writer puts the names
 * that it meets into the file, so that a reader needs no table of another machine.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_CALL_NAMES_H
#define JSP_SESSION_CALL_NAMES_H

#include <stdint.h>

/* Return the name of a system call, or NULL if it is not in the table. */
const char *jsp_call_name(uint32_t number);

#endif
