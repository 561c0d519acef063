/* calls_json.c - exact calls as JSON: all that the capture says of them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "analyze/profile.h"
#include "cli/calls.h"
#include "cli/options.h"
#include "cli/outfile.h"
#include "export/json.h"

static void json_text(struct jsp_json *j, const char *key, struct jsp_read_text text)
{
    jsp_json_key(j, key);
    jsp_json_bytes(j, text.len ? text.at : "", text.len);
}

static void json_function(struct jsp_json *j, const struct jsp_exact_function *f)
{
    json_text(j, "name", f->name);
    json_text(j, "file", f->file);
    jsp_json_key_u64(j, "line", f->line);
    jsp_json_key_text(j, "kind", jsp_kind_name(f->kind));
}

/* `calls` NULL: the times are ns already. */
static void json_cost(struct jsp_json *j, const struct jsp_exact *calls,
                      const struct jsp_exact_cost *cost)
{
    jsp_json_key_u64(j, "calls", cost->calls);
    jsp_json_key_u64(j, "self_ns", calls ? jsp_exact_ns(calls, cost->self) : cost->self);
    jsp_json_key_u64(j, "total_ns", calls ? jsp_exact_ns(calls, cost->total) : cost->total);
    jsp_json_key_u64(j, "self_bytes", cost->self_bytes);
    jsp_json_key_u64(j, "total_bytes", cost->total_bytes);
}

static void json_modes(struct jsp_json *j, uint64_t modes)
{
    static const char *const names[] = { "counts", "time", "allocation", "edges" };
    jsp_json_key_open(j, "counted", '[');
    for (int i = 0; i < 4; i++)
        if (modes >> i & 1)
            jsp_json_text(j, names[i]);
    jsp_json_close(j, ']');
}

static void json_summary(struct jsp_json *j, const struct cli_calls *c)
{
    static const struct {
        const char *key;
        enum jsp_wire_commit field;
        bool is_time;
    } fields[] = {
        { "calls", JSP_WIRE_COMMIT_CALLS, false },
        { "inside_ns", JSP_WIRE_COMMIT_INSIDE, true },
        { "own_cost_ns", JSP_WIRE_COMMIT_OWN, true },
        { "gc_ns", JSP_WIRE_COMMIT_GC, true },
        { "bytes", JSP_WIRE_COMMIT_ALLOC, false },
        { "threads", JSP_WIRE_COMMIT_THREADS, false },
        { "threads_waiting", JSP_WIRE_COMMIT_WAITING, false },
        { "function_table_full", JSP_WIRE_COMMIT_FUNCTIONS_LOST, false },
        { "edge_table_full", JSP_WIRE_COMMIT_EDGES_LOST, false },
        { "too_deep", JSP_WIRE_COMMIT_DEPTH_LOST, false },
        { "leaves_without_enter", JSP_WIRE_COMMIT_UNDERFLOWS, false },
        { "foreign_events", JSP_WIRE_COMMIT_FOREIGN, false },
        { "clock_went_back", JSP_WIRE_COMMIT_CLOCK_BACK, false },
        { "clock_off_ppm", JSP_WIRE_COMMIT_CLOCK_OFF, false },
        { "own_cost_beyond_ns", JSP_WIRE_COMMIT_NEGATIVE, true },
    };
    jsp_json_key_text(j, "capture", c->capture.label);
    json_text(j, "command", c->command);
    jsp_json_key_i64(j, "pid", c->calls.pid);
    jsp_json_key_bool(j, "complete", c->is_over);
    json_modes(j, c->calls.modes);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        uint64_t value = c->calls.commit[fields[i].field];
        jsp_json_key_u64(j, fields[i].key,
                         fields[i].is_time ? jsp_exact_ns(&c->calls, value) : value);
    }
}

