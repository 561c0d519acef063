/* analyze/select.c - a selection of the stacks of a profile, and of their frames.
 *
 * SPDX-License-Identifier: MIT
 */
#include "select.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chains.h"
#include "work.h"

/* Return true if the frame is the type of what was allocated: see jsprof_allocated. */
static bool select_is_type(const struct jsp_profile *p, const struct jsp_profile_frame *f)
{
    return f->kind == JSPROF_KIND_SYNTH &&
           strncmp(p->functions[f->function].name, "[new ", 5) == 0;
}

/* Return the number of frames inside the innermost function of a VM, if there is one: the type
 * and the allocator, which all stacks of allocations end in. */
static int select_allocator(const struct jsp_profile *p, const struct jsp_profile_frame *frames,
                            int n)
{
    for (int i = 0; i < n; i++)
        if (frames[i].origin == JSP_ORIGIN_VM && !select_is_type(p, &frames[i]))
            return i;
    return 0;
}

int jsp_select_frames(const struct jsp_select *s, struct jsp_profile *p, uint32_t stack,
                      struct jsp_profile_frame out[JSP_PROFILE_DEPTH])
{
    enum jsp_show show = s ? s->show : JSP_SHOW_USUAL;
    const bool is_shown[] = { [JSP_ORIGIN_VM] = true,
                              [JSP_ORIGIN_NATIVE] = show != JSP_SHOW_VM,
                              [JSP_ORIGIN_LOOP] = show == JSP_SHOW_ALL };
    int n = s && s->left_out && s->left_out[stack] ? 0 : jsp_profile_frames(p, stack, out);
    int kept = 0, err = 0;
    if (n <= 0)
        return n;
    /* Show the allocator like an interpreter's own code; a page can show both. */
    int inside = jsp_unit_is_bytes(p->unit) ? select_allocator(p, out, n) : 0;
    for (int i = 0; i < inside; i++)
        out[i].origin = JSP_ORIGIN_LOOP;
    for (int i = 0; i < n; i++)
        if (is_shown[out[i].origin])
            out[kept++] = out[i];
    if (kept == 0) {
        const char *instead = show == JSP_SHOW_VM ? "[no VM frame]" : "[interpreter]";
        err = jsp_resolve_fixed(p, instead, out);
        kept = 1;
    }
    if (err == 0 && s && s->is_async && p->chains) {
        kept = jsp_chains_frames(p, p->stacks[stack].chain, is_shown, out, kept);
        err = kept < 0 ? kept : 0;
    }
    if (err < 0)
        return err;
    return s && s->filter ? jsp_filter_frames(s->filter, p, out, kept) : kept;
}

int jsp_select_resolve(const struct jsp_select *s, struct jsp_profile *p)
{
    struct jsp_profile_frame *frames = malloc(JSP_PROFILE_DEPTH * sizeof *frames);
    int n = frames ? 0 : -ENOMEM;
    for (uint32_t i = 0; n >= 0 && i < p->n_stacks; i++)
        if (jsp_select_has(s, &p->stacks[i]))
            n = jsp_profile_frames(p, i, frames);
    free(frames);
    return n < 0 ? n : 0;
}
