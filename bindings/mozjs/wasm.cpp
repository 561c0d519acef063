/* wasm.cpp - names of functions in WebAssembly.
 *
 * SPDX-License-Identifier: MIT
 *
 * SpiderMonkey takes a lock to find such a name. It holds the lock while it makes the
 * names of a module that is instantiated, and JavaScript called by WebAssembly may
 * instantiate one. A sample in that moment would wait for a lock of its own thread.
 * Compiled code holds no lock. So SpiderMonkey is asked only if compiled code was
 * interrupted, or nothing was, as at the start of a collection. The answer is kept for
 * samples in C++ code.
 *
 * The iterator contains the function, addresses on the stack, and the caller's next
 * instruction. Without the stack's addresses, all calls of a function from one place are
 * equal.
 */
#include "compiled.h"

namespace {

using Walk = JS::ProfilingFrameIterator;

constexpr uint64_t WASM_WAYS = 8;

/* The iterator's words. Those that are on the stack, up to the activation, which is an
 * object of the calling C++ function, become 0. If the thread's stack is not known, it is
 * assumed to end at the interrupted frame. */
void wasm_take(uint64_t *words, const jsprof_mozjs *m, const mozjs_walk &walk,
               const Walk::RegisterState &regs, const Walk::Frame &frame)
{
    const auto end = reinterpret_cast<uintptr_t>(regs.sp ? regs.sp : frame.stackAddress);
    const uintptr_t low = m->stack_low ? m->stack_low : end;
    const auto high = reinterpret_cast<uintptr_t>(frame.activation);

    for (uint32_t i = 0; i < MOZJS_WALK_WORDS; i++) {
        const uint64_t word = walk.words()[i];
        words[i] = word >= low && word <= high ? 0 : word;
    }
}

bool wasm_is_same(const mozjs_wasm *known, const uint64_t *words)
{
    uint64_t differs = 0;

    for (uint32_t i = 0; i < MOZJS_WALK_WORDS; i++)
        differs |= known->walk[i] ^ words[i];
    return !differs;
}

/* Return the place of these words, or one that they may take. Each function has a few, so
 * that functions that call each other do not displace each other. */
mozjs_wasm *wasm_slot(jsprof_mozjs *m, const uint64_t *words, bool *is_known)
{
    uint64_t mixed = 0;
    mozjs_wasm *to = nullptr;

    for (uint32_t i = 0; i < MOZJS_WALK_WORDS; i++)
        mixed = (mixed ^ words[i]) * 0x9e3779b97f4a7c15u;
    for (uint64_t i = 0; i < WASM_WAYS; i++) {
        mozjs_wasm *known = &m->wasm[((mixed >> 56) + i) & (MOZJS_WASM - 1)];
        *is_known = known->epoch == m->code_epoch && wasm_is_same(known, words);
        if (*is_known)
            return known;
        if (!to && known->epoch != m->code_epoch)
            to = known;
    }
    return to ? to : &m->wasm[mixed >> 56 & (MOZJS_WASM - 1)];
}

const char *wasm_asked(const jsprof_mozjs *m, const mozjs_walk &walk)
{
    Walk::Frame frame;

    return ((*walk).*m->extract)(&frame, 0, 1) == 1 ? frame.label : nullptr;
}

/* While frames are taken for a collection, the handler does not own the table. */
const char *wasm_name(jsprof_mozjs *m, const mozjs_walk &walk, const Walk::RegisterState &regs,
                      const Walk::Frame &frame)
{
    const bool may_ask = !regs.pc || !mozjs_in_object(regs.pc, true);
    uint64_t words[MOZJS_WALK_WORDS];
    bool is_known;

    if (m->keeps && regs.pc)
        return nullptr;
    wasm_take(words, m, walk, regs, frame);
    mozjs_wasm *known = wasm_slot(m, words, &is_known);
    if (is_known || !may_ask)
        return is_known ? known->label : nullptr;
    for (uint32_t i = 0; i < MOZJS_WALK_WORDS; i++)
        known->walk[i] = words[i];
    known->label = wasm_asked(m, walk);
    known->epoch = m->code_epoch;
    return known->label;
}

} // namespace

uint32_t mozjs_wasm_at(jsprof_mozjs *m, const mozjs_walk &walk, const Walk::RegisterState &regs,
                       Walk::Frame *frame)
{
    const auto there = ((*walk).*m->physical)();

    if (there.isNothing())
        return 0;
    *frame = *there;
    const char *name = wasm_name(m, walk, regs, *frame);
    frame->label = name ? name : "WebAssembly";
    return 1;
}
