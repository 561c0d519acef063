/* tasks.c - see tasks.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tasks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dlfcn.h>

#include "called.h"
#include "imports.h"
#include "loop.h"
#include "threads.h"

enum { TASKS_UNKNOWN = 256 /* power of two */, TASKS_KIND = 64, TASKS_ARGUMENTS = 8,
       TASKS_REFS = 1 << 20 };

/* A function that a library keeps in the registry. */
struct tasks_ref {
    jsprof_task task;     /* 0: no function */
    const void *function; /* only compared */
    void *timer;          /* libuv's that calls it, or NULL */
};

/* Only the thread that runs the state uses it. */
struct jsp_lua_tasks {
    struct tasks_ref *refs; /* by the number that luaL_ref returned */
    size_t n_refs;
    struct {
        uint64_t hash; /* of kind and name; 0: none */
        jsprof_task task;
    } unknown[TASKS_UNKNOWN]; /* tasks whose maker nobody knows; a new one replaces the old */
};

/* The registry has the tasks of coroutines at this address, by the coroutine. */
static const char tasks_key = 0;

static __thread lua_State *tasks_current; /* the coroutine that was resumed last, and still runs */
static __thread int tasks_read;           /* what was read from the registry last */
static __thread int tasks_last;           /* what was kept there last; 0: no task */

/* A run that no other one is around, and its C frame. An error may have ended it. */
static __thread struct {
    const char *frame; /* NULL: none */
    struct jsp_lua_task_run run;
} tasks_outer;

/* Return the run whose tasks this thread records now, or NULL. */
static struct module_run *tasks_here(lua_State *L)
{
    jsp_lua_threads_enter(L);
    return jsp_lua_here.tasks ? jsp_lua_here.run : NULL;
}

/* -- Tasks of coroutines ---------------------------------------------------------------- */

/* Push the table. */
static void tasks_push_table(lua_State *L)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)&tasks_key);
    lua_rawget(L, LUA_REGISTRYINDEX);
}

/* Return the task of a coroutine, or 0. */
static jsprof_task tasks_of_coroutine(lua_State *co)
{
    jsprof_task task = 0;
    if (!lua_checkstack(co, 3))
        return 0;
    tasks_push_table(co);
    if (lua_istable(co, -1)) {
        lua_pushthread(co);
        lua_rawget(co, -2);
        if (lua_type(co, -1) == LUA_TSTRING && compat_length(co, -1) == sizeof task)
            memcpy(&task, lua_tostring(co, -1), sizeof task);
        lua_pop(co, 1);
    }
    lua_pop(co, 1);
    return task;
}

/* The task of the coroutine on top is this one. */
static void tasks_keep(lua_State *L, jsprof_task task)
{
    if (!lua_checkstack(L, 3))
        return;
    tasks_push_table(L);
    if (lua_istable(L, -1)) {
        lua_pushvalue(L, -2);
        lua_pushlstring(L, (const char *)&task, sizeof task);
        lua_rawset(L, -3);
    }
    lua_pop(L, 1);
}

void jsp_lua_task_coroutine(lua_State *L, int function)
{
    struct module_run *run = tasks_here(L);
    if (!run || !lua_checkstack(L, 1))
        return;
    lua_pushvalue(L, function);
    const char *text = jsp_lua_called_function(L, 0, run);
    lua_pop(L, 1);
    tasks_keep(L, jsprof_task_new(jsp_lua_here.tasks, "coroutine", text ? text : "[C]", 0));
}

/* Write what a library does now: the name of its function that runs, or its own. */
static void tasks_doing(lua_State *L, struct module_run *run, const char *library,
                        const char *what, char out[JSP_LUA_NAME])
{
    if (!jsp_lua_called_running(L, run, out))
        snprintf(out, JSP_LUA_NAME, "%s %s", library, what);
}

/* A library makes a coroutine for a function that it was given, or for the last one that it has
 * pushed. Return its name, or NULL. */
static const char *tasks_given(lua_State *L, struct module_run *run)
{
    lua_Debug ar;
    int top = lua_gettop(L), n = top < TASKS_ARGUMENTS ? top : TASKS_ARGUMENTS;
    bool is_called = lua_getstack(L, 0, &ar);
    const char *text = NULL;
    for (int i = 1; i <= n && !text; i++) {
        int at = is_called ? i : top + 1 - i;
        if (!lua_isfunction(L, at))
            continue;
        lua_pushvalue(L, at);
        text = jsp_lua_called_function(L, 0, run);
        lua_pop(L, 1);
    }
    return text;
}

/* The coroutine on top was made by a library, for the function that Lua gave to it in the
 * coroutine that runs now. A server keeps a state of its own to make them in. */
