/* sigsafe/unwind.c - see unwind.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "unwind.h"
#include "unwind_step.h"

enum { UNWIND_CROSSINGS = 16 }; /* signals that interrupted each other */

void jsp_unwinder_init(struct jsp_unwinder *u, uintptr_t low, uintptr_t high, pid_t pid)
{
    memset(u, 0, offsetof(struct jsp_unwinder, cache));
    u->generation = UINT64_MAX - 1; /* of no map: the first walk clears the cache */
    jsp_memread_init(&u->mem, low, high, pid);
    jsp_live_init(&u->live, NULL);
}

static void unwind_forget(struct jsp_unwinder *u)
{
    memset(u->cache, 0, sizeof u->cache);
    jsp_live_forget(&u->live);
}

/* Look up an object that the map does not contain. */
static uint32_t unwind_live(struct jsp_unwinder *u, uintptr_t pc)
{
    uint32_t how = JSP_HOW_NONE;
    if (!jsp_live_has_room(&u->live))
        unwind_forget(u);
    if (jsp_live_how(&u->live, &u->mem, pc, &how))
        u->has_unmapped = true;
    return how;
}

/* Look up an object whose rows are not made yet, and mark it, so that the drain makes
 * them. */
static uint32_t unwind_unread(struct jsp_unwinder *u, const struct jsp_unwind_unread *unread,
                              const struct jsp_unwind_object *o, uintptr_t pc)
{
    const struct jsp_live_object object = { unread->header, o->start, o->end, unread->n };
    /* ORDER: relaxed, both. The ring of the bell publishes the mark. */
    if (!atomic_load_explicit(unread->is_met, memory_order_relaxed)) {
        atomic_store_explicit(unread->is_met, 1, memory_order_relaxed); /* ORDER: as above */
        u->has_unread = true;
    }
    if (!jsp_live_has_room(&u->live))
        unwind_forget(u);
    return jsp_live_read(&u->live, &u->mem, &object, pc);
}

static __attribute__((noinline)) uint32_t unwind_look_up(struct jsp_unwinder *u,
                                                         const struct jsp_unwind_map *map,
                                                         uintptr_t pc,
                                                         struct jsp_unwind_cached *slot)
{
    const struct jsp_unwind_object *o = jsp_unwind_map_find(map, pc);
    const struct jsp_unwind_unread *unread = o ? jsp_unwind_map_unread(map, o) : NULL;
    uint32_t how = unread ? unwind_unread(u, unread, o, pc)
                          : o ? jsp_unwind_object_how(o, pc) : unwind_live(u, pc);
    slot->how = how;
    /* the calls are used up: do not cache, another walk can ask again */
    slot->pc = u->live.calls ? pc : 0;
    return how;
}

static inline uint32_t unwind_how(struct jsp_unwinder *u, const struct jsp_unwind_map *map,
                                  uintptr_t pc)
{
    struct jsp_unwind_cached *slot = jsp_unwind_slot(u, pc);
    return __builtin_expect(slot->pc == pc, 1) ? slot->how : unwind_look_up(u, map, pc, slot);
}

/* Take the common step, by the row itself. Store the caller's registers in *to. */
static inline int unwind_plain(struct jsp_memread *mem, uint32_t how,
                               const struct jsp_regs_core *at, struct jsp_regs_core *to)
{
    uintptr_t base = jsp_how_kind(how) == JSP_HOW_SP ? at->sp : at->fp;
    uintptr_t cfa = base + 8 * (uintptr_t)jsp_how_cfa(how);
    uint32_t fp = jsp_how_fp(how), extra = jsp_how_extra(how);
    uint64_t word;
    to->sp = cfa;
    to->fp = at->fp;
    to->extra = at->extra;
    if (!JSP_RA_IN_EXTRA) {
        if (!jsp_memread_word(mem, cfa - 8, &word))
            return JSP_STOP_UNREADABLE;
        to->pc = word;
    }
    if (fp) {
        if (!jsp_memread_word(mem, cfa - 8 * (uintptr_t)fp, &word))
            return JSP_STOP_UNREADABLE;
        to->fp = word;
    }
    if (extra) {
        if (!jsp_memread_word(mem, cfa - 8 * (uintptr_t)extra, &word))
            return JSP_STOP_UNREADABLE;
        to->extra = word;
    }
    if (JSP_RA_IN_EXTRA)
        to->pc = jsp_regs_strip(to->extra);
    return JSP_STEP_ON;
}

