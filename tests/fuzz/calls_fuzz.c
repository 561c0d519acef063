/* calls_fuzz.c - any bytes as the records of jsprof/calls: read, sorted, compared, and
 * written as Callgrind's.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "analyze/exact.h"
#include "capture_builder.h"
#include "export/export.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUZZ_CHUNK = 60000 };

static void fuzz_order(const struct jsp_exact *c)
{
    for (int by = JSP_EXACT_BY_SELF; by <= JSP_EXACT_BY_NAME; by++) {
        uint32_t n = 0, edges = 0;
        uint32_t *order = jsp_exact_order(c, (enum jsp_exact_sort)by, 0, &n);
        uint32_t *edge = jsp_exact_order_edges(c, (enum jsp_exact_sort)by, 0, &edges);
        if (n > c->n_functions || edges > c->n_edges)
            abort();
        for (uint32_t i = 1; order && by == JSP_EXACT_BY_SELF && i < n; i++)
            if (c->functions[order[i]].cost.self > c->functions[order[i - 1]].cost.self)
                abort();
        free(order);
        free(edge);
    }
    for (uint32_t i = 0; i < c->n_edges; i++)
        if (c->edges[i].caller >= c->n_functions || c->edges[i].callee >= c->n_functions)
            abort();
    if (!c->is_there && c->commit[0])
        abort();
}

/* Against itself nothing changed, and nothing is missing. */
static void fuzz_compare(const struct jsp_exact *c)
{
    struct jsp_exact_pair *pairs = NULL;
    uint32_t n = 0, there = 0;
    if (jsp_exact_compare(&pairs, &n, c, c, JSP_EXACT_BY_TOTAL) < 0)
        return;
    for (uint32_t i = 0; i < c->n_functions; i++)
        there += !jsp_exact_is_empty(&c->functions[i].cost);
    if (n < there || n > 2 * there)
        abort();
    free(pairs);
}

/* Either there is something to write, or it is said that there is not. */
static void fuzz_callgrind(const struct jsp_read *r)
{
    static struct jsp_sink sink;
    struct jsp_bytes bytes = { 0 };
    struct jsp_profile p;
    if (jsp_profile_load(&p, r, NULL) < 0)
        return;
    struct jsp_export e = { .profile = &p, .out = &sink };
    jsp_sink_init(&sink, jsp_bytes_write, &bytes);
    int err = jsp_export_callgrind(&e);
    if (jsp_sink_flush(&sink) == 0 && (err == 0) != (bytes.n > 0))
        abort();
    jsp_bytes_free(&bytes);
    jsp_profile_free(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct builder b;
    struct jsp_read r;
    struct jsp_exact c;
    struct jsp_read_defects defects = { 0 };
    char why[JSP_READ_WHY];
    build_start(&b, false);
    for (size_t at = 0; at < size; at += FUZZ_CHUNK)
        build_chunk(&b, JSP_WIRE_FILE_CALLS, data + at,
                    size - at < FUZZ_CHUNK ? size - at : FUZZ_CHUNK);
    if (jsp_read_memory(&r, b.bytes, b.size, why) == 0) {
        if (jsp_exact_read(&c, &r, &defects) == 0) {
            fuzz_order(&c);
            fuzz_compare(&c);
            jsp_exact_free(&c);
        }
        fuzz_callgrind(&r);
        jsp_read_close(&r);
    }
    free(b.bytes);
    return 0;
}
