/* sigsafe/stack.c - one whole stack: VM frames, then the C stack, into the record. See
 * jsp_sampled_frames in sample.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "levels.h"
#include "resume.h"

/* Put one frame into a stack that has none, so that its time is credited to something. */
static void stack_empty(struct jsp_record *r, uint32_t id)
{
    r->frames[0] = (struct jsp_rec_frame){ .id = id };
    r->n[JSP_RUN_LINKS] = 1;
}

/* The walk that doubts the rows may be followed by one that uses them again. Both have enough
 * system calls if the walks before them took a quarter of those of a sample. */
enum { STACK_CALLS_TO_DOUBT = JSP_LIVE_CALLS_UNREAD / 4 * 3 };

/* A stack with more C frames than fit gives 1/4 of the room to the outermost ones. */
enum { STACK_ROOTS = 4 };

/* The start of a walk: the interrupted code, or the caller's own registers. */
struct stack_from {
    const void *ucontext;
    const struct jsp_regs_core *here; /* NULL: there is a ucontext */
};

static const struct jsp_unwind_map *stack_map(const struct jsp_sampled *self)
{
    /* M1. ORDER: acquire, pairs with the publishing of a map: its tables are whole. */
    return self->map ? atomic_load_explicit(self->map, memory_order_acquire) : NULL;
}

static enum jsp_unwind_stop stack_walk(struct jsp_sampled *self,
                                       const struct jsp_unwind_map *map,
                                       struct stack_from from, struct jsp_unwound *out)
{
    struct jsp_unwinder *u = &self->unwinder;
    out->n = out->cut = 0;
    enum jsp_unwind_stop stop = from.here ? jsp_unwind_from(u, map, from.here, out)
                                          : jsp_unwind(u, map, from.ucontext, out);
    return self->cstack ? jsp_resume_walk(self, map, out, stop) : stop;
}

/* Return true if the walk ended at a rule for an outermost frame. A return address of
 * zero proves nothing: a wrong rule may find one anywhere. */
static bool stack_is_whole(const struct jsp_sampled *self, enum jsp_unwind_stop stop)
{
    return stop == JSP_STOP_FULL ||
           (stop == JSP_STOP_END && jsp_how_kind(self->unwinder.last_how) == JSP_HOW_END);
}

/* Walk again by the loaded objects' own tables. A broken walk may have used the rows of
 * an object that was closed, with another object now in its place. */
static enum jsp_unwind_stop stack_doubt(struct jsp_sampled *self,
                                        const struct jsp_unwind_map *map,
                                        struct stack_from from, struct jsp_unwound *out)
{
    static const struct jsp_unwind_map none = { .generation = UINT64_MAX };
    enum jsp_unwind_stop stop = stack_walk(self, &none, from, out);
    return stack_is_whole(self, stop) ? stop : stack_walk(self, map, from, out);
}

static enum jsp_unwind_stop stack_walk_all(struct jsp_sampled *self,
                                           const struct jsp_unwind_map *map,
                                           struct stack_from from, struct jsp_unwound *out)
{
    struct jsp_unwinder *u = &self->unwinder;
    u->has_unmapped = false;
    enum jsp_unwind_stop stop = stack_walk(self, map, from, out);
    const struct jsp_unwind_map *now = stack_map(self);
    /* the drain has published a newer map meanwhile */
    if (now != map && !stack_is_whole(self, stop))
        stop = stack_walk(self, map = now, from, out);
    bool whole = stack_is_whole(self, stop);
    if (self->ask && u->has_unread) {
        u->has_unread = false;
        jsp_ask_rows(self->ask);
    }
    if (!self->ask || (whole && !u->has_unmapped))
        return stop;
    bool doubts = jsp_ask_look(self->ask) && u->live.find_sigsafe && !u->mem.probes &&
                  jsp_live_left(&u->live) >= STACK_CALLS_TO_DOUBT;
    return doubts && !whole ? stack_doubt(self, map, from, out) : stop;
}

/* How the walk ended, as it is counted. A thread's own stack ends at a rule that has no caller. A
 * return address of zero there is what a wrong rule read; another stack may well begin with one. */
static enum jsp_unwind_stop stack_ended(const struct jsp_sampled *self, uintptr_t sp,
                                        enum jsp_unwind_stop stop)
{
    uintptr_t low = self->vm.stack_low, high = self->vm.stack_high;
    bool is_own = !self->cstack && high != UINTPTR_MAX && sp - low < high - low;
    bool is_wrong = stop == JSP_STOP_END && is_own && !stack_is_whole(self, stop) &&
                    jsp_how_kind(self->unwinder.last_how) != JSP_HOW_NONE;
    return is_wrong ? JSP_STOP_STACK : stop;
}

static void stack_natives(struct jsp_sampled *self, const struct jsp_where *where,
                          const struct jsp_regs_core *here)
{
    uint32_t max = self->vm.max_depth;
    struct jsp_unwound out = { .frames = jsp_record_natives(self->record), .max = max,
                               .roots = max / STACK_ROOTS };
    const struct jsp_unwind_map *map = stack_map(self);
    self->record->n_native = 0;
    if (!map)
        return;
    self->unwinder.callers = self->vm.walked;
    self->unwinder.n_callers = where->is_paused ? 0 : self->vm.n_callers;
    struct stack_from from = { where->ucontext, here };
    jsp_live_limit(&self->unwinder.live);
    enum jsp_unwind_stop stop = stack_walk_all(self, map, from, &out);
    jsp_live_unlimit(&self->unwinder.live);
    stop = stack_ended(self, where->sp, stop);
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
    bool known = self->vm.stack_high != UINTPTR_MAX;
    struct jsp_levels_own own = { self->vm.stack_low, known ? self->vm.stack_high : 0 };
    uint32_t n_bad = jsp_levels_check(&levels, r, where->sp, own);
    if (n_bad)
        jsp_count(&self->vm.n_bad, n_bad);
    /* no cut either: a cut leaves a mark frame */
    if (!r->n_native && !jsp_record_frames(r))
        stack_empty(r, self->empty_id);
}
