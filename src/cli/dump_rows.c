/* dump_rows.c - the frames of a capture, for programs.
 *
 * SPDX-License-Identifier: MIT
 *
 * Every type shares the same columns: two texts and two numbers hold what a type has;
 * of a sample, one row stands for each of its addresses.
 */
#include "cli/dump_rows.h"

#include "analyze/addresses.h"
#include "capture/wire.h"
#include "cli/options.h"

static const char *const dump_columns[] = { "offset", "time",  "process", "type",
                                            "thread", "a",     "b",       "name",
                                            "text",   "line",  NULL };

/* What a and b are: of a SAMPLE the weight and, row by row, the address; of a MAP start
 * and end; of a MARK the duration; of a counter its number; of a FILE its length. */
struct dump_fields {
    int32_t thread;
    bool has_thread, has_a, has_b;
    uint64_t a, b, line;
    struct jsp_read_text name, text;
};

struct dump_rows {
    struct cli_capture *capture;
    struct cli_rows *rows;
    struct jsp_read_cursor cursor;
    struct jsp_read_frame frame;
    struct jsp_samples samples;
};

static void dump_rows_text(struct cli_rows *rows, struct jsp_read_text t)
{
    cli_rows_text(rows, (struct cli_span){ t.at ? t.at : "", t.len });
}

static void dump_rows_put(struct dump_rows *d, const struct dump_fields *f)
{
    uint64_t start = (uint64_t)d->capture->profile.start_time;
    cli_rows_u64(d->rows, d->frame.offset);
    cli_rows_i64(d->rows, (int64_t)((uint64_t)d->frame.time - start));
    cli_rows_i64(d->rows, d->frame.pid);
    cli_rows_word(d->rows, cli_dump_types[d->frame.type]);
    if (f->has_thread)
        cli_rows_i64(d->rows, f->thread);
    else
        cli_rows_none(d->rows);
    if (f->has_a)
        cli_rows_u64(d->rows, f->a);
    else
        cli_rows_none(d->rows);
    if (f->has_b)
        cli_rows_u64(d->rows, f->b);
    else
        cli_rows_none(d->rows);
    dump_rows_text(d->rows, f->name);
    dump_rows_text(d->rows, f->text);
    cli_rows_u64(d->rows, f->line);
}

static void dump_rows_sample(struct dump_rows *d, struct dump_fields f)
{
    struct jsp_profile *p = &d->capture->profile;
    struct jsp_profile_frame frame;
    struct jsp_sample s;
    if (!jsp_samples_take(&d->samples, &d->frame, &s))
        return;
    struct jsp_addresses all;
    struct jsp_profile_address a = { .key = { 0, d->frame.pid, s.epoch } };
    f.thread = s.body.tid;
    f.a = s.weight.weight;
    f.has_thread = f.has_a = f.has_b = true;
    jsp_addresses_of_sample(&all, p, &s);
    while (jsp_addresses_next(&all, &f.b, &f.line)) {
        a.key.addr = f.b;
        f.name = (struct jsp_read_text){ "", 0 };
        if (jsp_profile_is_marker(a.key.addr)) {
            jsp_profile_marker(&a);
        } else if (jsp_profile_function(p, &a, &frame) == 0) {
            const char *name = p->functions[frame.function].name;
            f.name = (struct jsp_read_text){ name, (uint32_t)strlen(name) };
            jsp_profile_next(p, &a);
        }
        dump_rows_put(d, &f);
    }
}

static void dump_rows_names(struct dump_rows *d, struct dump_fields f)
{
    struct jsp_read_names names;
    if (!jsp_read_names(&d->cursor, &d->frame, &names))
        return;
    f.has_a = true;
    while (jsp_read_name(&d->cursor, &d->frame, &names, &f.a, &f.name))
        dump_rows_put(d, &f);
}

static void dump_rows_counters(struct dump_rows *d, struct dump_fields f)
{
    struct jsp_read_counters all;
    struct jsp_read_counter c = { 0 };
    if (!jsp_read_counters(&d->cursor, &d->frame, &all))
        return;
    f.has_a = f.has_b = true;
    while (jsp_read_counter(&d->cursor, &d->frame, &all, &c)) {
        f.a = c.id;
        f.b = c.bits;
        f.name = c.group;
        f.text = c.name;
        dump_rows_put(d, &f);
    }
}

static void dump_rows_map(struct dump_rows *d, struct dump_fields f)
{
    struct jsp_read_map m;
    if (!jsp_read_map(&d->cursor, &d->frame, &m))
        return;
    f.has_a = f.has_b = true;
    f.a = m.start;
    f.b = m.end;
    f.name = m.path;
    f.text = m.build_id;
    dump_rows_put(d, &f);
}

static void dump_rows_mark(struct dump_rows *d, struct dump_fields f)
{
    struct jsp_read_mark m;
    if (!jsp_read_mark(&d->cursor, &d->frame, &m))
        return;
    f.has_a = true;
    f.a = m.duration > 0 ? (uint64_t)m.duration : 0;
    f.name = m.name;
    f.text = m.message;
    dump_rows_put(d, &f);
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
        f.has_a = true;
        f.a = (uint32_t)child;
    } else if ((type == JSP_WIRE_METADATA || type == JSP_WIRE_LOG) &&
               jsp_read_pair(&d->cursor, &d->frame, &pair)) {
        f.name = pair.key;
        f.text = pair.value;
    } else if (type == JSP_WIRE_FILE_CHUNK && jsp_read_chunk(&d->cursor, &d->frame, &c)) {
        f.has_a = true;
        f.a = c.len;
        f.name = c.path;
    }
    dump_rows_put(d, &f);
}

static void dump_rows_frame(struct dump_rows *d)
{
    static void (*const rows[16])(struct dump_rows *, struct dump_fields) = {
        [JSP_WIRE_SAMPLE] = dump_rows_sample,    [JSP_WIRE_JITMAP] = dump_rows_names,
        [JSP_WIRE_CTRDEF] = dump_rows_counters,  [JSP_WIRE_CTRSET] = dump_rows_counters,
        [JSP_WIRE_MAP] = dump_rows_map,          [JSP_WIRE_MARK] = dump_rows_mark,
    };
    struct dump_fields f = { 0 };
    if (rows[d->frame.type])
        rows[d->frame.type](d, f);
    else
        dump_rows_other(d, f);
}

int cli_dump_rows(struct cli_capture *c, const struct cli_rows_wish *wish)
{
    struct dump_rows d = { .capture = c };
    d.rows = cli_rows_open(wish, c, "dump", dump_columns);
    jsp_read_start(&d.cursor, &c->read, NULL);
    jsp_samples_start(&d.samples, &c->profile, NULL);
    while (d.rows && !ferror(stdout) && jsp_read_next(&d.cursor, &d.frame))
        dump_rows_frame(&d);
    return cli_rows_close(d.rows);
}
