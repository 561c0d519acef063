/* unit/names_test.c - src/sigsafe/names.c: a frame's name is what its host said at
 * that moment, whatever stood at the same address before.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sigsafe/names.h"

#include "session/function.h"
#include "test.h"

enum { BYTES = 1 << 20, SLOTS = 1 << 15 };

static struct jsp_arena arena;
static alignas(8) unsigned char bytes[BYTES];
static _Atomic uint64_t slots[SLOTS];
static struct jsp_names names;

static void begin(uint64_t n_bytes)
{
    memset((void *)slots, 0, sizeof slots);
    memset(&names, 0, sizeof names);
    struct jsp_arena_memory memory = { bytes, n_bytes, slots, SLOTS };
    jsp_arena_init(&arena, &memory);
    jsp_names_init(&names, &arena);
}

static const char *text_of(uint32_t id)
{
    return jsp_arena_label(&arena, id)->text;
}

static const char *shown(const char *label, const char *detail, uint32_t kind)
{
    jsprof_frame frame = { .label = label, .detail = detail, .kind = kind };
    return text_of(jsp_names_of(&names, &frame));
}

static const char *shown_function(const jsprof_function *f)
{
    return text_of(jsp_names_of(&names, &(jsprof_frame){ .function = f }));
}

TEST(parts_are_joined_as_the_kind_says)
{
    begin(BYTES);
    CHECK_STR(shown("a", "b", JSPROF_JOIN_SPACE), "a b");
    CHECK_STR(shown("a", "b", JSPROF_JOIN_PAREN), "a (b)");
    CHECK_STR(shown("a", "b", JSPROF_JOIN_DOT), "a.b");
    CHECK_STR(shown("a", "b", JSPROF_JOIN_GET), "get a.b");
    CHECK_STR(shown("a", "b", JSPROF_JOIN_SET), "set a.b");
    CHECK_STR(shown("a", "b", 5 << 8), "a b"); /* one past the last join */
    CHECK_STR(shown("a", "b", 0xFFFFFF00), "a b");
}

static uint32_t id_of_symbol(uint64_t pc, uint32_t join)
{
    jsprof_frame frame = { .label = "C function", .detail = "[C]", .pc = pc,
                           .kind = join | JSPROF_FRAME_SYMBOL };
    return jsp_names_of(&names, &frame);
}

TEST(c_functions_of_one_label_are_names_of_their_own)
{
    struct jsp_name_symbol symbol;
    begin(BYTES);
    uint32_t a = id_of_symbol(0x7F0012345678, JSPROF_JOIN_PAREN);
    uint32_t b = id_of_symbol(0x7F0012345679, JSPROF_JOIN_PAREN);
    CHECK(a != b);
    CHECK_EQ(id_of_symbol(0x7F0012345678, JSPROF_JOIN_PAREN), a);
    CHECK_STR(text_of(b), "C function ([C])");
    CHECK(jsp_name_symbol(jsp_arena_label(&arena, b), &symbol));
    CHECK_EQ(symbol.addr, 0x7F0012345679);
    CHECK_EQ(symbol.label_len, strlen("C function"));
    jsprof_frame plain = { .label = "C function", .detail = "[C]", .kind = JSPROF_JOIN_PAREN };
    uint32_t without = jsp_names_of(&names, &plain);
    CHECK(without != a && without != b);
    CHECK(!jsp_name_symbol(jsp_arena_label(&arena, without), &symbol));
    /* a symbol has no place where the label is not the first part */
    CHECK(!jsp_name_symbol(jsp_arena_label(&arena, id_of_symbol(8, JSPROF_JOIN_GET)), &symbol));
}

TEST(one_part_stands_alone)
{
    begin(BYTES);
    CHECK_STR(shown("a", NULL, JSPROF_JOIN_SET), "a");
    CHECK_STR(shown("a", "", JSPROF_JOIN_PAREN), "a");
    CHECK_STR(shown(NULL, "b", JSPROF_JOIN_GET), "b");
    CHECK_STR(shown("", "b", JSPROF_JOIN_DOT), "b");
    CHECK_EQ(jsp_counted(&names.n_bad), 0);
}

