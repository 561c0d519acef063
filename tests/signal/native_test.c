/* native_test.c - C stacks that are hard to walk, sampled for real: objects that come and
 * go, small stacks, deep ones, broken ones.
 *
 * SPDX-License-Identifier: MIT
 */
#include "stack.h"

#include <dlfcn.h>

enum { BURN_MS = 80, LOAD_MS = 1200, AFTER_MS = 300, CYCLE_MS = 900 }; /* LOAD: by the drain */
enum { MOST_MS = 10000 };
/* A sanitizer's own stack of calls is not that deep. */
enum { DEPTH = HOST_SANITIZED ? 20000 : 100000, MIDDLE = 3000, KEPT = 512, ROOTS = 128 };
enum { SMALL_STACK = 1 << 16, SMALL_LEFT = HOST_SANITIZED ? 40000 : 16000 };

STACK_DECLARE(program);
STACK_DECLARE(recurse);
static const struct stack_known known[] = {
    STACK_KNOWN(program), STACK_KNOWN(recurse),
};

static struct host h;
static jsprof_thread *me;
static jsprof_function *function;

static bool begin_with(jsprof_options options)
{
    return CHECK_EQ(host_open_with(&h, options), 0) &&
           CHECK_EQ(jsprof_thread_attach(h.prof, "main", &me), 0) &&
           CHECK_EQ(jsprof_start(h.prof), 0);
}

static bool begin(void)
{
    return begin_with(host_options(10000, JSPROF_CLOCK_WALL));
}

/* The time of the visit: at 10 kHz a stop may have to wait for a thread without a processor. */
static uint64_t program_began, program_ended = UINT64_MAX;

/* The work, below a VM frame and this function. */
static STACK_PLACED(program) void program(void (*work)(void))
{
    jsprof_link link;
    jsprof_link_enter(me, &link, function);
    program_began = host_ns(CLOCK_MONOTONIC);
    work();
    program_ended = host_ns(CLOCK_MONOTONIC);
    jsprof_link_leave(me, &link);
}

/* Of the samples of the program, from `since` on: */
static struct seen {
    uint64_t since;
    uint64_t n, n_program, n_vm, n_vm_first, n_native, n_deepest;
    uint64_t n_both; /* the outermost C frame, then the gap, in samples that have one */
} seen;

/* Return true if the program has still few samples: beside other tests it takes longer. */
static bool needs_more(void)
{
    jsprof_stats stats = { .size = sizeof stats };
    return jsprof_stats_get(h.prof, &stats) == 0 && stats.samples < 60 &&
           host_ns(CLOCK_MONOTONIC) < program_began + MOST_MS * UINT64_C(1000000);
}

static void look(const struct stack *stack, void *arg)
{
    uint32_t n_recurse = 0;
    bool is_both = false, has_program = false, has_vm = false;
    (void)arg;
    if (stack->time_ns < seen.since || stack->time_ns > program_ended)
        return;
    for (uint32_t i = 0; i < stack->n; i++) {
        has_program = has_program || strcmp(stack->names[i], "program") == 0;
        n_recurse += strcmp(stack->names[i], "recurse") == 0;
        is_both = is_both || (has_program && n_recurse > 100 &&
                              strcmp(stack->names[i], "[C frames cut]") == 0);
        has_vm = has_vm || strcmp(stack->names[i], "vm") == 0;
        seen.n_native += strcmp(stack->names[i], "vm") != 0;
    }
    seen.n++;
    seen.n_program += has_program;
    seen.n_vm += has_vm;
    seen.n_both += is_both;
    seen.n_vm_first += strcmp(stack->names[0], "vm") == 0;
    seen.n_deepest = n_recurse > seen.n_deepest ? n_recurse : seen.n_deepest;
}

