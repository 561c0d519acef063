/* capture/nodes.c - see nodes.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "nodes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { NODES_LEAST = 128 };

static uint32_t nodes_hash(const struct jsp_nodes *t, const struct jsp_node *node)
{
    uint64_t place = (uint64_t)node->parent << 32 | node->line;
    uint64_t h = (t->seed ^ node->addr) * 0x9E3779B97F4A7C15u;
    h = (h ^ h >> 32 ^ place) * 0x9E3779B97F4A7C15u;
    h = (h ^ h >> 32 ^ node->row) * 0x9E3779B97F4A7C15u;
    return (uint32_t)(h >> 32);
}

static bool nodes_equal(const struct jsp_node *a, const struct jsp_node *b)
{
    return a->addr == b->addr && a->parent == b->parent && a->line == b->line &&
           a->row == b->row;
}

/* Return the slot of this node, or the free one where it belongs. */
static uint32_t nodes_slot(const struct jsp_nodes *t, const struct jsp_node *node)
{
    uint32_t at = nodes_hash(t, node) & t->mask;
    while (t->slots[at] && !nodes_equal(&t->at[t->slots[at]], node))
        at = (at + 1) & t->mask;
    return at;
}

static int nodes_resize(struct jsp_nodes *t, uint32_t room)
{
    struct jsp_node *at = realloc(t->at, room * sizeof *at);
    if (!at)
        return -ENOMEM;
    t->at = at;
    uint32_t *slots = calloc(2 * (size_t)room, sizeof *slots);
    if (!slots)
        return -ENOMEM;
    free(t->slots);
    t->slots = slots;
    t->room = room;
    t->mask = 2 * room - 1;
    for (uint32_t i = 1; i < t->n; i++)
        slots[nodes_slot(t, &at[i])] = i;
    return 0;
}

int jsp_nodes_init(struct jsp_nodes *t)
{
    memset(t, 0, sizeof *t);
    int err = nodes_resize(t, NODES_LEAST);
    if (err) {
        jsp_nodes_free(t);
        return err;
    }
    /* Without entropy, use the address of the slots. */
    if (getrandom(&t->seed, sizeof t->seed, GRND_NONBLOCK) != sizeof t->seed)
        t->seed = (uint64_t)(uintptr_t)t->slots;
    memset(t->at, 0, sizeof *t->at);
    t->n = 1;
    return 0;
}

void jsp_nodes_free(struct jsp_nodes *t)
{
    free(t->at);
    free(t->slots);
    memset(t, 0, sizeof *t);
}

void jsp_nodes_clear(struct jsp_nodes *t)
{
    memset(t->slots, 0, 2 * (size_t)t->room * sizeof *t->slots);
    t->n = 1;
}

int jsp_nodes_reserve(struct jsp_nodes *t, uint32_t more)
{
    uint64_t room = t->room;
    while (room < (uint64_t)t->n + more)
        room *= 2;
    if (room > 1u << 30)
        return -ENOMEM;
    return room > t->room ? nodes_resize(t, (uint32_t)room) : 0;
}

uint32_t jsp_nodes_find(const struct jsp_nodes *t, const struct jsp_node *node)
{
    return t->slots[nodes_slot(t, node)];
}

uint32_t jsp_nodes_add(struct jsp_nodes *t, const struct jsp_node *node)
{
    uint32_t slot = nodes_slot(t, node);
    if (!t->slots[slot]) {
        t->at[t->n] = *node;
        t->at[t->n].depth = t->at[node->parent].depth + 1;
        t->slots[slot] = t->n++;
    }
    return t->slots[slot];
}
