/* timeline.js - threads, marks and counters over time; dragging selects a range.
 *
 * SPDX-License-Identifier: MIT
 *
 * The height of a thread's curve is how busy it was: its CPU time (or its samples' time)
 * as a share of the elapsed time or, without a clock, its samples relative to its busiest
 * moment. The names of lanes have less room where the page is narrow.
 */

const AXIS = 18, LANE = 26, MARK_LANE = 17, COUNTER_LANE = 34;

class Timeline {
    constructor(canvas, events) {
        this.canvas = canvas;
        this.events = events; /* range(from, to) in spans, thread(index), hover(text, at) */
        this.draw = oncePerFrame(() => this.drawNow());
        this.fit = fitCanvas(canvas, () => ({
            width: canvas.parentElement.clientWidth, height: this.height ?? AXIS }), this.draw);
        this.range = null; /* {from, to} in spans; null: everything */
        canvas.addEventListener('pointerdown', e => this.down(e));
        canvas.addEventListener('pointermove', e => this.move(e));
        canvas.addEventListener('pointerup', e => this.up(e));
        canvas.addEventListener('pointerleave', () => this.events.hover(null));
        canvas.addEventListener('dblclick', () => this.setRange(null));
        canvas.addEventListener('keydown', e => this.key(e));
    }

    setProfile(profile) {
        this.profile = profile;
        this.spans = profile.meta.spans;
        this.span = profile.meta.span;
        this.sums = this.activity();
        this.setLanes(profile.meta.captures.map((_, c) => c));
    }

    /* Return the value by thread and span. */
    activity() {
        const { meta, time, stack } = this.profile;
        const sums = meta.threads.map(() => new Float64Array(this.spans));
        const isCount = meta.threads.map(t => !isTimed(meta.captures[t.capture].unit));
        for (let s = 0; s < this.spans; s++)
            for (let i = time.spanStart[s]; i < time.spanStart[s + 1]; i++) {
                const t = stack.thread[time.stack[i]], value = time.value[i];
                /* A sample covers the time before it, which may be several spans. */
                const n = isCount[t] ? 1
                    : Math.min(s + 1, Math.max(1, Math.ceil(value / meta.span)));
                for (let j = 0; j < n; j++)
                    sums[t][s - j] += value / n;
            }
        return sums;
    }

    setLanes(captures) {
        const { meta } = this.profile, lanes = [];
        const whole = t => this.sums[t].reduce((a, b) => a + b, 0);
        const threads = meta.threads.map((t, i) => ({ ...t, index: i, whole: whole(i) }))
            .filter(t => captures.includes(t.capture))
            .sort((a, b) => a.capture - b.capture || b.whole - a.whole);
        for (const t of threads)
            lanes.push({ kind: 'thread', height: LANE, thread: t,
                         label: threadLabel(meta, t) });
        const groups = new Map();
        for (const m of meta.marks.list)
            if (captures.includes(m[0]))
                groups.set(m[3], [...groups.get(m[3]) ?? [], m]);
        for (const [group, marks] of groups)
            lanes.push({ kind: 'marks', height: MARK_LANE, marks,
                         label: harmless(group) || 'marks' });
        for (const c of meta.counters)
            if (captures.includes(c.capture) && c.points.length)
                lanes.push({ kind: 'counter', height: COUNTER_LANE, counter: c,
                             label: harmless(c.name) });
        let y = AXIS;
        for (const lane of lanes) {
            lane.y = y;
            y += lane.height;
        }
        this.lanes = lanes;
        this.height = y + 2;
        this.draw();
    }

    get end() {
        return this.spans * this.span;
    }

    get gutter() {
        return this.width < 600 ? 84 : 150;
    }

    x(ns) {
        return this.gutter + ns / this.end * (this.width - this.gutter);
    }

    timeAt(e) {
        const px = e.clientX - this.canvas.getBoundingClientRect().left;
        return Math.min(1, Math.max(0, (px - this.gutter) / (this.width - this.gutter))) * this.end;
    }

