/* event_test.c - src/session/event.c: JSPROF_PERF samples by an event of the kernel's. Where there
 * is none, the looker or a timer samples, and the capture says why.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "host.h"
#include "session/thread.h"

static struct host h;
static jsprof_thread *me;

enum { EVENT_HZ = 1000, EVENT_SAMPLES = 2000, EVENT_EXECS = 200 };

static jsprof_options event_options(int clock)
{
    jsprof_options options = host_options(EVENT_HZ, clock);
    options.flags = 0; /* the default */
    return options;
}

/* Record until so many samples have come. */
static bool event_record(int clock)
{
    jsprof_stats stats = { .size = sizeof stats };
    if (!host_begin_with(&h, event_options(clock), &me))
        return false;
    while (stats.samples < EVENT_SAMPLES) {
        host_burn_ms(5);
        CHECK_EQ(jsprof_stats_get(h.prof, &stats), 0);
    }
    return host_close(&h);
}

/* Each sample is one point: none comes late, or in step with the tick. The handler may be late by a
 * point where the processor itself was taken away. */
TEST(event_gives_each_point_its_own_sample)
{
    if (event_record(JSPROF_CLOCK_CPU)) {
        CHECK_STR(h.profile.source, "perf event");
        CHECK(h.stats.samples >= EVENT_SAMPLES);
        CHECK(h.stats.samples * 3 > h.stats.expirations); /* by the tick it would be a quarter */
    }
}

/* The elapsed time is the event's, while the thread runs, and the looker's. */
TEST(event_and_looker_share_the_elapsed_time)
{
    if (event_record(JSPROF_CLOCK_WALL)) {
        CHECK_STR(h.profile.source, "looker and perf event");
    }
}

/* A long system call is no blocked signal. */
TEST(system_call_of_a_second_has_its_time)
{
    enum { BYTES = 1 << 23, TIMES = 1024 };
    static char from[BYTES], to[BYTES];
    static struct iovec all_from[TIMES], all_to[TIMES];
    for (int i = 0; i < TIMES; i++) {
        all_from[i] = (struct iovec){ from, BYTES };
        all_to[i] = (struct iovec){ to, BYTES };
    }
    if (!host_begin_with(&h, event_options(JSPROF_CLOCK_CPU), &me))
        return;
    memset(from, 1, sizeof from);
    uint64_t began = host_ns(CLOCK_THREAD_CPUTIME_ID), by = 0;
    do { /* 0.25 s each where memory is copied at 32 GB a second */
        jsprof_push(me, "copy", NULL, 0);
        process_vm_readv(getpid(), all_to, TIMES, all_from, TIMES, 0);
        jsprof_pop(me);
        by = host_ns(CLOCK_THREAD_CPUTIME_ID) - began;
    } while (by < 1500000000);
    if (host_close(&h)) {
        CHECK_EQ(h.stats.lost_blocked, 0);
        CHECK(host_weight(&h, "copy") * 1000000 > by / 10 * 9);
    }
}

/* An event costs at each switch. */
TEST(thread_that_switches_often_has_a_timer_until_it_switches_seldom)
{
    if (!host_begin_with(&h, event_options(JSPROF_CLOCK_CPU), &me))
        return;
    const volatile bool *is_event = &((struct jsp_thread *)(void *)me)->sampled.timer.is_event;
    CHECK(*is_event);
    while (*is_event)
        nanosleep(&(struct timespec){ 0, 1000 }, NULL);
    while (!*is_event)
        host_burn_ms(5);
    if (host_close(&h))
        CHECK(h.stats.samples > 0);
}

static void event_of_host(int signo)
{
    (void)signo;
}

/* The host handles the signal of events: it keeps it, and the looker samples. */
TEST(host_that_handles_the_signal_of_events_keeps_it)
{
    struct sigaction now, theirs = { .sa_handler = event_of_host };
    CHECK_EQ(sigaction(JSP_EVENT_SIGNAL, &theirs, NULL), 0);
    if (event_record(JSPROF_CLOCK_CPU)) {
        CHECK_STR(h.profile.source, "looker (no perf event: the program handles SIGURG)");
    }
    CHECK_EQ(sigaction(JSP_EVENT_SIGNAL, NULL, &now), 0);
    CHECK(now.sa_handler == event_of_host);
    signal(JSP_EVENT_SIGNAL, SIG_DFL);
}

/* Without a descriptor for it there is no event, and a thread has a timer. */
static int event_without_descriptor(void)
{
    jsprof_stats stats = { .size = sizeof stats };
    if (!host_begin_with(&h, event_options(JSPROF_CLOCK_CPU), &me))
        return 1;
    CHECK_EQ(jsprof_stop(h.prof), 0);
    int next = dup(0);
    close(next);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &(struct rlimit){ (rlim_t)next, (rlim_t)next }), 0);
    CHECK_EQ(jsprof_start(h.prof), 0);
    while (stats.samples < 5) {
        host_burn_ms(5);
        CHECK_EQ(jsprof_stats_get(h.prof, &stats), 0);
    }
    return host_close(&h) && h.stats.expirations >= h.stats.samples ? 0 : 1;
}

TEST(thread_without_an_event_is_sampled_all_the_same)
{
    CHECK_EQ(host_in_child(event_without_descriptor), 0);
}

/* A host that closes all descriptors has closed the event's. The drain notices, and the thread's
 * timer goes on. */
