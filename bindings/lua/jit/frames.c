/* frames.c - LuaJIT's functions as frames; see jit_walk.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "jit/jit_walk.h"

enum { FRAMES_COROUTINES = 64 };

/* -- Labels ------------------------------------------------------------------------- */

static void frames_search_thread(struct jsp_jit_walk *k)
{
    uintptr_t base = k->thread.base;
    while (base && k->w->searches) {
        struct jsp_lua_function f;
        jsp_jit_function_at(k, base, &f);
        if (f.kind == JSP_LUA_LUA)
            jsp_lua_naming_search(k->w, &f);
        base = jsp_jit_below(k, base, jsp_jit_word(k, base - 8));
        k->w->searches -= k->w->searches > 0;
    }
}

/* Search for the name of a function that is seen for the first time: the function that
 * made it may be on the stack. */
static void frames_search(const struct jsp_jit_walk *k)
{
    struct jsp_jit_walk all = *k;
    uintptr_t bottom;
    uint32_t i = 0;
    do {
        bottom = jsp_jit_bottom(&all);
        frames_search_thread(&all);
    } while (i++ < FRAMES_COROUTINES && bottom && jsp_jit_resumer(&all, bottom));
}

/* Return the caller of a frame. A function with variable arguments has two frames, of
 * which the outer one has the link to the caller. If a C function was called by compiled
 * code, a continuation has it. */
static struct jsp_jit_call frames_call(struct jsp_jit_walk *k, uintptr_t base)
{
    uintptr_t link = jsp_jit_word(k, base - 8);
    if ((link & JIT_LINK_TYPEP) == JIT_LINK_VARG) {
        base = jsp_jit_below(k, base, link);
        link = base ? jsp_jit_word(k, base - 8) : JIT_LINK_C;
    }
    bool is_continued = (link & JIT_LINK_TYPEP) == JIT_LINK_CONT;
    uintptr_t below = link & JIT_LINK_TYPE && !is_continued ? 0 : jsp_jit_below(k, base, link);
    uintptr_t caller = below ? jsp_jit_word(k, below - 16) & JIT_POINTER : 0;
    return (struct jsp_jit_call){ 0, caller, is_continued ? jsp_jit_word(k, base - 24) : link };
}

/* Return the name by which the caller's instruction calls it. A label's wrapper calls
 * every function `f`. */
static const char *frames_site_name(struct jsp_jit_walk *k, const struct jsp_jit_call *call,
                                    char name[JSP_LUA_NAME])
{
    struct jsp_lua_function f;
    struct jsp_jit_call of = call->base ? frames_call(k, call->base) : *call;
    jsp_lua_function_read(k->read, of.caller, &f);
    uint32_t index = f.kind == JSP_LUA_LUA ? jsp_lua_proto_index(&f.proto, of.next) : UINT32_MAX;
    return index != UINT32_MAX && !jsp_lua_naming_is_wrapper(k->w, &f.proto) &&
                   jsp_lua_site_name(k->read, &f.proto, index, name, JSP_LUA_NAME)
               ? name : NULL;
}

static const struct jsp_lua_label *frames_c_label(struct jsp_jit_walk *k, uintptr_t c,
                                                  const struct jsp_jit_call *call)
{
    char buffer[JSP_LUA_NAME];
    const struct jsp_lua_label *label = jsp_lua_naming_c(k->w, c, NULL);
    const char *name = label ? NULL : frames_site_name(k, call, buffer);
    return label ? label : jsp_lua_naming_c(k->w, c, name ? name : JSP_LUA_NO_NAME);
}

/* The name of an upvalue comes before that of the call: after a tail call, of which LuaJIT keeps
 * nothing, the caller's instruction names the function that ended so. */
static const struct jsp_lua_label *frames_label(struct jsp_jit_walk *k,
                                                const struct jsp_lua_function *f,
                                                const struct jsp_jit_call *call)
{
    char name[JSP_LUA_NAME];
    const struct jsp_lua_label *label = jsp_lua_naming_find(k->w, &f->proto);
    if (!label && k->w->searches) {
        jsp_lua_naming_want(k->w, &f->proto);
        frames_search(k);
        label = jsp_lua_naming_find(k->w, &f->proto);
    }
    if (label)
        return label;
    bool has_site = f->proto.key.line && !jsp_lua_naming_has_upvalue(k->w, &f->proto);
    return jsp_lua_naming_add(k->w, &f->proto, has_site ? frames_site_name(k, call, name) : NULL);
}

/* -- Frames ------------------------------------------------------------------------- */

jsprof_frame *jsp_jit_frame_next(struct jsp_jit_walk *k)
{
    k->frames.sp = k->thread.cframe ? k->thread.cframe + 8 : 0;
    return jsp_lua_frames_next(&k->frames);
}

void jsp_jit_frame_doing(struct jsp_jit_walk *k, const char *what, enum jsprof_kind kind)
{
    jsprof_frame *frame = jsp_jit_frame_next(k);
    if (frame) {
        frame->label = what;
        frame->kind = (uint32_t)kind;
    }
}

void jsp_jit_frame(struct jsp_jit_walk *k, const struct jsp_lua_function *f, uintptr_t next,
                   enum jsprof_kind kind, const struct jsp_jit_call *call)
{
    bool is_shown = f->kind != JSP_LUA_UNKNOWN && (f->kind != JSP_LUA_C || f->c != k->w->unshown);
    jsprof_frame *frame = is_shown ? jsp_jit_frame_next(k) : NULL;
    if (!frame)
        return;
    if (f->kind == JSP_LUA_C) {
        jsp_lua_frame_c(frame, frames_c_label(k, f->c, call), f->c);
        return;
    }
    uint32_t index = jsp_lua_proto_index(&f->proto, next);
    jsp_lua_frame_function(frame, frames_label(k, f, call), kind,
                           index == UINT32_MAX ? 0 : jsp_lua_proto_line(k->read, &f->proto, index));
}

