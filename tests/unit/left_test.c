/* left_test.c - what every public call leaves as it was: errno, whether the thread can be
 * cancelled, and whether a signal handler may call functions.
 *
 * SPDX-License-Identifier: MIT
 */
#include "signal/host.h"

#include <ucontext.h>

enum { ERRNO = 4711, CODE = 4096 };

/* An instruction of the program's own that raises SIGTRAP, and after which it goes on. */
#if defined(__x86_64__) || defined(__i386__)
#define LEFT_TRAP() __asm__ volatile("int3")
#else
#define LEFT_TRAP() raise(SIGTRAP)
#endif

static struct host h;
static jsprof_thread *me;
static jsprof_function *f;
static char *code;
static int counter;
static ucontext_t own_code; /* a signal that came while the program's own code ran */
static volatile bool is_own, is_known;

static void keep(int signo, siginfo_t *info, void *ucontext)
{
    (void)signo, (void)info;
    if (is_own && !is_known) {
        memcpy(&own_code, ucontext, sizeof own_code);
        is_known = true;
    }
}

static void find_own_code(void)
{
    struct sigaction step = { .sa_sigaction = keep, .sa_flags = SA_SIGINFO }, before;
    sigaction(SIGTRAP, &step, &before);
    is_own = true;
    LEFT_TRAP();
    is_own = false;
    sigaction(SIGTRAP, &before, NULL);
    CHECK(is_known);
}

/* Call it, whatever it answers. */
#define LEAVES(call) \
    do { \
        int before, after; \
        bool could = jsprof_callable(&own_code); \
        pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before); \
        errno = ERRNO; \
        (void)(call); \
        int left = errno; \
        pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &after); \
        bool can = jsprof_callable(&own_code) || !could; /* not before the first open */ \
        if (left != ERRNO || after != PTHREAD_CANCEL_ENABLE || !can) \
            printf("# after %s\n", #call); \
        CHECK_EQ(left, ERRNO); \
        CHECK_EQ(after, PTHREAD_CANCEL_ENABLE); \
        CHECK(can); \
    } while (0)

static void call_about_threads(void)
{
    static char stack[4096];
    static jsprof_cstack coroutine = { .low = stack, .high = stack + sizeof stack };
    jsprof_thread *other;
    LEAVES(jsprof_thread_attach(h.prof, "again", &other));
    LEAVES(jsprof_thread_pause(me));
    LEAVES(jsprof_thread_resume(me));
    LEAVES(jsprof_stack_switch(me, &coroutine));
    LEAVES(jsprof_stack_switch(me, NULL));
    LEAVES(jsprof_stack_forget(me, &coroutine));
    LEAVES(jsprof_thread_set_stack(me, NULL));
    LEAVES(jsprof_thread_set_walker(me, NULL, NULL));
}

static void call_about_code(void)
{
    jsprof_code one = { .size = sizeof one, .start = code, .length = 64, .name = "one" };
    jsprof_listing_row row = { .pc = 1, .text = "text" };
    jsprof_listing listing = { .size = sizeof listing, .function = f, .rows = &row, .n_rows = 1 };
    LEAVES(jsprof_code_add(h.prof, &one));
    LEAVES(jsprof_code_move(h.prof, code, code + 128));
    LEAVES(jsprof_code_remove(h.prof, code + 128));
    LEAVES(jsprof_code_remove(h.prof, code)); /* is not there any more */
    LEAVES(jsprof_interpreter_add(h.prof, code, 64));
    LEAVES(jsprof_interpreter_hide(h.prof, code, 64));
    LEAVES(jsprof_symbol_add(h.prof, code, "one"));
    LEAVES(jsprof_listing_add(h.prof, &listing));
}

static void call_about_marks(void)
{
    LEAVES(counter = jsprof_counter(h.prof, "group", "name", NULL, JSPROF_COUNTER_WHOLE));
    LEAVES(jsprof_counter(h.prof, "group", "real", NULL, JSPROF_COUNTER_REAL));
    LEAVES(jsprof_counter_set(h.prof, counter, 7));
    LEAVES(jsprof_counter_set_real(h.prof, counter, 7.5));
    LEAVES(jsprof_counter_set(h.prof, 4711, 7)); /* there is none */
    LEAVES(jsprof_mark(h.prof, jsprof_now(), "group", "name", "message"));
}

static void call_about_calls(void)
{
    jsprof_calls calls = { .size = sizeof calls };
    LEAVES(jsprof_calls_snapshot(h.prof, &calls)); /* nothing was counted */
    LEAVES(jsprof_calls_set(h.prof, JSPROF_CALLS_ALL));
    LEAVES(jsprof_enter(me, f));
    LEAVES(jsprof_alloc(me, 10));
    LEAVES(jsprof_leave(me));
    LEAVES(jsprof_calls_snapshot(h.prof, &calls));
    LEAVES(jsprof_calls_free(&calls));
    LEAVES(jsprof_calls_set(h.prof, 0));
    LEAVES(jsprof_vm_set(h.prof, "a test"));
}

TEST(no_call_changes_errno_or_how_the_thread_is_cancelled_or_what_a_handler_may_call)
{
    jsprof_options bad = { .size = sizeof bad, .path = "/no/such/folder/x.cap" };
    jsprof_stats stats = { .size = sizeof stats };
    jsprof *none;
    find_own_code();
    h = (struct host){ .fd = memfd_create("capture", MFD_CLOEXEC) };
    jsprof_options good = host_options(1000, JSPROF_CLOCK_CPU);
    good.flags |= JSPROF_USE_FD;
    good.fd = h.fd;
    code = mmap(NULL, CODE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    LEAVES(jsprof_open(&none, &bad));
    LEAVES(jsprof_start_from_env(&none));
    LEAVES(jsprof_function_new(&f, "f", "f.js", 1, JSPROF_KIND_VM));
    LEAVES(jsprof_open(&h.prof, &good));
    LEAVES(jsprof_start(h.prof));
    LEAVES(jsprof_thread_attach(h.prof, "main", &me));
    call_about_threads();
    call_about_code();
    call_about_marks();
    call_about_calls();
    LEAVES(jsprof_flush(h.prof));
    LEAVES(jsprof_stats_get(h.prof, &stats));
    LEAVES(jsprof_thread_detach(me));
    LEAVES(jsprof_stop(h.prof));
    LEAVES(jsprof_close(h.prof));
    LEAVES(jsprof_close(h.prof)); /* is refused */
    LEAVES(jsprof_function_free(f));
    munmap(code, CODE);
    close(h.fd);
}

TEST_MAIN()
