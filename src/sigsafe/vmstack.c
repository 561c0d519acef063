/* sigsafe/vmstack.c - see vmstack.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "vmstack.h"
#include "regs.h"

/* The compiler may order the links of one C frame in any way. */
enum {
    VMSTACK_MAX_LINKS = 1 << 20,
    VMSTACK_ONE_FRAME = 4096,
    VMSTACK_PAGE = 4096,  /* the smallest page size */
    VMSTACK_CALLS = 4096, /* system calls for links at untrusted addresses */
};

enum {
    /* of a stack that does not fit, 1/4 of the frames kept are the innermost */
    VMSTACK_INNER = 4,
    VMSTACK_LATER = 8, /* 1/8 of the room is kept for each later run */
};

/* One run that is being filled. */
struct vmstack_out {
    struct jsp_vmstack *vm;
    struct jsp_names *names;
    struct jsp_rec_frame *frames; /* where the run goes */
    uint32_t room;                /* frames that still fit */
    uint32_t n;
    uint32_t marks;               /* frames of our own among them, which take no room */
    uint32_t cut;
    const char *label; /* the last name without a function, and its id below */
    const char *detail;
    uint32_t kind;
    uint32_t id;
};

void jsp_vmstack_init(struct jsp_vmstack *vm, jsprof_thread *own, uint32_t max_depth,
                      jsprof_frame *walked)
{
    vm->own = own;
    vm->max_depth = max_depth;
    vm->walked = walked;
    vm->stack_high = UINTPTR_MAX;
    atomic_init(&vm->n_cut, 0);
    atomic_init(&vm->n_bad, 0);
}

int jsp_vmstack_check(const jsprof_stack *s)
{
    bool width = s->depth_bytes == 4 || s->depth_bytes == 8;
    bool names = s->decode_sigsafe || s->label_offset >= 0 || s->detail_offset >= 0;
    return s->depth && s->entries && s->stride && width && names ? 0 : -EINVAL;
}

/* Add to the count of lost frames. A depth of 64 bits may be garbage: the count saturates
 * and does not wrap. */
static void vmstack_cut(struct vmstack_out *out, uint64_t n)
{
    out->cut = n < UINT32_MAX - out->cut ? out->cut + (uint32_t)n : UINT32_MAX;
}

/* Put a mark in place of n frames that the record lacks. */
static void vmstack_mark(struct vmstack_out *out, uint32_t id, uint64_t n)
{
    out->frames[out->n++] = (struct jsp_rec_frame){ .id = id, .gap = 1 };
    out->marks++;
    vmstack_cut(out, n);
}

/* Return how many of the innermost frames to keep if a stack does not fit. The time
 * belongs to them; the rest of the room is for the outermost ones. */
static uint32_t vmstack_inner(const struct vmstack_out *out)
{
    return (out->room + VMSTACK_INNER - 1) / VMSTACK_INNER;
}

/* Look up a name and remember it, so that the name of a recursive function is looked up
 * once. */
static __attribute__((noinline)) uint32_t vmstack_name(struct vmstack_out *out,
                                                       const jsprof_frame *frame)
{
    if (frame->function)
        return jsp_names_of(out->names, frame);
    out->id = jsp_names_of(out->names, frame);
    out->label = frame->label;
    out->detail = frame->detail;
    out->kind = frame->kind;
    return out->id;
}

static inline bool vmstack_is_named(const struct vmstack_out *out, const jsprof_frame *frame)
{
    return frame->label && frame->label == out->label && frame->detail == out->detail &&
           frame->kind == out->kind && !frame->function;
}

static inline void vmstack_put(struct vmstack_out *out, const jsprof_frame *frame)
{
    struct jsp_rec_frame *to = &out->frames[out->n++];
    to->id = vmstack_is_named(out, frame) ? out->id : vmstack_name(out, frame);
    to->line = frame->line;
    to->sp = frame->sp;
    to->pc = frame->pc;
    to->entry = frame->kind & JSPROF_FRAME_ENTRY;
    to->gap = 0;
}

