/* session/alone/waiting.c - see waiting.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "waiting.h"

#include <sys/syscall.h>

#include "sigsafe/regs.h"

/* The instruction that enters the kernel, and the registers with the call's number and
 * its result, by DWARF's numbers. */
#if defined(__x86_64__)
enum { WAITING_BYTES = 2, WAITING_NUMBER = 0, WAITING_RESULT = 0 };
static const uint8_t waiting_enter[WAITING_BYTES] = { 0x0F, 0x05 };
#else
enum { WAITING_BYTES = 4, WAITING_NUMBER = 8, WAITING_RESULT = 0 };
static const uint8_t waiting_enter[WAITING_BYTES] = { 0x01, 0x00, 0x00, 0xD4 };
#endif

static bool waiting_is_one(uint64_t number)
{
    switch (number) {
    case SYS_read: case SYS_readv: case SYS_write: case SYS_writev:
    case SYS_ppoll: case SYS_pselect6: case SYS_epoll_pwait:
    case SYS_recvfrom: case SYS_recvmsg: case SYS_sendto: case SYS_sendmsg:
    case SYS_accept: case SYS_accept4: case SYS_connect:
    case SYS_nanosleep: case SYS_clock_nanosleep: case SYS_rt_sigsuspend:
    case SYS_wait4: case SYS_waitid: case SYS_futex:
    case SYS_openat: case SYS_flock: case SYS_fcntl:
#ifdef SYS_poll /* newer architectures lack them */
    case SYS_poll: case SYS_select: case SYS_epoll_wait: case SYS_pause:
#endif
        return true;
    default:
        return false;
    }
}

static bool waiting_enters(uintptr_t at)
{
    return memcmp((const void *)at, waiting_enter, sizeof waiting_enter) == 0;
}

bool jsp_waiting(const void *ucontext)
{
    const struct jsp_regs *regs = jsp_regs_of(ucontext);
    uintptr_t pc = jsp_regs_core(regs).pc;
    if (waiting_enters(pc)) /* the call will be restarted */
        return waiting_is_one(jsp_regs_get(regs, WAITING_NUMBER));
    return waiting_enters(pc - WAITING_BYTES) &&
           jsp_regs_get(regs, WAITING_RESULT) == (uint64_t)-EINTR;
}
