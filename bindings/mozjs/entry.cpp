/* entry.cpp - which C++ code called WebAssembly.
 *
 * SPDX-License-Identifier: MIT
 *
 * Of JavaScript's compiled code SpiderMonkey tells it; at WebAssembly that the C++ interpreter
 * has called its iterator ends. Between the last frame and the activation, an object in the
 * C++ function that made the call, stand what the entry stub keeps and that function's
 * return address: the first word there that points behind a call through a pointer in
 * SpiderMonkey's own library. The stub keeps the function's registers, which are data.
 */
#include "compiled.h"

#include <link.h>

#include <js/Class.h>
#include <js/GlobalObject.h>

namespace {

/* A stub's frame, with all the arguments that a call can have, is not larger. */
constexpr uintptr_t ENTRY_BYTES = 16384;

uintptr_t entry_address(const void *p)
{
    return reinterpret_cast<uintptr_t>(p);
}

#if defined(__x86_64__)
constexpr uintptr_t ENTRY_CALL_BYTES = 2;

/* Behind `call *%rax`, or another register? A stub is called in no other way. */
bool entry_is_behind_call(uintptr_t pc)
{
    const auto *call = reinterpret_cast<const unsigned char *>(pc - ENTRY_CALL_BYTES);

    return call[0] == 0xff && (call[1] & 0xf8) == 0xd0;
}
#else
constexpr uintptr_t ENTRY_CALL_BYTES = 4;

bool entry_is_behind_call(uintptr_t)
{
    return false;
}
#endif

bool entry_is_return(const jsprof_mozjs *m, uintptr_t pc)
{
    return pc >= m->code_begin + ENTRY_CALL_BYTES && pc < m->code_end &&
           entry_is_behind_call(pc);
}

/* 1: it was in this object; as dl_iterate_phdr has it. */
int entry_look(dl_phdr_info *object, size_t, void *data)
{
    auto *m = static_cast<jsprof_mozjs *>(data);
    const uintptr_t inside = entry_address(reinterpret_cast<void *>(
        JS::DefaultGlobalClassOps.trace));

    for (int i = 0; i < object->dlpi_phnum; i++) {
        const auto &segment = object->dlpi_phdr[i];
        const uintptr_t begin = object->dlpi_addr + segment.p_vaddr;

        if (segment.p_type != PT_LOAD || inside - begin >= segment.p_memsz)
            continue;
        m->code_begin = begin;
        m->code_end = begin + segment.p_memsz;
        return 1;
    }
    return 0;
}

} // namespace

void mozjs_find_code(jsprof_mozjs *m)
{
    (void)dl_iterate_phdr(entry_look, m);
}

bool mozjs_wasm_caller(const jsprof_mozjs *m, const JS::ProfilingFrameIterator::Frame &frame,
                       JS::ProfilingFrameIterator::RegisterState *regs)
{
    const auto *word = static_cast<const uintptr_t *>(frame.stackAddress);
    const auto *end = static_cast<const uintptr_t *>(frame.activation);

    if (entry_address(end) - entry_address(word) > ENTRY_BYTES)
        return false;
    for (; word < end; word++) {
        if (!entry_is_return(m, *word))
            continue;
        regs->pc = reinterpret_cast<void *>(*word);
        regs->sp = const_cast<uintptr_t *>(word + 1);
        return true;
    }
    return false;
}
