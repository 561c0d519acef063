/* unit/loaded_test.c - src/image/loaded.c: a library that was built anew and loaded in the place
 * of the old one is another, though only one byte of its table differs. By the old table its
 * stacks would be wrong.
 *
 * SPDX-License-Identifier: MIT
 */
#include "image/loaded.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <unistd.h>

#include "copy.h"
#include "test.h"

static char folder[] = "/tmp/jsprof-loaded-XXXXXX", copy[PATH_MAX];
static struct jsp_loaded found;

static int look(void *code, const struct jsp_loaded *loaded)
{
    if ((uintptr_t)code >= loaded->start && (uintptr_t)code < loaded->end)
        found = *loaded;
    return 0;
}

/* Where in its file an object of this map has what is at this address. */
static off_t offset_of(const struct link_map *map, uint64_t address)
{
    const ElfW(Ehdr) *head = (const void *)map->l_addr;
    const ElfW(Phdr) *p = (const void *)(map->l_addr + head->e_phoff);
    for (int i = 0; i < head->e_phnum; i++)
        if (p[i].p_type == PT_LOAD && address - map->l_addr - p[i].p_vaddr < p[i].p_filesz)
            return (off_t)(address - map->l_addr - p[i].p_vaddr + p[i].p_offset);
    return -1;
}

/* What is known of the copy while it is loaded; *offset: of its table in the file. */
static bool load(off_t *offset)
{
    struct jsp_loaded_seen seen = { UINT64_MAX, UINT64_MAX };
    struct link_map *map = NULL;
    void *library = dlopen(copy, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    found = (struct jsp_loaded){ .start = 0 };
    jsp_loaded_each(&seen, getpid(), look, dlsym(library, "_Unwind_Backtrace"));
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map)
        *offset = offset_of(map, found.eh_frame);
    dlclose(library);
    return CHECK(found.start != 0) && CHECK(*offset >= 0);
}

TEST(library_that_was_built_anew_is_another)
{
    Dl_info info;
    off_t at = -1, again = -1;
    SKIP("needs a libgcc_s.so.1 that this libc loads");
    void *original = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
    void *code = original ? dlsym(original, "_Unwind_Backtrace") : NULL;
    if (!code || !dladdr(code, &info) || !copy_file(info.dli_fname, copy, -1) || !load(&at))
        return;
    test_skipped = NULL;
    uint64_t identity = found.identity;
    CHECK(copy_file(info.dli_fname, copy, -1) && load(&again));
    CHECK(found.identity == identity); /* the same, read again */
    for (off_t i = 0; i < 200; i += 13) {
        if (CHECK(copy_file(info.dli_fname, copy, at + i) && load(&again)))
            CHECK(found.identity != identity);
    }
    dlclose(original);
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    snprintf(copy, sizeof copy, "%s/libcopy.so", folder);
    RUN_ALL();
    unlink(copy);
    rmdir(folder);
    return DONE();
}
