/* cli/stalls.c - `jsprof stalls`: what kept the event loop.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "filter.h"
#include "head.h"

enum { STALLS_LIMIT = 20 };

static const char stalls_help[] =
    "usage: jsprof stalls [OPTION]... FILE\n"
    "\n"
    "Shows the turns of the event loop that took too long, the worst first, and why:\n"
    "a function ran, a collector ran, the thread was asleep in a call, or it waited\n"
    "for a processor. Stalls with the same cause, function and task are one row.\n"
    "\n"
    "  --over TIME      how long is too long (default 16ms, or the capture's limit)\n"
    "  --each           show every stall separately, with its time\n"
    "  --limit N        show at most N rows; 0 is all (default 20)\n"
    CLI_FORM_FOLLOW_HELP
    "\n"
    CLI_FILTER_HELP
    "\n"
    "CAUSE is what took most of the worst one; below it is the stack with most of\n"
    "that time, the root first. Only a recording of elapsed time sees threads wait.\n";

struct stalls {
    struct cli_capture capture;
    struct cli_filter filter;
    struct cli_form form;
    jsprof_read_stalls *stalls;
    jsprof_read_stalls_sum sum;
    struct cli_head head;
    uint32_t limit;
    bool is_each;
};

struct stalls_row {
    jsprof_read_stall stall;
    const char *stack; /* the root first, with ; between the functions */
};

/* -- Columns ---------------------------------------------------------------- */

static bool stalls_is_each(const void *of)
{
    return ((const struct stalls *)of)->is_each;
}

static bool stalls_is_grouped(const void *of)
{
    return !stalls_is_each(of);
}

/* A time is the field at c->offset. */
static struct cli_cell stalls_ns(CLI_OF_ROW)
{
    int64_t ns = cli_get_i64(c, of, row).i64;
    return cli_cell_u64(ns > 0 ? (uint64_t)ns : 0);
}

static struct cli_cell stalls_begin(CLI_OF_ROW)
{
    return cli_cell_time(((const struct stalls_row *)row)->stall.time, 0, 3);
}

static struct cli_cell stalls_text(const char *text)
{
    return text ? cli_cell_string(text) : cli_cell_none();
}

static struct cli_cell stalls_function(CLI_OF_ROW)
{
    return stalls_text(((const struct stalls_row *)row)->stall.function);
}

static struct cli_cell stalls_call(CLI_OF_ROW)
{
    return stalls_text(((const struct stalls_row *)row)->stall.call);
}

static struct cli_cell stalls_kind(CLI_OF_ROW)
{
    return stalls_text(((const struct stalls_row *)row)->stall.kind);
}

static struct cli_cell stalls_task(CLI_OF_ROW)
{
    return stalls_text(((const struct stalls_row *)row)->stall.name);
}

static int stalls_print(const struct cli_style *s, struct cli_cell text, int room)
{
    return text.is_none ? 0 : cli_name(s, text.text, room);
}

/* Print what took the time, then the task; and below them the stack. */
static void stalls_draw(const struct cli_table *t, const void *row, int room)
{
    const struct stalls *s = cli_table_of(t);
    const struct cli_style *style = cli_table_style(t);
    const struct stalls_row *r = row;
    struct cli_cell call = stalls_call(NULL, s, row), kind = stalls_kind(NULL, s, row);
    struct cli_cell function = stalls_function(NULL, s, row), task = stalls_task(NULL, s, row);
    int used = stalls_print(style, call, 0);
    used += call.is_none || function.is_none ? 0 : printf(" in ");
    used += stalls_print(style, function, room ? room - used : 0);
    if (strcmp(r->stall.cause, "unknown") == 0)
        used += printf("no sample says what");
    if (!kind.is_none && (!room || room - used > 24)) {
        cli_colour(style, CLI_DIM);
        used += printf("  in ");
        used += stalls_print(style, kind, room ? room - used : 0);
        putchar(' ');
        stalls_print(style, task, room ? room - used - 1 : 0);
        cli_colour(style, CLI_PLAIN);
    }
    if (r->stack && *r->stack) {
        cli_colour(style, CLI_DIM);
        fputs("\n    ", stdout);
        cli_name(style, cli_span(r->stack), style->columns ? style->columns - 4 : 0);
        cli_colour(style, CLI_PLAIN);
    }
}

