/* cli/annotate.c - `jsprof annotate`: one function by line and by operation.
 *
 * SPDX-License-Identifier: MIT
 */
#include "annotate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "filter.h"
#include "functions.h"
#include "head.h"

enum { ANNOTATE_LISTED = 8 };

static const char annotate_help[] =
    "usage: jsprof annotate [OPTION]... FILE FUNCTION\n"
    "\n"
    "Shows the time of one function by line, next to its source, and by bytecode\n"
    "operation if the host registered a listing. FUNCTION is a name as jsprof report\n"
    "prints it, that name without \" (file:line)\", or a part of it. All shares are\n"
    "shares of the function's total time. Self is the time in the line itself, total\n"
    "includes the functions that it called.\n"
    "\n"
    "  --source DIR      also look for the source below this directory\n"
    CLI_FORM_FOLLOW_HELP
    "  --dot             the bytecode as a graph for Graphviz; hot blocks are red\n"
    "\n" CLI_FILTER_HELP;

/* -- Which function --------------------------------------------------------- */

/* Ways to match a name, in the order of trial. A way that finds exactly one function
 * decides. */
enum { ANNOTATE_EXACT, ANNOTATE_NAME_VM, ANNOTATE_NAME, ANNOTATE_PART, ANNOTATE_N_WAYS };

static bool annotate_is_exact(const jsprof_read_function *f, const char *wanted)
{
    size_t len = strlen(f->name), module = strlen(f->module);
    const char *rest = wanted + len;
    if (strcmp(f->recorded, wanted) == 0)
        return !module;
    if (strncmp(f->name, wanted, len) != 0)
        return false;
    if (!*rest)
        return !module; /* "name [module]" means the native function */
    return strncmp(rest, " [", 2) == 0 && strncmp(rest + 2, f->module, module) == 0 &&
           strcmp(rest + 2 + module, "]") == 0;
}

static bool annotate_matches(const jsprof_read_function *f, const char *wanted, int way)
{
    size_t len = strlen(wanted);
    bool is_name = strncmp(f->name, wanted, len) == 0 &&
                   (!f->name[len] || strncmp(f->name + len, " (", 2) == 0);
    switch (way) {
    case ANNOTATE_EXACT: return annotate_is_exact(f, wanted);
    case ANNOTATE_NAME_VM: return is_name && strcmp(f->kind, "vm") == 0;
    case ANNOTATE_NAME: return is_name;
    default: return strstr(f->name, wanted) || strstr(f->recorded, wanted);
    }
}

static uint32_t annotate_find(const struct cli_functions *f, const char *wanted, int way,
                              const jsprof_read_function **found)
{
    uint32_t n = 0;
    for (uint64_t i = 0; i < f->n; i++)
        if (annotate_matches(&f->rows[i], wanted, way) && !n++)
            *found = &f->rows[i];
    return n;
}

static int annotate_several(const struct cli_annotate *a, const struct cli_functions *f,
                            const char *wanted, int way)
{
    const jsprof_read_function *first;
    uint32_t shown = 0, n = annotate_find(f, wanted, way, &first);
    cli_fail(a->capture.label, "%" PRIu32 " functions match \"%s\":", n, wanted);
    for (uint64_t i = 0; i < f->n && shown < ANNOTATE_LISTED; i++) {
        const jsprof_read_function *one = &f->rows[i];
        if (!annotate_matches(one, wanted, way))
            continue;
        char *name = cli_clean(&a->capture.style, cli_span(one->name));
        fprintf(stderr, "  %s%s%s%s\n", name ? name : "?", *one->module ? " [" : "",
                one->module, *one->module ? "]" : "");
        free(name);
        shown++;
    }
    if (n > shown)
        fprintf(stderr, "  and %" PRIu32 " more\n", n - shown);
    return CLI_FAILED;
}

static int annotate_choose(struct cli_annotate *a, const struct cli_functions *f,
                           const char *wanted)
{
    const jsprof_read_function *found = NULL;
    for (int way = 0; way < ANNOTATE_N_WAYS; way++) {
        uint32_t n = annotate_find(f, wanted, way, &found);
        if (n > 1)
            return annotate_several(a, f, wanted, way);
        if (n == 1) {
            a->function = *found;
            return CLI_OK;
        }
    }
    return cli_fail(a->capture.label, "no function \"%s\" was sampled%s", wanted,
                    a->capture.info.idle_samples ? "; --idle counts idle time, too" : "");
}

