/* unwind_test.c - src/sigsafe/unwind*.c and src/image: walks over good and bad stacks.
 *
 * SPDX-License-Identifier: MIT
 */
#include "test.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "image/objects.h"
#include "sigsafe/unwind.h"

enum { MOST = 128, STACK = 4 << 20 };

static struct jsp_objects objects;
static struct jsp_unwinder unwinder;
static struct jsp_rec_native frames[MOST];
static struct jsp_unwound out;

static void stack_of_self(uintptr_t *low, uintptr_t *high)
{
    pthread_attr_t attr;
    void *at = NULL;
    size_t size = 0;
    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &at, &size);
    pthread_attr_destroy(&attr);
    *low = (uintptr_t)at;
    *high = *low + size;
}

static enum jsp_unwind_stop walk_from(const struct jsp_regs_core *at)
{
    out = (struct jsp_unwound){ .frames = frames, .max = MOST };
    return jsp_unwind_from(&unwinder, jsp_objects_map(&objects), at, &out);
}

/* To the end: which is further than one gets where the C library has no tables. */
static bool is_end(enum jsp_unwind_stop stop)
{
#ifdef __GLIBC__
    return stop == JSP_STOP_END;
#else
    return stop == JSP_STOP_END || stop == JSP_STOP_NO_TABLE;
#endif
}

/* -- Good stacks ------------------------------------------------------------------- */

static uintptr_t called_from[8];
static enum jsp_unwind_stop deep_stop;
static int (*volatile deep_again)(int); /* the compiler must not make a loop of it */

static __attribute__((noinline)) int deep(int depth)
{
    called_from[depth] = (uintptr_t)__builtin_return_address(0);
    if (depth) {
        int below = deep_again(depth - 1);
        return below + depth; /* no tail call */
    }
    struct jsp_regs_core here = jsp_regs_here();
    deep_stop = walk_from(&here);
    return (int)here.sp;
}

static uint32_t rows_at(uintptr_t pc)
{
    const struct jsp_unwind_object *o = jsp_unwind_map_find(jsp_objects_map(&objects), pc);
    return o ? o->n_rows : 0;
}

/* Walk again and again as one sample, and return the system calls for frames without rows. */
static uint32_t calls_of_one_sample(void)
{
    uint32_t calls = 0;
    jsp_live_limit(&unwinder.live);
    for (int i = 0; i < 1000; i++) {
        unwinder.generation = UINT64_MAX; /* the results of the walk before are dropped */
        deep(7);
        calls += unwinder.live.granted - unwinder.live.calls;
    }
    jsp_live_unlimit(&unwinder.live);
    return calls;
}

/* Code of this program stands for that of a host's library: as long as its rows are not made, it
 * is read with system calls, and here none are left. */
static __attribute__((noinline)) void from_unread_code(const struct jsp_unwind_object *own)
{
    struct jsp_regs_core here = jsp_regs_here();
    const jsprof_frame caller = { .pc = 2, .sp = here.sp + 64, .kind = JSPROF_FRAME_CALLER };
    unwinder.callers = &caller;
    unwinder.n_callers = 1;
    jsp_live_limit(&unwinder.live);
    unwinder.live.left = 0;
    CHECK(here.pc - own->start < own->end - own->start);
    CHECK_EQ(walk_from(&here), JSP_STOP_NO_TABLE);
    jsp_live_unlimit(&unwinder.live);
    unwinder.n_callers = 0;
}

/* This case is the first and the next one the second: no object has been met yet. */
TEST(frames_between_are_not_skipped_while_an_object_has_no_rows)
{
    const struct jsp_unwind_map *map = jsp_objects_map(&objects);
    const struct jsp_unwind_object *own = jsp_unwind_map_find(map, (uintptr_t)deep);
    const struct jsp_unwind_unread *unread = own ? jsp_unwind_map_unread(map, own) : NULL;
    if (!unread) {
        SKIP("needs process_vm_readv, and a sorted header in this program");
        return;
    }
    from_unread_code(own);
    CHECK_EQ(out.n, 1); /* and not the caller that the host reported */
    atomic_store(unread->is_met, 0);
    unwinder.has_unread = false;
}

