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

/* Entries of the host's array whose frames are gone, or never were where they say: an address
 * below `sp`, or below that of an entry further in, on the same stack. They lose it, and keep
 * their place among the others. `own`: the thread's stack, as far as it is known. Returns how
 * many; after jsp_levels_apply. */
struct jsp_levels_own {
    uintptr_t low, high;
};
uint32_t jsp_levels_check(const struct jsp_levels *levels, struct jsp_record *record,
                          uintptr_t sp, struct jsp_levels_own own);

#endif
