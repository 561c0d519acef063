/* session/sleeper.h - the stack of a thread that sleeps, taken from outside, without a signal.
 *
 * The kernel reports in which system call a thread sleeps, with its stack pointer and program
 * counter. From there we walk its stack in our own address space, over the same tables as the
 * handler. The thread may wake up meanwhile, unmap its stack or end; so all its memory is read
 * with protection, and the caller compares the thread's CPU clock before and after: if the
 * thread has not run, nothing has changed.
 *
 * The frame pointer of the thread is unknown. Most walks do not need it: the C library's
 * system calls do not use one, and their callers have saved theirs on the stack.
 *
 *                     any thread   the looker
 *   jsp_sleeper_open     yes           -
 *   jsp_sleeper_close    yes           -
 *   jsp_sleeper_walk      -           yes
 *   jsp_sleeper_note      -           yes
 *   jsp_sleeper_busy     yes           -
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_SLEEPER_H
#define JSP_SESSION_SLEEPER_H

#include "kernel.h"
#include "sigsafe/sample.h"

/* How a walk ended. */
enum jsp_sleep_walk {
    JSP_SLEEP_WALKED,
    JSP_SLEEP_PAUSED,   /* the thread wants no samples now */
    JSP_SLEEP_HOST,     /* only the handler can read the host's frames */
    JSP_SLEEP_ELSEWHERE, /* it is on another stack than its own */
    JSP_SLEEP_POINTER,  /* the walk needs the frame pointer */
    JSP_N_SLEEPS,
};

struct jsp_sleeper {
    struct jsp_sampled *hand; /* borrowed: the record and the unwinder for all walks */
    uint8_t *stack;          /* owned: room for a copy of a stack */
    struct jsp_names_foreign *names; /* owned */
    jsprof_frame *frames;    /* owned: room for what a host's walker returns */
};

/* Prepare for walks. `hand` is a thread of the session that is never sampled itself. Return 0
 * or -ENOMEM. */
int jsp_sleeper_open(struct jsp_sleeper *z, struct jsp_sampled *hand);

/* Free what jsp_sleeper_open allocated. */
void jsp_sleeper_close(struct jsp_sleeper *z);

/* Walk the thread's stack into the record. */
enum jsp_sleep_walk jsp_sleeper_walk(struct jsp_sleeper *z, const struct jsp_sampled *t,
                                     const struct jsp_sleep *at);

/* Return the record of the last walk, borrowed until the next one. */
struct jsp_record *jsp_sleeper_record(const struct jsp_sleeper *z);

/* Put the thread's task and labels into the record, after a walk. */
void jsp_sleeper_note(struct jsp_sleeper *z, const struct jsp_sampled *t);

/* Return true if a walk is under way: it reads what the session has published. */
bool jsp_sleeper_busy(const struct jsp_sleeper *z);

#endif
