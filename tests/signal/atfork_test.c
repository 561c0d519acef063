/* atfork_test.c - a program with fork handlers of its own, and with threads that use the
 * library while another one forks: nobody waits for ever, in neither process.
 *
 * Each program below runs in a process of its own, because a handler that was registered
 * can not be taken back, and ends by an alarm if it hangs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "host.h"
#include "sigsafe/names.h"

#include <dlfcn.h>
#include <link.h>

static struct host h;

enum { PATIENCE = 480 };

/* What the program answered; 142: it hung. */
static int run_program(int (*program)(void))
{
    pid_t child = fork();
    if (child == 0) {
        alarm(PATIENCE);
        _exit(program());
    }
    return host_child_status(child);
}

/* A session from its beginning to its end; 0 or which call failed. */
static int whole_session(void)
{
    jsprof_options o = { .size = sizeof o, .path = "/dev/null", .hz = 1000 };
    jsprof *p;
    jsprof_thread *me;
    jsprof_function *f;
    if (jsprof_open(&p, &o) != 0)
        return 101;
    if (jsprof_function_new(&f, "made in the child", NULL, 0, JSPROF_KIND_VM) != 0)
        return 102;
    if (jsprof_thread_attach(p, "child", &me) != 0 || jsprof_start(p) != 0)
        return 103;
    jsprof_enter(me, f);
    host_burn_ms(1);
    jsprof_leave(me);
    if (jsprof_thread_detach(me) != 0 || jsprof_close(p) != 0)
        return 104;
    jsprof_function_free(f);
    return 0;
}

/* The sanitizer's malloc keeps the locks that threads had which the child has not. */
static int child_has_a_session(void)
{
    alarm(PATIENCE / 2);
    return HOST_SANITIZED ? 0 : whole_session();
}

/* -- Handlers that end the session ------------------------------------------------ */

enum place { PREPARE, PARENT, CHILD, PLACES };

static struct {
    int (*call)(jsprof *p);
    enum place place;
    bool armed;
    int answer;
} at_fork;

static void act(enum place place)
{
    if (!at_fork.armed || place != at_fork.place)
        return;
    at_fork.armed = false;
    at_fork.answer = at_fork.call(h.prof);
}

static void act_prepare(void)
{
    act(PREPARE);
}

static void act_parent(void)
{
    act(PARENT);
}

static void act_child(void)
{
    alarm(PATIENCE / 2); /* the parent's does not count here */
    act(CHILD);
    if (at_fork.place == CHILD && !HOST_SANITIZED)
        whole_session(); /* before the library's own handler, where ours is the older one */
}

static bool handlers_are_older;

static int fork_with_handlers(void)
{
    jsprof_thread *me;
    if (handlers_are_older)
        pthread_atfork(act_prepare, act_parent, act_child);
    if (host_open_with(&h, host_options(1000, JSPROF_CLOCK_CPU)) != 0 ||
        jsprof_thread_attach(h.prof, "main", &me) != 0 ||
        jsprof_start(h.prof) != 0)
        return 1;
    if (!handlers_are_older)
        pthread_atfork(act_prepare, act_parent, act_child);
    at_fork.answer = 99;
    at_fork.armed = true;
    pid_t child = fork();
    if (child == 0) {
        if (at_fork.place == CHILD)
            return at_fork.call == jsprof_close ? at_fork.answer : at_fork.answer + ECHILD;
        return child_has_a_session();
    }
    int answer = host_child_status(child);
    if (answer == 0 && at_fork.place != CHILD)
        answer = at_fork.answer;
    if (answer == 0 && (at_fork.place == CHILD || at_fork.call != jsprof_close))
        answer = jsprof_close(h.prof);
    return answer;
}

static void try_handlers(int (*call)(jsprof *p))
{
    for (int older = 0; older < 2; older++)
        for (enum place place = PREPARE; place < PLACES; place++) {
            handlers_are_older = older;
            at_fork.place = place;
            at_fork.call = call;
            if (CHECK_EQ(run_program(fork_with_handlers), 0))
                continue;
            printf("# %s handlers, place %d\n", older ? "older" : "younger", (int)place);
            return;
        }
}

TEST_OF(fork_handlers_that_close_the_session_return, try_handlers(jsprof_close))
TEST_OF(fork_handlers_that_stop_the_session_return, try_handlers(jsprof_stop))

/* -- A lock of the host's ---------------------------------------------------------- */

