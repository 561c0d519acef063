/* treegrid.js - the graph as a table of expandable rows, for keyboards and screen
 * readers.
 *
 * SPDX-License-Identifier: MIT
 *
 * An ARIA treegrid over the boxes that the graph draws. Rows are made when their parent
 * is opened, in limited numbers, so that the page stays quick.
 */

const TREE_ROWS = 200;

class TreeGrid {
    constructor(holder, events) {
        this.holder = holder;
        this.events = events; /* open(box), menu key S: sandwich(box) */
        holder.addEventListener('keydown', e => this.key(e));
        holder.addEventListener('click', e => this.click(e));
    }

    setRoot(root, colors) {
        const { view } = root;
        this.root = root;
        this.colors = colors;
        this.boxes = new Map(); /* row -> box */
        this.body = element('tbody', { role: 'rowgroup' });
        const heads = [capital(view.profile.by ?? 'function'), ...this.columns(view)];
        this.holder.replaceChildren(element('table',
            { role: 'treegrid', 'aria-label': 'Call tree', class: 'figures tree' },
            element('thead', { role: 'rowgroup' }, element('tr', { role: 'row' },
                ...heads.map((h, i) => element('th', { role: 'columnheader',
                    class: i ? 'number' : '' }, h)))), this.body));
        this.openHot();
    }

    columns(view) {
        return view.isDiff
            ? [...view.sides.map(capital), 'Change', ...view.sides.map(side => 'Self ' + side)]
            : ['Total', 'Total %', 'Self', 'Self %', 'Samples'];
    }

    /* Open the path that took most of the time. */
    openHot() {
        this.addRows(this.root, null, 0);
        let row = this.body.rows[0];
        for (let i = 0; row && i < 40; i++) {
            const box = this.boxes.get(row), [first] = box.children();
            if (!first)
                break;
            this.open(row);
            if (first.value < box.value / 2)
                break;
            row = row.nextElementSibling;
        }
        this.body.rows[0]?.setAttribute('tabindex', '0');
    }

    /* Add rows for the children of `box`, beginning with the `from`th, after the row
     * `after`. */
    addRows(box, after, from) {
        const children = box.children(), rows = [];
        const level = after ? +after.getAttribute('aria-level') + 1 : 1;
        for (let i = from; i < Math.min(children.length, from + TREE_ROWS); i++)
            rows.push(this.row(children[i], level, i, children.length));
        if (children.length > from + TREE_ROWS)
            rows.push(this.moreRow(box, level, from + TREE_ROWS));
        if (after)
            after.after(...rows);
        else
            this.body.append(...rows);
    }

    row(box, level, index, size) {
        const isOpenable = box.children().length > 0;
        const { name, place } = splitName(box.name);
        const mark = element('span', { class: 'swatch' });
        mark.style.background = this.colors.of(box);
        const cell = element('td', { role: 'gridcell', class: 'name' },
            element('span', { class: 'twist', 'aria-hidden': 'true' },
                isOpenable ? '▸' : ''), mark, name,
            element('span', { class: 'place' }, place && ' ' + place));
        cell.style.paddingLeft = 6 + 14 * Math.min(level - 1, 40) + 'px';
        const row = element('tr', { role: 'row', tabindex: '-1', 'aria-level': level,
            'aria-posinset': index + 1, 'aria-setsize': size,
            'aria-expanded': isOpenable ? 'false' : null }, cell,
            ...this.figures(box).map(text =>
                element('td', { role: 'gridcell', class: 'number' }, text)));
        this.boxes.set(row, box);
        return row;
    }

    moreRow(box, level, from) {
        const row = element('tr', { role: 'row', tabindex: '-1', 'aria-level': level,
            class: 'more' }, element('td', { role: 'gridcell', colspan: 6 },
            `${formatCount(box.children().length - from)} more …`));
        this.boxes.set(row, { more: box, from });
        return row;
    }

    figures(box) {
        const { view } = box, all = this.root.value;
        if (view.isDiff) {
            const { shares, delta, isSure } = this.colors.change(box);
            const self = box.weigh === 'self' ? shares : this.selfShares(box);
            return [formatPercent(shares[0]), formatPercent(shares[1]),
                    formatDelta(delta) + (isSure ? '' : ' (chance)'),
                    formatPercent(self[0]), formatPercent(self[1])];
        }
        const share = v => all ? formatPercent(v / all) : '';
        return [formatValue(view, box.value), share(box.value),
                box.self > box.value * 1e-9 ? formatValue(view, box.self) : '',
                box.self > box.value * 1e-9 ? share(box.self) : '',
                formatCount(box.weigh === 'self' ? box.sum(view.figures[0].selfSamples)
                                                 : box.sum(view.figures[0].totalSamples))];
    }

