/* natives_test.c - src/analyze/: native frames, their names by file, and which show.
 *
 * SPDX-License-Identifier: MIT
 */
#include "analyze/native_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/lines.h"
#include "analyze/tree.h"
#include "image/elf_debug.h"
#include "image/maps.h"
#include "profile.h"

static const uint64_t vm_outer = 0xE000000000000001u, vm_inner = 0xE000000000000002u;

static struct jsp_profile_frame frames[JSP_PROFILE_DEPTH];

/* What the captures of these tests say of the file that this test is. */
struct told {
    const char *path;
    uint64_t inode;
    const char *build_id; /* NULL: nothing */
    bool is_recent;       /* the recording is younger than the file */
};

__attribute__((noinline)) static uint64_t natives_test_landmark(uint64_t n)
{
    __asm__ volatile("");
    return n * 3;
}

static uint64_t landmark(void)
{
    uint64_t (*volatile call)(uint64_t) = natives_test_landmark;
    return (uint64_t)(uintptr_t)call;
}

static void put_map(const struct jsp_map *m, const struct told *t)
{
    build_begin(&b, 3);
    build_int(&b, m->start, 8);
    build_int(&b, m->end, 8);
    build_int(&b, m->offset, 8);
    build_int(&b, t->inode, 8);
    build_text(&b, t->path, 0);
    if (t->build_id) {
        build_text(&b, "@", 1);
        build_text(&b, t->build_id, 0);
    }
    build_end(&b);
}

/* The name of this very file's landmark, in a capture that says this of the file. */
static const char *name_by(const struct told *t, int *reason)
{
    static char name[256];
    struct jsp_maps maps = { 0 };
    const uint64_t addrs[1] = { landmark() };
    build_start(&b, false);
    if (t->is_recent)
        memcpy(b.bytes + 8, "2999", 4);
    build_process(&b, "natives_test");
    if (!CHECK_EQ(jsp_maps_read(&maps), 0))
        return "";
    put_map(jsp_maps_find(&maps, landmark()), t);
    build_sample(&b, addrs, 1);
    jsp_maps_free(&maps);
    if (!loaded() || !CHECK_EQ(jsp_profile_frames(&p, 0, frames), 1))
        return "";
    snprintf(name, sizeof name, "%s", p.functions[frames[0].function].name);
    *reason = p.natives.n ? p.natives.files[0].reason : 1;
    return name;
}

static void own_file(char path[4096], struct stat *st)
{
    ssize_t n = readlink("/proc/self/exe", path, 4095);
    path[n > 0 ? n : 0] = 0;
    CHECK_EQ(stat(path, st), 0);
}

TEST(function_has_the_name_that_its_file_gives_it)
{
    char path[4096];
    struct stat st;
    int reason = 1;
    own_file(path, &st);
    CHECK_STR(name_by(&(struct told){ path, st.st_ino, NULL, true }, &reason),
              "natives_test_landmark");
    CHECK_EQ(reason, 0);
    CHECK_STR(name_by(&(struct told){ path, 0, NULL, true }, &reason),
              "natives_test_landmark");
}

TEST(another_file_at_the_path_gives_no_names)
{
    char path[4096];
    struct stat st;
    int reason = 1;
    own_file(path, &st);
    CHECK_STR(name_by(&(struct told){ path, st.st_ino + 1, NULL, true }, &reason),
              "[natives_test]");
    CHECK_EQ(reason, -ESTALE);
    CHECK_STR(name_by(&(struct told){ path, st.st_ino, NULL, false }, &reason),
              "[natives_test]");
    CHECK_EQ(reason, -ESTALE);
}

