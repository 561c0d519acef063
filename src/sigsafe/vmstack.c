/* sigsafe/vmstack.c - see vmstack.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "vmstack.h"
#include "vmrun.h"

enum { VMSTACK_LATER = 8 }; /* 1/8 of the room is kept for each later run */

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

/* Put frames [from, to) of the array. */
static void vmstack_entries(struct jsp_vmrun *out, uint32_t from, uint32_t to)
{
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
static uint64_t vmstack_host_entries(struct jsp_vmrun *out, uint64_t *readable)
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
static uint64_t vmstack_span(struct jsp_vmrun *out, const struct vmstack_span *span,
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
            jsp_vmrun_put(out, &frame);
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
static void vmstack_host_inner(struct jsp_vmrun *out, const char *entries, uint64_t at,
                               uint64_t n)
{
    uint32_t inner = jsp_vmrun_inner(out);
    struct vmstack_span last = { entries, n - inner, n };
    struct vmstack_span before = { entries, last.from > inner ? last.from - inner : 0, last.from };
    uint32_t kept = out->n + 1; /* including the mark */
    out->n -= inner;
    jsp_vmrun_mark(out, out->vm->cut_id, 0);
    vmstack_span(out, &last, vmstack_sp_of(&out->vm->host, &before));
    jsp_vmrun_cut(out, n - at + (kept - out->n));
}

static void vmstack_host(struct jsp_vmrun *out)
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
        jsp_vmrun_mark(out, out->vm->deeper_id, depth - at);
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
static void vmstack_walker(struct jsp_vmrun *out, const void *ucontext)
{
    struct jsp_vmstack *vm = out->vm;
    uint32_t there = vm->walk_sigsafe(vm->walk_host, ucontext, vm->walked, out->room);
    uint32_t n = there < out->room ? there : out->room;
    if (n < there)
        jsp_vmrun_mark(out, vm->cut_id, there - n);
    for (uint32_t i = n; i-- > 0;)
        if (!(vm->walked[i].kind & JSPROF_FRAME_CALLER))
            jsp_vmrun_put(out, &vm->walked[i]);
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
    struct jsp_vmrun out = { .vm = vm, .names = names, .frames = record->frames };
    uint32_t left = vm->max_depth;

    jsp_memread_begin(vm->mem, where->sp);
    vm->mem->calls = JSP_VMRUN_CALLS;
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
