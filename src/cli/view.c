/* cli/view.c - `jsprof view`: a capture in the Firefox Profiler, with one click.
 *
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "filter.h"
#include "serve.h"
#include "export/writers.h"

static const char view_help[] =
    "usage: jsprof view [OPTION]... FILE\n"
    "\n"
    "Opens the capture in the Firefox Profiler: serves it to this machine only, and\n"
    "prints a link for any browser. The viewer comes from the network; the capture\n"
    "stays on this machine. Ctrl-C ends the command.\n"
    "\n"
    "  --open           also open the link (with xdg-open)\n"
    "  --once           end after the capture was read once\n"
    "  --port N         listen on this port (default: any free port)\n"
    "  --viewer URL     use another Firefox Profiler (default\n"
    "                   https://profiler.firefox.com)\n"
    "  --lines          add files and lines of native code, from addr2line\n"
    "\n" CLI_FILTER_HELP;

struct view {
    struct cli_filter filter;
    struct cli_capture capture;
    struct jsp_sink sink;
    struct jsp_bytes profile;
    struct cli_serve serve;
    const char *viewer;
    char origin[200];
    uint32_t port;
    bool is_opened, is_once;
};

/* Cut "https://host:port/path" to "https://host:port". */
static int view_origin(struct view *v)
{
    const char *host = strstr(v->viewer, "://");
    bool is_known = strncmp(v->viewer, "https://", 8) == 0 ||
                    strncmp(v->viewer, "http://", 7) == 0;
    size_t len = host ? (size_t)(host + 3 - v->viewer) : 0;
    size_t name = host ? strcspn(host + 3, "/?#") : 0;
    if (!is_known || name == 0 || len + name >= sizeof v->origin)
        return cli_usage("view", "--viewer wants an address, not \"%s\"", v->viewer);
    for (size_t i = 0; i < strlen(v->viewer); i++)
        if (!isgraph((unsigned char)v->viewer[i]))
            return cli_usage("view", "--viewer wants an address without blanks");
    memcpy(v->origin, v->viewer, len + name);
    return CLI_OK;
}

static int view_convert(struct view *v)
{
    if (v->capture.info.samples == 0)
        return cli_no_samples(&v->capture);
    jsp_sink_init(&v->sink, jsp_bytes_write, &v->profile);
    int err = jsp_export_of_reader(jsp_export_firefox, v->capture.reader, &v->sink,
                                   v->capture.label);
    cli_native_complain(&v->capture);
    if (err == 0)
        err = jsp_sink_flush(&v->sink);
    if (err == -ENODATA)
        return cli_no_samples(&v->capture);
    return err < 0 ? cli_fail(v->capture.label, "%s", strerror(-err)) : CLI_OK;
}

static int view_serve(struct view *v)
{
    v->serve = (struct cli_serve){ .name = "jsprof.json",
                                   .origin = v->origin,
                                   .body = v->profile.at,
                                   .n = v->profile.n,
                                   .is_once = v->is_once };
    int err = cli_serve_open(&v->serve, (uint16_t)v->port);
    if (err < 0)
        return cli_fail("127.0.0.1", "%s", strerror(-err));
    /* VIEWER/from-url/ADDRESS, with ":" and "/" of the address written as %3A and %2F. */
    char address[256], escaped[3 * sizeof address], *to = escaped, *link;
    size_t len = strlen(v->viewer);
    snprintf(address, sizeof address, "http://127.0.0.1:%u%s", v->serve.port, v->serve.path);
    for (const char *at = address; *at; at++)
        to += sprintf(to, *at == ':' || *at == '/' ? "%%%02X" : "%c", *at);
    while (len > 0 && v->viewer[len - 1] == '/')
        len--;
    if (asprintf(&link, "%.*s/from-url/%s", (int)len, v->viewer, escaped) < 0)
        return cli_fail(v->capture.label, "%s", strerror(ENOMEM));
    puts(link);
    fflush(stdout);
    fprintf(stderr, "jsprof: open this link; %s\n",
            v->is_once ? "this ends when the capture was read" : "Ctrl-C ends it");
    extern char **environ;
    char *const words[] = { (char[]){ "xdg-open" }, link, NULL };
    pid_t child;
    err = v->is_opened ? posix_spawnp(&child, words[0], NULL, NULL, words, environ) : 0;
    if (err)
        cli_fail("xdg-open", "%s (open the link by hand)", strerror(err));
    free(link);
    err = cli_serve_run(&v->serve);
    return err < 0 ? cli_fail("127.0.0.1", "%s", strerror(-err)) : CLI_OK;
}

static int view_run(struct cli_arguments *a)
{
    static struct view v; /* its block of output is large */
    v.viewer = "https://profiler.firefox.com";
    const struct cli_option options[] = {
        { "open", &v.is_opened, NULL, NULL },
        { "once", &v.is_once, NULL, NULL },
        { "port", NULL, NULL, &v.port },
        { "viewer", NULL, &v.viewer, NULL },
        { "lines", &v.filter.native.has_lines, NULL, NULL },
        CLI_FILTER_OPTIONS(&v.filter),
        { 0 },
    };
    v.filter.has_idle = true; /* the viewer judges it itself */
    if (cli_options(a, options) || view_origin(&v))
        return CLI_USAGE;
    if (v.port > UINT16_MAX)
        return cli_usage("view", "--port wants a number up to 65535, not %u", v.port);
    int status = cli_filter_open(&v.capture, cli_one_file(a), &v.filter, "view");
    if (status)
        return status;
    status = view_convert(&v);
    if (status == CLI_OK)
        status = view_serve(&v);
    jsp_bytes_free(&v.profile);
    cli_close(&v.capture);
    return status;
}

const struct cli_command cli_view = {
    .name = "view",
    .summary = "the capture in the Firefox Profiler, with one click",
    .help = view_help,
    .run = view_run,
    .is_for_files = true,
};
