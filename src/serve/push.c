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
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/open.h"
#include "push_send.h"
#include "push_words.h"
#include "remote.h"

enum {
    PUSH_MIB = 1 << 20,
    PUSH_LOCK_MS = 50,     /* between two tries to get the queue for us alone */
    PUSH_LOCK_TRIES = 200, /* the process that records may outlive a command that is killed */
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
    "  --label KEY=VALUE  of each profile, not for a folder; may be repeated\n"
    "  --queue FOLDER     default ~/.local/state/jsprof/push\n"
    "  --queue-mib N      its bound (default 64), where the oldest ones are dropped\n"
    "  --token-file FILE  whose first line is a bearer token\n"
    "  --basic-file FILE  whose first line is USER:PASSWORD\n"
    "  --tenant NAME      X-Scope-OrgID, of Pyroscope\n"
    "  --windows N        end after so many, when all is sent or refused; 0: never\n"
    "  --from FOLDER      send what JSPROF_CONTINUOUS has completed there, a profile\n"
    "                     each, and end; --remove: remove it\n";

static const char *const push_kinds[] = { "pyroscope", "pusher", "parca", "otlp", "folder",
                                          NULL };

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
    for (int i = 0; err == -EWOULDBLOCK && i < PUSH_LOCK_TRIES; i++) {
        poll(NULL, 0, PUSH_LOCK_MS);
        queue_close(&p->queue);
        err = queue_open(&p->queue, path, (uint64_t)mib * PUSH_MIB);
    }
    if (err == -EWOULDBLOCK)
        return cli_usage(p->command, "another push uses the queue %s: name another with --queue",
                         path);
    return err ? cli_fail(path, "%s", strerror(-err)) : CLI_OK;
}

/* Make the folder for profiles, unless it is there. */
static int push_folder(const struct push *p)
{
    struct stat is;
    int err = mkdir(p->folder, 0777) < 0 ? errno : 0;
    if (!err || (stat(p->folder, &is) == 0 && S_ISDIR(is.st_mode)))
        return CLI_OK;
    return cli_fail(p->folder, "%s", strerror(err == EEXIST ? ENOTDIR : err));
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
    if (p->n_labels && which == PUSH_FOLDER)
        return cli_usage(p->command, "--label is not for a folder");
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
    p->queue.locked = &p->counts->locked;
    remote_catch();
    bool is_folder = p->kind == PUSH_FOLDER;
    p->before = is_folder ? 0 : queue_waiting(&p->queue);
    int status = push_send(p);
    const struct push_counts *c = p->counts;
    uint64_t lost = c->dropped + p->lost, sent = is_folder ? c->profiles - c->dropped : p->sent;
    uint32_t wait = is_folder ? 0 : queue_waiting(&p->queue);
    uint64_t all = c->profiles + p->before, known = sent + p->refused + lost + wait;
    if (all > known) {
        cli_fail(p->queue.path, "gone from the queue, and not sent by this command: %" PRIu64
                 ", counted as dropped", all - known);
        lost += all - known;
    }
    fprintf(stderr, "jsprof: push: %" PRIu64 " profile%s of %" PRIu32 " %s%s, %" PRIu64
            " bytes; %" PRIu64 " sent, %" PRIu64 " refused, %" PRIu64 " dropped, %" PRIu32
            " wait\n", c->profiles, cli_s(c->profiles), c->windows, p->from ? "capture" : "window",
            cli_s(c->windows), c->bytes, sent, p->refused, lost, wait);
    return p->refused || lost || c->failed_windows || p->is_unreadable ? CLI_FAILED : status;
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
    if (status == CLI_OK)
        status = p.kind == PUSH_FOLDER ? push_folder(&p) : push_queue(&p, queue, mib);
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
