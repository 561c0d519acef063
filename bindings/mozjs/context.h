/* context.h - one attached context, shared by the files of the binding.
 *
 * SPDX-License-Identifier: MIT
 *
 * Functions whose names end in _sigsafe run in the SIGPROF handler of the context's own
 * thread; all others run on that thread outside of the handler.
 */
#ifndef JSPROF_MOZJS_CONTEXT_H
#define JSPROF_MOZJS_CONTEXT_H

#include "engine.h" /* first: SpiderMonkey's headers need js-config.h before them */

#include <cstdint>

#include <js/ProfilingStack.h>

#include "jsprof-mozjs.h"

/* The number of frames that the library keeps by default. */
constexpr uint32_t MOZJS_KEPT = 512;
/* The number of remembered lines, a power of two. */
constexpr uint32_t MOZJS_LINES = 1024;

/* The number of remembered places in compiled code, a power of two, and of functions in
 * each. */
constexpr uint32_t MOZJS_PLACES = 2048;
constexpr uint32_t MOZJS_PLACE_LABELS = 6;
/* The number of remembered functions in WebAssembly, a power of two. */
constexpr uint32_t MOZJS_WASM = 64;
constexpr uint32_t MOZJS_WALK_WORDS = sizeof(JS::ProfilingFrameIterator) / sizeof(uint64_t);
static_assert(sizeof(JS::ProfilingFrameIterator) % sizeof(uint64_t) == 0 &&
              alignof(JS::ProfilingFrameIterator) <= alignof(uint64_t), "compared as words");

/* The line of one place in a script, valid until a collection may have moved the
 * script. */
struct mozjs_line {
    const void *script;
    const void *pc;
    uint32_t line;
    uint32_t epoch; /* of the table; 0: unused */
};

/* The iterator's words that depend on the stack, and those that depend on the code:
 * indices, learned from a frame that SpiderMonkey described. */
struct mozjs_words {
    bool has_stack; /* address, activation and walk are known */
    bool known;     /* all are */
    uint32_t address;
    uint32_t activation;
    uint32_t code;
    uint64_t same[MOZJS_WALK_WORDS]; /* ~0: part of a place; 0: a stack address */
    uint64_t walk[MOZJS_WALK_WORDS]; /* the iterator at that frame */
};

/* The functions at a place: the iterator's words, except those of the stack, had these
 * values. */
struct mozjs_place {
    uint64_t walk[MOZJS_WALK_WORDS];
    const char *labels[MOZJS_PLACE_LABELS]; /* innermost first; as they are shown */
    uint32_t lines[MOZJS_PLACE_LABELS];     /* as in mozjs_lines */
    bool runs;                              /* as in mozjs_lines */
    uint32_t kind;                          /* as in jsprof_frame */
    uint32_t n;
    uint32_t epoch; /* of the table; 0: unused */
};

/* The function's name at a place in WebAssembly: the iterator's words, except addresses
 * on the stack, had these values. */
struct mozjs_wasm {
    uint64_t walk[MOZJS_WALK_WORDS];
    const char *label; /* the code's own */
    uint32_t epoch;    /* of the places; 0: unused */
};

/* Where a thread sleeps: all that decides which frames it has. */
constexpr uint32_t MOZJS_NAP_ENTRIES = 32;
constexpr uint32_t MOZJS_NAP_STACK = 65536;
struct mozjs_nap_place {
    uint32_t n;     /* entries of the ProfilingStack; 0: none is known */
    uint32_t epoch; /* of the scripts */
    uint8_t entries[MOZJS_NAP_ENTRIES * sizeof(js::ProfilingStackFrame)];
    uintptr_t low;  /* from here on its stack may have compiled code; 0: nowhere */
    uint64_t stack; /* a hash of that part */
};

/* Such a place, and its frames, innermost first. */
constexpr uint32_t MOZJS_NAPS = 8;
constexpr uint32_t MOZJS_NAP_FRAMES = 64;
struct mozjs_nap {
    mozjs_nap_place place;
    jsprof_frame frames[MOZJS_NAP_FRAMES];
    uint32_t n_frames;
};

struct mozjs_allocations;
struct mozjs_evaluated;

struct jsprof_mozjs {
    JSContext *cx;         /* borrowed; nullptr: the host destroyed it */
    JSRuntime *runtime;    /* the context's, for debuggers */
    jsprof_thread *thread; /* borrowed; nullptr: detached */
    ProfilingStack stack;  /* SpiderMonkey writes, the handler reads */