static void finish_since(uint64_t since)
{
    struct stack_reader reader = { known, sizeof known / sizeof *known, look, NULL };
    seen = (struct seen){ .since = since > program_began ? since : program_began };
    if (host_close(&h)) {
        host_check(&h);
        stack_each(&h, &reader);
        CHECK(seen.n > 20 || HOST_LATE);
    }
    program_began = 0;
    program_ended = UINT64_MAX;
    CHECK_EQ(jsprof_thread_detach(me), 0);
    host_free(&h);
}

/* -- Objects that come and go -------------------------------------------------------- */

static char *(*scramble)(const char *phrase, const char *setting);
static uint64_t work_until;

static void work_in_object(void)
{
    while (host_ns(CLOCK_MONOTONIC) < work_until)
        if (!scramble("phrase", "$5$rounds=1000$salt"))
            return;
}

static void *load(void)
{
    void *object = dlopen("libcrypt.so.1", RTLD_NOW | RTLD_LOCAL);
    void *symbol = object ? dlsym(object, "crypt") : NULL;
    memcpy(&scramble, &symbol, sizeof scramble);
    return symbol ? object : NULL;
}

TEST(object_that_was_just_opened_is_walked_through)
{
    if (!begin())
        return;
    host_burn_ms(10);
    uint64_t ms = dlsym(RTLD_DEFAULT, "_dl_find_object") ? 0 : LOAD_MS;
    void *object = load();
    uint64_t loaded = host_ns(CLOCK_MONOTONIC);
    work_until = loaded + (ms + AFTER_MS) * 1000000;
    if (object)
        program(work_in_object);
    uint64_t end = host_ns(CLOCK_MONOTONIC);
    finish_since(object ? loaded + ms * 1000000 : 0);
    if (!object) {
        SKIP("needs libcrypt1");
        return;
    }
    printf("# %llu of %llu samples whole\n", (unsigned long long)seen.n_program,
           (unsigned long long)seen.n);
    CHECK(end > loaded);
    if (!HOST_LATE)
        CHECK(seen.n_program * 100 >= seen.n * 90); /* the end of the program is there, too */
    dlclose(object);
}

/* No wait for the drain's first look: it is taken at start. */
TEST(object_opened_before_start_is_walked_through_at_once)
{
    if (!CHECK_EQ(host_open_with(&h, host_options(10000, JSPROF_CLOCK_WALL)), 0))
        return;
    void *object = load();
    CHECK_EQ(jsprof_thread_attach(h.prof, "main", &me), 0);
    CHECK_EQ(jsprof_start(h.prof), 0);
    work_until = host_ns(CLOCK_MONOTONIC) + AFTER_MS * (uint64_t)1000000;
    if (object)
        program(work_in_object);
    else
        host_burn_ms(BURN_MS);
    finish_since(0);
    if (!object) {
        SKIP("needs libcrypt1");
        return;
    }
    CHECK(seen.n_program * 100 >= seen.n * 98 || HOST_LATE);
    dlclose(object);
}

static _Atomic bool over;

static void *flush_often(void *arg)
{
    while (!atomic_load(&over))
        jsprof_flush(h.prof); /* looks at the loaded objects again */
    return arg;
}

static uint32_t n_cycles;

static void open_and_close(void)
{
    uint64_t until = host_ns(CLOCK_MONOTONIC) + CYCLE_MS * (uint64_t)1000000;
    for (; host_ns(CLOCK_MONOTONIC) < until || needs_more(); n_cycles++) {
        void *object = load();
        if (!object)
            return;
        work_until = host_ns(CLOCK_MONOTONIC) + 1000000;
        work_in_object();
        dlclose(object);
    }
}

TEST(objects_closed_under_10_khz_of_samples_do_no_harm)
{
    if (!begin())
        return;
    atomic_store(&over, false);
    pthread_t thread = host_thread(flush_often, NULL);
    program(open_and_close);
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    finish_since(0);
    if (!n_cycles) {
        SKIP("needs libcrypt1");
        return;
    }
    printf("# opened and closed %u times, %llu of %llu samples whole\n", n_cycles,
           (unsigned long long)seen.n_program, (unsigned long long)seen.n);
    CHECK(n_cycles > 20);
    if (!HOST_LATE)
        CHECK(seen.n_program * 10 > seen.n * 5);
}

