/* session/function.h - making what jsprof_function points to. Any thread.
 *
 * Every function has an index below JSP_FUNCTION_IDS, by which tables of calls know it.
 * While a session counts (between hold and drop) no index is given to a second function,
 * and a function that the host freed is kept, so that the tables can still name it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_FUNCTION_H
#define JSP_SESSION_FUNCTION_H

#include <stdint.h>

struct jsprof_function;

enum {
    JSP_FUNCTION_IDS = 1 << 20,
    JSP_FUNCTION_OTHER = 0,   /* index of all that came when there were no more */
    JSP_FUNCTION_OUTSIDE = 1, /* no function is open */
    JSP_FUNCTION_NONE = 2,    /* the host gave NULL */
    JSP_FUNCTION_FIRST = 3,   /* of the host's */
    JSP_FUNCTION_CELL = 64,   /* bytes of its row in a table of calls */
};

struct jsp_function_def {
    const char *name;
    const char *file; /* or NULL */
    uint32_t line;    /* or 0 */
    uint32_t kind;    /* enum jsprof_kind */
};

/* -EINVAL: an empty name; -ENOMEM. */
int jsp_function_new(struct jsprof_function **out, const struct jsp_function_def *def);
void jsp_function_free(struct jsprof_function *f);

/* The function of an index, the three that are always there too. Between hold and drop. */
const struct jsprof_function *jsp_function_at(uint32_t index);

void jsp_function_hold(void);
void jsp_function_drop(void);

/* See process.h: the lock is new, and the parent's sessions hold nothing. */
void jsp_function_in_child(void);

#endif
