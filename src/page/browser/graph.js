/* graph.js - boxes drawn as a flame graph or an icicle: zoom, hover, keyboard.
 *
 * SPDX-License-Identifier: MIT
 *
 * The canvas is as large as its visible part; a spacer beside it has the graph's full
 * height, so that the browser scrolls. The width shows the window [from, to] of the
 * layout; zooming moves the window. Boxes too narrow to be visible are not asked for
 * children.
 */

const ROW = 19, CHAR = 6.62, NARROW = 0.6;
const GRAPH_FONT = '11px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';

class Graph {
    constructor(canvas, events) {
        this.canvas = canvas;
        this.events = events; /* hover(box, at), select(box), open(box) */
        this.scroll = canvas.parentElement;
        this.spacer = element('div', { class: 'spacer' });
        this.scroll.append(this.spacer);
        this.draw = oncePerFrame(() => this.drawNow());
        this.fit = fitCanvas(canvas, () => ({ width: this.scroll.clientWidth,
            height: Math.max(ROW, this.scroll.clientHeight) }), this.draw);
        this.isFlame = false;
        this.drawn = [];
        this.matches = null;
        this.listen();
    }

    setRoot(root, colors) {
        const path = this.zoomed && this.root && this.root.constructor === root.constructor
            ? this.pathOf(this.zoomed) : [];
        this.root = root;
        this.colors = colors;
        this.selected = this.hovered = null;
        this.depth = 0;
        this.zoom(this.follow(path), false);
        this.sought = null; /* the view scrolls only for a jump */
    }

    pathOf(box) {
        const path = [];
        for (; box && box.parent; box = box.parent)
            path.unshift(box.fn);
        return path;
    }

    /* Follow a path of functions as far as it still exists. */
    follow(path) {
        let box = this.root;
        for (const fn of path) {
            const child = box.children().find(c => c.fn === fn);
            if (!child)
                break;
            box = child;
        }
        return box;
    }

    /* Zoom so that `box` fills the width. */
    zoom(box, isSmooth = true) {
        this.zoomed = this.sought = box;
        const to = { from: box.x, to: box.x + (box.value || 1) };
        this.events.zoom?.(box);
        if (!isSmooth || !this.window ||
            matchMedia('(prefers-reduced-motion: reduce)').matches) {
            this.window = to;
            this.draw();
            return;
        }
        const start = performance.now(), was = this.window;
        const step = now => {
            const t = Math.min(1, Math.max(0, (now - start) / 140)), ease = t * (2 - t);
            this.window = { from: was.from + (to.from - was.from) * ease,
                            to: was.to + (to.to - was.to) * ease };
            this.drawNow();
            if (t < 1 && this.zoomed === box)
                requestAnimationFrame(step);
        };
        requestAnimationFrame(step);
    }

    /* Widen the window by `factor` around the point x of the layout. */
    zoomAt(x, factor) {
        const { from, to } = this.window, root = this.root;
        const least = root.value / 1e6;
        const width = Math.min(root.value, Math.max(least, (to - from) * factor));
        const left = x - (x - from) * width / (to - from);
        this.moveTo(left, width);
    }

    moveTo(left, width = this.window.to - this.window.from) {
        const { x, value } = this.root;
        left = Math.min(x + value - width, Math.max(x, left));
        this.window = { from: left, to: left + width };
        this.draw();
    }

    layoutX(pixel) {
        return this.window.from +
            pixel / this.width * (this.window.to - this.window.from);
    }

