/* export/folded.c - one line for each stack, root first, with its value.
 *
 * "main;outer_[j];inner 1234": the format of flame graph scripts. The suffixes mark
 * the kinds that they colour: _[j] compiled code, _[i] interpreted code, _[k] the
 * kernel. With several threads, the first frame is the thread. Values are in the
 * profile's unit.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>

#include "export.h"
#include "shown_names.h"
#include "analyze/calltree.h"
#include "jsprof.h"

static void folded_line(struct jsp_export *e, const struct jsp_calltree *s,
                        const struct jsp_calltree_count *c, uint32_t *frames)
{
    const struct jsp_profile *p = e->profile;
    if (p->n_threads > 1) {
        jsp_shown_thread(e->out, p, c->thread, ';');
        jsp_sink_byte(e->out, ';');
    }
    for (uint32_t i = jsp_calltree_frames(s, c->node, frames); i-- > 0;) {
        const struct jsp_profile_frame *f = &s->frames[frames[i]];
        jsp_shown_plain(e->out, p->functions[f->function].name, ';');
        jsp_sink_text(e->out, f->kind == JSPROF_KIND_JIT   ? "_[j]"
                              : f->kind == JSPROF_KIND_VM  ? "_[i]"
                              : f->kind == JSP_KIND_KERNEL ? "_[k]"
                                                           : "");
        if (i > 0)
            jsp_sink_byte(e->out, ';');
    }
    jsp_sink_byte(e->out, ' ');
    jsp_sink_u64(e->out, c->value);
    jsp_sink_byte(e->out, '\n');
}

int jsp_export_folded(struct jsp_export *e)
{
    struct jsp_calltree s;
    uint32_t n;
    int err = jsp_calltree_of(&s, e->profile, e->select, JSP_CALLTREE_KINDS);
    if (err < 0)
        return err;
    struct jsp_calltree_count *counts = jsp_calltree_counts(&s, e->profile, &n);
    uint32_t *frames = malloc(JSP_PROFILE_DEPTH * sizeof *frames);
    for (uint32_t i = 0; frames && i < n; i++)
        folded_line(e, &s, &counts[i], frames);
    err = counts && frames ? 0 : -ENOMEM;
    free(frames);
    free(counts);
    jsp_calltree_free(&s);
    return err;
}
