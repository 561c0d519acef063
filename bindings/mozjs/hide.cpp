/* hide.cpp - the engine's own code, which reports hide.
 *
 * SPDX-License-Identifier: MIT
 */
#include "jsprof-mozjs.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include <link.h>

#include <js/Class.h>
#include <js/GlobalObject.h>

namespace {

struct hide_search {
    jsprof *session;
    uintptr_t inside;
    int err;
};

uintptr_t hide_start(const dl_phdr_info *object, const ElfW(Phdr) &segment)
{
    return object->dlpi_addr + segment.p_vaddr;
}

bool hide_has(const dl_phdr_info *object, uintptr_t address)
{
    const auto *end = object->dlpi_phdr + object->dlpi_phnum;

    return std::any_of(object->dlpi_phdr, end, [=](const ElfW(Phdr) &segment) {
        return segment.p_type == PT_LOAD &&
               address - hide_start(object, segment) < segment.p_memsz;
    });
}

int hide_segment(jsprof *session, const dl_phdr_info *object, const ElfW(Phdr) &segment)
{
    const auto *start = reinterpret_cast<const void *>(hide_start(object, segment));

    if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
        return 0;
    return jsprof_interpreter_add(session, start, segment.p_memsz);
}

/* Return 1 if it was this object, as dl_iterate_phdr expects. */
int hide_object(dl_phdr_info *object, size_t, void *data)
{
    auto *search = static_cast<hide_search *>(data);

    if (!hide_has(object, search->inside))
        return 0;
    search->err = 0;
    for (int i = 0; i < object->dlpi_phnum && search->err == 0; i++)
        search->err = hide_segment(search->session, object, object->dlpi_phdr[i]);
    return 1;
}

/* A function's address may be that of a stub in the program. A pointer in a table of
 * SpiderMonkey itself is not. */
const void *hide_inside(void)
{
    return reinterpret_cast<const void *>(JS::DefaultGlobalClassOps.trace);
}

} // namespace

int jsprof_mozjs_hide(jsprof *session, const void *inside)
{
    const void *address = inside ? inside : hide_inside();
    hide_search search = { session, reinterpret_cast<uintptr_t>(address), -ENOENT };

    if (!session)
        return -EINVAL;
    (void)dl_iterate_phdr(hide_object, &search);
    return search.err;
}
