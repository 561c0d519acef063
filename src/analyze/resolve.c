/* analyze/resolve.c - resolves addresses of a stack to functions of the profile.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "addresses.h"
#include "work.h"
#include "capture/wire.h"
#include "jsprof.h"

enum { RESOLVE_FORKS = 8, RESOLVE_MODULE = 256, RESOLVE_NAME = RESOLVE_MODULE + 24 };

/* perf's context markers: -32, -128, -512, -2048 and the guest's. */
static const uint64_t resolve_hypervisor = (uint64_t)-32, resolve_kernel = (uint64_t)-128,
                      resolve_user = (uint64_t)-512, resolve_guest = (uint64_t)-2048,
                      resolve_guest_kernel = (uint64_t)-2176,
                      resolve_guest_user = (uint64_t)-2560;

bool jsp_profile_is_kernel_marker(uint64_t a)
{
    return a == resolve_kernel || a == resolve_hypervisor || a == resolve_guest_kernel;
}

bool jsp_profile_is_marker(uint64_t a)
{
    return jsp_profile_is_kernel_marker(a) || a == resolve_user || a == resolve_guest ||
           a == resolve_guest_user;
}

int jsp_resolve_rename(struct jsp_profile *p, uint32_t function, const char *name)
{
    const char *copy = jsp_store_text(&p->work->store, name, strlen(name));
    if (copy)
        p->functions[function].name = copy;
    return copy ? 0 : -ENOMEM;
}

/* Store the frame of a shown name. */
static int resolve_shown(struct jsp_profile *p, struct jsp_resolve_name n,
                         struct jsp_read_text recorded, struct jsp_profile_frame *out)
{
    struct jsp_profile_work *w = p->work;
    struct jsp_hash *t = &w->functions;
    uint32_t kind = n.kind;
    n.kind = kind == JSPROF_KIND_JIT ? JSPROF_KIND_VM : kind;
    uint64_t h = jsp_hash_bytes(t->seed + n.kind, n.text.at, n.text.len);
    h = jsp_hash_bytes(h, n.module, strlen(n.module));
    uint32_t hash = (uint32_t)(h >> 16), probe = hash, at;
    while ((at = jsp_hash_next(t, hash, &probe)) != 0) {
        const struct jsp_function *f = &p->functions[at - 1];
        if (f->kind == n.kind && jsp_read_is(n.text, f->name) &&
            strcmp(f->module, n.module) == 0)
            break;
    }
    *out = (struct jsp_profile_frame){ .function = at ? at - 1 : p->n_functions,
                                       .kind = kind };
    if (at)
        return 0;
    if (jsp_grow(&p->functions, &w->functions_room, p->n_functions, sizeof *p->functions) < 0)
        return -ENOMEM;
    const char *module = "", *name = jsp_store_text(&w->store, n.text.at, n.text.len);
    const char *old = name;
    if (name && !jsp_read_is(recorded, name))
        old = jsp_store_text(&w->store, recorded.at, recorded.len);
    if (name && *n.module)
        module = jsp_store_text(&w->store, n.module, strlen(n.module));
    if (!name || !old || !module)
        return -ENOMEM;
    p->functions[p->n_functions++] = (struct jsp_function){ name, old, module, n.kind, n.path };
    return jsp_hash_add(t, hash, out->function);
}

int jsp_resolve_named(struct jsp_profile *p, struct jsp_resolve_name n,
                      struct jsp_profile_frame *out)
{
    struct jsp_read_text recorded = n.text;
    struct jsp_naming_name shown;
    if (!p->naming || (n.kind != JSPROF_KIND_VM && n.kind != JSPROF_KIND_JIT))
        return resolve_shown(p, n, recorded, out);
    int err = jsp_naming_name(p->naming, recorded, &shown);
    if (err)
        return err;
    n.text = (struct jsp_read_text){ shown.text, (uint32_t)strlen(shown.text) };
    err = resolve_shown(p, n, recorded, out);
    out->generated = shown.generated;
    free(shown.text);
    return err;
}

int jsp_resolve_fixed(struct jsp_profile *p, const char *name,
                      struct jsp_profile_frame *out)
{
    struct jsp_read_text t = { name, (uint32_t)strlen(name) };
    struct jsp_resolve_name n = { .text = t, .module = "", .kind = JSPROF_KIND_SYNTH };
    return jsp_resolve_named(p, n, out);
}

/* -- Native code ------------------------------------------------------------- */

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

/* Name the function by a symbol of a file. */
static int resolve_symbol(struct jsp_profile *p, const char *name, struct jsp_resolve_name n,
                          struct jsp_profile_frame *out)
{
    bool is_mangled = strncmp(name, "_Z", 2) == 0 && p->natives.demangle;
    char *nice = is_mangled ? p->natives.demangle(p->natives.demangle_context, name) : NULL;
    int err = resolve_text(p, nice ? nice : name, n, out);
    free(nice);
    return err;
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
    if (*found.name)
        return resolve_symbol(p, found.name, n, out);
    snprintf(text, sizeof text, "%s+0x%" PRIx64, n.module, found.begin);
    return resolve_text(p, text, n, out);
}

/* Return true for "[libx.so]" and "libx.so+0x1230", which the library writes where a file has no
 * symbol. */
static bool resolve_is_nameless(const struct jsp_lookup_symbol *s)
{
    uint32_t len = s->module.len;
    if (s->name.len && *s->name.at == '[')
        return true;
    return len && s->name.len > len + 3 && memcmp(s->name.at, s->module.at, len) == 0 &&
           memcmp(s->name.at + len, "+0x", 3) == 0;
}

