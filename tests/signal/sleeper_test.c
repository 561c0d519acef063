/* sleeper_test.c - src/session/looker_wall.c, sleeper.c: the looker on the wall clock samples
 * threads that sleep, and does not wake them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

#include "looker.h"
#include "session/sleeper.h"

enum {
    PERIOD_NS = 1000000,
    NAP_NS = 700000,
    NAP_WAIT_PRIVATE = 0 | 128, /* FUTEX_WAIT within this process only */
};

/* -- Calls that are not interrupted ----------------------------------------- */

static const struct timespec nap = { 0, NAP_NS };
static int nap_epoll, nap_socket;
static sem_t nap_sem;

static int nap_poll(void)
{
    return poll(NULL, 0, 1);
}

static int nap_nanosleep(void)
{
    return nanosleep(&nap, NULL);
}

static int nap_select(void)
{
    struct timeval most = { 0, NAP_NS / 1000 };
    return select(0, NULL, NULL, NULL, &most);
}

static int nap_epoll_wait(void)
{
    struct epoll_event event;
    return epoll_wait(nap_epoll, &event, 1, 1);
}

static int nap_sem_wait(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += NAP_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    return sem_timedwait(&nap_sem, &until);
}

static int nap_futex(void)
{
    static uint32_t word;
    return (int)syscall(SYS_futex, &word, NAP_WAIT_PRIVATE, 0, &nap, NULL, 0);
}

static void *volatile nap_frame; /* who asks for its address has a frame pointer */

/* The last argument is on the stack, so the frame pointer is farther away. */
__attribute__((noinline)) static int nap_far(void)
{
    static uint32_t word;
    nap_frame = __builtin_frame_address(0);
    int got = (int)syscall(SYS_futex, &word, NAP_WAIT_PRIVATE, 0, &nap, NULL, 0);
    __asm__ volatile("" ::: "memory");
    return got;
}

static int nap_pointer(void)
{
    nap_frame = __builtin_frame_address(0);
    int got = nap_far();
    __asm__ volatile("" ::: "memory");
    return got;
}

/* As libffi calls: the frame is in memory of the caller's, the frame pointer is its end, and no
 * usual prologue is near. */
static int nap_moved(void)
{
#ifdef __x86_64__
    static volatile size_t size = 512;
    char *memory = __builtin_alloca(size);
    int nap_over(void *end, int (*sleep)(void));
    int got = nap_over(memory + 256, nap_nanosleep);
    __asm__ volatile("" ::: "memory");
    return got;
#else
    return nap_nanosleep();
#endif
}

#ifdef __x86_64__
__asm__(".text\n.skip 16384, 0x90\n"
        "nap_over:\n.cfi_startproc\n"
        "mov (%rsp), %r10\nmov %rbp, 16(%rdi)\nmov %r10, 24(%rdi)\nmov %rdi, %rbp\n"
        ".cfi_def_cfa %rbp, 32\n.cfi_offset %rbp, -16\n"
        "mov %rdi, %rsp\ncall *%rsi\nlea 24(%rbp), %rsp\nmov 16(%rbp), %rbp\n"
        ".cfi_def_cfa %rsp, 8\n.cfi_restore %rbp\n"
        "ret\n.cfi_endproc\n.skip 16384, 0x90\n");
#endif

static int nap_receive(void)
{
    char byte;
    return (int)read(nap_socket, &byte, 1);
}

/* The time limit of a socket is in ticks, so a nap there takes up to 8 ms: so there is a thread for
 * each part of them. */
