/* ehframe_fuzz.c - any bytes as an .eh_frame, and walks by what comes out of them.
 *
 * The first byte gives the section's address, the rest is the section.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <unistd.h>

#include "image/table.h"
#include "sigsafe/unwind.h"

enum { BASE = 1 << 20, CODE = 1 << 16, MOST = 32 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Walk from each of some places of the code that the rows are said to be of. */
static void walk(const struct jsp_unwind_object *object)
{
    static struct jsp_unwinder unwinder;
    uint64_t stack[64];
    struct jsp_rec_native frames[MOST];
    uintptr_t starts[1] = { object->start };
    struct jsp_unwind_map map = { unwinder.generation + 1, 1, starts, object, NULL };
    jsp_unwinder_init(&unwinder, (uintptr_t)stack, (uintptr_t)(stack + 64), getpid());
    for (size_t i = 0; i < 64; i++)
        stack[i] = i % 3 ? object->start + i * 97 : (uintptr_t)&stack[i];
    for (uint32_t i = 0; i < object->n_rows && i < 16; i++) {
        struct jsp_regs_core at = { object->start + object->rows[i].start, (uintptr_t)stack,
                                    (uintptr_t)&stack[6], (uintptr_t)&stack[9] };
        struct jsp_unwound out = { .frames = frames, .max = MOST };
        if (jsp_unwind_from(&unwinder, &map, &at, &out) >= JSP_N_STOPS || out.n > MOST)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct jsp_table table;
    if (!size)
        return 0;
    uint64_t start = BASE, addr = data[0] & 1 ? BASE : BASE + CODE;
    struct jsp_ehframe_section section = { data + 1, size - 1, addr };
    if (jsp_table_build(&table, &section, start, start + CODE) < 0)
        return 0;
    for (uint32_t i = 1; i < table.object.n_rows; i++)
        if (table.object.rows[i].start <= table.object.rows[i - 1].start)
            abort();
    for (uint64_t pc = start; pc < start + CODE; pc += 61) {
        uint32_t how = jsp_unwind_object_how(&table.object, pc);
        if (jsp_how_kind(how) == JSP_HOW_RULE && jsp_how_rule(how) >= table.object.n_rules)
            abort();
    }
    walk(&table.object);
    jsp_table_free(&table);
    return 0;
}
