/* cli/dump.c - `jsprof dump`: every frame of a capture, in file order.
 *
 * For programs, every type has the same columns: two texts and two numbers hold what a type
 * has, and a SAMPLE has one row for each of its addresses. Text has one line for a frame,
 * and its parts below it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "filter.h"
#include "head.h"
#include "serve/remote.h"
#include "serve/stacks.h"

static const char dump_help[] =
    "usage: jsprof dump FILE\n"
    "       jsprof dump PROCESS\n"
    "\n"
    "Of a process that listens (jsprof ps): the stack of each thread now. Of a file:\n"
    "Prints one line for every frame of the file: offset in the file, time in seconds\n"
    "since the capture's start, process, type, then the type's own fields. The lines\n"
    "after a SAMPLE list its addresses, innermost first, with functions and current\n"
    "lines. The lines after a JITMAP list its names.\n"
    "\n"
    "  --symbols DIR    also look in DIR for files with names\n"
    CLI_FORM_FOLLOW_HELP
    "\n"
    "With --csv and --json there is one row for each address of a SAMPLE (a is the\n"
    "weight, b the address), name of a JITMAP (a is its address), counter (a is its\n"
    "number, b the bits of its value), MAP (from a to b), MARK (a is its length, ns)\n"
    "and FILE (a is the chunk's length in bytes).\n";

struct dump {
    struct cli_capture capture;
    struct cli_form form;
    struct cli_table *table;
    jsprof_read_records *records;
    jsprof_read_record record; /* the last one */
    bool is_text;
};

/* A frame, or a part of it. What a and b are: of a SAMPLE the weight and, row by row, the
 * address; of a MAP start and end; of a MARK the duration; of a counter its number; of a
 * FILE its length. */
struct dump_row {
    struct dump *dump;
    uint64_t line;
    int32_t process;
    const char *type, *name, *text;
    struct cli_cell offset, time, thread, a, b;
};

/* -- Types of frames -------------------------------------------------------- */

/* Each function prints the fields of its type as text, or a row for each part of the frame. */

static void dump_put(struct dump *d, const struct dump_row *r)
{
    if (!d->is_text)
        cli_table_row(d->table, r);
}

static void dump_text(const struct dump *d, const char *text)
{
    cli_name(&d->capture.style, cli_span(text), 0);
}

/* Read the next part of the frame. */
static bool dump_part(struct dump *d, jsprof_read_part *part)
{
    int got = jsprof_read_parts_next(d->records, part);
    return !cli_incomplete(got < 0) && got;
}

/* Print an address. A context marker has no function. Native code is printed with its offset
 * in the module. */
static void dump_address(const struct dump *d, const jsprof_read_part *a)
{
    printf("\n    %016" PRIx64 "  ", a->number);
    if (a->is_marker)
        fputs(a->is_kernel ? "(kernel below)" : "(user below)", stdout);
    if (!a->name)
        return;
    dump_text(d, a->name);
    if (a->line)
        printf(" :%" PRIu64, a->line);
    if (*a->module) {
        fputs("  ", stdout);
        dump_text(d, a->module);
        printf("+0x%" PRIx64, a->in_module);
    }
    if (a->is_loop)
        fputs("  (interpreter)", stdout);
}

/* Print what the thread was doing. */
static void dump_state(const struct dump *d)
{
    const jsprof_read_record *s = &d->record;
    printf(", %s", s->state_name);
    if (*s->detail) {
        fputs(s->is_call ? " in " : ": ", stdout);
        dump_text(d, s->detail);
    }
    if (s->descriptor)
        printf(", descriptor %" PRIu64 ",", s->descriptor - 1);
    if (strcmp(s->state, "asleep") == 0)
        printf(" for %.6f s", (double)s->asleep_ns / 1e9);
}

