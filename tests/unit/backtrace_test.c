/* backtrace_test.c - a stack on demand: in plain code, in crash handlers, in the midst of
 * a push, and where there is none to be had.
 *
 * SPDX-License-Identifier: MIT
 */
#include "signal/stack.h"

#include <fcntl.h>

enum { MOST = 128, STORM = 20 };

STACK_DECLARE(program);
STACK_DECLARE(run_vm);
STACK_DECLARE(step);
STACK_DECLARE(crash);
STACK_DECLARE(on_fault);
static const struct stack_known known[] = {
    STACK_KNOWN(program), STACK_KNOWN(run_vm), STACK_KNOWN(step), STACK_KNOWN(crash),
    STACK_KNOWN(on_fault),
};

static struct host h;
static jsprof_thread *me;
static jsprof_function *function;
static jsprof_backtrace_frame frames[MOST];

/* What to do at the innermost place. */
static void (*volatile act)(void);

static void run_vm(int level);

static STACK_PLACED(step) void step(int level)
{
    jsprof_push(me, level ? "outer" : "inner", NULL, (uint32_t)level);
    if (level)
        run_vm(level - 1);
    else
        act();
    jsprof_pop(me);
}

static STACK_PLACED(run_vm) void run_vm(int level)
{
    jsprof_link link;
    jsprof_link_enter(me, &link, function);
    link.line = 10;
    step(level);
    jsprof_link_leave(me, &link);
}

static STACK_PLACED(program) void program(void)
{
    run_vm(1);
    __asm__ volatile("" ::: "memory");
}

/* Return "inner < f < run_vm < ..." for `n` frames, without unknown ones. */
static const char *text_of(const jsprof_backtrace_frame *of, int n)
{
    static char text[1024];
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < n; i++) {
        const char *name = of[i].name;
        for (size_t k = 0; !name && k < sizeof known / sizeof *known; k++)
            if (of[i].pc - (i != 0) - (uintptr_t)known[k].start <
                (uintptr_t)known[k].end - (uintptr_t)known[k].start)
                name = known[k].name;
        if (name)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                                     used ? " < " : "", name);
    }
    return text;
}

static const char chain[] = "inner < step < f < run_vm < outer < step < f < run_vm < "
                            "program";

static bool begin_at(uint32_t hz, uint32_t flags)
{
    jsprof_options options = host_options(hz, JSPROF_CLOCK_WALL);
    options.flags = flags;
    return CHECK_EQ(host_open_with(&h, options), 0) &&
           CHECK_EQ(jsprof_thread_attach(h.prof, "main", &me), 0);
}

static void finish(void)
{
    host_finish(&h);
    CHECK_EQ(jsprof_thread_detach(me), 0);
}

static int n_taken;

static void take(void)
{
    errno = 77;
    n_taken = jsprof_backtrace(me, NULL, frames, MOST);
    CHECK_EQ(errno, 77);
}

TEST(plain_code_sees_its_own_callers_and_not_the_profiler)
{
    if (!begin_at(1, 0))
        return;
    act = take;
    program();
    CHECK(n_taken > 7 && n_taken < MOST);
    CHECK_STR(text_of(frames, n_taken), chain);
    CHECK_EQ(frames[0].kind, JSPROF_KIND_NATIVE);
    CHECK(frames[0].pc - (uintptr_t)take < 512); /* not in jsprof_backtrace */
    CHECK_EQ(frames[1].kind, JSPROF_KIND_VM);
    CHECK_EQ(frames[1].pc, 0);
    CHECK_EQ(frames[3].line, 10);
    finish();
}

static void take_two(void)
{
    frames[2].pc = 12345;
    n_taken = jsprof_backtrace(me, NULL, frames, 2);
}

TEST(short_buffer_gets_the_innermost_frames)
{
    if (!begin_at(1, 0))
        return;
    act = take_two;
    program();
    CHECK_EQ(n_taken, 2);
    CHECK_STR(text_of(frames, n_taken), "inner");
    CHECK_EQ(frames[2].pc, 12345);
    CHECK_EQ(jsprof_backtrace(me, NULL, frames, 0), 0);
    finish();
}

TEST(session_without_native_frames_sees_the_vm)
{
    if (!begin_at(1, JSPROF_NO_NATIVE))
        return;
    act = take;
    program();
    CHECK_EQ(n_taken, 4);
    CHECK_STR(text_of(frames, n_taken), "inner < f < outer < f");
    finish();
}

static void take_paused(void)
{
    jsprof_frame *array = me->frames;
    jsprof_thread_pause(me);
    me->frames = NULL; /* the host is changing it: who reads it now would crash */
    take();
    me->frames = array;
    jsprof_thread_resume(me);
}

TEST(paused_thread_sees_native_frames_only)
{
    if (!begin_at(1, 0))
        return;
    act = take_paused;
    program();
    CHECK_STR(text_of(frames, n_taken), "step < run_vm < step < run_vm < program");
    finish();
}

/* -- Crash handlers --------------------------------------------------------------- */

