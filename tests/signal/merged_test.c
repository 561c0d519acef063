/* merged_test.c - a program whose VM calls C, which calls the VM, four times over: in
 * every sample all of them are in the order in which they were called, in each form of the
 * host's VM frames.
 *
 * SPDX-License-Identifier: MIT
 */
#include "stack.h"

enum { LEVELS = 4, DEPTH = 64, SORTED = 3, LEAF_FILLS = 2, ROUNDS = 500, SAMPLES = 100 };

STACK_DECLARE(program);
STACK_DECLARE(run_vm);
STACK_DECLARE(sort);
STACK_DECLARE(compare);
STACK_DECLARE(leaf);
static const struct stack_known known[] = {
    STACK_KNOWN(program), STACK_KNOWN(run_vm), STACK_KNOWN(sort), STACK_KNOWN(compare),
    STACK_KNOWN(leaf),
};

/* program, then run_vm, vm 3, in 3, sort, compare, and so on down to vm 0, in 0, leaf. */
static const char *calls[2 + 5 * LEVELS + 2];
static char names[2 * LEVELS][8];
static jsprof_function *functions[2 * LEVELS]; /* vm N, then in N */

static struct host h;
static jsprof_thread *me;

static enum form { LINKS, PUSHES, ENTERS, HOST, HOST_LOOP } form;

/* The host's own stack. */
struct entry {
    uint32_t is_entry, line;
    const char *name;
    void *sp;
};
static struct entry host_array[DEPTH], *host_entries = host_array;
static volatile uint32_t host_depth;

/* Without addresses, but with the beginnings of activations. */
static int decode_sigsafe(void *host, const void *at, jsprof_frame *out)
{
    const struct entry *entry = at;
    (void)host;
    out->label = entry->name;
    out->line = entry->line;
    out->kind = JSPROF_KIND_VM | (entry->is_entry ? (uint32_t)JSPROF_FRAME_ENTRY : 0u);
    return 1;
}

static inline __attribute__((always_inline)) void enter(jsprof_link *link, int which)
{
    struct entry *entry = &host_array[host_depth % DEPTH];
    switch (form) {
    case LINKS: jsprof_link_enter(me, link, functions[which]); break;
    case ENTERS: jsprof_enter(me, functions[which]); break;
    case PUSHES: jsprof_push(me, names[which], NULL, 1); break;
    default:
        *entry = (struct entry){ which < LEVELS, 7, names[which], __builtin_frame_address(0) };
        __atomic_signal_fence(__ATOMIC_RELEASE);
        host_depth = host_depth + 1;
    }
}

static inline __attribute__((always_inline)) void leave(jsprof_link *link)
{
    if (form == LINKS)
        jsprof_link_leave(me, link);
    else if (form == ENTERS || form == PUSHES)
        jsprof_pop(me);
    else
        host_depth = host_depth - 1;
}

static void run_vm(int level);
static int now_at;

static STACK_PLACED(compare) int compare(const void *a, const void *b)
{
    int level = now_at, order = *(const int *)a - *(const int *)b;
    run_vm(level - 1);
    now_at = level;
    return order;
}

static STACK_PLACED(sort) int sort(int level)
{
    int numbers[SORTED] = { 3, 1, 2 };
    now_at = level;
    qsort(numbers, SORTED, sizeof *numbers, compare);
    return numbers[0];
}

static char buffer[1 << 12];
static void *(*volatile fill)(void *, int, size_t) = memset;

/* Short, so that many samples fall between calls, into prologues and epilogues. */
static STACK_PLACED(leaf) void leaf(void)
{
    for (int i = 0; i < LEAF_FILLS; i++)
        fill(buffer, i, sizeof buffer);
}

static STACK_PLACED(run_vm) void run_vm(int level)
{
    jsprof_link link, inner;
    enter(&link, level);
    enter(&inner, LEVELS + level);
    if (level)
        sort(level);
    else
        leaf();
    leave(&inner);
    leave(&link);
}

