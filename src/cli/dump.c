/* cli/dump.c - `jsprof dump`: every frame of a capture as text, in file order.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/addresses.h"
#include "capture/wire.h"
#include "command.h"
#include "dump_rows.h"
#include "filter.h"

static const char dump_help[] =
    "usage: jsprof dump FILE\n"
    "\n"
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
    struct cli_capture *capture;
    struct jsp_read_cursor cursor; /* counts no defects, because loading the profile did */
    struct jsp_read_frame frame;
    struct jsp_samples samples;
};

static void dump_text(const struct dump *d, struct jsp_read_text t)
{
    cli_name(&d->capture->style, (struct cli_span){ t.at, t.len }, 0);
}

static void dump_unreadable(void)
{
    fputs("(unreadable)", stdout);
}

/* Print an address. A context marker has no function. Native code is printed with its offset
 * in the module. */
static void dump_address(struct dump *d, const struct jsp_profile_address *a,
                         uint64_t line)
{
    struct jsp_profile *p = &d->capture->profile;
    const struct jsp_lookup_map *m = jsp_lookup_map(&p->lookup, a->key);
    struct jsp_profile_frame frame;
    printf("\n    %016" PRIx64 "  ", a->key.addr);
    if (jsp_profile_is_marker(a->key.addr)) {
        fputs(jsp_profile_is_kernel_marker(a->key.addr) ? "(kernel below)"
                                                        : "(user below)",
              stdout);
        return;
    }
    if (jsp_profile_function(p, a, &frame) < 0)
        return;
    cli_name(&d->capture->style, cli_span(p->functions[frame.function].name), 0);
    if (line)
        printf(" :%" PRIu64, line);
    if (m && m->path.len) {
        fputs("  ", stdout);
        dump_text(d, m->path);
        printf("+0x%" PRIx64, a->key.addr - m->start + m->offset);
    }
    if (frame.origin == JSP_ORIGIN_LOOP)
        fputs("  (interpreter)", stdout);
}

static void dump_addresses(struct dump *d, const struct jsp_sample *s)
{
    struct jsp_addresses all;
    uint64_t number;
    struct jsp_profile_address a = { .key = { 0, d->frame.pid, s->epoch } };
    jsp_addresses_of_sample(&all, &d->capture->profile, s);
    while (jsp_addresses_next(&all, &a.key.addr, &number)) {
        dump_address(d, &a, number);
        if (jsp_profile_is_marker(a.key.addr))
            jsp_profile_marker(&a);
        else
            jsp_profile_next(&d->capture->profile, &a);
    }
}

static void dump_sample(struct dump *d)
{
    struct jsp_sample s;
    if (!jsp_samples_take(&d->samples, &d->frame, &s)) {
        dump_unreadable();
        return;
    }
    printf("#%" PRIu64 " tid %" PRId32 " cpu %d, %" PRIu32 " addresses", s.ordinal,
           s.body.tid, d->frame.cpu, s.body.n_addrs);
    if (s.weight.known)
        printf(", weight %" PRIu64 ", cpu_ns %" PRIu64, s.weight.weight, s.weight.cpu_ns);
    if (s.weight.cut)
        printf(", %" PRIu64 " frames cut", s.weight.cut);
    dump_addresses(d, &s);
}

static void dump_names(struct dump *d)
{
    struct jsp_read_names names;
    struct jsp_read_text name;
    uint64_t addr;
    if (!jsp_read_names(&d->cursor, &d->frame, &names)) {
        dump_unreadable();
        return;
    }
    printf("%" PRIu32 " names", names.left);
    while (jsp_read_name(&d->cursor, &d->frame, &names, &addr, &name)) {
        printf("\n    %016" PRIx64 "  ", addr);
        dump_text(d, name);
    }
}

static void dump_map(struct dump *d)
{
    struct jsp_read_map m;
    if (!jsp_read_map(&d->cursor, &d->frame, &m)) {
        dump_unreadable();
        return;
    }
    printf("%" PRIx64 "-%" PRIx64 " offset %" PRIx64 " ", m.start, m.end, m.offset);
    dump_text(d, m.path);
}

static void dump_mark(struct dump *d)
{
    struct jsp_read_mark m;
    if (!jsp_read_mark(&d->cursor, &d->frame, &m)) {
        dump_unreadable();
        return;
    }
    printf("%.6f s ", (double)m.duration / 1e9);
    dump_text(d, m.group);
    fputs(" / ", stdout);
    dump_text(d, m.name);
    fputs(" ", stdout);
    dump_text(d, m.message);
}

static void dump_counters(struct dump *d)
{
    struct jsp_read_counters all;
    struct jsp_read_counter c = { 0 };
    bool is_set = d->frame.type == JSP_WIRE_CTRSET;
    if (!jsp_read_counters(&d->cursor, &d->frame, &all)) {
        dump_unreadable();
        return;
    }
    while (jsp_read_counter(&d->cursor, &d->frame, &all, &c)) {
        printf("\n    %" PRIu32, c.id);
        if (is_set) {
            printf(" = %016" PRIx64, c.bits);
            continue;
        }
        fputs("  ", stdout);
        dump_text(d, c.group);
        fputs(" / ", stdout);
        dump_text(d, c.name);
        fputs(c.is_real ? "  real  " : "  whole  ", stdout);
        dump_text(d, c.what);
    }
}

