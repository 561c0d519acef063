/* sleeper_test.c - src/session/looker_wall.c, sleeper.c, src/sigsafe/vmstack.c: the looker on the
 * wall clock samples threads that sleep, also the frames of hosts with arrays and walkers of their
 * own, and does not wake them. How many points a sleep has is for tests/sim.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
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

static struct host h;
static jsprof_thread *me;

enum {
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
       NAP_LOOKS = 10000 /* of which one may interrupt a call */, NAP_CHANCE = 8 };

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
};

static void *nap_again(void *arg)
{
    struct nap_thread *t = arg;
    jsprof_thread *own;
    if (!CHECK_EQ(jsprof_thread_attach(t->session, t->call->name, &own), 0))
        return NULL;
    jsprof_push(own, t->call->name, NULL, 0);
    for (uint32_t i = 0; i < nap_rounds(t->call); i++) {
        errno = 0;
        t->n_cut += t->call->sleep() < 0 && errno == EINTR;
    }
    jsprof_pop(own);
    jsprof_thread_detach(own);
    return NULL;
}

/* Each call in a thread of its own. Return how many of them were interrupted. */
static uint32_t nap_all(jsprof *session)
{
    struct nap_thread naps[NAP_CALLS];
    pthread_t threads[NAP_CALLS];
    uint32_t n_cut = 0;
    for (int i = 0; i < NAP_CALLS; i++) {
        naps[i] = (struct nap_thread){ &nap_calls[i], session, 0 };
        threads[i] = host_thread(nap_again, &naps[i]);
    }
    for (int i = 0; i < NAP_CALLS; i++) {
        pthread_join(threads[i], NULL);
        printf("# %u of %u interrupted: %s\n", naps[i].n_cut, nap_rounds(&nap_calls[i]),
               nap_calls[i].name);
        n_cut += naps[i].n_cut;
    }
    return n_cut;
}

/* A timer interrupts each of them at every point that meets it. Chance: the handler could not
 * make again 8 of 100,000 calls in 1,340,000 looks: 0.04 calls of the usual 6,000 looks. Even
 * at one in 10,000 looks, with 0.6, more than 8 are cut in fewer than 1 of 10,000,000 runs. A nap
 * of 0.7 ms or more has 0.7 points or more, and the label stands in all of them. */
TEST(calls_that_sleep_are_not_interrupted)
{
    jsprof_options options = faults_options(JSPROF_CLOCK_WALL, 1000);
    int sockets[2];
    if (!nap_prepare(sockets) || !CHECK_EQ(host_open_with(&h, options), 0) ||
        !CHECK_EQ(jsprof_start(h.prof), 0))
        return;
    uint32_t n_cut = nap_all(h.prof);
    if (host_close(&h)) {
        printf("# %llu expirations, %llu kept in %llu samples\n# %s\n",
               (unsigned long long)h.stats.expirations, (unsigned long long)h.stats.kept,
               (unsigned long long)h.stats.samples, h.profile.looks);
        for (int i = 0; i < NAP_CALLS; i++)
            CHECK(host_weight(&h, nap_calls[i].name) > nap_rounds(&nap_calls[i]) / 2);
        CHECK(n_cut <= NAP_CHANCE + h.stats.expirations / NAP_LOOKS);
    }
    close(sockets[0]);
    close(sockets[1]);
    close(nap_epoll);
}

/* -- Stacks ------------------------------------------------------------------ */

enum { LONG_MS = 200, LONG_SAMPLES = 3 };
void sleeps_here(int ms);

__attribute__((noinline)) void sleeps_here(int ms)
{
    struct timespec left = { ms / 1000, ms % 1000 * 1000000L };
    while (nanosleep(&left, &left) < 0)
        continue;
    __asm__ volatile("" ::: "memory");
}

/* In very few samples; how many points that is, tests/sim knows. */
TEST(sleeper_has_its_stack_and_its_time)
{
    jsprof_function *function;
    jsprof_link link;
    if (!host_begin_with(&h, faults_options(JSPROF_CLOCK_WALL, 1000), &me))
        return;
    if (!CHECK_EQ(jsprof_function_new(&function, "a linked function", NULL, 0, JSPROF_KIND_VM), 0))
        return;
    jsprof_push(me, "a long sleep", NULL, 0);
    jsprof_link_enter(me, &link, function);
    while (host_taken(&h) < LONG_SAMPLES)
        sleeps_here(LONG_MS);
    jsprof_link_leave(me, &link);
    jsprof_pop(me);
    if (host_close(&h)) {
        printf("# %llu kept in %llu samples\n", (unsigned long long)h.stats.kept,
               (unsigned long long)h.stats.samples);
        CHECK(host_weight(&h, "a long sleep") > 0);
        CHECK(host_weight(&h, "a linked function") > 0);
        CHECK(host_weight(&h, "sleeps_here") > 0);
        CHECK(h.stats.samples * 4 < h.stats.kept);
        CHECK(h.stats.stop_end > 0);
    }
    jsprof_function_free(function);
}

