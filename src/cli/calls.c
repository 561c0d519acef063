/* cli/calls.c - `jsprof calls`: exact calls, of one capture or of two.
 *
 * SPDX-License-Identifier: MIT
 */
#include "calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "filter.h"
#include "followed.h"
#include "native.h"
#include "serve/counts.h"

enum { CALLS_LIMIT = 30 };

static const char calls_help[] =
    "usage: jsprof calls [OPTION]... FILE [FILE2]   or   [--on|--off] PROCESS\n"
    "\n"
    "Shows how often each function was called, how long it took and how many bytes it\n"
    "allocated. The host counted these figures; they are exact, not sampled. With two\n"
    "captures, shows what changed. Of a process that listens, shows what it has\n"
    "counted so far; --on and --off switch its counting.\n"
    "\n"
    "  --sort self|total|calls|each|bytes|name\n"
    "                   (default self); two captures are sorted by the change of it\n"
    "  --only REGEX     only functions whose name matches; --file REGEX  whose file\n"
    "  --min PERCENT    only functions with at least this share of the total time\n"
    "                   (of the calls, if there are no times), in either capture\n"
    "  --limit N        show at most N rows; 0 is all (default 30)\n"
    "  --edges          caller and callee: number of calls, and total time of these\n"
    CLI_FORM_FOLLOW_HELP
    "  --map OLD=NEW    sources below OLD are below NEW; --trim-path DIR  no DIR\n"
    "  --source-maps MAP  a source map, or a folder of some; --no-source-maps  none\n"
    "\n"
    "Self is the time in the function itself. Total includes the functions that it\n"
    "called, and counts recursive calls once. PER CALL is total divided by calls.\n"
    "BYTES counts what the function itself allocated. All times exclude the measured\n"
    "cost of counting.\n";

static void calls_close(struct cli_calls *c)
{
    jsp_exact_free(&c->calls);
    jsp_naming_close(c->naming);
    jsp_read_close(&c->read);
}

/* For cli_originals_complain. */
static bool calls_unused(const void *maps, uint32_t i, jsprof_read_unused_map *out)
{
    struct jsp_originals_defect d;
    bool is_there = maps && jsp_originals_defect(maps, i, &d);
    if (is_there) {
        out->file = d.file;
        out->why = d.why;
    }
    return is_there;
}

/* Open a capture and read its calls. CLI_OK; or CLI_FAILED: the error is reported and
 * nothing is open. */
static int calls_open(struct cli_calls *c, const char *path, const struct cli_calls_ask *ask,
                      const struct cli_calls_keep *keep)
{
    struct jsp_read_defects defects = { 0 };
    struct jsp_naming_options naming = ask->naming;
    memset(c, 0, sizeof *c);
    char why[JSP_READ_WHY];
    cli_name_capture(&c->capture, path);
    c->capture.read = &c->read;
    cli_followed_open(path);
    if (jsp_read_open(&c->read, path, why) < 0)
        return cli_fail(c->capture.label, "%s", why);
    cli_followed_read(c->read.size, c->read.end_time != 0);
    /* Without the recording's end a map could be one of later code. */
    if (!c->read.end_time && !naming.source_maps)
        naming.has_no_source_maps = true;
    int err = jsp_exact_read(&c->calls, &c->read, &defects);
    cli_complain(&c->capture, &defects);
    if (!err)
        err = jsp_naming_open(&c->naming, &naming);
    if (!err && c->naming)
        jsp_naming_recorded(c->naming,
                            jsp_profile_day(&c->read, c->read.end_time));
    if (!err)
        err = jsp_exact_show(&c->calls, c->naming);
    const struct jsp_originals *maps = c->naming ? jsp_naming_originals(c->naming) : NULL;
    cli_originals_complain(c->capture.label,
                           &(struct cli_originals){ maps ? jsp_originals_n_mapped(maps) : 0,
                                                    calls_unused, maps });
    if (!err && c->calls.is_there)
        err = cli_calls_keep(keep, &c->calls);
    if (err || !c->calls.is_there) {
        cli_fail(c->capture.label, "%s",
                 err ? strerror(-err) : "no exact calls in this capture: the host counted none");
        calls_close(c);
        return CLI_FAILED;
    }
    c->is_over = c->read.end_time != 0;
    struct jsp_read_cursor walk;
    struct jsp_read_frame f;
    jsp_read_start(&walk, &c->read, NULL);
    while (!c->command.len && jsp_read_next(&walk, &f))
        if (f.type == JSP_WIRE_PROCESS && f.pid == c->calls.pid)
            jsp_read_process(&walk, &f, &c->command);
    return CLI_OK;
}

