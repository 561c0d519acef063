/* analyze/addresses.c - the addresses of a stack, leaf first, each with its line.
 *
 * SPDX-License-Identifier: MIT
 */
#include "addresses.h"

void jsp_addresses_of_stack(struct jsp_addresses *a, const struct jsp_profile *p,
                            const struct jsp_stack *k)
{
    const uint8_t *end = k->node ? NULL : k->addrs + 8 * (size_t)k->n_addrs;
    *a = (struct jsp_addresses){ .capture = p->capture,
                                 .node = k->node,
                                 .at = k->addrs,
                                 .end = end,
                                 .line = k->lines,
                                 .lines_end = k->lines ? k->lines + k->lines_bytes : NULL,
                                 .n_lines = k->n_lines };
}

void jsp_addresses_of_sample(struct jsp_addresses *a, const struct jsp_profile *p,
                             const struct jsp_sample *s)
{
    const struct jsp_stack k = { .addrs = s->body.addrs,
                                 .node = s->body.node,
                                 .n_addrs = (uint16_t)s->body.n_addrs,
                                 .lines = s->weight.lines,
                                 .lines_bytes = s->weight.lines_bytes,
                                 .n_lines = (uint16_t)s->weight.n_lines };
    jsp_addresses_of_stack(a, p, &k);
}

bool jsp_addresses_next(struct jsp_addresses *a, uint64_t *addr, uint64_t *line)
{
    *line = 0;
    if (a->node) {
        *addr = jsp_read_node(a->capture, &a->node, line);
        return true;
    }
    if (a->at == a->end)
        return false;
    *addr = jsp_read_u64(a->capture, a->at);
    a->at += 8;
    if (a->n_lines) {
        a->n_lines--;
        jsp_read_varint(&a->line, a->lines_end, line);
    }
    return true;
}
