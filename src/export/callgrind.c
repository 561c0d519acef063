/* export/callgrind.c - the format of callgrind_annotate and KCachegrind.
 *
 * Text: for each function its file, its own cost by line, and its calls with their
 * inclusive cost. A name is written once and then replaced by its number.
 *
 * SPDX-License-Identifier: MIT
 */
#include "callgrind.h"

#include <errno.h>
#include <stdlib.h>

#include "shown_names.h"
#include "jsprof.h"

static int callgrind_text(struct jsp_read_text a, struct jsp_read_text b)
{
    uint32_t least = a.len < b.len ? a.len : b.len;
    int order = least ? memcmp(a.at, b.at, least) : 0;
    return order ? order : a.len < b.len ? -1 : a.len > b.len;
}

struct callgrind_name {
    const struct callgrind_function *function;
    uint32_t at;
};

static int callgrind_by_name(const void *x, const void *y)
{
    const struct callgrind_function *a = ((const struct callgrind_name *)x)->function;
    const struct callgrind_function *b = ((const struct callgrind_name *)y)->function;
    int order = callgrind_text(a->name, b->name);
    if (!order)
        order = callgrind_text(a->file, b->file);
    if (!order)
        order = callgrind_text(a->object, b->object);
    return order ? order : a->line < b->line ? -1 : a->line > b->line;
}

/* Number functions with the same file and name, except the first of each: readers
 * identify functions by both. */
static int callgrind_number(struct callgrind *c)
{
    struct callgrind_name *names = calloc((size_t)c->n_functions + 1, sizeof *names);
    if (!names)
        return -ENOMEM;
    for (uint32_t i = 0; i < c->n_functions; i++)
        names[i] = (struct callgrind_name){ &c->functions[i], i };
    if (c->n_functions)
        qsort(names, c->n_functions, sizeof *names, callgrind_by_name);
    for (uint32_t i = 1; i < c->n_functions; i++) {
        const struct callgrind_function *a = names[i - 1].function, *b = names[i].function;
        if (callgrind_text(a->name, b->name) == 0 && callgrind_text(a->file, b->file) == 0)
            c->functions[names[i].at].number = a->number ? a->number + 1 : 2;
    }
    free(names);
    return 0;
}

/* -- Cycles ------------------------------------------------------------------- */

static int callgrind_by_callee(const void *x, const void *y)
{
    const struct callgrind_call *a = x, *b = y;
    if (a->callee != b->callee)
        return a->callee < b->callee ? -1 : 1;
    if (a->caller != b->caller)
        return a->caller < b->caller ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

/* Scale the costs of the calls of one function, so that their sum is `total`. */
static void callgrind_scale(struct callgrind_call *calls, uint32_t n, uint64_t total)
{
    unsigned __int128 all = 0, so_far = 0;
    uint64_t given = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (calls[i].caller == calls[i].callee)
            calls[i].cost = 0;
        all += calls[i].cost;
    }
    for (uint32_t i = 0; i < n && all; i++) {
        so_far += calls[i].cost;
        /* Keep `all` within 64 bits, so that the product fits 128. */
        while (all >> 64) {
            all >>= 1;
            so_far >>= 1;
        }
        uint64_t until = (uint64_t)(so_far * total / all);
        calls[i].cost = until - given;
        given = until;
    }
}

/* -- Writing ---------------------------------------------------------------- */

static int callgrind_by_caller(const void *x, const void *y)
{
    const struct callgrind_call *a = x, *b = y;
    if (a->caller != b->caller)
        return a->caller < b->caller ? -1 : 1;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    return a->callee < b->callee ? -1 : a->callee > b->callee;
}

