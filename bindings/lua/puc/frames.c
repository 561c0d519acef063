/* frames.c - the walker for PUC Lua: its functions as frames; see walk.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "frames.h"
#include "naming.h"
#include "puc/puc.h"
#include "registers.h"

#include JSPROF_LUA_LAYOUT

/* One walk. */
struct walk {
    struct jsp_lua_walker *w;
    struct jsp_lua_read *read;
    const void *ucontext;
    struct jsp_lua_frames frames;
    uint32_t n_states; /* of the walker's states */
};

/* A call and its caller. */
struct walk_call {
    struct jsp_puc_ci ci, caller;
    bool has_caller;
    bool is_leaf;
    struct jsp_lua_function f;
};

/* Find the running function's program counter in the registers of the loop: savedpc is
 * only as new as the last instruction that could fail. */
static uint32_t walk_register_index(const struct walk *k, const struct jsp_lua_proto *p)
{
    uintptr_t registers[JSP_LUA_REGISTERS];
    uint32_t n = k->ucontext ? jsp_lua_registers(k->ucontext, registers) : 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t index = jsp_lua_proto_index(p, registers[i]);
        if (index != UINT32_MAX)
            return index;
    }
    return UINT32_MAX;
}

/* Since 5.4 the instructions that make a table or a closure do not store savedpc before they
 * allocate, so in a C function that the loop called neither this nor a register has the
 * program counter. Then the C functions above the loop saved that register: find the return
 * address into the loop, and the nearest word below it that is one. */
static uint32_t walk_saved_index(struct walk *k, const struct jsp_lua_proto *p)
{
    enum { WALK_SAVED = 128, WALK_SINCE = 504 };
    uintptr_t words[WALK_SAVED];
    uint32_t n = 0;
    if (LUA_VERSION_NUM < WALK_SINCE || !k->ucontext || k->w->loop_low == k->w->loop_high ||
        !jsp_lua_read(k->read, jsp_lua_stack_pointer(k->ucontext), words, sizeof words))
        return UINT32_MAX;
    while (n < WALK_SAVED && (words[n] < k->w->loop_low || words[n] >= k->w->loop_high))
        n++;
    while (n < WALK_SAVED && n-- > 0) {
        uint32_t index = jsp_lua_proto_index(p, words[n]);
        if (index != UINT32_MAX)
            return index;
    }
    return UINT32_MAX;
}

/* -- The caller's instruction --------------------------------------------------- */

/* Find the caller's instruction. Return false if the caller is no Lua function. */
static bool walk_site(struct walk *k, const struct jsp_puc_ci *caller, struct jsp_lua_proto *p,
                      uint32_t *index)
{
    struct jsp_lua_function f;
    jsp_puc_function(k->read, caller, &f);
    if (f.kind != JSP_LUA_LUA)
        return false;
    *p = f.proto;
    *index = jsp_lua_proto_index(p, caller->savedpc);
    return *index != UINT32_MAX;
}

/* Return whether the function runs in an activation of the loop of its own. */
static bool walk_is_fresh(struct walk *k, const struct walk_call *call)
{
    struct jsp_lua_proto p;
    uint32_t index;
    bool has_bit = layout.ci_is_array ||
                   (call->ci.status & layout.fresh_bit) == layout.fresh_value;
    if (!has_bit || (!layout.ci_is_array && !layout.fresh_is_late))
        return has_bit;
    return !call->has_caller || !walk_site(k, &call->caller, &p, &index) ||
           !jsp_lua_site_is_call(k->read, &p, index);
}

/* Return whether the innermost function has run no instruction, and C code outside of the
 * loop was interrupted: the loop may not have been entered for it. While Lua begins the call,
 * the saved program counter may still be that of an earlier one. */
static bool walk_is_only_called(const struct walk *k, const struct walk_call *call)
{
    uintptr_t ip = k->ucontext && call->is_leaf ? jsp_lua_instruction(k->ucontext) : 0;
    const struct jsp_lua_bounds *begins = &k->w->begins;
    return ip && (ip < k->w->loop_low || ip >= k->w->loop_high) && !call->ci.tail_calls &&
           (ip - begins->start < begins->end - begins->start ||
            jsp_lua_proto_index(&call->f.proto, call->ci.savedpc) == UINT32_MAX);
}

/* The wrapper of a label calls every function `f`. */
static bool walk_site_name(struct walk *k, const struct walk_call *call, char *name)
{
    struct jsp_lua_proto p;
    uint32_t index;
    return call->has_caller && !call->ci.tail_calls &&
           walk_site(k, &call->caller, &p, &index) && !jsp_lua_naming_is_wrapper(k->w, &p) &&
           jsp_lua_site_name(k->read, &p, index, name, JSP_LUA_NAME);
}

/* -- Labels --------------------------------------------------------------------- */

static void walk_search_state(struct walk *k, const struct jsp_lua_state *s)
{
    struct jsp_puc_ci ci;
    uintptr_t at = s->ci;
    for (; k->w->searches && at != s->base_ci; at = ci.previous) {
        struct jsp_lua_function f;
        if (!jsp_puc_ci(k->read, at, &ci))
            return;
        jsp_puc_function(k->read, &ci, &f);
        if (f.kind == JSP_LUA_LUA)
            jsp_lua_naming_search(k->w, &f);
        k->w->searches -= k->w->searches > 0;
    }
}

