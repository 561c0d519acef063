/* sigsafe/levels.h - one order for addresses on several C stacks.
 *
 * Within one stack the higher address is further out; the addresses of two stacks have no
 * such order. So each address gets the number of its stack above its 48 bits: 0 for the
 * stack that the thread runs on, 1 for its resumer's, and so on. An alternate signal
 * stack counts as a coroutine that the interrupted code resumed.
 *
 * The SIGPROF handler and the owner thread may call these.
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
    /* innermost first; an address in none of them is on the thread's own stack */
    } at[JSP_LEVELS_MAX];
    uint32_t n;
};

/* Collect the stacks that were resumed from the thread's own: `stack` and its resumers,
 * and the alternate stack if `sp` is on it. */
void jsp_levels_find(struct jsp_levels *levels, const jsprof_cstack *stack,
                     const stack_t *alt, uintptr_t sp);

/* Mark all addresses of the record, whose innermost frame begins at `sp`. The last native
 * frame has no known end. Let it contain the rest of its stack if the walk reached the
 * outermost frame; if the walk gave up, let everything further out on that stack lie
 * outside. */
void jsp_levels_apply(const struct jsp_levels *levels, struct jsp_record *record,
                      uintptr_t sp);

/* Find entries of the host's array whose frames are gone or whose addresses are wrong: an
 * address below `sp`, or below that of an entry further in, on the same stack. Remove
 * these addresses; the entries keep their order among the others. `own` is the known part
 * of the thread's stack. Return the number of such entries. Call this after
 * jsp_levels_apply. */
struct jsp_levels_own {
    uintptr_t low, high;
};
uint32_t jsp_levels_check(const struct jsp_levels *levels, struct jsp_record *record,
                          uintptr_t sp, struct jsp_levels_own own);

#endif
