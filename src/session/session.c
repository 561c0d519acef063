/* session/session.c - see session.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/loaded.h"
#include "capture/wire.h"
#include "child.h"
#include "drain.h"
#include "ending.h"
#include "losses.h"
#include "image/descriptor.h"
#include "gone.h"
#include "live.h"
#include "process.h"
#include "sigframe.h"
#include "signals.h"
#include "warm.h"

enum { SESSION_SLOT_PER_BYTES = 64 }; /* bytes of labels for each slot of their table */

static void session_thread_exit(void)
{
    for (struct jsp_sampled *s; (s = jsp_sampled_first()) != NULL;)
        jsp_session_detach((struct jsp_thread *)(void *)s);
}

static void session_leave(struct jsprof *p)
{
    jsp_writer_leave(&p->output.writer);
}

static bool session_is_child; /* set from session_in_child to session_after_fork */

static void session_in_child(void)
{
    jsp_live_each(session_leave);
    jsp_signals_in_child();
    session_is_child = true;
}

static void session_after_fork(void)
{
    jsp_signals_after_fork();
    if (session_is_child)
        jsp_live_each(jsp_child_go_on);
    session_is_child = false;
}

static const struct jsp_process_hooks session_hooks = {
    jsp_signals_before_fork, session_after_fork, session_in_child, session_thread_exit,
};

/* -- Opening ---------------------------------------------------------------- */

static uint32_t session_pow2(uint32_t at_least)
{
    uint32_t n = 1;
    while (n < at_least)
        n *= 2;
    return n;
}

static void *session_map(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static int session_arena(struct jsprof *p, uint32_t label_bytes)
{
    uint32_t n_slots = session_pow2(label_bytes / SESSION_SLOT_PER_BYTES + JSP_ARENA_PROBES);
    p->label_bytes = label_bytes;
    p->slots_bytes = n_slots * sizeof(uint64_t);
    void *bytes = session_map(p->label_bytes), *slots = session_map(p->slots_bytes);
    if (!bytes || !slots) {
        if (bytes)
            munmap(bytes, p->label_bytes);
        return -ENOMEM;
    }
    struct jsp_arena_memory memory = { bytes, label_bytes, slots, n_slots };
    jsp_arena_init(&p->arena, &memory);
    return 0;
}

static void session_locks(struct jsprof *p)
{
    pthread_mutex_init(&p->change, NULL);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->served_cond, NULL);
}

static void session_read_text(const char *path, char *to, size_t size)
{
    int fd = jsp_descriptor_open(path, O_RDONLY, 0);
    ssize_t n = fd < 0 ? 0 : read(fd, to, size - 1);
    if (fd >= 0)
        close(fd);
    n = n < 0 ? 0 : n;
    to[n] = 0;
    for (ssize_t i = 0; i + 1 < n; i++) /* arguments are separated by NUL */
        if (!to[i] || to[i] == '\n')
            to[i] = ' ';
    if (n && to[n - 1] == '\n')
        to[n - 1] = 0;
}

/* Write the frames that describe this capture; PROCESS comes first. */
static void session_describe(struct jsprof *p)
{
    static const char open_total[] = "total state=open\n";
    struct jsp_writer *w = &p->output.writer;
    char text[4096], number[16];

    session_read_text("/proc/self/cmdline", text, sizeof text);
    jsp_writer_process(w, *text ? text : program_invocation_name);
    jsp_file_writer(text);
    if (*text)
        jsp_writer_metadata(w, JSP_FILE_WRITER_ID, text);
    jsp_writer_metadata(w, "jsprof.version", JSPROF_VERSION_STRING);
    jsp_writer_metadata(w, "jsprof.clock", jsp_clocks[p->setup.clock].key);
    snprintf(number, sizeof number, "%u", (unsigned)p->hz);
    jsp_writer_metadata(w, "jsprof.hz", number);
    snprintf(number, sizeof number, "%u", (unsigned)p->setup.max_depth);
    jsp_writer_metadata(w, "jsprof.max_depth", number);
    session_read_text("/proc/self/comm", text, sizeof text);
    jsp_writer_metadata(w, "jsprof.host", *text ? text : program_invocation_short_name);
    if (p->native && access("/proc/self/maps", R_OK) < 0)
        jsp_writer_metadata(w, "jsprof.proc", "none");
    if (jsp_writer_reserve(w, JSP_WIRE_FILE_LOSSES, JSP_LOSSES_LINE) == 0)
        jsp_writer_fill(w, open_total, sizeof open_total - 1);
}

