/* serve/fleet.c - see fleet.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "fleet.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    FLEET_LATE_MS = 2000, /* wait so long for processes after the end */
    FLEET_APART_MS = 3,   /* between the ends of two processes, which need a processor for it ... */
    FLEET_PART = 8,       /* ... but they have all together this part of the window at most */
    FLEET_PATH = 40,
};

static int64_t fleet_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* -- Recording ------------------------------------------------------------------- */

static const struct serve_session *fleet_session(const struct serve_process *p)
{
    for (uint32_t i = 0; i < p->n_sessions; i++)
        if (strcmp(p->sessions[i].state, "ready") == 0)
            return &p->sessions[i];
    return NULL;
}

/* Ask one process; its answer is read later, so that all begin at about the same time. Return 0 or
 * a negative errno. */
static int fleet_begin(struct fleet_host *h, const struct serve_process *p,
                        const struct serve_session *s, const struct fleet_ask *ask, int64_t ms)
{
    char line[160];
    snprintf(h->host, sizeof h->host, "%s", p->host);
    snprintf(h->vm, sizeof h->vm, "%s", s->vm);
    h->is = (struct jsp_export_host){ .recorded = p->own_pid, .pid = p->pid };
    h->fd = memfd_create("jsprof", MFD_CLOEXEC);
    if (h->fd < 0)
        return -errno;
    snprintf(line, sizeof line, "jsprof 1 record session=%u ms=%u hz=%u clock=%s looker=1 "
             "compact=1", (unsigned)s->number, (unsigned)ms, (unsigned)ask->hz, ask->clock);
    int err = serve_begin(&h->talk, p, line, h->fd);
    if (err)
        close(h->fd);
    return err;
}

static int fleet_ask_all(struct fleet *f, const struct fleet_ask *ask)
{
    struct serve_list list;
    int64_t until = fleet_now_ms() + ask->ms;
    int err = 0;
    if (serve_find(&list) < 0)
        return -ENOMEM;
    f->until_ms = fleet_now_ms() + ask->ms / 2; /* at least, if one did not answer for long */
    f->until_ms = f->until_ms > until ? f->until_ms : until;
    f->at = calloc((size_t)list.n + 1, sizeof *f->at);
    for (uint32_t i = 0; f->at && i < list.n && err != -EMFILE && err != -ENFILE; i++) {
        const struct serve_process *p = &list.at[i];
        const struct serve_session *s = fleet_session(p);
        if ((ask->pid && p->pid != ask->pid) || (ask->host && strcmp(p->host, ask->host) != 0))
            continue;
        int64_t ms = f->until_ms - fleet_now_ms() + FLEET_LATE_MS; /* if nobody ends it before */
        err = s ? fleet_begin(&f->at[f->n], p, s, ask, ms > 1 ? ms : 1) : 0;
        f->n += s && !err;
        f->busy += !s && p->n_sessions;
    }
    f->asked = f->n;
    serve_free(&list);
    return !f->at ? -ENOMEM : err == -EMFILE || err == -ENFILE ? err : 0;
}

/* Take what one process says. */
static void fleet_hear(struct fleet *f, struct fleet_host *h)
{
    char line[SERVE_LINE];
    int got = serve_line(&h->talk, line, 0);
    if (got == -ETIME)
        return;
    if (got == 1 && strcmp(line, "ok") == 0) {
        h->has_begun = true;
        return;
    }
    f->busy += got == 1 && !h->has_begun && serve_error(line);
    serve_end(&h->talk); /* done, an error, or the process has ended */
}

/* End the recordings that are to end by now, in the order in which they began: if all ended at
 * once, the answer would wait until each has had a processor. Return how long to wait for the next
 * one. */
static int64_t fleet_stop(struct fleet *f, const struct fleet_ask *ask)
{
    int64_t n = f->n, now = fleet_now_ms(), span = n * FLEET_APART_MS;
    span = span < ask->ms / FLEET_PART ? span : ask->ms / FLEET_PART;
    for (; f->n_stopped < f->n; f->n_stopped++) {
        int64_t at = f->until_ms - (n - 1 - f->n_stopped) * span / n;
        if (at > now)
            return at - now;
        if (f->at[f->n_stopped].talk.fd >= 0)
            serve_send(&f->at[f->n_stopped].talk, "jsprof 1 stop");
    }
    return f->until_ms + FLEET_LATE_MS - now;
}

