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
#include <sys/time.h>
#include <unistd.h>

enum { SERVE_REQUEST = 8192, SERVE_HEAD = 768, SERVE_PATIENCE_S = 10, SERVE_BACKLOG = 16 };

static volatile sig_atomic_t serve_is_over;

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

/* Send all bytes. Return false where the reader closed the connection or took too long. */
static bool serve_send(int fd, const char *at, size_t n)
{
    while (n > 0 && !serve_is_over) {
        ssize_t done = send(fd, at, n, MSG_NOSIGNAL);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        at += done;
        n -= (size_t)done;
    }
    return n == 0;
}

static bool serve_answer(const struct cli_serve *s, int fd, const char *status, size_t n)
{
    char head[SERVE_HEAD];
    int len = snprintf(head, sizeof head,
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
    return serve_send(fd, head, (size_t)len);
}

/* Read the whole head of a request as text. Return false where there is none. */
static bool serve_read(int fd, char request[SERVE_REQUEST])
{
    size_t n = 0;
    while (n < SERVE_REQUEST - 1) {
        ssize_t got = recv(fd, request + n, SERVE_REQUEST - 1 - n, 0);
        if (got < 0 && errno == EINTR && !serve_is_over)
            continue;
        if (got <= 0)
            return false;
        n += (size_t)got;
        request[n] = 0;
        if (strlen(request) < n)
            return false; /* a 0 byte */
        if (strstr(request, "\r\n\r\n"))
            return true;
    }
    return false;
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

static void serve_request(struct cli_serve *s)
{
    struct timeval patience = { .tv_sec = SERVE_PATIENCE_S };
    char request[SERVE_REQUEST];
    int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (!serve_read(fd, request))
        serve_answer(s, fd, "400 Bad Request", 0);
    else if (!serve_is_ours(s, request))
        serve_answer(s, fd, "403 Forbidden", 0);
    else if (serve_is(s, request, "OPTIONS"))
        serve_answer(s, fd, "204 No Content", 0);
    else if (serve_is(s, request, "HEAD"))
        serve_answer(s, fd, "200 OK", s->n);
    else if (!serve_is(s, request, "GET"))
        serve_answer(s, fd, "404 Not Found", 0);
    else if (serve_answer(s, fd, "200 OK", s->n) && serve_send(fd, s->body, s->n))
        s->n_read++;
    shutdown(fd, SHUT_WR);
    close(fd);
}

int cli_serve_run(struct cli_serve *s)
{
    static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction mine = { .sa_handler = serve_interrupted };
    struct pollfd wait = { .fd = s->fd, .events = POLLIN };
    sigset_t before, blocked;
    int err = 0;
    sigemptyset(&blocked);
    for (int i = 0; i < 3; i++) {
        sigaction(ends[i], &mine, NULL);
        sigaddset(&blocked, ends[i]);
    }
    /* Signals arrive only during the wait, so none is missed before it. */
    sigprocmask(SIG_BLOCK, &blocked, &before);
    while (!serve_is_over && !(s->is_once && s->n_read)) {
        int n = ppoll(&wait, 1, NULL, &before);
        if (n > 0) {
            sigprocmask(SIG_SETMASK, &before, &blocked);
            serve_request(s);
            sigprocmask(SIG_SETMASK, &blocked, NULL);
        } else if (n < 0 && errno != EINTR) {
            err = -errno;
            break;
        }
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(s->fd);
    return err;
}
