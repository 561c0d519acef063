/* deny.c - runs a program as in a sandbox that forbids process_vm_readv, with the error
 * that is in DENY_ERRNO: deny PROGRAM ARGUMENT...
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int deny(int err)
{
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ((unsigned)err & SECCOMP_RET_DATA)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = { sizeof steps / sizeof *steps, steps };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
        return -errno;
    return 0;
}

int main(int argc, char **argv)
{
    const char *asked = getenv("DENY_ERRNO");
    int err = asked ? atoi(asked) : EPERM;
    char from = 1, to = 0;
    struct iovec here = { &to, 1 }, there = { &from, 1 };
    if (argc < 2)
        return 2;
    if (deny(err) < 0) {
        puts("SKIP: needs a kernel with seccomp filters");
        return 77;
    }
    if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) >= 0 || errno != err) {
        puts("process_vm_readv is not denied");
        return 1;
    }
    execv(argv[1], argv + 1);
    perror(argv[1]);
    return 1;
}
