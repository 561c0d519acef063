/* analyze/lines.c - the source lines of native code.
 *
 * SPDX-License-Identifier: MIT
 */
#include "lines.h"

#include <errno.h>
#include <stdlib.h>

#include "work.h"

static int lines_compare(const void *a, const void *b)
{
    const struct jsp_line_ask *x = a, *y = b;
    if (x->at.file != y->at.file)
        return x->at.file < y->at.file ? -1 : 1;
    return (x->at.vaddr > y->at.vaddr) - (x->at.vaddr < y->at.vaddr);
}

int jsp_lines_collect(struct jsp_profile *p, const struct jsp_select *select,
                      struct jsp_line_asks *out)
{
    memset(out, 0, sizeof *out);
    int err = jsp_select_resolve(select, p);
    for (uint32_t i = 0; err == 0 && i < p->work->n_places; i++) {
        const struct jsp_profile_place *q = &p->work->place[i];
        const struct jsp_lookup_map *m = NULL;
        struct jsp_line_ask ask = { .place = i };
        if (q->frame.origin != JSP_ORIGIN_VM && !q->at.is_kernel)
            m = jsp_resolve_map(p, q->at.key);
        if (!m || !jsp_native_files_place(&p->natives, m, q->at.key.addr - q->at.is_return,
                                          &ask.at))
            continue;
        err = jsp_grow(&out->list, &out->room, out->n, sizeof *out->list);
        if (err == 0)
            out->list[out->n++] = ask;
    }
    if (err < 0)
        jsp_lines_free(out);
    else if (out->n)
        qsort(out->list, out->n, sizeof *out->list, lines_compare);
    return err;
}

int jsp_lines_answer(struct jsp_profile *p, const struct jsp_line_ask *ask,
                     struct jsp_line answer)
{
    struct jsp_profile_frame *f = &p->work->place[ask->place].frame;
    uint32_t file;
    if (answer.line == 0)
        return 0;
    char *path = p->naming ? jsp_naming_file(p->naming, answer.file) : NULL;
    if (p->naming && !path)
        return -ENOMEM;
    if (path)
        answer.file = (struct jsp_read_text){ path, (uint32_t)strlen(path) };
    int err = jsp_work_file(p, answer.file, &file);
    free(path);
    if (err < 0)
        return err;
    f->line = answer.line;
    f->file = file;
    return 0;
}

void jsp_lines_free(struct jsp_line_asks *asks)
{
    free(asks->list);
    memset(asks, 0, sizeof *asks);
}