static void tasks_made(lua_State *L, const void *from)
{
    struct module_run *run = tasks_here(L);
    const struct jsp_lua_importer *by = run ? jsp_lua_imports_of((uintptr_t)from) : NULL;
    lua_State *in = tasks_current ? tasks_current : L;
    char kind[JSP_LUA_NAME];
    if (!by || !lua_checkstack(in, 3))
        return;
    const char *text = tasks_given(in, run);
    if (!text)
        return; /* the first resume shows its function */
    tasks_doing(in, run, by->name, "coroutine", kind);
    tasks_keep(L, jsprof_task_new(jsp_lua_here.tasks, kind, text, 0));
}

/* -- Functions in the registry ------------------------------------------------------------ */

static struct tasks_ref *tasks_place(struct jsp_lua_tasks *t, int ref)
{
    size_t n = t->n_refs ? t->n_refs : 64;
    if (ref < 0 || ref >= TASKS_REFS)
        return NULL;
    while (n <= (size_t)ref)
        n *= 2;
    if (n > t->n_refs) {
        struct tasks_ref *more = realloc(t->refs, n * sizeof *more);
        if (!more)
            return NULL;
        memset(more + t->n_refs, 0, (n - t->n_refs) * sizeof *more);
        t->refs = more;
        t->n_refs = n;
    }
    return &t->refs[ref];
}

/* A library is about to keep the value on top. */
static struct tasks_ref tasks_kept(lua_State *L, const void *from)
{
    struct module_run *run = tasks_here(L);
    const struct jsp_lua_importer *by = run && lua_isfunction(L, -1)
                                            ? jsp_lua_imports_of((uintptr_t)from) : NULL;
    const char *text = by ? jsp_lua_called_function(L, 0, run) : NULL;
    char kind[JSP_LUA_NAME];
    if (!text)
        return (struct tasks_ref){ 0 };
    tasks_doing(L, run, by->name, "callback", kind);
    return (struct tasks_ref){ jsprof_task_new(jsp_lua_here.tasks, kind, text, 0),
                               lua_topointer(L, -1), NULL };
}

static void tasks_dropped(lua_State *L, int ref)
{
    struct module_run *run = tasks_here(L);
    if (!run || ref < 0 || (size_t)ref >= run->tasks->n_refs || !run->tasks->refs[ref].task)
        return;
    jsprof_task_done(jsp_lua_here.tasks, run->tasks->refs[ref].task);
    run->tasks->refs[ref] = (struct tasks_ref){ 0 };
}

/* Return the function that was read from the registry just now, or NULL. */
static const struct tasks_ref *tasks_of_function(lua_State *L, int at,
                                                 const struct jsp_lua_tasks *t)
{
    if (tasks_read < 0 || (size_t)tasks_read >= t->n_refs || !lua_isfunction(L, at))
        return NULL;
    const struct tasks_ref *ref = &t->refs[tasks_read];
    return ref->task && ref->function == lua_topointer(L, at) ? ref : NULL;
}

/* -- Timers of libuv ---------------------------------------------------------------------- */

typedef int tasks_timer_start(void *timer, void *callback, uint64_t in_ms, uint64_t repeat_ms);
typedef int tasks_timer_again(void *timer);
typedef uint64_t tasks_timer_repeat(const void *timer);

static struct {
    tasks_timer_start *start;
    tasks_timer_again *again;
    tasks_timer_repeat *repeat;
} tasks_uv;

