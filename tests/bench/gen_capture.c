/* gen_capture.c - writes a large capture of plausible stacks to standard output.
 *
 * SPDX-License-Identifier: MIT
 *
 *     gen_capture SAMPLES DEPTH DISTINCT [lines|random]  >big.cap
 *
 * A program of 2,000 functions: each call goes to one of a few callees, the hot ones
 * far more often, so that stacks share their roots and differ at the leaves. DISTINCT
 * different stacks are drawn again and again, unevenly. With "lines" each frame has a
 * current line and each sample a weight. With "random" any function calls any other, all as often.
 */
#include <inttypes.h>

#include "unit/capture_builder.h"

enum { GEN_FUNCTIONS = 2000, GEN_DEEPEST = 512, GEN_BLOCK = 300 };

struct gen {
    struct builder b;
    uint64_t random;
    int samples, depth, distinct;
    bool has_lines, is_random;
    uint64_t *stacks; /* distinct x depth */
};

static uint32_t gen_random(struct gen *g, uint32_t below)
{
    g->random = g->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((g->random >> 33) % below);
}

/* Small numbers are likelier: a product of two draws. */
static uint32_t gen_uneven(struct gen *g, uint32_t below)
{
    uint64_t product = (uint64_t)gen_random(g, below) * gen_random(g, below);
    return (uint32_t)(product / below);
}

static void gen_stacks(struct gen *g)
{
    g->stacks = calloc((size_t)g->distinct * (size_t)g->depth, sizeof *g->stacks);
    if (!g->stacks)
        abort();
    for (int s = 0; s < g->distinct; s++) {
        uint32_t function = 1;
        for (int i = g->depth - 1; i >= 0; i--) {
            g->stacks[(size_t)s * (size_t)g->depth + (size_t)i] = build_tag(function);
            function = 1 + (g->is_random ? gen_random(g, GEN_FUNCTIONS)
                                         : (function * 7 + gen_uneven(g, 6)) % GEN_FUNCTIONS);
        }
    }
}

static void gen_names(struct gen *g)
{
    for (uint32_t f = 1; f <= GEN_FUNCTIONS; f++) {
        char name[64];
        snprintf(name, sizeof name,
                 "function%" PRIu32 " (/srv/app/lib/module%" PRIu32 ".js:%" PRIu32 ":1)",
                 f, f % 40, f % 500);
        build_jit(&g->b, build_tag(f), name);
    }
}

static void gen_flush(struct gen *g)
{
    if (fwrite(g->b.bytes, 1, g->b.size, stdout) != g->b.size)
        exit(1);
    g->b.size = 0;
}

/* The records of samples [first, first + n): weight 1, 1 ms, a line for each frame. */
static void gen_records(struct gen *g, int first, int n)
{
    static uint8_t data[64000];
    size_t at = 0;
    data[at++] = 1;
    at += build_varint(data + at, (uint64_t)first);
    at += build_varint(data + at, (uint64_t)n);
    for (int s = 0; s < n; s++) {
        at += build_varint(data + at, 1);
        at += build_varint(data + at, 1000000 + gen_random(g, 1000));
        at += build_varint(data + at, 0);
        at += build_varint(data + at, (uint64_t)g->depth);
        for (int i = 0; i < g->depth; i++)
            at += build_varint(data + at, (uint64_t)(100 + i));
    }
    build_chunk(&g->b, "jsprof/samples", data, at);
}

static void gen_samples(struct gen *g)
{
    for (int s = 0; s < g->samples; s++) {
        uint32_t which = g->is_random ? gen_random(g, (uint32_t)g->distinct)
                                      : gen_uneven(g, (uint32_t)g->distinct);
        build_sample(&g->b, g->stacks + (size_t)which * (size_t)g->depth, g->depth);
        if (s % GEN_BLOCK == GEN_BLOCK - 1 && g->has_lines)
            gen_records(g, s + 1 - GEN_BLOCK, GEN_BLOCK);
        if (g->b.size > 1 << 20)
            gen_flush(g);
    }
    gen_flush(g);
}

int main(int argc, char **argv)
{
    struct gen g = { .random = 1, .is_random = argc > 4 && strcmp(argv[4], "random") == 0 };
    g.has_lines = argc > 4 && !g.is_random;
    if (argc > 1)
        g.samples = atoi(argv[1]);
    if (argc > 3) {
        g.depth = atoi(argv[2]);
        g.distinct = atoi(argv[3]);
    }
    if (g.samples < 1 || g.depth < 1 || g.depth > GEN_DEEPEST || g.distinct < 1 ||
        (g.has_lines && g.depth > 90)) {
        fputs("usage: gen_capture SAMPLES DEPTH DISTINCT [lines|random] >FILE\n", stderr);
        return 2;
    }
    gen_stacks(&g);
    build_start(&g.b, false);
    build_process(&g.b, "generated");
    if (g.has_lines) {
        build_metadata(&g.b, "jsprof.clock", "cpu");
        build_metadata(&g.b, "jsprof.hz", "1000");
    }
    gen_names(&g);
    gen_samples(&g);
    free(g.stacks);
    free(g.b.bytes);
    return 0;
}