static void dump_sample(struct dump *d, struct dump_row *r)
{
    const jsprof_read_record *s = &d->record;
    jsprof_read_part a = { .size = sizeof a };
    if (d->is_text)
        printf("#%" PRIu64 " tid %" PRId32 " cpu %d, %" PRIu32 " address%s", s->number,
               s->thread, s->cpu, s->n_parts, s->n_parts == 1 ? "" : "es");
    if (d->is_text && s->has_weight)
        printf(", weight %" PRIu64 ", cpu_ns %" PRIu64, s->weight, s->cpu_ns);
    if (d->is_text && s->cut)
        printf(", %" PRIu64 " frame%s cut", s->cut, cli_s(s->cut));
    if (d->is_text && s->has_state)
        dump_state(d);
    r->thread = cli_cell_i64(s->thread);
    r->a = cli_cell_u64(s->weight);
    r->text = s->has_state ? s->state : "";
    while (dump_part(d, &a)) {
        r->b = cli_cell_u64(a.number);
        r->name = a.name;
        r->line = a.line;
        if (d->is_text)
            dump_address(d, &a);
        dump_put(d, r);
    }
}

static void dump_names(struct dump *d, struct dump_row *r)
{
    jsprof_read_part a = { .size = sizeof a };
    if (d->is_text)
        printf("%" PRIu32 " name%s", d->record.n_parts, cli_s(d->record.n_parts));
    while (dump_part(d, &a)) {
        r->a = cli_cell_u64(a.number);
        r->name = a.name;
        if (d->is_text) {
            printf("\n    %016" PRIx64 "  ", a.number);
            dump_text(d, a.name);
        }
        dump_put(d, r);
    }
}

static void dump_map(struct dump *d, struct dump_row *r)
{
    const jsprof_read_record *m = &d->record;
    if (d->is_text) {
        printf("%" PRIx64 "-%" PRIx64 " offset %" PRIx64 " ", m->begin, m->end, m->in_file);
        dump_text(d, m->name);
    }
    r->a = cli_cell_u64(m->begin);
    r->b = cli_cell_u64(m->end);
    dump_put(d, r);
}

static void dump_mark(struct dump *d, struct dump_row *r)
{
    const jsprof_read_record *m = &d->record;
    if (d->is_text) {
        printf("%.6f s ", (double)m->duration / 1e9);
        dump_text(d, m->group);
        fputs(" / ", stdout);
        dump_text(d, m->name);
        fputs(" ", stdout);
        dump_text(d, m->text);
    }
    r->a = cli_cell_u64(m->duration > 0 ? (uint64_t)m->duration : 0);
    dump_put(d, r);
}

static void dump_counters(struct dump *d, struct dump_row *r)
{
    jsprof_read_part c = { .size = sizeof c };
    bool is_set = strcmp(d->record.type, "CTRSET") == 0;
    while (dump_part(d, &c)) {
        if (d->is_text)
            printf("\n    %" PRIu64, c.number);
        if (d->is_text && is_set) {
            printf(" = %016" PRIx64, c.bits);
        } else if (d->is_text) {
            fputs("  ", stdout);
            dump_text(d, c.group);
            fputs(" / ", stdout);
            dump_text(d, c.name);
            fputs(c.is_real ? "  real  " : "  whole  ", stdout);
            dump_text(d, c.text);
        }
        r->a = cli_cell_u64(c.number);
        r->b = cli_cell_u64(c.bits);
        r->name = c.group;
        r->text = c.name;
        dump_put(d, r);
    }
}

static void dump_pair(struct dump *d, struct dump_row *r)
{
    if (d->is_text) {
        dump_text(d, d->record.name);
        fputs(": ", stdout);
        dump_text(d, d->record.text);
    }
    dump_put(d, r);
}

static void dump_losses(const struct dump *d)
{
    const char *at = d->record.data, *end = at + d->record.n_data;
    struct cli_span line;
    for (; at < end; at = line.at + line.len + 1) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        line = (struct cli_span){ at, (size_t)((stop ? stop : end) - at) };
        if (!line.len) /* reserved space that is not used */
            continue;
        fputs("\n    ", stdout);
        cli_name(&d->capture.style, line, 0);
    }
}

