/* maps_test.c - src/image/maps.c: what /proc/self/maps says, and what it might.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/block.h"
#include "image/maps.h"
#include "test.h"

static struct jsp_maps maps;

static int parse(const char *text)
{
    size_t n = strlen(text) + 1;
    char *own = jsp_block_zeros(n, 1);
    return own ? jsp_maps_take(&maps, memcpy(own, text, n)) : -1;
}

TEST(own_code_lies_in_the_mapping_of_the_own_file)
{
    struct stat st;
    CHECK_EQ(jsp_maps_read(&maps), 0);
    const struct jsp_map *m = jsp_maps_find(&maps, (uint64_t)(uintptr_t)&parse);
    if (!CHECK(m != NULL) || !CHECK_EQ(stat(m->path, &st), 0))
        return;
    CHECK_EQ(m->inode, st.st_ino);
    CHECK_EQ(m->is_executable, true);
    CHECK_EQ(m->is_writable, false);
}

TEST(fields_are_read_as_the_kernel_writes_them)
{
    CHECK_EQ(parse("00400000-00401000 r-xp 00002000 08:1f 1234   /a b/c\\012d (deleted)\n"
                   "7000-8000 r-xp 00000000 00:00 7 x\n"), 0);
    CHECK_EQ(maps.n, 1); /* the second is out of order */
    const struct jsp_map *m = &maps.list[0];
    CHECK_EQ(m->start, 0x400000);
    CHECK_EQ(m->end, 0x401000);
    CHECK_EQ(m->offset, 0x2000);
    CHECK_EQ(m->dev, makedev(8, 0x1f));
    CHECK_EQ(m->inode, 1234);
    CHECK_STR(m->path, "/a b/c\nd (deleted)");
    CHECK_EQ(m->is_readable, true);
    CHECK_EQ(m->is_executable, true);
}

TEST(find_knows_first_last_and_one_past)
{
    CHECK_EQ(parse("1000-2000 r-xp 0 0:0 1 a\n2000-3000 r-xp 0 0:0 2 b\n"
                   "5000-6000 r-xp 0 0:0 3 c\n"), 0);
    CHECK(jsp_maps_find(&maps, 0xfff) == NULL);
    CHECK(jsp_maps_find(&maps, 0x1000) == &maps.list[0]);
    CHECK(jsp_maps_find(&maps, 0x1fff) == &maps.list[0]);
    CHECK(jsp_maps_find(&maps, 0x2000) == &maps.list[1]);
    CHECK(jsp_maps_find(&maps, 0x3000) == NULL);
    CHECK(jsp_maps_find(&maps, 0x5fff) == &maps.list[2]);
    CHECK(jsp_maps_find(&maps, 0x6000) == NULL);
    CHECK(jsp_maps_find(&maps, UINT64_MAX) == NULL);
}

TEST(only_files_the_vdso_and_code_are_kept)
{
    CHECK_EQ(parse("1000-2000 rw-p 0 0:0 0 [heap]\n2000-3000 r-xp 0 0:0 0 [vdso]\n"
                   "3000-4000 rwxp 0 0:0 0 \n4000-5000 r--p 0 0:0 9 f\n"
                   "5000-6000 rw-p 0 0:0 0 \n"), 0);
    CHECK_EQ(maps.n, 3);
    CHECK_STR(maps.list[0].path, "[vdso]");
    CHECK_STR(maps.list[1].path, "");
    CHECK_STR(maps.list[2].path, "f");
}

TEST(nonsense_is_passed_over)
{
    CHECK_EQ(parse("\n-\n1000\n1000-\n1000-2000\n1000-2000 r\n2000-1000 r-xp 0 0:0 1 a\n"
                   "zz-2000 r-xp 0 0:0 1 a\n-1000-2000 r-xp 0 0:0 1 a\n"
                   "10000000000000000-2 r-xp 0 0:0 1 a\n1000-2000 r-xp 0 0 1 a\n"
                   "1000-2000 r-xp 0 0:0 1 good"), 0);
    CHECK_EQ(maps.n, 1);
    CHECK_STR(maps.list[0].path, "good");
    CHECK_EQ(parse(""), 0);
    CHECK_EQ(maps.n, 0);
}

TEST(a_thousand_mappings_are_all_seen)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *all = mmap(NULL, 2000 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int missing = 0;
    for (int i = 0; i < 2000; i += 2)
        mprotect(all + (size_t)i * page, page, PROT_READ | PROT_EXEC);
    CHECK_EQ(jsp_maps_read(&maps), 0);
    for (int i = 0; i < 2000; i++) {
        uint64_t at = (uint64_t)(uintptr_t)(all + (size_t)i * page);
        missing += (jsp_maps_find(&maps, at) != NULL) != (i % 2 == 0);
    }
    CHECK_EQ(missing, 0);
    munmap(all, 2000 * page);
}

int main(void)
{
    RUN_ALL();
    jsp_maps_free(&maps);
    return DONE();
}
