/* remember.cpp - what SpiderMonkey said once, for as long as it holds.
 *
 * SPDX-License-Identifier: MIT
 *
 * A line: finding it reads all of a script's notes before it. Any collection may move the
 * script, and ends it.
 *
 * The functions at a place in compiled code: SpiderMonkey searches a list for the code,
 * then reads what was inlined there. All of it is a function of the iterator's own bytes
 * and of that list. Entries get into the list when code is linked, at addresses that had
 * none, so "nothing there" is not remembered; they leave it, with the names that they
 * own, only when a collection of more than the nursery sweeps: see collect.cpp. A frame of
 * the baseline interpreter is asked each time, for the iterator reads it from the stack,
 * and one of WebAssembly costs nothing to ask.
 */
#include "compiled.h"

namespace {

using Walk = JS::ProfilingFrameIterator;

uint32_t remember_line_slot(const void *script, const void *pc)
{
    const uint64_t mixed =
        (reinterpret_cast<uintptr_t>(script) >> 4) ^ reinterpret_cast<uintptr_t>(pc);

    return static_cast<uint32_t>((mixed * 0x9e3779b97f4a7c15u) >> 56) & (MOZJS_LINES - 1);
}

mozjs_place *remember_slot(jsprof_mozjs *m, const uint64_t *words)
{
    uint64_t mixed = 0;

#pragma GCC unroll 16
    for (uint32_t i = 0; i < MOZJS_WALK_WORDS; i++)
        mixed = (mixed << 7 | mixed >> 57) ^ words[i];
    return &m->places[(mixed * 0x9e3779b97f4a7c15u) >> 55 & (MOZJS_PLACES - 1)];
}

bool remember_is_same(const mozjs_place *place, const uint64_t *words)
{
    uint64_t differs = 0;

#pragma GCC unroll 16
    for (uint32_t i = 0; i < MOZJS_WALK_WORDS; i++)
        differs |= place->walk[i] ^ words[i];
    return !differs;
}

uint32_t remember_tell(const mozjs_place *place, Walk::Frame *frames)
{
    for (uint32_t i = 0; i < place->n; i++) {
        frames[i].kind = Walk::Frame_Ion;
        frames[i].stackAddress = place->stack_address;
        frames[i].activation = place->activation;
        frames[i].label = place->labels[i];
    }
    return place->n;
}

bool remember_is_worth(const Walk::Frame *frames, uint32_t n)
{
    return n > 0 && n <= MOZJS_PLACE_LABELS &&
           (frames->kind == Walk::Frame_Ion || frames->kind == Walk::Frame_Baseline);
}

void remember_place(mozjs_place *place, const jsprof_mozjs *m, const uint64_t *words,
                    const Walk::Frame *frames, uint32_t n)
{
    for (uint32_t i = 0; i < MOZJS_WALK_WORDS; i++)
        place->walk[i] = words[i];
    for (uint32_t i = 0; i < n; i++)
        place->labels[i] = frames[i].label;
    place->stack_address = frames->stackAddress;
    place->activation = frames->activation;
    place->n = n;
    place->epoch = m->code_epoch;
}

} // namespace

uint32_t mozjs_line_at(jsprof_mozjs *m, JSScript *script, jsbytecode *pc)
{
    if (!script || !pc)
        return 0;
    if (m->keeps)
        return m->line_of(script, pc, nullptr);

    mozjs_line *known = &m->lines[remember_line_slot(script, pc)];
    if (known->epoch == m->script_epoch && known->script == script && known->pc == pc)
        return known->line;
    *known = { script, pc, m->line_of(script, pc, nullptr), m->script_epoch };
    return known->line;
}

uint32_t mozjs_functions_at(jsprof_mozjs *m, const mozjs_walk &walk, Walk::Frame *frames)
{
    if (m->keeps)
        return ((*walk).*m->extract)(frames, 0, MOZJS_INLINED);

    mozjs_place *place = remember_slot(m, walk.words());
    if (place->epoch == m->code_epoch && remember_is_same(place, walk.words()))
        return remember_tell(place, frames);
    const uint32_t n = ((*walk).*m->extract)(frames, 0, MOZJS_INLINED);
    if (remember_is_worth(frames, n))
        remember_place(place, m, walk.words(), frames, n);
    return n;
}
