/* read/open.c - opens one or several captures as a reader.
 *
 * SPDX-License-Identifier: MIT
 */
#include "reader.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "export/merge.h"

/* A capture that is opened only to be joined with others. */
struct open_one {
    struct jsp_read read;
    struct jsp_profile profile;
    void *copy;
};

static int open_memory(struct jsp_read *read, void **copy, const jsprof_read_input *in,
                       char why[JSP_READ_WHY])
{
    const void *bytes = in->bytes;
    if ((uintptr_t)bytes % 8) {
        *copy = malloc(in->n_bytes + 1);
        if (!*copy)
            return -ENOMEM;
        bytes = memcpy(*copy, bytes, in->n_bytes);
    }
    return jsp_read_memory(read, bytes, in->n_bytes, why);
}

static int open_input(struct jsp_read *read, void **copy, const jsprof_read_input *in,
                      jsprof_read_error *e)
{
    char why[JSP_READ_WHY] = "";
    if (!in->path && !in->bytes && !in->fd) /* standard input is "-" */
        return jsp_reader_fail(e, (struct jsp_reader_fault){ .code = -EINVAL, .option = "inputs" },
                               "inputs has one without path, bytes and fd");
    int err = in->path    ? jsp_read_open(read, in->path, why)
              : in->bytes ? open_memory(read, copy, in, why)
                          : jsp_read_descriptor(read, in->fd, why);
    if (err == 0)
        return 0;
    free(*copy);
    *copy = NULL;
    return jsp_reader_fail(e, (struct jsp_reader_fault){ .code = err, .path = in->path,
                                                         .has_offset = err == -EBADMSG },
                           "%s", *why ? why : strerror(-err));
}

/* The size of an element is that of the first one. */
static jsprof_read_input open_nth(const jsprof_read_options *o, size_t i)
{
    jsprof_read_input in;
    jsp_reader_take(&in, sizeof in, (const char *)o->inputs + i * o->inputs->size);
    return in;
}

/* -- Several captures -------------------------------------------------------- */

static int open_merge(jsprof_reader *r, struct open_one *of, size_t n, jsprof_read_error *e)
{
    struct jsp_sink *sink = malloc(sizeof *sink);
    struct jsp_profile **inputs = calloc(n, sizeof *inputs);
    struct jsp_merge m = { .inputs = inputs, .n = (uint32_t)n, .out = sink };
    char why[JSP_READ_WHY] = "";
    int err = sink && inputs ? 0 : -ENOMEM;
    for (size_t i = 0; err == 0 && i < n; i++)
        inputs[i] = &of[i].profile;
    if (err == 0) {
        jsp_sink_init(sink, jsp_bytes_write, &r->joined);
        err = jsp_merge_write(&m);
        int flushed = jsp_sink_flush(sink);
        err = err ? err : flushed;
    }
    free(inputs);
    free(sink);
    if (err == 0)
        err = jsp_read_memory(&r->read, r->joined.at, r->joined.n, why);
    return jsp_reader_errno(e, err, NULL);
}

static int open_several(jsprof_reader *r, const jsprof_read_options *o, jsprof_read_error *e)
{
    struct open_one *of = calloc(o->n_inputs, sizeof *of);
    size_t n = 0;
    int err = of ? 0 : jsp_reader_errno(e, -ENOMEM, NULL);
    while (err == 0 && n < o->n_inputs) {
        jsprof_read_input in = open_nth(o, n);
        err = open_input(&of[n].read, &of[n].copy, &in, e);
        if (err)
            break;
        err = jsp_profile_load(&of[n].profile, &of[n].read, NULL);
        if (err) {
            jsp_reader_errno(e, err, in.path);
            jsp_read_close(&of[n].read);
            free(of[n].copy);
            break;
        }
        const char *why = jsp_merge_refuses(&of[0].profile, &of[n].profile);
        n++;
        if (why)
            err = jsp_reader_fail(e, (struct jsp_reader_fault){ .code = -EXDEV, .path = in.path },
                                  "can not be merged with the first capture: %s", why);
    }
    if (err == 0)
        err = open_merge(r, of, n, e);
    while (n > 0) {
        jsp_profile_free(&of[--n].profile);
        jsp_read_close(&of[n].read);
        free(of[n].copy);
    }
    free(of);
    return err;
}

/* -- Options ----------------------------------------------------------------- */

static int open_exists(const char *path, bool is_folder, jsprof_read_error *e)
{
    struct stat is;
    if (!path)
        return 0;
    int err = stat(path, &is) < 0 ? -errno : 0;
    if (err == 0 && is_folder && !S_ISDIR(is.st_mode))
        err = -ENOTDIR;
    return jsp_reader_errno(e, err, path);
}

#define OPEN_WRONG(name) (struct jsp_reader_fault){ .code = -EINVAL, .option = name }

