/* alloc.c - see alloc.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "alloc.h"

#include <errno.h>
#include <stdlib.h>

struct jsp_lua_alloc {
    jsprof_thread *thread; /* NULL: nothing is told */
    lua_Alloc below;
    void *below_data;
};

/* Without a block, its size is something else: since 5.2 a kind of object. */
static void *alloc_tell(void *data, void *block, size_t before, size_t after)
{
    const struct jsp_lua_alloc *a = data;
    void *result = a->below(a->below_data, block, before, after);
    size_t had = block ? before : 0;
    if (result && after > had)
        jsprof_alloc(a->thread, after - had);
    return result;
}

int jsp_lua_alloc_begin(struct jsp_lua_alloc **out, jsprof_thread *thread, lua_State *L)
{
    struct jsp_lua_alloc *a = calloc(1, sizeof *a);
    if (!a)
        return -ENOMEM;
    a->thread = thread;
    a->below = lua_getallocf(L, &a->below_data);
    lua_setallocf(L, alloc_tell, a);
    *out = a;
    return 0;
}

void jsp_lua_alloc_end(struct jsp_lua_alloc *a, lua_State *L)
{
    void *data;
    if (!a)
        return;
    if (lua_getallocf(L, &data) == alloc_tell && data == a) {
        lua_setallocf(L, a->below, a->below_data);
        free(a);
    } else {
        a->thread = NULL; /* it is still called: by whoever stands in front */
    }
}