/* A library that calls libuv has linked it; nothing else need see it. */
static void tasks_find_uv(const void *caller)
{
    Dl_info its;
    void *library = NULL;
    if (tasks_uv.start)
        return;
    if (dladdr(caller, &its))
        library = dlopen(its.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
    *(void **)&tasks_uv.repeat = dlsym(library ? library : RTLD_DEFAULT, "uv_timer_get_repeat");
    *(void **)&tasks_uv.again = dlsym(library ? library : RTLD_DEFAULT, "uv_timer_again");
    *(void **)&tasks_uv.start = dlsym(library ? library : RTLD_DEFAULT, "uv_timer_start");
    if (library)
        dlclose(library);
}

static void tasks_due(jsprof_task task, uint64_t in_ms)
{
    uint64_t most = INT64_MAX / 1000000;
    jsprof_task_due(jsp_lua_here.tasks, task, (int64_t)(in_ms < most ? in_ms : most) * 1000000);
}

/* Return the tasks of the state that this thread runs, or NULL. */
static struct jsp_lua_tasks *tasks_of_state(void)
{
    /* ORDER: acquire, for the reason that jsp_lua_threads_enter gives. */
    bool is_here = jsp_lua_here.tasks && jsp_lua_here.n_changes ==
                   atomic_load_explicit(&jsp_lua_changes, memory_order_acquire);
    return is_here ? jsp_lua_here.run->tasks : NULL;
}

/* The library has kept the function just before. */
static int tasks_start(void *timer, void *callback, uint64_t in_ms, uint64_t repeat_ms)
{
    struct jsp_lua_tasks *t = tasks_last > 0 ? tasks_of_state() : NULL;
    struct tasks_ref *ref = t && (size_t)tasks_last < t->n_refs ? &t->refs[tasks_last] : NULL;
    tasks_find_uv(__builtin_return_address(0));
    if (ref && ref->task) {
        ref->timer = timer;
        tasks_due(ref->task, in_ms);
    }
    tasks_last = 0;
    return tasks_uv.start ? tasks_uv.start(timer, callback, in_ms, repeat_ms) : -ENOSYS;
}

static int tasks_again(void *timer)
{
    struct jsp_lua_tasks *t = tasks_of_state();
    tasks_find_uv(__builtin_return_address(0));
    uint64_t repeat_ms = tasks_uv.repeat ? tasks_uv.repeat(timer) : 0;
    for (size_t i = 0; t && repeat_ms && i < t->n_refs; i++)
        if (t->refs[i].timer == timer)
            tasks_due(t->refs[i].task, repeat_ms);
    return tasks_uv.again ? tasks_uv.again(timer) : -ENOSYS;
}

static struct jsp_lua_import tasks_uv_imports[] = {
    { "uv_timer_start", (uintptr_t)tasks_start, 0 },
    { "uv_timer_again", (uintptr_t)tasks_again, 0 },
    { NULL, 0, 0 },
};

/* -- Runs --------------------------------------------------------------------------------- */

/* Return the task of this kind and name that nobody was seen to make. */
static jsprof_task tasks_unknown(struct module_run *run, const char *kind, const char *name)
{
    uint64_t hash = 1;
    for (const char *c = kind; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001B3u;
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001B3u;
    size_t at = (hash * 0x9E3779B97F4A7C15u) >> 32 & (TASKS_UNKNOWN - 1);
    if (run->tasks->unknown[at].hash != hash) {
        run->tasks->unknown[at].hash = hash;
        run->tasks->unknown[at].task =
            jsprof_task_new(jsp_lua_here.tasks, kind, name, JSPROF_TASK_NO_STACK);
    }
    return run->tasks->unknown[at].task;
}

static void tasks_begin(struct jsp_lua_task_run *r, jsprof_task task)
{
    *r = (struct jsp_lua_task_run){ jsp_lua_here.tasks, task, tasks_current };
    jsprof_task_begin(r->thread, task);
}

/* End a run that an error has ended, if a call in this C frame shows that. */
static void tasks_end_left(const char *frame)
{
    if (!tasks_outer.frame || frame < tasks_outer.frame)
        return;
    tasks_outer.frame = NULL;
    jsp_lua_task_leaves(tasks_outer.run.task);
    jsprof_task_end(tasks_outer.run.thread, tasks_outer.run.task);
}

void jsp_lua_task_resume(struct jsp_lua_task_run *r, lua_State *co, int n, const char *library)
{
    lua_Debug ar;
    struct module_run *run = tasks_here(co);
    char kind[TASKS_KIND] = "coroutine";
    *r = (struct jsp_lua_task_run){ 0 };
    if (!run)
        return;
    tasks_end_left(__builtin_frame_address(0));
    int status = lua_status(co), wanted = library ? n : 0;
    if (status != LUA_YIELD &&
        (status != LUA_OK || lua_gettop(co) <= wanted || lua_getstack(co, 0, &ar)))
        return; /* Lua refuses to resume it */
    jsprof_task task = tasks_of_coroutine(co);
    if (task && !library) {
        jsprof_task_ready(jsp_lua_here.tasks, task); /* by what resumes it */
    } else if (!task) {
        if (library)
            snprintf(kind, sizeof kind, "%s coroutine", library);
        const char *text = jsp_lua_called_coroutine(co, wanted, run);
        task = tasks_unknown(run, kind, text ? text : "[C]");
    }
    tasks_begin(r, task);
    tasks_current = co;
}

void jsp_lua_task_call(struct jsp_lua_task_run *r, lua_State *L, int n,
                       const struct jsp_lua_task_how *how)
{
    struct module_run *run = tasks_here(L);
    char kind[TASKS_KIND];
    if (!run)
        return;
    tasks_end_left(how->frame);
    bool is_outer = !jsprof_task_running(jsp_lua_here.tasks);
    const struct tasks_ref *ref = tasks_of_function(L, -n - 1, run->tasks);
    jsprof_task task = ref ? ref->task : 0;
    const char *text = NULL;
    if (!task && how->library && is_outer)
        text = jsp_lua_called_function(L, n, run);
    if (text) {
        snprintf(kind, sizeof kind, "%s callback", how->library);
        task = tasks_unknown(run, kind, text);
    }
    if (!task)
        return;
    uint64_t repeat_ms = ref && ref->timer && tasks_uv.repeat ? tasks_uv.repeat(ref->timer) : 0;
    if (repeat_ms) /* libuv has set it again */
        tasks_due(task, repeat_ms);
    tasks_begin(r, task);
    if (!how->catches && is_outer) {
        tasks_outer.frame = how->frame;
        tasks_outer.run = *r;
    }
}

void jsp_lua_task_end(const struct jsp_lua_task_run *r, lua_State *co)
{
    if (!r->task)
        return;
    if (tasks_outer.run.task == r->task)
        tasks_outer.frame = NULL;
    tasks_current = r->before;
    jsp_lua_task_leaves(r->task);
    jsprof_task_end(r->thread, r->task);
    if (co && lua_status(co) != LUA_YIELD)
        jsprof_task_done(r->thread, r->task);
}

/* -- What libraries call -------------------------------------------------------------------- */

typedef uintptr_t tasks_fn(lua_State *L, uintptr_t a, uintptr_t b);

enum { TASKS_REF, TASKS_UNREF, TASKS_RAWGETI, TASKS_NEWTHREAD, TASKS_N };
static tasks_fn *tasks_functions[TASKS_N];

static uintptr_t tasks_ref(lua_State *L, uintptr_t table, uintptr_t unused)
{
    struct tasks_ref kept = { 0 };
    if ((int)table == LUA_REGISTRYINDEX)
        kept = tasks_kept(L, __builtin_return_address(0));
    uintptr_t ref = tasks_functions[TASKS_REF](L, table, unused);
    struct tasks_ref *place = kept.task ? tasks_place(jsp_lua_here.run->tasks, (int)ref) : NULL;
    if (place)
        *place = kept;
    tasks_last = place ? (int)ref : 0;
    return ref;
}

static uintptr_t tasks_unref(lua_State *L, uintptr_t table, uintptr_t ref)
{
    if ((int)table == LUA_REGISTRYINDEX)
        tasks_dropped(L, (int)ref);
    return tasks_functions[TASKS_UNREF](L, table, ref);
}

static uintptr_t tasks_rawgeti(lua_State *L, uintptr_t table, uintptr_t i)
{
    if ((int)table == LUA_REGISTRYINDEX)
        tasks_read = (int)i;
    return tasks_functions[TASKS_RAWGETI](L, table, i);
}

static uintptr_t tasks_newthread(lua_State *L, uintptr_t unused, uintptr_t unused_too)
{
    uintptr_t co = tasks_functions[TASKS_NEWTHREAD](L, unused, unused_too);
    tasks_made(L, __builtin_return_address(0));
    return co;
}

static struct jsp_lua_import tasks_imports[] = {
    [TASKS_REF] = { "luaL_ref", (uintptr_t)tasks_ref, 0 },
    [TASKS_UNREF] = { "luaL_unref", (uintptr_t)tasks_unref, 0 },
    [TASKS_RAWGETI] = { "lua_rawgeti", (uintptr_t)tasks_rawgeti, 0 },
    [TASKS_NEWTHREAD] = { "lua_newthread", (uintptr_t)tasks_newthread, 0 },
    { NULL, 0, 0 },
};

/* -- Begin and end -------------------------------------------------------------------------- */

/* A new table, whose keys do not keep the coroutines alive. */
static int tasks_make_table(lua_State *L)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)&tasks_key);
    lua_newtable(L);
    lua_newtable(L);
    lua_pushliteral(L, "k");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_rawset(L, LUA_REGISTRYINDEX);
    return 0;
}

