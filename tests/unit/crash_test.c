/* crash_test.c - the report of a process that dies of a fault: of all its threads, in all the
 * places where a fault may come.
 *
 * SPDX-License-Identifier: MIT
 */
#include "signal/host.h"

#include <fcntl.h>
#include <sys/resource.h>

enum { N_THREADS = 50, PAGE = 4096, TEXT = 1 << 20, SMALL_STACK = 1 << 18 };

static char *text; /* what the child wrote */
static int text_fd;
static jsprof *session;
static jsprof_thread *me;
static uint32_t flags;

/* Run the body in a child, which reports to the file. Return how it ended. */
static int child_of(int (*body)(void))
{
    static const struct rlimit none = { 0, 0 };
    text_fd = memfd_create("text", MFD_CLOEXEC);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &none);
        _exit(body());
    }
    int status = host_child_status(child);
    free(text);
    text = calloc(1, TEXT);
    CHECK(pread(text_fd, text, TEXT - 1, 0) >= 0);
    close(text_fd);
    return status;
}

static bool is_ready(void)
{
    jsprof_options options = host_options(1000, JSPROF_CLOCK_WALL);
    options.flags |= JSPROF_USE_FD;
    options.fd = memfd_create("capture", MFD_CLOEXEC);
    return jsprof_open(&session, &options) == 0 &&
           jsprof_crash_report(text_fd, flags) == 0 &&
           jsprof_thread_attach(session, "main", &me) == 0 && jsprof_start(session) == 0;
}

static void fault(void)
{
    *(volatile char *)PAGE = 1;
}

static int fault_in_a_function(void)
{
    if (!is_ready())
        return 1;
    jsprof_push(me, "outer", NULL, 3);
    jsprof_push(me, "inner", NULL, 4);
    fault();
    return 2;
}

static uint32_t n_of(const char *what)
{
    uint32_t n = 0;
    for (const char *at = text; (at = strstr(at, what)); at++)
        n++;
    return n;
}

TEST(fault_is_reported_with_its_stack_and_kills)
{
    CHECK_EQ(child_of(fault_in_a_function), 128 + SIGSEGV);
    CHECK_EQ(strncmp(text, "signal 11 at 0x1000 in process ", 31), 0);
    CHECK(strstr(text, "\nthread "));
    CHECK(strstr(text, "#0 "));
    CHECK(strstr(text, "inner:4\n") && strstr(text, "outer:3\n"));
    CHECK_EQ(n_of("thread "), 1);
}

TEST(report_as_json_has_a_line_for_the_signal_and_one_for_each_thread)
{
    flags = JSPROF_CRASH_JSON;
    CHECK_EQ(child_of(fault_in_a_function), 128 + SIGSEGV);
    flags = 0;
    CHECK_EQ(strncmp(text, "{\"signal\":11,\"address\":\"0x1000\",\"process\":", 42), 0);
    CHECK(strstr(text, "}\n{\"thread\":"));
    CHECK(strstr(text, "\"name\":\"inner\",\"line\":4}"));
    CHECK_EQ(n_of("\n"), 2);
}

static int abort_in_a_function(void)
{
    if (!is_ready())
        return 1;
    jsprof_push(me, "last", NULL, 0);
    abort();
}

TEST(abort_is_reported_and_kills)
{
    CHECK_EQ(child_of(abort_in_a_function), 128 + SIGABRT);
    CHECK_EQ(strncmp(text, "signal 6 in process ", 20), 0);
    CHECK(strstr(text, "last\n"));
}

/* The allocator finds its own data spoilt, and aborts while it works on them. */
static int abort_in_the_allocator(void)
{
    if (!is_ready())
        return 1;
    jsprof_push(me, "allocates", NULL, 0);
    for (size_t bytes = 24; bytes < 4096; bytes += 32) {
        volatile unsigned char *volatile block = malloc(bytes);
        for (int i = -16; i < 0; i++)
            block[i] = 0xff;
        free((void *)block);
    }
    return 2;
}