static const struct nap_call {
    const char *name;
    int (*sleep)(void);
    uint32_t parts;
} nap_calls[] = {
    { "poll", nap_poll, 1 },         { "nanosleep", nap_nanosleep, 1 },
    { "select", nap_select, 1 },     { "epoll_wait", nap_epoll_wait, 1 },
    { "sem_wait", nap_sem_wait, 1 }, { "futex", nap_futex, 1 },
    { "frame pointer", nap_pointer, 1 }, { "moved frame", nap_moved, 1 },
    { "receive", nap_receive, 4 },   { "receive", nap_receive, 4 },
    { "receive", nap_receive, 4 },   { "receive", nap_receive, 4 },
};
enum { NAP_CALLS = sizeof nap_calls / sizeof nap_calls[0], NAP_ROUNDS = 400, NAP_LONG = 100000,
       NAP_LOOKS = 10000 /* of which one may interrupt a call */,
       NAP_CHANCE = 8 };

static uint32_t nap_rounds(const struct nap_call *call)
{
    const char *rounds = getenv("SLEEPER_ROUNDS");
    uint32_t n = rounds ? (uint32_t)atoi(rounds) : getenv("LONG") ? NAP_LONG : NAP_ROUNDS;
    return n / call->parts;
}

static bool nap_prepare(int sockets[2])
{
    struct timeval most = { 0, NAP_NS / 1000 };
    nap_epoll = epoll_create1(EPOLL_CLOEXEC);
    sem_init(&nap_sem, 0, 0);
    if (!CHECK(nap_epoll >= 0) ||
        !CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0))
        return false;
    nap_socket = sockets[0];
    return CHECK_EQ(setsockopt(nap_socket, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most), 0);
}

struct nap_thread {
    const struct nap_call *call;
    jsprof *session;
    uint32_t n_cut;
    uint64_t periods;
};

static void *nap_again(void *arg)
{
    struct nap_thread *t = arg;
    jsprof_thread *own;
    if (!CHECK_EQ(jsprof_thread_attach(t->session, t->call->name, &own), 0))
        return NULL;
    uint64_t began = host_ns(CLOCK_MONOTONIC);
    jsprof_push(own, t->call->name, NULL, 0);
    for (uint32_t i = 0; i < nap_rounds(t->call); i++) {
        errno = 0;
        t->n_cut += t->call->sleep() < 0 && errno == EINTR;
    }
    jsprof_pop(own);
    t->periods = (host_ns(CLOCK_MONOTONIC) - began) / PERIOD_NS;
    jsprof_thread_detach(own);
    return NULL;
}

/* Each call in a thread of its own. Return how many of them were interrupted. */
static uint32_t nap_all(jsprof *session, uint64_t *periods)
{
    struct nap_thread naps[NAP_CALLS];
    pthread_t threads[NAP_CALLS];
    uint32_t n_cut = 0;
    for (int i = 0; i < NAP_CALLS; i++) {
        naps[i] = (struct nap_thread){ &nap_calls[i], session, 0, 0 };
        threads[i] = host_thread(nap_again, &naps[i]);
    }
    for (int i = 0; i < NAP_CALLS; i++) {
        pthread_join(threads[i], NULL);
        printf("# %u of %u interrupted: %s\n", naps[i].n_cut, nap_rounds(&nap_calls[i]),
               nap_calls[i].name);
        n_cut += naps[i].n_cut;
        *periods += naps[i].periods;
    }
    return n_cut;
}

/* A timer interrupts each of them at every point that meets it. Chance: the handler could not
 * make again 8 of 100,000 calls in 1,340,000 looks: 0.04 calls of the usual 6,000 looks. Even
 * at one in 10,000 looks, with 0.6, more than 8 are cut in fewer than 1 of 10,000,000 runs. */
