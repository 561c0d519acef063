/* cli/html.c - `jsprof html`: a capture, or two to compare, as a page for a browser.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "filter.h"
#include "outfile.h"
#include "page/of_readers.h"

static const char html_help[] =
    "usage: jsprof html [OPTION]... FILE [FILE] -o PAGE.html\n"
    "\n"
    "Writes one page that any browser opens, without a network: flame graph, samples\n"
    "in the order of time, callers and callees, tables, timeline. With two files the\n"
    "page shows what changed from the first to the second.\n"
    "\n"
    "  -o PAGE, --output PAGE   write to PAGE (- is standard output)\n"
    "  --follow                 write PAGE anew while FILE grows\n"
    "  --lines                  add lines of native code, from addr2line\n"
    "  --sources                put the source files into the page, with heat by\n"
    "                           line and by operation of the bytecode\n"
    "\n" CLI_FILTER_HELP
    "The page has a switch that shows or hides native frames; --native and --vm set\n"
    "its first position.\n";

struct html_run {
    struct cli_filter filter;
    const char *output;
    bool has_sources;
    struct cli_capture captures[JSP_HTML_MOST];
    uint32_t n; /* how many of them are open */
};

static int html_open(struct html_run *r, const struct cli_arguments *a)
{
    for (; r->n < (uint32_t)a->n_files; r->n++) {
        struct cli_capture *c = &r->captures[r->n];
        r->filter.keeps_samples = true;
        int status = cli_filter_open(c, a->files[r->n], &r->filter, a->command);
        if (status)
            return status;
    }
    return CLI_OK;
}

/* Prepare two captures for a comparison by the names of their functions. */
static int html_compare(struct html_run *r)
{
    jsprof_read_error error = { .size = sizeof error };
    jsprof_read_comparison *c;
    if (jsprof_read_compare(&c, r->captures[0].reader, r->captures[1].reader, NULL, &error) < 0)
        return cli_refuse(&r->captures[0], &error, "html");
    cli_incomplete(cli_folders_complain(r->captures, c) < 0);
    jsprof_read_compare_close(c);
    return CLI_OK;
}

/* Name what --sources does not put into the page. */
static void html_refused(const struct html_run *r, struct jsp_page_refused *refused)
{
    char more[CLI_NUMBER] = "";
    const struct cli_capture *c = &r->captures[r->n - 1];
    char *name = refused->first ? cli_clean(&c->style, cli_span(refused->first)) : NULL;
    if (refused->n > 1)
        snprintf(more, sizeof more, " (and %u more)", refused->n - 1);
    if (refused->n)
        cli_fail(c->label, "%s%s does not look like a source: not in the page",
                 name ? name : "?", more);
    free(name);
    free(refused->first);
}

static int html_write(struct html_run *r)
{
    struct cli_outfile file;
    int status = cli_outfile_open(&file, r->output);
    if (status)
        return status;
    struct jsp_page_refused refused = { 0 };
    struct jsp_page_readers page = { .n = r->n, .has_sources = r->has_sources };
    for (uint32_t i = 0; i < r->n; i++) {
        page.readers[i] = r->captures[i].reader;
        page.labels[i] = r->captures[i].label;
    }
    int err = jsp_page_of_readers(&page, &file.sink, &refused);
    if (err == -ENODATA && r->n == 1)
        status = cli_no_samples(&r->captures[0]);
    else if (err < 0)
        status = cli_fail(file.label, "%s",
                          err == -ENODATA ? "one of the captures has no chosen samples"
                                          : strerror(-err));
    for (uint32_t i = 0; i < r->n; i++)
        cli_native_complain(&r->captures[i]);
    html_refused(r, &refused);
    return cli_outfile_close(&file, status);
}

static int html_check(struct html_run *r, const struct cli_arguments *a)
{
    if (a->n_files == 0)
        return cli_usage(a->command, "no capture named");
    if (a->n_files > JSP_HTML_MOST)
        return cli_usage(a->command, "one capture, or two to compare, not %d", a->n_files);
    if (!r->output)
        return cli_usage(a->command, "where to? -o PAGE.html (or -o - for standard output)");
    for (int i = 0; i < a->n_files; i++)
        if (i > 0 && strcmp(a->files[i], "-") == 0 && strcmp(a->files[0], "-") == 0)
            return cli_usage(a->command, "standard input is only there once");
    return cli_outfile_spares(r->output, a->files, a->n_files);
}

static int html_run(struct cli_arguments *a)
{
    struct html_run *r = calloc(1, sizeof *r);
    if (!r)
        return cli_fail(a->command, "%s", strerror(ENOMEM));
    const struct cli_option options[] = { { "o", NULL, &r->output, NULL },
                                          { "output", NULL, &r->output, NULL },
                                          { "lines", &r->filter.native.has_lines, NULL,
                                            NULL },
                                          { "sources", &r->has_sources, NULL, NULL },
                                          CLI_FILTER_OPTIONS(&r->filter),
                                          { 0 } };
    int status = cli_options(a, options) ? CLI_USAGE : html_check(r, a);
    if (status == CLI_OK)
        status = html_open(r, a);
    if (status == CLI_OK && r->n == 2)
        status = html_compare(r);
    if (status == CLI_OK)
        status = html_write(r);
    for (uint32_t i = 0; i < r->n; i++)
        cli_close(&r->captures[i]);
    free(r);
    return status;
}

const struct cli_command cli_html = {
    .name = "html",
    .summary = "a page for a browser: flame graph, timeline, tables; two: their difference",
    .help = html_help,
    .run = html_run,
    .is_followed = true,
    .is_for_files = true,
};
