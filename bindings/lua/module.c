/* module.c - `local jsprof = require "jsprof"`: start and stop a recording from Lua.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calls/calls.h"
#include "environment.h"
#include "module.h"
#include "probe.h"
#include "run.h"
#include "threads.h"
#include "called.h"
#include "loop.h"
#include "module_functions.h"
#include "module_options.h"
#include "tasks.h"
#include "traces.h"
#include "wraps.h"

/* The registry keeps the run of this state at this address, as a light userdata; and at the next
 * one, while a recording begins, the name of its file. */
static const char module_key[2] = { 0 };

/* The runs of all states, so that exit() in the middle of a run can end it. */
static pthread_mutex_t module_lock = PTHREAD_MUTEX_INITIALIZER;
static struct module_run *module_runs;
static int module_result;
static atomic_int module_ending; /* runs that are ending: no longer in the list */

/* States that the environment asks to record: each has a file, so there is a limit. */
static atomic_uint module_recorded, module_left_out;
static pid_t module_pid; /* which left them out */

/* -- Runs --------------------------------------------------------------------- */

/* Take the last look at the run. Return -EBUSY if another profiler took its signal. */
static int module_quiet(struct module_run *run)
{
    jsp_lua_memory_end(&run->memory);
    return run->watch.was_taken ? -EBUSY : 0;
}

/* A forked child that is not recorded ends a copy of the session: it has lost nothing. Where the
 * environment asked, the program has no line of code that could report the error. */
static void module_note(int err, bool is_asked)
{
    if (!err || err == -ECHILD)
        return;
    module_result = err;
    if (is_asked)
        fprintf(stderr, "jsprof: the capture is not complete: %s\n", jsp_lua_module_why(err));
}

/* The caller holds the lock; this function releases it. */
static void module_finish_locked(void)
{
    for (struct module_run *run = module_runs; run; run = run->next) {
        int taken = module_quiet(run);
        int err = jsprof_close(run->prof);
        module_note(err ? err : taken, run->is_asked);
        run->prof = NULL;
    }
    module_runs = NULL;
    pthread_mutex_unlock(&module_lock);
}

void jsp_lua_module_finish(void)
{
    pthread_mutex_lock(&module_lock);
    module_finish_locked();
    /* ORDER: relaxed. Statistics. */
    unsigned n = atomic_exchange_explicit(&module_left_out, 0, memory_order_relaxed);
    if (n && module_pid == getpid())
        fprintf(stderr, "jsprof: %u Lua states were not recorded\n", n);
}

/* The caller holds the lock. */
static bool module_quiet_now(void)
{
    bool is_quiet = true;
    for (struct module_run *run = module_runs; run && is_quiet; run = run->next)
        is_quiet = jsp_lua_memory_end_now(&run->memory);
    return is_quiet;
}

bool jsp_lua_module_finish_now(void)
{
    /* ORDER: relaxed. The signal interrupted this thread, which reads its own stores; the
     * lock finds other threads. */
    if (atomic_load_explicit(&module_ending, memory_order_relaxed) ||
        pthread_mutex_trylock(&module_lock) != 0)
        return false;
    bool is_quiet = module_quiet_now();
    if (is_quiet)
        module_finish_locked();
    else
        pthread_mutex_unlock(&module_lock);
    return is_quiet;
}

int jsp_lua_module_result(void)
{
    return module_result;
}

const char *jsp_lua_module_why(int err)
{
    return err == -EBUSY ? "another profiler took the signal, samples are missing while it had it"
                         : jsprof_strerror(err);
}

static void module_list(struct module_run *run)
{
    static bool is_registered;
    pthread_mutex_lock(&module_lock);
    /* The session has registered its own for a fork: ours, later ones, take our lock before its
     * locks. Without them a child would wait for a thread that it does not have. */
    if (!is_registered)
        is_registered = atexit(jsp_lua_module_finish) == 0 &&
                        pthread_atfork(jsp_lua_run_lock, jsp_lua_run_let_go,
                                       jsp_lua_run_let_go) == 0;
    run->next = module_runs;
    module_runs = run;
    pthread_mutex_unlock(&module_lock);
}

/* After this, either the caller closes the session, or another thread has closed it. */
static void module_unlist(struct module_run *run)
{
    pthread_mutex_lock(&module_lock);
    struct module_run **at = &module_runs;
    while (*at && *at != run)
        at = &(*at)->next;
    if (*at)
        *at = run->next;
    pthread_mutex_unlock(&module_lock);
}

