/* sigsafe/vmstack.c - see vmstack.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "vmstack.h"
#include "regs.h"

/* Two links of one C frame stand in it as the compiler likes. */
enum { VMSTACK_MAX_LINKS = 1 << 20, VMSTACK_ONE_FRAME = 4096 };

/* One run in the making. */
struct vmstack_out {
    struct jsp_vmstack *vm;
    struct jsp_names *names;
    struct jsp_rec_frame *frames; /* where the run goes */
    uint32_t room;                /* frames that still fit */
    uint32_t n;
    uint32_t cut;
    const char *label; /* of the last one that had no function; and what it was called */
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

/* A depth of 64 bits may be garbage: the count stops, it does not wrap. */
static void vmstack_cut(struct vmstack_out *out, uint64_t n)
{
    out->cut = n < UINT32_MAX - out->cut ? out->cut + (uint32_t)n : UINT32_MAX;
}

/* Of a function that calls itself the name is looked up once. */
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
}

static void vmstack_array(struct vmstack_out *out)
{
    const jsprof_thread *own = out->vm->own;
    uint32_t depth = own->depth;
    uint32_t n = depth < own->capacity ? depth : own->capacity;
    if (n > out->room)
        n = out->room;
    /* ORDER: signal fence only. The thread wrote the frames before the depth. */
    atomic_signal_fence(memory_order_acquire); /* ORDER: as above */
    for (uint32_t i = 0; i < n; i++)
        vmstack_put(out, &own->frames[i]);
    vmstack_cut(out, depth - n);
}

/* May this link be read? Inside the thread's own stack it must be above the
 * interrupted stack pointer; on a coroutine's stack we can not tell. */
static bool vmstack_link_alive(const struct jsp_vmstack *vm, const jsprof_link *link,
                               uintptr_t floor)
{
    uintptr_t at = (uintptr_t)link;
    bool ours = at >= vm->stack_low && at < vm->stack_high;
    bool sp_ours = floor >= vm->stack_low && floor < vm->stack_high;
    return at % alignof(jsprof_link) == 0 && (!ours || !sp_ours || at >= floor);
}

/* Linked entries come innermost first: count, skip what does not fit, fill backwards. */
static void vmstack_links(struct vmstack_out *out, uintptr_t sp)
{
    const jsprof_link *top = out->vm->own->top;
    uintptr_t floor = sp - JSP_RED_ZONE;
    uint32_t depth = 0, turn = 1;
    const jsprof_link *seen = NULL; /* of those before, for a chain that is a circle */

    for (const jsprof_link *l = top; l; l = l->up) {
        if (depth == VMSTACK_MAX_LINKS || l == seen || !vmstack_link_alive(out->vm, l, floor)) {
            jsp_count(&out->vm->n_bad, 1);
            return;
        }
        if ((uintptr_t)l - VMSTACK_ONE_FRAME > floor)
            floor = (uintptr_t)l - VMSTACK_ONE_FRAME; /* the next ones are no deeper */
        if (++depth == turn) {
            seen = l;
            turn *= 2;
        }
    }
    uint32_t n = depth < out->room ? depth : out->room;
    uint32_t at = depth;
    for (const jsprof_link *l = top; at > 0; l = l->up) {
        if (--at >= n)
            continue;
        jsprof_frame frame = { .function = l->function };
        struct jsp_rec_frame *to = &out->frames[at];
        *to = (struct jsp_rec_frame){ jsp_names_of(out->names, &frame), l->line,
                                      (uintptr_t)l, l->pc, 0, 0 };
    }
    out->n = n;
    vmstack_cut(out, depth - n);
}

static uint64_t vmstack_host_depth(const jsprof_stack *s)
{
    if (s->depth_bytes == 8)
        return *(const volatile uint64_t *)s->depth;
    uint32_t depth = *(const volatile uint32_t *)s->depth;
    return depth > INT32_MAX ? UINT64_MAX : depth; /* below zero stays below zero */
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

/* How many entries may be read; what is beyond the array is cut. */
static uint64_t vmstack_host_entries(struct vmstack_out *out, const jsprof_stack *s)
{
    uint64_t depth = vmstack_host_depth(s);
    if (depth > INT64_MAX) {
        jsp_count(&out->vm->n_bad, 1); /* more leaves than enters */
        return 0;
    }
    uint64_t limit = s->capacity ? *(const volatile uint32_t *)s->capacity : s->limit;
    if ((!limit && !s->capacity) || depth <= limit)
        return depth;
    vmstack_cut(out, depth - limit);
    return limit;
}

static void vmstack_host(struct vmstack_out *out)
{
    const jsprof_stack *s = &out->vm->host;
    uint64_t n = vmstack_host_entries(out, s);
    const char *entry = *(const char *const volatile *)s->entries;
    uintptr_t sp = 0;

    if (n && !entry) {
        jsp_count(&out->vm->n_bad, 1);
        return;
    }
    for (uint64_t i = 0; i < n; i++, entry += s->stride) {
        if (out->n == out->room) {
            vmstack_cut(out, n - i);
            return;
        }
        jsprof_frame frame = { 0 };
        int is = s->decode_sigsafe ? s->decode_sigsafe(s->host, entry, &frame)
                                   : vmstack_fields(s, entry, &frame);
        if (frame.sp)
            sp = frame.sp;
        frame.sp = sp;
        if (is > 0)
            vmstack_put(out, &frame);
        else if (is < 0)
            jsp_count(&out->vm->n_bad, 1);
    }
}

/* Registers of C functions that called into compiled code: to the head of the list,
 * where the unwinder finds them. The frames that stood there have been put. */
static void vmstack_callers(struct jsp_vmstack *vm, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (vm->walked[i].kind & JSPROF_FRAME_CALLER)
            vm->walked[vm->n_callers++] = vm->walked[i];
}

/* The walker tells innermost first; the run is outermost first. */
static void vmstack_walker(struct vmstack_out *out, const void *ucontext)
{
    struct jsp_vmstack *vm = out->vm;
    uint32_t there = vm->walk_sigsafe(vm->walk_host, ucontext, vm->walked, out->room);
    uint32_t n = there < out->room ? there : out->room;
    for (uint32_t i = n; i-- > 0;)
        if (!(vm->walked[i].kind & JSPROF_FRAME_CALLER))
            vmstack_put(out, &vm->walked[i]);
    vmstack_callers(vm, n);
    vmstack_cut(out, there - n);
}

void jsp_vmstack_read(struct jsp_vmstack *vm, struct jsp_names *names,
                      const struct jsp_where *where, struct jsp_record *record)
{
    struct vmstack_out out = { .vm = vm, .names = names, .frames = record->frames,
                               .room = vm->max_depth };

    vm->n_callers = 0;
    for (int run = 0; run < JSP_N_RUNS; run++) {
        if (run == JSP_RUN_LINKS && vm->own->top)
            vmstack_links(&out, where->sp);
        else if (run == JSP_RUN_ARRAY)
            vmstack_array(&out);
        else if (run == JSP_RUN_HOST && vm->host.depth)
            vmstack_host(&out);
        else if (run == JSP_RUN_WALKER && vm->walk_sigsafe && where->ucontext)
            vmstack_walker(&out, where->ucontext);
        record->n[run] = (uint16_t)out.n;
        out.frames += out.n;
        out.room -= out.n;
        out.n = 0;
    }
    record->cut = out.cut;
    if (out.cut)
        jsp_count(&vm->n_cut, out.cut);
}