static void dump_pair(struct dump *d)
{
    struct jsp_read_pair pair;
    if (!jsp_read_pair(&d->cursor, &d->frame, &pair)) {
        dump_unreadable();
        return;
    }
    dump_text(d, pair.key);
    fputs(": ", stdout);
    dump_text(d, pair.value);
}

static void dump_chunk(struct dump *d)
{
    struct jsp_read_chunk c;
    if (!jsp_read_chunk(&d->cursor, &d->frame, &c)) {
        dump_unreadable();
        return;
    }
    dump_text(d, c.path);
    printf(" %" PRIu32 " bytes%s", c.len, c.is_last ? ", last" : "");
}

static void dump_losses(struct dump *d)
{
    struct jsp_read_chunk c;
    struct jsp_read_text line;
    if (!jsp_read_chunk(&d->cursor, &d->frame, &c) ||
        c.path.len != strlen(JSP_WIRE_FILE_LOSSES) ||
        memcmp(c.path.at, JSP_WIRE_FILE_LOSSES, c.path.len) != 0)
        return;
    const char *at = (const char *)c.data, *end = at + c.len;
    for (; at < end; at = line.at + line.len + 1) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        line = (struct jsp_read_text){ at, (uint32_t)((stop ? stop : end) - at) };
        if (!line.len) /* reserved space that is not used */
            continue;
        fputs("\n    ", stdout);
        dump_text(d, line);
    }
}

static void dump_process(struct dump *d)
{
    struct jsp_read_text command;
    if (jsp_read_process(&d->cursor, &d->frame, &command))
        dump_text(d, command);
}

static void dump_fork(struct dump *d)
{
    int32_t child;
    if (jsp_read_fork(&d->cursor, &d->frame, &child))
        printf("child %" PRId32, child);
    else
        dump_unreadable();
}

static void dump_body(struct dump *d)
{
    static void (*const bodies[])(struct dump *) = {
        [JSP_WIRE_SAMPLE] = dump_sample,    [JSP_WIRE_MAP] = dump_map,
        [JSP_WIRE_PROCESS] = dump_process,  [JSP_WIRE_FORK] = dump_fork,
        [JSP_WIRE_JITMAP] = dump_names,     [JSP_WIRE_MARK] = dump_mark,
        [JSP_WIRE_METADATA] = dump_pair,    [JSP_WIRE_LOG] = dump_pair,
        [JSP_WIRE_FILE_CHUNK] = dump_chunk, [JSP_WIRE_CTRDEF] = dump_counters,
        [JSP_WIRE_CTRSET] = dump_counters,
    };
    uint8_t type = d->frame.type;
    if (type < sizeof bodies / sizeof *bodies && bodies[type])
        bodies[type](d);
    else if (d->frame.len > sizeof(struct jsp_wire_frame))
        printf("%" PRIu32 " bytes", d->frame.len);
    if (type == JSP_WIRE_FILE_CHUNK)
        dump_losses(d);
}

const char *const cli_dump_types[17] = {
    "",     "TIMESTAMP", "SAMPLE",     "MAP",     "PROCESS", "FORK",
    "EXIT", "JITMAP",    "CTRDEF",     "CTRSET",  "MARK",    "META",
    "LOG",  "FILE",      "ALLOCATION", "OVERLAY", NULL,
};

static void dump_frame(struct dump *d)
{
    double time = (double)d->frame.time - (double)d->capture->read.time;
    printf("%10" PRIu64 " %12.6f %7" PRId32 "  %-10s", d->frame.offset, time / 1e9,
           d->frame.pid, cli_dump_types[d->frame.type]);
    if (d->frame.len > sizeof(struct jsp_wire_frame))
        putchar(' ');
    dump_body(d);
    putchar('\n');
}

static int dump_run(struct cli_arguments *a)
{
    struct cli_form form = { 0 };
    const char *symbols = NULL;
    const struct cli_option options[] = { { "symbols", NULL, &symbols, NULL },
                                          CLI_FORM_OPTIONS(&form),
                                          { 0 } };
    struct cli_capture capture;
    struct dump d = { .capture = &capture };
    if (cli_options(a, options) || cli_form_check(a->command, &form))
        return CLI_USAGE;
    const char *path = cli_one_file(a);
    if (!path)
        return CLI_USAGE;
    struct jsp_profile_options how = { .symbols = symbols };
    if (cli_symbols_check(symbols) || cli_load_with(&capture, path, &how))
        return CLI_FAILED;
    if (!cli_form_is_text(&form)) {
        int status = cli_dump_rows(&capture, &form);
        cli_close(&capture);
        return status;
    }
    jsp_read_start(&d.cursor, &capture.read, NULL);
    jsp_samples_start(&d.samples, &capture.profile, NULL);
    while (!ferror(stdout) && jsp_read_next(&d.cursor, &d.frame))
        dump_frame(&d);
    cli_close(&capture);
    return CLI_OK;
}

static const struct cli_document *const dump_documents[] = { &cli_dump_document, NULL };

const struct cli_command cli_dump = {
    .name = "dump",
    .summary = "every frame of the file, as text",
    .help = dump_help,
    .run = dump_run,
    .documents = dump_documents,
};
