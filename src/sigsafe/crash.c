/* sigsafe/crash.c - see crash.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "crash.h"

#include "backtrace.h"
#include "text.h"

enum {
    CRASH_ANSWER_NS = 200000000, /* so long a thread may take to begin its answer */
    CRASH_TRIES = 20,            /* so often it may take as long to end the answer */
    CRASH_SILENT = 5,            /* after so many silent threads none is asked any more */
    CRASH_TURNS = 10000,         /* a second fault waits so many milliseconds for the report */
    CRASH_WAIT = 128,            /* FUTEX_WAIT, for threads of this process only */
    CRASH_WAKE = 1 | 128,        /* FUTEX_WAKE, likewise */
};

/* One handler before ours. */
struct crash_before {
    void (*action_sigsafe)(int, siginfo_t *, void *);
    void (*plain_sigsafe)(int);
    struct sigaction action;
    bool is_noted;
};

static _Atomic pid_t crash_threads[JSP_CRASH_THREADS]; /* 0: free */
static _Atomic uint32_t crash_untold; /* threads for which the table had no room */
static _Thread_local struct {
    uint32_t sessions;
    uint32_t slot; /* JSP_CRASH_THREADS: none */
    /* the ucontext of the fault that we are passing on, and the frame that does so */
    const void *volatile passing, *volatile passer;
} crash_self;

/* By signal number. If the host's handler was put on top of ours, and ours on top of it again,
 * the host's calls ours in turn: then the action `below` follows, which came before both. */
static struct crash_before crash_befores[_NSIG], crash_below[_NSIG];
static _Atomic int crash_fd = -1;
static _Atomic bool crash_is_json;
static _Atomic pid_t crash_reporter; /* the thread that reports; 0: none */
static _Atomic pid_t crash_asked;    /* the thread that may answer; 0: nobody */
static _Atomic uint32_t crash_answer; /* a futex; even: no answer is being written */

/* -- Threads ---------------------------------------------------------------- */

static void crash_enter_table(void)
{
    pid_t self = (pid_t)syscall(SYS_gettid);
    for (uint32_t i = 0; i < JSP_CRASH_THREADS; i++) {
        pid_t none = 0;
        /* ORDER: relaxed, both. The number is all that is passed on. */
        if (atomic_compare_exchange_strong_explicit(&crash_threads[i], &none, self,
                                                    memory_order_relaxed, /* ORDER: above */
                                                    memory_order_relaxed)) { /* ORDER: above */
            crash_self.slot = i;
            return;
        }
    }
    crash_self.slot = JSP_CRASH_THREADS;
    /* ORDER: relaxed. A statistic. */
    atomic_fetch_add_explicit(&crash_untold, 1, memory_order_relaxed);
}

void jsp_crash_join(void)
{
    if (!crash_self.sessions++)
        crash_enter_table();
}

void jsp_crash_leave(void)
{
    if (!crash_self.sessions || --crash_self.sessions)
        return;
    /* ORDER: relaxed, both, as in jsp_crash_join. */
    if (crash_self.slot < JSP_CRASH_THREADS)
        atomic_store_explicit(&crash_threads[crash_self.slot], 0, memory_order_relaxed);
    else /* ORDER: relaxed, as above. */
        atomic_fetch_sub_explicit(&crash_untold, 1, memory_order_relaxed);
}

void jsp_crash_in_child(void)
{
    /* ORDER: relaxed, all. The child has one thread. */
    for (uint32_t i = 0; i < JSP_CRASH_THREADS; i++)
        atomic_store_explicit(&crash_threads[i], 0, memory_order_relaxed); /* ORDER: above */
    atomic_store_explicit(&crash_untold, 0, memory_order_relaxed);   /* ORDER: as above */
    atomic_store_explicit(&crash_asked, 0, memory_order_relaxed);    /* ORDER: as above */
    atomic_store_explicit(&crash_reporter, 0, memory_order_relaxed); /* ORDER: as above */
    if (crash_self.sessions)
        crash_enter_table();
}

/* -- One thread's stack ------------------------------------------------------- */

/* Write the stack of the calling thread, which a signal interrupted with this context. The
 * fault may have come inside a sample or a backtrace, which has the record then. */
