/* analyze/exact.c - the exact calls of a capture: the file jsprof/calls.
 *
 * SPDX-License-Identifier: MIT
 */
#include "exact.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/store.h"
#include "capture/embedded.h"
#include "jsprof.h"

/* The place in the capture of a row or an edge that no commit follows yet. */
struct exact_pending {
    const uint8_t *record, *end;
    uint32_t at; /* in functions[] or edges[] */
};

struct jsp_exact_work {
    struct jsp_store store;
    uint32_t *of_id; /* position in functions[] + 1 */
    struct jsp_hash edges;
    struct exact_pending *pending;
    uint32_t n_pending, pending_room;
    uint32_t functions_room, edges_room, changes_room;
};

/* -- Functions -------------------------------------------------------------- */

static char *exact_append(char *to, struct jsp_read_text text)
{
    const char *nul = text.len ? memchr(text.at, 0, text.len) : NULL;
    size_t len = nul ? (size_t)(nul - text.at) : text.len; /* the rest is not shown */
    if (len)
        memcpy(to, text.at, len);
    return to + len;
}

/* Format the name like a frame's label. */
static const char *exact_shown(struct jsp_exact_work *w, const struct jsp_exact_function *f)
{
    char line[16] = ")", few[512], *text = few, *end = text;
    size_t room = (size_t)f->name.len + f->file.len + sizeof line + 2;
    if (room > sizeof few && !(text = malloc(room)))
        return NULL;
    end = exact_append(text, f->name);
    if (f->line)
        snprintf(line, sizeof line, ":%" PRIu32 ")", f->line);
    if (f->file.len) {
        end = exact_append(end, (struct jsp_read_text){ " (", 2 });
        end = exact_append(end, f->file);
        end = exact_append(end, (struct jsp_read_text){ line, (uint32_t)strlen(line) });
    }
    const char *shown = jsp_store_text(&w->store, text, (size_t)(end - text));
    if (text != few)
        free(text);
    return shown;
}

static int exact_add(struct jsp_exact *c, struct jsp_exact_function f)
{
    struct jsp_exact_work *w = c->work;
    if (f.id >= JSP_WIRE_CALLS_IDS || w->of_id[f.id])
        return -EBADMSG;
    if (jsp_grow(&c->functions, &w->functions_room, c->n_functions,
                 sizeof *c->functions) < 0)
        return -ENOMEM;
    f.shown = exact_shown(w, &f);
    if (!f.shown)
        return -ENOMEM;
    c->functions[c->n_functions++] = f;
    w->of_id[f.id] = c->n_functions;
    return 0;
}

/* Add one of the functions that always exist, unless the file defines them itself. */
static int exact_fixed(struct jsp_exact *c, uint64_t id)
{
    static const char *const names[] = { "[other functions]", "[outside]", "[no function]" };
    struct jsp_exact_function f = { .id = (uint32_t)id, .kind = JSPROF_KIND_SYNTH };
    if (id >= sizeof names / sizeof *names)
        return -EBADMSG;
    f.name = (struct jsp_read_text){ names[id], (uint32_t)strlen(names[id]) };
    return exact_add(c, f);
}

static int exact_find(struct jsp_exact *c, uint64_t id, uint32_t *out)
{
    int err = id >= JSP_WIRE_CALLS_IDS ? -EBADMSG
              : c->work->of_id[id]     ? 0
                                       : exact_fixed(c, id);
    if (!err)
        *out = c->work->of_id[id] - 1;
    return err;
}

/* -- Rows and edges --------------------------------------------------------- */

/* Keep the record until a commit. Returns 0 or -ENOMEM. */
static int exact_pend(struct jsp_exact *c, struct exact_pending p)
{
    struct jsp_exact_work *w = c->work;
    if (jsp_grow(&w->pending, &w->pending_room, w->n_pending, sizeof *w->pending) < 0)
        return -ENOMEM;
    w->pending[w->n_pending++] = p;
    return 0;
}

/* Which of the edges it is; it may be new. */
static int exact_edge(struct jsp_exact *c, const struct jsp_embedded_call *r, uint32_t *out)
{
    struct jsp_exact_work *w = c->work;
    uint32_t caller = 0, callee = 0;
    int err = exact_find(c, r->edge.caller, &caller);
    if (!err)
        err = exact_find(c, r->edge.callee, &callee);
    if (err)
        return err;
    uint64_t both = (uint64_t)caller << 32 | callee;
    uint32_t hash = (uint32_t)(jsp_hash_mix(w->edges.seed, both) >> 16), probe = hash, at;
    while ((at = jsp_hash_next(&w->edges, hash, &probe)) != 0)
        if (c->edges[at - 1].caller == caller && c->edges[at - 1].callee == callee) {
            *out = at - 1;
            return 0;
        }
    if (jsp_grow(&c->edges, &w->edges_room, c->n_edges, sizeof *c->edges) < 0)
        return -ENOMEM;
    c->edges[c->n_edges] = (struct jsp_exact_edge){ .caller = caller, .callee = callee };
    *out = c->n_edges++;
    return jsp_hash_add(&w->edges, hash, *out);
}

/* -- Modes and commits ------------------------------------------------------ */

