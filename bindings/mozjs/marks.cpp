/* marks.cpp - the collector's work, as marks and counters of a session.
 *
 * SPDX-License-Identifier: MIT
 *
 * The collector calls all of this on the context's own thread, when its work begins and
 * ends. The exception is the size of malloc'ed memory, which SpiderMonkey shows only to
 * scripts: it is read between two steps of a running script.
 */
#include "context.h"

#include <cerrno>
#include <cstring>

#include <jsapi.h>

namespace {

constexpr uint64_t MARKS_MALLOC_NS = 100000000; /* between two reads of it */

/* The interrupt of this thread's context finds the binding here. */
thread_local jsprof_mozjs *marks_current;
thread_local JSContext *marks_interrupted; /* has our permanent callback */

/* An end without a begin makes no mark. The session counts marks that did not fit. */
void marks_end(const jsprof_mozjs *m, uint64_t *begin_ns, const char *name,
               JS::GCReason reason)
{
    if (*begin_ns)
        (void)jsprof_mark(m->session, *begin_ns, "GC", name, JS::ExplainGCReason(reason));
    *begin_ns = 0;
}

/* -- The heap ------------------------------------------------------------------------ */

void marks_set_malloc(JSContext *cx, const jsprof_mozjs *m)
{
    JS::RootedObject info(cx, js::gc::NewMemoryInfoObject(cx));
    JS::RootedValue bytes(cx);

    if (info && JS_GetProperty(cx, info, "mallocBytes", &bytes) && bytes.isNumber())
        (void)jsprof_counter_set(m->session, m->malloc_bytes,
                                 static_cast<int64_t>(bytes.toNumber()));
    else
        JS_ClearPendingException(cx);
}

/* Return true: the script continues. */
bool marks_on_interrupt(JSContext *cx)
{
    jsprof_mozjs *m = marks_current;

    if (m && m->cx == cx && m->session && m->malloc_ns == 0) {
        m->malloc_ns = jsprof_now();
        marks_set_malloc(cx, m);
    }
    return true;
}

void marks_set_heap(jsprof_mozjs *m)
{
    (void)jsprof_counter_set(m->session, m->gc_bytes, JS_GetGCParameter(m->cx, JSGC_BYTES));
    if (m->malloc_ns && jsprof_now() - m->malloc_ns < MARKS_MALLOC_NS)
        return;
    m->malloc_ns = 0;
    JS_RequestInterruptCallbackCanWait(m->cx);
}

/* -- Sweeping ------------------------------------------------------------------------- */

/* Groups are swept one after the other, possibly over several slices. */
void marks_on_finalize(JS::GCContext *, JSFinalizeStatus status, void *data)
{
    auto *m = static_cast<jsprof_mozjs *>(data);

    if (status == JSFINALIZE_GROUP_PREPARE && !m->sweep_ns)
        m->sweep_ns = jsprof_now();
    if (status == JSFINALIZE_COLLECTION_END && m->sweep_ns) {
        (void)jsprof_mark(m->session, m->sweep_ns, "GC", "Sweep", m->reason);
        m->sweep_ns = 0;
    }
}

/* -- The compilers -------------------------------------------------------------------- */

/* SpiderMonkey names the reason and the place. Since 128 it also reports each realm whose code is
 * thrown away, whenever this happens to all: such marks would fill the queue. */
void marks_on_event(uint64_t took_ns, const char *event, const char *details)
{
    const jsprof_mozjs *m = marks_current;

    if (m && m->session && strcmp(event, "DiscardJit") != 0)
        (void)jsprof_mark(m->session, took_ns ? jsprof_now() - took_ns : 0, "JIT", event, details);
}

} // namespace

void mozjs_mark_slice(jsprof_mozjs *m, JS::GCProgress progress, JS::GCReason reason)
{
    if (!m->session)
        return;
    switch (progress) {
    case JS::GC_CYCLE_BEGIN:
        m->cycle_ns = jsprof_now();
        break;
    case JS::GC_SLICE_BEGIN:
        m->slice_ns = jsprof_now();
        m->reason = JS::ExplainGCReason(reason);
        break;
    case JS::GC_SLICE_END:
        marks_end(m, &m->slice_ns, "Slice", reason);
        marks_set_heap(m);
        break;
    case JS::GC_CYCLE_END:
        marks_end(m, &m->cycle_ns, "Collection", reason);
        break;
    }
}

void mozjs_mark_nursery(jsprof_mozjs *m, JS::GCNurseryProgress progress,
                        JS::GCReason reason)
{
    if (!m->session)
        return;
    if (progress == JS::GCNurseryProgress::GC_NURSERY_COLLECTION_START) {
        m->nursery_ns = jsprof_now();
        return;
    }
    marks_end(m, &m->nursery_ns, "Nursery", reason);
    marks_set_heap(m);
}

void mozjs_mark_no_more(jsprof_mozjs *m)
{
    if (!m->session)
        return;
    JS_RemoveFinalizeCallback(m->cx, marks_on_finalize);
    engine_unwatch_events(m->cx);
    marks_current = nullptr;
    m->session = nullptr;
}

int jsprof_mozjs_tell_collections(jsprof_mozjs *m, jsprof *session)
{
    if (!m || !m->cx || !session)
        return -EINVAL;

    int gc = jsprof_counter(session, "GC", "GC bytes", "Heap of the collector",
                            JSPROF_COUNTER_WHOLE);
    int heap = jsprof_counter(session, "GC", "Malloc bytes",
                              "Allocated by malloc for what the collector keeps",
                              JSPROF_COUNTER_WHOLE);
    if (gc < 0 || heap < 0)
        return gc < 0 ? gc : heap;
    if (!JS_AddFinalizeCallback(m->cx, marks_on_finalize, m))
        return -ENOMEM;
    if (marks_interrupted != m->cx && !JS_AddInterruptCallback(m->cx, marks_on_interrupt)) {
        JS_RemoveFinalizeCallback(m->cx, marks_on_finalize);
        return -ENOMEM;
    }
    marks_interrupted = m->cx;
    marks_current = m;
    m->gc_bytes = gc;
    m->malloc_bytes = heap;
    m->session = session;
    engine_watch_events<marks_on_event>(m->cx);
    return 0;
}