/* -- Small and deep stacks --------------------------------------------------------------- */

static uintptr_t stack_floor; /* recurse down to here, or for a number of frames */

static STACK_PLACED(recurse) uint32_t recurse(uint32_t left)
{
    uint32_t sum = left;
    if (left > 0 && (uintptr_t)__builtin_frame_address(0) > stack_floor)
        sum += recurse(left - 1);
    else
        do
            host_burn_ms(BURN_MS);
        while (needs_more());
    __asm__ volatile("" : "+r"(sum));
    return sum;
}

static uint32_t depth = DEPTH;

static void recurse_down(void)
{
    recurse(depth);
}

static void *on_small_stack(void *arg)
{
    pthread_attr_t attr;
    void *low;
    size_t size;
    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &low, &size);
    pthread_attr_destroy(&attr);
    stack_floor = (uintptr_t)low + SMALL_LEFT;
    if (begin()) {
        program(recurse_down);
        finish_since(0);
    }
    return arg;
}

static int run_on_stack(void *(*body)(void *), size_t size)
{
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, size);
    int err = pthread_create(&thread, &attr, body, NULL);
    if (!err)
        pthread_join(thread, NULL); /* its checks are the only ones meanwhile */
    pthread_attr_destroy(&attr);
    return err;
}

TEST(stack_of_64_kib_with_a_guard_page_right_below_is_walked)
{
    CHECK_EQ(run_on_stack(on_small_stack, HOST_SANITIZED ? 2 * SMALL_STACK : SMALL_STACK), 0);
    CHECK(seen.n_deepest > 30 || HOST_LATE);
    CHECK(seen.n_vm_first * 10 > seen.n * 5 || seen.n_program * 10 > seen.n * 5 || HOST_LATE);
}

static void *recurse_deep(void *arg)
{
    stack_floor = 0;
    if (begin()) {
        program(recurse_down);
        finish_since(0);
    }
    return arg;
}

/* The innermost are kept; what is outermost of the VM is outside of them. */
TEST(recursion_of_100000_c_frames_keeps_its_leaves_and_says_so)
{
    CHECK_EQ(run_on_stack(recurse_deep, 512 << 20), 0);
    printf("# %llu deep, %llu walks cut of %llu\n", (unsigned long long)seen.n_deepest,
           (unsigned long long)h.stats.stop_full, (unsigned long long)seen.n);
    if (HOST_LATE)
        return;
    CHECK(seen.n_deepest >= KEPT - ROOTS - 2 && seen.n_deepest <= KEPT);
    CHECK(h.stats.stop_full * 10 > seen.n * 8);
    CHECK(seen.n_vm_first * 10 > seen.n * 8);
}

/* program and some of recurse, then the mark of the cut, then the innermost of recurse. */
TEST(recursion_of_3000_c_frames_keeps_its_roots_and_its_leaves)
{
    depth = MIDDLE;
    CHECK_EQ(run_on_stack(recurse_deep, 512 << 20), 0);
    depth = DEPTH;
    printf("# %llu of %llu with both ends\n", (unsigned long long)seen.n_both,
           (unsigned long long)seen.n);
    if (HOST_LATE)
        return;
    CHECK(seen.n_both * 10 > seen.n * 8);
    CHECK(h.stats.stop_full * 10 < seen.n);
    CHECK(h.stats.frames_cut * 10 > seen.n_both * (MIDDLE - KEPT) * 9); /* some on the way */
}

TEST(session_without_native_frames_has_vm_frames_only)
{
    jsprof_options options = host_options(10000, JSPROF_CLOCK_WALL);
    options.flags = JSPROF_NO_NATIVE;
    stack_floor = UINTPTR_MAX;
    if (!begin_with(options))
        return;
    program(recurse_down);
    finish_since(0);
    CHECK(seen.n_vm_first * 10 > seen.n * 8 || HOST_LATE);
    CHECK_EQ(seen.n_native, 0);
}

