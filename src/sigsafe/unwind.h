/* sigsafe/unwind.h - one thread's native stack, from its registers.
 *
 * Every step is bounded, and must move the stack address up, inside the thread's stack
 * or, on another one, where the protected load can read. So a bad table, a smashed stack
 * or an object that was closed a moment ago leads to a short or a wrong stack, never to a
 * crash. A return address is looked up one byte earlier, inside the call; an interrupted
 * instruction at its own address. A signal's trampoline is a frame of its own; the frames
 * after it are those of the interrupted code, maybe on another stack.
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
    JSP_STOP_NO_TABLE,   /* code without any description, and no usable frame pointer */
    JSP_STOP_STACK,      /* the next frame would not be further up */
    JSP_STOP_UNREADABLE, /* the memory that a rule points to cannot be read */
    JSP_STOP_RULE,       /* a rule that needs an unsupported register or operation */
    JSP_N_STOPS,
};

enum { JSP_UNWIND_CACHED = 1024 }; /* power of two */

/* A flag beside JSP_HOW_NONE in the cache: the code there was examined and is no
 * trampoline. It stays so as long as the map is the same. */
enum { JSP_UNWIND_LOOKED = 1 << JSP_HOW_KIND_BITS };

/* The unwinder of one thread. About 46 KiB, of which 22 are only for very long records. */
struct jsp_unwinder {
    struct jsp_memread mem;
    struct jsp_jitrows *jit;  /* borrowed; NULL: none */
    /* frames that called the host's compiled code, innermost first */
    const jsprof_frame *callers;
    uint32_t n_callers;
    uint64_t generation;      /* of the map that the cache belongs to */
    _Atomic uint64_t stops[JSP_N_STOPS]; /* walks by how they ended */
    struct jsp_regs crossed;  /* registers that the last trampoline restores */
    uint32_t n_crossed;       /* trampolines that the last walk from a signal met */
    uint32_t last_how;        /* the rule where the last walk ended; see enum jsp_how */
    struct jsp_regs_core last; /* the registers there */
    bool has_unmapped;        /* a walk met an object that its map does not contain */
    bool has_unread;          /* a walk was the first to meet an object without rows */
    struct jsp_unwind_cached {
        uintptr_t pc;
        uint32_t how;
    } cache[JSP_UNWIND_CACHED];
    struct jsp_live live;     /* finds the rules of such objects */
};

/* Return the cache slot for pc. */
static inline struct jsp_unwind_cached *jsp_unwind_slot(struct jsp_unwinder *u, uintptr_t pc)
{
    return &u->cache[(pc ^ pc >> 10) % JSP_UNWIND_CACHED];
}

enum { JSP_UNWIND_BEYOND = 4096 }; /* frames that a walk follows after the list is full */

/* The list for the frames. If the stack has more frames than `max`, the list keeps the
 * innermost ones and, if `roots` asks for them and they are not too far away, the
 * outermost ones, with a frame JSP_NATIVE_CUT between. Otherwise the walk ends with
 * JSP_STOP_FULL. */
struct jsp_unwound {
    struct jsp_rec_native *frames; /* innermost first */
    uint32_t max;
    uint32_t n;                    /* frames written; the next ones are appended here */
    uint32_t roots;                /* number of entries for the outermost frames; < max */
    uint32_t cut;                  /* out: frames dropped in the middle */
};

/* Set up the unwinder. The thread's stack is [low, high), both 0 if unknown: see
 * memread.h. */
void jsp_unwinder_init(struct jsp_unwinder *u, uintptr_t low, uintptr_t high, pid_t pid);

/* Walk from where a signal interrupted. The list includes the frame at which the walk
 * ends; if the end of that frame is unknown, its CFA is UINTPTR_MAX. */
enum jsp_unwind_stop jsp_unwind(struct jsp_unwinder *u, const struct jsp_unwind_map *map,
                                const void *ucontext, struct jsp_unwound *out);

/* Count how a walk ended. The caller of the walk knows when it has really ended. */
void jsp_unwind_count(struct jsp_unwinder *u, enum jsp_unwind_stop stop);

/* Store the registers of the caller of the function that took `here`. Return false if
 * they cannot be found. */
bool jsp_unwind_caller(struct jsp_unwinder *u, const struct jsp_unwind_map *map,
                       const struct jsp_regs_core *here, struct jsp_regs_core *caller);

/* Continue a walk from a frame that has made a call, by its registers after the
 * return. */
enum jsp_unwind_stop jsp_unwind_on(struct jsp_unwinder *u, const struct jsp_unwind_map *map,
                                   const struct jsp_regs_core *caller,
                                   struct jsp_unwound *out);

/* Walk from registers that the caller took itself: see jsp_regs_here. */
enum jsp_unwind_stop jsp_unwind_from(struct jsp_unwinder *u, const struct jsp_unwind_map *map,
                                     const struct jsp_regs_core *here,
                                     struct jsp_unwound *out);

#endif
