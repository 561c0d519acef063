/* peek.c - see peek.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "peek.h"

#include <sys/uio.h>
#include <unistd.h>

bool jsp_lua_peek(uintptr_t at, void *to, size_t n)
{
    struct iovec here = { to, n }, there = { (void *)at, n };
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)n;
}
