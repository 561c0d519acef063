/* signals.cpp - the handlers of GObject's signals as tasks: each call of one is a run.
 *
 * SPDX-License-Identifier: MIT
 *
 * gjs makes a closure for the function that a script connects to a signal, gives GLib the
 * function of gjs that will call it, and connects it. Ours is in between if signals were
 * asked for. Nothing here is linked with GLib.
 */
#include "recording.h"

#include <cstdio>

#include <dlfcn.h>

#include <glib-object.h>

#include "tasks.h"

namespace {

GClosureMarshal signals_theirs; /* gjs's own function; nullptr: it has made no closure yet */

/* What is called of GLib. */
struct signals_calls {
    decltype(g_signal_query) *query;
    decltype(g_type_name) *type_name;
    decltype(g_quark_to_string) *text;
    decltype(g_closure_add_finalize_notifier) *tell_end;
};

template <class Function> bool signals_find(Function **out, const char *name)
{
    *out = reinterpret_cast<Function *>(dlsym(RTLD_DEFAULT, name));
    return *out;
}

/* Return nullptr if one is missing. */
const signals_calls *signals_glib(void)
{
    static signals_calls calls;
    static const bool has_all = signals_find(&calls.query, "g_signal_query") &&
                                signals_find(&calls.type_name, "g_type_name") &&
                                signals_find(&calls.text, "g_quark_to_string") &&
                                signals_find(&calls.tell_end, "g_closure_add_finalize_notifier");

    return has_all ? &calls : nullptr;
}

/* Return whether libgjs has this address, and signals were asked for. */
bool signals_are_of(const void *caller)
{
    Dl_info its, gjs;
    const void *inside = recording_has_signals() ? dlsym(RTLD_DEFAULT, "gjs_context_new") : nullptr;

    return inside && dladdr(inside, &gjs) && dladdr(caller, &its) &&
           its.dli_fbase == gjs.dli_fbase;
}

/* What emits the signal is the cause of the run; without a task there, what connected it is. */
TASKS_GLUE void signals_call(GClosure *closure, GValue *result, guint n, const GValue *values,
                             void *hint, void *data)
{
    const jsprof_task task = tasks_of(closure);
    jsprof_thread *t = task ? recording_tasks(nullptr) : nullptr;

    jsprof_task_due(t, task, 0);
    jsprof_task_begin(t, task);
    signals_theirs(closure, result, n, values, hint, data);
    jsprof_task_end(t, task);
}

void signals_on_end(void *, GClosure *closure)
{
    tasks_forget(closure);
}

/* As "GObject::notify::title". */
TASKS_GLUE void signals_schedule(guint signal, GQuark detail, GClosure *closure)
{
    const signals_calls *glib = signals_glib();
    GSignalQuery query = {};
    char kind[128];

    if (!glib)
        return;
    glib->query(signal, &query);
    const char *of = query.signal_id ? glib->type_name(query.itype) : nullptr;
    const char *part = detail ? glib->text(detail) : nullptr;
    snprintf(kind, sizeof kind, "%s::%s%s%s", of ? of : "",
             query.signal_id ? query.signal_name : "", part ? "::" : "", part ? part : "");
    if (tasks_schedule(closure, kind))
        glib->tell_end(closure, nullptr, signals_on_end);
}

} // namespace

#define SIGNALS_EXPORT __attribute__((visibility("default")))

extern "C" {

TASKS_GLUE SIGNALS_EXPORT void g_closure_set_meta_marshal(GClosure *closure, void *data,
                                                          GClosureMarshal function)
{
    static auto *const next = reinterpret_cast<decltype(g_closure_set_meta_marshal) *>(
        dlsym(RTLD_NEXT, "g_closure_set_meta_marshal"));

    if (function && signals_are_of(__builtin_return_address(0))) {
        if (!signals_theirs)
            signals_theirs = function;
        if (function == signals_theirs)
            function = signals_call;
    }
    if (next)
        next(closure, data, function);
}

TASKS_GLUE SIGNALS_EXPORT gulong g_signal_connect_closure_by_id(void *instance, guint signal,
                                                                GQuark detail, GClosure *closure,
                                                                gboolean after)
{
    static auto *const next = reinterpret_cast<decltype(g_signal_connect_closure_by_id) *>(
        dlsym(RTLD_NEXT, "g_signal_connect_closure_by_id"));

    if (closure && signals_are_of(__builtin_return_address(0)))
        signals_schedule(signal, detail, closure);
    return next ? next(instance, signal, detail, closure, after) : 0;
}
}
