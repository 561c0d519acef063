/* host.c - code whose stacks are hard to walk, for shim.so to interrupt.
 *
 *   host KIND SECONDS     run one kind of work; `host list` names them
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define NEVER_INLINE __attribute__((noinline))

static volatile uint64_t sink;

static int by_int(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

static void work_sort(void)
{
    int numbers[512], key = 77;
    for (int i = 0; i < 512; i++)
        numbers[i] = rand() % 1000;
    qsort(numbers, 512, sizeof *numbers, by_int);
    sink += bsearch(&key, numbers, 512, sizeof *numbers, by_int) != NULL;
}

static void work_print(void)
{
    char text[200];
    for (int i = 0; i < 100; i++) {
        snprintf(text, sizeof text, "%d %.17g %s %40.3f", i, i / 7.0, "word", i * 1e9);
        sink += (uint64_t)strtod(text + 3, NULL);
    }
}

/* -- Signals, on this stack and on another, one within the other ---------------------- */

static void on_inner(int sig)
{
    (void)sig;
    work_print();
}

static void on_outer(int sig)
{
    (void)sig;
    raise(SIGUSR2);
    work_print();
}

static void work_signals(void)
{
    raise(SIGUSR1);
    work_print();
}

static void prepare_signals(int flags)
{
    static char other[1 << 17];
    stack_t stack = { .ss_sp = other, .ss_size = sizeof other };
    struct sigaction outer = { .sa_handler = on_outer, .sa_flags = flags };
    struct sigaction inner = { .sa_handler = on_inner };
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &outer, NULL);
    sigaction(SIGUSR2, &inner, NULL);
}

/* -- Stacks of one's own ---------------------------------------------------------- */

static ucontext_t here, there;

static void coroutine(void)
{
    for (;;) {
        work_print();
        work_sort();
        swapcontext(&there, &here);
    }
}

static void work_coroutine(void)
{
    static char stack[1 << 17];
    if (!there.uc_stack.ss_sp) {
        getcontext(&there);
        there.uc_stack.ss_sp = stack;
        there.uc_stack.ss_size = sizeof stack;
        makecontext(&there, coroutine, 0);
    }
    swapcontext(&here, &there);
}

static void *run_thread(void *arg)
{
    work_print();
    work_sort();
    return arg;
}

static void work_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_thread, NULL) == 0)
        pthread_join(thread, NULL);
}

static jmp_buf back;

NEVER_INLINE static void jump_from(int depth)
{
    volatile int d = depth;
    if (depth)
        jump_from(depth - 1);
    if (!d)
        longjmp(back, 1);
    sink += (uint64_t)d;
}

static void work_longjmp(void)
{
    for (volatile int i = 0; i < 1000; i++)
        if (!setjmp(back))
            jump_from(6);
}

#ifdef WITH_THROW
extern void work_throw(void);
#endif

static const struct kind {
    const char *name;
    void (*work)(void);
} kinds[] = {
    { "print", work_print }, { "signals", work_signals }, { "altstack", work_signals },
    { "coroutine", work_coroutine }, { "thread", work_thread }, { "longjmp", work_longjmp },
#ifdef WITH_THROW
    { "throw", work_throw },
#endif
};

static int run(const struct kind *kind, double seconds)
{
    time_t end = time(NULL) + (time_t)seconds + 1;
    if (strcmp(kind->name, "altstack") == 0 || strcmp(kind->name, "signals") == 0)
        prepare_signals(strcmp(kind->name, "altstack") == 0 ? SA_ONSTACK : 0);
    while (time(NULL) < end)
        for (int i = 0; i < 10; i++)
            kind->work();
    return 0;
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (argc == 2)
            puts(kinds[i].name);
        else if (argc == 3 && strcmp(argv[1], kinds[i].name) == 0)
            return run(&kinds[i], atof(argv[2]));
    }
    return argc == 2 ? 0 : 2;
}
