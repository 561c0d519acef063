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

#include "analyze/addresses.h"
#include "capture/wire.h"
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
    CLI_FORM_HELP
    "\n"
    "With --csv and --json there is one row for each address of a SAMPLE (a is the\n"
    "weight, b the address), name of a JITMAP (a is its address), counter (a is its\n"
    "number, b the bits of its value), MAP (from a to b), MARK (a is its length, ns)\n"
    "and FILE (a is the chunk's length in bytes).\n";

struct dump {
    struct cli_capture capture;
    struct cli_form form;
    struct cli_table *table;
    struct jsp_read_cursor cursor; /* counts no defects, because loading the profile did */
    struct jsp_read_frame frame;
    struct jsp_samples samples;
    bool is_text;
};

/* A frame, or a part of it. What a and b are: of a SAMPLE the weight and, row by row, the
 * address; of a MAP start and end; of a MARK the duration; of a counter its number; of a
 * FILE its length. */
struct dump_row {
    struct dump *dump;
    uint64_t line;
    int32_t process;
    const char *type;
    struct jsp_read_text name, text;
    struct cli_cell offset, time, thread, a, b;
};

/* -- Types of frames -------------------------------------------------------- */

/* Each function prints the fields of its type as text, or a row for each part of the frame.
 * It returns false, and has printed nothing, where the frame is not readable. */

static void dump_put(struct dump *d, const struct dump_row *r)
{
    if (!d->is_text)
        cli_table_row(d->table, r);
}

static void dump_text(const struct dump *d, struct jsp_read_text t)
{
    cli_name(&d->capture.style, (struct cli_span){ t.at, t.len }, 0);
}

/* Print an address. A context marker has no function. Native code is printed with its offset
 * in the module. */
static void dump_address(struct dump *d, const struct dump_row *r,
                         const struct jsp_profile_address *a, enum jsp_origin origin)
{
    printf("\n    %016" PRIx64 "  ", a->key.addr);
    if (jsp_profile_is_marker(a->key.addr)) {
        fputs(jsp_profile_is_kernel_marker(a->key.addr) ? "(kernel below)" : "(user below)",
              stdout);
        return;
    }
    if (!r->name.at)
        return;
    dump_text(d, r->name);
    if (r->line)
        printf(" :%" PRIu64, r->line);
    const struct jsp_lookup_map *m = jsp_lookup_map(&d->capture.profile->lookup, a->key);
    if (m && m->path.len) {
        fputs("  ", stdout);
        dump_text(d, m->path);
        printf("+0x%" PRIx64, a->key.addr - m->start + m->offset);
    }
    if (origin == JSP_ORIGIN_LOOP)
        fputs("  (interpreter)", stdout);
}

/* Print what the thread was doing. */
static void dump_state(const struct dump *d, const struct jsp_sample *s)
{
    const struct jsp_profile *p = d->capture.profile;
    const struct jsp_read_state *state = &s->state;
    struct jsp_read_text detail = jsp_samples_detail(p, s, d->frame.pid);
    printf(", %s", jsp_states[state->state].name);
    if (detail.len) {
        fputs(state->call ? " in " : ": ", stdout);
        dump_text(d, detail);
    }
    if (state->descriptor)
        printf(", descriptor %" PRIu64 ",", state->descriptor - 1);
    if (state->state == JSP_STATE_ASLEEP)
        printf(" for %.6f s", (double)state->asleep_ns / 1e9);
}

static bool dump_sample(struct dump *d, struct dump_row *r)
{
    struct jsp_profile *p = d->capture.profile;
    struct jsp_addresses all;
    struct jsp_sample s;
    if (!jsp_samples_take(&d->samples, &d->frame, &s))
        return false;
    struct jsp_profile_address a = { .key = { 0, d->frame.pid, s.epoch } };
    if (d->is_text)
        printf("#%" PRIu64 " tid %" PRId32 " cpu %d, %" PRIu32 " address%s", s.ordinal,
               s.body.tid, d->frame.cpu, s.body.n_addrs, s.body.n_addrs == 1 ? "" : "es");
    if (d->is_text && s.weight.known)
        printf(", weight %" PRIu64 ", cpu_ns %" PRIu64, s.weight.weight, s.weight.cpu_ns);
    if (d->is_text && s.weight.cut)
        printf(", %" PRIu64 " frame%s cut", s.weight.cut, cli_s(s.weight.cut));
    if (d->is_text && s.state.state)
        dump_state(d, &s);
    r->thread = cli_cell_i64(s.body.tid);
    r->a = cli_cell_u64(s.weight.weight);
    const char *state = s.state.state ? jsp_states[s.state.state].key : "";
    r->text = (struct jsp_read_text){ state, (uint32_t)strlen(state) };
    jsp_addresses_of_sample(&all, p, &s);
    while (jsp_addresses_next(&all, &a.key.addr, &r->line)) {
        struct jsp_profile_frame frame = { 0 };
        bool is_marker = jsp_profile_is_marker(a.key.addr);
        r->b = cli_cell_u64(a.key.addr);
        r->name = (struct jsp_read_text){ 0 };
        if (!is_marker && jsp_profile_function(p, &a, &frame) == 0) {
            const char *name = p->functions[frame.function].name;
            r->name = (struct jsp_read_text){ name, (uint32_t)strlen(name) };
        }
        if (d->is_text)
            dump_address(d, r, &a, frame.origin);
        dump_put(d, r);
        if (is_marker)
            jsp_profile_marker(&a);
        else
            jsp_profile_next(p, &a);
    }
    return true;
}

