/* address.js - the state of the page in its address: a link shows what the sender saw.
 *
 * SPDX-License-Identifier: MIT
 *
 * The part after "#" has what differs from the first view, as name=value. Functions are named, so
 * that a link also fits a page of a later capture; the zoom is a path of numbers, followed as far
 * as it leads. What does not fit is ignored. Each step of the
 * user is an entry of the browser's history. Steps of one kind that follow each other quickly, as
 * the letters of a search, share an entry.
 */

const ADDRESS_PAUSE = 1000; /* ms */

class Address {
    constructor(app) {
        this.app = app;
        this.text = '';
        this.kind = '';
        this.at = -Infinity;
        addEventListener('hashchange', () => {
            if (location.hash.slice(1) !== this.text)
                this.read();
        });
    }

    /* Return the state as a list of [name, value]; defaults are left out. */
    words() {
        const { state, graph, profile: { meta, names, labels } } = this.app;
        const all = [], put = (name, value, isDefault) =>
            isDefault || all.push([name, String(value)]);
        const seconds = span => +(span * meta.span / 1e9).toFixed(9);
        put('view', state.view, state.view === this.app.first);
        put('by', state.by, state.by === 'function');
        put('up', 1, !state.isBottomUp);
        put('flames', 1, !state.isFlame);
        put('from', seconds(state.from), state.from === 0);
        put('to', seconds(state.to), state.to === meta.spans);
        put('rest', 1, !state.isAgainstRest);
        put('threads', state.threads.flatMap((on, t) => on ? [t] : []).join('.'),
            state.threads.every(Boolean));
        put('states', state.states.flatMap((on, s) => on ? [s] : []).join('.'),
            state.states.every(Boolean));
        for (const [i, { key, word }] of labels.choices.entries())
            put('label', word, !state.labels[i] ||
                labels.choices.every((c, k) => c.key !== key || state.labels[k]));
        put('without', state.hiddenKinds, state.hiddenKinds === meta.hidden);
        put('measure', state.metric, state.metric === byId('metric').options[0].value);
        put('show', state.captures.join('.'), state.captures.length === meta.captures.length);
        put('search', state.search, !state.search);
        put('function', names[state.fn], !['sandwich', 'source'].includes(state.view) ||
            state.fn < 0);
        put('focus', names[state.focus], state.focus < 0);
        for (const fn of state.hidden)
            put('hide', names[fn], false);
        put('collapsed', 1, !state.isCollapsed);
        put('unfolded', 1, state.isFolded);
        put('lines', 'only', !state.isWithoutOperations);
        const path = ['graph', 'time'].includes(state.view) && graph.zoomed && !graph.root.isTime
            ? graph.pathOf(graph.zoomed) : [];
        put('zoom', path.join('.'), !path.length);
        return all;
    }

    /* Write the state into the address, if it has changed. */
    write() {
        const words = this.words(), text = String(new URLSearchParams(words));
        if (text === this.text || this.isReading)
            return;
        const old = new Map(new URLSearchParams(this.text));
        const kind = [...new Set([...words.map(w => w[0]), ...old.keys()])].filter(name =>
            (new Map(words)).get(name) !== old.get(name)).join();
        const isSame = kind === this.kind && performance.now() - this.at < ADDRESS_PAUSE;
        this.text = text;
        this.kind = kind;
        this.at = performance.now();
        history[isSame ? 'replaceState' : 'pushState'](null, '',
            text ? '#' + text : location.href.replace(/#.*/, ''));
    }

    /* Take the state from the address. */
    read() {
        const { app } = this, { state, profile: { meta } } = app;
        const words = new URLSearchParams(location.hash.slice(1));
        app.group(GROUPS.includes(words.get('by')) ? words.get('by') : 'function', false);
        const { names } = app.profile;
        const numbers = (name, most) => (words.get(name) ?? '').split('.')
            .filter(Boolean).map(Number).filter(n => Number.isInteger(n) && n >= 0 && n < most);
        const fn = name => names.indexOf(name);
        const span = (name, other) => words.has(name) && words.get(name) >= 0
            ? Math.round(words.get(name) * 1e9 / meta.span) : other;
        const threads = numbers('threads', meta.threads.length);
        const states = numbers('states', state.states.length);
        const captures = numbers('show', meta.captures.length);
        const { choices } = app.profile.labels, asked = words.getAll('label');
        const keys = new Set(choices.filter(c => asked.includes(c.word)).map(c => c.key));
        this.isReading = true;
        Object.assign(state, {
            isAgainstRest: words.has('rest'),
            isBottomUp: words.has('up'), isFlame: words.has('flames'),
            threads: meta.threads.map((_, t) => !threads.length || threads.includes(t)),
            states: state.states.map((_, s) => !states.length || states.includes(s)),
            labels: choices.map(c => !keys.has(c.key) || asked.includes(c.word)),
            hiddenKinds: +(words.get('without') ?? meta.hidden) & 511,
            captures: captures.length ? captures : meta.captures.map((_, c) => c),
            search: words.get('search') ?? '', fn: fn(words.get('function')),
            focus: fn(words.get('focus')), hidden: words.getAll('hide').map(fn).filter(f => f >= 0),
            isCollapsed: words.has('collapsed'), isFolded: !words.has('unfolded'),
            isWithoutOperations: words.has('lines'),
        });
        const options = [...byId('metric').options].map(o => o.value);
        state.metric = options.includes(words.get('measure')) ? words.get('measure') : options[0];
        byId('metric').value = state.metric;
        byId('search').value = state.search;
        if (meta.captures.length > 1)
            byId('capture').value = state.captures.join();
        app.timeline.setLanes(state.captures);
        const from = Math.min(span('from', 0), meta.spans - 1);
        app.timeline.setRange({ from, to: Math.min(meta.spans, Math.max(from + 1,
            span('to', meta.spans))) });
        const tab = byId('tab-' + (words.get('view') ?? app.first));
        app.show(tab && !tab.hidden ? tab.dataset.view : app.first);
        if (app.graph.root && !app.graph.root.isTime)
            app.graph.zoom(app.graph.follow(numbers('zoom', names.length)), false);
        this.text = location.hash.slice(1);
        this.isReading = false;
    }
}
