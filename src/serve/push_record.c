/* serve/push_record.c - see push_record.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "push_record.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cli/open.h"
#include "push_words.h"
#include "remote.h"
#include "stored.h"

enum { PUSH_LABELS = 512 };

static void push_labels(const struct push *p, const struct fleet_host *h, char *out, size_t size,
                        const char *format)
{
    char number[16];
    snprintf(number, sizeof number, "%d", (int)h->is.pid);
    push_label(out, size, format, "pid", number);
    if (*h->vm)
        push_label(out, size, format, "vm", h->vm);
    for (uint32_t i = 0; i < p->n_labels; i++) {
        char key[64];
        size_t n = strcspn(p->labels[i], "=");
        snprintf(key, sizeof key, "%.*s", (int)(n < 63 ? n : 63), p->labels[i]);
        push_label(out, size, format, key, p->labels[i] + n + 1);
    }
}

/* Count a profile that could not be put where it belongs, and say it once until it works again.
 * Return 0, or 1: it is lost, which is said. */
static int push_stuck(struct push *p, const char *place, int err)
{
    p->counts->dropped += err != 0;
    if (err && !p->is_stuck)
        cli_fail(place, "no profile can be put there: %s; each is counted as dropped",
                 queue_error(err));
    else if (!err && p->is_stuck)
        cli_fail(place, "profiles can be put there again; %" PRIu64 " are dropped by now",
                 p->counts->dropped);
    p->is_stuck = err != 0;
    return err != 0;
}

static int push_put(struct push *p, const struct queue_item *item)
{
    p->counts->profiles++;
    p->counts->bytes += item->n;
    int err = queue_put(&p->queue, item, &p->counts->dropped);
    if (p->queue.is_another)
        cli_fail(p->queue.path, "the folder was removed, and is made again");
    p->queue.is_another = false;
    return push_stuck(p, p->queue.path, err);
}

static int push_pyroscope(struct push *p, const struct fleet_host *h, const struct jsp_bytes *body)
{
    char labels[PUSH_LABELS] = "", name[64], path[QUEUE_WORD];
    time_t until = p->until ? p->until : time(NULL);
    time_t since = p->until ? p->since : until - p->ask.ms / 1000;
    push_word(name, sizeof name, h->host);
    push_labels(p, h, labels, sizeof labels, "%s%%3D%s%%2C");
    size_t n = strlen(labels);
    snprintf(path, sizeof path, "/ingest?name=%s%%7B%.*s%%7D&from=%lld&until=%lld&format=pprof"
             "&spyName=jsprof", name, (int)(n > 3 ? n - 3 : 0), labels,
             (long long)since, (long long)until);
    return push_put(p, &(struct queue_item){ path, "application/octet-stream", body->at,
                                             body->n });
}

/* A series of one profile in JSON, as Parca and Pyroscope's PusherService read it. */
static int push_series(struct push *p, const struct fleet_host *h, const struct jsp_bytes *body)
{
    bool is_parca = p->kind == PUSH_PARCA; /* which wraps the list of labels once more */
    char labels[2 * PUSH_LABELS] = "", name[64];
    size_t room = body->n / 3 * 4 + sizeof labels + 512;
    char *json = malloc(room);
    if (!json)
        return -ENOMEM;
    push_word(name, sizeof name, h->host);
    push_labels(p, h, labels, sizeof labels, ",{\"name\":\"%s\",\"value\":\"%s\"}");
    int n = snprintf(json, room, "{%s\"series\":[{\"labels\":%s["
                     "{\"name\":\"__name__\",\"value\":\"process_cpu\"},"
                     "{\"name\":\"%s\",\"value\":\"%s\"}%s]%s,\"samples\":[{\"rawProfile\":\"",
                     is_parca ? "\"normalized\":false," : "", is_parca ? "{\"labels\":" : "",
                     is_parca ? "job" : "service_name", name, labels, is_parca ? "}" : "");
    size_t len = (size_t)n + post_base64(json + n, body->at, body->n);
    len += (size_t)snprintf(json + len, room - len, "\"}]}]}");
    int err = push_put(p, &(struct queue_item){ is_parca ? "/api/profiles/writeraw"
                                                         : "/push.v1.PusherService/Push",
                                                "application/json", json, len });
    free(json);
    return err;
}

/* Name a file of the folder that is not there yet. Two profiles of a process may be of one second.
 * Return false if the name is too long. */