/* Check that this frame, left by `how`, may have its caller there. */
static inline int unwind_judge(const struct jsp_regs_core *at, const struct jsp_regs_core *to,
                               uint32_t how, bool is_exact)
{
    if (to->sp < at->sp + !is_exact)
        return JSP_STOP_STACK;
    if (JSP_RA_IN_EXTRA && !is_exact && !jsp_how_extra(how))
        return JSP_STOP_RULE; /* a call has overwritten the link register */
    return to->pc ? JSP_STEP_ON : JSP_STOP_END;
}

/* Store one frame in *frame, and go on to its caller. The registers live in the loop of
 * the walk, not in *w, which only the rare steps need: this saves a store and a load per
 * frame. */
static inline __attribute__((always_inline)) int unwind_one(struct jsp_unwind_walk *w,
                                                            struct jsp_regs_core *at,
                                                            bool *is_exact,
                                                            struct jsp_rec_native *frame)
{
    struct jsp_unwinder *u = w->u;
    struct jsp_regs_core to;
    uint32_t how = unwind_how(u, w->map, at->pc - !*is_exact);
    int stop;
    *frame = (struct jsp_rec_native){ at->pc, UINTPTR_MAX };
    if (jsp_how_kind(how) == JSP_HOW_SP || jsp_how_kind(how) == JSP_HOW_FP) {
        stop = unwind_plain(&u->mem, how, at, &to);
        if (stop == JSP_STEP_ON)
            stop = unwind_judge(at, &to, how, *is_exact);
        w->regs = NULL;
        w->is_exact = false;
        w->cfa = to.sp;
    } else {
        w->at = *at;
        w->is_exact = *is_exact;
        stop = jsp_unwind_step(w, how);
        to = w->at;
        if (w->is_reported)
            frame->ip = JSP_NATIVE_WALKED;
    }
    if (stop != JSP_STEP_ON) {
        u->last_how = how;
        return stop;
    }
    frame->cfa = w->cfa;
    *at = to;
    *is_exact = w->is_exact;
    return JSP_STEP_ON;
}

/* -- More frames than there is room for --------------------------------------- */

static void unwind_reverse(struct jsp_rec_native *frames, uint32_t n)
{
    for (uint32_t i = 0; i < n / 2; i++) {
        struct jsp_rec_native other = frames[i];
        frames[i] = frames[n - 1 - i];
        frames[n - 1 - i] = other;
    }
}

/* Handle a full list when the stack goes on: the end of the list becomes a ring of the
 * outermost frames. If the outermost frames are too far away, keep only the innermost. */
static enum jsp_unwind_stop unwind_beyond(struct jsp_unwind_walk *w, struct jsp_unwound *out)
{
    uint32_t room = out->roots - 1, n = 0;
    struct jsp_rec_native *gap = out->frames + out->max - out->roots, *ring = gap + 1;
    struct jsp_regs_core at = w->at;
    bool is_exact = w->is_exact;
    uint64_t cfa = 0;
    int stop = JSP_STEP_ON;

    for (; stop == JSP_STEP_ON && n < JSP_UNWIND_BEYOND; n++) {
        cfa = ring[n % room].cfa;
        stop = unwind_one(w, &at, &is_exact, &ring[n % room]);
    }
    out->cut = n + 1;
    gap->ip = JSP_NATIVE_CUT;
    if (stop == JSP_STEP_ON) {
        out->cut += room;
        gap->cfa = UINTPTR_MAX;
        out->n = out->max - room;
        return JSP_STOP_FULL;
    }
    gap->cfa = cfa;
    unwind_reverse(ring, n % room);
    unwind_reverse(ring + n % room, room - n % room);
    unwind_reverse(ring, room);
    return (enum jsp_unwind_stop)stop;
}

