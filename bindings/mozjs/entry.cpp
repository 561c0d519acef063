/* entry.cpp - the C++ code that called WebAssembly or a script.
 *
 * SPDX-License-Identifier: MIT
 *
 * SpiderMonkey reports the caller of a script's compiled code, if the call led straight into it.
 * There can be frames without a function in between: that of the arguments rectifier if C++ gave
 * fewer arguments than the function takes, of the baseline interpreter's entry, of a sort that
 * runs in a trampoline. SpiderMonkey's iterator skips them, and then does not find the caller. So
 * the binding goes through them, and asks about each.
 *
 * If the C++ interpreter called WebAssembly, the iterator ends there. If compiled frames have frame
 * pointers, the frames of WebAssembly and of its entry stub are on one chain of them. The
 * first return address on that chain that is in SpiderMonkey's own code belongs to the
 * caller, and its frame pointer is next to it.
 *
 * If they have none: the activation is an object in the C++ function that made the call.
 * Between it and the last frame are the registers that the entry stub saved, and that
 * function's return address. The return address alone can not be recognized: the stub's frame
 * has bytes that nothing wrote, where an earlier call may have left the same one. But the stub
 * saves the stack pointer before it aligns it, so one of its words is the address of one of the
 * next two. The return address is at a fixed distance from there.
 */
#include "compiled.h"

#include <link.h>

#include <js/Class.h>
#include <js/GlobalObject.h>

namespace {

using Registers = JS::ProfilingFrameIterator::RegisterState;

/* Between the last frame that SpiderMonkey reports and its caller is the entry stub's
 * frame. */
constexpr uint32_t ENTRY_FRAMES = 4;

/* The general registers are at least as many as a C++ function must save, with
 * padding. */
constexpr uint32_t ENTRY_SAVED = 16;

/* A script's frame, and the frames between it and its caller. */
constexpr uint32_t ENTRY_BETWEEN = 8;

/* A stub's frame, with all the arguments that a call can have, is not larger than
 * this. */
constexpr uintptr_t ENTRY_BYTES = 16384;

uintptr_t entry_address(const void *p)
{
    return reinterpret_cast<uintptr_t>(p);
}

#if defined(__x86_64__)
constexpr uintptr_t ENTRY_CALL_BYTES = 2;

/* Words from where the saved stack pointer leads to the return address: the registers that the
 * stub pushed. */
constexpr uint32_t ENTRY_PUSHED = 8;

/* Return whether `call *%rax`, or another register, comes before. Nothing else calls a
 * stub. */
bool entry_is_after_call(uintptr_t pc)
{
    const auto *call = reinterpret_cast<const unsigned char *>(pc - ENTRY_CALL_BYTES);

    return call[0] == 0xff && (call[1] & 0xf8) == 0xd0;
}
#else
constexpr uintptr_t ENTRY_CALL_BYTES = 4;
constexpr uint32_t ENTRY_PUSHED = 8;

bool entry_is_after_call(uintptr_t)
{
    return false;
}
#endif

bool entry_is_engine(const jsprof_mozjs *m, uintptr_t pc)
{
    return pc >= m->code_begin + ENTRY_CALL_BYTES && pc < m->code_end;
}

/* The entry stub's frame is a copy. Above it are the saved registers of the C++ function,
 * and above these the return address that the call pushed. The caller's stack begins
 * there. */
const uintptr_t *entry_stack(const uintptr_t *frame, uintptr_t end)
{
    const uintptr_t *word = frame + 2;

    for (uint32_t i = 0; i < ENTRY_SAVED && entry_address(word) < end; i++, word++)
        if (*word == frame[1])
            return word + 1;
    return frame + 2;
}

/* Go up the chain of frame pointers, which only rises and ends below the activation. */
bool entry_by_frame_pointer(const jsprof_mozjs *m, const void *frame_pointer, uintptr_t low,
                            uintptr_t end, Registers *regs)
{
    uintptr_t fp = entry_address(frame_pointer);

    for (uint32_t i = 0; i < ENTRY_FRAMES; i++) {
        if (fp < low || fp % sizeof(fp) != 0 || fp > end - 2 * sizeof(fp))
            return false;
        const auto *frame = reinterpret_cast<const uintptr_t *>(fp);
        if (entry_is_engine(m, frame[1])) {
            regs->pc = reinterpret_cast<void *>(frame[1]);
            regs->sp = const_cast<uintptr_t *>(entry_stack(frame, end));
            regs->fp = reinterpret_cast<void *>(frame[0]);
            return true;
        }
        low = fp + 2 * sizeof(fp);
        fp = frame[0];
    }
    return false;
}

bool entry_is_return(const jsprof_mozjs *m, const uintptr_t *word)
{
    return entry_is_engine(m, *word) && entry_is_after_call(*word);
}

bool entry_found(const uintptr_t *return_word, Registers *regs)
{
    regs->pc = reinterpret_cast<void *>(*return_word);
    regs->sp = const_cast<uintptr_t *>(return_word + 1);
    return true;
}

/* Find the saved stack pointer between these words. If the stub itself was interrupted, it may not
 * have saved that yet: then all words from the stack pointer to the return address are
 * its own. */
bool entry_by_search(const jsprof_mozjs *m, const uintptr_t *word, const uintptr_t *end,
                     bool is_innermost, Registers *regs)
{
    if (entry_address(end) - entry_address(word) > ENTRY_BYTES)
        return false;
    for (const uintptr_t *at = word; at + 2 + ENTRY_PUSHED < end; at++) {
        const uintptr_t *saved = at + 1 + (*at == entry_address(at + 2));
        if (*at == entry_address(saved) && entry_is_return(m, saved + ENTRY_PUSHED))
            return entry_found(saved + ENTRY_PUSHED, regs);
    }
    for (uint32_t i = 0; is_innermost && i <= ENTRY_PUSHED && word + i < end; i++)
        if (entry_is_return(m, word + i))
            return entry_found(word + i, regs);
    return false;
}

/* Return 1 if it was in this object, as dl_iterate_phdr expects. */
int entry_look(dl_phdr_info *object, size_t, void *data)
{
    auto *m = static_cast<jsprof_mozjs *>(data);
    const uintptr_t inside = entry_address(reinterpret_cast<void *>(
        JS::DefaultGlobalClassOps.trace));

    for (int i = 0; i < object->dlpi_phnum; i++) {
        const auto &segment = object->dlpi_phdr[i];
        const uintptr_t begin = object->dlpi_addr + segment.p_vaddr;

        if (segment.p_type != PT_LOAD || inside - begin >= segment.p_memsz)
            continue;
        m->code_begin = begin;
        m->code_end = begin + segment.p_memsz;
        return 1;
    }
    return 0;
}

} // namespace

