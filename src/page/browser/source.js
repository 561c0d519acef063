/* source.js - a function's source, with the cost of each line; jsprof html --sources has it.
 *
 * SPDX-License-Identifier: MIT
 *
 * All functions of a file count for its lines. A line's cost is that of the samples whose innermost
 * shown function ran there.
 */

/* Return "dir/file.js" of "dir/file.js:3:1". */
const fileOfPlace = place => place.replace(/(:\d+){1,2}$/, '');

class Source {
    constructor(app) {
        const { names, meta: { sources } } = app.profile;
        this.app = app;
        /* by function: the file that its name has, and the one that is on the page, or "" */
        this.own = names.map(name => fileOfPlace(splitName(name).place || name));
        this.files = this.own.map(file => Object.hasOwn(sources, file) ? file : '');
        this.addFiles(app.profile.places, n => n);
        const vm = vmNodes(app.profile);
        this.addFiles(app.profile.vmPlaces, n => vm[n]);
        byId('tab-source').hidden = false;
    }

    /* Add the files of lines, for functions whose names have none. */
    addFiles(places, nodeOf) {
        const { stack, tree, frame, meta: { sources } } = this.app.profile;
        for (let s = 0; s < stack.node.length; s++) {
            const { file } = places[stack.place[s]], node = nodeOf(stack.node[s]);
            const fn = frame.function[tree.frame[node]];
            if (node && file && !this.files[fn] && Object.hasOwn(sources, file))
                this.files[fn] = file;
        }
    }

    /* Return the function with a source that has the most self time, or -1. */
    hottest() {
        const [{ self }] = functionFigures(this.app.view);
        return self.reduce((best, value, fn) =>
            this.files[fn] && value && !(value <= self[best]) ? fn : best, -1);
    }

    /* Return the value by line. */
    costs(file) {
        const sums = new Map();
        eachLine(this.app.view, (fn, place, value) => {
            if ((place.file || this.own[fn]) === file)
                sums.set(place.line, (sums.get(place.line) ?? 0) + value);
        });
        return sums;
    }

    render() {
        if (this.app.profile.by)
            this.app.group('function');
        const { app } = this, { view, profile: { names, meta } } = app;
        if (!this.files[app.state.fn])
            app.state.fn = this.hottest();
        const { fn } = app.state, file = this.files[fn] ?? '';
        byId('source-title').textContent = file || 'No source of these functions is on the page.';
        const costs = file ? this.costs(file) : new Map(), most = Math.max(0, ...costs.values());
        const first = +/:(\d+)(:\d+)?$/.exec(splitName(names[fn] ?? '').place)?.[1] || 0;
        let hot = null, hottest = -1;
        const rows = (file ? meta.sources[file] : '').split('\n').map((text, i) => {
            const value = costs.get(i + 1) ?? 0;
            const cell = element('td', { class: 'code' }, harmless(text.replace(/\t/g, '    ')));
            const row = element('tr', { class: value ? 'hot' : '', id: 'line-' + (i + 1) },
                element('td', { class: 'number' }, value
                    ? formatPercent(value / (view.total[0] || 1)) : ''),
                element('td', { class: 'number' }, value ? formatValue(view, value) : ''),
                element('td', { class: 'number' }, String(i + 1)), cell);
            row.style.setProperty('--heat', (100 * value / (most || 1)).toFixed(0) + '%');
            if (value > hottest && i + 1 >= first) {
                hottest = value;
                hot = row;
            }
            return row;
        });
        const heads = ['Self', 'Self time', 'Line', 'Source'].map((head, i) =>
            element('th', { scope: 'col', class: i < 3 ? 'number' : '' }, head));
        byId('source').replaceChildren(element('table',
            { class: 'figures', 'aria-label': 'Source' },
            element('thead', {}, element('tr', {}, ...heads)), element('tbody', {}, ...rows)));
        hot?.scrollIntoView({ block: 'center' });
    }
}
