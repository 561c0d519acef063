/* serve/record.c - `jsprof record PID`: a recording of a process that runs already.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/open.h"
#include "remote.h"

enum { RECORD_SECONDS = 10, RECORD_MOST_MS = 1u << 31 };

static const char record_help[] =
    "usage: jsprof record [OPTION]... PROCESS\n"
    "\n"
    "Records a process that runs, and listens (see jsprof ps), into a capture. The\n"
    "command opens the file and passes it to the process, so containers and sandboxes\n"
    "need not see the same folders. Interrupt the command to end the recording.\n"
    "\n"
    "  --seconds N      how long, as in 10 or 0.5; 0: until interrupted (default 10)\n"
    "  -o FILE          the capture; - is standard output (default jsprof-PID.cap)\n"
    "  --hz N           samples a second and thread, 1 to 10000 (default 1000)\n"
    "  --clock WHICH    cpu (default), or wall: also the time in which threads wait\n"
    "  --source WHICH   looker (default), or timer: what sends the signals\n"
    "  --compact        a smaller file, which Sysprof does not read\n"
    "  --session N      if the process has several: which one (default: the newest)\n"
    "  --report         then print the report\n"
    "  --quiet          print no summary on standard error\n";

struct record {
    struct remote_ask ask;
    const char *output, *seconds, *source;
    char *path;      /* owned: of the output; NULL: standard output */
    char *aside;     /* owned: its name before the process has agreed; NULL: none */
    bool has_report, is_quiet;
    struct remote remote;
};

/* Read a number of seconds. */
static bool record_seconds(const char *text, uint32_t *ms)
{
    char *end;
    double n = strtod(text, &end);
    if (end == text || *end || !(n >= 0) || n * 1000 > RECORD_MOST_MS)
        return false;
    *ms = (uint32_t)(n * 1000 + 0.5);
    return *ms || n == 0;
}

/* Open a new file beside the output. It gets its name when the process has agreed, so a refusal
 * destroys no older capture. */
static int record_open(struct record *r)
{
    struct stat st;
    if (strcmp(r->output, "-") == 0) {
        r->ask.fd = STDOUT_FILENO;
        return CLI_OK;
    }
    r->path = strdup(r->output);
    if (!r->path)
        return cli_fail(r->ask.command, "%s", strerror(ENOMEM));
    bool is_special = stat(r->output, &st) == 0 && !S_ISREG(st.st_mode);
    if (!is_special && asprintf(&r->aside, "%s.%d", r->output, (int)getpid()) < 0)
        r->aside = NULL;
    const char *name = r->aside ? r->aside : r->path;
    int flags = r->aside ? O_RDWR | O_CREAT | O_EXCL : O_WRONLY;
    r->ask.fd = open(name, flags | O_CLOEXEC | O_NOCTTY, 0666);
    return r->ask.fd < 0 ? cli_fail(name, "%s", strerror(errno)) : CLI_OK;
}

static void record_close(struct record *r, int status)
{
    if (r->ask.fd > STDERR_FILENO)
        close(r->ask.fd);
    if (r->aside && status)
        unlink(r->aside);
    free(r->aside);
    free(r->path);
}

static int record_name(struct record *r)
{
    if (!r->aside)
        return CLI_OK;
    int status = rename(r->aside, r->path) < 0 ? cli_fail(r->path, "%s", strerror(errno)) : CLI_OK;
    if (status == CLI_OK) {
        free(r->aside);
        r->aside = NULL;
    }
    return status;
}

/* "x.cap: 9,870 samples of process 123 (lark); 0 of 10,000 expirations lost" */
static void record_tell(const struct record *r, bool is_whole)
{
    char samples[CLI_NUMBER], lost[CLI_NUMBER], all[CLI_NUMBER];
    const char *to = r->path ? r->path : "standard output", *done = r->remote.done;
    if (r->is_quiet)
        return;
    if (is_whole)
        fprintf(stderr, "%s: %s samples of %s; %s of %s expirations lost\n", to,
                cli_count(samples, serve_number(done, "samples")), r->remote.who,
                cli_count(lost, serve_number(done, "lost")),
                cli_count(all, serve_number(done, "expirations")));
    else
        fprintf(stderr, "%s: %s ended without closing its session: the capture holds what it had "
                "written\n", to, r->remote.who);
}

static int record_report(const struct record *r)
{
    char *words[] = { r->path };
    const char *files[2];
    struct cli_arguments a = { .command = "report", .words = words, .n_words = 1,
                               .files = files };
    return cli_report.run(&a);
}

static int record_process(struct record *r)
{
    bool is_whole = false;
    int status = record_open(r);
    if (status == CLI_OK) {
        remote_catch();
        status = remote_begin(&r->remote, &r->ask);
    }
    if (status == CLI_OK) {
        status = record_name(r);
        int ended = remote_wait(&r->remote, r->ask.command, &is_whole);
        status = status ? status : ended;
    }
    if (status == CLI_OK)
        record_tell(r, is_whole);
    if (status == CLI_OK && r->has_report && r->path)
        status = record_report(r);
    record_close(r, status);
    return status;
}

static int record_check(struct record *r)
{
    static const char *const clocks[] = { "cpu", "wall", NULL };
    static const char *const sources[] = { "timer", "looker", NULL };
    const char *command = r->ask.command;
    if (!record_seconds(r->seconds, &r->ask.ms))
        return cli_usage(command, "--seconds wants a number of seconds, not \"%s\"", r->seconds);
    if (r->ask.hz < 1 || r->ask.hz > 10000)
        return cli_usage(command, "--hz wants 1 to 10000, not %u", (unsigned)r->ask.hz);
    int source = cli_choice(command, "source", r->source, sources);
    if (source < 0 || cli_choice(command, "clock", r->ask.clock, clocks) < 0)
        return CLI_USAGE;
    r->ask.looker = source == 1;
    if (r->has_report && strcmp(r->output, "-") == 0)
        return cli_usage(command, "--report needs a file, not standard output");
    return CLI_OK;
}

static int record_run(struct cli_arguments *a)
{
    static struct record r;
    char name[64];
    r = (struct record){ .ask = { .command = a->command, .hz = 1000, .clock = "cpu", .fd = -1 },
                         .seconds = "10", .source = "looker" };
    const struct cli_option options[] = {
        { "seconds", NULL, &r.seconds, NULL },   { "o", NULL, &r.output, NULL },
        { "output", NULL, &r.output, NULL },     { "hz", NULL, NULL, &r.ask.hz },
        { "clock", NULL, &r.ask.clock, NULL },   { "source", NULL, &r.source, NULL },
        { "compact", &r.ask.compact, NULL, NULL }, { "session", NULL, NULL, &r.ask.session },
        { "report", &r.has_report, NULL, NULL }, { "quiet", &r.is_quiet, NULL, NULL },
        { 0 },
    };
    if (cli_options(a, options))
        return CLI_USAGE;
    if (a->n_files != 1)
        return cli_usage(a->command, a->n_files ? "one process at a time" : "no process named");
    if (!remote_pid(a->files[0], &r.ask.pid))
        return cli_usage(a->command, "\"%s\" is not the number of a process", a->files[0]);
    snprintf(name, sizeof name, "jsprof-%d.cap", (int)r.ask.pid);
    r.output = r.output ? r.output : name;
    return record_check(&r) ? CLI_USAGE : record_process(&r);
}

const struct cli_command cli_record = {
    .name = "record",
    .summary = "record a process that runs",
    .help = record_help,
    .run = record_run,
    .is_for_files = true,
};