static int resolve_native(struct jsp_profile *p, const struct jsp_profile_address *a,
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
    const char *later = NULL;
    uint64_t in = a->key.addr - a->is_return;
    if (s && m && resolve_is_nameless(s))
        later = jsp_native_files_later(&p->natives, m, in);
    if (later) {
        err = resolve_symbol(p, later, n, out);
    } else if (s) {
        n.text = s->name;
        err = jsp_resolve_named(p, n, out);
    } else if (a->is_kernel) {
        err = resolve_text(p, "[kernel]", n, out);
    } else if (m && *module) {
        err = resolve_by_file(p, m, in, n, out);
    } else {
        err = jsp_resolve_fixed(p, "[unknown]", out);
    }
    out->origin = jsp_lookup_is_loop(&p->lookup, a->key) ? JSP_ORIGIN_LOOP
                                                         : JSP_ORIGIN_NATIVE;
    return err;
}

/* -- All addresses ----------------------------------------------------------- */

static int resolve_tagged(struct jsp_profile *p, struct jsp_lookup_key k,
                          struct jsp_profile_frame *out)
{
    const struct jsp_lookup_jit *jit = jsp_lookup_jit(&p->lookup, k);
    struct jsp_resolve_name n = { .module = "", .kind = JSPROF_KIND_VM };
    jsp_lookup_kind(&p->lookup, (uint32_t)k.addr, &n.kind);
    uint32_t tier = n.kind >> JSP_TIER_SHIFT;
    n.kind &= (1 << JSP_TIER_SHIFT) - 1;
    const struct jsp_lookup_symbol *s = jit ? NULL : jsp_lookup_symbol(&p->lookup, k);
    if (!jit && !s)
        return jsp_resolve_fixed(p, "[unnamed VM function]", out);
    n.text = jit ? jit->name : s->name;
    int err = jsp_resolve_named(p, n, out);
    out->tier = tier < JSP_N_TIERS ? tier : 0;
    return err;
}

int jsp_profile_function(struct jsp_profile *p, const struct jsp_profile_address *a,
                         struct jsp_profile_frame *out)
{
    struct jsp_profile_work *w = p->work;
    uint64_t h = jsp_hash_mix(w->places.seed, a->key.addr);
    uint64_t rest = (uint64_t)(uint32_t)a->key.pid << 32 | a->key.epoch;
    uint32_t hash = (uint32_t)(jsp_hash_mix(h, rest) >> 16), probe = hash, at;
    while ((at = jsp_hash_next(&w->places, hash, &probe)) != 0) {
        const struct jsp_profile_address *q = &w->place[at - 1].at;
        if (q->key.addr == a->key.addr && q->key.pid == a->key.pid &&
            q->key.epoch == a->key.epoch && q->is_kernel == a->is_kernel &&
            q->is_return == a->is_return) {
            *out = w->place[at - 1].frame;
            return 0;
        }
    }
    bool is_tagged = (a->key.addr & JSP_WIRE_JIT_MASK) == JSP_WIRE_JIT_TAG;
    int err = is_tagged ? resolve_tagged(p, a->key, out) : resolve_native(p, a, out);
    if (err < 0)
        return err;
    if (jsp_grow(&w->place, &w->places_room, w->n_places, sizeof *w->place) < 0)
        return -ENOMEM;
    w->place[w->n_places] = (struct jsp_profile_place){ *a, *out };
    return jsp_hash_add(&w->places, hash, w->n_places++);
}

void jsp_profile_marker(struct jsp_profile_address *a)
{
    a->is_kernel = jsp_profile_is_kernel_marker(a->key.addr);
    a->is_return = false;
}

void jsp_profile_next(const struct jsp_profile *p, struct jsp_profile_address *a)
{
    a->is_return = !p->version[0];
}

/* Replace the line of generated code by its original. */
static int resolve_line(struct jsp_profile *p, struct jsp_profile_frame *f)
{
    struct jsp_naming_line is;
    int err = jsp_naming_line(p->naming, f->generated, f->line, &is);
    if (err == 0)
        f->line = is.line;
    if (err == 0 && is.file)
        err = jsp_work_file(p, (struct jsp_read_text){ is.file, (uint32_t)strlen(is.file) },
                            &f->file);
    free(is.file);
    return err;
}

int jsp_profile_place(struct jsp_profile *p, const struct jsp_profile_address *at, uint64_t line,
                      struct jsp_profile_frame *out)
{
    int err = jsp_profile_function(p, at, out);
    if (err == 0 && line > 0 && line <= UINT32_MAX) {
        out->line = (uint32_t)line;
        out->file = 0;
        if (out->generated)
            err = resolve_line(p, out);
    }
    return err;
}

int jsp_profile_frames(struct jsp_profile *p, uint32_t stack,
                       struct jsp_profile_frame out[JSP_PROFILE_DEPTH])
{
    const struct jsp_stack *k = &p->stacks[stack];
    struct jsp_addresses all;
    uint64_t number;
    struct jsp_profile_address a = { .key = { 0, p->threads[k->thread].pid, k->epoch } };
    int n = 0;
    jsp_addresses_of_stack(&all, p, k);
    while (n >= 0 && jsp_addresses_next(&all, &a.key.addr, &number)) {
        if (jsp_profile_is_marker(a.key.addr)) {
            jsp_profile_marker(&a);
            continue;
        }
        if (n == JSP_PROFILE_DEPTH)
            break;
        int err = jsp_profile_place(p, &a, number, &out[n]);
        jsp_profile_next(p, &a);
        n = err < 0 ? err : n + 1;
    }
    if (n == 0) {
        int err = jsp_resolve_fixed(p, "[no frame]", out);
        n = err < 0 ? err : 1;
    }
    return n;
}
