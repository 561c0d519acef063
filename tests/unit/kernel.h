/* unit/kernel.h - what the kernel under a test can do.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_TEST_KERNEL_H
#define JSP_TEST_KERNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>
#include <unistd.h>

/* No emulator has process_vm_readv. */
static inline bool kernel_copies(void)
{
    uint64_t from = 1, to = 0;
    struct iovec there = { &from, sizeof from }, here = { &to, sizeof to };
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == sizeof to;
}

#endif
