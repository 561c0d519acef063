/* serve/push.c - `jsprof push`: sends profiles of all processes that listen to an engine, again and
 * again.
 *
 * A child records one window after another and puts its requests into a queue on disk. This process
 * sends what is there, the oldest first. So an engine that is slow or away delays no recording, and
 * what it misses comes later, up to the bound of the queue; what is lost is counted.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/open.h"
#include "fleet.h"
#include "post.h"
#include "push_words.h"
#include "queue.h"
#include "remote.h"
#include "stored.h"

enum {
    PUSH_LOOK_MS = 200,
    PUSH_FIRST_MS = 500,   /* before the second try; then twice as long each time */
    PUSH_MOST_MS = 60000,
    PUSH_LABELS = 512,
    PUSH_HEADERS = 1024,
    PUSH_MIB = 1 << 20,
};

static const char push_help[] =
    "usage: jsprof push [OPTION]... --to KIND ADDRESS\n"
    "\n"
    "Records all processes of this user that listen (see jsprof ps), window after\n"
    "window, and sends their profiles to an engine. What it does not take now waits\n"
    "on disk. ADDRESS is http://HOST:PORT, unix:/PATH, or a folder. There is no\n"
    "TLS: use a collector on this machine, or a Unix socket.\n"
    "\n"
    "  --to KIND          pyroscope; pusher: its PusherService; parca; otlp; folder\n"
    "  --seconds N        of a window (default 10)\n"
    "  --hz N             samples a second and thread (default 100)\n"
    "  --clock cpu|wall   the clock (default cpu)\n"
    "  --pid N            this process alone\n"
    "  --label KEY=VALUE  of each profile, for Pyroscope and Parca; may be repeated\n"
    "  --queue FOLDER     default ~/.local/state/jsprof/push\n"
    "  --queue-mib N      its bound (default 64), where the oldest ones are dropped\n"
    "  --token-file FILE  whose first line is a bearer token\n"
    "  --basic-file FILE  whose first line is USER:PASSWORD\n"
    "  --tenant NAME      X-Scope-OrgID, of Pyroscope\n"
    "  --windows N        end after so many, when all is sent or refused; 0: never\n"
    "  --from FOLDER      send what JSPROF_CONTINUOUS has completed there, a profile\n"
    "                     each, and end; --remove: remove it\n";

enum push_kind { PUSH_PYROSCOPE, PUSH_PUSHER, PUSH_PARCA, PUSH_OTLP, PUSH_FOLDER };
static const char *const push_kinds[] = { "pyroscope", "pusher", "parca", "otlp", "folder",
                                          NULL };

/* What both processes count. */
struct push_counts {
    uint64_t profiles, bytes, dropped; /* by the child: made, and lost because the queue was full */
    uint64_t failed_windows;
    uint32_t windows;
};

struct push {
    const char *command;
    enum push_kind kind;
    struct post_to to;
    const char *folder, *tenant;
    const char *labels[CLI_VALUES];
    uint32_t n_labels;
    char headers[PUSH_HEADERS];
    struct fleet_ask ask;
    uint32_t windows;
    const char *from; /* a folder of captures; NULL: record */
    bool removes;     /* remove each of them when its profile is in the queue */
    time_t since, until; /* of the capture of that folder; 0: of the window that ends now */
    struct queue queue;
    struct push_counts *counts; /* shared */
    uint64_t sent, refused, lost;
    bool is_failing;
};

/* -- Requests: the child ---------------------------------------------------------------- */

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

