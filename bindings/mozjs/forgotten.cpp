/* forgotten.cpp - compiled code for which SpiderMonkey's iterator finds no frame.
 *
 * SPDX-License-Identifier: MIT
 *
 * If WebAssembly called JavaScript and returns to JavaScript, there is no frame from
 * which to start, and the iterator finds nothing until the next call or return. The C++
 * caller of all this is the same as in the sample before, if its return address is still
 * in place: the C stack continues there. If no compiled code runs, the walk over the C
 * stack ignores this frame, whatever an old word on the stack suggests.
 */
#include "compiled.h"

#include <pthread.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

namespace {

uintptr_t forgotten_address(const void *p)
{
    return reinterpret_cast<uintptr_t>(p);
}

/* The stack of the first thread ends after the program's name, which the kernel puts there, and
 * grows up to its limit. libc would read the list of all mappings for that. */
bool forgotten_main_stack(jsprof_mozjs *m)
{
    const auto here = forgotten_address(__builtin_frame_address(0));
    const uintptr_t name = getauxval(AT_EXECFN);
    rlimit limit;

    if (getpid() != gettid() || getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur > name)
        return false;
    m->stack_low = name - limit.rlim_cur;
    m->stack_high = name;
    return m->stack_low < here && here < m->stack_high;
}

} // namespace

void mozjs_find_stack(jsprof_mozjs *m)
{
    pthread_attr_t attr;
    void *low = nullptr;
    size_t size = 0;

    if (forgotten_main_stack(m))
        return;
    m->stack_low = m->stack_high = 0;
    if (pthread_getattr_np(pthread_self(), &attr) != 0)
        return;
    if (pthread_attr_getstack(&attr, &low, &size) == 0) {
        m->stack_low = forgotten_address(low);
        m->stack_high = m->stack_low + size;
    }
    (void)pthread_attr_destroy(&attr);
}

/* The stack further out than our own frame is readable. But a sample may interrupt this
 * function when it is called outside of one, so use a copy. */
bool mozjs_is_forgotten(const jsprof_mozjs *m,
                        const JS::ProfilingFrameIterator::RegisterState &regs,
                        JS::ProfilingFrameIterator::RegisterState *caller)
{
    const uintptr_t sp = forgotten_address(regs.sp ? regs.sp : __builtin_frame_address(0));

    *caller = m->last_caller;
    const uintptr_t slot = forgotten_address(caller->sp) - sizeof(uintptr_t);
    if (!caller->pc || sp < m->stack_low || slot < sp || slot >= m->stack_high ||
        slot % sizeof(uintptr_t) != 0)
        return false;
    return *reinterpret_cast<const uintptr_t *>(slot) == forgotten_address(caller->pc);
}
