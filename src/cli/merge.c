/* cli/merge.c - `jsprof merge`: several captures become one.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "export/writers.h"
#include "open.h"
#include "outfile.h"

static const char merge_help[] =
    "usage: jsprof merge FILE... -o OUTPUT\n"
    "\n"
    "Joins several captures into one, for instance those of parent and children, or\n"
    "of several runs. Damaged parts of a capture are dropped.\n"
    "\n"
    "  -o, --output FILE   the new capture, written whole or not at all; - is\n"
    "                      standard output\n"
    "  --follow            write OUTPUT anew while the captures grow\n"
    "\n"
    "If two captures use one process number for different command lines, the later\n"
    "capture's process gets a new number, above 4194303. If captures come from\n"
    "different boots or machines, their times are moved so that the times of day\n"
    "agree. The command refuses captures whose samples can not be added up: CPU time\n"
    "and elapsed time, or captures of jsprof and of another program. It copies call\n"
    "tables and listings from the first capture that has them.\n";

struct merge {
    struct cli_capture *captures; /* owned */
    jsprof_reader **inputs;       /* their readers; owned */
    int n;
    struct cli_outfile out;
};

static int merge_open(struct merge *m, const char *const *files, int n)
{
    for (; m->n < n; m->n++) {
        struct cli_capture *c = &m->captures[m->n];
        if (cli_load_with(c, files[m->n],
                          &(jsprof_read_options){ .size = sizeof(jsprof_read_options) },
                          cli_merge.name))
            return CLI_FAILED;
        m->inputs[m->n] = c->reader;
        const char *why = jsp_merge_refuses_reader(m->inputs[0], m->inputs[m->n]);
        if (why) {
            m->n++;
            return cli_fail(c->label, "can not be merged with %s: %s",
                            m->captures[0].label, why);
        }
    }
    return CLI_OK;
}

static int merge_write(struct merge *m, const char *output)
{
    struct jsp_merged merge;
    if (cli_outfile_open(&m->out, output))
        return CLI_FAILED;
    int err = jsp_merge_readers(m->inputs, (uint32_t)m->n, &m->out.sink, &merge);
    if (err < 0)
        return cli_outfile_close(&m->out, cli_fail(output, "%s", strerror(-err)));
    if (merge.renumbered)
        cli_fail(m->out.label, "%u process%s another number", merge.renumbered,
                 merge.renumbered == 1 ? " has" : "es have");
    if (merge.moved)
        cli_fail(m->out.label, "times of %u capture%s were moved to the first one's clock",
                 merge.moved, cli_s(merge.moved));
    if (merge.left_out)
        cli_fail(m->out.label, "%u embedded file%s skipped: an earlier capture has the same",
                 merge.left_out, cli_s(merge.left_out));
    return cli_outfile_close(&m->out, CLI_OK);
}

int cli_merge_into(const char *output, const char *const *files, int n)
{
    static struct merge m; /* its block of output is large */
    m.captures = calloc((size_t)n, sizeof *m.captures);
    m.inputs = calloc((size_t)n, sizeof *m.inputs);
    int status = m.captures && m.inputs ? merge_open(&m, files, n)
                                        : cli_fail(output, "%s", strerror(ENOMEM));
    if (status == CLI_OK)
        status = merge_write(&m, output);
    while (m.n > 0)
        cli_close(&m.captures[--m.n]);
    free(m.captures);
    free(m.inputs);
    return status;
}

static int merge_run(struct cli_arguments *a)
{
    const char *output = NULL;
    const struct cli_option options[] = { { "o", NULL, &output, NULL },
                                          { "output", NULL, &output, NULL },
                                          { 0 } };
    if (cli_options(a, options))
        return CLI_USAGE;
    if (a->n_files == 0)
        return cli_usage(a->command, "no capture named");
    if (!output)
        return cli_usage(a->command, "no output: name a file with -o");
    if (strcmp(output, "-") == 0 && isatty(STDOUT_FILENO))
        return cli_usage(a->command, "a capture is not for a terminal: name a file");
    int status = cli_outfile_spares(output, a->files, a->n_files);
    return status ? status : cli_merge_into(output, a->files, a->n_files);
}

const struct cli_command cli_merge = {
    .name = "merge",
    .summary = "several captures as one",
    .help = merge_help,
    .run = merge_run,
    .is_followed = true,
    .is_for_files = true,
};
