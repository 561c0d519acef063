/* heat.js - the cost of each moment as a map: a column is a second, a cell a part of it.
 *
 * SPDX-License-Identifier: MIT
 *
 * Time goes down a column and on at the top of the next one, so what comes and goes within a second
 * makes a pattern. A cell is a number of whole spans, and as long as the host's samples are apart.
 * Columns are longer in long captures and shorter in short ones: their number has bounds.
 * Chosen cells are a range of time, which every view has.
 */

const HEAT_ROWS = 50, HEAT_COLUMNS = 600, HEAT_FEW = 8;
const HEAT_GUTTER = 56, HEAT_AXIS = 18, HEAT_WIDEST = 48; /* px */
const HEAT_SECONDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600,
    1200, 1800, 3600, 7200, 14400, 43200, 86400];

/* Return {spans: in a cell, rows: cells in a column, columns, column: its ns}. `apart` is the time
 * from sample to sample, `most` the number of columns that have room. */
function heatGrid({ span, spans }, apart, most) {
    const divide = column => {
        const n = Math.round(column / span);
        for (let k = Math.max(1, Math.floor(n / HEAT_ROWS)); k <= n / 10; k++)
            if (n % k === 0 && n / k <= HEAT_ROWS && k * span >= apart)
                return { spans: k, rows: n / k, columns: Math.ceil(spans / n), column };
        return null;
    };
    const fit = HEAT_SECONDS.map(s => s * 1e9).filter(ns => ns % span === 0).map(divide)
        .filter(grid => grid && grid.columns <= most);
    const long = fit.find(grid => grid.column >= 1e9);
    const short = fit.filter(grid => grid.column < 1e9);
    const best = long?.columns >= HEAT_FEW ? long
        : short.findLast(grid => grid.columns >= HEAT_FEW) ?? short[0] ?? long;
    if (best)
        return best;
    const rows = Math.min(10, spans);
    const k = Math.ceil(Math.max(spans / rows / most, Math.min(apart / span, spans / rows)));
    return { spans: k, rows, columns: Math.ceil(spans / rows / k), column: k * rows * span };
}

/* Return each cell's value: of the shown threads, and of stacks with the function in focus. */
function heatCells(view, capture, grid) {
    const { stack, time, meta } = view.profile, { filter } = view;
    const cells = new Float64Array(Math.ceil(meta.spans / grid.spans));
    const measured = filter.metric === 'samples' ? time.samples : time.value;
    for (let s = 0; s < meta.spans; s++)
        for (let i = time.spanStart[s]; i < time.spanStart[s + 1]; i++) {
            const at = time.stack[i], thread = stack.thread[at];
            if (filter.threads[thread] && isChosen(filter, stack, at) &&
                meta.threads[thread].capture === capture &&
                !(filter.isIn && !filter.isIn[stack.node[at]]))
                cells[Math.floor(s / grid.spans)] += measured[i];
        }
    return cells;
}

class Heat {
    constructor(app) {
        this.app = app;
        this.canvas = byId('heat');
        this.draw = oncePerFrame(() => this.drawNow());
        this.fit = fitCanvas(this.canvas, () => ({ width: this.canvas.parentElement.clientWidth,
            height: this.canvas.parentElement.clientHeight }), this.draw);
        this.cursor = this.anchor = -1; /* cells */
        this.functions = new SortTable(byId('heat-functions'),
            { label: 'Functions of the chosen cells', open: row => app.sandwich(row.fn) });
        this.columns = new SortTable(byId('heat-columns'), { label: 'Columns',
            open: row => this.choose(row.first, row.first + this.grid.rows - 1) });
        this.listen();
    }

    render() {
        const { app } = this, { meta } = app.profile;
        this.apart = Math.max(0, ...app.state.captures.map(c => meta.captures[c])
            .map(c => c.hz ? 1e9 / c.hz : c.samples ? c.duration / c.samples : 0));
        this.grid = null;
        this.drawNow();
    }

