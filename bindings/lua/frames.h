/* frames.h - the frames that a walk writes, innermost first; it counts those that do not
 * fit.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_FRAMES_H
#define JSPROF_LUA_FRAMES_H

#include <string.h>

#include "jsprof.h"
#include "labels.h"

enum { JSP_LUA_BEYOND = 8192 }; /* frames that are counted when no more fit */

struct jsp_lua_frames {
    jsprof_frame *out;
    uint32_t max, n;
    uintptr_t sp; /* of the following frames; 0: not known */
};

/* Return the next free frame, or NULL if there is no more room. */
static inline jsprof_frame *jsp_lua_frames_next(struct jsp_lua_frames *frames)
{
    frames->n++;
    if (frames->n > frames->max)
        return NULL;
    jsprof_frame *frame = &frames->out[frames->n - 1];
    memset(frame, 0, sizeof *frame);
    frame->sp = frames->sp;
    return frame;
}

/* Write a function's frame. Labels that the program gave have neither kind nor line. */
static inline void jsp_lua_frame_function(jsprof_frame *frame, const struct jsp_lua_label *label,
                                          enum jsprof_kind kind, uint32_t line)
{
    frame->label = label->name;
    frame->detail = label->where;
    frame->kind = (uint32_t)JSPROF_JOIN_PAREN;
    frame->kind |= (uint32_t)(label->where ? kind : JSPROF_KIND_LABEL);
    frame->line = label->where ? line : 0;
}

/* The label of a C function for which no name was found. */
#define JSP_LUA_NO_NAME "C function"
enum { JSP_LUA_NO_CODE = 4096 }; /* smaller numbers are those of LuaJIT's own functions */

/* Write the frame of the C function at `c`. If it has no name, its symbol names it. */
static inline void jsp_lua_frame_c(jsprof_frame *frame, const struct jsp_lua_label *label,
                                   uintptr_t c)
{
    jsp_lua_frame_function(frame, label, JSPROF_KIND_LABEL, 0);
    if (c < JSP_LUA_NO_CODE || !label->name || strcmp(label->name, JSP_LUA_NO_NAME) != 0)
        return;
    frame->kind |= JSPROF_FRAME_SYMBOL;
    frame->pc = c;
}

#endif