TEST(no_part_is_counted_and_named_so)
{
    begin(BYTES);
    CHECK_STR(shown(NULL, NULL, 0), "[no name]");
    CHECK_STR(shown("", NULL, 0), "[no name]");
    CHECK_STR(shown("", "", 0), "[no name]");
    CHECK_EQ(jsp_counted(&names.n_bad), 3);
}

TEST(kind_is_part_of_the_name)
{
    begin(BYTES);
    jsprof_frame vm = { .label = "x", .kind = JSPROF_KIND_VM };
    jsprof_frame gc = { .label = "x", .kind = JSPROF_KIND_GC };
    uint32_t a = jsp_names_of(&names, &vm), b = jsp_names_of(&names, &gc);
    CHECK(a != b);
    CHECK_EQ(jsp_arena_label(&arena, b)->kind, JSPROF_KIND_GC);
    CHECK_EQ(jsp_names_of(&names, &vm), a);
}

TEST(label_reused_at_the_same_address_shows_its_new_text)
{
    char label[32] = "first", detail[32] = "file";
    begin(BYTES);
    for (int twice = 0; twice < 2; twice++) {
        CHECK_STR(shown(label, detail, JSPROF_JOIN_PAREN), "first (file)");
        strcpy(label, "other");
        CHECK_STR(shown(label, detail, JSPROF_JOIN_PAREN), "other (file)");
        strcpy(label, "fir"); /* a prefix */
        CHECK_STR(shown(label, detail, JSPROF_JOIN_PAREN), "fir (file)");
        strcpy(label, "first and more"); /* a longer one */
        CHECK_STR(shown(label, detail, JSPROF_JOIN_PAREN), "first and more (file)");
        strcpy(detail, "fil");
        CHECK_STR(shown(label, detail, JSPROF_JOIN_PAREN), "first and more (fil)");
        strcpy(detail, ""); /* now it stands alone */
        CHECK_STR(shown(label, detail, JSPROF_JOIN_PAREN), "first and more");
        strcpy(label, "");
        CHECK_STR(shown(label, detail, JSPROF_JOIN_PAREN), "[no name]");
        strcpy(detail, "file");
        CHECK_STR(shown(label, detail, JSPROF_JOIN_PAREN), "file");
        strcpy(label, "first");
    }
}

TEST(name_of_1023_bytes_is_whole_and_one_of_1024_is_cut)
{
    char label[1200];
    begin(BYTES);
    memset(label, 'x', sizeof label);
    label[1023] = 0;
    CHECK_EQ(strlen(shown(label, NULL, 0)), 1023);
    CHECK_EQ(jsp_counted(&names.n_cut), 0);
    label[1023] = 'y';
    label[1024] = 0;
    CHECK_EQ(strlen(shown(label, NULL, 0)), 1023);
    CHECK_EQ(jsp_counted(&names.n_cut), 1);
    label[1022] = 'z'; /* a cut name is never believed from the cache */
    CHECK_EQ(shown(label, NULL, 0)[1022], 'z');
    CHECK_EQ(jsp_counted(&names.n_cut), 2);
}

TEST(joined_name_is_cut_wherever_the_limit_falls)
{
    char label[1100];
    memset(label, 'x', sizeof label);
    for (uint32_t n = 1010; n <= 1030; n++) { /* before, in and behind " (d)" */
        begin(BYTES);
        label[n] = 0;
        const char *text = shown(label, "d", JSPROF_JOIN_PAREN);
        CHECK_EQ(strlen(text), n + 4 < 1023 ? n + 4 : 1023);
        CHECK_EQ(jsp_counted(&names.n_cut), n + 4 > 1023);
        shown(label, "d", JSPROF_JOIN_PAREN); /* and again, every time it is shown */
        CHECK_EQ(jsp_counted(&names.n_cut), n + 4 > 1023 ? 2 : 0);
        label[n] = 'x';
    }
}

