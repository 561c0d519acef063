/* unit/needed_test.c - src/image/needed.c: which object needs which is what the objects' own
 * headers say, name by name. By it a handler knows what lies between it and the C library.
 *
 * SPDX-License-Identifier: MIT
 */
#include "image/needed.h"

#include <dlfcn.h>
#include <stdio.h>
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

/* -- Filters of names ------------------------------------------------------------ */

/* Return how many of the names the object has by its filter. */
static int count_random(const struct jsp_needed_object *o, int n)
{
    char name[32];
    int found = 0;
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "needed_nowhere_%d", i);
        found += jsp_needed_may_define(o, jsp_needed_hash(name));
    }
    return found;
}

TEST(filter_passes_names_of_the_object_and_few_others)
{
    static const char *const libc[] = { "qsort", "malloc", "free", "memcpy", "read", "poll",
                                        "pthread_create", "timer_settime" };
    struct jsp_needed needed;
    if (!CHECK_EQ(jsp_needed_look(&needed), 0))
        return;
    int n_filters = 0;
    for (uint32_t i = 0; i < needed.n; i++) {
        if (!needed.at[i].filter)
            continue;
        n_filters++;
        CHECK(count_random(&needed.at[i], 1000) < 250);
    }
    for (size_t i = 0; i < sizeof libc / sizeof *libc; i++) {
        void *at = dlsym(RTLD_DEFAULT, libc[i]);
        struct jsp_needed_object *o = jsp_needed_at(&needed, (uintptr_t)at);
        CHECK(o && jsp_needed_may_define(o, jsp_needed_hash(libc[i])));
    }
#ifdef __GLIBC__
    CHECK(n_filters > 0);
#else
    (void)n_filters;
#endif
    jsp_needed_free(&needed);
}

TEST(object_without_a_filter_may_define_each_name)
{
    struct jsp_needed_object o = { .filter = NULL };
    CHECK(jsp_needed_may_define(&o, jsp_needed_hash("free")));
}

TEST_MAIN()
