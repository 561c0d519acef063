/* walk.cpp - the two parts of SpiderMonkey's stack: pushed entries and compiled code.
 *
 * SPDX-License-Identifier: MIT
 *
 * Its C++ interpreter and its native sections push entries on a ProfilingStack, which the
 * library reads as a host's own array. Compiled code and the baseline interpreter push
 * nothing there, so the binding walks them from the interrupted registers. The library
 * orders both by stack address. All layouts come from the installed headers.
 *
 * Lines: the C++ interpreter stores its place in its entry, the baseline interpreter in
 * its frame; both do so when they call something. So callers have a line. The innermost
 * frame has none, because the stored one may be much older. For compiled code see
 * lines.cpp.
 */
#include "allocations.h"
#include "compiled.h"
#include "evaluated.h"

#include <atomic>

#include <ucontext.h>

#include <jsfriendapi.h>
#include <js/ProfilingCategory.h>

namespace {

using Frame = js::ProfilingStackFrame;
using Walk = JS::ProfilingFrameIterator;

uintptr_t mozjs_address(const void *p)
{
    return reinterpret_cast<uintptr_t>(p);
}

uint32_t mozjs_join(const Frame &frame)
{
    auto has = [&frame](Frame::Flags flag) {
        return (frame.flags() & static_cast<uint32_t>(flag)) != 0;
    };

    if (has(Frame::Flags::STRING_TEMPLATE_METHOD))
        return JSPROF_JOIN_DOT;
    if (has(Frame::Flags::STRING_TEMPLATE_GETTER))
        return JSPROF_JOIN_GET;
    if (has(Frame::Flags::STRING_TEMPLATE_SETTER))
        return JSPROF_JOIN_SET;
    return JSPROF_JOIN_SPACE;
}

/* Sections of the collector have a kind of their own. */
uint32_t mozjs_label_kind(const Frame &frame)
{
    const auto &pair = JS::GetProfilingCategoryPairInfo(frame.categoryPair());

    return pair.mCategory == JS::ProfilingCategory::GCCC ? JSPROF_KIND_GC : JSPROF_KIND_LABEL;
}

#if defined(__x86_64__)
Walk::RegisterState mozjs_registers(const ucontext_t *context)
{
    auto reg = [context](int which) {
        return reinterpret_cast<void *>(context->uc_mcontext.gregs[which]);
    };
    Walk::RegisterState regs;

    regs.pc = reg(REG_RIP);
    regs.sp = reg(REG_RSP);
    regs.fp = reg(REG_RBP);
    engine_set_tail_call(&regs, context->uc_mcontext);
    return regs;
}
#elif defined(__aarch64__)
Walk::RegisterState mozjs_registers(const ucontext_t *context)
{
    auto reg = [](unsigned long long value) { return reinterpret_cast<void *>(value); };
    Walk::RegisterState regs;

    regs.pc = reg(context->uc_mcontext.pc);
    regs.sp = reg(context->uc_mcontext.sp);
    regs.fp = reg(context->uc_mcontext.regs[29]);
    regs.lr = reg(context->uc_mcontext.regs[30]);
    engine_set_tail_call(&regs, context->uc_mcontext);
    return regs;
}
#else
#error "jsprof-mozjs knows the registers of x86-64 and aarch64"
#endif

/* Return the frames that mozjs_walk_compiled would have found before the collection. */
uint32_t mozjs_walk_kept(jsprof_mozjs *m, jsprof_frame *out, uint32_t max)
{
    const uint32_t n = m->n_kept < max ? m->n_kept : max;
    const jsprof_frame *outermost = m->kept + (m->n_kept - n);

    for (uint32_t i = 0; i < n; i++)
        out[i] = outermost[i];
    for (uint32_t i = 0; i < n; i++)
        out[i].label = mozjs_shown_sigsafe(m, out[i].label);
    return m->kept_there;
}

/* Return whether compiled code runs that this entry's frame has called. If the
 * interpreter calls into it, there is no marker between the two. */
bool mozjs_runs_compiled(jsprof_mozjs *m, const Frame *entry)
{
    const Frame *bottom = m->stack.frames;
    Walk walk(m->cx, Walk::RegisterState());

    while (entry > bottom && entry->isJsFrame())
        entry--;
    return !walk.done() && !entry->isJsFrame() &&
           mozjs_address(walk.stackAddress()) < mozjs_address(entry->stackAddress());
}

/* Return the line of a frame of the C++ interpreter, if it has called something. While
 * the collector runs, script and pc are nullptr. */
uint32_t mozjs_interpreted_line(jsprof_mozjs *m, const Frame *entry)
{
    const Frame *last = &m->stack.frames[m->stack.stackPointer - 1];

    if (entry == last && !mozjs_runs_compiled(m, entry))
        return 0;
    return mozjs_line_at(m, (entry->*m->script)(), (entry->*m->pc)());
}

} // namespace

