/* serve/post.c - see post.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "post.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { POST_HEAD = 2048, POST_ANSWER = 1 << 16, POST_MOST_WAIT = 3600 };

bool post_address(const char *text, struct post_to *out)
{
    memset(out, 0, sizeof *out);
    if (strncmp(text, "unix:", 5) == 0) {
        out->is_unix = true;
        return text[5] == '/' &&
               snprintf(out->host, sizeof out->host, "%s", text + 5) < (int)sizeof out->host &&
               strlen(text + 5) < sizeof((struct sockaddr_un *)0)->sun_path;
    }
    if (strncmp(text, "http://", 7) != 0)
        return false;
    text += 7;
    bool is_v6 = *text == '[';
    const char *end = is_v6 ? strchr(text, ']') : text + strcspn(text, ":/");
    if (!end || end == text + is_v6)
        return false;
    int n = snprintf(out->host, sizeof out->host, "%.*s", (int)(end - text - is_v6), text + is_v6);
    end += is_v6;
    size_t digits = *end == ':' ? strspn(end + 1, "0123456789") : 0;
    if (n >= (int)sizeof out->host || (*end == ':' && (!digits || digits > 5)))
        return false;
    snprintf(out->port, sizeof out->port, "%.*s", digits ? (int)digits : 2,
             digits ? end + 1 : "80");
    end += digits ? digits + 1 : 0;
    if (*end && *end != '/')
        return false;
    n = snprintf(out->base, sizeof out->base, "%s", end);
    while (n > 0 && n < (int)sizeof out->base && out->base[n - 1] == '/')
        out->base[--n] = 0;
    return n < (int)sizeof out->base && !out->base[strcspn(out->base, " \r\n?#")];
}

/* -- The connection ------------------------------------------------------------- */

static int64_t post_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* Wait until the socket can be used. Return 0 or a negative errno. */
static int post_wait(int fd, short events, int64_t until)
{
    struct pollfd wait = { .fd = fd, .events = events };
    int64_t left;
    while ((left = until - post_now_ms()) > 0) {
        int n = poll(&wait, 1, (int)left);
        if (n > 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return -errno;
    }
    return -ETIMEDOUT;
}

static int post_connect(int family, const struct sockaddr *at, socklen_t len, int64_t until)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err = 0;
    socklen_t n = sizeof err;
    if (fd < 0)
        return -errno;
    if (connect(fd, at, len) < 0)
        err = errno == EINPROGRESS ? post_wait(fd, POLLOUT, until) : -errno;
    if (!err && getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &n) == 0)
        err = -err;
    if (err) {
        close(fd);
        return err;
    }
    return fd;
}

static int post_open(const struct post_to *to, int64_t until)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct addrinfo *list = NULL;
    int fd = -EHOSTUNREACH;
    if (to->is_unix) {
        struct sockaddr_un at = { .sun_family = AF_UNIX };
        memcpy(at.sun_path, to->host, strnlen(to->host, sizeof at.sun_path - 1));
        return post_connect(AF_UNIX, (struct sockaddr *)&at, sizeof at, until);
    }
    if (getaddrinfo(to->host, to->port, &hints, &list) != 0)
        return -EHOSTUNREACH;
    for (struct addrinfo *at = list; at && fd < 0; at = at->ai_next)
        fd = post_connect(at->ai_family, at->ai_addr, at->ai_addrlen, until);
    freeaddrinfo(list);
    return fd;
}

static int post_write(int fd, const void *bytes, size_t n, int64_t until)
{
    const char *at = bytes;
    while (n) {
        ssize_t sent = send(fd, at, n, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) {
            int err = post_wait(fd, POLLOUT, until);
            if (err)
                return err;
        } else if (sent < 0 && errno != EINTR) {
            return -errno;
        } else if (sent > 0) {
            at += sent;
            n -= (size_t)sent;
        }
    }
    return 0;
}

/* -- The answer ------------------------------------------------------------------- */

/* Return the status of a status line, or 0: it is none. */
static int post_status(const char *line, size_t n)
{
    if (n < 12 || memcmp(line, "HTTP/1.", 7) != 0 || line[8] != ' ')
        return 0;
    int status = 0;
    for (int i = 9; i < 12; i++) {
        if (line[i] < '0' || line[i] > '9')
            return 0;
        status = 10 * status + line[i] - '0';
    }
    return status >= 100 && status < 600 && (n == 12 || line[12] == ' ') ? status : 0;
}

