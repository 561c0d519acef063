/* fork_test.c - a program that forks while it is sampled: the child is inert and may
 * begin its own session, the parent's file is the parent's.
 *
 * SPDX-License-Identifier: MIT
 */
#include "host.h"

#include <fcntl.h>

#include "session/session.h"

/* Every call on the parent's session; the number of the first wrong answer. */
static int try_everything(struct host *h, jsprof_thread *me)
{
    jsprof_stats stats = { .size = sizeof stats };
    jsprof_stack none = { .size = sizeof none };
    jsprof_thread *again;
    alarm(30); /* a lock that another thread held at the fork must not be waited for */
    if (jsprof_start(h->prof) != -ECHILD)
        return 1;
    if (jsprof_stop(h->prof) != -ECHILD)
        return 2;
    if (jsprof_flush(h->prof) != -ECHILD)
        return 3;
    if (jsprof_stats_get(h->prof, &stats) != -ECHILD)
        return 4;
    if (jsprof_thread_attach(h->prof, "child", &again) != -ECHILD)
        return 5;
    if (jsprof_thread_set_stack(me, &none) != -ECHILD)
        return 6;
    if (jsprof_thread_set_walker(me, NULL, NULL) != -ECHILD)
        return 7;
    if (jsprof_thread_detach(me) != 0)
        return 8;
    return jsprof_close(h->prof) ? 9 : 0;
}

TEST(child_is_inert_and_hangs_on_no_lock)
{
    struct host h = { 0 };
    jsprof_thread *me;
    if (!host_begin_with(&h, host_options(10000, JSPROF_CLOCK_WALL), &me))
        return;
    for (int i = 0; i < 50; i++) { /* some of them while the drain holds the lock */
        host_burn_ms(1);
        pid_t child = fork();
        if (child == 0)
            _exit(try_everything(&h, me));
        if (!CHECK_EQ(host_child_status(child), 0))
            break;
    }
    CHECK_EQ(jsprof_thread_detach(me), 0);
    host_finish(&h);
}

static _Atomic bool over;

/* 0, or what went wrong in a session of the child's own. */
static int own_session(void)
{
    struct host h = { 0 };
    jsprof_thread *me;
    if (host_open_with(&h, host_options(1000, JSPROF_CLOCK_CPU)) != 0)
        return 1;
    if (jsprof_thread_attach(h.prof, "child", &me) != 0 || jsprof_start(h.prof) != 0)
        return 2;
    jsprof_push(me, "in the child", NULL, 0);
    host_burn_ms(300);
    jsprof_pop(me);
    if (!host_close(&h))
        return 3;
    if (host_weight(&h, "in the child") == 0)
        return 4;
    host_free(&h);
    struct sigaction now;
    sigaction(host_signo(), NULL, &now);
    return now.sa_handler == SIG_DFL ? 0 : 5;
}

static off_t bytes_of(int fd)
{
    return lseek(fd, 0, SEEK_END);
}

TEST(child_records_its_own_session_beside_the_parents)
{
    struct host h = { 0 };
    jsprof_thread *me;
    if (HOST_LATE) {
        SKIP("the thread sanitizer has no threads after a fork");
        return;
    }
    if (!host_begin_with(&h, host_options(1000, JSPROF_CLOCK_CPU), &me))
        return;
    jsprof_push(me, "in the parent", NULL, 0);
    host_burn_ms(150);
    pid_t child = fork();
    if (child == 0)
        _exit(own_session());
    CHECK_EQ(host_child_status(child), 0);
    host_burn_ms(150);
    if (host_close(&h)) {
        CHECK_EQ(host_weight(&h, "in the child"), 0);
        CHECK(host_weight(&h, "in the parent") > 0);
    }
    host_free(&h);
}

