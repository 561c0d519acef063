/* asleep.cpp - the JavaScript stack of a thread that sleeps.
 *
 * SPDX-License-Identifier: MIT
 *
 * Only the thread's own handler can ask SpiderMonkey for names, compiled frames and lines: all
 * these are in memory that the thread may free when it wakes up. But a program mostly sleeps in a
 * few places, in its main loop above all, and what decides the frames of a place can be compared:
 * the raw entries of the ProfilingStack and, if compiled code is on the C stack, the bytes of that
 * from there on. So the library's thread notes the place and declines. The signal that then comes
 * lets the handler keep its frames, if it finds the same place. From then on they are known.
 */
#include "context.h"

#include <cstring>

namespace {

using Frame = js::ProfilingStackFrame;

/* FNV-1a, of words. */
uint64_t asleep_hash(const uint8_t *bytes, size_t n)
{
    uint64_t hash = 0xCBF29CE484222325u, word;

    for (size_t i = 0; i + sizeof word <= n; i += sizeof word) {
        memcpy(&word, bytes + i, sizeof word);
        hash = (hash ^ word) * 0x100000001B3u;
    }
    return hash;
}

bool asleep_is_same(const mozjs_nap_place &a, const mozjs_nap_place &b)
{
    return a.n == b.n && a.epoch == b.epoch && a.low == b.low && a.stack == b.stack &&
           memcmp(a.entries, b.entries, a.n * sizeof(Frame)) == 0;
}

const mozjs_nap *asleep_find(const jsprof_mozjs *m, const mozjs_nap_place &place)
{
    for (const mozjs_nap &nap : m->naps)
        if (nap.place.n && asleep_is_same(nap.place, place))
            return &nap;
    return nullptr;
}

/* Return the size of the part of the stack from here on that a place may have; 0: it has none. */
uintptr_t asleep_bytes(const jsprof_mozjs *m, uintptr_t low)
{
    const uintptr_t bytes = m->stack_high - low;

    return low >= m->stack_low && low < m->stack_high && bytes <= MOZJS_NAP_STACK ? bytes : 0;
}

/* Copy what decides the thread's frames. Return false if not all of it is known. */
bool asleep_look(jsprof_mozjs *m, const jsprof_asleep *at, mozjs_nap_place *place)
{
    const Frame *entries = m->stack.frames;

    place->n = m->stack.stackPointer;
    place->epoch = m->script_epoch;
    place->low = 0;
    place->stack = 0;
    if (place->n == 0 || place->n > MOZJS_NAP_ENTRIES || m->collections > 0 ||
        !jsprof_read(at->reader, place->entries, entries, place->n * sizeof(Frame)))
        return false;
    if (at->plain_end == 0)
        return true;
#if defined(__x86_64__)
    place->low = at->plain_end - sizeof(uintptr_t); /* there is the return address */
    const uintptr_t bytes = asleep_bytes(m, place->low);
    if (bytes == 0 || !jsprof_read(at->reader, m->nap_stack,
                                   reinterpret_cast<const void *>(place->low), bytes))
        return false;
    place->stack = asleep_hash(m->nap_stack, bytes);
    return true;
#else
    return false; /* the return address is anywhere */
#endif
}

/* The same, of the calling thread, with compiled frames or without, and as far as `wanted` goes. */
bool asleep_is_here(const jsprof_mozjs *m, const mozjs_nap_place &wanted, bool is_compiled)
{
    const Frame *entries = m->stack.frames;
    const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));

    if (wanted.n != m->stack.stackPointer || wanted.epoch != m->script_epoch ||
        memcmp(wanted.entries, static_cast<const void *>(entries), wanted.n * sizeof(Frame)) != 0)
        return false;
    if (wanted.low == 0)
        return !is_compiled;
    const uintptr_t bytes = wanted.low > here ? asleep_bytes(m, wanted.low) : 0;
    return bytes && wanted.stack ==
                        asleep_hash(reinterpret_cast<const uint8_t *>(wanted.low), bytes);
}

/* Return the entries' frames, outermost first, with stack addresses as the library gives them, or
 * UINT32_MAX. */
uint32_t asleep_entries(jsprof_mozjs *m, jsprof_frame *out)
{
    const Frame *entries = m->stack.frames;
    uintptr_t sp = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < m->stack.stackPointer; i++) {
        jsprof_frame frame = {};
        const int is = mozjs_decode_sigsafe(m, &entries[i], &frame);

        if (is < 0)
            return UINT32_MAX;
        sp = frame.sp ? frame.sp : sp;
        frame.sp = sp;
        if (is > 0)
            out[n++] = frame;
    }
    return n;
}

} // namespace

void mozjs_keep_nap(jsprof_mozjs *m, const jsprof_frame *compiled, uint32_t n)
{
    const mozjs_nap_place &wanted = m->nap;
    jsprof_frame entries[MOZJS_NAP_ENTRIES];

    if (wanted.n == 0 || wanted.n > MOZJS_NAP_ENTRIES || !asleep_is_here(m, wanted, n > 0))
        return;
    uint32_t left = asleep_entries(m, entries);
    if (left == UINT32_MAX || left + n > MOZJS_NAP_FRAMES || asleep_find(m, wanted))
        return;
    mozjs_nap &nap = m->naps[m->n_naps++ % MOZJS_NAPS];
    nap.n_frames = 0;
    for (uint32_t i = 0; i < n || left > 0;)
        nap.frames[nap.n_frames++] = i < n && (left == 0 || compiled[i].sp <= entries[left - 1].sp)
                                         ? compiled[i++] : entries[--left];
    nap.place = wanted;
}

/* If the thread wakes up meanwhile, and its handler keeps a place, what this returns is dropped. */
uint32_t mozjs_walk_asleep(void *host, const jsprof_asleep *at, jsprof_frame *out, uint32_t max)
{
    auto *m = static_cast<jsprof_mozjs *>(host);
    mozjs_nap_place place;

    if (m->stack.stackPointer == 0 && at->plain_end == 0)
        return 0;
    if (!asleep_look(m, at, &place))
        return JSPROF_DECLINED;
    const mozjs_nap *nap = asleep_find(m, place);
    if (!nap) {
        m->nap = place;
        return JSPROF_DECLINED;
    }
    for (uint32_t i = 0; i < nap->n_frames && i < max; i++)
        out[i] = nap->frames[i];
    return nap->n_frames;
}
