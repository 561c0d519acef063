/* control.h - what the tests of the control socket share: a host with one attached thread that
 * works, a peer, and the check of what it recorded.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_TEST_CONTROL_H
#define JSP_TEST_CONTROL_H

#include "signal/host.h"

#include <poll.h>
#include <sys/socket.h>

#include "control/socket.h"

enum { ANSWER_MS = 60000, WORK_MS = 100 };

static char folder[JSP_CONTROL_PATH];

/* -- The host: one thread of it is attached and works ------------------------------ */

enum { STALL_MS = 40, STALL_EVERY = 16 };
static _Atomic bool worker_has_turns; /* it works in turns of a loop, of which some take long */

struct worker {
    jsprof *prof;
    pthread_t thread;
    _Atomic bool ends;
    _Atomic uint32_t burnt; /* ms of CPU time */
    int err;
};

static inline void *worker_main(void *arg)
{
    struct worker *w = arg;
    jsprof_thread *me = NULL;
    w->err = jsprof_thread_attach(w->prof, "worker", &me);
    jsprof_push(me, "work", "work.c", 1);
    for (uint32_t i = 0; !atomic_load(&w->ends); i++) {
        bool has_turn = atomic_load(&worker_has_turns);
        uint32_t ms = has_turn && i % STALL_EVERY == 0 ? STALL_MS : 1;
        if (has_turn)
            jsprof_turn_begin(me);
        host_burn_ms(ms);
        if (has_turn)
            jsprof_turn_end(me);
        atomic_fetch_add(&w->burnt, ms);
    }
    jsprof_pop(me);
    if (me)
        jsprof_thread_detach(me);
    return NULL;
}

/* Wait until it has worked for so many milliseconds more. */
static inline void worker_wait(const struct worker *w, uint32_t ms)
{
    uint32_t before = atomic_load(&w->burnt);
    while (atomic_load(&w->burnt) - before < ms)
        poll(NULL, 0, 1);
}

static inline bool worker_begin(struct worker *w)
{
    jsprof_options options = host_options(1000, JSPROF_CLOCK_CPU);
    options.flags = JSPROF_CONTROL;
    options.vm = "a test";
    *w = (struct worker){ .err = -1 };
    if (!CHECK_EQ(jsprof_open(&w->prof, &options), 0) || !CHECK_EQ(jsprof_start(w->prof), 0))
        return false;
    pthread_create(&w->thread, NULL, worker_main, w);
    worker_wait(w, 1);
    return CHECK_EQ(w->err, 0);
}

static inline void worker_end(struct worker *w)
{
    atomic_store(&w->ends, true);
    pthread_join(w->thread, NULL);
    CHECK_EQ(jsprof_close(w->prof), 0);
}

/* -- A peer ---------------------------------------------------------------------- */

static inline int peer_open_name(const char *name)
{
    int at = jsp_control_folder_open(folder), fd = at;
    do /* EAGAIN: too many wait there */
        fd = at < 0 ? at : jsp_control_connect(at, name);
    while (fd == -EAGAIN && sched_yield() == 0);
    if (at >= 0)
        close(at);
    return fd;
}

static inline int peer_open(void)
{
    char name[JSP_CONTROL_NAME];
    snprintf(name, sizeof name, "%d.sock", (int)getpid());
    return peer_open_name(name);
}

static inline void peer_send(int peer, const char *text, int fd)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = { .bytes = { 0 } };
    struct iovec from = { (void *)(uintptr_t)text, strlen(text) };
    struct msghdr message = { .msg_iov = &from, .msg_iovlen = 1 };
    if (fd >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        control.head = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof fd),
                                         .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
        memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
    }
    ssize_t sent = sendmsg(peer, &message, MSG_NOSIGNAL);
    (void)sent;
}

/* Read until the other side closes, or until `until` was read. */
static inline bool peer_read(int peer, char *to, size_t size, const char *until)
{
    size_t n = 0;
    for (;;) {
        struct pollfd wait = { .fd = peer, .events = POLLIN };
        to[n] = 0;
        if (until && strstr(to, until))
            return true;
        if (n + 1 == size || poll(&wait, 1, ANSWER_MS) <= 0)
            return false;
        ssize_t got = recv(peer, to + n, size - 1 - n, 0);
        if (got <= 0)
            return !until;
        n += (size_t)got;
    }
}

/* Ask, and read the whole answer. */
static inline const char *peer_ask(const char *text, int fd)
{
    static char answer[4096];
    int peer = peer_open();
    strcpy(answer, "");
    if (!CHECK(peer >= 0))
        return answer;
    peer_send(peer, text, fd);
    CHECK(peer_read(peer, answer, sizeof answer, NULL));
    close(peer);
    return answer;
}

static inline bool begins(const char *text, const char *with)
{
    bool does = strncmp(text, with, strlen(with)) == 0;
    if (!does)
        printf("# it says: %s\n", text);
    return does;
}

static inline unsigned long long number(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* A capture has what the answer says, and its account adds up. */
static inline void check_capture(int fd, const char *answer)
{
    struct host h = { .fd = fd };
    CHECK_EQ(number(answer, " expirations="), number(answer, " kept=") + number(answer, " lost="));
    if (!host_load(&h))
        return;
    CHECK(h.profile.samples > 0);
    CHECK_EQ(h.profile.samples, number(answer, " samples="));
    CHECK_EQ(h.profile.weight, number(answer, " kept="));
    CHECK_EQ(h.profile.account.n_threads, 1);
    if (h.profile.account.n_threads == 1) {
        const struct jsp_account_thread *t = &h.profile.account.threads[0];
        uint64_t sum = t->kept + jsp_losses_sum(t->lost);
        CHECK_EQ(t->expirations, number(answer, " expirations="));
        CHECK_EQ(t->expirations, sum);
    }
    CHECK(h.read.end_time != 0);
    jsp_profile_free(&h.profile);
    jsp_read_close(&h.read);
}

/* Begin a recording without an end. */
static inline int record_begin(const char *how, int fd)
{
    char line[128], answer[1024];
    int peer = peer_open();
    snprintf(line, sizeof line, "jsprof 1 record ms=0 %s\n", how);
    peer_send(peer, line, fd);
    CHECK(peer_read(peer, answer, sizeof answer, "ok\n"));
    return peer;
}

/* End it, and check the capture. */
static inline void record_end(int peer, int fd)
{
    char answer[1024];
    peer_send(peer, "jsprof 1 stop\n", -1);
    CHECK(peer_read(peer, answer, sizeof answer, NULL));
    CHECK(begins(answer, "done "));
    check_capture(fd, answer);
    close(peer);
}

static inline void record_once(const struct worker *w, const char *how)
{
    int fd = memfd_create("capture", MFD_CLOEXEC);
    int peer = record_begin(how, fd);
    worker_wait(w, WORK_MS);
    record_end(peer, fd);
    close(fd);
}

/* Run the cases with a folder for sockets of their own. */
static inline int control_in_folder(void (*cases)(void))
{
    char runtime[] = "/tmp/control_test.XXXXXX";
    if (!mkdtemp(runtime))
        return 1;
    setenv("XDG_RUNTIME_DIR", runtime, 1);
    jsp_control_folder(folder, 0, runtime);
    cases();
    rmdir(folder);
    rmdir(runtime);
    return DONE();
}

#endif
