/* recording.cpp - the one recording that a process can make of its scripts.
 *
 * SPDX-License-Identifier: MIT
 */
#include "recording.h"

#include <cerrno>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <csignal>
#include <cstring>

#include <dlfcn.h>
#include <jsapi.h>
#include <pthread.h>
#include <unistd.h>

#include "errors.h"
#include "evaluated.h"
#include "farewell.h"
#include "jsprof-mozjs.h"
#include "sources.h"

namespace {

/* Guards the fields below against the ends of the process: see recording.h. */
pthread_mutex_t recording_lock = PTHREAD_MUTEX_INITIALIZER;

request recording_request; /* session nullptr: none, or already closed */
const char *recording_program;
bool recording_begun;   /* the first thread has joined */
bool recording_stopped; /* stopped by SIGUSR2 */
bool recording_tells;   /* JSPROF_ERRORS=1 */
bool recording_describes; /* it has no file: only errors have stacks */

/* A program with fewer may have ended before the first sample. */
constexpr uint64_t RECORDING_BLOCKED = 10;

/* Each thread has its own. */
thread_local jsprof_thread *recording_thread;
thread_local jsprof_mozjs *recording_js;
thread_local jsprof_thread *recording_native; /* before the thread has a context */

void recording_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print one line on stderr, in one piece. */
void recording_warn(const char *format, ...)
{
    char line[4600];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fprintf(stderr, "%s: %s: %s\n", recording_program, recording_request.name, line);
}

void recording_warn_losses(const jsprof_stats *s)
{
    uint64_t lost = s->lost_ring + s->lost_write + s->lost_stack + s->lost_fold;

    if (s->write_error)
        recording_warn("%s; the capture is not whole: %" PRIu64 " of %" PRIu64
                       " samples are missing",
                       strerror(-s->write_error), lost, s->expirations);
    else if (lost)
        recording_warn("%" PRIu64 " of %" PRIu64 " samples are missing: buffer full %" PRIu64
                       ", signal stack too small %" PRIu64 ", too many stacks %" PRIu64,
                       lost, s->expirations, s->lost_ring, s->lost_stack, s->lost_fold);
    if (s->lost_blocked >= RECORDING_BLOCKED && s->lost_blocked > s->expirations / 2)
        recording_warn("%" PRIu64 " of %" PRIu64 " samples are missing: the program blocked or"
                       " ignored the signal (SIGPROF; SIGURG of perf events), or took it",
                       s->lost_blocked, s->expirations);
    if (s->labels_lost)
        recording_warn("%" PRIu64 " frames have no name: too many names", s->labels_lost);
}

/* Frames that could not be passed on are missing from Sysprof's recording, not from
 * ours. */
void recording_pass_on_rest(void)
{
    relay_result result;

    if (!recording_request.passes_on)
        return;
    relay_close(recording_request.passes_on, &result);
    recording_request.passes_on = nullptr;
    if (result.lost)
        recording_warn("%" PRIu64 " of %" PRIu64 " entries are missing: nobody took them",
                       result.lost, result.frames);
}

/* Complete the file. The first of the process's ends calls it. */
void recording_close(void)
{
    jsprof_stats stats = {};

    pthread_mutex_lock(&recording_lock);
    if (recording_request.session) {
        stats.size = sizeof stats;
        (void)jsprof_stop(recording_request.session); /* stats have its error */
        bool known = jsprof_stats_get(recording_request.session, &stats) == 0;
        int err = jsprof_close(recording_request.session);

        recording_request.session = nullptr;
        if (known && !stats.write_error)
            stats.write_error = err;
        recording_warn_losses(&stats);
        recording_pass_on_rest();
    }
    pthread_mutex_unlock(&recording_lock);
}

/* Stop or continue, at SIGUSR2. */
void recording_toggle(void)
{
    pthread_mutex_lock(&recording_lock);
    if (recording_request.session) {
        int err = recording_stopped ? jsprof_start(recording_request.session)
                                    : jsprof_stop(recording_request.session);
        if (err < 0)
            recording_warn("SIGUSR2: %s", jsprof_strerror(err));
        else
            recording_stopped = !recording_stopped;
    }
    pthread_mutex_unlock(&recording_lock);
}

/* Hide the code between a script and the C function that it calls, or that calls it: the
 * engine, gjs, and the library by which gjs calls. If that library can not be found,
 * reports show its frames. */
int recording_hide_glue(void)
{
    const void *ffi = dlsym(RTLD_DEFAULT, "ffi_call");
    int err = jsprof_mozjs_hide(recording_request.session, nullptr);

    if (err == 0)
        err = jsprof_mozjs_hide(recording_request.session, dlsym(RTLD_DEFAULT, "gjs_context_new"));
    if (err == 0 && ffi)
        err = jsprof_mozjs_hide(recording_request.session, ffi);
    if (err == 0 && recording_request.has_tasks)
        err = tasks_hide(recording_request.session);
    return err;
}

/* Name the engine for `jsprof ps`: it calls itself JavaScript-C102.15.1. */
int recording_name()
{
    const char *own = JS_GetImplementationVersion();
    char vm[32];

    snprintf(vm, sizeof vm, "SpiderMonkey %s", own + strcspn(own, "0123456789"));
    return jsprof_vm_set(recording_request.session, vm);
}

/* Start the session with the first thread. */
int recording_begin(void)
{
    const request *r = &recording_request;
    int err = recording_hide_glue();

    if (err == 0)
        err = sources_name(r->session);
    if (err == 0)
        err = recording_name();
    if (err == 0)
        err = jsprof_calls_allow(r->session, 0); /* counts.h counts from the start to the end */
    if (err == 0 && atexit(recording_close) != 0)
        err = -ENOMEM;
    if (err == 0)
        err = farewell_install(recording_close, r->toggles ? recording_toggle : nullptr);
    recording_stopped = r->begins_stopped;
    if (err == 0 && !recording_stopped && !recording_describes)
        err = jsprof_start(r->session);
    recording_begun = err == 0;
    if (err == 0 && recording_tells)
        errors_install(recording_here);
    return err;
}

/* Open a session without a file and timers. */
int recording_describe(void)
{
    jsprof_options o = {};

    o.size = sizeof o;
    o.flags = JSPROF_DESCRIBE;
    snprintf(recording_request.name, sizeof recording_request.name, "JSPROF_ERRORS");
    recording_describes = true;
    return jsprof_open(&recording_request.session, &o);
}

int recording_join(JSContext *cx, const char *name)
{
    (void)jsprof_thread_detach(recording_native);
    recording_native = nullptr;
    int err = jsprof_thread_attach(recording_request.session, name, &recording_thread);

    if (err < 0)
        return err;
    err = jsprof_mozjs_attach(recording_thread, cx, &recording_js);
    if (err == 0)
        err = jsprof_mozjs_tell_collections(recording_js, recording_request.session);
    if (err == 0 && recording_request.allocates)
        err = jsprof_mozjs_tell_allocations(recording_js);
    if (err == 0 && !recording_begun)
        err = recording_begin();
    return err;
}

} // namespace

