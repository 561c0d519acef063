/* sigsafe/resume.c - see resume.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "left.h"
#include "resume.h"

/* Return the number of its resumers, at most JSP_LEVELS_MAX. The thread's own stack has
 * none. */
static uint32_t resume_depth(const jsprof_cstack *stack)
{
    uint32_t depth = 0;
    for (; stack && depth < JSP_LEVELS_MAX; stack = stack->resumer)
        depth++;
    return depth;
}

static void resume_bounds(struct jsp_sampled *self, const jsprof_cstack *stack)
{
    struct jsp_memread *mem = &self->unwinder.mem;
    mem->low = stack ? (uintptr_t)stack->low : self->vm.stack_low;
    mem->high = stack ? (uintptr_t)stack->high : self->vm.stack_high;
    if (mem->high == UINTPTR_MAX) /* the thread's own bounds are unknown */
        mem->high = mem->low;
}

/* Return true if sp is on this stack. A host that calls us after the switch shows us the
 * wrong stack. */
static bool resume_is_on(const jsprof_cstack *stack, uintptr_t sp)
{
    return sp - (uintptr_t)stack->low < (uintptr_t)stack->high - (uintptr_t)stack->low;
}

static bool resume_has_stack(const struct jsp_sampled *self)
{
    static const stack_t none = { .ss_flags = SS_DISABLE };
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    return jsp_stack_left(self, &none, here, here) >= JSP_STACK_NEED;
}

static __attribute__((noinline)) bool resume_find(struct jsp_sampled *self,
                                                  const struct jsp_regs_core *here,
                                                  struct jsp_regs_core *at)
{
    /* ORDER: seq_cst, see B1 in backtrace.c: it decides whether the session's map may be
     * read. */
    if (!self->map || atomic_load_explicit(&self->closed, memory_order_seq_cst))
        return false;
    /* ORDER: acquire, as M1 in stack.c. The map stays while we are `busy`. */
    const struct jsp_unwind_map *map = atomic_load_explicit(self->map, memory_order_acquire);
    return jsp_unwind_caller(&self->unwinder, map, here, at);
}

/* The current stack resumes another one: remember where it waits. No handler reads this
 * before the switch. */
static void resume_keep(struct jsp_sampled *self, const jsprof_cstack *stack,
                        const struct jsp_regs_core *here)
{
    uint32_t depth = resume_depth(self->cstack);
    if (depth >= JSP_LEVELS_MAX)
        return;
    struct jsp_resumer *r = &self->resumers[depth];
    r->stack = self->cstack;
    r->known = false;
    if (!resume_is_on(stack, here->sp) && jsp_sampled_enter(self)) {
        bool has_stack = resume_has_stack(self);
        r->known = has_stack && resume_find(self, here, &r->at);
        if (!has_stack)
            /* samples will lack the frames outside of it */
            jsp_count(&self->vm.n_bad, 1);
        jsp_sampled_exit(self);
    }
}

void jsp_resume_switch(struct jsp_sampled *self, const jsprof_cstack *stack,
                       const struct jsp_regs_core *here)
{
    if (stack && stack->resumer == self->cstack)
        resume_keep(self, stack, here);
    jsp_sampled_pause(self, 1); /* a sample must not see half of the change */
    self->left_low = self->cstack ? (uintptr_t)self->cstack->low : 0;
    self->left_high = self->cstack ? (uintptr_t)self->cstack->high : 0;
    self->cstack = stack;
    resume_bounds(self, stack);
    jsp_sampled_pause(self, -1);
}

static const struct jsp_resumer *resume_of(const struct jsp_sampled *self,
                                           const jsprof_cstack *stack)
{
    uint32_t depth = resume_depth(stack->resumer);
    const struct jsp_resumer *r = depth < JSP_LEVELS_MAX ? &self->resumers[depth] : NULL;
    return r && r->known && r->stack == stack->resumer ? r : NULL;
}

enum jsp_unwind_stop jsp_resume_walk(struct jsp_sampled *self, const struct jsp_unwind_map *map,
                                     struct jsp_unwound *out, enum jsp_unwind_stop stop)
{
    const jsprof_cstack *stack = self->cstack;
    const struct jsp_resumer *r;
    enum jsp_unwind_stop last = stop;
    for (uint32_t i = 0; i < JSP_LEVELS_MAX && stack && last != JSP_STOP_FULL; i++) {
        if ((r = resume_of(self, stack)) == NULL)
            break;
        /* the whole stack is inside of its outermost frame */
        if (last == JSP_STOP_END && out->n)
            out->frames[out->n - 1].cfa = (uintptr_t)stack->high;
        resume_bounds(self, r->stack);
        last = jsp_unwind_on(&self->unwinder, map, &r->at, out);
        stop = stop == JSP_STOP_END ? last : stop;
        stack = r->stack;
    }
    resume_bounds(self, self->cstack);
    return stop;
}