TEST(abort_in_the_allocator_is_reported_and_kills)
{
    if (HOST_SANITIZED) /* it has an allocator of its own */
        return;
    int status = child_of(abort_in_the_allocator);
    CHECK(status == 128 + SIGABRT || status == 128 + SIGSEGV); /* musl faults */
    CHECK_EQ(n_of("signal "), 1);
    CHECK(strstr(text, "allocates\n"));
}

/* -- Other threads -------------------------------------------------------------- */

static _Atomic int n_waiting;
static bool is_deaf;

/* Attach, with a frame whose name, kept by the caller, has the next number. */
static bool attach_as_next(char name[16])
{
    jsprof_thread *own;
    if (jsprof_thread_attach(session, "other", &own) < 0)
        return false;
    snprintf(name, 16, "waits%d", atomic_fetch_add(&n_waiting, 1));
    jsprof_push(own, name, NULL, 0);
    return true;
}

static void *wait_for_ever(void *arg)
{
    char name[16];
    (void)arg;
    if (!attach_as_next(name))
        return NULL;
    if (is_deaf) {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, NULL);
        atomic_fetch_add(&n_waiting, N_THREADS);
    }
    for (;;)
        pause();
}

static int fault_among(int n)
{
    if (!is_ready())
        return 1;
    for (int i = 0; i < n; i++)
        host_thread(wait_for_ever, NULL);
    while (atomic_load(&n_waiting) < (is_deaf ? n + N_THREADS : n))
        sched_yield();
    fault();
    return 2;
}

static int fault_among_many(void)
{
    return fault_among(N_THREADS);
}

TEST(all_attached_threads_are_in_the_report)
{
    CHECK_EQ(child_of(fault_among_many), 128 + SIGSEGV);
    CHECK_EQ(n_of("\nthread "), N_THREADS + 1);
    for (int i = 0; i < N_THREADS; i++) {
        char name[24];
        snprintf(name, sizeof name, " waits%d\n", i);
        CHECK_EQ(n_of(name), 1);
    }
    CHECK_EQ(n_of("no answer"), 0);
}

static int fault_among_deaf(void)
{
    is_deaf = true;
    return fault_among(1);
}

TEST(thread_that_blocks_signals_is_named_and_not_waited_for)
{
    CHECK_EQ(child_of(fault_among_deaf), 128 + SIGSEGV);
    CHECK_EQ(n_of("\nthread "), 2);
    CHECK_EQ(n_of("no answer: it blocks the signal"), 1);
}

static pthread_barrier_t all_are_there;

static void *fault_with_others(void *arg)
{
    char name[16];
    (void)arg;
    if (!attach_as_next(name))
        return NULL;
    pthread_barrier_wait(&all_are_there);
    fault();
    return NULL;
}

static int fault_at_once(void)
{
    if (!is_ready())
        return 1;
    pthread_barrier_init(&all_are_there, NULL, N_THREADS);
    for (int i = 0; i < N_THREADS; i++)
        host_thread(fault_with_others, NULL);
    for (;;)
        pause();
}

/* A thread that comes later still may begin a report of its own. */
TEST(faults_of_other_threads_do_not_end_the_report)
{
    CHECK_EQ(child_of(fault_at_once), 128 + SIGSEGV);
    for (int i = 0; i < N_THREADS; i++) {
        char name[24];
        snprintf(name, sizeof name, " waits%d\n", i);
        CHECK(n_of(name) >= 1);
    }
    CHECK(n_of("\nthread ") >= N_THREADS + 1);
    CHECK_EQ(n_of("no answer"), 0);
}

static void *fault_here(void *arg)
{
    fault();
    return arg;
}

static int fault_in_a_child(void)
{
    if (!is_ready())
        return 1;
    host_thread(wait_for_ever, NULL);
    while (!atomic_load(&n_waiting))
        sched_yield();
    jsprof_push(me, "the fork's", NULL, 0);
    pid_t child = fork();
    if (child == 0)
        pthread_join(host_thread(fault_here, NULL), NULL);
    return host_child_status(child);
}

