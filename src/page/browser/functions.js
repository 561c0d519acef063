/* functions.js - sortable tables, and the table of functions.
 *
 * SPDX-License-Identifier: MIT
 *
 * A column is {key, title, value(row), text(row), isText}. Rows come in pages, arrow keys
 * move between them, Enter opens one.
 */

const TABLE_ROWS = 300;

class SortTable {
    constructor(holder, options) {
        this.holder = holder;
        this.options = options; /* label, open(row) */
        this.limit = TABLE_ROWS;
        holder.addEventListener('keydown', e => this.key(e));
    }

    set(columns, rows, sort) {
        if (!this.sort || !columns.some(c => c.key === this.sort.key))
            this.sort = sort;
        this.columns = columns;
        this.rows = rows;
        this.limit = TABLE_ROWS;
        this.render();
    }

    sorted() {
        const { key, isDown } = this.sort, column = this.columns.find(c => c.key === key);
        const compare = column.isText
            ? (a, b) => column.value(a).localeCompare(column.value(b))
            : (a, b) => column.value(a) - column.value(b);
        return [...this.rows].sort((a, b) => isDown ? compare(b, a) : compare(a, b));
    }

    head(column) {
        const isSorted = this.sort.key === column.key;
        const button = element('button', { type: 'button', onclick: () => {
            this.sort = { key: column.key,
                          isDown: isSorted ? !this.sort.isDown : !column.isText };
            this.render();
            this.holder.querySelector(`th[data-key="${column.key}"] button`).focus();
        } }, column.title, element('span', { class: 'arrow', 'aria-hidden': 'true' },
            isSorted ? (this.sort.isDown ? ' ▾' : ' ▴') : ''));
        return element('th', { 'data-key': column.key, scope: 'col', title: column.hint,
            class: column.isText ? '' : 'number',
            'aria-sort': isSorted ? (this.sort.isDown ? 'descending' : 'ascending') : 'none',
        }, button);
    }

    row(row) {
        const cells = this.columns.map(c => {
            const cell = element('td', { 'data-key': c.key, class: !c.isText ? 'number'
                : c.key === 'name' ? 'name' : 'word' });
            cell.append(...[c.show ? c.show(row) : c.text(row)].flat());
            return cell;
        });
        const line = element('tr', { tabindex: '-1', class: row.isDim ? 'dim' : '',
            onclick: () => this.options.open?.(row) }, ...cells);
        line.row = row;
        return line;
    }

    render() {
        const rows = this.sorted(), shown = rows.slice(0, this.limit);
        this.body = element('tbody', {}, ...shown.map(r => this.row(r)));
        this.body.rows[0]?.setAttribute('tabindex', '0');
        const parts = [element('table', { class: 'figures', 'aria-label': this.options.label,
            'aria-rowcount': rows.length + 1 },
            element('thead', {}, element('tr', {}, ...this.columns.map(c => this.head(c)))),
            this.body)];
        if (rows.length > shown.length)
            parts.push(element('button', { type: 'button', class: 'more', onclick: () => {
                this.limit += 10 * TABLE_ROWS;
                this.render();
            } }, `${formatCount(rows.length - shown.length)} more`));
        if (rows.length === 0)
            parts.push(element('p', { class: 'empty' }, 'Nothing here.'));
        this.holder.replaceChildren(...parts);
    }

    key(e) {
        const row = e.target.closest?.('tbody tr');
        if (!row || e.ctrlKey || e.altKey || e.metaKey)
            return;
        const { rows } = this.body, at = row.sectionRowIndex;
        const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1,
                     PageDown: at + 15, PageUp: at - 15 }[e.key];
        if (e.key === 'Enter')
            this.options.open?.(row.row);
        if (to === undefined && e.key !== 'Enter')
            return;
        e.preventDefault();
        const next = rows[Math.min(rows.length - 1, Math.max(0, to ?? at))];
        row.setAttribute('tabindex', '-1');
        next.setAttribute('tabindex', '0');
        next.focus();
    }

    /* Return the row with the keyboard focus. */
    current() {
        return document.activeElement?.row ?? null;
    }
}

function functionName(profile, colors, fn) {
    const { name, place } = splitName(profile.names[fn]), swatch =
        element('span', { class: 'swatch' });
    swatch.style.background = kindColor(colors.kindOf(fn), nameHash(profile.names[fn]));
    const module = profile.modules[fn];
    return [swatch, name, element('span', { class: 'place' },
        place ? ' ' + place : module ? ` [${module}]` : '')];
}

/* A share is shown with a bar in the background. */
function shareCell(share, text) {
    const bar = element('span', { class: 'bar' });
    bar.style.width = Math.min(100, 100 * share).toFixed(1) + '%';
    return element('span', { class: 'share' }, bar, element('span', {}, text));
}

function functionRows(view, matches) {
    const figures = functionFigures(view), { wholes } = view, rows = [];
    const [worth] = worths(view);
    const share = (key, fn, c) => wholes[c] ? figures[c][key][fn] / wholes[c] : 0;
    for (let fn = 0; fn < view.profile.names.length; fn++) {
        if (!figures.some(f => f.total[fn]) || (matches && !matches[fn]))
            continue;
        const row = { fn, self: figures.map(f => f.self[fn]),
                      total: figures.map(f => f.total[fn]),
                      samples: figures.map(f => f.selfSamples[fn]),
                      selfShare: figures.map((f, c) => share('self', fn, c)),
                      totalShare: figures.map((f, c) => share('total', fn, c)) };
        if (view.isDiff)
            row.isDim = !isSignificant(view, row.selfShare, 'self') &&
                !isSignificant(view, row.totalShare, 'total');
        else
            row.error = worth ? Math.sqrt(row.selfShare[0] * (1 - row.selfShare[0]) / worth)
                              : 0;
        rows.push(row);
    }
    return rows;
}

function functionColumns(view, colors) {
    const name = { key: 'name', title: capital(view.profile.by ?? 'function'), isText: true,
        value: r => view.profile.names[r.fn],
        show: r => functionName(view.profile, colors, r.fn) };
    const kind = { key: 'kind', title: 'Kind', isText: true,
        value: r => KINDS[colors.kindOf(r.fn)].name,
        text: r => KINDS[colors.kindOf(r.fn)].name };
    const figure = (key, title, hint) => ({ key, title, hint, value: r => r[key][0],
        text: r => r[key][0] ? formatValue(view, r[key][0]) : '' });
    const share = (key, title, c = 0) => ({ key: key + c, title, value: r => r[key][c],
        show: r => shareCell(r[key][c], formatPercent(r[key][c])) });
    const change = (key, title) => ({ key: 'change' + key, title,
        value: r => r[key][1] - r[key][0], text: r => formatDelta(r[key][1] - r[key][0]) });
    if (view.isDiff)
        return [change('selfShare', 'Self change'), share('selfShare', view.sides[0], 0),
                share('selfShare', view.sides[1], 1), change('totalShare', 'Total change'),
                share('totalShare', view.sides[0], 0), share('totalShare', view.sides[1], 1),
                kind, name];
    return [share('selfShare', 'Self'),
            { key: 'error', title: '±', hint: 'one standard error of the share of self',
              value: r => r.error, text: r => (100 * r.error).toFixed(1) },
            figure('self', 'Self', 'in the function itself'),
            share('totalShare', 'Total'),
            figure('total', 'Total', 'with what it called'),
            { key: 'samples', title: 'Samples', value: r => r.samples[0],
              text: r => r.samples[0] ? formatCount(r.samples[0]) : '' }, kind, name];
}