static int crash_stack(const void *ucontext, int fd, bool is_json)
{
    struct jsp_backtrace_from from = { .ucontext = ucontext };
    struct jsp_sampled *self = jsp_sampled_first();
    if (!self)
        return -ESRCH;
    struct jsp_seized was = jsp_sampled_seize(self);
    int err = is_json ? jsp_backtrace_json(self, &from, fd)
                      : jsp_backtrace_print(self, &from, fd);
    jsp_sampled_restore(self, was);
    return err;
}

static void crash_say(const char *what, size_t n, pid_t tid, bool is_json)
{
    /* ORDER: relaxed. It does not change during a report. */
    struct jsp_text text = { .fd = atomic_load_explicit(&crash_fd, memory_order_relaxed) };
    if (is_json)
        JSP_TEXT_PUT(&text, "{\"thread\":");
    else
        JSP_TEXT_PUT(&text, "thread ");
    jsp_text_number(&text, (uint64_t)tid, 10);
    if (is_json)
        JSP_TEXT_PUT(&text, ",\"frames\":[],\"error\":\"");
    else if (n)
        JSP_TEXT_PUT(&text, ": ");
    jsp_text_put(&text, what, n);
    if (is_json)
        JSP_TEXT_PUT(&text, "\"}");
    JSP_TEXT_PUT(&text, "\n");
    jsp_text_flush(&text);
}

#define CRASH_SAY(what, tid, is_json) crash_say(what, sizeof what - 1, tid, is_json)

static void crash_write(const void *ucontext)
{
    pid_t self = (pid_t)syscall(SYS_gettid);
    /* ORDER: relaxed, both. They do not change during a report. */
    int fd = atomic_load_explicit(&crash_fd, memory_order_relaxed);
    bool is_json = atomic_load_explicit(&crash_is_json, memory_order_relaxed); /* ORDER: above */
    if (!is_json)
        CRASH_SAY("", self, false);
    int err = crash_stack(ucontext, fd, is_json);
    if (err == -ESRCH)
        CRASH_SAY("not attached, its stack is not known", self, is_json);
    else if (err == -EOVERFLOW)
        CRASH_SAY("too little stack is left to walk it", self, is_json);
    else if (err)
        CRASH_SAY("no stack", self, is_json);
}

/* -- The other threads -------------------------------------------------------- */

/* Wait until the thread has written its stack. Return false if it did not begin in time: it
 * can not begin any more then. */
static bool crash_wait(pid_t tid, uint32_t before)
{
    static const struct timespec most = { 0, CRASH_ANSWER_NS };
    for (int tries = 0; tries < CRASH_TRIES; tries++) {
        /* C1. ORDER: acquire, pairs with the release in crash_answer_once. */
        uint32_t now = atomic_load_explicit(&crash_answer, memory_order_acquire);
        if (now - before >= 2)
            return true;
        pid_t asked = tid;
        /* ORDER: acq_rel: crash_answer_once takes the request in the same way. */
        if (syscall(SYS_futex, &crash_answer, CRASH_WAIT, now, &most, NULL, 0) < 0 &&
            errno == ETIMEDOUT &&
            atomic_compare_exchange_strong_explicit(&crash_asked, &asked, 0,
                                                    memory_order_acq_rel,  /* ORDER: above */
                                                    memory_order_acquire)) /* ORDER: above */
            return false;
    }
    return true; /* it has begun, but its writes block */
}

/* Let another thread write its stack. Return false if it gives no answer. */
static bool crash_ask(pid_t pid, pid_t tid, int signo)
{
    siginfo_t info = { .si_signo = signo, .si_code = SI_QUEUE };
    info.si_pid = pid;
    info.si_value.sival_ptr = crash_threads;
    /* ORDER: relaxed. The exchange below publishes the request. */
    uint32_t before = atomic_load_explicit(&crash_answer, memory_order_relaxed);
    /* ORDER: release, pairs with the exchange in crash_answer_once. */
    atomic_store_explicit(&crash_asked, tid, memory_order_release);
    if (syscall(SYS_rt_tgsigqueueinfo, pid, tid, signo, &info) < 0) {
        /* ORDER: relaxed. Nobody answers. */
        atomic_store_explicit(&crash_asked, 0, memory_order_relaxed);
        return true; /* it is gone */
    }
    return crash_wait(tid, before);
}

