/* jsprof.c - the public functions: check the arguments, call down.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/calls_event.h"
#include "session/env.h"
#include "session/function.h"
#include "session/function_check.h"
#include "session/register.h"
#include "session/session.h"
#include "sigsafe/backtrace.h"
#include "sigsafe/resume.h"

enum {
    PUBLIC_HZ = 1000, PUBLIC_HZ_MAX = 10000,
    PUBLIC_DEPTH = 512, PUBLIC_DEPTH_MAX = 1000,
    PUBLIC_RING = 1 << 19, PUBLIC_RING_MIN = 1 << 14, PUBLIC_RING_MAX = 1 << 30,
    PUBLIC_LABELS = 8 << 20, PUBLIC_LABELS_MIN = 4096,
    PUBLIC_OLDEST_OPTIONS = offsetof(jsprof_options, fd) + sizeof(int),
    PUBLIC_OLDEST_STATS = offsetof(jsprof_stats, write_error) + sizeof(int),
    PUBLIC_MODE = 0666, /* umask decides */
    PUBLIC_FLAGS = JSPROF_CHAIN | JSPROF_USE_FD | JSPROF_NOFOLLOW | JSPROF_NO_NATIVE |
                   JSPROF_PERF_MAP | JSPROF_JITDUMP,
};

static const char public_default_path[] = "jsprof-%p.syscap";

/* -- Options ---------------------------------------------------------------- */

static uint32_t public_default(uint32_t value, uint32_t fallback)
{
    return value ? value : fallback;
}

static bool public_within(uint32_t value, uint32_t low, uint32_t high)
{
    return value >= low && value <= high;
}

static int public_check(const jsprof_options *o, struct jsp_session_setup *setup)
{
    setup->hz = public_default(o->hz, PUBLIC_HZ);
    setup->max_depth = public_default(o->max_depth, PUBLIC_DEPTH);
    setup->ring_bytes = public_default(o->ring_bytes, PUBLIC_RING);
    setup->label_bytes = public_default(o->label_bytes, PUBLIC_LABELS) & ~7u;
    setup->signo = o->signo ? o->signo : SIGPROF;
    setup->wall = o->clock == JSPROF_CLOCK_WALL;
    setup->chain = o->flags & JSPROF_CHAIN;
    setup->native = !(o->flags & JSPROF_NO_NATIVE);
    setup->perf_map = o->flags & JSPROF_PERF_MAP;
    bool good = public_within(setup->hz, 1, PUBLIC_HZ_MAX) &&
                public_within(setup->max_depth, 1, PUBLIC_DEPTH_MAX) &&
                public_within(setup->ring_bytes, PUBLIC_RING_MIN, PUBLIC_RING_MAX) &&
                public_within(setup->label_bytes, PUBLIC_LABELS_MIN, PUBLIC_LABELS) &&
                (o->clock == JSPROF_CLOCK_CPU || o->clock == JSPROF_CLOCK_WALL) &&
                !(o->flags & ~(uint32_t)PUBLIC_FLAGS) && setup->signo > 0 && setup->signo < _NSIG;
    return good ? 0 : -EINVAL;
}

/* Copy `path` with %p replaced by the pid and %% by a percent sign. */
static int public_expand(char *to, size_t size, const char *path)
{
    size_t n = 0;
    for (; *path; path++) {
        if (size - n < 24)
            return -ENAMETOOLONG;
        if (path[0] == '%' && path[1] == 'p') {
            n += (size_t)snprintf(to + n, size - n, "%d", (int)getpid());
            path++;
        } else {
            to[n++] = *path;
            path += path[0] == '%' && path[1] == '%';
        }
    }
    to[n] = 0;
    return n ? 0 : -ENOENT;
}