/* -- What is known of it ---------------------------------------------------- */

/* Read all lines and rows. Return false without memory. */
static bool annotate_read(struct cli_annotate *a)
{
    const jsprof_read_listing *l = a->listing;
    a->n_lines = (uint64_t)jsprof_read_listing_lines(l, 0, NULL, 0);
    a->n_rows = (uint64_t)jsprof_read_listing_rows(l, 0, NULL, 0);
    a->lines = calloc(a->n_lines + 1, sizeof *a->lines);
    a->rows = calloc(a->n_rows + 1, sizeof *a->rows);
    if (!a->lines || !a->rows)
        return false;
    a->lines->size = sizeof *a->lines;
    a->rows->size = sizeof *a->rows;
    a->inside.size = sizeof a->inside;
    return jsprof_read_listing_lines(l, 0, a->lines, a->n_lines) >= 0 &&
           jsprof_read_listing_rows(l, 0, a->rows, a->n_rows) >= 0 &&
           jsprof_read_listing_of(l, &a->inside) == 0;
}

static void annotate_source(struct cli_annotate *a)
{
    if (!*a->inside.file)
        return;
    int err = jsprof_read_source_open(&a->source, a->capture.reader, a->inside.file,
                                      a->directory, NULL);
    a->found.size = sizeof a->found;
    if (err == 0)
        jsprof_read_source_of(a->source, &a->found);
    cli_incomplete(err == -ENOMEM);
}

static int annotate_build(struct cli_annotate *a, const char *wanted, const struct cli_filter *f)
{
    const jsprof_read_order by_total = { .size = sizeof by_total, .sort = "total" };
    jsprof_read_error error = { .size = sizeof error };
    jsprof_read_defect defect = { .size = sizeof defect };
    struct cli_capture *c = &a->capture;
    struct cli_filter all = *f;
    struct cli_functions functions;
    all.native = (struct cli_native){ .has_native = true }; /* to find any function */
    int status = cli_filter_choose(c, &all, "annotate");
    if (status)
        return status;
    status = cli_functions_open(&functions, c, &by_total);
    if (status == CLI_OK)
        status = annotate_choose(a, &functions, wanted);
    cli_functions_free(&functions);
    if (status)
        return status;
    if (strcmp(a->function.kind, "native") == 0)
        cli_native_lines(c);
    else
        status = cli_filter_choose(c, f, "annotate");
    if (status)
        return status;
    if (jsprof_read_listing_open(&a->listing, c->reader, a->function.function, &error) < 0)
        return cli_refuse(c, &error, "annotate");
    if (!annotate_read(a))
        return cli_fail(c->label, "%s", strerror(ENOMEM));
    for (uint64_t i = 0; jsprof_read_listing_defects(a->listing, i, &defect, 1) == 1; i++)
        cli_complain_of(c, &defect);
    cli_native_originals(c);
    annotate_source(a);
    return CLI_OK;
}

/* -- Text before and after its lines ---------------------------------------- */

static void annotate_heading(const struct cli_annotate *a)
{
    const jsprof_read_inside *r = &a->inside;
    const char *unit = a->capture.info.unit;
    const struct cli_style *s = &a->capture.style;
    char self[CLI_NUMBER], total[CLI_NUMBER], share[CLI_NUMBER], all[CLI_NUMBER];
    double of = r->value ? (double)r->value : 1;
    cli_colour(s, CLI_BOLD);
    cli_name(s, cli_span(a->function.name), s->columns);
    cli_colour(s, CLI_PLAIN);
    printf("\nself %s (%s of all), total %s (%s), in %s sample%s\n",
           cli_value_of(self, unit, r->self), cli_percent(share, (double)r->self / of),
           cli_value_of(total, unit, r->total), cli_percent(all, (double)r->total / of),
           cli_count((char[CLI_NUMBER]){ 0 }, r->total_samples), cli_s(r->total_samples));
}

/* Return true if the source is compiled into a program or library. */
static bool annotate_is_resource(const struct cli_annotate *a)
{
    return strncmp(a->inside.file, "resource://", strlen("resource://")) == 0;
}