    drawNow() {
        if (!this.lanes || !this.canvas.parentElement.clientWidth)
            return;
        const { context, width, height } = this.fit();
        const style = getComputedStyle(this.canvas);
        this.color = name => style.getPropertyValue('--' + name);
        this.context = context;
        this.width = width;
        context.clearRect(0, 0, width, height);
        context.font = '11px system-ui, sans-serif';
        context.textBaseline = 'middle';
        context.fillStyle = this.color('dim');
        for (const { at, text } of timeTicks(0, this.end, width - this.gutter)) {
            context.fillRect(this.x(at), 0, 1, 5);
            context.fillText(text, this.x(at) + 4, AXIS / 2);
        }
        for (const lane of this.lanes)
            this.drawLane(lane);
        this.drawRange(height);
    }

    drawLane(lane) {
        const c = this.context, isOff = lane.kind === 'thread' &&
            this.threads && !this.threads[lane.thread.index];
        c.fillStyle = this.color('line');
        c.fillRect(0, lane.y + lane.height - 1, this.width, 1);
        c.fillStyle = this.color(isOff ? 'dim' : 'text');
        c.fillText(this.cut(lane.label, this.gutter - 12), 6, lane.y + lane.height / 2);
        c.globalAlpha = isOff ? 0.3 : 1;
        ({ thread: () => this.drawThread(lane), marks: () => this.drawMarks(lane),
           counter: () => this.drawCounter(lane) })[lane.kind]();
        c.globalAlpha = 1;
    }

    cut(text, room) {
        const c = this.context;
        if (c.measureText(text).width <= room)
            return text;
        let n = text.length;
        while (n > 1 && c.measureText(text.slice(0, n) + '…').width > room)
            n--;
        return text.slice(0, n) + '…';
    }

    /* Draw in columns of a few pixels, so that a burst is visible at any scale. */
    drawThread(lane) {
        const c = this.context, sums = this.sums[lane.thread.index];
        const step = 2, columns = Math.ceil((this.width - this.gutter) / step);
        const values = new Float64Array(columns + 1), per = this.end / columns;
        const isCount = !isTimed(this.profile.meta.captures[lane.thread.capture].unit);
        sums.forEach((v, s) => {
            const from = s * columns / this.spans, to = (s + 1) * columns / this.spans;
            for (let i = Math.floor(from); i < to && i <= columns; i++)
                values[i] += v * (Math.min(i + 1, to) - Math.max(i, from)) / (to - from);
        });
        const most = isCount ? values.reduce((a, b) => Math.max(a, b), 0) : per;
        drawStates(this, lane);
        c.fillStyle = this.color('activity');
        for (let i = 0; i < columns; i++) {
            const h = Math.min(1, values[i] / (most || 1)) * (lane.height - 4);
            if (values[i])
                c.fillRect(this.gutter + i * step, lane.y + lane.height - 1 - Math.max(1, h),
                    step, Math.max(1, h));
        }
    }

    drawMarks(lane) {
        const c = this.context;
        c.fillStyle = this.color('mark');
        for (const [, at, length] of lane.marks) {
            const x = this.x(at * 1e3), w = length * 1e3 / this.end * (this.width - this.gutter);
            c.fillRect(x, lane.y + 3, Math.max(1.5, w), lane.height - 7);
        }
    }

    drawCounter(lane) {
        const c = this.context, { points } = lane.counter;
        let low = Infinity, high = -Infinity;
        for (let i = 1; i < points.length; i += 2) {
            low = Math.min(low, points[i]);
            high = Math.max(high, points[i]);
        }
        const y = v => lane.y + lane.height - 4 -
            (high > low ? (v - low) / (high - low) : 0.5) * (lane.height - 9);
        c.strokeStyle = this.color('counter');
        c.lineWidth = 1.25;
        c.beginPath();
        for (let i = 0; i < points.length; i += 2) {
            if (i)
                c.lineTo(this.x(points[i] * 1e3), y(points[i - 1]));
            c.lineTo(this.x(points[i] * 1e3), y(points[i + 1]));
        }
        c.stroke();
    }

    drawRange(height) {
        const c = this.context, range = this.dragged ?? this.range;
        if (!range)
            return;
        const x0 = this.x(range.from * this.span), x1 = this.x(range.to * this.span);
        c.fillStyle = this.color('veil');
        c.fillRect(this.gutter, 0, x0 - this.gutter, height);
        c.fillRect(x1, 0, this.width - x1, height);
        c.fillStyle = this.color('accent');
        c.fillRect(x0 - 1, 0, 2, height);
        c.fillRect(x1 - 1, 0, 2, height);
    }

