/* context.h - what the files of the binding share of one attached context.
 *
 * SPDX-License-Identifier: MIT
 *
 * Functions whose name ends in _sigsafe run in the SIGPROF handler of the context's own
 * thread; all others belong to that thread outside of it.
 */
#ifndef JSPROF_MOZJS_CONTEXT_H
#define JSPROF_MOZJS_CONTEXT_H

#include "engine.h" /* first: SpiderMonkey's headers want js-config.h before them */

#include <cstdint>

#include <js/ProfilingStack.h>

#include "jsprof-mozjs.h"

/* As many frames as the core keeps without being asked for more. */
constexpr uint32_t MOZJS_KEPT = 512;
/* Lines that are remembered; a power of two. */
constexpr uint32_t MOZJS_LINES = 256;

/* Places in compiled code that are remembered, a power of two, with so many functions. */
constexpr uint32_t MOZJS_PLACES = 512;
constexpr uint32_t MOZJS_PLACE_LABELS = 6;
/* Functions in WebAssembly that are remembered, a power of two. */
constexpr uint32_t MOZJS_WASM = 64;
constexpr uint32_t MOZJS_WALK_WORDS = sizeof(JS::ProfilingFrameIterator) / sizeof(uint64_t);
static_assert(sizeof(JS::ProfilingFrameIterator) % sizeof(uint64_t) == 0 &&
              alignof(JS::ProfilingFrameIterator) <= alignof(uint64_t), "compared as words");

/* The line of one place in a script, while no collection can have moved the script. */
struct mozjs_line {
    const void *script;
    const void *pc;
    uint32_t line;
    uint32_t epoch; /* of the table, 0: unused */
};

/* Which of an iterator's words say where on the stack it stands, and which where in the code:
 * indices, learned from what it told of a frame. */
struct mozjs_words {
    bool known;
    uint32_t address;
    uint32_t activation;
    uint32_t code;
    uint64_t same[MOZJS_WALK_WORDS]; /* ~0: places have it in common; 0: an address on the stack */
};

/* The functions where an iterator stood whose words were these, but for those of the stack. */
struct mozjs_place {
    uint64_t walk[MOZJS_WALK_WORDS];
    const char *labels[MOZJS_PLACE_LABELS]; /* innermost first; the code's own */
    uint32_t lines[MOZJS_PLACE_LABELS];     /* as in mozjs_lines */
    bool runs;                              /* as in mozjs_lines */
    uint32_t n;
    uint32_t epoch; /* of the table, 0: unused */
};

/* The name where an iterator stood in WebAssembly whose words were these, addresses on the
 * stack left out. */
struct mozjs_wasm {
    uint64_t walk[MOZJS_WALK_WORDS];
    const char *label; /* the code's own */
    uint32_t epoch;    /* of the places, 0: unused */
};

struct jsprof_mozjs {
    JSContext *cx;         /* borrowed; nullptr: it was destroyed under us */
    jsprof_thread *thread; /* borrowed; nullptr: detached */
    ProfilingStack stack;  /* SpiderMonkey writes, the handler reads */

    /* The compiled frames that a collection began below, innermost first. */
    jsprof_frame kept[MOZJS_KEPT];
    uint32_t n_kept;
    uint32_t kept_there;           /* with those that did not fit */
    volatile uint32_t collections; /* that are running; they nest */

    volatile bool keeps;           /* they are being taken: the handler uses no table */

    /* Written by the handler. A new epoch, by the collector's callbacks, forgets all:
     * of lines when scripts may have moved, of places when code may be gone. */
    mozjs_line lines[MOZJS_LINES];
    mozjs_place places[MOZJS_PLACES];
    mozjs_wasm wasm[MOZJS_WASM];
    mozjs_words words;
    volatile uint32_t script_epoch;
    volatile uint32_t code_epoch;

    /* For marks and counters; nullptr: nobody asked. Times are jsprof_now(), 0: none. */
    jsprof *session;
    uint64_t cycle_ns, slice_ns, nursery_ns, sweep_ns;
    const char *reason; /* of the slice that runs; SpiderMonkey's constant */
    uint64_t malloc_ns; /* when its size was asked for */
    int gc_bytes;       /* counters */
    int malloc_bytes;

    /* The outermost C++ code that the last sample saw calling compiled code. */
    JS::ProfilingFrameIterator::RegisterState last_caller;
    uintptr_t stack_low; /* of the thread's own stack; both 0: not known */
    uintptr_t stack_high;

    uintptr_t code_begin; /* SpiderMonkey's own */
    uintptr_t code_end;

    /* Called through here and not by name, see mozjs_bind_symbols. */
    uint32_t (JS::ProfilingFrameIterator::*extract)(JS::ProfilingFrameIterator::Frame *,
                                                    uint32_t, uint32_t) const;
    mozilla::Maybe<JS::ProfilingFrameIterator::RegisterState> (
        JS::ProfilingFrameIterator::*entry)() const;
    mozilla::Maybe<JS::ProfilingFrameIterator::Frame> (
        JS::ProfilingFrameIterator::*physical)() const;
    bool (JS::ProfilingFrameIterator::*is_wasm)() const;
    void (JS::ProfilingFrameIterator::*next)();
    JSScript *(js::ProfilingStackFrame::*script)() const;
    jsbytecode *(js::ProfilingStackFrame::*pc)() const;
    engine_line line_of;
#ifdef ENGINE_HAS_CODE_TABLES
    mozilla::Maybe<JS::ProfilingFrameIterator::Frame> (
        JS::ProfilingFrameIterator::*code_of)(js::jit::JitcodeGlobalEntry *) const;
#endif

    /* Always: cx has our stack, or (after a detach that answered -EBUSY) profiling
     *         of cx is off and frames that are still running may pop from it */
};

/* -- walk.cpp: the two places in which SpiderMonkey tells its stack -- */

int mozjs_decode_sigsafe(void *host, const void *entry, jsprof_frame *out);
uint32_t mozjs_walk_sigsafe(void *host, const void *ucontext, jsprof_frame *out,
                            uint32_t max);
/* Take the compiled frames below C++ code that begins to collect. */
void mozjs_keep_frames(jsprof_mozjs *m);
/* Profiling of the context is on: a walk of any other ends the process. */
void mozjs_bind_symbols(jsprof_mozjs *m);

/* -- entry.cpp -- */

/* Where SpiderMonkey's own code is. Before the first sample. */
void mozjs_find_code(jsprof_mozjs *m);

/* -- forgotten.cpp -- */

/* Where the calling thread's stack is. Before the first sample. */
void mozjs_find_stack(jsprof_mozjs *m);

/* -- collect.cpp: what the collector tells -- */

/* False: there is no memory. */
bool mozjs_watch_collections(jsprof_mozjs *m);
void mozjs_unwatch_collections(jsprof_mozjs *m);

/* -- marks.cpp: what the collector does, as marks and counters. Each does nothing where
 *    m->session is nullptr -- */

void mozjs_mark_slice(jsprof_mozjs *m, JS::GCProgress progress, JS::GCReason reason);
void mozjs_mark_nursery(jsprof_mozjs *m, JS::GCNurseryProgress progress,
                        JS::GCReason reason);
/* Before the context is given back. */
void mozjs_mark_no_more(jsprof_mozjs *m);

/* -- jsprof-mozjs.cpp -- */

/* The context is being destroyed: read nothing of it any more. */
void mozjs_lose_context(jsprof_mozjs *m);

#endif