static void dump_chunk(struct dump *d, struct dump_row *r)
{
    const jsprof_read_record *c = &d->record;
    if (d->is_text) {
        dump_text(d, c->name);
        printf(" %" PRIu64 " byte%s%s", c->n_data, cli_s(c->n_data), c->is_last ? ", last" : "");
    }
    if (d->is_text && strcmp(c->name, "jsprof/losses") == 0)
        dump_losses(d);
    r->a = cli_cell_u64(c->n_data);
    dump_put(d, r);
}

static void dump_process(struct dump *d, struct dump_row *r)
{
    if (d->is_text)
        dump_text(d, d->record.name);
    dump_put(d, r);
}

static void dump_fork(struct dump *d, struct dump_row *r)
{
    if (d->is_text)
        printf("child %" PRId32, d->record.child);
    r->a = cli_cell_u64((uint32_t)d->record.child);
    dump_put(d, r);
}

static void dump_body(struct dump *d, struct dump_row r)
{
    static const struct {
        const char *type;
        void (*body)(struct dump *, struct dump_row *);
    } bodies[] = {
        { "SAMPLE", dump_sample }, { "MAP", dump_map },         { "PROCESS", dump_process },
        { "FORK", dump_fork },     { "JITMAP", dump_names },    { "MARK", dump_mark },
        { "META", dump_pair },     { "LOG", dump_pair },        { "FILE", dump_chunk },
        { "CTRDEF", dump_counters }, { "CTRSET", dump_counters },
    };
    const jsprof_read_record *of = &d->record;
    if (d->is_text && of->n_body)
        putchar(' ');
    for (size_t i = 0; of->is_readable && i < sizeof bodies / sizeof *bodies; i++)
        if (strcmp(of->type, bodies[i].type) == 0) {
            bodies[i].body(d, &r);
            return;
        }
    if (d->is_text && of->has_fields)
        fputs("(unreadable)", stdout);
    else if (d->is_text && of->n_body)
        printf("%" PRIu32 " byte%s", of->n_bytes, cli_s(of->n_bytes));
    dump_put(d, &r);
}

/* -- Columns ---------------------------------------------------------------- */

static const char *const dump_types[17] = {
    "",     "TIMESTAMP", "SAMPLE",     "MAP",     "PROCESS", "FORK",
    "EXIT", "JITMAP",    "CTRDEF",     "CTRSET",  "MARK",    "META",
    "LOG",  "FILE",      "ALLOCATION", "OVERLAY", NULL,
};

static void dump_draw(const struct cli_table *t, const void *row, int room)
{
    const struct dump_row *r = row;
    (void)t, (void)room;
    dump_body(r->dump, *r);
}

#define DUMP_FIELD(field) .offset = offsetof(struct dump_row, field)

static const struct cli_column dump_columns[] = {
    { .name = "offset", .head = "", .type = CLI_TYPE_BYTES, .get = cli_get_cell,
      DUMP_FIELD(offset), .place = 10, .width = 10,
      .means = "Where the frame begins in the file." },
    { .name = "time_ns", .head = "", .type = CLI_TYPE_TIME, .get = cli_get_cell,
      DUMP_FIELD(time), .place = 20, .width = 13,
      .means = "The time of the frame." },
    { .name = "process", .head = "", .type = CLI_TYPE_INTEGER, .get = cli_get_i32,
      DUMP_FIELD(process), .place = 30, .width = 8,
      .means = "The number of the process." },
    { .name = "type", .head = "", .type = CLI_TYPE_WORD, .get = cli_get_string,
      DUMP_FIELD(type), .words = dump_types, .place = 40, .width = -10,
      .means = "The type of the frame." },
    { .name = "thread", .type = CLI_TYPE_INTEGER, .get = cli_get_cell,
      DUMP_FIELD(thread), .may_lack = true,
      .means = "The number of the thread of a SAMPLE." },
    { .name = "a", .type = CLI_TYPE_COUNT, .get = cli_get_cell, DUMP_FIELD(a),
      .may_lack = true,
      .means = "The weight of a SAMPLE, the address of a JITMAP's name, the number of a counter, "
               "the start of a MAP, the ns of a MARK, the bytes of a FILE's chunk." },
    { .name = "b", .type = CLI_TYPE_COUNT, .get = cli_get_cell, DUMP_FIELD(b),
      .may_lack = true,
      .means = "The address of a SAMPLE's frame, the bits of a counter's value, the end of a "
               "MAP." },
    { .name = "name", .type = CLI_TYPE_TEXT, .get = cli_get_string, DUMP_FIELD(name),
      .means = "The name that the frame has, or that its address belongs to." },
    { .name = "text", .type = CLI_TYPE_TEXT, .get = cli_get_string, DUMP_FIELD(text),
      .means = "The other text of the frame: a message, a value, a build id, a "
               "thread's state." },
    { .name = "line", .type = CLI_TYPE_COUNT, .get = cli_get_u64, DUMP_FIELD(line),
      .means = "The line where a SAMPLE's frame was; 0: not known." },
    { .head = "", .type = CLI_TYPE_TEXT, .draw = dump_draw, .place = 50 },
    { 0 }
};