static void exact_settle(struct jsp_exact *c)
{
    struct jsp_exact_work *w = c->work;
    struct jsp_embedded_call r;
    for (uint32_t i = 0; i < w->n_pending; i++) {
        const struct exact_pending *p = &w->pending[i];
        const uint8_t *at = p->record;
        if (!jsp_embedded_call_get(&at, p->end, &r))
            continue; /* never: it was read before */
        const uint64_t *n = r.row.figures;
        if (r.tag == JSP_WIRE_CALLS_EDGE)
            c->edges[p->at].cost =
                (struct jsp_exact_cost){ .calls = r.edge.calls, .total = r.edge.total };
        else
            c->functions[p->at].cost = (struct jsp_exact_cost){ n[0], n[1], n[2], n[3], n[4] };
    }
    w->n_pending = 0;
}

static int exact_record(struct jsp_exact *c, const uint8_t **at, const uint8_t *end)
{
    struct exact_pending p = { *at, end, 0 };
    struct jsp_embedded_call r;
    int err = 0;
    if (!jsp_embedded_call_get(at, end, &r))
        return -EBADMSG;
    switch (r.tag) {
    case JSP_WIRE_CALLS_FUNCTION: {
        struct jsp_exact_function f = { .id = r.function.id, .kind = r.function.kind,
                                        .line = r.function.line, .name = r.function.name,
                                        .file = r.function.file };
        return exact_add(c, f);
    }
    case JSP_WIRE_CALLS_ROW:
        err = exact_find(c, r.row.id, &p.at);
        return err ? err : exact_pend(c, p);
    case JSP_WIRE_CALLS_EDGE:
        err = exact_edge(c, &r, &p.at);
        return err ? err : exact_pend(c, p);
    case JSP_WIRE_CALLS_MODE: {
        struct jsp_exact_work *w = c->work;
        if (jsp_grow(&c->changes, &w->changes_room, c->n_changes, sizeof *c->changes) < 0)
            return -ENOMEM;
        c->changes[c->n_changes++] = (struct jsp_exact_mode){ r.mode.time, r.mode.modes };
        c->modes |= r.mode.modes;
        return 0;
    }
    case JSP_WIRE_CALLS_COMMIT:
        exact_settle(c);
        memcpy(c->commit, r.fields, sizeof r.fields);
        c->is_there = true;
    }
    return 0;
}

/* -- Reading ---------------------------------------------------------------- */

static int exact_walk(struct jsp_exact *c, const struct jsp_read *capture,
                      struct jsp_read_defects *defects)
{
    struct jsp_read_cursor walk;
    struct jsp_read_frame f;
    struct jsp_read_chunk chunk;
    jsp_read_start(&walk, capture, NULL);
    while (jsp_read_file(&walk, JSP_WIRE_FILE_CALLS, &f, &chunk)) {
        const uint8_t *at = chunk.data, *end = at + chunk.len;
        int err = 0;
        c->pid = c->pid ? c->pid : f.pid;
        if (f.pid != c->pid) {
            c->has_others = true;
            continue;
        }
        while (!err && at < end)
            err = exact_record(c, &at, end);
        if (err == -ENOMEM)
            return err;
        if (err && defects)
            jsp_read_count(defects, JSP_READ_RECORD, f.offset);
    }
    return 0;
}

int jsp_exact_read(struct jsp_exact *out, const struct jsp_read *capture,
                   struct jsp_read_defects *defects)
{
    memset(out, 0, sizeof *out);
    struct jsp_exact_work *w = out->work = calloc(1, sizeof *w);
    int err = w ? jsp_hash_init(&w->edges, 0) : -ENOMEM;
    if (!err) {
        /* pages are touched on use */
        w->of_id = calloc(JSP_WIRE_CALLS_IDS, sizeof *w->of_id);
        err = w->of_id ? exact_walk(out, capture, defects) : -ENOMEM;
    }
    if (err)
        jsp_exact_free(out);
    return err;
}

int jsp_exact_show(struct jsp_exact *c, struct jsp_naming *n)
{
    int err = 0;
    for (uint32_t i = 0; n && err == 0 && i < c->n_functions; i++) {
        struct jsp_exact_function *f = &c->functions[i];
        struct jsp_read_text recorded = { f->shown, (uint32_t)strlen(f->shown) };
        struct jsp_naming_name shown;
        if (f->file.len == 0 || jsp_naming_name(n, recorded, &shown) < 0) {
            err = f->file.len ? -ENOMEM : 0;
            continue;
        }
        const char *text = jsp_store_text(&c->work->store, shown.text, strlen(shown.text));
        bool is_other = strcmp(shown.text, f->shown) != 0;
        free(shown.text);
        err = text ? 0 : -ENOMEM;
        if (err || !is_other)
            continue;
        struct jsp_name_parts parts = jsp_name_split(text);
        f->shown = text;
        f->name = parts.name;
        f->file = parts.file;
        f->line = parts.line;
    }
    return err;
}

void jsp_exact_free(struct jsp_exact *c)
{
    struct jsp_exact_work *w = c->work;
    if (w) {
        jsp_store_free(&w->store);
        jsp_hash_free(&w->edges);
        free(w->of_id);
        free(w->pending);
        free(w);
    }
    free(c->functions);
    free(c->edges);
    free(c->changes);
    memset(c, 0, sizeof *c);
}