static bool crash_is_request(const siginfo_t *info)
{
    return info->si_code == SI_QUEUE && info->si_value.sival_ptr == crash_threads &&
           info->si_pid == (pid_t)syscall(SYS_getpid);
}

/* The answer of a thread that is asked. */
static void crash_answer_once(const void *ucontext)
{
    pid_t self = (pid_t)syscall(SYS_gettid);
    /* ORDER: acq_rel, pairs with the store in crash_ask and the exchange in crash_wait. */
    if (!atomic_compare_exchange_strong_explicit(&crash_asked, &self, 0,
                                                 memory_order_acq_rel,  /* ORDER: as above */
                                                 memory_order_acquire)) /* ORDER: as above */
        return;
    /* ORDER: relaxed. The second one publishes the answer. */
    atomic_fetch_add_explicit(&crash_answer, 1, memory_order_relaxed);
    crash_write(ucontext);
    /* C1. ORDER: release, pairs with the acquire in crash_wait. */
    atomic_fetch_add_explicit(&crash_answer, 1, memory_order_release);
    syscall(SYS_futex, &crash_answer, CRASH_WAKE, 1, NULL, NULL, 0);
}

static void crash_others(int signo, bool is_json)
{
    pid_t pid = (pid_t)syscall(SYS_getpid), self = (pid_t)syscall(SYS_gettid);
    uint32_t silent = 0;
    for (uint32_t i = 0; i < JSP_CRASH_THREADS; i++) {
        /* ORDER: relaxed. A thread that is gone does not take the signal. */
        pid_t tid = atomic_load_explicit(&crash_threads[i], memory_order_relaxed);
        if (!tid || tid == self)
            continue;
        if (silent >= CRASH_SILENT) {
            CRASH_SAY("not asked, because others gave no answer", tid, is_json);
        } else if (!crash_ask(pid, tid, signo)) {
            silent++;
            CRASH_SAY("no answer: it blocks the signal, or sleeps in the kernel", tid, is_json);
        }
    }
}

/* -- The fault ---------------------------------------------------------------- */

/* Write "signal 11 at 0x0 in process 12", which is the report's first line. */
static void crash_head(int signo, const siginfo_t *info, int fd, bool is_json)
{
    struct jsp_text text = { .fd = fd };
    bool is_fault = info->si_code > 0;
    if (is_json)
        JSP_TEXT_PUT(&text, "{\"signal\":");
    else
        JSP_TEXT_PUT(&text, "signal ");
    jsp_text_number(&text, (uint64_t)signo, 10);
    if (is_fault) {
        if (is_json)
            JSP_TEXT_PUT(&text, ",\"address\":\"");
        else
            JSP_TEXT_PUT(&text, " at ");
        jsp_text_address(&text, (uintptr_t)info->si_addr);
        if (is_json)
            JSP_TEXT_PUT(&text, "\"");
    }
    if (is_json)
        JSP_TEXT_PUT(&text, ",\"process\":");
    else
        JSP_TEXT_PUT(&text, " in process ");
    jsp_text_number(&text, (uint64_t)syscall(SYS_getpid), 10);
    if (is_json)
        JSP_TEXT_PUT(&text, ",\"threads_untold\":");
    else
        JSP_TEXT_PUT(&text, ", threads that are not shown: ");
    /* ORDER: relaxed. A statistic. */
    jsp_text_number(&text, atomic_load_explicit(&crash_untold, memory_order_relaxed), 10);
    if (is_json)
        JSP_TEXT_PUT(&text, "}");
    JSP_TEXT_PUT(&text, "\n");
    jsp_text_flush(&text);
}

/* Another thread reports. Its report would end with the process if our fault went on, so wait
 * for its end, and answer if we are asked: the handler blocks the signal. */
static void crash_stay(const void *ucontext)
{
    static const struct timespec turn = { 0, 1000000 };
    for (int i = 0; i < CRASH_TURNS; i++) {
        /* ORDER: relaxed. Nothing is read of the report. */
        if (!atomic_load_explicit(&crash_reporter, memory_order_relaxed))
            return;
        crash_answer_once(ucontext);
        syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &turn, NULL);
    }
}

