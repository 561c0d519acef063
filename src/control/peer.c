/* control/peer.c - see peer.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "image/descriptor.h"

enum { PEER_TEXT = 1024 };

void jsp_peer_open(struct jsp_peer *peer, int fd, uint64_t until)
{
    peer->fd = fd;
    peer->passed = -1;
    peer->n = 0;
    peer->until = until;
    peer->records = NULL;
    peer->once = false;
}

static void peer_drop(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void jsp_peer_close(struct jsp_peer *peer)
{
    peer_drop(&peer->fd);
    peer_drop(&peer->passed);
}

bool jsp_peer_can_be_written(const struct jsp_peer *peer)
{
    int flags = peer->passed < 0 ? -1 : fcntl(peer->passed, F_GETFL);
    return flags >= 0 && !(flags & O_PATH) && (flags & O_ACCMODE) != O_RDONLY;
}

/* musl's macro lets the compiler warn of a conversion of its own. */
static struct cmsghdr *peer_next(struct msghdr *message, struct cmsghdr *c)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
    return CMSG_NXTHDR(message, c);
#pragma GCC diagnostic pop
}

/* Keep the first descriptor that was passed, and close all others. */
static void peer_take(struct jsp_peer *peer, struct msghdr *message)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = peer_next(message, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < n; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            if (peer->passed < 0)
                peer->passed = jsp_descriptor_copy(fd); /* its number may be 0, 1 or 2 */
            close(fd);
        }
    }
}

enum jsp_peer_news jsp_peer_receive(struct jsp_peer *peer)
{
    union { /* aligned for the header */
        struct cmsghdr head;
        char bytes[CMSG_SPACE(4 * sizeof(int))];
    } control;
    struct iovec into = { peer->line + peer->n, sizeof peer->line - peer->n };
    struct msghdr message = { .msg_iov = &into, .msg_iovlen = 1, .msg_control = &control,
                              .msg_controllen = sizeof control };
    ssize_t got = recvmsg(peer->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return JSP_PEER_WAITS;
    if (got <= 0)
        return JSP_PEER_ENDED;
    peer_take(peer, &message);
    peer->n += (uint32_t)got;
    if (jsp_peer_has_line(peer))
        return JSP_PEER_LINE;
    return peer->n == sizeof peer->line ? JSP_PEER_ENDED : JSP_PEER_WAITS;
}

bool jsp_peer_has_line(const struct jsp_peer *peer)
{
    return memchr(peer->line, '\n', peer->n);
}

uint32_t jsp_peer_line(const struct jsp_peer *peer)
{
    const char *end = memchr(peer->line, '\n', peer->n);
    return end ? (uint32_t)(end - peer->line) : 0;
}

void jsp_peer_next(struct jsp_peer *peer)
{
    uint32_t used = jsp_peer_line(peer) + 1;
    if (used > peer->n)
        used = peer->n;
    peer->n -= used;
    memmove(peer->line, peer->line + used, peer->n);
}

void jsp_peer_say(const struct jsp_peer *peer, const char *format, ...)
{
    char text[PEER_TEXT];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n > 0)
        send(peer->fd, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1,
             MSG_NOSIGNAL | MSG_DONTWAIT);
}

const char *jsp_peer_word(char to[JSP_PEER_WORD + 1], const char *text)
{
    static const char digits[] = "0123456789ABCDEF";
    char *at = to;
    for (; *text && at + 3 <= to + JSP_PEER_WORD; text++) {
        unsigned char c = (unsigned char)*text;
        if (c > ' ' && c < 0x7F && c != '%') {
            *at++ = (char)c;
        } else {
            *at++ = '%';
            *at++ = digits[c >> 4];
            *at++ = digits[c & 15];
        }
    }
    *at = 0;
    return to;
}
