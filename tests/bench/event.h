/* event.h - perf_event's task clock as a peer, or as a floor.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_BENCH_EVENT_H
#define JSP_BENCH_EVENT_H

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Let an event send this signal to the calling thread after each `ns` of its CPU time, also in the
 * kernel. Return its descriptor; below 0: the kernel does not allow it. */
static inline int bench_event_open(int signo, uint64_t ns)
{
    struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .size = sizeof attr,
                                    .config = PERF_COUNT_SW_TASK_CLOCK, .disabled = 1,
                                    .sample_period = ns, .wakeup_events = 1 };
    struct f_owner_ex owner = { F_OWNER_TID, (pid_t)syscall(SYS_gettid) };
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return fd;
    fcntl(fd, F_SETFL, O_ASYNC);
    fcntl(fd, F_SETSIG, signo);
    fcntl(fd, F_SETOWN_EX, &owner);
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    return fd;
}

static inline void bench_event_close(int fd)
{
    if (fd < 0)
        return;
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    close(fd);
}

#endif
