/* timeline.js - threads, tasks, marks and counters over time; dragging selects a range.
 *
 * SPDX-License-Identifier: MIT
 *
 * The view is the stretch of time that is visible: the wheel, keys and buttons change it. The range
 * is the chosen one, which filters everything; it is in spans of time, and the view is not. The
 * height of a thread's curve is how busy it was: its CPU time (or its samples' time) as a share of
 * the elapsed time or, without a clock, its samples relative to its busiest moment. The names of
 * lanes have less room where the page is narrow.
 */

const AXIS = 18, LEAST_VIEW = 2000; /* ns */

class Timeline {
    constructor(canvas, events) {
        this.canvas = canvas;
        this.events = events; /* range(from, to) in spans, thread(index), hover(text, at) */
        this.draw = oncePerFrame(() => this.drawNow());
        this.fit = fitCanvas(canvas, () => ({
            width: canvas.parentElement.clientWidth, height: this.height ?? AXIS }), this.draw);
        this.range = null; /* {from, to} in spans; null: everything */
        this.folded = new Set();
        this.lit = []; /* the span under the pointer, or the selected one, with its chain */
        this.selected = this.hovered = -1;
        canvas.addEventListener('pointerdown', e => this.down(e));
        canvas.addEventListener('pointermove', e => this.move(e));
        canvas.addEventListener('pointerup', e => this.up(e));
        canvas.addEventListener('pointerleave', () => this.leave());
        canvas.addEventListener('dblclick', e => this.double(e));
        canvas.addEventListener('wheel', e => this.wheel(e), { passive: false });
        canvas.addEventListener('keydown', e => this.key(e));
        byId('zoom-in').addEventListener('click', () => this.zoom(0.5));
        byId('zoom-out').addEventListener('click', () => this.zoom(2));
        byId('late').addEventListener('click', () => this.nextLate());
        this.listenSize(byId('lanes-size'), canvas.parentElement);
    }

    setProfile(profile) {
        this.profile = profile;
        this.spans = profile.spans;
        this.bins = profile.meta.spans;
        this.span = profile.meta.span;
        this.sums = this.activity();
        this.end = this.bins * this.span;
        for (let i = 0; this.spans && i < this.spans.n; i++)
            this.end = Math.max(this.end, this.spans.begin[i] + this.spans.length[i]);
        this.view = { from: 0, to: this.end };
        this.setLanes(profile.meta.captures.map((_, c) => c));
        this.setSize(Math.min(this.height, this.spans ? 300 : 158));
    }

    /* Return the value by thread and span of time. */
    activity() {
        const { meta, time, stack } = this.profile;
        const sums = meta.threads.map(() => new Float64Array(this.bins));
        const isCount = meta.threads.map(t => !isTimed(meta.captures[t.capture].unit));
        for (let s = 0; s < this.bins; s++)
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
        this.captures = captures;
        this.lanes = makeLanes(this, captures);
        this.height = this.lanes.length
            ? this.lanes.at(-1).y + this.lanes.at(-1).height + 2 : AXIS + 2;
        this.current = this.lanes.find(l => l.id && l.id === this.current?.id) ?? null;
        this.late = (this.spans?.lanes ?? []).filter(l => captures.includes(l.capture))
            .flatMap(l => l.late).sort((a, b) => this.spans.begin[a] - this.spans.begin[b]);
        byId('late').hidden = !this.late.length;
        byId('late').textContent = `${formatCount(this.late.length)} late`;
        byId('late').title = this.late.length ? 'Turns or tasks of more than ' +
            `${formatDuration(this.spans.meta.late)}: go to the next one (L)` : '';
        this.light(-1);
        this.draw();
    }

    get gutter() {
        return this.width < 600 ? 84 : 150;
    }

    x(ns) {
        return this.gutter + (ns - this.view.from) / (this.view.to - this.view.from) *
            (this.width - this.gutter);
    }

