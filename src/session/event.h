/* session/event.h - an event of the kernel's that counts a thread's CPU time, to sample it by
 * (perf_event's task clock).
 *
 * It comes in the kernel, too, for which the kernel may ask a privilege: perf_event_paranoid of 1
 * or less, or CAP_PERFMON. With 2, there is one that comes in user code alone. Its signal may be
 * under way when the process calls exec. SIGPROF would end the new program; the default of
 * JSP_EVENT_SIGNAL is to be ignored.
 *
 *                     any thread
 *   jsp_event_open       yes
 *   jsp_event_close      yes
 *   jsp_event_leave  the child of a fork
 *   jsp_event_try        yes
 *   jsp_event_make       yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_EVENT_H
#define JSP_SESSION_EVENT_H

#include <signal.h>
#include <sys/types.h>

#include "sigsafe/timer.h"

#define JSP_EVENT_SIGNAL SIGURG

/* What the kernel's <linux/perf_event.h> says of an event: not every libc comes with it. */
struct jsp_event_attr {
    uint32_t type, size; /* jsp_event_make sets them */
    uint64_t config, period, sample_type, read_format, flags;
    uint32_t wakeup, breakpoint;
    uint64_t config1, config2, branches, user_registers;
    uint32_t user_stack;
    int32_t clock;
};
enum { JSP_EVENT_SOFTWARE = 1 };

/* Make an event of the kernel's own kind, such as a clock or a switch, of this thread. Return its
 * descriptor or a negative errno. */
int jsp_event_make(const struct jsp_event_attr *attr, pid_t tid);

/* Make an event of this thread of the process, which sends it the signal, after `first_ns` of its
 * CPU time; if `is_user`, not in the kernel. Return 0 or a negative errno; -EMFILE: a quarter of
 * the process's descriptors are events. */
int jsp_event_open(struct jsp_timer *s, pid_t tid, int signo, bool is_user, uint64_t first_ns);

/* End the event: no other signal follows. If the host has closed its descriptor, nothing happens to
 * what may have its number now. */
void jsp_event_close(struct jsp_timer *s);

/* In the child of a fork: close the descriptor. The event is the parent's. */
void jsp_event_leave(struct jsp_timer *s);

/* Return 0 if the kernel lets this process have such events, otherwise a negative errno. */
int jsp_event_try(bool is_user);

#endif
