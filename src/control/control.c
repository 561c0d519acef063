/* control/control.c - see control.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/losses.h"
#include "bell.h"
#include "coming.h"
#include "image/descriptor.h"
#include "peer.h"
#include "session/drain.h"
#include "session/explain.h"
#include "session/live.h"
#include "session/options.h"
#include "session/session.h"
#include "socket.h"

enum {
    CONTROL_PEERS = 8,
    CONTROL_VM = 32,
    CONTROL_ONCE_MS = 2, /* between two looks whether each thread has a sample */
    CONTROL_DEAF_MS = 100, /* without descriptors: until it accepts again */
};
#define CONTROL_FOREVER UINT64_MAX

/* A session that peers see. */
struct control_member {
    struct control_member *next;
    jsprof *session;
    uint32_t number; /* from 1 */
    struct jsp_peer *recorder; /* NULL: none */
    char vm[CONTROL_VM];
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t ended; /* the thread has ended */

    /* Under `lock`. */
    struct control_member *members; /* owned; the newest first */
    uint32_t n_ever;
    bool runs, quit;
    struct jsp_control_place place;
    struct jsp_bell bell;
    pthread_t thread;
    uintptr_t generation; /* of the thread: one that can not be woken any more is abandoned */
    time_t since;
    uint64_t deaf_until; /* on CLOCK_MONOTONIC: accept nobody, for the lack of descriptors */
    struct jsp_peer *peers; /* owned: CONTROL_PEERS */
} control = { .lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER,
              .place = { .fd = -1, .folder = -1 }, .bell = { .ends = { -1, -1 } } };

static pthread_once_t control_once = PTHREAD_ONCE_INIT;
static int control_fork_error;

static uint64_t control_now(void)
{
    return jsp_now_ns(CLOCK_MONOTONIC);
}

/* Where the host has closed our descriptors, their numbers may be its own by now: use none of
 * them. Return false then. */
static bool control_has_descriptors(void)
{
    if (jsp_bell_is_ours(&control.bell))
        return true;
    control.place.fd = control.place.folder = -1;
    control.bell.ends[0] = control.bell.ends[1] = -1;
    for (int i = 0; control.peers && i < CONTROL_PEERS; i++)
        control.peers[i].fd = control.peers[i].passed = -1;
    return false;
}

/* -- Answers ------------------------------------------------------------------ */

static void control_say_session(const struct jsp_peer *peer, const struct control_member *m)
{
    char path[JSP_PEER_WORD + 1], vm[JSP_PEER_WORD + 1];
    struct jsp_session_brief brief = { .threads = 0 };
    if (jsp_session_brief(m->session, &brief) < 0)
        return;
    const char *state = brief.is_recording ? "recording" : !brief.is_wanted ? "stopped"
                        : brief.is_dormant ? "ready" : "file";
    const char *file = jsprof_path(m->session, NULL);
    jsp_peer_say(peer, "session %u state=%s threads=%u clock=%s hz=%u vm=%s path=%s\n", m->number,
                 state, brief.threads, jsp_clocks[brief.clock].key, brief.hz,
                 jsp_peer_word(vm, m->vm), jsp_peer_word(path, file ? file : ""));
}

static void control_info(const struct jsp_peer *peer)
{
    char comm[32], word[JSP_PEER_WORD + 1];
    jsp_control_comm(comm);
    jsp_peer_say(peer, "jsprof %d\npid %d\nsince %lld\nversion %s\nhost %s\n", JSP_CONTROL_VERSION,
                 (int)getpid(), (long long)control.since, JSPROF_VERSION_STRING,
                 jsp_peer_word(word, comm));
    for (const struct control_member *m = control.members; m; m = m->next)
        control_say_session(peer, m);
    jsp_peer_say(peer, "end\n");
}

static void control_drop(struct jsp_peer *peer)
{
    jsp_coming_begin();
    jsp_peer_close(peer);
    jsp_coming_end();
}

static void control_refuse(struct jsp_peer *peer, int err, const char *why)
{
    jsp_peer_say(peer, "error %d %s\n", -err, why);
    control_drop(peer);
}

/* -- Recordings ---------------------------------------------------------------- */

static struct control_member *control_find(uint32_t number)
{
    struct control_member *m = control.members;
    while (m && number && m->number != number)
        m = m->next;
    return m;
}