static void annotate_print_source(const struct cli_annotate *a)
{
    if (!*a->inside.file)
        return;
    fputs(a->source ? "source: " : "source not found: ", stdout);
    cli_name(&a->capture.style, cli_span(a->source ? a->found.path : a->inside.file), 0);
    if (!a->source)
        printf("%s%s", annotate_is_resource(a) ? " (in a GResource of the program)" : "",
               a->directory ? "" : " (--source DIR adds a folder to look in)");
    else if (a->found.is_newer)
        fputs(" (changed after the recording: lines may differ)", stdout);
    putchar('\n');
}

static void annotate_part(const struct cli_annotate *a, uint64_t value, const char *what)
{
    char share[CLI_NUMBER];
    double of = a->inside.self ? (double)a->inside.self : 1;
    if (value < a->inside.self)
        printf("%s of self is in a known %s.\n", cli_percent(share, (double)value / of), what);
}

static void annotate_closing(const struct cli_annotate *a)
{
    const jsprof_read_inside *r = &a->inside;
    bool is_native = strcmp(a->function.kind, "native") == 0;
    bool is_vm = strcmp(a->function.kind, "vm") == 0;
    if (!a->n_lines && !a->n_rows)
        puts(is_native ? "\nThis is native code, and its debug information has no lines."
             : is_vm   ? "\nThe host gave no lines of this function, and registered no listing."
                       : "\nThis is something that the host does: it has no lines.");
    putchar('\n');
    if (a->n_lines && r->self)
        annotate_part(a, r->in_lines, "line");
    if (a->n_rows && r->self)
        annotate_part(a, r->in_rows, "row of the listing");
    if (r->is_shared)
        puts("Another function of this name has another listing: the rows count samples of both.");
    if (a->n_rows < r->n_claimed)
        printf("The listing has %" PRIu32 " row%s, %" PRIu64 " of them %s in the file.\n",
               r->n_claimed, cli_s(r->n_claimed), a->n_rows, a->n_rows == 1 ? "is" : "are");
    if (is_native && a->n_lines)
        puts("This is native code: it has lines from its debug information, but no listing.");
    else if (!r->has_listing && is_vm)
        puts("The host registered no listing of this function.");
    cli_head_idle(&(struct cli_head){ &a->capture, r->samples, r->value });
}

/* -- The command ------------------------------------------------------------ */

static int annotate_show(struct cli_annotate *a, const struct cli_form *form, bool is_dot)
{
    if (!cli_form_is_text(form))
        return cli_annotate_rows(a, form);
    if (is_dot && !a->n_rows)
        return cli_fail(a->capture.label, "no listing of this function was registered");
    if (is_dot) {
        cli_annotate_dot(a);
        return CLI_OK;
    }
    annotate_heading(a);
    annotate_print_source(a);
    int status = a->n_lines || a->n_rows ? cli_annotate_tables(a, form) : CLI_OK;
    annotate_closing(a);
    return status;
}

static int annotate_run(struct cli_arguments *a)
{
    struct cli_form form = { 0 };
    bool is_dot = false;
    struct cli_annotate annotate = { 0 };
    struct cli_filter filter = { .keeps_samples = true };
    const struct cli_option options[] = { { "source", NULL, &annotate.directory, NULL },
                                          CLI_FILTER_OPTIONS(&filter),
                                          CLI_FORM_OPTIONS(&form),
                                          { "dot", &is_dot, NULL, NULL },
                                          { 0 } };
    if (cli_options(a, options))
        return CLI_USAGE;
    if (form.is_csv + form.is_json + is_dot > 1)
        return cli_usage(a->command, "--csv, --json and --dot exclude each other");
    if (a->n_files != 2)
        return cli_usage(a->command, a->n_files > 2 ? "one function of one capture at a time"
                                     : a->n_files   ? "no function named"
                                                    : "no capture named");
    int file = cli_which_file(a->files);
    int status = cli_filter_open(&annotate.capture, a->files[file], &filter, a->command);
    if (status == CLI_OK) {
        status = annotate_build(&annotate, a->files[!file], &filter);
        if (status == CLI_OK)
            status = annotate_show(&annotate, &form, is_dot);
        jsprof_read_source_close(annotate.source);
        jsprof_read_listing_close(annotate.listing);
        free(annotate.lines);
        free(annotate.rows);
        cli_close(&annotate.capture);
    }
    return status;
}

const struct cli_command cli_annotate = {
    .name = "annotate",
    .summary = "one function by line and by operation",
    .help = annotate_help,
    .run = annotate_run,
    .is_followed = true,
    .documents = { &cli_annotate_document },
};