/* Report, unless another thread does. A second fault meanwhile goes without a report. */
static void crash_report(int signo, const siginfo_t *info, const void *ucontext)
{
    pid_t nobody = 0, self = (pid_t)syscall(SYS_gettid);
    /* ORDER: relaxed, both. They change only under the process lock. */
    int fd = atomic_load_explicit(&crash_fd, memory_order_relaxed);
    bool is_json = atomic_load_explicit(&crash_is_json, memory_order_relaxed); /* ORDER: above */
    /* ORDER: acquire and relaxed: the last report is done. */
    if (fd < 0)
        return;
    if (!atomic_compare_exchange_strong_explicit(&crash_reporter, &nobody, self,
                                                 memory_order_acquire,   /* ORDER: as above */
                                                 memory_order_relaxed)) { /* ORDER: as above */
        if (nobody != self)
            crash_stay(ucontext);
        return;
    }
    crash_head(signo, info, fd, is_json);
    crash_write(ucontext);
    crash_others(signo, is_json);
    /* ORDER: release, pairs with the acquire above. */
    atomic_store_explicit(&crash_reporter, 0, memory_order_release);
}

/* Let the old action follow. The default one takes place when the instruction faults
 * again, or, if somebody sent the signal, when it comes again. */
static void crash_pass_to(const struct crash_before *before, int signo, siginfo_t *info,
                          void *ucontext)
{
    if (before->action_sigsafe) {
        before->action_sigsafe(signo, info, ucontext);
    } else if (before->plain_sigsafe) {
        before->plain_sigsafe(signo);
    } else {
        bool is_sent = info->si_code <= 0;
        if (is_sent && before->action.sa_handler == SIG_IGN)
            return;
        sigaction(signo, &before->action, NULL);
        if (is_sent)
            syscall(SYS_rt_tgsigqueueinfo, syscall(SYS_getpid), syscall(SYS_gettid), signo,
                    info);
    }
}

/* Pass the fault on as sample_pass_on does: once round, and then to what was below. */
static __attribute__((noinline)) void crash_pass_on(int signo, siginfo_t *info, void *ucontext)
{
    const void *outer = crash_self.passing, *outer_frame = crash_self.passer;
    const void *frame = __builtin_frame_address(0);
    crash_self.passing = ucontext;
    crash_self.passer = frame;
    crash_pass_to(&crash_befores[signo], signo, info, ucontext);
    crash_self.passing = outer;
    crash_self.passer = outer_frame;
}

/* Return true if the host's handler, to which we pass this fault on, has called ours. One that
 * left by a jump did not reset `passing`; but a later fault's frame is no deeper. */
static bool crash_is_again(const void *ucontext)
{
    return ucontext == crash_self.passing &&
           (uintptr_t)__builtin_frame_address(0) < (uintptr_t)crash_self.passer;
}

void jsp_crash_handle(int signo, siginfo_t *info, void *ucontext)
{
    int saved_errno = errno;
    if (crash_is_request(info)) {
        crash_answer_once(ucontext);
        errno = saved_errno;
        return;
    }
    if (crash_is_again(ucontext)) {
        crash_pass_to(&crash_below[signo], signo, info, ucontext);
        return;
    }
    crash_report(signo, info, ucontext);
    errno = saved_errno;
    crash_pass_on(signo, info, ucontext);
}

void jsp_crash_set_fd(int fd, bool is_json)
{
    /* ORDER: relaxed, both. A report begins with the old ones or with the new ones. */
    atomic_store_explicit(&crash_is_json, is_json, memory_order_relaxed);
    atomic_store_explicit(&crash_fd, fd, memory_order_relaxed); /* ORDER: as above */
}

void jsp_crash_before(int signo, const struct sigaction *before)
{
    struct crash_before *b = &crash_befores[signo], *below = &crash_below[signo];
    bool has_handler = before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN;
    bool has_info = before->sa_flags & SA_SIGINFO;
    b->action = *before;
    b->action_sigsafe = has_handler && has_info ? before->sa_sigaction : NULL;
    b->plain_sigsafe = has_handler && !has_info ? before->sa_handler : NULL;
    if (!has_handler || !below->is_noted)
        *below = *b;
    below->is_noted = true;
}
