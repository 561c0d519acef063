/* read/records.c - the records of a capture one by one, as they are in the file.
 *
 * SPDX-License-Identifier: MIT
 */
#include "reader.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/addresses.h"
#include "capture/wire.h"

struct jsprof_read_records {
    jsprof_reader *reader;
    struct jsp_read_cursor cursor; /* counts no defects, because loading the profile did */
    struct jsp_samples samples;
    /* of the record that was read last: */
    struct jsp_read_frame frame;
    bool is_readable;
    struct jsp_addresses addresses;
    struct jsp_profile_address at; /* the context of the next address */
    struct jsp_read_names names;
    struct jsp_read_counters counters;
};

/* -- Records ---------------------------------------------------------------------- */

/* Each function stores the fields of its type. It returns false where the frame is not readable,
 * and sets a text to NULL where there is no memory. */

static const char *records_text(const jsprof_read_records *s, struct jsp_read_text text)
{
    return jsp_reader_text(s->reader, text);
}

static bool records_sample(jsprof_read_records *s, jsprof_read_record *r)
{
    const struct jsp_profile *p = &s->reader->profile;
    struct jsp_sample is;
    if (!jsp_samples_take(&s->samples, &s->frame, &is))
        return false;
    s->at = (struct jsp_profile_address){ .key = { 0, s->frame.pid, is.epoch } };
    jsp_addresses_of_sample(&s->addresses, p, &is);
    r->number = is.ordinal;
    r->thread = is.body.tid;
    r->n_parts = is.body.n_addrs;
    r->has_weight = is.weight.known;
    r->weight = is.weight.weight;
    r->cpu_ns = is.weight.cpu_ns;
    r->cut = is.weight.cut;
    r->has_state = is.state.state;
    r->state = jsp_states[is.state.state].key;
    r->state_name = jsp_states[is.state.state].name;
    r->detail = records_text(s, jsp_samples_detail(p, &is, s->frame.pid));
    r->is_call = is.state.call;
    r->descriptor = is.state.descriptor;
    r->asleep_ns = is.state.asleep_ns;
    return true;
}

static bool records_names(jsprof_read_records *s, jsprof_read_record *r)
{
    bool is = jsp_read_names(&s->cursor, &s->frame, &s->names);
    r->n_parts = is ? s->names.left : 0;
    return is;
}

static bool records_counters(jsprof_read_records *s, jsprof_read_record *r)
{
    (void)r;
    return jsp_read_counters(&s->cursor, &s->frame, &s->counters);
}

static bool records_map(jsprof_read_records *s, jsprof_read_record *r)
{
    struct jsp_read_map m;
    if (!jsp_read_map(&s->cursor, &s->frame, &m))
        return false;
    r->begin = m.start;
    r->end = m.end;
    r->in_file = m.offset;
    r->name = records_text(s, m.path);
    r->text = records_text(s, m.build_id);
    return true;
}

static bool records_mark(jsprof_read_records *s, jsprof_read_record *r)
{
    struct jsp_read_mark m;
    if (!jsp_read_mark(&s->cursor, &s->frame, &m))
        return false;
    r->duration = m.duration;
    r->group = records_text(s, m.group);
    r->name = records_text(s, m.name);
    r->text = records_text(s, m.message);
    return true;
}

static bool records_pair(jsprof_read_records *s, jsprof_read_record *r)
{
    struct jsp_read_pair pair;
    if (!jsp_read_pair(&s->cursor, &s->frame, &pair))
        return false;
    r->name = records_text(s, pair.key);
    r->text = records_text(s, pair.value);
    return true;
}

static bool records_chunk(jsprof_read_records *s, jsprof_read_record *r)
{
    struct jsp_read_chunk c;
    if (!jsp_read_chunk(&s->cursor, &s->frame, &c))
        return false;
    r->name = records_text(s, c.path);
    r->data = c.data;
    r->n_data = c.len;
    r->is_last = c.is_last;
    return true;
}

static bool records_process(jsprof_read_records *s, jsprof_read_record *r)
{
    struct jsp_read_text command;
    if (!jsp_read_process(&s->cursor, &s->frame, &command))
        return false;
    r->name = records_text(s, command);
    return true;
}

static bool records_fork(jsprof_read_records *s, jsprof_read_record *r)
{
    return jsp_read_fork(&s->cursor, &s->frame, &r->child);
}

int jsprof_read_records_open(jsprof_read_records **out, jsprof_reader *r,
                             jsprof_read_error *error)
{
    jsprof_read_records *s = calloc(1, sizeof *s);
    if (!s)
        return jsp_reader_errno(error, -ENOMEM, NULL);
    s->reader = r;
    jsp_read_start(&s->cursor, &r->read, NULL);
    jsp_samples_start(&s->samples, &r->profile, NULL);
    *out = s;
    return 0;
}

