/* bounds.c - see bounds.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bounds.h"

#include <errno.h>
#include <link.h>
#include <string.h>

enum {
    BOUNDS_ABSOLUTE4 = 0x1B,  /* DW_EH_PE_pcrel | sdata4: the pointer to .eh_frame */
    BOUNDS_COUNT4 = 0x03,     /* udata4 */
    BOUNDS_TABLE4 = 0x3B,     /* datarel | sdata4 */
    BOUNDS_HEAD = 12,         /* version, three encodings, pointer, count */
    BOUNDS_ENTRY = 8,
};

struct bounds_search {
    uintptr_t pc;
    struct jsp_lua_bounds code;  /* segment that holds it */
    uintptr_t header;            /* .eh_frame_hdr of its object; 0: none */
    const char *name;
};

static int bounds_look(struct dl_phdr_info *info, size_t size, void *data)
{
    struct bounds_search *s = data;
    bool found = false;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && s->pc >= start && s->pc - start < p->p_memsz) {
            s->code = (struct jsp_lua_bounds){ start, start + p->p_memsz };
            found = true;
        }
    }
    for (int i = 0; found && i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
            s->header = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    s->name = info->dlpi_name;
    return found;
}

static int32_t bounds_s32(uintptr_t at)
{
    int32_t value;
    memcpy(&value, (const void *)at, sizeof value);
    return value;
}

static uintptr_t bounds_start(uintptr_t header, uint32_t i)
{
    uintptr_t entry = header + BOUNDS_HEAD + (uintptr_t)i * BOUNDS_ENTRY;
    return header + (uintptr_t)(intptr_t)bounds_s32(entry);
}

bool jsp_lua_bounds_function(uintptr_t pc, struct jsp_lua_bounds *out)
{
    struct bounds_search s = { .pc = pc };
    if (!dl_iterate_phdr(bounds_look, &s) || !s.header)
        return false;
    const uint8_t *kinds = (const uint8_t *)s.header;
    if (kinds[0] != 1 || kinds[1] != BOUNDS_ABSOLUTE4 || kinds[2] != BOUNDS_COUNT4 ||
        kinds[3] != BOUNDS_TABLE4)
        return false;
    uint32_t low = 0, high = (uint32_t)bounds_s32(s.header + 8), n = high;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (bounds_start(s.header, mid) <= pc)
            low = mid + 1;
        else
            high = mid;
    }
    if (!low)
        return false;
    out->start = bounds_start(s.header, low - 1);
    out->end = low < n ? bounds_start(s.header, low) : s.code.end;
    return true;
}

bool jsp_lua_bounds_object(uintptr_t pc, struct jsp_lua_bounds *out)
{
    struct bounds_search s = { .pc = pc };
    if (!dl_iterate_phdr(bounds_look, &s))
        return false;
    const char *slash = strrchr(s.name, '/');
    const char *name = *s.name ? slash ? slash + 1 : s.name : program_invocation_short_name;
    *out = s.code;
    return strncmp(name, "liblua", 6) == 0 || strncmp(name, "libtexlua", 9) == 0 ||
           strncmp(name, "lua", 3) == 0 || strncmp(name, "jsprof-lua", 10) == 0;
}