    /* The compiled frames below C++ code that began to collect, innermost first. */
    jsprof_frame kept[MOZJS_KEPT];
    uint32_t n_kept;
    uint32_t kept_there;           /* also counts those that did not fit */
    volatile uint32_t collections; /* collections that are running; they nest */

    volatile bool keeps;           /* while they are written, the handler uses no table */

    /* Only the handler writes these. The collector's callbacks start a new epoch, which
     * empties the tables: that of lines when scripts may have moved, that of places when
     * code may be gone. */
    mozjs_line lines[MOZJS_LINES];
    mozjs_place places[MOZJS_PLACES];
    mozjs_wasm wasm[MOZJS_WASM];
    mozjs_words words;
    mozjs_nap naps[MOZJS_NAPS];
    uint32_t n_naps; /* that were ever kept */
    /* Written by the library's thread: the place that it asks for, and room for a stack. */
    mozjs_nap_place nap;
    uint8_t nap_stack[MOZJS_NAP_STACK];
    volatile uint32_t script_epoch;
    volatile uint32_t code_epoch;

    /* For marks and counters; nullptr: not requested. Times are those of jsprof_now(); 0:
     * none. */
    jsprof *session;
    uint64_t cycle_ns, slice_ns, nursery_ns, sweep_ns;
    const char *reason; /* of the running slice; SpiderMonkey's constant */
    uint64_t malloc_ns; /* time at which its size was read */
    int gc_bytes;       /* counters */
    int malloc_bytes;

    mozjs_allocations *allocations; /* nullptr: not requested */
    mozjs_evaluated *evaluated;     /* nullptr: nothing was evaluated yet */

    /* The outermost C++ code that called compiled code in the last sample. */
    JS::ProfilingFrameIterator::RegisterState last_caller;
    uintptr_t stack_low; /* of the thread's own stack; both 0: not known */
    uintptr_t stack_high;

    uintptr_t code_begin; /* SpiderMonkey's own */
    uintptr_t code_end;

    /* The walk calls these through pointers; mozjs_bind_symbols has the reason. */
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
        JS::ProfilingFrameIterator::*code_of)(engine_entry) const;
#endif

    /* Always: cx has our stack; or, after a detach that returned -EBUSY, profiling of cx
     * is off and frames that are still running may pop from the stack */
};

/* -- walk.cpp: the two parts of SpiderMonkey's stack -- */

int mozjs_decode_sigsafe(void *host, const void *entry, jsprof_frame *out);
uint32_t mozjs_walk_sigsafe(void *host, const void *ucontext, jsprof_frame *out,
                            uint32_t max);
/* -- asleep.cpp -- */

/* Keep the frames of this moment if it is the place for which the library's thread asked. For the
 * handler; `compiled` are those of compiled code. */
void mozjs_keep_nap(jsprof_mozjs *m, const jsprof_frame *compiled, uint32_t n);
uint32_t mozjs_walk_asleep(void *host, const jsprof_asleep *at, jsprof_frame *out, uint32_t max);

/* Keep the compiled frames below C++ code that begins to collect. */
void mozjs_keep_frames(jsprof_mozjs *m);
/* The caller has switched profiling of the context on: a walk of another context ends the
 * process. */
void mozjs_bind_symbols(jsprof_mozjs *m);

/* -- describe.cpp: what debuggers read -- */

void mozjs_describe(jsprof_mozjs *m);

/* -- entry.cpp -- */

/* Find SpiderMonkey's own code. The caller does this before the first sample. */
void mozjs_find_code(jsprof_mozjs *m);

/* -- forgotten.cpp -- */

/* Find the calling thread's stack. The caller does this before the first sample. */
void mozjs_find_stack(jsprof_mozjs *m);

/* -- collect.cpp: the collector's callbacks -- */

/* Return false if there is no memory. */
bool mozjs_watch_collections(jsprof_mozjs *m);
void mozjs_unwatch_collections(jsprof_mozjs *m);

/* -- marks.cpp: the collector's work, as marks and counters. Each does nothing if
 *    m->session is nullptr -- */

void mozjs_mark_slice(jsprof_mozjs *m, JS::GCProgress progress, JS::GCReason reason);
void mozjs_mark_nursery(jsprof_mozjs *m, JS::GCNurseryProgress progress,
                        JS::GCReason reason);
/* The caller is about to give the context back. */
void mozjs_mark_no_more(jsprof_mozjs *m);

/* -- jsprof-mozjs.cpp -- */

/* The context is being destroyed: do not read it again. */
void mozjs_lose_context(jsprof_mozjs *m);

#endif