TEST(object_gets_its_rows_only_after_a_walk_has_met_it)
{
    const struct jsp_unwind_map *map = jsp_objects_map(&objects);
    uint32_t n_before = 0, n_after = 0, n_first;
    static struct jsp_rec_native first[MOST];
    const struct jsp_unwind_object *own = jsp_unwind_map_find(map, (uintptr_t)deep);
    if (!own || !jsp_unwind_map_unread(map, own)) {
        SKIP("needs process_vm_readv, and a sorted header in this program");
        return;
    }
    CHECK_EQ(jsp_objects_build(&objects, 0), 0); /* no walk has met any */
    for (uint32_t i = 0; i < map->n; i++)
        n_before += map->objects[i].n_rows > 0;
    CHECK_EQ(n_before, 0);
    CHECK_EQ(rows_at((uintptr_t)deep), 0);
    deep_again = deep;
    deep(7);
    CHECK(is_end(deep_stop)); /* the first walk is whole */
    CHECK(unwinder.has_unread);
    uint32_t calls = JSP_LIVE_CALLS_UNREAD - unwinder.live.calls;
    printf("# %u calls for %u frames without rows\n", calls, out.n);
    CHECK(calls >= out.n && calls <= 4 * out.n); /* so 1000 frames are certain */
    CHECK_EQ(calls_of_one_sample(), JSP_LIVE_CALLS_UNREAD);
    deep(7);
    CHECK(is_end(deep_stop));
    CHECK_EQ(jsp_objects_map(&objects)->generation, map->generation);
    memcpy(first, frames, sizeof first);
    n_first = out.n;

    CHECK_EQ(jsp_objects_refresh(&objects, 0), 0); /* this makes no rows */
    CHECK_EQ(jsp_objects_build(&objects, 0), 1);
    CHECK_EQ(jsp_objects_build(&objects, 0), 0); /* and each object is made once */
    CHECK(rows_at((uintptr_t)deep) > 100);
    map = jsp_objects_map(&objects);
    for (uint32_t i = 0; i < map->n; i++)
        n_after += map->objects[i].n_rows > 0;
    CHECK(n_after < map->n); /* no walk has met the kernel's page of code */
    unwinder.has_unread = false;
    deep(7);
    CHECK(!unwinder.has_unread);
    CHECK_EQ(out.n, n_first);
    for (uint32_t i = 0; i < n_first; i++) /* this function calls from two places */
        CHECK(first[i].cfa == frames[i].cfa && (first[i].ip == frames[i].ip || i == 8));
}

TEST(every_caller_is_in_the_list_and_further_up)
{
    deep_again = deep;
    deep(7);
    CHECK(is_end(deep_stop));
    for (uint32_t i = 0; i < 8 && i + 1 < out.n; i++)
        CHECK_EQ(frames[i + 1].ip, called_from[i]);
    if (!CHECK(out.n > 9))
        return;
    for (uint32_t i = 1; i < out.n; i++)
        CHECK(frames[i].cfa > frames[i - 1].cfa);
    CHECK_EQ(frames[out.n - 1].cfa, UINTPTR_MAX);
}

TEST(a_full_list_keeps_the_innermost)
{
    struct jsp_regs_core here = jsp_regs_here();
    walk_from(&here);
    uint32_t n = out.n;
    out = (struct jsp_unwound){ .frames = frames, .max = 2 };
    CHECK_EQ(jsp_unwind_from(&unwinder, jsp_objects_map(&objects), &here, &out), JSP_STOP_FULL);
    CHECK_EQ(out.n, 2);
    CHECK(n > 2);
    CHECK_EQ(frames[0].ip, here.pc);
}

static void (*bottom)(const struct jsp_regs_core *here);

static int descend(int depth)
{
    if (depth) {
        int below = deep_again(depth - 1);
        return below + depth;
    }
    struct jsp_regs_core here = jsp_regs_here();
    bottom(&here);
    return 0;
}