TEST(calls_that_sleep_are_not_interrupted)
{
    struct host h;
    jsprof_options options = faults_options(JSPROF_CLOCK_WALL, 1000);
    int sockets[2];
    uint64_t periods = 0;
    if (!nap_prepare(sockets) || !CHECK_EQ(host_open_with(&h, options), 0) ||
        !CHECK_EQ(jsprof_start(h.prof), 0))
        return;
    uint32_t n_cut = nap_all(h.prof, &periods);
    if (host_close(&h)) {
        host_check(&h);
        printf("# %llu expirations in %llu periods, %llu kept in %llu samples\n# %s\n",
               (unsigned long long)h.stats.expirations, (unsigned long long)periods,
               (unsigned long long)h.stats.kept, (unsigned long long)h.stats.samples,
               h.profile.looks);
        CHECK(h.stats.expirations + 30 + periods / 100 >= periods);
        /* a busy machine may be away for long while a thread comes or goes */
        CHECK(h.stats.expirations <= periods + 50 + periods / 10);
        CHECK(h.stats.kept * 10 > h.stats.expirations * 9);
        for (int i = 0; i < NAP_CALLS; i++)
            CHECK(host_weight(&h, nap_calls[i].name) > nap_rounds(&nap_calls[i]) / 2);
        CHECK(n_cut <= NAP_CHANCE + periods / NAP_LOOKS);
    }
    close(sockets[0]);
    close(sockets[1]);
    close(nap_epoll);
    host_free(&h);
}

/* -- Stacks ------------------------------------------------------------------ */

enum { LONG_MS = 2500 };
void sleeps_here(int ms);

__attribute__((noinline)) void sleeps_here(int ms)
{
    struct timespec left = { ms / 1000, ms % 1000 * 1000000L };
    while (nanosleep(&left, &left) < 0)
        continue;
    __asm__ volatile("" ::: "memory");
}

TEST(sleeper_has_its_stack_and_all_of_its_time)
{
    struct host h;
    jsprof_thread *me;
    jsprof_function *function;
    jsprof_link link;
    if (!host_begin_with(&h, faults_options(JSPROF_CLOCK_WALL, 1000), &me))
        return;
    if (!CHECK_EQ(jsprof_function_new(&function, "a linked function", NULL, 0, JSPROF_KIND_VM), 0))
        return;
    jsprof_push(me, "a long sleep", NULL, 0);
    jsprof_link_enter(me, &link, function);
    sleeps_here(LONG_MS);
    jsprof_link_leave(me, &link);
    jsprof_pop(me);
    if (host_close(&h)) {
        host_check(&h);
        printf("# %llu kept in %llu samples\n", (unsigned long long)h.stats.kept,
               (unsigned long long)h.stats.samples);
        CHECK(host_weight(&h, "a long sleep") > LONG_MS - 100);
        CHECK(host_weight(&h, "a linked function") > LONG_MS - 100);
        CHECK(host_weight(&h, "sleeps_here") > LONG_MS - 100);
        CHECK(h.stats.samples < LONG_MS / 4);
        CHECK(h.stats.stop_end > 0);
    }
    jsprof_function_free(function);
    host_free(&h);
}

/* -- States ------------------------------------------------------------------- */

enum { STATE_MS = 400 };

static uint64_t state_weight(const struct host *h, enum jsp_state state)
{
    return h->profile.by_state[state];
}

TEST(samples_know_whether_the_thread_slept_or_ran)
{
    struct host h;
    jsprof_thread *me;
    struct epoll_event event;
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!CHECK(epoll >= 0) || !host_begin_with(&h, faults_options(JSPROF_CLOCK_WALL, 1000), &me))
        return;
    while (epoll_wait(epoll, &event, 1, STATE_MS) < 0)
        continue;
    host_burn_ms(STATE_MS);
    if (host_close(&h)) {
        uint64_t asleep = state_weight(&h, JSP_STATE_ASLEEP), n_named = 0;
        uint64_t awake = state_weight(&h, JSP_STATE_RUNNING) + state_weight(&h, JSP_STATE_WAITING);
        host_check(&h);
        printf("# %llu asleep, %llu awake\n", (unsigned long long)asleep,
               (unsigned long long)awake);
        CHECK(asleep >= STATE_MS - 20);
        CHECK(state_weight(&h, JSP_STATE_RUNNING) > STATE_MS / 2);
        CHECK(asleep + awake + 5 >= h.stats.kept);
        for (uint32_t i = 0; i < h.profile.n_states; i++)
            n_named += jsp_read_is(h.profile.states[i].detail, "epoll_wait");
        CHECK(n_named > 0);
    }
    close(epoll);
    host_free(&h);
}

