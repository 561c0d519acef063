/* walk.cpp - the two places in which SpiderMonkey tells its stack.
 *
 * SPDX-License-Identifier: MIT
 *
 * Its C++ interpreter and its native sections push entries on a ProfilingStack, which
 * the core reads as a host's own array. Compiled code and the baseline interpreter push
 * nothing there and are walked from the interrupted registers. The core puts both in
 * order by stack address. All layouts come from the installed headers.
 *
 * Lines: the C++ interpreter stores where it is in its entry, the baseline interpreter
 * in its frame; both when they call something. So callers have a line and the innermost
 * frame has none, for the one that is stored may be far behind. Of compiled code
 * SpiderMonkey tells the function only.
 */
#include "context.h"

#include <algorithm>

#include <dlfcn.h>
#include <ucontext.h>

#include <jsfriendapi.h>
#include <js/ProfilingCategory.h>

extern "C" int _dl_find_object(void *, struct dl_find_object *) __attribute__((weak));

namespace {

using Frame = js::ProfilingStackFrame;
using Walk = JS::ProfilingFrameIterator;

/* SpiderMonkey's inlining is at most this deep (js/ProfilingFrameIterator.h). */
constexpr uint32_t MOZJS_INLINED = 64;
/* More physical frames than a stack of the usual size has room for. */
constexpr uint32_t MOZJS_FRAMES = 1u << 18;

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

/* Sections of the collector are frames of a kind of their own. */
uint32_t mozjs_label_kind(const Frame &frame)
{
    const auto &pair = JS::GetProfilingCategoryPairInfo(frame.categoryPair());

    return pair.mCategory == JS::ProfilingCategory::GCCC ? JSPROF_KIND_GC : JSPROF_KIND_LABEL;
}

/* -- Lines ----------------------------------------------------------------------- */

uint32_t mozjs_line_slot(const void *script, const void *pc)
{
    const uint64_t mixed = (mozjs_address(script) >> 4) ^ mozjs_address(pc);

    return static_cast<uint32_t>((mixed * 0x9e3779b97f4a7c15u) >> 56) & (MOZJS_LINES - 1);
}

/* Finding a line reads all of a script's notes before it, so it is remembered; until the
 * next collection, which may move the script. */
uint32_t mozjs_line_at(jsprof_mozjs *m, JSScript *script, jsbytecode *pc)
{
    if (!script || !pc)
        return 0;

    mozjs_line *known = &m->lines[mozjs_line_slot(script, pc)];
    if (known->epoch == m->lines_epoch && known->script == script && known->pc == pc)
        return known->line;
    *known = { script, pc, m->line_of(script, pc, nullptr), m->lines_epoch };
    return known->line;
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
    return regs;
}
#else
#error "jsprof-mozjs knows the registers of x86-64 and aarch64"
#endif

jsprof_frame mozjs_compiled_frame(jsprof_mozjs *m, const Walk::Frame &frame, bool calls)
{
    jsprof_frame out = {};

    out.label = frame.label;
    out.sp = mozjs_address(frame.stackAddress);
    out.kind = JSPROF_KIND_JIT;
    if (frame.kind == Walk::Frame_BaselineInterpreter) {
        out.kind = JSPROF_KIND_VM;
        if (calls)
            out.line = mozjs_line_at(m, frame.interpreterScript, frame.interpreterPC());
    }
    return out;
}

/* Where the C stack goes on if this frame was called by C++ code. */
bool mozjs_caller(const mozilla::Maybe<Walk::RegisterState> &regs, jsprof_frame *out)
{
    if (regs.isNothing() || !regs->pc)
        return false;
    *out = {};
    out->pc = mozjs_address(regs->pc);
    out->sp = mozjs_address(regs->sp);
    out->detail = static_cast<const char *>(regs->fp);
    out->kind = JSPROF_FRAME_CALLER;
    return true;
}

/* Make out[first] the first of n. By reversing, which calls no library function. */
void mozjs_rotate(jsprof_frame *out, uint32_t first, uint32_t n)
{
    std::reverse(out, out + first);
    std::reverse(out + first, out + n);
    std::reverse(out, out + n);
}

/* What mozjs_walk would have found before the collection. */
uint32_t mozjs_walk_kept(const jsprof_mozjs *m, jsprof_frame *out, uint32_t max)
{
    const uint32_t n = m->n_kept < max ? m->n_kept : max;
    const jsprof_frame *outermost = m->kept + (m->n_kept - n);

    for (uint32_t i = 0; i < n; i++)
        out[i] = outermost[i];
    return m->kept_there;
}

/* How many physical frames there are; going up one costs little, naming it much. */
uint32_t mozjs_count(const jsprof_mozjs *m, const Walk::RegisterState &regs)
{
    uint32_t n = 0;

    for (Walk walk(m->cx, regs); !walk.done() && n < MOZJS_FRAMES; (walk.*m->next)())
        n++;
    return n;
}

/* Is this code of a program or library, and not SpiderMonkey's compiled code? glibc's
 * own unwinder asks it in signal handlers; where it does not exist the answer is no. */
bool mozjs_in_object(void *pc)
{
    dl_find_object found;

    return !pc || (_dl_find_object && _dl_find_object(pc, &found) == 0);
}

/* The frames of compiled code and of the baseline interpreter, innermost first.
 * SpiderMonkey made this iterator for a thread that is stopped anywhere; where it is
 * changing what the iterator reads, it finds nothing. Of too many frames the outermost
 * are kept, for a tree needs its roots: as many as are too many are not named, and if
 * inlined ones and callers in C++ make them too many again, `out` has been used as a
 * ring. */
uint32_t mozjs_walk(jsprof_mozjs *m, const ucontext_t *context, jsprof_frame *out,
                    uint32_t max)
{
    const auto regs = mozjs_registers(context);
    const uint32_t physical = mozjs_count(m, regs);
    const uint32_t skipped = physical > max ? physical - max : 0;
    const bool in_cpp = mozjs_in_object(regs.pc);
    Walk::Frame frames[MOZJS_INLINED];
    uint32_t at = 0, n = 0;

    for (Walk walk(m->cx, regs); !walk.done() && at < physical; (walk.*m->next)(), at++) {
        uint32_t inlined = at < skipped ? 0 : (walk.*m->extract)(frames, 0, MOZJS_INLINED);

        for (uint32_t i = 0; i < inlined && max > 0; i++, n++)
            out[n % max] = mozjs_compiled_frame(m, frames[i], n > 0 || in_cpp);
        if (max > 0 && mozjs_caller((walk.*m->entry)(), &out[n % max]))
            n++;
    }
    if (n > max && max > 0)
        mozjs_rotate(out, n % max, max);
    return n + skipped;
}

/* Is compiled code running that this entry's frame has called? Where the interpreter
 * calls into it there is no marker between the two. */
bool mozjs_runs_compiled(jsprof_mozjs *m, const Frame *entry)
{
    const Frame *bottom = m->stack.frames;
    Walk walk(m->cx, Walk::RegisterState());

    while (entry > bottom && entry->isJsFrame())
        entry--;
    return !walk.done() && !entry->isJsFrame() &&
           mozjs_address(walk.stackAddress()) < mozjs_address(entry->stackAddress());
}

/* The line of a frame of the C++ interpreter, if it has called something. While the
 * collector runs, script and pc are nullptr. */
uint32_t mozjs_interpreted_line(jsprof_mozjs *m, const Frame *entry)
{
    const Frame *last = &m->stack.frames[m->stack.stackPointer - 1];

    if (entry == last && !mozjs_runs_compiled(m, entry))
        return 0;
    return mozjs_line_at(m, (entry->*m->script)(), (entry->*m->pc)());
}

} // namespace

