/* lines.cpp - the lines of functions in compiled code.
 *
 * SPDX-License-Identifier: MIT
 *
 * SpiderMonkey keeps tables that map an address in compiled code to its place in scripts:
 * for optimized code, regions with the scripts inlined there; for baseline code, the
 * return addresses of its calls. It names functions from these tables but does not report
 * lines, so this file reads them, in the layout that engine.h has for the version. It
 * does not trust a layout: if the names that the tables lead to differ from those that
 * SpiderMonkey reports, or if the baseline code is not that of the table, the line is
 * unknown. No load here can fault: the kernel copies the tables (peek.h). Only
 * SpiderMonkey's own functions read a script whose name agreed.
 *
 * In baseline code, an address between return addresses belongs to the next call. Most
 * operations call a stub: if a stub was interrupted, its return address is near the top
 * of the stack. In optimized code, regions have the place of an inlined call; otherwise
 * they have the block of code without jumps, all of which gets the line on which it
 * begins. So a call from there would get the line of another statement: only running code
 * gets that line.
 */
#include "compiled.h"

#include "peek.h"

#ifdef ENGINE_HAS_CODE_TABLES

namespace {

using Walk = JS::ProfilingFrameIterator;

/* Private members, which an explicit instantiation may name. */
template <auto Member> struct lines_entry_of {
    friend constexpr auto lines_get_entry() { return Member; }
};
template <auto Member> struct lines_script_of {
    friend constexpr auto lines_get_script() { return Member; }
};
template <auto Member> struct lines_offset_of {
    friend constexpr auto lines_get_offset() { return Member; }
};
constexpr auto lines_get_entry();
constexpr auto lines_get_script();
constexpr auto lines_get_offset();
template struct lines_entry_of<&Walk::getPhysicalFrameAndEntry>;
template struct lines_script_of<&js::ProfilingStackFrame::spOrScript>;
template struct lines_offset_of<&js::ProfilingStackFrame::pcOffsetIfJS_>;

/* More scripts, and more regions, than one piece of code can have. */
constexpr uint32_t LINES_SCRIPTS = 1u << 16;
constexpr uint32_t LINES_REGIONS = 1u << 20;

/* A region has at most 100 entries of 4 bytes, and 64 scripts before them. */
constexpr uintptr_t LINES_REGION_BYTES = 2048;

/* A stub saves at most this many registers above its return address. */
constexpr uint32_t LINES_STUB_WORDS = 4;

struct lines_copy {
    mozjs_peek *peek;
    bool operator()(const void *from, void *to, size_t n) const
    {
        return mozjs_peek_bytes(peek, reinterpret_cast<uintptr_t>(from), to, n);
    }
};

/* Copy what SpiderMonkey knows of the code at which this iterator is, or return false. */
bool lines_take(const jsprof_mozjs *m, const mozjs_walk &walk, engine_code *to, mozjs_peek *peek)
{
    auto ask = [m, &walk](engine_entry entry) { (void)((*walk).*m->code_of)(entry); };

    mozjs_peek_begin(peek, {});
    return engine_take(to, ask, lines_copy{ peek });
}

/* -- The bytes of a region --------------------------------------------------------------- */

struct lines_reader {
    mozjs_peek *peek;
    const uint8_t *at;
    const uint8_t *end;
    bool bad; /* it ended too early, or the kernel refused a copy */
};

/* Return the next byte, 0 if there is none. */
uint32_t lines_byte(lines_reader *r)
{
    uint8_t byte;

    if (r->at < r->end && mozjs_peek_at(r->peek, r->at, &byte)) {
        r->at++;
        return byte;
    }
    r->bad = true;
    r->at = r->end;
    return 0;
}

/* Decode seven bits a byte, the lowest first. Bit 0 of a byte is set if another one
 * follows. */
uint32_t lines_number(lines_reader *r)
{
    uint32_t value = 0, byte = 1;

    for (uint32_t shift = 0; byte & 1 && shift < 32; shift += 7) {
        byte = lines_byte(r);
        value |= (byte >> 1) << shift;
    }
    return value;
}

/* Decode how far the code advances, and the script meanwhile, from 1 to 4 bytes, as their
 * lowest bits indicate. */
void lines_delta(lines_reader *r, uint32_t *native, int32_t *script)
{
    uint32_t bits = lines_byte(r);

    if ((bits & 1) == 0) {
        *native = bits >> 4;
        *script = static_cast<int32_t>(bits >> 1 & 7);
        return;
    }
    bits |= lines_byte(r) << 8;
    if ((bits & 3) == 1) {
        *native = bits >> 8;
        *script = static_cast<int32_t>(bits >> 2 & 0x3f);
        return;
    }
    bits |= lines_byte(r) << 16;
    if ((bits & 7) == 3) {
        *native = bits >> 13;
        *script = static_cast<int32_t>((bits >> 3 & 0x3ff) << 22) >> 22;
        return;
    }
    bits |= lines_byte(r) << 24;
    *native = bits >> 16;
    *script = static_cast<int32_t>((bits >> 3 & 0x1fff) << 19) >> 19;
}

/* -- Optimized code ------------------------------------------------------------------------ */

/* Begin to read a region. The regions are before the table; each entry is a distance in
 * bytes back from it. */
void lines_region(lines_reader *r, const engine_regions *table, uint32_t n, uint32_t i)
{
    const auto end = reinterpret_cast<uintptr_t>(table);
    uint32_t before = 0, next = 0;

    r->bad = !mozjs_peek_at(r->peek, &table->before[i], &before) ||
             (i + 1 < n && !mozjs_peek_at(r->peek, &table->before[i + 1], &next)) ||
             before < next || before - next > LINES_REGION_BYTES;
    r->at = r->bad ? nullptr : reinterpret_cast<const uint8_t *>(end - before);
    r->end = r->bad ? nullptr : reinterpret_cast<const uint8_t *>(end - next);
}

/* Begin to read the last region that begins before this offset, or the first one. Regions
 * have about 100 entries. */
void lines_find_region(lines_reader *r, const engine_regions *table, uint32_t n,
                       uint32_t offset)
{
    uint32_t low = 0, high = n;

    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;

        lines_region(r, table, n, middle);
        if (lines_number(r) < offset)
            low = middle;
        else
            high = middle;
        if (r->bad)
            return;
    }
    lines_region(r, table, n, low);
}