    timeAt(e) {
        const px = e.clientX - this.canvas.getBoundingClientRect().left;
        const share = Math.min(1, Math.max(0, (px - this.gutter) / (this.width - this.gutter)));
        return this.view.from + share * (this.view.to - this.view.from);
    }

    /* -- What is visible -------------------------------------------------------- */

    setView(from, to) {
        const length = Math.min(this.end, Math.max(LEAST_VIEW, to - from));
        const begin = Math.max(0, Math.min(from, this.end - length));
        this.view = { from: begin, to: begin + length };
        byId('zoom-out').disabled = length >= this.end;
        byId('zoom-in').disabled = length <= LEAST_VIEW;
        this.draw();
    }

    zoom(factor, at = (this.view.from + this.view.to) / 2) {
        const { from, to } = this.view;
        this.setView(at - (at - from) * factor, at + (to - at) * factor);
    }

    pan(share) {
        const by = share * (this.view.to - this.view.from);
        this.setView(this.view.from + by, this.view.to + by);
    }

    /* Over the names of lanes the wheel scrolls. */
    wheel(e) {
        if (this.isGutter(e) && !e.ctrlKey)
            return;
        e.preventDefault();
        const scale = e.deltaMode ? 16 : 1, sideways = e.deltaX || (e.shiftKey ? e.deltaY : 0);
        if (sideways)
            this.pan(sideways * scale / 1000);
        else
            this.zoom(2 ** (Math.max(-240, Math.min(240, e.deltaY * scale)) / 240),
                this.timeAt(e));
    }

    /* -- Drawing ---------------------------------------------------------------- */

    drawNow() {
        if (!this.lanes || !this.canvas.parentElement.clientWidth)
            return;
        const { context, width, height } = this.fit();
        const style = getComputedStyle(this.canvas), colors = {};
        this.color = name => colors[name] ??= style.getPropertyValue('--' + name);
        this.context = context;
        this.width = width;
        context.clearRect(0, 0, width, height);
        context.font = '11px system-ui, sans-serif';
        context.textBaseline = 'middle';
        context.fillStyle = this.color('dim');
        for (const { at, text } of timeTicks(this.view.from, this.view.to, width - this.gutter)) {
            context.fillRect(this.x(at), 0, 1, 5);
            context.fillText(text, this.x(at) + 4, AXIS / 2);
        }
        const { scrollTop: top, clientHeight: room } = this.canvas.parentElement;
        for (const lane of this.lanes)
            if (lane.y <= top + room && lane.y + lane.height >= top)
                drawLane(this, lane);
        context.save();
        context.beginPath();
        context.rect(this.gutter, AXIS, width - this.gutter, height - AXIS);
        context.clip();
        if (this.lit.length)
            drawChain(this, this.lit);
        this.drawRange(height);
        context.restore();
    }

    cut(text, room) {
        const c = this.context;
        if (text.length * 4 < room && c.measureText(text).width <= room)
            return text;
        let low = 1, high = Math.min(text.length, Math.ceil(room / 2));
        if (high === text.length && c.measureText(text).width <= room)
            return text;
        while (low < high) {
            const middle = low + high + 1 >> 1;
            if (c.measureText(text.slice(0, middle) + '…').width <= room)
                low = middle;
            else
                high = middle - 1;
        }
        return text.slice(0, low) + '…';
    }

    drawRange(height) {
        const c = this.context, range = this.dragged ?? this.range;
        if (!range)
            return;
        const x0 = this.x(range.from * this.span), x1 = this.x(range.to * this.span);
        c.fillStyle = this.color('veil');
        if (x0 > this.gutter)
            c.fillRect(this.gutter, 0, x0 - this.gutter, height);
        if (x1 < this.width)
            c.fillRect(Math.max(this.gutter, x1), 0, this.width - x1, height);
        c.fillStyle = this.color('accent');
        c.fillRect(x0 - 1, 0, 2, height);
        c.fillRect(x1 - 1, 0, 2, height);
    }

    /* -- Spans ------------------------------------------------------------------- */