/* -- States ------------------------------------------------------------------- */

enum { STATE_SAMPLES = 100 };

static uint64_t state_weight(enum jsp_state state)
{
    return h.profile.by_state[state];
}

TEST(samples_know_whether_the_thread_slept_or_ran)
{
    struct epoll_event event;
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!CHECK(epoll >= 0) || !host_begin_with(&h, faults_options(JSPROF_CLOCK_WALL, 1000), &me))
        return;
    while (host_taken(&h) < STATE_SAMPLES)
        epoll_wait(epoll, &event, 1, 5);
    host_sampled(&h, STATE_SAMPLES);
    if (host_close(&h)) {
        uint64_t asleep = state_weight(JSP_STATE_ASLEEP), n_named = 0;
        uint64_t awake = state_weight(JSP_STATE_RUNNING) + state_weight(JSP_STATE_WAITING);
        printf("# %llu asleep, %llu awake\n", (unsigned long long)asleep,
               (unsigned long long)awake);
        CHECK(asleep > 0);
        CHECK(state_weight(JSP_STATE_RUNNING) > 0);
        CHECK(asleep + awake + 5 >= h.stats.kept);
        for (uint32_t i = 0; i < h.profile.n_states; i++)
            n_named += jsp_read_is(h.profile.states[i].detail, "epoll_wait");
        CHECK(n_named > 0);
    }
    close(epoll);
}

/* -- Waits of the host --------------------------------------------------------- */

enum { WAIT_SAMPLES = 100, WAIT_BYTES = 4096 };
static char *wait_name;

/* The name is unmapped while the thread sleeps. One that wakes up under the walk may do that. */
static void *wait_in_the_host(void *unused)
{
    jsprof_thread *own;
    if (!CHECK_EQ(jsprof_thread_attach(h.prof, "waits", &own), 0))
        return NULL;
    jsprof_wait_begin(own, wait_name);
    munmap(wait_name, WAIT_BYTES);
    while (host_taken(&h) < WAIT_SAMPLES)
        faults_sleep_us(1000);
    jsprof_wait_end(own);
    jsprof_thread_detach(own);
    return unused;
}

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
    struct jsp_switches switches;
    CHECK(jsp_kernel_switches(&folder, atomic_load(&tid), &switches) && switches.naps == 0);
    CHECK(!jsp_kernel_switches(&folder, 1 << 30, &switches)); /* there is no such thread */
    jsp_task_close(&folder);
    atomic_store(&never_ends, true);
    pthread_join(thread, NULL);
}

/* Chance: where 1 of 5 samples at a busy machine meets the thread asleep, none of 100 does in 1 of
 * 4,000,000,000 runs. */
