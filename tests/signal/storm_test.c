/* storm_test.c - everything at once, sampled at 10 kHz: recursion through qsort, compiled
 * code that comes and goes, objects that are opened and closed, backtraces, smashed
 * stacks, threads that live for a moment, loaders and drains. With LONG=1 until a million samples
 * are kept.
 *
 * SPDX-License-Identifier: MIT
 */
#include "stack.h"

#include <dlfcn.h>

#include "jit.h"

enum { SESSIONS = 2, SAMPLES = 600, LONG_SAMPLES = 1000000 };
enum { SOME = 24, TURNS = 2000 };

static struct host h;
static _Atomic bool over;
static jsprof_function *functions[SOME];
static _Atomic uint64_t n_refused; /* calls of the profiler that should not have been */

static void expect(int err)
{
    if (err < 0)
        atomic_fetch_add(&n_refused, 1);
}

/* -- Recursion: VM, qsort, VM --------------------------------------------------------- */

static _Thread_local jsprof_thread *self;
static _Thread_local uint32_t seed;

static uint32_t chance(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

static void recurse(uint32_t depth);
static _Thread_local uint32_t depth_now;

static int compare(const void *a, const void *b)
{
    uint32_t depth = depth_now;
    if (depth && chance(3) == 0)
        recurse(depth - 1);
    depth_now = depth;
    return *(const int *)a - *(const int *)b;
}

static __attribute__((noinline)) void recurse(uint32_t depth)
{
    int numbers[] = { 4, 2, 7, 1, 9, 3 };
    jsprof_link link;
    jsprof_link_enter(self, &link, functions[depth % SOME]);
    jsprof_push(self, "pushed", depth % 2 ? "odd" : NULL, depth);
    depth_now = depth;
    qsort(numbers, sizeof numbers / sizeof *numbers, sizeof *numbers, compare);
    jsprof_pop(self);
    jsprof_link_leave(self, &link);
}

static void storm_recursion(void)
{
    recurse(chance(6));
    for (uint32_t n = chance(700), i = 0; i < 2 * n; i++) /* beyond the capacity, too */
        if (i < n)
            jsprof_push(self, "deep", NULL, i);
        else
            jsprof_pop(self);
}

/* -- Compiled code ------------------------------------------------------------------------ */

static _Thread_local unsigned char *memory;

static void back(uintptr_t depth)
{
    recurse((uint32_t)depth);
}

static void storm_code(void)
{
    static const jsprof_code_row leaf = { 0, 8, -8, 0, 0 };
    if (!JIT_WORKS || !memory)
        return;
    unsigned char *at = memory + chance(64);
    bool calls = chance(2);
    struct jit_code code = calls ? jit_caller(at, chance(JIT_N_FRAMES), back)
                                 : jit_counter(at, TURNS, chance(9));
    jsprof_code to = { .size = sizeof to, .start = at, .length = code.length,
                       .name = calls ? "caller" : "counter" };
    if (!calls) {
        to.rows = &leaf;
        to.n_rows = 1;
    }
    expect(jsprof_code_add(h.prof, &to));
    if (calls)
        ((void (*)(uintptr_t))(uintptr_t)at)(2);
    else
        ((void (*)(void))(uintptr_t)at)();
    if (chance(2))
        expect(jsprof_code_remove(h.prof, at));
}

/* -- Objects -------------------------------------------------------------------------------- */

static void storm_objects(void)
{
    void *object = dlopen("libcrypt.so.1", RTLD_NOW | RTLD_LOCAL);
    void *symbol = object ? dlsym(object, "crypt") : NULL;
    char *(*encrypt)(const char *, const char *);
    memcpy(&encrypt, &symbol, sizeof encrypt);
    if (symbol)
        encrypt("phrase", "$5$rounds=1000$salt");
    if (object)
        dlclose(object);
}

/* -- Backtraces, pauses, smashed stacks ------------------------------------------------------ */

static void storm_backtraces(void)
{
    static _Thread_local jsprof_backtrace_frame frames[64];
    jsprof_push(self, "asks", NULL, 1);
    expect(jsprof_backtrace(self, NULL, frames, 1 + chance(64)));
    jsprof_thread_pause(self);
    jsprof_pop(self);
    expect(jsprof_backtrace(self, NULL, frames, 64));
    jsprof_thread_resume(self);
}

static void wait_a_little(void)
{
    for (volatile int i = 0; i < 20000; i = i + 1)
        continue;
}

static __attribute__((noinline)) void smash(uintptr_t pointer, uintptr_t address)
{
    volatile uintptr_t *at = __builtin_frame_address(0);
    uintptr_t saved[2] = { at[0], at[1] };
    at[0] = pointer;
    at[1] = address;
    wait_a_little();
    at[0] = saved[0];
    at[1] = saved[1];
}

static uintptr_t any_number(void)
{
    return (uintptr_t)chance(UINT32_MAX) << chance(40);
}

static void storm_smashing(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    uintptr_t pointer = chance(2) ? here + 8 * chance(1000) - 4000 : any_number();
    uintptr_t address = chance(2) ? (uintptr_t)&recurse + chance(500) : any_number();
    if (JIT_WORKS) /* frames as on x86-64 */
        smash(pointer, address);
}

/* -- Threads ----------------------------------------------------------------------------------- */

static void *short_life(void *arg)
{
    seed = (uint32_t)(uintptr_t)arg;
    if (jsprof_thread_attach(h.prof, "short", &self) == 0) {
        recurse(3);
        if (chance(2))
            jsprof_thread_detach(self); /* else its end does */
    }
    return NULL;
}

static void storm_threads(void)
{
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, HOST_SANITIZED ? 1 << 20 : 1 << 16);
    if (pthread_create(&thread, &attr, short_life, (void *)(uintptr_t)chance(1 << 20)) == 0)
        pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
}

