/* forgotten.cpp - compiled code that SpiderMonkey tells nothing of.
 *
 * SPDX-License-Identifier: MIT
 *
 * WebAssembly that called JavaScript and returns to JavaScript leaves no frame to begin with,
 * and until the next call or return SpiderMonkey's iterator finds nothing. Who called all of
 * it from C++ is as it was a sample ago if the return address is still where it was: the C
 * stack goes on there. Where no compiled code runs the walk over the C stack has no use for
 * that, whatever an old word on the stack says.
 */
#include "compiled.h"

#include <pthread.h>

namespace {

uintptr_t forgotten_address(const void *p)
{
    return reinterpret_cast<uintptr_t>(p);
}

} // namespace

void mozjs_find_stack(jsprof_mozjs *m)
{
    pthread_attr_t attr;
    void *low = nullptr;
    size_t size = 0;

    if (pthread_getattr_np(pthread_self(), &attr) != 0)
        return;
    if (pthread_attr_getstack(&attr, &low, &size) == 0) {
        m->stack_low = forgotten_address(low);
        m->stack_high = m->stack_low + size;
    }
    (void)pthread_attr_destroy(&attr);
}

/* All of a stack further out than where we are is there to be read. A sample may come in
 * between when this is asked outside of one: so a copy is looked at. */
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
