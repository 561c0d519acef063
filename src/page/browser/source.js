/* source.js - a function's source, with the cost of each line, and of each operation of its
 * bytecode below its line; jsprof html --sources has them.
 *
 * SPDX-License-Identifier: MIT
 *
 * All functions of a file count for its lines, the chosen one for its operations. The cost is that
 * of the samples whose innermost shown function ran there.
 */

/* Return "dir/file.js" of "dir/file.js:3:1". */
const fileOfPlace = place => place.replace(/(:\d+){1,2}$/, '');

/* Return the listings by function: each a list of {pc, line, text}. */
function decodeListings(list) {
    return new Map(list.map(([fn, ...items]) => {
        const rows = [];
        for (let i = 0; i < items.length; i += 3)
            rows.push({ pc: items[i], line: items[i + 1], text: items[i + 2] });
        return [fn, rows];
    }));
}

/* Return the positions of operations by line. One of no known line is with the one before it, and
 * those outside the file are at line 0. */
function operationsByLine(rows, lines) {
    const below = new Map();
    let line = 0;
    rows.forEach((row, at) => {
        line = row.line > lines ? 0 : row.line || line;
        if (!below.has(line))
            below.set(line, []);
        below.get(line).push(at);
    });
    return below;
}

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
        this.listings = decodeListings(app.profile.meta.listings ?? []);
        byId('tab-source').hidden = false;
        byId('operations').addEventListener('click', () => app.flip('isWithoutOperations'));
    }

    /* Return whether the page has something of a function to show here. */
    has(fn) {
        return !!this.files[fn] || this.listings.has(fn);
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
            this.has(fn) && value && !(value <= self[best]) ? fn : best, -1);
    }

    /* Return the value by line of a file, and by row of a function's listing. */
    costs(file, wanted) {
        const lines = new Map(), rows = new Map();
        const add = (sums, key, value) => key && sums.set(key, (sums.get(key) ?? 0) + value);
        eachLine(this.app.view, (fn, place, value) => {
            if (file && (place.file || this.own[fn]) === file)
                add(lines, place.line, value);
            if (fn === wanted)
                add(rows, place.row, value);
        });
        return { lines, rows };
    }

    /* Return a row of the table: a line, or an operation. */
    row(attributes, value, number, text) {
        const { view } = this.app;
        const cell = (name, content) => element('td', { class: name }, content);
        const row = element('tr', attributes,
            cell('number', value ? formatPercent(value / (view.total[0] || 1)) : ''),
            cell('number', value ? formatValue(view, value) : ''),
            cell('number', number),
            cell('code', harmless(text.replace(/\t/g, '    '))));
        row.classList.toggle('hot', value > 0);
        row.style.setProperty('--heat', (100 * value / (this.most || 1)).toFixed(0) + '%');
        return row;
    }

    render() {
        if (this.app.profile.by)
            this.app.group('function');
        const { app } = this, { profile: { names, meta } } = app;
        if (!this.has(app.state.fn))
            app.state.fn = this.hottest();
        const { fn, isWithoutOperations } = app.state, file = this.files[fn] ?? '';
        const listing = this.listings.get(fn) ?? [], shown = isWithoutOperations ? [] : listing;
        const lines = file ? meta.sources[file].split('\n') : [];
        const costs = this.costs(file, fn);
        this.most = [...costs.lines.values(), ...costs.rows.values()].reduce((a, b) =>
            Math.max(a, b), 0);
        byId('source-title').textContent = file || (listing.length
            ? `The source of ${names[fn]} is not on the page.`
            : 'No source of these functions is on the page.');
        byId('operations').hidden = !listing.length;
        byId('operations').textContent = `Operations of ${splitName(names[fn] ?? '').name}`;
        byId('operations').setAttribute('aria-pressed', !isWithoutOperations);
        const below = operationsByLine(shown, lines.length);
        const operations = line => (below.get(line) ?? []).map(at =>
            this.row({ class: 'operation' }, costs.rows.get(at + 1) ?? 0, '',
                `${String(shown[at].pc).padStart(5)}  ${shown[at].text}`));
        const first = +/:(\d+)(:\d+)?$/.exec(splitName(names[fn] ?? '').place)?.[1] || 0;
        let hot = null, hottest = -1;
        const rows = lines.flatMap((text, i) => {
            const value = costs.lines.get(i + 1) ?? 0;
            const row = this.row({ id: 'line-' + (i + 1) }, value, String(i + 1), text);
            if (value > hottest && i + 1 >= first) {
                hottest = value;
                hot = row;
            }
            return [row, ...operations(i + 1)];
        });
        rows.push(...operations(0));
        const heads = ['Self', 'Self time', 'Line', 'Source'].map((head, i) =>
            element('th', { scope: 'col', class: i < 3 ? 'number' : '' }, head));
        byId('source').replaceChildren(element('table',
            { class: 'figures', 'aria-label': 'Source' },
            element('thead', {}, element('tr', {}, ...heads)), element('tbody', {}, ...rows)));
        hot?.scrollIntoView({ block: 'center' });
    }
}
