/* loop.c - see loop.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loop.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "api.h"
#include "imports.h"
#include "labels.h"
#include "threads.h"

enum { LOOP_NAMES = 256 /* power of two */, LOOP_FRAMES = 64, LOOP_MARK = 40,
       LOOP_TEXT = JSP_LUA_NAME + JSP_LUA_WHERE + 4 };

enum loop_which { LOOP_CALL, LOOP_PCALL, LOOP_RESUME, LOOP_N };

/* A function that a loop called, as marks show it. */
struct loop_name {
    struct jsp_lua_key key; /* at 0: empty */
    char text[LOOP_TEXT];
};

/* Only the thread that runs the state uses it. */
struct jsp_lua_loop {
    struct jsp_lua_key wrapped; /* of the C function that resumes for coroutine.wrap */
    struct loop_name names[LOOP_NAMES]; /* by the key's hash; a new one replaces the old */
};

/* An outermost call that is running. */
struct loop_call {
    struct module_run *run;
    uint64_t since, n_changes;
    const struct jsp_lua_importer *by;
    const char *kind, *text;
};

/* The C frame of this thread's outermost call, or NULL. An error or a yield may end it without
 * a return, if it does not catch them: then a later call's frame may be anywhere. */
static __thread const char *loop_frame;
static __thread const struct jsp_lua_importer *loop_by; /* NULL: it catches them */

/* -- Names ---------------------------------------------------------------------------- */

/* Write the name that a walk finds in the code of the functions on the stack, with the place
 * of the function at `at`. */
static void loop_describe(lua_State *L, int at, struct module_run *run, struct loop_name *to)
{
    struct jsp_lua_walker *w = run->lua->walker;
    jsprof_frame frames[LOOP_FRAMES];
    const struct jsp_lua_label *label = NULL;
    char where[JSP_LUA_WHERE] = "[C]";
    lua_Debug ar = { 0 };
    snprintf(to->text, LOOP_TEXT, "?");
    if (!lua_checkstack(L, 2))
        return;
    lua_pushvalue(L, at);
    if (lua_getinfo(L, ">S", &ar) && to->key.code) {
        size_t n = strlen(ar.source);
        jsp_lua_where(&(struct jsp_lua_chunk){ ar.source, n, n, to->key.line }, where);
    }
    if (run->runner == run->maker) { /* otherwise another thread's handler uses the labels */
        jsprof_thread_pause(run->thread);
        label = jsp_lua_label_find(&w->labels, &to->key);
        if (!label) {
            jsp_lua_walk_sigsafe(w, NULL, frames, LOOP_FRAMES);
            label = jsp_lua_label_find(&w->labels, &to->key);
        }
        if (label && label->name)
            snprintf(to->text, LOOP_TEXT, "%s (%s)", label->name, where);
        jsprof_thread_resume(run->thread);
    }
    if (to->text[0] == '?')
        snprintf(to->text, LOOP_TEXT, "%s (%s)", to->key.line ? "function" : "main chunk", where);
}

static const char *loop_text(lua_State *L, int at, struct module_run *run,
                             const struct jsp_lua_key *key)
{
    uint64_t hash = (uint64_t)(key->at ^ key->code << 20) * 0x9E3779B97F4A7C15u;
    struct loop_name *name = &run->loop->names[hash >> 32 & (LOOP_NAMES - 1)];
    if (memcmp(&name->key, key, sizeof *key) != 0) {
        name->key = *key;
        loop_describe(L, at, run, name);
    }
    return name->text;
}

/* Push the outermost function of a coroutine that has yielded. Return false, and push nothing,
 * if that can not be done. */
static bool loop_push_first(lua_State *L)
{
    lua_Debug ar;
    int low = 0, high = 1;
    if (!lua_checkstack(L, 2))
        return false;
    while (lua_getstack(L, high, &ar)) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (lua_getstack(L, middle, &ar))
            low = middle;
        else
            high = middle;
    }
    return lua_getstack(L, low, &ar) && lua_getinfo(L, "f", &ar);
}

/* -- Calls ---------------------------------------------------------------------------- */

/* Return the run whose callbacks are marked on this thread now, or NULL. */
static struct module_run *loop_here(uint64_t n_changes)
{
    struct module_run *run = jsp_lua_here.n_changes == n_changes ? jsp_lua_here.run : NULL;
    return run && run->loop ? run : NULL;
}

static uint64_t loop_changes(void)
{
    /* ORDER: acquire, for the reason that jsp_lua_threads_enter gives. */
    return atomic_load_explicit(&jsp_lua_changes, memory_order_acquire);
}

/* Make a mark, unless the run may have ended since `n_changes`: while this thread waits,
 * another one may run the state and end its recording. */