TEST(name_of_a_wait_may_vanish_under_the_walk)
{
    wait_name = mmap(NULL, WAIT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    strcpy(wait_name, "the heap lock");
    if (!faults_begin(&h, JSPROF_CLOCK_WALL, 1000))
        return;
    pthread_join(host_thread(wait_in_the_host, NULL), NULL);
    if (host_close(&h))
        CHECK(state_weight(JSP_STATE_HOST) > 0);
}

/* -- Both clocks in one recording ----------------------------------------------- */

/* Return the CPU time of the recording's threads, as a reader that asks for it gets it. */
static uint64_t both_cpu_ns(void)
{
    const struct jsp_profile_options options = { .clock = &jsp_clocks[JSP_CLOCK_CPU] };
    struct jsp_profile profile;
    if (!CHECK_EQ(jsp_profile_load(&profile, &h.read, &options), 0))
        return 0;
    uint64_t ns = profile.value;
    jsp_profile_free(&profile);
    return ns;
}

/* The samples have the times of the account, by each clock. A point of elapsed time meets the
 * thread as it runs, or does not. Chance: of 140 that do, 55 more or fewer do in 1 of 100,000 runs.
 * What the thread waits for at the end may have no sample. */
TEST(recording_of_the_looker_has_both_clocks)
{
    jsprof_options options = host_options(1000, JSPROF_CLOCK_CPU);
    if (!CHECK_EQ(jsprof_options_set(&options, "clock", "cpu,wall"), 0) ||
        !host_begin_with(&h, options, &me))
        return;
    for (int i = 0; i < 20; i++) {
        host_burn_ms(7);
        nanosleep(&nap, NULL);
    }
    if (host_close(&h) && CHECK_EQ(h.profile.account.n_threads, 1)) {
        const uint64_t *all = h.profile.account.threads[0].clock_ns;
        uint64_t cpu = both_cpu_ns(), wall = h.profile.value;
        printf("# %llu of %llu ns of CPU time, %llu of %llu ns\n", (unsigned long long)cpu,
               (unsigned long long)all[JSP_CLOCK_CPU], (unsigned long long)wall,
               (unsigned long long)all[JSP_CLOCK_WALL]);
        CHECK(host_distance(cpu, all[JSP_CLOCK_CPU]) < 55000000);
        CHECK(2 * wall > all[JSP_CLOCK_WALL] && wall <= all[JSP_CLOCK_WALL] + 2000000);
    }
}

/* -- Kinds of descriptors ------------------------------------------------------ */

static _Atomic pid_t on_tid;

static void *on_sleeps(void *from)
{
    char bytes[64];
    atomic_store(&on_tid, (pid_t)syscall(SYS_gettid));
    return read(*(int *)from, bytes, sizeof bytes) > 0 ? from : NULL;
}

/* Let a thread sleep in read() of this descriptor, until something is written here. */
static void on_check(int from, int wake, uint32_t kind)
{
    struct jsp_task_file folder, call = { .fd = -1 };
    struct jsp_sleep at;
    const uint64_t one = 1;
    void *woken;
    atomic_store(&on_tid, 0);
    pthread_t thread = host_thread(on_sleeps, &from);
    CHECK_EQ(jsp_task_folder(&folder), 0);
    do
        at = jsp_kernel_at(&folder, atomic_load(&on_tid), &call);
    while (!atomic_load(&on_tid) || at.is != JSP_SLEEP_ASLEEP || at.call != SYS_read);
    struct jsp_rec_state state = jsp_kernel_state(&folder, atomic_load(&on_tid), &at, 0);
    CHECK_EQ(state.descriptor, (uint32_t)from + 1);
    CHECK_EQ(state.call, SYS_read + 1 + JSP_STATES_CALLS * kind);
    jsp_task_close(&folder);
    if (wake < 0) /* it is a timer */
        CHECK_EQ(timerfd_settime(from, 0, &(struct itimerspec){ .it_value.tv_nsec = 1 }, NULL), 0);
    else
        CHECK_EQ(write(wake, &one, sizeof one), sizeof one);
    pthread_join(thread, &woken);
    CHECK(woken);
}

TEST(sleep_has_the_kind_of_its_descriptor)
{
    int pair[2];
    CHECK_EQ(pipe(pair), 0);
    on_check(pair[0], pair[1], JSP_STATE_ON_PIPE);
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    on_check(pair[0], pair[1], JSP_STATE_ON_SOCKET);
    pair[0] = eventfd(0, EFD_CLOEXEC);
    on_check(pair[0], pair[0], JSP_STATE_ON_EVENTFD);
    on_check(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), -1, JSP_STATE_ON_TIMERFD);
}

/* -- Frames of the host ----------------------------------------------------------- */

enum { HOST_NAPS = 400, HOST_NAPS_SAMPLES = 200 };

/* Return how many of so many naps, or of more until there are samples, were cut short. */
static uint32_t naps(uint32_t least)
{
    uint32_t n_cut = 0;
    for (uint32_t i = 0; i < least || host_taken(&h) < HOST_NAPS_SAMPLES; i++)
        n_cut += nanosleep(&nap, NULL) < 0 && errno == EINTR;
    return n_cut;
}

/* The label stands in all samples but for those at begin and end. Chance: where 1 of 10 looks at a
 * busy machine meets a sleep, none of 200 does in 1 of 1,000,000,000 runs; and where 1 of 10,000
 * looks cuts a nap, more than 8 are cut in fewer. */
static void slept_well(uint32_t n_cut, const char *label)
{
    printf("# %u interrupted, %llu of %s\n# %s\n", n_cut,
           (unsigned long long)host_weight(&h, label), label, h.profile.looks);
    CHECK_EQ(faults_looks(&h, "with frames of the host"), 0);
    CHECK(faults_looks(&h, "walked") > 0);
    CHECK(n_cut <= NAP_CHANCE + h.stats.expirations / NAP_LOOKS);
    CHECK(host_weight(&h, label) > h.stats.kept / 2);
}

