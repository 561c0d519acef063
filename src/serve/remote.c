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
#include <time.h>
#include <unistd.h>

#include "cli/open.h"
#include "control/request.h"

enum {
    REMOTE_LOOK_MS = 200,   /* between two looks at the time and the file */
    REMOTE_SIGNAL_MS = 1000 /* a shell and a terminal may send two signals for one reason */
};

static volatile sig_atomic_t remote_caught; /* how many */

static void remote_signal(int signo)
{
    (void)signo;
    if (remote_caught < 100)
        remote_caught++;
}

void remote_catch(void)
{
    struct sigaction action = { .sa_handler = remote_signal }, before;
    sigaction(SIGINT, &action, NULL); /* a shell ignores it for each job in the background */
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, &before);
    if (before.sa_handler == SIG_IGN) /* nohup */
        sigaction(SIGHUP, &before, NULL);
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
static void remote_missing(const char *command, pid_t pid)
{
    if (kill(pid, 0) < 0 && errno == ESRCH)
        cli_fail(command, "there is no process %d", (int)pid);
    else
        cli_fail(command, "process %d does not listen: it was not started with "
                 "JSPROF_CONTROL=1, was forked later, or belongs to another user (see jsprof "
                 "ps)", (int)pid);
}

/* Find the process, or say why it can not be asked. */
static const struct serve_process *remote_find(const struct serve_list *list, const char *command,
                                               pid_t pid)
{
    bool several;
    const struct serve_process *p = serve_process(list, pid, &several);
    if (several)
        cli_fail(command, "several processes have the number %d, each in another container: run "
                 "the command in that of the one that is meant", (int)pid);
    else if (!p)
        remote_missing(command, pid);
    return p;
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

static int64_t remote_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

int remote_begin(struct remote *r, const struct remote_ask *ask)
{
    struct serve_list list;
    if (serve_find(&list) < 0)
        return cli_fail(ask->command, "%s", strerror(ENOMEM));
    const struct serve_process *p = remote_find(&list, ask->command, ask->pid);
    int status = p ? remote_ask(r, p, ask) : CLI_FAILED;
    serve_free(&list);
    char path[REMOTE_PATH];
    remote_path(path, ask->fd);
    cli_call_file(path, r->who); /* where it is read, and has no name of its own */
    r->keeps = NULL;
    r->fd = ask->fd;
    r->until_ms = ask->ms ? remote_now_ms() + ask->ms + SERVE_ANSWER_MS : 0;
    return status;
}

int remote_order(const char *command, pid_t pid, const char *line)
{
    struct serve_list list;
    struct remote r = { .talk = { .fd = -1 } };
    if (serve_find(&list) < 0)
        return cli_fail(command, "%s", strerror(ENOMEM));
    const struct serve_process *p = remote_find(&list, command, pid);
    int err = p ? serve_begin(&r.talk, p, line, -1) : 0;
    snprintf(r.who, sizeof r.who, "process %d (%s)", (int)pid, p ? p->host : "");
    int status = !p    ? CLI_FAILED
                 : err ? cli_fail(command, "%s: %s", r.who, strerror(-err))
                       : remote_accepted(&r, command);
    serve_end(&r.talk);
    serve_free(&list);
    return status;
}

static off_t remote_size(const struct remote *r)
{
    struct stat is;
    return fstat(r->fd, &is) == 0 ? is.st_size : 0;
}

/* Ask for the end, which it must answer. */
static void remote_ask_end(struct remote *r)
{
    serve_send(&r->talk, "jsprof 1 stop");
    r->until_ms = remote_now_ms() + SERVE_ANSWER_MS;
}

/* Read the last line, as serve_line; -ETIME: the process does not answer. `seen` signals were there
 * when it was asked for the end, if it was. */
static int remote_last_line(struct remote *r, bool is_asked, sig_atomic_t seen)
{
    int64_t asked = remote_now_ms();
    off_t size = remote_size(r);
    int got;
    while ((got = serve_line(&r->talk, r->done, REMOTE_LOOK_MS)) == -ETIME || got == -EINTR) {
        int64_t now = remote_now_ms();
        off_t before = size;
        size = remote_size(r);
        if (remote_caught > seen && !is_asked) {
            is_asked = true;
            seen = remote_caught;
            asked = now;
            remote_ask_end(r);
        } else if (remote_caught > seen && now >= asked + REMOTE_SIGNAL_MS) {
            return -ETIME;
        } else if (size != before && r->until_ms && r->until_ms < now + SERVE_ANSWER_MS) {
            r->until_ms = now + SERVE_ANSWER_MS;
        } else if (r->until_ms && now >= r->until_ms) {
            return -ETIME;
        }
    }
    return got;
}

/* Say how the recording ended: `got` is that of its last line. */
static int remote_result(struct remote *r, const char *command, int got, bool *is_whole)
{
    serve_end(&r->talk);
    *is_whole = got == 1 && strncmp(r->done, "done ", 5) == 0;
    if (*is_whole)
        return CLI_OK;
    bool has_part = r->keeps && remote_size(r) > 0;
    if (got == 1 && serve_error(r->done))
        return cli_fail(command, "%s: %s%s%s%s", r->who, serve_error(r->done),
                        has_part ? "; " : "", has_part ? r->keeps : "",
                        has_part ? " holds what it had written" : "");
    if (got == 0) /* it ended; what it wrote last is in the file */
        return CLI_OK;
    if (got == -ETIME && r->keeps)
        return cli_fail(command, "%s: it gives no answer; %s holds what it had written", r->who,
                        r->keeps);
    return cli_fail(command, "%s: %s", r->who, remote_error(got));
}

int remote_wait(struct remote *r, const char *command, bool *is_whole)
{
    return remote_result(r, command, remote_last_line(r, false, 0), is_whole);
}

int remote_stop(struct remote *r, const char *command, bool *is_whole)
{
    sig_atomic_t seen = remote_caught;
    remote_ask_end(r);
    return remote_result(r, command, remote_last_line(r, true, seen), is_whole);
}