/* Return the address this many windows before the table, where its regions are. */
const void *lines_before(const engine_regions *table, uintptr_t windows)
{
    return reinterpret_cast<const void *>(reinterpret_cast<uintptr_t>(table) -
                                          windows * MOZJS_PEEK_WINDOW);
}

/* Return the place of the innermost script of a region at this offset after its
 * beginning. */
int32_t lines_run(lines_reader *r, uint32_t at, uint32_t offset)
{
    int32_t run = 0;

    while (r->at < r->end) {
        uint32_t native;
        int32_t script;

        lines_delta(r, &native, &script);
        at += native;
        if (offset <= at)
            break;
        run += script;
    }
    return run;
}

/* Return false if the tables are not as expected. */
bool lines_in_optimized(const engine_code *code, uint32_t offset, const Walk::Frame *frames,
                        uint32_t n, engine_place *places, mozjs_peek *peek)
{
    const engine_regions *table = code->optimized.regions;
    const engine_pair *pairs = engine_pairs(*code);
    lines_reader r = { peek, nullptr, nullptr, false };
    uint32_t n_regions, n_scripts;
    engine_pair pair;

    mozjs_peek_begin(peek, { table, lines_before(table, 1), lines_before(table, 2), pairs });
    if (!mozjs_peek_at(peek, &table->n, &n_regions) ||
        !engine_n_pairs(*code, &n_scripts, lines_copy{ peek }) || n_regions == 0 ||
        n_regions > LINES_REGIONS || n_scripts > LINES_SCRIPTS)
        return false;
    lines_find_region(&r, table, n_regions, offset);
    const uint32_t begin = lines_number(&r);
    if (lines_byte(&r) != n || r.bad)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t script = lines_number(&r);

        if (script >= n_scripts || !mozjs_peek_at(peek, &pairs[script], &pair) ||
            pair.name != frames[i].label)
            return false;
        places[i] = { pair.script, static_cast<int32_t>(lines_number(&r)) };
    }
    places[0].offset += lines_run(&r, begin, offset);
    return !r.bad && places[0].offset >= 0;
}

/* -- Baseline code ------------------------------------------------------------------------- */

/* Return false if there is no baseline code. Values of a record below 4 are no pointers. */
bool lines_baseline_of(mozjs_peek *peek, const JSScript *script, uintptr_t *baseline)
{
    const auto *words = reinterpret_cast<const uintptr_t *>(script);
    uintptr_t record;

    if (!mozjs_peek_at(peek, words + ENGINE_SCRIPT_RECORD, &record) || record == 0 ||
        record % 4 != 0)
        return false;
    words = reinterpret_cast<const uintptr_t *>(record);
    return mozjs_peek_at(peek, words + ENGINE_RECORD_BASELINE, baseline) && *baseline % 8 == 0;
}

/* Copy the first return address at this offset or after it, or the last one. Return false if
 * the code is not as expected. */