struct entry {
    const char *label;
    void *sp;
    uint64_t pc;
    uint32_t line;
};

static struct entry entries[2] = { { "the host's outer", NULL, 1, 7 },
                                   { "the host's inner", NULL, 2, 9 } };
static struct entry *first_entry = entries;
static uint32_t depth = 2;

static struct coroutine {
    uint32_t depth;
    struct entry *entries;
    struct coroutine *resumer;
} outer = { 1, entries, NULL }, inner = { 1, entries + 1, &outer }, *running = &inner;

static jsprof_stack by_offsets(void)
{
    return (jsprof_stack){
        .size = sizeof(jsprof_stack), .depth_bytes = 4, .stride = sizeof(struct entry),
        .label_offset = offsetof(struct entry, label), .detail_offset = JSPROF_NO_FIELD,
        .sp_offset = offsetof(struct entry, sp), .line_offset = offsetof(struct entry, line),
        .pc_offset = offsetof(struct entry, pc),
    };
}

static void sleeps_with(const jsprof_stack *stack)
{
    if (!host_begin_with(&h, faults_options(JSPROF_CLOCK_WALL, 1000), &me) ||
        !CHECK_EQ(jsprof_thread_set_stack(me, stack), 0))
        return;
    uint32_t n_cut = naps(HOST_NAPS);
    if (host_close(&h)) {
        slept_well(n_cut, "the host's inner");
        CHECK(host_weight(&h, "the host's outer") > h.stats.kept / 2);
    }
}

TEST(sleeper_with_an_array_of_its_own_is_not_woken)
{
    jsprof_stack stack = by_offsets();
    stack.depth = &depth;
    stack.entries = &first_entry;
    sleeps_with(&stack);
}

TEST(sleeper_in_a_coroutine_with_an_array_is_not_woken)
{
    jsprof_stack stack = by_offsets();
    stack.context = &running;
    stack.depth_at = offsetof(struct coroutine, depth);
    stack.entries_at = offsetof(struct coroutine, entries);
    stack.resumer_at = offsetof(struct coroutine, resumer);
    stack.end_at = stack.capacity_at = JSPROF_NO_FIELD;
    sleeps_with(&stack);
}

/* -- Walkers ------------------------------------------------------------------- */

enum { SEAL = 0x5EA1ED };

struct walked {
    uint32_t seal;
    const char *name;
    _Atomic uint32_t n_begun, n, n_wrong, n_plain; /* calls */
    bool declines;
};

static uint32_t walk_sigsafe(void *host, const void *ucontext, jsprof_frame *out, uint32_t max)
{
    const struct walked *w = host;
    (void)ucontext;
    if (max)
        out[0] = (jsprof_frame){ .label = w->name };
    return 1;
}

/* Called by the looker: it copies the name as it would that of a thread that may free it. */
static uint32_t walk_asleep(void *host, const jsprof_asleep *at, jsprof_frame *out, uint32_t max)
{
    struct walked *w = host;
    char *name = jsprof_scratch(at->reader, 16);
    uint64_t word;
    host_count(&w->n);
    atomic_fetch_add(&w->n_plain, at->plain_end == 0);
    bool is_right = w->seal == SEAL && max && name && at->size == sizeof *at && at->pc &&
                    jsprof_read(at->reader, name, w->name, 16) &&
                    jsprof_read(at->reader, &word, (const void *)at->sp, sizeof word) &&
                    !jsprof_read(at->reader, &word, (const void *)64, sizeof word);
    atomic_fetch_add(&w->n_wrong, !is_right);
    if (w->declines || !is_right)
        return JSPROF_DECLINED;
    out[0] = (jsprof_frame){ .label = name };
    return 1;
}

static void walks(bool declines)
{
    static char name[16] = "a walked name";
    struct walked w = { .seal = SEAL, .name = name, .declines = declines };
    if (!host_begin_with(&h, faults_options(JSPROF_CLOCK_WALL, 1000), &me) ||
        !CHECK_EQ(jsprof_thread_set_walker(me, walk_sigsafe, &w), 0) ||
        !CHECK_EQ(jsprof_thread_set_asleep_walker(me, walk_asleep, &w), 0))
        return;
    uint32_t n_cut = naps(HOST_NAPS);
    CHECK_EQ(jsprof_thread_set_asleep_walker(me, NULL, NULL), 0);
    CHECK_EQ(jsprof_thread_set_walker(me, NULL, NULL), 0);
    CHECK(host_counted(&w.n) > 0);
    CHECK(host_counted(&w.n_plain) > 0);
    CHECK_EQ(host_counted(&w.n_wrong), 0);
    if (host_close(&h) && !declines) {
        slept_well(n_cut, name);
    } else if (declines) {
        CHECK(faults_looks(&h, "with frames of the host") > 0);
        CHECK(host_weight(&h, name) > h.stats.kept / 2);
    }
}

