/* preload.cpp - a recorder for the scripts of a program that was built without us.
 *
 * SPDX-License-Identifier: MIT
 *
 * The command jsprof-gjs has the dynamic linker load this library first. It replaces
 * functions of SpiderMonkey that libgjs, like every embedder, calls: when a context is
 * made, is ready, gets its compilers and globals, and ends. The first context opens the
 * capture; programs that this one starts later are not recorded. The environment has the
 * options of jsprof-gjs.
 */
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jsapi.h>
#include <js/Initialization.h>

#include "../counts.h"
#include "../environment.h"
#include "../recording.h"
#include "../script.h"

#define PRELOAD_EXPORT __attribute__((visibility("default")))

namespace {

const char preload_program[] = "jsprof-gjs";

pthread_mutex_t preload_lock = PTHREAD_MUTEX_INITIALIZER;
bool preload_asked; /* the process has had a context */

/* This thread's context, while it is recorded. */
thread_local JSContext *preload_context;

/* Return the function that ours replaces. */
template <typename Function> Function *preload_next(const char *symbol)
{
    void *next = dlsym(RTLD_NEXT, symbol);

    if (!next) {
        fprintf(stderr, "%s: %s: not in any library that is loaded\n", preload_program, symbol);
        abort();
    }
    return reinterpret_cast<Function *>(next);
}

/* -- What to do ----------------------------------------------------------------------- */

char *preload_take(const char *variable)
{
    const char *value = environment_get(variable);
    char *copy = value ? strdup(value) : nullptr;

    environment_unset(variable);
    return copy;
}

/* A relative name belongs to the user's folder at the start: this program, or one that
 * starts it, may have changed its own. In a string that becomes a pattern, write a
 * percent sign twice. */
char *preload_place(const char *name, const char *folder, bool is_pattern)
{
    size_t n = 0;
    auto *path = static_cast<char *>(
        malloc((folder ? 2 * strlen(folder) : 0) + (name ? strlen(name) : 0) + 2));

    if (!path || !name) {
        free(path);
        return nullptr;
    }
    for (; folder && *folder; folder++) {
        path[n++] = *folder;
        if (*folder == '%' && is_pattern)
            path[n++] = '%';
    }
    if (n > 0)
        path[n++] = '/';
    strcpy(path + n, name);
    return path;
}

/* Two programs of one run can not write into one file. */
bool preload_is_taken(const char *path, const char *since)
{
    struct stat file;

    if (!path || !since || strstr(path, "%p") || stat(path, &file) < 0 || !S_ISREG(file.st_mode))
        return false;
    long long now = 1000000000LL * file.st_mtim.tv_sec + file.st_mtim.tv_nsec;
    return file.st_size > 0 && now >= strtoll(since, nullptr, 10);
}

/* Restore the linker's variable, once a process, to its value before jsprof-gjs. */
void preload_open(void)
{
    profile_options o = {};
    const request_program program = { preload_program, false, false };
    char *since = preload_take("JSPROF_GJS_SINCE");
    char *before = preload_take("JSPROF_GJS_PRELOAD");
    char *name = preload_take("JSPROF_GJS_OUTPUT");
    char *folder = preload_take("JSPROF_GJS_FOLDER");
    char *path = preload_place(name, folder, false);

    o.output = preload_place(name, folder, true);
    o.hz = preload_take("JSPROF_GJS_HZ");
    o.clock = preload_take("JSPROF_GJS_CLOCK");
    o.toggle = preload_take("JSPROF_GJS_TOGGLE");
    o.form = preload_take("JSPROF_GJS_FORM");
    o.calls = preload_take("JSPROF_GJS_CALLS");
    o.threads = preload_take("JSPROF_GJS_THREADS");
    o.alloc = preload_take("JSPROF_GJS_ALLOC");
    o.tasks = preload_take("JSPROF_GJS_TASKS");
    o.stalls = preload_take("JSPROF_GJS_STALLS");
    if (before && before[0])
        environment_change("LD_PRELOAD", before);
    else
        environment_unset("LD_PRELOAD");
    if (preload_is_taken(path, since))
        fprintf(stderr, "%s: %s: another program of this run records into it; %%p in the "
                "name makes a file for each\n", preload_program, name);
    else if ((o.output || !name) && recording_open(&o, &program))
        (void)counts_open(o.calls, preload_program);
    free(path);
    free(folder);
    free(name);
    free(since);
    free(before);
}

void preload_ask(void)
{
    pthread_mutex_lock(&preload_lock);
    if (!preload_asked)
        preload_open();
    preload_asked = true;
    pthread_mutex_unlock(&preload_lock);
}

void preload_join(JSContext *cx)
{
    if (!recording_is_open() || preload_context)
        return;
    if (recording_start(cx, getpid() == gettid() ? "main" : "gjs")) {
        preload_context = cx;
        counts_begin(cx);
    } else {
        recording_finish();
    }
}

/* The program that jsprof-gjs executed ran no script. */
__attribute__((destructor)) void preload_ends(void)
{
    const char *pid = environment_get("JSPROF_GJS_PID");
    const char *output = environment_get("JSPROF_GJS_OUTPUT");

    if (!preload_asked && pid && output && strtol(pid, nullptr, 10) == getpid())
        fprintf(stderr, "%s: %s: nothing recorded: no context of this SpiderMonkey (%s) was "
                "made\n", preload_program, output, JS_GetImplementationVersion());
}

} // namespace

