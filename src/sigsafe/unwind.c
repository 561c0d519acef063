/* sigsafe/unwind.c - see unwind.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "unwind.h"
#include "unwind_step.h"

enum { UNWIND_CROSSINGS = 16 }; /* signals that interrupted each other */

void jsp_unwinder_init(struct jsp_unwinder *u, uintptr_t low, uintptr_t high, pid_t pid)
{
    memset(u, 0, sizeof *u);
    jsp_memread_init(&u->mem, low, high, pid);
}

static __attribute__((noinline)) uint32_t unwind_look_up(const struct jsp_unwind_map *map,
                                                         uintptr_t pc,
                                                         struct jsp_unwind_cached *slot)
{
    const struct jsp_unwind_object *o = jsp_unwind_map_find(map, pc);
    slot->how = o ? jsp_unwind_object_how(o, pc) : JSP_HOW_NONE;
    slot->pc = pc;
    return slot->how;
}

static inline uint32_t unwind_how(struct jsp_unwinder *u, const struct jsp_unwind_map *map,
                                  uintptr_t pc)
{
    struct jsp_unwind_cached *slot = &u->cache[(pc ^ pc >> 10) % JSP_UNWIND_CACHED];
    return __builtin_expect(slot->pc == pc, 1) ? slot->how : unwind_look_up(map, pc, slot);
}

/* The common step, by what the row itself says. The caller's registers in *to. */
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

/* May this frame, left by `how`, have its caller there? */
static inline int unwind_judge(const struct jsp_regs_core *at, const struct jsp_regs_core *to,
                               uint32_t how, bool is_exact)
{
    if (to->sp < at->sp + !is_exact)
        return JSP_STOP_STACK;
    if (JSP_RA_IN_EXTRA && !is_exact && !jsp_how_extra(how))
        return JSP_STOP_RULE; /* the link register was overwritten by a call */
    return to->pc ? JSP_STEP_ON : JSP_STOP_END;
}

/* The registers live in a local copy, not behind the pointer that the rare steps get:
 * a store and a load less on the way from one frame to the next. */
static enum jsp_unwind_stop unwind_walk(struct jsp_unwind_walk *w, struct jsp_unwound *out)
{
    struct jsp_unwinder *u = w->u;
    struct jsp_regs_core at = w->at, to;
    bool is_exact = w->is_exact;
    int stop = JSP_STEP_ON;
    uint32_t n = 0;

    for (; stop == JSP_STEP_ON && n < out->max; n++) {
        uint32_t how = unwind_how(u, w->map, at.pc - !is_exact);
        out->frames[n] = (struct jsp_rec_native){ at.pc, UINTPTR_MAX };
        if (jsp_how_kind(how) == JSP_HOW_SP || jsp_how_kind(how) == JSP_HOW_FP) {
            stop = unwind_plain(&u->mem, how, &at, &to);
            if (stop == JSP_STEP_ON)
                stop = unwind_judge(&at, &to, how, is_exact);
            w->regs = NULL;
            w->is_exact = false;
            w->cfa = to.sp;
        } else {
            w->at = at;
            w->is_exact = is_exact;
            stop = jsp_unwind_step(w, how);
            to = w->at;
            if (w->is_told)
                out->frames[n].ip = JSP_NATIVE_TOLD;
        }
        if (stop == JSP_STEP_ON)
            out->frames[n].cfa = w->cfa;
        at = to;
        is_exact = w->is_exact;
    }
    out->n = n;
    return stop == JSP_STEP_ON ? JSP_STOP_FULL : (enum jsp_unwind_stop)stop;
}

static enum jsp_unwind_stop unwind_begin(struct jsp_unwind_walk *w, struct jsp_unwound *out)
{
    struct jsp_unwinder *u = w->u;
    if (u->generation != w->map->generation) {
        memset(u->cache, 0, sizeof u->cache);
        u->generation = w->map->generation;
    }
    w->is_exact = true;
    w->crossings = UNWIND_CROSSINGS;
    jsp_memread_begin(&u->mem, w->at.sp);
    enum jsp_unwind_stop stop = unwind_walk(w, out);
    jsp_count(&u->stops[stop], 1);
    return stop;
}

enum jsp_unwind_stop jsp_unwind(struct jsp_unwinder *u, const struct jsp_unwind_map *map,
                                const void *ucontext, struct jsp_unwound *out)
{
    const struct jsp_regs *regs = jsp_regs_of(ucontext);
    struct jsp_unwind_walk walk = { .u = u, .map = map, .at = jsp_regs_core(regs),
                                    .regs = regs };
    return unwind_begin(&walk, out);
}

enum jsp_unwind_stop jsp_unwind_from(struct jsp_unwinder *u, const struct jsp_unwind_map *map,
                                     const struct jsp_regs_core *here,
                                     struct jsp_unwound *out)
{
    struct jsp_unwind_walk walk = { .u = u, .map = map, .at = *here };
    return unwind_begin(&walk, out);
}
