/* sigsafe/vmstack.c - see vmstack.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "vmstack.h"
#include "vmrun.h"

enum { VMSTACK_LATER = 8 }; /* 1/8 of the room is kept for each later run */

void *jsp_vmstack_scratch(struct jsp_vmstack *vm, size_t bytes)
{
    if (bytes > vm->scratch_left)
        return NULL;
    size_t whole = (bytes + 7) & ~(size_t)7; /* what is left is a multiple of 8 */
    void *place = vm->scratch + (JSP_VMSTACK_SCRATCH - vm->scratch_left);
    vm->scratch_left -= (uint32_t)whole;
    return place;
}

bool jsp_vmstack_peek(struct jsp_vmstack *vm, void *to, const void *from, size_t bytes)
{
    uintptr_t at = (uintptr_t)from;
    return vm->is_reading && at + bytes >= at &&
           (!bytes || jsp_memread_bytes(vm->mem, at, to, bytes));
}

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
    bool has_depth = s->context ? s->depth_at >= 0 : s->depth != NULL;
    bool has_end = s->context ? s->end_at >= 0 : s->end != NULL;
    bool has_entries = s->context ? s->entries_at >= 0 : s->entries != NULL;
    bool width = !has_depth || s->depth_bytes == 4 || s->depth_bytes == 8;
    bool names = s->decode_sigsafe || s->label_offset >= 0 || s->detail_offset >= 0;
    return has_depth != has_end && has_entries && s->stride && width && names ? 0 : -EINVAL;
}

