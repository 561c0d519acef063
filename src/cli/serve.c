/* cli/serve.c - one file over HTTP, to this machine alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include "serve.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    SERVE_REQUEST = 8192,
    SERVE_HEAD = 768,
    SERVE_PATIENCE_MS = 10000,
    SERVE_BACKLOG = 16,
    SERVE_PEERS = 32
};

struct serve_peer {
    int fd;        /* -1: free */
    size_t n;      /* bytes of the request that have arrived */
    size_t n_head; /* bytes of the answer's head; 0: there is no answer yet */
    size_t sent;   /* bytes of head and body */
    int64_t until; /* then it is closed; progress of the answer moves it */
    bool has_body;
    char request[SERVE_REQUEST], head[SERVE_HEAD];
};

static volatile sig_atomic_t serve_is_over;

static int64_t serve_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

static void serve_interrupted(int signo)
{
    (void)signo;
    serve_is_over = 1;
}

int cli_serve_open(struct cli_serve *s, uint16_t port)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port) };
    socklen_t len = sizeof at;
    uint64_t token[2];
    int on = 1;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (getrandom(token, sizeof token, 0) != sizeof token)
        return -EIO;
    snprintf(s->path, sizeof s->path, "/%016" PRIx64 "%016" PRIx64 "/%.60s", token[0],
             token[1], s->name);
    s->n_read = 0;
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->fd < 0)
        return -errno;
    setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(s->fd, (struct sockaddr *)&at, sizeof at) < 0 ||
        listen(s->fd, SERVE_BACKLOG) < 0 ||
        getsockname(s->fd, (struct sockaddr *)&at, &len) < 0) {
        int err = -errno;
        close(s->fd);
        return err;
    }
    s->port = ntohs(at.sin_port);
    return 0;
}

static void serve_answer(const struct cli_serve *s, struct serve_peer *p, const char *status,
                         size_t n)
{
    int len = snprintf(p->head, sizeof p->head,
                       "HTTP/1.1 %s\r\n"
                       "Content-Type: application/json\r\n"
                       "Content-Length: %zu\r\n"
                       "Access-Control-Allow-Origin: %.200s\r\n"
                       "Access-Control-Allow-Methods: GET\r\n"
                       "Access-Control-Allow-Private-Network: true\r\n"
                       "Vary: Origin\r\n"
                       "X-Content-Type-Options: nosniff\r\n"
                       "Cache-Control: no-store\r\n"
                       "Connection: close\r\n\r\n",
                       status, n, s->origin);
    p->n_head = (size_t)len;
}

/* Return true where the request names our own host. A page elsewhere can let its own name
 * point here. */
static bool serve_is_ours(const struct cli_serve *s, const char *request)
{
    static const char *const names[] = { "127.0.0.1", "localhost" };
    char want[48];
    const char *host = strcasestr(request, "\r\nhost:");
    if (!host)
        return false;
    host += strlen("\r\nhost:");
    host += strspn(host, " \t");
    for (int i = 0; i < 2; i++) {
        int len = snprintf(want, sizeof want, "%s:%u", names[i], s->port);
        if (strncasecmp(host, want, (size_t)len) == 0 && strchr(" \r", host[len]))
            return true;
    }
    return false;
}

static bool serve_is(const struct cli_serve *s, const char *request, const char *method)
{
    size_t m = strlen(method), n = strlen(s->path);
    return strncmp(request, method, m) == 0 && request[m] == ' ' &&
           strncmp(request + m + 1, s->path, n) == 0 && request[m + 1 + n] == ' ';
}

static void serve_request(const struct cli_serve *s, struct serve_peer *p)
{
    if (!serve_is_ours(s, p->request)) {
        serve_answer(s, p, "403 Forbidden", 0);
    } else if (serve_is(s, p->request, "OPTIONS")) {
        serve_answer(s, p, "204 No Content", 0);
    } else if (serve_is(s, p->request, "HEAD")) {
        serve_answer(s, p, "200 OK", s->n);
    } else if (!serve_is(s, p->request, "GET")) {
        serve_answer(s, p, "404 Not Found", 0);
    } else {
        serve_answer(s, p, "200 OK", s->n);
        p->has_body = true;
    }
}

/* Read what has arrived. Prepare the answer once the head of the request is whole, or can not
 * become one. */