/* One entry of the ProfilingStack. Scripts have no stack address of their own: the
 * core gives them the one of the marker or label below. Two kinds of script entries
 * are no frames: one that went on in compiled code (OSR), for mozjs_walk_sigsafe
 * finds it there, and the "js::RunScript" without a dynamic string that stands below
 * every run of scripts. */
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
        out->kind = JSPROF_KIND_VM;
        if (!out->label || frame.isOSRFrame())
            return 0;
        out->line = mozjs_interpreted_line(m, &frame);
        return 1;
    }
    if (!frame.isLabelFrame())
        return -1;
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
    return mozjs_walk(m, static_cast<const ucontext_t *>(ucontext), out, max);
}

void mozjs_keep_frames(jsprof_mozjs *m)
{
    const ucontext_t in_cpp = {}; /* no address in compiled code */

    m->kept_there = mozjs_walk(m, &in_cpp, m->kept, MOZJS_KEPT);
    m->n_kept = m->kept_there < MOZJS_KEPT ? m->kept_there : MOZJS_KEPT;
}

/* The handler must not be the first to call into SpiderMonkey: in a host linked for
 * lazy binding the dynamic linker would look symbols up there, and that takes locks.
 * A walk that finds nothing binds the names it calls; those that it does not reach
 * are taken as addresses, which the linker fills in when it loads us. */
void mozjs_bind_symbols(jsprof_mozjs *m)
{
    ucontext_t nowhere = {};
    jsprof_frame frame;

    m->extract = &Walk::extractStack;
    m->entry = &Walk::getCppEntryRegisters;
    m->next = &Walk::operator++;
    m->script = &Frame::script;
    m->pc = &Frame::pc;
    m->line_of = JS_PCToLineNumber;
    (void)mozjs_walk(m, &nowhere, &frame, 1);
    (void)JS::GetProfilingCategoryPairInfo(JS::ProfilingCategoryPair::OTHER);
}
