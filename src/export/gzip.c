/* export/gzip.c - a gzip file (RFC 1952) of deflate's blocks (RFC 1951).
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdbool.h>
#include <string.h>

#include "sink.h"

enum {
    GZIP_FAR = 32768,    /* the greatest distance of a match */
    GZIP_LEAST = 3,      /* bytes of a match */
    GZIP_MOST = 258,
    GZIP_NEAR = 4096,    /* beyond it a match of the least length saves nothing */
    GZIP_ENOUGH = 64,    /* bytes of a match after which no longer one is looked for */
    GZIP_TRIES = 64,     /* earlier places that are compared */
    GZIP_END = 256,      /* the symbol that ends a block */
    GZIP_SYMBOLS = 286,  /* bytes, the end, and lengths of matches */
    GZIP_ALL = 288,      /* of the fixed codes, which have two more */
    GZIP_DISTANCES = 30,
    GZIP_LENGTHS = 19,   /* symbols that describe lengths of codes */
    GZIP_LONGEST = 15,   /* bits of a code */
};

static uint32_t gzip_crc(uint32_t crc, const unsigned char *at, size_t n)
{
    static uint32_t table[256];
    for (uint32_t i = 1; table[255] == 0 && i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xEDB88320u : 0);
    }
    crc = ~crc;
    while (n-- > 0)
        crc = crc >> 8 ^ table[(crc ^ *at++) & 0xFF];
    return ~crc;
}

static void gzip_number(struct jsp_sink *out, uint32_t n)
{
    for (int i = 0; i < 4; i++, n >>= 8)
        jsp_sink_byte(out, (char)(n & 0xFF));
}

/* -- Bits --------------------------------------------------------------------------- */

/* Put the low `n` bits, at most 16, the lowest first. */
static void gzip_bits(struct jsp_gzip *g, uint32_t bits, uint32_t n)
{
    g->bits |= bits << g->n_bits;
    for (g->n_bits += n; g->n_bits >= 8; g->n_bits -= 8, g->bits >>= 8)
        jsp_sink_byte(g->out, (char)(g->bits & 0xFF));
}

static uint32_t gzip_log2(uint32_t n)
{
    return 31 - (uint32_t)__builtin_clz(n);
}

/* A length or a distance: its symbol, and the bits that follow it. */
struct gzip_part {
    uint32_t symbol, extra;
};

static struct gzip_part gzip_length(uint32_t length)
{
    uint32_t n = length - GZIP_LEAST;
    uint32_t extra = n < 8 || length == GZIP_MOST ? 0 : gzip_log2(n) - 2;
    return (struct gzip_part){ length == GZIP_MOST ? 285 : 257 + 4 * extra + (n >> extra), extra };
}

static struct gzip_part gzip_distance(uint32_t d)
{
    uint32_t extra = d < 4 ? 0 : gzip_log2(d) - 1;
    return (struct gzip_part){ 2 * extra + (d >> extra), extra };
}

/* -- Codes -------------------------------------------------------------------------- */

/* The codes of an alphabet. */
struct gzip_codes {
    uint32_t n;               /* symbols */
    uint32_t often[GZIP_ALL]; /* how often each is written */
    /* Of its code; 0: it has none. As wide as `code`: else gcc 12 for aarch64 finds the one by the
     * other's address in a way that it then takes for no address, and drops the writes. */
    uint16_t bits[GZIP_ALL];
    uint16_t code[GZIP_ALL];  /* its first bit is the lowest */
};

static void gzip_put(struct jsp_gzip *g, const struct gzip_codes *c, uint32_t symbol)
{
    gzip_bits(g, c->code[symbol], c->bits[symbol]);
}

/* Take the least of the weights away; 0 is none. Return its place, or `n` if there is none. */
static uint32_t gzip_take(uint32_t *weight, uint32_t n, uint32_t *taken)
{
    uint32_t least = n;
    for (uint32_t i = 0; i < n; i++)
        if (weight[i] && (least == n || weight[i] < weight[least]))
            least = i;
    *taken = least < n ? weight[least] : 0;
    if (least < n)
        weight[least] = 0;
    return least;
}