static enum jsp_unwind_stop unwind_walk(struct jsp_unwind_walk *w, struct jsp_unwound *out)
{
    struct jsp_regs_core at = w->at;
    bool is_exact = w->is_exact;
    int stop = JSP_STEP_ON;
    uint32_t n = out->n;

    for (; stop == JSP_STEP_ON && n < out->max; n++)
        stop = unwind_one(w, &at, &is_exact, &out->frames[n]);
    w->at = at;
    w->u->last = at;
    out->n = n;
    if (stop != JSP_STEP_ON)
        return (enum jsp_unwind_stop)stop;
    return out->roots > 1 && !out->cut ? unwind_beyond(w, out) : JSP_STOP_FULL;
}

/* -- Where walks begin -------------------------------------------------------- */

static void unwind_begin(struct jsp_unwind_walk *w)
{
    struct jsp_unwinder *u = w->u;
    if (u->generation != w->map->generation) {
        unwind_forget(u);
        u->generation = w->map->generation;
    }
    w->crossings = UNWIND_CROSSINGS;
    jsp_live_begin(&u->live);
    jsp_live_grant(&u->live, w->map->unread ? JSP_LIVE_CALLS_UNREAD : JSP_LIVE_CALLS);
    jsp_memread_begin(&u->mem, w->at.sp);
}

/* The host's walker knows the caller of the interrupted code better than tables do: take that
 * step. */
static void unwind_leaf(struct jsp_unwind_walk *w, struct jsp_unwound *out)
{
    const jsprof_frame *caller = w->u->n_callers ? w->u->callers : NULL;
    if (!caller || !(caller->kind & JSPROF_FRAME_NO_TABLE) || !caller->pc ||
        caller->sp <= w->at.sp || !out->max)
        return;
    out->frames[out->n++] = (struct jsp_rec_native){ w->at.pc, caller->sp };
    w->at = (struct jsp_regs_core){ .pc = jsp_regs_strip(caller->pc), .sp = caller->sp,
                                    .fp = (uintptr_t)caller->detail };
    w->regs = NULL;
    w->is_exact = false;
}

enum jsp_unwind_stop jsp_unwind(struct jsp_unwinder *u, const struct jsp_unwind_map *map,
                                const void *ucontext, struct jsp_unwound *out)
{
    const struct jsp_regs *regs = jsp_regs_of(ucontext);
    u->n_crossed = 0;
    struct jsp_unwind_walk walk = { .u = u, .map = map, .at = jsp_regs_core(regs),
                                    .regs = regs, .is_exact = true };
    unwind_begin(&walk);
    unwind_leaf(&walk, out);
    return unwind_walk(&walk, out);
}

enum jsp_unwind_stop jsp_unwind_from(struct jsp_unwinder *u, const struct jsp_unwind_map *map,
                                     const struct jsp_regs_core *here,
                                     struct jsp_unwound *out)
{
    struct jsp_unwind_walk walk = { .u = u, .map = map, .at = *here, .is_exact = true };
    unwind_begin(&walk);
    return unwind_walk(&walk, out);
}

enum jsp_unwind_stop jsp_unwind_on(struct jsp_unwinder *u, const struct jsp_unwind_map *map,
                                   const struct jsp_regs_core *caller,
                                   struct jsp_unwound *out)
{
    struct jsp_unwind_walk walk = { .u = u, .map = map, .at = *caller };
    unwind_begin(&walk);
    return unwind_walk(&walk, out);
}

bool jsp_unwind_caller(struct jsp_unwinder *u, const struct jsp_unwind_map *map,
                       const struct jsp_regs_core *here, struct jsp_regs_core *caller)
{
    struct jsp_rec_native one;
    struct jsp_unwound out = { .frames = &one, .max = 1 };
    struct jsp_unwind_walk walk = { .u = u, .map = map, .at = *here, .is_exact = true };
    unwind_begin(&walk);
    bool found = unwind_walk(&walk, &out) == JSP_STOP_FULL;
    *caller = walk.at;
    return found;
}

void jsp_unwind_count(struct jsp_unwinder *u, enum jsp_unwind_stop stop)
{
    jsp_count(&u->stops[stop], 1);
}
