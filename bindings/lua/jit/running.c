/* running.c - the present state of LuaJIT and its function; see jit_walk.h for the
 * contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "jit/trace.h"
#include "jit/jit_walk.h"

enum {
    RUNNING_RETURN_WORDS = 512, /* words to search for a return into compiled code */
    RUNNING_EDGE = 10,          /* bytes of the instructions that make or end a VM frame */
    RUNNING_EDGE_PLACES = 5,
};

/* Return the base with which compiled code runs, or called the code that runs. 0: none
 * runs. */
static uintptr_t running_jit_base(struct jsp_jit_walk *k)
{
    return jsp_jit_word(k, k->global + k->w->jit.current + JIT_G_JIT_BASE);
}

/* Read base and program counter from the interpreter's registers, if these hold the
 * values that they have between two instructions. The first instruction of compiled code still
 * runs as the interpreter. */
static void running_interpreter(struct jsp_jit_walk *k)
{
    k->pc = jsp_jit_saved_pc(k);
    if (!k->context)
        return;
    if (k->rip < k->w->loop_low || k->rip >= k->w->loop_high) {
        uintptr_t jit_base = running_jit_base(k);
        if (jsp_jit_in_stack(&k->thread, jit_base))
            k->thread.base = jit_base;
        return;
    }
    uintptr_t base = (uintptr_t)k->context->uc_mcontext.gregs[REG_RDX];
    uintptr_t pc = (uintptr_t)k->context->uc_mcontext.gregs[REG_RBX];
    struct jsp_lua_function f;
    if (jsp_jit_in_stack(&k->thread, base)) {
        jsp_jit_function_at(k, base, &f);
        if (f.kind != JSP_LUA_UNKNOWN && jsp_jit_below(k, base, jsp_jit_word(k, base - 8)))
            k->thread.base = base;
    }
    jsp_jit_function_at(k, k->thread.base, &f);
    if (f.kind == JSP_LUA_LUA && jsp_lua_proto_index(&f.proto, pc) != UINT32_MAX)
        k->pc = pc;
}

/* Return the thread's place in the trace: in its code, or at the call of a C function. */
static uintptr_t running_trace_pc(struct jsp_jit_walk *k, const struct jsp_jit_trace *t)
{
    if (k->rip - t->code < t->code_bytes)
        return k->rip;
    uintptr_t end = k->thread.cframe;
    for (uintptr_t i = 0, at = k->rsp & ~(uintptr_t)7; i < RUNNING_RETURN_WORDS && at < end;
         i++, at += 8) {
        uintptr_t word = jsp_jit_word(k, at);
        if (word - t->code - 1 < t->code_bytes)
            return word - 1;
    }
    return 0;
}

static void running_traced_function(struct jsp_jit_walk *k, const struct jsp_jit_trace *t,
                                 uintptr_t function, uintptr_t next,
                                 const struct jsp_jit_call *call)
{
    struct jsp_lua_function f;
    jsp_lua_function_read(k->read, function, &f);
    if (f.kind == JSP_LUA_UNKNOWN && jsp_lua_proto_read(k->read, t->start, &f.proto) &&
        jsp_lua_proto_index(&f.proto, next) != UINT32_MAX)
        f.kind = JSP_LUA_LUA;
    if (f.kind == JSP_LUA_UNKNOWN)
        jsp_jit_frame_doing(k, "compiled function", JSPROF_KIND_JIT);
    else
        jsp_jit_frame(k, &f, next, JSPROF_KIND_JIT, call);
}

/* Let the C stack continue at the caller of a VM frame whose return address lies at
 * `ret`. `flags` may add JSPROF_FRAME_NO_TABLE. */
static void running_caller(struct jsp_jit_walk *k, uintptr_t ret, uintptr_t frame_pointer,
                           uint32_t flags)
{
    jsprof_frame *frame = jsp_jit_frame_next(k);
    if (!frame)
        return;
    frame->kind = JSPROF_FRAME_CALLER | flags;
    frame->pc = jsp_jit_word(k, ret);
    frame->sp = ret + 8;
    frame->detail = (const char *)frame_pointer;
}

static void running_caller_of_frame(struct jsp_jit_walk *k, uint32_t flags)
{
    uintptr_t cframe = k->thread.cframe;
    if (cframe)
        running_caller(k, cframe + JIT_C_RETURN, jsp_jit_word(k, cframe + JIT_C_FP), flags);
}

/* The VM's only row in the unwind tables does not cover the instructions with which the VM
 * makes its frame on the C stack and ends it. If one of them was interrupted, let the C stack
 * continue at the VM's caller, and return true. */