/* `path` is expanded. */
static int public_open_file(const jsprof_options *o, const char *path)
{
    int saved_errno = errno, fd;

    if (o->flags & JSPROF_USE_FD) {
        fd = fcntl(o->fd, F_DUPFD_CLOEXEC, 3);
    } else {
        /* A pipe must not stop the host: not here, where nobody reads it, nor later.
         * What is there goes only once nothing else can fail. */
        int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK;
        fd = open(path, flags | (o->flags & JSPROF_NOFOLLOW ? O_NOFOLLOW : 0), PUBLIC_MODE);
    }
    int err = -errno;
    errno = saved_errno;
    return fd < 0 ? err : fd;
}

/* Cut the last part off. */
static const char *public_directory(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash)
        return ".";
    slash[slash == path] = 0;
    return path;
}

/* The rest of `setup`: the file, and where it lies; `path` has room for PATH_MAX. */
static int public_place(const jsprof_options *o, struct jsp_session_setup *setup, char *path)
{
    bool named = !(o->flags & JSPROF_USE_FD);
    const char *pattern = o->path ? o->path : public_default_path;
    int err = public_expand(path, PATH_MAX, named ? pattern : ".");
    if (err)
        return err;
    setup->empties = named;
    setup->fd = public_open_file(o, path);
    setup->dump_directory = o->flags & JSPROF_JITDUMP ? public_directory(path) : NULL;
    return setup->fd < 0 ? setup->fd : 0;
}

/* -- A call ----------------------------------------------------------------- */

/* What a call leaves as it was. A thread that was cancelled inside would keep a lock. */
struct public_host {
    int saved_errno, cancel;
};

static struct public_host public_enter(void)
{
    struct public_host host = { .saved_errno = errno };
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &host.cancel);
    return host;
}

static void public_leave(const struct public_host *host)
{
    pthread_setcancelstate(host->cancel, NULL);
    errno = host->saved_errno;
}

/* -- Sessions --------------------------------------------------------------- */

int jsprof_open(jsprof **out, const jsprof_options *options)
{
    static const jsprof_options none = { .size = sizeof none };
    struct jsp_session_setup setup;
    jsprof_options o = { 0 };

    if (!options)
        options = &none;
    if (!out || options->size < PUBLIC_OLDEST_OPTIONS || options->size > sizeof o)
        return -EINVAL;
    memcpy(&o, options, options->size);
    int err = public_check(&o, &setup);
    if (err)
        return err;
    struct public_host host = public_enter();
    char path[PATH_MAX];
    err = public_place(&o, &setup, path);
    if (!err) {
        err = jsp_session_open(out, &setup);
        if (err)
            close(setup.fd);
    }
    public_leave(&host);
    return err;
}

static int public_call(int (*call)(jsprof *p), jsprof *p)
{
    struct public_host host = public_enter();
    int err = call(p);
    public_leave(&host);
    return err;
}

int jsprof_start(jsprof *p)
{
    return p ? public_call(jsp_session_start, p) : -EINVAL;
}

int jsprof_stop(jsprof *p)
{
    return p ? public_call(jsp_session_stop, p) : -EINVAL;
}

int jsprof_close(jsprof *p)
{
    return p ? public_call(jsp_session_close, p) : 0;
}

int jsprof_flush(jsprof *p)
{
    return p ? public_call(jsp_session_flush, p) : -EINVAL;
}

int jsprof_start_from_env(jsprof **out)
{
    jsprof_options options = { .size = sizeof options };
    if (!out)
        return -EINVAL;
    *out = NULL;
    int asked = jsp_env_options(&options);
    if (asked <= 0)
        return asked;
    int err = jsprof_open(out, &options);
    if (err)
        return err;
    err = jsprof_start(*out);
    if (!err)
        return 1;
    jsprof_close(*out);
    *out = NULL;
    return err;
}

int jsprof_stats_get(jsprof *p, jsprof_stats *out)
{
    jsprof_stats stats = { 0 };
    if (!p || !out || out->size < PUBLIC_OLDEST_STATS || out->size > sizeof stats)
        return -EINVAL;
    stats.size = out->size;
    struct public_host host = public_enter();
    int err = jsp_session_stats(p, &stats);
    public_leave(&host);
    if (!err)
        memcpy(out, &stats, out->size);
    return err;
}