/* Give the symbols the lengths of Huffman's codes. Return the greatest one. */
static uint32_t gzip_huffman(struct gzip_codes *c)
{
    uint32_t weight[2 * GZIP_ALL], above[2 * GZIP_ALL], most = 1, n = c->n;
    uint8_t depth[2 * GZIP_ALL] = { 0 }; /* as is the root's */
    memcpy(weight, c->often, n * sizeof *weight);
    for (uint32_t one, other;; n++) {
        uint32_t a = gzip_take(weight, n, &one), b = gzip_take(weight, n, &other);
        if (b == n)
            break;
        above[a] = above[b] = n;
        weight[n] = one + other;
    }
    for (uint32_t i = n - 1; i-- > c->n;)
        depth[i] = (uint8_t)(depth[above[i]] + 1);
    for (uint32_t i = 0; i < c->n; i++) { /* a symbol that is alone has a bit all the same */
        uint32_t bits = !c->often[i] ? 0 : n == c->n ? 1 : depth[above[i]] + 1u;
        c->bits[i] = (uint16_t)bits;
        most = bits > most ? bits : most;
    }
    return most;
}

/* Make codes from their lengths: shorter ones first, and those of a length in order. */
static void gzip_number_codes(struct gzip_codes *c)
{
    uint32_t code = 0;
    for (uint32_t bits = 1; bits <= GZIP_LONGEST; bits++, code <<= 1) {
        for (uint32_t i = 0; i < c->n; i++) {
            if (c->bits[i] != bits)
                continue;
            uint32_t turned = 0;
            for (uint32_t k = 0; k < bits; k++)
                turned |= (code >> k & 1) << (bits - 1 - k);
            c->code[i] = (uint16_t)turned;
            code++;
        }
    }
}

/* Make codes of at most `limit` bits. Flatter counts make shorter codes. */
static void gzip_make_codes(struct gzip_codes *c, uint32_t limit)
{
    while (gzip_huffman(c) > limit)
        for (uint32_t i = 0; i < c->n; i++)
            c->often[i] = (c->often[i] + 1) / 2;
    gzip_number_codes(c);
}

