/* unwind_storm_test.c - objects opened, closed and unmapped while a 10 kHz signal walks
 * the stacks of the threads that open them, and maps are retired and freed meanwhile.
 *
 * SPDX-License-Identifier: MIT
 */
#include "test.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "image/objects.h"
#include "sigsafe/unwind.h"

enum { MOST = 64, OPENS = 6000, PERIOD_NS = 100000 };

static struct jsp_objects objects;
static struct jsp_unwinder unwinder;
static _Atomic unsigned inside;   /* odd: the handler walks */
static _Atomic bool is_over;
static _Atomic unsigned long walks, frames_seen, maps;

static void on_signal(int sig)
{
    struct jsp_rec_native frames[MOST];
    struct jsp_unwound out = { .frames = frames, .max = MOST };
    struct jsp_regs_core here = jsp_regs_here();
    (void)sig;
    atomic_fetch_add(&inside, 1);
    jsp_unwind_from(&unwinder, jsp_objects_map(&objects), &here, &out);
    atomic_fetch_add(&inside, 1);
    atomic_fetch_add(&walks, 1);
    atomic_fetch_add(&frames_seen, out.n);
}

/* Publish a new map, then wait for a moment without a handler: every handler that begins
 * after that sees the new one. */
static void *refresh(void *arg)
{
    for (uint64_t epoch = 1; !atomic_load(&is_over); epoch++) {
        if (jsp_objects_build(&objects, epoch) == 1)
            atomic_fetch_add(&maps, 1);
        while (atomic_load(&inside) & 1)
            sched_yield();
        jsp_objects_reclaim(&objects, epoch + 1);
    }
    return arg;
}

static int by_opening(const void *a, const void *b)
{
    void *lib = dlopen("libanl.so.1", RTLD_NOW);
    if (lib)
        dlclose(lib);
    return *(const int *)a - *(const int *)b;
}

TEST(objects_may_come_and_go_while_their_stacks_are_walked)
{
    struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF };
    struct itimerspec often = { .it_value.tv_nsec = PERIOD_NS,
                                .it_interval.tv_nsec = PERIOD_NS };
    int numbers[16];
    sigset_t prof;
    pthread_t thread;
    timer_t timer;
    void *lib = dlopen("libanl.so.1", RTLD_NOW);
    if (!lib) {
        SKIP("needs libanl.so.1");
        return;
    }
    dlclose(lib);
    CHECK_EQ(jsp_objects_init(&objects), 0);
    jsp_unwinder_init(&unwinder, 0, 0, getpid());
    sigemptyset(&prof);
    sigaddset(&prof, SIGPROF);
    pthread_sigmask(SIG_BLOCK, &prof, NULL); /* the other thread inherits it */
    CHECK_EQ(pthread_create(&thread, NULL, refresh, NULL), 0);
    pthread_sigmask(SIG_UNBLOCK, &prof, NULL);
    sigaction(SIGPROF, &act, NULL);
    CHECK_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    timer_settime(timer, 0, &often, NULL);
    for (int n = 0; n < OPENS; n += 32) {
        for (int i = 0; i < 16; i++)
            numbers[i] = (i * 7 + n) % 16;
        qsort(numbers, 16, sizeof *numbers, by_opening);
    }
    timer_delete(timer);
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
    CHECK(atomic_load(&walks) > 100);
    CHECK(atomic_load(&frames_seen) > 2 * atomic_load(&walks));
    CHECK(atomic_load(&maps) > 10);
    printf("# %lu walks, %lu frames, %lu maps\n", atomic_load(&walks), atomic_load(&frames_seen),
           atomic_load(&maps));
    jsp_objects_free(&objects);
}

int main(void)
{
    RUN(objects_may_come_and_go_while_their_stacks_are_walked);
    return DONE();
}