/* -- Functions -------------------------------------------------------------- */

int jsprof_function_new(jsprof_function **out, const char *name, const char *file,
                        uint32_t line, enum jsprof_kind kind)
{
    struct jsp_function_def def = { name, file, line, kind };
    if (!out || !name || (unsigned)kind > JSPROF_KIND_SYNTH)
        return -EINVAL;
    return jsp_function_new(out, &def);
}

void jsprof_function_free(jsprof_function *f)
{
    jsp_function_free(f);
}

/* Its one other name is a macro for this, in debug builds of hosts. */
void jsprof_function_free_checked(jsprof_function *f)
{
    if (f)
        jsp_function_check(f);
    jsp_function_free(f);
}

/* -- Threads ---------------------------------------------------------------- */

static struct jsp_thread *public_thread(jsprof_thread *t)
{
    return (struct jsp_thread *)(void *)t;
}

int jsprof_thread_attach(jsprof *p, const char *name, jsprof_thread **out)
{
    struct jsp_thread *t;
    if (!p || !out)
        return -EINVAL;
    struct public_host host = public_enter();
    int err = jsp_session_attach(p, name ? name : "thread", &t);
    public_leave(&host);
    if (!err)
        *out = &t->sampled.own;
    return err;
}

int jsprof_thread_detach(jsprof_thread *t)
{
    struct public_host host = public_enter();
    int err = t ? jsp_session_detach(public_thread(t)) : 0;
    public_leave(&host);
    return err;
}

void jsprof_thread_pause(jsprof_thread *t)
{
    if (t)
        jsp_sampled_pause(&public_thread(t)->sampled, 1);
}

void jsprof_thread_resume(jsprof_thread *t)
{
    if (t)
        jsp_sampled_pause(&public_thread(t)->sampled, -1);
}

int jsprof_thread_set_stack(jsprof_thread *t, const jsprof_stack *stack)
{
    static const jsprof_stack none;
    if (!t || (stack && stack->size != sizeof *stack))
        return -EINVAL;
    int err = jsp_session_owns(public_thread(t));
    if (!err && stack)
        err = jsp_vmstack_check(stack);
    if (err)
        return err;
    jsprof_thread_pause(t);
    public_thread(t)->sampled.vm.host = stack ? *stack : none;
    jsprof_thread_resume(t);
    return 0;
}

int jsprof_thread_set_walker(jsprof_thread *t, jsprof_walk_sigsafe_fn walk, void *host)
{
    if (!t)
        return -EINVAL;
    int err = jsp_session_owns(public_thread(t));
    if (err)
        return err;
    jsprof_thread_pause(t);
    public_thread(t)->sampled.vm.walk_sigsafe = walk;
    public_thread(t)->sampled.vm.walk_host = host;
    jsprof_thread_resume(t);
    return 0;
}

/* -- Code ------------------------------------------------------------------- */

int jsprof_code_add(jsprof *p, const jsprof_code *code)
{
    if (!p || !code || code->size != sizeof *code || !code->start || !code->length)
        return -EINVAL;
    if ((!code->function && !code->name) || (code->n_lines && !code->lines) ||
        (code->n_rows && !code->rows) || (code->n_pcs && !code->pcs))
        return -EINVAL;
    struct public_host host = public_enter();
    int err = jsp_register_code(p, code);
    public_leave(&host);
    return err;
}

int jsprof_code_remove(jsprof *p, const void *start)
{
    if (!p)
        return -EINVAL;
    struct public_host host = public_enter();
    int err = jsp_register_remove(p, (uint64_t)(uintptr_t)start);
    public_leave(&host);
    return err;
}

int jsprof_code_move(jsprof *p, const void *from, const void *to)
{
    if (!p || !to)
        return -EINVAL;
    struct public_host host = public_enter();
    int err = jsp_register_move(p, (uint64_t)(uintptr_t)from, (uint64_t)(uintptr_t)to);
    public_leave(&host);
    return err;
}