static bool running_edge(struct jsp_jit_walk *k)
{
    static const struct {
        uint8_t code[RUNNING_EDGE];
        struct { uint8_t at, saved; } places[RUNNING_EDGE_PLACES]; /* bytes below the return */
    } edges[] = {
        /* push rbp, rbx, r15, r14; sub rsp, 40 */
        { { 0x55, 0x53, 0x41, 0x57, 0x41, 0x56, 0x48, 0x83, 0xEC, 0x28 },
          { { 0, 0 }, { 1, 8 }, { 2, 16 }, { 4, 24 }, { 6, 32 } } },
        /* add rsp, 40; pop r14, r15, rbx, rbp */
        { { 0x48, 0x83, 0xC4, 0x28, 0x41, 0x5E, 0x41, 0x5F, 0x5B, 0x5D },
          { { 4, 32 }, { 6, 24 }, { 8, 16 }, { 9, 8 }, { 10, 0 } } },
    };
    uint8_t code[2 * RUNNING_EDGE];
    if (!k->context || k->rip < k->w->loop_low || k->rip >= k->w->loop_high ||
        !jsp_lua_read(k->read, k->rip - RUNNING_EDGE, code, sizeof code))
        return false;
    for (size_t i = 0; i < sizeof edges / sizeof *edges * RUNNING_EDGE_PLACES; i++) {
        size_t edge = i / RUNNING_EDGE_PLACES, place = i % RUNNING_EDGE_PLACES;
        uint32_t saved = edges[edge].places[place].saved;
        if (memcmp(code + RUNNING_EDGE - edges[edge].places[place].at, edges[edge].code,
                   RUNNING_EDGE) != 0)
            continue;
        running_caller(k, k->rsp + saved,
                       saved ? jsp_jit_word(k, k->rsp + saved - 8)
                             : (uintptr_t)k->context->uc_mcontext.gregs[REG_RBP],
                       JSPROF_FRAME_NO_TABLE);
        return true;
    }
    return false;
}

/* Show compiled code: the functions inside the trace, then the function in which it
 * began. */
static void running_trace(struct jsp_jit_walk *k)
{
    struct jsp_jit_trace t;
    uintptr_t base = running_jit_base(k);
    if (jsp_jit_in_stack(&k->thread, base))
        k->thread.base = base;
    running_caller_of_frame(k, 0);
    if (!jsp_jit_trace_read(k->read, jsp_jit_trace_object(k, (uint32_t)k->vm), &t)) {
        jsp_jit_frames(k, false, JSPROF_KIND_JIT);
        return;
    }
    uintptr_t at = running_trace_pc(k, &t);
    if (at)
        jsp_jit_trace_at(k->read, at, &t);
    uintptr_t next = t.next;
    uintptr_t first = t.base_function ? t.base_function
                                      : jsp_jit_word(k, k->thread.base - 16) & JIT_POINTER;
    for (uint32_t i = t.n; i-- > 0;) {
        uintptr_t caller = i ? t.inlined[i - 1].function : first;
        struct jsp_jit_call call = { 0, caller, t.inlined[i].link };
        running_traced_function(k, &t, t.inlined[i].function, next, &call);
        next = t.inlined[i].link;
    }
    if (t.base_function) {
        struct jsp_jit_call call = { .base = k->thread.base };
        running_traced_function(k, &t, t.base_function, next, &call);
        jsp_jit_frames(k, true, JSPROF_KIND_VM);
        return;
    }
    k->pc = next;
    jsp_jit_frames(k, false, JSPROF_KIND_JIT);
}

/* Return whether one of the VM's own subroutines was interrupted, such as that of `%` on
 * numbers. The VM calls them, so a return address lies below the VM's frame. The VM's
 * only row in the unwind tables does not cover that. */
static bool running_is_subroutine(const struct jsp_jit_walk *k)
{
    uintptr_t below = k->thread.cframe - k->rsp;
    return k->thread.cframe && k->rip >= k->w->loop_low && k->rip < k->w->loop_high &&
           below > 0 && below <= JSP_JIT_SUBROUTINE;
}

static bool running_is_collector(const struct jsp_jit_walk *k, uintptr_t pc)
{
    for (uint32_t i = 0; i < k->w->n_collectors; i++)
        if (pc - k->w->collectors[i].start < k->w->collectors[i].end - k->w->collectors[i].start)
            return true;
    return false;
}

/* Return whether a C function of the collector is on the C stack. Then that function is
 * shown as the collector. */
static bool running_has_collector(struct jsp_jit_walk *k)
{
    uintptr_t at = k->rsp & ~(uintptr_t)7, end = k->thread.cframe;
    bool found = running_is_collector(k, k->rip);
    for (uint32_t i = 0; at && at < end && i < RUNNING_RETURN_WORDS && !found; i++, at += 8)
        found = running_is_collector(k, jsp_jit_word(k, at) - 1);
    return found;
}

void jsp_jit_running(struct jsp_jit_walk *k)
{
    int32_t state = ~k->vm;
    if (k->vm >= 0) {
        running_trace(k);
        return;
    }
    if (state == JIT_VM_INTERPRETS)
        running_interpreter(k);
    else
        k->pc = jsp_jit_saved_pc(k);
    /* Compiled code may have called, for example, a step of the collector: no table
     * describes that code. */
    if (running_is_subroutine(k))
        running_caller_of_frame(k, JSPROF_FRAME_NO_TABLE);
    else if (!running_edge(k) && jsp_jit_in_stack(&k->thread, running_jit_base(k)))
        running_caller_of_frame(k, 0);
    if (state == JIT_VM_COLLECTS && !running_has_collector(k))
        jsp_jit_frame_doing(k, "[garbage collector]", JSPROF_KIND_GC);
    else if (state >= JIT_VM_EXITS && state <= JIT_VM_LAST)
        jsp_jit_frame_doing(k, "[JIT compiler]", JSPROF_KIND_LABEL);
    jsp_jit_frames(k, false, JSPROF_KIND_VM);
}