TEST(child_reports_the_threads_that_it_has)
{
    if (getenv("RUN_UNDER")) {
        SKIP("no emulator has threads after a fork");
        return;
    }
    CHECK_EQ(child_of(fault_in_a_child), 128 + SIGSEGV);
    CHECK_EQ(n_of("waits0"), 0);
    CHECK_EQ(n_of("not attached"), 1);
    CHECK_EQ(n_of("the fork's\n"), 1);
}

static void *leave_without_detach(void *arg)
{
    jsprof_thread *own;
    (void)arg;
    jsprof_thread_attach(session, "short", &own);
    return NULL;
}

static int fault_after_many_threads(void)
{
    if (!is_ready())
        return 1;
    for (int i = 0; i < 2000; i++)
        pthread_join(host_thread(leave_without_detach, NULL), NULL);
    fault();
    return 2;
}

TEST(threads_that_ended_give_their_places_back)
{
    CHECK_EQ(child_of(fault_after_many_threads), 128 + SIGSEGV);
    CHECK(strstr(text, ", threads that are not shown: 0\n"));
    CHECK_EQ(n_of("\nthread "), 1);
}

/* -- Hard places ------------------------------------------------------------------ */

static volatile int deepest = 1 << 30;

static int deeper(int n)
{
    volatile char room[1000];
    room[n % 1000] = (char)n;
    return n < deepest ? deeper(n + 1) + room[n % 1000] : 0;
}

static void *use_up_the_stack(void *arg)
{
    jsprof_thread *own;
    (void)arg;
    if (jsprof_thread_attach(session, "deep", &own) == 0) {
        jsprof_push(own, "endless", NULL, 0);
        deeper(0);
    }
    return NULL;
}

static int fault_by_recursion(void)
{
    pthread_attr_t attr;
    pthread_t thread;
    if (!is_ready())
        return 1;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, SMALL_STACK);
    pthread_create(&thread, &attr, use_up_the_stack, NULL);
    pthread_join(thread, NULL);
    return 2;
}

TEST(stack_that_is_used_up_is_reported)
{
    CHECK_EQ(child_of(fault_by_recursion), 128 + SIGSEGV);
    CHECK(strstr(text, "endless\n"));
    CHECK_EQ(n_of("\nthread "), 2);
}

static int decode_by_fault_sigsafe(void *host, const void *entry, jsprof_frame *out)
{
    (void)host, (void)entry, (void)out;
    fault();
    return 1;
}

static int fault_in_the_handler(void)
{
    static const uint32_t depth = 1;
    static const char entry[8], *entries = entry;
    jsprof_stack stack = { .size = sizeof stack, .depth = &depth, .depth_bytes = 4,
                           .entries = &entries, .stride = sizeof entry, .limit = 1,
                           .decode_sigsafe = decode_by_fault_sigsafe };
    if (!is_ready() || jsprof_thread_set_stack(me, &stack) < 0)
        return 1;
    for (;;)
        sched_yield();
}

/* The walk of the report calls the same callback, whose fault kills at once. */
TEST(fault_in_a_callback_of_the_handler_is_reported_and_kills)
{
    CHECK_EQ(child_of(fault_in_the_handler), 128 + SIGSEGV);
    CHECK_EQ(strncmp(text, "signal 11 at 0x1000 in process ", 31), 0);
}

static int fault_to_a_full_disk(void)
{
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (!is_ready() || jsprof_crash_report(full, 0) < 0)
        return 1;
    fault();
    return 2;
}

TEST(full_disk_does_not_keep_the_process_alive)
{
    CHECK_EQ(child_of(fault_to_a_full_disk), 128 + SIGSEGV);
}

/* -- Old actions -------------------------------------------------------------------- */

static char *guarded;

static void open_guard(int signo, siginfo_t *info, void *ucontext)
{
    (void)signo, (void)info, (void)ucontext;
    mprotect(guarded, PAGE, PROT_READ | PROT_WRITE);
}

