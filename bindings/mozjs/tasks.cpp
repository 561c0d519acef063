/* tasks.cpp - what a GJS program schedules, as tasks: callbacks and the jobs of promises.
 *
 * SPDX-License-Identifier: MIT
 *
 * A C library calls a JavaScript function through a closure, which gjs makes when the script
 * hands the function over: to GLib.timeout_add, to load_contents_async. That is when it is
 * scheduled. gjs keeps a root of SpiderMonkey's in its object for the closure, or, if a method
 * keeps the function for as long as the method's object lives, the function itself.
 *
 * SpiderMonkey hands the jobs of promises to a queue that gjs has set. Ours is before it and
 * remembers each job until gjs calls it.
 */
#include "recording.h"

#include <cstdio>
#include <cstring>

#include <deque>
#include <unordered_map>

#include <dlfcn.h>
#include <ffi.h>
#include <pthread.h>

#include <jsapi.h>
#include <jsfriendapi.h>
#include <js/Class.h>
#include <js/Object.h>
#include <js/Wrapper.h>

#include <glib.h>

#include "context.h"
#include "tasks.h"

namespace {

/* Words at the beginning of gjs's object for a closure: GLib's own part, the context, the function
 * and its root. It is larger. */
constexpr size_t TASKS_WORDS = 12;

/* -- Names ---------------------------------------------------------------------------- */

struct tasks_name {
    char text[256];
};

/* What a name is made of. Both pointers are only compared. */
struct tasks_parts {
    const void *name;
    const char *file;
    uint32_t line, collection; /* in which both were alive */
};

/* A name that was made before. A collection may free what it was made of, and not move it: names of
 * functions are atoms, and those of files are outside of the heap. */
struct tasks_known {
    tasks_parts of;
    tasks_name text;
};
constexpr size_t TASKS_KNOWN = 64;
thread_local tasks_known tasks_names[TASKS_KNOWN];

bool tasks_is(const tasks_parts &a, const tasks_parts &b)
{
    return a.name == b.name && a.file == b.file && a.line == b.line &&
           a.collection == b.collection;
}

/* As "tick (clock.js:12)"; a function that is not a script's has its name alone. */
void tasks_make_name(JSContext *cx, JS::HandleString name, const tasks_parts &of, tasks_name *out)
{
    const JS::UniqueChars text = name ? JS_EncodeStringToUTF8(cx, name) : nullptr;
    const char *slash = of.file ? strrchr(of.file, '/') : nullptr;

    if (!text)
        JS_ClearPendingException(cx);
    const char *shown = text && text[0] ? text.get() : "(anonymous)";
    if (of.file)
        snprintf(out->text, sizeof out->text, "%s (%s:%u)", shown, slash ? slash + 1 : of.file,
                 of.line);
    else
        snprintf(out->text, sizeof out->text, "%s", shown);
}

/* Return the name, which lasts until the next call, or "" for what is no function. */
const char *tasks_name_of(JSContext *cx, JS::HandleObject callable)
{
    if (!callable || !js::IsFunctionObject(callable))
        return "";
    JSAutoRealm realm(cx, callable);
    JS::RootedFunction function(cx, JS_GetObjectFunction(callable));
    JS::RootedScript script(cx, function ? JS_GetFunctionScript(cx, function) : nullptr);

    if (!function)
        return "";
    JS::RootedString name(cx, engine_function_name(cx, function));
    if (!name)
        JS_ClearPendingException(cx);
    const tasks_parts of = { name, script ? JS_GetScriptFilename(script) : nullptr,
                             script ? JS_GetScriptBaseLineNumber(cx, script) : 0,
                             1 + JS_GetGCParameter(cx, JSGC_MAJOR_GC_NUMBER) };
    const uintptr_t mix = reinterpret_cast<uintptr_t>(of.name) / 8 + of.line;
    tasks_known &known = tasks_names[mix % TASKS_KNOWN];

    if (!tasks_is(known.of, of)) {
        tasks_make_name(cx, name, of, &known.text);
        known.of = of;
    }
    return known.text.text;
}

/* -- Closures ------------------------------------------------------------------------- */

using tasks_function = void(ffi_cif *, void *, void **, void *);

tasks_function *tasks_theirs; /* what gjs's closures call, each with its own object */

/* The tasks of these objects. gjs reads its object from the closure, so ours can not be there. */
std::unordered_map<const void *, jsprof_task> tasks_of_objects;
pthread_mutex_t tasks_lock = PTHREAD_MUTEX_INITIALIZER;

/* The last root that this thread has made; only compared until it is found in an object. */
thread_local js::PersistentRootedBase *tasks_root;

/* Return the function that a closure will call, or nullptr if it is not known. What a class calls
 * in its place (a vfunc) is made while no method is called, and is no task. */
JSObject *tasks_callable(JSContext *cx, const void *object, bool is_method)
{
    const void *words[TASKS_WORDS];
    const void *root = tasks_root;

    memcpy(words, object, sizeof words);
    for (const void *word : words)
        if (root && word == root)
            return static_cast<JS::PersistentRootedObject *>(tasks_root)->get();
    /* Since gjs 1.74: the context, the function, no root. */
    for (size_t i = 2; i < TASKS_WORDS && is_method; i++)
        if (words[i - 2] == cx && words[i - 1] && !words[i])
            return static_cast<JSObject *>(const_cast<void *>(words[i - 1]));
    return nullptr;
}

template <class Function> Function *tasks_glib(const char *symbol)
{
    return reinterpret_cast<Function *>(dlsym(RTLD_DEFAULT, symbol));
}

/* A timer's source knows since when it has been due, in us of our clock; 0 is at once, -1 none. */
void tasks_tell_due(jsprof_thread *t, jsprof_task task)
{
    static auto *const current = tasks_glib<decltype(g_main_current_source)>(
        "g_main_current_source");
    static auto *const ready_time = tasks_glib<decltype(g_source_get_ready_time)>(
        "g_source_get_ready_time");
    GSource *source = t && current && ready_time ? current() : nullptr;
    const int64_t due_ns = source && !jsprof_task_running(t) ? 1000 * ready_time(source) : 0;
    const int64_t late_ns = static_cast<int64_t>(jsprof_now()) - due_ns;

    if (due_ns > 0 && late_ns >= 0)
        jsprof_task_due(t, task, -late_ns);
}

TASKS_GLUE void tasks_call(ffi_cif *cif, void *result, void **args, void *object)
{
    const jsprof_task task = tasks_of(object);
    jsprof_thread *t = recording_tasks(nullptr);

    tasks_tell_due(t, task);
    jsprof_task_begin(t, task);
    tasks_theirs(cif, result, args, object);
    jsprof_task_end(t, task);
}

template <class Function> Function *tasks_next(const char *symbol)
{
    return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, symbol));
}