static pthread_mutex_t host_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool is_locked, is_forking;

static void take_host_lock(void)
{
    atomic_store_explicit(&is_forking, true, memory_order_relaxed);
    pthread_mutex_lock(&host_lock);
}

static void give_host_lock(void)
{
    pthread_mutex_unlock(&host_lock);
}

static void wait_for(const _Atomic bool *what)
{
    while (!atomic_load_explicit(what, memory_order_relaxed))
        sched_yield();
}

/* An interpreter's thread: it holds the interpreter's lock. */
static void *work_under_host_lock(void *prof)
{
    jsprof_function *f;
    jsprof_thread *me;
    pthread_mutex_lock(&host_lock);
    atomic_store_explicit(&is_locked, true, memory_order_relaxed);
    wait_for(&is_forking);
    jsprof_function_new(&f, "f", NULL, 0, JSPROF_KIND_VM);
    jsprof_thread_attach(prof, "worker", &me);
    jsprof_flush(prof);
    jsprof_thread_detach(me);
    jsprof_function_free(f);
    pthread_mutex_unlock(&host_lock);
    return NULL;
}

static int fork_beside_a_worker(void)
{
    jsprof_thread *me;
    pthread_atfork(take_host_lock, give_host_lock, give_host_lock);
    if (host_open_with(&h, host_options(1000, JSPROF_CLOCK_CPU)) != 0 ||
        jsprof_thread_attach(h.prof, "main", &me) != 0 || jsprof_start(h.prof) != 0)
        return 1;
    pthread_t worker = host_thread(work_under_host_lock, h.prof);
    wait_for(&is_locked);
    pid_t child = fork();
    if (child == 0)
        return child_has_a_session();
    pthread_join(worker, NULL);
    int answer = host_child_status(child);
    return answer ? answer : jsprof_close(h.prof);
}

TEST(fork_that_waits_for_a_thread_that_uses_the_library_comes_to_an_end)
{
    CHECK_EQ(run_program(fork_beside_a_worker), 0);
}

/* -- A fork at any moment ------------------------------------------------------------ */

enum { FORKS = 60, HELD = 64 };

static _Atomic bool is_over;

static void *make_functions(void *unused)
{
    jsprof_function *held[HELD] = { NULL };
    for (uint32_t i = 0; !atomic_load_explicit(&is_over, memory_order_relaxed); i++) {
        jsprof_function_free(held[i % HELD]);
        held[i % HELD] = NULL;
        jsprof_function_new(&held[i % HELD], "f", NULL, i, JSPROF_KIND_VM);
    }
    for (int i = 0; i < HELD; i++)
        jsprof_function_free(held[i]);
    return unused;
}

static void *make_sessions(void *unused)
{
    while (!atomic_load_explicit(&is_over, memory_order_relaxed))
        whole_session();
    return unused;
}

static void *come_and_go(void *prof)
{
    jsprof_thread *me;
    while (!atomic_load_explicit(&is_over, memory_order_relaxed))
        if (jsprof_thread_attach(prof, "comes and goes", &me) == 0)
            jsprof_thread_detach(me);
    return NULL;
}

/* More functions than the parent's array has room for, no two with the same number. */
static int child_makes_functions(jsprof *parents)
{
    enum { FUNCTIONS = 3000 };
    static jsprof_function *f[FUNCTIONS];
    int answer = child_has_a_session();
    for (int i = 0; i < FUNCTIONS && !answer; i++) {
        answer = jsprof_function_new(&f[i], "f", NULL, 0, JSPROF_KIND_VM);
        for (int j = i - 20 > 0 ? i - 20 : 0; j < i && !answer; j++)
            answer = f[j]->index == f[i]->index ? 105 : 0;
    }
    for (int i = 0; i < FUNCTIONS; i++)
        jsprof_function_free(f[i]);
    return answer ? answer : jsprof_close(parents);
}

static int fork_at_any_moment(void)
{
    static void *(*const others[])(void *) = { make_functions, make_sessions, come_and_go };
    pthread_t threads[3];
    int answer = 0;
    if (host_open_with(&h, host_options(1000, JSPROF_CLOCK_CPU)) != 0 ||
        jsprof_start(h.prof) != 0)
        return 1;
    for (int i = 0; i < 3; i++)
        threads[i] = host_thread(others[i], h.prof);
    for (int i = 0; i < FORKS && !answer; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(child_makes_functions(h.prof));
        answer = host_child_status(child);
    }
    atomic_store_explicit(&is_over, true, memory_order_relaxed);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return answer ? answer : jsprof_close(h.prof);
}

