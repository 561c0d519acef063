/* export/merge_files.c - the embedded files of several captures, joined.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "capture/embedded.h"
#include "merge_work.h"

enum { MERGE_BLOCK = 48 << 10, MERGE_FILES = 4096 };

static void merge_gather(struct merge_work *w, struct jsp_bytes *to, const void *bytes,
                         size_t n)
{
    if (n && jsp_bytes_write(to, bytes, n) < 0)
        w->has_failed = true;
}

/* -- Other files of ours ------------------------------------------------------ */

/* Write the gathered w->text as a chunk. */
static void merge_flush(struct merge_work *w, const char *path, bool *is_begun)
{
    if (w->text.n)
        merge_chunk(w, path, w->text.at, w->text.n, false);
    *is_begun |= w->text.n > 0;
    w->text.n = 0;
}

/* Renumber the ids, which are the numbers of tagged addresses. */
static void merge_kinds(struct merge_work *w, const struct jsp_read_chunk *c)
{
    const uint8_t *at = c->data, *end = at + c->len;
    uint8_t record[JSP_EMBEDDED_PAIR];
    uint64_t kind;
    uint32_t id;
    while (at < end && jsp_embedded_kind_get(&at, end, &id, &kind)) {
        id = (uint32_t)merge_address(w, JSP_WIRE_JIT_TAG | id);
        merge_gather(w, &w->text, record, jsp_embedded_kind_put(record, id, kind));
        if (w->text.n > MERGE_BLOCK)
            merge_flush(w, JSP_WIRE_FILE_FRAMES, &w->has_frames);
    }
    merge_flush(w, JSP_WIRE_FILE_FRAMES, &w->has_frames);
}

/* Renumber the allocations of each block, and their labels. */
static void merge_allocations(struct merge_work *w, const struct jsp_read_chunk *c)
{
    const uint8_t *at = c->data, *end = at + c->len, *begin;
    uint64_t first, count;
    while (at < end && jsp_embedded_block_get(&at, end, &first, &count)) {
        uint8_t head[JSP_EMBEDDED_BLOCK], record[JSP_EMBEDDED_WEIGHT];
        struct jsp_weight one;
        begin = at;
        for (uint64_t i = 0; i < count; i++)
            if (!jsp_embedded_weight_get(&at, end, &one))
                return; /* its defect was reported when the capture was loaded */
        first += w->allocations_before;
        merge_gather(w, &w->text, head, jsp_embedded_block_put(head, first, count));
        for (uint64_t i = 0; i < count && jsp_embedded_weight_get(&begin, end, &one); i++) {
            one.cpu_ns = merge_label(w, one.cpu_ns); /* their number is there */
            merge_gather(w, &w->text, record, jsp_embedded_weight_put(record, &one));
            merge_gather(w, &w->text, one.lines, one.lines_bytes);
        }
        merge_flush(w, JSP_WIRE_FILE_ALLOCATIONS, &w->has_allocations);
    }
}

/* Renumber the lines "thread id=3 ...". Other lines are omitted; merge_session writes the
 * session's line at the end. A line ends in a newline, so strtoull stops inside it. */
static void merge_losses(struct merge_work *w, const struct jsp_read_chunk *c)
{
    static const char head[] = "thread id=";
    const char *at = (const char *)c->data, *end = at + c->len, *stop;
    for (; at < end && (stop = memchr(at, '\n', (size_t)(end - at))) != NULL; at = stop + 1) {
        char id[48], *rest;
        size_t len = (size_t)(stop + 1 - at), skip = sizeof head - 1;
        if (len <= skip || memcmp(at, head, skip) != 0 || at[skip] < '0' || at[skip] > '9' ||
            len > MERGE_BLOCK)
            continue;
        uint64_t from = strtoull(at + skip, &rest, 10);
        int n = snprintf(id, sizeof id, "%s%" PRIu64, head,
                         merge_number(w, MERGE_ACCOUNT, from));
        len = (size_t)(stop + 1 - rest);
        if (w->text.n + (size_t)n + len > MERGE_BLOCK)
            merge_flush(w, JSP_WIRE_FILE_LOSSES, &w->has_losses);
        merge_gather(w, &w->text, id, (size_t)n);
        merge_gather(w, &w->text, rest, len);
    }
    merge_flush(w, JSP_WIRE_FILE_LOSSES, &w->has_losses);
}

/* -- Files of anybody's ------------------------------------------------------- */

/* Find the input that owns the file of this path. If there is none, the current input
 * becomes its owner. */
static int merge_owner(struct merge_work *w, struct jsp_read_text path, uint32_t *owner)
{
    for (uint32_t i = 0; i < w->n_files; i++)
        if (jsp_read_equal(w->files[i].path, path)) {
            *owner = w->files[i].input;
            return 0;
        }
    *owner = w->input;
    if (w->n_files == MERGE_FILES)
        return 0;
    if (jsp_grow(&w->files, &w->files_room, w->n_files, sizeof *w->files) < 0)
        return -ENOMEM;
    w->files[w->n_files++] = (struct merge_file){ path, w->input };
    return 0;
}