static void loop_mark(const struct module_run *run, uint64_t n_changes, uint64_t since,
                      const char *name, const char *message)
{
    jsp_lua_run_lock();
    if (loop_changes() == n_changes && run->loop && run->prof)
        jsprof_mark(run->prof, since, "loop", name, message);
    jsp_lua_run_let_go();
}

static void loop_key(lua_State *L, int at, struct jsp_lua_key *key)
{
    jsp_lua_walk_key((uintptr_t)lua_topointer(L, at), (uintptr_t)lua_tocfunction(L, at), key);
}

/* Name a coroutine that is about to be resumed, with `n` arguments, by its outermost
 * function. */
static const char *loop_coroutine(lua_State *co, int n, struct module_run *run)
{
    struct jsp_lua_key key;
    bool has_yielded = lua_status(co) == LUA_YIELD;
    const char *text = NULL;
    int at = has_yielded ? -1 : -n - 1;
    if (has_yielded && !loop_push_first(co))
        return NULL;
    if (lua_gettop(co) >= -at && lua_isfunction(co, at)) {
        loop_key(co, at, &key);
        text = loop_text(co, at, run, &key);
    }
    if (has_yielded)
        lua_pop(co, 1);
    return text;
}

/* Name the function that has `n` arguments above it. NULL: its call is transparent. */
static const char *loop_function(lua_State *L, int n, struct module_run *run)
{
    struct jsp_lua_key key;
    int at = -n - 1;
    if (!lua_isfunction(L, at))
        return NULL;
    loop_key(L, at, &key);
    if (memcmp(&key, &run->loop->wrapped, sizeof key) != 0)
        return key.code && key.line ? loop_text(L, at, run, &key) : NULL;
    if (!lua_checkstack(L, 1) || !lua_getupvalue(L, at, 1))
        return NULL;
    lua_State *co = lua_tothread(L, -1);
    lua_pop(L, 1); /* the function keeps it alive */
    return co ? loop_coroutine(co, 0, run) : NULL;
}

/* Return whether a call is inside the outermost one. If that may have ended already, only calls
 * of its own library are. */
static bool loop_is_inside(const char *frame, uintptr_t from)
{
    return loop_frame && frame < loop_frame &&
           (!loop_by || (from >= loop_by->low && from < loop_by->high));
}

/* Return whether an outermost call begins, whose function has `n` arguments above it. */
static bool loop_begins(struct loop_call *call, lua_State *L, int n, enum loop_which which,
                        bool catches, const char *frame, const void *from)
{
    bool is_resume = which == LOOP_RESUME;
    if (loop_is_inside(frame, (uintptr_t)from))
        return false;
    loop_frame = NULL;
    jsp_lua_threads_enter(L);
    call->n_changes = loop_changes();
    call->run = loop_here(call->n_changes);
    call->by = call->run ? jsp_lua_imports_of((uintptr_t)from) : NULL;
    if (!call->by)
        return false;
    call->text = is_resume ? loop_coroutine(L, n, call->run) : loop_function(L, n, call->run);
    if (!call->text)
        return false;
    call->kind = is_resume ? "resume" : "callback";
    call->since = jsprof_now();
    loop_frame = frame;
    loop_by = catches ? NULL : call->by;
    return true;
}

static void loop_ends(const struct loop_call *call)
{
    char name[LOOP_MARK];
    loop_frame = NULL;
    size_t n = strlen(call->by->name);
    memcpy(name, call->by->name, n);
    name[n] = ' ';
    strcpy(name + n + 1, call->kind);
    loop_mark(call->run, call->n_changes, call->since, name, call->text);
}

/* In every version, six words hold the arguments of these functions (preload.c). */
typedef uintptr_t loop_fn(lua_State *L, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,
                          uintptr_t e);

static loop_fn *loop_functions[LOOP_N];

#define LOOP_ENTRY(ours, which, n_arguments, catches)                                     \
    static uintptr_t ours(lua_State *L, uintptr_t a, uintptr_t b, uintptr_t c,            \
                          uintptr_t d, uintptr_t e)                                       \
    {                                                                                     \
        struct loop_call call;                                                            \
        bool is_ours = loop_begins(&call, L, (int)(n_arguments), which, catches,          \
                                   __builtin_frame_address(0),                            \
                                   __builtin_return_address(0));                          \
        uintptr_t result = loop_functions[which](L, a, b, c, d, e);                       \
        if (is_ours)                                                                      \
            loop_ends(&call);                                                             \
        return result;                                                                    \
    }

LOOP_ENTRY(loop_call, LOOP_CALL, a, false)
#if LUA_VERSION_NUM == 501
LOOP_ENTRY(loop_pcall, LOOP_PCALL, a, true)
LOOP_ENTRY(loop_resume, LOOP_RESUME, a, true)
#define LOOP_CALL_NAME "lua_call"
#define LOOP_PCALL_NAME "lua_pcall"
#else
LOOP_ENTRY(loop_pcall, LOOP_PCALL, a, e == 0) /* with a continuation, it may yield */
LOOP_ENTRY(loop_resume, LOOP_RESUME, b, true)
#define LOOP_CALL_NAME "lua_callk"
#define LOOP_PCALL_NAME "lua_pcallk"
#endif

