/* calls.c - exact calls, as counted: the file jsprof/calls.
 *
 * SPDX-License-Identifier: MIT
 */
#include "analyze/calls.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "jsprof.h"

/* A row or an edge that no commit stands behind yet. */
struct calls_pending {
    uint32_t at; /* in functions[] or edges[] */
    bool is_edge;
    struct jsp_calls_cost cost;
};

struct jsp_calls_work {
    struct jsp_store store;
    uint32_t *of_id; /* position in functions[] + 1 */
    struct jsp_hash edges;
    struct calls_pending *pending;
    uint32_t n_pending, pending_room;
    uint32_t functions_room, edges_room, changes_room;
};

struct calls_from {
    const uint8_t *at, *end;
};

static bool calls_numbers(struct calls_from *from, uint64_t *out, int n)
{
    for (int i = 0; i < n; i++)
        if (!jsp_read_varint(&from->at, from->end, &out[i]))
            return false;
    return true;
}

static bool calls_text(struct calls_from *from, struct jsp_read_text *out)
{
    uint64_t len;
    if (!calls_numbers(from, &len, 1) || len > (uint64_t)(from->end - from->at))
        return false;
    *out = (struct jsp_read_text){ (const char *)from->at, (uint32_t)len };
    from->at += len;
    return true;
}

/* -- Functions -------------------------------------------------------------- */

/* As a frame's label has it. */
static const char *calls_shown(struct jsp_calls_work *w, const struct jsp_calls_function *f)
{
    char line[16] = "";
    size_t room = (size_t)f->name.len + f->file.len + 32;
    char *text = malloc(room);
    if (!text)
        return NULL;
    if (f->line)
        snprintf(line, sizeof line, ":%" PRIu32, f->line);
    int len = f->file.len
                  ? snprintf(text, room, "%.*s (%.*s%s)", (int)f->name.len, f->name.at,
                             (int)f->file.len, f->file.at, line)
                  : snprintf(text, room, "%.*s", (int)f->name.len, f->name.at);
    const char *shown = jsp_store_text(&w->store, text, (size_t)len);
    free(text);
    return shown;
}

static int calls_add(struct jsp_calls *c, struct jsp_calls_function f)
{
    struct jsp_calls_work *w = c->work;
    if (f.id >= JSP_WIRE_CALLS_IDS || w->of_id[f.id])
        return -EBADMSG;
    struct jsp_calls_function *more =
        jsp_grow(c->functions, &w->functions_room, c->n_functions, sizeof *more);
    if (!more)
        return -ENOMEM;
    c->functions = more;
    f.shown = calls_shown(w, &f);
    if (!f.shown)
        return -ENOMEM;
    more[c->n_functions++] = f;
    w->of_id[f.id] = c->n_functions;
    return 0;
}

static int calls_function(struct jsp_calls *c, struct calls_from *from)
{
    uint64_t n[3];
    struct jsp_calls_function f = { 0 };
    if (!calls_numbers(from, n, 3) || n[0] >= JSP_WIRE_CALLS_IDS || n[1] > UINT32_MAX ||
        n[2] > UINT32_MAX || !calls_text(from, &f.name) || !calls_text(from, &f.file))
        return -EBADMSG;
    f.id = (uint32_t)n[0];
    f.kind = (uint32_t)n[1];
    f.line = (uint32_t)n[2];
    return calls_add(c, f);
}

/* Those that are always there, unless the file tells them itself. */
static int calls_fixed(struct jsp_calls *c, uint64_t id)
{
    static const char *const names[] = { "[other functions]", "[outside]", "[no function]" };
    struct jsp_calls_function f = { .id = (uint32_t)id, .kind = JSPROF_KIND_SYNTH };
    if (id >= sizeof names / sizeof *names)
        return -EBADMSG;
    f.name = (struct jsp_read_text){ names[id], (uint32_t)strlen(names[id]) };
    return calls_add(c, f);
}

static int calls_find(struct jsp_calls *c, uint64_t id, uint32_t *out)
{
    int err = id >= JSP_WIRE_CALLS_IDS ? -EBADMSG
              : c->work->of_id[id]     ? 0
                                       : calls_fixed(c, id);
    if (!err)
        *out = c->work->of_id[id] - 1;
    return err;
}

/* -- Rows and edges --------------------------------------------------------- */

static int calls_pend(struct jsp_calls *c, const struct calls_pending *p)
{
    struct jsp_calls_work *w = c->work;
    struct calls_pending *more =
        jsp_grow(w->pending, &w->pending_room, w->n_pending, sizeof *more);
    if (!more)
        return -ENOMEM;
    w->pending = more;
    more[w->n_pending++] = *p;
    return 0;
}

static int calls_row(struct jsp_calls *c, struct calls_from *from)
{
    uint64_t n[6];
    struct calls_pending p = { 0 };
    if (!calls_numbers(from, n, 6))
        return -EBADMSG;
    int err = calls_find(c, n[0], &p.at);
    p.cost = (struct jsp_calls_cost){ n[1], n[2], n[3], n[4], n[5] };
    return err ? err : calls_pend(c, &p);
}

static int calls_edge_at(struct jsp_calls *c, uint32_t caller, uint32_t callee, uint32_t *out)
{
    struct jsp_calls_work *w = c->work;
    uint64_t both = (uint64_t)caller << 32 | callee;
    uint32_t hash = (uint32_t)(jsp_hash_mix(w->edges.seed, both) >> 16), probe = hash, at;
    while ((at = jsp_hash_next(&w->edges, hash, &probe)) != 0)
        if (c->edges[at - 1].caller == caller && c->edges[at - 1].callee == callee) {
            *out = at - 1;
            return 0;
        }
    struct jsp_calls_edge *more = jsp_grow(c->edges, &w->edges_room, c->n_edges, sizeof *more);
    if (!more)
        return -ENOMEM;
    c->edges = more;
    more[c->n_edges] = (struct jsp_calls_edge){ .caller = caller, .callee = callee };
    *out = c->n_edges++;
    return jsp_hash_add(&w->edges, hash, *out);
}

