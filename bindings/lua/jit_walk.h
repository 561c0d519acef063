/* jit_walk.h - one walk of LuaJIT's stacks, as its files share it.
 *
 * LuaJIT says in its global state which coroutine runs and what the VM does: interpret,
 * run C or compiled code, collect, compile. Every activation of the VM has a frame on the
 * C stack (a cframe), linked to the one before, so Lua frames have stack addresses; across
 * a resume the next one is found on the C stack above.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_JIT_WALK_H
#define JSPROF_LUA_JIT_WALK_H

#include <ucontext.h>

#include "frames.h"
#include "jit.h"
#include "naming.h"

#if !defined(__x86_64__)
#error "LuaJIT is understood on x86-64 only"
#endif

/* The coroutine that is being walked. */
struct jsp_jit_thread {
    uintptr_t at, base, stack, maxstack, cframe;
};

struct jsp_jit_walk {
    struct jsp_lua_walker *w;
    struct jsp_lua_read *read;
    const ucontext_t *context; /* or NULL */
    struct jsp_lua_frames frames;
    uintptr_t global;
    int32_t vm;            /* vmstate */
    uintptr_t rip, rsp;
    struct jsp_jit_thread thread;
    uintptr_t pc;          /* next instruction of the frame to come; 0: not known */
};

/* -- jit_thread.c: coroutines and the links between frames ---------------------------- */

/* A word of memory; 0: not readable, too. */
uintptr_t jsp_jit_word(struct jsp_jit_walk *k, uintptr_t at);

/* The lua_State at `at`, and the global state that it belongs to; false: there is none. */
bool jsp_jit_thread_read(struct jsp_lua_read *r, uintptr_t at, struct jsp_jit_thread *t,
                         uintptr_t *global);

/* May this be the base of a frame of the coroutine? */
bool jsp_jit_in_stack(const struct jsp_jit_thread *t, uintptr_t base);

/* The function whose frame has this base: unreadable ones are JSP_LUA_UNKNOWN. */
void jsp_jit_function_at(struct jsp_jit_walk *k, uintptr_t base, struct jsp_lua_function *f);

/* The base below the frame at `base`, whose link this is; 0: there is none. */
uintptr_t jsp_jit_below(struct jsp_jit_walk *k, uintptr_t base, uintptr_t link);

/* Where the VM's activation that called C was. */
uintptr_t jsp_jit_saved_pc(struct jsp_jit_walk *k);

/* The VM's activation before this one, of the same coroutine; 0: none. */
uintptr_t jsp_jit_cframe_before(struct jsp_jit_walk *k, uintptr_t cframe);

/* The outermost activation of the coroutine that is walked. */
uintptr_t jsp_jit_bottom(struct jsp_jit_walk *k);

/* Makes the walk one of the coroutine that resumed this one, whose outermost activation is
 * `bottom`; false: there is none. */
bool jsp_jit_resumer(struct jsp_jit_walk *k, uintptr_t bottom);

/* -- jit_frames.c: functions as frames ------------------------------------------------- */

jsprof_frame *jsp_jit_frame_next(struct jsp_jit_walk *k);

/* What the VM does instead of running a function. */
void jsp_jit_frame_doing(struct jsp_jit_walk *k, const char *what, enum jsprof_kind kind);

/* Who called a function: `base` is that of its frame, which says so, or 0, and then: */
struct jsp_jit_call {
    uintptr_t base;
    uintptr_t caller; /* a Lua function; 0: not known */
    uintptr_t next;   /* its instruction after the call */
};

/* A function, and the address of its next instruction; of an unknown one there is no frame. */
void jsp_jit_frame(struct jsp_jit_walk *k, const struct jsp_lua_function *f, uintptr_t next,
                   enum jsprof_kind kind, const struct jsp_jit_call *call);

/* From the function at k->thread.base, which is of this kind, to the coroutine's first. */
void jsp_jit_frames(struct jsp_jit_walk *k, bool skip_first, enum jsprof_kind kind);

/* -- jit_global.c ------------------------------------------------------------------------ */

/* The trace of this number; 0: there is none. */
uintptr_t jsp_jit_trace_object(struct jsp_jit_walk *k, uint32_t number);

/* -- jit_running.c ---------------------------------------------------------------------- */

/* The coroutine that runs: its registers and traces say more than its stack. */
void jsp_jit_running(struct jsp_jit_walk *k);

#endif
