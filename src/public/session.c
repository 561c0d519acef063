/* session.c - the public functions of a session: check its options, open its output, call down.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "public/public.h"
#include "session/env.h"

enum {
    PUBLIC_HZ = 1000, PUBLIC_HZ_MAX = 10000,
    PUBLIC_DEPTH = 512, PUBLIC_DEPTH_MAX = 1000,
    PUBLIC_RING = 1 << 19, PUBLIC_RING_MIN = 1 << 14, PUBLIC_RING_MAX = 1 << 30,
    PUBLIC_LABELS = 8 << 20, PUBLIC_LABELS_MIN = 4096,
    PUBLIC_OLDEST_OPTIONS = offsetof(jsprof_options, fd) + sizeof(int),
    PUBLIC_OLDEST_STATS = offsetof(jsprof_stats, write_error) + sizeof(int),
    PUBLIC_MODE = 0666, /* umask decides */
    PUBLIC_FLAGS = JSPROF_CHAIN | JSPROF_USE_FD | JSPROF_NOFOLLOW | JSPROF_NO_NATIVE |
                   JSPROF_PERF_MAP | JSPROF_JITDUMP | JSPROF_COMPACT | JSPROF_NO_THREAD,
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
    setup->compact = o->flags & JSPROF_COMPACT;
    setup->alone = o->flags & JSPROF_NO_THREAD;
    setup->on_drain = o->on_drain;
    setup->on_drain_data = o->on_drain_data;
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

bool jsprof_callable(const void *ucontext)
{
    return ucontext && jsp_callable(ucontext);
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
