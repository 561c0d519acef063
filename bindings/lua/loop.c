/* loop.c - see loop.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loop.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "called.h"
#include "imports.h"
#include "tasks.h"
#include "threads.h"

enum { LOOP_MARK = 40 };

enum loop_which { LOOP_CALL, LOOP_PCALL, LOOP_RESUME, LOOP_N };

/* A call that is running. */
struct loop_call {
    struct module_run *run;
    uint64_t since, n_changes;
    const struct jsp_lua_importer *by;
    const char *kind, *text; /* text NULL: it is not the outermost one, or is transparent */
    struct jsp_lua_task_run task;
};

/* The C frame of this thread's outermost call, or NULL. An error or a yield may end it without
 * a return, if it does not catch them: then a later call's frame may be anywhere. */
static __thread const char *loop_frame;
static __thread const struct jsp_lua_importer *loop_by; /* NULL: it catches them */

/* -- Calls ---------------------------------------------------------------------------- */

/* Return the run whose callbacks are recorded on this thread now, or NULL. */
static struct module_run *loop_here(uint64_t n_changes)
{
    struct module_run *run = jsp_lua_here.n_changes == n_changes ? jsp_lua_here.run : NULL;
    return run && run->called ? run : NULL;
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
    if (loop_changes() == n_changes && run->has_loop && run->prof)
        jsprof_mark(run->prof, since, "loop", name, message);
    jsp_lua_run_let_go();
}

/* Return whether a call is inside the outermost one. If that may have ended already, only calls
 * of its own library are. */
static bool loop_is_inside(const char *frame, uintptr_t from)
{
    return loop_frame && frame < loop_frame &&
           (!loop_by || (from >= loop_by->low && from < loop_by->high));
}

/* An outermost call begins, unless it is transparent. */
static void loop_outermost(struct loop_call *call, lua_State *L, int n, bool is_resume,
                           bool catches, const char *frame)
{
    loop_frame = NULL;
    call->text = is_resume ? jsp_lua_called_coroutine(L, n, call->run)
                           : jsp_lua_called_function(L, n, call->run);
    if (!call->text)
        return;
    call->since = jsprof_now();
    loop_frame = frame;
    loop_by = catches ? NULL : call->by;
}

/* Return whether a call is recorded, whose function has `n` arguments above it. */
static bool loop_begins(struct loop_call *call, lua_State *L, int n, enum loop_which which,
                        bool catches, const char *frame, const void *from)
{
    bool is_inside = loop_is_inside(frame, (uintptr_t)from), is_resume = which == LOOP_RESUME;
    if (is_inside && !jsp_lua_here.tasks)
        return false;
    jsp_lua_threads_enter(L);
    *call = (struct loop_call){ .n_changes = loop_changes() };
    call->run = loop_here(call->n_changes);
    call->by = call->run ? jsp_lua_imports_of((uintptr_t)from) : NULL;
    call->kind = is_resume ? "resume" : "callback";
    if (!is_inside && call->by)
        loop_outermost(call, L, n, is_resume, catches, frame);
    else if (!is_inside)
        loop_frame = NULL;
    if (call->by && is_resume)
        jsp_lua_task_resume(&call->task, L, n, call->by->name);
    else if (call->by)
        jsp_lua_task_call(&call->task, L, n,
                          &(struct jsp_lua_task_how){ call->text ? call->by->name : NULL, frame,
                                                      catches });
    return call->text || call->task.task;
}

static void loop_ends(const struct loop_call *call, lua_State *L, bool is_resume)
{
    char name[LOOP_MARK];
    jsp_lua_task_end(&call->task, is_resume ? L : NULL);
    if (!call->text)
        return;
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
            loop_ends(&call, L, which == LOOP_RESUME);                                    \
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
    bool is_here = jsp_lua_here.run && jsp_lua_here.n_changes == n_changes;
    const struct jsp_lua_importer *by = is_here ? jsp_lua_imports_of((uintptr_t)from) : NULL;
    int saved_errno = errno;
    if (by && timeout)
        loop_mark(jsp_lua_here.run, n_changes, since, "poll", by->name);
    if (by)
        jsp_lua_task_waited();
    errno = saved_errno;
}

static int loop_epoll_wait(int epoll, struct epoll_event *events, int n, int timeout)
{
    jsp_lua_task_waits();
    uint64_t since = timeout ? jsprof_now() : 0;
    int result = epoll_wait(epoll, events, n, timeout);
    loop_waited(since, timeout, __builtin_return_address(0));
    return result;
}

static int loop_epoll_pwait(int epoll, struct epoll_event *events, int n, int timeout,
                            const sigset_t *mask)
{
    jsp_lua_task_waits();
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

int jsp_lua_loop_begin(lua_State *L, struct module_run *run, bool has_marks)
{
    int err = jsp_lua_called_begin(L, run);
    if (!err)
        err = jsp_lua_imports_begin(loop_imports, run->prof);
    for (int i = 0; i < LOOP_N && !err; i++)
        memcpy(&loop_functions[i], &loop_imports[i].theirs, sizeof loop_functions[i]);
    if (!err)
        jsp_lua_imports_replace(loop_imports);
    run->has_loop = has_marks;
    return err;
}

void jsp_lua_loop_look(const struct module_run *run)
{
    if (run->called)
        jsp_lua_imports_replace(loop_imports);
}
