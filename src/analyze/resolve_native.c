/* resolve_native.c - resolves addresses of native code to functions of the profile.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/work.h"
#include "jsprof.h"

enum { RESOLVE_FORKS = 8, RESOLVE_MODULE = 256, RESOLVE_NAME = RESOLVE_MODULE + 24 };

/* A forked child without a map of its own runs its parent's code. */
const struct jsp_lookup_map *jsp_resolve_map(struct jsp_profile *p,
                                             struct jsp_lookup_key k)
{
    for (int i = 0; i < RESOLVE_FORKS; i++) {
        const struct jsp_lookup_map *m = jsp_lookup_map(&p->lookup, k);
        struct jsp_process *process;
        if (m)
            return m;
        if (jsp_work_process(p, k.pid, &process) < 0 || !process->parent)
            return NULL;
        k.pid = process->parent;
    }
    return NULL;
}

/* Store the last part of the path, or the writer's tag without a path. */
static void resolve_module(char out[RESOLVE_MODULE], const struct jsp_lookup_map *m,
                           const struct jsp_lookup_symbol *s)
{
    struct jsp_read_text t = m ? m->path : (struct jsp_read_text){ "", 0 };
    uint32_t at = t.len;
    while (at > 0 && t.at[at - 1] != '/')
        at--;
    if (at == t.len && s && s->module.len)
        snprintf(out, RESOLVE_MODULE, "%.*s", (int)s->module.len, s->module.at);
    else
        snprintf(out, RESOLVE_MODULE, "%.*s", (int)(t.len - at), t.at + at);
}

static int resolve_text(struct jsp_profile *p, const char *text,
                        struct jsp_resolve_name n, struct jsp_profile_frame *out)
{
    n.text = (struct jsp_read_text){ text, (uint32_t)strlen(text) };
    return jsp_resolve_named(p, n, out);
}

/* Name the address by the mapped file; if that has no name for it, show at least the
 * file. */
static int resolve_by_file(struct jsp_profile *p, const struct jsp_lookup_map *m,
                           uint64_t addr, struct jsp_resolve_name n,
                           struct jsp_profile_frame *out)
{
    char text[RESOLVE_NAME];
    struct jsp_native_place place;
    struct jsp_symtab_found found = { 0 };
    snprintf(text, sizeof text, *n.module == '[' ? "%s" : "[%s]", n.module);
    if (jsp_native_files_place(&p->natives, m, addr, &place))
        found = jsp_symtab_find(&p->natives.files[place.file].table, place.vaddr);
    if (!found.name)
        return resolve_text(p, text, n, out);
    if (!*found.name) {
        snprintf(text, sizeof text, "%s+0x%" PRIx64, n.module, found.begin);
        return resolve_text(p, text, n, out);
    }
    bool is_mangled = strncmp(found.name, "_Z", 2) == 0 && p->natives.demangle;
    char *nice = is_mangled ? p->natives.demangle(found.name) : NULL;
    int err = resolve_text(p, nice ? nice : found.name, n, out);
    free(nice);
    return err;
}

int jsp_resolve_native(struct jsp_profile *p, const struct jsp_profile_address *a,
                       struct jsp_profile_frame *out)
{
    char module[RESOLVE_MODULE];
    const struct jsp_lookup_symbol *s = jsp_lookup_symbol(&p->lookup, a->key);
    const struct jsp_lookup_jit *jit = s ? NULL : jsp_lookup_jit(&p->lookup, a->key);
    const struct jsp_lookup_map *m = a->is_kernel ? NULL : jsp_resolve_map(p, a->key);
    struct jsp_resolve_name n = { .module = module };
    int err;
    n.kind = a->is_kernel ? JSP_KIND_KERNEL : JSPROF_KIND_NATIVE;
    resolve_module(module, m, s);
    if (m)
        n.path = m->path;
    if (jit) {
        n = (struct jsp_resolve_name){ jit->name, "", JSPROF_KIND_JIT, { "", 0 } };
        return jsp_resolve_named(p, n, out);
    }
    if (s) {
        n.text = s->name;
        err = jsp_resolve_named(p, n, out);
    } else if (a->is_kernel) {
        err = resolve_text(p, "[kernel]", n, out);
    } else if (m && *module) {
        err = resolve_by_file(p, m, a->key.addr - a->is_return, n, out);
    } else {
        err = jsp_resolve_fixed(p, "[unknown]", out);
    }
    out->origin = jsp_lookup_is_loop(&p->lookup, a->key) ? JSP_ORIGIN_LOOP
                                                         : JSP_ORIGIN_NATIVE;
    return err;
}