__attribute__((noinline)) uint32_t jsp_vmrun_name(struct jsp_vmrun *out,
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

/* Put frames [from, to) of an array that another thread owns, by a copy of them in the room of the
 * handler's walker. */
static void vmstack_foreign(struct jsp_vmrun *out, uint32_t from, uint32_t to)
{
    struct jsp_vmstack *vm = out->vm;
    size_t bytes = (to - from) * sizeof *vm->walked;
    if (!jsp_memread_bytes(vm->mem, (uintptr_t)(vm->own->frames + from), vm->walked, bytes)) {
        jsp_count(&vm->n_bad, 1);
        return;
    }
    for (uint32_t i = 0; i < to - from; i++)
        jsp_vmrun_put(out, &vm->walked[i]);
}

/* Put frames [from, to) of the array; there is room for them. */
static void vmstack_entries(struct jsp_vmrun *out, uint32_t from, uint32_t to)
{
    if (out->vm->mem->is_foreign)
        vmstack_foreign(out, from, to);
    else
        for (uint32_t i = from; i < to; i++)
            jsp_vmrun_put(out, &out->vm->own->frames[i]);
}

static void vmstack_array(struct jsp_vmrun *out)
{
    const jsprof_thread *own = out->vm->own;
    uint32_t depth = own->depth;
    uint32_t n = depth < own->capacity ? depth : own->capacity;
    /* ORDER: signal fence only. The thread wrote the frames before the depth. */
    atomic_signal_fence(memory_order_acquire); /* ORDER: as above */
    if (n < depth) { /* the innermost frames were never stored */
        n = n < out->room ? n : out->room;
        vmstack_entries(out, 0, n);
        jsp_vmrun_mark(out, out->vm->deeper_id, depth - n);
        return;
    }
    if (n <= out->room) {
        vmstack_entries(out, 0, n);
        return;
    }
    uint32_t inner = jsp_vmrun_inner(out);
    vmstack_entries(out, 0, out->room - inner);
    jsp_vmrun_mark(out, out->vm->cut_id, n - out->room);
    vmstack_entries(out, n - inner, n);
}

/* -- Form (b): the host's own arrays ------------------------------------------------ */

enum {
    VMSTACK_CHAIN = 16, /* stacks, each resumed from the next one */
    /* Frames without an entry in the array, at most: a host that counts more has another number
     * in its counter. */
    VMSTACK_UNSTORED = 1 << 24,
};

/* One array of entries. */
struct vmstack_part {
    const char *entries; /* the first entry */
    uint64_t n;          /* entries that may be read */
};

/* All arrays of the host, outermost first. */
struct vmstack_parts {
    struct vmstack_part at[VMSTACK_CHAIN];
    uint32_t n;
    uint64_t total;    /* readable entries */
    uint64_t unstored; /* innermost entries for which the innermost array has no room */
};

/* The addresses of one array's variables; NULL: there is no such variable. */
struct vmstack_vars {
    const void *depth, *end, *entries, *capacity;
};

/* A host's fields need not be aligned. */
typedef uint64_t vmstack_u64 __attribute__((aligned(1), may_alias));
typedef uint32_t vmstack_u32 __attribute__((aligned(1), may_alias));

/* Copy a variable of the host, of 4 or 8 bytes. Return 0 if another thread reads, and it is
 * gone. */
static inline uint64_t vmstack_load(struct jsp_vmrun *out, const void *at, uint32_t bytes)
{
    struct jsp_memread *mem = out->vm->mem;
    uintptr_t in = (uintptr_t)at & 7;
    uint64_t word = 0;
    uint32_t half;
    if (!mem->is_foreign) {
        if (bytes == 8)
            return *(const volatile vmstack_u64 *)at;
        return *(const volatile vmstack_u32 *)at;
    }
    /* most are words, or their halves, and share the reader's window */
    bool is_read = in + bytes <= 8 ? jsp_memread_word(mem, (uintptr_t)at - in, &word)
                                   : jsp_memread_bytes(mem, (uintptr_t)at, &word, bytes);
    const char *from = (const char *)&word + (in + bytes <= 8 ? in : 0);
    memcpy(&half, from, sizeof half);
    if (!is_read)
        jsp_count(&out->vm->n_bad, 1);
    return bytes == 8 ? word : half;
}

static const void *vmstack_pointer(struct jsp_vmrun *out, const void *at)
{
    return (const void *)(uintptr_t)vmstack_load(out, at, sizeof(void *));
}

static const void *vmstack_at(struct jsp_vmrun *out, const char *entry, int32_t offset)
{
    return offset >= 0 ? vmstack_pointer(out, entry + offset) : NULL;
}

static uint64_t vmstack_host_depth(struct jsp_vmrun *out, const void *depth)
{
    uint32_t bytes = out->vm->host.depth_bytes;
    uint64_t n = vmstack_load(out, depth, bytes);
    return bytes == 4 && n > INT32_MAX ? UINT64_MAX : n; /* a negative depth stays negative */
}

/* Return the number of entries up to the end pointer. An end before the first entry, or within
 * an entry, is a negative depth: the host moved the array in two steps. */
static uint64_t vmstack_host_until(struct jsp_vmrun *out, const char *entries, const void *end)
{
    const jsprof_stack *s = &out->vm->host;
    const char *to = vmstack_pointer(out, end);
    if (!to || !entries)
        return 0;
    uint64_t bytes = (uint64_t)((uintptr_t)to - (uintptr_t)entries);
    uint64_t past = bytes / s->stride + (s->end_is_last != 0);
    return to < entries || bytes % s->stride ? UINT64_MAX : past;
}

/* Add an array further in than all before. */
static void vmstack_part(struct jsp_vmrun *out, const struct vmstack_vars *v,
                         struct vmstack_parts *to)
{
    const jsprof_stack *s = &out->vm->host;
    const char *entries = vmstack_pointer(out, v->entries);
    uint64_t depth = v->depth ? vmstack_host_depth(out, v->depth)
                              : vmstack_host_until(out, entries, v->end);
    uint64_t limit = v->capacity ? vmstack_load(out, v->capacity, 4) : s->limit;
    uint64_t n = (limit || v->capacity) && depth > limit ? limit : depth;
    /* a negative depth: the host left more functions than it entered */
    bool is_garbage = depth > INT64_MAX || depth - n > VMSTACK_UNSTORED;
    if (is_garbage || (n && !entries)) {
        jsp_count(&out->vm->n_bad, 1);
        depth = n = 0;
    }
    jsp_vmrun_cut(out, to->unstored); /* those of the array further out */
    to->unstored = depth - n;
    to->at[to->n++] = (struct vmstack_part){ entries, n };
    to->total += n;
}

static const void *vmstack_field(const char *context, int32_t at)
{
    return at >= 0 ? context + at : NULL;
}

/* Return true if the variables of a coroutine can be read. */
static bool vmstack_has_context(struct jsp_vmrun *out, const char *at)
{
    const jsprof_stack *s = &out->vm->host;
    const struct { int32_t at; uint32_t n; } fields[] = {
        { s->depth_at, s->depth_bytes },     { s->end_at, sizeof(void *) },
        { s->entries_at, sizeof(void *) },   { s->capacity_at, sizeof(uint32_t) },
        { s->resumer_at, sizeof(void *) },
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (fields[i].at >= 0 && !jsp_vmrun_is_there(out, at + fields[i].at, fields[i].n))
            return false;
    return true;
}

/* Add the arrays of the running stack and of those that it was resumed from. */
static void vmstack_chain(struct jsp_vmrun *out, struct vmstack_parts *to)
{
    const jsprof_stack *s = &out->vm->host;
    const char *chain[VMSTACK_CHAIN]; /* innermost first */
    const char *at = vmstack_pointer(out, s->context);
    uint32_t n = 0;
    for (; at && n < VMSTACK_CHAIN && vmstack_has_context(out, at);
         at = vmstack_at(out, at, s->resumer_at))
        chain[n++] = at;
    if (at) /* more stacks, a circle, or a coroutine that is gone */
        jsp_count(&out->vm->n_bad, 1);
    while (n--) {
        const struct vmstack_vars v = {
            vmstack_field(chain[n], s->depth_at), vmstack_field(chain[n], s->end_at),
            vmstack_field(chain[n], s->entries_at), vmstack_field(chain[n], s->capacity_at),
        };
        vmstack_part(out, &v, to);
    }
}

/* Read one entry by its offsets. */
static int vmstack_fields(struct jsp_vmrun *out, const char *entry, jsprof_frame *frame)
{
    const jsprof_stack *s = &out->vm->host;
    frame->label = vmstack_at(out, entry, s->label_offset);
    frame->detail = vmstack_at(out, entry, s->detail_offset);
    frame->sp = (uintptr_t)vmstack_at(out, entry, s->sp_offset);
    if (s->line_offset >= 0)
        frame->line = (uint32_t)vmstack_load(out, entry + s->line_offset, 4);
    if (s->pc_offset >= 0)
        frame->pc = vmstack_load(out, entry + s->pc_offset, 8);
    frame->kind = s->kind;
    if (s->defined_offset > 0) {
        uint64_t defined = vmstack_load(out, entry + s->defined_offset, 4);
        frame->kind |= JSPROF_FRAME_DEFINED;
        frame->pc = defined << 32 | (uint32_t)frame->pc;
    }
    return 1;
}

/* Return -1 for an entry in memory that is gone: the host has freed the array, or moved it and
 * stored one of two pointers. */
static int vmstack_entry(struct jsp_vmrun *out, const char *entry, jsprof_frame *frame)
{
    const jsprof_stack *s = &out->vm->host;
    *frame = (jsprof_frame){ .sp = 0 };
    if (!jsp_vmrun_is_there(out, entry, s->stride))
        return -1;
    return s->decode_sigsafe ? s->decode_sigsafe(s->host, entry, frame)
                             : vmstack_fields(out, entry, frame);
}

/* Put entries [from, to) of an array as long as there is room. Entries without a stack address
 * get `sp`, until one has its own. Return the index of the next entry. */
static uint64_t vmstack_span(struct jsp_vmrun *out, const char *entries, uint64_t from,
                             uint64_t to, uintptr_t sp)
{
    const jsprof_stack *s = &out->vm->host;
    uint64_t i = from;
    for (; i < to && out->n - out->marks < out->room; i++) {
        jsprof_frame frame;
        int is = vmstack_entry(out, entries + i * s->stride, &frame);
        if (frame.sp)
            sp = frame.sp;
        frame.sp = sp;
        if (is > 0)
            jsp_vmrun_put(out, &frame);
        else if (is < 0)
            jsp_count(&out->vm->n_bad, 1);
    }
    return i;
}

/* Return the stack address of the last of entries [from, to) that has one, or 0. */
static uintptr_t vmstack_sp_of(struct jsp_vmrun *out, const char *entries, uint64_t from,
                               uint64_t to)
{
    jsprof_frame frame = { .sp = 0 };
    for (uint64_t i = to; i > from && !frame.sp; i--)
        vmstack_entry(out, entries + (i - 1) * out->vm->host.stride, &frame);
    return frame.sp;
}

/* Put the entries of all arrays together, beginning with `from`, as long as there is room.
 * Search `inner` entries before it for the stack address of the first. Return the index of the
 * next entry. */
static uint64_t vmstack_from(struct jsp_vmrun *out, const struct vmstack_parts *parts,
                             uint64_t from, uint32_t inner)
{
    uint64_t base = 0;
    for (uint32_t p = 0; p < parts->n; p++) {
        const struct vmstack_part *part = &parts->at[p];
        uint64_t at = from > base ? from - base : 0;
        if (at < part->n) {
            uint64_t before = at > inner ? at - inner : 0;
            uintptr_t sp = at ? vmstack_sp_of(out, part->entries, before, at) : 0;
            uint64_t next = vmstack_span(out, part->entries, at, part->n, sp);
            if (next < part->n)
                return base + next;
        }
        base += part->n;
    }
    return base;
}

/* The room is full, and more entries follow, beginning with `at`: drop frames from the end so
 * that only the outermost remain, then put the innermost. */
static void vmstack_host_inner(struct jsp_vmrun *out, const struct vmstack_parts *parts,
                               uint64_t at)
{
    uint32_t inner = jsp_vmrun_inner(out);
    uint32_t kept = out->n + 1; /* including the mark */
    out->n -= inner;
    jsp_vmrun_mark(out, out->vm->cut_id, 0);
    vmstack_from(out, parts, parts->total - inner, inner);
    jsp_vmrun_cut(out, parts->total - at + (kept - out->n));
}

static void vmstack_host(struct jsp_vmrun *out)
{
    const jsprof_stack *s = &out->vm->host;
    const struct vmstack_vars one = { s->depth, s->end, s->entries, s->capacity };
    struct vmstack_parts parts;
    parts.n = 0;
    parts.total = parts.unstored = 0;
    if (s->context)
        vmstack_chain(out, &parts);
    else
        vmstack_part(out, &one, &parts);
    uint64_t at = vmstack_from(out, &parts, 0, 0);
    if (parts.unstored) /* the innermost entries are not in the array */
        jsp_vmrun_mark(out, out->vm->deeper_id, parts.total - at + parts.unstored);
    else if (at < parts.total)
        vmstack_host_inner(out, &parts, at);
}

/* Move the registers of C functions that called compiled code to the start of the
 * list, where the unwinder finds them. The frames that were stored there have been put
 * already. */
static void vmstack_callers(struct jsp_vmstack *vm, const jsprof_frame *frames, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (frames[i].kind & JSPROF_FRAME_CALLER)
            vm->walked[vm->n_callers++] = frames[i];
}

/* Put the frames of the host's walker. It reports them innermost first; the run is
 * outermost first. The outermost frames are dropped if they do not fit. */
static void vmstack_walker(struct jsp_vmrun *out, const void *ucontext)
{
    struct jsp_vmstack *vm = out->vm;
    bool is_foreign = vm->mem->is_foreign;
    const jsprof_frame *frames = is_foreign ? vm->slept : vm->walked;
    uint32_t there = is_foreign ? vm->n_slept
                                : vm->walk_sigsafe(vm->walk_host, ucontext, vm->walked, out->room);
    uint32_t n = there < out->room ? there : out->room;
    if (n < there)
        jsp_vmrun_mark(out, vm->cut_id, there - n);
    for (uint32_t i = n; i-- > 0;)
        if (!(frames[i].kind & JSPROF_FRAME_CALLER))
            jsp_vmrun_put(out, &frames[i]);
    if (n < there && out->n > 1)
        out->frames[0].sp = out->frames[1].sp;
    vmstack_callers(vm, frames, n);
}

/* walk_asleep has the frames of an array with a callback, too. */
static bool vmstack_has_host(struct jsp_vmrun *out)
{
    const jsprof_stack *s = &out->vm->host;
    if (out->vm->mem->is_foreign && s->decode_sigsafe)
        return false;
    if (s->context || s->end)
        return true;
    return s->depth && vmstack_host_depth(out, s->depth);
}

static bool vmstack_has(struct jsp_vmrun *out, int run, const struct jsp_where *where)
{
    const struct jsp_vmstack *vm = out->vm;
    switch (run) {
    case JSP_RUN_LINKS: return vm->own->top;
    case JSP_RUN_ARRAY: return vm->own->depth;
    case JSP_RUN_HOST: return vmstack_has_host(out);
    default: return vm->mem->is_foreign ? vm->n_slept : vm->walk_sigsafe && where->ucontext;
    }
}

/* Return the room for one run: all that is left, minus a share for each later run. */
static uint32_t vmstack_room(struct jsp_vmrun *out, int run, const struct jsp_where *where,
                             uint32_t left)
{
    uint32_t later = 0;
    for (int i = run + 1; i < JSP_N_RUNS; i++)
        later += vmstack_has(out, i, where) ? out->vm->max_depth / VMSTACK_LATER : 0;
    return left > later ? left - later : 0;
}

static void vmstack_run(struct jsp_vmrun *out, int run, const struct jsp_where *where)
{
    if (run == JSP_RUN_LINKS)
        jsp_links_read(out, where->sp);
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
    struct jsp_vmrun out = { .vm = vm, .names = names, .frames = record->frames, .page = 1 };
    uint32_t left = vm->max_depth;

    jsp_memread_begin(vm->mem, where->sp);
    vm->mem->calls = JSP_VMRUN_CALLS;
    vm->n_callers = 0;
    vm->scratch_left = JSP_VMSTACK_SCRATCH;
    vm->is_reading = true;
    for (int run = 0; run < JSP_N_RUNS; run++) {
        out.room = vmstack_room(&out, run, where, left);
        out.n = out.marks = 0;
        if (vmstack_has(&out, run, where))
            vmstack_run(&out, run, where);
        record->n[run] = (uint16_t)out.n;
        out.frames += out.n;
        left -= out.n - out.marks;
    }
    vm->scratch_left = 0;
    vm->is_reading = false;
    record->cut = out.cut;
    if (out.cut)
        jsp_count(&vm->n_cut, out.cut);
}
