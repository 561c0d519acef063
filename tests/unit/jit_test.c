/* jit_test.c - compiled code in the middle of a stack: found by frame pointer or by the
 * host's rows; and where there is neither, what is left is in its true order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "signal/stack.h"

#include "signal/jit.h"

enum { LEVELS = 4, LEAF_FILLS = 4, ROUNDS = 5000, SAMPLES = 100, PER_LEVEL = 4 };

STACK_DECLARE(program);
STACK_DECLARE(run_vm);
STACK_DECLARE(callback);
STACK_DECLARE(leaf);
static const struct stack_known known[] = {
    STACK_KNOWN(program), STACK_KNOWN(run_vm), STACK_KNOWN(callback), STACK_KNOWN(leaf),
};

/* program; run_vm, vm 3, jit 3, callback; run_vm, vm 2, ...; run_vm, vm 0, leaf */
static const char *calls[2 + PER_LEVEL * LEVELS];
static char names[2][LEVELS][8];

static struct host h;
static jsprof_thread *me;
static jsprof_function *functions[LEVELS];
static struct jit_code codes[LEVELS];

static STACK_PLACED(leaf) void leaf(void)
{
    static char buffer[4096];
    static void *(*volatile fill)(void *, int, size_t) = memset;
    for (int i = 0; i < LEAF_FILLS; i++)
        fill(buffer, i, sizeof buffer);
}

static STACK_PLACED(run_vm) void run_vm(uintptr_t level)
{
    jsprof_link link;
    jsprof_link_enter(me, &link, functions[level]);
    if (level)
        ((void (*)(uintptr_t))(uintptr_t)codes[level].start)(level);
    else
        leaf();
    jsprof_link_leave(me, &link);
}

static STACK_PLACED(callback) void callback(uintptr_t level)
{
    run_vm(level - 1);
    __asm__ volatile("" ::: "memory");
}

static STACK_PLACED(program) void program(void)
{
    for (int i = 0; i < ROUNDS; i++)
        run_vm(LEVELS - 1);
    __asm__ volatile("" ::: "memory");
}

static void prepare(void)
{
    int at = 0;
    calls[at++] = "program";
    for (int level = LEVELS - 1; level >= 0; level--) {
        snprintf(names[0][level], sizeof *names[0], "vm %d", level);
        snprintf(names[1][level], sizeof *names[1], "jit %d", level);
        calls[at++] = "run_vm";
        calls[at++] = names[0][level];
        calls[at++] = level ? names[1][level] : "leaf";
        if (level)
            calls[at++] = "callback";
        jsprof_function_new(&functions[level], names[0][level], NULL, 0, JSPROF_KIND_VM);
    }
}

static void generate(enum jit_frame frame)
{
    for (int level = 1; level < LEVELS; level++) {
        struct jit_code *code = &codes[level];
        *code = jit_caller(jit_memory(), frame, callback);
        jsprof_code_row rows[] = {
            { 0, 8, -8, 0, 0 }, { code->body, 32, -8, 0, 0 }, { code->tail, 8, -8, 0, 0 },
        };
        jsprof_code to = { .size = sizeof to, .start = code->start, .length = code->length,
                           .name = names[1][level] };
        if (frame == JIT_BY_ROWS) {
            to.rows = rows;
            to.n_rows = 3;
        }
        CHECK_EQ(jsprof_code_add(h.prof, &to), 0);
    }
}

static bool run(enum jit_frame frame, const struct stack_reader *reader, uint64_t *n)
{
    if (!host_open(&h, 10000, JSPROF_CLOCK_CPU))
        return false;
    CHECK_EQ(jsprof_thread_attach(h.prof, "main", &me), 0);
    generate(frame);
    CHECK_EQ(jsprof_start(h.prof), 0);
    host_work(&h, program, SAMPLES);
    bool good = host_close(&h);
    if (good) {
        *n = stack_each(&h, reader);
        CHECK(*n >= SAMPLES);
    }
    CHECK_EQ(jsprof_thread_detach(me), 0);
    for (int level = 1; level < LEVELS; level++)
        munmap(codes[level].start, JIT_PAGE);
    return good;
}

static bool works(void)
{
#ifdef __GLIBC__
    if (JIT_WORKS)
        return true;
#endif
    SKIP("needs x86-64 and a C library with unwind rows");
    return false;
}

static void check_whole(enum jit_frame frame)
{
    struct stack_chain chain = { .calls = calls };
    struct stack_reader reader = { known, sizeof known / sizeof *known, stack_check_chain,
                                   &chain };
    uint64_t n = 0;
    if (!works())
        return;
    if (run(frame, &reader, &n) && !HOST_LATE) {
        printf("# %llu samples, %llu whole, %llu wrong\n", (unsigned long long)n,
               (unsigned long long)chain.n_whole, (unsigned long long)chain.n_wrong);
        CHECK_EQ(chain.n_wrong, 0);
        CHECK(chain.n_whole * 10 > n);
    }
}

TEST_OF(compiled_code_with_frame_pointers_is_walked_through_at_every_instruction,
        check_whole(JIT_BY_POINTER))
TEST_OF(compiled_code_with_rows_is_walked_through_at_every_instruction, check_whole(JIT_BY_ROWS))

/* What is known of a stack whose walk ended inside of compiled code. */
struct broken {
    uint64_t n_wrong, n_whole;
};

static int place_of(const char *name, int from)
{
    while (calls[from] && strcmp(calls[from], name) != 0)
        from++;
    return calls[from] ? from : -1;
}

/* All VM frames are there, in order; from the first native frame on nothing is missing. */
static void check_broken(const struct stack *stack, void *arg)
{
    struct broken *broken = arg;
    int at = -1, next_vm = LEVELS - 1;
    bool wrong = false, is_native = false;
    for (uint32_t i = 0; i < stack->n && !wrong; i++) {
        const char *name = stack->names[i];
        bool is_vm = strncmp(name, "vm ", 3) == 0;
        if (strcmp(name, "?") == 0)
            continue;
        int found = place_of(name, at + 1);
        wrong = found < 0 || (is_native && found != at + 1) ||
                (is_vm && name[3] - '0' != next_vm);
        is_native = is_native || !is_vm;
        next_vm -= is_vm;
        at = found;
    }
    if (wrong && broken->n_wrong++ < 3 && !HOST_LATE)
        stack_show("wrong", stack);
    broken->n_whole += !wrong && at >= 0 && !calls[at + 1];
}

TEST(compiled_code_that_can_not_be_walked_keeps_what_is_known_in_order)
{
    struct broken broken = { 0, 0 };
    struct stack_reader reader = { known, sizeof known / sizeof *known, check_broken, &broken };
    uint64_t n = 0;
    if (!works())
        return;
    if (run(JIT_BY_NOTHING, &reader, &n) && !HOST_LATE) {
        printf("# %llu samples, %llu to the leaf\n", (unsigned long long)n,
               (unsigned long long)broken.n_whole);
        CHECK_EQ(broken.n_wrong, 0);
        CHECK(broken.n_whole * 10 > n);
        CHECK(h.stats.stop_no_table * 2 > n);
    }
}

int main(void)
{
    prepare();
    RUN_ALL();
    for (int level = 0; level < LEVELS; level++)
        jsprof_function_free(functions[level]);
    return DONE();
}
