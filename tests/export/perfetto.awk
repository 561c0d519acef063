# perfetto.awk - what `protoc --decode` prints of a trace, as lines:
#   self VALUE FUNCTION            a sample, by its innermost function
#   span TRACK FROM TO DEPTH NAME  of an event's begin and end, "made" for an instant
#   flow FROM TO                   from the name of one run to that of another
#   value TRACK TIME VALUE         of a counter
# Errors are lines that begin with "bad": fields without a name, spans that do not nest, and
# numbers that stand for nothing.
#
# SPDX-License-Identifier: MIT
function text(s) { sub(/^"/, "", s); sub(/"$/, "", s); gsub(/\\"/, "\"", s); gsub(/\\'/, "'", s)
    return s }
function known(id, table, what) { if (!(id in table)) print "bad " what, id; return table[id] }
function named() { return e_name != "" ? e_name : known(e_id, names, "name") }
function event(    i, top)
{
    if (!(e_track in tracks)) print "bad track", e_track
    if (e_stack && !(e_stack in leaf)) print "bad stack", e_stack
    if (e_type == 1) {
        top = ++depth[e_track]
        from[e_track, top] = time
        span[e_track, top] = named()
        for (i = 1; i <= n_flows; i++) source[flows[i]] = named()
        if (e_ends) print "flow", known(e_ends, source, "flow") " -> " named()
    } else if (e_type == 2) {
        top = depth[e_track]--
        if (top < 1) print "bad end of nothing on", e_track
        else if (time + 0 < from[e_track, top] + 0) print "bad time", time
        else print "span", tracks[e_track], from[e_track, top], time, top, span[e_track, top]
    } else if (e_type == 3) {
        print "span", tracks[e_track], time, time, 0, named(), \
            e_stack ? "on " functions[function_of[leaf[e_stack]]] : ""
    } else if (e_type == 4) {
        print "value", tracks[e_track], time, e_real
    } else
        print "bad type", e_type
}
function packet()
{
    if (!started++ && !cleared) print "bad first packet"
    if (sequence != 1) print "bad sequence"
    if (kind == "event") event()
    else if (kind == "sample")
        print "self", s_value + 0, functions[function_of[known(s_stack, leaf, "stack")]]
    else if (kind == "track") tracks[t_id] = t_name
}
/^ *[0-9]+[:{ ]/ { print "bad field", $0 }
/\{$/ { path = path "/" $1
    if (path == "/packet") {
        time = sequence = cleared = 0; kind = ""
        e_name = ""; e_id = e_type = e_stack = e_ends = n_flows = e_real = 0
        s_value = s_stack = 0; t_name = "" }
    else if (path ~ /^\/packet\/(event|sample|track)$/) kind = $1
    next }
/\}$/ { if (path == "/packet") packet(); sub(/\/[^\/]*$/, "", path); next }
{ key = $1; sub(/:$/, "", key); value = $0; sub(/^ *[a-z_]+: /, "", value) }
path == "/packet" { if (key == "time") time = value; if (key == "sequence") sequence = value
    if (key == "cleared") cleared = 1 }
path == "/packet/event" { if (key == "type") e_type = value; if (key == "name_id") e_id = value
    if (key == "name") e_name = text(value); if (key == "track") e_track = value
    if (key == "flow") flows[++n_flows] = value; if (key == "flow_ends") e_ends = value
    if (key == "stack") e_stack = value; if (key == "real") e_real = value }
path == "/packet/sample" { if (key == "value") s_value = value; if (key == "stack") s_stack = value }
path == "/packet/track" { if (key == "id") t_id = value; if (key == "name") t_name = text(value) }
path == "/packet/track/thread" && key == "tid" { t_name = "thread-" value }
path == "/packet/track/process" && key == "pid" { t_name = "process-" value }
path ~ /^\/packet\/tables\// { if (key == "id") id = value }
path == "/packet/tables/name" { names[id] = key == "text" ? text(value) : "" }
path == "/packet/tables/function" && key == "text" { functions[id] = text(value) }
path == "/packet/tables/frame" && key == "function" {
    function_of[id] = value; known(value, functions, "function") }
path == "/packet/tables/stack" && key == "frame" {
    leaf[id] = value; known(value, function_of, "frame") }
END { for (t in depth) if (depth[t]) print "bad open spans on", t }
