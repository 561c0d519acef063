/* cli/annotate_text.c - what text has before and after the lines of a function.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>

#include "annotate.h"
#include "options.h"
#include "threads.h"
#include "jsprof.h"

static void text_heading(const struct cli_annotate *a)
{
    const struct jsp_annotate *r = &a->result;
    const struct jsp_profile *p = &a->capture.profile;
    const struct cli_style *s = &a->capture.style;
    char self[CLI_NUMBER], total[CLI_NUMBER], share[CLI_NUMBER], all[CLI_NUMBER];
    double of = r->value ? (double)r->value : 1;
    cli_colour(s, CLI_BOLD);
    cli_name(s, cli_span(a->function->name), s->columns);
    cli_colour(s, CLI_PLAIN);
    printf("\nself %s (%s of all), total %s (%s), in %s samples\n",
           cli_value(self, p, r->self), cli_percent(share, (double)r->self / of),
           cli_value(total, p, r->total), cli_percent(all, (double)r->total / of),
           cli_count((char[CLI_NUMBER]){ 0 }, r->total_samples));
}

static void text_source(const struct cli_annotate *a)
{
    const struct jsp_profile *p = &a->capture.profile;
    if (!a->file)
        return;
    fputs(a->source.path ? "source: " : "source not found: ", stdout);
    cli_name(&a->capture.style, cli_span(a->source.path ? a->source.path : a->file), 0);
    if (!a->source.path)
        fputs(a->directory ? "" : " (--source DIR adds a folder to look in)", stdout);
    else if (p->natives.recorded && a->source.changed > p->natives.recorded)
        fputs(" (changed after the recording: lines may differ)", stdout);
    putchar('\n');
}

static void text_nothing(const struct cli_annotate *a)
{
    bool is_native = a->function->kind == JSPROF_KIND_NATIVE;
    bool is_vm = a->function->kind == JSPROF_KIND_VM;
    if (a->result.n_lines || a->result.code.n)
        return;
    puts(is_native ? "\nThis is native code, and its debug information has no lines."
         : is_vm   ? "\nThe host gave no lines of this function, and registered no listing."
                   : "\nThis is something that the host does: it has no lines.");
}

static void text_part(const struct cli_annotate *a, uint64_t value, const char *what)
{
    char share[CLI_NUMBER];
    double of = a->result.self ? (double)a->result.self : 1;
    if (value < a->result.self)
        printf("%s of self is in a known %s.\n", cli_percent(share, (double)value / of), what);
}

static void text_closing(const struct cli_annotate *a)
{
    const struct jsp_annotate *r = &a->result;
    text_nothing(a);
    putchar('\n');
    if (r->n_lines && r->self)
        text_part(a, r->in_lines, "line");
    if (r->code.n && r->self)
        text_part(a, r->in_rows, "row of the listing");
    if (r->code.is_shared)
        puts("Another function of this name has another listing: the rows count samples of both.");
    if (r->code.n < r->code.n_claimed)
        printf("The listing has %" PRIu32 " rows, %" PRIu32 " of them are in the file.\n",
               r->code.n_claimed, r->code.n);
    if (a->function->kind == JSPROF_KIND_NATIVE && r->n_lines)
        puts("This is native code: it has lines from its debug information, but no listing.");
    else if (!r->code.is_there && a->function->kind == JSPROF_KIND_VM)
        puts("The host registered no listing of this function.");
}

int cli_annotate_text(const struct cli_annotate *a, const struct cli_form *form)
{
    text_heading(a);
    text_source(a);
    int status = a->result.n_lines || a->result.code.n ? cli_annotate_tables(a, form) : CLI_OK;
    text_closing(a);
    return status;
}