struct module_run *jsp_lua_run_of(lua_State *L)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)&module_key[0]);
    lua_rawget(L, LUA_REGISTRYINDEX);
    struct module_run *run = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return run;
}

jsprof *jsp_lua_run_hold(struct module_run *run)
{
    if (!run)
        return NULL;
    pthread_mutex_lock(&module_lock);
    if (!run->prof)
        pthread_mutex_unlock(&module_lock);
    return run->prof;
}

void jsp_lua_run_lock(void)
{
    pthread_mutex_lock(&module_lock);
}

void jsp_lua_run_let_go(void)
{
    pthread_mutex_unlock(&module_lock);
}

void jsp_lua_run_mark(struct module_run *run, uint64_t since, const char *group, const char *name,
                      const char *message)
{
    jsprof *prof = jsp_lua_run_hold(run);
    if (!prof)
        return;
    jsprof_mark(prof, since, group, name, message);
    jsp_lua_run_let_go();
}

static void module_keep(lua_State *L, struct module_run *run)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)&module_key[0]);
    if (run)
        lua_pushlightuserdata(L, run);
    else
        lua_pushnil(L);
    lua_rawset(L, LUA_REGISTRYINDEX);
}

/* Complete the capture. `stats` may be NULL; `L` is NULL if the state is closing. Return
 * the errno of a failed write, or -EBUSY if another profiler took the signal. */
static int module_end(struct module_run *run, lua_State *L, jsprof_stats *stats)
{
    /* ORDER: relaxed, for the reason that its reader gives. */
    atomic_fetch_add_explicit(&module_ending, 1, memory_order_relaxed);
    module_unlist(run);
    jsp_lua_threads_end(run);
    if (L && run->has_traces)
        jsp_lua_traces_end(L);
    int taken = module_quiet(run);
    if (run->lua)
        jsp_lua_count_end(run->lua, L);
    if (run->tasks)
        jsp_lua_task_waits(); /* the last turn ends */
    int err = run->prof ? jsprof_stop(run->prof) : 0;
    if (run->prof && stats)
        jsprof_stats_get(run->prof, stats);
    jsprof_lua_detach(run->lua);
    jsprof_thread_detach(run->thread);
    int closed = jsprof_close(run->prof);
    jsp_lua_called_end(run);
    jsp_lua_tasks_end(run);
    free(run);
    /* ORDER: relaxed, for the reason that its reader gives. */
    atomic_fetch_sub_explicit(&module_ending, 1, memory_order_relaxed);
    err = err ? err : closed;
    return err ? err : taken;
}

/* The state is closing: Lua runs the finalizers first. Those that follow must not find the run
 * any more. */
static void module_on_close(lua_State *L, void *data)
{
    module_keep(L, NULL);
    bool is_asked = ((struct module_run *)data)->is_asked;
    module_note(module_end(data, NULL, NULL), is_asked);
}

/* -- Functions ----------------------------------------------------------------- */

/* Runs protected, as the last step that can fail: after it the state knows the run. */
static int module_know(lua_State *L)
{
    struct module_run *run = lua_touserdata(L, 1);
    if (run->lua->calls)
        jsp_lua_wrap_hooks(L);
    lua_pushlightuserdata(L, (void *)(uintptr_t)&module_key[1]);
    lua_pushstring(L, jsprof_path(run->prof, NULL));
    lua_rawset(L, LUA_REGISTRYINDEX);
    module_keep(L, run);
    return 0;
}

/* Push what module_know kept. This takes no memory. */
static void module_push_path(lua_State *L)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)&module_key[1]);
    lua_rawget(L, LUA_REGISTRYINDEX);
    if (lua_isnil(L, -1))
        return;
    lua_pushlightuserdata(L, (void *)(uintptr_t)&module_key[1]);
    lua_pushnil(L);
    lua_rawset(L, LUA_REGISTRYINDEX);
}

