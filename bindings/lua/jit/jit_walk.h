/* jit_walk.h - one walk of LuaJIT's stacks, shared by its files.
 *
 * LuaJIT's global state holds the running coroutine and what the VM does: interpret, run
 * C or compiled code, collect, compile. Every activation of the VM has a frame on the C
 * stack (a cframe), linked to the one before it, so Lua frames have stack addresses.
 * Across a resume, the walk finds the next cframe further up the C stack.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_JIT_WALK_H
#define JSPROF_LUA_JIT_WALK_H

#include <ucontext.h>

#include "frames.h"
#include "jit/layout.h"
#include "naming.h"

#if !defined(__x86_64__)
#error "LuaJIT is understood on x86-64 only"
#endif

enum { JSP_JIT_SUBROUTINE = 32 }; /* stack bytes that the VM's own subroutines take */

/* The coroutine that is being walked. */
struct jsp_jit_thread {
    uintptr_t at, base, stack, maxstack, cframe;
};

struct jsp_jit_walk {
    struct jsp_lua_walker *w;
    struct jsp_lua_read *read;
    const ucontext_t *context; /* may be NULL */
    struct jsp_lua_frames frames;
    uintptr_t global;
    int32_t vm;            /* vmstate */
    uintptr_t rip, rsp;
    struct jsp_jit_thread thread;
    uintptr_t pc;          /* next instruction of the next frame; 0: not known */
};

/* -- thread.c: coroutines and the links between frames ---------------------------- */

/* Return a word of memory, or 0 if it can not be read. */
uintptr_t jsp_jit_word(struct jsp_jit_walk *k, uintptr_t at);

/* Read the lua_State at `at` and the global state to which it belongs. Return false if
 * there is none. */
bool jsp_jit_thread_read(struct jsp_lua_read *r, uintptr_t at, struct jsp_jit_thread *t,
                         uintptr_t *global);

/* Return whether this can be the base of a frame of the coroutine. */
bool jsp_jit_in_stack(const struct jsp_jit_thread *t, uintptr_t base);

/* Read the function whose frame has this base: JSP_LUA_UNKNOWN if it can not be read. */
void jsp_jit_function_at(struct jsp_jit_walk *k, uintptr_t base, struct jsp_lua_function *f);

/* Return the base of the frame below the one at `base`, which has this link. 0: there is
 * none. */
uintptr_t jsp_jit_below(struct jsp_jit_walk *k, uintptr_t base, uintptr_t link);

/* Return the instruction at which the VM's activation called C. */
uintptr_t jsp_jit_saved_pc(struct jsp_jit_walk *k);

/* Return the VM's activation before this one, in the same coroutine. 0: there is none. */
uintptr_t jsp_jit_cframe_before(struct jsp_jit_walk *k, uintptr_t cframe);

/* Return the VM's activation that runs the function with this base: `cframe`, or one before it.
 * LuaJIT runs its parser and its compiler in activations that run no function. */
uintptr_t jsp_jit_cframe_of(struct jsp_jit_walk *k, uintptr_t cframe, uintptr_t base);

/* Return the outermost activation of the coroutine. */
uintptr_t jsp_jit_bottom(struct jsp_jit_walk *k);

/* Continue with the coroutine that resumed this one, whose outermost activation is
 * `bottom`. Return false if there is none. */
bool jsp_jit_resumer(struct jsp_jit_walk *k, uintptr_t bottom);

/* -- frames.c: functions as frames ------------------------------------------------- */

jsprof_frame *jsp_jit_frame_next(struct jsp_jit_walk *k);

/* Add a frame for work of the VM itself. */
void jsp_jit_frame_doing(struct jsp_jit_walk *k, const char *what, enum jsprof_kind kind);

/* The caller of a function. `base` is the base of the function's frame, whose link leads
 * to the caller. If `base` is 0, the other two fields have the caller. */
struct jsp_jit_call {
    uintptr_t base;
    uintptr_t caller; /* a Lua function; 0: not known */
    uintptr_t next;   /* its instruction after the call */
};

/* Add a frame for a function whose next instruction is at `next`. Add none if the
 * function is unknown. */
void jsp_jit_frame(struct jsp_jit_walk *k, const struct jsp_lua_function *f, uintptr_t next,
                   enum jsprof_kind kind, const struct jsp_jit_call *call);

/* Add the frames from the function at k->thread.base, which has this kind, out to the
 * first of the coroutine. */
void jsp_jit_frames(struct jsp_jit_walk *k, bool skip_first, enum jsprof_kind kind);

/* -- global.c ------------------------------------------------------------------------ */

/* Return the trace of this number. 0: there is none. */
uintptr_t jsp_jit_trace_object(struct jsp_jit_walk *k, uint32_t number);

/* -- running.c ---------------------------------------------------------------------- */

/* Add the frames of the running coroutine. Registers and traces complete what its stack
 * holds. */
void jsp_jit_running(struct jsp_jit_walk *k);

#endif
