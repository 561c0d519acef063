/* serve/answer.h - what `jsprof serve` answers: in a process of its own, which may take its time.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SERVE_ANSWER_H
#define JSP_SERVE_ANSWER_H

#include "http.h"

enum { ANSWER_SECONDS = 10, ANSWER_MOST_SECONDS = 300, ANSWER_HZ = 100, ANSWER_MOST_HZ = 1000,
       ANSWER_SEND_SECONDS = 30 };

struct answer_path {
    const char *path, *means;
    void (*run)(const struct http_request *r, int client);
};

/* What there is; they end with a NULL path. */
extern const struct answer_path answer_paths[];

/* Answer a request, and end the process. */
void answer_request(const struct http_request *r, int client) __attribute__((noreturn));

#endif
