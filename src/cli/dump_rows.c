/* cli/dump_rows.c - the frames of a capture, for programs.
 *
 * Every type shares the same columns: two texts and two numbers hold what a type has;
 * of a sample, there is one row for each of its addresses.
 *
 * SPDX-License-Identifier: MIT
 */
#include "dump_rows.h"

#include "analyze/addresses.h"
#include "capture/wire.h"
#include "options.h"

/* What a and b are: of a SAMPLE the weight and, row by row, the address; of a MAP start
 * and end; of a MARK the duration; of a counter its number; of a FILE its length. */
struct dump_fields {
    uint64_t offset, line;
    int64_t time;
    int32_t process;
    const char *type;
    struct jsp_read_text name, text;
    struct cli_cell thread, a, b;
};

struct dump_rows {
    struct cli_capture *capture;
    struct cli_table *table;
    struct jsp_read_cursor cursor;
    struct jsp_read_frame frame;
    struct jsp_samples samples;
};

#define DUMP_FIELD(field) .offset = offsetof(struct dump_fields, field)

static const struct cli_column dump_columns[] = {
    { .name = "offset", .type = CLI_TYPE_BYTES, .get = cli_get_u64, DUMP_FIELD(offset),
      .means = "Where the frame begins in the file." },
    { .name = "time_ns", .type = CLI_TYPE_TIME, .get = cli_get_i64, DUMP_FIELD(time),
      .means = "The time of the frame." },
    { .name = "process", .type = CLI_TYPE_INTEGER, .get = cli_get_i32,
      DUMP_FIELD(process),
      .means = "The number of the process." },
    { .name = "type", .type = CLI_TYPE_WORD, .get = cli_get_string, DUMP_FIELD(type),
      .words = cli_dump_types,
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
    { .name = "name", .type = CLI_TYPE_TEXT, .get = cli_get_text, DUMP_FIELD(name),
      .means = "The name that the frame has, or that its address belongs to." },
    { .name = "text", .type = CLI_TYPE_TEXT, .get = cli_get_text, DUMP_FIELD(text),
      .means = "The other text of the frame: a message, a value, a build id." },
    { .name = "line", .type = CLI_TYPE_COUNT, .get = cli_get_u64, DUMP_FIELD(line),
      .means = "The line where a SAMPLE's frame was; 0: not known." },
    { 0 }
};

const struct cli_document cli_dump_document = {
    .means = "The frames of the file, in its order; a row for each part of a frame.",
    .head = cli_head_columns,
    .lists = { { .name = "rows", .means = "Frames, or parts of a frame.",
                 .columns = dump_columns } },
};

static void dump_rows_sample(struct dump_rows *d, struct dump_fields f)
{
    struct jsp_profile *p = &d->capture->profile;
    struct jsp_profile_frame frame;
    struct jsp_sample s;
    if (!jsp_samples_take(&d->samples, &d->frame, &s))
        return;
    struct jsp_addresses all;
    struct jsp_profile_address a = { .key = { 0, d->frame.pid, s.epoch } };
    f.thread = cli_cell_i64(s.body.tid);
    f.a = cli_cell_u64(s.weight.weight);
    jsp_addresses_of_sample(&all, p, &s);
    while (jsp_addresses_next(&all, &a.key.addr, &f.line)) {
        f.b = cli_cell_u64(a.key.addr);
        f.name = (struct jsp_read_text){ "", 0 };
        if (jsp_profile_is_marker(a.key.addr)) {
            jsp_profile_marker(&a);
        } else if (jsp_profile_function(p, &a, &frame) == 0) {
            const char *name = p->functions[frame.function].name;
            f.name = (struct jsp_read_text){ name, (uint32_t)strlen(name) };
            jsp_profile_next(p, &a);
        }
        cli_table_row(d->table, &f);
    }
}

static void dump_rows_names(struct dump_rows *d, struct dump_fields f)
{
    struct jsp_read_names names;
    if (!jsp_read_names(&d->cursor, &d->frame, &names))
        return;
    while (jsp_read_name(&d->cursor, &d->frame, &names, &f.a.u64, &f.name)) {
        f.a.is_none = false;
        cli_table_row(d->table, &f);
    }
}

static void dump_rows_counters(struct dump_rows *d, struct dump_fields f)
{
    struct jsp_read_counters all;
    struct jsp_read_counter c = { 0 };
    if (!jsp_read_counters(&d->cursor, &d->frame, &all))
        return;
    while (jsp_read_counter(&d->cursor, &d->frame, &all, &c)) {
        f.a = cli_cell_u64(c.id);
        f.b = cli_cell_u64(c.bits);
        f.name = c.group;
        f.text = c.name;
        cli_table_row(d->table, &f);
    }
}

static void dump_rows_map(struct dump_rows *d, struct dump_fields f)
{
    struct jsp_read_map m;
    if (!jsp_read_map(&d->cursor, &d->frame, &m))
        return;
    f.a = cli_cell_u64(m.start);
    f.b = cli_cell_u64(m.end);
    f.name = m.path;
    f.text = m.build_id;
    cli_table_row(d->table, &f);
}

static void dump_rows_mark(struct dump_rows *d, struct dump_fields f)
{
    struct jsp_read_mark m;
    if (!jsp_read_mark(&d->cursor, &d->frame, &m))
        return;
    f.a = cli_cell_u64(m.duration > 0 ? (uint64_t)m.duration : 0);
    f.name = m.name;
    f.text = m.message;
    cli_table_row(d->table, &f);
}

static void dump_rows_other(struct dump_rows *d, struct dump_fields f)
{
    struct jsp_read_chunk c;
    struct jsp_read_pair pair;
    uint8_t type = d->frame.type;
    int32_t child;
    if (type == JSP_WIRE_PROCESS) {
        jsp_read_process(&d->cursor, &d->frame, &f.name);
    } else if (type == JSP_WIRE_FORK && jsp_read_fork(&d->cursor, &d->frame, &child)) {
        f.a = cli_cell_u64((uint32_t)child);
    } else if ((type == JSP_WIRE_METADATA || type == JSP_WIRE_LOG) &&
               jsp_read_pair(&d->cursor, &d->frame, &pair)) {
        f.name = pair.key;
        f.text = pair.value;
    } else if (type == JSP_WIRE_FILE_CHUNK && jsp_read_chunk(&d->cursor, &d->frame, &c)) {
        f.a = cli_cell_u64(c.len);
        f.name = c.path;
    }
    cli_table_row(d->table, &f);
}

static void dump_rows_frame(struct dump_rows *d)
{
    static void (*const rows[16])(struct dump_rows *, struct dump_fields) = {
        [JSP_WIRE_SAMPLE] = dump_rows_sample,    [JSP_WIRE_JITMAP] = dump_rows_names,
        [JSP_WIRE_CTRDEF] = dump_rows_counters,  [JSP_WIRE_CTRSET] = dump_rows_counters,
        [JSP_WIRE_MAP] = dump_rows_map,          [JSP_WIRE_MARK] = dump_rows_mark,
    };
    uint64_t start = (uint64_t)d->capture->profile.start_time;
    struct dump_fields f = {
        .offset = d->frame.offset,
        .time = (int64_t)((uint64_t)d->frame.time - start), /* wraps, because a file may
                                                             * contain any times */
        .process = d->frame.pid,
        .type = cli_dump_types[d->frame.type],
        .thread = cli_cell_none(), .a = cli_cell_none(), .b = cli_cell_none(),
    };
    if (rows[d->frame.type])
        rows[d->frame.type](d, f);
    else
        dump_rows_other(d, f);
}

int cli_dump_rows(struct cli_capture *c, const struct cli_form *form)
{
    struct cli_head head = { c, c->profile.samples, c->profile.value };
    struct dump_rows d = { .capture = c };
    d.table = cli_table_open(&(struct cli_show){ .form = form, .command = "dump",
                                                 .columns = dump_columns,
                                                 .document = &cli_dump_document,
                                                 .head = &head,
                                                 .of = &d, .capture = c });
    jsp_read_start(&d.cursor, &c->read, NULL);
    jsp_samples_start(&d.samples, &c->profile, NULL);
    while (d.table && !ferror(stdout) && jsp_read_next(&d.cursor, &d.frame))
        dump_rows_frame(&d);
    return cli_table_close(d.table);
}