    drawNow() {
        if (!this.root || !this.scroll.clientWidth)
            return;
        const { context, width, height } = this.fit();
        this.width = width;
        this.height = height;
        this.style = getComputedStyle(this.canvas);
        this.drawn = [];
        this.scale = width / (this.window.to - this.window.from);
        context.clearRect(0, 0, width, height);
        context.font = GRAPH_FONT;
        context.textBaseline = 'middle';
        this.context = context;
        this.deepest = 0;
        this.top = this.scroll.scrollTop;
        this.full = Math.max(height, (this.depth + 1) * ROW);
        if (this.root.isTime)
            this.drawRows(this.root.order);
        else
            this.drawBox(this.root);
        if (this.deepest !== this.depth) {
            this.depth = this.deepest;
            this.spacer.style.height = (this.depth + 1) * ROW + 'px';
            if (this.isFlame)
                this.scroll.scrollTop = this.scroll.scrollHeight;
            this.draw();
        } else if (this.sought) {
            this.scrollTo(this.sought);
            this.sought = null;
        }
        if (this.root.isTime)
            this.drawTimes();
    }

    get pictureHeight() {
        const { root, window: { from, to } } = this, levels = root.isTime
            ? root.order.deepest(from, to) : root.levels(NARROW * (to - from) / SAVED_WIDTH);
        return Math.min(SAVED_MOST, (levels + 1) * ROW);
    }

    /* Draw all levels on another context, as wide as it is. */
    drawOn(context, width, height) {
        const { top, full, drawn, selected, hovered } = this;
        const before = { context: this.context, width: this.width, height: this.height,
                         scale: this.scale, top, full, drawn, selected, hovered };
        Object.assign(this, { context, width, height, drawn: [], selected: null, hovered: null,
            scale: width / (this.window.to - this.window.from), top: 0, full: height,
            style: getComputedStyle(this.canvas) });
        context.font = GRAPH_FONT;
        context.textBaseline = 'middle';
        if (this.root.isTime)
            this.drawRows(this.root.order);
        else
            this.drawBox(this.root);
        if (this.root.isTime)
            this.drawTimes();
        Object.assign(this, before);
    }

    rowTop(depth) {
        return (this.isFlame ? this.full - (depth + 1) * ROW : depth * ROW) - this.top;
    }

    drawBox(box) {
        const left = (box.x - this.window.from) * this.scale;
        const right = left + box.value * this.scale;
        if (right <= 0 || left >= this.width)
            return;
        const { first, last } = this.seenRows(), least = NARROW / this.scale;
        this.deepest = Math.max(this.deepest, box.depth);
        if (box.depth > last) {
            this.deepest = Math.max(this.deepest, box.depth + box.levels(least));
            return;
        }
        if (box.depth < first && box.at(first).depth > box.depth) {
            this.drawBox(box.at(first));
            return;
        }
        const x = Math.max(0, left), w = Math.min(this.width, right) - x;
        if (box.depth >= first)
            this.paint(box, x, this.rowTop(box.depth), w, left < -1);
        let rest = 0, restX = 0; /* neighbours too narrow to be drawn, together */
        for (const child of box.children()) {
            if (child.value * this.scale >= NARROW) {
                this.drawBox(child);
                continue;
            }
            if (rest === 0)
                restX = child.x;
            rest += child.value;
        }
        if (rest * this.scale >= 1)
            this.paintRest(box.depth + 1, restX, rest);
    }

    paintRest(depth, from, value) {
        this.context.fillStyle = this.style.getPropertyValue('--rest');
        this.context.fillRect((from - this.window.from) * this.scale, this.rowTop(depth),
            value * this.scale, ROW - 1);
    }

    /* Return the first and the last level that the scroll position shows. */
    seenRows() {
        const begin = this.isFlame ? this.full - this.top - this.height : this.top;
        return { first: Math.max(0, Math.ceil(begin / ROW) - 1),
                 last: Math.floor((begin + this.height) / ROW) };
    }

    /* Draw the levels that are visible, each by itself. */
    drawRows(order) {
        const { from, to } = this.window, { first, last } = this.seenRows();
        const least = NARROW / this.scale;
        this.deepest = order.deepest(from, to);
        for (let depth = first; depth <= Math.min(last, this.deepest); depth++) {
            const y = this.rowTop(depth);
            let rest = 0, restX = 0;
            const flush = () => {
                if (rest * this.scale >= 1)
                    this.paintRest(depth, restX, rest);
                rest = 0;
            };
            order.row(depth, from, to, least, (x, value, box) => {
                if (box || x > restX + rest + least)
                    flush();
                if (!box) {
                    restX = rest ? restX : x;
                    rest = x + value - restX;
                    return;
                }
                const left = (x - from) * this.scale, begin = Math.max(0, left);
                const end = Math.min(this.width, left + value * this.scale);
                this.paint(box, begin, y, end - begin, left < -1);
            });
            flush();
        }
    }

