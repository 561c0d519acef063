/* sigsafe/levels.c - see levels.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "levels.h"
#include "regs.h"

static void levels_add(struct jsp_levels *levels, uintptr_t low, uintptr_t high)
{
    levels->at[levels->n].low = low;
    levels->at[levels->n].high = high;
    levels->n++;
}

void jsp_levels_find(struct jsp_levels *levels, const jsprof_cstack *stack,
                     const void *ucontext)
{
    const stack_t *alt = ucontext ? &((const ucontext_t *)ucontext)->uc_stack : NULL;
    uintptr_t sp = ucontext ? jsp_regs_sp(ucontext) : 0;
    levels->n = 0;
    /* Only code that was already on the alternate stack when we came counts. */
    if (alt && sp - (uintptr_t)alt->ss_sp < alt->ss_size)
        levels_add(levels, (uintptr_t)alt->ss_sp, (uintptr_t)alt->ss_sp + alt->ss_size);
    for (; stack && levels->n < JSP_LEVELS_MAX; stack = stack->resumer)
        levels_add(levels, (uintptr_t)stack->low, (uintptr_t)stack->high);
}

static uint64_t levels_key(const struct jsp_levels *levels, uint64_t address, uintptr_t last)
{
    uint32_t level = 0;
    while (level < levels->n && (address < levels->at[level].low ||
                                 address - last >= levels->at[level].high))
        level++;
    return address | (uint64_t)level << JSP_LEVELS_SHIFT;
}

void jsp_levels_apply(const struct jsp_levels *levels, struct jsp_record *record)
{
    struct jsp_rec_native *native = jsp_record_natives(record);
    uint32_t n = jsp_record_frames(record);
    if (!levels->n)
        return;
    for (uint32_t i = 0; i < n; i++)
        if (record->frames[i].sp > 1) /* 0 and 1 are no addresses */
            record->frames[i].sp = levels_key(levels, record->frames[i].sp, 0);
    for (uint32_t i = 0; i < record->n_native; i++)
        if (native[i].cfa != UINTPTR_MAX) /* a CFA may be one past the end of its stack */
            native[i].cfa = levels_key(levels, native[i].cfa, 1);
}
