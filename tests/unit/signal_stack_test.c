/* signal_stack_test.c - where there is little stack: small alternate signal stacks, and
 * coroutines and threads that have used up theirs. Nothing below the end is overwritten, nothing
 * dies, and what could not be sampled is counted in lost_stack.
 *
 * What the kernel saves for a signal depends on the processor, so sizes are counted from what
 * was measured here. Each case is a child of its own: it may die.
 *
 * SPDX-License-Identifier: MIT
 */
#include "signal/host.h"

#include <ucontext.h>

#include "session/signals.h"
#include "sigsafe/left.h"

/* Not every C library has them. */
#pragma weak getcontext
#pragma weak makecontext
#pragma weak swapcontext

enum {
    BELOW = 1 << 16, /* nobody's memory, below a stack */
    LARGE = 1 << 18,
    RED_ZONE = 128,  /* the kernel begins its frame so far below the interrupted one's */
    ALIGN = 64,
    SLACK = 768,     /* what the functions of this file use */
    DEPTH = 60,
    MARK = 0xA5,
    ENOUGH = 2,      /* samples, or losses */
};

/* Of a child, in its exit status. */
enum { FINE = 0, REFUSED = 40, OVERWROTE, KEPT, LOST, CALLED_HOST, NO_STACK,
       BAD_ANSWER };

static struct host h;
static jsprof_thread *me;
static volatile bool over, called; /* of one child each */

static int outcome(int (*body)(size_t), size_t bytes)
{
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        alarm(240);
        test_bad = 0;
        int answer = body(bytes);
        fflush(stdout);
        _exit(answer);
    }
    return host_child_status(child);
}

/* -- A stack with nobody's memory below it ------------------------------------------ */

static char *marked(size_t bytes)
{
    char *at = mmap(NULL, BELOW + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                    -1, 0);
    if (at == MAP_FAILED)
        _exit(NO_STACK);
    memset(at, MARK, BELOW);
    return at + BELOW;
}

static bool is_overwritten(const char *stack)
{
    size_t i = 0;
    const char *from = stack - BELOW;
    while (i < BELOW && from[i] == (char)MARK)
        i++;
    if (i < BELOW)
        printf("# %zu bytes below the end were overwritten\n", BELOW - i);
    return i < BELOW;
}

/* -- A run that is sampled ------------------------------------------------------ */

static void begin(void)
{
    if (host_open_with(&h, host_options(1000, JSPROF_CLOCK_WALL)) < 0)
        _exit(BAD_ANSWER);
}

static int attach_and_start(void)
{
    int err = jsprof_thread_attach(h.prof, "main", &me);
    jsprof_thread_pause(err ? NULL : me);
    return err ? err : jsprof_start(h.prof);
}

static void *ring(void *arg)
{
    while (!over) {
        jsprof_stats stats = { .size = sizeof stats };
        sched_yield();
        jsprof_flush(h.prof);
        jsprof_stats_get(h.prof, &stats);
        over = stats.kept + stats.lost_stack >= ENOUGH;
    }
    return arg;
}

/* Only here samples are taken. It calls nothing else: there may be no room. */
static __attribute__((noinline)) void spin(void)
{
    jsprof_thread_resume(me);
    while (!over)
        ;
    jsprof_thread_pause(me);
}

static pthread_t clock_thread(void)
{
    sigset_t all, mask;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &mask);
    pthread_t thread = host_thread(ring, NULL);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    return thread;
}

static __attribute__((noinline)) void deep(int depth)
{
    jsprof_link link;
    static jsprof_function *f;
    if (!f)
        jsprof_function_new(&f, "deep", "deep.c", 1, JSPROF_KIND_VM);
    jsprof_link_enter(me, &link, f);
    if (depth > 1)
        deep(depth - 1);
    else
        spin();
    jsprof_link_leave(me, &link);
}

/* `stack` is what must not be stepped over. */
static int end(const char *stack, bool keeps)
{
    if (jsprof_stop(h.prof) < 0)
        return BAD_ANSWER;
    host_stats(&h);
    if (is_overwritten(stack))
        return OVERWROTE;
    if (called)
        return CALLED_HOST;
    if (keeps ? h.stats.lost_stack || !h.stats.kept : h.stats.kept || !h.stats.lost_stack)
        return keeps ? LOST : KEPT;
    return jsprof_close(h.prof) == 0 && test_bad == 0 ? FINE : BAD_ANSWER;
}

/* -- Alternate signal stacks -------------------------------------------------------- */

static char *lend(size_t bytes)
{
    char *stack = marked(bytes);
    stack_t alternate = { .ss_sp = stack, .ss_size = bytes };
    return sigaltstack(&alternate, NULL) == 0 ? stack : NULL;
}

/* REFUSED, or what became of it. */
static int run_on_alternate(size_t bytes, bool keeps)
{
    begin();
    char *stack = lend(bytes);
    if (!stack)
        return NO_STACK;
    int err = attach_and_start();
    if (err)
        return err == -EOVERFLOW ? REFUSED : BAD_ANSWER;
    pthread_t thread = clock_thread();
    deep(DEPTH);
    pthread_join(thread, NULL);
    return end(stack, keeps);
}