    /* Lay the cells out for a width, if they are not yet. Return whether that was necessary. */
    layOut(width) {
        const { view, profile: { meta } } = this.app, room = width - HEAT_GUTTER;
        const most = Math.max(10, Math.min(HEAT_COLUMNS, Math.floor(room / 2)));
        if (this.grid && this.most === most)
            return false;
        this.most = most;
        this.grid = heatGrid(meta, this.apart, most);
        this.maps = view.filter.captures.map(capture =>
            ({ capture, cells: heatCells(view, capture, this.grid) }));
        this.hottest = this.maps.reduce((most, { cells }) =>
            cells.reduce((a, b) => Math.max(a, b), most), 0);
        this.n = this.maps[0].cells.length;
        return true;
    }

    /* Return the first and the last chosen cell, or null without a choice. */
    get range() {
        const { from, to } = this.dragged ?? this.app.state, { spans } = this.app.profile.meta;
        return from === 0 && to === spans ? null
            : [Math.floor(from / this.grid.spans), Math.ceil(to / this.grid.spans) - 1];
    }

    drawNow() {
        if (!this.app.view || !this.canvas.parentElement.clientWidth)
            return;
        const { context, width, height } = this.fit();
        const isNew = this.layOut(width);
        context.clearRect(0, 0, width, height);
        this.paint(context, width, height);
        if (isNew)
            this.renderTables();
    }

    get pictureHeight() {
        return 420;
    }

    /* Draw on another context, as wide as it is. */
    drawOn(context, width, height) {
        const { grid, most, maps, hottest, n, w, h } = this;
        this.layOut(width);
        this.paint(context, width, height);
        Object.assign(this, { grid, most, maps, hottest, n, w, h });
        this.draw();
    }

    paint(context, width, height) {
        const style = getComputedStyle(this.canvas);
        this.color = name => style.getPropertyValue('--' + name);
        const { maps, grid } = this, each = (height - HEAT_AXIS) / maps.length;
        this.w = Math.min(HEAT_WIDEST, (width - HEAT_GUTTER) / grid.columns);
        this.h = (each - 8) / grid.rows;
        context.font = '11px system-ui, sans-serif';
        context.textBaseline = 'middle';
        context.fillStyle = this.color('dim');
        for (const { at, text } of timeTicks(0, grid.columns * grid.column,
            grid.columns * this.w))
            if (at / grid.column * this.w < width - HEAT_GUTTER - 30)
                context.fillText(text, HEAT_GUTTER + at / grid.column * this.w, HEAT_AXIS / 2);
        maps.forEach((map, i) => {
            map.y = HEAT_AXIS + Math.floor(i * each);
            this.drawMap(context, map);
        });
    }

    drawMap(context, { cells, y, capture }) {
        const { grid, range } = this, { rows } = grid;
        const isTwo = this.maps.length > 1, left = c => this.left(c);
        const top = row => y + Math.round(row * this.h);
        for (let i = 0; i < cells.length; i++) {
            const column = Math.floor(i / rows), x = left(column);
            const gap = this.w > 4 ? 1 : 0, floor = this.h > 4 ? 1 : 0;
            context.globalAlpha = range && (i < range[0] || i > range[1]) ? 0.4 : 1;
            context.fillStyle = this.shade(cells[i]);
            context.fillRect(x, top(i % rows), left(column + 1) - x - gap,
                top(i % rows + 1) - top(i % rows) - floor);
        }
        context.globalAlpha = 1;
        context.fillStyle = this.color('dim');
        context.fillText(isTwo ? this.app.view.sides[capture] : '0', 4, y + 6);
        context.fillText('+' + formatDuration(grid.column), 4, top(rows) - 6);
        if (range)
            this.outline(context, range, y);
        if (this.cursor >= 0 && this.canvas === document.activeElement) {
            const x = left(Math.floor(this.cursor / rows));
            context.strokeStyle = this.color('outline');
            context.lineWidth = 2;
            context.strokeRect(x, top(this.cursor % rows),
                Math.max(3, left(Math.floor(this.cursor / rows) + 1) - x), Math.max(3, this.h));
        }
    }