/* Put frames [from, to) of the array. */
static void vmstack_entries(struct vmstack_out *out, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        vmstack_put(out, &out->vm->own->frames[i]);
}

static void vmstack_array(struct vmstack_out *out)
{
    const jsprof_thread *own = out->vm->own;
    uint32_t depth = own->depth;
    uint32_t n = depth < own->capacity ? depth : own->capacity;
    /* ORDER: signal fence only. The thread wrote the frames before the depth. */
    atomic_signal_fence(memory_order_acquire); /* ORDER: as above */
    if (n < depth) { /* the innermost frames were never stored */
        n = n < out->room ? n : out->room;
        vmstack_entries(out, 0, n);
        vmstack_mark(out, out->vm->deeper_id, depth - n);
        return;
    }
    if (n <= out->room) {
        vmstack_entries(out, 0, n);
        return;
    }
    uint32_t inner = vmstack_inner(out);
    vmstack_entries(out, 0, out->room - inner);
    vmstack_mark(out, out->vm->cut_id, n - out->room);
    vmstack_entries(out, n - inner, n);
}

/* -- Linked entries ----------------------------------------------------------- */

/* A walk outwards. Links may lie in frames that longjmp has left. Such a dead link is
 * read with care, only for its `up`, which has to lead to a link that is alive. */
struct vmstack_chain {
    struct vmstack_out *out;
    const jsprof_link *at;   /* the next link; NULL: the end */
    const jsprof_link *seen; /* an earlier link, to detect a circular chain */
    uintptr_t floor;         /* the next link alive is at this address or above */
    uintptr_t page;          /* a page that can be read; 1: none */
    uint32_t turn, n;
    bool has_dead, is_dead;  /* any link was dead; the last one was */
    bool is_broken;
};

/* Return true if the link is alive. On the thread's own stack such a link is above the
 * interrupted stack pointer; on a coroutine's stack we cannot know. */
static bool vmstack_link_alive(const struct vmstack_chain *c)
{
    const struct jsp_vmstack *vm = c->out->vm;
    uintptr_t at = (uintptr_t)c->at;
    bool ours = at >= vm->stack_low && at < vm->stack_high;
    bool floor_ours = c->floor >= vm->stack_low && c->floor < vm->stack_high;
    return !ours || !floor_ours || at >= c->floor;
}

/* Return true if a plain load can read these bytes. The last page is remembered. */
static bool vmstack_is_there(struct vmstack_chain *c, const void *first, size_t n)
{
    struct jsp_memread *mem = c->out->vm->mem;
    uintptr_t low = (uintptr_t)first, high = low + n - 1, mask = ~(uintptr_t)(VMSTACK_PAGE - 1);
    uint8_t byte;
    if (high < low)
        return false;
    if (jsp_memread_is_plain(mem, low) && jsp_memread_is_plain(mem, high))
        return true;
    if ((low & mask) != c->page && !jsp_memread_bytes(mem, low, &byte, 1))
        return false;
    if ((high & mask) != (low & mask) && !jsp_memread_bytes(mem, high, &byte, 1))
        return false;
    c->page = high & mask;
    return true;
}

static inline const jsprof_function **vmstack_known(struct jsp_vmstack *vm,
                                                    const jsprof_function *f)
{
    return &vm->known[((uintptr_t)f >> 4) % JSP_VMSTACK_KNOWN];
}

/* Return true if the link names a registered function: a link may have been
 * overwritten. */
