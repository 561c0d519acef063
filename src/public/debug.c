/* public/debug.c - where a debugger finds sessions, threads, functions and code; see jsprof.h.
 *
 * Facts are only added. debugger/ reads them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "jsprof.h"
#include "session/function_lines.h"
#include "session/live.h"

#define DEBUG_NUMBER(name, number) { name, (const void *)(uintptr_t)(number) }
#define DEBUG_FIELD(name, type, field) DEBUG_NUMBER(name, offsetof(type, field))
#define HOST(field) DEBUG_FIELD("stack." #field, jsprof_stack, field)
#define FRAME(field) DEBUG_FIELD("frame." #field, jsprof_frame, field)

static const jsprof_debug_fact debug_facts[] = {
    DEBUG_NUMBER("library", JSPROF_VERSION),
    { "sessions", &jsp_live_first },

    DEBUG_FIELD("session.next", struct jsprof, live_next),
    DEBUG_FIELD("session.pid", struct jsprof, pid),
    DEBUG_FIELD("session.threads", struct jsprof, threads),
    DEBUG_FIELD("session.names", struct jsprof, arena.bytes),
    DEBUG_FIELD("session.names_bytes", struct jsprof, arena.capacity),
    DEBUG_FIELD("session.codes", struct jsprof, codes.at),
    DEBUG_FIELD("session.n_codes", struct jsprof, codes.n),
    DEBUG_FIELD("session.loops", struct jsprof, output.frames.loops.at),
    DEBUG_FIELD("session.n_loops", struct jsprof, output.frames.loops.n),
    DEBUG_FIELD("session.hidden", struct jsprof, output.frames.hidden.at),
    DEBUG_FIELD("session.n_hidden", struct jsprof, output.frames.hidden.n),

    DEBUG_FIELD("thread.next", struct jsp_thread, next),
    DEBUG_FIELD("thread.tid", struct jsp_thread, tid),
    DEBUG_FIELD("thread.pid", struct jsp_thread, pid),
    DEBUG_FIELD("thread.name", struct jsp_thread, name),
    DEBUG_FIELD("thread.owned", struct jsp_thread, owned),
    DEBUG_FIELD("thread.links", struct jsp_thread, sampled.own.top),
    DEBUG_FIELD("thread.frames", struct jsp_thread, sampled.own.frames),
    DEBUG_FIELD("thread.capacity", struct jsp_thread, sampled.own.capacity),
    DEBUG_FIELD("thread.depth", struct jsp_thread, sampled.own.depth),
    DEBUG_FIELD("thread.paused", struct jsp_thread, sampled.paused),
    DEBUG_FIELD("thread.cstack", struct jsp_thread, sampled.cstack),
    DEBUG_FIELD("thread.stack", struct jsp_thread, sampled.vm.host),
    DEBUG_FIELD("thread.walk", struct jsp_thread, sampled.vm.walk_sigsafe),
    DEBUG_FIELD("thread.walk_host", struct jsp_thread, sampled.vm.walk_host),
    DEBUG_FIELD("thread.low", struct jsp_thread, sampled.vm.stack_low),
    DEBUG_FIELD("thread.high", struct jsp_thread, sampled.vm.stack_high),

    HOST(depth), HOST(entries), HOST(capacity), HOST(limit), HOST(depth_bytes), HOST(stride),
    HOST(kind), HOST(label_offset), HOST(detail_offset), HOST(sp_offset), HOST(line_offset),
    HOST(pc_offset), HOST(defined_offset), HOST(end), HOST(end_is_last), HOST(context),
    HOST(depth_at), HOST(end_at), HOST(entries_at), HOST(capacity_at), HOST(resumer_at),
    HOST(host),
    DEBUG_FIELD("stack.decode", jsprof_stack, decode_sigsafe),

    DEBUG_NUMBER("frame.bytes", sizeof(jsprof_frame)),
    FRAME(function), FRAME(label), FRAME(detail), FRAME(sp), FRAME(pc), FRAME(line), FRAME(kind),

    DEBUG_FIELD("link.up", jsprof_link, up),
    DEBUG_FIELD("link.function", jsprof_link, function),
    DEBUG_FIELD("link.line", jsprof_link, line),
    DEBUG_FIELD("link.pc", jsprof_link, pc),

    DEBUG_FIELD("function.serial", struct jsprof_function, serial),
    DEBUG_FIELD("function.seal", struct jsprof_function, seal),
    DEBUG_FIELD("function.text", struct jsprof_function, text),
    DEBUG_FIELD("function.len", struct jsprof_function, len),
    DEBUG_FIELD("function.line", struct jsprof_function, line),
    DEBUG_FIELD("function.name_len", struct jsprof_function, name_len),
    DEBUG_FIELD("function.file_len", struct jsprof_function, file_len),
    DEBUG_FIELD("function.kind", struct jsprof_function, kind),
    DEBUG_FIELD("function.lines", struct jsprof_function, lines),

    DEBUG_FIELD("lines.n", struct jsp_function_lines, n),
    DEBUG_FIELD("lines.rows", struct jsp_function_lines, rows),

    DEBUG_FIELD("name.len", struct jsp_label, len),
    DEBUG_FIELD("name.kind", struct jsp_label, kind),
    DEBUG_FIELD("name.text", struct jsp_label, text),

    DEBUG_FIELD("code.start", struct jsp_code, start),
    DEBUG_FIELD("code.end", struct jsp_code, end),
    DEBUG_FIELD("code.name", struct jsp_code, label),
    DEBUG_FIELD("code.n_lines", struct jsp_code, n_lines),
    DEBUG_FIELD("code.lines", struct jsp_code, lines),
    DEBUG_FIELD("code.n_rows", struct jsp_code, n_rows),
    DEBUG_FIELD("code.rows", struct jsp_code, rows),
    DEBUG_FIELD("code.n_pcs", struct jsp_code, n_pcs),
    DEBUG_FIELD("code.pcs", struct jsp_code, pcs),

    DEBUG_FIELD("cstack.resumer", jsprof_cstack, resumer),
    DEBUG_FIELD("cstack.low", jsprof_cstack, low),
    DEBUG_FIELD("cstack.high", jsprof_cstack, high),
};

JSPROF_DEBUG_SECTION const jsprof_debug_table jsprof_debug =
    JSPROF_DEBUG_TABLE("jsprof", debug_facts);