/* Make deflate's fixed codes. */
static void gzip_fixed_codes(struct gzip_codes *symbols, struct gzip_codes *distances)
{
    symbols->n = GZIP_ALL;
    for (uint32_t i = 0; i < GZIP_ALL; i++)
        symbols->bits[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    distances->n = GZIP_DISTANCES;
    for (uint32_t i = 0; i < GZIP_DISTANCES; i++)
        distances->bits[i] = 5;
    gzip_number_codes(symbols);
    gzip_number_codes(distances);
}

/* -- Lengths of codes ---------------------------------------------------------------- */

/* The lengths of both alphabets' codes, with repetitions as symbols from 16 on. */
struct gzip_lengths {
    uint32_t n_symbols, n_distances, n_codes; /* those after them have no code */
    uint32_t n;
    uint8_t symbol[GZIP_ALL + GZIP_DISTANCES], times[GZIP_ALL + GZIP_DISTANCES];
    struct gzip_codes codes; /* of `symbol` */
};

/* In which order the lengths of these codes are written. */
static const uint8_t gzip_order[GZIP_LENGTHS] = { 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3,
                                                  13, 2, 14, 1, 15 };

static void gzip_run(struct gzip_lengths *l, uint32_t symbol, uint32_t times)
{
    l->symbol[l->n] = (uint8_t)symbol;
    l->times[l->n++] = (uint8_t)times;
    l->codes.often[symbol]++;
}

/* Gather `n` lengths in a row. */
static void gzip_runs(struct gzip_lengths *l, const uint16_t *bits, uint32_t n)
{
    for (uint32_t i = 0, same; i < n; i += same) {
        for (same = 1; i + same < n && bits[i + same] == bits[i] && same < 138;)
            same++;
        if (bits[i] == 0 && same >= 3) {
            gzip_run(l, same < 11 ? 17 : 18, same - (same < 11 ? 3 : 11));
            continue;
        }
        gzip_run(l, bits[i], 0);
        same = same < 4 ? 1 : same > 7 ? 7 : same;
        if (same > 1)
            gzip_run(l, 16, same - 1 - 3);
    }
}

/* Describe the codes of a block. */
static void gzip_describe(struct gzip_lengths *l, const struct gzip_codes *symbols,
                          const struct gzip_codes *distances)
{
    uint16_t all[GZIP_ALL + GZIP_DISTANCES];
    *l = (struct gzip_lengths){ .n_symbols = GZIP_SYMBOLS, .n_distances = GZIP_DISTANCES,
                                .n_codes = GZIP_LENGTHS, .codes.n = GZIP_LENGTHS };
    while (symbols->bits[l->n_symbols - 1] == 0)
        l->n_symbols--; /* that of the end has a length */
    while (l->n_distances > 1 && distances->bits[l->n_distances - 1] == 0)
        l->n_distances--;
    memcpy(all, symbols->bits, l->n_symbols * sizeof *all);
    memcpy(all + l->n_symbols, distances->bits, l->n_distances * sizeof *all);
    gzip_runs(l, all, l->n_symbols + l->n_distances);
    gzip_make_codes(&l->codes, 7);
    while (l->codes.bits[gzip_order[l->n_codes - 1]] == 0)
        l->n_codes--;
}

static uint32_t gzip_run_bits(uint32_t symbol)
{
    return symbol < 16 ? 0 : symbol == 18 ? 7 : symbol - 14;
}

static void gzip_put_lengths(struct jsp_gzip *g, const struct gzip_lengths *l)
{
    gzip_bits(g, (l->n_symbols - 257) | (l->n_distances - 1) << 5 | (l->n_codes - 4) << 10, 14);
    for (uint32_t i = 0; i < l->n_codes; i++)
        gzip_bits(g, l->codes.bits[gzip_order[i]], 3);
    for (uint32_t i = 0; i < l->n; i++) {
        gzip_put(g, &l->codes, l->symbol[i]);
        gzip_bits(g, l->times[i], gzip_run_bits(l->symbol[i]));
    }
}

/* -- Matches -------------------------------------------------------------------------- */

static uint32_t *gzip_head(struct jsp_gzip *g, uint32_t at)
{
    uint32_t three = g->bytes[at] | (uint32_t)g->bytes[at + 1] << 8 |
                     (uint32_t)g->bytes[at + 2] << 16;
    return &g->head[three * 2654435761u >> (32 - JSP_GZIP_HASH)];
}

/* Let later places find this one. Places are counted from 1: 0 is none. */
static void gzip_remember(struct jsp_gzip *g, uint32_t at)
{
    if (at + GZIP_LEAST > g->n)
        return;
    uint32_t *head = gzip_head(g, at);
    g->before[at] = *head;
    *head = at + 1;
}

/* Return the length of the longest match among the latest places with these three bytes, or 0. */
static uint32_t gzip_find(struct jsp_gzip *g, uint32_t at, uint32_t *distance)
{
    uint32_t best = 0, most = g->n - at < GZIP_MOST ? g->n - at : GZIP_MOST;
    if (most < GZIP_LEAST)
        return 0;
    uint32_t next = *gzip_head(g, at);
    const unsigned char *b = g->bytes + at;
    for (int tries = 0; next && at - (next - 1) <= GZIP_FAR && tries < GZIP_TRIES; tries++) {
        const unsigned char *a = g->bytes + next - 1;
        uint32_t n = 0;
        if (best == most || best >= GZIP_ENOUGH)
            break;
        if (a[best] == b[best])
            while (n < most && a[n] == b[n])
                n++;
        if (n > best) {
            best = n;
            *distance = at - (next - 1);
        }
        next = g->before[next - 1];
    }
    return best > GZIP_LEAST || (best == GZIP_LEAST && *distance <= GZIP_NEAR) ? best : 0;
}

/* Take what was gathered apart into bytes and matches. A match gives way to a longer one that
 * begins a byte later. */
static void gzip_take_apart(struct jsp_gzip *g)
{
    uint32_t distance = 0, later = 0;
    memset(g->head, 0, sizeof g->head);
    g->n_tokens = 0;
    for (uint32_t at = 0, n = 0; at < g->n;) {
        gzip_remember(g, at);
        uint32_t longer = n < GZIP_ENOUGH ? gzip_find(g, at + 1, &later) : 0;
        if (n && n >= longer) {
            g->tokens[g->n_tokens++] = n << 16 | (distance - 1);
            for (uint32_t end = at++ + n; at < end; at++)
                gzip_remember(g, at);
            n = gzip_find(g, at, &distance);
        } else {
            g->tokens[g->n_tokens++] = g->bytes[at++];
            n = longer;
            distance = later;
        }
    }
}

/* -- Blocks ---------------------------------------------------------------------------- */

static void gzip_count(const struct jsp_gzip *g, struct gzip_codes *symbols,
                       struct gzip_codes *distances)
{
    symbols->often[GZIP_END] = 1;
    for (uint32_t i = 0; i < g->n_tokens; i++) {
        uint32_t token = g->tokens[i];
        symbols->often[token < 256 ? token : gzip_length(token >> 16).symbol]++;
        if (token >= 256)
            distances->often[gzip_distance(token & 0xFFFF).symbol]++;
    }
    if (distances->often[0] == 0)
        distances->often[0] = 1; /* a block has a code of distances, used or not */
}

/* Return the bits of all symbols, as often as `counted` says. */
static uint32_t gzip_cost(const struct gzip_codes *counted, const struct gzip_codes *c)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < counted->n; i++)
        bits += counted->often[i] * c->bits[i];
    return bits;
}

