/* sigsafe/hidden.c - see hidden.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "hidden.h"
#include "regs.h"

enum {
    HIDDEN_SET_BYTES = 8,       /* size of the kernel's signal set */
    HIDDEN_RAN_NS = 2000000, /* a thread that ran this long would have taken the signal */
    HIDDEN_TICKS_NS = 25000000, /* two ticks of the slowest processor */
    HIDDEN_MANY_NS = 40000000,  /* several ticks */
    HIDDEN_TICK_NS = 10000000,  /* one tick */
};

static bool hidden_has(uint64_t set, int signo)
{
    return set >> (signo - 1) & 1;
}

/* Return true if this system call has just returned and succeeded. */
static bool hidden_follows(struct jsp_memread *mem, const struct jsp_regs *regs, int number)
{
    uint8_t before[JSP_CALL_BYTES];
    return jsp_regs_may_follow(regs, number) &&
           jsp_memread_bytes(mem, jsp_regs_core(regs).pc - sizeof before, before,
                             sizeof before) &&
           jsp_regs_follows(before, number);
}

/* Return true if the signal came as soon as it was due. The CPU clock waits for a tick in
 * any case. */
static bool hidden_is_prompt(const struct jsp_arrival *a)
{
    return a->clock == JSP_CLOCK_WALL && a->late_ns < JSP_HIDDEN_PROMPT_NS;
}

/* rt_sigprocmask(how, set, old, 8) has returned: was the signal blocked before? If the
 * program asked for the old mask, that mask decides. Otherwise the program unblocked the
 * signal by name, or it set a mask without the signal, which proves nothing if the signal
 * was not late. */
static bool hidden_by_mask(struct jsp_memread *mem, const struct jsp_arrival *a,
                           const struct jsp_regs_call *call)
{
    uint64_t set, old;
    if (call->first > SIG_SETMASK || !call->second ||
        !jsp_memread_bytes(mem, call->second, &set, sizeof set))
        return false;
    if (call->third && jsp_memread_bytes(mem, call->third, &old, sizeof old))
        return hidden_has(old, a->signo);
    if (hidden_has(set, a->signo))
        return true;
    return call->first != SIG_UNBLOCK && !hidden_is_prompt(a);
}

/* rt_sigaction(signo, new, old, 8) has returned: was the signal ignored before? */
static bool hidden_by_action(struct jsp_memread *mem, const struct jsp_regs_call *call)
{
    uint64_t old = (uint64_t)(uintptr_t)SIG_IGN;
    return !call->third || !jsp_memread_bytes(mem, call->third, &old, sizeof old) ||
           old == (uint64_t)(uintptr_t)SIG_IGN;
}

static bool hidden_by_call(struct jsp_memread *mem, const struct jsp_arrival *a,
                           const struct jsp_regs *regs)
{
    struct jsp_regs_call call = jsp_regs_call(regs);
    if (call.result || call.fourth != HIDDEN_SET_BYTES)
        return false;
    jsp_memread_begin(mem, jsp_regs_sp(a->ucontext));
    if (hidden_follows(mem, regs, SYS_rt_sigprocmask) && hidden_by_mask(mem, a, &call))
        return true;
    return (!call.first || call.first == (uint64_t)a->signo) &&
           hidden_follows(mem, regs, SYS_rt_sigaction) && hidden_by_action(mem, &call);
}

bool jsp_hidden_has_handler(const struct jsp_arrival *a)
{
    for (int other = 1; other < _NSIG; other++) {
        struct sigaction action;
        if (sigaction(other, NULL, &action) < 0 || action.sa_handler == SIG_DFL ||
            action.sa_handler == SIG_IGN || action.sa_sigaction == a->handler)
            continue;
        uint64_t blocked;
        memcpy(&blocked, &action.sa_mask, sizeof blocked);
        if (hidden_has(blocked, a->signo))
            return true;
    }
    return false;
}

/* Return true if the thread sleeps often. Where other threads want the processor, several
 * turns in a row that end in sleep may pass without any tick. */
