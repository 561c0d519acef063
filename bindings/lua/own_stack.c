/* own_stack.c - see own_stack.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "own_stack.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The main thread's stack, without /proc/self/maps, which pthread_getattr_np would read: its
 * last bytes are the name of the program's file and a null pointer. Return false if this code
 * does not run on it, or it has no limit. */
static bool own_main_stack(struct jsp_lua_own_stack *out)
{
    struct rlimit most;
    const char *name = (const char *)(uintptr_t)getauxval(AT_EXECFN);
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), page = getauxval(AT_PAGESZ);
    if (!name || !page || syscall(SYS_gettid) != getpid() ||
        getrlimit(RLIMIT_STACK, &most) < 0 || most.rlim_cur == RLIM_INFINITY)
        return false;
    uintptr_t high = ((uintptr_t)name + strlen(name) + sizeof(void *) + page) & ~(page - 1);
    if (most.rlim_cur >= high || here < high - most.rlim_cur || here >= high)
        return false;
    *out = (struct jsp_lua_own_stack){ high - most.rlim_cur, high };
    return true;
}

struct jsp_lua_own_stack jsp_lua_own_stack(void)
{
    struct jsp_lua_own_stack own = { 0, 0 };
    pthread_attr_t attributes;
    void *low = NULL;
    size_t bytes = 0;
    if (own_main_stack(&own) || pthread_getattr_np(pthread_self(), &attributes) != 0)
        return own;
    if (pthread_attr_getstack(&attributes, &low, &bytes) == 0)
        own = (struct jsp_lua_own_stack){ (uintptr_t)low, (uintptr_t)low + bytes };
    pthread_attr_destroy(&attributes);
    return own;
}