/* Return the function's label. If it is seen for the first time, search the functions on
 * the stack: one of them may have made it. */
static const struct jsp_lua_label *walk_label(struct walk *k, const struct walk_call *call)
{
    const struct jsp_lua_proto *p = &call->f.proto;
    const struct jsp_lua_label *label = jsp_lua_naming_find(k->w, p);
    char name[JSP_LUA_NAME];

    if (!label)
        jsp_lua_naming_want(k->w, p);
    for (uint32_t i = 0; i < k->n_states && !label && k->w->searches; i++) {
        walk_search_state(k, &k->w->states[i]);
        label = jsp_lua_naming_find(k->w, p);
    }
    if (label)
        return label;
    bool named = p->key.line && walk_site_name(k, call, name);
    return jsp_lua_naming_add(k->w, p, named ? name : NULL);
}

/* -- Frames ------------------------------------------------------------------- */

static void walk_lua_frame(struct walk *k, const struct walk_call *call)
{
    const struct jsp_lua_proto *p = &call->f.proto;
    uint32_t entry = walk_is_fresh(k, call) ? JSPROF_FRAME_ENTRY : 0;
    if (entry && walk_is_only_called(k, call))
        entry |= JSPROF_FRAME_CALLED;
    jsprof_frame *frame = jsp_lua_frames_next(&k->frames);
    if (frame) {
        uint32_t index = call->is_leaf ? walk_register_index(k, p) : UINT32_MAX;
        if (index == UINT32_MAX && call->is_leaf)
            index = walk_saved_index(k, p);
        if (index == UINT32_MAX)
            index = jsp_lua_proto_index(p, call->ci.savedpc);
        jsp_lua_frame_function(frame, walk_label(k, call), JSPROF_KIND_VM,
                               index == UINT32_MAX ? 0 : jsp_lua_proto_line(k->read, p, index));
        frame->kind |= call->ci.tail_calls ? 0 : entry;
    }
    if (call->ci.tail_calls && (frame = jsp_lua_frames_next(&k->frames))) {
        frame->label = "[tail calls]";
        frame->kind = JSPROF_KIND_SYNTH | entry;
    }
}

static void walk_c_frame(struct walk *k, const struct walk_call *call)
{
    const struct jsp_lua_label *label = jsp_lua_naming_c(k->w, call->f.c, NULL);
    jsprof_frame *frame = jsp_lua_frames_next(&k->frames);
    char name[JSP_LUA_NAME];

    if (!frame)
        return;
    if (!label)
        label = jsp_lua_naming_c(k->w, call->f.c,
                                 walk_site_name(k, call, name) ? name : JSP_LUA_NO_NAME);
    jsp_lua_frame_c(frame, label, call->f.c);
}

/* Add the frames of one coroutine, innermost first. */
static void walk_state(struct walk *k, const struct jsp_lua_state *s, bool is_running)
{
    struct walk_call call = { .is_leaf = is_running };
    bool more = s->ci != s->base_ci && jsp_puc_ci(k->read, s->ci, &call.ci);

    if (more && s->savedpc)
        call.ci.savedpc = s->savedpc;
    for (uint32_t i = 0; more && i < k->frames.max + JSP_LUA_BEYOND; i++) {
        call.has_caller = call.ci.previous && call.ci.previous != call.ci.at &&
                          jsp_puc_ci(k->read, call.ci.previous, &call.caller);
        jsp_puc_function(k->read, &call.ci, &call.f);
        if (call.f.kind == JSP_LUA_LUA)
            walk_lua_frame(k, &call);
        else if (call.f.kind == JSP_LUA_C && call.f.c != k->w->unshown)
            walk_c_frame(k, &call);
        else if (call.f.kind != JSP_LUA_C)
            k->w->n_skipped++;
        more = call.has_caller && call.caller.at != s->base_ci;
        call.is_leaf = false;
        call.ci = call.caller;
    }
}

uint32_t jsp_lua_walk_sigsafe(void *host, const void *ucontext, jsprof_frame *out, uint32_t max)
{
    struct jsp_lua_walker *w = host;
    struct walk k = { .w = w, .read = &w->read, .ucontext = ucontext };

    k.frames = (struct jsp_lua_frames){ .out = out, .max = max };
    jsp_lua_read_begin(k.read);
    jsp_lua_naming_begin(w);
    uintptr_t sp = ucontext ? jsp_lua_stack_pointer(ucontext)
                            : (uintptr_t)__builtin_frame_address(0);
    k.n_states = jsp_puc_running(w, sp);
    if (k.n_states && !jsp_lua_walk_is_here(w, sp, w->states[0].error_jmp))
        k.n_states = 0;
    for (uint32_t i = k.n_states; i-- > 0;)
        walk_state(&k, &w->states[i], i == k.n_states - 1);
    return k.frames.n;
}
