/* jsprof-mozjs.cpp - a SpiderMonkey context's JavaScript stack, for jsprof.
 *
 * SPDX-License-Identifier: MIT
 *
 * SpiderMonkey tells its stack in two places. Its C++ interpreter and its native
 * sections push entries on a ProfilingStack, which the core reads as a host's own
 * array. Compiled code and the baseline interpreter push nothing there and are
 * walked from the interrupted registers. The core puts both in order by stack
 * address. While the collector runs, SpiderMonkey lets nobody walk: compiled frames
 * are taken once before, and samples inside reuse them. All layouts come from the
 * installed headers.
 */
#include "jsprof-mozjs.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <new>

#include <link.h>
#include <ucontext.h>

#include <js/Class.h>
#include <js/GCAPI.h>
#include <js/GlobalObject.h>
#include <js/ProfilingCategory.h>
#include <js/ProfilingFrameIterator.h>
#include <js/ProfilingStack.h>
#include <js/RootingAPI.h>

/* As many frames as the core keeps without being asked for more. */
constexpr uint32_t MOZJS_KEPT = 512;

struct jsprof_mozjs {
    JSContext *cx;         /* borrowed */
    jsprof_thread *thread; /* borrowed */
    ProfilingStack stack;  /* SpiderMonkey writes, the handler reads */

    /* The compiled frames that a collection began below, innermost first. */
    jsprof_frame kept[MOZJS_KEPT];
    uint32_t n_kept;
    uint32_t kept_there;           /* with those that did not fit */
    volatile uint32_t collections; /* that are running; they nest */

    /* Called through here and not by name, see mozjs_bind_symbols. */
    uint32_t (JS::ProfilingFrameIterator::*extract)(JS::ProfilingFrameIterator::Frame *,
                                                    uint32_t, uint32_t) const;
    mozilla::Maybe<JS::ProfilingFrameIterator::RegisterState> (
        JS::ProfilingFrameIterator::*entry)() const;
    void (JS::ProfilingFrameIterator::*next)();

    /* Always: cx has our stack, or (after a detach that answered -EBUSY) profiling
     *         of cx is off and frames that are still running may pop from it */
};

/* The core reads both as plain memory. */
static_assert(sizeof(ProfilingStack::stackPointer) == sizeof(uint32_t), "depth");
static_assert(sizeof(ProfilingStack::frames) == sizeof(void *), "entries");

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

/* One entry of the ProfilingStack. Scripts have no stack address of their own: the
 * core gives them the one of the marker or label below. Two kinds of script entries
 * are no frames: one that went on in compiled code (OSR), for mozjs_walk_sigsafe
 * finds it there, and the "js::RunScript" without a dynamic string that stands below
 * every run of scripts. */