static int module_begin(lua_State *L, struct module_run *run, struct jsp_lua_options *o)
{
    o->open.on_drain = jsp_lua_memory_look;
    o->open.on_drain_data = &run->memory;
    jsp_lua_memory_init(&run->memory);
    int err = jsp_lua_prepare(L, &run->lua); /* before the file exists */
    if (!err)
        err = jsprof_open(&run->prof, &o->open);
    if (!err)
        err = jsprof_thread_attach(run->prof, "main", &run->thread);
    if (!err)
        err = jsp_lua_tie(run->lua, run->prof, run->thread, L);
    if (!err && strcmp(o->mode, "calls") != 0)
        jsp_lua_wrap_profilers(L); /* before its calls would be counted */
    if (!err && strcmp(o->mode, "sample") == 0)
        err = jsp_lua_wrap_require(L, run->lua);
    if (!err && strcmp(o->mode, "sample") != 0)
        err = jsprof_lua_calls(run->lua, L, o->modes);
    if (!err) /* our hook counts what it was made for, or there is none */
        err = jsprof_calls_allow(run->prof, strcmp(o->mode, "sample") != 0 ? o->modes : 0);
    if (!err && strcmp(o->mode, "calls") != 0) {
        err = o->alloc ? jsprof_lua_allocations(run->lua, L) : 0;
        if (!err)
            err = jsprof_start(run->prof);
        if (!err && jsprof_path(run->prof, NULL)) /* without a file the signal is taken later */
            jsp_lua_watch_begin(&run->watch, run->prof);
    }
    if (!err)
        err = jsp_lua_memory_begin(&run->memory, run->prof, jsp_lua_walk_global((uintptr_t)L),
                                   &run->watch);
    run->has_traces = o->traces;
    if (!err && o->traces)
        err = jsp_lua_traces_begin(L);
    if (!err && o->tasks)
        err = jsp_lua_tasks_begin(L, run);
    if (!err && (o->loop || o->tasks))
        err = jsp_lua_loop_begin(L, run, o->loop);
    return err ? err : jsp_lua_protected(L, module_know, run);
}

/* Explain the errors that need a path; jsprof_error_text explains all others. */
static const char *module_why(int err)
{
    switch (err) {
    case -ENOTSUP: return "this Lua is built in a way that jsprof does not know";
    case -EBUSY: return "another profiler holds SIGPROF (luajit -jp, jit.profile?)";
    default: return NULL;
    }
}

/* Nothing was recorded: remove the file that was created, but no device and no link. */
static void module_discard(jsprof *prof)
{
    const char *path = prof ? jsprof_path(prof, NULL) : NULL;
    struct stat st;
    if (path && lstat(path, &st) == 0 && S_ISREG(st.st_mode))
        unlink(path);
}

/* The environment names one file. Print once what the files of further states are called: the
 * program has no line of code that could. */
static void module_tell_name(const char *asked, const char *path)
{
    static atomic_flag is_told = ATOMIC_FLAG_INIT;
    /* ORDER: relaxed. Nothing else depends on it. */
    if (!atomic_flag_test_and_set_explicit(&is_told, memory_order_relaxed))
        fprintf(stderr, "jsprof: %s has another recording: this Lua state is recorded into %s, "
                        "later ones into further files beside it\n", asked, path);
}

/* Return whether there is no file for this state because earlier ones have all names. The program
 * continues without an error. */
static bool module_leaves_out(const struct jsp_lua_options *o, int err)
{
    /* ORDER: relaxed. Statistics. */
    unsigned n = atomic_load_explicit(&module_recorded, memory_order_relaxed);
    if (err != -ETXTBSY || n < 2)
        return false;
    /* ORDER: relaxed. Statistics. */
    if (!atomic_fetch_add_explicit(&module_left_out, 1, memory_order_relaxed)) {
        module_pid = getpid();
        fprintf(stderr, "jsprof: %s: %u Lua states have a capture each; later ones are not "
                        "recorded\n", o->open.path, n);
    }
    return true;
}

static int module_refuse(lua_State *L, const char *path, int err)
{
    char text[300];
    if (!module_why(err))
        return luaL_error(L, "jsprof.start: %s", jsprof_error_text(err, text, sizeof text));
    return luaL_error(L, "jsprof.start: %s: %s", path ? path : "jsprof-%p.syscap",
                      module_why(err));
}

