/* sigsafe/stack.c - one whole stack: VM frames, then the C stack, into the record.
 * See jsp_sampled_frames in sample.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "levels.h"
#include "sample.h"

/* A frame of ours in a run of its own. */
static void stack_append(struct jsp_record *r, uint32_t id, uint64_t sp)
{
    r->frames[jsp_record_frames(r)] = (struct jsp_rec_frame){ .id = id, .sp = sp };
    r->n[JSP_RUN_WALKER]++;
}

/* Leaves were cut: what is credited with their time is no function that we know. The
 * mark stands where they would, right inside the innermost frame that was kept. */
static void stack_mark_cut(struct jsp_record *r, uint32_t id)
{
    uint32_t n = jsp_record_frames(r);
    uint64_t sp = n ? r->frames[n - 1].sp : 0;
    stack_append(r, id, sp ? sp : 1);
}

static void stack_natives(struct jsp_sampled *self, const struct jsp_where *where,
                          const struct jsp_regs_core *here)
{
    struct jsp_unwound out = { jsp_record_natives(self->record), self->vm.max_depth, 0 };
    /* M1. ORDER: acquire, pairs with the publishing of a map: its tables are whole. */
    const struct jsp_unwind_map *map =
        self->map ? atomic_load_explicit(self->map, memory_order_acquire) : NULL; /* ORDER: M1 */
    if (map && here)
        self->record->stop = (uint16_t)jsp_unwind_from(&self->unwinder, map, here, &out);
    else if (map)
        self->record->stop = (uint16_t)jsp_unwind(&self->unwinder, map, where->ucontext, &out);
    self->record->n_native = (uint16_t)out.n;
}

void jsp_sampled_frames(struct jsp_sampled *self, const struct jsp_where *where,
                        const struct jsp_regs_core *here)
{
    struct jsp_record *r = self->record;
    jsp_vmstack_read(&self->vm, &self->names, where, r);
    if (r->cut)
        stack_mark_cut(r, self->cut_id);
    stack_natives(self, where, here);
    struct jsp_levels levels;
    jsp_levels_find(&levels, self->cstack, where->ucontext);
    jsp_levels_apply(&levels, r);
    if (!r->n_native && !jsp_record_frames(r)) /* not cut: that has left its mark */
        stack_append(r, self->empty_id, 0);
}
