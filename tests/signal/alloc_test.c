/* alloc_test.c - jsprof_allocated, jsprof_freed, jsprof_moved: what the capture says of the
 * allocations of a program that knows its own, to the byte or within chance.
 *
 * SPDX-License-Identifier: MIT
 */
#include "host.h"

#include <math.h>

enum {
    ALL = 2, /* a block of 64 bytes or more is missed once in 1e13 */
    KEPT = 64,
    SIGMAS = 5,
};

static struct host h;
static jsprof_thread *me;
static uint64_t reported;

static bool began(uint32_t every, uint32_t ring_bytes)
{
    jsprof_options o = host_options(1000, JSPROF_CLOCK_CPU);
    o.alloc = every;
    o.ring_bytes = ring_bytes;
    reported = 0;
    return host_begin_with(&h, o, &me);
}

static void *take(size_t bytes)
{
    void *block = malloc(bytes);
    jsprof_allocated(me, block, bytes);
    reported += bytes;
    return block;
}

static void drop(void *block)
{
    jsprof_freed(me, block);
    free(block);
}

static void *take_as(const char *name, size_t bytes)
{
    jsprof_push(me, name, NULL, (uint32_t)(bytes % 100));
    void *block = take(bytes);
    jsprof_pop(me);
    return block;
}

/* Close, and load the capture by this measure. */
static bool measured(enum jsp_value measure)
{
    struct jsp_profile_options options = { .measure = measure };
    CHECK_EQ(jsprof_close(h.prof), 0);
    if (!host_load(&h))
        return false;
    jsp_profile_free(&h.profile);
    return CHECK_EQ(jsp_profile_load(&h.profile, &h.read, &options), 0);
}

/* The same file by the other measure. */
static bool again(enum jsp_value measure)
{
    struct jsp_profile_options options = { .measure = measure };
    jsp_profile_free(&h.profile);
    return CHECK_EQ(jsp_profile_load(&h.profile, &h.read, &options), 0);
}

static uint64_t value_of(const char *name)
{
    uint64_t value = 0;
    for (uint32_t s = 0; s < h.profile.n_stacks; s++)
        value += host_stack_has(&h, s, name) ? h.profile.stacks[s].value : 0;
    return value;
}

static uint64_t bytes_told(void)
{
    struct jsp_account_verdict v;
    jsp_account_verdict(&h.profile.account, &v);
    return v.sum.alloc_bytes;
}

static uint64_t samples_lost(void)
{
    struct jsp_account_verdict v;
    jsp_account_verdict(&h.profile.account, &v);
    return v.sum.alloc_lost + h.profile.account.session.allocs_lost;
}

/* What samples of blocks add up to on average, and the variances of that. */
struct expected {
    double samples, bytes, blocks;
    double samples_variance, bytes_variance, blocks_variance;
};

/* A block is sampled once or not at all, and represents more blocks if it was less likely. */
static void expect_block(struct expected *e, double bytes, double every)
{
    double p = -expm1(-bytes / every);
    e->samples += p;
    e->bytes += bytes;
    e->blocks++;
    e->samples_variance += p * (1 - p);
    e->bytes_variance += bytes * bytes * (1 - p) / p;
    e->blocks_variance += (1 - p) / p;
}

static bool is_near(double got, double want, double variance)
{
    double sigma = sqrt(variance);
    if (fabs(got - want) <= (double)SIGMAS * sigma)
        return true;
    printf("# %.0f is not %.0f +- %d * %.0f\n", got, want, SIGMAS, sigma);
    return false;
}

TEST(shares_and_sums_are_right_within_chance)
{
    enum { EVERY = 8192, BLOCKS = 200000 };
    struct expected all = { 0 }, three = { 0 }, one = { 0 };
    uint32_t random = 1;
    if (!began(EVERY, 1 << 26))
        return;
    for (int i = 0; i < BLOCKS; i++) {
        random = random * 1103515245 + 12345;
        size_t bytes = 8 + (random >> 16) % 200;
        drop(take_as("three", 3 * bytes));
        drop(take_as("one", bytes));
        expect_block(&three, 3 * (double)bytes, EVERY);
        expect_block(&one, (double)bytes, EVERY);
        expect_block(&all, 3 * (double)bytes, EVERY);
        expect_block(&all, (double)bytes, EVERY);
    }
    if (measured(JSP_VALUE_ALLOC)) {
        CHECK_EQ(samples_lost(), 0);
        CHECK_EQ(bytes_told(), reported);
        CHECK_EQ(value_of("three") + value_of("one"), h.profile.value);
        CHECK(is_near((double)h.profile.samples, all.samples, all.samples_variance));
        CHECK(is_near((double)h.profile.value, all.bytes, all.bytes_variance));
        CHECK(is_near((double)value_of("three"), three.bytes, three.bytes_variance));
        CHECK(is_near((double)host_weight(&h, "one"), one.blocks, one.blocks_variance));
        CHECK_EQ(h.profile.heap.every, EVERY);
    }
}

