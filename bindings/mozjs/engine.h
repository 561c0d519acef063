/* engine.h - what differs between SpiderMonkey 102 and 140, in this one place.
 *
 * SPDX-License-Identifier: MIT
 *
 * The headers that are installed say which version it is. 102, 115, 128 and 140 are the
 * versions with long-term support, which distributions ship: a difference that came between
 * two of them is taken to have come with the later one.
 */
#ifndef JSPROF_MOZJS_ENGINE_H
#define JSPROF_MOZJS_ENGINE_H

#include <js-config.h>

#include <js/GCAPI.h>
#include <js/ProfilingFrameIterator.h>
#include <jsfriendapi.h>

#include <ucontext.h>

#if MOZJS_MAJOR_VERSION < 102
#error "jsprof-mozjs needs SpiderMonkey 102 or a later one"
#endif

/* Does a compiled frame begin with its caller's frame pointer and the return address? Then
 * the frame pointer is the callee's to save in all compiled code. */
constexpr bool ENGINE_HAS_FRAME_POINTERS = MOZJS_MAJOR_VERSION >= 115;

/* One kind of frame in WebAssembly, or one for each of its compilers, are the last ones. */
inline bool engine_is_wasm(JS::ProfilingFrameIterator::FrameKind kind)
{
    return kind > JS::ProfilingFrameIterator::Frame_Ion;
}

/* -- Registers: those in which WebAssembly keeps its caller while a tail call moves the
 *    frame. A walk that began in the middle of one without them would end the process -- */

#if MOZJS_MAJOR_VERSION < 128
inline void engine_set_tail_call(JS::ProfilingFrameIterator::RegisterState *, const mcontext_t &)
{
}
#elif defined(__x86_64__)
inline void engine_set_tail_call(JS::ProfilingFrameIterator::RegisterState *regs,
                                 const mcontext_t &context)
{
    regs->tempRA = reinterpret_cast<void *>(context.gregs[REG_R10]);
    regs->tempFP = reinterpret_cast<void *>(context.gregs[REG_R12]);
}
#elif defined(__aarch64__)
inline void engine_set_tail_call(JS::ProfilingFrameIterator::RegisterState *regs,
                                 const mcontext_t &context)
{
    regs->tempFP = reinterpret_cast<void *>(context.regs[11]);
}
#endif

/* -- Collections of the nursery: one callback, or a list with a pointer for each -- */

using engine_nursery = void(JSContext *, JS::GCNurseryProgress, JS::GCReason);

#if MOZJS_MAJOR_VERSION < 128
/* Whoever had the callback before us. Each context has a thread of its own. */
inline thread_local JS::GCNurseryCollectionCallback engine_nursery_before;

template <engine_nursery *Ours> bool engine_watch_nursery(JSContext *cx)
{
    auto before = JS::SetGCNurseryCollectionCallback(cx, Ours);

    if (before != Ours)
        engine_nursery_before = before;
    return true;
}

/* A callback that somebody has put in front of ours still calls ours: it stays. */
template <engine_nursery *Ours> void engine_unwatch_nursery(JSContext *cx)
{
    auto now = JS::SetGCNurseryCollectionCallback(cx, engine_nursery_before);

    if (now != Ours)
        JS::SetGCNurseryCollectionCallback(cx, now);
}

inline void engine_pass_nursery(JSContext *cx, JS::GCNurseryProgress progress,
                                JS::GCReason reason)
{
    if (engine_nursery_before)
        engine_nursery_before(cx, progress, reason);
}
#else
template <engine_nursery *Ours>
void engine_on_nursery(JSContext *cx, JS::GCNurseryProgress progress, JS::GCReason reason,
                       void *)
{
    Ours(cx, progress, reason);
}

template <engine_nursery *Ours> bool engine_watch_nursery(JSContext *cx)
{
    return JS::AddGCNurseryCollectionCallback(cx, engine_on_nursery<Ours>, nullptr);
}

template <engine_nursery *Ours> void engine_unwatch_nursery(JSContext *cx)
{
    JS::RemoveGCNurseryCollectionCallback(cx, engine_on_nursery<Ours>, nullptr);
}

/* The others are called by SpiderMonkey. */
inline void engine_pass_nursery(JSContext *, JS::GCNurseryProgress, JS::GCReason)
{
}
#endif

/* -- Lines. The column is not asked for: its origin differs -- */

using engine_line = decltype(&JS_PCToLineNumber);

#endif
