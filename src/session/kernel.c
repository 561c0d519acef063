/* session/kernel.c - see kernel.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KERNEL_CALL "syscall" /* the file that says in which system call a thread is */
#define KERNEL_S_NS 1000000000u

/* -- Clocks, timers, the signal --------------------------------------------- */

uint64_t jsp_kernel_now_ns(clockid_t clock)
{
    return jsp_now_ns(clock);
}

int jsp_kernel_send(pid_t pid, pid_t tid, int signo, siginfo_t *info)
{
    return syscall(SYS_rt_tgsigqueueinfo, pid, tid, signo, info) < 0 ? -errno : 0;
}

int jsp_kernel_timer_open(timer_t *timer, const struct jsp_kernel_timer *setup)
{
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = setup->signo };
    event.sigev_notify_thread_id = setup->tid;
    event.sigev_value.sival_ptr = setup->value;
    return timer_create(setup->clock, &event, timer) == 0 ? 0 : -errno;
}

bool jsp_kernel_timer_set(timer_t timer, uint64_t ns)
{
    const struct itimerspec when = { .it_value = { (time_t)(ns / KERNEL_S_NS),
                                                   (long)(ns % KERNEL_S_NS) } };
    return timer_settime(timer, 0, &when, NULL) == 0;
}

bool jsp_kernel_timer_close(timer_t timer)
{
    return timer_delete(timer) == 0;
}

bool jsp_kernel_sleep(int signo, uint64_t ns)
{
    const struct timespec most = { (time_t)(ns / KERNEL_S_NS), (long)(ns % KERNEL_S_NS) };
    siginfo_t info;
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signo);
    return sigtimedwait(&one, &info, &most) == signo && info.si_code == SI_TIMER;
}

/* The coarse clocks are set by the tick. */
uint64_t jsp_kernel_tick_ns(void)
{
    struct timespec tick;
    return clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0 ? (uint64_t)tick.tv_nsec : 0;
}

uint64_t jsp_kernel_most_files(void)
{
    struct rlimit most;
    return getrlimit(RLIMIT_NOFILE, &most) == 0 ? most.rlim_cur : 0;
}

int jsp_kernel_try(const struct jsp_task_file *folder, pid_t pid)
{
    pid_t tid = (pid_t)syscall(SYS_gettid);
    siginfo_t info = { .si_code = SI_TIMER };
    char text[8];
    if (folder->fd < 0)
        return folder->fd;
    if (!jsp_task_read(folder, tid, KERNEL_CALL, text, sizeof text))
        return -ENOTSUP;
    return jsp_kernel_send(pid, tid, 0, &info);
}

/* -- Where a thread is ------------------------------------------------------ */

/* "202 0x1 0x2 0x3 0x4 0x5 0x6 0xsp 0xpc", "-1 0xsp 0xpc" or "running". */
static struct jsp_sleep kernel_parse(const char *text)
{
    enum { FIELDS = 8 };
    struct jsp_sleep at = { .is = JSP_SLEEP_GONE };
    uint64_t field[FIELDS];
    char *next, *end;
    if (strcmp(text, "running\n") == 0) {
        at.is = JSP_SLEEP_READY;
        return at;
    }
    uint32_t n = 0;
    at.call = (int64_t)strtoull(text, &next, 10); /* of "-1" it is the number's complement */
    for (; n < FIELDS; n++, next = end) {
        field[n] = strtoull(next, &end, 16);
        if (end == next)
            break;
    }
    if (n < 2)
        return at;
    at.is = JSP_SLEEP_ASLEEP;
    at.first = n == FIELDS ? field[0] : 0;
    at.sp = field[n - 2];
    at.pc = field[n - 1];
    return at;
}

struct jsp_sleep jsp_kernel_at(const struct jsp_task_file *folder, pid_t tid,
                               struct jsp_task_file *call)
{
    struct jsp_sleep at = { .is = JSP_SLEEP_GONE };
    char text[256];
    if (call->fd == JSP_TASK_LATER)
        jsp_task_open(call, folder, tid, KERNEL_CALL);
    ssize_t got = call->fd >= 0 ? pread(call->fd, text, sizeof text - 1, 0) : 0;
    if (got > 0) {
        text[got] = 0;
        at = kernel_parse(text);
    }
    if (at.is != JSP_SLEEP_GONE || !jsp_task_read(folder, tid, KERNEL_CALL, text, sizeof text))
        return at;
    jsp_task_close(call); /* the thread is there, so the number is another file's */
    return kernel_parse(text);
}

