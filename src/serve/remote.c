/* serve/remote.c - see remote.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "remote.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/open.h"
#include "control/request.h"

static volatile sig_atomic_t remote_caught;

static void remote_signal(int signo)
{
    (void)signo;
    remote_caught = 1;
}

void remote_catch(void)
{
    struct sigaction action = { .sa_handler = remote_signal };
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

bool remote_is_caught(void)
{
    return remote_caught;
}

bool remote_pid(const char *word, pid_t *pid)
{
    struct stat st;
    char *end;
    errno = 0;
    long n = strtol(word, &end, 10);
    if (errno || *end || end == word || word[0] < '0' || word[0] > '9' || n < 1 ||
        n > INT32_MAX || stat(word, &st) == 0)
        return false;
    *pid = (pid_t)n;
    return true;
}

int remote_file(const char *command)
{
    int fd = memfd_create("jsprof", MFD_CLOEXEC);
    if (fd < 0)
        cli_fail(command, "no file in memory: %s", strerror(errno));
    return fd;
}

void remote_path(char to[REMOTE_PATH], int fd)
{
    snprintf(to, REMOTE_PATH, "/proc/self/fd/%d", fd);
}

/* Say why a process can not be asked. */
static int remote_missing(const char *command, pid_t pid)
{
    if (kill(pid, 0) < 0 && errno == ESRCH)
        return cli_fail(command, "there is no process %d", (int)pid);
    return cli_fail(command, "process %d does not listen: it was not started with "
                    "JSPROF_CONTROL=1, or belongs to another user (see jsprof ps)", (int)pid);
}

static const char *remote_error(int err)
{
    return err == -ETIME ? "it gives no answer" : err == 0 ? "it closed the connection"
                                                           : strerror(-err);
}

/* Take the first answer. */
static int remote_accepted(struct remote *r, const char *command)
{
    char line[SERVE_LINE];
    int got = serve_line(&r->talk, line, SERVE_ANSWER_MS);
    if (got != 1)
        return cli_fail(command, "%s: %s", r->who, remote_error(got));
    if (strcmp(line, "ok") == 0)
        return CLI_OK;
    const char *why = serve_error(line);
    if (why && strncmp(why, "word ", 5) == 0)
        why = "its library is older than this command, and knows no such request";
    return cli_fail(command, "%s: %s", r->who, why ? why : "its answer is not understood");
}

/* Write the request. What an older library does not know is in it only if it was asked for. */
static void remote_line(char to[JSP_CONTROL_LINE], const struct remote_ask *ask)
{
    char stalls[32] = "";
    if (ask->stall_us)
        snprintf(stalls, sizeof stalls, " stall_us=%u", (unsigned)ask->stall_us);
    snprintf(to, JSP_CONTROL_LINE,
             "jsprof 1 record session=%u ms=%u hz=%u clock=%s looker=%d compact=%d once=%d%s%s%s",
             (unsigned)ask->session, (unsigned)ask->ms, (unsigned)ask->hz, ask->clock, ask->looker,
             ask->compact, ask->once, stalls, ask->tasks ? " tasks=1" : "",
             ask->alloc ? " alloc=1" : "");
}

static int remote_ask(struct remote *r, const struct serve_process *p,
                      const struct remote_ask *ask)
{
    char line[JSP_CONTROL_LINE];
    snprintf(r->who, sizeof r->who, "process %d (%s)", (int)ask->pid, p->host);
    if (p->err)
        return cli_fail(ask->command, "process %d: %s", (int)ask->pid, remote_error(p->err));
    remote_line(line, ask);
    int err = serve_begin(&r->talk, p, line, ask->fd);
    if (err)
        return cli_fail(ask->command, "%s: %s", r->who, strerror(-err));
    int status = remote_accepted(r, ask->command);
    if (status)
        serve_end(&r->talk);
    return status;
}

int remote_begin(struct remote *r, const struct remote_ask *ask)
{
    struct serve_list list;
    if (serve_find(&list) < 0)
        return cli_fail(ask->command, "%s", strerror(ENOMEM));
    const struct serve_process *p = serve_process(&list, ask->pid);
    int status = p ? remote_ask(r, p, ask) : remote_missing(ask->command, ask->pid);
    serve_free(&list);
    return status;
}

int remote_order(const char *command, pid_t pid, const char *line)
{
    struct serve_list list;
    struct remote r = { .talk = { .fd = -1 } };
    if (serve_find(&list) < 0)
        return cli_fail(command, "%s", strerror(ENOMEM));
    const struct serve_process *p = serve_process(&list, pid);
    int err = p ? serve_begin(&r.talk, p, line, -1) : 0;
    snprintf(r.who, sizeof r.who, "process %d (%s)", (int)pid, p ? p->host : "");
    int status = !p    ? remote_missing(command, pid)
                 : err ? cli_fail(command, "%s: %s", r.who, strerror(-err))
                       : remote_accepted(&r, command);
    serve_end(&r.talk);
    serve_free(&list);
    return status;
}

int remote_wait(struct remote *r, const char *command, bool *is_whole)
{
    bool is_asked = false;
    int got;
    do {
        if (remote_caught && !is_asked) {
            is_asked = true;
            serve_send(&r->talk, "jsprof 1 stop");
        }
        got = serve_line(&r->talk, r->done, -1);
    } while (got == -EINTR);
    serve_end(&r->talk);
    *is_whole = got == 1 && strncmp(r->done, "done ", 5) == 0;
    if (*is_whole)
        return CLI_OK;
    if (got == 1 && serve_error(r->done))
        return cli_fail(command, "%s: %s", r->who, serve_error(r->done));
    if (got == 0) /* it ended; what it wrote last is in the file */
        return CLI_OK;
    return cli_fail(command, "%s: %s", r->who, remote_error(got));
}

int remote_stop(struct remote *r, const char *command, bool *is_whole)
{
    serve_send(&r->talk, "jsprof 1 stop");
    return remote_wait(r, command, is_whole);
}
