/* serve/fleet.c - see fleet.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "fleet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "remote.h"

enum {
    FLEET_LOOK_MS = 1000, /* between two looks whether a signal ends the command */
    FLEET_LATE_MS = 2000, /* wait so long for processes after the end */
    FLEET_APART_MS = 3,   /* between the ends of two processes, which need a processor for it ... */
    FLEET_PART = 8,       /* ... but they have all together this part of the window at most */
    FLEET_LATER_MS = 30,  /* one that begins late ends so much later at most */
    FLEET_READS = 2,      /* captures that are read in a millisecond. All end so much earlier, */
    FLEET_READ_PART = 32, /* but by this part of the window at most */
    FLEET_EVENTS = 64,
    FLEET_PATH = 40,
};

static const char *const fleet_words[FLEET_ABSENCES][2] = {
    [FLEET_PRESENT] = { "present", "" },
    [FLEET_IDLE] = { "idle", "no sample" },
    [FLEET_MISSED] = { "missed", "all samples lost" },
    [FLEET_BUSY] = { "busy", "recorded by another" },
    [FLEET_SILENT] = { "silent", "no answer" },
};

static int64_t fleet_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* -- Who is not there ------------------------------------------------------------- */

/* There is room for each process that listens. */
static void fleet_miss(struct fleet *f, pid_t pid, enum fleet_absence why)
{
    f->absent[f->n_absent++] = (struct fleet_absent){ pid, why };
}

static uint32_t fleet_count(const struct fleet *f, enum fleet_absence why)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n_absent; i++)
        n += f->absent[i].why == why;
    return n;
}

const char *fleet_counts(char out[FLEET_COUNTS], const struct fleet *f)
{
    int n = snprintf(out, FLEET_COUNTS, "%s=%" PRIu32, *fleet_words[FLEET_PRESENT],
                     f->n_processes - f->n_absent);
    for (int why = FLEET_IDLE; why < FLEET_ABSENCES; why++)
        n += snprintf(out + n, FLEET_COUNTS - (size_t)n, " %s=%" PRIu32, *fleet_words[why],
                      fleet_count(f, (enum fleet_absence)why));
    return out;
}

/* Name those that are not in the profile. Return a text that the caller frees; NULL if all are
 * there. */