static STACK_PLACED(program) void program(void)
{
    for (int i = 0; i < ROUNDS; i++)
        run_vm(LEVELS - 1);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

static void prepare(void)
{
    int at = 0;
    calls[at++] = "program";
    for (int level = LEVELS - 1; level >= 0; level--) {
        snprintf(names[level], sizeof *names, "vm %d", level);
        snprintf(names[LEVELS + level], sizeof *names, "in %d", level);
        calls[at++] = "run_vm";
        calls[at++] = names[level];
        calls[at++] = names[LEVELS + level];
        calls[at++] = level ? "sort" : "leaf";
        if (level)
            calls[at++] = "compare";
    }
    for (int i = 0; i < 2 * LEVELS; i++)
        jsprof_function_new(&functions[i], names[i], NULL, 0, JSPROF_KIND_VM);
}

static bool describe_host(void)
{
    jsprof_stack stack = {
        .size = sizeof stack, .depth = (const void *)&host_depth, .depth_bytes = 4,
        .entries = &host_entries, .stride = sizeof(struct entry), .limit = DEPTH,
        .label_offset = offsetof(struct entry, name), .detail_offset = JSPROF_NO_FIELD,
        .sp_offset = offsetof(struct entry, sp), .pc_offset = JSPROF_NO_FIELD,
        .line_offset = offsetof(struct entry, line), .kind = JSPROF_KIND_VM,
    };
    if (form == HOST_LOOP)
        stack.decode_sigsafe = decode_sigsafe;
    return CHECK_EQ(jsprof_thread_set_stack(me, &stack), 0);
}

static void mark_loop(void)
{
    size_t length = (size_t)(__stop_at_run_vm - __start_at_run_vm);
    if (form == HOST_LOOP)
        CHECK_EQ(jsprof_interpreter_add(h.prof, __start_at_run_vm, length), 0);
}

static void check(enum form of)
{
    struct stack_chain chain = { .calls = calls };
    struct stack_reader reader = { known, sizeof known / sizeof *known, stack_check_chain,
                                   &chain };
    form = of;
    if (!host_open(&h, 10000, JSPROF_CLOCK_CPU))
        return;
    mark_loop();
    CHECK_EQ(jsprof_thread_attach(h.prof, "main", &me), 0);
    if ((of != HOST && of != HOST_LOOP) || describe_host())
        CHECK_EQ(jsprof_start(h.prof), 0);
    host_work(&h, program, SAMPLES);
    if (host_close(&h)) {
        uint64_t n = stack_each(&h, &reader);
        printf("# %llu samples, %llu whole\n", (unsigned long long)n,
               (unsigned long long)chain.n_whole);
        CHECK(n >= SAMPLES);
        /* Chance: a third or more are whole, of which as many are in memset. 10 of 100 are fewer in
         * 1 of 1,000,000 runs. */
        if (!HOST_LATE) { /* else registers are of an earlier moment than the frames */
            CHECK_EQ(chain.n_wrong, 0);
            CHECK(chain.n_whole * 10 > n);
            CHECK(chain.n_native_leaf * 10 > chain.n_whole);
        }
    }
    CHECK_EQ(jsprof_thread_detach(me), 0);
}

TEST_OF(linked_entries_stand_between_their_c_functions, check(LINKS))
TEST_OF(pushed_entries_stand_between_their_c_functions, check(PUSHES))
TEST_OF(entered_functions_stand_between_their_c_functions, check(ENTERS))
TEST_OF(entries_of_the_hosts_own_array_stand_between_their_c_functions, check(HOST))
TEST_OF(entries_without_an_address_are_dealt_out_to_the_interpreters_loops, check(HOST_LOOP))

/* -- More frames than fit ------------------------------------------------------------- */

enum { CUT_DEPTH = 6, CUT_OUTER = 4 }; /* of 8, 4 outermost and 2 innermost */

static struct marked {
    uint64_t n, n_wrong, n_natives; /* with natives inside of all that */
} marked;

/* The mark lies between the outermost and the innermost frames of the VM, and the last of
 * these is the one that runs. */
static void check_mark(const struct stack *stack, void *arg)
{
    uint32_t n_outside = 0, n_inside = 0;
    const char *last = "";
    bool has_mark = false;
    (void)arg;
    for (uint32_t i = 0; i < stack->n; i++) {
        bool is_vm = strncmp(stack->names[i], "vm ", 3) == 0 ||
                     strncmp(stack->names[i], "in ", 3) == 0;
        has_mark = has_mark || strcmp(stack->names[i], "[frames cut]") == 0;
        n_outside += is_vm && !has_mark;
        n_inside += is_vm && has_mark;
        last = is_vm ? stack->names[i] : last;
    }
    if (!has_mark)
        return;
    bool is_right = n_outside == CUT_OUTER && n_inside == CUT_DEPTH - CUT_OUTER &&
                    (!strcmp(last, "vm 0") || !strcmp(last, "in 0"));
    if (!is_right && marked.n_wrong++ < 3)
        stack_show("wrong", stack);
    marked.n++;
    marked.n_natives += strcmp(stack->names[stack->n - 1], last) != 0;
}

TEST(frames_beyond_the_depth_leave_their_mark_and_the_innermost_stay)
{
    struct stack_reader reader = { known, sizeof known / sizeof *known, check_mark, NULL };
    jsprof_options options = host_options(10000, JSPROF_CLOCK_CPU);
    options.max_depth = CUT_DEPTH;
    form = LINKS;
    if (!CHECK_EQ(host_open_with(&h, options), 0))
        return;
    CHECK_EQ(jsprof_thread_attach(h.prof, "main", &me), 0);
    CHECK_EQ(jsprof_start(h.prof), 0);
    host_work(&h, program, SAMPLES);
    if (host_close(&h)) {
        stack_each(&h, &reader);
        CHECK_EQ(HOST_LATE ? 0 : marked.n_wrong, 0);
        CHECK(marked.n > SAMPLES / 10 || HOST_LATE);
        /* Which instruction is interrupted depends on the processor: a tenth are the innermost
         * function's own on one, and most on an emulator. */
        CHECK(marked.n_natives * 4 > marked.n * 3 || HOST_LATE || getenv("RUN_UNDER"));
    }
    CHECK_EQ(jsprof_thread_detach(me), 0);
}

int main(void)
{
    prepare();
    RUN_ALL();
    for (int i = 0; i < 2 * LEVELS; i++)
        jsprof_function_free(functions[i]);
    return DONE();
}
