/* native_test.c - C stacks that are hard to walk, sampled for real: deep ones, and broken ones.
 *
 * The thread is paused but for the work, so each sample is one of the work. Chance: what the checks
 * ask of half of them holds for all but those at an instruction or two of each call, fewer than 1
 * of 5; of 60, more than half are of these in 1 of 10,000,000 runs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "stack.h"

/* A sanitizer's own stack of calls is not that deep. */
enum { SAMPLES = 60, DEPTH = 3000, KEPT = 512, ROOTS = 100 };

STACK_DECLARE(program);
STACK_DECLARE(recurse);
static const struct stack_known known[] = { STACK_KNOWN(program), STACK_KNOWN(recurse) };

static struct host h;
static jsprof_thread *me;
static jsprof_function *function;

/* The work, below a VM frame and this function. */
static STACK_PLACED(program) void program(void (*work)(void))
{
    jsprof_link link;
    jsprof_link_enter(me, &link, function);
    jsprof_thread_resume(me);
    work();
    jsprof_thread_pause(me);
    jsprof_link_leave(me, &link);
}

static struct seen {
    uint64_t n, n_program, n_vm, n_vm_first;
    uint64_t n_both; /* the outermost C frames, then the gap, in samples that have one */
} seen;

static void look(const struct stack *stack, void *arg)
{
    uint32_t n_recurse = 0;
    bool is_both = false, has_program = false, has_vm = false;
    (void)arg;
    for (uint32_t i = 0; i < stack->n; i++) {
        has_program = has_program || strcmp(stack->names[i], "program") == 0;
        n_recurse += strcmp(stack->names[i], "recurse") == 0;
        is_both = is_both || (has_program && n_recurse > ROOTS &&
                              strcmp(stack->names[i], "[C frames cut]") == 0);
        has_vm = has_vm || strcmp(stack->names[i], "vm") == 0;
    }
    seen.n++;
    seen.n_program += has_program;
    seen.n_vm += has_vm;
    seen.n_both += is_both;
    seen.n_vm_first += strcmp(stack->names[0], "vm") == 0;
}

/* Sample this work. Return false if the samples of a moment come later, with the sanitizer. */
static bool sampled(void (*work)(void))
{
    struct stack_reader reader = { known, sizeof known / sizeof *known, look, NULL };
    seen = (struct seen){ .n = 0 };
    if (!CHECK_EQ(host_open_with(&h, host_options(10000, JSPROF_CLOCK_CPU)), 0) ||
        !CHECK_EQ(jsprof_thread_attach(h.prof, "main", &me), 0))
        return false;
    jsprof_thread_pause(me);
    CHECK_EQ(jsprof_start(h.prof), 0);
    program(work);
    if (host_close(&h)) {
        stack_each(&h, &reader);
        printf("# %llu samples, %llu to the program, %llu with both ends\n",
               (unsigned long long)seen.n, (unsigned long long)seen.n_program,
               (unsigned long long)seen.n_both);
        CHECK(seen.n >= SAMPLES);
    }
    CHECK_EQ(jsprof_thread_detach(me), 0);
    return !HOST_LATE;
}

/* -- A deep stack ------------------------------------------------------------------- */

static STACK_PLACED(recurse) uint32_t recurse(uint32_t left)
{
    uint32_t sum = left;
    if (left > 0)
        sum += recurse(left - 1);
    else
        host_sampled(&h, SAMPLES);
    __asm__ volatile("" : "+r"(sum));
    return sum;
}

static void recurse_down(void)
{
    recurse(DEPTH);
}

static void *recurse_deep(void *arg)
{
    if (sampled(recurse_down)) {
        CHECK(seen.n_both * 2 > seen.n);
        CHECK(h.stats.stop_full * 2 < seen.n);
        CHECK(h.stats.frames_cut > seen.n_both * (DEPTH - KEPT) / 2);
    }
    return arg;
}

/* program and some of recurse, then the mark of the cut, then the innermost of recurse. */
TEST(recursion_of_3000_c_frames_keeps_its_roots_and_its_leaves)
{
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 64 << 20);
    int err = pthread_create(&thread, &attr, recurse_deep, NULL);
    if (!err)
        pthread_join(thread, NULL); /* its checks are the only ones meanwhile */
    CHECK_EQ(err, 0);
    pthread_attr_destroy(&attr);
}