    laneAt(e) {
        const y = e.clientY - this.canvas.getBoundingClientRect().top;
        return this.lanes.find(l => y >= l.y && y < l.y + l.height);
    }

    isGutter(e) {
        return e.clientX - this.canvas.getBoundingClientRect().left < this.gutter;
    }

    down(e) {
        if (e.button !== 0)
            return;
        if (this.isGutter(e)) {
            const lane = this.laneAt(e);
            if (lane?.kind === 'thread')
                this.events.thread(lane.thread.index);
            return;
        }
        this.start = { ns: this.timeAt(e), x: e.clientX };
        this.canvas.setPointerCapture(e.pointerId);
    }

    spansOf(a, b) {
        const from = Math.floor(Math.min(a, b) / this.span);
        const to = Math.ceil(Math.max(a, b) / this.span);
        return { from: Math.min(from, this.spans - 1),
                 to: Math.min(this.spans, Math.max(from + 1, to)) };
    }

    move(e) {
        if (this.start && Math.abs(e.clientX - this.start.x) > 3)
            this.dragged = this.spansOf(this.start.ns, this.timeAt(e));
        if (this.start)
            this.draw();
        else
            this.hover(e);
    }

    up() {
        if (this.start && this.dragged)
            this.setRange(this.dragged);
        this.start = this.dragged = null;
    }

    hover(e) {
        const lane = this.laneAt(e), ns = this.timeAt(e);
        this.canvas.style.cursor = !this.isGutter(e) ? 'col-resize'
            : lane?.kind === 'thread' ? 'pointer' : 'default';
        if (!lane || this.isGutter(e)) {
            this.events.hover(lane ? [lane.label] : null, e);
            return;
        }
        const lines = [formatSeconds(ns) + ' s', lane.label];
        if (lane.kind === 'marks')
            lines.push(...this.marksAt(lane, ns).map(m => harmless(m[4]) + ' ' +
                formatDuration(m[2] * 1e3) + (m[5] ? ': ' + harmless(m[5]) : '')));
        if (lane.kind === 'counter')
            lines.push(String(this.counterAt(lane.counter, ns)));
        this.events.hover(lines, e);
    }

    marksAt(lane, ns) {
        const near = 3 * this.end / (this.width - this.gutter);
        return lane.marks.filter(m => ns >= m[1] * 1e3 - near &&
            ns <= (m[1] + m[2]) * 1e3 + near).slice(0, 8);
    }

    counterAt(counter, ns) {
        let value = '';
        for (let i = 0; i < counter.points.length && counter.points[i] * 1e3 <= ns; i += 2)
            value = counter.points[i + 1];
        return typeof value === 'number' ? formatNumber(value) : value;
    }

    setRange(range) {
        if (range && range.from <= 0 && range.to >= this.spans)
            range = null;
        this.range = range;
        const from = range ? range.from : 0, to = range ? range.to : this.spans;
        this.canvas.setAttribute('aria-valuenow', Math.round(100 * from / this.spans));
        this.canvas.setAttribute('aria-valuetext', range
            ? `${formatSeconds(from * this.span)} to ${formatSeconds(to * this.span)} seconds`
            : 'everything');
        this.draw();
        this.events.range(from, to);
    }

    /* Arrow keys move the range, or its end with Shift. Without a range they make one. */
    key(e) {
        const left = e.key === 'ArrowLeft', step = Math.max(1, Math.round(this.spans / 50));
        if (e.key === 'Escape' && this.range) {
            this.setRange(null);
        } else if (left || e.key === 'ArrowRight') {
            const { from, to } = this.range ?? { from: 0, to: Math.ceil(this.spans / 4) };
            const by = !this.range ? 0 : left ? -step : step;
            const low = e.shiftKey ? from : Math.max(0, Math.min(from + by,
                this.spans - (to - from)));
            const high = e.shiftKey ? Math.max(from + 1, Math.min(to + by, this.spans))
                                    : low + to - from;
            this.setRange({ from: low, to: high });
        } else {
            return;
        }
        e.preventDefault();
        e.stopPropagation();
    }
}

function threadLabel(meta, thread) {
    const name = harmless(thread.name) || 'thread ' + thread.tid;
    return meta.captures.length > 1
        ? `${thread.capture ? 'after' : 'before'}: ${name}` : name;
}
