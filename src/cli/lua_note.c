/* cli/lua_note.c - see cli/lua_note.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "lua_note.h"

#include <stdio.h>

#include "text.h"
#include "jsprof.h"

enum { NOTE_RARE = 5 }; /* percent of the time */

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
    if (!p->value || !p->is_of_lua)
        return;
    double lua = (double)note_value(p) / (double)p->value;
    if (100 * lua >= NOTE_RARE)
        return;
    printf("Lua is in %s of the time; the rest is C code that no Lua function called, or "
           "waiting.\nA state that other threads run is seen there only where the module is "
           "preloaded (LD_PRELOAD).\n", cli_percent(share, lua));
}