#if defined(__x86_64__)
/* -- Broken stacks -------------------------------------------------------------------------- */

static const uintptr_t garbage[] = {
    0, 1, 0x4141414141414141, UINTPTR_MAX, UINTPTR_MAX - 7, (uintptr_t)1 << 47, 4096,
    (uintptr_t)known, (uintptr_t)&h, (uintptr_t)look,
};

/* Above the frame's own locals: the saved frame pointer, the return address. */
static __attribute__((noinline)) void smash(uintptr_t pointer, uintptr_t address)
{
    volatile uintptr_t *at = __builtin_frame_address(0);
    uintptr_t saved[2] = { at[0], at[1] };
    at[0] = pointer;
    at[1] = address;
    host_burn_ms(2);
    at[0] = saved[0];
    at[1] = saved[1];
}

static void smash_once(void)
{
    const size_t n = sizeof garbage / sizeof *garbage;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    for (size_t i = 0; i < n * n; i++)
        smash(garbage[i % n], garbage[i / n]);
    for (uintptr_t i = 0; i < 64; i++) /* into the stack itself, up and down, and around */
        smash(here + 8 * (i - 32), i % 2 ? here - i : garbage[2]);
}

static void smash_often(void)
{
    host_work(&h, smash_once, SAMPLES);
}

TEST(smashed_stack_gives_short_samples_and_no_crash)
{
    if (!sampled(smash_often))
        return;
    CHECK(seen.n_vm * 2 > seen.n);
    CHECK(h.stats.stop_no_table + h.stats.stop_unreadable + h.stats.stop_stack +
              h.stats.stop_end > seen.n / 2);
}

/* Two functions that keep another value in %rbp; the second has no unwind row for it. */
void busy_told(uint64_t turns);
void busy_untold(uint64_t turns);
__asm__(".text\n.globl busy_told\n.type busy_told, @function\nbusy_told:\n.cfi_startproc\n"
        "push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset rbp, 0\n"
        "mov %rdi, %rbp\n1: dec %rbp\njnz 1b\n"
        "pop %rbp\n.cfi_adjust_cfa_offset -8\n.cfi_restore rbp\nret\n.cfi_endproc\n"
        ".size busy_told, . - busy_told\n"
        ".globl busy_untold\n.type busy_untold, @function\nbusy_untold:\n"
        "push %rbp\nmov %rdi, %rbp\n1: dec %rbp\njnz 1b\npop %rbp\nret\n"
        ".size busy_untold, . - busy_untold\n");

/* A function whose row is wrong: it pushed two words of 0, of which the row does not know. */
void busy_misplaced(uint64_t turns);
__asm__(".text\n.globl busy_misplaced\n.type busy_misplaced, @function\nbusy_misplaced:\n"
        ".cfi_startproc\npush $0\npush $0\n1: dec %rdi\njnz 1b\nadd $16, %rsp\nret\n"
        ".cfi_endproc\n.size busy_misplaced, . - busy_misplaced\n");

static void (*busy)(uint64_t turns);

static void busy_once(void)
{
    busy(1000000);
}

static void work_busy(void)
{
    host_work(&h, busy_once, SAMPLES);
}

TEST(frame_pointer_with_something_else_in_it_misleads_nobody)
{
    busy = busy_told;
    if (sampled(work_busy))
        CHECK(seen.n_program * 2 > seen.n);
    busy = busy_untold;
    if (sampled(work_busy)) {
        CHECK(seen.n_vm_first * 2 > seen.n);
        CHECK(h.stats.stop_no_table * 2 > seen.n);
    }
}

TEST(stack_that_a_wrong_row_cuts_off_is_not_counted_as_whole)
{
    busy = busy_misplaced;
    if (sampled(work_busy)) {
        CHECK(seen.n_program * 2 < seen.n);
        CHECK(h.stats.stop_stack * 2 > seen.n);
    }
}
#endif

int main(void)
{
    jsprof_function_new(&function, "vm", NULL, 0, JSPROF_KIND_VM);
    RUN(recursion_of_3000_c_frames_keeps_its_roots_and_its_leaves);
#if defined(__x86_64__)
    RUN(smashed_stack_gives_short_samples_and_no_crash);
    RUN(frame_pointer_with_something_else_in_it_misleads_nobody);
    RUN(stack_that_a_wrong_row_cuts_off_is_not_counted_as_whole);
#endif
    jsprof_function_free(function);
    return DONE();
}
