/* remember.cpp - answers of SpiderMonkey, kept while they are valid.
 *
 * SPDX-License-Identifier: MIT
 *
 * A line: to find it, SpiderMonkey reads all notes of a script before it. Any collection
 * may move the script, so it ends the validity.
 *
 * The functions at a place in compiled code: SpiderMonkey searches a list for the code,
 * then reads what was inlined there. The result depends only on the iterator's bytes and
 * on that list. Entries get into the list when code is linked, at addresses that had
 * none, so the answer "nothing there" is not kept. They leave it, with the names that
 * they own, only when a collection of more than the nursery sweeps: see collect.cpp. A
 * frame of the baseline interpreter is looked up each time, because the iterator reads it
 * from the stack; for WebAssembly see wasm.cpp.
 *
 * Some of those words are addresses on the stack: of the frame, of the activation, and
 * since SpiderMonkey 115 of the stack's end. The code's functions do not depend on them.
 * SpiderMonkey reports the first two of each frame, and the address in the code, so the
 * binding learns which words they are. All other words must be equal.
 */
#include "compiled.h"
#include "evaluated.h"

namespace {

using Walk = JS::ProfilingFrameIterator;

uint32_t remember_line_slot(const void *script, const void *pc)
{
    const uint64_t mixed =
        (reinterpret_cast<uintptr_t>(script) >> 4) ^ reinterpret_cast<uintptr_t>(pc);

    return static_cast<uint32_t>((mixed * 0x9e3779b97f4a7c15u) >> 54) & (MOZJS_LINES - 1);
}

mozjs_place *remember_slot(jsprof_mozjs *m, const uint64_t *words)
{
    return &m->places[words[m->words.code] * 0x9e3779b97f4a7c15u >> 53 & (MOZJS_PLACES - 1)];
}

/* Return whether both are equal except for the words of the stack. */
bool remember_is_same(const mozjs_words &which, const mozjs_place *place, const uint64_t *words)
{
    uint64_t differs = 0;

#pragma GCC unroll 16
    for (uint32_t i = 0; i < MOZJS_WALK_WORDS; i++)
        differs |= (place->walk[i] ^ words[i]) & which.same[i];
    return !differs;
}

/* Return the index of the one word with this value, or MOZJS_WALK_WORDS if none or
 * several have it. */
uint32_t remember_find(const uint64_t *words, const void *value)
{
    uint32_t found = MOZJS_WALK_WORDS, n = 0;

    for (uint32_t i = 0; i < MOZJS_WALK_WORDS; i++) {
        if (words[i] != reinterpret_cast<uintptr_t>(value))
            continue;
        found = i;
        n++;
    }
    return n == 1 ? found : MOZJS_WALK_WORDS;
}

/* Learn the indices from the first frame that has each of them once. A frame of the baseline
 * interpreter has no address in the code, but the others. */
void remember_learn(jsprof_mozjs *m, const uint64_t *words, const Walk::Frame &frame)
{
    mozjs_words which = { false, false, remember_find(words, frame.stackAddress),
                          remember_find(words, frame.activation),
                          remember_find(words, frame.returnAddress_), {}, {} };

    if (which.address == MOZJS_WALK_WORDS || which.activation == MOZJS_WALK_WORDS)
        return;
    which.has_stack = true;
    which.known = which.code < MOZJS_WALK_WORDS;
    for (uint32_t i = 0; i < MOZJS_WALK_WORDS; i++) {
        const bool on_stack = words[i] >= m->stack_low && words[i] < m->stack_high;
        which.same[i] = on_stack || i == which.address || i == which.activation ? 0 : ~0ull;
        which.walk[i] = words[i];
    }
    m->words = which;
}

/* Return whether the iterator keeps these three at the known indices. */
bool remember_knows(const jsprof_mozjs *m, const uint64_t *words, const Walk::Frame &frame)
{
    const mozjs_words &which = m->words;
    auto has = [words](uint32_t i, const void *p) {
        return words[i] == reinterpret_cast<uintptr_t>(p);
    };

    return which.known && has(which.address, frame.stackAddress) &&
           has(which.activation, frame.activation) && has(which.code, frame.returnAddress_);
}

bool remember_is_compiled(const Walk::Frame *frames, uint32_t n)
{
    return n > 0 && (frames->kind == Walk::Frame_Ion || frames->kind == Walk::Frame_Baseline);
}

bool remember_is_worth(const Walk::Frame *frames, uint32_t n)
{
    return n <= MOZJS_PLACE_LABELS && remember_is_compiled(frames, n);
}

void remember_place(jsprof_mozjs *m, const uint64_t *words, const Walk::Frame *frames,
                    const mozjs_lines *lines, uint32_t n)
{
    mozjs_place *place = remember_slot(m, words);

    for (uint32_t i = 0; i < MOZJS_WALK_WORDS; i++)
        place->walk[i] = words[i];
    for (uint32_t i = 0; i < n; i++) {
        place->labels[i] = mozjs_shown_sigsafe(m, frames[i].label);
        place->lines[i] = lines->lines[i];
    }
    place->runs = lines->runs;
    place->kind = mozjs_frame_kind(frames->kind);
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

const mozjs_place *mozjs_place_of(jsprof_mozjs *m, const mozjs_walk &walk)
{
    if (m->keeps || !m->words.known)
        return nullptr;
    mozjs_place *place = remember_slot(m, walk.words());

    return place->epoch == m->code_epoch && remember_is_same(m->words, place, walk.words())
               ? place : nullptr;
}

uint32_t mozjs_functions_at(jsprof_mozjs *m, const mozjs_walk &walk, Walk::Frame *frames,
                            mozjs_lines *lines)
{
    const uint32_t n = ((*walk).*m->extract)(frames, 0, MOZJS_INLINED);

    if (remember_is_compiled(frames, n))
        lines->runs = mozjs_lines_at(m, walk, frames, n, lines->lines);
    if (!m->keeps && n > 0 && !m->words.known)
        remember_learn(m, walk.words(), *frames);
    if (!m->keeps && remember_is_worth(frames, n) &&
        remember_knows(m, walk.words(), *frames))
        remember_place(m, walk.words(), frames, lines, n);
    return n;
}