    selfShares(box) {
        const { wholes } = this.root.view;
        return box.parts().map((v, c) => {
            const kids = box.children().reduce((s, k) => s + k.parts()[c], 0);
            return wholes[c] ? Math.max(0, v - kids) / wholes[c] : 0;
        });
    }

    open(row) {
        if (row.getAttribute('aria-expanded') !== 'false')
            return;
        row.setAttribute('aria-expanded', 'true');
        row.querySelector('.twist').textContent = '▾';
        this.addRows(this.boxes.get(row), row, 0);
    }

    close(row) {
        if (row.getAttribute('aria-expanded') !== 'true')
            return;
        const level = +row.getAttribute('aria-level');
        row.setAttribute('aria-expanded', 'false');
        row.querySelector('.twist').textContent = '▸';
        let next = row.nextElementSibling;
        while (next && +next.getAttribute('aria-level') > level) {
            const gone = next;
            next = next.nextElementSibling;
            this.boxes.delete(gone);
            gone.remove();
        }
    }

    more(row) {
        const { more, from } = this.boxes.get(row);
        let before = row.previousElementSibling;
        this.boxes.delete(row);
        row.remove();
        const children = more.children(), level = +row.getAttribute('aria-level');
        for (let i = from; i < Math.min(children.length, from + TREE_ROWS); i++) {
            const next = this.row(children[i], level, i, children.length);
            before.after(next);
            before = next;
        }
        if (children.length > from + TREE_ROWS)
            before.after(this.moreRow(more, level, from + TREE_ROWS));
        this.focus(row.isConnected ? row : before);
    }

    focus(row) {
        if (!row)
            return;
        this.body.querySelectorAll('tr[tabindex="0"]').forEach(
            r => r.setAttribute('tabindex', '-1'));
        row.setAttribute('tabindex', '0');
        row.focus();
    }

    parentRow(row) {
        const level = +row.getAttribute('aria-level');
        let up = row.previousElementSibling;
        while (up && +up.getAttribute('aria-level') >= level)
            up = up.previousElementSibling;
        return up;
    }

    key(e) {
        const row = e.target.closest?.('tr[role=row]');
        if (!row || !this.boxes.has(row) || e.ctrlKey || e.altKey || e.metaKey)
            return;
        const isOpen = row.getAttribute('aria-expanded') === 'true', box = this.boxes.get(row);
        const actions = {
            ArrowDown: () => this.focus(row.nextElementSibling),
            ArrowUp: () => this.focus(row.previousElementSibling),
            ArrowRight: () => isOpen ? this.focus(row.nextElementSibling) : this.open(row),
            ArrowLeft: () => isOpen ? this.close(row) : this.focus(this.parentRow(row)),
            Home: () => this.focus(this.body.rows[0]),
            End: () => this.focus(this.body.rows[this.body.rows.length - 1]),
            PageDown: () => this.focus(this.far(row, 15)),
            PageUp: () => this.focus(this.far(row, -15)),
            Enter: () => box.more ? this.more(row) : this.events.open(box),
            ' ': () => box.more ? this.more(row) : isOpen ? this.close(row) : this.open(row),
        };
        const action = actions[e.key];
        if (!action)
            return;
        e.preventDefault();
        action();
    }

    far(row, by) {
        const { rows } = this.body;
        return rows[Math.min(rows.length - 1, Math.max(0, row.sectionRowIndex + by))];
    }

    click(e) {
        const row = e.target.closest('tr[role=row]');
        if (!row || !this.boxes.has(row))
            return;
        this.focus(row);
        if (this.boxes.get(row).more)
            this.more(row);
        else if (row.getAttribute('aria-expanded') === 'true')
            this.close(row);
        else
            this.open(row);
    }

    /* Return the box of the row with the keyboard focus. */
    current() {
        const box = this.boxes?.get(document.activeElement);
        return box && !box.more ? box : null;
    }
}
