/* cli/annotate.c - `jsprof annotate`: one function by line and by operation.
 *
 * SPDX-License-Identifier: MIT
 */
#include "annotate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/functions.h"
#include "analyze/gresource.h"
#include "analyze/name_parts.h"
#include "command.h"
#include "filter.h"
#include "head.h"
#include "threads.h"
#include "jsprof.h"

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

static bool annotate_is_exact(const struct jsp_function *f, const char *wanted)
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

static bool annotate_matches(const struct jsp_function *f, const char *wanted, int way)
{
    size_t len = strlen(wanted);
    bool is_name = strncmp(f->name, wanted, len) == 0 &&
                   (!f->name[len] || strncmp(f->name + len, " (", 2) == 0);
    switch (way) {
    case ANNOTATE_EXACT: return annotate_is_exact(f, wanted);
    case ANNOTATE_NAME_VM: return is_name && f->kind == JSPROF_KIND_VM;
    case ANNOTATE_NAME: return is_name;
    default: return strstr(f->name, wanted) || strstr(f->recorded, wanted);
    }
}

static uint32_t annotate_find(const struct jsp_functions *f, const struct jsp_profile *p,
                              const char *wanted, int way, uint32_t *found)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n; i++)
        if (annotate_matches(&p->functions[f->rows[i].function], wanted, way))
            if (!n++)
                *found = f->rows[i].function;
    return n;
}

