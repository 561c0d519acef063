/* describe.cpp - the table by which debuggers read entries, compiled code, and remembered places:
 * debugger/jsprof_debugger/hosts/mozjs.py.
 *
 * SPDX-License-Identifier: MIT
 */
#include "allocations.h"

#include <js/shadow/Function.h>

namespace {

using Frame = js::ProfilingStackFrame;
using Walk = JS::ProfilingFrameIterator;

/* The fields of an entry are private in its header. */
static_assert(sizeof(Frame) == 40, "the fields of an entry are where describe_facts have them");

const void *describe_number(size_t number)
{
    return reinterpret_cast<const void *>(number);
}

#define DESCRIBE_FLAG(name, flag)                                                         \
    { name, describe_number(static_cast<size_t>(Frame::Flags::flag)) }

/* Both compilers support it for a class without bases and virtual functions. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
#define DESCRIBE_FIELD(name, type, field) { name, describe_number(offsetof(type, field)) }
#define DESCRIBE_CODE(name, value) { name, describe_number(ENGINE_LAYOUT.value) }
const jsprof_debug_fact describe_facts[] = {
    { "decode", reinterpret_cast<const void *>(mozjs_decode_sigsafe) },
    { "walk", reinterpret_cast<const void *>(mozjs_walk_sigsafe) },
    { "type_label", &mozjs_type_label },
    { "entry.label", describe_number(0) },
    { "entry.dynamic", describe_number(8) },
    { "entry.sp", describe_number(16) },
    { "entry.flags", describe_number(36) },
    DESCRIBE_FLAG("is.label", IS_LABEL_FRAME), DESCRIBE_FLAG("is.marker", IS_SP_MARKER_FRAME),
    DESCRIBE_FLAG("is.script", IS_JS_FRAME), DESCRIBE_FLAG("is.osr", JS_OSR),
    DESCRIBE_FLAG("is.method", STRING_TEMPLATE_METHOD),
    DESCRIBE_FLAG("is.getter", STRING_TEMPLATE_GETTER),
    DESCRIBE_FLAG("is.setter", STRING_TEMPLATE_SETTER),
    { "frame_pointers", describe_number(ENGINE_HAS_FRAME_POINTERS) },
    DESCRIBE_FIELD("host.caller", jsprof_mozjs, last_caller),
    DESCRIBE_FIELD("caller.pc", Walk::RegisterState, pc),
    DESCRIBE_FIELD("caller.sp", Walk::RegisterState, sp),
    DESCRIBE_FIELD("caller.fp", Walk::RegisterState, fp),
    DESCRIBE_FIELD("host.places", jsprof_mozjs, places),
    { "host.n_places", describe_number(MOZJS_PLACES) },
    DESCRIBE_FIELD("host.epoch", jsprof_mozjs, code_epoch),
    DESCRIBE_FIELD("host.words", jsprof_mozjs, words),
    DESCRIBE_FIELD("words.known", mozjs_words, known),
    DESCRIBE_FIELD("words.code", mozjs_words, code),
    { "place.bytes", describe_number(sizeof(mozjs_place)) },
    DESCRIBE_FIELD("place.walk", mozjs_place, walk),
    DESCRIBE_FIELD("place.labels", mozjs_place, labels),
    DESCRIBE_FIELD("place.lines", mozjs_place, lines),
    DESCRIBE_FIELD("place.n", mozjs_place, n),
    DESCRIBE_FIELD("place.epoch", mozjs_place, epoch),
    DESCRIBE_FIELD("host.cx", jsprof_mozjs, cx),
    DESCRIBE_FIELD("host.runtime", jsprof_mozjs, runtime),
    { "function.script", describe_number(sizeof(JS::shadow::Object) + 2 * sizeof(JS::Value)) },
#ifdef ENGINE_HAS_CODE_TABLES
    DESCRIBE_FIELD("code.begin", engine_code, begin),
    DESCRIBE_FIELD("code.end", engine_code, end),
    { "code.kind", describe_number(offsetof(engine_code, position) + sizeof(uint64_t)) },
    DESCRIBE_FIELD("code.pairs", engine_code, ENGINE_PAIRS),
    DESCRIBE_FIELD("code.regions", engine_code, optimized.regions),
    DESCRIBE_FIELD("code.script", engine_code, baseline.script),
    DESCRIBE_FIELD("code.name", engine_code, baseline.name),
    DESCRIBE_FIELD("code.rejoin", engine_code, baseline.script),
    { "script.record", describe_number(ENGINE_SCRIPT_RECORD * sizeof(void *)) },
    DESCRIBE_CODE("record.name", record_name),
    DESCRIBE_CODE("code.kinds", kinds),
    DESCRIBE_CODE("kind.ion", kind[0]), DESCRIBE_CODE("kind.ic", kind[1]),
    DESCRIBE_CODE("kind.baseline", kind[2]), DESCRIBE_CODE("kind.interpreter", kind[3]),
    DESCRIBE_CODE("kind.dummy", kind[4]), DESCRIBE_CODE("kind.shared", kind[5]),
    DESCRIBE_CODE("type.ion", type[0]), DESCRIBE_CODE("type.baseline", type[1]),
    DESCRIBE_CODE("type.stub", type[2]), DESCRIBE_CODE("type.entry", type[3]),
    DESCRIBE_CODE("type.start", type[4]), DESCRIBE_CODE("type.rectifier", type[5]),
    DESCRIBE_CODE("type.ic", type[6]), DESCRIBE_CODE("type.trampoline", type[7]),
    DESCRIBE_CODE("frame.callee", frame_callee),
    DESCRIBE_CODE("entry.saved", entry_saved),
    DESCRIBE_CODE("cx.activation", cx_activation),
    DESCRIBE_CODE("activation.previous", activation_previous),
    DESCRIBE_CODE("activation.exit", activation_exit),
    DESCRIBE_CODE("activation.frame", activation_frame),
    DESCRIBE_CODE("activation.site", activation_site),
    DESCRIBE_CODE("runtime.jit", runtime_jit),
    DESCRIBE_CODE("jit.table", jit_table),
    DESCRIBE_CODE("table.first", table_first),
    { "table.is_list", describe_number(MOZJS_MAJOR_VERSION < 115) },
#endif
};
#pragma GCC diagnostic pop

JSPROF_DEBUG_SECTION const jsprof_debug_table mozjs_debug =
    JSPROF_DEBUG_TABLE("mozjs", describe_facts);

} // namespace

/* A program that links the binding as an archive has this file, and so the table, for this call. */
void mozjs_describe(jsprof_mozjs *m)
{
    m->runtime = JS_GetRuntime(m->cx);
}