static void gzip_put_tokens(struct jsp_gzip *g, const struct gzip_codes *symbols,
                            const struct gzip_codes *distances)
{
    for (uint32_t i = 0; i < g->n_tokens; i++) {
        uint32_t token = g->tokens[i];
        if (token < 256) {
            gzip_put(g, symbols, token);
            continue;
        }
        uint32_t n = token >> 16, d = token & 0xFFFF;
        struct gzip_part length = gzip_length(n), far = gzip_distance(d);
        gzip_put(g, symbols, length.symbol);
        gzip_bits(g, (n - GZIP_LEAST) & ((1u << length.extra) - 1), length.extra);
        gzip_put(g, distances, far.symbol);
        gzip_bits(g, d & ((1u << far.extra) - 1), far.extra);
    }
    gzip_put(g, symbols, GZIP_END);
}

/* Write what was gathered as a block, with codes of its own if that is shorter. It refers to no
 * block before. */
static void gzip_block(struct jsp_gzip *g, bool is_last)
{
    struct gzip_codes symbols = { .n = GZIP_SYMBOLS }, distances = { .n = GZIP_DISTANCES };
    struct gzip_lengths lengths;
    gzip_take_apart(g);
    gzip_count(g, &symbols, &distances);
    struct gzip_codes fixed = symbols, fixed_distances = distances;
    gzip_fixed_codes(&fixed, &fixed_distances);
    gzip_make_codes(&symbols, GZIP_LONGEST);
    gzip_make_codes(&distances, GZIP_LONGEST);
    gzip_describe(&lengths, &symbols, &distances);
    uint32_t own = 14 + 3 * lengths.n_codes + gzip_cost(&lengths.codes, &lengths.codes) +
                   gzip_cost(&fixed, &symbols) + gzip_cost(&fixed_distances, &distances);
    for (uint32_t i = 0; i < lengths.n; i++)
        own += gzip_run_bits(lengths.symbol[i]);
    bool is_fixed = gzip_cost(&fixed, &fixed) +
                    gzip_cost(&fixed_distances, &fixed_distances) <= own;
    gzip_bits(g, is_last, 1);
    gzip_bits(g, is_fixed ? 1 : 2, 2);
    if (!is_fixed)
        gzip_put_lengths(g, &lengths);
    gzip_put_tokens(g, is_fixed ? &fixed : &symbols, is_fixed ? &fixed_distances : &distances);
    g->n = 0;
}

/* -- The file --------------------------------------------------------------------------- */

void jsp_gzip_start(struct jsp_gzip *g, struct jsp_sink *out)
{
    /* magic, deflate, no flags, no time, no hint, made on Unix */
    static const char head[10] = { '\x1f', '\x8b', 8, 0, 0, 0, 0, 0, 0, 3 };
    g->out = out;
    g->crc = g->size = g->bits = g->n_bits = g->n = 0;
    jsp_sink_put(out, head, sizeof head);
}

int jsp_gzip_write(void *context, const void *bytes, size_t n)
{
    struct jsp_gzip *g = context;
    const unsigned char *at = bytes;
    g->crc = gzip_crc(g->crc, bytes, n);
    g->size += (uint32_t)n;
    while (n > 0) {
        size_t part = sizeof g->bytes - g->n;
        part = n < part ? n : part;
        memcpy(g->bytes + g->n, at, part);
        g->n += (uint32_t)part;
        at += part;
        n -= part;
        if (g->n == sizeof g->bytes)
            gzip_block(g, false);
    }
    return g->out->error;
}

void jsp_gzip_cut(struct jsp_gzip *g)
{
    if (g->n)
        gzip_block(g, false);
}

void jsp_gzip_end(struct jsp_gzip *g)
{
    gzip_block(g, true);
    gzip_bits(g, 0, (8 - g->n_bits) % 8);
    gzip_number(g->out, g->crc);
    gzip_number(g->out, g->size);
}