static void (*const storms[])(void) = {
    storm_recursion, storm_code, storm_objects, storm_backtraces, storm_smashing, storm_threads,
};
enum { STORMS = sizeof storms / sizeof *storms };

static void *blow(void *storm)
{
    seed = (uint32_t)(uintptr_t)storm + 1;
    expect(jsprof_thread_attach(h.prof, "storm", &self));
    memory = jit_memory();
    while (!atomic_load(&over))
        storms[(uintptr_t)storm]();
    expect(jsprof_thread_detach(self));
    if (memory)
        munmap(memory, JIT_PAGE);
    return NULL;
}

static void run_session(uint64_t samples)
{
    pthread_t threads[STORMS];
    if (!host_open(&h, 10000, JSPROF_CLOCK_WALL))
        return;
    CHECK_EQ(jsprof_start(h.prof), 0);
    atomic_store(&over, false);
    for (uintptr_t i = 0; i < STORMS; i++)
        threads[i] = host_thread(blow, (void *)i);
    do
        CHECK_EQ(jsprof_flush(h.prof), 0);
    while (host_taken(&h) < samples);
    atomic_store(&over, true);
    for (uintptr_t i = 0; i < STORMS; i++)
        pthread_join(threads[i], NULL);
    host_finish(&h);
}

TEST(storm_of_samples_crashes_nothing_and_all_are_accounted_for)
{
    bool is_long = getenv("LONG") && *getenv("LONG");
    for (int i = 0; i < SESSIONS; i++) {
        run_session(is_long ? LONG_SAMPLES / SESSIONS : SAMPLES);
        printf("# %llu samples kept of %llu expirations\n", (unsigned long long)h.stats.samples,
               (unsigned long long)h.stats.expirations);
    }
    CHECK_EQ(atomic_load(&n_refused), 0);
}

int main(void)
{
    static char names[SOME][16];
    for (int i = 0; i < SOME; i++) {
        snprintf(names[i], sizeof *names, "function %d", i);
        jsprof_function_new(&functions[i], names[i], "storm.x", (uint32_t)i, JSPROF_KIND_VM);
    }
    RUN_ALL();
    for (int i = 0; i < SOME; i++)
        jsprof_function_free(functions[i]);
    return DONE();
}