static bool push_file_name(const struct push *p, const struct fleet_host *h, char path[PATH_MAX])
{
    char name[64], which[16] = "";
    long long at = p->until ? p->until : time(NULL);
    push_word(name, sizeof name, h->host);
    for (int i = 2;; i++) {
        int n = snprintf(path, PATH_MAX, "%s/%s-%d-%lld%s.pb.gz", p->folder, name,
                         (int)h->is.pid, at, which);
        if (n >= PATH_MAX - 8)
            return false;
        if (access(path, F_OK) < 0)
            return true;
        snprintf(which, sizeof which, "-%d", i);
    }
}

/* Write one profile of a process into the folder: it is there whole or not at all. */
static int push_file(struct push *p, const struct fleet_host *h, const struct jsp_bytes *body)
{
    char path[PATH_MAX], part[PATH_MAX];
    if (!push_file_name(p, h, path))
        return -ENAMETOOLONG;
    snprintf(part, sizeof part, "%.*s.part", (int)sizeof part - 8, path);
    FILE *f = fopen(part, "we");
    bool is_done = f && fwrite(body->at, 1, body->n, f) == body->n;
    if (f)
        is_done = fclose(f) == 0 && is_done;
    int err = is_done && rename(part, path) == 0 ? 0 : -errno;
    if (err && f)
        unlink(part);
    p->counts->profiles++;
    p->counts->bytes += body->n;
    return push_stuck(p, p->folder, err);
}

/* Make the request of one process. One that did nothing has none. Return 0, 1: it is lost, which is
 * said, or a negative errno. */
static int push_host(struct push *p, struct fleet_host *h)
{
    struct fleet one = { .at = h, .n = 1 };
    struct jsp_bytes body = { .n = 0 };
    int err = fleet_read(&one, jsp_export_pprof);
    if (!err && one.reader->profile.samples) {
        err = fleet_write(&one, jsp_export_pprof, &body);
        if (!err)
            err = p->kind == PUSH_PYROSCOPE ? push_pyroscope(p, h, &body)
                  : p->kind == PUSH_FOLDER  ? push_file(p, h, &body)
                                            : push_series(p, h, &body);
    }
    jsprof_read_close(one.reader);
    free(one.hosts);
    jsp_bytes_free(&body);
    return err;
}

/* OTLP has all processes in one request, a resource for each. */
static int push_otlp(struct push *p, struct fleet *f)
{
    struct jsp_bytes body = { .n = 0 };
    f->labels = p->labels;
    f->n_labels = p->n_labels;
    int err = fleet_read(f, jsp_export_otlp);
    if (!err && f->reader->profile.samples) {
        err = fleet_write(f, jsp_export_otlp, &body);
        if (!err)
            err = push_put(p, &(struct queue_item){ "/v1development/profiles",
                                                    "application/x-protobuf", body.at, body.n });
    }
    jsp_bytes_free(&body);
    return err;
}

static int push_window(struct push *p)
{
    struct fleet f;
    int err = fleet_record(&f, &p->ask);
    /* nobody is there, others record them, or they hang */
    if (err == -ENOENT || err == -EBUSY || err == -ETIME || err == -EAGAIN)
        poll(NULL, 0, (int)p->ask.ms), err = 0;
    if (!err && f.n && p->kind == PUSH_OTLP)
        err = push_otlp(p, &f);
    for (uint32_t i = 0; i < f.n && p->kind != PUSH_OTLP; i++) {
        int of_host = push_host(p, &f.at[i]);
        err = err < 0 || !of_host ? err : of_host;
    }
    fleet_free(&f);
    return err;
}

/* Make the request of a capture of the folder. */
static void push_capture(void *data, struct stored *s)
{
    struct push *p = data;
    struct fleet one = { .at = &s->host, .n = 1 };
    int err = s->err;
    if (remote_is_caught())
        return;
    p->since = s->begin;
    p->until = s->end;
    if (!err && !s->is_empty) {
        err = p->kind == PUSH_OTLP ? push_otlp(p, &one) : push_host(p, &s->host);
        p->counts->windows++;
    }
    if (p->kind == PUSH_OTLP) {
        jsprof_read_close(one.reader);
        free(one.hosts);
    }
    if (err)
        p->counts->failed_windows++;
    if (err < 0 || (!err && p->removes && unlink(s->path) < 0))
        cli_fail(s->path, "%s", strerror(err ? -err : errno));
}

void push_record(struct push *p)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    int from = p->from ? stored_each(p->from, push_capture, p) : 0;
    if (from) {
        p->counts->failed_windows++;
        cli_fail(p->from, "%s", strerror(-from));
    }
    while (!p->from && (!p->windows || p->counts->windows < p->windows)) {
        int err = push_window(p);
        if (err < 0) {
            p->counts->failed_windows++;
            cli_fail(p->command, "a window is lost: %s", strerror(-err));
        }
        p->counts->windows++;
        if (remote_is_caught())
            break;
    }
}