/* Call it that many frames down. */
static void at_the_bottom(int depth, void (*what)(const struct jsp_regs_core *here))
{
    bottom = what;
    deep_again = descend;
    CHECK_EQ(descend(depth), (long long)depth * (depth + 1) / 2);
    deep_again = deep;
}

/* For every size of list and of its end: the innermost, the outermost and one between, in
 * whose place the rest was. */
static uint32_t roots_there, roots_bad; /* frames of this walk, and wrong ones */

static void check_roots(const struct jsp_regs_core *here)
{
    static struct jsp_rec_native part[MOST];
    walk_from(here);
    uint32_t n = out.n, bad = 0;
    for (uint32_t max = 4; max <= n + 1; max++) {
        for (uint32_t roots = 2; roots < max; roots++) {
            struct jsp_unwound to = { .frames = part, .max = max, .roots = roots };
            enum jsp_unwind_stop stop = jsp_unwind_from(&unwinder, jsp_objects_map(&objects),
                                                        here, &to);
            uint32_t gap = n > max ? max - roots : max, after = n - (max - gap - 1);
            bad += !is_end(stop) || to.n != (n > max ? max : n);
            bad += to.cut != (n > max ? n - max + 1 : 0);
            for (uint32_t i = 0; i < to.n && i < gap; i++)
                bad += part[i].ip != frames[i].ip || part[i].cfa != frames[i].cfa;
            for (uint32_t i = gap + 1; i < to.n; i++)
                bad += part[i].ip != frames[after + i - gap - 1].ip ||
                       part[i].cfa != frames[after + i - gap - 1].cfa;
            if (n > max)
                bad += part[gap].ip != JSP_NATIVE_CUT || part[gap].cfa != frames[after - 1].cfa;
        }
    }
    roots_there = n;
    roots_bad = bad;
}

TEST(a_full_list_keeps_the_outermost_too_where_it_is_asked_to)
{
    at_the_bottom(12, check_roots);
    CHECK_EQ(roots_bad, 0);
    CHECK(roots_there > 14);
}

static struct {
    struct jsp_unwound out;
    enum jsp_unwind_stop stop;
} far;

static void go_far(const struct jsp_regs_core *here)
{
    static struct jsp_rec_native part[MOST];
    far.out = (struct jsp_unwound){ .frames = part, .max = 20, .roots = 5 };
    far.stop = jsp_unwind_from(&unwinder, jsp_objects_map(&objects), here, &far.out);
}

TEST(outermost_frames_that_are_too_far_away_are_not_looked_for)
{
    at_the_bottom(3000, go_far);
    CHECK(is_end(far.stop));
    CHECK_EQ(far.out.n, 20);
    CHECK(far.out.cut > 2900);
    at_the_bottom(3 * JSP_UNWIND_BEYOND, go_far);
    CHECK_EQ(far.stop, JSP_STOP_FULL);
    CHECK_EQ(far.out.n, 16);
    CHECK_EQ(far.out.frames[15].ip, JSP_NATIVE_CUT);
    CHECK(far.out.frames[15].cfa == UINTPTR_MAX); /* frames of the VM are on this side of it */
    CHECK_EQ(far.out.cut, JSP_UNWIND_BEYOND + 5);
}

TEST(a_stack_of_unknown_bounds_is_read_through_the_kernel)
{
    struct jsp_unwinder *other = malloc(sizeof *other);
    struct jsp_rec_native again[MOST];
    struct jsp_unwound to = { .frames = again, .max = MOST };
    struct jsp_regs_core here = jsp_regs_here();
    CHECK(is_end(walk_from(&here)));
    jsp_unwinder_init(other, 0, 0, getpid());
    CHECK(is_end(jsp_unwind_from(other, jsp_objects_map(&objects), &here, &to)));
    CHECK_EQ(to.n, out.n);
    CHECK(memcmp(again, frames, out.n * sizeof *frames) == 0);
    CHECK(other->mem.calls < JSP_MEMREAD_CALLS);
    free(other);
}

static ucontext_t interrupted;
static uintptr_t raised_from;