/* Coverage must be requested before the first context exists. */
PRELOAD_EXPORT JSContext *JS_NewContext(uint32_t max_bytes, JSRuntime *parent)
{
    static const auto next =
        preload_next<decltype(JS_NewContext)>("_Z13JS_NewContextjP9JSRuntime");

    preload_ask();
    return next(max_bytes, parent);
}

/* A script finds the object `jsprof` in each global. */
PRELOAD_EXPORT JSObject *JS_NewGlobalObject(JSContext *cx, const JSClass *type,
                                            JSPrincipals *principals,
                                            JS::OnNewGlobalHookOption hook,
                                            const JS::RealmOptions &options)
{
    static const auto next = preload_next<decltype(JS_NewGlobalObject)>(
        "_Z18JS_NewGlobalObjectP9JSContextPK7JSClassP12JSPrincipalsN2JS21OnNewGlobalHookOption"
        "ERKNS6_12RealmOptionsE");
    JS::RootedObject global(cx, next(cx, type, principals, hook, options));

    if (global && preload_context == cx && !script_define(cx, global))
        JS_ClearPendingException(cx);
    if (global && preload_context == cx)
        recording_add_realm();
    return global;
}

/* libgjs switches the optimizing compiler on when its context is ready. */
PRELOAD_EXPORT void JS_SetGlobalJitCompilerOption(JSContext *cx, JSJitCompilerOption option,
                                                  uint32_t value)
{
    static const auto next = preload_next<decltype(JS_SetGlobalJitCompilerOption)>(
        "_Z29JS_SetGlobalJitCompilerOptionP9JSContext19JSJitCompilerOptionj");

    next(cx, option, option == JSJITCOMPILER_ION_ENABLE ? counts_optimizing(value) : value);
}

namespace JS {

PRELOAD_EXPORT bool InitSelfHostedCode(JSContext *cx, SelfHostedCache cache,
                                       SelfHostedWriter writer)
{
    static const auto next = preload_next<decltype(InitSelfHostedCode)>(
        "_ZN2JS18InitSelfHostedCodeEP9JSContextN7mozilla4SpanIKhLm18446744073709551615EEE"
        "PFbS1_S5_E");
    bool good = next(cx, cache, writer);

    if (good)
        preload_join(cx);
    return good;
}

} // namespace JS

/* libgjs collects everything before it ends a context, for a reason of its own: the second of
 * those that SpiderMonkey leaves to its hosts. */
PRELOAD_EXPORT void JS_GC(JSContext *cx, JS::GCReason reason)
{
    static const auto next = preload_next<decltype(JS_GC)>("_Z5JS_GCP9JSContextN2JS8GCReasonE");
    const int dispose = static_cast<int>(JS::GCReason::FIRST_FIREFOX_REASON) + 1;

    if (preload_context == cx && static_cast<int>(reason) == dispose)
        recording_end_allocations();
    next(cx, reason);
}

PRELOAD_EXPORT void JS_DestroyContext(JSContext *cx)
{
    static const auto next =
        preload_next<decltype(JS_DestroyContext)>("_Z17JS_DestroyContextP9JSContext");

    if (preload_context == cx) {
        preload_context = nullptr;
        counts_write();
        recording_leave();
    }
    next(cx);
}