using tasks_create = ffi_closure *(void *info, ffi_cif *, tasks_function *, void *);
using tasks_destroy = void(void *info, ffi_closure *);

TASKS_GLUE ffi_closure *tasks_on_create(tasks_create *next, void *info, ffi_cif *cif,
                                        tasks_function *function, void *object)
{
    if (!next)
        return nullptr;
    if (!tasks_theirs)
        tasks_theirs = function;
    const bool ours = function == tasks_theirs && tasks_schedule(object, nullptr);
    return next(info, cif, ours ? tasks_call : function, object);
}

void tasks_on_destroy(tasks_destroy *next, void *info, ffi_closure *closure)
{
    if (closure && closure->fun == tasks_call)
        tasks_forget(closure->user_data);
    if (next)
        next(info, closure);
}

/* -- Promises ------------------------------------------------------------------------- */

/* A job is a native function that keeps what it will do in an object: in its slots are the
 * function of then(), or the generator of an async function, whose first slot is that. A job that
 * calls the `then` of an object keeps that, and one that follows another promise no function. */
JSObject *tasks_reaction(JSContext *cx, JS::HandleObject job)
{
    const JS::Value &kept = js::GetFunctionNativeReserved(job, 0);
    JSObject *found = nullptr;

    if (!kept.isObject())
        return nullptr;
    JS::RootedObject reaction(cx, js::UncheckedUnwrap(&kept.toObject()));
    if (js::IsFunctionObject(reaction))
        return reaction;
    const uint32_t n = JSCLASS_RESERVED_SLOTS(JS::GetClass(reaction));
    for (uint32_t i = 0; i < n && !found; i++) {
        const JS::Value &slot = JS::GetReservedSlot(reaction, i);
        JSObject *object = slot.isObject() ? &slot.toObject() : nullptr;

        if (!object)
            continue;
        const JSClass *type = JS::GetClass(object);
        if (js::IsFunctionObject(object))
            found = object;
        else if (strstr(type->name, "Generator") && JSCLASS_RESERVED_SLOTS(type) > 0 &&
                 JS::GetReservedSlot(object, 0).isObject())
            found = &JS::GetReservedSlot(object, 0).toObject();
    }
    return found;
}