static volatile char *page; /* without access until the handler has looked */
static bool is_told;        /* does the handler pass its ucontext on? */
static char crashed[256];   /* what it saw; names live as long as the session */

static STACK_PLACED(crash) void crash(void)
{
    *page = 1;
    __asm__ volatile("" ::: "memory");
}

static STACK_PLACED(on_fault) void on_fault(int sig, siginfo_t *info, void *ucontext)
{
    (void)sig, (void)info;
    if (!is_told)
        jsprof_push(me, "report", NULL, 0); /* its own, on its own stack */
    n_taken = jsprof_backtrace(me, is_told ? ucontext : NULL, frames, MOST);
    if (!is_told)
        jsprof_pop(me);
    mprotect((void *)(uintptr_t)page, 4096, PROT_READ | PROT_WRITE);
}

static void *crash_on(void *alternate)
{
    struct sigaction on = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    struct sigaction before;
    stack_t stack = { .ss_sp = alternate, .ss_size = 1 << 16 }, old;
    sigaltstack(&stack, &old);
    sigaction(SIGSEGV, &on, &before);
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (begin_at(HOST_LATE ? 100 : 10000, 0)) {
        CHECK_EQ(jsprof_start(h.prof), 0);
        act = crash;
        n_taken = 0;
        program();
        snprintf(crashed, sizeof crashed, "%s", text_of(frames, n_taken));
        finish();
    }
    sigaction(SIGSEGV, &before, NULL);
    sigaltstack(&old, NULL);
    munmap((void *)(uintptr_t)page, 4096);
    return NULL;
}

static char alternate[1 << 16];

TEST(crash_handler_sees_what_crashed)
{
    is_told = true;
    crash_on(alternate);
    char want[256];
    snprintf(want, sizeof want, "crash < %s", chain);
    CHECK_STR(crashed, want);
}

/* Its stack is below the one that crashed, and above it. */
TEST(crash_handler_that_passes_nothing_on_sees_itself_inside_of_what_crashed)
{
    char want[256];
    snprintf(want, sizeof want, "report < on_fault < crash < %s", chain);
    is_told = false;
    crash_on(alternate);
    CHECK_STR(crashed, want);
    stack_run_beside(crash_on, true);
    CHECK_STR(crashed, want);
    stack_run_beside(crash_on, false);
    CHECK_STR(crashed, want);
}

/* -- Interrupted at any instruction ------------------------------------------------ */

static uint64_t n_whole, n_wrong, n_busy;

/* The chain from any point on: what is innermost may not be entered yet. */
static void on_tick(int sig, siginfo_t *info, void *ucontext)
{
    static jsprof_backtrace_frame ours[MOST];
    (void)sig, (void)info;
    int n = jsprof_backtrace(me, ucontext, ours, MOST);
    if (n == -EBUSY) {
        n_busy++;
        return;
    }
    const char *text = n > 0 ? text_of(ours, n) : "?";
    size_t there = strlen(text), all = strlen(chain);
    bool is_end = there <= all && strcmp(chain + all - there, text) == 0;
    n_wrong += !is_end;
    n_whole += is_end && there > 30;
}

static void nothing(void)
{
    __asm__ volatile("" ::: "memory");
}

TEST(host_signal_in_the_midst_of_a_push_sees_a_whole_stack)
{
    struct sigaction on = { .sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART };
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2 };
    struct itimerspec often = { { 0, 70000 }, { 0, 70000 } };
    timer_t timer;
    if (HOST_SANITIZED) {
        SKIP("a sanitizer delays signals or slows them down");
        return;
    }
    if (!begin_at(10000, 0))
        return;
    act = nothing;
    sigaction(SIGUSR2, &on, NULL);
    CHECK_EQ(jsprof_start(h.prof), 0);
    CHECK_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    timer_settime(timer, 0, &often, NULL);
    while (n_whole <= STORM || host_taken(&h) < STORM)
        for (int i = 0; i < 1000; i++)
            program();
    timer_delete(timer);
    signal(SIGUSR2, SIG_IGN);
    printf("# %llu taken deep inside, %llu during a sample\n", (unsigned long long)n_whole,
           (unsigned long long)n_busy);
    CHECK_EQ(n_wrong, 0);
    finish();
}

/* -- Where there is none ------------------------------------------------------------ */

static void *from_elsewhere(void *arg)
{
    *(int *)arg = jsprof_backtrace(me, NULL, frames, MOST);
    return NULL;
}

TEST(backtrace_of_a_thread_that_is_not_ours_is_refused)
{
    int other = 0;
    if (!begin_at(1, 0))
        return;
    pthread_join(host_thread(from_elsewhere, &other), NULL);
    CHECK_EQ(other, -EPERM);
    CHECK_EQ(jsprof_backtrace(NULL, NULL, frames, MOST), -EINVAL);
    CHECK_EQ(jsprof_backtrace(me, NULL, NULL, MOST), -EINVAL);
    CHECK_EQ(jsprof_backtrace_print(NULL, NULL, 1), -EINVAL);
    jsprof_thread *was = me;
    CHECK_EQ(jsprof_thread_detach(me), 0);
    CHECK_EQ(jsprof_backtrace(was, NULL, frames, MOST), -EPERM);
    host_finish(&h);
}

