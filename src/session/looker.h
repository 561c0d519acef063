/* session/looker.h - one thread of ours that looks at all sampled threads, in place of a
 * timer for each of them.
 *
 * The looker wakes once a period, at a random point of each cell of the elapsed time, and
 * reads the CPU clock of each thread. It sends the sampling signal to a thread that has a
 * processor at that moment. So a second of CPU time gets as many samples as were asked for,
 * while a CPU timer gets no more than the scheduler has ticks; and a program in step with
 * the tick is sampled as evenly as others. A thread that sleeps gets no signal.
 *
 * A thread that waits for a processor was perhaps running until the looker woke up. It gets
 * the signal with the probability of its share of the time since the last look. A late look
 * counts the points that have passed, and charges each thread with its share of them. Such
 * points of a thread that sleeps now wait for its next sample.
 *
 * On a busy machine the looker itself waits for a processor, and gets one more often when
 * certain threads sleep. So it keeps a balance for each thread: where the number of
 * expirations leaves the CPU time by more than a period, the next ones make up for it.
 *
 * When no thread has run for some time, the looker sleeps until a timer of the process's
 * CPU time wakes it: an idle program costs nothing.
 *
 *                       any thread   the looker
 *   jsp_looker_open        yes            -
 *   jsp_looker_start       yes            -
 *   jsp_looker_stop        yes            -
 *   jsp_looker_add         yes            -
 *   jsp_looker_remove      yes            -
 *   jsp_looker_leave  the child of a fork
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_LOOKER_H
#define JSP_SESSION_LOOKER_H

#include <pthread.h>
#include <sys/types.h>

#include "sigsafe/sample.h"

/* A thread that the looker samples. The first three are constant while it is added; ran_ns
 * is the CPU time from which on it is sampled. */
struct jsp_looked {
    struct jsp_sampled *sampled; /* borrowed */
    pid_t tid;
    clockid_t cpu_clock;

    int fd; /* owned: the thread's file in /proc; see looker_is_ready */
    dev_t dev; /* of that file: a host may close it */
    ino_t ino;

    /* Under the looker's lock. */
    struct jsp_looked *next;
    uint64_t ran_ns;  /* its CPU time at the last look */
    uint64_t debt;    /* expirations that no signal has reported yet */
    uint64_t sent_ns; /* time of the last signal */
    uint64_t waited;  /* points since then */
    /* CPU time that passed, less the expirations counted for it, in LOOKER_WHOLEths of a
     * period */
    int64_t balance;
};

struct jsp_looker {
    /* Constant while it runs. */
    uint64_t period_ns;
    int signo;
    pid_t pid;
    pthread_t thread;
    uint32_t n_most; /* threads that it may have: each takes a descriptor */

    pthread_mutex_t lock;

    /* Under `lock`. */
    bool runs, quit;
    struct jsp_looked *threads;
    uint32_t n;
    struct jsp_tick tick; /* of the elapsed time, for all threads */
    uint64_t random;      /* never 0 */
    int64_t carry;        /* sum of the balances that threads had left when they left */
    uint64_t looked_ns;   /* time of the last look */
    uint64_t ran_ns;      /* time of the last look that found a thread that had run */

    /* Used by the looker only. */
    timer_t alarm; /* of the process's CPU time */
    bool has_alarm;
};

/* Prepare a looker that does not run. */
void jsp_looker_open(struct jsp_looker *looker);

/* Start it. Return 0, or a negative errno: there is no /proc, the system refuses to send
 * directed signals, or there is no thread left. */
int jsp_looker_start(struct jsp_looker *looker, uint64_t period_ns, int signo);

/* End the looker, which samples no thread any more. */
void jsp_looker_stop(struct jsp_looker *looker);

/* Sample this thread from now on. Return 0, or a negative errno: its file in /proc cannot be
 * opened, or the looker has as many threads as it may (-EMFILE). */
int jsp_looker_add(struct jsp_looker *looker, struct jsp_looked *t);

/* Send the thread no further signal. Return the expirations that no signal has reported. */
uint64_t jsp_looker_remove(struct jsp_looker *looker, struct jsp_looked *t);

/* In the child of a fork: close the parent's descriptors. */
void jsp_looker_leave(struct jsp_looker *looker);

#endif
