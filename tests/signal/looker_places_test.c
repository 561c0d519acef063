/* looker_places_test.c - src/session/task.c: after start, a host goes to another root, hides /proc,
 * goes to another namespace, closes our files, enters a sandbox or is stopped. The looker goes on.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "../deny.h"
#include "looker.h"

/* -- Other places ------------------------------------------------------------ */

/* What a child of this process records, into a file that the parent reads. */
struct place {
    struct host h;
    bool (*change)(struct place *place); /* what it does after start; false: it may not */
    bool is_alone; /* no thread comes later */
    bool is_early; /* it changes right after start, when our threads have perhaps not run yet */
    bool is_cpu;   /* on the CPU clock: the looker sleeps deeply, and then a thread runs */
};

enum { PLACE_SAMPLES = 30 };
static const struct host *place_host; /* of the child */

static __attribute__((noinline)) void place_sleep(void)
{
    for (uint64_t until = host_taken(place_host) + PLACE_SAMPLES; host_taken(place_host) < until;)
        faults_sleep_us(2000);
    __asm__ volatile("" ::: "memory");
}

static void *place_thread(void *session)
{
    jsprof_thread *me;
    if (jsprof_thread_attach(session, "late", &me) != 0)
        return NULL;
    place_sleep();
    host_sampled(place_host, PLACE_SAMPLES);
    jsprof_thread_detach(me);
    return session;
}

enum { PLACE_FAILED = 1, PLACE_SKIP = 77, STILL_MS = 200 };

static int place_record(struct place *p)
{
    int clock = p->is_cpu ? JSPROF_CLOCK_CPU : JSPROF_CLOCK_WALL;
    jsprof_options options = faults_options(clock, 1000);
    jsprof_thread *me;
    void *late = p;
    options.flags |= JSPROF_USE_FD;
    options.fd = p->h.fd;
    alarm(300); /* it hangs */
    place_host = &p->h;
    if (jsprof_open(&p->h.prof, &options) != 0 ||
        jsprof_thread_attach(p->h.prof, "main", &me) != 0 || jsprof_start(p->h.prof) != 0)
        return PLACE_FAILED;
    if (!p->is_early) {
        host_sampled(&p->h, 1);
        if (jsprof_flush(p->h.prof) != 0) /* the drain has seen the loaded objects */
            return PLACE_FAILED;
    }
    if (!p->change(p))
        return PLACE_SKIP;
    if (!p->is_cpu)
        place_sleep();
    host_sampled(&p->h, PLACE_SAMPLES);
    if (!p->is_alone)
        pthread_join(host_thread(place_thread, p->h.prof), &late);
    if (jsprof_flush(p->h.prof) != 0 || jsprof_stop(p->h.prof) != 0)
        return PLACE_FAILED;
    p->h.stats = (jsprof_stats){ .size = sizeof p->h.stats };
    jsprof_stats_get(p->h.prof, &p->h.stats);
    return jsprof_close(p->h.prof) != 0 || !late;
}

/* Record in a child, with what the flags of `how` say. */
static void place_in(const struct place *how)
{
    struct place *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                           -1, 0);
    *p = *how;
    p->h.fd = memfd_create("capture", MFD_CLOEXEC);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(place_record(p));
    int status = host_child_status(child);
    if (status == PLACE_SKIP) {
        SKIP("needs to be root");
        close(p->h.fd);
    } else if (CHECK_EQ(status, 0) && host_load(&p->h)) {
        host_check(&p->h);
        CHECK_STR(p->h.profile.source, "looker");
        CHECK(how->is_cpu || faults_looks(&p->h, "walked") > 0);
        CHECK(how->is_cpu || host_samples(&p->h, "place_sleep") > 0);
        CHECK(how->is_alone || host_samples(&p->h, "place_thread") > 0);
        CHECK_EQ(host_weight(&p->h, JSP_STATE_STOPPED_FRAME),
                 p->h.profile.by_state[JSP_STATE_STOPPED]);
        printf("# %s\n", p->h.profile.looks);
        host_free(&p->h);
    }
    munmap(p, sizeof *p);
}

static void place_in_child(bool (*change)(struct place *place), bool is_alone)
{
    place_in(&(struct place){ .change = change, .is_alone = is_alone });
}