TEST(child_that_closes_and_exits_leaves_the_parents_file_alone)
{
    struct host h = { 0 };
    jsprof_thread *me;
    if (!host_begin_with(&h, host_options(1000, JSPROF_CLOCK_CPU), &me))
        return;
    host_burn_ms(30);
    CHECK_EQ(jsprof_stop(h.prof), 0); /* quiet: from here on nobody may write */
    off_t before = bytes_of(h.fd);
    pid_t child = fork();
    if (child == 0) {
        jsprof_push(me, "in the child", NULL, 0);
        jsprof_close(h.prof);
        exit(0); /* with the handlers of atexit and all */
    }
    CHECK_EQ(host_child_status(child), 0);
    CHECK_EQ(bytes_of(h.fd), before);
    host_finish(&h);
}

static bool held_back;

/* Registered before the library's own, so that it runs after them. */
static void look_at_the_mask(void)
{
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    held_back = sigismember(&mask, host_signo()) == 1;
}

/* Copying page tables takes longer than the period: unless the signal waits, some
 * kernels restart each fork for ever. */
TEST(fork_of_a_large_program_at_10_khz_comes_to_an_end)
{
    enum { BYTES = 200 << 20 };
    struct host h = { 0 };
    jsprof_thread *me;
    char *ballast = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (!CHECK(ballast != MAP_FAILED) || !host_open(&h, 10000, JSPROF_CLOCK_WALL))
        return;
    madvise(ballast, BYTES, MADV_NOHUGEPAGE);
    memset(ballast, 1, BYTES);
    CHECK_EQ(jsprof_thread_attach(h.prof, "main", &me), 0);
    CHECK_EQ(jsprof_start(h.prof), 0);
    for (int i = 0; i < 5; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        CHECK_EQ(host_child_status(child), 0);
        CHECK(held_back);
        look_at_the_mask();
        CHECK(!held_back);
    }
    host_finish(&h);
    munmap(ballast, BYTES);
}

/* exec with the session running: a signal on its way must not kill the new program,
 * and the capture's descriptor does not leak into it. */
TEST(exec_while_sampled_runs_the_new_program)
{
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0) {
            struct host h = { 0 };
            jsprof_thread *me;
            if (host_open_with(&h, host_options(10000, JSPROF_CLOCK_WALL)) != 0 ||
                jsprof_thread_attach(h.prof, "main", &me) != 0 || jsprof_start(h.prof) != 0)
                _exit(1);
            host_burn_ms(1);
            execl("/bin/sh", "sh", "-c",
                  "for f in /proc/$$/fd/*; do case $(readlink $f) in *capture*) exit 3;; "
                  "esac; done; exit 0",
                  (char *)NULL);
            _exit(2);
        }
        if (!CHECK_EQ(host_child_status(child), 0))
            return;
    }
}

/* The new program inherits the mask, and the signals that wait for its end. */
static int unblock_after_exec(void)
{
    sigset_t waits, ours;
    sigemptyset(&ours);
    sigaddset(&ours, SIGPROF);
    bool is_empty = sigpending(&waits) == 0 && !sigismember(&waits, SIGPROF);
    pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
    return is_empty ? 0 : 4;
}

/* The session sends a signal, which the thread blocks, and then executes this program. */
static int exec_with_a_signal_that_waits(jsprof_options options)
{
    struct host h = { 0 };
    jsprof_thread *me;
    sigset_t ours, waits;
    if (host_open_with(&h, options) != 0 || jsprof_thread_attach(h.prof, "main", &me) != 0)
        return 1;
    sigemptyset(&ours);
    sigaddset(&ours, SIGPROF);
    pthread_sigmask(SIG_BLOCK, &ours, NULL);
    if (jsprof_start(h.prof) != 0)
        return 1;
    do {
        host_burn_ms(1);
        sigpending(&waits);
    } while (!sigismember(&waits, SIGPROF));
    execl("/proc/self/exe", "fork_test", "unblock", (char *)NULL);
    return 2;
}