int mozjs_decode_sigsafe(void *, const void *entry, jsprof_frame *out)
{
    const Frame &frame = *static_cast<const Frame *>(entry);

    if (frame.isSpMarkerFrame()) {
        out->sp = mozjs_address(frame.stackAddress());
        return 0;
    }
    if (frame.isJsFrame()) {
        out->label = frame.dynamicString();
        out->kind = JSPROF_KIND_VM;
        return out->label && !frame.isOSRFrame() ? 1 : 0;
    }
    if (!frame.isLabelFrame())
        return -1;
    out->label = frame.label();
    out->detail = frame.dynamicString();
    out->sp = mozjs_address(frame.stackAddress());
    out->kind = JSPROF_KIND_LABEL | mozjs_join(frame);
    return out->label || out->detail ? 1 : -1;
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

jsprof_frame mozjs_compiled_frame(const Walk::Frame &frame)
{
    jsprof_frame out = {};

    out.label = frame.label;
    out.sp = mozjs_address(frame.stackAddress);
    out.kind = frame.kind == Walk::Frame_BaselineInterpreter ? JSPROF_KIND_VM
                                                             : JSPROF_KIND_JIT;
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

/* The frames of compiled code and of the baseline interpreter, innermost first.
 * SpiderMonkey made this iterator for a thread that is stopped anywhere; where it is
 * changing what the iterator reads, it finds nothing. Of too many frames the outermost
 * are kept, for a tree needs its roots: as many as are too many are not named, and if
 * inlined ones and callers in C++ make them too many again, `out` has been used as a
 * ring. */
uint32_t mozjs_walk(const jsprof_mozjs *m, const ucontext_t *context, jsprof_frame *out,
                    uint32_t max)
{
    const auto regs = mozjs_registers(context);
    const uint32_t physical = mozjs_count(m, regs);
    const uint32_t skipped = physical > max ? physical - max : 0;
    Walk::Frame frames[MOZJS_INLINED];
    uint32_t at = 0, n = 0;

    for (Walk walk(m->cx, regs); !walk.done() && at < physical; (walk.*m->next)(), at++) {
        uint32_t inlined = at < skipped ? 0 : (walk.*m->extract)(frames, 0, MOZJS_INLINED);

        for (uint32_t i = 0; i < inlined && max > 0; i++, n++)
            out[n % max] = mozjs_compiled_frame(frames[i]);
        if (max > 0 && mozjs_caller((walk.*m->entry)(), &out[n % max]))
            n++;
    }
    if (n > max && max > 0)
        mozjs_rotate(out, n % max, max);
    return n + skipped;
}

uint32_t mozjs_walk_sigsafe(void *host, const void *ucontext, jsprof_frame *out, uint32_t max)
{
    const auto *m = static_cast<const jsprof_mozjs *>(host);

    if (m->collections > 0)
        return mozjs_walk_kept(m, out, max);
    return mozjs_walk(m, static_cast<const ucontext_t *>(ucontext), out, max);
}

/* -- Collections: SpiderMonkey calls back without a pointer of ours ----------- */

/* A context never leaves its thread. The handler does not look here. */
thread_local jsprof_mozjs *mozjs_current;
thread_local JS::GCSliceCallback mozjs_slice_before;
thread_local JS::GCNurseryCollectionCallback mozjs_nursery_before;

void mozjs_collection_begins(jsprof_mozjs *m)
{
    const ucontext_t in_cpp = {}; /* no address in compiled code */

    if (m->collections == 0) {
        m->kept_there = mozjs_walk(m, &in_cpp, m->kept, MOZJS_KEPT);
        m->n_kept = m->kept_there < MOZJS_KEPT ? m->kept_there : MOZJS_KEPT;
    }
    /* ORDER: signal fence only. This thread's own handler reads the frames after it. */
    std::atomic_signal_fence(std::memory_order_release);
    m->collections = m->collections + 1;
}

void mozjs_collection_ends(jsprof_mozjs *m)
{
    if (m->collections > 0)
        m->collections = m->collections - 1;
}

void mozjs_on_slice(JSContext *cx, JS::GCProgress progress, const JS::GCDescription &gc)
{
    if (mozjs_current && progress == JS::GC_SLICE_BEGIN)
        mozjs_collection_begins(mozjs_current);
    if (mozjs_slice_before)
        mozjs_slice_before(cx, progress, gc);
    if (mozjs_current && progress == JS::GC_SLICE_END)
        mozjs_collection_ends(mozjs_current);
}

void mozjs_on_nursery(JSContext *cx, JS::GCNurseryProgress progress, JS::GCReason reason)
{
    if (mozjs_current && progress == JS::GCNurseryProgress::GC_NURSERY_COLLECTION_START)
        mozjs_collection_begins(mozjs_current);
    if (mozjs_nursery_before)
        mozjs_nursery_before(cx, progress, reason);
    if (mozjs_current && progress == JS::GCNurseryProgress::GC_NURSERY_COLLECTION_END)
        mozjs_collection_ends(mozjs_current);
}

void mozjs_watch_collections(jsprof_mozjs *m)
{
    auto slice = JS::SetGCSliceCallback(m->cx, mozjs_on_slice);
    auto nursery = JS::SetGCNurseryCollectionCallback(m->cx, mozjs_on_nursery);

    if (slice != mozjs_on_slice)
        mozjs_slice_before = slice;
    if (nursery != mozjs_on_nursery)
        mozjs_nursery_before = nursery;
    mozjs_current = m;
}

/* Callbacks that somebody has put in front of ours still call ours: they stay. */
void mozjs_unwatch_collections(jsprof_mozjs *m)
{
    auto slice = JS::SetGCSliceCallback(m->cx, mozjs_slice_before);
    auto nursery = JS::SetGCNurseryCollectionCallback(m->cx, mozjs_nursery_before);

    if (slice != mozjs_on_slice)
        JS::SetGCSliceCallback(m->cx, slice);
    if (nursery != mozjs_on_nursery)
        JS::SetGCNurseryCollectionCallback(m->cx, nursery);
    mozjs_current = nullptr;
}

/* -- Attaching ------------------------------------------------------------------ */

/* Profiling of the context is on: a walk of any other ends the process.
 * The handler must not be the first to call into SpiderMonkey: in a host linked for
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
    (void)mozjs_walk(m, &nowhere, &frame, 1);
    (void)JS::GetProfilingCategoryPairInfo(JS::ProfilingCategoryPair::OTHER);
}

jsprof_stack mozjs_descriptor(jsprof_mozjs *m)
{
    jsprof_stack d = {};

    d.size = sizeof d;
    d.depth = &m->stack.stackPointer;
    d.depth_bytes = sizeof(uint32_t);
    d.entries = &m->stack.frames;
    d.stride = sizeof(Frame);
    d.decode_sigsafe = mozjs_decode_sigsafe;
    d.host = m;
    return d;
}

void mozjs_enable(jsprof_mozjs *m)
{
    js::SetContextProfilingStack(m->cx, &m->stack);
    js::EnableContextProfilingStack(m->cx, true);
    mozjs_bind_symbols(m);
    mozjs_watch_collections(m);
}

/* The context keeps no pointer to a stack that goes away. Running scripts still pop
 * what they pushed, so before that the stack must be empty. */
void mozjs_disable(jsprof_mozjs *m)
{
    mozjs_unwatch_collections(m);
    js::EnableContextProfilingStack(m->cx, false);
    if (m->stack.stackSize() == 0)
        js::SetContextProfilingStack(m->cx, nullptr);
}

/* The array first: once it is there, a walk finds an interpreter's run of frames. */
int mozjs_join_thread(jsprof_mozjs *m)
{
    const jsprof_stack d = mozjs_descriptor(m);
    int err = jsprof_thread_set_stack(m->thread, &d);

    if (err < 0)
        return err;
    err = jsprof_thread_set_walker(m->thread, mozjs_walk_sigsafe, m);
    if (err < 0)
        (void)jsprof_thread_set_stack(m->thread, nullptr);
    return err;
}

/* -- The engine's own code ------------------------------------------------------- */

struct mozjs_search {
    jsprof *session;
    uintptr_t inside;
    int err;
};

uintptr_t mozjs_start(const dl_phdr_info *object, const ElfW(Phdr) &segment)
{
    return object->dlpi_addr + segment.p_vaddr;
}

bool mozjs_has(const dl_phdr_info *object, uintptr_t address)
{
    const auto *end = object->dlpi_phdr + object->dlpi_phnum;

    return std::any_of(object->dlpi_phdr, end, [=](const ElfW(Phdr) &segment) {
        return segment.p_type == PT_LOAD &&
               address - mozjs_start(object, segment) < segment.p_memsz;
    });
}

int mozjs_hide_segment(jsprof *session, const dl_phdr_info *object, const ElfW(Phdr) &segment)
{
    const auto *start = reinterpret_cast<const void *>(mozjs_start(object, segment));

    if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
        return 0;
    return jsprof_interpreter_add(session, start, segment.p_memsz);
}

/* 1: it was this one; as dl_iterate_phdr has it. */
int mozjs_hide_object(dl_phdr_info *object, size_t, void *data)
{
    auto *search = static_cast<mozjs_search *>(data);

    if (!mozjs_has(object, search->inside))
        return 0;
    search->err = 0;
    for (int i = 0; i < object->dlpi_phnum && search->err == 0; i++)
        search->err = mozjs_hide_segment(search->session, object, object->dlpi_phdr[i]);
    return 1;
}

/* A function's address may be that of a stub in the program; what SpiderMonkey itself
 * keeps in a table of its own may not. */
const void *mozjs_inside(void)
{
    return reinterpret_cast<const void *>(JS::DefaultGlobalClassOps.trace);
}

} // namespace

int jsprof_mozjs_hide(jsprof *session, const void *inside)
{
    mozjs_search search = { session, mozjs_address(inside ? inside : mozjs_inside()),
                            -ENOENT };

    if (!session)
        return -EINVAL;
    (void)dl_iterate_phdr(mozjs_hide_object, &search);
    return search.err;
}

/* Paused: a sample must not meet a context that is half switched over. */
int jsprof_mozjs_attach(jsprof_thread *thread, JSContext *cx, jsprof_mozjs **out)
{
    if (!thread || !cx || !out)
        return -EINVAL;
    if (JS::IsProfilingEnabledForContext(cx))
        return -EBUSY;

    auto *m = new (std::nothrow) jsprof_mozjs{};
    if (!m)
        return -ENOMEM;
    m->cx = cx;
    m->thread = thread;

    jsprof_thread_pause(thread);
    mozjs_enable(m);
    int err = mozjs_join_thread(m);
    jsprof_thread_resume(thread);
    if (err < 0) {
        mozjs_disable(m);
        delete m;
        return err;
    }
    *out = m;
    return 0;
}

int jsprof_mozjs_detach(jsprof_mozjs *m)
{
    if (!m)
        return 0;
    if (m->thread) {
        jsprof_thread_pause(m->thread);
        (void)jsprof_thread_set_walker(m->thread, nullptr, nullptr);
        (void)jsprof_thread_set_stack(m->thread, nullptr);
        mozjs_disable(m);
        jsprof_thread_resume(m->thread);
        m->thread = nullptr;
    }
    if (m->stack.stackSize() > 0)
        return -EBUSY;
    js::SetContextProfilingStack(m->cx, nullptr);
    delete m;
    return 0;
}
