/* unit/calltree_test.c - src/analyze/calltree.c: one tree of the stacks of a profile, from the
 * roots or from the leaves, with recursion or without, and of two profiles in common.
 *
 * SPDX-License-Identifier: MIT
 */
#include "analyze/calltree.h"

#include <stdlib.h>

#include "profile.h"

/* main > work > work > leaf twice, and main > leaf. */
static bool stacks(void)
{
    const uint64_t deep[] = { f3, f2, f2, f1 };
    begin(false);
    build_sample(&b, deep, 4);
    build_sample(&b, deep, 4);
    sample(2, f3, f1, 0);
    return loaded_with(NULL);
}

/* The tree of the profile without frames[], and the stacks' nodes. */
static bool tree(struct jsp_calltree *t, bool is_bottom_up, bool is_folded)
{
    struct jsp_calltree_source s = { .profile = &p, .detail = JSP_CALLTREE_FUNCTIONS,
                                     .is_bottom_up = is_bottom_up, .is_folded = is_folded };
    if (!CHECK_EQ(jsp_calltree_init(t), 0))
        return false;
    s.leaf = t->leaf = calloc(p.n_stacks, sizeof *s.leaf);
    return CHECK_EQ(jsp_calltree_add(t, &s), 0);
}

/* "leaf < work < work < main", from the node up to the root. */
static const char *path(const struct jsp_calltree *t, uint32_t node)
{
    static char text[128];
    size_t n = 0;
    text[0] = 0;
    for (; node; node = t->nodes[node].parent)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? " < " : "",
                              p.functions[t->nodes[node].frame].name);
    return text;
}

TEST(stacks_share_their_callers)
{
    struct jsp_calltree t;
    if (stacks() && tree(&t, false, false)) {
        CHECK_EQ(p.n_stacks, 2);
        CHECK_EQ(t.n_nodes, 6); /* root, main, work, work, leaf, leaf */
        CHECK_STR(path(&t, t.leaf[0]), "leaf < work < work < main");
        CHECK_STR(path(&t, t.leaf[1]), "leaf < main");
        CHECK_EQ(t.samples, 3);
        for (uint32_t i = 1; i < t.n_nodes; i++)
            CHECK(t.nodes[i].parent < i);
        jsp_calltree_free(&t);
    }
}

TEST(recursion_is_folded_when_asked)
{
    struct jsp_calltree t;
    if (stacks() && tree(&t, false, true)) {
        CHECK_EQ(t.n_nodes, 5);
        CHECK_STR(path(&t, t.leaf[0]), "leaf < work < main");
        jsp_calltree_free(&t);
    }
}

TEST(a_tree_from_the_leaves_has_them_below_the_root)
{
    struct jsp_calltree t;
    if (stacks() && tree(&t, true, true)) {
        CHECK_EQ(t.n_nodes, 5); /* root, leaf, work, main, main */
        CHECK_STR(path(&t, t.leaf[0]), "main < work < leaf");
        CHECK_STR(path(&t, t.leaf[1]), "main < leaf");
        jsp_calltree_free(&t);
    }
}

static int all_are_one(void *context, struct jsp_profile_frame *frame)
{
    *(int *)context += 1;
    frame->function = 0;
    return 0;
}

TEST(two_profiles_share_nodes_by_the_numbers_that_their_functions_get)
{
    struct jsp_calltree t;
    struct jsp_calltree_place places[2] = { { 0 } };
    int asked = 0;
    struct jsp_calltree_source s = { .profile = &p, .detail = JSP_CALLTREE_KINDS,
                                     .function = all_are_one, .context = &asked,
                                     .places = places };
    if (stacks() && CHECK_EQ(jsp_calltree_init(&t), 0)) {
        CHECK_EQ(jsp_calltree_add(&t, &s), 0);
        CHECK_EQ(jsp_calltree_add(&t, &s), 0);
        CHECK_EQ(asked, 2 * (4 + 2));
        CHECK_EQ(t.n_frames, 1);
        CHECK_EQ(t.n_nodes, 5); /* the short stack is a part of the deep one */
        CHECK_EQ(t.samples, 6);
        CHECK_EQ(places[0].node, 4);
        CHECK_EQ(places[1].node, 2);
        jsp_calltree_free(&t);
    }
}

TEST_MAIN()
