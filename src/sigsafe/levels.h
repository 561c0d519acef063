/* sigsafe/levels.h - one order for addresses on several C stacks.
 *
 * Within a stack the higher address is further out; between stacks memory says
 * nothing. Each address gets the number of its stack above its 48 bits: 0 for the
 * one the thread stands on, 1 for its resumer's, and so on. A signal that runs on an
 * alternate stack is like a coroutine that the interrupted code resumed.
 *
 * SIGPROF handler and owner thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_LEVELS_H
#define JSP_SIGSAFE_LEVELS_H

#include "record.h"

enum { JSP_LEVELS_MAX = 16, JSP_LEVELS_SHIFT = 48 };

struct jsp_levels {
    struct {
        uintptr_t low, high;
    } at[JSP_LEVELS_MAX]; /* innermost first; what lies in none is the thread's own */
    uint32_t n;
};

/* The stacks that were resumed from the thread's own: `stack` and its resumers, and the
 * alternate one if `sp` is on it. */
void jsp_levels_find(struct jsp_levels *levels, const jsprof_cstack *stack,
                     const stack_t *alt, uintptr_t sp);

/* Mark all addresses of the record, whose innermost frame begins at `sp`. Where the
 * native walk ended, it tells for the last frame what is outside of it: other stacks;
 * and, where the walk had to give up, all that is further out on the same one. */
void jsp_levels_apply(const struct jsp_levels *levels, struct jsp_record *record,
                      uintptr_t sp);

#endif
