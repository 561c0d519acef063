/* stacks_test.c - VM stacks that are deep, broken, in transition, or on little memory,
 * sampled for real and read back by name.
 *
 * SPDX-License-Identifier: MIT
 */
#include "host.h"

#include <setjmp.h>

enum { DEEP = HOST_LATE ? 20000 : 100000 }; /* the thread sanitizer has a limit */

static struct host h;
static jsprof_thread *me;

static bool begin_with(jsprof_options options)
{
    return host_begin_with(&h, options, &me);
}

static bool begin(void)
{
    return begin_with(host_options(10000, JSPROF_CLOCK_WALL));
}

/* Pause: a stop may have to wait for a thread without a processor, and all of that time would
 * be sampled, without a frame. */
static bool finish(void)
{
    jsprof_thread_pause(me);
    if (!host_close(&h))
        return false;
    host_check(&h);
    return CHECK(h.stats.samples > 0);
}

static jsprof_function *function(const char *name)
{
    jsprof_function *f = NULL;
    CHECK_EQ(jsprof_function_new(&f, name, NULL, 0, JSPROF_KIND_VM), 0);
    return f;
}

/* Of all samples, those whose innermost frame, without those of C, has this name. */
static uint32_t leaf_share(const char *name)
{
    static struct jsp_profile_frame frames[JSP_PROFILE_DEPTH];
    uint64_t samples = 0;
    for (uint32_t s = 0; s < h.profile.n_stacks; s++) {
        int n = jsp_profile_frames(&h.profile, s, frames), at = 0;
        const struct jsp_function *f = NULL;
        while (at < n && ((f = &h.profile.functions[frames[at].function])->kind ==
                              JSPROF_KIND_NATIVE ||
                          strcmp(f->name, JSP_STATE_WAITING_FRAME) == 0))
            at++;
        samples += at < n && !strcmp(f->name, name) ? h.profile.stacks[s].samples : 0;
    }
    return h.profile.samples ? (uint32_t)(100 * samples / h.profile.samples) : 0;
}

static __attribute__((noinline)) long recurse(int depth, const jsprof_function *f)
{
    jsprof_link link;
    long sum = depth;
    jsprof_link_enter(me, &link, f);
    if (depth > 0)
        sum += recurse(depth - 1, f);
    else
        host_burn_ms(100);
    jsprof_link_leave(me, &link);
    return sum;
}

static void *recurse_deep(void *arg)
{
    jsprof_function *root = function("root"), *f = function("inner");
    jsprof_link link;
    if (begin()) {
        jsprof_link_enter(me, &link, root);
        recurse(DEEP, f);
        jsprof_link_leave(me, &link);
        if (finish()) {
            CHECK(host_share(&h, "root") > 80);
            CHECK(host_share(&h, "[frames cut]") > 80);
            CHECK(leaf_share("inner") > 80);
            CHECK(h.stats.frames_cut > DEEP - 1000);
            CHECK(h.stats.frames_bad <= (HOST_LATE ? h.stats.samples / 10 : 0));
        }
        CHECK_EQ(jsprof_thread_detach(me), 0);
        host_free(&h);
    }
    jsprof_function_free(root);
    jsprof_function_free(f);
    return arg;
}

TEST(deep_recursion_with_linked_frames_keeps_its_roots)
{
    pthread_t thread;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 512 << 20);
    int err = pthread_create(&thread, &attr, recurse_deep, NULL);
    if (!err)
        pthread_join(thread, NULL); /* its checks are the only ones meanwhile */
    CHECK_EQ(err, 0);
}

/* Push so many, burn, pop them, burn as long. */
static void burn_deep_and_flat(uint32_t n)
{
    jsprof_push(me, "root", NULL, 0);
    for (uint32_t i = 0; i < n; i++)
        jsprof_push(me, "inner", NULL, 0);
    jsprof_push(me, "leaf", NULL, 0);
    host_burn_ms(30);
    for (uint32_t i = 0; i <= n; i++)
        jsprof_pop(me);
    host_burn_ms(30);
    jsprof_pop(me);
    CHECK_EQ(me->depth, 0);
}