/* Check the words, in the order of the command's. */
static int open_check(const jsprof_read_options *o, struct jsp_profile_options *load,
                      jsprof_read_error *e)
{
    static const char *const measures[] = { "time", "alloc", "live", NULL };
    static const enum jsp_value values[] = { JSP_VALUE_COUNT, JSP_VALUE_ALLOC, JSP_VALUE_LIVE };
    if (!o->inputs || o->n_inputs == 0)
        return jsp_reader_fail(e, OPEN_WRONG("inputs"), "inputs has no capture");
    if (o->time && !jsp_reader_time(o->time, &load->from_ns, &load->to_ns))
        return jsp_reader_fail(e, OPEN_WRONG("time"),
                               "time wants FROM..TO as in 2s..5s, not \"%s\"", o->time);
    load->clock = o->clock ? jsp_clock_find(o->clock) : NULL;
    if (o->clock && !load->clock)
        return jsp_reader_fail(e, OPEN_WRONG("clock"), "clock is %s, not \"%s\"",
                               JSP_CLOCKS_KEYS, o->clock);
    for (size_t i = 0; i < o->n_maps; i++)
        if (!strchr(o->maps[i], '='))
            return jsp_reader_fail(e, OPEN_WRONG("map"), "map wants OLD=NEW, not \"%s\"",
                                   o->maps[i]);
    int measure = o->measure ? jsp_reader_word(e, "measure", o->measure, measures) : 0;
    if (measure < 0)
        return measure;
    if (measure && o->clock)
        return jsp_reader_fail(e, OPEN_WRONG("clock"),
                               "clock is for time, not for --measure %s", o->measure);
    load->measure = values[measure];
    int err = open_exists(o->source_maps, false, e);
    return err ? err : open_exists(o->symbols, true, e);
}

/* Copy a list of words. */
static int open_list(jsprof_reader *r, const char *const *from, size_t n, const char *const **to,
                     uint32_t *n_to)
{
    const char **list = calloc(n + 1, sizeof *list);
    int err = list ? 0 : -ENOMEM;
    for (size_t i = 0; err == 0 && i < n; i++) {
        list[i] = from[i];
        err = jsp_reader_keep(&r->words, &list[i]);
    }
    *to = list; /* jsprof_read_close frees it */
    *n_to = (uint32_t)n;
    return err;
}

static int open_keep(jsprof_reader *r, const jsprof_read_options *o,
                     struct jsp_profile_options *load)
{
    struct jsp_naming_options *n = &r->naming;
    n->source_maps = o->source_maps;
    n->has_no_source_maps = o->flags & JSPROF_READ_GENERATED;
    /* Without the recording's end a map could be one of later code. */
    if (o->flags & JSPROF_READ_NO_SAMPLES && !r->read.end_time && !o->source_maps)
        n->has_no_source_maps = true;
    load->naming = n;
    load->symbols = o->symbols;
    load->debuginfod = o->debuginfod;
    load->during = o->during;
    load->under_task = o->under_task;
    load->has_tasks = o->flags & JSPROF_READ_TASKS;
    load->has_traces = o->flags & JSPROF_READ_TRACES;
    load->has_no_samples = o->flags & JSPROF_READ_NO_SAMPLES;
    load->progress = o->progress;
    load->context = o->context;
    load->demangle = o->flags & JSPROF_READ_MANGLED ? NULL : jsp_reader_demangle;
    load->demangle_context = r;
    r->is_part = load->from_ns || load->to_ns || load->during || load->under_task;
    r->has_rows = o->flags & JSPROF_READ_ROWS;
    if (r->has_rows) {
        load->sampled = jsp_profile_keep;
        load->sampled_context = &r->rows;
    }
    const char **const words[] = { &n->source_maps, &load->symbols, &load->debuginfod,
                                   &load->during, &load->under_task };
    int err = 0;
    for (size_t i = 0; err == 0 && i < sizeof words / sizeof *words; i++)
        err = jsp_reader_keep(&r->words, words[i]);
    if (err == 0)
        err = open_list(r, o->maps, o->n_maps, &n->maps, &n->n_maps);
    return err ? err : open_list(r, o->trims, o->n_trims, &n->trims, &n->n_trims);
}

/* -- Open and close ----------------------------------------------------------- */

static int open_load(jsprof_reader *r, const jsprof_read_options *o,
                     struct jsp_profile_options *load, jsprof_read_error *e)
{
    jsprof_read_input first = open_nth(o, 0);
    int err = o->n_inputs == 1 ? open_input(&r->read, &r->copy, &first, e)
                               : open_several(r, o, e);
    if (err)
        return err;
    err = jsp_hash_init(&r->by_text, 0);
    if (err == 0)
        err = open_keep(r, o, load);
    if (err == 0)
        err = jsp_profile_load(&r->profile, &r->read, load);
    return jsp_reader_errno(e, err, o->n_inputs == 1 ? first.path : NULL);
}

int jsprof_read_open(jsprof_reader **out, const jsprof_read_options *options,
                     jsprof_read_error *error)
{
    jsprof_read_options o;
    struct jsp_profile_options load = { 0 };
    jsp_reader_take(&o, sizeof o, options);
    int err = open_check(&o, &load, error);
    if (err)
        return err;
    jsprof_reader *r = calloc(1, sizeof *r);
    if (!r)
        return jsp_reader_errno(error, -ENOMEM, NULL);
    r->stack = UINT32_MAX;
    err = open_load(r, &o, &load, error);
    if (err) {
        jsprof_read_close(r);
        return err;
    }
    *out = r;
    return 0;
}

void jsprof_read_close(jsprof_reader *r)
{
    if (!r)
        return;
    jsp_reader_choice_free(&r->choice);
    jsp_profile_free(&r->profile);
    if (r->read.bytes)
        jsp_read_close(&r->read);
    jsp_bytes_free(&r->joined);
    free(r->copy);
    free((void *)(uintptr_t)r->naming.maps);
    free((void *)(uintptr_t)r->naming.trims);
    free(r->rows.list);
    jsp_store_free(&r->words);
    jsp_store_free(&r->store);
    jsp_hash_free(&r->by_text);
    jsp_hash_free(&r->by_file);
    free(r->texts);
    free(r->data);
    free(r->files);
    free(r->parts);
    free(r->frames);
    free(r);
}
