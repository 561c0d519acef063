/* spans.js - runs of tasks and turns of loops: rows that do not overlap, and what caused what.
 *
 * SPDX-License-Identifier: MIT
 *
 * A row has the spans of one depth of one thread, in order. Its sums give how much of any stretch
 * of time spans cover, and its levels the longest span of any stretch: so a picture of a million
 * spans costs no more than its pixels.
 */

const SPAN_ROW = 15, SPAN_ROWS = 12, SPAN_CHAIN = 400;

class SpanRow {
    constructor(spans, index) {
        this.spans = spans;
        this.index = index;
        const n = index.length, { begin, length } = spans;
        this.sums = new Float64Array(n + 1);
        for (let i = 0; i < n; i++)
            this.sums[i + 1] = this.sums[i] + length[index[i]];
        const longer = (a, b) => length[b] > length[a] ? b : a;
        this.levels = [index];
        for (let below = index; below.length > 1; below = this.levels.at(-1)) {
            const level = new Int32Array(below.length + 1 >> 1);
            for (let i = 0; i < level.length; i++)
                level[i] = 2 * i + 1 < below.length ? longer(below[2 * i], below[2 * i + 1])
                    : below[2 * i];
            this.levels.push(level);
        }
        this.ends = i => begin[index[i]] + length[index[i]];
        this.begins = i => begin[index[i]];
    }

    get n() {
        return this.index.length;
    }

    /* Return the first position from `low` on whose key is more than ns, or the length. */
    first(key, ns, low = 0) {
        let high = this.n;
        while (low < high) {
            const middle = low + high >> 1;
            if (key(middle) > ns)
                high = middle;
            else
                low = middle + 1;
        }
        return low;
    }

    /* Return how much of the time until ns is covered. */
    covered(ns) {
        const i = this.first(this.ends, ns);
        return this.sums[i] + (i < this.n ? Math.max(0, ns - this.begins(i)) : 0);
    }

    /* Return the longest span of the positions [i, j). */
    longest(i, j) {
        const { length } = this.spans;
        let best = this.index[i];
        const take = s => { if (length[s] > length[best]) best = s; };
        for (let level = 0; i < j; level++, i >>= 1, j >>= 1) {
            if (i & 1)
                take(this.levels[level][i++]);
            if (j & 1)
                take(this.levels[level][--j]);
        }
        return best;
    }
}

class Spans {
    constructor(meta, next) {
        const n = meta.n;
        Object.assign(this, { n, meta, begin: new Float64Array(n), length: new Float64Array(n),
            what: new Int32Array(n), depth: new Uint8Array(n), lane: new Uint16Array(n),
            from: new Int32Array(n).fill(-1),
            delay: meta.hasDelays ? new Float64Array(n).fill(-1) : null });
        this.lanes = [];
        for (let l = 0, at = 0; l < meta.lanes.length; at += meta.lanes[l++][3])
            this.lanes.push(this.decode(next, meta.lanes[l], l, at));
        this.join();
    }

    decode(next, [capture, pid, tid, n], lane, first) {
        const { begin, length, meta } = this, ends = [], of = [];
        for (let i = first, at = 0; i < first + n; i++) {
            const code = next();
            at += next() * meta.step;
            begin[i] = at;
            length[i] = next() * meta.step;
            this.what[i] = Math.floor(code / 2);
            this.lane[i] = lane;
            if (code % 2) {
                const back = next();
                this.from[i] = i - (back % 2 ? -(back + 1) / 2 : back / 2);
            }
            if (this.delay && this.what[i])
                this.delay[i] = Math.max(-1, (next() - 1) * meta.step);
            while (ends.length && ends.at(-1) <= at)
                ends.pop();
            if (ends.length) /* it does not reach out of the one around it */
                length[i] = Math.min(length[i], ends.at(-1) - at);
            this.depth[i] = Math.min(255, ends.length);
            if (ends.length < SPAN_ROWS)
                (of[ends.length] ??= []).push(i);
            ends.push(at + length[i]);
        }
        const rows = of.map(list => new SpanRow(this, Int32Array.from(list)));
        return { capture, pid, tid, rows, first, n, late: this.lateOf(first, n) };
    }

