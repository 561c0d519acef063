/* session/kernel.h - what the recording asks of the kernel to decide when to sample.
 *
 * These are clocks, timers, what the scheduler says of a thread, and the signal.
 *
 * kernel.c asks the real kernel. A test may define all of these functions itself, and is linked
 * without kernel.c then: tests/sim/ has a simulated kernel with processors, ticks and threads of
 * its own, on which looker.c, looked.c, looker_wall.c and looker_deep.c run as they are.
 *
 *                            any thread   the looker
 *   jsp_kernel_now_ns           yes          yes
 *   jsp_kernel_send             yes          yes
 *   jsp_kernel_timer_open       yes          yes
 *   jsp_kernel_timer_set        yes          yes
 *   jsp_kernel_timer_close      yes          yes
 *   jsp_kernel_sleep             -           yes
 *   jsp_kernel_tick_ns          yes          yes
 *   jsp_kernel_most_files       yes          yes
 *   jsp_kernel_try              yes          yes
 *   jsp_kernel_at                -           yes
 *   jsp_kernel_state             -           yes
 *   jsp_kernel_switches          -           yes
 *   jsp_kernel_is_here           -           yes
 *   jsp_kernel_delay_ns         yes          yes
 *   jsp_kernel_until_ns          -           yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_KERNEL_H
#define JSP_SESSION_KERNEL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "sigsafe/record.h"
#include "task.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* Return the time of a clock, also of another thread's CPU clock; 0: the thread is gone. */
uint64_t jsp_kernel_now_ns(clockid_t clock);

/* Queue a signal for this thread of the process; 0 is no signal. Return 0 or a negative errno. */
int jsp_kernel_send(pid_t pid, pid_t tid, int signo, siginfo_t *info);

/* A timer whose signals go to one thread. */
struct jsp_kernel_timer {
    clockid_t clock;
    pid_t tid;
    int signo;
    void *value; /* of its signals */
};

/* Make a timer. Return 0 or a negative errno. */
int jsp_kernel_timer_open(timer_t *timer, const struct jsp_kernel_timer *setup);

/* Let the timer expire once after so much time of its clock; 0: not at all. Return false if a
 * sandbox refuses. */
bool jsp_kernel_timer_set(timer_t timer, uint64_t ns);

/* Delete the timer. Return false if a sandbox refuses. */
bool jsp_kernel_timer_close(timer_t timer);

/* Sleep until so much time is over or this signal comes, which the caller blocks. Return true if
 * a timer sent it. */
bool jsp_kernel_sleep(int signo, uint64_t ns);

/* Return the scheduler's tick in ns; 0: not known. */
uint64_t jsp_kernel_tick_ns(void);

/* Return how many descriptors the process may have. */
uint64_t jsp_kernel_most_files(void);

/* Return 0 if the kernel reports the calling thread's system call, and lets it send signals to
 * itself; otherwise a negative errno. */
int jsp_kernel_try(const struct jsp_task_file *folder, pid_t pid);

/* Where a thread is. */
enum jsp_sleep_is {
    JSP_SLEEP_READY,  /* it runs, or waits for a processor */
    JSP_SLEEP_ASLEEP,
    JSP_SLEEP_GONE,   /* or the kernel does not report it */
};

struct jsp_sleep {
    enum jsp_sleep_is is;
    int64_t call;   /* the system call's number; -1: none, such as in a page fault */
    uint64_t first; /* its first argument */
    uint64_t sp, pc;
};

/* Read where this thread is. `call` is its kept file, which is opened if it is to be opened later,
 * and closed if it is not the kernel's any more. */
struct jsp_sleep jsp_kernel_at(const struct jsp_task_file *folder, pid_t tid,
                               struct jsp_task_file *call);

/* Return what to record of a thread that has slept for so long. */
struct jsp_rec_state jsp_kernel_state(const struct jsp_task_file *folder, pid_t tid,
                                      const struct jsp_sleep *at, uint64_t asleep_ns);

/* How often a thread has gone to sleep, and how often it was stopped while it ran on. */
struct jsp_switches {
    uint64_t naps, stops;
};

/* Count them. Return false if they are not known. This takes 25 us. */
bool jsp_kernel_switches(const struct jsp_task_file *folder, pid_t tid, struct jsp_switches *out);

/* Return true if the thread ran last on the processor on which the caller runs. This takes
 * 15 us. */
bool jsp_kernel_is_here(const struct jsp_task_file *folder, pid_t tid);

/* Return how long the thread has waited for a processor, in ns, as the kernel counts when it gets
 * one; 0: not known. This takes 8 us. */
uint64_t jsp_kernel_delay_ns(const struct jsp_task_file *folder, pid_t tid);

/* Return when the thread, which does not run, had its processor last, or for the calling thread
 * when it got it, by the scheduler's clock of that processor; 0: the kernel does not say. This
 * takes 6 us. */
uint64_t jsp_kernel_until_ns(const struct jsp_task_file *folder, pid_t tid);

#endif