/* -- Waits of the host --------------------------------------------------------- */

enum { WAIT_MS = 700 };
static char *wait_name;
static _Atomic uint32_t wait_begins;

static void *wait_in_the_host(void *session)
{
    jsprof_thread *own;
    struct timespec left = { 0, WAIT_MS * 1000000L };
    if (!CHECK_EQ(jsprof_thread_attach(session, "waits", &own), 0))
        return NULL;
    jsprof_wait_begin(own, wait_name);
    host_count(&wait_begins);
    while (nanosleep(&left, &left) < 0)
        continue;
    jsprof_wait_end(own);
    jsprof_thread_detach(own);
    return NULL;
}

/* Unmap the name while the thread sleeps. A thread that wakes up under the walk may do that. */
static _Atomic bool never_ends;

static void *never_sleeps(void *tid)
{
    atomic_store((_Atomic pid_t *)tid, (pid_t)syscall(SYS_gettid));
    while (!atomic_load(&never_ends))
        continue;
    return NULL;
}

/* Otherwise such a thread never counts as one that waits for a processor, and has no samples
 * while the looker takes its processor at each look. */
TEST(thread_that_has_never_slept_is_known_to_have_not)
{
    pthread_t thread;
    _Atomic pid_t tid = 0;
    if (!CHECK_EQ(pthread_create(&thread, NULL, never_sleeps, &tid), 0))
        return;
    while (!atomic_load(&tid))
        continue;
    struct jsp_task_file folder;
    CHECK_EQ(jsp_task_folder(&folder), 0);
    CHECK(jsp_kernel_naps(&folder, atomic_load(&tid)) != 0);
    CHECK_EQ(jsp_kernel_naps(&folder, 1 << 30), 0); /* there is no such thread */
    jsp_task_close(&folder);
    atomic_store(&never_ends, true);
    pthread_join(thread, NULL);
}

TEST(name_of_a_wait_may_vanish_under_the_walk)
{
    struct host h;
    jsprof_thread *me;
    uint32_t page = 4096;
    wait_name = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    strcpy(wait_name, "the heap lock");
    if (!host_begin_with(&h, faults_options(JSPROF_CLOCK_WALL, 10), &me))
        return;
    pthread_t thread = host_thread(wait_in_the_host, h.prof);
    while (!host_counted(&wait_begins))
        sched_yield();
    munmap(wait_name, page);
    pthread_join(thread, NULL);
    if (host_close(&h)) {
        host_check(&h);
        CHECK(state_weight(&h, JSP_STATE_HOST) > 0);
    }
    host_free(&h);
}

/* -- Both clocks in one recording ----------------------------------------------- */

/* The CPU time of the recording's threads in ms, as a reader that asks for it gets it. */
static uint64_t both_cpu_ms(const struct host *h)
{
    const struct jsp_profile_options options = { .clock = &jsp_clocks[JSP_CLOCK_CPU] };
    struct jsp_profile profile;
    if (!CHECK_EQ(jsp_profile_load(&profile, &h->read, &options), 0))
        return 0;
    uint64_t ms = profile.value / 1000000;
    jsp_profile_free(&profile);
    return ms;
}