TEST(build_id_decides_over_inode_and_time)
{
    char path[4096], hex[2 * JSP_ELF_BUILD_ID + 1] = "";
    uint8_t id[JSP_ELF_BUILD_ID];
    struct stat st;
    struct jsp_elf elf;
    int reason = 1;
    own_file(path, &st);
    if (!CHECK_EQ(jsp_elf_open(&elf, jsp_elf_file(path)), 0))
        return;
    size_t n = jsp_elf_build_id(&elf, id);
    jsp_elf_close(&elf);
    for (size_t i = 0; i < n; i++)
        snprintf(hex + 2 * i, 3, "%02x", id[i]);
    if (!n) {
        SKIP("linker without build ids");
        return;
    }
    CHECK_STR(name_by(&(struct told){ path, st.st_ino + 1, hex, false }, &reason),
              "natives_test_landmark");
    hex[0] = hex[0] == '0' ? '1' : '0';
    CHECK_STR(name_by(&(struct told){ path, st.st_ino, hex, true }, &reason),
              "[natives_test]");
    CHECK_EQ(reason, -ESTALE);
}

TEST(what_is_no_readable_file_says_so_and_is_never_followed)
{
    int reason = 1;
    CHECK_STR(name_by(&(struct told){ "/nowhere/lib.so", 0, NULL, true }, &reason),
              "[lib.so]");
    CHECK_EQ(reason, -ENOENT);
    CHECK_STR(name_by(&(struct told){ "/etc/passwd", 0, NULL, true }, &reason),
              "[passwd]");
    CHECK_EQ(reason, -EBADMSG);
    CHECK_STR(name_by(&(struct told){ "/dev/zero", 0, NULL, true }, &reason), "[zero]");
    CHECK_EQ(reason, -EBADMSG);
    CHECK_STR(name_by(&(struct told){ "lib.so", 0, NULL, true }, &reason), "[lib.so]");
    CHECK_EQ(reason, 1); /* not even looked for */
}

/* Two activations of an interpreter's loop at 0x1000, below them C functions. */
static void interpreted(void)
{
    const uint64_t addrs[6] = { 0x3010, 0x1010, vm_inner, 0x1020, vm_outer, 0x2010 };
    uint8_t loops[64];
    size_t n = build_varint(loops, 0x1000);
    n += build_varint(loops + n, 0x1800);
    n += build_varint(loops + n, 0x1400);
    n += build_varint(loops + n, 0x2000);
    build_start(&b, false);
    build_process(&b, "host");
    build_metadata(&b, "jsprof.version", "1");
    build_jit(&b, vm_outer, "outer");
    build_jit(&b, vm_inner, "inner");
    build_map(&b, 0x1000, 0x3000, "/nowhere/host");
    build_map(&b, 0x3000, 0x4000, "/nowhere/libc.so");
    build_sample(&b, addrs, 6);
    build_sample(&b, addrs + 1, 5);
    build_sample(&b, addrs + 3, 1);
    build_sample(&b, addrs + 5, 1);
    build_chunk(&b, "jsprof/loops", loops, n);
}

/* The stack as text, leaf first. */
static const char *shown(enum jsp_show show, uint32_t stack)
{
    static char text[256];
    struct jsp_select select = { .show = show };
    int n = jsp_select_frames(&select, &p, stack, frames);
    text[0] = 0;
    for (int i = 0; i < n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "",
                 p.functions[frames[i].function].name);
    return text;
}

TEST(frames_of_the_interpreter_show_only_when_asked_for)
{
    interpreted();
    if (!loaded())
        return;
    CHECK_STR(shown(JSP_SHOW_USUAL, 0), "[libc.so] inner outer [host]");
    CHECK_STR(shown(JSP_SHOW_USUAL, 1), "inner outer [host]");
    CHECK_STR(shown(JSP_SHOW_USUAL, 2), "[interpreter]");
    CHECK_STR(shown(JSP_SHOW_ALL, 0), "[libc.so] [host] inner [host] outer [host]");
    CHECK_STR(shown(JSP_SHOW_VM, 0), "inner outer");
    CHECK_STR(shown(JSP_SHOW_VM, 3), "[no VM frame]");
}