static int lose_on_alternate(size_t bytes)
{
    return run_on_alternate(bytes, false);
}

static int sample_on_alternate(size_t bytes)
{
    return run_on_alternate(bytes, true);
}

TEST(alternate_stack_of_2048_bytes_is_refused_or_used_and_kills_nobody)
{
    for (size_t bytes = 2048; bytes < jsp_sigframe_measure() + 4096; bytes += 128) {
        int got = outcome(lose_on_alternate, bytes);
        if (got != REFUSED && got != NO_STACK && got != FINE)
            printf("# %zu bytes\n", bytes);
        CHECK(got == REFUSED || got == NO_STACK || got == FINE);
    }
}

TEST(alternate_stack_that_holds_the_kernels_frame_is_sampled_and_the_loss_is_counted)
{
    size_t frame = jsp_sigframe_measure();
    static const size_t more[] = { ALIGN + JSP_STACK_ENTRY, 400, 600, 800, JSP_STACK_COUNT, 1500,
                                   2000, 3000, JSP_STACK_NEED - ALIGN };
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        int got = outcome(lose_on_alternate, frame + more[i]);
        if (got != NO_STACK) /* the kernel itself refuses very small ones */
            CHECK_EQ(got, FINE);
    }
    CHECK_EQ(outcome(sample_on_alternate, frame + ALIGN + JSP_STACK_ENTRY + JSP_STACK_NEED),
             FINE);
}

TEST(alternate_stack_without_room_for_the_kernels_frame_is_refused)
{
    size_t frame = jsp_sigframe_measure();
    int got = outcome(lose_on_alternate, frame - ALIGN);
    if (got == NO_STACK)
        SKIP("the kernel refuses so small a stack itself");
    else
        CHECK_EQ(got, REFUSED);
}

/* The stack comes after the thread was attached. */
static int lend_before_start(size_t bytes)
{
    begin();
    if (jsprof_thread_attach(h.prof, "main", &me) < 0 || !lend(bytes))
        return NO_STACK;
    int err = jsprof_start(h.prof);
    if (err != -EOVERFLOW)
        return BAD_ANSWER;
    sigaltstack(&(stack_t){ .ss_flags = SS_DISABLE }, NULL);
    return jsprof_start(h.prof) == 0 && jsprof_close(h.prof) == 0 ? REFUSED : BAD_ANSWER;
}

TEST(start_refuses_a_stack_that_is_too_small_and_may_be_called_again)
{
    int got = outcome(lend_before_start, jsp_sigframe_measure() - ALIGN);
    if (got == NO_STACK)
        SKIP("the kernel refuses so small a stack itself");
    else
        CHECK_EQ(got, REFUSED);
}

static uint32_t walk(void *host, const void *ucontext, jsprof_frame *out, uint32_t max)
{
    (void)host, (void)ucontext, (void)out, (void)max;
    called = true;
    return 0;
}

static int lose_with_walker(size_t bytes)
{
    begin();
    char *stack = lend(bytes);
    if (!stack || jsprof_thread_attach(h.prof, "main", &me) < 0 ||
        jsprof_thread_set_walker(me, walk, NULL) < 0)
        return BAD_ANSWER;
    jsprof_thread_pause(me);
    if (jsprof_start(h.prof) < 0)
        return BAD_ANSWER;
    pthread_t thread = clock_thread();
    deep(DEPTH);
    pthread_join(thread, NULL);
    return end(stack, false);
}

TEST(callback_of_the_host_is_not_called_where_it_has_less_than_was_promised)
{
    size_t bytes = jsp_sigframe_measure() + JSP_STACK_NEED + JSP_STACK_HOST;
    CHECK_EQ(outcome(lose_with_walker, bytes - ALIGN), FINE);
    CHECK_EQ(outcome(lose_with_walker, bytes + 2 * ALIGN), CALLED_HOST);
}

/* -- Stacks that are nearly used up ------------------------------------------------ */

static struct {
    ucontext_t context, caller;
    jsprof_cstack stack;
    size_t leave;
    void (*run)(void);
} coroutine;

/* Go on with so many bytes of the stack left. */
static __attribute__((noinline)) void use_up(const char *low, size_t leave, void (*run)(void))
{
    const char *here = __builtin_frame_address(0);
    volatile char *used = __builtin_alloca((size_t)(here - low) - leave);
    used[0] = 0;
    run();
    used[0] = 1;
}

static void coroutine_main(void)
{
    use_up(coroutine.stack.low, coroutine.leave, coroutine.run);
    jsprof_stack_switch(me, NULL);
    swapcontext(&coroutine.context, &coroutine.caller);
}

/* Right before the end of its stack. */
static char *run_coroutine(size_t leave, void (*run)(void))
{
    char *stack = marked(LARGE);
    coroutine.stack = (jsprof_cstack){ NULL, stack, stack + LARGE };
    coroutine.leave = leave;
    coroutine.run = run;
    getcontext(&coroutine.context);
    coroutine.context.uc_stack = (stack_t){ .ss_sp = stack, .ss_size = LARGE };
    makecontext(&coroutine.context, coroutine_main, 0);
    jsprof_stack_switch(me, &coroutine.stack);
    swapcontext(&coroutine.caller, &coroutine.context);
    return stack;
}

