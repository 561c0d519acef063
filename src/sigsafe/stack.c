/* sigsafe/stack.c - one whole stack: VM frames, then the C stack, into the record.
 * See jsp_sampled_frames in sample.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "levels.h"
#include "resume.h"

/* What is credited with the time of a stack without any frame. */
static void stack_empty(struct jsp_record *r, uint32_t id)
{
    r->frames[0] = (struct jsp_rec_frame){ .id = id };
    r->n[JSP_RUN_LINKS] = 1;
}

enum { STACK_ROOTS = 4 }; /* of a stack with more C frames than there is room for, so much
                           * of the room goes to the outermost: one in so many */

static void stack_natives(struct jsp_sampled *self, const struct jsp_where *where,
                          const struct jsp_regs_core *here)
{
    uint32_t max = self->vm.max_depth;
    struct jsp_unwound out = { .frames = jsp_record_natives(self->record), .max = max,
                               .roots = max / STACK_ROOTS };
    /* M1. ORDER: acquire, pairs with the publishing of a map: its tables are whole. */
    const struct jsp_unwind_map *map =
        self->map ? atomic_load_explicit(self->map, memory_order_acquire) : NULL; /* ORDER: M1 */
    self->record->n_native = 0;
    if (!map)
        return;
    self->unwinder.callers = self->vm.walked;
    self->unwinder.n_callers = where->is_paused ? 0 : self->vm.n_callers;
    enum jsp_unwind_stop stop = here ? jsp_unwind_from(&self->unwinder, map, here, &out)
                                     : jsp_unwind(&self->unwinder, map, where->ucontext, &out);
    if (self->cstack)
        stop = jsp_resume_walk(self, map, &out, stop);
    jsp_unwind_count(&self->unwinder, stop);
    self->record->stop = (uint16_t)stop;
    self->record->n_native = (uint16_t)out.n;
    self->record->cut_native = self->cut_native_id;
    jsp_record_cut(self->record, out.cut);
    jsp_count(&self->vm.n_cut, out.cut);
}

void jsp_sampled_frames(struct jsp_sampled *self, const struct jsp_where *where,
                        const struct jsp_regs_core *here)
{
    struct jsp_record *r = self->record;
    if (where->is_paused)
        *r = (struct jsp_record){ .weight = r->weight };
    else
        jsp_vmstack_read(&self->vm, &self->names, where, r);
    stack_natives(self, where, here);
    struct jsp_levels levels;
    jsp_levels_find(&levels, self->cstack, where->alt, where->sp);
    jsp_levels_apply(&levels, r, where->sp);
    if (!r->n_native && !jsp_record_frames(r)) /* not cut: that has left its mark */
        stack_empty(r, self->empty_id);
}
