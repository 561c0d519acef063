/* callable_test.c - jsprof_callable returns true only where a handler may call any function.
 *
 * SPDX-License-Identifier: MIT
 */
#include "host.h"

#include <poll.h>

#include "alarms.h"

enum { HZ = 1000 };

static struct host h;

static volatile uint32_t n_yes, n_no, n_made;
static volatile bool is_watched;

static void ask(int signo, siginfo_t *info, void *ucontext)
{
    (void)signo, (void)info;
    if (!is_watched)
        return;
    if (jsprof_callable(ucontext))
        n_yes = n_yes + 1;
    else
        n_no = n_no + 1;
}

static void watch(long us)
{
    n_yes = n_no = 0;
    alarms(ask, us);
}

static void spin(volatile uint32_t *sink)
{
    for (uint32_t i = 0; i < 100000000 && n_yes + n_no < 50; i++)
        *sink = *sink + i;
}

static void in_own_code(void)
{
    static volatile uint32_t sink;
    is_watched = true;
    spin(&sink);
    is_watched = false;
}

static void in_the_c_library(void)
{
    enum { BYTES = 1 << 24 };
    char *volatile bytes = malloc(BYTES);
    for (int i = 0; bytes && i < 1000 && n_yes + n_no < 50; i++) {
        is_watched = true;
        memset(bytes, i, BYTES);
        is_watched = false;
    }
    free(bytes);
}

static void in_a_wait(void)
{
    while (n_yes + n_no < 50) {
        is_watched = true;
        poll(NULL, 0, 100);
        is_watched = false;
    }
}

static void in_ours(void)
{
    for (int i = 0; i < 1000000 && n_yes + n_no < 50; i++) {
        is_watched = true;
        jsprof_flush(h.prof);
        is_watched = false;
    }
}

static bool open_bare(void)
{
    if (HOST_SANITIZED) {
        SKIP("the sanitizer stands between the program and the C library");
        return false;
    }
    return host_open(&h, HZ, JSPROF_CLOCK_CPU);
}

TEST(handler_is_told_where_it_may_call_anything)
{
    if (!open_bare())
        return;
    watch(997);
    in_own_code();
    CHECK(n_yes > 10);
    CHECK_EQ(n_no, 0);
    watch(997);
    in_the_c_library();
    CHECK(n_no > 10);
    CHECK(n_yes <= 2); /* between our flag and the call */
    watch(997);
    in_a_wait();
    CHECK(n_yes > 10);
    CHECK(n_no < n_yes); /* on its way in and out */
    watch(197);
    in_ours();
    CHECK(n_no > 10);
    CHECK(n_yes <= 2);
    alarms(NULL, 0);
    CHECK_EQ(jsprof_callable(NULL), false);
    jsprof_close(h.prof);
    close(h.fd);
}

/* Do what the answer allows. If the answer is wrong, this waits for the interrupted lock. */
static void ask_and_make(int signo, siginfo_t *info, void *ucontext)
{
    uint32_t n_before = n_yes;
    jsprof_function *f = NULL;
    ask(signo, info, ucontext);
    if (n_yes == n_before)
        return;
    if (jsprof_function_new(&f, "name of the handler's", "file", 2, JSPROF_KIND_SYNTH) == 0)
        n_made = n_made + 1;
    jsprof_function_free(f);
}

static void in_functions(void)
{
    for (int i = 0; i < 10000000 && n_yes + n_no < 400; i++) {
        jsprof_function *f = NULL;
        is_watched = true;
        jsprof_function_new(&f, "name", "file", 1, JSPROF_KIND_SYNTH);
        is_watched = false;
        jsprof_function_free(f);
    }
}

TEST(function_is_made_where_nothing_may_be_called)
{
    if (!open_bare())
        return;
    n_yes = n_no = n_made = 0;
    alarms(ask_and_make, 197);
    in_functions();
    alarms(NULL, 0);
    CHECK(n_no > 100);
    CHECK_EQ(n_made, n_yes); /* on its way in and out */
    jsprof_close(h.prof);
    close(h.fd);
}

static void drain_long(void *data)
{
    (void)data;
    in_own_code();
}

static void *exit_attached(void *prof)
{
    sigset_t set;
    jsprof_thread *me;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    jsprof_thread_attach(prof, "exits", &me);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    return NULL;
}

TEST(thread_ends_where_nothing_may_be_called)
{
    jsprof_options o = host_options(HZ, JSPROF_CLOCK_CPU);
    sigset_t set, before;
    if (HOST_LATE) {
        SKIP("the thread sanitizer calls handlers where it likes");
        return;
    }
    o.on_drain = drain_long;
    if (!CHECK_EQ(host_open_with(&h, o), 0))
        return;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    watch(997);
    pthread_join(host_thread(exit_attached, h.prof), NULL);
    CHECK(n_no > 10);
    CHECK_EQ(n_yes, 0);
    alarms(NULL, 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    jsprof_close(h.prof);
    close(h.fd);
}

TEST_MAIN()