TEST(backtrace_after_close_is_refused)
{
    if (!begin_at(1, 0))
        return;
    host_finish(&h);
    CHECK_EQ(jsprof_backtrace(me, NULL, frames, MOST), -EINVAL);
    CHECK_EQ(jsprof_backtrace_print(me, NULL, 1), -EINVAL);
    CHECK_EQ(jsprof_thread_detach(me), 0);
}

TEST(backtrace_in_the_child_of_a_fork_is_refused)
{
    if (!begin_at(1, 0))
        return;
    pid_t child = fork();
    if (child == 0)
        _exit(jsprof_backtrace(me, NULL, frames, MOST) == -ECHILD ? 5 : 6);
    CHECK_EQ(host_child_status(child), 5);
    finish();
}

/* -- As text -------------------------------------------------------------------------- */

static int text_fd, print_result;

static void print(void)
{
    print_result = jsprof_backtrace_print(me, NULL, text_fd);
}

/* Its names, "a b c", and how many lines are addresses; -1: a line that is neither. */
static int parse(char *text, char *names, size_t size)
{
    size_t used = 0;
    int n = 0, n_addresses = 0;
    for (char *line = text, *end; *line; line = end + 1, n++) {
        char head[8];
        int length = snprintf(head, sizeof head, "#%d ", n);
        end = strchr(line, '\n');
        if (!end || strncmp(line, head, (size_t)length) != 0)
            return -1;
        *end = 0;
        line += length;
        bool is_address = strncmp(line, "0x", 2) == 0 && line[2] &&
                          strspn(line + 2, "0123456789abcdef") == strlen(line + 2);
        n_addresses += is_address;
        if (!is_address)
            used += (size_t)snprintf(names + used, size - used, "%s%s", used ? " " : "", line);
    }
    return n_addresses;
}

TEST(printed_backtrace_has_a_numbered_line_for_each_frame)
{
    char text[4096], names[256] = "";
    if (!begin_at(1, 0))
        return;
    text_fd = memfd_create("text", MFD_CLOEXEC);
    act = print;
    program();
    CHECK_EQ(print_result, 0);
    ssize_t size = pread(text_fd, text, sizeof text - 1, 0);
    text[size < 0 ? 0 : size] = 0;
    CHECK(parse(text, names, sizeof names) >= 7);
    CHECK_STR(names, "inner f:10 outer:1 f:10");
    close(text_fd);
    text_fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    program();
    CHECK_EQ(print_result, -ENOSPC);
    close(text_fd);
    finish();
}

static void print_json(void)
{
    print_result = jsprof_backtrace_json(me, NULL, text_fd);
}

static void print_odd_json(void)
{
    jsprof_push(me, "a \"b\\\n\xff \xe2\x82\xac", NULL, 7);
    print_json();
    jsprof_pop(me);
}

static const char *json_of(void (*place)(void))
{
    static char text[8192];
    text_fd = memfd_create("text", MFD_CLOEXEC);
    act = place;
    print_result = -1;
    program();
    CHECK_EQ(print_result, 0);
    ssize_t size = pread(text_fd, text, sizeof text - 1, 0);
    text[size < 0 ? 0 : size] = 0;
    close(text_fd);
    return text;
}

TEST(backtrace_as_json_is_one_line_with_an_object_for_each_frame)
{
    static const char odd[] = "\"name\":\"a \\u0022b\\u005c\\u000a\\ufffd \xe2\x82\xac\","
                              "\"line\":7}";
    char head[64];
    if (!begin_at(1, 0))
        return;
    const char *text = json_of(print_json);
    int n = snprintf(head, sizeof head,
                     "{\"thread\":%d,\"frames\":[{\"kind\":\"native\",\"pc\":", (int)getpid());
    CHECK_EQ(strncmp(text, head, (size_t)n), 0);
    CHECK(strstr(text, "},{\"kind\":\"vm\",\"name\":\"f\",\"line\":10},{\"kind\":\"native\","));
    CHECK(strstr(text, ",{\"kind\":\"vm\",\"name\":\"inner\"}"));
    CHECK_STR(text + strlen(text) - 4, "}]}\n");
    CHECK_EQ(strchr(text, '\n') - text, (long)strlen(text) - 1);
    CHECK(strstr(json_of(print_odd_json), odd));
    text_fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    act = print_json;
    program();
    CHECK_EQ(print_result, -ENOSPC);
    close(text_fd);
    finish();
    CHECK_EQ(jsprof_backtrace_json(NULL, NULL, 1), -EINVAL);
}

int main(void)
{
    jsprof_function_new(&function, "f", NULL, 0, JSPROF_KIND_VM);
    RUN_ALL();
    jsprof_function_free(function);
    return DONE();
}
