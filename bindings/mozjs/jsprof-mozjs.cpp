/* jsprof-mozjs.cpp - a SpiderMonkey context's JavaScript stack, for jsprof.
 *
 * SPDX-License-Identifier: MIT
 *
 * This file ties a context to a thread of a session, and unties it. walk.cpp and
 * compiled.cpp read the tie; collect.cpp keeps it up to date during collections.
 */
#include "allocations.h"
#include "evaluated.h"

#include <cerrno>
#include <new>

#include <js/RootingAPI.h>

/* The library reads both as plain memory. */
static_assert(sizeof(ProfilingStack::stackPointer) == sizeof(uint32_t), "depth");
static_assert(sizeof(ProfilingStack::frames) == sizeof(void *), "entries");

namespace {

jsprof_stack mozjs_descriptor(jsprof_mozjs *m)
{
    jsprof_stack d = {};

    d.size = sizeof d;
    d.depth = &m->stack.stackPointer;
    d.depth_bytes = sizeof(uint32_t);
    d.entries = &m->stack.frames;
    d.stride = sizeof(js::ProfilingStackFrame);
    d.decode_sigsafe = mozjs_decode_sigsafe;
    d.host = m;
    return d;
}

bool mozjs_enable(jsprof_mozjs *m)
{
    js::SetContextProfilingStack(m->cx, &m->stack);
    js::EnableContextProfilingStack(m->cx, true);
    mozjs_find_code(m);
    mozjs_find_stack(m);
    mozjs_bind_symbols(m);
    return mozjs_watch_collections(m);
}

/* Take our stack from the context, which must not keep a pointer to it. Running scripts
 * still pop what they pushed, so the stack must be empty before. */
void mozjs_disable(jsprof_mozjs *m)
{
    js::EnableContextProfilingStack(m->cx, false);
    if (m->stack.stackSize() == 0)
        js::SetContextProfilingStack(m->cx, nullptr);
}

/* Set the array first: once it exists, a walk finds the frames of the C++ interpreter. */
int mozjs_join_thread(jsprof_mozjs *m)
{
    const jsprof_stack d = mozjs_descriptor(m);
    int err = jsprof_thread_set_stack(m->thread, &d);

    if (err < 0)
        return err;
    err = jsprof_thread_set_walker(m->thread, mozjs_walk_sigsafe, m);
    if (err == 0)
        err = jsprof_thread_set_asleep_walker(m->thread, mozjs_walk_asleep, m);
    if (err < 0)
        (void)jsprof_thread_set_stack(m->thread, nullptr);
    return err;
}

/* From now on no sample reads the context. */
void mozjs_leave_thread(jsprof_mozjs *m)
{
    (void)jsprof_thread_set_asleep_walker(m->thread, nullptr, nullptr);
    (void)jsprof_thread_set_walker(m->thread, nullptr, nullptr);
    (void)jsprof_thread_set_stack(m->thread, nullptr);
}

} // namespace

void mozjs_lose_context(jsprof_mozjs *m)
{
    jsprof_thread_pause(m->thread);
    mozjs_leave_thread(m);
    jsprof_thread_resume(m->thread);
    mozjs_mark_no_more(m);
    jsprof_mozjs_end_allocations(m);
    m->thread = nullptr;
    m->cx = nullptr;
    mozjs_unwatch_evaluated(m);
}

/* The thread is paused, because a sample must not meet a context that is half switched
 * over. */
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
    mozjs_describe(m);
    m->script_epoch = 1;
    m->code_epoch = 1;

    jsprof_thread_pause(thread);
    const bool watched = mozjs_enable(m);
    const int err = watched ? mozjs_join_thread(m) : -ENOMEM;
    jsprof_thread_resume(thread);
    if (err < 0) {
        if (watched)
            mozjs_unwatch_collections(m);
        mozjs_disable(m);
        delete m;
        return err;
    }
    mozjs_watch_evaluated(m);
    *out = m;
    return 0;
}

int jsprof_mozjs_detach(jsprof_mozjs *m)
{
    if (!m)
        return 0;
    if (m->thread) {
        jsprof_thread_pause(m->thread);
        mozjs_leave_thread(m);
        mozjs_mark_no_more(m);
        mozjs_unwatch_collections(m);
        mozjs_disable(m);
        jsprof_thread_resume(m->thread);
        m->thread = nullptr;
    }
    mozjs_unwatch_evaluated(m);
    mozjs_leave_allocations(m);
    if (m->stack.stackSize() > 0)
        return -EBUSY;
    if (m->cx)
        js::SetContextProfilingStack(m->cx, nullptr);
    delete m;
    return 0;
}