/* Show the calls of one capture, or of two. */
static int calls_files(const char *const *files, int n, struct cli_calls_ask *ask)
{
    struct cli_calls first, second;
    struct cli_calls_keep by_name = ask->keep;
    if (n == 2)
        by_name.min = 0; /* it applies to both captures together */
    int rc = calls_open(&first, files[0], ask, &by_name);
    if (rc)
        return rc;
    rc = n == 2 ? calls_open(&second, files[1], ask, &by_name) : CLI_OK;
    if (!rc && n == 2) {
        rc = cli_calls_compare(&first, &second, ask);
        calls_close(&second);
    } else if (!rc) {
        rc = cli_calls_table(&first, ask);
    }
    calls_close(&first);
    return rc;
}

/* Show what a process has counted so far. */
static int calls_process(const char *command, pid_t pid, struct cli_calls_ask *ask)
{
    char path[REMOTE_PATH];
    const char *file = path;
    int fd, rc = serve_counts_take(command, pid, &fd);
    if (rc)
        return rc;
    remote_path(path, fd);
    rc = calls_files(&file, 1, ask);
    close(fd);
    return rc;
}

static int calls_run(struct cli_arguments *a)
{
    const char *sort = "self", *only = NULL, *file = NULL, *min = NULL;
    const char *maps[CLI_VALUES], *trims[CLI_VALUES];
    bool is_on = false, is_off = false;
    struct cli_calls_ask ask = { .limit = UINT32_MAX,
                                 .naming = { .maps = maps, .trims = trims } };
    const struct cli_option options[] = { { "sort", NULL, &sort, NULL },
                                          { "limit", NULL, NULL, &ask.limit },
                                          { "edges", &ask.has_edges, NULL, NULL },
                                          { "only", NULL, &only, NULL },
                                          { "file", NULL, &file, NULL },
                                          { "min", NULL, &min, NULL },
                                          { "map", NULL, maps, &ask.naming.n_maps },
                                          { "trim-path", NULL, trims, &ask.naming.n_trims },
                                          { "source-maps", NULL, &ask.naming.source_maps, NULL },
                                          { "no-source-maps", &ask.naming.has_no_source_maps,
                                            NULL, NULL },
                                          { "on", &is_on, NULL, NULL },
                                          { "off", &is_off, NULL, NULL },
                                          CLI_FORM_OPTIONS(&ask.form),
                                          { 0 } };
    static const char *const sorts[] = { "self", "total", "calls", "each", "bytes", "name", NULL };
    int by = cli_options(a, options) ? -1 : cli_choice(a->command, "sort", sort, sorts);
    if (by < 0 || cli_form_check(a->command, &ask.form))
        return CLI_USAGE;
    if (cli_maps_check(a->command, maps, ask.naming.n_maps))
        return CLI_USAGE;
    if (cli_source_maps_check(ask.naming.source_maps))
        return CLI_FAILED;
    ask.sort = (enum jsp_exact_sort)by;
    if (a->n_files < 1 || a->n_files > 2)
        return cli_usage(a->command, a->n_files ? "two captures at most" : "no capture named");
    pid_t pid;
    bool is_process = a->n_files == 1 && remote_pid(a->files[0], &pid);
    if ((is_on || is_off) && (!is_process || is_on == is_off))
        return cli_usage(a->command, "--on or --off is for a process");
    if (is_on || is_off)
        return serve_counts_switch(a->command, pid, is_on);
    if (a->n_files == 2 && ask.has_edges)
        return cli_usage(a->command, "--edges is for one capture");
    if (ask.limit == UINT32_MAX) /* not given */
        ask.limit = cli_form_is_text(&ask.form) ? CALLS_LIMIT : 0;
    int rc = cli_calls_keep_open(&ask.keep, only, file, min);
    if (rc)
        return rc;
    rc = is_process ? calls_process(a->command, pid, &ask)
                    : calls_files(a->files, a->n_files, &ask);
    cli_calls_keep_close(&ask.keep);
    return rc;
}

const struct cli_command cli_calls = {
    .name = "calls",
    .summary = "exact calls, times and bytes, or how two captures differ",
    .help = calls_help,
    .run = calls_run,
    .is_followed = true,
    .documents = { &cli_calls_document, &cli_calls_compare_document },
};
