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
 * unknown.
 *
 * In baseline code, an address between return addresses belongs to the next call. Most
 * operations call a stub: if a stub was interrupted, its return address is near the top
 * of the stack. In optimized code, regions have the place of an inlined call; otherwise
 * they have the block of code without jumps, all of which gets the line on which it
 * begins. So a call from there would get the line of another statement: only running code
 * gets that line.
 */
#include "compiled.h"

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

/* A stub saves at most this many registers above its return address. */
constexpr uint32_t LINES_STUB_WORDS = 4;

/* -- The bytes of a region --------------------------------------------------------------- */

struct lines_reader {
    const uint8_t *at;
    const uint8_t *end;
};

uint32_t lines_byte(lines_reader *r)
{
    return r->at < r->end ? *r->at++ : 0;
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

/* The table's regions are before it; each entry is a distance in bytes back from it. */
lines_reader lines_region(const engine_regions *table, uint32_t i)
{
    const auto *end = reinterpret_cast<const uint8_t *>(table);

    return { end - table->before[i], i + 1 < table->n ? end - table->before[i + 1] : end };
}

/* Return the last region that begins before this offset, or the first one. Regions have
 * about 100 entries. */
lines_reader lines_find_region(const engine_regions *table, uint32_t offset)
{
    uint32_t low = 0, high = table->n;

    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        lines_reader r = lines_region(table, middle);

        if (lines_number(&r) < offset)
            low = middle;
        else
            high = middle;
    }
    return lines_region(table, low);
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
                        uint32_t n, engine_place *places)
{
    const engine_regions *table = code->optimized.regions;
    const engine_scripts *scripts = code->optimized.scripts;

    if (!table || !scripts || table->n == 0 || table->n > LINES_REGIONS ||
        scripts->n > LINES_SCRIPTS)
        return false;
    lines_reader r = lines_find_region(table, offset);
    const uint32_t begin = lines_number(&r);
    if (lines_byte(&r) != n)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t script = lines_number(&r);

        if (script >= scripts->n || scripts->pairs[script].name != frames[i].label)
            return false;
        places[i] = { scripts->pairs[script].script, static_cast<int32_t>(lines_number(&r)) };
    }
    places[0].offset += lines_run(&r, begin, offset);
    return places[0].offset >= 0;
}

/* -- Baseline code ------------------------------------------------------------------------- */

/* Return the first return address at this offset or after it, or the last one. nullptr:
 * the code is not as expected. */
const engine_return *lines_find_return(const engine_code *code, uint32_t offset,
                                       const Walk::Frame *frames, uint32_t n)
{
    const engine_baseline *baseline = engine_baseline_of(code->baseline.script);

    if (n != 1 || code->baseline.name != frames->label || !baseline ||
        baseline->code != code->code || baseline->returns_begin >= baseline->returns_end)
        return nullptr;
    const auto *bytes = reinterpret_cast<const uint8_t *>(baseline);
    const auto *low = reinterpret_cast<const engine_return *>(bytes + baseline->returns_begin);
    const auto *high = reinterpret_cast<const engine_return *>(bytes + baseline->returns_end) - 1;
    while (low < high) {
        const auto *middle = low + (high - low) / 2;

        if (middle->code_offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool lines_in_baseline(const engine_code *code, uint32_t offset, const Walk::Frame *frames,
                       uint32_t n, engine_place *place)
{
    const engine_return *found = lines_find_return(code, offset, frames, n);

    if (found)
        *place = { code->baseline.script, static_cast<int32_t>(found->script_offset) };
    return found != nullptr;
}

/* Return the line of an offset in a script; SpiderMonkey itself makes an address of it. A
 * jump's target has the line of the code before it; its block begins after it. */
uint32_t lines_of(jsprof_mozjs *m, const engine_place &place)
{
    js::ProfilingStackFrame frame;

    frame.*lines_get_script() = place.script;
    frame.*lines_get_offset() = place.offset;
    jsbytecode *pc = (frame.*m->pc)();
    if (pc && *pc == ENGINE_JUMP_TARGET)
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

    for (uint32_t i = 0; i < n; i++)
        lines[i] = 0;
    if (n == 0 || n > MOZJS_INLINED)
        return false;
    (void)((*walk).*m->code_of)(reinterpret_cast<js::jit::JitcodeGlobalEntry *>(&code));
    const auto *at = static_cast<const uint8_t *>(frames->returnAddress_);
    if (at < code.begin || at >= code.end)
        return false;
    const auto offset = static_cast<uint32_t>(at - code.begin);
    const bool good = code.kind == engine_code::OPTIMIZED
                          ? lines_in_optimized(&code, offset, frames, n, places)
                      : code.kind == engine_code::BASELINE &&
                          lines_in_baseline(&code, offset, frames, n, places);
    for (uint32_t i = 0; good && i < n; i++)
        lines[i] = lines_of(m, places[i]);
    return code.kind == engine_code::OPTIMIZED;
}

void mozjs_lines_between(jsprof_mozjs *m, const mozjs_walk &walk, const Walk::Frame *frames,
                         uint32_t n, const void *sp, uint32_t *lines)
{
    const auto *word = static_cast<const uintptr_t *>(sp);
    engine_code code = {};

    for (uint32_t i = 0; i < n; i++)
        lines[i] = 0;
    (void)((*walk).*m->code_of)(reinterpret_cast<js::jit::JitcodeGlobalEntry *>(&code));
    if (code.kind != engine_code::BASELINE || reinterpret_cast<uintptr_t>(sp) % sizeof *word != 0)
        return;
    for (const auto *end = word + LINES_STUB_WORDS; word < end; word++) {
        const uintptr_t offset = *word - reinterpret_cast<uintptr_t>(code.begin);

        if (offset >= static_cast<uintptr_t>(code.end - code.begin))
            continue;
        const auto *found =
            lines_find_return(&code, static_cast<uint32_t>(offset), frames, n);
        if (!found || found->code_offset != offset)
            continue;
        lines[0] = lines_of(m, { code.baseline.script,
                                 static_cast<int32_t>(found->script_offset) });
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