static bool dump_names(struct dump *d, struct dump_row *r)
{
    struct jsp_read_names names;
    if (!jsp_read_names(&d->cursor, &d->frame, &names))
        return false;
    if (d->is_text)
        printf("%" PRIu32 " name%s", names.left, cli_s(names.left));
    r->a = cli_cell_u64(0);
    while (jsp_read_name(&d->cursor, &d->frame, &names, &r->a.u64, &r->name)) {
        if (d->is_text) {
            printf("\n    %016" PRIx64 "  ", r->a.u64);
            dump_text(d, r->name);
        }
        dump_put(d, r);
    }
    return true;
}

static bool dump_map(struct dump *d, struct dump_row *r)
{
    struct jsp_read_map m;
    if (!jsp_read_map(&d->cursor, &d->frame, &m))
        return false;
    if (d->is_text) {
        printf("%" PRIx64 "-%" PRIx64 " offset %" PRIx64 " ", m.start, m.end, m.offset);
        dump_text(d, m.path);
    }
    r->a = cli_cell_u64(m.start);
    r->b = cli_cell_u64(m.end);
    r->name = m.path;
    r->text = m.build_id;
    dump_put(d, r);
    return true;
}

static bool dump_mark(struct dump *d, struct dump_row *r)
{
    struct jsp_read_mark m;
    if (!jsp_read_mark(&d->cursor, &d->frame, &m))
        return false;
    if (d->is_text) {
        printf("%.6f s ", (double)m.duration / 1e9);
        dump_text(d, m.group);
        fputs(" / ", stdout);
        dump_text(d, m.name);
        fputs(" ", stdout);
        dump_text(d, m.message);
    }
    r->a = cli_cell_u64(m.duration > 0 ? (uint64_t)m.duration : 0);
    r->name = m.name;
    r->text = m.message;
    dump_put(d, r);
    return true;
}

static bool dump_counters(struct dump *d, struct dump_row *r)
{
    struct jsp_read_counters all;
    struct jsp_read_counter c = { 0 };
    if (!jsp_read_counters(&d->cursor, &d->frame, &all))
        return false;
    while (jsp_read_counter(&d->cursor, &d->frame, &all, &c)) {
        if (d->is_text)
            printf("\n    %" PRIu32, c.id);
        if (d->is_text && d->frame.type == JSP_WIRE_CTRSET) {
            printf(" = %016" PRIx64, c.bits);
        } else if (d->is_text) {
            fputs("  ", stdout);
            dump_text(d, c.group);
            fputs(" / ", stdout);
            dump_text(d, c.name);
            fputs(c.is_real ? "  real  " : "  whole  ", stdout);
            dump_text(d, c.what);
        }
        r->a = cli_cell_u64(c.id);
        r->b = cli_cell_u64(c.bits);
        r->name = c.group;
        r->text = c.name;
        dump_put(d, r);
    }
    return true;
}

static bool dump_pair(struct dump *d, struct dump_row *r)
{
    struct jsp_read_pair pair;
    if (!jsp_read_pair(&d->cursor, &d->frame, &pair))
        return false;
    if (d->is_text) {
        dump_text(d, pair.key);
        fputs(": ", stdout);
        dump_text(d, pair.value);
    }
    r->name = pair.key;
    r->text = pair.value;
    dump_put(d, r);
    return true;
}

static void dump_losses(const struct dump *d, const struct jsp_read_chunk *c)
{
    struct jsp_read_text line;
    const char *at = (const char *)c->data, *end = at + c->len;
    for (; at < end; at = line.at + line.len + 1) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        line = (struct jsp_read_text){ at, (uint32_t)((stop ? stop : end) - at) };
        if (!line.len) /* reserved space that is not used */
            continue;
        fputs("\n    ", stdout);
        dump_text(d, line);
    }
}

