/* session/function.h - the functions of the host: what jsprof_function points to. Any
 * thread.
 *
 * Every function has an index below JSP_FUNCTION_IDS, which identifies it in tables of
 * calls. While a session counts (between hold and drop), no index is reused, and a
 * function that the host freed is kept, so that the tables can still name it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_FUNCTION_H
#define JSP_SESSION_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

struct jsprof_function;

enum {
    JSP_FUNCTION_IDS = 1 << 20,
    JSP_FUNCTION_OTHER = 0,   /* index of all functions for which no index was left */
    JSP_FUNCTION_OUTSIDE = 1, /* no function is open */
    JSP_FUNCTION_NONE = 2,    /* the host gave NULL */
    JSP_FUNCTION_FIRST = 3,   /* first index of the host's functions */
    JSP_FUNCTION_CELL = 64,   /* size of its row in a table of calls */
};

struct jsp_function_def {
    const char *name;
    const char *file; /* or NULL */
    uint32_t line;    /* or 0 */
    uint32_t kind;    /* enum jsprof_kind */
};

/* Make a function. Return 0, -EINVAL (an empty name) or -ENOMEM. */
int jsp_function_new(struct jsprof_function **out, const struct jsp_function_def *def);

/* Add a holder. */
void jsp_function_ref(struct jsprof_function *f);

/* Give up one hold, and free the function after the last. NULL does nothing. */
void jsp_function_free(struct jsprof_function *f);

/* Return true if the function has more than one holder. */
bool jsp_function_is_shared(const struct jsprof_function *f);

/* Return the function of an index, including the three fixed ones. Between hold and
 * drop. */
const struct jsprof_function *jsp_function_at(uint32_t index);

/* Keep all functions' memory, also that of freed ones, until jsp_function_drop. Calls may
 * nest. */
void jsp_function_hold(void);

/* End a hold. The last one frees the functions that were freed meanwhile. */
void jsp_function_drop(void);

/* Renew the lock in the child of a fork (see process.h), and drop the holds of the
 * parent's sessions. */
void jsp_function_in_child(void);

/* -- function_check.c: if a freed function is on a stack, write a line to stderr and abort. For
 * debug builds of hosts. It searches the calling thread's stacks, and those of the other
 * threads of its sessions, which run meanwhile: each word is read with care. */
void jsp_function_check(const struct jsprof_function *f);

#endif