static void session_set_up(struct jsprof *p, const struct jsp_session_setup *setup)
{
    uint32_t record = jsp_record_words(JSP_RECORD_FRAMES(setup->max_depth), setup->max_depth);
    uint32_t words = setup->ring_bytes / (uint32_t)sizeof(uint64_t);
    p->pid = getpid();
    p->hz = setup->hz;
    p->chain = setup->chain;
    p->on_drain = setup->on_drain;
    p->on_drain_data = setup->on_drain_data;
    jsp_codes_init(&p->codes);
    jsp_calls_open(&p->calls);
    jsp_perfmap_init(&p->perf);
    jsp_marks_init(&p->marks, p->pid);
    p->setup = (struct jsp_thread_setup){
        .session = p, .arena = &p->arena, .jit = &p->codes.handler,
        .map = setup->native ? &p->objects.map : NULL, .ask = &p->ask,
        .find_sigsafe = jsp_loaded_find(), .max_depth = setup->max_depth,
        .ring_words = session_pow2(words > 4 * record ? words : 4 * record),
        .period_ns = 1000000000u / setup->hz, .clock = setup->clock, .signo = setup->signo,
        .offer_sigsafe = jsp_alone_open(&p->alone, setup),
    };
}

static int session_perf(struct jsprof *p, const struct jsp_session_setup *setup)
{
    int err = setup->perf_map ? jsp_perfmap_open_map(&p->perf) : 0;
    if (!err && setup->dump)
        err = jsp_perfmap_open_dump(&p->perf, setup->file ? setup->file->name : "");
    return err;
}

int jsp_session_fill(struct jsprof *p, const struct jsp_session_setup *setup)
{
    session_set_up(p, setup);
    int err = session_perf(p, setup);
    if (!err && setup->native)
        err = jsp_objects_init(&p->objects);
    p->native = setup->native && !err;
    if (!err && setup->compact)
        err = jsp_output_pack(&p->output);
    if (!err)
        err = jsp_output_open(&p->output, setup->fd, &p->arena);
    if (!err && setup->file)
        err = jsp_output_empty(&p->output); /* the last step that can fail */
    if (err)
        return err;
    session_locks(p);
    p->given = *setup;
    p->file = setup->file;
    p->output.writer.is_locked = setup->file != NULL;
    p->output.frames.codes = &p->codes;
    session_describe(p);
    return 0;
}

int jsp_session_open(struct jsprof **out, const struct jsp_session_setup *setup)
{
    int err = jsp_process_init(&session_hooks);
    if (err)
        return err;
    struct jsprof *p = calloc(1, sizeof *p);
    if (!p)
        return -ENOMEM;
    err = session_arena(p, setup->label_bytes);
    if (err) {
        free(p);
        return err;
    }
    err = jsp_session_fill(p, setup);
    if (err) {
        jsp_session_free(p);
        return err;
    }
    jsp_warm_libc();
    jsp_live_add(p);
    *out = p;
    return 0;
}

/* -- Running ---------------------------------------------------------------- */

static int session_arm_all(struct jsprof *p)
{
    for (struct jsp_thread *t = p->threads; t; t = t->next) {
        int err = t->owned ? jsp_thread_arm(t, &p->setup) : 0;
        if (err)
            return err;
    }
    return 0;
}

static void session_disarm_all(struct jsprof *p)
{
    for (struct jsp_thread *t = p->threads; t; t = t->next)
        jsp_thread_disarm(t);
}

static void session_give_signal(struct jsprof *p)
{
    jsp_process_lock();
    jsp_signals_give(p->setup.signo);
    jsp_process_unlock();
}

static int session_take_signal(struct jsprof *p)
{
    jsp_process_lock();
    int err = jsp_signals_take(p->setup.signo, p->chain);
    jsp_process_unlock();
    return err;
}

static int session_start_locked(struct jsprof *p)
{
    /* at what was loaded since open or since the last run */
    jsp_drain_look(p, p->quiet_ns);
    jsp_gone_collect(p); /* threads that are gone, which cannot be armed */
    bool needs_drain = !jsp_alone_serves(p);
    int err = session_arm_all(p);
    if (!err && needs_drain)
        err = jsp_drain_spawn(p);
    if (err)
        session_disarm_all(p);
    p->running = !err;
    p->draining = !err && needs_drain;
    return err;
}