/* End the peer's recording and report it. The peer may be gone. */
static void control_end(struct control_member *m)
{
    struct jsp_peer *peer = m->recorder;
    jsprof_stats s = { .size = sizeof s };
    m->recorder = NULL;
    peer->records = NULL;
    peer->until = 0; /* the thread closes it next */
    int err = jsp_session_record_end(m->session, &s);
    char done[JSP_REQUEST_DONE];
    if (err)
        jsp_peer_say(peer, "error %d %s\n", -err, jsprof_strerror(err));
    else
        jsp_peer_say(peer, "%s", jsp_request_done(done, &s));
}

static const char *control_why(char text[JSP_PEER_WORD + 64], const struct control_member *m,
                               int err)
{
    const char *path = jsprof_path(m->session, NULL);
    if (err == -EBUSY && m->recorder)
        return "another command records this process";
    if (err == -EBUSY && path) {
        snprintf(text, JSP_PEER_WORD + 64, "the process records itself into %.*s", JSP_PEER_WORD,
                 path);
        return text;
    }
    return err == -ENOTCONN ? "the process has stopped its session"
           : err == -EBUSY ? "the process has another handler for the sampling signal"
           : err == -ENODATA ? "the program has reported no tasks and no turns of a loop"
           : err == -EOPNOTSUPP
               ? "the process samples no allocations: it was not started with JSPROF_ALLOC"
               : jsprof_strerror(err);
}

static void control_record(struct jsp_peer *peer, const struct jsp_request *r)
{
    char text[JSP_PEER_WORD + 64];
    struct control_member *m = control_find(r->session);
    if (!m) {
        control_refuse(peer, -ENOENT, "there is no such session");
        return;
    }
    if (!jsp_peer_can_be_written(peer)) {
        control_refuse(peer, -EBADF, "no writable descriptor came, or the process has none");
        return;
    }
    struct jsp_session_aim aim = { .fd = -1, .hz = r->hz, .clock = (enum jsp_clock)r->clock,
                                   .looker = r->looker, .compact = r->compact,
                                   .stall_ns = r->stall_us * UINT64_C(1000),
                                   .tasks = r->tasks, .alloc = r->alloc };
    int err = m->recorder ? -EBUSY : jsp_coming_hand(peer, m->session, &aim);
    if (err) {
        control_refuse(peer, err, control_why(text, m, err));
        return;
    }
    m->recorder = peer;
    peer->records = m;
    peer->once = r->once;
    peer->until = r->ms ? control_now() + (uint64_t)r->ms * 1000000 : CONTROL_FOREVER;
    jsp_peer_say(peer, "ok\n");
}

static void control_calls(struct jsp_peer *peer, const struct jsp_request *r)
{
    const struct control_member *m = control_find(r->session);
    int err = m ? jsp_session_calls_ask(m->session, r->modes) : -ENOENT;
    if (err)
        control_refuse(peer, err, !m ? "there is no such session"
                       : err != -EOPNOTSUPP ? jsprof_strerror(err)
                       : "it counts calls only from its start, with JSPROF_CALLS (Lua) or "
                         "--profile-calls=on (GJS)");
    else
        jsp_peer_say(peer, "ok\n");
}

/* -- Peers ---------------------------------------------------------------------- */

static void control_stop(struct jsp_peer *peer)
{
    if (peer->records)
        control_end(peer->records);
    control_drop(peer);
}

/* Serve one line. A peer sends one request; while it records, only "stop" may follow. */
static void control_serve(struct jsp_peer *peer)
{
    struct jsp_request request;
    uint32_t word;
    char why[80];
    int err = jsp_request_read(&request, peer->line, jsp_peer_line(peer), &word);
    jsp_peer_next(peer);
    if (peer->records) {
        control_stop(peer);
        return;
    }
    if (err) {
        snprintf(why, sizeof why, err == -EPROTO ? "this process speaks jsprof %d"
                                                 : "word %d is not known", err == -EPROTO
                 ? JSP_CONTROL_VERSION : (int)word + 1);
        control_refuse(peer, err, why);
        return;
    }
    if (request.verb == JSP_REQUEST_INFO)
        control_info(peer);
    else if (request.verb == JSP_REQUEST_RECORD)
        control_record(peer, &request);
    else if (request.verb == JSP_REQUEST_CALLS)
        control_calls(peer, &request);
    if (!peer->records)
        control_drop(peer);
}

static void control_hear(struct jsp_peer *peer)
{
    jsp_coming_begin();
    enum jsp_peer_news news = jsp_peer_receive(peer);
    jsp_coming_end();
    while (news == JSP_PEER_LINE && peer->fd >= 0 && jsp_peer_has_line(peer))
        control_serve(peer);
    if (news == JSP_PEER_ENDED)
        control_stop(peer);
}

