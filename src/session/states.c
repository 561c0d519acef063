/* session/states.c - see states.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "states.h"

#include <stdio.h>

#include "capture/embedded.h"
#include "call_names.h"

static void states_names_write(struct jsp_states *s, struct jsp_writer *w)
{
    if (s->names_used &&
        jsp_writer_chunk(w, JSP_WIRE_FILE_STATES, s->names, s->names_used) == 0)
        s->names_used = 0;
}

/* Write the name of a system call, once. Return false if there is no room for it now. */
static bool states_name(struct jsp_states *s, struct jsp_writer *w, uint32_t call)
{
    enum { LONGEST = 48 };
    char text[LONGEST];
    if (call >= JSP_STATES_NAMES)
        return false;
    if (s->known[call / 8] & 1u << call % 8)
        return true;
    if (s->names_used + JSP_EMBEDDED_CALL_NAME + LONGEST > sizeof s->names)
        states_names_write(s, w);
    if (s->names_used + JSP_EMBEDDED_CALL_NAME + LONGEST > sizeof s->names)
        return false;
    uint32_t number = call % JSP_STATES_CALLS, on = call / JSP_STATES_CALLS;
    const char *name = jsp_call_name(number);
    int len = name ? snprintf(text, sizeof text, "%s", name)
                   : snprintf(text, sizeof text, "system call %u", number);
    if (on)
        len += snprintf(text + len, sizeof text - (size_t)len, " (%s)", jsp_state_on[on]);
    s->names_used += (uint32_t)jsp_embedded_call_name_put(
        s->names + s->names_used, call, (struct jsp_read_text){ text, (uint32_t)len });
    s->known[call / 8] |= (uint8_t)(1u << call % 8);
    s->has_any = true;
    return true;
}

struct jsp_read_state jsp_states_of(struct jsp_states *s, struct jsp_writer *w,
                                    const struct jsp_rec_state *state, uint64_t what)
{
    struct jsp_read_state out = { .state = (enum jsp_state)state->state };
    if (out.state == JSP_STATE_HOST)
        out.name = (uint32_t)what;
    if (out.state == JSP_STATE_ASLEEP)
        out.asleep_ns = state->asleep_ns;
    if (out.state == JSP_STATE_ASLEEP && state->call && states_name(s, w, state->call - 1)) {
        out.call = state->call;
        out.descriptor = state->descriptor;
    }
    return out;
}

bool jsp_states_has_room(struct jsp_states *s, struct jsp_writer *w)
{
    if (s->used + JSP_EMBEDDED_STATE > sizeof s->block)
        jsp_states_write(s, w);
    return s->used + JSP_EMBEDDED_STATE <= sizeof s->block;
}

void jsp_states_put(struct jsp_states *s, const struct jsp_read_state *state, uint64_t ordinal)
{
    if (!s->count && !state->state)
        return; /* a sample before the block has no state either */
    if (!s->count++)
        s->first = ordinal;
    s->used += (uint32_t)jsp_embedded_state_put(s->block + s->used, state);
    s->has_any = true;
}

void jsp_states_write(struct jsp_states *s, struct jsp_writer *w)
{
    struct jsp_writer_block block = { JSP_WIRE_FILE_STATES, s->first, s->count, s->block,
                                      s->used };
    states_names_write(s, w);
    if (s->count && jsp_writer_block(w, &block) == 0)
        s->count = s->used = 0;
}