TEST(signal_that_waits_during_exec_does_not_reach_the_new_program)
{
    for (int i = 0; i < 4; i++) {
        jsprof_options options = host_options(1000, i % 2 ? JSPROF_CLOCK_WALL : JSPROF_CLOCK_CPU);
        host_choose(&options, i / 2 ? "timer" : "looker");
        pid_t child = fork();
        if (child == 0) {
            alarm(60);
            _exit(exec_with_a_signal_that_waits(options));
        }
        CHECK_EQ(host_child_status(child), 0);
    }
}

static const char *told; /* by jsprof_path, before the fork */

/* Check a child in which the session continues. Return the number of the first wrong answer. */
static int go_on(jsprof *prof, jsprof_thread *me, const char *parents, bool forks_too)
{
    jsprof_stats stats = { .size = sizeof stats };
    jsprof_thread *again;
    alarm(240);
    if (jsprof_path(prof, NULL) != told || strcmp(told, parents) == 0)
        return 1;
    if (jsprof_thread_attach(prof, "again", &again) != -EALREADY)
        return 2;
    host_burn_ms(20);
    pid_t child = forks_too ? fork() : 0;
    if (forks_too && child == 0)
        _exit(go_on(prof, me, parents, false));
    if (forks_too && host_child_status(child) != 0)
        return 3;
    if (jsprof_stop(prof) != 0 || jsprof_stats_get(prof, &stats) != 0)
        return 4;
    if (!stats.expirations || stats.expirations != stats.kept + jsp_losses_of_stats(&stats))
        return 5;
    jsprof_pop(me);
    if (jsprof_thread_detach(me) != 0)
        return 6;
    char path[128];
    snprintf(path, sizeof path, "%s", jsprof_path(prof, NULL));
    if (jsprof_close(prof) != 0)
        return 7;
    struct host h = { .stats = stats, .fd = open(path, O_RDONLY | O_CLOEXEC) };
    unlink(path);
    bool is_good = host_load(&h) && h.profile.weight == stats.kept &&
                   host_weight(&h, "before the fork") == stats.kept;
    return is_good ? 0 : 8;
}

/* Threads that sample, register and count as the forks come. */
static void *disturb(void *arg)
{
    static char space[64];
    struct host *h = arg;
    jsprof_thread *me;
    jsprof_code code = { .size = sizeof code, .start = space, .length = 16, .name = "code" };
    if (jsprof_thread_attach(h->prof, "other", &me) != 0)
        return NULL;
    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        jsprof_push(me, "elsewhere", NULL, 0);
        jsprof_code_add(h->prof, &code);
        jsprof_counter_set(h->prof, jsprof_counter(h->prof, "a", "b", "", 0), rand());
        jsprof_pop(me);
    }
    jsprof_thread_detach(me);
    return NULL;
}

static void fork_many(uint32_t flags, bool is_disturbed)
{
    char directory[] = "/tmp/jsprof-fork-XXXXXX", path[128];
    jsprof_options options = host_options(10000, JSPROF_CLOCK_WALL);
    struct host h = { 0 };
    jsprof_thread *me;
    if (HOST_SANITIZED) {
        SKIP("a sanitizer has no threads after a fork, or its allocator's locks as they were");
        return;
    }
    if (!CHECK(mkdtemp(directory)))
        return;
    snprintf(path, sizeof path, "%s/x.cap", directory);
    options.path = path;
    options.flags |= JSPROF_CHILDREN | flags;
    if (!CHECK_EQ(jsprof_open(&h.prof, &options), 0) ||
        !CHECK_EQ(jsprof_thread_attach(h.prof, "main", &me), 0) ||
        !CHECK_EQ(jsprof_start(h.prof), 0))
        return;
    told = jsprof_path(h.prof, NULL);
    atomic_store_explicit(&over, false, memory_order_relaxed);
    pthread_t other = is_disturbed ? host_thread(disturb, &h) : pthread_self();
    jsprof_push(me, "before the fork", NULL, 0);
    for (int i = 0; i < 12; i++) {
        host_burn_ms(1);
        pid_t child = fork();
        if (child == 0)
            _exit(go_on(h.prof, me, path, i % 4 == 0));
        if (!CHECK_EQ(host_child_status(child), 0))
            break;
    }
    jsprof_pop(me);
    atomic_store_explicit(&over, true, memory_order_relaxed);
    if (is_disturbed)
        pthread_join(other, NULL);
    CHECK_EQ(jsprof_thread_detach(me), 0);
    h.fd = open(path, O_RDONLY | O_CLOEXEC);
    host_finish(&h);
    unlink(path);
    CHECK_EQ(rmdir(directory), 0); /* nothing else was left */
}

