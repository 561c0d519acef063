/* threads.c - see threads.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "asleep.h"
#include "calls/alloc.h"
#include "module_names.h"
#include "run.h"

/* A thread that joined. */
struct jsp_lua_joined {
    struct jsp_lua_joined *next;        /* of the same state; under the lock of runs */
    struct jsp_lua_joined *next_here;   /* of the same thread */
    struct module_run *run;             /* NULL: it ended; under the lock of runs */
    uint64_t thread_number;
    struct jsprof_lua lua;              /* session, thread, walker, main; not tied to the state */
};

static __thread struct jsp_lua_joined *threads_joined; /* of this thread */
static __thread bool threads_is_inside; /* calls of this file come back to it */

__thread struct jsp_lua_here jsp_lua_here;
_Atomic uint64_t jsp_lua_changes;

static _Atomic uint64_t threads_number;
static pthread_key_t threads_key;
static bool threads_has_key;

static uint64_t threads_me(void)
{
    /* ORDER: relaxed. The number only has to be unique. */
    if (!jsp_lua_here.number)
        jsp_lua_here.number = 1 + atomic_fetch_add_explicit(&threads_number, 1,
                                                            memory_order_relaxed);
    return jsp_lua_here.number;
}

/* -- Threads that end --------------------------------------------------------------- */

static void threads_leave(struct jsp_lua_joined *j)
{
    jsp_lua_run_lock();
    struct jsp_lua_joined **at = j->run ? &j->run->joined : NULL;
    while (at && *at && *at != j)
        at = &(*at)->next;
    if (at && *at)
        *at = j->next;
    jsp_lua_run_let_go();
    jsprof_thread_detach(j->lua.thread);
    jsp_lua_walkers_free(&j->lua);
    free(j);
}

static void threads_on_exit(void *data)
{
    (void)data;
    jsp_lua_alloc_leave();
    for (struct jsp_lua_joined *j = threads_joined, *next; j; j = next) {
        next = j->next_here;
        threads_leave(j);
    }
    threads_joined = NULL;
}

/* Make the key before the library makes its own: destructors run in the order of the
 * keys, and a thread must detach here before the library releases it. */
__attribute__((constructor)) static void threads_make_key(void)
{
    threads_has_key = pthread_key_create(&threads_key, threads_on_exit) == 0;
}

/* -- Threads that join ---------------------------------------------------------------- */

/* Copy what the first walker learned about this Lua. Each walker has names of its own. */
static struct jsp_lua_walker *threads_walker(const struct jsp_lua_walker *first)
{
    struct jsp_lua_walker *w = mmap(NULL, sizeof *w, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (w == MAP_FAILED)
        return NULL;
    jsp_lua_walker_like(w, first);
    jsp_lua_walk_set_stack(w);
    jsp_lua_read_init(&w->read);
    return w;
}

static struct jsp_lua_joined *threads_join(lua_State *L, struct module_run *run)
{
    struct jsp_lua_joined *j = threads_has_key ? calloc(1, sizeof *j) : NULL;
    jsprof *prof = j ? jsp_lua_run_hold(run) : NULL;
    if (!prof) {
        free(j);
        return NULL;
    }
    j->lua = (struct jsprof_lua){ .session = prof, .main = run->lua->main };
    j->lua.walker = threads_walker(run->lua->walker);
    int err = j->lua.walker ? jsprof_thread_attach(prof, NULL, &j->lua.thread) : -1;
    jsp_lua_run_let_go();
    if (err) {
        jsp_lua_walkers_free(&j->lua);
        free(j);
        return NULL;
    }
    jsp_lua_protected(L, jsp_lua_name_modules, &j->lua);
    jsp_lua_labels_fix(&j->lua.walker->labels);
    jsp_lua_walkers_set(&j->lua);
    j->thread_number = threads_me();
    j->run = run;
    j->next_here = threads_joined;
    threads_joined = j;
    pthread_setspecific(threads_key, j);
    return j;
}

/* Return this thread's part in the run, or NULL. */
static struct jsp_lua_joined *threads_mine(const struct module_run *run)
{
    struct jsp_lua_joined *mine = threads_joined;
    while (mine && mine->run != run)
        mine = mine->next_here;
    return mine;
}

/* Show the state's frames on this thread and on no other. */
static void threads_switch(lua_State *L, struct module_run *run)
{
    bool is_maker = run->maker == threads_me();
    struct jsp_lua_joined *mine = is_maker ? NULL : threads_mine(run);
    bool is_new = !is_maker && !mine;
    if (is_new)
        mine = threads_join(L, run);
    jsp_lua_run_lock();
    if (mine && is_new) {
        mine->next = run->joined;
        run->joined = mine;
    }
    run->lua->walker->root = is_maker ? run->lua->main : 0;
    jsp_lua_alloc_run(run->lua->alloc, is_maker ? run->thread : mine ? mine->lua.thread : NULL);
    for (struct jsp_lua_joined *j = run->joined; j; j = j->next)
        j->lua.walker->root = j == mine ? run->lua->main : 0;
    run->runner = threads_me();
    jsp_lua_run_let_go();
}

/* Return the thread for the run's tasks that run here. */
static jsprof_thread *threads_of_tasks(const struct module_run *run)
{
    if (!run || !run->tasks)
        return NULL;
    const struct jsp_lua_joined *mine = threads_mine(run);
    return run->maker == threads_me() ? run->thread : mine ? mine->lua.thread : NULL;
}

static void threads_look(lua_State *L, uint64_t n_changes)
{
    threads_is_inside = true;
    jsp_lua_here.run = lua_checkstack(L, 4) ? jsp_lua_run_of(L) : NULL;
    jsp_lua_here.global = jsp_lua_walk_global((uintptr_t)L);
    jsp_lua_here.global_at = jsp_lua_walk_global_at();
    jsp_lua_here.n_changes = n_changes;
    jsp_lua_here.tasks = NULL;
    if (jsp_lua_here.run && jsp_lua_here.run->runner != threads_me())
        threads_switch(L, jsp_lua_here.run);
    jsp_lua_here.tasks = threads_of_tasks(jsp_lua_here.run);
    threads_is_inside = false;
}

void jsp_lua_threads_enter(lua_State *L)
{
    /* ORDER: acquire, pairs with the release of begin and end: a run in their list is
     * whole. */
    uint64_t n_changes = atomic_load_explicit(&jsp_lua_changes, memory_order_acquire);
    if (!threads_is_inside && !jsp_lua_threads_is_entered(L, n_changes))
        threads_look(L, n_changes);
}

/* -- Beginning and end ------------------------------------------------------------------ */

void jsp_lua_threads_begin(struct module_run *run)
{
    run->maker = run->runner = threads_me();
    /* ORDER: release, pairs with the acquire in enter. */
    atomic_fetch_add_explicit(&jsp_lua_changes, 1, memory_order_release);
}

void jsp_lua_threads_end(struct module_run *run)
{
    jsp_lua_run_lock();
    for (struct jsp_lua_joined *j = run->joined; j; j = j->next) {
        j->lua.walker->root = 0;
        j->run = NULL;
    }
    run->joined = NULL;
    /* Change it under the lock: a thread that holds that and finds the old number can use the run.
     * ORDER: release, pairs with the acquire in enter. */
    atomic_fetch_add_explicit(&jsp_lua_changes, 1, memory_order_release);
    jsp_lua_run_let_go();
}