    paint(box, x, y, w, isCut) {
        const c = this.context, isMatch = this.matches && this.matches[box.fn];
        const gap = w > 3 ? 1 : 0;
        c.globalAlpha = this.matches && !isMatch ? 0.45 : 1;
        c.fillStyle = isMatch ? this.style.getPropertyValue('--match')
                              : this.colors.of(box);
        c.fillRect(x, y, w - gap, ROW - 1);
        if (w > 3 * CHAR && !box.isTime) {
            c.fillStyle = this.style.getPropertyValue(isMatch ? '--match-text' : '--box-text');
            this.label(box, x + 4, y + ROW / 2, w - 8, isCut);
        }
        c.globalAlpha = 1;
        if (box === this.selected || box === this.hovered) {
            c.strokeStyle = this.style.getPropertyValue('--outline');
            c.lineWidth = box === this.selected ? 2 : 1;
            c.strokeRect(x + 0.5, y + 0.5, w - 1 - gap, ROW - 2);
        }
        this.drawn.push({ box, x, y, w });
    }

    /* Draw the function's name and, if there is room, its file. */
    label(box, x, y, room) {
        const most = Math.floor(room / CHAR), c = this.context;
        const { name, place } = splitName(box.name);
        if (name.length > most) {
            c.fillText(name.slice(0, Math.max(1, most - 1)) + '…', x, y);
            return;
        }
        c.fillText(name, x, y);
        const left = most - name.length - 2, file = baseName(place);
        if (!place || left < Math.min(8, file.length))
            return;
        const text = place.length <= left ? place
            : file.length <= left ? file : file.slice(0, left - 1) + '…';
        c.globalAlpha *= 0.6;
        c.fillText(text, x + (name.length + 2) * CHAR, y);
    }

    /* Draw seconds along the root's row. */
    drawTimes() {
        const c = this.context, y = this.rowTop(0);
        c.fillStyle = this.style.getPropertyValue('--text');
        for (const { at, text } of timeTicks(this.window.from, this.window.to,
                                             this.width))
            c.fillText(text, (at - this.window.from) * this.scale + 3, y + ROW / 2);
    }

    boxAt(event) {
        const area = this.canvas.getBoundingClientRect();
        const px = event.clientX - area.left, py = event.clientY - area.top;
        for (const d of this.drawn)
            if (px >= d.x && px < d.x + d.w && py >= d.y && py < d.y + ROW)
                return d.box;
        return null;
    }

    /* Scroll to a box, unless it is visible. */
    scrollTo(box) {
        const y = this.isFlame ? this.full - (box.depth + 1) * ROW : box.depth * ROW;
        if (y < this.scroll.scrollTop || y + ROW > this.scroll.scrollTop + this.height)
            this.scroll.scrollTop = y - this.height / 2;
    }

    select(box, isSaid = true) {
        this.selected = box;
        this.draw();
        if (!box)
            return;
        this.scrollTo(box);
        this.events.select?.(box, isSaid);
    }

