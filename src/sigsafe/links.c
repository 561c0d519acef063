/* sigsafe/links.c - linked entries, form (a), of which some may be dead; see vmrun.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "vmrun.h"
#include "regs.h"

/* The compiler may order the links of one C frame in any way. */
enum {
    LINKS_MOST = 1 << 20,
    LINKS_ONE_FRAME = 4096,
};

/* A walk outwards. Links may lie in frames that longjmp has left. Such a dead link is
 * read with care, only for its `up`, which has to lead to a link that is alive. */
struct links_chain {
    struct jsp_vmrun *out;
    const jsprof_link *at;   /* the next link; NULL: the end */
    const jsprof_link *seen; /* an earlier link, to detect a circular chain */
    uintptr_t floor;         /* the next link alive is at this address or above */
    uint32_t turn, n;
    bool has_dead, is_dead;  /* any link was dead; the last one was */
    bool is_broken;
    jsprof_link copy; /* of the last link, where another thread owns it */
};

/* Return true if the link is alive. On the thread's own stack such a link is above the
 * interrupted stack pointer; on a coroutine's stack we cannot know. */
static bool links_alive(const struct links_chain *c)
{
    const struct jsp_vmstack *vm = c->out->vm;
    uintptr_t at = (uintptr_t)c->at;
    bool ours = at >= vm->stack_low && at < vm->stack_high;
    bool floor_ours = c->floor >= vm->stack_low && c->floor < vm->stack_high;
    return !ours || !floor_ours || at >= c->floor;
}

static inline const jsprof_function **links_known(struct jsp_vmstack *vm,
                                                    const jsprof_function *f)
{
    return &vm->known[((uintptr_t)f >> 4) % JSP_VMSTACK_KNOWN];
}

/* Return true if the link names a registered function: a link may have been
 * overwritten. */
static bool links_is_function(struct links_chain *c, const jsprof_function *f)
{
    struct jsp_vmstack *vm = c->out->vm;
    uintptr_t at = (uintptr_t)f;
    const jsprof_function **known = links_known(vm, f);
    struct jsprof_function copy;
    if (!f || *known == f)
        return true;
    if (at % alignof(struct jsprof_function) ||
        !jsp_memread_bytes(vm->mem, at, &copy, sizeof copy) ||
        copy.seal != jsp_function_seal(f, copy.serial))
        return false;
    *known = f;
    return true;
}

static struct links_chain links_chain(struct jsp_vmrun *out, uintptr_t sp)
{
    return (struct links_chain){ .out = out, .at = out->vm->own->top, .turn = 1,
                                   .floor = sp - JSP_RED_ZONE };
}

/* Return the contents of a link that can be read: the link itself, or a copy if another thread
 * may unmap it; NULL: it is gone. */
static JSP_MEMREAD_ANY const jsprof_link *links_see(struct links_chain *c, const jsprof_link *l)
{
    struct jsp_memread *mem = c->out->vm->mem;
    if (!mem->is_foreign)
        return l;
    return jsp_memread_bytes(mem, (uintptr_t)l, &c->copy, sizeof c->copy) ? &c->copy : NULL;
}

/* Return the next link that is alive, or NULL if there is none or the chain is broken. */
static JSP_MEMREAD_ANY const jsprof_link *links_next(struct links_chain *c)
{
    c->is_broken = true;
    while (c->at) { /* at most LINKS_MOST turns in all */
        const jsprof_link *l = c->at;
        c->is_dead = !links_alive(c);
        c->has_dead = c->has_dead || c->is_dead;
        if (c->n == LINKS_MOST || l == c->seen ||
            (uintptr_t)l % alignof(jsprof_link) || !jsp_vmrun_is_there(c->out, l, sizeof *l))
            return NULL;
        if (++c->n == c->turn) {
            c->seen = l;
            c->turn *= 2;
        }
        if (c->is_dead) { /* its memory may hold other variables of the host by now */
            uint64_t up;
            if (!jsp_memread_word(c->out->vm->mem, (uintptr_t)&l->up, &up))
                return NULL;
            if (up && (up < c->out->vm->stack_low || up >= c->out->vm->stack_high))
                return NULL; /* overwritten: a link never led off this stack */
            c->at = (const jsprof_link *)(uintptr_t)up;
            continue;
        }
        const jsprof_link *seen = links_see(c, l);
        if (!seen || !links_is_function(c, seen->function))
            return NULL;
        c->at = seen->up;
        if ((uintptr_t)l - LINKS_ONE_FRAME > c->floor)
            c->floor = (uintptr_t)l - LINKS_ONE_FRAME;
        return l;
    }
    c->is_broken = c->is_dead;
    return NULL;
}