/* Nothing is seen of it outside this process and its children. */
static bool place_own_mounts(void)
{
    return unshare(CLONE_FS | CLONE_NEWNS) == 0 &&
           mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static bool place_without_proc(struct place *p)
{
    (void)p;
    return place_own_mounts() && mount("none", "/proc", "tmpfs", 0, NULL) == 0;
}

static bool place_of_another_root(struct place *p)
{
    char folder[] = "/tmp/jsprof-root-XXXXXX";
    (void)p;
    bool is_there = mkdtemp(folder) && chroot(folder) == 0;
    return is_there && chdir("/") == 0;
}

/* Another mount of /proc, with other rules, over the one that the looker has open. */
static bool place_of_another_proc(struct place *p)
{
    (void)p;
    return place_own_mounts() &&
           mount("proc", "/proc", "proc", MS_NOSUID | MS_RDONLY, "hidepid=2") == 0;
}

/* Go to the mounts of a child, whose /proc is empty. */
static bool place_of_another_namespace(struct place *p)
{
    int ready[2], status = 1, fd = -1;
    char path[32], byte;
    if (unshare(CLONE_FS) != 0 || pipe2(ready, O_CLOEXEC) != 0)
        return false;
    pid_t child = fork();
    if (child == 0) {
        bool is_there = place_without_proc(p) && write(ready[1], "", 1) == 1;
        close(ready[1]);
        while (is_there)
            pause();
        _exit(1);
    }
    close(ready[1]);
    snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)child);
    if (read(ready[0], &byte, 1) == 1)
        fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is_moved = fd >= 0 && setns(fd, CLONE_NEWNS) == 0;
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    close(fd);
    close(ready[0]);
    return is_moved && access("/proc/self", F_OK) != 0;
}

TEST_OF(proc_is_hidden_after_start, place_in_child(place_without_proc, false))
TEST_OF(proc_is_mounted_again_after_start, place_in_child(place_of_another_proc, false))
TEST_OF(host_goes_to_another_namespace_after_start,
        place_in_child(place_of_another_namespace, false))
TEST_OF(root_is_another_folder_after_start, place_in_child(place_of_another_root, false))

/* As a host does that makes itself a daemon, except that the capture stays open. */
static bool place_with_closed_files(struct place *p)
{
    int n_closed = 0;
    (void)p;
    for (int fd = 3; fd < 256; fd++) {
        char path[32], to[64];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(path, to, sizeof to - 1);
        to[n > 0 ? n : 0] = 0;
        n_closed += (strstr(to, "/task") || strstr(to, "/syscall")) && close(fd) == 0;
    }
    return n_closed == 2;
}

TEST(host_closes_the_lookers_files)
{
    if (HOST_LATE) {
        SKIP("the thread sanitizer reports the descriptor, which another thread uses");
        return;
    }
    place_in_child(place_with_closed_files, false);
}

/* -- A sandbox that kills ------------------------------------------------------ */

enum { SANDBOX_SET_FILTER = 1, SANDBOX_ALL_THREADS = 1 };
#define SANDBOX_KILL 0x80000000u /* SECCOMP_RET_KILL_PROCESS */

/* What docs/embedding.md lists: while it records ... */
static const int sandbox_recording[] = {
    SYS_clock_gettime, SYS_close, SYS_fstat, SYS_futex, SYS_getcpu, SYS_getpid,
    SYS_getrusage, SYS_gettid,
    SYS_lseek, SYS_madvise, SYS_mmap, SYS_mprotect, SYS_mremap, SYS_munmap,
    SYS_newfstatat, SYS_openat, SYS_pread64, SYS_process_vm_readv, SYS_pwrite64, SYS_read,
    SYS_restart_syscall, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn,
    SYS_rt_sigtimedwait, SYS_rt_tgsigqueueinfo, SYS_sysinfo, SYS_tgkill, SYS_timer_settime,
    SYS_write,
    SYS_brk,
};
/* ... to stop and close the session ... */
static const int sandbox_stopping[] = {
    SYS_exit, SYS_flock, SYS_rt_sigpending, SYS_timer_delete,
};
/* ... and what the host itself calls here. */
static const int sandbox_host[] = { SYS_clock_nanosleep, SYS_nanosleep, SYS_exit_group };
/* The address sanitizer's: it takes its signal stack from a thread that ends. */
static const int sandbox_sanitizer[] = { SYS_sigaltstack };

