/* unit/nodes_test.c - src/capture/nodes.c: equal nodes have equal numbers, also once the table
 * has grown.
 *
 * SPDX-License-Identifier: MIT
 */
#include "capture/nodes.h"

#include <malloc.h>

#include "test.h"

enum { NODES = 3000 };

static struct jsp_nodes nodes;

static struct jsp_node numbered(uint32_t i)
{
    return (struct jsp_node){ .addr = 4096 + i, .parent = i / 2 };
}

TEST(nodes_are_found_again_once_the_table_has_grown)
{
    CHECK_EQ(jsp_nodes_init(&nodes), 0);
    for (uint32_t i = 0; i < NODES; i++) {
        struct jsp_node node = numbered(i);
        CHECK_EQ(jsp_nodes_reserve(&nodes, 1), 0);
        CHECK_EQ(jsp_nodes_add(&nodes, &node), i + 1);
    }
    for (uint32_t i = 0; i < NODES; i++) {
        struct jsp_node node = numbered(i);
        CHECK_EQ(jsp_nodes_find(&nodes, &node), i + 1);
        CHECK_EQ(jsp_nodes_add(&nodes, &node), i + 1);
    }
    jsp_nodes_free(&nodes);
}

#ifdef __GLIBC__
static void grow(int n)
{
    while (n--) {
        CHECK_EQ(jsp_nodes_init(&nodes), 0);
        CHECK_EQ(jsp_nodes_reserve(&nodes, NODES), 0);
        jsp_nodes_free(&nodes);
    }
}
#endif

TEST(nothing_is_left_of_a_table_that_has_grown)
{
#ifdef __GLIBC__
    grow(100); /* until the allocator keeps no more free blocks at hand */
    size_t before = mallinfo2().uordblks;
    grow(100);
    CHECK_EQ(mallinfo2().uordblks, before);
#else
    SKIP("needs glibc, which counts what is allocated");
#endif
}

TEST_MAIN()