/* -- Waits ---------------------------------------------------------------------------- */

/* A look without a wait is no mark. */
static void loop_waited(uint64_t since, int timeout, const void *from)
{
    uint64_t n_changes = loop_changes();
    bool is_here = timeout && jsp_lua_here.run && jsp_lua_here.n_changes == n_changes;
    const struct jsp_lua_importer *by = is_here ? jsp_lua_imports_of((uintptr_t)from) : NULL;
    int saved_errno = errno;
    if (by)
        loop_mark(jsp_lua_here.run, n_changes, since, "poll", by->name);
    errno = saved_errno;
}

static int loop_epoll_wait(int epoll, struct epoll_event *events, int n, int timeout)
{
    uint64_t since = timeout ? jsprof_now() : 0;
    int result = epoll_wait(epoll, events, n, timeout);
    loop_waited(since, timeout, __builtin_return_address(0));
    return result;
}

static int loop_epoll_pwait(int epoll, struct epoll_event *events, int n, int timeout,
                            const sigset_t *mask)
{
    uint64_t since = timeout ? jsprof_now() : 0;
    int result = epoll_pwait(epoll, events, n, timeout, mask);
    loop_waited(since, timeout, __builtin_return_address(0));
    return result;
}

/* -- Begin and end -------------------------------------------------------------------- */

static struct jsp_lua_import loop_imports[] = {
    [LOOP_CALL] = { LOOP_CALL_NAME, (uintptr_t)loop_call, 0 },
    [LOOP_PCALL] = { LOOP_PCALL_NAME, (uintptr_t)loop_pcall, 0 },
    [LOOP_RESUME] = { "lua_resume", (uintptr_t)loop_resume, 0 },
    { "epoll_wait", (uintptr_t)loop_epoll_wait, 0 },
    { "epoll_pwait", (uintptr_t)loop_epoll_pwait, 0 },
    { NULL, 0, 0 },
};

/* Hide our functions, which are on the C stack between a loop and Lua. */
static int loop_hide(jsprof *session)
{
    struct jsp_lua_bounds b;
    int err = 0;
    for (const struct jsp_lua_import *i = loop_imports; i->name && !err; i++)
        if (jsp_lua_bounds_function(i->ours, &b))
            err = jsprof_interpreter_hide(session, (const void *)b.start, b.end - b.start);
    return err;
}

/* Learn which C function resumes for coroutine.wrap. */
static int loop_learn(lua_State *L)
{
    static const char make[] = "return coroutine.wrap(function() end)";
    struct jsp_lua_loop *loop = lua_touserdata(L, 1);
    if (luaL_loadbuffer(L, make, sizeof make - 1, "=jsprof loop") == 0 &&
        lua_pcall(L, 0, 1, 0) == 0 && lua_iscfunction(L, -1))
        loop_key(L, -1, &loop->wrapped);
    return 0;
}

/* Find a function of Lua. A program that takes its address may have a stub of that name, which
 * calls by a word that is replaced here. */
static void *loop_find(const char *name)
{
    Dl_info its, lua, ours;
    void *found = dlsym(RTLD_DEFAULT, name);
    if (!found || !dladdr(found, &its) || !dladdr((void *)loop_find, &ours) ||
        !dladdr((void *)jsp_lua_api(JSP_LUA_API_GETTOP), &lua) ||
        its.dli_fbase == lua.dli_fbase || its.dli_fbase == ours.dli_fbase)
        return found;
    void *library = dlopen(lua.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
    if (!library)
        return found;
    found = dlsym(library, name);
    dlclose(library);
    return found;
}

int jsp_lua_loop_begin(lua_State *L, struct module_run *run)
{
    run->loop = calloc(1, sizeof *run->loop);
    if (!run->loop)
        return -ENOMEM;
    for (int i = 0; i < LOOP_N; i++) {
        void *found = loop_find(loop_imports[i].name);
        if (!found)
            return -ENOTSUP;
        memcpy(&loop_functions[i], &found, sizeof found);
        loop_imports[i].theirs = (uintptr_t)found;
    }
    int err = jsp_lua_protected(L, loop_learn, run->loop);
    if (!err)
        err = loop_hide(run->prof);
    if (!err)
        jsp_lua_imports_replace(loop_imports);
    return err;
}

void jsp_lua_loop_look(const struct module_run *run)
{
    if (run->loop)
        jsp_lua_imports_replace(loop_imports);
}

void jsp_lua_loop_end(struct module_run *run)
{
    free(run->loop);
    run->loop = NULL;
}