TEST_OF(walker_of_a_sleeper_has_its_frames, walks(false))
TEST_OF(walker_that_declines_leaves_them_to_the_handler, walks(true))

/* A walker of the handler alone: a sleeper is sampled by signals. */
TEST(walker_for_no_sleeper_is_not_called_by_another_thread)
{
    static char name[16] = "a walked name";
    struct walked w = { .seal = SEAL, .name = name };
    if (!host_begin_with(&h, faults_options(JSPROF_CLOCK_WALL, 1000), &me) ||
        !CHECK_EQ(jsprof_thread_set_walker(me, walk_sigsafe, &w), 0))
        return;
    naps(0);
    CHECK_EQ(jsprof_thread_set_walker(me, NULL, NULL), 0);
    if (host_close(&h))
        CHECK(faults_looks(&h, "with frames of the host") > 0);
}

/* About half a millisecond, so that the thread often wakes up meanwhile. */
static uint32_t walk_slowly(void *host, const jsprof_asleep *at, jsprof_frame *out, uint32_t max)
{
    struct walked *w = host;
    host_count(&w->n_begun);
    for (volatile int i = 0; i < 250000; i = i + 1)
        continue;
    return walk_asleep(host, at, out, max);
}

/* Its host frees what it reads as soon as the walker is gone. */
TEST(walker_is_gone_when_the_call_that_removes_it_returns)
{
    static char name[16] = "a walked name";
    uint32_t n = 0, n_wrong = 0, n_inside = 0;
    if (!host_begin_with(&h, faults_options(JSPROF_CLOCK_WALL, 1000), &me))
        return;
    while (n < 50) {
        struct walked *w = malloc(sizeof *w);
        *w = (struct walked){ .seal = SEAL, .name = name };
        CHECK_EQ(jsprof_thread_set_asleep_walker(me, walk_slowly, w), 0);
        nanosleep(&nap, NULL);
        CHECK_EQ(jsprof_thread_set_asleep_walker(me, NULL, NULL), 0);
        n_inside += host_counted(&w->n_begun) != host_counted(&w->n);
        n += host_counted(&w->n);
        n_wrong += host_counted(&w->n_wrong);
        free(w);
    }
    CHECK_EQ(n_inside, 0);
    CHECK_EQ(n_wrong, 0);
    host_close(&h);
}

static void *sets_that_of_another(void *thread)
{
    CHECK_EQ(jsprof_thread_set_asleep_walker(thread, NULL, NULL), -EPERM);
    CHECK_EQ(jsprof_thread_set_asleep_walker(NULL, walk_asleep, NULL), -EINVAL);
    return NULL;
}

TEST(walker_of_a_sleeper_is_set_by_its_thread)
{
    if (!host_begin_with(&h, faults_options(JSPROF_CLOCK_WALL, 1000), &me))
        return;
    pthread_join(host_thread(sets_that_of_another, me), NULL);
    host_close(&h);
}

int main(void)
{
    RUN(recording_of_the_looker_has_both_clocks);
    RUN(thread_that_has_never_slept_is_known_to_have_not);
    RUN(name_of_a_wait_may_vanish_under_the_walk);
    RUN(samples_know_whether_the_thread_slept_or_ran);
    RUN(sleep_has_the_kind_of_its_descriptor);
    RUN(calls_that_sleep_are_not_interrupted);
    RUN(sleeper_has_its_stack_and_its_time);
    RUN(sleeper_with_an_array_of_its_own_is_not_woken);
    RUN(sleeper_in_a_coroutine_with_an_array_is_not_woken);
    RUN(walker_of_a_sleeper_has_its_frames);
    RUN(walker_that_declines_leaves_them_to_the_handler);
    RUN(walker_for_no_sleeper_is_not_called_by_another_thread);
    RUN(walker_is_gone_when_the_call_that_removes_it_returns);
    RUN(walker_of_a_sleeper_is_set_by_its_thread);
    return DONE();
}
