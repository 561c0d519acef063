/* maps_stay_test.c - what a handler walks by outlives its walk: seen failing on a drain that
 * frees maps at once.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>

#include "session/session.h"
#include "signal/host.h"

/* Not every C library has it. */
#pragma weak getcontext

static _Atomic uint32_t walking, walk_on;
static jsprof *prof;

static bool is_set(const _Atomic uint32_t *flag)
{
    return atomic_load_explicit(flag, memory_order_acquire);
}

static void set(_Atomic uint32_t *flag)
{
    atomic_store_explicit(flag, 1, memory_order_release);
}

/* The handler waits here until it may continue. */
static uint32_t walk_slowly(void *arg, const void *ucontext, jsprof_frame *out, uint32_t max)
{
    (void)arg, (void)ucontext, (void)out, (void)max;
    set(&walking);
    while (!is_set(&walk_on))
        ;
    return 0;
}

static void *be_walked(void *arg)
{
    jsprof_thread *me;
    if (jsprof_thread_attach(prof, "walked", &me) != 0 ||
        jsprof_thread_set_walker(me, walk_slowly, NULL) != 0)
        return arg;
    while (!is_set(&walk_on))
        ;
    return jsprof_thread_detach(me) ? arg : NULL;
}

/* Not in the handler, but by the same map. */
static void *print_stack(void *arg)
{
    jsprof_backtrace_frame frames[4];
    jsprof_thread *me;
    ucontext_t here;
    getcontext(&here);
    if (jsprof_thread_attach(prof, "printing", &me) != 0 ||
        jsprof_thread_set_walker(me, walk_slowly, NULL) != 0 ||
        jsprof_backtrace(me, &here, frames, 4) < 0)
        return arg;
    return jsprof_thread_detach(me) ? arg : NULL;
}

static int retired(void)
{
    int n = 0;
    for (const struct jsp_object_old *old = prof->objects.old; old; old = old->next)
        n++;
    return n;
}

/* Each flush is a pass of the drain, with a look at what is loaded. */
static void open_and_close(const char *name)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    CHECK_EQ(jsprof_flush(prof), 0);
    CHECK(library && dlclose(library) == 0);
    CHECK_EQ(jsprof_flush(prof), 0);
}

static void maps_stay_during(void *(*walk)(void *), uint32_t hz)
{
    jsprof_options options = { .size = sizeof options, .path = "/dev/null", .hz = hz,
                               .clock = JSPROF_CLOCK_WALL };
    pthread_t walked;
    void *failed;
    atomic_store_explicit(&walking, 0, memory_order_relaxed);
    atomic_store_explicit(&walk_on, 0, memory_order_relaxed);
#ifdef __SANITIZE_THREAD__
    SKIP("looks at what is the drain's");
    return;
#endif
    void *library = dlopen("libresolv.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        SKIP("needs a shared glibc");
        return;
    }
    dlclose(library);
    if (!CHECK_EQ(jsprof_open(&prof, &options), 0))
        return;
    CHECK_EQ(jsprof_start(prof), 0);
    CHECK_EQ(pthread_create(&walked, NULL, walk, &failed), 0);
    while (!is_set(&walking))
        sched_yield();
    for (int i = 0; i < 3; i++)
        open_and_close("libresolv.so.2");
    CHECK(retired() >= 6); /* a map at each change */
    set(&walk_on);
    pthread_join(walked, &failed);
    CHECK(!failed);
    CHECK_EQ(jsprof_flush(prof), 0);
    CHECK_EQ(jsprof_flush(prof), 0);
    CHECK_EQ(retired(), 0);
    CHECK(!prof->stuck);
    CHECK_EQ(jsprof_close(prof), 0);
}

TEST(maps_stay_while_a_thread_is_in_its_handler_and_go_when_it_has_left)
{
    maps_stay_during(be_walked, 1000);
}

/* A signal there finds it paused, and leaves at once. */
TEST(maps_stay_while_a_thread_takes_a_backtrace)
{
    if (getcontext)
        maps_stay_during(print_stack, 1);
    else
        SKIP("needs getcontext");
}

TEST(library_that_was_open_for_a_while_is_in_the_capture_once)
{
    struct host h = { 0 };
    struct jsp_read_cursor c;
    struct jsp_read_frame f;
    struct jsp_read_map map;
    int n = 0;
    if (!host_open(&h, 1, JSPROF_CLOCK_CPU) || !CHECK_EQ(jsprof_start(h.prof), 0))
        return;
    prof = h.prof;
    CHECK_EQ(jsprof_flush(prof), 0);
    open_and_close("libresolv.so.2");
    CHECK_EQ(jsprof_flush(prof), 0);
    if (!host_close(&h))
        return;
    jsp_read_start(&c, &h.read, NULL);
    while (jsp_read_next(&c, &f))
        if (f.type == JSP_WIRE_MAP && CHECK(jsp_read_map(&c, &f, &map)))
            n += memmem(map.path.at, map.path.len, "libresolv", 9) != NULL;
    CHECK_EQ(n, 1);
    host_free(&h);
}

int main(void)
{
    RUN(maps_stay_while_a_thread_takes_a_backtrace);
    RUN(maps_stay_while_a_thread_is_in_its_handler_and_go_when_it_has_left);
    RUN(library_that_was_open_for_a_while_is_in_the_capture_once);
    return DONE();
}