/* Return the seconds of a Retry-After; 0: the line is another one, or has no number of seconds. */
static uint32_t post_seconds(const char *line, size_t n)
{
    static const char name[] = "retry-after:";
    uint32_t seconds = 0;
    size_t at = sizeof name - 1;
    if (n <= at || strncasecmp(line, name, at) != 0)
        return 0;
    for (; at < n && (line[at] == ' ' || line[at] == '\t'); at++)
        ;
    for (; at < n && line[at] >= '0' && line[at] <= '9'; at++)
        seconds = seconds < POST_MOST_WAIT ? 10 * seconds + (uint32_t)(line[at] - '0') : seconds;
    for (; at < n && (line[at] == ' ' || line[at] == '\t'); at++)
        ;
    if (at < n)
        return 0;
    return seconds < POST_MOST_WAIT ? seconds : POST_MOST_WAIT;
}

/* Read the lines that are there of an answer, after heads that say that it comes later (1xx).
 * Return 1: its head is whole; 0: there is more to read; or -EPROTO: it is none. The status is set
 * as soon as its line is there. */
static int post_read(const char *bytes, size_t n, struct post_answer *out)
{
    const char *at = bytes, *stop;
    bool is_in_head = false;
    *out = (struct post_answer){ .status = 0 };
    for (; (stop = memchr(at, '\n', n - (size_t)(at - bytes))) != NULL; at = stop + 1) {
        size_t len = (size_t)(stop - at);
        len -= len && at[len - 1] == '\r';
        if (!is_in_head) {
            int status = post_status(at, len);
            if (!status)
                return -EPROTO;
            out->status = status < 200 ? 0 : status;
            is_in_head = true;
        } else if (!len && out->status) {
            return 1;
        } else if (!len) {
            is_in_head = false;
        } else if (out->status && !out->retry_after) {
            out->retry_after = post_seconds(at, len);
        }
    }
    return 0;
}

/* Hear an answer. Its status line is one, whatever becomes of the rest of its head. */
static int post_hear(int fd, struct post_answer *out, int64_t until)
{
    char bytes[POST_ANSWER + 1];
    size_t n = 0;
    int err = 0;
    while (!err && post_read(bytes, n, out) == 0) {
        err = n == POST_ANSWER ? -EPROTO : post_wait(fd, POLLIN, until);
        ssize_t got = err ? 0 : recv(fd, bytes + n, POST_ANSWER - n, 0);
        if (got < 0 && errno != EINTR && errno != EAGAIN)
            err = -errno;
        else if (got == 0 && !err)
            err = n ? -EPROTO : -ECONNRESET;
        n += got > 0 ? (size_t)got : 0;
    }
    if (err) { /* it ends here, also in the middle of a line */
        bytes[n] = '\n';
        post_read(bytes, n + 1, out);
    }
    return out->status ? 0 : err ? err : -EPROTO;
}

int post_send(const struct post_to *to, const struct post *p, struct post_answer *out)
{
    char head[POST_HEAD];
    int64_t until = post_now_ms() + POST_SECONDS * 1000;
    int n = snprintf(head, sizeof head,
                     "POST %s%s HTTP/1.1\r\n"
                     "Host: %s%s%s\r\n"
                     "Content-Type: %s\r\n"
                     "Content-Length: %zu\r\n"
                     "User-Agent: jsprof\r\n"
                     "%s"
                     "Connection: close\r\n\r\n",
                     to->base, p->path, to->is_unix ? "localhost" : to->host,
                     to->is_unix ? "" : ":", to->is_unix ? "" : to->port, p->type, p->n,
                     p->headers);
    if (n >= (int)sizeof head)
        return -E2BIG;
    int fd = post_open(to, until);
    if (fd < 0)
        return fd;
    int err = post_write(fd, head, (size_t)n, until);
    if (!err)
        err = post_write(fd, p->body, p->n, until);
    /* One that refuses may answer before it has read everything. */
    int heard = post_hear(fd, out, until);
    close(fd);
    return heard && err ? err : heard;
}

size_t post_base64(char *out, const void *bytes, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                 "0123456789+/";
    const uint8_t *at = bytes;
    size_t len = 0;
    for (size_t i = 0; i < n; i += 3) {
        uint32_t three = (uint32_t)at[i] << 16 | (i + 1 < n ? (uint32_t)at[i + 1] << 8 : 0) |
                         (i + 2 < n ? at[i + 2] : 0u);
        out[len++] = digits[three >> 18];
        out[len++] = digits[three >> 12 & 63];
        out[len++] = i + 1 < n ? digits[three >> 6 & 63] : '=';
        out[len++] = i + 2 < n ? digits[three & 63] : '=';
    }
    out[len] = 0;
    return len;
}
