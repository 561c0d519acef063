/* export/perf.c - text like that of `perf script`, which many tools read.
 *
 * A paragraph for each sample, by thread and time; the period is the sample's value, in
 * the profile's unit. Merged frames have no address any more, so the number of the
 * function takes its place. Most readers count paragraphs and ignore periods.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>

#include "shown_names.h"
#include "analyze/name_parts.h"
#include "text_cache.h"
#include "tables.h"

struct perf {
    struct jsp_export *e;
    struct jsp_profile *p;
    struct jsp_tables from;
    struct jsp_text_cache cache; /* the text of each node's stack */
    struct jsp_sink head;     /* the start of a sample's first line */
    uint32_t *frames;
};

/* Write one word, because readers split at blanks here. */
static void perf_word(struct jsp_sink *out, struct jsp_read_text text)
{
    struct jsp_bytes word = { 0 };
    struct jsp_sink into;
    jsp_sink_init(&into, jsp_bytes_write, &word);
    jsp_shown_plain_bytes(&into, text, 0);
    int err = jsp_sink_flush(&into);
    for (size_t i = 0; !err && i < word.n; i++)
        jsp_sink_byte(out, strchr(" ()", word.at[i]) ? '_' : word.at[i]);
    if (!out->error)
        out->error = err;
    jsp_bytes_free(&word);
}

/* Write "number name (module)"; a name with its place has that as its module. */
static void perf_frame(struct perf *x, uint32_t function)
{
    struct jsp_sink *out = &x->cache.into;
    const struct jsp_module *m = jsp_tables_module(&x->from, function);
    const char *name = x->p->functions[function].name;
    struct jsp_name_parts parts = jsp_name_split(name);
    struct jsp_read_text place = m->path;
    /* All after "name (" except the parenthesis; a function without a name is its place. */
    if (parts.line && parts.name.at != parts.file.at)
        place = (struct jsp_read_text){ parts.file.at, (uint32_t)strlen(parts.file.at) - 1 };
    jsp_sink_byte(out, '\t');
    jsp_sink_u64(out, (uint64_t)function + 1);
    jsp_sink_byte(out, ' ');
    jsp_shown_plain_bytes(out, parts.name, 0);
    jsp_sink_text(out, " (");
    perf_word(out, place);
    jsp_sink_text(out, ")\n");
}

/* Write a number with at least as many digits as `least` has. */
static void perf_number(struct jsp_sink *out, uint64_t n, uint64_t least)
{
    for (; least > n && least > 1; least /= 10)
        jsp_sink_byte(out, '0');
    jsp_sink_u64(out, n);
}

static void perf_sample(struct perf *x, const char *head, const struct jsp_moment *m)
{
    struct jsp_sink *out = x->e->out;
    uint64_t time = m->time > 0 ? (uint64_t)m->time : 0;
    bool is_count = !jsp_unit_is_time(x->p->unit);
    jsp_sink_text(out, head);
    jsp_sink_byte(out, '[');
    perf_number(out, m->cpu < 0 ? 0 : (uint64_t)m->cpu, 100);
    jsp_sink_put(out, "] ", 2);
    jsp_sink_u64(out, time / 1000000000);
    jsp_sink_byte(out, '.');
    perf_number(out, time % 1000000000, 100000000);
    jsp_sink_put(out, ": ", 2);
    jsp_sink_u64(out, m->value);
    jsp_sink_byte(out, ' ');
    jsp_sink_text(out, is_count ? jsp_unit_key(x->p->unit) : jsp_clocks[x->p->unit].key);
    jsp_sink_text(out, is_count ? ": \n" : "-clock: \n");
    if (jsp_text_cache_wants(&x->cache, m->node)) {
        uint32_t n = jsp_calltree_frames(&x->from.stacks, m->node, x->frames);
        for (uint32_t i = 0; i < n; i++)
            perf_frame(x, x->from.stacks.frames[x->frames[i]].function);
        jsp_sink_byte(&x->cache.into, '\n');
    }
    jsp_text_cache_put(&x->cache, m->node, out);
}

/* Return "comm pid/tid ", the same for each sample of the thread. The caller frees it. */
static char *perf_head(struct perf *x, uint32_t thread)
{
    const struct jsp_thread_info *t = &x->p->threads[thread];
    const char *name = jsp_shown_of_thread(x->p, thread);
    struct jsp_bytes head = { 0 };
    jsp_sink_init(&x->head, jsp_bytes_write, &head);
    if (!*name)
        name = *x->p->host ? x->p->host : "thread";
    perf_word(&x->head, (struct jsp_read_text){ name, (uint32_t)strlen(name) });
    jsp_sink_byte(&x->head, ' ');
    jsp_sink_i64(&x->head, t->pid);
    jsp_sink_byte(&x->head, '/');
    jsp_sink_i64(&x->head, t->tid);
    jsp_sink_put(&x->head, " ", 2); /* including the NUL */
    if (jsp_sink_flush(&x->head) == 0)
        return head.at;
    jsp_bytes_free(&head);
    return NULL;
}

int jsp_export_perf(struct jsp_export *e)
{
    struct perf *x = calloc(1, sizeof *x);
    if (!x)
        return -ENOMEM;
    x->e = e;
    x->p = e->profile;
    x->frames = malloc(JSP_PROFILE_DEPTH * sizeof *x->frames);
    int err = jsp_tables_build(&x->from, e, JSP_CALLTREE_KINDS);
    if (err == 0)
        err = jsp_text_cache_init(&x->cache, x->from.stacks.n_nodes);
    if (err == 0 && !x->frames)
        err = -ENOMEM;
    for (uint32_t t = 0; err == 0 && t < x->p->n_threads; t++) {
        char *head = perf_head(x, t);
        uint32_t end = x->from.moments.first[t + 1];
        for (uint32_t i = x->from.moments.first[t]; head && i < end; i++)
            perf_sample(x, head, &x->from.moments.list[i]);
        err = head ? x->cache.into.error : -ENOMEM;
        free(head);
    }
    jsp_tables_free(&x->from);
    jsp_text_cache_free(&x->cache);
    free(x->frames);
    free(x);
    return err;
}