TEST(plain_recursion_of_600_levels_gives_the_leaf_its_self_time)
{
    if (!begin())
        return;
    for (int i = 0; i < 10; i++) /* a machine that is away takes one of them at most */
        burn_deep_and_flat(600);
    if (finish()) {
        uint32_t leaf = leaf_share("leaf");
        CHECK(leaf > 5 && leaf < 95);
        CHECK_EQ(leaf_share("[frames cut]"), 0);
        CHECK(host_share(&h, "[frames cut]") >= leaf);
        CHECK(host_share(&h, "root") > 80);
    }
    CHECK_EQ(jsprof_thread_detach(me), 0);
    host_free(&h);
}

TEST(depth_beyond_capacity_keeps_the_roots_and_comes_back)
{
    jsprof_options options = host_options(10000, JSPROF_CLOCK_WALL);
    options.max_depth = 4;
    if (!begin_with(options))
        return;
    burn_deep_and_flat(me->capacity);
    if (finish()) {
        uint32_t cut = leaf_share("[deeper frames cut]");
        CHECK(cut > 5 && cut < 95);
        CHECK_EQ(host_share(&h, "leaf"), 0); /* it was never stored */
        CHECK(host_share(&h, "root") > 80);
    }
    CHECK_EQ(jsprof_thread_detach(me), 0);
    host_free(&h);
}

TEST(leave_below_zero_is_counted_and_does_no_harm)
{
    if (!begin())
        return;
    jsprof_push(me, "work", NULL, 0);
    for (int i = 0; i < 4; i++)
        jsprof_pop(me);
    jsprof_leave_to(me, 7);
    CHECK_EQ(me->depth, 0);
    jsprof_push(me, "work", NULL, 0);
    host_burn_ms(20);
    jsprof_pop(me);
    if (finish()) {
        CHECK_EQ(h.stats.underflows, 4);
        CHECK(host_samples(&h, "work") > 20);
    }
    CHECK_EQ(jsprof_thread_detach(me), 0);
    host_free(&h);
}

/* Both labels are at one address, one after the other. */
TEST(label_that_was_overwritten_shows_each_text_in_its_time)
{
    char label[16];
    if (!begin())
        return;
    for (int i = 0; i < 40; i++) {
        strcpy(label, i & 1 ? "odd" : "even");
        jsprof_push(me, label, NULL, 0);
        host_burn_ms(5);
        jsprof_pop(me);
        memset(label, '#', sizeof label); /* no end: never to be read */
    }
    if (finish()) {
        uint32_t odd = host_share(&h, "odd"), even = host_share(&h, "even");
        CHECK(odd + even > 80);
        CHECK(odd > 20 && even > 20);
    }
    CHECK_EQ(jsprof_thread_detach(me), 0);
    host_free(&h);
}

/* The label of the slot's last user is freed: asan reports a read of it. */
TEST(enter_without_a_function_does_not_show_the_frame_before)
{
    char *label = strdup("freed");
    if (!label || !begin())
        return;
    jsprof_push(me, label, label, 0);
    jsprof_pop(me);
    memset(label, 'x', 5);
    free(label);
    jsprof_enter(me, NULL);
    host_burn_ms(20);
    jsprof_leave(me);
    if (finish()) {
        CHECK(host_share(&h, "[no name]") > 80);
        CHECK(h.stats.frames_bad > 0);
    }
    CHECK_EQ(jsprof_thread_detach(me), 0);
    host_free(&h);
}

static jmp_buf out;

static volatile bool jump;

static __attribute__((noinline)) void jump_out(const jsprof_function *f, int depth)
{
    jsprof_link link;
    jsprof_link_enter(me, &link, f);
    if (depth)
        jump_out(f, depth - 1);
    else if (jump)
        longjmp(out, 1);
    jsprof_link_leave(me, &link);
}