    left(column) {
        return HEAT_GUTTER + Math.round(column * this.w);
    }

    /* Outline the chosen cells: a line where one of two neighbours is chosen. */
    outline(context, [first, last], y) {
        const { rows } = this.grid, isIn = cell => cell >= first && cell <= last;
        context.fillStyle = this.color('accent');
        for (let c = Math.floor(first / rows); c <= Math.floor(last / rows) + 1; c++) {
            const x = this.left(c), from = Math.max(0, first - c * rows);
            const to = Math.min(rows, last + 1 - c * rows);
            for (const row of to > from ? [from, to] : [])
                context.fillRect(x, y + row * this.h - 1, this.left(c + 1) - x, 2);
            for (let row = 0; row < rows; row++)
                if (isIn(c * rows + row) !== isIn((c - 1) * rows + row))
                    context.fillRect(x - 1, y + row * this.h - 1, 2, this.h + 2);
        }
    }

    shade(value) {
        if (!value)
            return this.color('cold');
        const share = value / this.hottest;
        const light = isDark ? 0.34 + 0.5 * share : 0.90 - 0.48 * share;
        return `oklch(${light.toFixed(3)} ${(0.05 + 0.1 * share).toFixed(3)} 45)`;
    }

    cellAt(e) {
        const area = this.canvas.getBoundingClientRect(), { rows, columns } = this.grid;
        const px = e.clientX - area.left - HEAT_GUTTER, py = e.clientY - area.top;
        const map = this.maps.findLast(m => py >= m.y) ?? this.maps[0];
        const column = Math.min(columns - 1, Math.max(0, Math.floor(px / this.w)));
        const row = Math.min(rows - 1, Math.max(0, Math.floor((py - map.y) / this.h)));
        return { cell: Math.min(this.n - 1, column * rows + row), map,
                 isOn: px >= 0 && py >= map.y && py < map.y + rows * this.h &&
                     column * rows + row < this.n };
    }

    /* Return what is known of a cell, as lines. */
    describe(cell, { cells }) {
        const { app, grid } = this, { span } = app.profile.meta, at = cell * grid.spans * span;
        return [`${this.moment(at)} to ${this.moment(at + grid.spans * span)}`,
            formatValue(app.view, cells[cell]) + (app.view.isCount ? ' samples' : '')];
    }

    moment(ns) {
        const digits = Math.max(0, Math.ceil(9 - Math.log10(this.grid.spans *
            this.app.profile.meta.span)));
        return (ns / 1e9).toFixed(Math.min(3, digits)) + ' s';
    }

    spansOf(a, b) {
        const { spans } = this.grid;
        return { from: Math.min(a, b) * spans,
                 to: Math.min(this.app.profile.meta.spans, (Math.max(a, b) + 1) * spans) };
    }

    choose(a, b) {
        this.app.timeline.setRange(this.spansOf(a, b));
        announce(byId('heat-text').textContent);
    }

    listen() {
        const { canvas } = this;
        canvas.addEventListener('pointerdown', e => {
            const { cell, isOn } = this.cellAt(e);
            if (e.button !== 0 || !isOn)
                return;
            canvas.setPointerCapture(e.pointerId);
            this.anchor = e.shiftKey && this.anchor >= 0 ? this.anchor : cell;
            this.cursor = cell;
            this.dragged = this.spansOf(this.anchor, cell);
            this.draw();
        });
        canvas.addEventListener('pointermove', e => {
            const { cell, map, isOn } = this.cellAt(e);
            if (this.dragged) {
                this.cursor = cell;
                this.dragged = this.spansOf(this.anchor, cell);
                this.draw();
            }
            this.app.tip(isOn ? this.describe(cell, map) : null, e);
        });
        canvas.addEventListener('pointerup', () => {
            if (!this.dragged)
                return;
            this.dragged = null;
            this.choose(this.anchor, this.cursor);
        });
        canvas.addEventListener('pointercancel', () => {
            this.dragged = null;
            this.draw();
        });
        canvas.addEventListener('pointerleave', () => this.app.tip(null));
        canvas.addEventListener('focus', this.draw);
        canvas.addEventListener('blur', this.draw);
        canvas.addEventListener('keydown', e => this.key(e));
    }