static bool hidden_sleeps(const struct jsp_arrival *a)
{
    struct rusage used;
    return syscall(SYS_getrusage, RUSAGE_THREAD, &used) != 0 || used.ru_nvcsw < 0 ||
           (uint64_t)used.ru_nvcsw > a->now_ns[JSP_CLOCK_CPU] / HIDDEN_TICKS_NS;
}

/* Return true if the thread had a processor since the signal was due. The CPU clock stops
 * without one. */
static bool hidden_ran_since(const struct jsp_arrival *a)
{
    uint64_t before = a->took_ns > a->late_ns ? a->took_ns - a->late_ns : 0;
    return a->clock == JSP_CLOCK_CPU || a->ran_ns > before + HIDDEN_RAN_NS;
}

/* Return true if the thread ran on while the signal was due. Only the tick checks the CPU
 * clock. So on that clock two ticks in a row must have gone to the thread, or several
 * must have passed for a thread that seldom sleeps. */
static bool hidden_ran(const struct jsp_arrival *a)
{
    uint64_t away = a->took_ns > a->ran_ns ? a->took_ns - a->ran_ns : 0;
    if (a->clock == JSP_CLOCK_CPU)
        return a->late_ns > HIDDEN_TICKS_NS &&
               (away < a->late_ns / 8 || (a->late_ns > HIDDEN_MANY_NS && !hidden_sleeps(a)));
    return a->late_ns > HIDDEN_RAN_NS && hidden_ran_since(a);
}

/* Return true if a handler ran inside kill or tgkill to this process. Such a call by
 * itself is short. */
static bool hidden_is_raised(struct jsp_memread *mem, const struct jsp_regs *regs)
{
    struct jsp_regs_call call = jsp_regs_call(regs);
    return !call.result && (!call.first || call.first == (uint64_t)mem->pid) &&
           (hidden_follows(mem, regs, SYS_tgkill) || hidden_follows(mem, regs, SYS_kill));
}

/* Return true if the first signal was taken elsewhere: this one came from a later try of
 * the timer. The timer counts the tries that it drops while a signal is pending. */
static bool hidden_was_taken(const struct jsp_arrival *a)
{
    return a->overrun < a->late_ns / JSP_HIDDEN_AGAIN_NS;
}

/* Return true if the first signal was discarded, which older kernels count as pending. A thread
 * that waits for a processor may take its first signal as late as that, but it did not run
 * meanwhile. */
static bool hidden_was_dropped(const struct jsp_arrival *a)
{
    return a->late_ns >= JSP_HIDDEN_AGAIN_NS &&
           a->late_ns % JSP_HIDDEN_AGAIN_NS < HIDDEN_TICK_NS && hidden_ran_since(a);
}

/* Decide by what the thread did meanwhile. After a system call it may have spent the time
 * in that call. */
static bool hidden_by_time(struct jsp_memread *mem, const struct jsp_arrival *a,
                           const struct jsp_regs *regs)
{
    bool dropped = hidden_was_dropped(a);
    if (!dropped && !hidden_ran(a))
        return false;
    jsp_memread_begin(mem, jsp_regs_sp(a->ucontext));
    if (hidden_follows(mem, regs, JSP_CALL_ANY) && !hidden_is_raised(mem, regs))
        return false;
    return dropped || jsp_hidden_has_handler(a);
}

bool jsp_hidden(struct jsp_memread *mem, const struct jsp_arrival *a)
{
    const struct jsp_regs *regs = jsp_regs_of(a->ucontext);
    uint64_t restored;
    memcpy(&restored, &((const ucontext_t *)a->ucontext)->uc_sigmask, sizeof restored);
    /* it can only come through in a call such as ppoll */
    if (hidden_has(restored, a->signo))
        return !hidden_is_prompt(a);
    return hidden_by_call(mem, a, regs) || hidden_was_taken(a) || hidden_by_time(mem, a, regs);
}
