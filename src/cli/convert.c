/* cli/convert.c - `jsprof convert`: a capture in the format of another tool.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "filter.h"
#include "outfile.h"
#include "export/writers.h"

static const char convert_help[] =
    "usage: jsprof convert [--to FORMAT] [OPTION]... FILE\n"
    "  pprof       .pb.gz            go tool pprof, Pyroscope, Parca\n"
    "  otlp        .otlp             OpenTelemetry profiles, v1development (protobuf)\n"
    "  firefox     .profile.json     profiler.firefox.com (see also jsprof view)\n"
    "  speedscope  .speedscope.json  speedscope.app\n"
    "  chrome      .trace.json       Chromium's DevTools, trace viewers\n"
    "  perfetto    .pftrace          ui.perfetto.dev, trace_processor\n"
    "  folded, perf .folded, .perf   flamegraph.pl, inferno; readers of perf script\n"
    "  callgrind   .callgrind        KCachegrind; takes exact calls if there are any\n"
    "  csv, json   .csv, .json       one row per stack; the whole profile\n"
    "  dot         .dot              which task scheduled which, for Graphviz\n"
    "  syscap, compact (the same)    a capture: plain for Sysprof, or much smaller\n"
    "  --to pprof|otlp|firefox|speedscope|chrome|perfetto|folded|perf|callgrind\n"
    "  --to csv|json|dot|syscap|compact; --follow  written anew while FILE grows\n"
    "  -o, --output FILE  (default -) its ending may be FORMAT; --lines  of C code\n"
    CLI_FILTER_HELP;

/* A format that the tool writes. */
struct convert_format {
    const char *name, *extension;
    jsp_export_write *write;
    bool is_binary;  /* not for a terminal */
    bool is_whole;   /* of the whole capture, even without samples */
};

static const struct convert_format convert_formats[] = {
    { "pprof", ".pb.gz", jsp_export_pprof, true, false },
    { "otlp", ".otlp", jsp_export_otlp, true, false },
    { "firefox", ".profile.json", jsp_export_firefox, false, false },
    { "speedscope", ".speedscope.json", jsp_export_speedscope, false, false },
    { "chrome", ".trace.json", jsp_export_chrome, false, false },
    { "perfetto", ".pftrace", jsp_export_perfetto, true, false },
    { "perf", ".perf", jsp_export_perf, false, false },
    { "folded", ".folded", jsp_export_folded, false, false },
    { "callgrind", ".callgrind", jsp_export_callgrind, false, false },
    { "csv", ".csv", jsp_export_csv, false, false },
    { "json", ".json", jsp_export_json, false, false },
    { "dot", ".dot", jsp_export_dot, false, true },
    { "syscap", ".syscap", jsp_export_syscap, true, true },
    { "compact", ".compact", jsp_export_compact, true, true },
};
enum { CONVERT_N_FORMATS = sizeof convert_formats / sizeof *convert_formats };

struct convert {
    const struct convert_format *format;
    const char *to, *output;
    struct cli_filter filter;
    struct cli_capture capture;
    struct cli_outfile out;
};

/* Find the format of the name after --to, or without a name the format that the ending of the
 * output means. */
static int convert_choose(struct convert *c)
{
    char known[256] = "";
    for (int i = 0; i < CONVERT_N_FORMATS; i++) {
        const struct convert_format *f = &convert_formats[i];
        size_t len = strlen(c->output), n = strlen(f->extension);
        bool ends = len > n && strcmp(c->output + len - n, f->extension) == 0;
        if (c->to ? strcmp(f->name, c->to) == 0 : ends) {
            c->format = f;
            return CLI_OK;
        }
        const char *before = i == 0 ? "" : i == CONVERT_N_FORMATS - 1 ? " and " : ", ";
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", before, f->name);
    }
    if (c->to)
        return cli_usage("convert", "--to knows %s, not \"%s\"", known, c->to);
    return cli_usage("convert", "no format: name one of %s with --to", known);
}

static int convert_write(struct convert *c)
{
    if (c->capture.info.samples == 0 && c->format->write != jsp_export_callgrind &&
        !c->format->is_whole)
        return cli_no_samples(&c->capture);
    if (cli_outfile_open(&c->out, c->output))
        return CLI_FAILED;
    int err = jsp_export_of_reader(c->format->write, c->capture.reader, &c->out.sink,
                                   c->capture.label);
    cli_native_complain(&c->capture);
    int status = err == -ENODATA && c->format->is_whole ? cli_fail(c->capture.label, CLI_NO_TASKS)
                 : err == -ENODATA ? cli_no_samples(&c->capture)
                 : err < 0       ? cli_fail(c->capture.label, "%s", strerror(-err))
                                 : CLI_OK;
    return cli_outfile_close(&c->out, status);
}

static int convert_run(struct cli_arguments *a)
{
    static struct convert c; /* its block of output is large */
    c.output = "-";
    const struct cli_option options[] = {
        { "to", NULL, &c.to, NULL },
        { "o", NULL, &c.output, NULL },
        { "output", NULL, &c.output, NULL },
        { "lines", &c.filter.native.has_lines, NULL, NULL },
        CLI_FILTER_OPTIONS(&c.filter),
        { 0 },
    };
    if (cli_options(a, options) || convert_choose(&c))
        return CLI_USAGE;
    const char *path = cli_one_file(a);
    if (!path)
        return CLI_USAGE;
    if (c.format->is_binary && strcmp(c.output, "-") == 0 && isatty(STDOUT_FILENO))
        return cli_usage("convert", "%s is not for a terminal: name a file with -o",
                         c.format->name);
    /* A capture's account of losses covers all of it, so none of it may be missing. */
    static const struct cli_filter everything;
    if (c.format->is_whole && memcmp(&c.filter, &everything, sizeof everything) != 0)
        return cli_usage("convert", "--to %s keeps all there is: nothing can be chosen",
                         c.format->name);
    if (c.format->write == jsp_export_chrome && c.filter.measure &&
        strcmp(c.filter.measure, "time") != 0)
        return cli_usage("convert", "--to %s shows time alone", c.format->name);
    int status = cli_outfile_spares(c.output, &path, 1);
    c.filter.has_idle = true; /* other tools judge it themselves */
    c.filter.has_traces = c.format->write == jsp_export_otlp;
    if (status == CLI_OK)
        status = cli_filter_open(&c.capture, path, &c.filter, "convert");
    if (status)
        return status;
    status = convert_write(&c);
    cli_close(&c.capture);
    return status;
}

const struct cli_command cli_convert = {
    .name = "convert",
    .summary = "the capture in the format of another tool",
    .help = convert_help,
    .run = convert_run,
    .is_followed = true,
    .is_for_files = true,
};