TEST(edges_of_a_loop_belong_to_it_as_its_end_does_not)
{
    struct jsp_lookup_key k = { 0xfff, 100, 0 };
    interpreted();
    if (!loaded())
        return;
    CHECK(!jsp_lookup_is_loop(&p.lookup, k));
    k.addr = 0x1000;
    CHECK(jsp_lookup_is_loop(&p.lookup, k));
    k.addr = 0x1fff; /* of the second range, which overlaps the first */
    CHECK(jsp_lookup_is_loop(&p.lookup, k));
    k.addr = 0x2000;
    CHECK(!jsp_lookup_is_loop(&p.lookup, k));
    k = (struct jsp_lookup_key){ 0x1000, 101, 0 }; /* another process */
    CHECK(!jsp_lookup_is_loop(&p.lookup, k));
}

TEST(code_of_a_loop_that_is_mapped_once_more_belongs_to_it)
{
    struct jsp_lookup_key k = { 0x9fff, 100, 0 };
    interpreted();
    build_map(&b, 0x9000, 0xb000, "/nowhere/host");
    build_map(&b, 0xb000, 0xc000, "/nowhere/libc.so");
    if (!loaded())
        return;
    CHECK(jsp_lookup_is_loop(&p.lookup, k));
    k.addr = 0xa000; /* the same offset as the loop's end */
    CHECK(!jsp_lookup_is_loop(&p.lookup, k));
    k.addr = 0xb000; /* an offset of the loop, but in another file */
    CHECK(!jsp_lookup_is_loop(&p.lookup, k));
}

TEST(each_of_many_loops_is_known)
{
    enum { LOOPS = 5000, APART = 64, LOOP = 8, AT_ONCE = 1000 };
    uint8_t loops[AT_ONCE * 20];
    size_t n = 0;
    build_start(&b, false);
    build_map(&b, 0x10000, 0x10000 + LOOPS * APART, "/nowhere/host");
    for (uint64_t i = 0; i < LOOPS; i++) {
        n += build_varint(loops + n, 0x10000 + i * APART);
        n += build_varint(loops + n, 0x10000 + i * APART + LOOP);
        if ((i + 1) % AT_ONCE == 0) {
            build_chunk(&b, "jsprof/loops", loops, n);
            n = 0;
        }
    }
    if (!loaded())
        return;
    CHECK_EQ(p.lookup.n_loops, LOOPS);
    for (uint64_t i = 0; i < LOOPS; i++) {
        CHECK(jsp_lookup_is_loop(&p.lookup,
                                 (struct jsp_lookup_key){ 0x10000 + i * APART, 100, 0 }));
        CHECK(!jsp_lookup_is_loop(
            &p.lookup, (struct jsp_lookup_key){ 0x10000 + i * APART + LOOP, 100, 0 }));
    }
}

TEST(self_of_a_hidden_frame_goes_to_its_caller_and_none_is_lost)
{
    static const enum jsp_show shows[] = { JSP_SHOW_USUAL, JSP_SHOW_ALL, JSP_SHOW_VM };
    static const uint64_t inner[] = { 1, 0, 2 }; /* samples of self */
    interpreted();
    if (!loaded())
        return;
    for (int i = 0; i < 3; i++) {
        struct jsp_select select = { .show = shows[i] };
        struct jsp_functions f;
        uint64_t self = 0, of_inner = 999;
        CHECK_EQ(jsp_functions_build(&f, &p, &select), 0);
        for (uint32_t j = 0; j < f.n; j++) {
            self += f.rows[j].self;
            if (strcmp(p.functions[f.rows[j].function].name, "inner") == 0)
                of_inner = f.rows[j].self;
        }
        CHECK_EQ(self, 4);
        CHECK_EQ(of_inner, inner[i]);
        jsp_functions_free(&f);
    }
}

