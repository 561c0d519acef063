/* collect.cpp - the collector's callbacks: times in which a walk is not allowed.
 *
 * SPDX-License-Identifier: MIT
 *
 * While the collector runs, SpiderMonkey does not allow its iterator. So the binding
 * takes the compiled frames once before, and samples during the collection reuse them.
 * Callbacks that were set before ours are still called.
 */
#include "allocations.h"

#include <atomic>

namespace {

/* SpiderMonkey calls back without a pointer of ours, but a context never leaves its
 * thread, so this is thread-local. The handler does not read it. */
thread_local jsprof_mozjs *collect_current;
thread_local JS::GCSliceCallback collect_slice_before;

/* Epoch 0 marks unused entries. */
void collect_forget(volatile uint32_t *epoch)
{
    *epoch = *epoch == UINT32_MAX ? 1 : *epoch + 1;
}

void collect_begins(jsprof_mozjs *m)
{
    if (m->collections == 0)
        mozjs_keep_frames(m);
    /* ORDER: signal fence only. This thread's own handler reads the frames after the
     * count. */
    std::atomic_signal_fence(std::memory_order_release);
    m->collections = m->collections + 1;
}

void collect_ends(jsprof_mozjs *m)
{
    if (m->collections > 0)
        m->collections = m->collections - 1;
    collect_forget(&m->script_epoch);
}

/* Our callbacks stay set: SpiderMonkey is in the middle of calling one of them. */
void collect_lose_context(void)
{
    mozjs_lose_context(collect_current);
    collect_current = nullptr;
}

/* The first callback of a context's end. */
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
    if (collect_current && progress == JS::GCNurseryProgress::GC_NURSERY_COLLECTION_END)
        mozjs_sort_young(collect_current);
    if (collect_current)
        mozjs_mark_nursery(collect_current, progress, reason);
}

/* SpiderMonkey calls it when sweeping begins and ends. Other code can not replace this
 * callback as it can the others, which matters here: results about code that is gone must
 * not be read. */
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

/* If other code has set a callback since, which calls ours, ours stays. */
void mozjs_unwatch_collections(jsprof_mozjs *m)
{
    JS_RemoveFinalizeCallback(m->cx, collect_on_sweep);
    engine_unwatch_nursery<collect_on_nursery>(m->cx);

    auto slice = JS::SetGCSliceCallback(m->cx, collect_slice_before);

    if (slice != collect_on_slice)
        JS::SetGCSliceCallback(m->cx, slice);
    collect_current = nullptr;
}