/* Return the number of links if all of them lie on the current stack, lead outwards and
 * name functions seen before, which is nearly always true. Otherwise return 0. */
static JSP_MEMREAD_ANY uint32_t links_usual(struct jsp_vmrun *out, uintptr_t sp)
{
    struct jsp_vmstack *vm = out->vm;
    uintptr_t plain = vm->mem->plain, room = vm->mem->plain_room, floor = sp - JSP_RED_ZONE;
    uintptr_t more = sizeof(jsprof_link) - sizeof(uint64_t);
    const jsprof_link *seen = NULL;
    uint32_t depth = 0, turn = 1;
    for (const jsprof_link *l = vm->own->top; l; l = l->up) {
        uintptr_t at = (uintptr_t)l;
        if (at < floor || at - plain > room || at - plain + more > room || l == seen ||
            at % alignof(jsprof_link) || depth == LINKS_MOST ||
            *links_known(vm, l->function) != l->function || !l->function)
            return 0;
        if (at - LINKS_ONE_FRAME > floor)
            floor = at - LINKS_ONE_FRAME;
        if (++depth == turn) {
            seen = l;
            turn *= 2;
        }
    }
    return depth;
}

/* Put the links. They come innermost first, so fill backwards, without those in the
 * middle that do not fit. `c` is the chain to follow; NULL: follow `up`. Return false if
 * the chain has changed since it was counted: this handler runs on the stack that holds
 * the dead links, and may overwrite them. */
static JSP_MEMREAD_ANY bool links_put(struct jsp_vmrun *out,
                                              struct links_chain *c, uint32_t depth)
{
    bool fits = depth <= out->room;
    uint32_t inner = fits ? 0 : jsp_vmrun_inner(out), at = depth;
    uint32_t roots = fits ? depth : out->room - inner;

    for (const jsprof_link *l = out->vm->own->top; at > 0; l = c ? l : l->up) {
        if (c && (l = links_next(c)) == NULL)
            return false;
        if (--at >= roots && depth - at > inner)
            continue;
        const jsprof_link *link = c && c->out->vm->mem->is_foreign ? &c->copy : l;
        jsprof_frame frame = { .function = link->function };
        struct jsp_rec_frame *to = &out->frames[at < roots ? at : roots + 1 + at - (depth - inner)];
        *to = (struct jsp_rec_frame){ jsp_names_of(out->names, &frame), link->line,
                                      (uintptr_t)l, link->pc, 0, 0 };
    }
    if (c && (links_next(c) || c->is_broken))
        return false;
    out->n = roots;
    if (!fits)
        jsp_vmrun_mark(out, out->vm->cut_id, depth - out->room);
    out->n += inner;
    return true;
}

void jsp_links_read(struct jsp_vmrun *out, uintptr_t sp)
{
    struct links_chain c = links_chain(out, sp), again = c;
    uint32_t depth = links_usual(out, sp);
    if (depth) {
        links_put(out, NULL, depth);
        return;
    }
    while (links_next(&c))
        depth++;
    out->vm->mem->calls = JSP_VMRUN_CALLS; /* the second pass needs as many calls */
    bool whole = !c.is_broken && links_put(out, &again, depth);
    if (!whole || c.has_dead)
        jsp_count(&out->vm->n_bad, 1);
}