TEST(child_of_any_moment_records_and_closes)
{
    if (HOST_SANITIZED) {
        SKIP("the sanitizer's malloc does not survive a fork beside other threads");
        return;
    }
    CHECK_EQ(run_program(fork_at_any_moment), 0);
}

static int child_frees(jsprof *parents)
{
    jsprof_function *f, *g;
    if (jsprof_function_new(&f, "f", NULL, 0, JSPROF_KIND_VM) != 0)
        return 107;
    uint32_t index = f->index;
    jsprof_function_free(f);
    if (jsprof_function_new(&g, "g", NULL, 0, JSPROF_KIND_VM) != 0)
        return 108;
    return g->index != index ? 109 : jsprof_close(parents);
}

static int fork_while_counting(void)
{
    if (host_open_with(&h, host_options(1000, JSPROF_CLOCK_CPU)) != 0 ||
        jsprof_calls_set(h.prof, JSPROF_CALLS_COUNT) != 0)
        return 1;
    pid_t child = fork();
    if (child == 0)
        _exit(child_frees(h.prof));
    int answer = host_child_status(child);
    return answer ? answer : jsprof_close(h.prof);
}

TEST(child_of_a_program_that_counts_calls_gives_back_what_it_frees)
{
    CHECK_EQ(run_program(fork_while_counting), 0);
}

/* -- The loader's lock ----------------------------------------------------------------- */

typedef int (*visit_fn)(struct dl_phdr_info *info, size_t size, void *arg);

static _Atomic bool is_inside;
static _Atomic int dwell_ms;

struct visit {
    visit_fn visit;
    void *arg;
};

/* Long enough for the other thread to fork in the middle. */
static int dwell(struct dl_phdr_info *info, size_t size, void *arg)
{
    const struct visit *v = arg;
    int ms = atomic_exchange_explicit(&dwell_ms, 0, memory_order_relaxed);
    if (ms) {
        struct timespec moment = { 0, ms * 1000000L };
        atomic_store_explicit(&is_inside, true, memory_order_relaxed);
        nanosleep(&moment, NULL);
    }
    return v->visit(info, size, v->arg);
}

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
int dl_iterate_phdr(visit_fn visit, void *arg)
{
    static int (*real)(visit_fn, void *);
    struct visit v = { visit, arg };
    if (!real)
        real = (int (*)(visit_fn, void *))(uintptr_t)dlsym(RTLD_NEXT, "dl_iterate_phdr");
    return real(dwell, &v);
}
#endif

static int count_object(struct dl_phdr_info *info, size_t size, void *n)
{
    (void)info, (void)size;
    ++*(int *)n;
    return 0;
}

static void *flush_on(void *prof)
{
    while (!atomic_load_explicit(&is_over, memory_order_relaxed))
        jsprof_flush(prof);
    return NULL;
}

static int child_looks(void)
{
    int n = 0;
    alarm(PATIENCE / 4);
    dl_iterate_phdr(count_object, &n);
    return n ? 0 : 106;
}

static int fork_beside_a_look(void)
{
    int answer = 0;
    if (host_open_with(&h, host_options(1000, JSPROF_CLOCK_CPU)) != 0 ||
        jsprof_start(h.prof) != 0)
        return 1;
    pthread_t flusher = host_thread(flush_on, h.prof);
    for (int i = 0; i < 20 && !answer; i++) {
        atomic_store_explicit(&is_inside, false, memory_order_relaxed);
        atomic_store_explicit(&dwell_ms, 20, memory_order_relaxed);
        wait_for(&is_inside);
        pid_t child = fork();
        if (child == 0)
            _exit(child_looks());
        answer = host_child_status(child);
    }
    atomic_store_explicit(&is_over, true, memory_order_relaxed);
    pthread_join(flusher, NULL);
    return answer ? answer : jsprof_close(h.prof);
}

TEST(child_of_a_fork_beside_a_flush_gets_the_loaders_lock)
{
    if (HOST_SANITIZED) {
        SKIP("the sanitizer has a dl_iterate_phdr of its own");
        return;
    }
    CHECK_EQ(run_program(fork_beside_a_look), 0);
}

TEST_MAIN()