/* Follow the link at the base of a frame to the frame below. Set that frame's next
 * instruction, and, if C code is between the two, its activation of the VM. */
static uintptr_t frames_below(struct jsp_jit_walk *k, uintptr_t base, uintptr_t link)
{
    if (!(link & JIT_LINK_TYPE))
        k->pc = link;
    else if ((link & JIT_LINK_TYPEP) == JIT_LINK_CONT)
        k->pc = jsp_jit_word(k, base - 24);
    uintptr_t below = jsp_jit_below(k, base, link);
    if ((link & JIT_LINK_TYPE) == JIT_LINK_C && below) {
        uintptr_t before = jsp_jit_cframe_before(k, k->thread.cframe);
        k->thread.cframe = jsp_jit_cframe_of(k, before, below);
        k->pc = jsp_jit_saved_pc(k);
    }
    return below;
}

/* Return whether all activations from this one on run functions: as many as C called. The
 * coroutine's first frame, below all functions, belongs to none. */
static bool frames_fit(struct jsp_jit_walk *k, uintptr_t cframe)
{
    uintptr_t base = k->thread.base;
    for (uint32_t i = 0; base && i < k->frames.max + JSP_LUA_BEYOND; i++) {
        uintptr_t link = jsp_jit_word(k, base - 8);
        uintptr_t below = jsp_jit_below(k, base, link);
        if ((link & JIT_LINK_TYPE) == JIT_LINK_C && below)
            cframe = jsp_jit_cframe_of(k, jsp_jit_cframe_before(k, cframe), below);
        if (!below)
            return !cframe || base != k->thread.stack + JIT_FIRST_BASE;
        base = below;
    }
    return true;
}

/* Find the activation that runs the innermost function. While the VM makes or ends an
 * activation, the innermost one runs no function, and that of the C function which calls is
 * the innermost on the Lua stack. */
static void frames_find_activation(struct jsp_jit_walk *k)
{
    uintptr_t innermost = k->thread.cframe;
    uintptr_t of = jsp_jit_cframe_of(k, innermost, k->thread.base);
    if (of && of - k->rsp <= JSP_JIT_SUBROUTINE && k->rip >= k->w->loop_low &&
        k->rip < k->w->loop_high) {
        struct jsp_lua_function f;
        jsp_jit_function_at(k, k->thread.base, &f);
        if (f.kind != JSP_LUA_LUA && !frames_fit(k, of))
            of = jsp_jit_cframe_of(k, jsp_jit_cframe_before(k, of), k->thread.base);
    }
    if (of == innermost)
        return;
    k->thread.cframe = of;
    k->pc = jsp_jit_saved_pc(k);
}

void jsp_jit_frames(struct jsp_jit_walk *k, bool skip_first, enum jsprof_kind kind)
{
    uintptr_t base = k->thread.base;
    bool skip = skip_first;
    frames_find_activation(k);
    for (uint32_t i = 0; base && i < k->frames.max + JSP_LUA_BEYOND; i++) {
        uintptr_t link = jsp_jit_word(k, base - 8);
        struct jsp_lua_function f = { .kind = JSP_LUA_UNKNOWN };
        struct jsp_jit_call call = { .base = base };
        if (!skip)
            jsp_jit_function_at(k, base, &f);
        jsp_jit_frame(k, &f, k->pc, kind, &call);
        kind = JSPROF_KIND_VM;
        skip = (link & JIT_LINK_TYPEP) == JIT_LINK_VARG;
        base = frames_below(k, base, link);
    }
}

/* -- A walk -------------------------------------------------------------------------- */

static bool frames_begin(struct jsp_jit_walk *k)
{
    uintptr_t global;
    uint16_t current = k->w->jit.current;
    k->w->jit.alone = 0;
    return current && jsp_jit_thread_read(k->read, k->w->root, &k->thread, &k->global) &&
           jsp_lua_read(k->read, k->global + JIT_G_VMSTATE, &k->vm, sizeof k->vm) &&
           jsp_jit_thread_read(k->read, jsp_jit_word(k, k->global + current), &k->thread,
                               &global) &&
           global == k->global;
}

uint32_t jsp_lua_walk_sigsafe(void *host, const void *ucontext, jsprof_frame *out, uint32_t max)
{
    struct jsp_jit_walk k = { .w = host, .context = ucontext };

    k.read = &k.w->read;
    k.frames = (struct jsp_lua_frames){ .out = out, .max = max };
    jsp_lua_read_begin(k.read);
    jsp_lua_naming_begin(k.w);
    if (!frames_begin(&k))
        return 0;
    if (ucontext) {
        k.rip = (uintptr_t)k.context->uc_mcontext.gregs[REG_RIP];
        k.rsp = (uintptr_t)k.context->uc_mcontext.gregs[REG_RSP];
    }
    if (ucontext && !jsp_lua_walk_is_here(k.w, k.rsp, k.thread.cframe))
        return 0;
    uintptr_t bottom = k.rsp - JIT_C_BYTES; /* it will run, or has run */
    if (k.thread.cframe) {
        bottom = jsp_jit_bottom(&k);
        jsp_jit_running(&k);
    } else if (!k.rsp) {
        return 0;
    }
    for (uint32_t i = 0; i < FRAMES_COROUTINES && bottom && jsp_jit_resumer(&k, bottom); i++) {
        bottom = jsp_jit_bottom(&k);
        jsp_jit_frames(&k, false, JSPROF_KIND_VM);
    }
    return k.frames.n;
}