static char *fleet_comment(const struct fleet *f)
{
    size_t room = 128 + 16 * (size_t)f->n_absent + 32 * FLEET_ABSENCES, n;
    char *text = f->n_absent ? malloc(room) : NULL;
    if (!text)
        return NULL;
    n = (size_t)snprintf(text, room, "%" PRIu32 " of %" PRIu32 " processes are in the profile",
                         f->n_processes - f->n_absent, f->n_processes);
    for (int why = FLEET_IDLE; why < FLEET_ABSENCES; why++) {
        if (fleet_count(f, (enum fleet_absence)why))
            n += (size_t)snprintf(text + n, room - n, "; %s:", fleet_words[why][1]);
        for (uint32_t i = 0; i < f->n_absent; i++)
            if (f->absent[i].why == (enum fleet_absence)why)
                n += (size_t)snprintf(text + n, room - n, " %d", (int)f->absent[i].pid);
    }
    return text;
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

/* Ask one process, or note why that is not possible. Return -EMFILE or -ENFILE if there are no more
 * descriptors. */
static int fleet_ask_one(struct fleet *f, const struct serve_process *p,
                         const struct fleet_ask *ask)
{
    const struct serve_session *s = fleet_session(p);
    int64_t ms = ask->ms + FLEET_LATER_MS + FLEET_LATE_MS; /* if nobody ends it before */
    if (!s && !p->n_sessions && !p->err)
        return 0; /* it has nothing to record */
    f->n_processes++;
    int err = s ? fleet_begin(&f->at[f->n], p, s, ask, ms) : 0;
    if (s && !err)
        f->n++;
    else
        fleet_miss(f, p->pid, p->err || err ? FLEET_SILENT : FLEET_BUSY);
    return err == -EMFILE || err == -ENFILE ? err : 0;
}

static int fleet_ask_all(struct fleet *f, const struct fleet_ask *ask)
{
    struct serve_list list;
    int err = 0;
    if (serve_find(&list) < 0)
        return -ENOMEM;
    f->until_ms = fleet_now_ms() + ask->ms;
    f->at = calloc((size_t)list.n + 1, sizeof *f->at);
    f->absent = calloc((size_t)list.n + 1, sizeof *f->absent);
    err = f->at && f->absent ? 0 : -ENOMEM;
    for (uint32_t i = 0; !err && i < list.n; i++) {
        const struct serve_process *p = &list.at[i];
        if ((!ask->pid || p->pid == ask->pid) && (!ask->host || strcmp(p->host, ask->host) == 0))
            err = fleet_ask_one(f, p, ask);
    }
    serve_free(&list);
    return err;
}

/* Take all that one process says. */
static void fleet_hear(struct fleet_host *h)
{
    char line[SERVE_LINE];
    int got;
    while ((got = serve_line(&h->talk, line, 0)) == 1 && strcmp(line, "ok") == 0) {
        h->has_begun = true;
        h->begun_ms = fleet_now_ms();
    }
    if (got == -ETIME)
        return;
    h->is_refused = got == 1 && !h->has_begun && serve_error(line);
    h->has_ended = got == 1 && h->has_begun && !serve_error(line);
    h->samples = h->has_ended ? serve_number(line, "samples") : 0;
    h->lost = h->has_ended ? serve_number(line, "lost") : 0;
    serve_end(&h->talk); /* done, an error, or the process has ended */
}

static int64_t fleet_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Return when a recording is to end: a window after its begin. If all ended at once, the answer
 * would wait until each has had a processor, and then until all captures are read; so they end a
 * little earlier, the first ones most. */
static int64_t fleet_end(const struct fleet *f, uint32_t i, const struct fleet_ask *ask)
{
    int64_t span = fleet_least((int64_t)f->n * FLEET_APART_MS, ask->ms / FLEET_PART);
    int64_t read = fleet_least(f->n / FLEET_READS, ask->ms / FLEET_READ_PART);
    int64_t late = f->at[i].has_begun ? f->at[i].begun_ms + ask->ms - f->until_ms : 0;
    late = late < 0 || f->is_over ? 0 : fleet_least(late, FLEET_LATER_MS);
    return f->until_ms + late - read - (int64_t)(f->n - 1 - i) * span / f->n;
}

/* End the recordings that are to end by now. Return how long to wait for the next one. */
static int64_t fleet_stop(struct fleet *f, const struct fleet_ask *ask)
{
    int64_t now = fleet_now_ms(), next = INT64_MAX;
    for (uint32_t i = 0; i < f->n; i++) {
        struct fleet_host *h = &f->at[i];
        int64_t at = h->is_stopped ? INT64_MAX : fleet_end(f, i, ask);
        if (at <= now && h->talk.fd >= 0)
            serve_send(&h->talk, "jsprof 1 stop");
        h->is_stopped |= at <= now;
        next = at > now && at < next ? at : next;
    }
    return (next < INT64_MAX ? next : f->until_ms + FLEET_LATER_MS + FLEET_LATE_MS) - now;
}

/* Watch the connections of all processes, and the client's under the number of none of them. */
static int fleet_watch(const struct fleet *f, const struct fleet_ask *ask)
{
    int watch = epoll_create1(EPOLL_CLOEXEC), err = watch < 0 ? -errno : 0;
    for (uint32_t i = 0; i <= f->n && !err; i++) {
        struct epoll_event event = { i < f->n ? EPOLLIN : EPOLLRDHUP, { .u32 = i } };
        int fd = i < f->n ? f->at[i].talk.fd : ask->client;
        if (fd >= 0 && epoll_ctl(watch, EPOLL_CTL_ADD, fd, &event) < 0)
            err = -errno;
    }
    if (err && watch >= 0)
        close(watch);
    return err ? err : watch;
}

/* Wait for so long, and take what the processes say. Return -ECANCELED if the client has gone. */
static int fleet_listen(struct fleet *f, int watch, int64_t ms)
{
    struct epoll_event events[FLEET_EVENTS];
    int n = epoll_wait(watch, events, FLEET_EVENTS, (int)fleet_least(ms, FLEET_LOOK_MS));
    if (n < 0)
        return errno == EINTR ? 0 : -errno;
    for (int k = 0; k < n; k++) {
        uint32_t i = events[k].data.u32;
        if (i == f->n)
            return -ECANCELED;
        fleet_hear(&f->at[i]);
    }
    return 0;
}

static bool fleet_any_open(const struct fleet *f)
{
    bool any = false;
    for (uint32_t i = 0; i < f->n && !any; i++)
        any = f->at[i].talk.fd >= 0;
    return any;
}

/* Wait until all have ended, until the time is over, or until the client has gone. */
static int fleet_wait(struct fleet *f, const struct fleet_ask *ask)
{
    int watch = fleet_watch(f, ask), err = watch < 0 ? watch : 0;
    int64_t left;
    while (!err && fleet_any_open(f) && (left = fleet_stop(f, ask)) > 0) {
        err = fleet_listen(f, watch, left);
        if (remote_is_caught() && !f->is_over) {
            f->is_over = true;
            f->until_ms = fleet_least(fleet_now_ms(), f->until_ms);
        }
    }
    if (watch >= 0)
        close(watch);
    return err;
}

/* Why no process was recorded. */
static int fleet_none(const struct fleet *f)
{
    bool has_busy = fleet_count(f, FLEET_BUSY), has_silent = fleet_count(f, FLEET_SILENT);
    return has_busy && has_silent ? -EAGAIN
           : has_busy             ? -EBUSY
           : has_silent           ? -ETIME
                                  : -ENOENT;
}

int fleet_record(struct fleet *f, const struct fleet_ask *ask)
{
    *f = (struct fleet){ .n = 0 };
    int err = fleet_ask_all(f, ask);
    if (!err)
        err = fleet_wait(f, ask);
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        struct fleet_host *h = &f->at[i];
        serve_end(&h->talk); /* ends the recording of one that is late */
        if (h->has_begun) {
            f->at[n++] = *h;
            continue;
        }
        close(h->fd);
        fleet_miss(f, h->is.pid, h->is_refused ? FLEET_BUSY : FLEET_SILENT);
    }
    f->n = n;
    return err || n ? err : fleet_none(f);
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

/* Open all captures of `inputs`, which are those of f->hosts. If that fails, leave those out that
 * can not be read. */
static int fleet_open_all(struct fleet *f, jsprof_read_input *inputs, uint32_t flags)
{
    uint32_t n = 0;
    int err = f->n_hosts ? fleet_open(&f->reader, inputs, f->n_hosts, flags) : -ENODATA;
    if (!err || f->n_hosts < 2)
        return err;
    for (uint32_t i = 0; i < f->n_hosts; i++) {
        if (!fleet_is_whole(&inputs[i]))
            continue;
        inputs[n] = inputs[i];
        f->hosts[n++] = f->hosts[i];
    }
    f->n_hosts = n;
    return n ? fleet_open(&f->reader, inputs, n, flags) : -ENODATA;
}

static bool fleet_has_samples(const struct jsp_profile *p, int32_t recorded)
{
    bool has = false;
    for (uint32_t i = 0; i < p->n_threads && !has; i++)
        has = p->threads[i].pid == recorded && p->threads[i].samples;
    return has;
}

/* Note which of those that did not say what they have gave nothing. */
static void fleet_check_silent(struct fleet *f)
{
    for (uint32_t i = 0; i < f->n && f->absent; i++)
        if (!f->at[i].has_ended &&
            !fleet_has_samples(&f->reader->profile, f->at[i].is.recorded))
            fleet_miss(f, f->at[i].is.pid, FLEET_SILENT);
}

int fleet_read(struct fleet *f, jsp_export_write *format)
{
    uint32_t flags = format == jsp_export_otlp ? JSPROF_READ_TRACES : 0;
    jsprof_read_input *inputs = calloc((size_t)f->n + 1, sizeof *inputs);
    char(*paths)[FLEET_PATH] = calloc((size_t)f->n + 1, sizeof *paths);
    const jsprof_read_filter all = { .size = sizeof all, .flags = JSPROF_READ_IDLE };
    f->hosts = calloc((size_t)f->n + 1, sizeof *f->hosts);
    int err = inputs && paths && f->hosts ? 0 : -ENOMEM;
    for (uint32_t i = 0; !err && i < f->n; i++) {
        struct fleet_host *h = &f->at[i];
        bool is_empty = h->has_ended && !h->samples;
        if (is_empty && f->absent)
            fleet_miss(f, h->is.pid, h->lost ? FLEET_MISSED : FLEET_IDLE);
        /* its account is for a report; others need one capture, if no process has a sample */
        if (is_empty && format && (f->n_hosts || i + 1 < f->n))
            continue;
        uint32_t n = f->n_hosts++;
        snprintf(paths[n], sizeof paths[n], "/proc/self/fd/%d", h->fd);
        inputs[n] = (jsprof_read_input){ .size = sizeof *inputs, .path = paths[n] };
        f->hosts[n] = h->is;
        f->hosts[n].host = h->host;
        f->hosts[n].vm = h->vm;
    }
    if (!err)
        err = fleet_open_all(f, inputs, flags);
    if (!err) {
        fleet_check_silent(f);
        err = jsprof_read_select(f->reader, &all, NULL);
    }
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
    char *comment = fleet_comment(f);
    struct jsp_export e = { .profile = &f->reader->profile,
                            .select = &f->reader->choice.select,
                            .out = sink, .title = "jsprof", .hosts = f->hosts,
                            .n_hosts = f->n_hosts, .labels = f->labels,
                            .n_labels = f->n_labels, .comment = comment,
                            .may_be_empty = true };
    int err = format(&e), flushed = jsp_sink_flush(sink);
    free(comment);
    free(sink);
    return err ? err : flushed;
}

void fleet_free(struct fleet *f)
{
    jsprof_read_close(f->reader);
    for (uint32_t i = 0; i < f->n; i++)
        close(f->at[i].fd);
    free(f->at);
    free(f->absent);
    free(f->hosts);
    *f = (struct fleet){ .n = 0 };
}