static void serve_receive(const struct cli_serve *s, struct serve_peer *p)
{
    ssize_t got = recv(p->fd, p->request + p->n, SERVE_REQUEST - 1 - p->n, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got > 0)
        p->n += (size_t)got;
    p->request[p->n] = 0;
    bool is_bad = got <= 0 || strlen(p->request) < p->n; /* a 0 byte */
    if (!is_bad && strstr(p->request, "\r\n\r\n"))
        serve_request(s, p);
    else if (is_bad || p->n == SERVE_REQUEST - 1)
        serve_answer(s, p, "400 Bad Request", 0);
}

/* Send what the socket takes. Return false at the end of the answer or of the connection. */
static bool serve_send(struct cli_serve *s, struct serve_peer *p)
{
    const char *body = s->body;
    size_t all = p->n_head + (p->has_body ? s->n : 0);
    while (p->sent < all) {
        bool is_head = p->sent < p->n_head;
        const char *at = is_head ? p->head + p->sent : body + (p->sent - p->n_head);
        ssize_t done = send(p->fd, at, (is_head ? p->n_head : all) - p->sent, MSG_NOSIGNAL);
        if (done < 0 && (errno == EAGAIN || errno == EINTR))
            return true;
        if (done <= 0)
            return false;
        p->sent += (size_t)done;
        p->until = serve_now_ms() + SERVE_PATIENCE_MS;
    }
    s->n_read += p->has_body;
    shutdown(p->fd, SHUT_WR);
    return false;
}

static void serve_close(struct serve_peer *p)
{
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
}

/* Where all places are taken, the connection that made no progress for longest is closed. */
static void serve_accept(const struct cli_serve *s, struct serve_peer *peers)
{
    struct serve_peer *p = peers;
    int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    for (int i = 1; i < SERVE_PEERS && p->fd >= 0; i++)
        if (peers[i].fd < 0 || peers[i].until < p->until)
            p = &peers[i];
    serve_close(p);
    *p = (struct serve_peer){ .fd = fd, .until = serve_now_ms() + SERVE_PATIENCE_MS };
}

static void serve_peer(struct cli_serve *s, struct serve_peer *p, short events)
{
    if (events && p->n_head == 0)
        serve_receive(s, p);
    if (p->until < serve_now_ms() || (p->n_head && !serve_send(s, p)))
        serve_close(p);
}

/* Wait for the next event of a connection, at most until the first one's time is over. */
static int serve_wait(const struct cli_serve *s, const struct serve_peer *peers,
                      struct pollfd *wait, const sigset_t *signals)
{
    int64_t first = INT64_MAX, now = serve_now_ms();
    for (int i = 0; i < SERVE_PEERS; i++) {
        const struct serve_peer *p = &peers[i];
        wait[i] = (struct pollfd){ .fd = p->fd, .events = p->n_head ? POLLOUT : POLLIN };
        if (p->fd >= 0 && p->until < first)
            first = p->until;
    }
    wait[SERVE_PEERS] = (struct pollfd){ .fd = s->fd, .events = POLLIN };
    int64_t left = first < now ? 0 : first - now + 1;
    struct timespec t = { .tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000 };
    return ppoll(wait, SERVE_PEERS + 1, first == INT64_MAX ? NULL : &t, signals);
}

int cli_serve_run(struct cli_serve *s)
{
    static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
    static struct serve_peer peers[SERVE_PEERS]; /* 300 KiB */
    struct sigaction mine = { .sa_handler = serve_interrupted }, old;
    struct pollfd wait[SERVE_PEERS + 1];
    sigset_t before, blocked;
    int err = 0;
    sigemptyset(&blocked);
    for (int i = 0; i < 3; i++) {
        sigaction(ends[i], &mine, &old);
        if (ends[i] == SIGHUP && old.sa_handler == SIG_IGN) /* nohup */
            sigaction(SIGHUP, &old, NULL);
        sigaddset(&blocked, ends[i]);
    }
    for (int i = 0; i < SERVE_PEERS; i++)
        peers[i].fd = -1;
    /* Signals arrive only during the wait, so none is missed before it. */
    sigprocmask(SIG_BLOCK, &blocked, &before);
    while (!serve_is_over && err == 0 && !(s->is_once && s->n_read)) {
        int n = serve_wait(s, peers, wait, &before);
        if (n < 0 && errno != EINTR)
            err = -errno;
        for (int i = 0; n >= 0 && i < SERVE_PEERS; i++)
            if (peers[i].fd >= 0)
                serve_peer(s, &peers[i], wait[i].revents);
        if (n > 0 && wait[SERVE_PEERS].revents)
            serve_accept(s, peers);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    for (int i = 0; i < SERVE_PEERS; i++)
        serve_close(&peers[i]);
    close(s->fd);
    return err;
}