/* Wait until all have ended, until the time is over, or until the client has gone. */
static int fleet_wait(struct fleet *f, const struct fleet_ask *ask)
{
    struct pollfd *wait = calloc((size_t)f->n + 1, sizeof *wait);
    int64_t left;
    uint32_t open = f->n;
    int err = wait ? 0 : -ENOMEM;
    while (!err && open && (left = fleet_stop(f, ask)) > 0) {
        open = 0;
        for (uint32_t i = 0; i < f->n; i++)
            if (f->at[i].talk.fd >= 0)
                wait[open++] = (struct pollfd){ .fd = f->at[i].talk.fd, .events = POLLIN };
        wait[open] = (struct pollfd){ .fd = ask->client, .events = POLLRDHUP };
        if (open && poll(wait, open + 1, (int)left) < 0 && errno != EINTR)
            err = -errno;
        if (wait[open].revents)
            err = -ECANCELED;
        for (uint32_t i = 0; i < f->n; i++)
            if (f->at[i].talk.fd >= 0)
                fleet_hear(f, &f->at[i]);
    }
    free(wait);
    return err;
}

int fleet_record(struct fleet *f, const struct fleet_ask *ask)
{
    *f = (struct fleet){ .n = 0 };
    int err = fleet_ask_all(f, ask);
    if (!err)
        err = fleet_wait(f, ask);
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        serve_end(&f->at[i].talk); /* ends the recording of one that is late */
        if (f->at[i].has_begun)
            f->at[n++] = f->at[i];
        else
            close(f->at[i].fd);
    }
    f->n = n;
    return err || n ? err : f->busy ? -EBUSY : -ENOENT;
}

/* -- Reading ----------------------------------------------------------------------- */

static int fleet_open(jsprof_reader **out, const jsprof_read_input *inputs, size_t n,
                      uint32_t flags)
{
    const jsprof_read_options options = { .size = sizeof options, .inputs = inputs,
                                          .n_inputs = n, .flags = flags };
    return jsprof_read_open(out, &options, NULL);
}

/* A capture of a process that was killed early may be no capture yet: it is left out. */
static bool fleet_is_whole(const jsprof_read_input *input)
{
    jsprof_reader *alone = NULL;
    bool is_whole = fleet_open(&alone, input, 1, 0) == 0;
    jsprof_read_close(alone);
    return is_whole;
}

int fleet_read(struct fleet *f, jsp_export_write *format)
{
    uint32_t flags = format == jsp_export_otlp ? JSPROF_READ_TRACES : 0;
    jsprof_read_input *inputs = calloc((size_t)f->n + 1, sizeof *inputs);
    char(*paths)[FLEET_PATH] = calloc((size_t)f->n + 1, sizeof *paths);
    const jsprof_read_filter all = { .size = sizeof all, .flags = JSPROF_READ_IDLE };
    uint32_t n = 0;
    f->hosts = calloc((size_t)f->n + 1, sizeof *f->hosts);
    int err = inputs && paths && f->hosts ? 0 : -ENOMEM;
    for (uint32_t i = 0; !err && i < f->n; i++) {
        snprintf(paths[i], sizeof paths[i], "/proc/self/fd/%d", f->at[i].fd);
        inputs[n] = (jsprof_read_input){ .size = sizeof *inputs, .path = paths[i] };
        if (f->n > 1 && !fleet_is_whole(&inputs[n]))
            continue;
        f->hosts[n] = f->at[i].is;
        f->hosts[n].host = f->at[i].host;
        f->hosts[n++].vm = f->at[i].vm;
    }
    if (!err)
        err = n ? fleet_open(&f->reader, inputs, n, flags) : -ENODATA;
    if (!err)
        err = jsprof_read_select(f->reader, &all, NULL);
    f->n_hosts = n;
    free(inputs);
    free(paths);
    return err;
}

int fleet_write(struct fleet *f, jsp_export_write *format, struct jsp_bytes *out)
{
    struct jsp_sink *sink = malloc(sizeof *sink);
    if (!sink)
        return -ENOMEM;
    jsp_sink_init(sink, jsp_bytes_write, out);
    struct jsp_export e = { .profile = &f->reader->profile,
                            .select = &f->reader->choice.select,
                            .out = sink, .title = "jsprof", .hosts = f->hosts,
                            .n_hosts = f->n_hosts, .may_be_empty = true };
    int err = format(&e), flushed = jsp_sink_flush(sink);
    free(sink);
    return err ? err : flushed;
}

void fleet_free(struct fleet *f)
{
    jsprof_read_close(f->reader);
    for (uint32_t i = 0; i < f->n; i++)
        close(f->at[i].fd);
    free(f->at);
    free(f->hosts);
    *f = (struct fleet){ .n = 0 };
}