/* The caller holds `change`. */
static int session_begin(struct jsprof *p)
{
    if (p->running)
        return 0;
    /* Only the calling thread's stack can be checked; it may have changed since
     * attach. */
    int err = jsp_sampled_find(p) ? jsp_sigframe_check() : 0;
    if (!err)
        err = session_take_signal(p);
    if (err)
        return err;
    pthread_mutex_lock(&p->lock);
    err = session_start_locked(p);
    pthread_mutex_unlock(&p->lock);
    if (err)
        session_give_signal(p);
    return err;
}

int jsp_session_start(struct jsprof *p)
{
    int err = jsp_live_enter(p);
    if (err)
        return err;
    pthread_mutex_lock(&p->change);
    err = session_begin(p);
    pthread_mutex_unlock(&p->change);
    jsp_live_leave(p);
    return err;
}

/* Write everything that waits, without a drain thread, and wait some time for a slow
 * pipe. The caller holds `lock`. */
static void session_finish(struct jsprof *p)
{
    jsp_writer_forgive(&p->output.writer);
    jsp_drain_look(p, p->quiet_ns);
    jsp_gone_collect(p);
    while (!jsp_drain_pass(p, p->flush_error))
        jsp_drain_write(p, jsp_output_flush_patiently);
    jsp_drain_report(p, "stopped");
    jsp_drain_write(p, jsp_output_flush_patiently);
}

static void session_join(struct jsprof *p)
{
    pthread_join(p->drain, NULL);
    pthread_mutex_lock(&p->lock);
    p->draining = false;
    pthread_cond_broadcast(&p->served_cond);
    pthread_mutex_unlock(&p->lock);
}

/* Return the error that made data lost for good, otherwise the result of the flush. The
 * caller holds `lock`. */
static int session_error(const struct jsprof *p, int flushed)
{
    return p->write_error ? p->write_error : flushed;
}

int jsp_session_halt(struct jsprof *p)
{
    pthread_mutex_lock(&p->lock);
    bool was = p->running, drains = p->draining;
    p->running = false;
    if (was)
        session_disarm_all(p);
    if (was && !drains)
        session_finish(p);
    p->quit = true;
    jsp_ask_ring(&p->ask);
    pthread_mutex_unlock(&p->lock);
    if (drains)
        session_join(p);
    if (was)
        session_give_signal(p);
    pthread_mutex_lock(&p->lock);
    int err = session_error(p, p->flush_error);
    pthread_mutex_unlock(&p->lock);
    return err;
}

int jsp_session_stop(struct jsprof *p)
{
    int err = jsp_live_enter(p);
    if (err)
        return err;
    pthread_mutex_lock(&p->change);
    err = jsp_session_halt(p);
    pthread_mutex_unlock(&p->change);
    jsp_live_leave(p);
    return err;
}

/* Flush without a drain thread. The caller holds `lock`. */
static int session_flush_here(struct jsprof *p)
{
    int err = 0;
    jsp_drain_look(p, p->quiet_ns);
    jsp_gone_collect(p);
    while (!err && !jsp_drain_pass(p, p->write_error))
        err = jsp_drain_write(p, jsp_output_flush);
    if (err)
        return err;
    jsp_drain_report(p, p->running ? "running" : "stopped");
    return jsp_drain_write(p, jsp_output_flush);
}

int jsp_session_flush(struct jsprof *p)
{
    int err = jsp_live_enter(p);
    if (err)
        return err;
    pthread_mutex_lock(&p->lock);
    uint64_t mine = ++p->asked;
    jsp_ask_ring(&p->ask);
    while (p->draining && p->served < mine)
        pthread_cond_wait(&p->served_cond, &p->lock);
    err = p->served < mine ? session_flush_here(p) : p->flush_error;
    err = session_error(p, err);
    pthread_mutex_unlock(&p->lock);
    jsp_live_leave(p);
    return err;
}

/* -- Calls ------------------------------------------------------------------ */

int jsp_session_calls(struct jsprof *p, uint32_t modes)
{
    int err = jsp_live_enter(p);
    if (err)
        return err;
    pthread_mutex_lock(&p->lock);
    err = jsp_calls_set(&p->calls, p->threads, modes);
    pthread_mutex_unlock(&p->lock);
    jsp_live_leave(p);
    return err;
}

int jsp_session_calls_snapshot(struct jsprof *p, jsprof_calls *out)
{
    int err = jsp_live_enter(p);
    if (err)
        return err;
    err = jsp_calls_snapshot(&p->calls, out);
    jsp_live_leave(p);
    return err;
}
