/* reuse_test.c - one piece of memory holds a thousand functions in turn: each sample is
 * credited to the one that ran, by the program's own notes of when that was.
 *
 * SPDX-License-Identifier: MIT
 */
#include "stack.h"

#include "jit.h"

enum { FUNCTIONS = 1000, TURNS = 400000, PADS = 7 };

STACK_DECLARE(call_it);
static const struct stack_known known[] = { STACK_KNOWN(call_it) };

static struct host h;
static jsprof_thread *me;
static unsigned char *memory[2];

/* When each ran, and where. */
static struct run {
    uint64_t begin, end;
    struct jit_code code;
    bool is_moved;
} runs[FUNCTIONS];
static char names[FUNCTIONS][16];

static STACK_PLACED(call_it) void call_it(struct run *run)
{
    run->begin = host_ns(CLOCK_MONOTONIC);
    ((void (*)(void))(uintptr_t)run->code.start)();
    run->end = host_ns(CLOCK_MONOTONIC);
}

/* Some begin a little further in or are longer, some were registered elsewhere first
 * and then moved, and only every third is removed: the next one takes its place. */
static void generate(uint32_t i)
{
    static const jsprof_code_row leaf = { 0, 8, -8, 0, 0 };
    struct run *run = &runs[i];
    unsigned char *at = memory[0] + i % PADS;
    run->is_moved = i % 5 == 0;
    run->code = jit_counter(at, TURNS, i % 3 * 16);
    jsprof_code code = {
        .size = sizeof code, .start = run->is_moved ? memory[1] : at,
        .length = run->code.length, .name = names[i], .rows = &leaf, .n_rows = 1,
    };
    CHECK_EQ(jsprof_code_add(h.prof, &code), 0);
    if (run->is_moved)
        CHECK_EQ(jsprof_code_move(h.prof, code.start, at), 0);
}

static void retire(uint32_t i)
{
    if (i % 3 == 0)
        CHECK_EQ(jsprof_code_remove(h.prof, runs[i].code.start), 0);
}

/* What the samples say of the notes. */
static struct seen {
    uint64_t n_right, n_wrong, n_missing;
    uint32_t per_run[FUNCTIONS];
} seen;

static const char *jit_of(const struct stack *stack)
{
    for (uint32_t i = 0; i < stack->n; i++)
        if (stack->names[i][0] == 'f' && stack->names[i][1] == ' ')
            return stack->names[i];
    return NULL;
}

static struct run *run_at(uint64_t time_ns)
{
    uint32_t low = 0, high = FUNCTIONS;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (runs[mid].begin <= time_ns)
            low = mid + 1;
        else
            high = mid;
    }
    return low && time_ns <= runs[low - 1].end ? &runs[low - 1] : NULL;
}

static bool is_in_memory(uint64_t addr)
{
    uint64_t first = (uintptr_t)memory[0], second = (uintptr_t)memory[1];
    return addr - first < JIT_PAGE || addr - second < JIT_PAGE;
}

static void compare(const struct stack *stack, void *arg)
{
    const struct run *run = run_at(stack->time_ns);
    const char *name = jit_of(stack);
    bool is_raw = is_in_memory(stack->addrs[stack->n - 1]);
    (void)arg;
    if (name && run && strcmp(name, names[run - runs]) == 0 && stack->n > 1 &&
        strcmp(stack->names[stack->n - 2], "call_it") == 0) {
        seen.n_right++;
        seen.per_run[run - runs]++;
    } else if (name || is_raw) {
        if (seen.n_wrong++ < 3 && !HOST_LATE)
            stack_show(run ? names[run - runs] : "nobody's", stack);
    } else if (run) {
        seen.n_missing++; /* in call_it itself, or in the clock */
    }
}

static void check_notes(void)
{
    struct stack_reader reader = { known, 1, compare, NULL };
    uint32_t n_seen = 0;
    memset(&seen, 0, sizeof seen);
    uint64_t n = stack_each(&h, &reader);
    for (int i = 0; i < FUNCTIONS; i++)
        n_seen += seen.per_run[i] != 0;
    printf("# %llu samples, %llu right in %u functions, %llu beside them\n",
           (unsigned long long)n, (unsigned long long)seen.n_right, n_seen,
           (unsigned long long)seen.n_missing);
    if (HOST_LATE) {
        CHECK(n > 0);
        return;
    }
    CHECK_EQ(seen.n_wrong, 0);
    CHECK(seen.n_missing * 20 < seen.n_right + 20);
    CHECK(seen.n_right > 50 && n_seen > FUNCTIONS / 10);
}

static bool begin(void)
{
    if (!JIT_WORKS) {
        SKIP("x86-64 machine code");
        return false;
    }
    memory[0] = jit_memory();
    memory[1] = jit_memory();
    return CHECK(memory[0] && memory[1]) && host_open(&h, 10000, JSPROF_CLOCK_WALL);
}

static void finish(void)
{
    if (host_close(&h)) {
        host_check(&h);
        check_notes();
    }
    host_free(&h);
    munmap(memory[0], JIT_PAGE);
    munmap(memory[1], JIT_PAGE);
}

TEST(each_of_a_thousand_functions_at_one_address_is_credited)
{
    if (!begin())
        return;
    CHECK_EQ(jsprof_thread_attach(h.prof, "main", &me), 0);
    CHECK_EQ(jsprof_start(h.prof), 0);
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        generate(i);
        call_it(&runs[i]);
        retire(i);
    }
    CHECK_EQ(jsprof_thread_detach(me), 0);
    finish();
}

/* The main thread registers, the other one runs it at once. */
static _Atomic uint32_t n_made, n_ran;

static uint32_t wait_for(_Atomic uint32_t *counter, uint32_t at_least)
{
    uint32_t now;
    while ((now = atomic_load(counter)) < at_least)
        sched_yield();
    return now;
}

static void *run_all(void *arg)
{
    jsprof_thread *own = NULL;
    if (jsprof_thread_attach(h.prof, "runner", &own) != 0)
        return NULL;
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        wait_for(&n_made, i + 1);
        call_it(&runs[i]);
        atomic_store(&n_ran, i + 1);
    }
    jsprof_thread_detach(own);
    return arg;
}

TEST(code_that_another_thread_registered_a_moment_ago_is_credited)
{
    void *ended = NULL;
    if (!begin())
        return;
    atomic_store(&n_made, 0);
    atomic_store(&n_ran, 0);
    CHECK_EQ(jsprof_start(h.prof), 0);
    pthread_t thread = host_thread(run_all, &h);
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        generate(i);
        atomic_store(&n_made, i + 1);
        wait_for(&n_ran, i + 1);
        retire(i);
    }
    pthread_join(thread, &ended);
    CHECK(ended == &h);
    finish();
}

int main(void)
{
    for (int i = 0; i < FUNCTIONS; i++)
        snprintf(names[i], sizeof *names, "f %d", i);
    RUN(each_of_a_thousand_functions_at_one_address_is_credited);
    RUN(code_that_another_thread_registered_a_moment_ago_is_credited);
    return DONE();
}