static int public_range(int (*call)(jsprof *, uint64_t, uint64_t), jsprof *p,
                        const void *start, size_t length)
{
    if (!p || !start || !length)
        return -EINVAL;
    struct public_host host = public_enter();
    int err = call(p, (uint64_t)(uintptr_t)start, length);
    public_leave(&host);
    return err;
}

int jsprof_listing_add(jsprof *p, const jsprof_listing *listing)
{
    if (!p || !listing || listing->size != sizeof *listing || !listing->function ||
        (listing->n_rows && !listing->rows))
        return -EINVAL;
    struct public_host host = public_enter();
    int err = jsp_register_listing(p, listing);
    public_leave(&host);
    return err;
}

int jsprof_interpreter_add(jsprof *p, const void *start, size_t length)
{
    return public_range(jsp_register_loop, p, start, length);
}

int jsprof_interpreter_hide(jsprof *p, const void *start, size_t length)
{
    return public_range(jsp_register_hidden, p, start, length);
}

void jsprof_stack_switch(jsprof_thread *t, const jsprof_cstack *stack)
{
    struct jsp_regs_core here = jsp_regs_here();
    if (!t)
        return;
    if (jsprof_counting(t) > JSPROF_CALLS_COUNT)
        jsp_calls_switch(public_thread(t)->calls, t, stack);
    jsp_resume_switch(&public_thread(t)->sampled, stack, &here);
}

/* -- Calls ------------------------------------------------------------------ */

int jsprof_calls_set(jsprof *p, uint32_t modes)
{
    if (!p || modes & ~(uint32_t)JSPROF_CALLS_ALL)
        return -EINVAL;
    struct public_host host = public_enter();
    int err = jsp_session_calls(p, modes);
    public_leave(&host);
    return err;
}

int jsprof_calls_snapshot(jsprof *p, jsprof_calls *out)
{
    if (!p || !out || out->size != sizeof *out)
        return -EINVAL;
    struct public_host host = public_enter();
    int err = jsp_session_calls_snapshot(p, out);
    public_leave(&host);
    return err;
}

void jsprof_calls_free(jsprof_calls *calls)
{
    if (!calls)
        return;
    free(calls->rows);
    free(calls->edges);
    *calls = (jsprof_calls){ .size = calls->size };
}

void jsprof_stack_forget(jsprof_thread *t, const jsprof_cstack *stack)
{
    if (t && jsprof_counting(t))
        jsp_calls_forget(public_thread(t)->calls, t, stack);
}

/* -- Marks and counters ------------------------------------------------------ */

uint64_t jsprof_now(void)
{
    return jsp_now_ns(CLOCK_MONOTONIC);
}

int jsprof_mark(jsprof *p, uint64_t begin_ns, const char *group, const char *name,
                const char *message)
{
    struct jsp_marks_mark mark = { begin_ns, 0, group, name, message };
    if (!p || !group || !name)
        return -EINVAL;
    struct public_host host = public_enter();
    int err = p->pid == getpid() ? jsp_marks_mark(&p->marks, &mark) : -ECHILD;
    public_leave(&host);
    return err;
}

int jsprof_counter(jsprof *p, const char *group, const char *name, const char *what,
                   enum jsprof_counter_type type)
{
    struct jsp_marks_definition d = { group, name, what, type == JSPROF_COUNTER_REAL };
    if (!p || !group || !name || (unsigned)type > JSPROF_COUNTER_REAL)
        return -EINVAL;
    struct public_host host = public_enter();
    int id = p->pid == getpid() ? jsp_marks_counter(&p->marks, &d) : -ECHILD;
    public_leave(&host);
    return id;
}

