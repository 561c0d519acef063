/* step.c - a child is stepped instruction by instruction; after each, its stack is
 * walked, and must be the one that its calls and returns have left.
 *
 * The child is a fork: our tables are its tables. Its memory is read through the
 * protected load, given the child's pid. The truth is a list of the return addresses
 * that calls have pushed and nothing has popped yet.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "image/objects.h"
#include "sigsafe/unwind.h"

#include "../signal/jit.h"

enum { MOST = 128, SHOWN = 10, LONGEST_INSTRUCTION = 15, ENOUGH = 5000, FEW = 500,
       BUILD_STEPS = 2048 };

struct truth {
    uint64_t slot[MOST], ra[MOST]; /* outermost first */
    uint32_t n;
};

static volatile double sink;

/* -- What the child does ------------------------------------------------------------ */

static int by_int(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static __attribute__((noinline)) double realigned(int depth)
{
    _Alignas(64) volatile double row[8];
    char *more = __builtin_alloca((size_t)(depth * 16 + 16));
    memset(more, depth, (size_t)(depth * 16 + 16));
    row[depth % 8] = more[depth];
    return depth ? realigned(depth - 1) + row[depth % 8] : row[0];
}

/* Compiled code with frame pointers and without rows, of which we know where it begins, and
 * of which we know nothing. */
static struct jit_code registered, unknown;
static struct jsp_jitrows_slot jit_slots[4];
static struct jsp_jitrows jit = { .capacity = 4 };

static void from_jit(uintptr_t again)
{
    sink += realigned((int)again);
    if (again)
        ((void (*)(uintptr_t))(uintptr_t)unknown.start)(again - 1);
}

static bool jit_make(void)
{
    void *one = jit_memory(), *other = jit_memory();
    if (!one || !other)
        return false;
    registered = jit_caller(one, JIT_BY_POINTER, from_jit);
    unknown = jit_caller(other, JIT_BY_POINTER, from_jit);
    struct jsp_jitrows_range range = { .start = (uintptr_t)registered.start,
                                       .end = (uintptr_t)registered.start + registered.length };
    atomic_init(&jit.at, jit_slots);
    jsp_jitrows_add(&jit, &range);
    return true;
}

static void on_signal(int sig)
{
    sink += sig + realigned(1);
}

static void work(void)
{
    char text[100];
    int numbers[] = { 5, 3, 9, 1, 7, 2, 8 };
    struct sigaction act = { .sa_handler = on_signal };
    sigaction(SIGUSR1, &act, NULL);
    snprintf(text, sizeof text, "%d %.15g %s", 42, 0.1, "text"); /* bound lazily */
    sink += strtod(text + 3, NULL);
    qsort(numbers, 7, sizeof *numbers, by_int);
    sink += realigned(3) + numbers[0];
    free(malloc(100000));
    ((void (*)(uintptr_t))(uintptr_t)registered.start)(2);
    raise(SIGUSR1);
}

/* -- The truth ------------------------------------------------------------------------ */

static uint64_t peek(pid_t child, uint64_t at)
{
    return (uint64_t)ptrace(PTRACE_PEEKDATA, child, (void *)(uintptr_t)at, NULL);
}

/* One instruction was run. */
static void truth_follow(struct truth *t, pid_t child, const struct user_regs_struct *before,
                         const struct user_regs_struct *now)
{
    while (t->n && t->slot[t->n - 1] < now->rsp)
        t->n--;
    bool jumped = now->rip - before->rip > LONGEST_INSTRUCTION;
    if (!jumped || now->rsp != before->rsp - 8 || t->n == MOST)
        return;
    uint64_t ra = peek(child, now->rsp);
    if (ra - before->rip - 1 >= LONGEST_INSTRUCTION)
        return; /* a push and a jump, in a signal's delivery for instance */
    t->slot[t->n] = now->rsp;
    t->ra[t->n++] = ra;
}

/* -- The walk --------------------------------------------------------------------------- */

static void context_of(ucontext_t *uc, const struct user_regs_struct *r)
{
    greg_t *g = uc->uc_mcontext.gregs;
    const unsigned long long values[][2] = {
        { REG_RAX, r->rax }, { REG_RBX, r->rbx }, { REG_RCX, r->rcx }, { REG_RDX, r->rdx },
        { REG_RSI, r->rsi }, { REG_RDI, r->rdi }, { REG_RBP, r->rbp }, { REG_RSP, r->rsp },
        { REG_R8, r->r8 },   { REG_R9, r->r9 },   { REG_R10, r->r10 }, { REG_R11, r->r11 },
        { REG_R12, r->r12 }, { REG_R13, r->r13 }, { REG_R14, r->r14 }, { REG_R15, r->r15 },
        { REG_RIP, r->rip },
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        g[values[i][0]] = (greg_t)values[i][1];
}

/* The frames without trampolines, which nobody called: their caller was interrupted. */
static bool walk_is_true(const struct truth *t, const struct jsp_unwound *out)
{
    uint32_t at = 0;
    for (uint32_t i = t->n; i-- > 0;) {
        while (at + 1 < out->n && out->frames[at].cfa != t->slot[i] + 8)
            at++; /* frames between: only where a signal came */
        if (at + 1 >= out->n || out->frames[at + 1].ip != t->ra[i])
            return false;
        at++;
    }
    return true;
}

static void show(const struct truth *t, const struct jsp_unwound *out)
{
    printf("differs at %" PRIx64 ":\n", out->frames[0].ip);
    for (uint32_t i = 0; i < 6; i++)
        printf("  %12" PRIx64 " %12" PRIx64 "   truth %12" PRIx64 " %12" PRIx64 "\n",
               i + 1 < out->n ? out->frames[i + 1].ip : 0, i < out->n ? out->frames[i].cfa : 0,
               i < t->n ? t->ra[t->n - 1 - i] : 0, i < t->n ? t->slot[t->n - 1 - i] + 8 : 0);
}

static int step_all(pid_t child, struct jsp_objects *objects)
{
    static struct jsp_unwinder unwinder;
    static ucontext_t uc;
    struct jsp_rec_native frames[MOST];
    struct user_regs_struct before, now;
    struct truth truth = { .n = 0 };
    uint64_t steps = 0, depth = 0, bad = 0, bare = 0;
    int status, pass = 0;
    jsp_unwinder_init(&unwinder, 0, 0, child);
    unwinder.jit = &jit;
    ptrace(PTRACE_GETREGS, child, NULL, &before);
    while (ptrace(PTRACE_SINGLESTEP, child, NULL, (void *)(intptr_t)pass) == 0 &&
           waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        pass = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
        ptrace(PTRACE_GETREGS, child, NULL, &now);
        truth_follow(&truth, child, &before, &now);
        before = now;
        context_of(&uc, &now);
        if (steps % BUILD_STEPS == BUILD_STEPS - 1) /* the first are walked without rows */
            jsp_objects_build(objects, 0);
        struct jsp_unwound out = { .frames = frames, .max = MOST };
        enum jsp_unwind_stop stop =
            jsp_unwind(&unwinder, jsp_objects_map(objects), &uc, &out);
        steps++;
        depth += truth.n;
        /* Some libraries run through the padding before a function, which has no table
         * (memcpy of glibc 2.41 for AVX-512). There the walk has to say so. */
        if (stop == JSP_STOP_NO_TABLE && out.n == 1)
            bare++;
        else if (!walk_is_true(&truth, &out) && bad++ < SHOWN)
            show(&truth, &out);
    }
    printf("%" PRIu64 " instructions, %" PRIu64 " of them in code without tables, %" PRIu64
           " calls on their stacks, %" PRIu64 " stacks differ\n", steps, bare, depth, bad);
    return steps > ENOUGH && depth > steps && !bad && bare < steps / FEW ? 0 : 1;
}

int main(void)
{
    static struct jsp_objects objects;
    if (jsp_objects_init(&objects) < 0 || !jit_make())
        return 2;
    pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        work();
        _exit(0);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
        puts("SKIP: needs ptrace");
        return 77;
    }
    return step_all(child, &objects);
}
