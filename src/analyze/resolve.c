/* resolve.c - addresses of a stack become functions of the profile.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>

#include "analyze/work.h"
#include "capture/wire.h"
#include "jsprof.h"

/* perf's context markers: -32, -128, -512, -2048 and the guest's. */
static const uint64_t resolve_hypervisor = (uint64_t)-32, resolve_kernel = (uint64_t)-128,
                      resolve_user = (uint64_t)-512, resolve_guest = (uint64_t)-2048,
                      resolve_guest_kernel = (uint64_t)-2176,
                      resolve_guest_user = (uint64_t)-2560;

enum { RESOLVE_FORKS = 8 };

bool jsp_profile_is_kernel_marker(uint64_t a)
{
    return a == resolve_kernel || a == resolve_hypervisor || a == resolve_guest_kernel;
}

bool jsp_profile_is_marker(uint64_t a)
{
    return jsp_profile_is_kernel_marker(a) || a == resolve_user || a == resolve_guest ||
           a == resolve_guest_user;
}

static uint32_t resolve_known(const struct jsp_profile *p, uint32_t hash,
                              struct jsp_read_text name, uint32_t kind)
{
    uint32_t probe = hash, at;
    while ((at = jsp_hash_next(&p->work->functions, hash, &probe)) != 0) {
        const struct jsp_function *f = &p->functions[at - 1];
        if (f->kind == kind && strlen(f->name) == name.len &&
            memcmp(f->name, name.at, name.len) == 0)
            break;
    }
    return at;
}

/* The function of a name, which may be new, and the frame's own kind. */
static int resolve_named(struct jsp_profile *p, struct jsp_read_text name, uint32_t kind,
                         struct jsp_profile_frame *out)
{
    struct jsp_profile_work *w = p->work;
    uint32_t class = kind == JSPROF_KIND_JIT ? JSPROF_KIND_VM : kind;
    uint64_t h = jsp_hash_bytes(w->functions.seed + class, name.at, name.len);
    uint32_t hash = (uint32_t)(h >> 16), at = resolve_known(p, hash, name, class);
    *out = (struct jsp_profile_frame){ at - 1, 0, kind };
    if (at)
        return 0;
    struct jsp_function *more =
        jsp_grow(p->functions, &w->functions_room, p->n_functions, sizeof *more);
    if (!more)
        return -ENOMEM;
    p->functions = more;
    char *text = jsp_store_text(&w->store, name.at, name.len);
    if (!text)
        return -ENOMEM;
    more[p->n_functions] = (struct jsp_function){ text, class };
    out->function = p->n_functions;
    return jsp_hash_add(&w->functions, hash, p->n_functions++);
}

static int resolve_fixed(struct jsp_profile *p, const char *name, uint32_t kind,
                         struct jsp_profile_frame *out)
{
    struct jsp_read_text t = { name, (uint32_t)strlen(name) };
    return resolve_named(p, t, kind, out);
}