TEST(recording_of_the_looker_has_both_clocks)
{
    struct host h;
    jsprof_thread *me;
    jsprof_options options = host_options(1000, JSPROF_CLOCK_CPU);
    if (!CHECK_EQ(jsprof_options_set(&options, "clock", "cpu,wall"), 0) ||
        !host_begin_with(&h, options, &me))
        return;
    uint64_t began = host_ns(CLOCK_MONOTONIC), ran = host_ns(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < 40; i++) {
        host_burn_ms(7);
        nanosleep(&nap, NULL);
    }
    uint64_t ran_ms = (host_ns(CLOCK_THREAD_CPUTIME_ID) - ran) / 1000000;
    uint64_t ms = (host_ns(CLOCK_MONOTONIC) - began) / 1000000;
    if (host_close(&h)) {
        host_check(&h);
        uint64_t cpu = both_cpu_ms(&h), wall = h.profile.value / 1000000;
        printf("# %llu of %llu ms of CPU time, %llu of %llu ms\n", (unsigned long long)cpu,
               (unsigned long long)ran_ms, (unsigned long long)wall, (unsigned long long)ms);
        CHECK(host_distance(cpu, ran_ms) <= 10 + ran_ms / 20);
        CHECK(wall <= ms + 10 + ms / 20);
        CHECK(wall + 20 + ms / 5 >= ms); /* what it waits for at the end may have no sample */
    }
    host_free(&h);
}

/* -- Kinds of descriptors ------------------------------------------------------ */

enum { ON_KINDS = 5, ON_MS = 50 };

static int on_wake[ON_KINDS]; /* what is written here ends the sleep; negative: it ends itself */
static _Atomic uint32_t on_turn;

static void *on_waker(void *arg)
{
    uint64_t one = 1;
    (void)arg;
    for (uint32_t i = 0; i < ON_KINDS; i++) {
        while (host_counted(&on_turn) <= i)
            usleep(1000);
        usleep(ON_MS * 1000);
        if (on_wake[i] >= 0)
            CHECK_EQ(write(on_wake[i], &one, sizeof one), sizeof one);
    }
    return NULL;
}

static uint64_t on_weight(const struct host *h, const char *detail)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < h->profile.n_stacks; i++)
        if (jsp_read_is(jsp_profile_state(&h->profile, i)->detail, detail))
            sum += h->profile.stacks[i].weight;
    return sum;
}

TEST(sleep_has_the_kind_of_its_descriptor)
{
    static const char *const names[ON_KINDS] = { "read (pipe)", "read (eventfd)", "read (socket)",
                                                 "read (timerfd)", "recvfrom" };
    struct itimerspec soon = { .it_value = { 0, ON_MS * 1000000 } };
    struct host h;
    int from[ON_KINDS], pair[2];
    char bytes[64];
    CHECK_EQ(pipe(pair), 0);
    from[0] = pair[0], on_wake[0] = pair[1];
    from[1] = on_wake[1] = eventfd(0, EFD_CLOEXEC);
    for (int i = 2; i < ON_KINDS; i += 2) {
        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        from[i] = pair[0], on_wake[i] = pair[1];
    }
    from[3] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), on_wake[3] = -1;
    if (!host_begin_with(&h, faults_options(JSPROF_CLOCK_WALL, 1000), &(jsprof_thread *){ NULL }))
        return;
    pthread_t waker = host_thread(on_waker, NULL);
    for (int i = 0; i < ON_KINDS; i++) {
        host_count(&on_turn);
        if (i == 3)
            timerfd_settime(from[i], 0, &soon, NULL);
        CHECK((i == 4 ? recv(from[i], bytes, sizeof bytes, 0)
                      : read(from[i], bytes, sizeof bytes)) > 0);
    }
    pthread_join(waker, NULL);
    if (host_close(&h)) {
        host_check(&h);
        for (int i = 0; i < ON_KINDS; i++)
            if (!CHECK(on_weight(&h, names[i]) >= ON_MS / 2))
                printf("# %s: %u\n", names[i], (unsigned)on_weight(&h, names[i]));
    }
    host_free(&h);
}

int main(void)
{
    RUN(recording_of_the_looker_has_both_clocks);
    RUN(thread_that_has_never_slept_is_known_to_have_not);
    RUN(name_of_a_wait_may_vanish_under_the_walk);
    RUN(samples_know_whether_the_thread_slept_or_ran);
    RUN(sleep_has_the_kind_of_its_descriptor);
    RUN(calls_that_sleep_are_not_interrupted);
    RUN(sleeper_has_its_stack_and_all_of_its_time);
    return DONE();
}
