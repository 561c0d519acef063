/* session/session.h - the life of a session. Any thread; see jsprof.h for what each
 * call promises to a host.
 *
 * `lock` guards the list of threads and what is popped from their rings. The
 * output belongs to the drain thread while that lives, else to who holds `lock`;
 * the drain appends under `lock` and writes to the file outside of it, so a slow
 * file never stops a host's attach or detach. Without that thread a sampled one does its
 * work now and then, in the handler and under `lock`: see offer.h. `change` is taken
 * before `lock`, over the whole of a start or stop, so that two of them never overlap; a
 * close begins when no other call is inside, see live.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_SESSION_H
#define JSP_SESSION_SESSION_H

#include <pthread.h>

#include "image/objects.h"
#include "calls/calls.h"
#include "file.h"
#include "marks.h"
#include "output.h"
#include "perfmap.h"
#include "thread.h"

/* All but the path or descriptor of jsprof_options, checked and with defaults. */
struct jsp_session_setup {
    int fd;                /* given away on success, as the file is */
    struct jsp_file *file; /* of it; what it holds goes, when nothing but memory can fail.
                            * NULL: the descriptor is a copy of the host's */
    uint32_t hz, max_depth, ring_bytes, label_bytes;
    enum jsp_clock clock;
    bool chain, native, perf_map, dump, compact, alone, children;
    void (*on_drain)(void *data);
    void *on_drain_data;
    int signo;
};

struct jsprof {
    /* Constant after open. */
    pid_t pid;
    struct jsp_session_setup given; /* its file is `file` */
    uint32_t hz;
    bool chain;
    struct jsp_thread_setup setup;
    size_t slots_bytes, label_bytes; /* of the arena's two mappings */
    struct jsp_arena arena;
    bool native;
    bool alone;                 /* no drain thread, as long as that can be */
    void (*on_drain)(void *data);
    void *on_drain_data;
    struct jsp_objects objects; /* the drain's; its map is the handlers' */
    struct jsp_codes codes;     /* has a lock of its own */
    struct jsp_perfmap perf; /* under that lock */
    struct jsp_file *file;   /* owned; NULL: a descriptor of the host's */
    struct jsp_marks marks;  /* has a lock of its own */
    struct jsp_calls_session calls; /* has a lock of its own */

    /* Under the process lock; see live.h. */
    struct jsprof *_Atomic live_next;
    uint32_t n_inside; /* calls */
    bool closing;

    pthread_mutex_t change, lock;
    pthread_cond_t served_cond; /* of who waits for a flush */
    struct jsp_ask ask;         /* its bell wakes the drain */

    /* Under `lock`. */
    bool running;
    bool draining;          /* there is a drain thread: until it was joined */
    bool quit;              /* the drain shall finish */
    pthread_t drain;        /* while running */
    uint64_t asked, served; /* flushes */
    struct jsp_thread *threads;
    uint32_t n_ids;
    struct jsp_counts gone; /* sums over the threads that were forgotten */
    bool quiet;             /* in this pass no thread was inside its handler */
    const struct jsp_thread *offering; /* whose handler is in the drain's place */
    _Atomic uint64_t passed_ns;        /* when it was, last; read by handlers without it */
    uint64_t flushed_ns;
    uint64_t gone_ns;       /* when threads that are gone were last looked for */
    uint64_t quiet_ns;      /* samples that began before it are read, handlers are over */
    int write_error;        /* last of the writer; copied here to be read */
    int flush_error;        /* of the last flush: not 0, and something waits */
    struct jsp_tally unwritten; /* samples, and expirations, appended but not in the file */

    bool stuck; /* a thread is stopped inside the handler and may read all of it */
    struct jsprof *kept; /* see ending.c */

    /* The drain's. */
    struct jsp_output output;
    uint64_t looked_ns;     /* when it looked at what is loaded, last */
    uint64_t rested_ns, pause_ns; /* when it may be asked again; how long it rests in vain */
    uint64_t popped[8 + 6 * JSP_FRAMES_RUN];
};

int jsp_session_open(struct jsprof **out, const struct jsp_session_setup *setup);

/* All of a session that has its arena, in zeroed memory, but its place on the list of those
 * that live. -ENOMEM, or as open: something is there then that jsp_session_free frees. */
int jsp_session_fill(struct jsprof *p, const struct jsp_session_setup *setup);
int jsp_session_start(struct jsprof *p);
int jsp_session_stop(struct jsprof *p);

/* As stop, for close: no other call on the session is under way. */
int jsp_session_halt(struct jsprof *p);

int jsp_session_close(struct jsprof *p);
int jsp_session_flush(struct jsprof *p);
int jsp_session_stats(struct jsprof *p, jsprof_stats *out);

/* Sums over all threads that there ever were, as of the last pass and the last flush. With
 * `lock` held. */
void jsp_session_counts(const struct jsprof *p, struct jsp_counts *sum);
struct jsp_tally jsp_session_tally(const struct jsprof *p);

int jsp_session_calls(struct jsprof *p, uint32_t modes);
int jsp_session_calls_snapshot(struct jsprof *p, jsprof_calls *out);

int jsp_session_attach(struct jsprof *p, const char *name, struct jsp_thread **out);
int jsp_session_detach(struct jsp_thread *t);

/* 0: the calling thread attached as `t`; else -EPERM, or -ECHILD after a fork. */
int jsp_session_owns(const struct jsp_thread *t);

#endif
