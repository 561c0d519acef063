/* asleep.cpp - the JavaScript stack of a thread that sleeps.
 *
 * SPDX-License-Identifier: MIT
 *
 * Only the thread's own handler can ask SpiderMonkey for names, compiled frames and lines: all
 * these are in memory that the thread may free when it wakes up. But where no compiled code runs,
 * the entries of the ProfilingStack say everything, and a program mostly sleeps in a few places: in
 * its main loop above all. So when a sample meets a system call, the handler keeps a copy of the
 * entries and of what it made of them. A thread of the library compares: the same entries again
 * mean the same frames. Elsewhere it declines, and the signal that then comes makes the copy.
 */
#include "context.h"

#include "peek.h"

#include <cerrno>
#include <cstring>

#include <ucontext.h>

namespace {

using Frame = js::ProfilingStackFrame;

#if defined(__x86_64__)
constexpr uint8_t asleep_call[] = { 0x0F, 0x05 }; /* syscall */
uintptr_t asleep_pc(const mcontext_t &c) { return static_cast<uintptr_t>(c.gregs[REG_RIP]); }
int64_t asleep_result(const mcontext_t &c) { return c.gregs[REG_RAX]; }
#else
constexpr uint8_t asleep_call[] = { 0x01, 0x00, 0x00, 0xD4 }; /* svc 0 */
uintptr_t asleep_pc(const mcontext_t &c) { return static_cast<uintptr_t>(c.pc); }
int64_t asleep_result(const mcontext_t &c) { return static_cast<int64_t>(c.regs[0]); }
#endif

/* Return whether a system call was interrupted here, or will be made again. */
bool asleep_was(const mcontext_t &context)
{
    const auto *at = reinterpret_cast<const uint8_t *>(asleep_pc(context));

    if (memcmp(at, asleep_call, sizeof asleep_call) == 0)
        return true;
    at -= sizeof asleep_call;
    return asleep_result(context) == -EINTR && mozjs_peek_is_there(at) &&
           memcmp(at, asleep_call, sizeof asleep_call) == 0;
}

bool asleep_is_same(const jsprof_mozjs *m, const mozjs_nap &nap, const void *entries, uint32_t n)
{
    return nap.n == n && nap.epoch == m->script_epoch &&
           memcmp(nap.entries, entries, n * sizeof(Frame)) == 0;
}

/* Return the copy of these entries, or nullptr. */
const mozjs_nap *asleep_find(const jsprof_mozjs *m, const void *entries, uint32_t n)
{
    for (const mozjs_nap &nap : m->naps)
        if (asleep_is_same(m, nap, entries, n))
            return &nap;
    return nullptr;
}

} // namespace

void mozjs_keep_nap(jsprof_mozjs *m, const void *ucontext)
{
    const uint32_t n = m->stack.stackPointer;
    const Frame *entries = m->stack.frames;
    const auto *context = static_cast<const ucontext_t *>(ucontext);
    uintptr_t sp = 0;

    if (n == 0 || n > MOZJS_NAP_ENTRIES || !asleep_was(context->uc_mcontext) ||
        asleep_find(m, entries, n))
        return;
    mozjs_nap &nap = m->naps[m->n_naps++ % MOZJS_NAPS];
    nap.n = nap.n_frames = 0;
    for (uint32_t i = 0; i < n; i++) {
        jsprof_frame frame = {};
        const int is = mozjs_decode_sigsafe(m, &entries[i], &frame);

        sp = frame.sp ? frame.sp : sp; /* as the library does it */
        frame.sp = sp;
        if (is < 0)
            return;
        if (is > 0)
            nap.frames[nap.n_frames++] = frame;
    }
    memcpy(nap.entries, static_cast<const void *>(entries), n * sizeof(Frame));
    nap.epoch = m->script_epoch;
    nap.n = n;
}

/* If the thread wakes up meanwhile, and its handler writes a copy, what this returns is dropped. */
uint32_t mozjs_walk_asleep(void *host, const jsprof_asleep *at, jsprof_frame *out, uint32_t max)
{
    auto *m = static_cast<jsprof_mozjs *>(host);
    const uint32_t n = m->stack.stackPointer;
    const Frame *frames = m->stack.frames;
    alignas(Frame) uint8_t entries[MOZJS_NAP_ENTRIES * sizeof(Frame)];

    if (!at->is_plain || m->collections > 0 || n > MOZJS_NAP_ENTRIES)
        return JSPROF_DECLINED;
    if (n == 0)
        return 0;
    if (!jsprof_read(at->reader, entries, frames, n * sizeof(Frame)))
        return JSPROF_DECLINED;
    const mozjs_nap *nap = asleep_find(m, entries, n);
    if (!nap)
        return JSPROF_DECLINED;
    for (uint32_t i = 0; i < nap->n_frames && i < max; i++)
        out[i] = nap->frames[nap->n_frames - 1 - i];
    return nap->n_frames;
}