bool recording_open(const profile_options *options, const request_program *program)
{
    recording_program = program->name;
    recording_tells = errors_asked(program->name);
    if (!request_open(options, program, &recording_request))
        return false;
    if (!recording_tells || recording_request.session || program->gjs_profiler)
        return true;
    const int err = recording_describe();
    if (err < 0)
        fprintf(stderr, "%s: JSPROF_ERRORS: %s\n", program->name, jsprof_strerror(err));
    return err >= 0;
}

bool recording_is_open(void)
{
    return recording_request.session != nullptr;
}

jsprof_thread *recording_here(void)
{
    return recording_thread ? recording_thread : recording_native;
}

bool recording_start(JSContext *cx, const char *thread)
{
    if (!recording_request.session)
        return true;

    pthread_mutex_lock(&recording_lock);
    int err = recording_request.session ? recording_join(cx, thread) : 0;
    if (err < 0)
        recording_warn("%s", jsprof_strerror(err));
    pthread_mutex_unlock(&recording_lock);
    if (err < 0)
        recording_leave();
    return err == 0;
}

/* A thread that blocks the signal, SIGPROF or of events SIGURG, can not be sampled, and would only
 * count as lost. */
void recording_join_native(const char *name)
{
    sigset_t blocked;

    if (!recording_request.all_threads || recording_thread || recording_native ||
        getpid() == gettid() || pthread_sigmask(SIG_SETMASK, nullptr, &blocked) != 0 ||
        (sigismember(&blocked, SIGPROF) && sigismember(&blocked, SIGURG)))
        return;
    pthread_mutex_lock(&recording_lock);
    if (recording_request.session) {
        int err = jsprof_thread_attach(recording_request.session, name, &recording_native);
        if (err < 0)
            recording_warn("thread %s: %s", name, jsprof_strerror(err));
    }
    pthread_mutex_unlock(&recording_lock);
}