TEST(thread_whose_event_the_host_closed_has_a_timer)
{
    jsprof_stats stats = { .size = sizeof stats };
    if (!host_begin_with(&h, event_options(JSPROF_CLOCK_CPU), &me))
        return;
    close(((struct jsp_thread *)(void *)me)->sampled.timer.fd);
    while (stats.samples < 50 && host_ns(CLOCK_THREAD_CPUTIME_ID) < 60000000000) {
        host_burn_ms(5);
        CHECK_EQ(jsprof_stats_get(h.prof, &stats), 0);
    }
    CHECK(stats.samples >= 50);
    host_close(&h);
}

/* The signal of a point in the kernel's part of exec stays pending for the new program. */
static int event_exec(void)
{
    jsprof_options options = event_options(JSPROF_CLOCK_CPU);
    options.hz = 10000;
    char *const words[] = { (char *)"true", NULL };
    if (!host_begin_with(&h, options, &me))
        return 1;
    host_burn_ms(1);
    execv("/bin/true", words);
    return 2;
}

TEST(event_under_way_at_exec_ends_no_program)
{
    for (int i = 0; i < EVENT_EXECS; i++)
        CHECK_EQ(host_in_child(event_exec), 0);
}

/* The kernel makes the event, and then refuses its signal. */
TEST(event_that_cannot_be_directed_leaves_nothing)
{
    for (int i = 0; i < 2; i++) {
        struct jsp_timer timer;
        CHECK_EQ(jsp_event_open(&timer, (pid_t)syscall(SYS_gettid), 9999, false,
                                1000000000), -EINVAL);
        CHECK(!timer.has_event && !timer.is_event);
        jsp_event_close(&timer);
    }
    struct jsp_timer timer;
    CHECK_EQ(jsp_event_open(&timer, (pid_t)syscall(SYS_gettid), JSP_EVENT_SIGNAL, false,
                            1000000000), 0);
    jsp_event_close(&timer);
}

/* A descriptor that the host has closed is another's now. */
TEST(descriptor_of_an_event_that_the_host_closed_is_left_alone)
{
    struct jsp_timer timer;
    CHECK_EQ(jsp_event_open(&timer, (pid_t)syscall(SYS_gettid), JSP_EVENT_SIGNAL, false,
                            1000000000), 0);
    close(timer.fd);
    int other = open("/dev/null", O_RDONLY);
    CHECK_EQ(other, timer.fd);
    jsp_event_close(&timer);
    CHECK(fcntl(other, F_GETFD) >= 0);
    close(other);
}

/* Let the kernel refuse events that come in the kernel. */
static bool event_give_up_privileges(void)
{
    struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct has[2];
    if (syscall(SYS_capget, &head, has) != 0)
        return false;
    has[0].effective &= ~(1u << CAP_SYS_ADMIN);
    has[1].effective &= ~(1u << (CAP_PERFMON - 32));
    return syscall(SYS_capset, &head, has) == 0 && jsp_event_try(false) != 0 &&
           jsp_event_try(true) == 0;
}

static int event_of_user_code(void)
{
    static char into[1 << 19];
    jsprof_stats stats = { .size = sizeof stats };
    double ns[2] = { 0, 0 };
    bool good = true;
    int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    if (!event_give_up_privileges()) {
        puts("# perf_event_paranoid is not 2: not tried");
        return 0;
    }
    if (!host_begin_with(&h, event_options(JSPROF_CLOCK_CPU), &me))
        return 1;
    while (stats.expirations < EVENT_SAMPLES) {
        uint64_t from = host_ns(CLOCK_THREAD_CPUTIME_ID);
        jsprof_push(me, "work", NULL, 0);
        for (volatile int i = 0; i < 30000; i = i + 1)
            continue;
        jsprof_pop(me);
        uint64_t at = host_ns(CLOCK_THREAD_CPUTIME_ID);
        jsprof_push(me, "read", NULL, 0);
        good &= CHECK(read(zero, into, sizeof into) == sizeof into);
        jsprof_pop(me);
        ns[0] += (double)(at - from);
        ns[1] += (double)(host_ns(CLOCK_THREAD_CPUTIME_ID) - at);
        CHECK_EQ(jsprof_stats_get(h.prof, &stats), 0);
    }
    if ((good &= host_close(&h))) {
        good &= CHECK(strstr(h.profile.source, "perf event, in the kernel a timer") != NULL);
        double truth = ns[1] / (ns[0] + ns[1]), all = (double)h.profile.weight;
        double share = (double)host_weight(&h, "read") / all;
        printf("# read has %.1f %% of %.1f\n", 100 * share, 100 * truth);
        /* A tick of 4 ms brings a part of 500 samples: 4.4 standard deviations are 10 points. */
        good &= CHECK(share > truth - 0.12 && share < truth + 0.12);
        good &= CHECK((double)host_samples(&h, "work") > (1 - truth) * all / 2);
    }
    return good ? 0 : 1;
}

TEST(system_calls_have_their_time_where_events_come_in_user_code_alone)
{
    CHECK_EQ(host_in_child(event_of_user_code), 0);
}

int main(void)
{
    if (jsp_event_try(false) != 0) {
        puts("1..0 # SKIP needs perf_event_paranoid of 1 or less, or CAP_PERFMON");
        return 0;
    }
    RUN_ALL();
    return DONE();
}