static int on_coroutine(size_t leave, void (*run)(void), bool is_sampled)
{
    begin();
    if (attach_and_start() < 0)
        return BAD_ANSWER;
    pthread_t thread = clock_thread();
    char *stack = run_coroutine(leave, run);
    pthread_join(thread, NULL);
    return end(stack, is_sampled);
}

static int lose_on_coroutine(size_t leave)
{
    return on_coroutine(leave, spin, false);
}

/* It has switched back, by its words, and is still there. */
static void leave_and_spin(void)
{
    jsprof_stack_switch(me, NULL);
    spin();
}

static int lose_after_switch(size_t leave)
{
    begin();
    if (attach_and_start() < 0)
        return BAD_ANSWER;
    pthread_t thread = clock_thread();
    char *stack = run_coroutine(leave, leave_and_spin);
    pthread_join(thread, NULL);
    return is_overwritten(stack) ? OVERWROTE : FINE;
}

static bool has_coroutines(void)
{
    if (swapcontext && !HOST_SANITIZED)
        return true;
    SKIP("needs swapcontext, and no sanitizer, which would not follow it");
    return false;
}

TEST(coroutine_with_little_stack_left_is_not_stepped_over)
{
    static const size_t more[] = { JSP_STACK_ENTRY, 500, 800, JSP_STACK_COUNT, 1500, 2000, 3000,
                                   JSP_STACK_NEED - SLACK };
    size_t frame = jsp_sigframe_measure() + RED_ZONE + 2 * ALIGN;
    if (!has_coroutines())
        return;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        CHECK_EQ(outcome(lose_on_coroutine, frame + more[i]), FINE);
        CHECK_EQ(outcome(lose_after_switch, frame + SLACK + more[i]), FINE);
    }
}

static int sample_coroutine(size_t leave)
{
    return on_coroutine(leave, spin, true);
}

TEST(coroutine_with_enough_stack_left_is_sampled)
{
    if (has_coroutines())
        CHECK_EQ(outcome(sample_coroutine, jsp_sigframe_measure() + RED_ZONE + SLACK +
                                           JSP_STACK_NEED), FINE);
}

static int answered;

static void ask_backtrace(void)
{
    static jsprof_backtrace_frame frames[64];
    answered = jsprof_backtrace(me, NULL, frames, 64);
}

static int backtrace_on(size_t leave)
{
    begin();
    if (jsprof_thread_attach(h.prof, "main", &me) < 0)
        return BAD_ANSWER;
    char *stack = run_coroutine(leave, ask_backtrace);
    return is_overwritten(stack) ? OVERWROTE : answered == -EOVERFLOW ? REFUSED : FINE;
}

TEST(backtrace_on_a_stack_that_is_used_up_is_refused)
{
    if (!has_coroutines())
        return;
    CHECK_EQ(outcome(backtrace_on, 1024), REFUSED);
    CHECK_EQ(outcome(backtrace_on, JSP_STACK_NEED), REFUSED);
    CHECK_EQ(outcome(backtrace_on, 2 * JSP_STACK_NEED), FINE);
}

static size_t thread_leave;
static char *thread_stack;

static void *thread_main(void *arg)
{
    if (attach_and_start() < 0)
        _exit(BAD_ANSWER);
    pthread_t thread = clock_thread();
    use_up(thread_stack, thread_leave, spin);
    pthread_join(thread, NULL);
    return arg;
}

static int lose_on_thread(size_t leave)
{
    pthread_attr_t attr;
    pthread_t thread;
    begin();
    thread_stack = marked(LARGE);
    thread_leave = leave;
    pthread_attr_init(&attr);
    pthread_attr_setstack(&attr, thread_stack, LARGE);
    if (pthread_create(&thread, &attr, thread_main, NULL) != 0)
        return BAD_ANSWER;
    pthread_join(thread, NULL);
    return end(thread_stack, false);
}

TEST(thread_with_little_stack_left_is_not_stepped_over)
{
    size_t frame = jsp_sigframe_measure() + RED_ZONE + 2 * ALIGN;
    if (HOST_SANITIZED) {
        SKIP("a sanitizer's own stack frames are larger");
        return;
    }
    CHECK_EQ(outcome(lose_on_thread, frame + JSP_STACK_ENTRY), FINE);
    CHECK_EQ(outcome(lose_on_thread, frame + JSP_STACK_COUNT), FINE);
    CHECK_EQ(outcome(lose_on_thread, frame + 3000), FINE);
}

int main(void)
{
    if (HOST_SANITIZED) {
        puts("1..0 # SKIP a sanitizer's own stack frames are larger");
        return 0;
    }
    printf("# the kernel's frame takes %zu bytes here\n", jsp_sigframe_measure());
    RUN_ALL();
    return DONE();
}
