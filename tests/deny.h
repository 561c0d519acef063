/* deny.h - from now on this process and what it executes is in a sandbox that forbids some
 * system calls. What linux/seccomp.h says is here once more: musl comes without it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_TEST_DENY_H
#define JSP_TEST_DENY_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DENY_CALLS = 8, DENY_FILTER = 2 /* SECCOMP_MODE_FILTER */ };
enum { DENY_LOAD = 0x20, DENY_IF = 0x15, DENY_RETURN = 0x06 }; /* BPF, all of words */
#define DENY_WITH 0x00050000u  /* SECCOMP_RET_ERRNO */
#define DENY_ALLOW 0x7FFF0000u /* SECCOMP_RET_ALLOW */

struct deny_step {
    uint16_t code;
    uint8_t if_true, if_false; /* steps to pass over */
    uint32_t value;
};

struct deny_program {
    unsigned short n;
    struct deny_step *steps;
};

enum { DENY_STEPS = 2 * DENY_CALLS + 2, DENY_SET_FILTER = 1, DENY_ALL_THREADS = 1 };

/* Make the program in which they answer `err`. */
static inline struct deny_program deny_make(struct deny_step steps[DENY_STEPS], const int *calls,
                                            size_t n, int err)
{
    struct deny_program program = { 1, steps };
    steps[0] = (struct deny_step){ DENY_LOAD, 0, 0, 0 }; /* the number */
    for (size_t i = 0; i < n && i < DENY_CALLS; i++) {
        steps[program.n++] = (struct deny_step){ DENY_IF, 0, 1, (uint32_t)calls[i] };
        steps[program.n++] = (struct deny_step){ DENY_RETURN, 0, 0, DENY_WITH | (uint32_t)err };
    }
    steps[program.n++] = (struct deny_step){ DENY_RETURN, 0, 0, DENY_ALLOW };
    return program;
}

/* They answer `err`. False: the kernel has no seccomp filters. */
static inline bool deny(const int *calls, size_t n, int err)
{
    struct deny_step steps[DENY_STEPS];
    struct deny_program program = deny_make(steps, calls, n, err);
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, DENY_FILTER, &program) == 0;
}

/* The same, also in the threads that there are. */
static inline bool deny_in_all(const int *calls, size_t n, int err)
{
    struct deny_step steps[DENY_STEPS];
    struct deny_program program = deny_make(steps, calls, n, err);
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, DENY_SET_FILTER, DENY_ALL_THREADS, &program) == 0;
}

#endif
