/* serve/top.c - `jsprof top PID`: what a process does, again and again.
 *
 * The process records into a file in memory that grows, in the compact form; each picture reads its
 * newest part. When the file has become large, the recording ends and another one begins: so the
 * memory of a view that stays open for days is bounded. The process ends it after ten minutes, in
 * case the view is paused, is stopped, or its terminal takes nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#include "top.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "screen.h"

enum { TOP_HZ = 40, TOP_FILE = 4 << 20, TOP_FIRST_MS = 50, TOP_ANSWER = 160 };
enum { TOP_MOST_S = 600 }; /* of one recording */

static const double top_window = 5; /* seconds that a picture shows */

/* The file lags behind by so many seconds, at most. */
static const double top_lag = 1;

static const char top_help[] =
    "usage: jsprof top [OPTION]... PROCESS\n"
    "\n"
    "Shows what a process that listens (see jsprof ps) does now: the shares of the\n"
    "last five seconds, drawn anew each second. Where standard output is no terminal,\n"
    "records once and prints one table.\n"
    "\n"
    "  --by function|line|thread|category|module   (keys f, l, t, c, m)\n"
    "  --sort self|total|samples|name  (key s takes the next one)\n"
    "  --only REGEX     stacks with this function (key /); --thread WHICH  one thread\n"
    "  --native         show the code of interpreters, too; --vm  no native code\n"
    "  --hz N           samples a second and thread (default 40); --clock cpu|wall\n"
    "  --delay N        seconds between pictures (default 1)\n"
    "  --once           print one table; --seconds N  after so many (default 2)\n"
    "  --limit N        rows of that table; 0 is all (default 30)\n"
    "  -o FILE          where key w saves the capture (default jsprof-PID.cap)\n"
    "  --session N      if the process has several: which one (default: the newest)\n"
    CLI_FORM_HELP
    "Other keys: space pauses, a shows everything since the start, q ends.\n";

struct top {
    struct remote remote;
    struct remote_ask ask;
    struct top_choice choice;
    struct cli_form form;
    struct top_picture picture;
    const char *output;
    double delay, seconds;  /* between pictures; of one table */
    double began, seen;     /* when the recording began; the end of what was read, since then */
    uint64_t most;          /* bytes of a file from which another one begins */
    uint32_t limit;
    bool is_once, is_paused, is_typing, is_over, is_gone;
    char typed[sizeof ((struct top_choice *)0)->only];
    char said[TOP_ANSWER];  /* in the last line until the next key */
};

static double top_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint64_t top_size(const struct top *t)
{
    struct stat is;
    return fstat(t->ask.fd, &is) == 0 ? (uint64_t)is.st_size : 0;
}

/* -- The recording ----------------------------------------------------------------- */

static int top_begin(struct top *t)
{
    t->ask.fd = remote_file(t->ask.command);
    int status = t->ask.fd < 0 ? CLI_FAILED : remote_begin(&t->remote, &t->ask);
    t->began = top_now();
    t->seen = 0;
    return status;
}

static int top_end(struct top *t)
{
    bool is_whole;
    return t->remote.talk.fd < 0 ? CLI_OK : remote_stop(&t->remote, t->ask.command, &is_whole);
}

/* Begin another file if this one has become large, or has ended. */
static int top_renew(struct top *t)
{
    uint64_t n = top_size(t);
    if (!t->most) /* the first picture has all names */
        t->most = n > TOP_FILE / 4 ? 4 * n : TOP_FILE;
    if (n < t->most && t->remote.talk.fd >= 0)
        return CLI_OK;
    int status = top_end(t);
    close(t->ask.fd);
    return status ? status : top_begin(t);
}