static int callgrind_by_line(const void *x, const void *y)
{
    const struct callgrind_self *a = x, *b = y;
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

/* Texts that were written already: files or objects, which are numbered separately. */
struct callgrind_texts {
    struct jsp_hash known;
    struct jsp_read_text *list;
    uint32_t n, room;
};

struct callgrind_written {
    bool *functions;
    struct callgrind_texts files, objects;
};

/* Write "fl=(3) a.js" the first time and "fl=(3)" afterwards. An empty text has number
 * 1. */
static int callgrind_once(struct jsp_export *e, struct callgrind_texts *written, const char *key,
                          struct jsp_read_text text)
{
    uint64_t h = jsp_hash_bytes(written->known.seed, text.len ? text.at : "", text.len);
    uint32_t hash = (uint32_t)(h >> 16), probe = hash, at;
    while ((at = jsp_hash_next(&written->known, hash, &probe)) != 0)
        if (callgrind_text(written->list[at - 1], text) == 0)
            break;
    bool is_new = !at;
    if (is_new) {
        if (jsp_grow(&written->list, &written->room, written->n, sizeof *written->list) < 0 ||
            jsp_hash_add(&written->known, hash, written->n) < 0)
            return -ENOMEM;
        written->list[written->n] = text;
        at = ++written->n;
    }
    jsp_sink_text(e->out, key);
    jsp_sink_byte(e->out, '(');
    jsp_sink_u64(e->out, at);
    jsp_sink_text(e->out, is_new ? ") " : ")");
    if (is_new && text.len)
        jsp_shown_plain_bytes(e->out, text, 0);
    else if (is_new)
        jsp_sink_text(e->out, "???");
    jsp_sink_byte(e->out, '\n');
    return 0;
}

static void callgrind_name(struct jsp_export *e, struct callgrind_written *written,
                           const struct callgrind *c, uint32_t function)
{
    const struct callgrind_function *f = &c->functions[function];
    jsp_sink_byte(e->out, '(');
    jsp_sink_u64(e->out, (uint64_t)function + 1);
    jsp_sink_byte(e->out, ')');
    if (!written->functions[function]) {
        jsp_sink_byte(e->out, ' ');
        jsp_shown_plain_bytes(e->out, f->name, 0);
        if (f->number) {
            jsp_sink_byte(e->out, '\'');
            jsp_sink_u64(e->out, f->number);
        }
    }
    written->functions[function] = true;
    jsp_sink_byte(e->out, '\n');
}

static void callgrind_cost(struct jsp_export *e, uint32_t line, uint64_t cost)
{
    jsp_sink_u64(e->out, line);
    jsp_sink_byte(e->out, ' ');
    jsp_sink_u64(e->out, cost);
    jsp_sink_byte(e->out, '\n');
}

static int callgrind_put_call(struct jsp_export *e, struct callgrind_written *written,
                              const struct callgrind *c, const struct callgrind_call *call)
{
    const struct callgrind_function *callee = &c->functions[call->callee];
    int err = callgrind_once(e, &written->objects, "cob=", callee->object);
    if (!err)
        err = callgrind_once(e, &written->files, "cfi=", callee->file);
    if (err)
        return err;
    jsp_sink_text(e->out, "cfn=");
    callgrind_name(e, written, c, call->callee);
    jsp_sink_text(e->out, "calls=");
    jsp_sink_u64(e->out, call->calls);
    jsp_sink_byte(e->out, ' ');
    jsp_sink_u64(e->out, callee->line);
    jsp_sink_byte(e->out, '\n');
    callgrind_cost(e, call->line ? call->line : c->functions[call->caller].line, call->cost);
    return 0;
}

static int callgrind_put(struct jsp_export *e, struct callgrind_written *written,
                         const struct callgrind *c)
{
    uint32_t self = 0, call = 0;
    int err = 0;
    for (uint32_t i = 0; i < c->n_functions && !err; i++) {
        uint32_t end = self, calls_end = call;
        while (end < c->n_selves && c->selves[end].function == i)
            end++;
        while (calls_end < c->n_calls && c->calls[calls_end].caller == i)
            calls_end++;
        if (end == self && calls_end == call)
            continue;
        jsp_sink_byte(e->out, '\n');
        err = callgrind_once(e, &written->objects, "ob=", c->functions[i].object);
        if (!err)
            err = callgrind_once(e, &written->files, "fl=", c->functions[i].file);
        jsp_sink_text(e->out, "fn=");
        callgrind_name(e, written, c, i);
        for (; self < end; self++)
            callgrind_cost(e, c->selves[self].line, c->selves[self].cost);
        for (; call < calls_end && !err; call++)
            err = callgrind_put_call(e, written, c, &c->calls[call]);
    }
    return err;
}

static void callgrind_head(struct jsp_export *e, const struct callgrind *c)
{
    const struct jsp_profile *p = e->profile;
    int32_t pid = p->n_processes ? p->processes[0].pid : 0;
    struct jsp_read_text command = jsp_profile_command(p, pid);
    jsp_sink_text(e->out, "# callgrind format\nversion: 1\ncreator: jsprof "
                          JSPROF_VERSION_STRING "\npid: ");
    jsp_sink_i64(e->out, pid);
    jsp_sink_text(e->out, "\ncmd: ");
    jsp_shown_plain_bytes(e->out, command, 0);
    jsp_sink_text(e->out, "\npositions: line\nevents: ");
    jsp_sink_text(e->out, c->event);
    jsp_sink_text(e->out, "\nsummary: ");
    jsp_sink_u64(e->out, c->all);
    jsp_sink_byte(e->out, '\n');
}

static int callgrind_write(struct jsp_export *e, struct callgrind *c)
{
    struct callgrind_written written = { 0 };
    written.functions = calloc((size_t)c->n_functions + 1, sizeof *written.functions);
    int err = written.functions ? jsp_hash_init(&written.files.known, 0) : -ENOMEM;
    if (!err)
        err = jsp_hash_init(&written.objects.known, 0);
    if (!err)
        err = callgrind_number(c);
    if (!err) {
        if (c->n_calls)
            qsort(c->calls, c->n_calls, sizeof *c->calls, callgrind_by_callee);
        for (uint32_t i = 0, n; i < c->n_calls; i += n) {
            uint32_t callee = c->calls[i].callee;
            for (n = 1; i + n < c->n_calls && c->calls[i + n].callee == callee; n++)
                continue;
            callgrind_scale(c->calls + i, n, c->functions[callee].total);
        }
        if (c->n_calls)
            qsort(c->calls, c->n_calls, sizeof *c->calls, callgrind_by_caller);
        if (c->n_selves)
            qsort(c->selves, c->n_selves, sizeof *c->selves, callgrind_by_line);
        for (uint32_t i = 0; i < c->n_selves; i++)
            c->all += c->selves[i].cost;
        callgrind_head(e, c);
        err = callgrind_put(e, &written, c);
    }
    free(written.functions);
    free(written.files.list);
    free(written.objects.list);
    jsp_hash_free(&written.files.known);
    jsp_hash_free(&written.objects.known);
    return err;
}

int jsp_export_callgrind(struct jsp_export *e)
{
    struct callgrind c = { 0 };
    const struct jsp_select *s = e->select;
    bool is_whole = !s || (!s->threads && !s->filter && s->show == JSP_SHOW_USUAL);
    int exact = is_whole ? callgrind_exact(&c, e) : 0;
    int err = exact < 0 ? exact : exact ? 0 : callgrind_stacks(&c, e);
    if (!err)
        err = callgrind_write(e, &c);
    free(c.functions);
    free(c.selves);
    free(c.calls);
    jsp_store_free(&c.store);
    return err;
}
