/* threads.cpp - threads of the process that run no scripts.
 *
 * SPDX-License-Identifier: MIT
 *
 * A thread can only join a recording itself. GLib's threads and SpiderMonkey's call
 * pthread_setname_np for themselves when they begin, so the program, or the preloaded
 * library, replaces it.
 */
#include <cerrno>

#include <dlfcn.h>
#include <pthread.h>

#include "recording.h"

extern "C" __attribute__((visibility("default"))) int pthread_setname_np(pthread_t thread,
                                                                         const char *name)
    noexcept
{
    static const auto next = reinterpret_cast<decltype(pthread_setname_np) *>(
        dlsym(RTLD_NEXT, "pthread_setname_np"));
    const int err = next ? next(thread, name) : ENOSYS;

    if (pthread_equal(thread, pthread_self()))
        recording_join_native(name);
    return err;
}