    /* Return where a span is drawn, or null: its lane is not shown. */
    placeOf(span) {
        const { spans } = this, lane = this.lanes.find(l => l.thread?.lane === spans.lane[span] &&
            l.kind === 'thread');
        if (!lane)
            return null;
        const depth = Math.min(spans.depth[span], lane.rows - 1);
        return { lane, x0: this.x(spans.begin[span]),
            x1: this.x(spans.begin[span] + spans.length[span]),
            y: depth < 0 ? lane.y + LANE - SPAN_ROW : lane.y + LANE + depth * SPAN_ROW };
    }

    spanAt(e, lane) {
        const y = e.clientY - this.canvas.getBoundingClientRect().top;
        if (!lane || lane.kind !== 'thread' || lane.thread.lane < 0 || !lane.rows)
            return -1;
        const depth = Math.floor((y - lane.y - LANE) / SPAN_ROW);
        const near = (this.view.to - this.view.from) / (this.width - this.gutter) * 2;
        return depth < 0 ? -1 : this.spans.at(lane.thread.lane, depth, this.timeAt(e), near);
    }

    /* Light a span with its chain; -1: the selected one, if any. */
    light(span) {
        const shown = span >= 0 ? span : this.selected;
        if (this.hovered === span && this.lit[0] === (shown >= 0 ? shown : undefined))
            return;
        this.hovered = span;
        this.lit = shown >= 0 ? this.spans.chain(shown) : [];
        this.draw();
    }

    /* Select a span, and show it where it can be seen. */
    select(span, isSaid = false) {
        this.selected = span;
        this.light(-1);
        if (span < 0)
            return;
        const { begin, length } = this.spans, from = begin[span], to = from + length[span];
        const room = this.view.to - this.view.from;
        if (isSaid && (to < this.view.from || from > this.view.to || length[span] > room ||
                       length[span] < room / 300))
            this.setView(from - length[span] * 2 - LEAST_VIEW, to + length[span] * 2 + LEAST_VIEW);
        const at = this.placeOf(span), scroll = this.canvas.parentElement;
        if (isSaid && at && (at.y < scroll.scrollTop + AXIS ||
                             at.y + SPAN_ROW > scroll.scrollTop + scroll.clientHeight))
            scroll.scrollTop = at.y - scroll.clientHeight / 2;
        if (at)
            this.current = at.lane;
        if (isSaid)
            announce(this.spans.describe(span).join(', '));
        this.draw();
    }

    nextLate() {
        const { begin } = this.spans ?? {}, now = this.selected >= 0 ? begin[this.selected]
            : -Infinity;
        if (this.late.length)
            this.select(this.late.find(s => begin[s] > now) ?? this.late[0], true);
    }

    /* Go to the next span of the lane, or with -1 to the one before. */
    step(by) {
        const own = this.selected >= 0 ? this.spans.lane[this.selected] : -1;
        const lane = this.current?.thread?.lane ?? -1;
        const of = this.spans?.lanes[lane >= 0 ? lane : this.lanes.find(l =>
            l.thread?.lane >= 0)?.thread.lane];
        if (!of?.n)
            return;
        const visible = of.rows[0].index[Math.min(of.rows[0].n - 1,
            of.rows[0].first(of.rows[0].ends, this.view.from))];
        const span = own === this.spans.lanes.indexOf(of) ? this.selected + by : visible;
        this.select(Math.max(of.first, Math.min(of.first + of.n - 1, span)), true);
    }

    /* -- The pointer --------------------------------------------------------------- */

    laneAt(e) {
        const y = e.clientY - this.canvas.getBoundingClientRect().top;
        return this.lanes.find(l => y >= l.y && y < l.y + l.height);
    }

    isGutter(e) {
        return e.clientX - this.canvas.getBoundingClientRect().left < this.gutter;
    }

    fold(lane) {
        if (!lane?.canFold)
            return;
        if (!this.folded.delete(lane.id))
            this.folded.add(lane.id);
        this.setLanes(this.captures);
        announce(lane.label + (this.folded.has(lane.id) ? ' folded' : ' unfolded'));
    }