static void control_accept(void)
{
    struct jsp_peer *peer = control.peers;
    pid_t pid;
    jsp_coming_begin();
    int fd = accept4(control.place.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) { /* who waits there keeps the socket readable */
        control.deaf_until = control_now() + CONTROL_DEAF_MS * UINT64_C(1000000);
        jsp_coming_end();
        return;
    }
    while (peer < control.peers + CONTROL_PEERS && peer->fd >= 0)
        peer++;
    bool has_room = peer < control.peers + CONTROL_PEERS;
    int copy = has_room && jsp_control_may(fd, &pid) ? jsp_descriptor_copy(fd) : -1;
    close(fd);
    if (copy >= 0)
        jsp_peer_open(peer, copy, control_now() + JSP_PEER_PATIENCE_MS * UINT64_C(1000000));
    jsp_coming_end();
}

/* End what is over: silent peers, and recordings. Return the time of the next end. */
static uint64_t control_expire(void)
{
    uint64_t now = control_now(), next = CONTROL_FOREVER;
    for (int i = 0; i < CONTROL_PEERS; i++) {
        struct jsp_peer *peer = &control.peers[i];
        if (peer->fd < 0)
            continue;
        struct control_member *m = peer->records;
        bool is_done = m && peer->once && jsp_session_unsampled(m->session) == 0;
        if (is_done || peer->until <= now) {
            control_stop(peer);
            continue;
        }
        uint64_t look = peer->once && m ? now + CONTROL_ONCE_MS * UINT64_C(1000000) : peer->until;
        look = look < peer->until ? look : peer->until;
        next = look < next ? look : next;
    }
    return next;
}

/* -- The thread ----------------------------------------------------------------- */

