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
    /* Resolve all selected stacks, which looks up their addresses. */
    struct jsp_profile_frame *frames = malloc(JSP_PROFILE_DEPTH * sizeof *frames);
    int n = frames ? 0 : -ENOMEM;
    for (uint32_t i = 0; n >= 0 && i < p->n_stacks; i++)
        if (jsp_select_has(select, &p->stacks[i]))
            n = jsp_profile_frames(p, i, frames);
    free(frames);
    int err = n < 0 ? n : 0;
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

/* Store the position of the name in the profile's files; it may be new. */
static int lines_file(struct jsp_profile *p, struct jsp_read_text name, uint32_t *out)
{
    struct jsp_profile_work *w = p->work;
    uint64_t h = jsp_hash_bytes(w->files.seed, name.at, name.len);
    uint32_t hash = (uint32_t)(h >> 16), probe = hash, at;
    while ((at = jsp_hash_next(&w->files, hash, &probe)) != 0)
        if (jsp_read_is(name, p->files[at - 1]))
            break;
    *out = at - 1;
    if (at)
        return 0;
    if (jsp_grow(&p->files, &w->files_room, p->n_files, sizeof *p->files) < 0)
        return -ENOMEM;
    p->files[p->n_files] = jsp_store_text(&w->store, name.at, name.len);
    *out = p->n_files;
    return p->files[p->n_files] ? jsp_hash_add(&w->files, hash, p->n_files++) : -ENOMEM;
}

int jsp_lines_answer(struct jsp_profile *p, const struct jsp_line_ask *ask,
                     struct jsp_line answer)
{
    struct jsp_profile_frame *f = &p->work->place[ask->place].frame;
    const struct jsp_read_text none = { "", 0 };
    uint32_t file;
    /* Position 0 is reserved for "none". */
    int err = p->n_files ? 0 : lines_file(p, none, &file);
    if (answer.line == 0 || err < 0)
        return err;
    const struct jsp_naming_options *naming = p->work->options.naming;
    char *path = naming ? jsp_naming_file(naming, answer.file) : NULL;
    if (naming && !path)
        return -ENOMEM;
    if (path)
        answer.file = (struct jsp_read_text){ path, (uint32_t)strlen(path) };
    err = lines_file(p, answer.file, &file);
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
