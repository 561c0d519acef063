/* sigsafe/again.c - see again.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "again.h"
#include "regs.h"

enum {
    AGAIN_SET_BYTES = 8,      /* size of the kernel's signal set */
    AGAIN_PROMPT_NS = 10000000, /* the call began no longer ago; a busy machine delays us so */
};

/* Return true for calls that have done nothing if they return EINTR. */
static bool again_is_harmless(int number)
{
    static const int calls[] = {
#ifdef SYS_poll
        SYS_poll, SYS_select, SYS_epoll_wait,
#endif
        SYS_ppoll, SYS_pselect6, SYS_epoll_pwait, SYS_nanosleep, SYS_clock_nanosleep, SYS_futex,
        SYS_read, SYS_recvfrom, SYS_recvmsg, SYS_accept, SYS_accept4,
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i] == number)
            return true;
    return false;
}

/* Return true if another signal waits: its handler must run before the call returns, which is
 * then interrupted by it. */
static bool again_waits_another(const void *ucontext)
{
    uint64_t pending, blocked;
    memcpy(&blocked, &((const ucontext_t *)ucontext)->uc_sigmask, sizeof blocked);
    return syscall(SYS_rt_sigpending, &pending, AGAIN_SET_BYTES) != 0 || pending & ~blocked;
}

bool jsp_again(struct jsp_memread *mem, const struct jsp_arrival *a, void *ucontext)
{
    const struct jsp_regs *regs = jsp_regs_of(ucontext);
    uint8_t before[JSP_NUMBER_BYTES];
    if (jsp_regs_call(regs).result != (uint64_t)-EINTR || a->late_ns > AGAIN_PROMPT_NS ||
        !jsp_regs_may_follow(regs, JSP_CALL_ANY))
        return false;
    jsp_memread_begin(mem, jsp_regs_sp(ucontext));
    if (!jsp_memread_bytes(mem, jsp_regs_core(regs).pc - sizeof before, before, sizeof before))
        return false;
    int number = jsp_regs_number(before);
    /* A handler of the host that blocks our signal may have interrupted the call before. */
    if (!again_is_harmless(number) || again_waits_another(ucontext) || jsp_hidden_has_handler(a))
        return false;
    jsp_regs_make_call(ucontext, number);
    return true;
}
