/* sigsafe/left.c - see left.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "left.h"

/* Return true for an address on a stack. The high end counts: it is sp before the first
 * push. */
static inline bool left_is_in(uintptr_t at, uintptr_t low, uintptr_t high)
{
    return at - low <= high - low;
}

ptrdiff_t jsp_stack_left(const struct jsp_sampled *self, const stack_t *alt, uintptr_t sp,
                         uintptr_t here)
{
    uintptr_t low = (uintptr_t)alt->ss_sp;
    if (!(alt->ss_flags & SS_DISABLE) && here - low < alt->ss_size)
        return (ptrdiff_t)(here - low);
    const jsprof_cstack *stack = self->cstack;
    for (uint32_t i = 0; stack && i < JSP_LEVELS_MAX; i++, stack = stack->resumer)
        if (left_is_in(sp, (uintptr_t)stack->low, (uintptr_t)stack->high))
            return (ptrdiff_t)(here - (uintptr_t)stack->low);
    /* Between the report of a switch and the switch itself the old stack is still in
     * use. */
    if (left_is_in(sp, self->left_low, self->left_high))
        return (ptrdiff_t)(here - self->left_low);
    if (self->vm.stack_end && left_is_in(sp, self->vm.stack_end, self->vm.stack_high))
        return (ptrdiff_t)(here - self->vm.stack_end);
    return PTRDIFF_MAX;
}
