/* session/event.c - see event.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "event.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "image/descriptor.h"
#include "kernel.h"

_Static_assert(sizeof(struct jsp_event_attr) == 96, "PERF_ATTR_SIZE_VER3");

enum {
    EVENT_TASK_CLOCK = 1, /* a number of the kernel's own */
    EVENT_DISABLED = 1, EVENT_USER = 1 << 5, /* of `flags`: exclude_kernel */
    EVENT_CLOEXEC = 8,
    EVENT_ENABLE = 0x2400, EVENT_DISABLE = 0x2401,
    EVENT_LATER_NS = 1000000000, /* the probe's */
    EVENT_DESCRIPTORS = 4, /* events take one of so many that the process may have */
};

static _Atomic uint64_t event_n; /* of all sessions */

#define EVENT_ID 0x80082407u

int jsp_event_make(const struct jsp_event_attr *attr, pid_t tid)
{
    struct jsp_event_attr own = *attr;
    own.type = JSP_EVENT_SOFTWARE;
    own.size = sizeof own;
    long fd = syscall(SYS_perf_event_open, &own, tid, -1, -1, EVENT_CLOEXEC);
    return fd < 0 ? -errno : jsp_descriptor_high((int)fd);
}

static int event_make(pid_t tid, bool is_user, uint64_t first_ns)
{
    const struct jsp_event_attr attr = { .config = EVENT_TASK_CLOCK,
                                         .flags = EVENT_DISABLED | (is_user ? EVENT_USER : 0),
                                         .period = first_ns ? first_ns : 1, .wakeup = 1 };
    return jsp_event_make(&attr, tid);
}

/* ioctl, whose second argument has another type in each libc. */
static long event_ask(int fd, unsigned long request, void *of)
{
    return syscall(SYS_ioctl, fd, request, of);
}

static bool event_direct(int fd, pid_t tid, int signo)
{
    const struct f_owner_ex owner = { F_OWNER_TID, tid };
    return fcntl(fd, F_SETSIG, signo) == 0 && fcntl(fd, F_SETOWN_EX, &owner) == 0 &&
           fcntl(fd, F_SETFL, O_ASYNC) == 0;
}

/* Return false if the process has as many events as it may. */
static bool event_reserve(void)
{
    /* ORDER: relaxed, both. A number of descriptors. */
    if (atomic_fetch_add_explicit(&event_n, 1, memory_order_relaxed) <
        jsp_kernel_most_files() / EVENT_DESCRIPTORS)
        return true;
    atomic_fetch_sub_explicit(&event_n, 1, memory_order_relaxed); /* ORDER: as above */
    return false;
}

static void event_release(void)
{
    /* ORDER: relaxed, as above. */
    atomic_fetch_sub_explicit(&event_n, 1, memory_order_relaxed);
}

static int event_start(struct jsp_timer *s, pid_t tid, int signo, bool is_user,
                       uint64_t first_ns)
{
    int fd = event_make(tid, is_user, first_ns);
    if (fd < 0)
        return fd;
    *s = (struct jsp_timer){ .has_event = true, .is_event = true, .is_user = is_user, .fd = fd };
    if (event_direct(fd, tid, signo) && event_ask(fd, EVENT_ID, &s->id) == 0 &&
        event_ask(fd, EVENT_ENABLE, NULL) == 0)
        return 0;
    int err = -errno;
    close(fd);
    *s = (struct jsp_timer){ .has_event = false };
    return err;
}

int jsp_event_open(struct jsp_timer *s, pid_t tid, int signo, bool is_user, uint64_t first_ns)
{
    if (!event_reserve())
        return -EMFILE;
    int err = event_start(s, tid, signo, is_user, first_ns);
    if (err)
        event_release();
    return err;
}

/* Return true if the descriptor is still the event's. */
static bool event_is(const struct jsp_timer *s)
{
    uint64_t id;
    return s->has_event && event_ask(s->fd, EVENT_ID, &id) == 0 && id == s->id;
}

void jsp_event_leave(struct jsp_timer *s)
{
    if (event_is(s))
        close(s->fd);
    if (s->has_event)
        event_release();
    s->has_event = s->is_event = false;
}

void jsp_event_close(struct jsp_timer *s)
{
    if (event_is(s))
        event_ask(s->fd, EVENT_DISABLE, NULL); /* forked children may hold copies of it */
    jsp_event_leave(s);
}

int jsp_event_try(bool is_user)
{
    int fd = event_make(0, is_user, EVENT_LATER_NS);
    if (fd < 0)
        return fd;
    close(fd);
    return 0;
}
