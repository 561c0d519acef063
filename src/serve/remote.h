/* serve/remote.h - recordings of another process: what record, dump, top and calls share.
 *
 * A failure is one line on standard error. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SERVE_REMOTE_H
#define JSP_SERVE_REMOTE_H

#include "cli/options.h"
#include "client.h"

struct remote_ask {
    const char *command;      /* for messages */
    pid_t pid;
    uint32_t session;         /* 0: the newest one */
    uint32_t hz, ms;          /* ms 0: until remote_stop */
    const char *clock;        /* "cpu" or "wall" */
    const char *source;       /* of a program that is started: see jsprof_options_set */
    bool looker, compact, once; /* looker 0: timers */
    uint32_t stall_us;        /* only turns that take longer; 0: what the process chose */
    bool tasks, alloc;        /* refuse it if it would have none of them */
    int fd;                   /* borrowed: the process writes there */
};

struct remote {
    struct serve_talk talk;
    char who[96]; /* "process 123 (gjs)", for messages */
    char done[SERVE_LINE]; /* the answer at the end */
    const char *keeps; /* the capture, for the message of a process that gives no answer, or NULL */
    int fd;            /* that of the request */
    int64_t until_ms;  /* when the answer must be there; 0: no limit */
};

/* Read the number of a process. Return false if the word is none, or names a file. */
bool remote_pid(const char *word, pid_t *pid);

/* Begin a recording. CLI_OK; or CLI_FAILED, which is reported, and nothing is open. */
int remote_begin(struct remote *r, const struct remote_ask *ask);

/* Send a request that is answered at once. CLI_OK, or CLI_FAILED, which is reported. */
int remote_order(const char *command, pid_t pid, const char *line);

/* Wait for the end, until SIGINT or SIGTERM, which end it. CLI_OK, or CLI_FAILED, which is
 * reported; *is_whole is false if the process ended first. A process that is stopped or hangs has
 * SERVE_ANSWER_MS after the end, and longer while its file grows; one more signal ends that. */
int remote_wait(struct remote *r, const char *command, bool *is_whole);

/* End it now. As remote_wait. */
int remote_stop(struct remote *r, const char *command, bool *is_whole);

/* Open a file without a name, which ends with its descriptor. Return it, or -1: reported. */
int remote_file(const char *command);

/* Write the path by which this process can read the open file. */
enum { REMOTE_PATH = 40 };
void remote_path(char to[REMOTE_PATH], int fd);

/* Let SIGINT and SIGTERM set a flag, without restarting calls. */
void remote_catch(void);

/* Return true if one of the signals has come. */
bool remote_is_caught(void);

#endif
