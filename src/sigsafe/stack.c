/* sigsafe/stack.c - one whole stack: VM frames, then the C stack, into the record.
 * See jsp_sampled_frames in sample.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "levels.h"
#include "resume.h"

/* A frame of ours, right inside the innermost of the last run that has any. Where
 * leaves were cut that is where they would be: what is credited with their time is no
 * function that we know. */
static void stack_append(struct jsp_record *r, uint32_t id)
{
    uint32_t n = jsp_record_frames(r);
    int run = JSP_RUN_WALKER;
    while (run > 0 && !r->n[run])
        run--;
    r->frames[n] = (struct jsp_rec_frame){ .id = id }; /* its address: the one before */
    r->n[run]++;
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
    if (r->cut)
        stack_append(r, self->cut_id);
    stack_natives(self, where, here);
    struct jsp_levels levels;
    jsp_levels_find(&levels, self->cstack, where->alt, where->sp);
    jsp_levels_apply(&levels, r, where->sp);
    if (!r->n_native && !jsp_record_frames(r)) /* not cut: that has left its mark */
        stack_append(r, self->empty_id);
}
