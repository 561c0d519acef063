/* session/sigframe.c - see signals.h for the contract.
 *
 * The kernel reports how large its frame may become (AT_MINSIGSTKSZ): 12 KiB on a
 * processor with large registers, but only 4 for a program that does not use these. So
 * for a smaller stack the frame is measured on a large one, with a signal that the
 * program does not use.
 *
 * SPDX-License-Identifier: MIT
 */
#include "signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process.h"
#include "sigsafe/left.h"
#include "sigsafe/sample.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

enum {
    SIGFRAME_ROOM = 1 << 17, /* more than any processor saves today */
    SIGFRAME_ALIGN = 64,     /* the kernel aligns the frame to this */
};

static _Thread_local volatile uintptr_t sigframe_at;

static void sigframe_see(int sig)
{
    (void)sig;
    sigframe_at = (uintptr_t)__builtin_frame_address(0);
}

/* Return true if the signal has no handler and is not pending. */
static bool sigframe_is_free(int signo)
{
    struct sigaction now;
    sigset_t pending;
    return sigaction(signo, NULL, &now) == 0 && now.sa_handler == SIG_DFL &&
           sigpending(&pending) == 0 && sigismember(&pending, signo) == 0;
}

/* Send the signal on the large stack, with all other signals blocked. */
static void sigframe_send(int signo)
{
    struct sigaction see = { .sa_handler = sigframe_see, .sa_flags = SA_ONSTACK }, before;
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    sigset_t others, mask;
    sigfillset(&others);
    sigdelset(&others, signo);
    if (sigaction(signo, &see, &before) < 0)
        return;
    jsp_sample_mask(1);
    pthread_sigmask(SIG_SETMASK, &others, &mask);
    syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), signo);
    sigaction(signo, &ignore, NULL); /* by now it has come, or it never will */
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    jsp_sample_mask(-1);
    sigaction(signo, &before, NULL);
}

static size_t sigframe_measure_on(char *stack)
{
    stack_t large = { .ss_sp = stack, .ss_size = SIGFRAME_ROOM }, before;
    if (sigaltstack(&large, &before) < 0)
        return 0;
    sigframe_at = 0;
    /* An emulator may lack some of them. */
    for (int s = SIGRTMAX; s >= SIGRTMIN && !sigframe_at; s--)
        if (sigframe_is_free(s))
            sigframe_send(s);
    sigaltstack(&before, NULL);
    uintptr_t below = (uintptr_t)stack + SIGFRAME_ROOM - sigframe_at;
    return below < SIGFRAME_ROOM ? below : 0;
}

size_t jsp_sigframe_measure(void)
{
    char *stack = mmap(NULL, SIGFRAME_ROOM, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        return 0;
    jsp_process_lock();
    size_t bytes = sigframe_measure_on(stack);
    jsp_process_unlock();
    munmap(stack, SIGFRAME_ROOM);
    return bytes;
}

int jsp_sigframe_check(void)
{
    stack_t alt;
    size_t most = getauxval(AT_MINSIGSTKSZ);
    if (sigaltstack(NULL, &alt) < 0 || alt.ss_flags & SS_DISABLE)
        return 0;
    if (most && alt.ss_size >= most + JSP_STACK_ENTRY)
        return 0;
    size_t frame = jsp_sigframe_measure();
    frame = frame ? frame + SIGFRAME_ALIGN : most;
    return alt.ss_size >= frame + JSP_STACK_ENTRY ? 0 : -EOVERFLOW;
}