TEST(loop_that_ends_before_it_starts_is_refused_and_said)
{
    build_start(&b, false);
    build_process(&b, "host");
    build_chunk(&b, "jsprof/loops", "\x20\x10", 2);
    if (!loaded())
        return;
    CHECK_EQ(p.defects.count[JSP_READ_RECORD], 1);
    CHECK_EQ(p.lookup.n_loops, 0);
}

TEST(functions_of_one_name_in_two_files_are_two)
{
    const uint64_t addrs[2] = { 0x1010, 0x3010 };
    uint8_t symbols[3 * 32 + 16] = { 0 };
    build_start(&b, false);
    build_process(&b, "host");
    build_map(&b, 0x1000, 0x2000, "/nowhere/host");
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t range[2] = { addrs[i], addrs[i] + 1 };
        uint32_t rest[3] = { 100, 96, 101 };
        memcpy(symbols + 32 * i, range, sizeof range);
        memcpy(symbols + 32 * i + 16, rest, sizeof rest);
    }
    memcpy(symbols + 96, "init\0tag.so", 12);
    build_chunk(&b, "__symbols__", symbols, sizeof symbols);
    build_sample(&b, addrs, 2);
    if (!loaded() || !CHECK_EQ(jsp_profile_frames(&p, 0, frames), 2))
        return;
    const struct jsp_function *one = &p.functions[frames[0].function],
                              *two = &p.functions[frames[1].function];
    CHECK_STR(one->name, "init");
    CHECK_STR(two->name, "init");
    CHECK_STR(one->module, "host");   /* the mapping says it */
    CHECK_STR(two->module, "tag.so"); /* only the symbol's tag does */
    CHECK(one != two);
}

/* A return address is asked for one byte earlier; our own captures did that before. */
TEST(lines_are_asked_at_the_call_and_answers_reach_the_frames)
{
    for (int is_ours = 0; is_ours < 2; is_ours++) {
        const uint64_t addrs[2] = { landmark(), landmark() + 2 };
        struct jsp_maps maps = { 0 };
        struct jsp_line_asks asks;
        char path[4096];
        struct stat st;
        own_file(path, &st);
        build_start(&b, false);
        memcpy(b.bytes + 8, "2999", 4);
        build_process(&b, "host");
        if (is_ours)
            build_metadata(&b, "jsprof.version", "1");
        CHECK_EQ(jsp_maps_read(&maps), 0);
        put_map(jsp_maps_find(&maps, landmark()), &(struct told){ .path = path });
        jsp_maps_free(&maps);
        build_sample(&b, addrs, 2);
        if (!loaded() || !CHECK_EQ(jsp_lines_collect(&p, NULL, &asks), 0))
            return;
        CHECK_EQ(asks.n, 2);
        CHECK_EQ(asks.list[1].at.vaddr - asks.list[0].at.vaddr, is_ours ? 2 : 1);
        struct jsp_line answer = { { "dir/file.c", 10 }, 77 };
        CHECK_EQ(jsp_lines_answer(&p, &asks.list[1], answer), 0);
        answer.line = 0;
        CHECK_EQ(jsp_lines_answer(&p, &asks.list[0], answer), 0);
        CHECK_EQ(jsp_profile_frames(&p, 0, frames), 2);
        CHECK_EQ(frames[0].line, 0);
        CHECK_EQ(frames[1].line, 77);
        CHECK_STR(p.files[frames[1].file], "dir/file.c");
        CHECK_EQ(frames[0].function, frames[1].function);
        struct jsp_tree tree;
        struct jsp_tree_options options = { .has_lines = true, .is_recursive = true };
        CHECK_EQ(jsp_tree_build(&tree, &p, &options), 0);
        CHECK_EQ(tree.n, 3);
        CHECK_EQ(tree.nodes[1].line, 77);
        jsp_tree_free(&tree);
        jsp_lines_free(&asks);
    }
}

TEST_MAIN()
