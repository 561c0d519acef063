/* control/peer.h - one connection to the control socket: the line that it sends, the descriptor
 * that it passes, the lines that it gets.
 *
 * Nothing waits for a peer. One that sends no whole line in time, sends too much, or does not
 * read its answer, is closed. Only the listening thread uses these.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CONTROL_PEER_H
#define JSP_CONTROL_PEER_H

#include <stdarg.h>

#include "request.h"

enum { JSP_PEER_PATIENCE_MS = 10000, JSP_PEER_WORD = 3 * 200 };

struct jsp_peer {
    int fd;     /* owned; -1: free */
    int passed; /* owned: the descriptor that came with the line; -1: none */
    uint32_t n; /* bytes of `line` */
    uint64_t until; /* on CLOCK_MONOTONIC: then it is closed, or its recording ends */
    void *records;  /* borrowed: what it records; NULL: nothing */
    bool once;      /* the recording ends when each thread has a sample */
    char line[JSP_CONTROL_LINE];
};

enum jsp_peer_news {
    JSP_PEER_WAITS,
    JSP_PEER_LINE,  /* there is a whole line */
    JSP_PEER_ENDED, /* the peer has closed the connection, or has sent too much */
};

/* Begin with a peer that has connected: take over its descriptor. It is closed at `until`. */
void jsp_peer_open(struct jsp_peer *peer, int fd, uint64_t until);

/* Close the connection and the descriptor that the peer passed. May be called again. */
void jsp_peer_close(struct jsp_peer *peer);

/* Did a descriptor come that can be written? */
bool jsp_peer_can_be_written(const struct jsp_peer *peer);

/* Read what has arrived. */
enum jsp_peer_news jsp_peer_receive(struct jsp_peer *peer);

/* Return true if a whole line has arrived. */
bool jsp_peer_has_line(const struct jsp_peer *peer);

/* Return the length of the first line, without its newline. */
uint32_t jsp_peer_line(const struct jsp_peer *peer);

/* Drop the first line. */
void jsp_peer_next(struct jsp_peer *peer);

/* Send a text of at most JSP_CONTROL_LINE bytes. A peer that does not take it is not waited
 * for. */
void jsp_peer_say(const struct jsp_peer *peer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Copy a text as one word: other bytes than letters, digits and some signs become %XX. Return
 * `to`. */
const char *jsp_peer_word(char to[JSP_PEER_WORD + 1], const char *text);

#endif
