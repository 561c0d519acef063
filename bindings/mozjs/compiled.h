/* compiled.h - SpiderMonkey's iterator over compiled code, and the frames that it gives.
 *
 * SPDX-License-Identifier: MIT
 *
 * Only the handler and mozjs_keep_frames use this.
 */
#ifndef JSPROF_MOZJS_COMPILED_H
#define JSPROF_MOZJS_COMPILED_H

#include "context.h"

/* SpiderMonkey's inlining is at most this deep (js/ProfilingFrameIterator.h). */
constexpr uint32_t MOZJS_INLINED = 64;

/* An iterator with known bytes: those that SpiderMonkey does not set are 0, or what it
 * left there before. So two iterators with the same bytes are at the same place. */
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
    bool runs; /* lines[0] belongs to running code, not to a call */
};

/* -- remember.cpp: what SpiderMonkey said once, for as long as it holds -- */

/* Return the line of one place in a script. 0: not known. */
uint32_t mozjs_line_at(jsprof_mozjs *m, JSScript *script, jsbytecode *pc);
/* Return the functions of compiled code at which this iterator is, or nullptr if they are
 * not remembered. The place has the code; the iterator's words have the stack. */
const mozjs_place *mozjs_place_of(jsprof_mozjs *m, const mozjs_walk &walk);
/* Do extractStack for this iterator. Return the number of functions, innermost first,
 * and write the lines of those in compiled code. Both may be remembered from an earlier
 * call. */
uint32_t mozjs_functions_at(jsprof_mozjs *m, const mozjs_walk &walk,
                            JS::ProfilingFrameIterator::Frame *frames, mozjs_lines *lines);

/* -- lines.cpp: lines in compiled code -- */

void mozjs_bind_tables(jsprof_mozjs *m);
/* Write the lines of these n functions, while this iterator is in compiled code. 0: not
 * known. Return whether the innermost line holds only while that code runs, and not while
 * it calls. */
bool mozjs_lines_at(jsprof_mozjs *m, const mozjs_walk &walk,
                    const JS::ProfilingFrameIterator::Frame *frames, uint32_t n,
                    uint32_t *lines);
/* The same if a stub of theirs was interrupted: only the stack at `sp` has the place. */
void mozjs_lines_between(jsprof_mozjs *m, const mozjs_walk &walk,
                         const JS::ProfilingFrameIterator::Frame *frames, uint32_t n,
                         const void *sp, uint32_t *lines);

/* -- wasm.cpp: names of functions in WebAssembly -- */

/* Do extractStack for an iterator that is in WebAssembly. Return 1 or 0 frames. The label
 * is "WebAssembly" if SpiderMonkey can not be asked. */
uint32_t mozjs_wasm_at(jsprof_mozjs *m, const mozjs_walk &walk,
                       const JS::ProfilingFrameIterator::RegisterState &regs,
                       JS::ProfilingFrameIterator::Frame *frame);

/* -- entry.cpp: which C++ code called WebAssembly, or a script -- */

/* Find the caller of the script at this stack address, the last frame of its activation, if
 * SpiderMonkey does not report it. */
bool mozjs_script_caller(const jsprof_mozjs *m, const void *frame, const void *activation,
                         JS::ProfilingFrameIterator::RegisterState *regs);

/* Find the caller of its activation's last frame, when `now` was interrupted. The frame
 * pointer is found only if compiled frames have them. */
bool mozjs_wasm_caller(const jsprof_mozjs *m, const JS::ProfilingFrameIterator::Frame &frame,
                       const JS::ProfilingFrameIterator::RegisterState &now,
                       JS::ProfilingFrameIterator::RegisterState *regs);

/* -- forgotten.cpp -- */

/* SpiderMonkey gives no frame. Return whether this thread may be in compiled code that
 * *caller has called, and whose call is still on the stack. */
bool mozjs_is_forgotten(const jsprof_mozjs *m,
                        const JS::ProfilingFrameIterator::RegisterState &regs,
                        JS::ProfilingFrameIterator::RegisterState *caller);

/* -- compiled.cpp: the frames -- */

/* Return kind and tier for a jsprof_frame. */
uint32_t mozjs_frame_kind(JS::ProfilingFrameIterator::FrameKind kind);

/* Return whether this is code of a program or library, and not SpiderMonkey's compiled
 * code. A null pointer counts as such. If libc can not look it up, return `unknown`. */
bool mozjs_in_object(void *pc, bool unknown);

/* Write the frames of compiled code and of the baseline interpreter, innermost first, and
 * return their number. */
uint32_t mozjs_walk_compiled(jsprof_mozjs *m, const JS::ProfilingFrameIterator::RegisterState &regs,
                             jsprof_frame *out, uint32_t max);

#endif