static void on_signal(int sig, siginfo_t *info, void *ucontext)
{
    (void)sig;
    (void)info;
    memcpy(&interrupted, ucontext, sizeof interrupted);
    out = (struct jsp_unwound){ .frames = frames, .max = MOST };
    struct jsp_regs_core here = jsp_regs_here();
    deep_stop = walk_from(&here);
}

TEST(a_signal_handler_is_left_through_its_trampoline)
{
    static uint8_t other[1 << 16];
    stack_t stack = { .ss_sp = other, .ss_size = sizeof other };
    struct sigaction act = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &act, NULL);
    raise(SIGUSR1);
    raised_from = (uintptr_t)jsp_regs_core(jsp_regs_of(&interrupted)).pc;
    bool found = false;
    for (uint32_t i = 0; i < out.n; i++)
        found = found || frames[i].ip == raised_from;
    CHECK(found);
    CHECK(is_end(deep_stop));
}

static __attribute__((noinline)) uintptr_t find_caller(struct jsp_regs_core *caller)
{
    struct jsp_regs_core here = jsp_regs_here();
    CHECK(jsp_unwind_caller(&unwinder, jsp_objects_map(&objects), &here, caller));
    CHECK(caller->sp > here.sp);
    return (uintptr_t)__builtin_return_address(0);
}

TEST(one_step_finds_the_registers_of_the_caller)
{
    struct jsp_regs_core caller = { 0 }, none;
    uintptr_t pc = find_caller(&caller);
    CHECK_EQ(caller.pc, pc);
    caller.pc = 4096;
    caller.fp = 0;
    CHECK(!jsp_unwind_caller(&unwinder, jsp_objects_map(&objects), &caller, &none));
}

/* -- Bad ones ------------------------------------------------------------------------ */

TEST(garbage_for_registers_stops_with_a_reason)
{
    uintptr_t page = (uintptr_t)mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct jsp_regs_core here = jsp_regs_here(), bad = here;
    bad.sp = bad.fp = page;
    CHECK_EQ(walk_from(&bad), JSP_STOP_UNREADABLE);
    bad = here;
    bad.sp = bad.fp = UINTPTR_MAX - 7;
    enum jsp_unwind_stop stop = walk_from(&bad);
    CHECK(stop == JSP_STOP_UNREADABLE || stop == JSP_STOP_STACK);
    bad = (struct jsp_regs_core){ .pc = page, .sp = here.sp, .fp = page };
    CHECK(walk_from(&bad) != JSP_STOP_END);
    bad.fp = here.sp + 1;
    CHECK_EQ(walk_from(&bad), JSP_STOP_NO_TABLE);
    bad.fp = 0;
    CHECK_EQ(walk_from(&bad), JSP_STOP_END);
    munmap((void *)page, 8192);
}

TEST(a_circle_of_frame_pointers_ends)
{
    uint64_t circle[4];
    struct jsp_regs_core bad = { .pc = 4096, .sp = (uintptr_t)circle, .fp = (uintptr_t)circle };
    circle[0] = (uintptr_t)circle;
    circle[1] = 4097;
    enum jsp_unwind_stop stop = walk_from(&bad);
    CHECK(stop == JSP_STOP_STACK || stop == JSP_STOP_NO_TABLE);
    CHECK(out.n <= 2);
}

/* It would lead on if it were a frame pointer. */
TEST(a_frame_pointer_that_is_not_aligned_is_none)
{
    uint64_t stack[8] = { 0 };
    char *at = (char *)stack + 12;
    const uint64_t frame[] = { 0, (uintptr_t)&qsort };
    struct jsp_regs_core bad = { .pc = 4096, .sp = (uintptr_t)stack, .fp = (uintptr_t)at };
    memcpy(at, frame, sizeof frame);
    CHECK_EQ(walk_from(&bad), JSP_STOP_NO_TABLE);
    CHECK_EQ(out.n, 1);
    bad.fp = (uintptr_t)stack + 8;
    memcpy(stack + 1, frame, sizeof frame);
    walk_from(&bad);
    CHECK(out.n > 1);
}

