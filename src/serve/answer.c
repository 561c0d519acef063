/* serve/answer.c - see answer.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "answer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "fleet.h"

enum { ANSWER_PATH = 40 };

/* -- Sending ---------------------------------------------------------------------- */

/* Send all, or give up when the client takes too long: the alarm ends the process. */
static void answer_send(int client, const void *bytes, size_t n)
{
    const char *at = bytes;
    alarm(ANSWER_SEND_SECONDS);
    while (n) {
        ssize_t sent = send(client, at, n, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            _exit(1);
        at += sent;
        n -= (size_t)sent;
    }
}

static void answer_send_all(const struct http_request *r, int client, const struct http_answer *a,
                            const void *body)
{
    char head[HTTP_HEAD];
    answer_send(client, head, (size_t)http_head(head, a));
    if (!r || !r->is_head)
        answer_send(client, body, a->n);
}

static void answer_line(int client, int status, const char *text)
{
    char line[HTTP_WORD];
    int n = snprintf(line, sizeof line, "%.200s\n", text);
    answer_send_all(NULL, client, &(struct http_answer){ status, "text/plain; charset=utf-8",
                                                         (size_t)n, NULL }, line);
}

static void answer_error(int client, int err)
{
    bool is_empty = err == -EBADMSG || err == -ENODATA; /* no file is a capture yet */
    /* a client that has closed one side looks as one that has gone */
    answer_line(client, err == -EINVAL ? 400 : 503,
                err == -ENOENT      ? "no process listens: see jsprof ps"
                : err == -EBUSY     ? "another command records the processes"
                : err == -ETIME     ? "the processes that listen give no answer: see jsprof ps"
                : err == -EAGAIN    ? "another command records some of the processes, and the "
                                      "others give no answer: see jsprof ps"
                : err == -ECANCELED ? "the client closed its side of the connection, which ends "
                                      "the recording"
                : is_empty          ? "what was recorded ended before it had written a sample"
                                    : strerror(-err));
}

/* -- Profiles ----------------------------------------------------------------------- */

/* Record what the query asks for, and read it for this format. Return false if that fails: it is
 * answered. */
static bool answer_record(const struct http_request *r, int client, struct fleet *f,
                          jsp_export_write *format)
{
    uint32_t seconds = ANSWER_SECONDS, hz = ANSWER_HZ, pid = 0;
    char host[HTTP_WORD], clock[8] = "cpu";
    bool has_host = http_value(r, "host", host, sizeof host);
    http_value(r, "clock", clock, sizeof clock);
    if (!http_number(r, "seconds", ANSWER_MOST_SECONDS, &seconds) || !seconds) {
        answer_line(client, 400, "seconds: 1 to 300");
        return false;
    }
    if (!http_number(r, "hz", ANSWER_MOST_HZ, &hz) || !hz ||
        !http_number(r, "pid", INT32_MAX, &pid) ||
        (strcmp(clock, "cpu") != 0 && strcmp(clock, "wall") != 0)) {
        answer_line(client, 400, "hz: 1 to 1000; pid: a number; clock: cpu or wall");
        return false;
    }
    const struct fleet_ask ask = { .ms = seconds * 1000, .hz = hz, .clock = clock,
                                   .pid = (pid_t)pid, .host = has_host ? host : NULL,
                                   .client = client };
    alarm(seconds + ANSWER_SEND_SECONDS);
    int err = fleet_record(f, &ask);
    if (!err)
        err = fleet_read(f, format);
    if (err == -ENOENT && (pid || has_host))
        answer_line(client, 503, "no process that listens has this pid or host: see jsprof ps");
    else if (err)
        answer_error(client, err);
    return !err;
}

static void answer_format(const struct http_request *r, int client, jsp_export_write *format,
                          const char *type)
{
    struct fleet f;
    struct jsp_bytes body = { .n = 0 };
    char counts[FLEET_COUNTS];
    if (!answer_record(r, client, &f, format))
        return;
    int err = fleet_write(&f, format, &body);
    if (err)
        answer_error(client, err);
    else
        answer_send_all(r, client, &(struct http_answer){ 200, type, body.n,
                                                          fleet_counts(counts, &f) }, body.at);
}

static void answer_pprof(const struct http_request *r, int client)
{
    answer_format(r, client, jsp_export_pprof, "application/octet-stream");
}

static void answer_otlp(const struct http_request *r, int client)
{
    answer_format(r, client, jsp_export_otlp, "application/x-protobuf");
}

/* -- What commands print -------------------------------------------------------------- */

/* Let a command print into memory, with its errors, and send that. */
static void answer_command(const struct http_request *r, int client,
                           const struct cli_command *command, char **words,
                           const struct http_answer *as)
{
    const char *files[8];
    struct cli_arguments a = { .command = command->name, .words = words, .files = files };
    struct stat is;
    int fd = memfd_create("answer", MFD_CLOEXEC);
    while (words[a.n_words])
        a.n_words++;
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0) {
        answer_line(client, 503, strerror(errno));
        return;
    }
    int status = command->run(&a);
    fflush(stdout);
    size_t n = fstat(fd, &is) == 0 ? (size_t)is.st_size : 0;
    void *body = n ? mmap(NULL, n, PROT_READ, MAP_SHARED, fd, 0) : NULL;
    if (body == MAP_FAILED || !n)
        answer_line(client, 503, "no answer");
    else
        answer_send_all(r, client, &(struct http_answer){
            status == CLI_OK ? 200 : 503,
            status == CLI_OK ? as->type : "text/plain; charset=utf-8", n, as->processes }, body);
}

