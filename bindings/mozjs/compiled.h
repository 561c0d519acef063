/* compiled.h - SpiderMonkey's iterator over compiled code, and what it says of a frame.
 *
 * SPDX-License-Identifier: MIT
 *
 * All of it for the handler and for mozjs_keep_frames.
 */
#ifndef JSPROF_MOZJS_COMPILED_H
#define JSPROF_MOZJS_COMPILED_H

#include "context.h"

/* SpiderMonkey's inlining is at most this deep (js/ProfilingFrameIterator.h). */
constexpr uint32_t MOZJS_INLINED = 64;

/* An iterator all of whose bytes are known: those that SpiderMonkey does not set are 0 or
 * what it left there before. It is then the same as an earlier one if its bytes are. */
class mozjs_walk {
public:
    using Walk = JS::ProfilingFrameIterator;

    mozjs_walk(const jsprof_mozjs *m, const Walk::RegisterState &regs);
    ~mozjs_walk() { walk->~Walk(); }
    mozjs_walk(const mozjs_walk &) = delete;
    mozjs_walk &operator=(const mozjs_walk &) = delete;

    Walk *operator->() const { return walk; }
    Walk &operator*() const { return *walk; }
    const uint64_t *words() const { return bytes; }

private:
    uint64_t bytes[MOZJS_WALK_WORDS] = {};
    Walk *walk;
};

/* Lines of the functions at a place in compiled code, innermost first. */
struct mozjs_lines {
    uint32_t lines[MOZJS_INLINED]; /* 0: not known */
    bool runs; /* lines[0] is that of code that runs, not of code that calls */
};

/* -- remember.cpp: what SpiderMonkey said once, for as long as it holds -- */

/* The line of one place in a script; 0: not known. */
uint32_t mozjs_line_at(jsprof_mozjs *m, JSScript *script, jsbytecode *pc);
/* The functions of compiled code at which this iterator is; nullptr: not remembered. What
 * it says of the stack is in the iterator's words, not in the place. */
const mozjs_place *mozjs_place_of(jsprof_mozjs *m, const mozjs_walk &walk);
/* extractStack of this iterator: how many functions are there, innermost first, and the
 * lines of those in compiled code. They may be remembered. */
uint32_t mozjs_functions_at(jsprof_mozjs *m, const mozjs_walk &walk,
                            JS::ProfilingFrameIterator::Frame *frames, mozjs_lines *lines);

/* -- lines.cpp: lines in compiled code -- */

void mozjs_bind_tables(jsprof_mozjs *m);
/* Write the lines of these n functions, while this iterator is in compiled code; 0: not
 * known. Return whether that of the innermost function is true of running code alone. */
bool mozjs_lines_at(jsprof_mozjs *m, const mozjs_walk &walk,
                    const JS::ProfilingFrameIterator::Frame *frames, uint32_t n,
                    uint32_t *lines);
/* The same where a stub of theirs was interrupted: only the stack at `sp` has the place. */
void mozjs_lines_between(jsprof_mozjs *m, const mozjs_walk &walk,
                         const JS::ProfilingFrameIterator::Frame *frames, uint32_t n,
                         const void *sp, uint32_t *lines);

/* -- wasm.cpp: names of functions in WebAssembly -- */

/* What extractStack says while this iterator is in WebAssembly: 1 frame or none. Its
 * label is "WebAssembly" where SpiderMonkey can not be asked. */
uint32_t mozjs_wasm_at(jsprof_mozjs *m, const mozjs_walk &walk,
                       const JS::ProfilingFrameIterator::RegisterState &regs,
                       JS::ProfilingFrameIterator::Frame *frame);

/* -- entry.cpp: which C++ code called WebAssembly -- */

/* Of its activation's last frame, where `now` was interrupted. The frame pointer is found only
 * where compiled frames have them. */
bool mozjs_wasm_caller(const jsprof_mozjs *m, const JS::ProfilingFrameIterator::Frame &frame,
                       const JS::ProfilingFrameIterator::RegisterState &now,
                       JS::ProfilingFrameIterator::RegisterState *regs);

/* -- forgotten.cpp -- */

/* Where SpiderMonkey tells no frame: may this thread be in compiled code that *caller has
 * called, who is still on the stack? */
bool mozjs_is_forgotten(const jsprof_mozjs *m,
                        const JS::ProfilingFrameIterator::RegisterState &regs,
                        JS::ProfilingFrameIterator::RegisterState *caller);

/* -- compiled.cpp: the frames -- */

/* Is this code of a program or library, and not SpiderMonkey's compiled code? A null pointer
 * is; where no libc tells, the answer is `unknown`. */
bool mozjs_in_object(void *pc, bool unknown);

/* The frames of compiled code and of the baseline interpreter, innermost first; returns how
 * many there are. */
uint32_t mozjs_walk_compiled(jsprof_mozjs *m, const JS::ProfilingFrameIterator::RegisterState &regs,
                             jsprof_frame *out, uint32_t max);

#endif
