/* sandwich.js - one function between its callers and its callees.
 *
 * SPDX-License-Identifier: MIT
 */

class Sandwich {
    constructor(events) {
        this.events = events; /* like those of a graph; choose(fn), focus(fn), hide(fn) */
        const open = { ...events, zoom: null };
        this.callers = new Graph(byId('callers'), open);
        this.callees = new Graph(byId('callees'), open);
        this.callers.isFlame = true;
        this.fn = -1;
    }

    show(view, colors, fn, matches) {
        this.view = view;
        this.colors = colors;
        this.fn = fn;
        const up = callersOf(view, fn), down = calleesOf(view, fn);
        for (const [graph, root] of [[this.callers, up], [this.callees, down]]) {
            graph.matches = matches;
            graph.zoomed = null;
            graph.setRoot(root, colors);
        }
        this.head(down);
        this.side(up, down);
    }

    head(root) {
        const { view } = this, { name, place } = splitName(view.profile.names[this.fn]);
        const self = functionFigures(view).map(f => f.self[this.fn]);
        const figure = (label, parts) => element('span', {}, label + ' ',
            element('strong', {}, parts.map((v, c) => view.wholes[c]
                ? formatPercent(v / view.wholes[c]) : '0').join(' → ')),
            view.isDiff ? '' : ` (${formatValue(view, parts[0])})`);
        byId('sandwich-head').replaceChildren(
            element('h2', {}, name, element('span', { class: 'place' },
                place ? ' ' + place : '')),
            element('p', {}, figure('self', self), ' ', figure('total', root.parts()), ' ',
                element('span', {}, KINDS[this.colors.kindOf(this.fn)].name),
                element('button', { type: 'button', title: 'only stacks with it (F)',
                    onclick: () => this.events.focus(this.fn) }, 'Focus'),
                element('button', { type: 'button', title: 'drop its frames (H)',
                    onclick: () => this.events.hide(this.fn) }, 'Hide'),
                ...this.events.source() ? [element('button', { type: 'button',
                    onclick: () => this.events.source().app.show('source') }, 'Source')] : []));
        const middle = byId('sandwich-middle');
        middle.textContent = `↑ callers · ${name} · callees ↓`;
        middle.style.background = kindColor(this.colors.kindOf(this.fn),
            nameHash(view.profile.names[this.fn]));
    }

    /* Show the same as lists with buttons, for users who do not see the graphs. */
    side(up, down) {
        const { view } = this;
        const share = v => formatPercent(up.value ? v / up.value : 0);
        const list = (title, boxes) => element('div', {}, element('h3', {}, title),
            boxes.length ? element('ul', {}, ...boxes.slice(0, 30).map(b =>
                element('li', {}, element('button', { type: 'button', class: 'link',
                    title: b.name, onclick: () => this.events.choose(b.fn) },
                    splitName(b.name).name), element('span', {}, share(b.value)))))
                : element('p', { class: 'empty' }, 'none'));
        const lines = linesOf(view, this.fn), all = lines.reduce((s, l) => s + l.value, 0);
        byId('sandwich-side').replaceChildren(
            list('Called by', up.children()), list('Calls', down.children()),
            lines.length ? element('div', {}, element('h3', {}, 'Hottest lines'),
                element('ul', {}, ...lines.slice(0, 15).map(l => element('li', {},
                    element('span', { class: 'line' },
                        `${baseName(l.place.file)}:${l.place.line}`),
                    element('span', {}, formatPercent(l.value / all)))))) : '');
    }
}