/* -- Broken stacks -------------------------------------------------------------------------- */

#if defined(__x86_64__)
static const uintptr_t garbage[] = {
    0, 1, 0x4141414141414141, UINTPTR_MAX, UINTPTR_MAX - 7, (uintptr_t)1 << 47, 4096,
    (uintptr_t)known, (uintptr_t)&h, (uintptr_t)run_on_stack,
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

static void smash_often(void)
{
    const size_t n = sizeof garbage / sizeof *garbage;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    for (size_t i = 0; i < n * n; i++)
        smash(garbage[i % n], garbage[i / n]);
    for (uintptr_t i = 0; i < 64; i++) /* into the stack itself, up and down, and around */
        smash(here + 8 * (i - 32), i % 2 ? here - i : garbage[2]);
}
#endif

TEST(smashed_stack_gives_short_samples_and_no_crash)
{
#if !defined(__x86_64__)
    SKIP("frames as on x86-64");
#else
    if (!begin())
        return;
    program(smash_often);
    finish_since(0);
    if (HOST_LATE)
        return;
    printf("# %llu of %llu samples whole\n", (unsigned long long)seen.n_program,
           (unsigned long long)seen.n);
    CHECK(seen.n_vm * 10 > seen.n * 9);
    CHECK(h.stats.stop_no_table + h.stats.stop_unreadable + h.stats.stop_stack +
              h.stats.stop_end > seen.n / 2);
#endif
}

#if defined(__x86_64__)
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

static void work_misplaced(void)
{
    for (struct host_burn burn = host_burn_begin(BURN_MS); host_burn_on(&burn);)
        busy_misplaced(1000000);
}

static void work_told(void)
{
    for (struct host_burn burn = host_burn_begin(BURN_MS); host_burn_on(&burn);)
        busy_told(1000000);
}

static void work_untold(void)
{
    for (struct host_burn burn = host_burn_begin(BURN_MS); host_burn_on(&burn);)
        busy_untold(1000000);
}
#endif

TEST(frame_pointer_with_something_else_in_it_misleads_nobody)
{
#if defined(__x86_64__)
    if (!begin())
        return;
    program(work_told);
    finish_since(0);
    CHECK(seen.n_program * 10 > seen.n * 9 || HOST_LATE);
    if (!begin())
        return;
    program(work_untold);
    finish_since(0);
    CHECK(seen.n_vm_first * 10 > seen.n * 8 || HOST_LATE);
    CHECK(h.stats.stop_no_table * 10 > seen.n * 8 || HOST_LATE);
#else
    SKIP("x86-64 assembly");
#endif
}

TEST(stack_that_a_wrong_row_cuts_off_is_not_counted_as_whole)
{
#if defined(__x86_64__)
    if (!begin())
        return;
    program(work_misplaced);
    finish_since(0);
    CHECK(seen.n_program * 10 < seen.n * 2 || HOST_LATE);
    CHECK(h.stats.stop_stack * 10 > seen.n * 8 || HOST_LATE);
#else
    SKIP("x86-64 assembly");
#endif
}

int main(void)
{
    jsprof_function_new(&function, "vm", NULL, 0, JSPROF_KIND_VM);
    RUN(object_that_was_just_opened_is_walked_through);
    RUN(object_opened_before_start_is_walked_through_at_once);
    RUN(objects_closed_under_10_khz_of_samples_do_no_harm);
    RUN(stack_of_64_kib_with_a_guard_page_right_below_is_walked);
    RUN(recursion_of_100000_c_frames_keeps_its_leaves_and_says_so);
    RUN(recursion_of_3000_c_frames_keeps_its_roots_and_its_leaves);
    RUN(session_without_native_frames_has_vm_frames_only);
    RUN(smashed_stack_gives_short_samples_and_no_crash);
    RUN(frame_pointer_with_something_else_in_it_misleads_nobody);
    RUN(stack_that_a_wrong_row_cuts_off_is_not_counted_as_whole);
    jsprof_function_free(function);
    return DONE();
}