int jsp_lua_tasks_begin(lua_State *L, struct module_run *run)
{
    int err = jsp_lua_protected(L, tasks_make_table, NULL);
    if (!err)
        err = jsp_lua_task_wraps(L, run->lua);
    if (!err)
        err = jsp_lua_imports_begin(tasks_imports, run->prof);
    if (!err)
        err = jsp_lua_imports_begin(tasks_uv_imports, run->prof);
    if (err)
        return err;
    run->tasks = calloc(1, sizeof *run->tasks);
    jsp_lua_task_forget_turn();
    for (int i = 0; i < TASKS_N; i++)
        memcpy(&tasks_functions[i], &tasks_imports[i].theirs, sizeof tasks_functions[i]);
    jsp_lua_imports_replace(tasks_imports);
    jsp_lua_imports_replace(tasks_uv_imports);
    return run->tasks ? 0 : -ENOMEM;
}

void jsp_lua_tasks_look(const struct module_run *run)
{
    if (!run->tasks)
        return;
    jsp_lua_imports_replace(tasks_imports);
    jsp_lua_imports_replace(tasks_uv_imports);
}

void jsp_lua_tasks_end(struct module_run *run)
{
    if (run->tasks)
        free(run->tasks->refs);
    free(run->tasks);
    run->tasks = NULL;
}
