/* serve/record.c - `jsprof record`: a recording of a process that runs already, or of a program
 * that it starts.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/follow.h"
#include "cli/open.h"
#include "launch.h"
#include "remote.h"

enum { RECORD_SECONDS = 10, RECORD_MOST_MS = 1u << 31 };
#define RECORD_MOST_STALL_US 3600000000u

static const char record_help[] =
    "usage: jsprof record [OPTION]... PROCESS\n"
    "       jsprof record [OPTION]... -- PROGRAM [ARGUMENT]...\n"
    "\n"
    "Records a process that listens (see jsprof ps), until the time is over; or a\n"
    "program: a GJS program, a Lua or LuaJIT interpreter, a host that obeys JSPROF,\n"
    "or the C stacks of any other one. The exit status is the program's.\n"
    "\n"
    "  --seconds N      how long, as in 10 or 0.5; 0: until interrupted (default 10)\n"
    "  -o FILE          the capture; -: a pipe (default jsprof-PID.cap or -NAME.cap)\n"
    "  --hz N           samples a second and thread, 1 to 10000 (default 1000)\n"
    "  --clock WHICH    cpu (default), or wall: also the time in which threads wait;\n"
    "                   cpu,wall: both, and the reader chooses (--clock)\n"
    "  --source WHICH   what sends the signals: auto (default), perf, looker or timer\n"
    "  --compact        a smaller file, which Sysprof does not read\n"
    "  --session N      if the process has several: which one (default: the newest)\n"
    "  --stalls TIME    only turns of its loop that take longer, as in 16ms\n"
    "  --tasks          also its tasks; of a process: a no if it reports none\n"
    "  --alloc          also its allocations; of a process: a no if it samples none\n"
    "  --children       of a program: also what it forks, into OUTPUT.PID each\n"
    "  --merge          with --children: all of them in one capture\n"
    "  --report         then print the report; with --stalls, the stalls\n"
    "  --follow         of a program: the report again and again while it runs, too\n"
    "  --progress       of a program: each second a line with the size of the capture\n"
    "  --quiet          print no summary on standard error\n";

struct record {
    struct remote_ask ask;
    const char *output, *seconds, *source, *stalls;
    char *path;      /* owned: of the output; NULL: standard output */
    char *aside;     /* owned: its name before the process has agreed; NULL: none */
    bool has_report, is_quiet, has_children, is_merged, is_followed, has_progress;
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

