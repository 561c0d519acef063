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

/* They answer `err`. False: the kernel has no seccomp filters. */
static inline bool deny(const int *calls, size_t n, int err)
{
    struct deny_step steps[2 * DENY_CALLS + 2] = { { DENY_LOAD, 0, 0, 0 } }; /* the number */
    struct deny_program program = { 1, steps };
    for (size_t i = 0; i < n && i < DENY_CALLS; i++) {
        steps[program.n++] = (struct deny_step){ DENY_IF, 0, 1, (uint32_t)calls[i] };
        steps[program.n++] = (struct deny_step){ DENY_RETURN, 0, 0, DENY_WITH | (uint32_t)err };
    }
    steps[program.n++] = (struct deny_step){ DENY_RETURN, 0, 0, DENY_ALLOW };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, DENY_FILTER, &program) == 0;
}

#endif
