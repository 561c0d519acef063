/* embed_host.cpp - a program that embeds SpiderMonkey itself and records it with
 * jsprof-mozjs: attach and detach in every order. Speaks TAP; argv[1] is the capture.
 *
 * SPDX-License-Identifier: MIT
 */
#include <cerrno>

#include <dlfcn.h>
#include <pthread.h>

#include <js/Principals.h>
#include <js/ProfilingStack.h>

#include "host.hpp"
#include "jsprof-mozjs.h"

namespace {

jsprof_mozjs *attached;
int detached_inside;
JSContext *gone; /* it was destroyed */
int n_late;      /* writes into it */

/* Called by a script: its frames are on the stack. */
bool detach_inside(JSContext *, unsigned argc, JS::Value *vp)
{
    detached_inside = jsprof_mozjs_detach(attached);
    JS::CallArgsFromVp(argc, vp).rval().setUndefined();
    return true;
}

const char burn[] = "function burn(n) { let x = 0;\n"
                    "    for (let i = 0; i < n; i++) x = x * 31 + i & 255;\n"
                    "    return x; }\n"
                    "for (let i = 0; i < 100; i++) burn(300000);\n"
                    "7";

const char make[] = "{ let kept = [];\n"
                    "  for (let i = 0; i < 300000; i++)\n"
                    "      if (i % 100) kept[0] = {a: i}; else kept.push({b: i}); }\n"
                    "6";

/* The order of the README. */
void check_plain(jsprof_thread *me, JSContext *cx)
{
    jsprof_mozjs *js = nullptr, *second = nullptr;

    check(jsprof_mozjs_attach(me, cx, &js) == 0, "attach");
    check(jsprof_mozjs_attach(me, cx, &second) == -EBUSY && !second, "a context has one profiler");
    check(run(cx, burn, "embedded.js") == 7, "a recorded script has its result");
    check(jsprof_mozjs_detach(js) == 0, "detach");
    check(run(cx, burn, "embedded.js") == 7, "and without again");
}

void check_arguments(jsprof_thread *me, JSContext *cx)
{
    jsprof_mozjs *js = nullptr;

    check(jsprof_mozjs_attach(nullptr, cx, &js) == -EINVAL, "no thread");
    check(jsprof_mozjs_attach(me, nullptr, &js) == -EINVAL, "no context");
    check(jsprof_mozjs_attach(me, cx, nullptr) == -EINVAL, "nowhere to put it");
    check(!js, "a failed call has changed nothing");
    check(jsprof_mozjs_detach(nullptr) == 0, "NULL is fine");
}

void check_inside(jsprof_thread *me, JSContext *cx)
{
    check(jsprof_mozjs_attach(me, cx, &attached) == 0, "attach before");
    check(run(cx, "(function outer() { for (let i = 0; i < 50; i++) ; detachInside();"
                  " return 8; })()", "embedded.js") == 8, "a script outlives a detach from inside");
    check(detached_inside == -EBUSY, "which says that a script runs");
    check(jsprof_mozjs_detach(attached) == 0, "and is repeated afterwards");
}

void check_often(jsprof_thread *me, JSContext *cx)
{
    bool good = true;

    for (int i = 0; i < 50 && good; i++) {
        jsprof_mozjs *js;
        good = jsprof_mozjs_attach(me, cx, &js) == 0 &&
               run(cx, "(function f(n) { return n ? f(n - 1) : 9; })(200)",
                   "embedded.js") == 9 &&
               jsprof_mozjs_detach(js) == 0;
    }
    check(good, "attach and detach fifty times");
}

/* Objects are reported while the context is attached, also where it detaches in a script. */
void check_allocations(jsprof_thread *me, JSContext *cx)
{
    check(jsprof_mozjs_tell_allocations(nullptr) == -EINVAL, "nobody to tell");
    check(jsprof_mozjs_attach(me, cx, &attached) == 0, "attach, to tell allocations");
    check(jsprof_mozjs_tell_allocations(attached) == 0 &&
          jsprof_mozjs_tell_allocations(attached) == 0, "tell allocations, twice");
    check(run(cx, make, "make.js") == 6, "a script creates objects");
    JS_GC(cx);
    check(run(cx, make, "make.js") == 6, "and after a collection");
    check(run(cx, "detachInside(); 6", "make.js") == 6 && detached_inside == -EBUSY,
          "detach while objects are reported");
    check(run(cx, make, "make.js") == 6, "objects that nobody sees");
    JS_GC(cx);
    check(jsprof_mozjs_detach(attached) == 0, "detach again");
    check(jsprof_mozjs_attach(me, cx, &attached) == 0 &&
          jsprof_mozjs_tell_allocations(attached) == 0, "attach again");
    check(run(cx, make, "make.js") == 6, "more objects");
    jsprof_mozjs_end_allocations(attached);
    check(jsprof_mozjs_tell_allocations(attached) == -EINVAL, "they have ended");
    check(run(cx, make, "make.js") == 6, "objects after the end");
    JS_GC(cx);
    check(jsprof_mozjs_detach(attached) == 0, "detach after the end");
}

int n_asked;

#if MOZJS_MAJOR_VERSION < 140
bool host_allows(JSContext *, JS::RuntimeCode, JS::HandleString)
{
    return ++n_asked < 3;
}
#else
bool host_allows(JSContext *, JS::RuntimeCode, JS::Handle<JSString *>, JS::CompilationType,
                 JS::Handle<JS::StackGCVector<JSString *>>, JS::Handle<JSString *>,
                 JS::Handle<JS::StackGCVector<JS::Value>>, JS::Handle<JS::Value>, bool *allowed)
{
    *allowed = ++n_asked < 3;
    return true;
}
#endif

/* The host decides what is evaluated. */
void check_evaluated(jsprof_thread *me, JSContext *cx)
{
    static JSSecurityCallbacks callbacks;
    jsprof_mozjs *js = nullptr;
    const char text[] = "try { eval('5\\n//# sourceURL=mine.js'); } catch (e) { 4; }";

    check(jsprof_mozjs_attach(me, cx, &js) == 0 && run(cx, text, "eval.js") == 5 &&
          jsprof_mozjs_detach(js) == 0, "evaluate while the host does not care");
    check(!JS_GetSecurityCallbacks(cx), "nobody cares afterwards");
    callbacks.contentSecurityPolicyAllows = host_allows;
    JS_SetSecurityCallbacks(cx, &callbacks);
    check(jsprof_mozjs_attach(me, cx, &js) == 0, "attach where the host decides");
    check(run(cx, text, "eval.js") == 5 && run(cx, text, "eval.js") == 5 && n_asked == 2,
          "the host is asked, and allows");
    check(run(cx, text, "eval.js") == 4 && n_asked == 3, "and forbids");
    check(jsprof_mozjs_detach(js) == 0 && JS_GetSecurityCallbacks(cx) == &callbacks,
          "the host's callbacks are back");
    JS_SetSecurityCallbacks(cx, nullptr);
}

void check_hide(jsprof *prof)
{
    char here;

    check(jsprof_mozjs_hide(nullptr, nullptr) == -EINVAL, "no session");
    check(jsprof_mozjs_hide(prof, &here) == -ENOENT, "nothing is loaded on the stack");
    check(jsprof_mozjs_hide(prof, nullptr) == 0, "the engine's own frames");
}

/* A thread with a runtime of its own, which it destroys while it is recorded. */
void *run_other(void *data)
{
    static bool good;
    auto *prof = static_cast<jsprof *>(data);
    jsprof_thread *me = nullptr;
    jsprof_mozjs *js = nullptr;
    JSContext *cx = new_context(8);

    good = jsprof_thread_attach(prof, "other", &me) == 0 &&
           jsprof_mozjs_attach(me, cx, &js) == 0 &&
           jsprof_mozjs_tell_allocations(js) == 0;
    {
        JS::RootedObject global(cx, new_global(cx));
        JSAutoRealm realm(cx, global);

        good = good && jsprof_mozjs_tell_allocations(js) == 0 &&
               run(cx, burn, "other.js") == 7 && run(cx, make, "other.js") == 6;
    }
    JS_DestroyContext(cx);
    good = good && jsprof_mozjs_detach(js) == 0 && jsprof_thread_detach(me) == 0;
    return &good;
}

/* While the main context runs, too. */
void check_two(jsprof *prof, jsprof_thread *me, JSContext *cx)
{
    pthread_t thread;
    jsprof_mozjs *js = nullptr;
    void *good = nullptr;

    check(jsprof_mozjs_attach(me, cx, &js) == 0, "attach, with another thread to come");
    check(pthread_create(&thread, nullptr, run_other, prof) == 0, "another thread");
    check(run(cx, burn, "embedded.js") == 7, "a script runs beside the other thread's");
    check(pthread_join(thread, &good) == 0 && *static_cast<bool *>(good),
          "the other context is recorded and destroyed under the recording");
    check(run(cx, burn, "embedded.js") == 7, "and this one goes on");
    check(jsprof_mozjs_detach(js) == 0, "detach the one that is left");
}

void check_all(jsprof *prof, jsprof_thread *me, JSContext *cx)
{
    JS::RootedObject global(cx, new_global(cx));
    JSAutoRealm realm(cx, global);

    check(JS_DefineFunction(cx, global, "detachInside", detach_inside, 0, 0), "a global");
    check_arguments(me, cx);
    check_plain(me, cx);
    check_inside(me, cx);
    check_often(me, cx);
    check_allocations(me, cx);
    check_evaluated(me, cx);
    check_two(prof, me, cx);
}

/* Destroying the context under a recording is no error; its scripts are just over. */
void check_destroyed(jsprof_thread *me, JSContext *cx)
{
    jsprof_mozjs *js = nullptr;

    check(jsprof_mozjs_attach(me, cx, &js) == 0 && jsprof_mozjs_tell_allocations(js) == 0,
          "attach once more");
    JS_DestroyContext(cx);
    gone = cx;
    for (volatile int i = 0; i < 30000000; i = i + 1) /* samples of a thread without one */
        ;
    check(jsprof_mozjs_detach(js) == 0, "detach after the context is gone");
    check(n_late == 0, "without writing into it");
}

} // namespace

/* In front of SpiderMonkey's: it writes into the context. */
void js::SetContextProfilingStack(JSContext *cx, ProfilingStack *stack)
{
    static const auto next = reinterpret_cast<void (*)(JSContext *, ProfilingStack *)>(
        dlsym(RTLD_NEXT, "_ZN2js24SetContextProfilingStackEP9JSContextP14ProfilingStack"));

    if (cx == gone)
        n_late++;
    else
        next(cx, stack);
}

int main(int argc, char **argv)
{
    jsprof_options options = {};
    jsprof *prof = nullptr;
    jsprof_thread *me = nullptr;

    options.size = sizeof options;
    options.alloc = 4096;
    options.path = argc > 1 ? argv[1] : nullptr;
    JS_Init();
    JSContext *cx = new_context(32);
    check(jsprof_open(&prof, &options) == 0, "open");
    check_hide(prof);
    check(jsprof_thread_attach(prof, "main", &me) == 0, "a thread");
    check(jsprof_start(prof) == 0, "start");
    check_all(prof, me, cx);
    check_destroyed(me, cx);
    check(jsprof_thread_detach(me) == 0, "detach the thread");
    check(jsprof_close(prof) == 0, "close");
    JS_ShutDown();
    return end_checks();
}