static void json_functions(struct jsp_json *j, const struct cli_calls *c,
                           const struct cli_calls_ask *ask)
{
    uint32_t n = 0, *order = jsp_exact_order(&c->calls, ask->sort, ask->limit, &n);
    cli_incomplete(!order);
    jsp_json_key_open(j, "functions", '[');
    for (uint32_t i = 0; order && i < n && (!ask->limit || i < ask->limit); i++) {
        const struct jsp_exact_function *f = &c->calls.functions[order[i]];
        jsp_json_open(j, '{');
        jsp_json_key_u64(j, "id", f->id);
        json_function(j, f);
        json_cost(j, &c->calls, &f->cost);
        jsp_json_close(j, '}');
    }
    jsp_json_close(j, ']');
    free(order);
}

/* Functions by their ids, so that those of one name are told apart. */
static void json_edges(struct jsp_json *j, const struct cli_calls *c,
                       const struct cli_calls_ask *ask)
{
    uint32_t n = 0, *order = jsp_exact_order_edges(&c->calls, ask->sort, ask->limit, &n);
    cli_incomplete(!order);
    jsp_json_key_open(j, "edges", '[');
    for (uint32_t i = 0; order && i < n && (!ask->limit || i < ask->limit); i++) {
        const struct jsp_exact_edge *e = &c->calls.edges[order[i]];
        jsp_json_open(j, '{');
        jsp_json_key_u64(j, "caller", c->calls.functions[e->caller].id);
        jsp_json_key_text(j, "caller_name", c->calls.functions[e->caller].shown);
        jsp_json_key_u64(j, "callee", c->calls.functions[e->callee].id);
        jsp_json_key_text(j, "callee_name", c->calls.functions[e->callee].shown);
        jsp_json_key_u64(j, "calls", e->cost.calls);
        jsp_json_key_u64(j, "total_ns", jsp_exact_ns(&c->calls, e->cost.total));
        jsp_json_close(j, '}');
    }
    jsp_json_close(j, ']');
    free(order);
}

/* Where the JSON goes: standard output, in one piece. */
struct json_to {
    struct cli_outfile out;
    struct jsp_json json;
};

static struct jsp_json *json_begin(struct json_to *to)
{
    if (cli_outfile_open(&to->out, "-"))
        return NULL;
    jsp_json_init(&to->json, &to->out.sink);
    jsp_json_open(&to->json, '{');
    return &to->json;
}

static void json_end(struct json_to *to)
{
    jsp_json_close(&to->json, '}');
    jsp_sink_byte(&to->out.sink, '\n');
    cli_outfile_close(&to->out, CLI_OK);
}

void cli_calls_json(const struct cli_calls *c, const struct cli_calls_ask *ask)
{
    struct json_to to;
    struct jsp_json *j = json_begin(&to);
    if (!j)
        return;
    json_summary(j, c);
    json_functions(j, c, ask);
    if (ask->has_edges || !ask->limit)
        json_edges(j, c, ask);
    json_end(&to);
}

static void json_side(struct jsp_json *j, const char *key, const struct cli_calls *c)
{
    jsp_json_key_open(j, key, '{');
    json_summary(j, c);
    jsp_json_close(j, '}');
}

static void json_pair(struct jsp_json *j, const struct jsp_exact_pair *p)
{
    jsp_json_open(j, '{');
    json_function(j, p->function);
    jsp_json_key_open(j, "a", '{');
    json_cost(j, NULL, &p->first);
    jsp_json_close(j, '}');
    jsp_json_key_open(j, "b", '{');
    json_cost(j, NULL, &p->second);
    jsp_json_close(j, '}');
    jsp_json_close(j, '}');
}

void cli_calls_compare_json(const struct cli_calls *first, const struct cli_calls *second,
                            const struct cli_calls_ask *ask)
{
    struct json_to to;
    struct jsp_exact_pair *pairs = NULL;
    uint32_t n = 0;
    struct jsp_json *j = json_begin(&to);
    if (!j)
        return;
    json_side(j, "a", first);
    json_side(j, "b", second);
    jsp_json_key_open(j, "functions", '[');
    if (!cli_incomplete(cli_calls_pairs(&pairs, &n, first, second, ask) < 0))
        for (uint32_t i = 0; i < n && (!ask->limit || i < ask->limit); i++)
            json_pair(j, &pairs[i]);
    jsp_json_close(j, ']');
    free(pairs);
    json_end(&to);
}
