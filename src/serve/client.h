/* serve/client.h - finds the processes that listen on a control socket, and talks to them.
 *
 * A process may hang or die at any moment: each wait has an end. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SERVE_CLIENT_H
#define JSP_SERVE_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { SERVE_TEXT = 256, SERVE_LINE = 1024, SERVE_ANSWER_MS = 5000 };

struct serve_session {
    uint32_t number, threads, hz;
    char state[16], clock[8];
    char vm[64], path[SERVE_TEXT];
};

/* A process that listens, or that should. */
struct serve_process {
    pid_t pid;       /* as we number it; if it has no number here, own_pid */
    pid_t own_pid;   /* as it numbers itself */
    bool is_elsewhere; /* it has no number here: it is in another container */
    int64_t since;   /* seconds since 1970 */
    int err;         /* it gave no answer: a negative errno */
    int fd;          /* while it is asked */
    char host[64], version[16];
    struct serve_session *sessions; /* owned; the newest first */
    uint32_t n_sessions;
    char folder[SERVE_TEXT], name[64]; /* its socket */
};

struct serve_list {
    struct serve_process *at; /* owned */
    uint32_t n;
};

/* Ask all processes of this user. Sockets that nobody listens on are removed. Return 0 or
 * -ENOMEM. */
int serve_find(struct serve_list *out);

/* Free the list. */
void serve_free(struct serve_list *list);

/* Find the process of that number, in the list; one that has it here goes before one that has it in
 * another container. NULL: there is none, or *several of other containers have it. */
const struct serve_process *serve_process(const struct serve_list *list, pid_t pid,
                                          bool *several);

/* A conversation. */
struct serve_talk {
    int fd; /* owned; -1: none */
    uint32_t n;
    char bytes[SERVE_LINE];
};

/* Connect to a process and send one request, a line without its newline, with a descriptor
 * (-1: none). Return 0 or a negative errno. */
int serve_begin(struct serve_talk *talk, const struct serve_process *process, const char *line,
                int fd);

/* Send one more line to the same process. Return 0 or a negative errno. */
int serve_send(const struct serve_talk *talk, const char *line);

/* Read one line into `line`, without its newline. Wait until it comes, `ms` at most, or for ever
 * if below 0. Return 1, 0 at the end of the conversation, -ETIME, -EINTR, or another negative
 * errno. */
int serve_line(struct serve_talk *talk, char line[SERVE_LINE], int ms);

/* End the conversation. May be called again. */
void serve_end(struct serve_talk *talk);

/* Return the text of an "error N TEXT" line, or NULL. */
const char *serve_error(const char *line);

/* Read "key=123" in a line. */
uint64_t serve_number(const char *line, const char *key);

#endif