struct tasks_job {
    tasks_job(JSContext *cx, JSObject *object, jsprof_task its_task)
        : job(cx, object), task(its_task)
    {
    }

    JS::PersistentRootedObject job;
    jsprof_task task;
};

class tasks_queue : public engine_queue {
public:
    using engine_queue::engine_queue;

    TASKS_GLUE bool enqueuePromiseJob(JSContext *cx, JS::HandleObject promise,
                                      JS::HandleObject job, JS::HandleObject site,
                                      JS::HandleObject host)
    {
        jsprof_thread *t = recording_tasks(nullptr);

        if (t) {
            JS::RootedObject reaction(cx, tasks_reaction(cx, job));
            const char *name = tasks_name_of(cx, reaction);

            jobs.emplace_back(cx, job, jsprof_task_new(t, "promise", name[0] ? name :
                                                       "(settles another promise)", 0));
        }
        return theirs->enqueuePromiseJob(cx, promise, job, site, host);
    }

    /* gjs calls them in their order; only a debugger puts them off. Return 0 for what is none. */
    jsprof_task take(const JSObject *called)
    {
        for (auto i = jobs.begin(); i != jobs.end(); ++i) {
            if (i->job != called)
                continue;
            const jsprof_task task = i->task;
            jobs.erase(i);
            return task;
        }
        return 0;
    }

private:
    std::deque<tasks_job> jobs;
};

thread_local tasks_queue *tasks_jobs;

} // namespace

jsprof_task tasks_of(const void *object)
{
    pthread_mutex_lock(&tasks_lock);
    const auto found = tasks_of_objects.find(object);
    const jsprof_task task = found == tasks_of_objects.end() ? 0 : found->second;
    pthread_mutex_unlock(&tasks_lock);
    return task;
}

TASKS_GLUE bool tasks_schedule(const void *object, const char *kind)
{
    JSContext *cx;
    jsprof_thread *t = recording_tasks(&cx);
    char doing[64];

    if (!t)
        return false;
    const bool is_method = recording_doing(doing, sizeof doing);
    JS::RootedObject callable(cx, tasks_callable(cx, object, is_method));
    if (!callable)
        return false;
    const jsprof_task task =
        jsprof_task_new(t, kind ? kind : doing, tasks_name_of(cx, callable), 0);
    pthread_mutex_lock(&tasks_lock);
    tasks_of_objects[object] = task;
    pthread_mutex_unlock(&tasks_lock);
    return true;
}

