/* deny.h - from now on this process and what it executes is in a sandbox that forbids some
 * system calls.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_TEST_DENY_H
#define JSP_TEST_DENY_H

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* They answer `err`. False: the kernel has no seccomp filters. */
static inline int deny(const int *calls, size_t n, int err)
{
    struct sock_filter steps[64];
    size_t at = 0;
    if (n > 20)
        return 0;
    steps[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                               offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < n; i++) {
        steps[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                   (unsigned)calls[i], 0, 1);
        steps[at++] = (struct sock_filter)BPF_STMT(
            BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ((unsigned)err & SECCOMP_RET_DATA));
    }
    steps[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog filter = { (unsigned short)at, steps };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

#endif