    /* Arrows move the cursor, with Shift they choose the cells on the way; Enter chooses one. */
    key(e) {
        const { cursor, grid: { rows } } = this, isChoice = ['Enter', ' '].includes(e.key);
        const step = { ArrowDown: 1, ArrowUp: -1, ArrowRight: rows, ArrowLeft: -rows,
                       PageDown: 10 * rows, PageUp: -10 * rows,
                       Home: -Infinity, End: Infinity }[e.key];
        if ((!step && !isChoice) || e.ctrlKey || e.altKey || e.metaKey)
            return;
        e.preventDefault();
        e.stopPropagation();
        const [{ cells }] = this.maps;
        if (cursor < 0 || cursor >= this.n)
            this.cursor = this.range?.[0] ??
                cells.indexOf(cells.reduce((a, b) => Math.max(a, b), 0));
        else if (step)
            this.cursor = Math.min(this.n - 1, Math.max(0, cursor + step));
        if (!e.shiftKey || this.anchor < 0)
            this.anchor = e.shiftKey && cursor >= 0 ? cursor : this.cursor;
        if (e.shiftKey || isChoice) {
            this.choose(this.anchor, this.cursor);
            return;
        }
        this.draw();
        announce(this.maps.flatMap(map => this.describe(this.cursor, map)).join(', '));
    }

    /* Show the figures as text and tables. */
    renderTables() {
        const { app, grid } = this, { view, state } = app, { span } = app.profile.meta;
        const what = view.isCount ? 'samples' : byId('metric').selectedOptions[0].textContent;
        const hottest = formatValue(view, this.hottest), { range } = this;
        byId('heat-text').textContent = `A column is ${formatDuration(grid.column)}, a cell ` +
            `${formatDuration(grid.spans * span)}; the strongest has ${hottest} of ${what}. ` +
            (range ? `Chosen: ${this.moment(state.from * span)} to ${this.moment(state.to * span)}.`
                : 'Choose cells to compare them with the rest.');
        const compared = view.isDiff || !range ? view
            : applyFilter(app.profile, { ...state, isAgainstRest: true });
        byId('heat-functions').hidden = byId('heat-functions-title').hidden = !range;
        if (range)
            this.functions.set(functionColumns(compared, app.colors),
                functionRows(compared, app.matches), { key: 'changeselfShare', isDown: true });
        this.columns.set(...this.columnTable(), { key: 'begins', isDown: false });
    }

    columnTable() {
        const { grid, maps, app: { view } } = this, rows = [];
        for (const { capture, cells } of maps)
            for (let first = 0; first < cells.length; first += grid.rows) {
                const own = cells.slice(first, first + grid.rows);
                const most = own.reduce((a, b) => Math.max(a, b), 0);
                rows.push({ capture, first, sum: own.reduce((a, b) => a + b, 0), most,
                            at: first + own.indexOf(most) });
            }
        const begin = cell => cell * grid.spans * this.app.profile.meta.span;
        const of = { key: 'capture', title: 'Of', isText: true, value: r => view.sides[r.capture],
                     text: r => view.sides[r.capture] };
        return [[...maps.length > 1 ? [of] : [],
            { key: 'begins', title: 'Begins', value: r => r.first,
              text: r => this.moment(begin(r.first)) },
            { key: 'sum', title: 'In all', value: r => r.sum, text: r => formatValue(view, r.sum) },
            { key: 'most', title: 'Strongest cell', value: r => r.most,
              text: r => formatValue(view, r.most) },
            { key: 'at', title: 'At', value: r => r.at,
              text: r => r.most ? this.moment(begin(r.at)) : '' }], rows];
    }
}