static bool dump_chunk(struct dump *d, struct dump_row *r)
{
    struct jsp_read_chunk c;
    if (!jsp_read_chunk(&d->cursor, &d->frame, &c))
        return false;
    if (d->is_text) {
        dump_text(d, c.path);
        printf(" %" PRIu32 " byte%s%s", c.len, cli_s(c.len), c.is_last ? ", last" : "");
    }
    if (d->is_text && c.path.len == strlen(JSP_WIRE_FILE_LOSSES) &&
        memcmp(c.path.at, JSP_WIRE_FILE_LOSSES, c.path.len) == 0)
        dump_losses(d, &c);
    r->a = cli_cell_u64(c.len);
    r->name = c.path;
    dump_put(d, r);
    return true;
}

static bool dump_process(struct dump *d, struct dump_row *r)
{
    if (!jsp_read_process(&d->cursor, &d->frame, &r->name))
        return false;
    if (d->is_text)
        dump_text(d, r->name);
    dump_put(d, r);
    return true;
}

static bool dump_fork(struct dump *d, struct dump_row *r)
{
    int32_t child;
    if (!jsp_read_fork(&d->cursor, &d->frame, &child))
        return false;
    if (d->is_text)
        printf("child %" PRId32, child);
    r->a = cli_cell_u64((uint32_t)child);
    dump_put(d, r);
    return true;
}

static void dump_body(struct dump *d, struct dump_row r)
{
    static bool (*const bodies[16])(struct dump *, struct dump_row *) = {
        [JSP_WIRE_SAMPLE] = dump_sample,    [JSP_WIRE_MAP] = dump_map,
        [JSP_WIRE_PROCESS] = dump_process,  [JSP_WIRE_FORK] = dump_fork,
        [JSP_WIRE_JITMAP] = dump_names,     [JSP_WIRE_MARK] = dump_mark,
        [JSP_WIRE_METADATA] = dump_pair,    [JSP_WIRE_LOG] = dump_pair,
        [JSP_WIRE_FILE_CHUNK] = dump_chunk, [JSP_WIRE_CTRDEF] = dump_counters,
        [JSP_WIRE_CTRSET] = dump_counters,
    };
    uint8_t type = d->frame.type;
    if (d->is_text && d->frame.len > sizeof(struct jsp_wire_frame))
        putchar(' ');
    if (bodies[type] && bodies[type](d, &r))
        return;
    if (d->is_text && bodies[type])
        fputs("(unreadable)", stdout);
    else if (d->is_text && d->frame.len > sizeof(struct jsp_wire_frame))
        printf("%" PRIu32 " byte%s", d->frame.len, cli_s(d->frame.len));
    dump_put(d, &r);
}

/* -- Columns ---------------------------------------------------------------- */

static const char *const dump_types[17] = { /* by enum jsp_wire_type */
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
    { .name = "name", .type = CLI_TYPE_TEXT, .get = cli_get_text, DUMP_FIELD(name),
      .means = "The name that the frame has, or that its address belongs to." },
    { .name = "text", .type = CLI_TYPE_TEXT, .get = cli_get_text, DUMP_FIELD(text),
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
    struct dump_row r = {
        .dump = d,
        .offset = cli_cell_u64(d->frame.offset),
        .process = d->frame.pid,
        .type = dump_types[d->frame.type],
        .time = cli_cell_time(d->frame.time, d->is_text ? c->read->time : c->profile->start_time,
                              6),
        .thread = cli_cell_none(), .a = cli_cell_none(), .b = cli_cell_none(),
    };
    if (!d->is_text) {
        dump_body(d, r);
        return;
    }
    /* Every digit: the offset leads to the frame in a hexadecimal editor. */
    snprintf(r.offset.shown, sizeof r.offset.shown, "%" PRIu64, d->frame.offset);
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
    const char *path = cli_one_file(a);
    pid_t pid;
    if (!path)
        return CLI_USAGE;
    if (remote_pid(path, &pid))
        return serve_stacks(pid, &d.form);
    if (cli_load_with(&d.capture, path, &how, a->command))
        return CLI_FAILED;
    d.is_text = cli_form_is_text(&d.form);
    struct cli_head head = { &d.capture, d.capture.profile->samples, d.capture.profile->value };
    d.table = cli_table_open(&(struct cli_show){ .form = &d.form, .command = "dump",
                                                 .columns = dump_columns,
                                                 .document = &dump_document,
                                                 .head = &head, .capture = &d.capture });
    jsp_read_start(&d.cursor, d.capture.read, NULL);
    jsp_samples_start(&d.samples, d.capture.profile, NULL);
    while (d.table && !ferror(stdout) && jsp_read_next(&d.cursor, &d.frame))
        dump_frame(&d);
    int status = cli_table_close(d.table);
    cli_close(&d.capture);
    return status;
}

const struct cli_command cli_dump = {
    .name = "dump",
    .summary = "every frame of a file, or each thread of a process now",
    .help = dump_help,
    .run = dump_run,
    .documents = { &dump_document, &serve_stacks_document },
};