/* Read the number that follows the name. Return false if there is none. */
static bool kernel_number(const char *text, const char *name, uint64_t *out)
{
    const char *at = strstr(text, name);
    *out = at ? strtoull(at + strlen(name), NULL, 10) : 0;
    return at;
}

bool jsp_kernel_switches(const struct jsp_task_file *folder, pid_t tid, struct jsp_switches *out)
{
    char text[4096]; /* with thousands of groups, the numbers come later: they are not known */
    struct jsp_switches now;
    if (!jsp_task_read(folder, tid, "status", text, sizeof text) ||
        !kernel_number(text, "\nvoluntary_ctxt_switches:", &now.naps) ||
        !kernel_number(text, "\nnonvoluntary_ctxt_switches:", &now.stops))
        return false;
    *out = now;
    return true;
}

bool jsp_kernel_is_here(const struct jsp_task_file *folder, pid_t tid)
{
    enum { FROM_NAME = 37 }; /* fields between its name, in brackets, and the processor's number */
    char text[1024];
    unsigned here;
    if (syscall(SYS_getcpu, &here, NULL, NULL) < 0 ||
        !jsp_task_read(folder, tid, "stat", text, sizeof text))
        return false;
    const char *at = strrchr(text, ')');
    for (int i = 0; at && i < FROM_NAME; i++)
        at = strchr(at + 1, ' ');
    return at && strtoull(at + 1, NULL, 10) == here;
}

uint64_t jsp_kernel_delay_ns(const struct jsp_task_file *folder, pid_t tid)
{
    char text[96], *end;
    if (!jsp_task_read(folder, tid, "schedstat", text, sizeof text))
        return 0;
    strtoull(text, &end, 10); /* the time that it ran */
    return strtoull(end, NULL, 10);
}

uint64_t jsp_kernel_until_ns(const struct jsp_task_file *folder, pid_t tid)
{
    static const char name[] = "\nse.exec_start";
    char text[512], *end; /* milliseconds with six digits after the point */
    if (!jsp_task_read(folder, tid, "sched", text, sizeof text))
        return 0;
    const char *at = strstr(text, name);
    at = at ? strchr(at, ':') : NULL;
    uint64_t ms = at ? strtoull(at + 1, &end, 10) : 0;
    return ms && *end == '.' ? ms * 1000000 + strtoull(end + 1, NULL, 10) : 0;
}

/* What the first argument of a system call is. */
enum kernel_first {
    KERNEL_OTHER,
    KERNEL_ANY,  /* a descriptor on which it waits */
    KERNEL_TOLD, /* the same, of a kind that the call implies */
};

static enum kernel_first kernel_first(int64_t call)
{
    static const int calls[] = {
        SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_fsync,
        SYS_fdatasync, SYS_flock, SYS_ioctl, SYS_fcntl, SYS_splice,
        /* from here on the call implies the kind */
        SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg, SYS_sendto, SYS_sendmsg, SYS_accept,
        SYS_accept4, SYS_connect, SYS_epoll_pwait,
#ifdef SYS_epoll_wait
        SYS_epoll_wait,
#endif
    };
    enum { FIRST_TOLD = 12 };
    size_t i = 0, n = sizeof calls / sizeof calls[0];
    while (i < n && calls[i] != call)
        i++;
    return i == n ? KERNEL_OTHER : i < FIRST_TOLD ? KERNEL_ANY : KERNEL_TOLD;
}

struct jsp_rec_state jsp_kernel_state(const struct jsp_task_file *folder, pid_t tid,
                                      const struct jsp_sleep *at, uint64_t asleep_ns)
{
    struct jsp_rec_state state = { .state = JSP_STATE_ASLEEP, .asleep_ns = asleep_ns };
    enum kernel_first first = kernel_first(at->call);
    state.call = (uint32_t)(at->call + 1);
    if (first != KERNEL_OTHER)
        state.descriptor = (uint32_t)at->first + 1;
    if (first == KERNEL_ANY)
        state.call += JSP_STATES_CALLS * jsp_task_descriptor(folder, tid, (int)at->first);
    return state;
}