/* A walk over this thread's stack, each word of it as it would look overwritten. */
TEST(a_smashed_stack_never_faults)
{
    uint64_t stack[512];
    unsigned seed = 7;
    uintptr_t code = (uintptr_t)qsort; /* the same small frames whoever compiles us */
    uint64_t walks = 0, longest = 0;
    for (int round = 0; round < 20000; round++) {
        for (int i = 0; i < 512; i++) {
            seed = seed * 1664525u + 1013904223u;
            uint64_t kind = seed >> 28;
            stack[i] = kind < 6 ? (uint64_t)(uintptr_t)&stack[(seed >> 8) % 512]
                     : kind < 12 ? code + (seed >> 8) % 4096
                     : kind < 14 ? (uint64_t)seed * seed : ~(uint64_t)0 << (seed >> 8) % 64;
        }
        struct jsp_regs_core bad = { code + (seed >> 9) % 4096, (uintptr_t)stack,
                                     stack[3], stack[5] };
        walk_from(&bad);
        walks++;
        longest = out.n > longest ? out.n : longest;
    }
    CHECK_EQ(walks, 20000);
    CHECK(longest > 2);
}

/* -- A small thread stack, a guard page right below ----------------------------------- */

static void *run_small(void *arg)
{
    uintptr_t low, high;
    struct jsp_unwinder *u = arg;
    stack_of_self(&low, &high);
    jsp_unwinder_init(u, low, high, getpid());
    struct jsp_regs_core here = jsp_regs_here();
    out = (struct jsp_unwound){ .frames = frames, .max = MOST };
    deep_stop = jsp_unwind_from(u, jsp_objects_map(&objects), &here, &out);
    here.sp = low; /* the frame below would be in the guard page */
    here.fp = low - 64;
    struct jsp_unwound to = { .frames = frames + 64, .max = MOST - 64 };
    jsp_unwind_from(u, jsp_objects_map(&objects), &here, &to);
    return arg;
}

TEST(a_thread_with_64_kib_is_walked_to_its_end)
{
    pthread_attr_t attr;
    pthread_t thread;
    struct jsp_unwinder *u = malloc(sizeof *u);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 65536);
    CHECK_EQ(pthread_create(&thread, &attr, run_small, u), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    CHECK(is_end(deep_stop));
    CHECK(out.n >= 2);
    free(u);
}

/* -- Objects come and go ------------------------------------------------------------- */

TEST(an_opened_object_is_found_and_a_closed_one_is_not)
{
    uint64_t before = jsp_objects_map(&objects)->generation;
    CHECK_EQ(jsp_objects_refresh(&objects, 1), 0);
    void *lib = dlopen("libm.so.6", RTLD_NOW);
    lib = lib && dlsym(lib, "cos") ? lib : NULL;
    void *other = dlopen("libanl.so.1", RTLD_NOW);
    if (!lib || !other) {
        SKIP("needs a shared glibc");
        return;
    }
    CHECK_EQ(jsp_objects_refresh(&objects, 2), 1);
    const struct jsp_unwind_map *map = jsp_objects_map(&objects);
    CHECK(map->generation > before);
    uintptr_t cos_at = (uintptr_t)dlsym(lib, "cos");
    struct jsp_regs_core in_cos = { .pc = cos_at, .sp = (uintptr_t)&lib };
    CHECK(jsp_unwind_map_find(map, cos_at) != NULL);
    walk_from(&in_cos);
    jsp_objects_build(&objects, 2);
    CHECK(rows_at(cos_at) > 100);
    map = jsp_objects_map(&objects);
    uint32_t n = map->n;
    dlclose(other);
    CHECK_EQ(jsp_objects_refresh(&objects, 3), 1);
    CHECK_EQ(map->n, n); /* the old map is whole until it is reclaimed */
    CHECK(jsp_objects_map(&objects)->n <= n);
    jsp_objects_reclaim(&objects, 3);
    CHECK(objects.old != NULL);
    jsp_objects_reclaim(&objects, 4);
    CHECK(objects.old == NULL);
}