/* Large blocks are nearly all sampled; each counts for little more than its own size. */
TEST(a_large_block_counts_for_its_own_size)
{
    if (!began(4096, 1 << 20))
        return;
    drop(take_as("large", 100 * 4096));
    if (measured(JSP_VALUE_ALLOC)) {
        CHECK_EQ(value_of("large"), 100 * 4096);
        CHECK_EQ(host_weight(&h, "large"), 1);
    }
}

TEST(live_bytes_are_those_that_remain)
{
    void *kept[KEPT];
    uint64_t live = 0;
    if (!began(ALL, 1 << 22))
        return;
    for (int i = 0; i < KEPT; i++) {
        size_t bytes = 64 + (size_t)i;
        kept[i] = take_as(i % 2 ? "odd" : "even", bytes);
        drop(take_as("gone", 100));
        live += bytes;
    }
    for (int i = 0; i < KEPT; i += 4) { /* half of the even ones */
        live -= 64 + (size_t)i;
        drop(kept[i]);
    }
    if (measured(JSP_VALUE_LIVE)) {
        CHECK_EQ(h.profile.value, live);
        CHECK_EQ(h.profile.samples, KEPT - KEPT / 4);
        CHECK_EQ(value_of("gone"), 0);
        CHECK_EQ(host_samples(&h, "odd"), KEPT / 2);
        CHECK_EQ(host_samples(&h, "even"), KEPT / 4);
    }
    if (again(JSP_VALUE_ALLOC)) {
        CHECK_EQ(h.profile.value, reported);
        CHECK_EQ(h.profile.samples, 2 * KEPT);
    }
    for (int i = 0; i < KEPT; i++)
        if (i % 4)
            free(kept[i]);
}

/* The address of a moved block is used again at once, by a block that stays. */
TEST(a_block_that_moved_is_found_where_it_is)
{
    static char from[64], to[64];
    if (!began(ALL, 1 << 20))
        return;
    jsprof_push(me, "moved", NULL, 1);
    jsprof_allocated(me, from, 64);
    jsprof_allocated(me, from, 100); /* it grew in its place */
    jsprof_pop(me);
    jsprof_moved(me, from, to);
    jsprof_push(me, "stays", NULL, 1);
    jsprof_allocated(me, from, 200);
    jsprof_pop(me);
    jsprof_freed(me, to);
    if (measured(JSP_VALUE_LIVE)) {
        CHECK_EQ(value_of("moved"), 0);
        CHECK_EQ(value_of("stays"), 200);
        CHECK_EQ(h.profile.heap.n_freed, 2);
    }
}

static void *other_thread(void *blocks)
{
    void **at = blocks;
    jsprof_thread *t;
    if (!CHECK_EQ(jsprof_thread_attach(h.prof, "other", &t), 0))
        return NULL;
    for (int i = 0; i < KEPT; i++)
        jsprof_freed(t, at[i]);
    jsprof_thread_detach(t);
    return NULL;
}

TEST(another_thread_may_free_a_block)
{
    static char memory[2 * KEPT][64];
    void *blocks[KEPT];
    if (!began(ALL, 1 << 20))
        return;
    for (int i = 0; i < 2 * KEPT; i++) {
        jsprof_allocated(me, memory[i], sizeof memory[i]);
        blocks[i / 2] = memory[i];
    }
    pthread_join(host_thread(other_thread, blocks), NULL);
    if (measured(JSP_VALUE_LIVE))
        CHECK_EQ(h.profile.samples, KEPT);
}

