/* coroutine_test.c - stacks on other C stacks: coroutines that resume each other, and
 * signal handlers on an alternate stack. Who was resumed or interrupted is further out,
 * wherever its memory lies.
 *
 * SPDX-License-Identifier: MIT
 */
#include "signal/stack.h"

#include <ucontext.h>

/* Not every C library has them. */
#pragma weak getcontext
#pragma weak makecontext
#pragma weak swapcontext

enum { STACK_BYTES = 1 << 18, LEAF_FILLS = 200, ROUNDS = 100, SAMPLES = 100, COROUTINES = 2 };

STACK_DECLARE(program);
STACK_DECLARE(body);
STACK_DECLARE(resume);
STACK_DECLARE(leaf);
STACK_DECLARE(handler);
static const struct stack_known known[] = {
    STACK_KNOWN(program), STACK_KNOWN(body), STACK_KNOWN(resume), STACK_KNOWN(leaf),
    STACK_KNOWN(handler),
};

static struct host h;
static jsprof_thread *me;
static jsprof_function *functions[4];
static const char *const vm_names[] = { "vm main", "vm outer", "vm inner", "vm signal" };

/* One that was begun again and again, and the one that resumes it. */
static struct coroutine {
    jsprof_cstack stack;
    ucontext_t context, resumer;
    char *memory;
} coroutines[COROUTINES];

static STACK_PLACED(leaf) void leaf(void)
{
    static char buffer[4096];
    static void *(*volatile fill)(void *, int, size_t) = memset;
    for (int i = 0; i < LEAF_FILLS; i++)
        fill(buffer, i, sizeof buffer);
}

/* A host would have this in its coroutine library. */
static STACK_PLACED(resume) void resume(int which)
{
    struct coroutine *c = &coroutines[which];
    jsprof_link *top = me->top;
    c->stack.resumer = which ? &coroutines[which - 1].stack : NULL;
    jsprof_thread_pause(me); /* the moment between the two is nobody's stack */
    jsprof_stack_switch(me, &c->stack);
    swapcontext(&c->resumer, &c->context);
    jsprof_thread_resume(me);
    me->top = top;
}

static void yield(int which)
{
    jsprof_thread_pause(me);
    jsprof_stack_switch(me, coroutines[which].stack.resumer);
    swapcontext(&coroutines[which].context, &coroutines[which].resumer);
    jsprof_thread_resume(me);
}

static STACK_PLACED(body) void body(int which)
{
    jsprof_thread_resume(me);
    for (;;) {
        jsprof_link link;
        jsprof_link_enter(me, &link, functions[1 + which]);
        if (which + 1 < COROUTINES)
            resume(which + 1);
        else
            leaf();
        jsprof_link_leave(me, &link);
        yield(which);
    }
}

static STACK_PLACED(program) void program(void)
{
    jsprof_link link;
    jsprof_link_enter(me, &link, functions[0]);
    for (int i = 0; i < ROUNDS; i++)
        resume(0);
    jsprof_link_leave(me, &link);
}

/* Every sample is a part of this, in order; if it has the innermost C function, it
 * has all: main's stack and both coroutines'. */
static const char *const calls[] = { "program", "vm main", "resume", "body", "vm outer",
                                     "resume", "body", "vm inner", "leaf", NULL };
enum { N_CALLS = sizeof calls / sizeof *calls - 1 };
static struct seen {
    uint64_t n_wrong, n_inner;
} seen;

static bool is_vm(const char *name)
{
    return strncmp(name, "vm ", 3) == 0;
}

/* Return where in `calls` the sample may continue; -1: nowhere. No VM frame may be missing. */
static int go_on(const char *name, int from)
{
    for (int at = from; calls[at]; at++) {
        if (strcmp(calls[at], name) == 0)
            return at;
        if (is_vm(calls[at]) && is_vm(name))
            return -1;
    }
    return -1;
}

static void check_coroutines(const struct stack *stack, void *arg)
{
    int at = -1, n = 0;
    bool wrong = false, on_inner = false;
    (void)arg;
    for (uint32_t i = 0; i < stack->n && !wrong; i++) {
        if (*stack->names[i] == '?')
            continue;
        at = go_on(stack->names[i], at + 1);
        wrong = at < 0;
        n++;
        on_inner = on_inner || strcmp(stack->names[i], "leaf") == 0;
    }
    wrong = wrong || (on_inner && n != N_CALLS);
    if (wrong && seen.n_wrong++ < 3)
        stack_show("wrong", stack);
    seen.n_inner += on_inner && !wrong;
}

static void make_coroutines(char *memory[COROUTINES])
{
    for (int i = 0; i < COROUTINES; i++) {
        struct coroutine *c = &coroutines[i];
        c->memory = memory[i];
        c->stack = (jsprof_cstack){ NULL, memory[i], memory[i] + STACK_BYTES };
        getcontext(&c->context);
        c->context.uc_stack = (stack_t){ .ss_sp = memory[i], .ss_size = STACK_BYTES };
        c->context.uc_link = NULL;
        makecontext(&c->context, (void (*)(void))body, 1, i);
    }
}