TEST(the_kernels_page_of_code_is_known)
{
    const struct jsp_unwind_map *map = jsp_objects_map(&objects);
    uintptr_t page = getauxval(AT_SYSINFO_EHDR);
    uint32_t i = 0;
    if (!page)
        return (void)SKIP("this kernel gives no code to programs");
    while (i < map->n && (map->starts[i] < page || map->starts[i] >= page + (1 << 16)))
        i++;
    if (!CHECK(i < map->n))
        return;
    struct jsp_regs_core in_page = { .pc = map->starts[i], .sp = (uintptr_t)&i };
    uintptr_t start = map->starts[i];
    walk_from(&in_page);
    jsp_objects_build(&objects, 4);
    CHECK(rows_at(start) > 1);
}

/* Walks from registers as if code at address 1, which nobody knows, had called this function.
 * A frame of unknown size is only left by its frame pointer, which the caller reports. */
static __attribute__((noinline)) enum jsp_unwind_stop from_unknown_code(uintptr_t *pc)
{
    static volatile size_t unknown_size = 64;
    volatile char *room = __builtin_alloca(unknown_size);
    room[0] = 0;
    struct jsp_regs_core here = jsp_regs_here();
    const jsprof_frame callers[2] = {
        { .pc = 2, .sp = here.sp - 8, .kind = JSPROF_FRAME_CALLER }, /* further in */
        { .pc = here.pc, .sp = here.sp, .detail = (const char *)here.fp,
          .kind = JSPROF_FRAME_CALLER },
    };
    struct jsp_regs_core unknown = { .pc = 1, .sp = here.sp - 8 };
    unwinder.callers = callers;
    unwinder.n_callers = 2;
    enum jsp_unwind_stop stop = walk_from(&unknown);
    unwinder.n_callers = 0;
    *pc = here.pc;
    return stop;
}

TEST(behind_unknown_code_the_walk_goes_on_where_the_host_says)
{
    uintptr_t pc = 0;
    CHECK(is_end(from_unknown_code(&pc)));
    if (!CHECK(out.n > 3))
        return;
    CHECK_EQ(frames[0].ip, JSP_NATIVE_WALKED);
    CHECK_EQ(frames[1].ip, pc);
    CHECK(frames[2].cfa > frames[1].cfa);
}

/* The host's word replaces the tables for one step, and counts as a frame. */
TEST(interrupted_code_whose_caller_the_host_knows_is_the_first_frame)
{
    ucontext_t uc = { 0 }; /* not by getcontext: musl has none */
    struct jsp_regs_core here = jsp_regs_here();
    uintptr_t sp = here.sp;
#if defined(__x86_64__)
    uc.uc_mcontext.gregs[REG_RIP] = (greg_t)here.pc;
    uc.uc_mcontext.gregs[REG_RSP] = (greg_t)sp;
#else
    uc.uc_mcontext.pc = here.pc;
    uc.uc_mcontext.sp = sp;
#endif
    const jsprof_frame caller = { .pc = here.pc, .sp = sp + 8, .detail = (const char *)here.fp,
                                  .kind = JSPROF_FRAME_CALLER | JSPROF_FRAME_NO_TABLE };
    out = (struct jsp_unwound){ .frames = frames, .max = MOST };
    unwinder.callers = &caller;
    unwinder.n_callers = 1;
    jsp_unwind(&unwinder, jsp_objects_map(&objects), &uc, &out);
    unwinder.n_callers = 0;
    CHECK(out.n > 1);
    CHECK_EQ(frames[0].cfa, sp + 8);
    CHECK_EQ(frames[1].ip, here.pc);
}

int main(void)
{
    uintptr_t low, high;
    if (jsp_objects_init(&objects) < 0)
        return 1;
    stack_of_self(&low, &high);
    if (high - low < STACK) /* musl tells what is mapped by now */
        low = high - STACK;
    jsp_unwinder_init(&unwinder, low, high, getpid());
    RUN_ALL();
    jsp_objects_free(&objects);
    return DONE();
}