static const struct cli_document dump_document = {
    .means = "The frames of the file, in its order; a row for each part of a frame.",
    .head = cli_head_columns,
    .lists = { { .name = "rows", .means = "Frames, or parts of a frame.",
                 .columns = dump_columns } },
};

/* -- Frames ----------------------------------------------------------------- */

/* Text counts time from the time that the header has, also where a frame is older. */
static void dump_frame(struct dump *d)
{
    const struct cli_capture *c = &d->capture;
    const jsprof_read_record *of = &d->record;
    struct dump_row r = {
        .dump = d,
        .offset = cli_cell_u64(of->offset),
        .process = of->process,
        .type = of->type,
        .name = of->name,
        .text = of->text,
        .time = cli_cell_time(cli_when(c, of->time),
                              d->is_text ? c->info.header_start : c->info.start, 6),
        .thread = cli_cell_none(), .a = cli_cell_none(), .b = cli_cell_none(),
    };
    if (!d->is_text) {
        dump_body(d, r);
        return;
    }
    /* Every digit: the offset leads to the frame in a hexadecimal editor. */
    snprintf(r.offset.shown, sizeof r.offset.shown, "%" PRIu64, of->offset);
    cli_table_row(d->table, &r);
}

static int dump_run(struct cli_arguments *a)
{
    struct dump d = { 0 };
    jsprof_read_options how = { .size = sizeof how };
    const struct cli_option options[] = { { "symbols", NULL, &how.symbols, NULL },
                                          CLI_FORM_OPTIONS(&d.form),
                                          { 0 } };
    if (cli_options(a, options) || cli_form_check(a->command, &d.form))
        return CLI_USAGE;
    if (!a->n_files)
        return cli_usage(a->command, "no capture and no process named");
    const char *path = cli_one_file(a);
    pid_t pid;
    if (!path)
        return CLI_USAGE;
    if (remote_pid(path, &pid))
        return serve_stacks(pid, &d.form);
    if (cli_load_with(&d.capture, path, &how, a->command))
        return CLI_FAILED;
    d.is_text = cli_form_is_text(&d.form);
    struct cli_head head = { &d.capture, d.capture.info.samples, d.capture.info.value };
    d.table = cli_table_open(&(struct cli_show){ .form = &d.form, .command = "dump",
                                                 .columns = dump_columns,
                                                 .document = &dump_document,
                                                 .head = &head, .capture = &d.capture });
    d.record.size = sizeof d.record;
    int got = d.table ? jsprof_read_records_open(&d.records, d.capture.reader, NULL) : 0;
    while (d.records && !ferror(stdout) &&
           (got = jsprof_read_records_next(d.records, &d.record)) == 1)
        dump_frame(&d);
    cli_incomplete(got < 0);
    jsprof_read_records_close(d.records);
    int status = cli_table_close(d.table);
    cli_close(&d.capture);
    return status;
}

const struct cli_command cli_dump = {
    .name = "dump",
    .summary = "every frame of a file, or each thread of a process now",
    .help = dump_help,
    .run = dump_run,
    .is_followed = true,
    .documents = { &dump_document, &serve_stacks_document },
};
