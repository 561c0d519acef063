/* lanes.js - the lanes of the timeline: which ones there are, and how each is drawn.
 *
 * SPDX-License-Identifier: MIT
 *
 * A thread has a band of its states, a curve of how busy it was, and rows of its spans. Marks that
 * overlap have rows, too.
 */

const LANE = 26, MARK_ROWS = 4, COUNTER_LANE = 34, PROCESS_LANE = 18;

/* Place marks that overlap in different rows, the longest of those that begin together first. */
function markRows(marks) {
    const ends = [];
    for (const mark of [...marks].sort((a, b) => a[1] - b[1] || b[2] - a[2])) {
        let row = ends.findIndex(end => end <= mark[1]);
        if (row < 0)
            row = Math.min(ends.length, MARK_ROWS - 1);
        ends[row] = Math.max(ends[row] ?? 0, mark[1] + mark[2]);
        mark.row = row;
    }
    return Math.max(1, ends.length);
}

/* Return the lanes of these captures, process by process where there are several. */
function makeLanes(timeline, captures) {
    const { meta, spans } = { meta: timeline.profile.meta, spans: timeline.spans };
    const whole = t => timeline.sums[t].reduce((a, b) => a + b, 0);
    const threads = meta.threads.map((t, i) => ({ ...t, index: i, whole: whole(i), lane: -1 }));
    for (const [l, { capture, pid, tid, n }] of (spans?.lanes ?? []).entries()) {
        const same = threads.find(t => t.capture === capture && t.pid === pid && t.tid === tid);
        if (same)
            same.lane = l;
        else if (n)
            threads.push({ capture, pid, tid, name: '', index: -1, whole: 0, lane: l });
    }
    const shown = threads.filter(t => captures.includes(t.capture))
        .sort((a, b) => a.capture - b.capture || b.whole - a.whole);
    const processes = new Map();
    for (const t of shown) {
        const key = t.capture + ' ' + t.pid;
        processes.set(key, [...processes.get(key) ?? [], t]);
    }
    const lanes = [], isOfMany = processes.size > (meta.captures.length > 1 ? 2 : 1);
    for (const [key, group] of processes) {
        const id = 'p' + key, isFolded = timeline.folded.has(id);
        if (isOfMany)
            lanes.push({ kind: 'process', id, height: PROCESS_LANE, isFolded, canFold: true,
                label: `process ${group[0].pid}` });
        if (!isOfMany || !isFolded)
            lanes.push(...group.map(t => threadLane(timeline, t)));
    }
    lanes.push(...markLanes(timeline, captures), ...counterLanes(timeline, captures));
    let y = AXIS;
    for (const lane of lanes) {
        lane.y = y;
        y += lane.height;
    }
    return lanes;
}

function threadLane(timeline, thread) {
    const { meta } = timeline.profile, id = `t${thread.capture} ${thread.pid} ${thread.tid}`;
    const rows = thread.lane < 0 ? 0 : timeline.spans.lanes[thread.lane].rows.length;
    const isFolded = timeline.folded.has(id);
    return { kind: 'thread', id, thread, label: threadLabel(meta, thread), canFold: rows > 0,
        isFolded, rows: isFolded ? 0 : rows,
        height: LANE + (isFolded ? 0 : rows * SPAN_ROW + (rows ? 3 : 0)) };
}

function markLanes(timeline, captures) {
    const groups = new Map();
    for (const m of timeline.profile.meta.marks.list)
        if (captures.includes(m[0])) {
            if (!groups.has(m[3]))
                groups.set(m[3], []);
            groups.get(m[3]).push(m);
        }
    return [...groups].map(([group, marks]) => {
        const id = 'm' + group, rows = markRows(marks), isFolded = timeline.folded.has(id);
        return { kind: 'marks', id, marks, canFold: rows > 1, isFolded,
            height: (isFolded ? 1 : rows) * SPAN_ROW + 3, label: harmless(group) || 'marks' };
    });
}

function counterLanes(timeline, captures) {
    return timeline.profile.meta.counters
        .filter(c => captures.includes(c.capture) && c.points.length)
        .map(counter => {
            const values = counter.points.filter((_, i) => i % 2);
            return { kind: 'counter', height: COUNTER_LANE, counter, label: harmless(counter.name),
                low: values.reduce((a, b) => Math.min(a, b)),
                high: values.reduce((a, b) => Math.max(a, b)) };
        });
}

const COUNTER_UNIT = new RegExp('\\b(µs|us|ms|s|MB|MiB|KB|KiB|GB|GiB|Hz|fps|microseconds?|' +
    'milliseconds?|seconds?|percent)\\b|%', 'i');

/* Return a value with its unit, as far as the words of the counter's description name one. */
function counterText({ name, what = '' }, value) {
    const text = name + ' ' + what;
    if (/\bbytes?\b/i.test(text))
        return (value < 0 ? '−' : '') + formatBytes(Math.abs(value));
    if (/\b(ns|nanoseconds?)\b/i.test(text))
        return formatDuration(value);
    const [unit] = text.match(COUNTER_UNIT) ?? [''];
    return formatNumber(value) + (unit && ' ' + unit);
}

