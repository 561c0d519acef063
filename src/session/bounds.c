/* session/bounds.c - the bounds of a thread's C stack; see thread.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "thread.h"

#include <pthread.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool bounds_is_main(void)
{
    return syscall(SYS_gettid) == getpid();
}

/* Return how far down the main thread's stack may grow from `high`, or 0 if nothing limits it. */
static uintptr_t bounds_lowest(uintptr_t high)
{
    struct rlimit most;
    bool is_limited = getrlimit(RLIMIT_STACK, &most) == 0 && most.rlim_cur != RLIM_INFINITY &&
                      most.rlim_cur < high;
    return is_limited ? high - most.rlim_cur : 0;
}

/* Find the main thread's stack without /proc/self/maps, which the C library would read: the
 * kernel writes the name of the program's file, and then a null pointer, at its end. Return
 * false if this code does not run on it, or it has no limit. */
static bool bounds_find_main_stack(struct jsp_vmstack *vm)
{
    const char *name = (const char *)(uintptr_t)getauxval(AT_EXECFN);
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), page = getauxval(AT_PAGESZ);
    if (!name || !page || !bounds_is_main())
        return false;
    uintptr_t end = (uintptr_t)name + strlen(name) + 1 + sizeof(void *);
    uintptr_t high = (end + page - 1) & ~(page - 1), low = bounds_lowest(high) & ~(page - 1);
    if (!low || here < low || here >= high)
        return false;
    vm->stack_high = high;
    vm->stack_low = vm->stack_end = low;
    return true;
}

/* Allow for the growth of the main thread's stack: some C libraries (musl) report only
 * the part that is mapped by now. */
static void bounds_grown(struct jsp_vmstack *vm)
{
    vm->stack_end = vm->stack_low;
    if (!bounds_is_main())
        return;
    uintptr_t lowest = bounds_lowest(vm->stack_high);
    if (lowest && lowest < vm->stack_low)
        vm->stack_low = lowest;
    vm->stack_end = lowest ? vm->stack_low : 0;
}

void jsp_thread_find_stack(struct jsp_vmstack *vm)
{
    pthread_attr_t attr;
    void *low;
    size_t size;
    if (bounds_find_main_stack(vm) || pthread_getattr_np(pthread_self(), &attr) != 0)
        return;
    if (pthread_attr_getstack(&attr, &low, &size) == 0) {
        vm->stack_high = (uintptr_t)low + size;
        vm->stack_low = (uintptr_t)low;
        bounds_grown(vm);
    }
    pthread_attr_destroy(&attr);
}