static bool begin(void)
{
    if (HOST_SANITIZED || !swapcontext) {
        SKIP("needs swapcontext, and no sanitizer, which would not follow it");
        return false;
    }
    /* On a busy machine the looker mostly finds it where it was preempted, in swapcontext. */
    setenv("HOST_SOURCE", "timer", 1);
    if (!host_open(&h, 10000, JSPROF_CLOCK_WALL))
        return false;
    CHECK_EQ(jsprof_thread_attach(h.prof, "main", &me), 0);
    CHECK_EQ(jsprof_start(h.prof), 0);
    memset(&seen, 0, sizeof seen);
    return true;
}

static void finish(void (*see)(const struct stack *stack, void *arg))
{
    struct stack_reader reader = { known, sizeof known / sizeof *known, see, NULL };
    if (host_close(&h)) {
        uint64_t n = stack_each(&h, &reader);
        printf("# %llu samples, %llu innermost\n", (unsigned long long)n,
               (unsigned long long)seen.n_inner);
        CHECK_EQ(seen.n_wrong, 0);
        CHECK(seen.n_inner * 2 > n && n > 20);
        CHECK_EQ(h.stats.frames_bad, 0);
    }
    CHECK_EQ(jsprof_thread_detach(me), 0);
}

static void run_coroutines(bool is_turned)
{
    char *all = malloc(2 * STACK_BYTES);
    char *memory[] = { all + is_turned * STACK_BYTES, all + !is_turned * STACK_BYTES };
    if (begin()) {
        make_coroutines(memory);
        host_work(&h, program, SAMPLES);
        finish(check_coroutines);
    }
    free(all);
}

TEST_OF(coroutines_that_resume_each_other_stand_in_the_order_of_their_resumption,
        run_coroutines(false))
TEST_OF(coroutines_stand_so_too_when_their_stacks_lie_the_other_way_round, run_coroutines(true))

/* -- An alternate signal stack ------------------------------------------------- */

static char small[1 << 16];
static stack_t alternate;

/* The frames of the VM that the handler runs, then those of what it interrupted. */
static STACK_PLACED(handler) void handler(int sig)
{
    jsprof_link link;
    (void)sig;
    jsprof_link_enter(me, &link, functions[3]);
    for (int i = 0; i < 5; i++) /* most of the time, however dear a signal is */
        leaf();
    jsprof_link_leave(me, &link);
}

static const char *const signal_calls[] = { "program", "vm main", "handler", "vm signal",
                                            "leaf", NULL };

static void raise_on(void *memory)
{
    struct sigaction act = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
    stack_t before;
    alternate = (stack_t){ .ss_sp = memory, .ss_size = sizeof small };
    CHECK_EQ(sigaltstack(&alternate, &before), 0);
    CHECK_EQ(sigaction(SIGUSR1, &act, NULL), 0);
    jsprof_link link;
    jsprof_link_enter(me, &link, functions[0]);
    while (host_taken(&h) < SAMPLES)
        raise(SIGUSR1);
    jsprof_link_leave(me, &link);
    signal(SIGUSR1, SIG_DFL);
    CHECK_EQ(sigaltstack(&before, NULL), 0);
}

static void *signal_thread(void *memory)
{
    struct stack_chain chain = { .calls = signal_calls + 1 };
    struct stack_reader reader = { known, sizeof known / sizeof *known, stack_check_chain,
                                   &chain };
    if (!begin())
        return NULL;
    raise_on(memory);
    if (host_close(&h)) {
        uint64_t n = stack_each(&h, &reader);
        printf("# %llu samples, %llu in the handler\n", (unsigned long long)n,
               (unsigned long long)chain.n_whole);
        CHECK_EQ(chain.n_wrong, 0);
        CHECK(chain.n_whole * 2 > n && n > 20);
        CHECK_EQ(h.stats.lost_stack, 0);
    }
    CHECK_EQ(jsprof_thread_detach(me), 0);
    return NULL;
}

TEST(handler_on_an_alternate_stack_stands_inside_of_what_it_interrupted)
{
    signal_thread(small); /* below the main thread's stack */
}

TEST(handler_of_a_thread_stands_so_too_wherever_its_stack_lies)
{
    stack_run_beside(signal_thread, true);
    stack_run_beside(signal_thread, false);
}

int main(void)
{
    for (int i = 0; i < 4; i++)
        jsprof_function_new(&functions[i], vm_names[i], NULL, 0, JSPROF_KIND_VM);
    RUN_ALL();
    for (int i = 0; i < 4; i++)
        jsprof_function_free(functions[i]);
    return DONE();
}