function drawLane(timeline, lane) {
    const { context: c, gutter, width } = timeline;
    const isOff = lane.kind === 'thread' && timeline.threads && lane.thread.index >= 0 &&
        !timeline.threads[lane.thread.index];
    if (lane === timeline.current) {
        c.fillStyle = timeline.color('hover');
        c.fillRect(0, lane.y, gutter - 6, lane.height - 1);
    }
    c.fillStyle = timeline.color('line');
    c.fillRect(0, lane.y + lane.height - 1, width, 1);
    c.fillStyle = timeline.color(isOff ? 'dim' : 'text');
    const middle = lane.y + Math.min(lane.height, LANE) / 2;
    if (lane.canFold)
        c.fillText(lane.isFolded ? '▸' : '▾', 5, middle);
    c.fillText(timeline.cut(lane.label, gutter - (lane.canFold ? 27 : 14)), lane.canFold ? 18 : 6,
        middle);
    if (lane.kind === 'counter' && gutter > 100) {
        c.fillStyle = timeline.color('dim');
        c.textAlign = 'right';
        c.fillText(timeline.cut(counterText(lane.counter, lane.high), gutter - 60), gutter - 5,
            lane.y + 9);
        c.textAlign = 'left';
    }
    c.save();
    c.beginPath();
    c.rect(gutter, lane.y, width - gutter, lane.height);
    c.clip();
    c.globalAlpha = isOff ? 0.3 : 1;
    ({ thread: drawThread, marks: drawMarks, counter: drawCounter, process() {} })[lane.kind](
        timeline, lane);
    c.restore();
}

function drawThread(timeline, lane) {
    const { context: c } = timeline;
    if (lane.thread.index >= 0) {
        drawActivity(timeline, lane);
        drawStates(timeline, lane);
    }
    if (lane.thread.lane < 0)
        return;
    const { rows, late } = timeline.spans.lanes[lane.thread.lane];
    const strength = timeline.lit.length ? 0.35 : 1;
    for (let depth = 0; depth < lane.rows; depth++)
        drawSpanRow(timeline, rows[depth], lane.y + LANE + depth * SPAN_ROW, strength);
    c.fillStyle = timeline.color('late');
    let drawn = -1;
    for (const span of late) {
        const x = timeline.x(timeline.spans.begin[span]);
        const to = Math.max(x + 3, timeline.x(timeline.spans.begin[span] +
            timeline.spans.length[span]));
        if (to < timeline.gutter || x > timeline.width || to - drawn < 1)
            continue;
        c.fillRect(Math.max(x, drawn), lane.y + LANE - 4, to - Math.max(x, drawn), 3);
        drawn = to;
    }
}

/* Draw in columns of a few pixels, so that a burst is visible at any scale. The band of states has
 * the top of the lane. */
function drawActivity(timeline, lane) {
    const { context: c, gutter, width, view, span } = timeline;
    const sums = timeline.sums[lane.thread.index], step = 2;
    const columns = Math.ceil((width - gutter) / step), values = new Float64Array(columns + 1);
    const per = (view.to - view.from) / columns, last = Math.min(sums.length,
        Math.ceil(view.to / span));
    const isCount = !isTimed(timeline.profile.meta.captures[lane.thread.capture].unit);
    for (let s = Math.max(0, Math.floor(view.from / span)); s < last; s++) {
        const from = (s * span - view.from) / per, to = ((s + 1) * span - view.from) / per;
        for (let i = Math.max(0, Math.floor(from)); sums[s] && i < to && i <= columns; i++)
            values[i] += sums[s] * (Math.min(i + 1, to) - Math.max(i, from)) / (to - from);
    }
    const most = isCount ? values.reduce((a, b) => Math.max(a, b), 0) : per;
    c.fillStyle = timeline.color('activity');
    for (let i = 0; i < columns; i++) {
        const h = Math.min(1, values[i] / (most || 1)) * (LANE - 7);
        if (values[i])
            c.fillRect(gutter + i * step, lane.y + LANE - 1 - Math.max(1, h), step, Math.max(1, h));
    }
}

function drawMarks(timeline, lane) {
    const { context: c } = timeline;
    for (const mark of lane.marks) {
        const x = timeline.x(mark[1] * 1e3), to = timeline.x((mark[1] + mark[2]) * 1e3);
        if (to < timeline.gutter || x > timeline.width)
            continue;
        const y = lane.y + 2 + (lane.isFolded ? 0 : mark.row * SPAN_ROW);
        const from = Math.max(timeline.gutter, x), room = Math.min(timeline.width, to) - from;
        c.fillStyle = timeline.color('mark');
        c.fillRect(from, y, Math.max(1.5, room - (room > 4 ? 1 : 0)), SPAN_ROW - 2);
        if (room > 34 && !lane.isFolded) {
            c.fillStyle = timeline.color('mark-text');
            c.fillText(timeline.cut(harmless(mark[4]) + (mark[5] ? ': ' + harmless(mark[5]) : ''),
                room - 8), from + 3, y + SPAN_ROW / 2 - 0.5);
        }
    }
}

function drawCounter(timeline, lane) {
    const { context: c } = timeline, { points } = lane.counter;
    const y = v => lane.y + lane.height - 4 -
        (lane.high > lane.low ? (v - lane.low) / (lane.high - lane.low) : 0.5) * (lane.height - 9);
    c.strokeStyle = timeline.color('counter');
    c.lineWidth = 1.25;
    c.beginPath();
    for (let i = 0; i < points.length; i += 2) {
        const x = Math.max(-1e4, Math.min(1e5, timeline.x(points[i] * 1e3)));
        if (i)
            c.lineTo(x, y(points[i - 1]));
        c.lineTo(x, y(points[i + 1]));
    }
    c.lineTo(timeline.width, y(points.at(-1)));
    c.stroke();
}
