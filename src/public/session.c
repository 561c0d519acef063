/* public/session.c - the public functions of a session: check arguments and call down.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/control.h"
#include "image/descriptor.h"
#include "public.h"
#include "session/explain.h"
#include "session/options.h"

enum {
    PUBLIC_OLDEST_STATS = offsetof(jsprof_stats, write_error) + sizeof(int),
    PUBLIC_FEW_HZ = 100, /* samples a second for which timers are exact enough */
    /* Events are the default. They interrupt system calls that begin to wait, and only x86-64 can
     * make those again: see again.h. */
#ifdef __x86_64__
    PUBLIC_EVENTS = true,
#else
    PUBLIC_EVENTS = false,
#endif
};

/* -- Options ---------------------------------------------------------------- */

int jsprof_options_set(jsprof_options *o, const char *name, const char *value)
{
    jsp_explain_nothing();
    if (!o || !name || !value || o->size < JSP_OPTIONS_OLDEST || o->size > sizeof *o)
        return -EINVAL;
    return jsp_options_set(o, name, value);
}

/* Return true for a session that has no file before another process gives it one. */
static bool public_is_dormant(const jsprof_options *o)
{
    return o->continuous ||
           (o->flags & JSPROF_CONTROL && !(o->flags & JSPROF_USE_FD) && !o->path);
}

/* Check the options, set their defaults, and fill `setup` except for the output. */
static int public_check(jsprof_options *o, struct jsp_session_setup *setup)
{
    int err = jsp_options_complete(o);
    /* without a thread of ours, nobody looks at those that wait */
    const bool is_timed = o->flags & (JSPROF_LOOKER | JSPROF_TIMER) ||
                          (o->flags & JSPROF_NO_THREAD && o->clock == JSPROF_CLOCK_WALL);
    *setup = (struct jsp_session_setup){
        .hz = o->hz,
        .max_depth = o->max_depth,
        .ring_bytes = o->ring_bytes,
        .label_bytes = o->label_bytes & ~7u,
        .signo = o->signo,
        .alloc = o->alloc,
        .stall_ns = o->stalls,
        .clock = (enum jsp_clock)o->clock,
        .chain = o->flags & JSPROF_CHAIN,
        .native = !(o->flags & JSPROF_NO_NATIVE),
        .perf_map = o->flags & JSPROF_PERF_MAP,
        .dump = o->flags & JSPROF_JITDUMP,
        .compact = o->flags & JSPROF_COMPACT,
        /* with a control socket or a keeper there is a second thread */
        .alone = o->flags & JSPROF_NO_THREAD && !(o->flags & JSPROF_CONTROL) && !o->continuous,
        .children = o->flags & JSPROF_CHILDREN,
        .looker = !(o->flags & JSPROF_TIMER),
        .perf = o->flags & JSPROF_PERF || (PUBLIC_EVENTS && !is_timed),
        .describe = o->flags & JSPROF_DESCRIBE,
        .sched = o->flags & JSPROF_SCHED,
        .gdb_jit = o->flags & JSPROF_GDB_JIT,
        .dormant = public_is_dormant(o),
        .on_drain = o->on_drain,
        .on_drain_data = o->on_drain_data,
    };
    return err;
}

/* Prepare a continuous recording. */
static int public_keep(const jsprof_options *o, const char *folder,
                       struct jsp_session_setup *setup)
{
    const struct jsp_keep_ask ask = { o->continuous, folder, o->segment_s, o->keep_s,
                                      o->keep_mib };
    struct jsp_keeper *k = setup->keeper = jsp_keeper_new();
    if (!k)
        return -ENOMEM;
    k->hz = setup->hz;
    k->clock = setup->clock;
    /* A timer of the CPU clock wakes no thread of ours. Few samples need no finer moments than the
     * scheduler's tick. */
    k->looker = setup->looker && (k->clock != JSP_CLOCK_CPU || k->hz > PUBLIC_FEW_HZ ||
                                  o->flags & (JSPROF_LOOKER | JSPROF_PERF));
    int err = jsp_keep_init(&k->keep, &ask);
    if (!err)
        return 0;
    jsp_keeper_free(k);
    setup->keeper = NULL;
    return jsp_explain(err, "%.200s: %s", o->continuous, jsprof_strerror(err));
}

/* Open the output and fill the rest of `setup`. */
static int public_place(const jsprof_options *o, const char *folder,
                        struct jsp_session_setup *setup)
{
    int err = o->continuous ? public_keep(o, folder, setup) : 0;
    if (err)
        return err;
    if (setup->dormant || o->flags & JSPROF_DESCRIBE) {
        setup->fd = -1;
        return 0;
    }
    if (o->flags & JSPROF_USE_FD) {
        setup->fd = jsp_descriptor_copy(o->fd);
        return setup->fd < 0 ? setup->fd : 0;
    }
    setup->file = malloc(sizeof *setup->file);
    if (!setup->file)
        return -ENOMEM;
    const struct jsp_file_ask ask = { o->path, folder, o->flags & JSPROF_NOFOLLOW };
    err = jsp_file_open(setup->file, &ask);
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
    else if (setup->fd >= 0)
        close(setup->fd);
    free(setup->file);
    jsp_keeper_free(setup->keeper);
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
    if (!out || options->size < JSP_OPTIONS_OLDEST || options->size > sizeof o)
        return -EINVAL;
    memcpy(&o, options, options->size);
    int err = public_check(&o, &setup);
    if (err)
        return err;
    struct public_host host = public_enter();
    jsprof *p = NULL;
    err = public_place(&o, folder, &setup);
    if (!err) {
        err = jsp_session_open(&p, &setup);
        if (err)
            public_unplace(&setup);
    }
    if (!err && o.flags & JSPROF_CONTROL) {
        err = jsp_control_join(p, o.vm);
        if (err)
            jsp_session_close(p);
    }
    if (!err)
        *out = p;
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

static int public_close(jsprof *p)
{
    jsp_control_leave(p);
    return jsp_session_close(p);
}

int jsprof_close(jsprof *p)
{
    return p ? public_call(public_close, p) : 0;
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
    uint32_t modes = 0;
    int err = jsp_env_calls(&modes);
    if (err)
        return err;
    err = public_open(out, &options, jsp_env_folder());
    if (!err && modes)
        err = jsprof_calls_set(*out, modes);
    if (!err)
        err = jsprof_start(*out);
    if (!err)
        return 1;
    jsprof_close(*out);
    *out = NULL;
    char why[512]; /* an option, a folder or the socket was explained */
    if (jsp_explained(err, why, sizeof why) &&
        (options.continuous || !options.path || strncmp(why, "control socket", 14) == 0))
        return err;
    if (options.continuous)
        return jsp_explain(err, "JSPROF_CONTINUOUS=%.200s: %s", options.continuous,
                           jsprof_strerror(err));
    if (!options.path)
        return jsp_explain(err, "JSPROF_CONTROL=1: %s", jsprof_strerror(err));
    return jsp_explain(err, "JSPROF=%.200s: %s", options.path, jsprof_strerror(err));
}

int jsprof_vm_set(jsprof *p, const char *vm)
{
    if (!p || !vm)
        return -EINVAL;
    struct public_host host = public_enter();
    jsp_control_name(p, vm);
    public_leave(&host);
    return 0;
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
