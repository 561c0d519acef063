/* export/modules.c - the modules of functions: files, or names in brackets.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tables.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/groups.h"

static struct jsp_module modules_describe(const struct jsp_function *f)
{
    struct jsp_module m = { .path = f->path, .is_file = true };
    if (m.path.len == 0)
        m.path = (struct jsp_read_text){ f->module, (uint32_t)strlen(f->module) };
    if (m.path.len == 0) {
        const char *instead = jsp_groups_no_module(f->kind);
        m.path = (struct jsp_read_text){ instead, (uint32_t)strlen(instead) };
    }
    if (m.path.at[0] == '[')
        m.is_file = false;
    return m;
}

static int modules_add(struct jsp_modules *m, struct jsp_module one, uint32_t *out)
{
    /* String 0 is the empty one, so the first path is module 0. */
    *out = jsp_strings_add(&m->paths, one.path) - 1;
    if (m->paths.error || *out < m->n)
        return m->paths.error;
    if (jsp_grow(&m->list, &m->room, m->n, sizeof *m->list) < 0)
        return -ENOMEM;
    m->list[m->n++] = one;
    return 0;
}

static bool modules_is_host(const struct jsp_lookup_map *map, const char *host)
{
    size_t n = strlen(host);
    return n > 0 && map->path.len > n && map->path.at[map->path.len - n - 1] == '/' &&
           memcmp(map->path.at + map->path.len - n, host, n) == 0;
}

/* Note the first mapping of each file. */
static void modules_places(struct jsp_modules *m, const struct jsp_profile *p)
{
    for (uint32_t i = 0; i < p->lookup.n_maps; i++) {
        const struct jsp_lookup_map *map = &p->lookup.maps[i];
        uint32_t at = jsp_strings_find(&m->paths, map->path);
        if (at == 0 || m->list[at - 1].end)
            continue;
        struct jsp_module *one = &m->list[at - 1];
        one->start = map->start;
        one->end = map->end;
        one->offset = map->offset;
        one->build_id = map->build_id;
    }
}

int jsp_modules_build(struct jsp_modules *m, const struct jsp_profile *p)
{
    memset(m, 0, sizeof *m);
    int err = jsp_strings_init(&m->paths);
    m->of_function = calloc((size_t)p->n_functions + 1, sizeof *m->of_function);
    if (err == 0 && !m->of_function)
        err = -ENOMEM;
    /* Add the program first: readers expect it there. */
    for (uint32_t i = 0, at; err == 0 && i < p->lookup.n_maps && m->n == 0; i++)
        if (modules_is_host(&p->lookup.maps[i], p->host))
            err = modules_add(m, (struct jsp_module){ .path = p->lookup.maps[i].path,
                                                      .is_file = true }, &at);
    for (uint32_t i = 0; err == 0 && i < p->n_functions; i++)
        err = modules_add(m, modules_describe(&p->functions[i]), &m->of_function[i]);
    if (err == 0)
        modules_places(m, p);
    else
        jsp_modules_free(m);
    return err;
}

void jsp_modules_free(struct jsp_modules *m)
{
    jsp_strings_free(&m->paths);
    free(m->list);
    free(m->of_function);
    memset(m, 0, sizeof *m);
}