static int calls_edge(struct jsp_calls *c, struct calls_from *from)
{
    uint64_t n[4];
    uint32_t caller = 0, callee = 0;
    struct calls_pending p = { .is_edge = true };
    if (!calls_numbers(from, n, 4))
        return -EBADMSG;
    int err = calls_find(c, n[0], &caller);
    if (!err)
        err = calls_find(c, n[1], &callee);
    if (!err)
        err = calls_edge_at(c, caller, callee, &p.at);
    p.cost = (struct jsp_calls_cost){ .calls = n[2], .total = n[3] };
    return err ? err : calls_pend(c, &p);
}

/* -- Modes and commits ------------------------------------------------------ */

static int calls_mode(struct jsp_calls *c, struct calls_from *from)
{
    struct jsp_calls_work *w = c->work;
    uint64_t n[2];
    if (!calls_numbers(from, n, 2))
        return -EBADMSG;
    struct jsp_calls_mode *more =
        jsp_grow(c->changes, &w->changes_room, c->n_changes, sizeof *more);
    if (!more)
        return -ENOMEM;
    c->changes = more;
    more[c->n_changes++] = (struct jsp_calls_mode){ n[0], n[1] };
    c->modes |= n[1];
    return 0;
}

static void calls_settle(struct jsp_calls *c)
{
    struct jsp_calls_work *w = c->work;
    for (uint32_t i = 0; i < w->n_pending; i++) {
        const struct calls_pending *p = &w->pending[i];
        *(p->is_edge ? &c->edges[p->at].cost : &c->functions[p->at].cost) = p->cost;
    }
    w->n_pending = 0;
}

static int calls_commit(struct jsp_calls *c, struct calls_from *from)
{
    uint64_t fields[JSP_WIRE_COMMIT_FIELDS] = { 0 }, n, skipped;
    if (!calls_numbers(from, &n, 1) || n > (uint64_t)(from->end - from->at))
        return -EBADMSG;
    for (uint64_t i = 0; i < n; i++)
        if (!calls_numbers(from, i < JSP_WIRE_COMMIT_FIELDS ? &fields[i] : &skipped, 1))
            return -EBADMSG;
    calls_settle(c);
    memcpy(c->commit, fields, sizeof fields);
    c->is_there = true;
    return 0;
}

static int calls_record(struct jsp_calls *c, struct calls_from *from)
{
    switch (*from->at++) {
    case JSP_WIRE_CALLS_FUNCTION: return calls_function(c, from);
    case JSP_WIRE_CALLS_ROW: return calls_row(c, from);
    case JSP_WIRE_CALLS_EDGE: return calls_edge(c, from);
    case JSP_WIRE_CALLS_MODE: return calls_mode(c, from);
    case JSP_WIRE_CALLS_COMMIT: return calls_commit(c, from);
    default: return -EBADMSG;
    }
}

/* -- Reading ---------------------------------------------------------------- */

static int calls_chunk(struct jsp_calls *c, const struct jsp_read_chunk *chunk, int32_t pid)
{
    struct calls_from from = { chunk->data, chunk->data + chunk->len };
    int err = 0;
    if (!c->pid)
        c->pid = pid;
    if (pid != c->pid) {
        c->has_others = true;
        return 0;
    }
    while (!err && from.at < from.end)
        err = calls_record(c, &from);
    return err;
}

static bool calls_is_file(const struct jsp_read_chunk *chunk)
{
    return chunk->path.len == strlen(JSP_WIRE_FILE_CALLS) &&
           memcmp(chunk->path.at, JSP_WIRE_FILE_CALLS, chunk->path.len) == 0;
}

static int calls_walk(struct jsp_calls *c, const struct jsp_read *capture,
                      struct jsp_read_defects *defects)
{
    struct jsp_read_cursor walk;
    struct jsp_read_frame f;
    struct jsp_read_chunk chunk;
    jsp_read_start(&walk, capture, NULL);
    while (jsp_read_next(&walk, &f)) {
        if (f.type != JSP_WIRE_FILE_CHUNK || !jsp_read_chunk(&walk, &f, &chunk) ||
            !calls_is_file(&chunk))
            continue;
        int err = calls_chunk(c, &chunk, f.pid);
        if (err == -ENOMEM)
            return err;
        if (err && defects)
            jsp_read_count(defects, JSP_READ_RECORD, f.offset);
    }
    return 0;
}

int jsp_calls_read(struct jsp_calls *out, const struct jsp_read *capture,
                   struct jsp_read_defects *defects)
{
    memset(out, 0, sizeof *out);
    struct jsp_calls_work *w = out->work = calloc(1, sizeof *w);
    int err = w ? jsp_hash_init(&w->edges, 0) : -ENOMEM;
    if (!err) {
        w->of_id = calloc(JSP_WIRE_CALLS_IDS, sizeof *w->of_id); /* touched as it is used */
        err = w->of_id ? calls_walk(out, capture, defects) : -ENOMEM;
    }
    if (err)
        jsp_calls_free(out);
    return err;
}

void jsp_calls_free(struct jsp_calls *c)
{
    struct jsp_calls_work *w = c->work;
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
