/* calls.js - exact calls, if the host counted them: functions, callers and callees.
 *
 * SPDX-License-Identifier: MIT
 *
 * Counts are of the whole recording: neither the range of time nor the switches apply.
 * Two captures are shown side by side, matched by name.
 */

const CALLS_TIME = 2, CALLS_BYTES = 4;

class Calls {
    constructor(app) {
        this.app = app;
        this.parts = app.profile.meta.calls;
        this.isTwo = this.parts.length > 1;
        this.modes = this.parts.reduce((m, p) => m | (p?.modes ?? 0), 0);
        byId('tab-calls').hidden = false;
        this.functions = new SortTable(byId('calls'), { label: 'Calls of functions',
            open: row => this.open(row.name) });
        this.edges = new SortTable(byId('calls-edges'),
            { label: 'Calls from function to function', open: row => this.open(row.callee) });
    }

    /* Go from a counted function to the sampled one of this name. */
    open(name) {
        this.app.group('function');
        const fn = this.app.profile.names.indexOf(harmless(name));
        if (fn >= 0)
            this.app.sandwich(fn);
        else
            announce('There are no samples of ' + harmless(name));
    }

    /* Match functions of both captures like jsprof diff: ignore the line. */
    keyOf(name) {
        return this.isTwo ? name.replace(/(:\d+)+\)+$/, '') : name;
    }

    /* Merge the rows of all captures by key, with the figures of each capture in an
     * array. */
    merge(list, keyOf, make) {
        const rows = new Map();
        this.parts.forEach((part, c) => {
            for (const item of part?.[list] ?? []) {
                const key = keyOf(part, item);
                if (!rows.has(key))
                    rows.set(key, make(part, item));
                const row = rows.get(key);
                row.of[c] = (row.of[c] ?? []).length
                    ? row.of[c].map((v, i) => v + item[2 + i]) : item.slice(2);
            }
        });
        return [...rows.values()];
    }

    column(key, title, at, format) {
        const value = (row, c) => row.of[c]?.[at] ?? 0;
        const one = c => ({ key: key + c, title: this.isTwo
            ? `${title} ${c ? 'after' : 'before'}` : title,
            value: r => value(r, c), text: r => value(r, c) ? format(value(r, c)) : '' });
        return this.parts.map((_, c) => one(c));
    }

    each(at) {
        const value = (r, c) => r.of[c]?.[0] ? r.of[c][at] / r.of[c][0] : 0;
        return this.parts.map((_, c) => ({ key: 'each' + c, title: this.isTwo
            ? `Per call ${c ? 'after' : 'before'}` : 'Per call',
            value: r => value(r, c), text: r => value(r, c) ? formatDuration(value(r, c)) : '' }));
    }

    name(key, title, of) {
        const value = r => harmless(of(r));
        return { key, title, isText: true, value, show: r => this.shown(value(r)) };
    }

    shown(name) {
        const { name: head, place } = splitName(name);
        return [head, element('span', { class: 'place' }, place && ' ' + place)];
    }

    render() {
        const { matches } = this.app, search = this.app.state.search;
        const isMatch = name => !search || !matches || this.app.pattern?.test(harmless(name));
        const hasTime = this.modes & CALLS_TIME, hasBytes = this.modes & CALLS_BYTES;
        const functions = this.merge('functions', (_, f) => this.keyOf(f[0]),
            (_, f) => ({ name: f[0], kind: f[1], of: [] }))
            .filter(r => isMatch(r.name) && r.of.flat().some(Boolean));
        const columns = this.column('calls', 'Calls', 0, formatCount);
        if (hasTime)
            columns.push(...this.column('self', 'Self', 1, formatDuration),
                ...this.column('total', 'Total', 2, formatDuration));
        if (hasTime && !this.isTwo)
            columns.push(...this.each(2));
        if (hasBytes)
            columns.push(...this.column('bytes', 'Bytes', 3, formatBytes));
        if (hasBytes && !this.isTwo)
            columns.push(...this.column('allBytes', 'Bytes in total', 4, formatBytes));
        columns.push({ key: 'kind', title: 'Kind', isText: true,
            value: r => KINDS[r.kind]?.name ?? '', text: r => KINDS[r.kind]?.name ?? '' },
            this.name('name', 'Function', r => r.name));
        this.functions.set(columns, functions, { key: hasTime ? 'self0' : 'calls0',
                                                 isDown: true });
        this.renderEdges(hasTime, isMatch);
        this.notes();
    }

    renderEdges(hasTime, isMatch) {
        const nameOf = (part, i) => part.functions[i][0];
        /* Calls that did not fit the host's table have neither caller nor callee. */
        const rest = '[other functions]', restName = '[edges beyond the table]';
        const rows = this.merge('edges',
            (p, e) => this.keyOf(nameOf(p, e[0])) + '\0' + this.keyOf(nameOf(p, e[1])),
            (p, e) => ({ caller: nameOf(p, e[0]) === rest && nameOf(p, e[1]) === rest
                ? restName : nameOf(p, e[0]), callee: nameOf(p, e[1]), of: [] }))
            .filter(r => isMatch(r.caller) || isMatch(r.callee));
        byId('calls-edges').hidden = byId('calls-edges-title').hidden = !rows.length;
        this.edges.set([...this.column('calls', 'Calls', 0, formatCount),
            ...hasTime ? [...this.column('total', 'Total', 1, formatDuration),
                          ...this.each(1)] : [],
            this.name('caller', 'Caller', r => r.caller),
            this.name('name', 'Callee', r => r.callee)], rows,
            { key: hasTime ? 'total0' : 'calls0', isDown: true });
    }

    notes() {
        const notes = ['Exact counts of the whole recording: the range of time and the ' +
            'switches do not apply.'];
        this.parts.forEach((p, c) => {
            if (!p)
                return;
            const of = this.isTwo ? (c ? 'After: ' : 'Before: ') : '';
            notes.push(`${of}${formatCount(p.all)} calls`);
            if (p.own)
                notes.push(`own cost of counting, taken out: ${formatDuration(p.own)}`);
            if (p.gc)
                notes.push(`garbage collection, part of the rows: ${formatDuration(p.gc)}`);
            for (let i = 0; i < p.limits.length; i += 2)
                notes.push(`${p.limits[i + 1]}: ${formatCount(p.limits[i])}`);
            if (p.left || p.edgesLeft)
                notes.push(`${formatCount(p.left)} functions and ` +
                    `${formatCount(p.edgesLeft)} edges are left out`);
        });
        byId('calls-notes').textContent = notes.join(' · ');
    }
}