/* A forked child that never mapped anything itself runs its parent's code. */
static const struct jsp_lookup_map *resolve_map(struct jsp_profile *p,
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

static int resolve_module(struct jsp_profile *p, const struct jsp_lookup_map *m,
                          struct jsp_profile_frame *out)
{
    char name[256];
    uint32_t at = m->path.len;
    while (at > 0 && m->path.at[at - 1] != '/')
        at--;
    int len = (int)(m->path.len - at);
    snprintf(name, sizeof name, m->path.at[at] == '[' ? "%.*s" : "[%.*s]",
             len > 250 ? 250 : len, m->path.at + at);
    return resolve_fixed(p, name, JSPROF_KIND_NATIVE, out);
}

static int resolve_tagged(struct jsp_profile *p, struct jsp_lookup_key k,
                          struct jsp_profile_frame *out)
{
    const struct jsp_lookup_jit *jit = jsp_lookup_jit(&p->lookup, k);
    uint32_t kind = JSPROF_KIND_VM;
    jsp_lookup_kind(&p->lookup, (uint32_t)k.addr, &kind);
    if (jit)
        return resolve_named(p, jit->name, kind, out);
    const struct jsp_lookup_symbol *s = jsp_lookup_symbol(&p->lookup, k);
    if (s)
        return resolve_named(p, s->name, kind, out);
    return resolve_fixed(p, "[unnamed VM function]", JSPROF_KIND_SYNTH, out);
}

static int resolve_native(struct jsp_profile *p, const struct jsp_profile_address *a,
                          struct jsp_profile_frame *out)
{
    uint32_t kind = a->is_kernel ? JSP_KIND_KERNEL : JSPROF_KIND_NATIVE;
    const struct jsp_lookup_symbol *s = jsp_lookup_symbol(&p->lookup, a->key);
    if (s)
        return resolve_named(p, s->name, kind, out);
    const struct jsp_lookup_jit *jit = jsp_lookup_jit(&p->lookup, a->key);
    if (jit)
        return resolve_named(p, jit->name, JSPROF_KIND_JIT, out);
    if (a->is_kernel)
        return resolve_fixed(p, "[kernel]", kind, out);
    const struct jsp_lookup_map *m = resolve_map(p, a->key);
    if (m && m->path.len)
        return resolve_module(p, m, out);
    return resolve_fixed(p, "[unknown]", JSPROF_KIND_SYNTH, out);
}

static uint32_t resolve_cached(struct jsp_profile_work *w, uint32_t hash,
                               const struct jsp_profile_address *a)
{
    uint32_t probe = hash, at;
    while ((at = jsp_hash_next(&w->places, hash, &probe)) != 0) {
        const struct jsp_profile_place *q = &w->place[at - 1];
        if (q->addr == a->key.addr && q->pid == a->key.pid && q->epoch == a->key.epoch &&
            q->is_kernel == a->is_kernel)
            return at;
    }
    return 0;
}

int jsp_profile_function(struct jsp_profile *p, const struct jsp_profile_address *a,
                         struct jsp_profile_frame *out)
{
    struct jsp_profile_work *w = p->work;
    uint64_t h = jsp_hash_mix(w->places.seed, a->key.addr);
    uint64_t rest = (uint64_t)(uint32_t)a->key.pid << 32 | a->key.epoch;
    uint32_t hash = (uint32_t)(jsp_hash_mix(h, rest) >> 16);
    uint32_t at = resolve_cached(w, hash, a);
    if (at) {
        *out = (struct jsp_profile_frame){ w->place[at - 1].function, 0,
                                           w->place[at - 1].kind };
        return 0;
    }
    bool is_tagged = (a->key.addr & JSP_WIRE_JIT_MASK) == JSP_WIRE_JIT_TAG;
    int err = is_tagged ? resolve_tagged(p, a->key, out) : resolve_native(p, a, out);
    if (err < 0)
        return err;
    struct jsp_profile_place *more =
        jsp_grow(w->place, &w->places_room, w->n_places, sizeof *more);
    if (!more)
        return -ENOMEM;
    w->place = more;
    more[w->n_places] = (struct jsp_profile_place){ a->key.addr,  a->key.pid,
                                                    a->key.epoch, out->function,
                                                    out->kind,    a->is_kernel };
    return jsp_hash_add(&w->places, hash, w->n_places++);
}

/* Frames that were there but are not in the sample stood at the leaf. */
static int resolve_cut(struct jsp_profile *p, const struct jsp_stack *k,
                       struct jsp_profile_frame *out)
{
    if (!k->is_cut)
        return 0;
    int err = resolve_fixed(p, "[frames cut]", JSPROF_KIND_SYNTH, out);
    return err < 0 ? err : 1;
}

int jsp_profile_frames(struct jsp_profile *p, uint32_t stack,
                       struct jsp_profile_frame out[JSP_PROFILE_DEPTH])
{
    const struct jsp_stack *k = &p->stacks[stack];
    const uint8_t *line = k->lines, *end = line ? line + k->lines_bytes : NULL;
    struct jsp_profile_address a = { .key = { 0, p->threads[k->thread].pid, k->epoch } };
    int n = resolve_cut(p, k, out);
    for (uint32_t i = 0; n >= 0 && i < k->n_addrs; i++) {
        uint64_t number = 0;
        a.key.addr = jsp_read_u64(p->capture, k->addrs + 8 * i);
        if (i < k->n_lines)
            jsp_read_varint(&line, end, &number);
        if (jsp_profile_is_marker(a.key.addr)) {
            a.is_kernel = jsp_profile_is_kernel_marker(a.key.addr);
            continue;
        }
        if (n == JSP_PROFILE_DEPTH)
            break;
        int err = jsp_profile_function(p, &a, &out[n]);
        out[n].line = number > UINT32_MAX ? 0 : (uint32_t)number;
        n = err < 0 ? err : n + 1;
    }
    if (n == 0) {
        int err = resolve_fixed(p, "[no frame]", JSPROF_KIND_SYNTH, out);
        n = err < 0 ? err : 1;
    }
    return n;
}