    /* Return the turns that took longer than the limit, or without turns the outermost runs. */
    lateOf(first, n) {
        const late = [], all = [];
        let hasTurns = false;
        for (let i = first; i < first + n; i++) {
            hasTurns ||= !this.what[i];
            if (this.length[i] > this.meta.late)
                all.push(i);
        }
        for (const i of all)
            if (hasTurns ? !this.what[i] : !this.depth[i])
                late.push(i);
        return late;
    }

    /* Group the spans by their cause. */
    join() {
        const { n, from } = this;
        this.causedFirst = new Int32Array(n + 2);
        for (let i = 0; i < n; i++)
            if (from[i] >= 0)
                this.causedFirst[from[i] + 2]++;
        for (let i = 0; i < n; i++)
            this.causedFirst[i + 2] += this.causedFirst[i + 1];
        this.caused = new Int32Array(this.causedFirst[n + 1]);
        for (let i = 0; i < n; i++)
            if (from[i] >= 0)
                this.caused[this.causedFirst[from[i] + 1]++] = i;
    }

    /* Return the spans that led to this one, and those to which it led, the near ones first. */
    chain(span) {
        const found = [span];
        for (let s = this.from[span]; s >= 0 && found.length < SPAN_CHAIN / 2; s = this.from[s])
            found.push(s);
        const causes = found.length;
        for (let at = 0, s = span; found.length < SPAN_CHAIN;) {
            for (let i = this.causedFirst[s]; i < this.causedFirst[s + 1] &&
                 found.length < SPAN_CHAIN; i++)
                found.push(this.caused[i]);
            s = found[causes + at++];
            if (s === undefined)
                break;
        }
        return found;
    }

    color(span) {
        this.colors ??= new Map();
        const key = 2 * this.what[span] + isDark;
        if (!this.colors.has(key))
            this.colors.set(key, spanColor(this, span));
        return this.colors.get(key);
    }

    kind(span) {
        const what = this.what[span];
        return what ? harmless(this.meta.whats[2 * what - 2]) : '';
    }

    name(span) {
        const what = this.what[span];
        return what ? harmless(this.meta.whats[2 * what - 1]) : 'turn';
    }

    isLate(span) {
        return this.lanes[this.lane[span]].late.includes(span);
    }

    describe(span) {
        const lines = [[this.kind(span), this.name(span)].filter(Boolean).join(' '),
            `${formatDuration(this.length[span])} from ${formatMoment(this.begin[span])}`];
        if (this.isLate(span))
            lines.push(`late: over ${formatDuration(this.meta.late)}`);
        if (this.delay?.[span] >= 0)
            lines.push(`waited ${formatDuration(this.delay[span])} until it ran`);
        const cause = this.from[span], caused = this.causedFirst[span + 1] - this.causedFirst[span];
        if (cause >= 0)
            lines.push(`caused by ${this.kind(cause)} ${this.name(cause)}, ` +
                `${formatDuration(this.begin[span] - this.begin[cause])} before`);
        if (caused)
            lines.push(`caused ${formatCount(caused)} run${caused > 1 ? 's' : ''}`);
        return lines;
    }

    /* Return the span of a lane at this depth and moment, or one within `near` ns; -1: none. */
    at(lane, depth, ns, near) {
        const row = this.lanes[lane].rows[depth];
        if (!row)
            return -1;
        const i = row.first(row.ends, ns - near);
        return i < row.n && row.begins(i) <= ns + near ? row.index[i] : -1;
    }
}

/* To a microsecond where it matters. */
const formatMoment = ns => (ns / 1e9).toFixed(6) + ' s';

/* Return a color for each kind and name; turns are grey. */
function spanColor(spans, span) {
    const what = spans.what[span];
    if (!what)
        return isDark ? '#4a515c' : '#c9ced6';
    let hash = 7;
    for (const c of spans.meta.whats[2 * what - 1])
        hash = hash * 31 + c.charCodeAt(0) >>> 0;
    return `oklch(${isDark ? 0.5 : 0.82} 0.09 ${hash % 360})`;
}

/* Draw a row: boxes where they have the room, and where they have not, in each pixel the longest
 * one, as strong as spans cover it. */
