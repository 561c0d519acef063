/* session.c - the public functions of a session: check its options, open its output, call down.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/descriptor.h"
#include "public/public.h"
#include "session/env.h"
#include "session/explain.h"

enum {
    PUBLIC_HZ = 1000, PUBLIC_HZ_MAX = 10000,
    PUBLIC_DEPTH = 512, PUBLIC_DEPTH_MAX = 1000,
    PUBLIC_RING = 1 << 19, PUBLIC_RING_MIN = 1 << 14, PUBLIC_RING_MAX = 1 << 30,
    PUBLIC_LABELS = 8 << 20, PUBLIC_LABELS_MIN = 4096,
    PUBLIC_OLDEST_OPTIONS = offsetof(jsprof_options, fd) + sizeof(int),
    PUBLIC_OLDEST_STATS = offsetof(jsprof_stats, write_error) + sizeof(int),
    PUBLIC_FLAGS = JSPROF_CHAIN | JSPROF_USE_FD | JSPROF_NOFOLLOW | JSPROF_NO_NATIVE |
                   JSPROF_PERF_MAP | JSPROF_JITDUMP | JSPROF_COMPACT | JSPROF_NO_THREAD |
                   JSPROF_CHILDREN,
};

/* -- Options ---------------------------------------------------------------- */

static uint32_t public_default(uint32_t value, uint32_t fallback)
{
    return value ? value : fallback;
}

struct public_limit {
    const char *name;
    uint32_t value, low, high;
};

static int public_within(const struct public_limit *l)
{
    if (l->value >= l->low && l->value <= l->high)
        return 0;
    return jsp_explain(-EINVAL, "%s is %u: %u to %u is allowed", l->name, (unsigned)l->value,
                       (unsigned)l->low, (unsigned)l->high);
}

#define PUBLIC_OR_CLOCK(CLOCK, key, unit, name, meaning) " or JSPROF_CLOCK_" #CLOCK

static int public_check_flags(const jsprof_options *o)
{
    if (o->clock < 0 || o->clock >= JSP_N_CLOCKS)
        return jsp_explain(-EINVAL, "clock is %d: %s is allowed", o->clock,
                           &(JSP_CLOCKS(PUBLIC_OR_CLOCK))[sizeof " or " - 1]);
    if (o->flags & ~(uint32_t)PUBLIC_FLAGS)
        return jsp_explain(-EINVAL, "flags are %#x: this version does not know %#x",
                           (unsigned)o->flags, (unsigned)(o->flags & ~(uint32_t)PUBLIC_FLAGS));
    if (o->signo < 0 || o->signo >= _NSIG)
        return jsp_explain(-EINVAL, "signo is %d: 1 to %d is allowed", o->signo, _NSIG - 1);
    return 0;
}

static int public_check(const jsprof_options *o, struct jsp_session_setup *setup)
{
    *setup = (struct jsp_session_setup){
        .hz = public_default(o->hz, PUBLIC_HZ),
        .max_depth = public_default(o->max_depth, PUBLIC_DEPTH),
        .ring_bytes = public_default(o->ring_bytes, PUBLIC_RING),
        .label_bytes = public_default(o->label_bytes, PUBLIC_LABELS) & ~7u,
        .signo = o->signo ? o->signo : SIGPROF,
        .clock = (enum jsp_clock)o->clock,
        .chain = o->flags & JSPROF_CHAIN,
        .native = !(o->flags & JSPROF_NO_NATIVE),
        .perf_map = o->flags & JSPROF_PERF_MAP,
        .dump = o->flags & JSPROF_JITDUMP,
        .compact = o->flags & JSPROF_COMPACT,
        .alone = o->flags & JSPROF_NO_THREAD,
        .children = o->flags & JSPROF_CHILDREN,
        .on_drain = o->on_drain,
        .on_drain_data = o->on_drain_data,
    };
    const struct public_limit limits[] = {
        { "hz", setup->hz, 1, PUBLIC_HZ_MAX },
        { "max_depth", setup->max_depth, 1, PUBLIC_DEPTH_MAX },
        { "ring_bytes", setup->ring_bytes, PUBLIC_RING_MIN, PUBLIC_RING_MAX },
        { "label_bytes", setup->label_bytes, PUBLIC_LABELS_MIN, PUBLIC_LABELS },
    };
    int err = 0;
    for (size_t i = 0; !err && i < sizeof limits / sizeof *limits; i++)
        err = public_within(&limits[i]);
    return err ? err : public_check_flags(o);
}

/* Open the output and fill the rest of `setup`. */
static int public_place(const jsprof_options *o, const char *folder,
                        struct jsp_session_setup *setup)
{
    if (o->flags & JSPROF_USE_FD) {
        setup->fd = jsp_descriptor_copy(o->fd);
        return setup->fd < 0 ? setup->fd : 0;
    }
    setup->file = malloc(sizeof *setup->file);
    if (!setup->file)
        return -ENOMEM;
    const struct jsp_file_ask ask = { o->path, folder, o->flags & JSPROF_NOFOLLOW };
    int err = jsp_file_open(setup->file, &ask);
    setup->fd = setup->file->fd;
    if (!err)
        return 0;
    if (*setup->file->name) /* otherwise the path gives no name */
        jsp_explain(err, "%s: %s", setup->file->name, jsprof_strerror(err));
    free(setup->file);
    return err;
}

static void public_unplace(struct jsp_session_setup *setup)
{
    if (setup->file)
        jsp_file_abandon(setup->file);
    else
        close(setup->fd);
    free(setup->file);
}

/* -- Sessions --------------------------------------------------------------- */

/* Open a session. A relative path starts at `folder`, or at the current one if NULL. */
static int public_open(jsprof **out, const jsprof_options *options, const char *folder)
{
    static const jsprof_options none = { .size = sizeof none };
    struct jsp_session_setup setup;
    jsprof_options o = { 0 };

    jsp_explain_nothing();
    if (!options)
        options = &none;
    if (!out || options->size < PUBLIC_OLDEST_OPTIONS || options->size > sizeof o)
        return -EINVAL;
    memcpy(&o, options, options->size);
    int err = public_check(&o, &setup);
    if (err)
        return err;
    struct public_host host = public_enter();
    err = public_place(&o, folder, &setup);
    if (!err) {
        err = jsp_session_open(out, &setup);
        if (err)
            public_unplace(&setup);
    }
    public_leave(&host);
    return err;
}

int jsprof_open(jsprof **out, const jsprof_options *options)
{
    return public_open(out, options, NULL);
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

const char *jsprof_path(const jsprof *p, bool *is_other)
{
    const struct jsp_file *file = p ? p->file : NULL;
    if (is_other)
        *is_other = file && file->is_other;
    return file ? file->name : NULL;
}

int jsprof_start_from_env(jsprof **out)
{
    jsprof_options options = { .size = sizeof options };
    if (!out)
        return -EINVAL;
    *out = NULL;
    jsp_explain_nothing();
    int asked = jsp_env_options(&options);
    if (asked <= 0)
        return asked;
    int err = public_open(out, &options, jsp_env_folder());
    if (!err)
        err = jsprof_start(*out);
    if (!err)
        return 1;
    jsprof_close(*out);
    *out = NULL;
    return jsp_explain(err, "JSPROF=%.200s: %s", options.path, jsprof_strerror(err));
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