void tasks_forget(const void *object)
{
    jsprof_task_done(recording_tasks(nullptr), tasks_of(object));
    pthread_mutex_lock(&tasks_lock);
    tasks_of_objects.erase(object);
    pthread_mutex_unlock(&tasks_lock);
}

/* -- What libgjs calls ---------------------------------------------------------------- */

#define TASKS_EXPORT __attribute__((visibility("default")))

extern "C" {
extern const char __start_jsprof_tasks[], __stop_jsprof_tasks[];

/* GObject Introspection's, until GLib took it over with another prefix. */
TASKS_GLUE TASKS_EXPORT ffi_closure *
g_callable_info_create_closure(void *info, ffi_cif *cif, tasks_function *function, void *object)
{
    static auto *const next = tasks_next<tasks_create>("g_callable_info_create_closure");

    return tasks_on_create(next, info, cif, function, object);
}

TASKS_EXPORT void g_callable_info_destroy_closure(void *info, ffi_closure *closure)
{
    static auto *const next = tasks_next<tasks_destroy>("g_callable_info_destroy_closure");

    tasks_on_destroy(next, info, closure);
}

TASKS_GLUE TASKS_EXPORT ffi_closure *
gi_callable_info_create_closure(void *info, ffi_cif *cif, tasks_function *function, void *object)
{
    static auto *const next = tasks_next<tasks_create>("gi_callable_info_create_closure");

    return tasks_on_create(next, info, cif, function, object);
}

TASKS_EXPORT void gi_callable_info_destroy_closure(void *info, ffi_closure *closure)
{
    static auto *const next = tasks_next<tasks_destroy>("gi_callable_info_destroy_closure");

    tasks_on_destroy(next, info, closure);
}
}

namespace JS {

TASKS_EXPORT void AddPersistentRoot(RootingContext *cx, RootKind kind,
                                    js::PersistentRootedBase *root)
{
    static auto *const next = tasks_next<void(RootingContext *, RootKind,
                                              js::PersistentRootedBase *)>(
        "_ZN2JS17AddPersistentRootEPNS_14RootingContextENS_8RootKindEPN2js20PersistentRootedBaseE");

    next(cx, kind, root);
    tasks_root = kind == RootKind::Object ? root : nullptr;
}

/* The context keeps the queue as long as it lives. */
TASKS_EXPORT void SetJobQueue(JSContext *cx, JobQueue *queue)
{
    static auto *const next = tasks_next<void(JSContext *, JobQueue *)>(
        "_ZN2JS11SetJobQueueEP9JSContextPNS_8JobQueueE");

    tasks_jobs = queue && recording_has_tasks() ? new tasks_queue(queue) : nullptr;
    next(cx, tasks_jobs ? tasks_jobs : queue);
}

TASKS_GLUE TASKS_EXPORT bool Call(JSContext *cx, HandleValue self, HandleValue function,
                                  const HandleValueArray &args, MutableHandleValue result)
{
    static auto *const next = tasks_next<bool(JSContext *, HandleValue, HandleValue,
                                              const HandleValueArray &, MutableHandleValue)>(
        "_ZN2JS4CallEP9JSContextNS_6HandleINS_5ValueEEES4_RKNS_16HandleValueArrayENS_"
        "13MutableHandleIS3_EE");
    const bool may_be_job = tasks_jobs && self.isUndefined() && args.length() == 0;
    const jsprof_task task =
        may_be_job && function.isObject() ? tasks_jobs->take(&function.toObject()) : 0;
    jsprof_thread *t = task ? recording_tasks(nullptr) : nullptr;

    jsprof_task_begin(t, task);
    const bool good = next(cx, self, function, args, result);
    jsprof_task_end(t, task);
    jsprof_task_done(t, task);
    return good;
}

} // namespace JS

int tasks_hide(jsprof *session)
{
    return jsprof_interpreter_hide(session, __start_jsprof_tasks,
                                   static_cast<size_t>(__stop_jsprof_tasks - __start_jsprof_tasks));
}