function drawSpanRow(timeline, row, y, strength) {
    const { context: c, view, gutter, width, spans } = timeline;
    const scale = (view.to - view.from) / (width - gutter);
    const toX = ns => gutter + (ns - view.from) / scale;
    c.textBaseline = 'middle';
    for (let i = row.first(row.ends, view.from); i < row.n && row.begins(i) < view.to;) {
        const span = row.index[i], x0 = Math.max(gutter, toX(row.begins(i)));
        const x1 = Math.min(width, toX(row.ends(i)));
        if (x1 - x0 >= 2) {
            drawSpan(timeline, span, y, x0, x1, strength);
            i++;
            continue;
        }
        const from = view.from + (Math.floor(x0) - gutter) * scale, to = from + scale;
        let j = Math.max(i + 1, row.first(row.begins, to, i));
        if (j > i + 1 && toX(row.ends(j - 1)) - toX(row.begins(j - 1)) >= 2)
            j--;
        const share = (row.covered(to) - row.covered(from)) / scale;
        c.fillStyle = spans.color(row.longest(i, j));
        c.globalAlpha = strength * Math.min(1, 0.35 + share);
        c.fillRect(Math.floor(x0), y, 1, SPAN_ROW - 2);
        c.globalAlpha = 1;
        i = j;
    }
}

function drawSpan(timeline, span, y, x0, x1, strength) {
    const { context: c, spans } = timeline;
    c.globalAlpha = strength;
    c.fillStyle = spans.color(span);
    c.fillRect(x0, y, Math.max(1, x1 - x0 - (x1 - x0 > 4 ? 1 : 0)), SPAN_ROW - 2);
    if (x1 - x0 > 34) {
        c.fillStyle = timeline.color('box-text');
        c.fillText(timeline.cut(splitName(spans.name(span)).name, x1 - x0 - 8), x0 + 3,
            y + SPAN_ROW / 2 - 0.5);
    }
    c.globalAlpha = 1;
}

/* Draw the spans of a chain on top, and an arrow to each one from its cause. */
function drawChain(timeline, lit) {
    const { context: c, spans, selected } = timeline, set = new Set(lit);
    for (const span of lit) {
        const at = timeline.placeOf(span);
        if (at && at.x1 >= timeline.gutter && at.x0 <= timeline.width) {
            drawSpan(timeline, span, at.y, Math.max(timeline.gutter, at.x0),
                Math.min(timeline.width, Math.max(at.x1, at.x0 + 2)), 1);
            c.strokeStyle = timeline.color(span === lit[0] || span === selected ? 'outline'
                : 'accent');
            c.lineWidth = 1;
            c.strokeRect(Math.max(timeline.gutter, at.x0) + 0.5, at.y + 0.5,
                Math.max(1, Math.min(timeline.width, at.x1) - Math.max(timeline.gutter, at.x0) - 1),
                SPAN_ROW - 3);
        }
    }
    c.strokeStyle = c.fillStyle = timeline.color('accent');
    c.lineWidth = 1.5;
    for (const span of lit)
        if (set.has(spans.from[span]))
            drawArrow(timeline, spans.from[span], span);
}

function drawArrow(timeline, from, to) {
    const { context: c, spans } = timeline, a = timeline.placeOf(from), b = timeline.placeOf(to);
    if (!a || !b)
        return;
    /* It begins at the moment at which the run became possible. */
    const ready = spans.delay?.[to] >= 0 ? spans.begin[to] - spans.delay[to] : Infinity;
    const x0 = Math.min(Math.max(timeline.x(ready), a.x0), a.x1, b.x0), x1 = b.x0;
    if (x1 < timeline.gutter - 2000 || x0 > timeline.width + 2000)
        return;
    const y0 = a.y + SPAN_ROW / 2 - 1, y1 = b.y + SPAN_ROW / 2 - 1;
    const bend = Math.max(12, Math.min(60, (x1 - x0) / 2)), arch = y0 === y1 ? SPAN_ROW : 0;
    c.beginPath();
    c.moveTo(x0, y0);
    c.bezierCurveTo(x0 + bend / 2, y0 - arch, x1 - bend, y1 - arch, x1 - 1, y1);
    c.stroke();
    c.beginPath();
    c.moveTo(x1, y1);
    c.lineTo(x1 - 6, y1 - 3.5);
    c.lineTo(x1 - 6, y1 + 3.5);
    c.fill();
}
