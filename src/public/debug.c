/* public/debug.c - where a debugger finds sessions, threads, functions and code; see jsprof.h.
 *
 * Facts are only added. debugger/ reads them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "jsprof.h"
#include "session/function_lines.h"
#include "session/live.h"

#define NUMBER(name, number) { name, (const void *)(uintptr_t)(number) }
#define FIELD(name, type, field) NUMBER(name, offsetof(type, field))
#define HOST(field) FIELD("stack." #field, jsprof_stack, field)
#define FRAME(field) FIELD("frame." #field, jsprof_frame, field)

static const jsprof_debug_fact debug_facts[] = {
    NUMBER("library", JSPROF_VERSION),
    { "sessions", &jsp_live_first },

    FIELD("session.next", struct jsprof, live_next),
    FIELD("session.pid", struct jsprof, pid),
    FIELD("session.threads", struct jsprof, threads),
    FIELD("session.names", struct jsprof, arena.bytes),
    FIELD("session.names_bytes", struct jsprof, arena.capacity),
    FIELD("session.codes", struct jsprof, codes.at),
    FIELD("session.n_codes", struct jsprof, codes.n),
    FIELD("session.loops", struct jsprof, output.frames.loops.at),
    FIELD("session.n_loops", struct jsprof, output.frames.loops.n),
    FIELD("session.hidden", struct jsprof, output.frames.hidden.at),
    FIELD("session.n_hidden", struct jsprof, output.frames.hidden.n),

    FIELD("thread.next", struct jsp_thread, next),
    FIELD("thread.tid", struct jsp_thread, tid),
    FIELD("thread.pid", struct jsp_thread, pid),
    FIELD("thread.name", struct jsp_thread, name),
    FIELD("thread.owned", struct jsp_thread, owned),
    FIELD("thread.links", struct jsp_thread, sampled.own.top),
    FIELD("thread.frames", struct jsp_thread, sampled.own.frames),
    FIELD("thread.capacity", struct jsp_thread, sampled.own.capacity),
    FIELD("thread.depth", struct jsp_thread, sampled.own.depth),
    FIELD("thread.paused", struct jsp_thread, sampled.paused),
    FIELD("thread.cstack", struct jsp_thread, sampled.cstack),
    FIELD("thread.stack", struct jsp_thread, sampled.vm.host),
    FIELD("thread.walk", struct jsp_thread, sampled.vm.walk_sigsafe),
    FIELD("thread.walk_host", struct jsp_thread, sampled.vm.walk_host),
    FIELD("thread.low", struct jsp_thread, sampled.vm.stack_low),
    FIELD("thread.high", struct jsp_thread, sampled.vm.stack_high),

    HOST(depth), HOST(entries), HOST(capacity), HOST(limit), HOST(depth_bytes), HOST(stride),
    HOST(kind), HOST(label_offset), HOST(detail_offset), HOST(sp_offset), HOST(line_offset),
    HOST(pc_offset), HOST(defined_offset), HOST(end), HOST(end_is_last), HOST(context),
    HOST(depth_at), HOST(end_at), HOST(entries_at), HOST(capacity_at), HOST(resumer_at),
    HOST(host),
    FIELD("stack.decode", jsprof_stack, decode_sigsafe),

    NUMBER("frame.bytes", sizeof(jsprof_frame)),
    FRAME(function), FRAME(label), FRAME(detail), FRAME(sp), FRAME(pc), FRAME(line), FRAME(kind),

    FIELD("link.up", jsprof_link, up),
    FIELD("link.function", jsprof_link, function),
    FIELD("link.line", jsprof_link, line),
    FIELD("link.pc", jsprof_link, pc),

    FIELD("function.serial", struct jsprof_function, serial),
    FIELD("function.seal", struct jsprof_function, seal),
    FIELD("function.text", struct jsprof_function, text),
    FIELD("function.len", struct jsprof_function, len),
    FIELD("function.line", struct jsprof_function, line),
    FIELD("function.name_len", struct jsprof_function, name_len),
    FIELD("function.file_len", struct jsprof_function, file_len),
    FIELD("function.kind", struct jsprof_function, kind),
    FIELD("function.lines", struct jsprof_function, lines),

    FIELD("lines.n", struct jsp_function_lines, n),
    FIELD("lines.rows", struct jsp_function_lines, rows),

    FIELD("name.len", struct jsp_label, len),
    FIELD("name.kind", struct jsp_label, kind),
    FIELD("name.text", struct jsp_label, text),

    FIELD("code.start", struct jsp_code, start),
    FIELD("code.end", struct jsp_code, end),
    FIELD("code.name", struct jsp_code, label),
    FIELD("code.n_lines", struct jsp_code, n_lines),
    FIELD("code.lines", struct jsp_code, lines),
    FIELD("code.n_rows", struct jsp_code, n_rows),
    FIELD("code.rows", struct jsp_code, rows),
    FIELD("code.n_pcs", struct jsp_code, n_pcs),
    FIELD("code.pcs", struct jsp_code, pcs),

    FIELD("cstack.resumer", jsprof_cstack, resumer),
    FIELD("cstack.low", jsprof_cstack, low),
    FIELD("cstack.high", jsprof_cstack, high),
};

JSPROF_DEBUG_SECTION const jsprof_debug_table jsprof_debug =
    JSPROF_DEBUG_TABLE("jsprof", debug_facts);