static int fault_with_handler(void)
{
    struct sigaction action = { .sa_sigaction = open_guard, .sa_flags = SA_SIGINFO };
    guarded = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGSEGV, &action, NULL);
    if (!is_ready())
        return 1;
    *(volatile char *)guarded = 1;
    mprotect(guarded, PAGE, PROT_NONE);
    *(volatile char *)guarded = 1;
    return 42;
}

TEST(handler_of_the_host_follows_the_report_and_may_go_on)
{
    CHECK_EQ(child_of(fault_with_handler), 42);
    CHECK_EQ(n_of("signal 11 at "), 2);
}

static struct sigaction found;

static void call_what_was_found(int signo, siginfo_t *info, void *ucontext)
{
    CHECK(write(text_fd, "the host's\n", 11) == 11);
    found.sa_sigaction(signo, info, ucontext);
}

static int fault_with_a_handler_on_top(void)
{
    struct sigaction action = { .sa_sigaction = call_what_was_found, .sa_flags = SA_SIGINFO };
    if (!is_ready() || sigaction(SIGSEGV, &action, &found) < 0 ||
        jsprof_crash_report(text_fd, 0) < 0)
        return 1;
    fault();
    return 2;
}

/* The second call of jsprof_crash_report puts our handler on top of the host's. */
TEST(handler_of_the_host_that_calls_ours_is_called_once)
{
    CHECK_EQ(child_of(fault_with_a_handler_on_top), 128 + SIGSEGV);
    CHECK_EQ(n_of("signal 11 at "), 1);
    CHECK_EQ(n_of("the host's\n"), 1);
}

static int signal_from_outside(void)
{
    if (!is_ready())
        return 1;
    kill(getpid(), SIGBUS);
    for (;;) /* one of our threads may take it */
        pause();
}

TEST(signal_that_somebody_sent_kills_too)
{
    CHECK_EQ(child_of(signal_from_outside), 128 + SIGBUS);
    CHECK_EQ(strncmp(text, "signal 7 in process ", 20), 0);
}

static int fault_after_the_end(void)
{
    if (!is_ready() || jsprof_crash_report(-1, 0) < 0)
        return 1;
    fault();
    return 2;
}

TEST(ended_reports_leave_the_old_actions)
{
    CHECK_EQ(child_of(fault_after_the_end), 128 + SIGSEGV);
    CHECK_STR(text, "");
}

TEST(bad_arguments_are_refused)
{
    CHECK_EQ(jsprof_crash_report(-2, 0), -EINVAL);
    CHECK_EQ(jsprof_crash_report(1, 2), -EINVAL);
    CHECK_EQ(jsprof_crash_report(987, 0), -EBADF);
}

int main(void)
{
    if (HOST_SANITIZED) {
        printf("1..0 # SKIP a sanitizer reports faults itself\n");
        return 0;
    }
    RUN(fault_is_reported_with_its_stack_and_kills);
    RUN(report_as_json_has_a_line_for_the_signal_and_one_for_each_thread);
    RUN(abort_is_reported_and_kills);
    RUN(abort_in_the_allocator_is_reported_and_kills);
    RUN(all_attached_threads_are_in_the_report);
    RUN(faults_of_other_threads_do_not_end_the_report);
    RUN(thread_that_blocks_signals_is_named_and_not_waited_for);
    RUN(child_reports_the_threads_that_it_has);
    RUN(threads_that_ended_give_their_places_back);
    RUN(stack_that_is_used_up_is_reported);
    RUN(fault_in_a_callback_of_the_handler_is_reported_and_kills);
    RUN(full_disk_does_not_keep_the_process_alive);
    RUN(handler_of_the_host_follows_the_report_and_may_go_on);
    RUN(handler_of_the_host_that_calls_ours_is_called_once);
    RUN(signal_that_somebody_sent_kills_too);
    RUN(ended_reports_leave_the_old_actions);
    RUN(bad_arguments_are_refused);
    free(text);
    return DONE();
}
