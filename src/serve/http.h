/* serve/http.h - the head of an HTTP request, read from bytes that nobody trusts, and the head of
 * the answer.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SERVE_HTTP_H
#define JSP_SERVE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HTTP_MOST = 8192, HTTP_WORD = 256, HTTP_HEAD = 512 };

struct http_request {
    char path[HTTP_WORD];  /* decoded; without the query */
    char query[HTTP_WORD]; /* as it came */
    char host[HTTP_WORD];  /* of the target, else of the Host header; "": there is none */
    char token[HTTP_WORD]; /* of an Authorization header with a bearer; or of the query */
    bool is_head;          /* HEAD: an answer has no body */
    bool has_host;         /* a Host header, even an empty one */
    bool needs_host;       /* it is HTTP/1.1 or later */
    bool is_absolute;      /* the target has a host: "GET http://host/path" */
};

/* Read a request. Return 0 if its head is not whole yet, 200 if it is, or the status of the answer
 * that refuses it. At most HTTP_MOST bytes are a request. */
int http_read(struct http_request *out, const char *bytes, size_t n);

/* Copy the decoded value of a key of the query. Return false if it is not there,
 * is too long, or has a byte that is no printable ASCII. */
bool http_value(const struct http_request *r, const char *key, char *out, size_t size);

/* Read a number of the query up to `most`; *out stays if it is not there. Return false if it is no
 * such number. */
bool http_number(const struct http_request *r, const char *key, uint32_t most, uint32_t *out);

/* Does the request name this machine's loopback, or `name` (NULL: no other)? Any port. */
bool http_is_local(const struct http_request *r, const char *name);

/* Compare without telling by the time how much is equal. */
bool http_is_token(const char *given, const char *token);

/* Write the head of an answer. Return its length. */
struct http_answer {
    int status;
    const char *type; /* of the body */
    size_t n;         /* bytes of the body */
    const char *processes; /* a header of a profile: who is in it; NULL: none */
};
int http_head(char out[HTTP_HEAD], const struct http_answer *a);

/* Return the words for a status. */
const char *http_reason(int status);

#endif