static int merge_other(struct merge_work *w, const struct jsp_read_chunk *c)
{
    char path[257];
    uint32_t owner;
    int err = merge_owner(w, c->path, &owner);
    if (err < 0)
        return err;
    if (owner != w->input) {
        w->m->left_out += c->is_last;
        return 0;
    }
    snprintf(path, sizeof path, "%.*s", (int)c->path.len, c->path.at);
    merge_chunk(w, path, c->data, c->len, c->is_last);
    return 0;
}

int merge_file(struct merge_work *w)
{
    struct jsp_read_chunk c;
    if (!jsp_read_chunk(&w->cursor, &w->in, &c))
        return 0;
    if (jsp_read_is(c.path, JSP_WIRE_FILE_SYMBOLS) || jsp_read_is(c.path, JSP_WIRE_FILE_SAMPLES) ||
        jsp_read_is(c.path, JSP_WIRE_FILE_STACKS) || jsp_read_is(c.path, JSP_WIRE_FILE_PCS) ||
        jsp_read_is(c.path, JSP_WIRE_FILE_RUNNING))
        return 0; /* written anew from the data */
    if (jsp_read_is(c.path, JSP_WIRE_FILE_RELAYED))
        return 0; /* its numbers would be those of other functions */
    if (jsp_read_is(c.path, JSP_WIRE_FILE_STATES))
        jsp_sample_blocks_calls(&c, w->blocks.chunk, w);
    else if (jsp_read_is(c.path, JSP_WIRE_FILE_LABELS))
        merge_labels(w, &c);
    else if (jsp_read_is(c.path, JSP_WIRE_FILE_ALLOCATIONS))
        merge_allocations(w, &c);
    else if (jsp_read_is(c.path, JSP_WIRE_FILE_TASKS))
        merge_tasks(w, &c);
    else if (jsp_read_is(c.path, JSP_WIRE_FILE_FRAMES))
        merge_kinds(w, &c);
    else if (jsp_read_is(c.path, JSP_WIRE_FILE_LOSSES))
        merge_losses(w, &c);
    else if (jsp_read_is(c.path, JSP_WIRE_FILE_LISTINGS)) {
        /* Keep only the first capture's listings, because they belong to the names of one
         * capture. */
        if (w->input == 0)
            merge_chunk(w, JSP_WIRE_FILE_LISTINGS, c.data, c.len, c.is_last);
        else
            w->m->left_out += c.is_last;
    } else if (!jsp_read_is(c.path, JSP_WIRE_FILE_LOOPS))
        return merge_other(w, &c);
    else if (c.len)
        merge_gather(w, &w->text, c.data, c.len);
    /* does nothing for the other files, which left no text */
    merge_flush(w, JSP_WIRE_FILE_LOOPS, &w->has_loops);
    return 0;
}

/* -- The end ------------------------------------------------------------------ */

struct merge_symbol {
    uint64_t begin, end;
    int32_t pid;
    struct jsp_read_text name, module;
};