/* Do jsprof.start. If the environment asks for it, there are further JSPROF_... flags. */
static int module_start_with(lua_State *L, uint32_t flags)
{
    struct jsp_lua_options o;
    char vm[24];
    jsp_lua_options_read(L, &o);
    o.open.flags |= flags;
    snprintf(vm, sizeof vm, "Lua %s", jsp_lua_walk_version());
    o.open.vm = strcmp(jsp_lua_walk_version(), "jit") == 0 ? "LuaJIT" : vm;
    if (jsp_lua_run_of(L))
        return luaL_error(L, "jsprof.start: it records already; jsprof.stop() ends that");
    struct module_run *run = calloc(1, sizeof *run);
    if (!run)
        return luaL_error(L, "jsprof.start: out of memory");
    run->is_asked = flags;
    int err = module_begin(L, run, &o);
    if (err) {
        module_discard(run->prof);
        module_end(run, L, NULL);
        return flags && module_leaves_out(&o, err) ? 0 : module_refuse(L, o.open.path, err);
    }
    run->lua->on_close = module_on_close;
    run->lua->on_close_data = run;
    run->lua->on_calls = jsp_lua_memory_look;
    run->lua->on_calls_data = &run->memory;
    bool is_other;
    const char *path = jsprof_path(run->prof, &is_other);
    if (flags && is_other)
        module_tell_name(o.open.path, path);
    /* ORDER: relaxed. Statistics. */
    atomic_fetch_add_explicit(&module_recorded, run->is_asked, memory_order_relaxed);
    module_list(run);
    jsp_lua_threads_begin(run);
    if (run->has_loop || run->tasks)
        jsp_lua_threads_enter(L); /* waits are marked before the first callback, too */
    module_push_path(L);
    lua_pushboolean(L, is_other);
    return 2;
}

static int module_start(lua_State *L)
{
    return module_start_with(L, 0);
}

static int module_stop(lua_State *L)
{
    struct module_run *run = jsp_lua_run_of(L);
    jsprof_stats stats = { .size = sizeof stats };
    if (!run)
        return luaL_error(L, "jsprof.stop: nothing is recorded");
    uint64_t missed = run->lua->calls ? jsp_lua_calls_check(run->lua->calls, L) : 0;
    module_keep(L, NULL);
    int err = module_end(run, L, &stats);
    if (err)
        return luaL_error(L, "jsprof.stop: the capture is not complete: %s",
                          jsp_lua_module_why(err));
    lua_newtable(L);
    jsp_lua_field(L, "expirations", stats.expirations);
    jsp_lua_field(L, "samples", stats.samples);
    jsp_lua_field(L, "kept", stats.kept);
    jsp_lua_field(L, "lost", stats.expirations - stats.kept);
    jsp_lua_field(L, "frames_cut", stats.frames_cut);
    if (missed)
        jsp_lua_field(L, "hooks_overwritten", missed);
    return 1;
}

/* -- The module ---------------------------------------------------------------- */

static const luaL_Reg module_functions[] = {
    { "start", module_start },
    { "stop", module_stop },
    { "calls", jsp_lua_module_calls },
    { "wrap", jsp_lua_module_wrap },
    { "mark", jsp_lua_module_mark },
    { "counter", jsp_lua_module_counter },
    { "label", jsp_lua_module_label },
    { "now", jsp_lua_module_now },
    { "traceback", jsp_lua_module_traceback },
    { NULL, NULL },
};

static bool module_leaves_environment;

void jsp_lua_module_leave_environment(void)
{
    module_leaves_environment = true;
}

static int module_start_asked(lua_State *L)
{
    return module_start_with(L, JSPROF_NOFOLLOW);
}

/* Start as the environment asks. It happens once in each state. */
static void module_environment(lua_State *L)
{
    if (module_leaves_environment || !jsp_lua_environment_asks() || jsp_lua_run_of(L))
        return;
    /* ORDER: relaxed. Statistics. */
    if (atomic_load_explicit(&module_left_out, memory_order_relaxed)) {
        /* ORDER: relaxed. Statistics. */
        atomic_fetch_add_explicit(&module_left_out, 1, memory_order_relaxed);
        return;
    }
    lua_pushcfunction(L, module_start_asked);
    jsp_lua_environment_push(L);
    lua_call(L, 1, 0);
}

/* Before the check, only functions that all versions have may be called. */
int luaopen_jsprof(lua_State *L)
{
    struct jsp_lua_found found;
    enum jsp_lua_probe_answer answer = jsp_lua_probe_version(&found);
    if (answer == JSP_LUA_OTHER_VERSION)
        return luaL_error(L, "jsprof: this module was built for Lua %s and runs in Lua %s",
                          jsp_lua_walk_version(), found.name);
    if (answer == JSP_LUA_OLD_RELEASE)
        return luaL_error(L, "jsprof: Lua %s is built otherwise than later releases; use Lua "
                          "%s.%d or a newer one", found.name, jsp_lua_walk_version(),
                          jsp_lua_walk_first_release());
    module_environment(L);
    lua_newtable(L);
    compat_setfuncs(L, module_functions);
    lua_pushstring(L, JSPROF_VERSION_STRING);
    lua_setfield(L, -2, "version");
    return 1;
}
