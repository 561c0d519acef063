/* cli/lua_note.c - see cli/lua_note.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "lua_note.h"

#include <stdio.h>
#include <string.h>

#include "capture/wire.h"
#include "text.h"
#include "jsprof.h"

enum {
    NOTE_RARE = 5,       /* percent of the time */
    NOTE_FRAMES = 16384, /* of the file's beginning: the first second of a recording */
};

static bool note_is(struct jsp_read_text text, const char *word)
{
    return text.len == strlen(word) && memcmp(text.at, word, text.len) == 0;
}

/* Return true if the capture is of the Lua module, which counts the memory of its Lua from its
 * first second on. Read only the beginning of the file: a report reads the whole once. */
static bool note_is_of_lua(const struct jsp_read *capture)
{
    struct jsp_read_cursor cursor;
    struct jsp_read_frame frame;
    struct jsp_read_counters all;
    struct jsp_read_counter one;
    jsp_read_start(&cursor, capture, NULL);
    for (int i = 0; i < NOTE_FRAMES && jsp_read_next(&cursor, &frame); i++) {
        if (frame.type != JSP_WIRE_CTRDEF || !jsp_read_counters(&cursor, &frame, &all))
            continue;
        while (jsp_read_counter(&cursor, &frame, &all, &one))
            if (note_is(one.group, "Lua") && note_is(one.name, "memory"))
                return true;
    }
    return false;
}

/* The value of the stacks in which a Lua function runs. */
static uint64_t note_value(struct jsp_profile *p)
{
    static struct jsp_profile_frame frames[JSP_PROFILE_DEPTH];
    uint64_t value = 0;
    for (uint32_t s = 0; s < p->n_stacks; s++) {
        int n = jsp_profile_frames(p, s, frames);
        bool has_lua = false;
        for (int i = 0; i < n && !has_lua; i++)
            has_lua = frames[i].kind == JSPROF_KIND_VM || frames[i].kind == JSPROF_KIND_JIT;
        value += has_lua ? p->stacks[s].value : 0;
    }
    return value;
}

void cli_lua_note(struct cli_capture *c)
{
    struct jsp_profile *p = &c->profile;
    char share[CLI_NUMBER];
    if (!p->value || !note_is_of_lua(p->capture))
        return;
    double lua = (double)note_value(p) / (double)p->value;
    if (100 * lua >= NOTE_RARE)
        return;
    printf("Lua is in %s of the time; the rest is C code that no Lua function called, or "
           "waiting.\nA state that other threads run is seen there only where the module is "
           "preloaded (LD_PRELOAD).\n", cli_percent(share, lua));
}