/* Wait without the lock. */
static void control_wait(struct pollfd wait[CONTROL_PEERS + 2], uint64_t until)
{
    struct timespec most;
    uint64_t now = control_now();
    bool is_deaf = control.deaf_until > now;
    until = is_deaf && control.deaf_until < until ? control.deaf_until : until;
    uint64_t ns = until > now ? until - now : 0;
    for (int i = 0; i < CONTROL_PEERS; i++)
        wait[i] = (struct pollfd){ .fd = control.peers[i].fd, .events = POLLIN };
    wait[CONTROL_PEERS] = (struct pollfd){ .fd = is_deaf ? -1 : control.place.fd,
                                           .events = POLLIN };
    wait[CONTROL_PEERS + 1] = (struct pollfd){ .fd = control.bell.ends[0], .events = POLLIN };
    most = (struct timespec){ (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };
    pthread_mutex_unlock(&control.lock);
    int n = ppoll(wait, CONTROL_PEERS + 2, until == CONTROL_FOREVER ? NULL : &most, NULL);
    pthread_mutex_lock(&control.lock);
    for (int i = 0; n <= 0 && i < CONTROL_PEERS + 2; i++)
        wait[i].revents = 0;
}

static bool control_goes_on(const void *generation)
{
    return (uintptr_t)generation == control.generation && !control.quit &&
           control_has_descriptors();
}

static void *control_main(void *generation)
{
    struct pollfd wait[CONTROL_PEERS + 2];
    pthread_mutex_lock(&control.lock);
    while (control_goes_on(generation)) {
        control_wait(wait, control_expire());
        if (!control_goes_on(generation))
            break;
        for (int i = 0; i < CONTROL_PEERS; i++)
            if (wait[i].revents && wait[i].fd == control.peers[i].fd)
                control_hear(&control.peers[i]);
        if (wait[CONTROL_PEERS].revents)
            control_accept();
        if (wait[CONTROL_PEERS + 1].revents)
            jsp_bell_heard(&control.bell);
    }
    for (int i = 0; (uintptr_t)generation == control.generation && i < CONTROL_PEERS; i++)
        control_drop(&control.peers[i]);
    pthread_mutex_unlock(&control.lock);
    return NULL;
}

static void control_free(void)
{
    jsp_control_unlisten(&control.place);
    jsp_bell_close(&control.bell);
    free(control.peers);
    control.peers = NULL;
    control.runs = control.quit = false;
}

/* The thread may wait for descriptors that nobody can close or use any more, for ever: it ends
 * when it wakes, and what it uses is kept until then. */
static void control_abandon(void)
{
    pthread_detach(control.thread);
    control.generation++;
    control.peers = NULL;
    control.runs = control.quit = false;
}

/* Begin to listen, with the lock held. */
static int control_start(void)
{
    control.peers = calloc(CONTROL_PEERS, sizeof *control.peers);
    for (int i = 0; control.peers && i < CONTROL_PEERS; i++)
        control.peers[i].fd = control.peers[i].passed = -1;
    int err = control.peers ? jsp_bell_open(&control.bell) : -ENOMEM;
    if (!err)
        err = jsp_control_listen(&control.place, jsp_env_get("XDG_RUNTIME_DIR"));
    control.since = time(NULL);
    if (!err)
        err = jsp_spawn(&control.thread,
                        &(struct jsp_spawn){ control_main, (void *)control.generation,
                                             "jsprof-control", NULL });
    control.runs = !err;
    if (err)
        control_free();
    return err;
}

static bool control_is_own(struct jsprof *p)
{
    bool is = jsp_live_enter(p) == 0;
    if (is)
        jsp_live_leave(p);
    return is;
}

/* Keep the sessions that continue in the child of a fork, with JSPROF_CHILDREN. The others are
 * the parent's: their memory is not used again. */
static void control_keep(void)
{
    struct control_member **at = &control.members;
    for (struct control_member *m = *at; m; m = m->next) {
        if (!control_is_own(m->session))
            continue;
        m->recorder = NULL;
        *at = m;
        at = &m->next;
    }
    *at = NULL;
}

/* In the child of a fork, which has the parent's descriptors but not its thread. The session's
 * handler, which is older, has run. */
static void control_in_child(void)
{
    jsp_coming_end();
    control.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    control.ended = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    if (!control.runs)
        return;
    control_has_descriptors();
    for (int i = 0; i < CONTROL_PEERS; i++)
        jsp_peer_close(&control.peers[i]);
    jsp_coming_drop();
    jsp_control_leave_place(&control.place);
    jsp_bell_close(&control.bell);
    control.peers = NULL;
    control.runs = control.quit = false;
    control_keep();
    if (control.members)
        control_start(); /* if that fails, nobody sees them */
}

static void control_begin(void)
{
    control_fork_error = -pthread_atfork(jsp_coming_begin, jsp_coming_end, control_in_child);
}

/* -- Joining --------------------------------------------------------------------- */

int jsp_control_join(jsprof *p, const char *vm)
{
    char why[JSP_CONTROL_WHY];
    struct control_member *m = calloc(1, sizeof *m);
    pthread_once(&control_once, control_begin);
    int err = m ? control_fork_error : -ENOMEM;
    pthread_mutex_lock(&control.lock);
    while (control.quit)
        pthread_cond_wait(&control.ended, &control.lock);
    if (!err && !control.runs)
        err = control_start();
    if (!err) {
        m->session = p;
        m->number = ++control.n_ever;
        snprintf(m->vm, sizeof m->vm, "%s", vm ? vm : "");
        m->next = control.members;
        control.members = m;
    }
    pthread_mutex_unlock(&control.lock);
    if (!err)
        return 0;
    free(m);
    return jsp_explain(err, "control socket: %s", jsp_control_why(why, err));
}

void jsp_control_name(const jsprof *p, const char *vm)
{
    pthread_mutex_lock(&control.lock);
    for (struct control_member *m = control.members; m; m = m->next)
        if (m->session == p)
            snprintf(m->vm, sizeof m->vm, "%s", vm);
    pthread_mutex_unlock(&control.lock);
}

/* Remove a session from the list, with the lock held. Return false if it is not there. */
static bool control_remove(const jsprof *p)
{
    struct control_member **at = &control.members, *m;
    while ((m = *at) != NULL && m->session != p)
        at = &m->next;
    if (!m)
        return false;
    if (m->recorder)
        control_end(m);
    *at = m->next;
    free(m);
    return true;
}

void jsp_control_leave(const jsprof *p)
{
    pthread_mutex_lock(&control.lock);
    bool hears = control_has_descriptors(), is_last = false;
    if (control_remove(p)) {
        is_last = control.quit = !control.members;
        if (hears)
            jsp_bell_ring(&control.bell);
        else if (is_last)
            control_abandon();
    }
    pthread_t thread = control.thread;
    pthread_mutex_unlock(&control.lock);
    if (!is_last || !hears)
        return;
    pthread_join(thread, NULL);
    pthread_mutex_lock(&control.lock);
    control_free();
    pthread_cond_broadcast(&control.ended);
    pthread_mutex_unlock(&control.lock);
}