TEST(without_the_option_and_outside_of_a_run_nothing_is_sampled)
{
    if (!began(0, 0))
        return;
    CHECK(!me->alloc_homes);
    drop(take(1 << 30));
    if (measured(JSP_VALUE_ALLOC))
        CHECK_EQ(h.profile.heap.n_allocated + bytes_told(), 0);
    if (!began(ALL, 0))
        return;
    drop(take(64));
    CHECK_EQ(jsprof_stop(h.prof), 0);
    CHECK(!me->alloc_homes);
    drop(take(128));
    CHECK_EQ(jsprof_start(h.prof), 0);
    drop(take(256));
    if (measured(JSP_VALUE_ALLOC)) {
        CHECK_EQ(h.profile.value, 64 + 256);
        CHECK_EQ(bytes_told(), 64 + 256);
    }
}

TEST(every_sample_is_in_the_file_or_counted_as_lost)
{
    enum { BLOCKS = 100000 };
    if (!began(ALL, 1 << 14))
        return;
    for (int i = 0; i < BLOCKS; i++)
        drop(take(64));
    if (measured(JSP_VALUE_ALLOC)) {
        uint64_t lost = samples_lost();
        CHECK(lost > 0);
        CHECK(h.profile.samples > 0);
        /* a record of a freed block may be lost as well */
        CHECK(h.profile.samples + lost >= BLOCKS);
        CHECK(h.profile.samples + h.profile.heap.n_freed + lost <= 2 * BLOCKS);
        CHECK_EQ(bytes_told(), 64 * (uint64_t)BLOCKS);
    }
}

/* Blocks that find no room in the table of live ones are counted. */
TEST(a_full_table_is_told)
{
    enum { BLOCKS = 1 << 15 };
    static char memory[BLOCKS];
    struct jsp_account_verdict v;
    if (!began(ALL, 1 << 26))
        return;
    for (int i = 0; i < BLOCKS; i++)
        jsprof_allocated(me, memory + i, 64);
    for (int i = 0; i < BLOCKS; i++)
        jsprof_freed(me, memory + i);
    if (measured(JSP_VALUE_LIVE)) {
        jsp_account_verdict(&h.profile.account, &v);
        CHECK(v.sum.alloc_untold >= BLOCKS / 4);
        CHECK_EQ(h.profile.samples, v.sum.alloc_untold);
    }
}

/* The timer's handler uses the same memory: its samples stay what they are. */
TEST(samples_of_time_do_not_mix_with_those_of_allocations)
{
    struct host_burn burn;
    uint64_t blocks = 0;
    if (!began(ALL, 1 << 26))
        return;
    burn = host_burn_begin(300);
    while (host_burn_on(&burn)) {
        drop(take_as("vm", 64));
        blocks++;
        host_burn_ms(1);
    }
    if (host_close(&h)) {
        CHECK(h.profile.samples > 0);
        CHECK_EQ(h.profile.heap.n_allocated, blocks);
    }
    if (again(JSP_VALUE_ALLOC)) {
        CHECK_EQ(h.profile.value, reported);
        CHECK_EQ(value_of("vm"), reported);
    }
}

static _Atomic uint32_t spin_ends;

static void *spin(void *arg)
{
    while (!host_counted(&spin_ends))
        continue;
    return arg;
}

/* The looker's samples of the wall clock may stand for a wait as well; those of allocations
 * between them do not. All threads share one processor, so that there are waits. */
TEST(allocations_after_a_wait_for_a_processor_are_not_freed_by_it)
{
    jsprof_options o = host_options(1000, JSPROF_CLOCK_WALL);
    struct host_burn burn;
    cpu_set_t all, one;
    uint64_t blocks = 0;
    o.alloc = ALL;
    o.ring_bytes = 1 << 26;
    host_choose(&o, "looker");
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    if (!host_begin_with(&h, o, &me))
        return;
    sched_setaffinity(0, sizeof one, &one);
    pthread_t spinner = host_thread(spin, NULL); /* on the same processor */
    burn = host_burn_begin(200);
    while (host_burn_on(&burn)) {
        drop(take(64));
        blocks++;
        for (volatile int i = 0; i < 2000; i++)
            continue;
    }
    host_count(&spin_ends);
    sched_setaffinity(0, sizeof all, &all);
    pthread_join(spinner, NULL);
    if (host_close(&h)) {
        printf("# %llu blocks, %llu times waiting\n", (unsigned long long)blocks,
               (unsigned long long)h.profile.by_state[JSP_STATE_WAITING]);
        CHECK(h.profile.heap.n_allocated + samples_lost() >= blocks);
        CHECK(h.profile.heap.n_allocated <= blocks);
        CHECK(h.profile.heap.n_freed <= blocks);
    }
}