    down(e) {
        if (e.button !== 0)
            return;
        if (this.isGutter(e)) {
            const lane = this.laneAt(e);
            const isMark = e.clientX - this.canvas.getBoundingClientRect().left < 17;
            if (lane?.canFold && (isMark || lane.kind !== 'thread'))
                this.fold(lane);
            else if (lane?.kind === 'thread' && lane.thread.index >= 0)
                this.events.thread(lane.thread.index);
            return;
        }
        this.start = { ns: this.timeAt(e), x: e.clientX };
        this.canvas.setPointerCapture(e.pointerId);
    }

    spansOf(a, b) {
        const from = Math.floor(Math.min(a, b) / this.span);
        const to = Math.ceil(Math.max(a, b) / this.span);
        return { from: Math.min(from, this.bins - 1),
                 to: Math.min(this.bins, Math.max(from + 1, to)) };
    }

    move(e) {
        if (this.start && Math.abs(e.clientX - this.start.x) > 3)
            this.dragged = this.spansOf(this.start.ns, this.timeAt(e));
        if (this.start)
            this.draw();
        else
            this.hover(e);
    }

    up(e) {
        if (this.start && this.dragged)
            this.setRange(this.dragged);
        else if (this.start && this.spans)
            this.select(this.spanAt(e, this.laneAt(e)));
        this.start = this.dragged = null;
    }

    leave() {
        this.light(-1);
        this.events.hover(null);
    }

    /* A double click on a span shows it whole; elsewhere it shows and chooses all of the time. */
    double(e) {
        const span = this.isGutter(e) ? -1 : this.spanAt(e, this.laneAt(e));
        if (span < 0) {
            this.setView(0, this.end);
            this.setRange(null);
        } else {
            const { begin, length } = this.spans;
            this.setView(begin[span] - length[span] * 0.1, begin[span] + length[span] * 1.1);
        }
    }

    hover(e) {
        const lane = this.laneAt(e), ns = this.timeAt(e), isGutter = this.isGutter(e);
        const span = isGutter ? -1 : this.spanAt(e, lane);
        this.light(span);
        this.canvas.style.cursor = span >= 0 ? 'pointer' : !isGutter ? 'col-resize'
            : lane?.canFold || lane?.kind === 'thread' ? 'pointer' : 'default';
        if (!lane || isGutter) {
            this.events.hover(lane ? [lane.label] : null, e);
            return;
        }
        if (span >= 0) {
            this.events.hover(this.spans.describe(span), e);
            return;
        }
        const lines = [formatSeconds(ns) + ' s', lane.label];
        if (lane.kind === 'marks')
            lines.push(...this.marksAt(lane, ns).map(m => harmless(m[4]) + ' ' +
                formatDuration(m[2] * 1e3) + (m[5] ? ': ' + harmless(m[5]) : '')));
        if (lane.kind === 'counter')
            lines.push(this.counterAt(lane.counter, ns));
        this.events.hover(lines, e);
    }

    marksAt(lane, ns) {
        const near = 3 * (this.view.to - this.view.from) / (this.width - this.gutter);
        return lane.marks.filter(m => ns >= m[1] * 1e3 - near &&
            ns <= (m[1] + m[2]) * 1e3 + near).slice(0, 8);
    }

    counterAt(counter, ns) {
        let value = null;
        for (let i = 0; i < counter.points.length && counter.points[i] * 1e3 <= ns; i += 2)
            value = counter.points[i + 1];
        return value === null ? '' : counterText(counter, value);
    }

    /* -- The range and the keys ------------------------------------------------------ */

    setRange(range) {
        if (range && range.from <= 0 && range.to >= this.bins)
            range = null;
        this.range = range;
        const from = range ? range.from : 0, to = range ? range.to : this.bins;
        this.canvas.setAttribute('aria-valuenow', Math.round(100 * from / this.bins));
        this.canvas.setAttribute('aria-valuetext', range
            ? `${formatSeconds(from * this.span)} to ${formatSeconds(to * this.span)} seconds`
            : 'everything');
        this.draw();
        this.events.range(from, to);
    }

