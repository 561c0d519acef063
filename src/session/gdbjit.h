/* session/gdbjit.h - announce registered code by gdb's JIT interface, which other debuggers read,
 * too. JSPROF_GDB_JIT asks for it.
 *
 * A debugger stops at __jit_debug_register_code, and reads the list of all announced code when it
 * attaches or opens a core file. Each entry is an object file in memory: a symbol for the code, and
 * the unwind rows as an .eh_frame. The list is the process's: if the program has one of its own,
 * the linker keeps that one.
 *
 * Any thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_GDBJIT_H
#define JSP_SESSION_GDBJIT_H

#include <stdint.h>

#include "jsprof.h"

struct jsp_gdbjit; /* one announced range */

/* Announce the code from start up to end. rows: NULL: it keeps a frame pointer. Return NULL if
 * there is no memory, or the machine is not known: the code is not announced then. */
struct jsp_gdbjit *jsp_gdbjit_add(uint64_t start, uint64_t end, const char *name,
                                  const jsprof_code_row *rows, uint32_t n_rows);
/* Withdraw it and free it. NULL is allowed. */
void jsp_gdbjit_remove(struct jsp_gdbjit *announced);

/* Return the name; it lives as long as the range is announced. */
const char *jsp_gdbjit_name(const struct jsp_gdbjit *announced);

#endif
