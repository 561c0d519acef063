/* analyze/states.c - the state of each sample: the file jsprof/states.
 *
 * SPDX-License-Identifier: MIT
 */
#include "states.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"

static uint32_t states_hash(const struct jsp_states_read *s, uint64_t number, int32_t pid)
{
    return (uint32_t)jsp_hash_mix(jsp_hash_mix(s->by_call.seed, number), (uint32_t)pid);
}

int jsp_states_init(struct jsp_states_read *s)
{
    return jsp_hash_init(&s->by_call, 0);
}

static bool states_skip(const uint8_t **at, const uint8_t *end)
{
    struct jsp_read_state skipped;
    return jsp_embedded_state_get(at, end, &skipped);
}

static int states_call(struct jsp_states_read *s, const uint8_t **at, const uint8_t *end,
                       int32_t pid)
{
    struct jsp_states_call call = { .pid = pid };
    if (!jsp_embedded_call_name_get(at, end, &call.number, &call.name))
        return -EBADMSG;
    if (!call.name.len || jsp_states_name(s, call.number, pid).len)
        return 0;
    if (jsp_grow(&s->calls, &s->calls_room, s->n_calls, sizeof *s->calls) < 0)
        return -ENOMEM;
    s->calls[s->n_calls] = call;
    return jsp_hash_add(&s->by_call, states_hash(s, call.number, pid), s->n_calls++);
}

int jsp_states_add(struct jsp_states_read *s, const struct jsp_read_chunk *chunk, int32_t pid,
                   uint64_t offset)
{
    static const struct jsp_weights_record record = { states_skip, 1 };
    const uint8_t *at = chunk->data, *end = at + chunk->len;
    int err = 0;
    while (err == 0 && at < end)
        err = *at == JSP_WIRE_STATES_CALL
                  ? states_call(s, &at, end, pid)
                  : jsp_weights_block(&s->blocks, &at,
                                      &(struct jsp_weights_block){ .end = end, .offset = offset },
                                      &record);
    return err;
}

void jsp_states_get(const struct jsp_states_read *s, struct jsp_weights_cursor *c,
                    uint64_t ordinal, struct jsp_read_state *out)
{
    const struct jsp_weights_block *b = jsp_weights_at(&s->blocks, c, ordinal);
    *out = (struct jsp_read_state){ 0 };
    if (!b)
        return;
    jsp_embedded_state_get(&c->at, b->end, out); /* was checked when it was added */
    jsp_weights_step(&s->blocks, c);
}

struct jsp_read_text jsp_states_name(const struct jsp_states_read *s, uint64_t number,
                                     int32_t pid)
{
    uint32_t hash = states_hash(s, number, pid), probe = hash, at;
    while ((at = jsp_hash_next(&s->by_call, hash, &probe)) != 0)
        if (s->calls[at - 1].number == number && s->calls[at - 1].pid == pid)
            return s->calls[at - 1].name;
    return (struct jsp_read_text){ "", 0 };
}

void jsp_states_free(struct jsp_states_read *s)
{
    jsp_weights_free(&s->blocks);
    jsp_hash_free(&s->by_call);
    free(s->calls);
    *s = (struct jsp_states_read){ 0 };
}