/* Writes over where the dead links stood. */
static __attribute__((noinline)) void burn_over(uint64_t ms)
{
    volatile unsigned char junk[4096];
    for (size_t i = 0; i < sizeof junk; i++)
        junk[i] = 0x41;
    host_burn_ms(ms);
}

TEST(links_that_longjmp_left_behind_are_not_followed)
{
    jsprof_function *f = function("jumped over"), *g = function("still there");
    jsprof_link link;
    if (!begin())
        return;
    jsprof_link_enter(me, &link, g);
    jump = true;
    if (!setjmp(out))
        jump_out(f, 20);
    burn_over(20); /* the host has not noticed yet: counted, not followed */
    me->top = &link;
    host_burn_ms(20);
    jsprof_link_leave(me, &link);
    if (finish()) {
        uint64_t there = host_samples(&h, "still there");
        CHECK(there > 20 && h.stats.samples - there > 20);
        CHECK(host_samples(&h, "jumped over") * 10 < h.stats.samples);
        CHECK(h.stats.frames_bad > 0);
    }
    CHECK_EQ(jsprof_thread_detach(me), 0);
    host_free(&h);
    jsprof_function_free(f);
    jsprof_function_free(g);
}

/* Its frame is gone when it returns, and what the entry says of it is wrong. */
static __attribute__((noinline)) void enter_in(const jsprof_function *f)
{
    jsprof_enter(me, f);
}

static __attribute__((noinline)) void helper(const jsprof_function *f)
{
    volatile char room[3000];
    room[sizeof room - 1] = 1;
    enter_in(f);
    room[0] = 2;
}

TEST(entry_made_in_a_helper_that_returned_is_counted)
{
    jsprof_function *f = function("outer"), *g = function("of a helper");
    if (!begin())
        return;
    jsprof_enter(me, f);
    helper(g);
    host_burn_ms(40);
    jsprof_leave(me);
    jsprof_leave(me);
    if (finish()) {
        CHECK(host_samples(&h, "of a helper") > 20);
        CHECK(h.stats.frames_bad > 20);
    }
    CHECK_EQ(jsprof_thread_detach(me), 0);
    host_free(&h);
    jsprof_function_free(f);
    jsprof_function_free(g);
}

TEST(pauses_nest_and_are_counted)
{
    if (!begin())
        return;
    jsprof_thread_pause(me);
    jsprof_thread_pause(me);
    jsprof_push(me, "hidden", NULL, 0);
    host_burn_ms(20);
    jsprof_thread_resume(me);
    host_burn_ms(20);
    jsprof_pop(me);
    jsprof_thread_resume(me);
    jsprof_thread_resume(me); /* one too many does nothing */
    jsprof_push(me, "shown", NULL, 0);
    host_burn_ms(20);
    jsprof_pop(me);
    if (finish()) {
        CHECK_EQ(host_weight(&h, "hidden"), 0);
        CHECK(host_weight(&h, "shown") > 100);
        CHECK(h.stats.lost_paused > 200);
    }
    CHECK_EQ(jsprof_thread_detach(me), 0);
    host_free(&h);
}

static stack_t alt;
static size_t room_left; /* bytes that a signal finds there, beside its own frame */
static uintptr_t in_signal;

static void look_where_we_are(int sig)
{
    (void)sig;
    in_signal = (uintptr_t)__builtin_frame_address(0);
}

/* The host's own handler runs on its alternate stack and uses most of it up; we come
 * on top of it. */
static void burn_in_handler(int sig)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), low = (uintptr_t)alt.ss_sp;
    raise(SIGUSR2); /* costs the stack what ours will cost */
    volatile char *used = __builtin_alloca(in_signal - low - room_left);
    CHECK(here > in_signal && low + room_left < in_signal);
    used[0] = (char)sig;
    host_burn_ms(20);
}