/* Copy the file as it is now. */
static void top_save(struct top *t)
{
    off_t at = 0, all = (off_t)top_size(t);
    ssize_t n = 1;
    int fd = open(t->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
    while (fd >= 0 && at < all && n > 0)
        n = sendfile(fd, t->ask.fd, &at, (size_t)(all - at));
    int err = fd < 0 || n < 0 ? errno : 0;
    if (fd >= 0 && close(fd) < 0 && !err)
        err = errno;
    snprintf(t->said, sizeof t->said, "%s%s", err ? "not saved: " : "saved ",
             err ? strerror(err) : t->output);
}

/* -- One picture ------------------------------------------------------------------- */

/* Which part of the recording to read: the last seconds of what was read before, since the file
 * lags behind, unless the process has written nothing since then. */
static struct top_span top_part(const struct top *t)
{
    double now = top_now() - t->began, step = top_window - t->delay;
    struct top_span span = { .to = now - top_lag };
    if (t->choice.is_all || t->is_once || now < top_window)
        return span;
    span.from = t->seen - (step > 1 ? step : 1);
    if (span.from < now - top_window - top_lag)
        span.from = now - top_window - top_lag;
    return span;
}

static void top_look(struct top *t)
{
    char path[REMOTE_PATH];
    remote_path(path, t->ask.fd);
    top_forget(&t->picture);
    top_read(&t->picture, path, &t->choice, top_part(t));
    if (t->picture.capture.reader)
        t->seen = t->picture.span.to;
}

static void top_keys_line(const struct top *t)
{
    const struct cli_style *s = &t->picture.capture.style;
    char line[256];
    if (t->is_typing)
        snprintf(line, sizeof line, "only stacks with: %s_", t->typed);
    else if (*t->said)
        snprintf(line, sizeof line, "%s", t->said);
    else
        snprintf(line, sizeof line, "%sby %s, %s%s%s%s: f l t c m  s sort  / only  space pause  "
                 "a all  w save  q quit", t->is_paused ? "PAUSED  " : "",
                 top_views[t->choice.view], top_sorts[t->choice.sort],
                 *t->choice.only ? ", only " : "", t->choice.only,
                 t->choice.is_all ? ", all" : "");
    cli_colour(s, t->is_paused ? CLI_WARM : CLI_DIM);
    cli_name(s, cli_span(line), s->columns);
    cli_colour(s, CLI_PLAIN);
    putchar('\n');
}

static void top_draw(struct top *t)
{
    int rows = screen_rows() - 6;
    struct top_picture *p = &t->picture;
    p->capture.style = cli_style_get(); /* the window may have another size */
    screen_begin();
    top_head(p, &t->ask);
    top_keys_line(t);
    if (*p->error)
        printf("\n%s\n", p->error);
    else if (!p->rows.n)
        printf("\nno samples: %s\n", *t->choice.only || t->choice.thread ? "in what was chosen"
                                                                         : "its threads sleep");
    else
        putchar('\n'), top_rows(p, &t->form, rows < 1 ? 1 : (uint32_t)rows);
    screen_end();
}

/* -- Keys ---------------------------------------------------------------------------- */

/* A key while an expression is typed. */
static void top_type(struct top *t, int key)
{
    size_t n = strlen(t->typed);
    if (key == SCREEN_ENTER || key == '\n') {
        strcpy(t->choice.only, t->typed);
        t->is_typing = false;
    } else if (key == SCREEN_ESCAPE) {
        t->is_typing = false;
    } else if (key == SCREEN_ERASE || key == '\b') {
        t->typed[n ? n - 1 : 0] = 0;
    } else if (key >= ' ' && n + 1 < sizeof t->typed) {
        t->typed[n] = (char)key;
        t->typed[n + 1] = 0;
    }
}

static void top_key(struct top *t, int key)
{
    static const char views[] = "fltcm";
    const char *view = strchr(views, key);
    *t->said = 0;
    if (t->is_typing)
        top_type(t, key);
    else if (view)
        t->choice.view = (enum top_view)(view - views);
    else if (key == 's')
        t->choice.sort = top_sorts[t->choice.sort + 1] ? t->choice.sort + 1 : 0;
    else if (key == 'a')
        t->choice.is_all = !t->choice.is_all;
    else if (key == ' ')
        t->is_paused = !t->is_paused;
    else if (key == 'w')
        top_save(t);
    else if (key == '/')
        t->is_typing = true, strcpy(t->typed, t->choice.only);
    else if (key == 'q' || key == SCREEN_ESCAPE)
        t->is_over = true;
}

/* Look at the recording's end: its time is over, or its process ended it. */
static void top_hear(struct top *t)
{
    int got = serve_line(&t->remote.talk, t->remote.done, 0);
    if (got == -ETIME)
        return;
    serve_end(&t->remote.talk);
    if (got != 1 || top_now() - t->began < t->ask.ms / 1e3 - 1)
        t->is_over = t->is_gone = true;
}

/* Wait for the next picture, and take keys meanwhile: each changes what is shown at once. */
static void top_wait(struct top *t, double until)
{
    while (!t->is_over && !remote_is_caught()) {
        double left = until - top_now();
        if (left <= 0 && !t->is_paused && !t->is_typing)
            return;
        int key = screen_key(left > 0 ? (int)(left * 1000) + 1 : (int)(t->delay * 1000),
                             t->remote.talk.fd);
        if (key) {
            top_key(t, key);
            top_look(t);
            top_draw(t);
        }
        top_hear(t);
    }
}

/* -- The command ----------------------------------------------------------------------- */

/* Wait until there is a sample, for a second at most. */
static void top_first(struct top *t)
{
    double until = top_now() + top_lag;
    do {
        top_wait(t, top_now() + TOP_FIRST_MS / 1e3);
        top_look(t);
    } while (!t->picture.rows.n && top_now() < until && !t->is_over && !remote_is_caught());
}

static int top_live(struct top *t)
{
    int status = CLI_OK;
    top_first(t);
    while (!status && !t->is_over && !remote_is_caught()) {
        top_draw(t);
        top_wait(t, top_now() + t->delay);
        if (t->is_over || remote_is_caught())
            break;
        top_look(t);
        status = top_renew(t);
    }
    screen_close();
    if (t->is_gone && !status)
        return cli_fail(t->ask.command, "%s ended the recording", t->remote.who);
    return status;
}

static int top_once(struct top *t)
{
    double until = top_now() + t->seconds;
    while (!remote_is_caught() && !t->is_over && top_now() < until) {
        screen_key((int)((until - top_now()) * 1000) + 1, t->remote.talk.fd);
        top_hear(t);
    }
    int status = top_end(t);
    if (status)
        return status;
    top_look(t);
    if (*t->picture.error)
        return cli_fail(t->ask.command, "%s: %s", t->remote.who, t->picture.error);
    if (!cli_form_is_text(&t->form))
        return top_rows(&t->picture, &t->form, t->limit);
    top_head(&t->picture, &t->ask);
    putchar('\n');
    return top_rows(&t->picture, &t->form, t->limit);
}

/* Read a number of seconds. */
static bool top_seconds(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && !*end && *out >= 0.1 && *out <= 3600;
}

static int top_check(struct top *t, const char *by, const char *sort, const char *delay,
                     const char *seconds)
{
    static const char *const clocks[] = { "cpu", "wall", NULL };
    const char *command = t->ask.command;
    int view = cli_choice(command, "by", by, top_views);
    int order = view < 0 ? -1 : cli_choice(command, "sort", sort, top_sorts);
    if (order < 0 || cli_choice(command, "clock", t->ask.clock, clocks) < 0 ||
        cli_form_check(command, &t->form))
        return CLI_USAGE;
    t->choice.view = (enum top_view)view;
    t->choice.sort = (uint32_t)order;
    if (t->ask.hz < 1 || t->ask.hz > 10000)
        return cli_usage(command, "--hz wants 1 to 10000, not %u", (unsigned)t->ask.hz);
    if (!top_seconds(delay, &t->delay))
        return cli_usage(command, "--delay wants 0.1 to 3600 seconds, not \"%s\"", delay);
    if (!top_seconds(seconds, &t->seconds))
        return cli_usage(command, "--seconds wants 0.1 to 3600, not \"%s\"", seconds);
    if (t->choice.has_native && t->choice.is_vm_only)
        return cli_usage(command, "--native and --vm exclude each other");
    return CLI_OK;
}

static int top_process(struct top *t)
{
    double most = t->seconds > TOP_MOST_S ? t->seconds : TOP_MOST_S;
    t->ask.ms = (uint32_t)(most * 1000) + SERVE_ANSWER_MS;
    remote_catch();
    int status = top_begin(t);
    if (status) {
        if (t->ask.fd >= 0)
            close(t->ask.fd);
        return status;
    }
    bool is_live = !t->is_once && cli_form_is_text(&t->form) && screen_open();
    t->is_once = !is_live;
    status = is_live ? top_live(t) : top_once(t);
    int ended = top_end(t);
    top_forget(&t->picture);
    close(t->ask.fd);
    return status ? status : ended;
}

static int top_run(struct cli_arguments *a)
{
    static struct top t;
    const char *by = "function", *sort = "self", *delay = "1", *seconds = "2", *only = "";
    char name[64];
    t = (struct top){ .ask = { .command = a->command, .hz = TOP_HZ, .clock = "cpu",
                               .looker = true, .compact = true, .fd = -1 }, .limit = 30 };
    const struct cli_option options[] = {
        { "by", NULL, &by, NULL },             { "sort", NULL, &sort, NULL },
        { "only", NULL, &only, NULL },         { "thread", NULL, &t.choice.thread, NULL },
        { "native", &t.choice.has_native, NULL, NULL },
        { "vm", &t.choice.is_vm_only, NULL, NULL },
        { "hz", NULL, NULL, &t.ask.hz },       { "clock", NULL, &t.ask.clock, NULL },
        { "delay", NULL, &delay, NULL },       { "seconds", NULL, &seconds, NULL },
        { "once", &t.is_once, NULL, NULL },    { "limit", NULL, NULL, &t.limit },
        { "o", NULL, &t.output, NULL },        { "output", NULL, &t.output, NULL },
        { "session", NULL, NULL, &t.ask.session }, CLI_FORM_OPTIONS(&t.form), { 0 },
    };
    if (cli_options(a, options) || top_check(&t, by, sort, delay, seconds))
        return CLI_USAGE;
    if (a->n_files != 1)
        return cli_usage(a->command, a->n_files ? "one process at a time" : "no process named");
    if (!remote_pid(a->files[0], &t.ask.pid))
        return cli_usage(a->command, "\"%s\" is not the number of a process", a->files[0]);
    if (strlen(only) >= sizeof t.choice.only)
        return cli_usage(a->command, "--only has more than %zu bytes", sizeof t.choice.only - 1);
    strcpy(t.choice.only, only);
    snprintf(name, sizeof name, "jsprof-%d.cap", (int)t.ask.pid);
    t.output = t.output ? t.output : name;
    return top_process(&t);
}

const struct cli_command cli_top = {
    .name = "top",
    .summary = "what a process that runs does now",
    .help = top_help,
    .run = top_run,
    .is_for_files = true,
    .documents = { &top_document },
};
