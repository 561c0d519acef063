/* vmstack.h - a VM stack without a session, for the tests of its three forms.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_TEST_VMSTACK_H
#define JSP_TEST_VMSTACK_H

#include "sigsafe/vmstack.h"

#include "sigsafe/regs.h"
#include "test.h"

enum { BYTES = 1 << 20, SLOTS = 1 << 15, MAX = 8 };

static struct jsp_arena arena;
static alignas(8) unsigned char bytes[BYTES];
static _Atomic uint64_t slots[SLOTS];
static struct jsp_names names;
static struct jsp_vmstack vm;
static struct jsp_memread mem;
static jsprof_thread own;
static jsprof_frame array[MAX + 8], walked[MAX];
static alignas(8) unsigned char memory[sizeof(struct jsp_record) +
                                       JSP_RECORD_FRAMES(MAX) * sizeof(struct jsp_rec_frame)];
static struct jsp_record *const record = (void *)memory;
static ucontext_t context;
static alignas(8) char scratch[JSP_VMSTACK_SCRATCH];
static uintptr_t where_sp; /* instead of the context's; 0: that */

static struct jsprof_function functions[3] = {
    { .serial = 1, .text = (char[]){ "f0" }, .len = 2 },
    { .serial = 2, .text = (char[]){ "f1" }, .len = 2 },
    { .serial = 3, .text = (char[]){ "f2" }, .len = 2 },
};

/* A stack pointer below all that the caller has on the stack. */
static __attribute__((noinline, unused)) uintptr_t below(void)
{
    return (uintptr_t)__builtin_frame_address(0);
}

static inline void begin(void)
{
    struct jsp_arena_memory there = { bytes, BYTES, slots, SLOTS };
    memset((void *)slots, 0, sizeof slots);
    memset(&names, 0, sizeof names);
    memset(&vm, 0, sizeof vm);
    memset(memory, 0, sizeof memory);
    jsp_arena_init(&arena, &there);
    jsp_names_init(&names, &arena);
    for (int i = 0; i < 3; i++)
        functions[i].seal = jsp_function_seal(&functions[i], functions[i].serial);
    own = (jsprof_thread){ .frames = array, .capacity = MAX };
    jsp_vmstack_init(&vm, &own, MAX, walked);
    jsp_memread_init(&mem, 0, 0, getpid());
    vm.mem = &mem;
    vm.scratch = scratch;
    vm.cut_id = jsp_arena_synth(&arena, "...");
    vm.deeper_id = jsp_arena_synth(&arena, "?");
    /* Not getcontext: musl has none. */
#if defined(__x86_64__)
    context.uc_mcontext.gregs[REG_RSP] = (greg_t)below();
#else
    context.uc_mcontext.sp = below();
#endif
}

/* Take the sample and show it as "outer>inner", runs in their order. */
static inline const char *taken(void)
{
    static char text[1024];
    size_t at = 0;
    text[0] = 0;
    struct jsp_where where = { .ucontext = &context, .sp = where_sp };
    if (!where_sp)
        where.sp = jsp_regs_sp(&context);
    jsp_vmstack_read(&vm, &names, &where, record);
    for (uint32_t i = 0; i < jsp_record_frames(record); i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", i ? ">" : "",
                               jsp_arena_label(&arena, record->frames[i].id)->text);
    return text;
}

static inline uint64_t bad(void)
{
    return jsp_counted(&vm.n_bad);
}

#endif
