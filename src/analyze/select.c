/* analyze/select.c - a selection of the stacks of a profile, and of their frames.
 *
 * SPDX-License-Identifier: MIT
 */
#include "select.h"

#include "work.h"

static bool select_shows(enum jsp_show show, enum jsp_origin origin)
{
    return show == JSP_SHOW_ALL || origin == JSP_ORIGIN_VM ||
           (show == JSP_SHOW_USUAL && origin == JSP_ORIGIN_NATIVE);
}

/* Keep the shown frames. If no frame is left, put one in their place. */
static int select_shown(enum jsp_show show, struct jsp_profile *p, int n,
                        struct jsp_profile_frame out[JSP_PROFILE_DEPTH])
{
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (select_shows(show, out[i].origin))
            out[kept++] = out[i];
    if (kept > 0)
        return kept;
    const char *instead = show == JSP_SHOW_VM ? "[no VM frame]" : "[interpreter]";
    int err = jsp_resolve_fixed(p, instead, out);
    return err < 0 ? err : 1;
}

int jsp_select_frames(const struct jsp_select *s, struct jsp_profile *p, uint32_t stack,
                      struct jsp_profile_frame out[JSP_PROFILE_DEPTH])
{
    int n = jsp_profile_frames(p, stack, out);
    if (n > 0)
        n = select_shown(s ? s->show : JSP_SHOW_USUAL, p, n, out);
    return n > 0 && s && s->filter ? jsp_filter_frames(s->filter, p, out, n) : n;
}
