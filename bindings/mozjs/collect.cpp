/* collect.cpp - what the collector tells: when nobody may walk.
 *
 * SPDX-License-Identifier: MIT
 *
 * While the collector runs, SpiderMonkey lets nobody walk: compiled frames are taken
 * once before, and samples inside reuse them. Whoever had the callbacks before us still
 * gets them.
 */
#include "context.h"

#include <atomic>

namespace {

/* SpiderMonkey calls back without a pointer of ours, but a context never leaves its
 * thread. The handler does not look here. */
thread_local jsprof_mozjs *collect_current;
thread_local JS::GCSliceCallback collect_slice_before;

/* Epoch 0 is that of unused entries. */
void collect_forget(volatile uint32_t *epoch)
{
    *epoch = *epoch == UINT32_MAX ? 1 : *epoch + 1;
}

void collect_begins(jsprof_mozjs *m)
{
    if (m->collections == 0)
        mozjs_keep_frames(m);
    /* ORDER: signal fence only. This thread's own handler reads the frames after it. */
    std::atomic_signal_fence(std::memory_order_release);
    m->collections = m->collections + 1;
}

void collect_ends(jsprof_mozjs *m)
{
    if (m->collections > 0)
        m->collections = m->collections - 1;
    collect_forget(&m->script_epoch);
}

/* Our callbacks stay where they are: SpiderMonkey is just calling one of them. */
void collect_lose_context(void)
{
    mozjs_lose_context(collect_current);
    collect_current = nullptr;
}

/* The first that is heard of a context's end. */
bool collect_is_last(JS::GCReason reason)
{
    return reason == JS::GCReason::DESTROY_RUNTIME;
}

void collect_on_slice(JSContext *cx, JS::GCProgress progress, const JS::GCDescription &gc)
{
    if (collect_current && collect_is_last(gc.reason_))
        collect_lose_context();
    if (collect_current && progress == JS::GC_SLICE_BEGIN)
        collect_begins(collect_current);
    if (collect_slice_before)
        collect_slice_before(cx, progress, gc);
    if (collect_current)
        collect_forget(&collect_current->code_epoch);
    if (collect_current && progress == JS::GC_SLICE_END)
        collect_ends(collect_current);
    if (collect_current)
        mozjs_mark_slice(collect_current, progress, gc.reason_);
}

void collect_on_nursery(JSContext *cx, JS::GCNurseryProgress progress, JS::GCReason reason)
{
    if (collect_current && collect_is_last(reason))
        collect_lose_context();
    if (collect_current && progress == JS::GCNurseryProgress::GC_NURSERY_COLLECTION_START)
        collect_begins(collect_current);
    engine_pass_nursery(cx, progress, reason);
    if (collect_current && progress == JS::GCNurseryProgress::GC_NURSERY_COLLECTION_END)
        collect_ends(collect_current);
    if (collect_current)
        mozjs_mark_nursery(collect_current, progress, reason);
}

/* Called when sweeping begins and ends. Nobody can take this place from us, as the others:
 * what is remembered of code that is gone must not be read. */
void collect_on_sweep(JS::GCContext *, JSFinalizeStatus, void *)
{
    if (collect_current)
        collect_forget(&collect_current->code_epoch);
}

} // namespace

bool mozjs_watch_collections(jsprof_mozjs *m)
{
    if (!JS_AddFinalizeCallback(m->cx, collect_on_sweep, nullptr))
        return false;
    if (!engine_watch_nursery<collect_on_nursery>(m->cx)) {
        JS_RemoveFinalizeCallback(m->cx, collect_on_sweep);
        return false;
    }
    auto slice = JS::SetGCSliceCallback(m->cx, collect_on_slice);

    if (slice != collect_on_slice)
        collect_slice_before = slice;
    collect_current = m;
    return true;
}

/* A callback that somebody has put in front of ours still calls ours: it stays. */
void mozjs_unwatch_collections(jsprof_mozjs *m)
{
    JS_RemoveFinalizeCallback(m->cx, collect_on_sweep);
    engine_unwatch_nursery<collect_on_nursery>(m->cx);

    auto slice = JS::SetGCSliceCallback(m->cx, collect_slice_before);

    if (slice != collect_on_slice)
        JS::SetGCSliceCallback(m->cx, slice);
    collect_current = nullptr;
}