TEST_OF(child_that_was_asked_for_goes_on_in_a_file_of_its_own, fork_many(0, false))
TEST_OF(child_goes_on_without_a_thread_where_its_parent_has_none,
        fork_many(JSPROF_NO_THREAD, false))
TEST_OF(child_goes_on_while_other_threads_of_its_parent_were_inside, fork_many(0, true))

static int a_counter(jsprof *prof, const char *name)
{
    return jsprof_counter(prof, "test", name, "", JSPROF_COUNTER_WHOLE);
}

/* In the child: what perf would read, and the counters; the number of the first wrong
 * answer. */
static int knows(jsprof *prof)
{
    char path[64], text[256];
    alarm(30); /* a lock that another thread held at the fork must not be waited for */
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    text[n < 0 ? 0 : n] = 0;
    int counter = a_counter(prof, "second");
    unlink(path);
    unlink(jsprof_path(prof, NULL));
    return n < 0 ? 1 : !strstr(text, " 10 compiled before\n") ? 2 : counter != 2 ? 3 : 0;
}

/* Another thread that uses the code and the counters until the test ends that. */
static atomic_int uses;

static void *use(void *session)
{
    jsprof *p = session;
    pthread_mutex_lock(&p->codes.lock);
    pthread_mutex_lock(&p->marks.lock);
    atomic_store_explicit(&uses, 1, memory_order_release);
    while (atomic_load_explicit(&uses, memory_order_acquire))
        sched_yield();
    pthread_mutex_unlock(&p->marks.lock);
    pthread_mutex_unlock(&p->codes.lock);
    return NULL;
}

static void fork_with_code(bool is_used)
{
    static char space[16];
    char directory[] = "/tmp/jsprof-fork-XXXXXX", path[128];
    jsprof_code code = { .size = sizeof code, .start = space, .length = sizeof space,
                         .name = "compiled before" };
    jsprof_options options = host_options(1000, JSPROF_CLOCK_WALL);
    jsprof *prof;
    if (!CHECK(mkdtemp(directory)))
        return;
    snprintf(path, sizeof path, "%s/x.cap", directory);
    options.path = path;
    options.flags |= JSPROF_CHILDREN | JSPROF_PERF_MAP;
    if (CHECK_EQ(jsprof_open(&prof, &options), 0)) {
        CHECK_EQ(jsprof_code_add(prof, &code), 0);
        CHECK_EQ(a_counter(prof, "first"), 1);
        pthread_t user = is_used ? host_thread(use, prof) : pthread_self();
        while (is_used && !atomic_load_explicit(&uses, memory_order_acquire))
            sched_yield();
        pid_t child = fork();
        if (child == 0)
            _exit(knows(prof));
        CHECK_EQ(host_child_status(child), 0);
        atomic_store_explicit(&uses, 0, memory_order_release);
        if (is_used)
            pthread_join(user, NULL);
        CHECK_EQ(jsprof_close(prof), 0);
    }
    unlink(path);
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    unlink(path);
    CHECK_EQ(rmdir(directory), 0);
}

TEST(child_tells_perf_of_the_code_that_its_parent_registered)
{
    fork_with_code(false);
}

TEST(child_keeps_code_and_counters_that_another_thread_was_using)
{
    if (HOST_SANITIZED)
        SKIP("a sanitizer has no threads after a fork, or its allocator's locks as they were");
    else
        fork_with_code(true);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "unblock") == 0)
        return unblock_after_exec();
    pthread_atfork(look_at_the_mask, NULL, NULL);
    RUN_ALL();
    return DONE();
}