static int merge_symbol_compare(const void *a, const void *b)
{
    const struct merge_symbol *x = a, *y = b;
    if (x->pid != y->pid)
        return (uint32_t)x->pid < (uint32_t)y->pid ? -1 : 1;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static void merge_symbols_text(struct merge_work *w, struct jsp_bytes *b,
                               struct jsp_read_text t)
{
    merge_gather(w, b, t.at, t.len);
    merge_gather(w, b, "", 1);
}

/* Build the file: the table, an entry of zeros, then the texts. Offsets count from the
 * start of the file. */
static void merge_symbols_bytes(struct merge_work *w, const struct merge_symbol *list,
                                uint32_t n, struct jsp_bytes *out)
{
    static const struct jsp_wire_symbol end;
    struct jsp_bytes texts = { 0 };
    uint64_t base = ((uint64_t)n + 1) * sizeof end;
    for (uint32_t i = 0; i < n; i++) {
        struct jsp_wire_symbol s = { .begin = list[i].begin, .end = list[i].end,
                                     .pid = list[i].pid, .name = (uint32_t)(base + texts.n) };
        merge_symbols_text(w, &texts, list[i].name);
        if (list[i].module.len) {
            s.tag = (uint32_t)(base + texts.n);
            merge_symbols_text(w, &texts, list[i].module);
        }
        merge_gather(w, out, &s, sizeof s);
    }
    merge_gather(w, out, &end, sizeof end);
    merge_gather(w, out, texts.at, texts.n);
    jsp_bytes_free(&texts);
}

static int merge_symbols(struct merge_work *w)
{
    struct jsp_bytes file = { 0 };
    uint32_t got = 0;
    uint64_t n = 0;
    for (uint32_t i = 0; i < w->m->n; i++)
        n += w->m->inputs[i]->lookup.n_symbols;
    if (n == 0)
        return 0;
    struct merge_symbol *list = n < UINT32_MAX ? malloc(n * sizeof *list) : NULL;
    if (!list)
        return -ENOMEM;
    for (w->input = 0; w->input < w->m->n; w->input++) {
        const struct jsp_lookup *l = &w->m->inputs[w->input]->lookup;
        for (uint32_t i = 0; i < l->n_symbols; i++) {
            const struct jsp_lookup_symbol *s = &l->symbols[i];
            uint64_t begin = merge_address(w, s->begin);
            list[got++] = (struct merge_symbol){ begin, begin + (s->end - s->begin),
                                                 merge_pid(w, (int32_t)s->pid),
                                                 s->name, s->module };
        }
    }
    w->input = 0;
    qsort(list, got, sizeof *list, merge_symbol_compare);
    merge_symbols_bytes(w, list, got, &file);
    /* Sysprof 3.46 loses the file if it comes directly after another one */
    merge_begin(w, JSP_WIRE_TIMESTAMP);
    merge_end(w);
    for (size_t at = 0; at < file.n; at += JSP_WIRE_MAX_CHUNK) {
        size_t left = file.n - at;
        bool is_last = left <= JSP_WIRE_MAX_CHUNK;
        merge_chunk(w, JSP_WIRE_FILE_SYMBOLS, file.at + at, is_last ? left : JSP_WIRE_MAX_CHUNK,
                    is_last);
    }
    free(list);
    jsp_bytes_free(&file);
    return 0;
}

/* Write one session line for all inputs: final if each of them is. */
static void merge_session(struct merge_work *w)
{
    const struct jsp_profile *first = w->m->inputs[0];
    struct jsp_embedded_account line = { .tag = JSP_ACCOUNT_SESSION, .session = {
        .state = "final", .hz = first->hz, .samples = w->m->samples } };
    struct jsp_account_session *all = &line.session;
    char text[JSP_EMBEDDED_ACCOUNT];
    strcpy(all->clock, (first->driver ? first->driver : jsp_clocks)->key);
    for (uint32_t i = 0; i < w->m->n; i++) {
        const struct jsp_account *a = &w->m->inputs[i]->account;
        const struct jsp_account_session *s = &a->session;
        struct jsp_account_verdict v;
        jsp_account_verdict(a, &v);
        if (jsp_profile_lacks_end(w->m->inputs[i]))
            strcpy(all->state, "running");
        all->present |= s->present;
        all->labels += s->labels;
        all->label_bytes += s->label_bytes;
        all->labels_lost += s->labels_lost;
        all->labels_cut += s->labels_cut;
        all->marks_lost += s->marks_lost;
        all->tasks_unwritten += s->tasks_unwritten;
        all->tags_unwritten += s->tags_unwritten;
        all->tags_bad += s->tags_bad;
        all->tags_stray += s->tags_stray;
        all->addresses_missed += s->addresses_missed;
        all->time = s->time > all->time ? s->time : all->time;
        all->write_error = all->write_error ? all->write_error : v.write_error;
    }
    if (!all->present)
        return;
    merge_chunk(w, JSP_WIRE_FILE_LOSSES, text, jsp_embedded_account_put(text, &line), false);
    w->has_losses = true;
}

int merge_finish(struct merge_work *w)
{
    const struct {
        const char *path;
        const bool *is;
    } ends[] = { { JSP_WIRE_FILE_SAMPLES, &w->has_samples },
                 { JSP_WIRE_FILE_PCS, &w->has_pcs },
                 { JSP_WIRE_FILE_STATES, &w->has_states },
                 { JSP_WIRE_FILE_RUNNING, &w->has_running },
                 { JSP_WIRE_FILE_LABELS, &w->has_labels },
                 { JSP_WIRE_FILE_TASKS, &w->has_tasks },
                 { JSP_WIRE_FILE_ALLOCATIONS, &w->has_allocations },
                 { JSP_WIRE_FILE_FRAMES, &w->has_frames },
                 { JSP_WIRE_FILE_LOOPS, &w->has_loops },
                 { JSP_WIRE_FILE_LOSSES, &w->has_losses } };
    /* These frames belong to no input: give them the first process and the last time. */
    w->input = 0;
    w->in = (struct jsp_read_frame){ .cpu = -1, .time = w->in.time };
    if (w->m->inputs[0]->n_processes)
        w->in.pid = w->m->inputs[0]->processes[0].pid;
    jsp_sample_blocks_flush(&w->blocks);
    merge_session(w);
    int err = merge_symbols(w);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (*ends[i].is)
            merge_chunk(w, ends[i].path, NULL, 0, true);
    return err;
}
