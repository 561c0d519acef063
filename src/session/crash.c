/* session/crash.c - see crash.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "crash.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#include "process.h"
#include "sigsafe/crash.h"

enum { CRASH_STACK = 1 << 16, CRASH_GUARD = 1 << 12 };

static const int crash_signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
enum { CRASH_SIGNALS = sizeof crash_signals / sizeof *crash_signals };

static _Atomic bool crash_is_on;
static struct sigaction crash_old[CRASH_SIGNALS];
static _Thread_local char *crash_alt; /* the thread's alternate stack, if it is ours */
static _Thread_local unsigned crash_uses;

/* -- The alternate stack of a thread -------------------------------------------- */

static void crash_stack_make(void)
{
    stack_t alt;
    if (sigaltstack(NULL, &alt) < 0 || !(alt.ss_flags & SS_DISABLE))
        return;
    char *stack = mmap(NULL, CRASH_GUARD + CRASH_STACK, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        return;
    mprotect(stack, CRASH_GUARD, PROT_NONE);
    alt = (stack_t){ .ss_sp = stack + CRASH_GUARD, .ss_size = CRASH_STACK };
    if (sigaltstack(&alt, NULL) == 0)
        crash_alt = stack;
    else
        munmap(stack, CRASH_GUARD + CRASH_STACK);
}

/* The host may have set a stack of its own meanwhile, which stays. */
static void crash_stack_free(void)
{
    static const stack_t none = { .ss_flags = SS_DISABLE };
    stack_t alt;
    if (!crash_alt || sigaltstack(NULL, &alt) < 0)
        return;
    if (alt.ss_sp == crash_alt + CRASH_GUARD && sigaltstack(&none, NULL) < 0)
        return;
    munmap(crash_alt, CRASH_GUARD + CRASH_STACK);
    crash_alt = NULL;
}

void jsp_crash_attach(void)
{
    jsp_crash_join();
    /* ORDER: relaxed. A thread that attaches at the same moment may miss it. */
    if (crash_uses++ == 0 && atomic_load_explicit(&crash_is_on, memory_order_relaxed))
        crash_stack_make();
}

void jsp_crash_detach(void)
{
    jsp_crash_leave();
    if (crash_uses && --crash_uses == 0)
        crash_stack_free();
}

/* -- The handler ------------------------------------------------------------------ */

static bool crash_is_ours(const struct sigaction *action)
{
    return action->sa_flags & SA_SIGINFO && action->sa_sigaction == jsp_crash_handle;
}

static int crash_install(int i)
{
    struct sigaction now, ours = { .sa_sigaction = jsp_crash_handle,
                                   .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART };
    sigfillset(&ours.sa_mask);
    if (sigaction(crash_signals[i], NULL, &now) < 0)
        return -errno;
    if (crash_is_ours(&now))
        return 0;
    crash_old[i] = now;
    jsp_crash_before(crash_signals[i], &now);
    return sigaction(crash_signals[i], &ours, NULL) < 0 ? -errno : 0;
}

/* A handler that the host has put on top of ours stays, and may still call ours. */
static void crash_remove(void)
{
    struct sigaction now;
    for (int i = 0; i < CRASH_SIGNALS; i++)
        if (sigaction(crash_signals[i], NULL, &now) == 0 && crash_is_ours(&now))
            sigaction(crash_signals[i], &crash_old[i], NULL);
}

static int crash_set(int fd, bool is_json)
{
    int err = 0;
    jsp_crash_set_fd(fd, is_json);
    for (int i = 0; fd >= 0 && !err && i < CRASH_SIGNALS; i++)
        err = crash_install(i);
    if (fd < 0 || err) {
        crash_remove();
        jsp_crash_set_fd(-1, false);
    }
    /* ORDER: relaxed, see jsp_crash_attach. */
    atomic_store_explicit(&crash_is_on, fd >= 0 && !err, memory_order_relaxed);
    return err;
}

int jsp_crash_report(int fd, bool is_json)
{
    jsp_process_renew();
    jsp_process_lock();
    int err = crash_set(fd, is_json);
    jsp_process_unlock();
    if (!err && fd >= 0 && crash_uses && !crash_alt)
        crash_stack_make();
    return err;
}
