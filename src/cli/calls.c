/* cli/calls.c - `jsprof calls`: exact calls, of one capture or of two.
 *
 * SPDX-License-Identifier: MIT
 */
#include "calls.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "filter.h"
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
    jsprof_read_calls_close(c->calls);
    cli_close(&c->capture);
}

/* Open a capture and read its calls. CLI_OK; or an error that is reported, and nothing is open. */
static int calls_open(struct cli_calls *c, const char *path, const struct cli_calls_ask *ask,
                      const jsprof_read_calls_filter *filter)
{
    jsprof_read_error error = { .size = sizeof error };
    jsprof_read_defect defect = { .size = sizeof defect };
    memset(c, 0, sizeof *c);
    int status = cli_load_with(&c->capture, path, &ask->how, "calls");
    if (status)
        return status;
    jsprof_reader *r = c->capture.reader;
    int err = jsprof_read_calls_open(&c->calls, r, &error);
    for (uint64_t i = 0; jsprof_read_calls_defects(r, i, &defect, 1) == 1; i++)
        cli_complain_of(&c->capture, &defect);
    cli_native_originals(&c->capture);
    if (!err)
        err = jsprof_read_calls_select(c->calls, filter, &error);
    if (err) {
        status = cli_refuse(&c->capture, &error, "calls");
        calls_close(c);
        return status;
    }
    c->sum.size = sizeof c->sum;
    jsprof_read_calls_of(c->calls, &c->sum);
    c->modes = cli_calls_modes(c->sum.has_counts, c->sum.has_time, c->sum.has_bytes,
                               c->sum.has_edges);
    return CLI_OK;
}

/* Show the calls of one capture, or of two. */
static int calls_files(const char *const *files, int n, struct cli_calls_ask *ask)
{
    struct cli_calls first, second;
    jsprof_read_calls_filter by_name = ask->filter;
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

/* Read a part of 1 from "12.5". */
static int calls_min(double *out, const char *text)
{
    char *end;
    if (!text)
        return CLI_OK;
    *out = strtod(text, &end) / 100;
    if (end == text || *end || !(*out >= 0 && *out <= 1))
        return cli_usage("calls", "--min wants a percentage from 0 to 100, not \"%s\"", text);
    return CLI_OK;
}

/* Refuse an expression before any file is looked at. */
static int calls_pattern(const char *option, const char *pattern)
{
    regex_t regex;
    char why[128];
    int err = pattern ? regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) : 0;
    if (pattern && !err)
        regfree(&regex);
    if (!err || err == REG_ESPACE) /* opening finds out */
        return CLI_OK;
    regerror(err, &regex, why, sizeof why);
    return cli_usage("calls", "--%s: %s", option, why);
}

static int calls_run(struct cli_arguments *a)
{
    const char *min = NULL;
    const char *maps[CLI_VALUES], *trims[CLI_VALUES];
    uint32_t n_maps = 0, n_trims = 0;
    bool is_on = false, is_off = false, has_no_maps = false;
    struct cli_calls_ask ask = { .limit = UINT32_MAX,
                                 .filter = { .size = sizeof ask.filter, .sort = "self" },
                                 .how = { .size = sizeof ask.how, .maps = maps, .trims = trims } };
    const struct cli_option options[] = { { "sort", NULL, &ask.filter.sort, NULL },
                                          { "limit", NULL, NULL, &ask.limit },
                                          { "edges", &ask.has_edges, NULL, NULL },
                                          { "only", NULL, &ask.filter.only, NULL },
                                          { "file", NULL, &ask.filter.file, NULL },
                                          { "min", NULL, &min, NULL },
                                          { "map", NULL, maps, &n_maps },
                                          { "trim-path", NULL, trims, &n_trims },
                                          { "source-maps", NULL, &ask.how.source_maps, NULL },
                                          { "no-source-maps", &has_no_maps, NULL, NULL },
                                          { "on", &is_on, NULL, NULL },
                                          { "off", &is_off, NULL, NULL },
                                          CLI_FORM_OPTIONS(&ask.form),
                                          { 0 } };
    static const char *const sorts[] = { "self", "total", "calls", "each", "bytes", "name", NULL };
    if (cli_options(a, options) ||
        cli_choice(a->command, "sort", ask.filter.sort, sorts) < 0 ||
        cli_form_check(a->command, &ask.form))
        return CLI_USAGE;
    if (cli_maps_check(a->command, maps, n_maps))
        return CLI_USAGE;
    if (cli_source_maps_check(ask.how.source_maps))
        return CLI_FAILED;
    ask.how.n_maps = n_maps;
    ask.how.n_trims = n_trims;
    ask.how.flags = JSPROF_READ_NO_SAMPLES | (has_no_maps ? JSPROF_READ_GENERATED : 0u);
    if (a->n_files < 1 || a->n_files > 2)
        return cli_usage(a->command, a->n_files ? "two captures at most"
                                                : "no capture and no process named");
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
    if (calls_min(&ask.filter.min, min) || calls_pattern("only", ask.filter.only) ||
        calls_pattern("file", ask.filter.file))
        return CLI_USAGE;
    return is_process ? calls_process(a->command, pid, &ask)
                      : calls_files(a->files, a->n_files, &ask);
}

const struct cli_command cli_calls = {
    .name = "calls",
    .summary = "exact calls, times and bytes, or how two captures differ",
    .help = calls_help,
    .run = calls_run,
    .is_followed = true,
    .documents = { &cli_calls_document, &cli_calls_compare_document },
};