    listen() {
        const { canvas, scroll } = this;
        scroll.addEventListener('scroll', this.draw);
        canvas.addEventListener('mousemove', e => {
            if (this.dragFrom)
                return;
            const box = this.boxAt(e);
            if (box !== this.hovered) {
                this.hovered = box;
                canvas.style.cursor = box ? 'pointer' : 'default';
                this.draw();
            }
            this.events.hover?.(box, e);
        });
        canvas.addEventListener('mouseleave', () => {
            this.hovered = null;
            this.draw();
            this.events.hover?.(null);
        });
        canvas.addEventListener('pointerdown', e => this.dragStart(e));
        canvas.addEventListener('pointermove', e => this.dragMove(e));
        canvas.addEventListener('pointerup', e => this.dragEnd(e));
        canvas.addEventListener('dblclick', e => {
            const box = this.boxAt(e);
            if (box && box.fn >= 0)
                this.events.open?.(box);
        });
        canvas.addEventListener('contextmenu', e => {
            const box = e.button === 2 ? this.boxAt(e) : this.selected;
            if (box && box.fn >= 0)
                this.events.menu?.(box, e);
        });
        canvas.addEventListener('wheel', e => this.wheel(e), { passive: false });
        canvas.addEventListener('keydown', e => this.key(e));
    }

    dragStart(e) {
        if (e.button === 0)
            this.dragFrom = { x: e.clientX, left: this.window.from, moved: false };
    }

    dragMove(e) {
        if (!this.dragFrom)
            return;
        const by = e.clientX - this.dragFrom.x;
        if (Math.abs(by) > 4 && !this.dragFrom.moved) {
            this.dragFrom.moved = true;
            this.canvas.setPointerCapture(e.pointerId);
        }
        if (this.dragFrom.moved)
            this.moveTo(this.dragFrom.left - by / this.scale);
    }

    dragEnd(e) {
        const wasDrag = this.dragFrom?.moved;
        this.dragFrom = null;
        const box = this.boxAt(e);
        if (wasDrag || e.button !== 0 || !box)
            return;
        this.select(box, false);
        this.zoom(box);
    }

    wheel(e) {
        const x = this.layoutX(e.clientX - this.canvas.getBoundingClientRect().left);
        if (e.ctrlKey) {
            e.preventDefault();
            this.zoomAt(x, Math.exp(e.deltaY * 0.004));
        } else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
            e.preventDefault();
            this.moveTo(this.window.from + (e.deltaX || e.deltaY) / this.scale);
        }
    }

    /* Return the box to which an arrow key leads from the selected one. */
    neighbour(key) {
        const box = this.selected;
        if (!box)
            return this.zoomed ?? this.root;
        const inward = this.isFlame ? 'ArrowUp' : 'ArrowDown';
        const outward = this.isFlame ? 'ArrowDown' : 'ArrowUp';
        if (key === outward)
            return box.parent;
        if (key === inward)
            return box.children()[0];
        if (key === 'Home')
            return this.root;
        const siblings = box.parent ? box.parent.children() : [box];
        return siblings[siblings.indexOf(box) + (key === 'ArrowLeft' ? -1 : 1)];
    }

    key(e) {
        if (['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Home'].includes(e.key)) {
            const box = this.neighbour(e.key);
            if (box)
                this.reveal(box);
        } else if (e.key === 'Enter' || e.key === ' ') {
            if (this.selected)
                this.zoom(this.selected);
        } else if (e.key === 'Backspace') {
            this.zoom(this.zoomed.parent ?? this.root);
        } else {
            return;
        }
        e.preventDefault();
    }

    /* Select a box; zoom out until it is visible. */
    reveal(box) {
        const { from, to } = this.window, middle = box.x + box.value / 2;
        const isSeen = middle > from && middle < to &&
            box.value / (to - from) * this.width > 3;
        if (!isSeen)
            this.zoom(box.parent ?? box, false);
        this.select(box);
    }
}

/* Return round moments of a span of time, far enough apart for their labels. */
function timeTicks(from, to, width) {
    const least = (to - from) * 80 / Math.max(80, width);
    let step = 10 ** Math.ceil(Math.log10(least));
    for (const part of [5, 2])
        if (step / part >= least) {
            step /= part;
            break;
        }
    const ticks = [], digits = Math.max(0, Math.ceil(9 - Math.log10(step) - 1e-9));
    for (let at = Math.ceil(from / step) * step; at <= to; at += step)
        ticks.push({ at, text: (at / 1e9).toFixed(digits) + ' s' });
    return ticks;
}