    /* Arrow keys move the range, or its end with Shift. Without a range they make one. */
    moveRange(left, isEnd) {
        const step = Math.max(1, Math.round(this.bins / 50));
        const { from, to } = this.range ?? { from: 0, to: Math.ceil(this.bins / 4) };
        const by = !this.range ? 0 : left ? -step : step;
        const low = isEnd ? from : Math.max(0, Math.min(from + by, this.bins - (to - from)));
        const high = isEnd ? Math.max(from + 1, Math.min(to + by, this.bins)) : low + to - from;
        this.setRange({ from: low, to: high });
    }

    moveLane(by) {
        const at = this.lanes.indexOf(this.current) + by;
        this.current = this.lanes[Math.max(0, Math.min(this.lanes.length - 1, at))];
        this.canvas.parentElement.scrollTop = Math.max(0, this.current.y - 60);
        announce(this.current.label + (this.current.canFold
            ? this.current.isFolded ? ', folded' : ', unfolded' : ''));
        this.draw();
    }

    /* Choose the time of the selected span. */
    choose() {
        const { begin, length } = this.spans;
        this.setRange(this.spansOf(begin[this.selected], Math.min(this.end - 1,
            begin[this.selected] + length[this.selected])));
    }

    key(e) {
        const actions = {
            ArrowLeft: () => this.moveRange(true, e.shiftKey),
            ArrowRight: () => this.moveRange(false, e.shiftKey),
            ArrowUp: () => this.moveLane(-1), ArrowDown: () => this.moveLane(1),
            w: () => this.zoom(0.5), '+': () => this.zoom(0.5), '=': () => this.zoom(0.5),
            s: () => this.zoom(2), '-': () => this.zoom(2), a: () => this.pan(-0.25),
            d: () => this.pan(0.25), 0: () => this.setView(0, this.end),
            ']': () => this.step(1), '[': () => this.step(-1), l: () => this.nextLate(),
            ' ': () => this.fold(this.current ?? this.lanes[0]),
            z: () => this.range && this.setView(this.range.from * this.span,
                this.range.to * this.span),
        };
        if (this.selected >= 0)
            actions.Enter = () => this.choose();
        if (this.selected >= 0 || this.range)
            actions.Escape = () => this.selected >= 0 ? this.select(-1) : this.setRange(null);
        const action = !e.ctrlKey && !e.altKey && !e.metaKey && actions[e.key.length === 1
            ? e.key.toLowerCase() : e.key];
        if (!action)
            return;
        action();
        e.preventDefault();
        e.stopPropagation();
    }

    /* -- Its size --------------------------------------------------------------------- */

    setSize(px) {
        const height = Math.max(60, Math.min(px, this.height, innerHeight * 0.8));
        this.canvas.parentElement.style.height = height + 'px';
        byId('lanes-size').setAttribute('aria-valuenow', Math.round(height));
        this.draw();
    }

    listenSize(handle, box) {
        handle.addEventListener('pointerdown', e => {
            const from = e.clientY, height = box.clientHeight;
            handle.setPointerCapture(e.pointerId);
            handle.onpointermove = move => this.setSize(height + move.clientY - from);
            handle.onpointerup = () => { handle.onpointermove = null; };
        });
        handle.addEventListener('keydown', e => {
            const by = { ArrowUp: -20, ArrowDown: 20 }[e.key];
            if (!by)
                return;
            this.setSize(box.clientHeight + by);
            e.preventDefault();
            e.stopPropagation();
        });
        box.addEventListener('scroll', this.draw);
    }
}

function threadLabel(meta, thread) {
    const name = harmless(thread.name) || 'thread ' + thread.tid;
    return meta.captures.length > 1
        ? `${thread.capture ? 'after' : 'before'}: ${name}` : name;
}