/* Read a time as the variable JSPROF_STALLS has it. */
static bool record_stalls(const char *text, uint32_t *us)
{
    char *unit;
    unsigned long long n = *text >= '0' && *text <= '9' ? strtoull(text, &unit, 10) : 0;
    unsigned factor = !n                           ? 0
                      : strcmp(unit, "us") == 0    ? 1
                      : strcmp(unit, "ms") == 0    ? 1000
                      : strcmp(unit, "s") == 0     ? 1000000
                                                   : 0;
    if (!factor || n > RECORD_MOST_STALL_US / factor)
        return false;
    *us = (uint32_t)n * factor;
    return true;
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

/* Print the report; in stall mode, what the loop was kept by. */
static int record_report(const struct record *r)
{
    const struct cli_command *command = r->stalls ? &cli_stalls : &cli_report;
    char *words[] = { r->path };
    const char *files[2];
    struct cli_arguments a = { .command = command->name, .words = words, .n_words = 1,
                               .files = files };
    return command->run(&a);
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
        r->remote.keeps = r->path ? r->path : "standard output";
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

/* -- A program ------------------------------------------------------------------- */

/* Return true if there is a file that is not as it was before. */
static bool record_is_new(const char *path, const struct stat *before)
{
    struct stat is;
    return stat(path, &is) == 0 && is.st_size > 0 &&
           (is.st_ino != before->st_ino || is.st_mtim.tv_sec != before->st_mtim.tv_sec ||
            is.st_mtim.tv_nsec != before->st_mtim.tv_nsec);
}

static int record_end(int status)
{
    return fflush(stdout) != 0 ? CLI_FAILED : status;
}

/* Print the size of the capture each second, or the report again and again, until the program
 * ends. */
static void record_watch(const struct record *r, pid_t child, const struct stat *before)
{
    siginfo_t ended = { 0 };
    const struct timespec pause = { 0, 100000000 };
    for (unsigned n = 1; waitid(P_PID, (id_t)child, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
                         !ended.si_pid; n++) {
        struct stat is;
        if (r->is_followed && record_is_new(r->output, before))
            break;
        if (r->has_progress && n % 10 == 0 && record_is_new(r->output, before) &&
            stat(r->output, &is) == 0)
            fprintf(stderr, "%s: %u s, %lld KB\n", r->output, n / 10,
                    (long long)is.st_size / 1000);
        nanosleep(&pause, NULL);
    }
    if (r->is_followed && record_is_new(r->output, before)) {
        char *words[] = { (char *)(uintptr_t)r->output };
        const char *files[2];
        struct cli_arguments a = { .command = "report", .words = words, .n_words = 1,
                                   .files = files };
        cli_follow(&cli_report, &a, record_end);
    }
}

/* Is it OUTPUT.PID, or OUTPUT.PID.N, of this recording? */
static bool record_is_child(const struct record *r, const char *path, const struct stat *since)
{
    const char *rest = path + strlen(r->output);
    struct stat is;
    return *rest == '.' && rest[1] && strspn(rest, ".0123456789") == strlen(rest) &&
           stat(path, &is) == 0 && is.st_size > 0 &&
           (is.st_mtim.tv_sec > since->st_mtim.tv_sec ||
            (is.st_mtim.tv_sec == since->st_mtim.tv_sec &&
             is.st_mtim.tv_nsec >= since->st_mtim.tv_nsec));
}

/* Join the captures of all processes into that of the first one, and remove the others. */
static int record_merge(struct record *r, const struct stat *since)
{
    glob_t found;
    char *pattern;
    int status = CLI_FAILED, n = 0;
    if (asprintf(&pattern, "%s.*", r->output) < 0)
        return cli_fail(r->ask.command, "%s", strerror(ENOMEM));
    int err = glob(pattern, 0, NULL, &found);
    size_t n_found = err ? 0 : found.gl_pathc;
    const char **files = calloc(n_found + 1, sizeof *files);
    if (files) {
        files[n++] = r->output;
        for (size_t i = 0; i < n_found; i++)
            if (record_is_child(r, found.gl_pathv[i], since))
                files[n++] = found.gl_pathv[i];
        status = n > 1 ? cli_merge_into(r->output, files, n) : CLI_OK;
        for (int i = 1; status == CLI_OK && i < n; i++)
            unlink(files[i]);
    }
    if (!err)
        globfree(&found);
    free(files);
    free(pattern);
    return status;
}

/* Say which of the things that were asked for the capture does not have. */
static void record_lacks(const struct record *r, const struct cli_capture *c, const char *program)
{
    jsprof_read_tasks *tasks = NULL;
    jsprof_read_tasks_sum sum = { .size = sizeof sum };
    if ((r->ask.tasks || r->stalls) && jsprof_read_tasks_open(&tasks, c->reader, NULL) == 0)
        jsprof_read_tasks_of(tasks, &sum);
    jsprof_read_tasks_close(tasks);
    if ((r->ask.tasks || r->stalls) && !sum.tasks && !sum.runs && !sum.turns)
        cli_fail(c->label, "%s %s", program,
                 r->stalls ? "reported no turn of a loop that took so long"
                           : "reported no tasks and no turns of a loop");
    if (r->ask.alloc && !c->info.alloc_every)
        cli_fail(c->label, "%s samples no allocations", program);
    if (!c->info.is_whole && !c->is_cut)
        cli_fail(c->label, "the end of the recording is missing: %s was killed, has closed the "
                 "file, or the disk is full", program);
}

/* Say why there is no capture. */
static int record_nothing(const struct record *r, const char *program, int status)
{
    struct stat is;
    if (status == LAUNCH_NOT_RUN || status == LAUNCH_NOT_FOUND)
        return CLI_FAILED; /* reported */
    if (status > LAUNCH_SIGNAL)
        return cli_fail(r->ask.command, "%s recorded nothing before signal %d ended it", program,
                        status - LAUNCH_SIGNAL);
    if (stat(r->output, &is) == 0 && !is.st_size)
        return cli_fail(r->output, "nothing could be written into it");
    if (status)
        return cli_fail(r->ask.command, "%s recorded nothing: it ended with status %d before it "
                        "began to, or has nothing that records", program, status);
    return cli_fail(r->ask.command, "%s recorded nothing: it is no GJS program, no Lua that has "
                    "the module, and no host that obeys JSPROF, and the library for others is not "
                    "there or did not run", program);
}

/* Say what was recorded. Return CLI_FAILED if that is nothing: the file is as it was before. */
static int record_summary(const struct record *r, const char *program, int status,
                          const struct stat *before, bool *is_empty)
{
    struct cli_capture c;
    char samples[CLI_NUMBER];
    if (!record_is_new(r->output, before))
        return record_nothing(r, program, status);
    if (cli_load(&c, r->output))
        return CLI_FAILED;
    if (!r->is_quiet)
        fprintf(stderr, "%s: %s samples of %s\n", r->output,
                cli_count(samples, c.info.samples), program);
    record_lacks(r, &c, program);
    *is_empty = !c.info.samples;
    cli_close(&c);
    return CLI_OK;
}

/* Fail now rather than after the program has run. */
static int record_can_write(const char *output)
{
    struct stat is;
    int err = 0;
    const char *slash = strrchr(output, '/');
    char *folder = slash ? strndup(output, slash == output ? 1 : (size_t)(slash - output)) : NULL;
    if (stat(output, &is) == 0)
        err = S_ISDIR(is.st_mode) ? EISDIR : access(output, W_OK) < 0 ? errno : 0;
    else if (access(folder ? folder : ".", W_OK | X_OK) < 0)
        err = errno;
    free(folder);
    return err ? cli_fail(output, "%s", strerror(err)) : CLI_OK;
}

static int record_program(struct record *r, char **words)
{
    char *path = NULL;
    const char *slash = strrchr(words[0], '/');
    if (!r->output && asprintf(&path, "jsprof-%s.cap", slash ? slash + 1 : words[0]) < 0)
        return cli_fail(r->ask.command, "%s", strerror(ENOMEM));
    r->output = r->output ? r->output : path;
    if (record_can_write(r->output)) {
        free(path);
        return CLI_FAILED;
    }
    struct stat before = { .st_ino = 0 };
    stat(r->output, &before);
    struct stat since = { .st_ino = 0 };
    clock_gettime(CLOCK_REALTIME_COARSE, &since.st_mtim); /* as the files' times */
    const struct launch l = { .command = r->ask.command, .ask = &r->ask, .output = r->output,
                              .words = words, .has_children = r->has_children };
    pid_t child = launch_begin(&l);
    if (child > 0)
        record_watch(r, child, &before);
    int status = launch_end(child);
    int failed = r->is_merged && record_is_new(r->output, &before) ? record_merge(r, &since)
                                                                 : CLI_OK;
    bool is_empty = false;
    failed = failed ? failed : record_summary(r, words[0], status, &before, &is_empty);
    if (!failed && r->has_report) {
        r->path = path ? path : strdup(r->output);
        path = NULL;
        failed = r->path ? record_report(r) : CLI_FAILED;
        failed = is_empty ? CLI_OK : failed; /* too short a program has not failed */
        free(r->path);
    }
    free(path);
    return status ? status : failed;
}

static int record_check(struct record *r)
{
    static const char *const clocks[] = { "cpu", "wall", "cpu,wall", NULL };
    static const char *const sources[] = { "timer", "auto", "looker", "perf", NULL };
    const char *command = r->ask.command;
    if (!record_seconds(r->seconds, &r->ask.ms))
        return cli_usage(command, "--seconds wants a number of seconds, not \"%s\"", r->seconds);
    if (r->ask.hz < 1 || r->ask.hz > 10000)
        return cli_usage(command, "--hz wants 1 to 10000, not %u", (unsigned)r->ask.hz);
    int source = cli_choice(command, "source", r->source, sources);
    int clock = source < 0 ? -1 : cli_choice(command, "clock", r->ask.clock, clocks);
    if (clock < 0)
        return CLI_USAGE;
    r->ask.looker = source != 0;
    r->ask.source = r->source;
    if (clock == 2 && !r->ask.looker)
        return cli_usage(command, "--clock=cpu,wall: not together with --source=timer");
    if (r->stalls && !record_stalls(r->stalls, &r->ask.stall_us))
        return cli_usage(command, "--stalls wants a time from 1us to 3600s, such as 16ms, not "
                         "\"%s\"", r->stalls);
    r->ask.clock = clocks[clock == 2 ? 1 : clock]; /* the wall clock has both */
    if (r->has_report && r->output && strcmp(r->output, "-") == 0)
        return cli_usage(command, "--report needs a file, not standard output");
    return CLI_OK;
}

/* Record the program whose words begin at `from`. */
static int record_words(struct record *r, const struct cli_arguments *a, int from)
{
    if (from == a->n_words)
        return cli_usage(a->command, "no program after --");
    if (a->n_files != a->n_words - from)
        return cli_usage(a->command, "a process and a program");
    if (r->seconds || r->ask.session)
        return cli_usage(a->command, "--seconds and --session are for a process");
    r->seconds = "0";
    if (r->output && strcmp(r->output, "-") == 0)
        return cli_usage(a->command, "a program's capture needs a file");
    if (r->is_merged && !r->has_children)
        return cli_usage(a->command, "--merge goes with --children");
    return record_check(r) ? CLI_USAGE : record_program(r, a->words + from);
}

static int record_run(struct cli_arguments *a)
{
    static struct record r;
    char name[64];
    r = (struct record){ .ask = { .command = a->command, .hz = 1000, .clock = "cpu", .fd = -1 },
                         .source = "auto" };
    const struct cli_option options[] = {
        { "seconds", NULL, &r.seconds, NULL },   { "o", NULL, &r.output, NULL },
        { "output", NULL, &r.output, NULL },     { "hz", NULL, NULL, &r.ask.hz },
        { "clock", NULL, &r.ask.clock, NULL },   { "source", NULL, &r.source, NULL },
        { "compact", &r.ask.compact, NULL, NULL }, { "session", NULL, NULL, &r.ask.session },
        { "stalls", NULL, &r.stalls, NULL },     { "tasks", &r.ask.tasks, NULL, NULL },
        { "alloc", &r.ask.alloc, NULL, NULL },
        { "children", &r.has_children, NULL, NULL }, { "merge", &r.is_merged, NULL, NULL },
        { "follow", &r.is_followed, NULL, NULL }, { "progress", &r.has_progress, NULL, NULL },
        { "report", &r.has_report, NULL, NULL }, { "quiet", &r.is_quiet, NULL, NULL },
        { 0 },
    };
    if (cli_options(a, options))
        return CLI_USAGE;
    int dashes = 0;
    while (dashes < a->n_words && strcmp(a->words[dashes], "--") != 0)
        dashes++;
    if (dashes < a->n_words)
        return record_words(&r, a, dashes + 1);
    r.seconds = r.seconds ? r.seconds : "10";
    if (r.has_children || r.is_merged || r.is_followed || r.has_progress)
        return cli_usage(a->command, "--%s is for a program",
                         r.is_followed ? "follow" : r.has_progress ? "progress"
                         : r.has_children ? "children" : "merge");
    if (!a->n_files)
        return cli_usage(a->command, "no process named");
    if (!remote_pid(a->files[0], &r.ask.pid))
        return cli_usage(a->command, "\"%s\" is not the number of a process; a program goes after "
                         "--", a->files[0]);
    if (a->n_files != 1)
        return cli_usage(a->command, "one process at a time");
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
