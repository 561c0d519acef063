/* marks.js - a table of marks and counters: number, duration, size.
 *
 * SPDX-License-Identifier: MIT
 *
 * The table covers the chosen range of time: a mark is in it if any part of it is, a
 * value if its moment is. A row of marks opens the list of these marks, the longest first,
 * and a row of that list jumps to the time of the mark. The median and the 95th percentile
 * are figures that occur. For the whole time the capture's own sums are shown; for a part,
 * sums of the events on the page.
 */

class Marks {
    constructor(app) {
        this.app = app;
        byId('tab-marks').hidden = false;
        this.table = new SortTable(byId('marks'),
            { label: 'Marks and counters', open: row => this.list(row) });
        this.each = new SortTable(byId('marks-each'),
            { label: 'Single marks', open: ({ mark }) => this.jump(mark) });
        this.chosen = null;
    }

    /* List the single marks of a row, below the table. */
    list(row) {
        if (row.what !== 'mark')
            return;
        this.chosen = row;
        this.renderEach();
        byId('marks-each-title').scrollIntoView({ block: 'nearest' });
        announce(byId('marks-each-title').textContent);
    }

    renderEach() {
        const { chosen } = this, { meta } = this.app.profile;
        const rows = !chosen ? [] : meta.marks.list.filter(([capture, , , group, name]) =>
            capture === chosen.capture && group === chosen.group && name === chosen.name)
            .map(mark => ({ mark, at: mark[1] * 1e3, length: mark[2] * 1e3,
                            message: harmless(mark[5]) }));
        byId('marks-each-title').hidden = byId('marks-each').hidden = !chosen;
        if (!chosen)
            return;
        byId('marks-each-title').textContent = `${harmless(chosen.group)} / ` +
            `${harmless(chosen.name)}: ${formatCount(rows.length)} of ` +
            `${formatCount(this.countOf(chosen))}`;
        this.each.set([
            { key: 'at', title: 'Begins', value: r => r.at, text: r => formatSeconds(r.at) + ' s' },
            { key: 'length', title: 'Lasts', value: r => r.length,
              text: r => formatDuration(r.length) },
            { key: 'name', title: 'Message', isText: true, value: r => r.message,
              text: r => r.message }], rows, { key: 'length', isDown: true });
    }

    countOf({ capture, group, name }) {
        return this.app.profile.meta.eventSums.find(s => s[0] === capture && s[1] === 'mark' &&
            s[2] === group && s[3] === name)[4];
    }

    /* Choose the time of a mark. */
    jump([, at, length]) {
        const { timeline } = this.app;
        timeline.setRange(timeline.spansOf(at * 1e3, Math.min((at + length) * 1e3,
            timeline.end - 1)));
        if (this.app.profile.meta.stacks)
            this.app.show('graph');
    }

    isWhole() {
        const { from, to } = this.app.state;
        return from === 0 && to === this.app.profile.meta.spans;
    }

    /* Return rows of the whole time. */
    sums() {
        const keys = ['capture', 'what', 'group', 'name', 'n', 'total', 'min', 'mean', 'median',
            'p95', 'max'];
        return this.app.profile.meta.eventSums
            .map(sum => Object.fromEntries(keys.map((key, i) => [key, sum[i]])))
            .filter(row => this.app.state.captures.includes(row.capture));
    }

    /* Return rows {what, capture, group, name, values} of a part. */
    collect() {
        const { meta } = this.app.profile, { from, to, captures } = this.app.state;
        const begin = from * meta.span / 1e3, end = to * meta.span / 1e3, rows = new Map();
        const add = (what, capture, group, name, value) => {
            const key = [what, capture, group, name].join('\0');
            if (!rows.has(key))
                rows.set(key, { what, capture, group, name, values: [] });
            rows.get(key).values.push(value);
        };
        for (const [capture, at, length, group, name] of meta.marks.list)
            if (captures.includes(capture) && at < end && at + length >= begin)
                add('mark', capture, group, name, length * 1e3);
        for (const c of meta.counters)
            for (let i = 0; captures.includes(c.capture) && i < c.points.length; i += 2)
                if (c.points[i] >= begin && c.points[i] < end)
                    add('counter', c.capture, c.group, c.name, c.points[i + 1]);
        return [...rows.values()];
    }

    /* Say which events of a part are not on the page. */
    note() {
        const { marks, counters } = this.app.profile.meta, notes = [];
        if (marks.left)
            notes.push(`only the ${formatCount(marks.list.length)} longest marks are counted`);
        if (counters.some(c => c.step > 1))
            notes.push('only the extremes of the counters');
        byId('marks-note').hidden = this.isWhole() || !notes.length;
        byId('marks-note').textContent = `In this part of the time ${notes.join(', and ')}; ` +
            'jsprof list --time FROM..TO counts all.';
    }

    /* Return the rows of a part, with their figures. */
    part() {
        const rows = this.collect();
        for (const row of rows) {
            const v = row.values.sort((a, b) => a - b), n = v.length;
            const rank = share => v[Math.max(0, Math.ceil(share * n) - 1)];
            Object.assign(row, { n, min: v[0], max: v[n - 1], median: rank(0.5),
                p95: rank(0.95), total: v.reduce((a, b) => a + b, 0) });
            row.mean = row.total / n;
        }
        return rows;
    }

    render() {
        const rows = this.isWhole() ? this.sums() : this.part();
        this.note();
        this.renderEach();
        const figure = (key, title) => ({ key, title, value: r => r[key],
            text: r => r[key] === null ? '' : r.what === 'mark' ? formatDuration(r[key])
                : key === 'total' ? '' : formatNumber(r[key]) });
        const isTwo = this.app.profile.meta.captures.length > 1;
        const text = (key, title, of) => ({ key, title, isText: true, value: of, text: of });
        this.table.set([text('what', 'What', r => r.what),
            ...isTwo ? [text('capture', 'Of', r => r.capture ? 'after' : 'before')] : [],
            text('group', 'Group', r => harmless(r.group)),
            { key: 'n', title: 'Count', value: r => r.n, text: r => formatCount(r.n) },
            figure('total', 'Sum'), figure('min', 'Least'), figure('mean', 'Mean'),
            figure('median', 'Median'), figure('p95', '95%'), figure('max', 'Most'),
            text('name', 'Name', r => harmless(r.name))], rows,
        { key: 'total', isDown: true });
    }
}
