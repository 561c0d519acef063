/* serve/push_send.c - see push_send.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "push_send.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/open.h"
#include "remote.h"

enum {
    PUSH_LOOK_MS = 200,
    PUSH_FIRST_MS = 500, /* before the second try; then twice as long each time */
    PUSH_MOST_MS = 60000,
    PUSH_AGAIN_MS = 1000, /* before a child that was killed is begun again; then twice as long */
};

/* -- The process that records ----------------------------------------------------------- */

static int64_t push_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

static int push_begin(struct push *p)
{
    p->again_at = 0;
    p->child = fork();
    if (p->child == 0) {
        push_record(p);
        _exit(0);
    }
    return p->child > 0 ? 0 : -errno;
}

/* Say how the child has ended, and when another one begins: none, if it has done what it should, or
 * if it would put captures of a folder into the queue twice. */
static void push_ended(struct push *p, int status)
{
    char why[40];
    bool is_all = p->from || (p->windows && p->counts->windows >= p->windows);
    p->child = 0;
    if ((status == 0 && is_all) || remote_is_caught())
        return;
    uint32_t shift = p->deaths < 6 ? p->deaths : 6;
    int wait = PUSH_AGAIN_MS << shift;
    bool is_killed = WIFSIGNALED(status);
    snprintf(why, sizeof why, is_killed ? "was killed by signal %d" : "has ended with status %d",
             is_killed ? WTERMSIG(status) : WEXITSTATUS(status));
    p->counts->failed_windows++;
    p->deaths++;
    if (p->from) {
        cli_fail(p->from, "the process that reads it %s: the rest is not sent", why);
        return;
    }
    cli_fail(p->command, "the process that records %s: its window is lost; it begins again in %d s",
             why, wait / 1000);
    p->again_at = push_now_ms() + wait;
}

/* Return true while one records or will do so. */
static bool push_watch(struct push *p)
{
    int status;
    if (p->child > 0 && waitpid(p->child, &status, WNOHANG) == p->child)
        push_ended(p, status);
    if (p->again_at && push_now_ms() >= p->again_at) {
        if (p->kind != PUSH_FOLDER)
            queue_tidy(&p->queue);
        int err = push_begin(p);
        if (err) {
            cli_fail(p->command, "no process can record: %s", strerror(-err));
            p->again_at = push_now_ms() + PUSH_MOST_MS;
        }
    }
    return p->child > 0 || p->again_at;
}

/* -- Sending ------------------------------------------------------------------------------ */

/* A random part of the time, between a half and all of it. */
static int push_jitter(int ms)
{
    uint32_t random = 0;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
        random = (uint32_t)getpid() * 2654435761u;
    return ms / 2 + (int)(random % (uint32_t)(ms / 2 + 1));
}

/* Say that the engine begins to fail, or asks to wait for more than our longest time. */
static void push_fails(struct push *p, const char *why, int pause)
{
    uint32_t n = queue_waiting(&p->queue);
    if (!p->is_failing || pause > PUSH_MOST_MS)
        fprintf(stderr, "jsprof: push: the engine does not take them: %s: %" PRIu32
                " profile%s, %d.%d s until the next try\n", why, n, n == 1 ? " waits" : "s wait",
                pause / 1000, pause % 1000 / 100);
    p->is_failing = true;
}

static void push_works(struct push *p)
{
    uint32_t n = queue_waiting(&p->queue);
    if (p->is_failing)
        fprintf(stderr, "jsprof: push: the engine takes them again: %" PRIu32 " profile%s\n", n,
                n == 1 ? " waits" : "s wait");
    p->is_failing = false;
}

/* Say once what of the queue can not be sent. `got` is the answer of queue_take. */
static void push_complain(struct push *p, int got)
{
    char path[PATH_MAX + QUEUE_NAME];
    const struct queue *q = &p->queue;
    if (got < 0 && !p->is_unreadable)
        cli_fail(q->path, "%s: %s", *q->left ? "what is sent can not be removed, so nothing else is"
                                             : "the queue can not be read", queue_error(got));
    p->is_unreadable = got < 0;
    if (!*q->odd || p->has_odd)
        return;
    snprintf(path, sizeof path, "%s/%s", q->path, q->odd);
    cli_fail(path, "%s: not sent", q->odd_err ? strerror(-q->odd_err) : "is no regular file");
    p->has_odd = true;
}

/* Send a request. Return how long to wait before the next one, in ms; *tries counts those of this
 * request. */
static int push_request(struct push *p, const struct queue_taken *item, uint32_t *tries)
{
    struct post_answer answer = { .status = 0 };
    char why[64];
    const struct post post = { item->path, item->type, p->headers, item->file.at + item->body,
                               item->file.n - item->body };
    int err = post_send(&p->to, &post, &answer);
    bool is_taken = !err && answer.status < 300;
    /* a wrong token can be set right; a profile that is refused is refused again */
    bool is_refused = !err && answer.status >= 300 && answer.status < 500 &&
                      answer.status != 401 && answer.status != 403 && answer.status != 404 &&
                      answer.status != 408 && answer.status != 429;
    snprintf(why, sizeof why, "HTTP status %d", answer.status);
    if (is_taken || is_refused) {
        queue_remove(&p->queue, item->name);
        p->sent += is_taken;
        p->refused += is_refused;
        if (is_refused)
            cli_fail(p->command, "the engine refuses a profile: %s", why);
        push_works(p);
        *tries = 0;
        return 0;
    }
    uint32_t shift = *tries < 7 ? *tries : 7;
    int backoff = PUSH_FIRST_MS << shift;
    ++*tries;
    int pause = push_jitter(backoff < PUSH_MOST_MS ? backoff : PUSH_MOST_MS);
    if (!err && answer.retry_after * 1000 > (uint32_t)pause)
        pause = (int)answer.retry_after * 1000;
    push_fails(p, err ? strerror(-err) : why, pause);
    return pause;
}

/* Send the oldest request. Return how long to wait before the next one, in ms. */
static int push_one(struct push *p, uint32_t *tries)
{
    struct queue_taken item;
    int got = queue_take(&p->queue, &item, &p->lost);
    push_complain(p, got);
    p->is_drained = got != 1;
    int pause = got == 1 ? push_request(p, &item, tries) : PUSH_LOOK_MS;
    jsp_bytes_free(&item.file);
    return pause;
}

int push_send(struct push *p)
{
    uint32_t tries = 0;
    int pause = 0, err = push_begin(p);
    if (err)
        return cli_fail(p->command, "%s", strerror(-err));
    while (!remote_is_caught()) {
        bool is_recording = push_watch(p);
        if (p->kind == PUSH_FOLDER)
            pause = PUSH_LOOK_MS;
        else if (!pause)
            pause = push_one(p, &tries);
        if (!is_recording && (p->kind == PUSH_FOLDER || p->is_drained))
            break;
        int step = pause < PUSH_LOOK_MS ? pause : PUSH_LOOK_MS;
        if (step && poll(NULL, 0, step) == 0)
            pause -= step;
    }
    if (p->child > 0) {
        kill(p->child, SIGTERM);
        waitpid(p->child, NULL, 0);
    }
    return CLI_OK;
}