int jsprof_read_records_next(jsprof_read_records *s, jsprof_read_record *out)
{
    static const char *const types[16] = { /* by enum jsp_wire_type */
        "",     "TIMESTAMP", "SAMPLE",     "MAP",     "PROCESS", "FORK",
        "EXIT", "JITMAP",    "CTRDEF",     "CTRSET",  "MARK",    "META",
        "LOG",  "FILE",      "ALLOCATION", "OVERLAY",
    };
    static bool (*const bodies[16])(jsprof_read_records *, jsprof_read_record *) = {
        [JSP_WIRE_SAMPLE] = records_sample,    [JSP_WIRE_MAP] = records_map,
        [JSP_WIRE_PROCESS] = records_process,  [JSP_WIRE_FORK] = records_fork,
        [JSP_WIRE_JITMAP] = records_names,     [JSP_WIRE_MARK] = records_mark,
        [JSP_WIRE_METADATA] = records_pair,    [JSP_WIRE_LOG] = records_pair,
        [JSP_WIRE_FILE_CHUNK] = records_chunk, [JSP_WIRE_CTRDEF] = records_counters,
        [JSP_WIRE_CTRSET] = records_counters,
    };
    const struct jsp_read_frame *f = &s->frame;
    s->is_readable = false;
    if (!jsp_read_next(&s->cursor, &s->frame))
        return 0;
    uint32_t head = sizeof(struct jsp_wire_frame);
    jsprof_read_record r = { .offset = f->offset, .n_bytes = f->len,
                             .n_body = f->len > head ? f->len - head : 0,
                             .time = (int64_t)((uint64_t)f->time -
                                               (uint64_t)s->reader->profile.start_time),
                             .process = f->pid, .cpu = f->cpu, .type = types[f->type],
                             .has_fields = bodies[f->type], .name = "", .text = "", .group = "",
                             .state = "", .state_name = "", .detail = "" };
    s->is_readable = r.is_readable = bodies[f->type] && bodies[f->type](s, &r);
    if (!r.name || !r.text || !r.group || !r.detail)
        return -ENOMEM;
    jsp_reader_give(out, 0, &r, sizeof r);
    return 1;
}

/* -- Parts ------------------------------------------------------------------------ */

static int records_address(jsprof_read_records *s, jsprof_read_part *out)
{
    struct jsp_profile *p = &s->reader->profile;
    struct jsp_profile_address *a = &s->at;
    struct jsp_profile_frame frame = { 0 };
    if (!jsp_addresses_next(&s->addresses, &a->key.addr, &out->line))
        return 0;
    out->number = a->key.addr;
    out->is_marker = jsp_profile_is_marker(out->number);
    if (out->is_marker) {
        out->is_kernel = jsp_profile_is_kernel_marker(out->number);
        jsp_profile_marker(a);
        return 1;
    }
    if (jsp_profile_function(p, a, &frame) < 0)
        return -ENOMEM;
    out->name = p->functions[frame.function].name;
    out->is_loop = frame.origin == JSP_ORIGIN_LOOP;
    const struct jsp_lookup_map *m = jsp_lookup_map(&p->lookup, a->key);
    if (m && m->path.len) {
        out->module = records_text(s, m->path);
        out->in_module = out->number - m->start + m->offset;
    }
    jsp_profile_next(p, a);
    return out->module ? 1 : -ENOMEM;
}

static int records_name(jsprof_read_records *s, jsprof_read_part *out)
{
    struct jsp_read_text name;
    if (!jsp_read_name(&s->cursor, &s->frame, &s->names, &out->number, &name))
        return 0;
    out->name = records_text(s, name);
    return out->name ? 1 : -ENOMEM;
}

static int records_counter(jsprof_read_records *s, jsprof_read_part *out)
{
    struct jsp_read_counter c = { 0 };
    if (!jsp_read_counter(&s->cursor, &s->frame, &s->counters, &c))
        return 0;
    out->number = c.id;
    out->bits = c.bits;
    out->group = records_text(s, c.group);
    out->name = records_text(s, c.name);
    out->text = records_text(s, c.what);
    out->is_real = c.is_real;
    return out->group && out->name && out->text ? 1 : -ENOMEM;
}

int jsprof_read_parts_next(jsprof_read_records *s, jsprof_read_part *out)
{
    jsprof_read_part part = { .group = "", .text = "", .module = "" };
    uint8_t type = s->is_readable ? s->frame.type : 0;
    int got = type == JSP_WIRE_SAMPLE                                ? records_address(s, &part)
              : type == JSP_WIRE_JITMAP                              ? records_name(s, &part)
              : type == JSP_WIRE_CTRDEF || type == JSP_WIRE_CTRSET ? records_counter(s, &part)
                                                                   : 0;
    if (got == 1)
        jsp_reader_give(out, 0, &part, sizeof part);
    return got;
}

void jsprof_read_records_close(jsprof_read_records *s)
{
    free(s);
}