static void on_alternate_stack(size_t room)
{
    struct sigaction on_it = { .sa_handler = burn_in_handler, .sa_flags = SA_ONSTACK };
    stack_t before;
    alt = (stack_t){ .ss_sp = malloc(1 << 20), .ss_size = 1 << 20 };
    room_left = room;
    sigaltstack(&alt, &before);
    sigaction(SIGUSR1, &on_it, NULL);
    on_it.sa_handler = look_where_we_are;
    sigaction(SIGUSR2, &on_it, NULL);
    raise(SIGUSR1);
    signal(SIGUSR1, SIG_DFL);
    sigaltstack(&before, NULL);
    free(alt.ss_sp);
}

TEST(sample_on_a_small_alternate_stack_is_lost_and_counted)
{
    if (HOST_SANITIZED) {
        SKIP("a sanitizer's frames do not fit a small stack");
        return;
    }
    if (!begin())
        return;
    on_alternate_stack(1500);
    host_burn_ms(5); /* on the usual one all is well */
    if (finish())
        CHECK(h.stats.lost_stack > 100);
    CHECK_EQ(jsprof_thread_detach(me), 0);
    host_free(&h);
}

static uintptr_t walked_at;

/* Not deeper than where anything on the alternate stack ran before. */
static uint32_t walk(void *unused, const void *ucontext, jsprof_frame *frames, uint32_t max)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    (void)unused, (void)ucontext;
    if (here - (uintptr_t)alt.ss_sp < alt.ss_size && (!walked_at || here < walked_at))
        walked_at = here;
    if (max)
        frames[0] = (jsprof_frame){ .label = "walked", .sp = here };
    return max > 0;
}

TEST(walker_is_not_called_where_it_has_no_8_kib_of_an_alternate_stack)
{
    if (HOST_SANITIZED) {
        SKIP("a sanitizer's frames do not fit a small stack");
        return;
    }
    static const size_t rooms[] = { 8192, 16384 };
    for (int i = 0; i < 2; i++) {
        walked_at = 0;
        if (!begin())
            return;
        CHECK_EQ(jsprof_thread_set_walker(me, walk, NULL), 0);
        on_alternate_stack(rooms[i]);
        host_burn_ms(5);
        if (finish())
            CHECK((h.stats.lost_stack == 0) == (i > 0));
        CHECK(walked_at - (uintptr_t)alt.ss_sp >= 8192); /* also where it never ran there */
        CHECK_EQ(jsprof_thread_detach(me), 0);
        host_free(&h);
    }
}

TEST(sample_on_a_large_alternate_stack_is_kept)
{
    if (HOST_LATE) {
        SKIP("the thread sanitizer runs handlers elsewhere");
        return;
    }
    if (!begin())
        return;
    jsprof_push(me, "in a handler", NULL, 0);
    on_alternate_stack(1 << 16);
    jsprof_pop(me);
    if (finish()) {
        CHECK_EQ(h.stats.lost_stack, 0);
        CHECK(host_weight(&h, "in a handler") > 100);
    }
    CHECK_EQ(jsprof_thread_detach(me), 0);
    host_free(&h);
}

int main(void)
{
    RUN(deep_recursion_with_linked_frames_keeps_its_roots);
    RUN(plain_recursion_of_600_levels_gives_the_leaf_its_self_time);
    RUN(depth_beyond_capacity_keeps_the_roots_and_comes_back);
    RUN(leave_below_zero_is_counted_and_does_no_harm);
    RUN(label_that_was_overwritten_shows_each_text_in_its_time);
    RUN(enter_without_a_function_does_not_show_the_frame_before);
    RUN(links_that_longjmp_left_behind_are_not_followed);
    RUN(entry_made_in_a_helper_that_returned_is_counted);
    RUN(pauses_nest_and_are_counted);
    RUN(sample_on_a_small_alternate_stack_is_lost_and_counted);
    RUN(walker_is_not_called_where_it_has_no_8_kib_of_an_alternate_stack);
    RUN(sample_on_a_large_alternate_stack_is_kept);
    return DONE();
}
