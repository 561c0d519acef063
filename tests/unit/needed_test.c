/* unit/needed_test.c - src/image/needed.c: which object needs which is what the objects' own
 * headers say, name by name. By it a handler knows what lies between it and the C library.
 *
 * SPDX-License-Identifier: MIT
 */
#include "image/needed.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "test.h"

enum { MOST = 64 };

static const char *listed[MOST];
static int n_listed, n_known;

static void list(void *arg, const char *name, struct jsp_needed_object *other)
{
    (void)arg;
    if (n_listed < MOST)
        listed[n_listed++] = name;
    n_known += other != NULL;
    if (other)
        CHECK_EQ(strncmp(other->name, name, JSP_NEEDED_NAME - 1), 0);
}

/* The same by the loader's own list, where the object's strings have their address. */
static void check_object(const struct jsp_needed *needed, const struct link_map *map)
{
    uintptr_t text = 0;
    int n = 0;
    const struct jsp_needed_object *o = NULL;
    for (uint32_t i = 0; i < needed->n; i++)
        o = needed->at[i].dynamic == map->l_ld ? &needed->at[i] : o;
    if (!o)
        return; /* the vdso */
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
        text = d->d_tag == DT_STRTAB ? d->d_un.d_ptr : text;
    text += text < map->l_addr ? map->l_addr : 0; /* musl does not relocate it */
    n_listed = 0;
    CHECK(jsp_needed_each(needed, o, list, NULL));
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        if (d->d_tag != DT_NEEDED)
            continue;
        const char *name = (const char *)(text + d->d_un.d_val);
        const char *slash = strrchr(name, '/');
        if (CHECK(n < n_listed))
            CHECK_STR(listed[n], slash ? slash + 1 : name);
        n++;
    }
    CHECK_EQ(n_listed, n);
}

TEST(object_needs_what_its_header_says_and_no_more)
{
    struct jsp_needed needed;
    struct link_map *map = NULL;
    void *self = dlopen(NULL, RTLD_NOW);
    if (!self || dlinfo(self, RTLD_DI_LINKMAP, &map) != 0) {
        SKIP("needs a loader that lists its objects");
        return;
    }
    if (!CHECK_EQ(jsp_needed_look(&needed), 0))
        return;
    for (; map; map = map->l_next)
        if (map->l_ld)
            check_object(&needed, map);
#ifdef __GLIBC__ /* musl bears another name than the one that programs need */
    CHECK(n_known > 0);
    const struct jsp_needed_object *libc = jsp_needed_at(&needed, (uintptr_t)dlsym(self, "qsort"));
    CHECK(libc && libc->is_needed);
#endif
    CHECK(!needed.at[0].is_needed);
    CHECK(!jsp_needed_at(&needed, 8));
    jsp_needed_free(&needed);
}

int main(void)
{
    RUN(object_needs_what_its_header_says_and_no_more);
    return DONE();
}