static int in_child(void)
{
    jsprof_allocated(me, &h, 64);
    jsprof_freed(me, &h);
    jsprof_close(h.prof);
    jsprof_allocated(me, &h, 64);
    return 0;
}

TEST(a_forked_child_goes_on_without_the_session)
{
    if (!began(ALL, 0))
        return;
    CHECK_EQ(host_in_child(in_child), 0);
    drop(take_as("parent", 64));
    if (measured(JSP_VALUE_ALLOC))
        CHECK_EQ(h.profile.value, 64);
}

/* A thread that outlives its session allocates on. */
TEST(a_thread_without_its_session_reports_to_nobody)
{
    if (!began(ALL, 0))
        return;
    if (measured(JSP_VALUE_ALLOC)) {
        drop(take(64));
        CHECK(!me->alloc_homes);
    }
    CHECK_EQ(jsprof_thread_detach(me), 0);
}

TEST(while_paused_a_sample_has_native_frames_alone)
{
    if (!began(ALL, 0))
        return;
    jsprof_push(me, "vm", NULL, 1);
    jsprof_thread_pause(me);
    drop(take(64));
    jsprof_thread_resume(me);
    jsprof_pop(me);
    if (measured(JSP_VALUE_ALLOC)) {
        CHECK_EQ(h.profile.value, 64);
        CHECK_EQ(value_of("vm"), 0);
    }
}

enum { INSIDE = 100 };

static void *inside[INSIDE]; /* blocks that a callback frees */

static int free_inside(void *host, const void *entry, jsprof_frame *out)
{
    (void)host, (void)entry;
    for (int i = 0; i < INSIDE; i++)
        jsprof_freed(me, inside[i]);
    out->label = "decoded";
    return 1;
}

TEST(a_block_that_a_callback_frees_is_counted_as_lost)
{
    static const uint32_t depth = 1;
    static const char entry[8], *const entries = entry;
    jsprof_backtrace_frame frames[8];
    const jsprof_stack stack = { .size = sizeof stack, .depth = &depth, .entries = &entries,
                                 .depth_bytes = 4, .stride = 8, .limit = 1,
                                 .decode_sigsafe = free_inside };
    if (!began(ALL, 1 << 22))
        return;
    for (int i = 0; i < INSIDE; i++)
        inside[i] = take(KEPT);
    CHECK_EQ(jsprof_thread_set_stack(me, &stack), 0);
    CHECK(jsprof_backtrace(me, NULL, frames, 8) > 0); /* it uses the record */
    CHECK_EQ(jsprof_thread_set_stack(me, NULL), 0);
    for (int i = 0; i < INSIDE; i++)
        drop(inside[i]); /* the callback has freed them: nothing more to record */
    if (measured(JSP_VALUE_LIVE))
        CHECK_EQ(samples_lost(), INSIDE);
    CHECK_EQ(jsprof_thread_detach(me), 0);
}

TEST(a_free_of_null_ends_where_a_sampled_block_has_its_home)
{
    if (!began(ALL, 1 << 20))
        return;
    uintptr_t blocks[2], at = 4096; /* only numbers: nothing reads them */
    for (int i = 0; i < 2; i++) {
        do
            at += 16;
        while (jsprof_alloc_home((const void *)at) != jsprof_alloc_home(NULL));
        blocks[i] = at;
        jsprof_allocated(me, (const void *)at, 1 << 20);
    }
    jsprof_freed(me, (const void *)blocks[0]); /* its slot is free, and has a number */
    jsprof_freed(me, NULL);
    jsprof_moved(me, NULL, (const void *)blocks[0]);
    jsprof_freed(me, (const void *)1);
    if (measured(JSP_VALUE_LIVE)) {
        CHECK_EQ(samples_lost(), 0);
        uint64_t live = 0;
        for (uint32_t i = 0; i < h.profile.n_stacks; i++)
            live += h.profile.stacks[i].value;
        CHECK_EQ(live, 1 << 20);
    }
    CHECK_EQ(jsprof_thread_detach(me), 0);
}

TEST_MAIN()