static int push_put(struct push *p, const struct queue_item *item)
{
    p->counts->profiles++;
    p->counts->bytes += item->n;
    return queue_put(&p->queue, item, &p->counts->dropped);
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

/* Write one profile of a process into the folder: it is there whole or not at all. */
static int push_file(struct push *p, const struct fleet_host *h, const struct jsp_bytes *body)
{
    char name[64], path[PATH_MAX], part[PATH_MAX];
    push_word(name, sizeof name, h->host);
    int n = snprintf(path, sizeof path, "%s/%s-%d-%lld.pb.gz", p->folder, name, (int)h->is.pid,
                     (long long)(p->until ? p->until : time(NULL)));
    if (n >= (int)sizeof path - 8)
        return -ENAMETOOLONG;
    snprintf(part, sizeof part, "%.*s.part", (int)sizeof part - 8, path);
    FILE *f = fopen(part, "we");
    bool is_done = f && fwrite(body->at, 1, body->n, f) == body->n;
    if (f)
        is_done = fclose(f) == 0 && is_done;
    int err = is_done && rename(part, path) == 0 ? 0 : -errno;
    if (err && f)
        unlink(part);
    p->counts->profiles += !err;
    p->counts->bytes += err ? 0 : body->n;
    return err;
}

/* Make the request of one process. One that did nothing has none. */
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
    if (err == -ENOENT || err == -EBUSY) /* nobody is there, or others record them */
        poll(NULL, 0, (int)p->ask.ms), err = 0;
    if (!err && f.n && p->kind == PUSH_OTLP)
        err = push_otlp(p, &f);
    for (uint32_t i = 0; i < f.n && p->kind != PUSH_OTLP; i++) {
        int of_host = push_host(p, &f.at[i]);
        err = err ? err : of_host;
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
    if (err || (p->removes && unlink(s->path) < 0))
        cli_fail(s->path, "%s", strerror(err ? -err : errno));
}

static void push_record(struct push *p)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    int from = p->from ? stored_each(p->from, push_capture, p) : 0;
    if (from) {
        p->counts->failed_windows++;
        cli_fail(p->from, "%s", strerror(-from));
    }
    while (!p->from && (!p->windows || p->counts->windows < p->windows)) {
        int err = push_window(p);
        if (err) {
            p->counts->failed_windows++;
            cli_fail(p->command, "a window is lost: %s", strerror(-err));
        }
        p->counts->windows++;
        if (remote_is_caught())
            break;
    }
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

static void push_say(struct push *p, bool is_failing, const char *why)
{
    if (is_failing != p->is_failing)
        fprintf(stderr, "jsprof: push: %s%s: %" PRIu32 " profile%s wait\n",
                is_failing ? "the engine does not take them: " : "the engine takes them again",
                is_failing ? why : "", queue_waiting(&p->queue), "s");
    p->is_failing = is_failing;
}

/* Send the oldest request. Return how long to wait before the next one, in ms; *tries counts those
 * of this request. */
static int push_one(struct push *p, uint32_t *tries)
{
    struct queue_taken item;
    struct post_answer answer = { .status = 0 };
    char why[64];
    int pause = PUSH_LOOK_MS;
    int got = queue_take(&p->queue, &item, &p->lost);
    if (got == 1) {
        const struct post post = { item.path, item.type, p->headers, item.file.at + item.body,
                                   item.file.n - item.body };
        int err = post_send(&p->to, &post, &answer);
        bool is_taken = !err && answer.status < 300;
        /* a wrong token can be set right; a profile that is refused is refused again */
        bool is_refused = !err && answer.status >= 300 && answer.status < 500 &&
                          answer.status != 401 && answer.status != 403 &&
                          answer.status != 404 && answer.status != 408 && answer.status != 429;
        snprintf(why, sizeof why, "HTTP status %d", answer.status);
        if (is_taken || is_refused) {
            queue_remove(&p->queue, item.name);
            p->sent += is_taken;
            p->refused += is_refused;
            if (is_refused)
                cli_fail(p->command, "the engine refuses a profile: %s", why);
            push_say(p, false, "");
            *tries = 0;
            pause = 0;
        } else {
            push_say(p, true, err ? strerror(-err) : why);
            uint32_t shift = *tries < 7 ? *tries : 7;
            int backoff = PUSH_FIRST_MS << shift;
            ++*tries;
            pause = push_jitter(backoff < PUSH_MOST_MS ? backoff : PUSH_MOST_MS);
            if (answer.retry_after * 1000 > (uint32_t)pause)
                pause = (int)answer.retry_after * 1000;
        }
    }
    jsp_bytes_free(&item.file);
    return pause;
}

/* Send until the child has ended and nothing waits, or until a signal. */
static void push_send(struct push *p, pid_t child)
{
    uint32_t tries = 0;
    bool is_recording = true;
    while (!remote_is_caught()) {
        if (is_recording && waitpid(child, NULL, WNOHANG) == child)
            is_recording = false;
        int pause = p->kind == PUSH_FOLDER ? PUSH_LOOK_MS : push_one(p, &tries);
        if (!is_recording && (p->kind == PUSH_FOLDER || !queue_waiting(&p->queue)))
            return;
        if (pause)
            poll(NULL, 0, pause);
    }
    if (is_recording) {
        kill(child, SIGTERM);
        waitpid(child, NULL, 0);
    }
}

/* -- The command ---------------------------------------------------------------------------- */

static int push_header(struct push *p, const char *name, const char *value)
{
    size_t n = strlen(p->headers);
    int len = snprintf(p->headers + n, sizeof p->headers - n, "%s%s\r\n", name, value);
    return len < (int)(sizeof p->headers - n) && !value[strcspn(value, "\r\n")]
               ? CLI_OK : cli_fail(p->command, "a header is too long");
}

static int push_headers(struct push *p, const char *token, const char *basic)
{
    char line[256], coded[360];
    int status = CLI_OK;
    if (token && push_line_of(token, line, sizeof line) == CLI_OK)
        status = push_header(p, "Authorization: Bearer ", line);
    else if (token)
        return CLI_FAILED;
    if (basic && push_line_of(basic, line, sizeof line) == CLI_OK) {
        post_base64(coded, line, strlen(line));
        status = push_header(p, "Authorization: Basic ", coded);
    } else if (basic) {
        return CLI_FAILED;
    }
    return status == CLI_OK && p->tenant ? push_header(p, "X-Scope-OrgID: ", p->tenant) : status;
}

static int push_queue(struct push *p, const char *folder, uint32_t mib)
{
    char path[PATH_MAX];
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (!folder && !state && !home)
        return cli_usage(p->command, "no HOME: name a folder with --queue");
    snprintf(path, sizeof path, "%s%s", folder ? folder : state && *state ? state : home,
             folder ? "" : state && *state ? "/jsprof/push" : "/.local/state/jsprof/push");
    int err = queue_open(&p->queue, path, (uint64_t)mib * PUSH_MIB);
    return err ? cli_fail(path, "%s", strerror(-err)) : CLI_OK;
}

static int push_check(struct push *p, const char *kind, const char *seconds, const char *address)
{
    static const char *const clocks[] = { "cpu", "wall", NULL };
    char *end;
    double n = strtod(seconds, &end);
    if (!kind)
        return cli_usage(p->command, "--to is missing: pyroscope, pusher, parca, otlp or folder");
    int which = cli_choice(p->command, "to", kind, push_kinds);
    if (which < 0 || cli_choice(p->command, "clock", p->ask.clock, clocks) < 0)
        return CLI_USAGE;
    p->kind = (enum push_kind)which;
    if (end == seconds || *end || !(n >= 1) || n > 3600)
        return cli_usage(p->command, "--seconds wants 1 to 3600, not \"%s\"", seconds);
    p->ask.ms = (uint32_t)(n * 1000);
    if (p->ask.hz < 1 || p->ask.hz > 10000)
        return cli_usage(p->command, "--hz wants 1 to 10000, not %u", (unsigned)p->ask.hz);
    for (uint32_t i = 0; i < p->n_labels; i++)
        if (!strchr(p->labels[i], '=') || *p->labels[i] == '=')
            return cli_usage(p->command, "--label wants KEY=VALUE, not \"%s\"", p->labels[i]);
    if (p->n_labels && which >= PUSH_OTLP)
        return cli_usage(p->command, "--label is for pyroscope and parca");
    p->folder = address;
    if (which != PUSH_FOLDER && !post_address(address, &p->to))
        return cli_usage(p->command, "\"%s\" is no address: http://HOST:PORT or unix:/PATH; "
                         "there is no TLS here", address);
    return CLI_OK;
}

static int push_go(struct push *p)
{
    p->counts = mmap(NULL, sizeof *p->counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                     -1, 0);
    if (p->counts == MAP_FAILED)
        return cli_fail(p->command, "%s", strerror(errno));
    remote_catch();
    pid_t child = fork();
    if (child < 0)
        return cli_fail(p->command, "%s", strerror(errno));
    if (child == 0) {
        push_record(p);
        _exit(0);
    }
    push_send(p, child);
    const struct push_counts *c = p->counts;
    uint64_t lost = c->dropped + p->lost;
    fprintf(stderr, "jsprof: push: %" PRIu64 " profiles of %" PRIu32 " windows, %" PRIu64
            " bytes; %" PRIu64 " sent, %" PRIu64 " refused, %" PRIu64 " dropped, %" PRIu32
            " wait\n", c->profiles, c->windows, c->bytes,
            p->kind == PUSH_FOLDER ? c->profiles : p->sent, p->refused, lost,
            p->kind == PUSH_FOLDER ? 0 : queue_waiting(&p->queue));
    return p->refused || lost || c->failed_windows ? CLI_FAILED : CLI_OK;
}

static int push_run(struct cli_arguments *a)
{
    static struct push p;
    const char *kind = NULL, *seconds = "10", *queue = NULL, *token = NULL, *basic = NULL;
    uint32_t mib = 64, pid = 0;
    p = (struct push){ .command = a->command, .queue.folder = -1,
                       .ask = { .hz = 100, .clock = "cpu", .client = -1 } };
    const struct cli_option options[] = {
        { "to", NULL, &kind, NULL },           { "seconds", NULL, &seconds, NULL },
        { "hz", NULL, NULL, &p.ask.hz },       { "clock", NULL, &p.ask.clock, NULL },
        { "label", NULL, p.labels, &p.n_labels }, { "queue", NULL, &queue, NULL },
        { "queue-mib", NULL, NULL, &mib },     { "token-file", NULL, &token, NULL },
        { "basic-file", NULL, &basic, NULL },  { "tenant", NULL, &p.tenant, NULL },
        { "windows", NULL, NULL, &p.windows }, { "pid", NULL, NULL, &pid },
        { "from", NULL, &p.from, NULL },       { "remove", &p.removes, NULL, NULL }, { 0 },
    };
    if (cli_options(a, options))
        return CLI_USAGE;
    if (a->n_files != 1)
        return cli_usage(a->command, a->n_files ? "one address at a time" : "no address named");
    if (token && basic)
        return cli_usage(a->command, "--token-file and --basic-file exclude each other");
    if (p.removes && !p.from)
        return cli_usage(a->command, "--remove goes with --from");
    p.ask.pid = pid <= INT32_MAX ? (pid_t)pid : -1;
    if (push_check(&p, kind, seconds, a->files[0]))
        return CLI_USAGE;
    int status = push_headers(&p, token, basic);
    if (status == CLI_OK && p.kind != PUSH_FOLDER)
        status = push_queue(&p, queue, mib);
    if (status == CLI_OK)
        status = push_go(&p);
    queue_close(&p.queue);
    return status;
}

const struct cli_command cli_push = {
    .name = "push",
    .summary = "sends profiles of all processes that listen to an engine",
    .help = push_help,
    .run = push_run,
    .is_for_files = true,
};
