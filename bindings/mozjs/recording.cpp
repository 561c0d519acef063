/* recording.cpp - the one recording that gjs-console can make of its program.
 *
 * SPDX-License-Identifier: MIT
 */
#include "recording.h"

#include <cerrno>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <pthread.h>

#include "farewell.h"
#include "jsprof-mozjs.h"

namespace {

constexpr uint32_t RECORDING_HZ_MAX = 10000; /* jsprof.h's own limit */
/* There is one thread, whose stacks can be deep: some 400 of 512 frames fit. */
constexpr uint32_t RECORDING_RING_BYTES = 4u << 20;

/* Guards `session` against the ends of the process: see recording.h. */
pthread_mutex_t recording_lock = PTHREAD_MUTEX_INITIALIZER;

jsprof *recording_session;      /* nullptr: none, or it is closed already */
jsprof_thread *recording_thread; /* the script's; used by that thread only */
jsprof_mozjs *recording_js;      /* likewise */
char recording_name[4200];       /* how messages call it: option and path */

void recording_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One line on stderr, in one piece. */
void recording_say(const char *format, ...)
{
    char line[4600];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fprintf(stderr, "gjs-console: %s: %s\n", recording_name, line);
}

bool recording_read_hz(const char *text, uint32_t *out)
{
    char *end;

    errno = 0;
    unsigned long hz = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno || hz < 1 || hz > RECORDING_HZ_MAX) {
        fprintf(stderr, "gjs-console: --profile-hz=%s: not a whole number from 1 to %u\n",
                text, RECORDING_HZ_MAX);
        return false;
    }
    *out = static_cast<uint32_t>(hz);
    return true;
}

bool recording_read_clock(const char *text, int *out)
{
    if (strcmp(text, "cpu") == 0) {
        *out = JSPROF_CLOCK_CPU;
        return true;
    }
    if (strcmp(text, "wall") == 0) {
        *out = JSPROF_CLOCK_WALL;
        return true;
    }
    fprintf(stderr, "gjs-console: --profile-clock=%s: neither cpu nor wall\n", text);
    return false;
}

bool recording_open_from_env(void)
{
    const char *path = getenv("JSPROF");

    if (!path || !path[0])
        return true;
    snprintf(recording_name, sizeof recording_name, "JSPROF: %s", path);
    int err = jsprof_start_from_env(&recording_session);
    if (err < 0)
        recording_say("%s", err == -EINVAL ? "JSPROF_HZ or JSPROF_CLOCK is not one"
                                           : jsprof_strerror(err));
    return err >= 0;
}

bool recording_open_as_asked(const profile_options *asked)
{
    jsprof_options o = {};

    o.size = sizeof o;
    o.path = asked->output;
    o.ring_bytes = RECORDING_RING_BYTES;
    if (asked->hz && !recording_read_hz(asked->hz, &o.hz))
        return false;
    if (asked->clock && !recording_read_clock(asked->clock, &o.clock))
        return false;
    snprintf(recording_name, sizeof recording_name, "--profile-output: %s", asked->output);
    if (!asked->output[0]) {
        recording_say("a file name is needed");
        return false;
    }
    int err = jsprof_open(&recording_session, &o);
    if (err < 0)
        recording_say("%s", strerror(-err));
    return err >= 0;
}

void recording_tell_losses(const jsprof_stats *s)
{
    uint64_t lost = s->lost_ring + s->lost_write + s->lost_stack;

    if (s->write_error)
        recording_say("%s; the capture is not whole: %" PRIu64 " of %" PRIu64
                      " samples are missing",
                      strerror(-s->write_error), lost, s->expirations);
    else if (lost)
        recording_say("%" PRIu64 " of %" PRIu64 " samples are missing: buffer full %" PRIu64
                      ", signal stack too small %" PRIu64,
                      lost, s->expirations, s->lost_ring, s->lost_stack);
    if (s->labels_lost)
        recording_say("%" PRIu64 " frames have no name: too many names", s->labels_lost);
}

/* Complete the file. Called by whichever end of the process comes first. */
void recording_close(void)
{
    jsprof_stats stats = {};

    pthread_mutex_lock(&recording_lock);
    if (recording_session) {
        stats.size = sizeof stats;
        (void)jsprof_stop(recording_session); /* its error is in the stats */
        bool known = jsprof_stats_get(recording_session, &stats) == 0;
        int err = jsprof_close(recording_session);

        recording_session = nullptr;
        if (known && !stats.write_error)
            stats.write_error = err;
        recording_tell_losses(&stats);
    }
    pthread_mutex_unlock(&recording_lock);
}

/* What stands between a script and the C function that it calls, or that calls it: the
 * engine, gjs and the library by which gjs calls. Where that one can not be found, its
 * frames are seen. */
int recording_hide_glue(void)
{
    const void *ffi = dlsym(RTLD_DEFAULT, "ffi_call");
    int err = jsprof_mozjs_hide(recording_session, nullptr);

    if (err == 0)
        err = jsprof_mozjs_hide(recording_session, dlsym(RTLD_DEFAULT, "gjs_context_new"));
    if (err == 0 && ffi)
        err = jsprof_mozjs_hide(recording_session, ffi);
    return err;
}

int recording_join(JSContext *cx)
{
    int err = recording_hide_glue();

    if (err == 0)
        err = jsprof_thread_attach(recording_session, "main", &recording_thread);
    if (err == 0)
        err = jsprof_mozjs_attach(recording_thread, cx, &recording_js);
    if (err == 0)
        err = jsprof_start(recording_session);
    return err;
}

} // namespace

bool recording_open(const profile_options *options)
{
    if (options->output)
        return recording_open_as_asked(options);
    if (!options->hz && !options->clock)
        return recording_open_from_env();
    fprintf(stderr, "gjs-console: %s: needs --profile-output=FILE\n",
            options->hz ? "--profile-hz" : "--profile-clock");
    return false;
}

bool recording_start(JSContext *cx)
{
    if (!recording_session)
        return true;

    int err = recording_join(cx);
    if (err == 0 && atexit(recording_close) != 0)
        err = -ENOMEM;
    if (err == 0)
        err = farewell_install(recording_close);
    if (err < 0) {
        recording_say("%s", jsprof_strerror(err));
        recording_finish();
    }
    return err == 0;
}

/* The context may still hold entries of ours if a script is running further up; then
 * what they point to stays. */
void recording_finish(void)
{
    if (!recording_thread) {
        recording_close();
        return;
    }
    (void)jsprof_mozjs_detach(recording_js);
    (void)jsprof_thread_detach(recording_thread);
    recording_js = nullptr;
    recording_thread = nullptr;
    recording_close();
}
