/* sigsafe/levels.c - see levels.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "levels.h"
#include "regs.h"
#include "unwind.h"

static void levels_add(struct jsp_levels *levels, uintptr_t low, uintptr_t high)
{
    levels->at[levels->n].low = low;
    levels->at[levels->n].high = high;
    levels->n++;
}

void jsp_levels_find(struct jsp_levels *levels, const jsprof_cstack *stack,
                     const stack_t *alt, uintptr_t sp)
{
    levels->n = 0;
    /* The alternate stack counts only for code that already ran on it when the signal
     * came. */
    if (sp - (uintptr_t)alt->ss_sp < alt->ss_size)
        levels_add(levels, (uintptr_t)alt->ss_sp, (uintptr_t)alt->ss_sp + alt->ss_size);
    for (; stack && levels->n < JSP_LEVELS_MAX; stack = stack->resumer)
        levels_add(levels, (uintptr_t)stack->low, (uintptr_t)stack->high);
}

/* Add the level to an address. `last` is 1 for a CFA, which may be one past the end of
 * its stack and is never its beginning. */
static uint64_t levels_key(const struct jsp_levels *levels, uint64_t address, uintptr_t last)
{
    uint32_t level = 0;
    while (level < levels->n && (address - last < levels->at[level].low ||
                                 address - last >= levels->at[level].high))
        level++;
    return address | (uint64_t)level << JSP_LEVELS_SHIFT;
}

/* Return the end of a frame that the walk could not leave. */
static uint64_t levels_end(const struct jsp_levels *levels, const struct jsp_record *record,
                           uint64_t begin)
{
    uint64_t level = begin >> JSP_LEVELS_SHIFT;
    if (record->stop != JSP_STOP_END)
        return begin;
    return level < levels->n ? (level + 1) << JSP_LEVELS_SHIFT : UINTPTR_MAX;
}

static void levels_apply_natives(const struct jsp_levels *levels,
                                 const struct jsp_record *record, uintptr_t sp)
{
    struct jsp_rec_native *native = jsp_record_natives(record);
    uint64_t begin = levels_key(levels, sp, 0);
    for (uint32_t i = 0; i < record->n_native; i++) {
        native[i].cfa = native[i].cfa == UINTPTR_MAX ? levels_end(levels, record, begin)
                                                     : levels_key(levels, native[i].cfa, 1);
        begin = native[i].cfa;
    }
}

void jsp_levels_apply(const struct jsp_levels *levels, struct jsp_record *record,
                      uintptr_t sp)
{
    uint32_t n = levels->n ? jsp_record_frames(record) : 0;
    for (uint32_t i = 0; i < n; i++)
        if (record->frames[i].sp) /* 0: no address */
            record->frames[i].sp = levels_key(levels, record->frames[i].sp, 0);
    levels_apply_natives(levels, record, sp);
}

/* Return true if the address is on a stack with known bounds. Elsewhere addresses have no
 * order. */
static bool levels_is_known(const struct jsp_levels *levels, uint64_t key,
                            struct jsp_levels_own own)
{
    uint64_t at = key & (((uint64_t)1 << JSP_LEVELS_SHIFT) - 1);
    return key >> JSP_LEVELS_SHIFT < levels->n || (at >= own.low && at < own.high);
}

uint32_t jsp_levels_check(const struct jsp_levels *levels, struct jsp_record *record,
                          uintptr_t sp, struct jsp_levels_own own)
{
    struct jsp_rec_frame *first = record->frames;
    uint64_t begin = levels_key(levels, sp, 0);
    uint64_t floor = levels_is_known(levels, begin, own) ? begin - JSP_RED_ZONE : 0;
    uint32_t n = 0;
    for (int run = 0; run < JSP_RUN_ARRAY; run++)
        first += record->n[run];
    for (uint32_t i = record->n[JSP_RUN_ARRAY]; i-- > 0;) {
        if (!first[i].sp || !levels_is_known(levels, first[i].sp, own))
            continue;
        if (first[i].sp < floor) {
            first[i].sp = 0;
            n++;
        } else {
            floor = first[i].sp;
        }
    }
    return n;
}