#define STALLS_FIELD(field) .offset = offsetof(struct stalls_row, field)
#define STALLS_PART(cause, text)                                                             \
    { .name = #cause "_ns", .type = CLI_TYPE_NS, .get = stalls_ns,                           \
      STALLS_FIELD(stall.in_##cause), .means = text }

/* The causes; ends with NULL. */
static const char *const stalls_causes[] = { "function", "collection", "blocking", "processor",
                                             "unknown", NULL };

static const struct cli_column stalls_columns[] = {
    { .name = "stalls", .head = "COUNT", .type = CLI_TYPE_COUNT, .get = cli_get_u64,
      STALLS_FIELD(stall.n), .place = 10, .width = 7, .when = stalls_is_grouped,
      .means = "How many stalls the row sums up." },
    { .name = "begin", .head = "BEGIN", .type = CLI_TYPE_TIME, .get = stalls_begin, .place = 15,
      .width = 11, .when = stalls_is_each,
      .means = "When the turn began, in nanoseconds since the start of the capture." },
    { .name = "worst_ns", .head = "WORST", .type = CLI_TYPE_EXACT_NS, .get = stalls_ns,
      STALLS_FIELD(stall.duration), .place = 20, .width = 9,
      .means = "The longest of them, in nanoseconds." },
    { .name = "total_ns", .head = "TOTAL", .type = CLI_TYPE_EXACT_NS, .get = stalls_ns,
      STALLS_FIELD(stall.total), .place = 30, .width = 9, .minimum = 60, .when = stalls_is_grouped,
      .means = "All of them together, in nanoseconds." },
    { .name = "cause", .head = "CAUSE", .type = CLI_TYPE_WORD, .get = cli_get_string,
      STALLS_FIELD(stall.cause), .place = 40, .width = -12, .words = stalls_causes,
      .means = "What took most of the longest one." },
    { .name = "function", .head = "WHERE", .type = CLI_TYPE_TEXT, .get = stalls_function,
      .draw = stalls_draw, .place = 90, .least = 30, .may_lack = true,
      .means = "The VM's innermost function in most of that time; null: not known." },
    { .name = "call", .type = CLI_TYPE_TEXT, .get = stalls_call, .may_lack = true,
      .means = "The system call that blocked, or what the host waited for; null: none." },
    { .name = "kind", .type = CLI_TYPE_TEXT, .get = stalls_kind, .may_lack = true,
      .means = "The kind of the task that ran longest in the turn; null: none did." },
    { .name = "task", .type = CLI_TYPE_TEXT, .get = stalls_task, .may_lack = true,
      .means = "Its name." },
    { .name = "process", .type = CLI_TYPE_INTEGER, .get = cli_get_i32, STALLS_FIELD(stall.pid),
      .means = "The process of the longest one." },
    { .name = "thread", .type = CLI_TYPE_INTEGER, .get = cli_get_i32, STALLS_FIELD(stall.tid),
      .means = "Its thread." },
    STALLS_PART(function, "Time in functions."),
    STALLS_PART(collection, "Time in collectors."),
    STALLS_PART(blocking, "Time asleep."),
    STALLS_PART(processor, "Time without a processor."),
    STALLS_PART(unknown, "Time of which no sample says anything."),
    { .name = "is_open", .type = CLI_TYPE_BOOL, .get = cli_get_bool, STALLS_FIELD(stall.is_open),
      .means = "The longest one had not ended: it took at least so long." },
    { .name = "stack", .type = CLI_TYPE_TEXT, .get = cli_get_string, STALLS_FIELD(stack),
      .means = "The stack with most of that time, the root first, joined by ;." },
    { 0 }
};

static const struct cli_document stalls_document = {
    .means = "Turns of an event loop that took too long, and what took the time.",
    .head = cli_head_columns,
    .lists = { { .name = "rows", .means = "The stalls.", .columns = stalls_columns } },
};

/* -- Rows ------------------------------------------------------------------- */

/* Return the names of a stack, the root first, which the caller frees; or NULL. Direct recursion
 * is one name. */
static char *stalls_stack(struct stalls *s, uint32_t stack)
{
    jsprof_reader *r = s->capture.reader;
    int64_t n = stack == JSPROF_READ_NONE ? 0 : jsprof_read_frames(r, stack, 0, NULL, 0);
    jsprof_read_frame *f = n > 0 ? calloc((size_t)n, sizeof *f) : NULL;
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (f) {
        f->size = sizeof *f;
        n = jsprof_read_frames(r, stack, 0, f, (uint64_t)n);
    }
    cli_incomplete(!out || n < 0 || (n && !f));
    for (int64_t i = out && f ? n - 1 : -1; i >= 0; i--)
        if (i == n - 1 || f[i].function != f[i + 1].function)
            fprintf(out, "%s%s", i == n - 1 ? "" : ";", f[i].name);
    free(f);
    if (!out || fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* Print the line on how many turns there were. */
static void stalls_first_line(const jsprof_read_stalls_sum *f)
{
    const char *what = f->is_of_runs ? "outermost run" : "turn";
    char n[CLI_NUMBER], turns[CLI_NUMBER], over[CLI_NUMBER], longest[CLI_NUMBER];
    cli_exact_duration(over, (uint64_t)f->over);
    cli_exact_duration(longest, f->longest > 0 ? (uint64_t)f->longest : 0);
    if (f->stalls)
        printf("%s of %s %s%s took %s or longer · longest %s\n", cli_count(n, f->stalls),
               cli_count(turns, f->turns), what, cli_s(f->turns), over, longest);
    else if (f->turns)
        printf("No stall: none of %s %s%s took %s or longer · longest %s\n",
               cli_count(turns, f->turns), what, cli_s(f->turns), over, longest);
    else
        printf("No stall: no turns in what was chosen of this capture\n");
}

/* Print what the answer can not show. */
static void stalls_notes(const struct stalls *s)
{
    jsprof_read_info info = { .size = sizeof info };
    char limit[CLI_NUMBER];
    jsprof_read_about(s->capture.reader, &info);
    if (s->sum.kept)
        printf("The capture has only turns that took longer than %s.\n",
               cli_exact_duration(limit, (uint64_t)s->sum.kept));
    if (s->sum.stalls && !info.has_states)
        cli_wrap(&s->capture.style, "This was recorded without the states of threads, so time "
                                    "asleep or without a processor has no cause here.");
    if (s->sum.is_of_runs && s->sum.turns)
        puts("The host reported no turns: each outermost run of a task counts as one.");
}

static int stalls_rows(struct stalls *s)
{
    int64_t (*rows)(const jsprof_read_stalls *, uint64_t, jsprof_read_stall *, uint64_t) =
        s->is_each ? jsprof_read_stall_rows : jsprof_read_stall_groups;
    bool is_text = cli_form_is_text(&s->form);
    uint64_t n = s->is_each ? s->sum.stalls : s->sum.groups;
    uint64_t shown = s->limit && s->limit < n ? s->limit : n;
    if (is_text)
        stalls_first_line(&s->sum);
    if (is_text && n)
        putchar('\n');
    if (!is_text && cli_head_of(&s->head, &s->capture))
        return CLI_FAILED;
    struct cli_table *t = is_text && !n ? NULL : cli_table_open(&(struct cli_show){
        .form = &s->form, .command = "stalls", .columns = stalls_columns,
        .document = &stalls_document, .head = &s->head, .of = s, .capture = &s->capture });
    for (uint64_t i = 0; t && i < shown; i++) {
        struct stalls_row row = { .stall.size = sizeof row.stall };
        if (cli_incomplete(rows(s->stalls, i, &row.stall, 1) < 0))
            break;
        char *stack = stalls_stack(s, row.stall.stack);
        row.stack = stack ? stack : "";
        cli_table_row(t, &row);
        free(stack);
    }
    int status = is_text && !n ? CLI_OK : cli_table_close(t);
    if (is_text && n > shown)
        printf("%6s %" PRIu64 " more row%s (--limit 0 shows them)\n", "", n - shown,
               cli_s(n - shown));
    if (is_text)
        stalls_notes(s);
    return status;
}

static int stalls_run(struct cli_arguments *a)
{
    const char *over = NULL;
    jsprof_read_error error = { .size = sizeof error };
    struct stalls s = { .limit = UINT32_MAX, .sum.size = sizeof s.sum };
    const struct cli_option options[] = { { "over", NULL, &over, NULL },
                                          { "each", &s.is_each, NULL, NULL },
                                          { "limit", NULL, NULL, &s.limit },
                                          CLI_FORM_OPTIONS(&s.form),
                                          CLI_FILTER_OPTIONS(&s.filter),
                                          { 0 } };
    if (cli_options(a, options) || cli_form_check(a->command, &s.form))
        return CLI_USAGE;
    s.filter.has_idle = true; /* a loop that waits inside a turn is a stall, too */
    int status = cli_filter_open(&s.capture, cli_one_file(a), &s.filter, a->command);
    if (status)
        return status;
    if (s.limit == UINT32_MAX) /* not given */
        s.limit = cli_form_is_text(&s.form) ? STALLS_LIMIT : 0;
    if (jsprof_read_stalls_open(&s.stalls, s.capture.reader, over, &error) < 0) {
        status = cli_refuse(&s.capture, &error, a->command);
    } else {
        jsprof_read_stalls_of(s.stalls, &s.sum);
        status = stalls_rows(&s);
    }
    jsprof_read_stalls_close(s.stalls);
    cli_close(&s.capture);
    return status;
}

const struct cli_command cli_stalls = {
    .name = "stalls",
    .summary = "turns of the event loop that took too long, and why",
    .help = stalls_help,
    .run = stalls_run,
    .is_followed = true,
    .documents = { &stalls_document },
};
