/* sigsafe/unwind.h - one thread's native stack, from its registers.
 *
 * Every step is bounded, and must move the stack address up, inside the thread's
 * stack or, on another one, where the protected load can read. So a bad table, a
 * smashed stack or an object that was closed a moment ago leads to a short or a wrong
 * stack, never to a crash. Return addresses are looked up one byte back, where the
 * call is; interrupted instructions where they are. A signal's trampoline is a frame
 * of its own, behind it follows what was interrupted, maybe on another stack.
 *
 *                       SIGPROF handler   any thread, for itself
 *   jsp_unwinder_init          -                  yes
 *   jsp_unwind                yes                 yes
 *   jsp_unwind_from           yes                 yes
 *   jsp_unwind_on             yes                 yes
 *   jsp_unwind_caller         yes                 yes
 *   jsp_unwind_count          yes                 yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_UNWIND_H
#define JSP_SIGSAFE_UNWIND_H

#include "jitrows.h"
#include "live.h"
#include "memread.h"
#include "record.h"
#include "regs.h"
#include "unwind_map.h"

/* Why a walk ended. */
enum jsp_unwind_stop {
    JSP_STOP_END,        /* the outermost frame */
    JSP_STOP_FULL,       /* no room for more frames */
    JSP_STOP_NO_TABLE,   /* code that nobody described, and no frame pointer to trust */
    JSP_STOP_STACK,      /* the next frame would not be further up */
    JSP_STOP_UNREADABLE, /* what a rule points to can not be read */
    JSP_STOP_RULE,       /* a rule that needs a register or an operation we do not have */
    JSP_N_STOPS,
};

enum { JSP_UNWIND_CACHED = 1024 }; /* power of two */

/* Beside JSP_HOW_NONE, in the cache: the code there was looked at, and is no trampoline. It
 * becomes none while the map is the same. */
enum { JSP_UNWIND_LOOKED = 1 << JSP_HOW_KIND_BITS };

/* One thread's. About 23 KiB. */
struct jsp_unwinder {
    struct jsp_memread mem;
    struct jsp_jitrows *jit;  /* borrowed; NULL: none */
    const jsprof_frame *callers; /* of the host's compiled code, innermost first */
    uint32_t n_callers;
    uint64_t generation;      /* the map that the cache is of */
    _Atomic uint64_t stops[JSP_N_STOPS]; /* walks by how they ended */
    struct jsp_regs crossed;  /* what the last trampoline brought back */
    uint32_t n_crossed;       /* trampolines that the last walk from a signal met */
    uint32_t last_how;        /* by which the last walk ended; see enum jsp_how */
    bool is_behind;           /* a walk met an object that its map does not show */
    struct jsp_live live;     /* how to walk on there */
    struct jsp_unwind_cached {
        uintptr_t pc;
        uint32_t how;
    } cache[JSP_UNWIND_CACHED];
};

/* Where the cache keeps what the rows say of pc. */
static inline struct jsp_unwind_cached *jsp_unwind_slot(struct jsp_unwinder *u, uintptr_t pc)
{
    return &u->cache[(pc ^ pc >> 10) % JSP_UNWIND_CACHED];
}

enum { JSP_UNWIND_BEYOND = 4096 }; /* frames past a full list that are looked at */

/* Where the frames go. Of a stack that has more of them, the innermost are kept, and
 * the outermost if they are asked for and not too far away: a frame JSP_NATIVE_CUT stands
 * for what was between. Where they are too far, or not asked for, the walk ends FULL. */
struct jsp_unwound {
    struct jsp_rec_native *frames; /* innermost first */
    uint32_t max;
    uint32_t n;                    /* written; from here on they are written */
    uint32_t roots;                /* so many are for the outermost ones; < max */
    uint32_t cut;                  /* out: left out in the middle */
};

/* The thread's stack is [low, high), both 0 where nobody knows: see memread.h. */
void jsp_unwinder_init(struct jsp_unwinder *u, uintptr_t low, uintptr_t high, pid_t pid);

/* Walk from where a signal interrupted. The frame that a walk ends at is in the list;
 * where its end is not known, its CFA is UINTPTR_MAX. */
enum jsp_unwind_stop jsp_unwind(struct jsp_unwinder *u, const struct jsp_unwind_map *map,
                                const void *ucontext, struct jsp_unwound *out);

/* Count how a walk ended: who calls it knows when it has. */
void jsp_unwind_count(struct jsp_unwinder *u, enum jsp_unwind_stop stop);

/* The registers of who called the function that took `here`. False: can not be told. */
bool jsp_unwind_caller(struct jsp_unwinder *u, const struct jsp_unwind_map *map,
                       const struct jsp_regs_core *here, struct jsp_regs_core *caller);

/* Walk on, from a frame that called: its registers as it will find them again. */
enum jsp_unwind_stop jsp_unwind_on(struct jsp_unwinder *u, const struct jsp_unwind_map *map,
                                   const struct jsp_regs_core *caller,
                                   struct jsp_unwound *out);

/* Walk from registers that the caller took itself: see jsp_regs_here. */
enum jsp_unwind_stop jsp_unwind_from(struct jsp_unwinder *u, const struct jsp_unwind_map *map,
                                     const struct jsp_regs_core *here,
                                     struct jsp_unwound *out);

#endif
