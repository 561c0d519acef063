/* deny.c - runs a program as in a sandbox that forbids process_vm_readv, with the error
 * that is in DENY_ERRNO: deny PROGRAM ARGUMENT...
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../deny.h"

int main(int argc, char **argv)
{
    const char *asked = getenv("DENY_ERRNO");
    int err = asked ? atoi(asked) : EPERM;
    char from = 1, to = 0;
    struct iovec here = { &to, 1 }, there = { &from, 1 };
    if (argc < 2)
        return 2;
    if (!deny(&(const int){ SYS_process_vm_readv }, 1, err)) {
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