/* Reads at most one byte beyond what may be shown: asan sees more. */
TEST(label_without_an_end_is_read_no_further_than_needed)
{
    static char label[JSP_LABEL_MAX + 1];
    begin(BYTES);
    memset(label, 'x', sizeof label);
    CHECK_EQ(strlen(shown(label, NULL, 0)), JSP_LABEL_MAX);
    CHECK_EQ(jsp_counted(&names.n_cut), 1);
}

static jsprof_function *function(const char *name, const char *file, uint32_t line)
{
    struct jsp_function_def def = { name, file, line, JSPROF_KIND_JIT };
    struct jsprof_function *f = NULL;
    CHECK_EQ(jsp_function_new(&f, &def), 0);
    return f;
}

TEST(function_at_a_freed_functions_address_has_its_own_name)
{
    begin(BYTES);
    jsprof_function *f = function("first", NULL, 0);
    CHECK_STR(shown_function(f), "first");
    char other[] = "other";
    struct jsprof_function reused = *f; /* what malloc may do */
    uint64_t serial = f->serial;
    jsprof_function *next = function("other", NULL, 0);
    CHECK(next->serial != serial);
    *f = *next;
    f->text = other;
    CHECK_STR(shown_function(f), "other");
    *f = reused;
    jsp_function_free(f);
    jsp_function_free(next);
}

TEST(function_is_believed_without_a_look_at_its_text)
{
    begin(BYTES);
    jsprof_function *f = function("name", "file.x", 7);
    CHECK_STR(shown_function(f), "name (file.x:7)");
    uint64_t labels = jsp_counted(&arena.n_labels);
    f->text[0] = 'N';
    CHECK_STR(shown_function(f), "name (file.x:7)");
    CHECK_EQ(jsp_counted(&arena.n_labels), labels);
    jsp_function_free(f);
}

TEST(cut_name_of_a_function_is_counted_in_every_frame)
{
    char name[1200];
    begin(BYTES);
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = 0;
    jsprof_function *f = function(name, NULL, 0), *whole = function("whole", NULL, 0);
    for (uint64_t n = 1; n <= 3; n++) {
        CHECK_EQ(strlen(shown_function(f)), 1023);
        CHECK_STR(shown_function(whole), "whole");
        CHECK_EQ(jsp_counted(&names.n_cut), n);
    }
    jsp_function_free(f);
    jsp_function_free(whole);
}

TEST(name_that_was_lost_is_tried_again)
{
    char filler[16], label[] = "a name";
    begin(4096);
    for (int i = 100; jsp_counted(&arena.n_lost) == 0; i++) { /* as long as the label */
        snprintf(filler, sizeof filler, "%06d", i);
        jsp_arena_intern(&arena, filler, 6, 0);
    }
    uint64_t lost = jsp_counted(&arena.n_lost);
    CHECK_STR(shown(label, NULL, 0), "[label lost]");
    CHECK_STR(shown(label, NULL, 0), "[label lost]");
    CHECK_EQ(jsp_counted(&arena.n_lost), lost + 2); /* each one is counted */
    jsprof_function *f = function("a name", NULL, 0);
    CHECK_STR(shown_function(f), "[label lost]");
    CHECK_STR(shown_function(f), "[label lost]");
    CHECK_EQ(jsp_counted(&arena.n_lost), lost + 4);
    jsp_function_free(f);
}

TEST(more_names_than_the_cache_holds_all_come_back)
{
    static char labels[4 * JSP_NAMES_CACHE][16];
    int wrong = 0;
    begin(BYTES);
    for (int i = 0; i < 4 * JSP_NAMES_CACHE; i++)
        snprintf(labels[i], sizeof labels[i], "name %d", i);
    for (int lap = 0; lap < 3; lap++)
        for (int i = 0; i < 4 * JSP_NAMES_CACHE; i++)
            wrong += strcmp(shown(labels[i], NULL, 0), labels[i]) != 0;
    CHECK_EQ(wrong, 0);
    CHECK_EQ(jsp_counted(&arena.n_labels), 4 * JSP_NAMES_CACHE + 1);
}

TEST_MAIN()
