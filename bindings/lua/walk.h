/* walk.h - the Lua stack of an interrupted thread, without Lua's help.
 *
 * A jsprof walker (form c of jsprof.h): runs in the signal handler, reads the state's
 * objects by protected loads and calls nothing of Lua. No hook is set, so the program
 * runs as it does without us. docs/lua.md says which states of the VM a signal meets
 * and what is seen in each.
 *
 *                        handler   owner thread
 *   jsp_lua_walk_sigsafe   yes         yes, while paused
 *   all others              -          yes, while paused
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_WALK_H
#define JSPROF_LUA_WALK_H

#include <lua.h>

#include "bounds.h"
#include "jsprof.h"
#include "labels.h"
#include "read.h"

enum { JSP_LUA_STATES = 64 }; /* coroutines that resume each other */

enum { JSP_LUA_COLLECTORS = 8 }; /* C functions of the collector */

enum { JSP_LUA_TO_SEARCH = 256 }; /* prototypes whose code waits to be looked through */

/* One coroutine of a walk. */
struct jsp_lua_state {
    uintptr_t at, ci, base_ci, top, global, savedpc, error_jmp;
    uint8_t status;
};

struct jsp_lua_walker {
    volatile uintptr_t root; /* lua_State whose frames are outermost; 0: none */
    struct jsp_lua_state states[JSP_LUA_STATES];
    uintptr_t loop_low, loop_high; /* C code of the interpreter's loop; equal: not known */
    struct jsp_lua_bounds resume, pcall; /* lua_resume and lua_pcall; empty: not known */
    uint32_t n_collectors;   /* C functions that are registered as the collector */
    struct jsp_lua_bounds collectors[JSP_LUA_COLLECTORS];
    uintptr_t stack_low, stack_high; /* of the thread; equal: not known */
    uintptr_t unshown;       /* a C function of ours that gets no frame; 0: none */
    uint64_t n_skipped;      /* frames that were not readable */
    uint32_t searches;       /* prototypes that this walk may still look through */
    uintptr_t to_search[JSP_LUA_TO_SEARCH];
    struct jsp_lua_read read;
    struct jsp_lua_labels labels;
    struct {
        uint32_t holds;   /* words that have held the running coroutine so far, as bits */
        uint16_t current; /* offset of the one that does; 0: not known */
        uint16_t traces;  /* offset of the list of traces; 0: not known yet */
        uintptr_t alone;  /* of this walk: the activation that no coroutine resumed; or 0 */
    } jit;                /* offsets are those in LuaJIT's global state */
};

/* A jsprof_walk_sigsafe_fn; `host` is the walker, `ucontext` may be NULL. */
uint32_t jsp_lua_walk_sigsafe(void *host, const void *ucontext, jsprof_frame *out, uint32_t max);

/* Note the stack of the calling thread: a state that another thread runs shows no frames here. */
void jsp_lua_walk_set_stack(struct jsp_lua_walker *w);

/* May this thread, whose stack pointer is `sp`, run a state whose C code has a frame at `at`? Only
 * where both are known, and the stack pointer is not on a stack of the host's, is the answer no. */
static inline bool jsp_lua_walk_is_here(const struct jsp_lua_walker *w, uintptr_t sp, uintptr_t at)
{
    uintptr_t bytes = w->stack_high - w->stack_low;
    return !at || sp - w->stack_low >= bytes || at - w->stack_low < bytes;
}

/* The main coroutine of this one's Lua; 0: this is no lua_State as we know them. */
uintptr_t jsp_lua_walk_main(struct jsp_lua_walker *w, uintptr_t state);

/* The coroutine that runs at this moment is known: learn how this Lua's state says so. Called
 * by C functions of two coroutines, before the first walk. PUC Lua's does not say. */
void jsp_lua_walk_learn(struct jsp_lua_walker *w, uintptr_t running);

/* Names a function before it is seen, by what lua_topointer and lua_tocfunction say. */
void jsp_lua_walk_name(struct jsp_lua_walker *w, uintptr_t object, uintptr_t c_function,
                       const char *name);

/* What a function is told apart by, by what lua_topointer and lua_tocfunction say; reads
 * plainly, so only of a function that is alive. */
void jsp_lua_walk_key(uintptr_t object, uintptr_t c_function, struct jsp_lua_key *key);

/* The global state of a lua_State that is alive. */
uintptr_t jsp_lua_walk_global(uintptr_t state);

/* The numbers in a global state that give the bytes in use; 0: there is no second. Returns 1
 * where the second is added, -1 where it is taken off. */
int jsp_lua_walk_memory(uintptr_t global, uintptr_t at[2]);

/* LuaJIT: may it compile from now on? Compiled code calls no hooks. */
void jsp_lua_walk_compile(lua_State *L, bool may);

/* Do its frames have stack addresses? Else the loop's activations order them. */
bool jsp_lua_walk_has_addresses(void);

/* Do the calls of this coroutine, which runs, end at the one that its layout says is the first,
 * and is the C stack where the layout says that it is? */
bool jsp_lua_walk_ends(struct jsp_lua_walker *w, uintptr_t state);

/* The version that this was built for: "5.4"; its first release that has this layout. */
const char *jsp_lua_walk_version(void);
int jsp_lua_walk_first_release(void);

#endif