static void answer_ps(const struct http_request *r, int client)
{
    char *words[] = { (char[]){ "--json" }, NULL };
    answer_command(r, client, &cli_ps, words,
                   &(struct http_answer){ .type = "application/json" });
}

/* Record, join the captures in a file in memory, and let a command read it. */
static void answer_capture(const struct http_request *r, int client,
                           const struct cli_command *command, char **words, const char *type)
{
    struct fleet f;
    struct jsp_bytes capture = { .n = 0 };
    size_t at = 0;
    if (!answer_record(r, client, &f, NULL))
        return;
    int err = fleet_write(&f, jsp_export_compact, &capture);
    int fd = err ? -1 : memfd_create("capture", 0);
    while (fd >= 0 && at < capture.n) {
        ssize_t n = write(fd, capture.at + at, capture.n - at);
        if (n <= 0)
            break;
        at += (size_t)n;
    }
    if (err || fd < 0 || at < capture.n) {
        answer_error(client, err ? err : -errno);
        return;
    }
    for (char **word = words; *word; word++)
        if (strcmp(*word, "FILE") == 0 && asprintf(word, "/proc/self/fd/%d", fd) < 0)
            answer_error(client, -ENOMEM), _exit(1);
    char counts[FLEET_COUNTS];
    answer_command(r, client, command, words,
                   &(struct http_answer){ .type = type, .processes = fleet_counts(counts, &f) });
}

static void answer_report(const struct http_request *r, int client)
{
    char *words[] = { (char[]){ "FILE" }, NULL };
    answer_capture(r, client, &cli_report, words, "text/plain; charset=utf-8");
}

static void answer_flamegraph(const struct http_request *r, int client)
{
    char *words[] = { (char[]){ "-o" }, (char[]){ "-" }, (char[]){ "FILE" }, NULL };
    answer_capture(r, client, &cli_html, words, "text/html; charset=utf-8");
}

/* -- All ---------------------------------------------------------------------------------- */

static void answer_index(const struct http_request *r, int client)
{
    char body[2048] = "<!doctype html><meta charset=utf-8><title>jsprof</title>\n"
                      "<h1>Processes that run on this machine</h1>\n<ul>\n";
    for (const struct answer_path *p = answer_paths; p->path; p++) {
        size_t n = strlen(body);
        snprintf(body + n, sizeof body - n, "<li><a href=\"%s\">%s</a> %s\n", p->path, p->path,
                 p->means);
    }
    strcat(body, "</ul>\n<p>seconds=N, hz=N, clock=cpu|wall, pid=N and host=NAME choose.\n");
    answer_send_all(r, client, &(struct http_answer){ 200, "text/html; charset=utf-8",
                                                      strlen(body), NULL }, body);
}

const struct answer_path answer_paths[] = {
    { "/debug/pprof/", "this list", answer_index },
    { "/debug/pprof/profile", "a profile of all processes, for go tool pprof, Parca, Alloy",
      answer_pprof },
    { "/debug/jsprof/otlp", "the same as OpenTelemetry profiles", answer_otlp },
    { "/debug/jsprof/ps", "the processes", answer_ps },
    { "/debug/jsprof/report", "the busiest functions", answer_report },
    { "/debug/jsprof/flamegraph", "a page: flame graph, timeline, tables", answer_flamegraph },
    { NULL, NULL, NULL },
};

void answer_request(const struct http_request *r, int client)
{
    int flags = fcntl(client, F_GETFL);
    fcntl(client, F_SETFL, flags & ~O_NONBLOCK);
    for (const struct answer_path *p = answer_paths; p->path; p++) {
        if (strcmp(p->path, r->path) == 0) {
            p->run(r, client);
            shutdown(client, SHUT_WR);
            _exit(0);
        }
    }
    answer_line(client, 404, "jsprof has no such profile: see /debug/pprof/");
    shutdown(client, SHUT_WR);
    _exit(0);
}