static int annotate_several(const struct cli_annotate *a, const struct jsp_functions *f,
                            const char *wanted, int way)
{
    const struct jsp_profile *p = a->capture.profile;
    uint32_t shown = 0, n = annotate_find(f, p, wanted, way, &shown);
    cli_fail(a->capture.label, "%" PRIu32 " functions match \"%s\":", n, wanted);
    shown = 0;
    for (uint32_t i = 0; i < f->n && shown < ANNOTATE_LISTED; i++) {
        const struct jsp_function *one = &p->functions[f->rows[i].function];
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

static int annotate_choose(const struct cli_annotate *a, const struct jsp_functions *f,
                           const char *wanted, uint32_t *out)
{
    for (int way = 0; way < ANNOTATE_N_WAYS; way++) {
        uint32_t n = annotate_find(f, a->capture.profile, wanted, way, out);
        if (n > 1)
            return annotate_several(a, f, wanted, way);
        if (n == 1)
            return CLI_OK;
    }
    return cli_fail(a->capture.label, "no function \"%s\" was sampled%s", wanted,
                    a->capture.idle.samples ? "; --idle counts idle time, too" : "");
}

/* -- What is known of it ---------------------------------------------------- */

/* Find the source file. A line of native code names its own file, and the name of a script is its
 * file. */
static void annotate_source(struct cli_annotate *a)
{
    const struct jsp_annotate *r = &a->result;
    const struct jsp_profile *p = a->capture.profile;
    struct jsp_name_parts parts = jsp_name_split(a->function->name);
    struct jsp_read_text file = parts.file;
    a->line = parts.line;
    for (uint32_t i = 0; !file.len && i < r->n_lines; i++)
        if (r->lines[i].file)
            file = (struct jsp_read_text){ p->files[r->lines[i].file],
                                           (uint32_t)strlen(p->files[r->lines[i].file]) };
        else if (jsp_name_is_file(parts.name))
            file = parts.name;
    if (file.len == 0)
        return;
    a->file = strndup(file.at, file.len);
    if (cli_incomplete(!a->file))
        return;
    int err = jsp_naming_read(a->capture.profile->naming, &a->source, a->file, a->directory);
    if (err == -ENOENT)
        err = jsp_gresource_read(&a->source, &p->lookup, a->file);
    cli_incomplete(err == -ENOMEM);
}

static int annotate_build(struct cli_annotate *a, const char *wanted)
{
    struct jsp_profile *p = a->capture.profile;
    struct jsp_select select = a->capture.select;
    struct cli_native native = { .has_lines = true };
    struct jsp_read_defects defects = { 0 };
    struct jsp_functions functions;
    struct jsp_annotate_ask ask = { .select = &select, .samples = &a->capture.reader->rows,
                                    .defects = &defects };
    select.show = JSP_SHOW_ALL;
    int err = jsp_functions_build(&functions, p, &select);
    if (err < 0)
        return cli_fail(a->capture.label, "%s", strerror(-err));
    jsp_functions_sort(&functions, p, JSP_SORT_TOTAL);
    int status = annotate_choose(a, &functions, wanted, &ask.function);
    jsp_functions_free(&functions);
    if (status)
        return status;
    if (p->functions[ask.function].kind == JSPROF_KIND_NATIVE)
        cli_native_lines(&a->capture, &native, &select);
    else
        select.show = a->capture.select.show;
    err = jsp_annotate_build(&a->result, p, &ask);
    if (err < 0)
        return cli_fail(a->capture.label, "%s", strerror(-err));
    cli_complain(&a->capture, &defects);
    cli_originals_complain(a->capture.label, p->naming);
    a->function = &p->functions[ask.function];
    annotate_source(a);
    return CLI_OK;
}

/* -- Text before and after its lines ---------------------------------------- */

static void annotate_heading(const struct cli_annotate *a)
{
    const struct jsp_annotate *r = &a->result;
    const struct jsp_profile *p = a->capture.profile;
    const struct cli_style *s = &a->capture.style;
    char self[CLI_NUMBER], total[CLI_NUMBER], share[CLI_NUMBER], all[CLI_NUMBER];
    double of = r->value ? (double)r->value : 1;
    cli_colour(s, CLI_BOLD);
    cli_name(s, cli_span(a->function->name), s->columns);
    cli_colour(s, CLI_PLAIN);
    printf("\nself %s (%s of all), total %s (%s), in %s sample%s\n",
           cli_value(self, p, r->self), cli_percent(share, (double)r->self / of),
           cli_value(total, p, r->total), cli_percent(all, (double)r->total / of),
           cli_count((char[CLI_NUMBER]){ 0 }, r->total_samples), cli_s(r->total_samples));
}

/* Return true if the source is compiled into a program or library. */
static bool annotate_is_resource(const struct cli_annotate *a)
{
    return strncmp(a->file, "resource://", strlen("resource://")) == 0;
}

static void annotate_print_source(const struct cli_annotate *a)
{
    const struct jsp_profile *p = a->capture.profile;
    if (!a->file)
        return;
    fputs(a->source.path ? "source: " : "source not found: ", stdout);
    cli_name(&a->capture.style, cli_span(a->source.path ? a->source.path : a->file), 0);
    if (!a->source.path)
        printf("%s%s", annotate_is_resource(a) ? " (in a GResource of the program)" : "",
               a->directory ? "" : " (--source DIR adds a folder to look in)");
    else if (p->natives.recorded && a->source.changed > p->natives.recorded)
        fputs(" (changed after the recording: lines may differ)", stdout);
    putchar('\n');
}

static void annotate_part(const struct cli_annotate *a, uint64_t value, const char *what)
{
    char share[CLI_NUMBER];
    double of = a->result.self ? (double)a->result.self : 1;
    if (value < a->result.self)
        printf("%s of self is in a known %s.\n", cli_percent(share, (double)value / of), what);
}

static void annotate_closing(const struct cli_annotate *a)
{
    const struct jsp_annotate *r = &a->result;
    bool is_native = a->function->kind == JSPROF_KIND_NATIVE;
    bool is_vm = a->function->kind == JSPROF_KIND_VM;
    if (!r->n_lines && !r->code.n)
        puts(is_native ? "\nThis is native code, and its debug information has no lines."
             : is_vm   ? "\nThe host gave no lines of this function, and registered no listing."
                       : "\nThis is something that the host does: it has no lines.");
    putchar('\n');
    if (r->n_lines && r->self)
        annotate_part(a, r->in_lines, "line");
    if (r->code.n && r->self)
        annotate_part(a, r->in_rows, "row of the listing");
    if (r->code.is_shared)
        puts("Another function of this name has another listing: the rows count samples of both.");
    if (r->code.n < r->code.n_claimed)
        printf("The listing has %" PRIu32 " row%s, %" PRIu32 " of them %s in the file.\n",
               r->code.n_claimed, cli_s(r->code.n_claimed), r->code.n,
               r->code.n == 1 ? "is" : "are");
    if (is_native && r->n_lines)
        puts("This is native code: it has lines from its debug information, but no listing.");
    else if (!r->code.is_there && is_vm)
        puts("The host registered no listing of this function.");
    cli_head_idle(&(struct cli_head){ &a->capture, r->samples, r->value });
}

/* -- The command ------------------------------------------------------------ */

static int annotate_show(struct cli_annotate *a, const struct cli_form *form, bool is_dot)
{
    if (!cli_form_is_text(form))
        return cli_annotate_rows(a, form);
    if (is_dot && !a->result.code.n)
        return cli_fail(a->capture.label, "no listing of this function was registered");
    if (is_dot) {
        cli_annotate_dot(a);
        return CLI_OK;
    }
    annotate_heading(a);
    annotate_print_source(a);
    int status = a->result.n_lines || a->result.code.n ? cli_annotate_tables(a, form) : CLI_OK;
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
        status = annotate_build(&annotate, a->files[!file]);
        if (status == CLI_OK)
            status = annotate_show(&annotate, &form, is_dot);
        jsp_annotate_free(&annotate.result);
        jsp_source_free(&annotate.source);
        free(annotate.file);
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