void mozjs_find_code(jsprof_mozjs *m)
{
    (void)dl_iterate_phdr(entry_look, m);
}

/* SpiderMonkey reads only the iterator's kind and its stack address to answer. */
bool mozjs_script_caller(const jsprof_mozjs *m, const void *frame, const void *activation,
                         Registers *regs)
{
    uint64_t words[MOZJS_WALK_WORDS];
    uintptr_t at = entry_address(frame), low = 0;
    const uintptr_t end = entry_address(activation);

    for (uint32_t i = 0; i < MOZJS_WALK_WORDS; i++)
        words[i] = m->words.walk[i];
    for (uint32_t i = 0; m->words.has_stack && i < ENTRY_BETWEEN; i++) {
        if (at <= low || at >= end || at % sizeof(uintptr_t) != 0)
            return false;
        words[m->words.address] = at;
        const auto *walk = reinterpret_cast<const JS::ProfilingFrameIterator *>(words);
        const auto found = (walk->*m->entry)();
        if (found.isSome() && found->pc) {
            *regs = *found;
            return true;
        }
        low = at;
        at = engine_outer_frame(at);
    }
    return false;
}

/* The innermost frame is at the interrupted instruction; all others are at their frame
 * pointers. */
bool mozjs_wasm_caller(const jsprof_mozjs *m, const JS::ProfilingFrameIterator::Frame &frame,
                       const Registers &now, Registers *regs)
{
    const bool is_innermost = now.sp && frame.stackAddress == now.sp;
    const uintptr_t low = entry_address(frame.stackAddress);

    if (ENGINE_HAS_FRAME_POINTERS)
        return entry_by_frame_pointer(m, is_innermost ? now.fp : frame.stackAddress, low,
                                      entry_address(frame.activation), regs);
    return entry_by_search(m, static_cast<const uintptr_t *>(frame.stackAddress),
                           static_cast<const uintptr_t *>(frame.activation), is_innermost, regs);
}
