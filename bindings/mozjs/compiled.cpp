/* compiled.cpp - the frames of compiled code and of the baseline interpreter.
 *
 * SPDX-License-Identifier: MIT
 *
 * SpiderMonkey made its iterator for a thread that may be stopped anywhere. If it is
 * changing the data that the iterator reads, the iterator finds nothing.
 */
#include "compiled.h"
#include "evaluated.h"

#include <algorithm>
#include <new>

#include <dlfcn.h>

extern "C" int _dl_find_object(void *, struct dl_find_object *) __attribute__((weak));

namespace {

using Walk = JS::ProfilingFrameIterator;

/* More physical frames than fit on a stack of the usual size. */
constexpr uint32_t COMPILED_FRAMES = 1u << 18;

/* A list that is being filled. If it becomes too long, it continues as a ring. */
struct compiled_list {
    jsprof_mozjs *m;
    jsprof_frame *out;
    uint32_t max;
    uint32_t n;       /* frames written, including those overwritten */
    uint32_t at;      /* index of the next one: n % max */
    const Walk::RegisterState *regs; /* at the interrupted instruction */
    enum { NONE, SCRIPT, WASM } left; /* kind of the last frame, if its caller is not listed */
    Walk::Frame last;                 /* its addresses; of WebAssembly all of it */
};

uintptr_t compiled_address(const void *p)
{
    return reinterpret_cast<uintptr_t>(p);
}

jsprof_frame *compiled_next(compiled_list *list)
{
    jsprof_frame *to = &list->out[list->at];

    list->n++;
    list->at = list->at + 1 < list->max ? list->at + 1 : 0;
    return to;
}

/* Return the iterator's address in the code, if its words are known. */
const void *compiled_code(const compiled_list *list, const mozjs_walk &walk)
{
    return reinterpret_cast<const void *>(walk.words()[list->m->words.code]);
}

/* Return whether the signal interrupted this place of compiled code itself. */
bool compiled_runs(const compiled_list *list, const void *code)
{
    return list->n == 0 && code == list->regs->pc;
}

/* Return whether the signal interrupted compiled code that has no functions, such as the
 * stubs of baseline code. Then SpiderMonkey reports the place of the innermost functions
 * before the stub. */
bool compiled_is_between(const compiled_list *list, const void *code)
{
    return list->n == 0 && code != list->regs->pc && !mozjs_in_object(list->regs->pc, true);
}

/* Add a frame that is interpreted, or was not remembered. */
void compiled_put_function(compiled_list *list, const Walk::Frame &frame, uint32_t line)
{
    jsprof_frame to = {};

    to.label = mozjs_shown_sigsafe(list->m, frame.label);
    to.sp = compiled_address(frame.stackAddress);
    to.kind = mozjs_frame_kind(frame.kind);
    to.line = line;
    if (frame.kind == Walk::Frame_BaselineInterpreter) {
        if (list->n > 0 || mozjs_in_object(list->regs->pc, false)) /* it is in a call */
            to.line = mozjs_line_at(list->m, frame.interpreterScript, frame.interpreterPC());
    }
    *compiled_next(list) = to;
}

/* Add the frame at which the C stack continues below compiled code. */
void compiled_put_caller(compiled_list *list, const Walk::RegisterState &regs)
{
    jsprof_frame to = {};

    to.pc = compiled_address(regs.pc);
    to.sp = compiled_address(regs.sp);
    to.detail = static_cast<const char *>(regs.fp);
    to.kind = JSPROF_FRAME_CALLER;
    *compiled_next(list) = to;
    if (list->regs->pc) /* a sample is the only writer */
        list->m->last_caller = regs;
}

/* The next frame is of this activation. If the last one is of another, C++ code called it. */
void compiled_leave(compiled_list *list, const void *activation)
{
    const Walk::Frame &last = list->last;
    Walk::RegisterState regs;

    if (list->left == compiled_list::NONE || last.activation == activation)
        return;
    if (list->left == compiled_list::WASM
            ? mozjs_wasm_caller(list->m, last, *list->regs, &regs)
            : mozjs_script_caller(list->m, last.stackAddress, last.activation, &regs))
        compiled_put_caller(list, regs);
    list->left = compiled_list::NONE;
}

/* Add the frames that only SpiderMonkey can name. */
__attribute__((noinline)) void compiled_put_asked(compiled_list *list, const mozjs_walk &walk)
{
    Walk::Frame frames[MOZJS_INLINED];
    mozjs_lines lines = {};
    const bool is_wasm = ((*walk).*list->m->is_wasm)();
    const uint32_t n = is_wasm ? mozjs_wasm_at(list->m, walk, *list->regs, frames)
                           : mozjs_functions_at(list->m, walk, frames, &lines);

    if (n > 0)
        compiled_leave(list, frames->activation);
    if (n > 0 && compiled_is_between(list, frames->returnAddress_))
        mozjs_lines_between(list->m, walk, frames, n, list->regs->sp, lines.lines);
    else if (n > 0 && lines.runs && !compiled_runs(list, frames->returnAddress_))
        lines.lines[0] = 0;
    for (uint32_t i = 0; i < n; i++)
        compiled_put_function(list, frames[i], lines.lines[i]);
    if (n > 0) {
        list->last = *frames;
        list->left = is_wasm ? compiled_list::WASM : compiled_list::SCRIPT;
    }
}

void compiled_put_place(compiled_list *list, const mozjs_place &place, const mozjs_walk &walk)
{
    const mozjs_words &which = list->m->words;

    Walk::Frame *last = &list->last;

    compiled_leave(list, reinterpret_cast<void *>(walk.words()[which.activation]));
    list->left = compiled_list::SCRIPT;
    last->activation = reinterpret_cast<void *>(walk.words()[which.activation]);
    last->stackAddress = reinterpret_cast<void *>(walk.words()[which.address]);
    const bool runs = compiled_runs(list, compiled_code(list, walk));
    for (uint32_t i = 0; i < place.n; i++) {
        const uint32_t line = i == 0 && place.runs && !runs ? 0 : place.lines[i];
        *compiled_next(list) = { nullptr, place.labels[i], nullptr,
                                 walk.words()[which.address], 0, line, place.kind };
    }
}

void compiled_put_frame(compiled_list *list, const mozjs_walk &walk)
{
    const mozjs_place *place = mozjs_place_of(list->m, walk);

    if (place && !compiled_is_between(list, compiled_code(list, walk)))
        compiled_put_place(list, *place, walk);
    else
        compiled_put_asked(list, walk);
    const auto regs = ((*walk).*list->m->entry)();
    if (regs.isSome() && regs->pc) {
        compiled_put_caller(list, *regs);
        list->left = compiled_list::NONE;
    }
}

/* List as many physical frames as may fit, without the `skipped` innermost ones. Return
 * their total number. To go up one frame costs little; to name it costs more. */
uint32_t compiled_fill(compiled_list *list, const Walk::RegisterState &regs, uint32_t skipped)
{
    uint32_t at = 0;

    list->n = 0;
    list->at = 0;
    list->left = compiled_list::NONE;
    for (mozjs_walk walk(list->m, regs); !walk->done() && at < COMPILED_FRAMES; at++) {
        if (at - skipped < list->max) /* wraps around for the skipped ones */
            compiled_put_frame(list, walk);
        ((*walk).*list->m->next)();
    }
    compiled_leave(list, nullptr);
    return at;
}

/* Rotate out so that out[first] is the first of n, by three reversals, which call no
 * library function. */
void compiled_rotate(jsprof_frame *out, uint32_t first, uint32_t n)
{
    std::reverse(out, out + first);
    std::reverse(out + first, out + n);
    std::reverse(out, out + n);
}

/* Every iterator is a copy of this one, so that it has known values in bytes that its
 * constructor does not set. */
const mozilla::Maybe<uint64_t> compiled_no_position;

} // namespace

