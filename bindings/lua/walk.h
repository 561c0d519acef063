/* walk.h - the Lua stack of an interrupted thread, without Lua's help.
 *
 * This is a jsprof walker (form c of jsprof.h): it runs in the signal handler, reads the
 * state's objects by protected loads and calls nothing of Lua. It sets no hook, so the
 * program runs as it does without us. docs/lua.md lists the states of the VM that a
 * signal can meet and what a sample shows in each.
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

enum { JSP_LUA_TO_SEARCH = 256 }; /* prototypes whose code is to be searched */

enum { JSP_LUA_CLOSURES = 64 }; /* whose upvalues are looked through for one function */

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
    struct jsp_lua_bounds begins; /* C code that begins a call; empty: not known */
    uint32_t n_collectors;   /* C functions that are registered as the collector */
    struct jsp_lua_bounds collectors[JSP_LUA_COLLECTORS];
    uintptr_t stack_low, stack_high; /* of the thread; equal: not known */
    uintptr_t unshown;       /* a C function of ours that gets no frame; 0: none */
    uint64_t n_skipped;      /* frames that were not readable */
    uint32_t searches;       /* prototypes that this walk may still search */
    uintptr_t to_search[JSP_LUA_TO_SEARCH];
    struct {
        struct jsp_lua_key key;  /* the function whose name the walk searches */
        char name[JSP_LUA_NAME]; /* of the upvalue that holds it; empty: none so far */
        uintptr_t closures[JSP_LUA_CLOSURES];
        uint32_t n, n_done;      /* of them */
    } wanted;
    struct jsp_lua_read read;
    struct jsp_lua_labels labels;
    struct {
        uint32_t holds;   /* words that have held the running coroutine so far, as bits */
        uint16_t current; /* offset of the word that holds it; 0: not known */
        uint16_t traces;  /* offset of the list of traces; 0: not known yet */
        uintptr_t alone;  /* in this walk: the activation without a resumer, or 0 */
        uint32_t named_walk, n_named; /* the walk in which functions were named (0: none yet) and
                                       * their number */
    } jit;                /* offsets in LuaJIT's global state */
};

/* A jsprof_walk_sigsafe_fn; `host` is the walker, `ucontext` may be NULL. */
uint32_t jsp_lua_walk_sigsafe(void *host, const void *ucontext, jsprof_frame *out, uint32_t max);

/* Note the calling thread's stack: a state that another thread runs shows no frames
 * here. */
void jsp_lua_walk_set_stack(struct jsp_lua_walker *w);

/* Return whether this thread, whose stack pointer is `sp`, can run a state whose C code
 * has a frame at `at`. The answer is no only if both are known and the stack pointer is
 * not on a stack of the host. */
static inline bool jsp_lua_walk_is_here(const struct jsp_lua_walker *w, uintptr_t sp, uintptr_t at)
{
    uintptr_t bytes = w->stack_high - w->stack_low;
    return !at || sp - w->stack_low >= bytes || at - w->stack_low < bytes;
}

/* Return the main coroutine of this one's Lua, or 0 if this is no lua_State of a known
 * layout. */
uintptr_t jsp_lua_walk_main(struct jsp_lua_walker *w, uintptr_t state);

/* Learn how the state of this Lua shows the coroutine that runs, at a moment in which it
 * is known. C functions in two coroutines call this before the first walk. PUC Lua does
 * not show it. */
void jsp_lua_walk_learn(struct jsp_lua_walker *w, uintptr_t running);

/* Name a function before a walk meets it, by the values of lua_topointer and
 * lua_tocfunction. */
void jsp_lua_walk_name(struct jsp_lua_walker *w, uintptr_t object, uintptr_t c_function,
                       const char *name);

/* Return the value that identifies a function, from those of lua_topointer and
 * lua_tocfunction. It reads plainly, so the function must be alive. */
void jsp_lua_walk_key(uintptr_t object, uintptr_t c_function, struct jsp_lua_key *key);

/* Return the global state of a lua_State that is alive, and the offset in it of the field that
 * holds that. */
uintptr_t jsp_lua_walk_global(uintptr_t state);
size_t jsp_lua_walk_global_at(void);

/* Find the numbers of a global state that give the bytes in use; at[1] is 0 if one number
 * is enough. Return 1 if the second must be added, -1 if it must be subtracted. */
int jsp_lua_walk_memory(uintptr_t global, uintptr_t at[2]);

/* LuaJIT: allow or forbid that it compiles. Compiled code calls no hooks. */
void jsp_lua_walk_compile(lua_State *L, bool may);

/* Return whether its frames have stack addresses. If not, the activations of the loop
 * order them. */
bool jsp_lua_walk_has_addresses(void);

/* Return whether this layout fits the coroutine, which runs: its calls end at the first
 * one of the layout, and the C stack is where the layout has it. */
bool jsp_lua_walk_ends(struct jsp_lua_walker *w, uintptr_t state);

/* Return the version for which this was built, such as "5.4", and its first release with
 * this layout. */
const char *jsp_lua_walk_version(void);
int jsp_lua_walk_first_release(void);

#endif
