/* session/function.h - making what jsprof_function points to. Any thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_FUNCTION_H
#define JSP_SESSION_FUNCTION_H

#include <stdint.h>

struct jsprof_function;

struct jsp_function_def {
    const char *name;
    const char *file; /* or NULL */
    uint32_t line;    /* or 0 */
    uint32_t kind;    /* enum jsprof_kind */
};

/* -EINVAL: an empty name; -ENOMEM. */
int jsp_function_new(struct jsprof_function **out, const struct jsp_function_def *def);
void jsp_function_free(struct jsprof_function *f);

#endif