static int public_counter_set(jsprof *p, int counter, int64_t whole, double real)
{
    if (!p)
        return -EINVAL;
    struct public_host host = public_enter();
    int err =
        p->pid == getpid() ? jsp_marks_set(&p->marks, counter, whole, real) : -ECHILD;
    public_leave(&host);
    return err;
}

int jsprof_counter_set(jsprof *p, int counter, int64_t value)
{
    return public_counter_set(p, counter, value, (double)value);
}

/* Beyond what an integer holds, the nearest that it does. */
int jsprof_counter_set_real(jsprof *p, int counter, double value)
{
    int64_t whole = value >= 9223372036854774784.0 ? INT64_MAX
                    : value <= -9223372036854774784.0 ? INT64_MIN
                    : value == value                  ? (int64_t)value
                                                      : 0;
    return public_counter_set(p, counter, whole, value);
}

/* -- A stack on demand ------------------------------------------------------ */

/* `here` is of the public function, so it is taken there. */
static int public_backtrace_begin(jsprof_thread *t, struct jsp_backtrace_from *from)
{
    int err = t ? jsp_session_owns(public_thread(t)) : -EINVAL;
    if (err || from->ucontext)
        return err;
    sigaltstack(NULL, &from->alt);
    if (!(from->alt.ss_flags & SS_ONSTACK))
        from->alt.ss_size = 0;
    return 0;
}

int jsprof_backtrace(jsprof_thread *t, const void *ucontext, jsprof_backtrace_frame *out,
                     uint32_t max)
{
    struct jsp_backtrace_from from = { .ucontext = ucontext, .here = jsp_regs_here() };
    int saved_errno = errno, n = public_backtrace_begin(t, &from);
    if (!n)
        n = out ? jsp_backtrace(&public_thread(t)->sampled, &from, out, max) : -EINVAL;
    errno = saved_errno;
    return n;
}

int jsprof_backtrace_print(jsprof_thread *t, const void *ucontext, int fd)
{
    struct jsp_backtrace_from from = { .ucontext = ucontext, .here = jsp_regs_here() };
    int saved_errno = errno, err = public_backtrace_begin(t, &from);
    if (!err)
        err = jsp_backtrace_print(&public_thread(t)->sampled, &from, fd);
    errno = saved_errno;
    return err;
}

/* -- The library ------------------------------------------------------------ */

int jsprof_version(void)
{
    return JSPROF_VERSION;
}

const char *jsprof_strerror(int err)
{
    switch (err < 0 ? -err : err) {
    case 0: return "no error";
    case EAGAIN: return "no timers or threads left (RLIMIT_SIGPENDING, RLIMIT_NPROC), or "
                        "the output is a pipe that takes nothing now";
    case EALREADY: return "the thread is already attached to this session";
    case EBADF: return "the capture's file descriptor was closed by the program";
    case EBUSY: return "the signal already has another handler (another profiler?)";
    case ECHILD: return "the session belongs to the process that forked";
    case EACCES: return "permission denied";
    case E2BIG: return "listings would take more than 32 MiB";
    case EDQUOT: return "disk quota exceeded";
    case EEXIST: return "there is a counter of that name with another type, or a "
                        "function of that name with another listing";
    case EFBIG: return "the file is larger than this process may write";
    case EINVAL: return "an argument is out of range";
    case EIO: return "input/output error";
    case EISDIR: return "is a directory";
    case ELOOP: return "is a symbolic link";
    case EMFILE: return "too many open files";
    case ENAMETOOLONG: return "the path is too long";
    case ENOBUFS: return "no room in the output buffer";
    case ENOENT: return "no such file or directory";
    case ENOMEM: return "out of memory";
    case ENOSPC: return "no space left on device";
    case ENXIO: return "nobody reads the pipe";
    case ENOTDIR: return "a part of the path is not a directory";
    case ENOTSUP: return "not supported here";
    case EPERM: return "not permitted, or not the thread that attached";
    case EPIPE: return "the reader of the pipe went away";
    case EROFS: return "read-only file system";
    default: return "unexpected error";
    }
}
