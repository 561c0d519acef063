/* unit/mapped_test.c - src/session/natives.c: a session's data about mapped code, if the
 * same place has another object later, and the part of it in the capture.
 *
 * SPDX-License-Identifier: MIT
 */
#include "session/natives.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/wire.h"
#include "test.h"

enum { PAGE = 1 << 16 };

static struct jsp_natives natives;
static struct jsp_writer writer;
static uint8_t *place;

static bool begun(void)
{
    int fd = memfd_create("capture", MFD_CLOEXEC);
    place = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return CHECK(place != MAP_FAILED) && CHECK_EQ(jsp_natives_open(&natives), 0) &&
           CHECK_EQ(jsp_writer_open(&writer, fd, getpid()), 0);
}

static void ended(void)
{
    jsp_natives_close(&natives);
    CHECK_EQ(jsp_writer_close(&writer), 0);
    munmap(place, PAGE);
    natives = (struct jsp_natives){ .bundle = NULL };
}

/* Code of a file of this name at our place; NULL: of none. */
static void put(const char *name)
{
    int fd = name ? memfd_create(name, MFD_CLOEXEC) : -1;
    int anonymous = name ? 0 : MAP_ANONYMOUS;
    CHECK(!name || ftruncate(fd, PAGE) == 0);
    CHECK(mmap(place, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED | anonymous, fd,
               0) == place);
    if (fd >= 0)
        close(fd);
}

/* MAP frames in the writer that begin at our place. */
static int told(void)
{
    struct jsp_wire_map map;
    int n = 0;
    for (size_t at = sizeof(struct jsp_wire_header); at < writer.used;) {
        memcpy(&map, writer.bytes + at, sizeof map.frame);
        if (map.frame.type == JSP_WIRE_MAP) {
            memcpy(&map, writer.bytes + at, sizeof map);
            n += map.start == (uintptr_t)place;
        }
        at += map.frame.len;
    }
    return n;
}

static bool in_file(void)
{
    return jsp_natives_see(&natives, (uintptr_t)place + 16);
}

TEST(code_without_a_file_is_known_as_such_where_a_file_was_before)
{
    if (!begun())
        return;
    put("first");
    jsp_natives_refresh(&natives, &writer, JSP_NATIVES_OPENED);
    CHECK(in_file());
    put(NULL);
    jsp_natives_refresh(&natives, &writer, JSP_NATIVES_CLOSED);
    CHECK(!in_file());
    ended();
}

TEST(each_file_at_a_place_is_told_once)
{
    if (!begun())
        return;
    put("first");
    for (int i = 0; i < 3; i++)
        jsp_natives_refresh(&natives, &writer, JSP_NATIVES_OPENED);
    CHECK_EQ(told(), 1);
    put("second");
    jsp_natives_refresh(&natives, &writer, JSP_NATIVES_SAME);
    CHECK_EQ(told(), 1); /* nobody had a reason to look */
    jsp_natives_refresh(&natives, &writer, JSP_NATIVES_CLOSED);
    CHECK_EQ(told(), 2);
    put(NULL);
    jsp_natives_refresh(&natives, &writer, JSP_NATIVES_CLOSED);
    CHECK_EQ(told(), 2);
    ended();
}

TEST(code_that_was_mapped_since_the_last_look_is_looked_for)
{
    if (!begun())
        return;
    jsp_natives_refresh(&natives, &writer, JSP_NATIVES_OPENED);
    put(NULL);
    CHECK(!in_file());
    jsp_natives_refresh(&natives, &writer, JSP_NATIVES_SAME);
    put("first");
    CHECK(!in_file()); /* as of the last look */
    jsp_natives_refresh(&natives, &writer, JSP_NATIVES_OPENED);
    CHECK(in_file());
    CHECK_EQ(told(), 1);
    ended();
}

TEST_MAIN()