/* Decode one entry of the ProfilingStack. Scripts have no stack address of their own: the
 * library gives them that of the marker or label below. Two kinds of script entries are
 * no frames: one that continued in compiled code (OSR), because mozjs_walk_sigsafe finds
 * it there, and the "js::RunScript" without a dynamic string that is below every run of
 * scripts. */
int mozjs_decode_sigsafe(void *host, const void *entry, jsprof_frame *out)
{
    auto *m = static_cast<jsprof_mozjs *>(host);
    const Frame &frame = *static_cast<const Frame *>(entry);

    if (frame.isSpMarkerFrame()) {
        out->sp = mozjs_address(frame.stackAddress());
        return 0;
    }
    if (frame.isJsFrame()) {
        out->label = frame.dynamicString();
        out->kind = uint32_t{JSPROF_KIND_VM} | JSPROF_TIER_INTERPRETER;
        if (!out->label || frame.isOSRFrame())
            return 0;
        out->label = mozjs_shown_sigsafe(m, out->label);
        out->line = mozjs_interpreted_line(m, &frame);
        return 1;
    }
    if (!frame.isLabelFrame())
        return -1;
    if (frame.label() == mozjs_type_label) {
        out->label = frame.dynamicString();
        out->kind = JSPROF_KIND_SYNTH;
        out->sp = mozjs_address(frame.stackAddress());
        return 1;
    }
    out->label = frame.label();
    out->detail = frame.dynamicString();
    out->sp = mozjs_address(frame.stackAddress());
    out->kind = mozjs_label_kind(frame) | mozjs_join(frame);
    return out->label || out->detail ? 1 : -1;
}

uint32_t mozjs_walk_sigsafe(void *host, const void *ucontext, jsprof_frame *out, uint32_t max)
{
    auto *m = static_cast<jsprof_mozjs *>(host);

    if (m->collections > 0)
        return mozjs_walk_kept(m, out, max);
    const uint32_t n = mozjs_walk_compiled(
        m, mozjs_registers(static_cast<const ucontext_t *>(ucontext)), out, max);
    mozjs_keep_nap(m, out, n < max ? n : MOZJS_NAP_FRAMES + 1);
    return n;
}

void mozjs_keep_frames(jsprof_mozjs *m)
{
    const Walk::RegisterState in_cpp; /* no address in compiled code */

    m->keeps = true;
    /* ORDER: signal fences only. This thread's own handler may interrupt between them,
     * and each of the tables has one writer. */
    std::atomic_signal_fence(std::memory_order_seq_cst);
    m->kept_there = mozjs_walk_compiled(m, in_cpp, m->kept, MOZJS_KEPT);
    m->n_kept = m->kept_there < MOZJS_KEPT ? m->kept_there : MOZJS_KEPT;
    std::atomic_signal_fence(std::memory_order_seq_cst); /* ORDER: as above */
    m->keeps = false;
}

/* The handler must not be the first to call into SpiderMonkey: in a host linked for lazy
 * binding, the dynamic linker would then look up symbols, which takes locks. A walk that
 * finds nothing binds the names that it calls. The names that it does not reach are taken
 * as addresses, which the linker fills in when it loads us. */
void mozjs_bind_symbols(jsprof_mozjs *m)
{
    jsprof_frame frame;

    m->extract = &Walk::extractStack;
    m->entry = &Walk::getCppEntryRegisters;
    m->physical = &Walk::getPhysicalFrameWithoutLabel;
    m->is_wasm = &Walk::isWasm;
    m->next = &Walk::operator++;
    m->script = &Frame::script;
    m->pc = &Frame::pc;
    m->line_of = JS_PCToLineNumber;
    mozjs_bind_tables(m);
    (void)mozjs_walk_compiled(m, Walk::RegisterState(), &frame, 1);
    (void)JS::GetProfilingCategoryPairInfo(JS::ProfilingCategoryPair::OTHER);
}