static void sandbox_allow(struct deny_program *program, const int *calls, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        program->steps[program->n++] = (struct deny_step){ DENY_IF, 0, 1, (uint32_t)calls[i] };
        program->steps[program->n++] = (struct deny_step){ DENY_RETURN, 0, 0, DENY_ALLOW };
    }
}

/* Kill the process when any thread of it calls something else. */
static bool sandbox_that_kills(struct place *p)
{
    static struct deny_step steps[128] = { { DENY_LOAD, 0, 0, 0 } };
    struct deny_program program = { 1, steps };
    (void)p;
    sandbox_allow(&program, sandbox_recording, sizeof sandbox_recording / sizeof(int));
    sandbox_allow(&program, sandbox_stopping, sizeof sandbox_stopping / sizeof(int));
    sandbox_allow(&program, sandbox_host, sizeof sandbox_host / sizeof(int));
    sandbox_allow(&program, sandbox_sanitizer, HOST_SANITIZED);
    steps[program.n++] = (struct deny_step){ DENY_RETURN, 0, 0, SANDBOX_KILL };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SANDBOX_SET_FILTER, SANDBOX_ALL_THREADS, &program) == 0;
}

TEST(sandbox_that_kills_for_any_other_call)
{
    place_in_child(sandbox_that_kills, true);
}

/* The threads' timers are set after it has begun. */
TEST(sandbox_lets_ticks_bring_samples)
{
    place_in(&(struct place){ .change = sandbox_that_kills, .is_alone = true, .is_cpu = true });
}

/* Where the machine was busy, the looker began in the sandbox, which killed the host. */
TEST(sandbox_may_begin_right_after_start)
{
    place_in(&(struct place){ .change = sandbox_that_kills, .is_alone = true,
                              .is_early = true });
}

/* -- A sandbox that takes the timers away ---------------------------------------- */

enum { DENIED_SKIP = 77, DENIED_UNSAMPLED };

static void *denied_burn(void *unused)
{
    host_burn_ms(30);
    return unused;
}

/* While the looker sleeps deeply, timers can no longer be set, or deleted. A tick meets a thread at
 * which nobody looks: the looker does not spin, for it sleeps again and again. It stays awake, and
 * no tick comes after the end. */
static int denied_timers(void)
{
    static const int calls[] = { SYS_timer_settime, SYS_timer_delete };
    struct host h = { 0 };
    unsigned long long naps;
    alarm(300); /* it spins */
    if (!faults_begin(&h, JSPROF_CLOCK_CPU, 1000))
        return 1;
    do { /* until it sleeps deeply */
        naps = host_naps("jsprof-looker");
        faults_sleep_us(20000);
    } while (host_naps("jsprof-looker") != naps);
    if (!deny_in_all(calls, 2, EPERM))
        return DENIED_SKIP;
    pthread_join(host_thread(denied_burn, NULL), NULL);
    for (naps = host_naps("jsprof-looker"); host_naps("jsprof-looker") < naps + 20;)
        faults_sleep_us(1000);
    host_sampled(&h, 20);
    bool is_read = host_close(&h);
    host_burn_ms(20);
    return is_read && h.stats.expirations >= 20 ? 0 : DENIED_UNSAMPLED;
}

TEST(sandbox_without_timers_lets_the_looker_look_and_sleep)
{
    int status = host_in_child(denied_timers);
    if (status == DENIED_SKIP)
        SKIP("no seccomp filters");
    else
        CHECK_EQ(status, 0);
}

/* -- A process that stands still ------------------------------------------------ */

/* Whether the samples say so is for tests/sim/account_test.c. */
static bool still_stopped(struct place *p)
{
    int status;
    pid_t me = getpid(), child = fork();
    (void)p;
    if (child == 0) {
        if (kill(me, SIGSTOP) != 0)
            _exit(1);
        usleep(STILL_MS * 1000);
        _exit(kill(me, SIGCONT) != 0);
    }
    while (waitpid(child, &status, WNOHANG) == 0)
        host_burn_ms(1);
    return status == 0;
}

TEST(process_is_stopped_and_goes_on)
{
    place_in(&(struct place){ .change = still_stopped });
}

TEST_MAIN()
