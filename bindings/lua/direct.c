/* direct.c - see direct.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "direct.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    DIRECT_HOW = 0x7FFFFFFF, /* an invalid `how` for rt_sigprocmask */
    DIRECT_SET_BYTES = 8,    /* the kernel's signal set, whatever libc's is */
    DIRECT_PAGE = 4096,
};

/* The kernel copies the set before it checks how to apply it. */
bool jsp_lua_direct_is_there(uintptr_t at)
{
    return syscall(SYS_rt_sigprocmask, DIRECT_HOW, at, NULL, (size_t)DIRECT_SET_BYTES) < 0 &&
           errno == EINVAL;
}

/* Return whether the kernel's answers are right for readable and unreadable memory. */
static bool direct_is_reliable(void)
{
    uint64_t here = 0;
    void *none = mmap(NULL, DIRECT_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (none == MAP_FAILED)
        return false;
    bool is_reliable = jsp_lua_direct_is_there((uintptr_t)&here) &&
                   !jsp_lua_direct_is_there((uintptr_t)none) &&
                   !jsp_lua_direct_is_there(UINTPTR_MAX - 7);
    munmap(none, DIRECT_PAGE);
    return is_reliable;
}

/* Valgrind shows itself: its library is first in LD_PRELOAD. */
static bool direct_is_valgrind(void)
{
    const char *preloaded = getenv("LD_PRELOAD");
    return preloaded && strstr(preloaded, "vgpreload_core");
}

/* Count the threads of every library: a directory has two links more than it has
 * subdirectories. */
static bool direct_is_alone(void)
{
    struct stat tasks;
    return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3;
}

void jsp_lua_direct_init(struct jsp_lua_direct *d)
{
    int saved_errno = errno;
    d->alone = dlsym(RTLD_DEFAULT, "__libc_single_threaded");
    if (d->alone && (direct_is_valgrind() || !direct_is_alone() || !direct_is_reliable()))
        d->alone = NULL;
    errno = saved_errno;
}

/* Copy in a loop of its own, because sanitizers check memcpy. */
__attribute__((no_sanitize("address", "undefined"))) void
jsp_lua_direct_copy(uintptr_t at, void *to, size_t n)
{
    uint8_t *out = to;
    for (; n >= 8 && at % 8 == 0; n -= 8, at += 8, out += 8) {
        uint64_t word = *(const volatile uint64_t *)at;
        __builtin_memcpy(out, &word, sizeof word);
    }
    for (; n; n--)
        *out++ = *(const volatile uint8_t *)at++;
}
