/* fuzz/arena_fuzz.c - any sequence of names into a small arena: each comes back as it
 * was brought, or as lost; nothing is written outside.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdlib.h>

#include "sigsafe/arena.h"

enum { BYTES = 4096, SLOTS = 256 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What came back is what was brought; a broken promise ends the program. */
static void look(const struct jsp_arena *arena, uint32_t id, const struct jsp_label *want,
                 const uint8_t *text)
{
    const struct jsp_label *label = jsp_arena_label(arena, id);
    if (id == JSP_LABEL_LOST)
        return;
    if (label->len != want->len || label->kind != want->kind || label->text[want->len] ||
        memcmp(label->text, text, want->len) != 0)
        abort();
}

/* Input: u16 length and u8 kind of a name, its bytes, and so on. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct jsp_arena_memory memory = { malloc(BYTES), BYTES,
                                       calloc(SLOTS, sizeof(uint64_t)), SLOTS };
    struct jsp_arena arena;
    if (!memory.bytes || !memory.slots)
        abort();
    jsp_arena_init(&arena, &memory);
    for (size_t at = 0; at + 3 <= size;) {
        struct jsp_label want = { .kind = data[at + 2] };
        size_t len = ((size_t)data[at] | (size_t)data[at + 1] << 8) % (JSP_LABEL_MAX + 1);
        at += 3;
        want.len = (uint16_t)(len < size - at ? len : size - at);
        const char *text = (const char *)data + at;
        uint32_t id = jsp_arena_intern(&arena, text, want.len, want.kind);
        look(&arena, id, &want, data + at);
        if (id != JSP_LABEL_LOST &&
            jsp_arena_intern(&arena, text, want.len, want.kind) != id)
            abort();
        at += want.len;
    }
    free(memory.bytes);
    free(memory.slots);
    return 0;
}
