/* tree_test.c - src/analyze/tree.c: call trees on their roots and on their leaves.
 *
 * SPDX-License-Identifier: MIT
 */
#include "analyze/tree.h"

#include "profile.h"

static const struct jsp_tree_node *child(const struct jsp_tree *t, uint32_t node,
                                         uint32_t i)
{
    const struct jsp_tree_node *n = &t->nodes[node];
    return CHECK(i < n->n_children) ? &t->nodes[t->order[n->first_child + i]] : n;
}

TEST(tree_stands_on_its_roots_or_on_its_leaves)
{
    struct jsp_tree t;
    struct jsp_tree_options options = { 0 };
    begin(false);
    sample(3, f3, f2, f1);
    sample(2, f2, f1, 0);
    sample(2, f3, f1, 0);
    if (!loaded())
        return;
    CHECK_EQ(jsp_tree_build(&t, &p, &options), 0);
    CHECK_EQ(t.nodes[0].total, 3);
    CHECK_EQ(t.nodes[0].n_children, 1);
    CHECK_STR(p.functions[child(&t, 0, 0)->function].name, "main");
    CHECK_EQ(child(&t, 1, 0)->total, 2); /* work, the larger, before leaf */
    CHECK_EQ(child(&t, 1, 0)->self, 1);
    CHECK_EQ(child(&t, 1, 1)->total, 1);
    jsp_tree_free(&t);
    options.is_bottom_up = true;
    CHECK_EQ(jsp_tree_build(&t, &p, &options), 0);
    CHECK_EQ(t.nodes[0].n_children, 2);
    CHECK_STR(p.functions[child(&t, 0, 0)->function].name, "leaf");
    CHECK_EQ(child(&t, 0, 0)->total, 2);
    CHECK_EQ(child(&t, 0, 0)->self, 2);
    CHECK_EQ(child(&t, 0, 0)->n_children, 2);
    jsp_tree_free(&t);
    unloaded();
}

TEST(direct_recursion_is_one_node_unless_asked_for)
{
    struct jsp_tree t;
    struct jsp_tree_options options = { 0 };
    begin(false);
    sample(3, f2, f2, f1);
    if (!loaded())
        return;
    CHECK_EQ(jsp_tree_build(&t, &p, &options), 0);
    CHECK_EQ(t.n, 3); /* the whole, main, work */
    jsp_tree_free(&t);
    options.is_recursive = true;
    CHECK_EQ(jsp_tree_build(&t, &p, &options), 0);
    CHECK_EQ(t.n, 4);
    jsp_tree_free(&t);
    unloaded();
}

TEST_MAIN()