int recording_count_begin(void)
{
    return recording_thread ? jsprof_calls_set(recording_request.session, JSPROF_CALLS_COUNT) : 0;
}

const char *recording_shown_file(const recording_calls *row)
{
    const char *shown =
        recording_js ? mozjs_shown_file(recording_js, row->file, row->name, row->line) : nullptr;

    return shown ? shown : row->file;
}

/* Report the first call as a hook does, which makes room for the counter. Add the others
 * to the counter, as the inline hook does. The function lives as long as the process. */
int recording_count(const recording_calls *row)
{
    jsprof_function *function;

    if (!recording_thread)
        return 0;
    const int err = jsprof_function_new(&function, row->name, row->file, row->line,
                                        JSPROF_KIND_VM);
    if (err < 0)
        return err;
    if (row->calls == 0)
        return 0;
    jsprof_count_enter(recording_thread, function, nullptr);
    uint64_t *counter = &recording_thread->counts[*reinterpret_cast<uint32_t *>(function)];
    /* ORDER: relaxed. The drain reads a statistic. */
    __atomic_store_n(counter, *counter + row->calls - 1, __ATOMIC_RELAXED);
    return 0;
}

void recording_add_realm(void)
{
    if (recording_js && recording_request.allocates)
        (void)jsprof_mozjs_tell_allocations(recording_js);
}

void recording_end_allocations(void)
{
    jsprof_mozjs_end_allocations(recording_js);
}

bool recording_has_tasks(void)
{
    return recording_request.session && recording_request.has_tasks;
}

bool recording_has_signals(void)
{
    return recording_request.session && recording_request.has_signals;
}

jsprof_thread *recording_tasks(JSContext **cx)
{
    if (!recording_js || !recording_has_tasks())
        return nullptr;
    if (cx)
        *cx = recording_js->cx;
    return recording_thread;
}

/* gjs labels the call, with a word or two before the name. */
bool recording_doing(char *out, size_t size)
{
    const ProfilingStack &stack = recording_js->stack;
    const uint32_t n = stack.stackSize();
    const char *label = nullptr;

    if (n > 0 && n <= stack.stackCapacity() && stack.frames[n - 1].isLabelFrame())
        label = stack.frames[n - 1].dynamicString();
    const char *space = label ? strrchr(label, ' ') : nullptr;
    snprintf(out, size, "%s", space ? space + 1 : label && label[0] ? label : "callback");
    return label && label[0];
}

/* Another thread may end the recording meanwhile. */
void recording_mark(const char *group, uint64_t begin_ns, const char *name, const char *message)
{
    pthread_mutex_lock(&recording_lock);
    if (recording_request.session)
        (void)jsprof_mark(recording_request.session, begin_ns, group, name, message);
    pthread_mutex_unlock(&recording_lock);
}

void recording_counter(const char *group, const char *name, double value)
{
    pthread_mutex_lock(&recording_lock);
    if (recording_request.session) {
        const int counter = jsprof_counter(recording_request.session, group, name,
                                           nullptr, JSPROF_COUNTER_REAL);
        if (counter > 0)
            (void)jsprof_counter_set_real(recording_request.session, counter, value);
    }
    pthread_mutex_unlock(&recording_lock);
}

/* The context may still contain entries of ours if a script is running further out; then
 * their memory stays. */
void recording_leave(void)
{
    (void)jsprof_mozjs_detach(recording_js);
    (void)jsprof_thread_detach(recording_thread);
    recording_js = nullptr;
    recording_thread = nullptr;
}

void recording_finish(void)
{
    recording_leave();
    recording_close();
}
