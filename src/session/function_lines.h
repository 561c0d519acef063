/* session/function_lines.h - from a function's program counter to its line.
 *
 * A host that stores only the pc of a frame gives each function its rows once, and the drain
 * looks the line up. The drain knows a function by its shown name, so the newest rows of a
 * name count, and functions of one name with equal rows share them. A host may free a function
 * before the drain has read its last samples: the rows of freed functions stay until they
 * exceed JSP_FUNCTION_LINES_FREED bytes.
 *
 * The process has one table, with a lock of its own, inside which nothing else is called. Any
 * thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_FUNCTION_LINES_H
#define JSP_SESSION_FUNCTION_LINES_H

#include <stdbool.h>

#include <jsprof.h>

/* Rows of one name. The fields are function_lines.c's own; debuggers read name and rows. */
struct jsp_function_lines {
    struct jsp_function_lines *_Atomic next; /* in its bucket */
    struct jsp_function_lines *later;        /* in the queue of freed ones */
    uint32_t holders;                        /* functions; 0: all were freed */
    bool is_queued;
    uint32_t name_len, n;
    char *name;              /* in the same memory, like the rows */
    jsprof_code_line rows[]; /* ascending */
};

enum { JSP_FUNCTION_LINES_FREED = 1 << 20 };

/* Replace the rows that `f` holds by these n rows; 0: by none. Return 0, -EINVAL (offsets do
 * not ascend) or -ENOMEM. */
int jsp_function_lines_set(struct jsprof_function *f, const jsprof_code_line *rows, uint32_t n);

/* Give up what `f` holds, because the host frees it. */
void jsp_function_lines_drop(struct jsprof_function *f);

/* Return the line at this pc of the function with this name, or 0. */
uint32_t jsp_function_line(const char *name, uint32_t len, uint64_t pc);

/* Renew the lock in the child of a fork. The fork may have copied any moment: rows that were
 * about to be freed stay. */
void jsp_function_lines_in_child(void);

#endif