static bool vmstack_is_function(struct vmstack_chain *c, const jsprof_function *f)
{
    struct jsp_vmstack *vm = c->out->vm;
    uintptr_t at = (uintptr_t)f;
    const jsprof_function **known = vmstack_known(vm, f);
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

static struct vmstack_chain vmstack_chain(struct vmstack_out *out, uintptr_t sp)
{
    return (struct vmstack_chain){ .out = out, .at = out->vm->own->top, .turn = 1, .page = 1,
                                   .floor = sp - JSP_RED_ZONE };
}

/* Return the next link that is alive, or NULL if there is none or the chain is broken. */
static JSP_MEMREAD_ANY const jsprof_link *vmstack_next(struct vmstack_chain *c)
{
    c->is_broken = true;
    while (c->at) { /* at most VMSTACK_MAX_LINKS turns in all */
        const jsprof_link *l = c->at;
        c->is_dead = !vmstack_link_alive(c);
        c->has_dead = c->has_dead || c->is_dead;
        if (c->n == VMSTACK_MAX_LINKS || l == c->seen ||
            (uintptr_t)l % alignof(jsprof_link) || !vmstack_is_there(c, l, sizeof *l))
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
        c->at = l->up;
        if (!vmstack_is_function(c, l->function))
            return NULL;
        if ((uintptr_t)l - VMSTACK_ONE_FRAME > c->floor)
            c->floor = (uintptr_t)l - VMSTACK_ONE_FRAME;
        return l;
    }
    c->is_broken = c->is_dead;
    return NULL;
}

/* Return the number of links if all of them lie on the current stack, lead outwards and
 * name functions seen before, which is nearly always true. Otherwise return 0. */
static JSP_MEMREAD_ANY uint32_t vmstack_usual(struct vmstack_out *out, uintptr_t sp)
{
    struct jsp_vmstack *vm = out->vm;
    uintptr_t plain = vm->mem->plain, room = vm->mem->plain_room, floor = sp - JSP_RED_ZONE;
    uintptr_t more = sizeof(jsprof_link) - sizeof(uint64_t);
    const jsprof_link *seen = NULL;
    uint32_t depth = 0, turn = 1;
    for (const jsprof_link *l = vm->own->top; l; l = l->up) {
        uintptr_t at = (uintptr_t)l;
        if (at < floor || at - plain > room || at - plain + more > room || l == seen ||
            at % alignof(jsprof_link) || depth == VMSTACK_MAX_LINKS ||
            *vmstack_known(vm, l->function) != l->function || !l->function)
            return 0;
        if (at - VMSTACK_ONE_FRAME > floor)
            floor = at - VMSTACK_ONE_FRAME;
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
static JSP_MEMREAD_ANY bool vmstack_put_links(struct vmstack_out *out,
                                              struct vmstack_chain *c, uint32_t depth)
{
    bool fits = depth <= out->room;
    uint32_t inner = fits ? 0 : vmstack_inner(out), at = depth;
    uint32_t roots = fits ? depth : out->room - inner;

    for (const jsprof_link *l = out->vm->own->top; at > 0; l = l->up) {
        if (c && (l = vmstack_next(c)) == NULL)
            return false;
        if (--at >= roots && depth - at > inner)
            continue;
        jsprof_frame frame = { .function = l->function };
        struct jsp_rec_frame *to = &out->frames[at < roots ? at : roots + 1 + at - (depth - inner)];
        *to = (struct jsp_rec_frame){ jsp_names_of(out->names, &frame), l->line,
                                      (uintptr_t)l, l->pc, 0, 0 };
    }
    if (c && (vmstack_next(c) || c->is_broken))
        return false;
    out->n = roots;
    if (!fits)
        vmstack_mark(out, out->vm->cut_id, depth - out->room);
    out->n += inner;
    return true;
}

/* Count the links, check them, and put them. */
static void vmstack_links(struct vmstack_out *out, uintptr_t sp)
{
    struct vmstack_chain c = vmstack_chain(out, sp), again = c;
    uint32_t depth = vmstack_usual(out, sp);
    if (depth) {
        vmstack_put_links(out, NULL, depth);
        return;
    }
    while (vmstack_next(&c))
        depth++;
    out->vm->mem->calls = VMSTACK_CALLS; /* the second pass needs as many calls */
    bool whole = !c.is_broken && vmstack_put_links(out, &again, depth);
    if (!whole || c.has_dead)
        jsp_count(&out->vm->n_bad, 1);
}

static uint64_t vmstack_host_depth(const jsprof_stack *s)
{
    if (s->depth_bytes == 8)
        return *(const volatile uint64_t *)s->depth;
    uint32_t depth = *(const volatile uint32_t *)s->depth;
    return depth > INT32_MAX ? UINT64_MAX : depth; /* a negative depth stays negative */
}

static const void *vmstack_at(const char *entry, int32_t offset)
{
    const void *value = NULL;
    if (offset >= 0)
        memcpy(&value, entry + offset, sizeof value);
    return value;
}

/* Read one entry by its offsets. */
static int vmstack_fields(const jsprof_stack *s, const char *entry, jsprof_frame *frame)
{
    frame->label = vmstack_at(entry, s->label_offset);
    frame->detail = vmstack_at(entry, s->detail_offset);
    frame->sp = (uintptr_t)vmstack_at(entry, s->sp_offset);
    if (s->line_offset >= 0)
        memcpy(&frame->line, entry + s->line_offset, sizeof frame->line);
    if (s->pc_offset >= 0)
        memcpy(&frame->pc, entry + s->pc_offset, sizeof frame->pc);
    frame->kind = s->kind;
    return 1;
}

/* Return the number of entries; store how many of them may be read. */
static uint64_t vmstack_host_entries(struct vmstack_out *out, uint64_t *readable)
{
    const jsprof_stack *s = &out->vm->host;
    uint64_t depth = vmstack_host_depth(s);
    if (depth > INT64_MAX) {
        jsp_count(&out->vm->n_bad, 1); /* the host left more functions than it entered */
        depth = 0;
    }
    uint64_t limit = s->capacity ? *(const volatile uint32_t *)s->capacity : s->limit;
    *readable = (!limit && !s->capacity) || depth <= limit ? depth : limit;
    return depth;
}

static int vmstack_entry(const jsprof_stack *s, const char *entry, jsprof_frame *frame)
{
    *frame = (jsprof_frame){ .sp = 0 };
    return s->decode_sigsafe ? s->decode_sigsafe(s->host, entry, frame)
                             : vmstack_fields(s, entry, frame);
}

/* A range of the host's entries. */
struct vmstack_span {
    const char *entries; /* the first entry of the array */
    uint64_t from, to;
};

/* Put the frames of the range as long as there is room. Return the index of the next
 * entry. */
static uint64_t vmstack_span(struct vmstack_out *out, const struct vmstack_span *span,
                             uintptr_t sp)
{
    const jsprof_stack *s = &out->vm->host;
    uint64_t i = span->from;
    for (; i < span->to && out->n - out->marks < out->room; i++) {
        jsprof_frame frame;
        int is = vmstack_entry(s, span->entries + i * s->stride, &frame);
        if (frame.sp)
            sp = frame.sp;
        frame.sp = sp;
        if (is > 0)
            vmstack_put(out, &frame);
        else if (is < 0)
            jsp_count(&out->vm->n_bad, 1);
    }
    return i;
}

/* Return the stack address of the last of these entries that has one, or 0. */
static uintptr_t vmstack_sp_of(const jsprof_stack *s, const struct vmstack_span *span)
{
    jsprof_frame frame = { .sp = 0 };
    for (uint64_t i = span->to; i > span->from && !frame.sp; i--)
        vmstack_entry(s, span->entries + (i - 1) * s->stride, &frame);
    return frame.sp;
}

/* The room is full, and more of the `n` entries follow, beginning with `at`: drop frames
 * from the end so that only the outermost remain, then put the innermost. */
static void vmstack_host_inner(struct vmstack_out *out, const char *entries, uint64_t at,
                               uint64_t n)
{
    uint32_t inner = vmstack_inner(out);
    struct vmstack_span last = { entries, n - inner, n };
    struct vmstack_span before = { entries, last.from > inner ? last.from - inner : 0, last.from };
    uint32_t kept = out->n + 1; /* including the mark */
    out->n -= inner;
    vmstack_mark(out, out->vm->cut_id, 0);
    vmstack_span(out, &last, vmstack_sp_of(&out->vm->host, &before));
    vmstack_cut(out, n - at + (kept - out->n));
}

static void vmstack_host(struct vmstack_out *out)
{
    const jsprof_stack *s = &out->vm->host;
    uint64_t n, depth = vmstack_host_entries(out, &n);
    const char *entries = *(const char *const volatile *)s->entries;

    if (n && !entries) {
        jsp_count(&out->vm->n_bad, 1);
        return;
    }
    struct vmstack_span all = { entries, 0, n };
    uint64_t at = vmstack_span(out, &all, 0);
    if (n < depth) /* the innermost entries are not in the array */
        vmstack_mark(out, out->vm->deeper_id, depth - at);
    else if (at < n)
        vmstack_host_inner(out, entries, at, n);
}

/* Move the registers of C functions that called compiled code to the start of the
 * list, where the unwinder finds them. The frames that were stored there have been put
 * already. */
static void vmstack_callers(struct jsp_vmstack *vm, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (vm->walked[i].kind & JSPROF_FRAME_CALLER)
            vm->walked[vm->n_callers++] = vm->walked[i];
}

/* Put the frames of the host's walker. It reports them innermost first; the run is
 * outermost first. The outermost frames are dropped if they do not fit. */
static void vmstack_walker(struct vmstack_out *out, const void *ucontext)
{
    struct jsp_vmstack *vm = out->vm;
    uint32_t there = vm->walk_sigsafe(vm->walk_host, ucontext, vm->walked, out->room);
    uint32_t n = there < out->room ? there : out->room;
    if (n < there)
        vmstack_mark(out, vm->cut_id, there - n);
    for (uint32_t i = n; i-- > 0;)
        if (!(vm->walked[i].kind & JSPROF_FRAME_CALLER))
            vmstack_put(out, &vm->walked[i]);
    if (n < there && out->n > 1)
        out->frames[0].sp = out->frames[1].sp;
    vmstack_callers(vm, n);
}

static bool vmstack_has(const struct jsp_vmstack *vm, int run, const struct jsp_where *where)
{
    switch (run) {
    case JSP_RUN_LINKS: return vm->own->top;
    case JSP_RUN_ARRAY: return vm->own->depth;
    case JSP_RUN_HOST: return vm->host.depth && vmstack_host_depth(&vm->host);
    default: return vm->walk_sigsafe && where->ucontext;
    }
}

/* Return the room for one run: all that is left, minus a share for each later run. */
static uint32_t vmstack_room(const struct jsp_vmstack *vm, int run, const struct jsp_where *where,
                             uint32_t left)
{
    uint32_t later = 0;
    for (int i = run + 1; i < JSP_N_RUNS; i++)
        later += vmstack_has(vm, i, where) ? vm->max_depth / VMSTACK_LATER : 0;
    return left > later ? left - later : 0;
}

static void vmstack_run(struct vmstack_out *out, int run, const struct jsp_where *where)
{
    if (run == JSP_RUN_LINKS)
        vmstack_links(out, where->sp);
    else if (run == JSP_RUN_ARRAY)
        vmstack_array(out);
    else if (run == JSP_RUN_HOST)
        vmstack_host(out);
    else
        vmstack_walker(out, where->ucontext);
}

void jsp_vmstack_read(struct jsp_vmstack *vm, struct jsp_names *names,
                      const struct jsp_where *where, struct jsp_record *record)
{
    struct vmstack_out out = { .vm = vm, .names = names, .frames = record->frames };
    uint32_t left = vm->max_depth;

    jsp_memread_begin(vm->mem, where->sp);
    vm->mem->calls = VMSTACK_CALLS;
    vm->n_callers = 0;
    for (int run = 0; run < JSP_N_RUNS; run++) {
        out.room = vmstack_room(vm, run, where, left);
        out.n = out.marks = 0;
        if (vmstack_has(vm, run, where))
            vmstack_run(&out, run, where);
        record->n[run] = (uint16_t)out.n;
        out.frames += out.n;
        left -= out.n - out.marks;
    }
    record->cut = out.cut;
    if (out.cut)
        jsp_count(&vm->n_cut, out.cut);
}