/* glibc's own unwinder uses it in signal handlers. */
bool mozjs_in_object(void *pc, bool unknown)
{
    dl_find_object found;

    return !pc || (_dl_find_object ? _dl_find_object(pc, &found) == 0 : unknown);
}

uint32_t mozjs_frame_kind(Walk::FrameKind kind)
{
    if (engine_is_wasm(kind))
        return uint32_t{JSPROF_KIND_JIT} | JSPROF_TIER_WASM;
    return kind == Walk::Frame_BaselineInterpreter
               ? uint32_t{JSPROF_KIND_VM} | JSPROF_TIER_BASELINE_INTERPRETER
           : kind == Walk::Frame_Baseline ? uint32_t{JSPROF_KIND_JIT} | JSPROF_TIER_BASELINE
                                          : uint32_t{JSPROF_KIND_JIT} | JSPROF_TIER_OPTIMIZED;
}

mozjs_walk::mozjs_walk(const jsprof_mozjs *m, const Walk::RegisterState &regs)
{
    /* Without this the compiler may omit clearing the memory of a new object. */
    __asm__ volatile("" : : "r"(bytes) : "memory");
    walk = new (bytes) Walk(m->cx, regs, compiled_no_position);
}

/* If there are too many frames, keep the outermost, because a tree needs its roots. That
 * many physical frames are not named; if inlined functions and C++ callers still make too
 * many, the list becomes a ring. */
uint32_t mozjs_walk_compiled(jsprof_mozjs *m, const Walk::RegisterState &regs,
                             jsprof_frame *out, uint32_t max)
{
    compiled_list list = { m, out, max, 0, 0, &regs, compiled_list::NONE, {} };
    Walk::RegisterState caller;
    const uint32_t physical = compiled_fill(&list, regs, 0);
    const uint32_t skipped = physical > max ? physical - max : 0;

    if (list.n == 0 && max > 0 && mozjs_is_forgotten(m, regs, &caller))
        compiled_put_caller(&list, caller);
    if (skipped > 0)
        compiled_fill(&list, regs, skipped);
    if (list.n > max && max > 0)
        compiled_rotate(out, list.n % max, max);
    return list.n + skipped;
}
