/* serve/post.h - one HTTP POST to an engine: plain TCP or a Unix socket, with an end to each wait.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SERVE_POST_H
#define JSP_SERVE_POST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { POST_TEXT = 256, POST_SECONDS = 10 };

/* Where an engine is: "http://host[:port][/path]" or "unix:/path". */
struct post_to {
    char host[POST_TEXT]; /* or the path of the socket */
    char port[8];
    char base[POST_TEXT]; /* the path before ours, without a slash at its end */
    bool is_unix;
};

/* Read an address. Return false if it is none; https is none, since there is no TLS here. */
bool post_address(const char *text, struct post_to *out);

struct post {
    const char *path;    /* begins with a slash */
    const char *type;
    const char *headers; /* further lines, each with its CRLF; "" */
    const void *body;
    size_t n;
};

struct post_answer {
    int status;          /* of HTTP */
    uint32_t retry_after; /* seconds, at most an hour; 0: not said */
};

/* Send, and read the head of the answer, of which the status line is enough. Return 0; or a
 * negative errno: there was no answer. */
int post_send(const struct post_to *to, const struct post *p, struct post_answer *out);

/* Write base64 of bytes; `out` has room for 4 * (n + 2) / 3 + 1. Return the length. */
size_t post_base64(char *out, const void *bytes, size_t n);

#endif