bool lines_find_return(const engine_code *code, uint32_t offset, const Walk::Frame *frames,
                       uint32_t n, engine_return *found, mozjs_peek *peek)
{
    engine_baseline baseline;
    uintptr_t at;

    if (n != 1 || code->baseline.name != frames->label ||
        !lines_baseline_of(peek, code->baseline.script, &at) ||
        !mozjs_peek_bytes(peek, at, &baseline, sizeof baseline) ||
        baseline.code != code->code || baseline.returns_begin >= baseline.returns_end)
        return false;
    const auto *low = reinterpret_cast<const engine_return *>(at + baseline.returns_begin);
    const auto *high = reinterpret_cast<const engine_return *>(at + baseline.returns_end) - 1;
    while (low < high) {
        const auto *middle = low + (high - low) / 2;

        if (!mozjs_peek_at(peek, middle, found))
            return false;
        if (found->code_offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return mozjs_peek_at(peek, low, found);
}

bool lines_in_baseline(const engine_code *code, uint32_t offset, const Walk::Frame *frames,
                       uint32_t n, engine_place *place, mozjs_peek *peek)
{
    engine_return found;

    mozjs_peek_begin(peek, { code->baseline.script });
    if (!lines_find_return(code, offset, frames, n, &found, peek))
        return false;
    *place = { code->baseline.script, static_cast<int32_t>(found.script_offset) };
    return true;
}

/* Return the line of an offset in a script; SpiderMonkey itself makes an address of it. A
 * jump's target has the line of the code before it; its block begins after it. A script that
 * runs is alive, with its operations: the collector does not free them here. */
uint32_t lines_of(jsprof_mozjs *m, const engine_place &place)
{
    js::ProfilingStackFrame frame;

    if (!mozjs_peek_is_there(place.script))
        return 0;
    frame.*lines_get_script() = place.script;
    frame.*lines_get_offset() = place.offset;
    jsbytecode *pc = (frame.*m->pc)();
    if (!mozjs_peek_is_there(pc))
        return 0;
    if (*pc == ENGINE_JUMP_TARGET)
        pc += ENGINE_JUMP_TARGET_BYTES;
    return mozjs_line_at(m, (frame.*m->script)(), pc);
}

} // namespace

void mozjs_bind_tables(jsprof_mozjs *m)
{
    m->code_of = lines_get_entry();
}

bool mozjs_lines_at(jsprof_mozjs *m, const mozjs_walk &walk, const Walk::Frame *frames,
                    uint32_t n, uint32_t *lines)
{
    engine_place places[MOZJS_INLINED];
    engine_code code = {};
    mozjs_peek peek;

    for (uint32_t i = 0; i < n; i++)
        lines[i] = 0;
    if (n == 0 || n > MOZJS_INLINED)
        return false;
    const auto *at = static_cast<const uint8_t *>(frames->returnAddress_);
    if (!lines_take(m, walk, &code, &peek) || at < code.begin || at >= code.end)
        return false;
    const auto offset = static_cast<uint32_t>(at - code.begin);
    const bool good = code.kind == engine_code::OPTIMIZED
                          ? lines_in_optimized(&code, offset, frames, n, places, &peek)
                      : code.kind == engine_code::BASELINE &&
                          lines_in_baseline(&code, offset, frames, n, places, &peek);
    for (uint32_t i = 0; good && i < n; i++)
        lines[i] = lines_of(m, places[i]);
    return code.kind == engine_code::OPTIMIZED;
}

void mozjs_lines_between(jsprof_mozjs *m, const mozjs_walk &walk, const Walk::Frame *frames,
                         uint32_t n, const void *sp, uint32_t *lines)
{
    uintptr_t words[LINES_STUB_WORDS];
    engine_code code = {};
    engine_return found;
    mozjs_peek peek;

    for (uint32_t i = 0; i < n; i++)
        lines[i] = 0;
    if (!lines_take(m, walk, &code, &peek) || code.kind != engine_code::BASELINE)
        return;
    mozjs_peek_begin(&peek, { sp, code.baseline.script });
    if (!mozjs_peek_at(&peek, sp, &words))
        return;
    for (const uintptr_t word : words) {
        const uintptr_t offset = word - reinterpret_cast<uintptr_t>(code.begin);

        if (offset >= static_cast<uintptr_t>(code.end - code.begin) ||
            !lines_find_return(&code, static_cast<uint32_t>(offset), frames, n, &found,
                               &peek) ||
            found.code_offset != offset)
            continue;
        lines[0] = lines_of(m, { code.baseline.script,
                                 static_cast<int32_t>(found.script_offset) });
        return;
    }
}

#else

void mozjs_bind_tables(jsprof_mozjs *)
{
}

bool mozjs_lines_at(jsprof_mozjs *, const mozjs_walk &, const JS::ProfilingFrameIterator::Frame *,
                    uint32_t n, uint32_t *lines)
{
    for (uint32_t i = 0; i < n; i++)
        lines[i] = 0;
    return false;
}

void mozjs_lines_between(jsprof_mozjs *, const mozjs_walk &,
                         const JS::ProfilingFrameIterator::Frame *, uint32_t, const void *,
                         uint32_t *)
{
}

#endif
