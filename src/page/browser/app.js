/* app.js - the state of the page, and the updates that follow from its changes.
 *
 * SPDX-License-Identifier: MIT
 */

class App {
    constructor(profile) {
        const { meta } = profile;
        this.profile = this.ungrouped = profile;
        this.state = {
            view: 'graph', isBottomUp: false, isFlame: false,
            threads: meta.threads.map(() => true), states: STATES.map(() => true),
            labels: profile.labels.choices.map(() => true),
            from: 0, to: meta.spans,
            hiddenKinds: meta.hidden, metric: 'value', captures: meta.captures.map((_, c) => c),
            isAgainstRest: false, by: 'function', fn: -1, search: '', hidden: [], focus: -1,
            isCollapsed: false, isFolded: true, isWithoutOperations: false,
        };
        this.popup = new Popup();
        this.threadOrder = 'value';
        const events = { hover: (box, e) => this.hover(box, e), select: (box, isSaid) =>
            isSaid && announce(this.describe(box).join(', ')),
            menu: (box, e) => functionMenu(this, box.fn, e),
            open: box => this.sandwich(box.fn), choose: fn => this.sandwich(fn),
            focus: fn => this.focus(fn), hide: fn => this.hide(fn),
            source: () => this.source };
        this.graph = new Graph(byId('graph'), { ...events, zoom: box => this.crumbs(box) });
        this.both = new Sandwich(events);
        this.functions = new SortTable(byId('functions'),
            { label: 'Functions', open: row => this.sandwich(row.fn) });
        this.tree = new TreeGrid(byId('tree'), { open: box => this.zoomTo(box) });
        this.timeline = new Timeline(byId('lanes'), {
            range: (from, to) => this.setRange(from, to), thread: t => this.onlyThread(t),
            hover: (lines, e) => this.tip(lines, e) });
        this.timeline.setProfile(profile);
        this.heat = new Heat(this);
        fillMetrics(this);
        fillCaptures(this);
        this.extras();
        this.head();
        this.listen();
        this.first = meta.captures.some(c => c.samples) ? 'graph' : this.calls ? 'calls' : 'marks';
        this.address = new Address(this);
        this.address.isReading = true;
        this.show(this.first);
        this.address.read();
    }

    /* Add the views that only some captures have. */
    extras() {
        const { meta } = this.profile;
        if (meta.listings || (meta.sources && Object.keys(meta.sources).length))
            this.source = new Source(this);
        if (meta.calls.some(Boolean))
            this.calls = new Calls(this);
        if (meta.marks.list.length || meta.counters.length)
            this.marks = new Marks(this);
    }

    head() {
        const { meta } = this.profile, [first] = meta.captures;
        const labels = meta.captures.map(c => baseName(harmless(c.label)));
        byId('title').textContent = labels.join(' → ');
        byId('title').title = meta.captures.map(c => harmless(c.label)).join(' → ');
        document.title = labels.join(' → ') + ' – jsprof';
        const one = c => [harmless(c.command), `${formatCount(c.samples)} samples`,
            c.unit === 'count' ? ''
                : (isTimed(c.unit) ? formatDuration : formatBytes)(c.value) +
                    ` of ${unitNames[c.unit]} in ${formatDuration(c.duration)}`,
            c.hz ? `${c.hz} Hz` : '', c.recorded ? harmless(c.recorded) : '',
            c.expirations ? `lost ${formatPercent(c.lost / c.expirations)}` : '']
            .filter(Boolean).join(' · ');
        byId('summary').textContent = meta.captures.map(one).join('   →   ');
        const notes = [];
        if (meta.least)
            notes.push(`Branches of fewer than ${meta.least} samples are put together as ` +
                '[smaller branches].');
        if (meta.marks.left)
            notes.push(`${formatCount(meta.marks.left)} marks, the shortest, are left out.`);
        if (meta.runs?.left)
            notes.push(`${formatCount(meta.runs.left)} runs of tasks and turns shorter than ` +
                `${formatDuration(meta.runs.least)} are left out.`);
        if (meta.countersLeft)
            notes.push(`${formatCount(meta.countersLeft)} counters are left out.`);
        for (const [i, c] of meta.captures.entries())
            if (c.idle)
                notes.push(`Idle: ${formatPercent(c.idle / c.value)} of the elapsed time` +
                    (meta.captures.length > 1 ? ` of ${labels[i]}` : '') +
                    `, waiting in an event loop; jsprof html --idle counts it.`);
        for (const [i, c] of meta.captures.entries())
            if (c.lacksEnd)
                notes.push(`The recording${meta.captures.length > 1 ? ` ${labels[i]}` : ''} ` +
                    'has no end: its host was killed or still records, or the file was cut. ' +
                    'What came later is not here, nor is it counted as lost.');
        if (!first.samples)
            notes.push('This capture has no samples.');
        byId('notice').textContent = notes.join(' ');
        byId('notice').hidden = !notes.length;
        byId('help-data').textContent = `Time is shown in steps of ` +
            `${formatDuration(meta.span)}; the order of samples within one is not known. ` +
            `Made by jsprof ${meta.version}.`;
    }

    listen() {
        byId('tabs').addEventListener('click', e => {
            const tab = e.target.closest('[role=tab]');
            if (tab)
                this.show(tab.dataset.view);
        });
        byId('tabs').addEventListener('keydown', e => this.tabKey(e));
        byId('direction').addEventListener('click', () => this.flip('isBottomUp'));
        byId('orientation').addEventListener('click', () => this.flip('isFlame'));
        byId('group').addEventListener('change', () => this.group(byId('group').value));
        byId('threads').addEventListener('click', () => threadMenu(this.popup, this));
        byId('kinds').addEventListener('click', () => kindMenu(this.popup, this));
        byId('states').addEventListener('click', () => stateMenu(this.popup, this));
        byId('labels').addEventListener('click', () => labelMenu(this.popup, this));
        byId('theme').addEventListener('click', () => this.setDark(!isDark));
        byId('help-button').addEventListener('click', () => byId('help').showModal());
        byId('search').addEventListener('input', oncePerFrame(() => this.search()));
        byId('search').addEventListener('keydown', e => {
            if (e.key === 'Enter')
                this.nextMatch();
        });
        byId('against').addEventListener('click', () => this.flip('isAgainstRest', true));
        byId('range-all').addEventListener('click', () => this.timeline.setRange(null));
        for (const id of ['range-from', 'range-to'])
            byId(id).addEventListener('input', () => this.typedRange());
        byId('save').addEventListener('click', () => saveMenu(this));
        preparePrint(this);
        matchMedia('(prefers-color-scheme: dark)').addEventListener('change', e =>
            this.setDark(e.matches));
        document.addEventListener('keydown', e => this.key(e));
    }

    /* Update everything that depends on the state. */
    update() {
        const { state, profile } = this;
        this.view = applyFilter(profile, { ...state });
        this.colors = new Colors(this.view);
        describeSwitches(this);
        this.timeline.threads = state.threads;
        this.timeline.draw();
        this.matches = this.findMatches();
        this.render();
    }

    render() {
        const { state, view, colors, matches } = this;
        const isTime = state.view === 'time';
        byId('direction').disabled = !['graph', 'tree'].includes(state.view);
        byId('save').disabled = !this.picture;
        byId('orientation').disabled = !['graph', 'time'].includes(state.view);
        byId('direction').setAttribute('aria-pressed', state.isBottomUp);
        byId('orientation').setAttribute('aria-pressed', state.isFlame);
        this.status = '';
        if (state.view === 'graph' || isTime) {
            this.graph.matches = matches;
            this.graph.isFlame = state.isFlame;
            this.graph.setRoot(isTime ? this.timeRoot() : this.root(), colors);
            byId('graph').setAttribute('aria-label', isTime ? 'Functions in the order of time'
                : state.isBottomUp ? 'Bottom-up flame graph' : 'Flame graph');
        } else if (state.view === 'tree') {
            this.tree.setRoot(this.root(), colors);
        } else if (state.view === 'functions') {
            const key = view.isDiff ? 'changeselfShare' : 'selfShare0';
            this.functions.set(functionColumns(view, colors), functionRows(view, matches),
                { key, isDown: true });
        } else if (state.view === 'sandwich') {
            this.renderSandwich();
        } else if (state.view === 'source') {
            this.source.render();
        } else if (state.view === 'heat') {
            this.heat.render();
        } else if (state.view === 'calls') {
            this.calls.render();
        } else if (state.view === 'marks') {
            this.marks.render();
        }
        byId('matched').textContent = !matches ? '' : this.isBadSearch ? 'not a pattern'
            : formatPercent(matchedShare(view, matches)) + ' matched';
        showLegend(this);
        const [whole] = view.wholes;
        byId('status').textContent = this.status || (view.isDiff
            ? '100% is ' + view.wholes.map((w, i) => `${formatValue(view, w)} ${view.sides[i]}`)
                .join(', ')
            : `100% is ${formatValue(view, whole)}${view.isCount ? ' samples' : ''}`);
        const isEmpty = view.wholes.every(w => !w) &&
            this.profile.meta.captures.some(c => c.samples);
        byId('nothing').hidden = !isEmpty;
        byId('nothing').textContent = !isEmpty ? '' : 'No samples ' + (byId('range-all').disabled
            ? 'under these switches.' : 'in the chosen time under these switches.');
        this.address.write();
    }

    /* Return the view that can be drawn as a picture, if it is shown. */
    get picture() {
        const { graph, heat } = this;
        return { graph, time: graph, heat }[this.state.view];
    }

    root() {
        return this.state.isBottomUp ? bottomUp(this.view) : topDown(this.view);
    }

    timeRoot() {
        const threads = busiestThreads(this.view), { meta } = this.profile;
        if (threads.length === 1)
            this.status = `Thread ${threadLabel(meta, meta.threads[threads[0]])}`;
        else if (threads.length > TIME_THREADS)
            this.status = `The ${TIME_THREADS} busiest of ${formatCount(threads.length)} threads`;
        return timeOrder(this.view, threads.slice(0, TIME_THREADS));
    }

    renderSandwich() {
        const { view, colors } = this;
        if (this.state.fn < 0 || this.state.fn >= this.profile.names.length) {
            const rows = functionRows(view, null).sort((a, b) =>
                b.selfShare[0] - a.selfShare[0]);
            this.state.fn = rows[0]?.fn ?? -1;
        }
        if (this.state.fn >= 0)
            this.both.show(view, colors, this.state.fn, this.matches);
    }

    show(name) {
        this.state.view = name;
        for (const tab of byId('tabs').children) {
            const isOn = tab.dataset.view === name;
            tab.setAttribute('aria-selected', isOn);
            tab.tabIndex = isOn ? 0 : -1;
            if (isOn)
                tab.scrollIntoView({ block: 'nearest', inline: 'nearest' });
        }
        byId('panel').setAttribute('aria-labelledby', 'tab-' + name);
        for (const section of byId('panel').children)
            section.hidden = section.id !== 'view-' + (name === 'time' ? 'graph' : name);
        this.tip(null);
        if (this.view)
            this.render();
        else
            this.update();
    }

    flip(what, isFilter = false) {
        this.state[what] = !this.state[what];
        if (isFilter)
            this.update();
        else
            this.render();
    }

    setRange(from, to) {
        const { span, spans } = this.profile.meta, isAll = from === 0 && to === spans;
        Object.assign(this.state, { from, to });
        this.state.isAgainstRest &&= !isAll;
        for (const [id, at] of [['range-from', from], ['range-to', to]])
            if (byId(id) !== document.activeElement)
                byId(id).value = isAll ? '' : formatSeconds(at * span);
        byId('range-all').disabled = isAll;
        byId('range-text').textContent = isAll ? ''
            : formatDuration((to - from) * span) + ' of ' + formatDuration(spans * span);
        this.update();
    }

    typedRange() {
        const { span } = this.profile.meta, number = id => parseFloat(byId(id).value);
        const from = (number('range-from') || 0) * 1e9;
        const to = (number('range-to') || Infinity) * 1e9;
        this.timeline.setRange(to > from ? this.timeline.spansOf(from,
            Math.min(to, this.timeline.end) - span * 1e-6) : null);
    }

    onlyThread(index) {
        const { threads } = this.state;
        const isOnly = threads[index] && threads.filter(Boolean).length === 1;
        threads.forEach((_, t) => { threads[t] = isOnly || t === index; });
        this.update();
    }

    /* Change which functions are hidden, or the one in focus, and update. */
    hide(fn) {
        if (fn < 0 || this.state.hidden.includes(fn))
            return;
        this.state.hidden = [...this.state.hidden, fn];
        this.update();
        announce(this.profile.names[fn] + ' is hidden');
    }

    focus(fn) {
        this.state.focus = fn;
        this.update();
        if (fn >= 0)
            announce('Only stacks with ' + this.profile.names[fn]);
    }

    /* Show groups of functions in place of functions. What was chosen of the others is dropped. */
    group(by, isUpdate = true) {
        byId('group').value = by;
        if (by === this.state.by)
            return;
        Object.assign(this.state, { by, fn: -1, focus: -1, hidden: [] });
        this.profile = groupProfile(this.ungrouped, by);
        this.graph.zoomed = null;
        if (isUpdate)
            this.update();
    }

    unhide(fn) {
        this.state.hidden = this.state.hidden.filter(f => f !== fn);
        this.update();
    }

    sandwich(fn) {
        if (fn < 0)
            return;
        this.state.fn = fn;
        this.show('sandwich');
        announce('Callers and callees of ' + this.profile.names[fn]);
    }

    /* Go from a row of the tree to its box in the graph. */
    zoomTo(box) {
        const path = this.graph.pathOf(box);
        this.show('graph');
        this.graph.zoom(this.graph.follow(path), false);
        this.graph.canvas.focus();
    }

    crumbs(box) {
        const path = [];
        for (let b = box; b; b = b.parent)
            path.unshift(b);
        byId('crumbs').replaceChildren(...path.slice(-12).map(b =>
            element('button', { type: 'button', class: 'link', title: b.name,
                onclick: () => this.graph.zoom(b) }, splitName(b.name).name)));
        this.address.write();
    }

    findMatches() {
        const { names } = this.profile, { search } = this.state;
        this.isBadSearch = false;
        if (!search)
            return null;
        try {
            this.pattern = new RegExp(search, /[A-Z]/.test(search) ? '' : 'i');
            return Uint8Array.from(names, n => this.pattern.test(n) ? 1 : 0);
        } catch {
            this.isBadSearch = true;
            this.pattern = null;
            return new Uint8Array(names.length);
        }
    }

    search() {
        this.state.search = byId('search').value;
        this.matches = this.findMatches();
        this.match = -1;
        this.render();
    }

    /* Go to the next matching box, the largest first. */
    nextMatch() {
        const { matches, graph } = this;
        if (!matches || !['graph', 'time'].includes(this.state.view))
            return;
        const found = [], look = box => {
            if (found.length > 999 || box.value < graph.root.value * 2e-4)
                return;
            if (box.fn >= 0 && matches[box.fn])
                found.push(box);
            box.children().forEach(look);
        };
        look(graph.root);
        if (!found.length)
            return;
        found.sort((a, b) => b.value - a.value);
        this.match = (this.match + 1) % found.length;
        graph.reveal(found[this.match]);
    }

    describe(box) {
        const { view } = this, isTime = box instanceof TimeBox;
        if (isTime)
            return [box.name, (view.isBytes ? '' : formatDuration(box.value) + ' ') + 'from ' +
                formatSeconds(box.x) + ' s'];
        const lines = [box.name], module = this.profile.modules[box.fn];
        const share = v => formatPercent(view.total[0] ? v / view.total[0] : 0);
        if (module)
            lines.push(module);
        if (view.isDiff) {
            const { shares, delta, isSure } = this.colors.change(box);
            lines.push(shares.map((s, i) => `${formatPercent(s)} ${view.sides[i]}`).join(', ') +
                ': ' + formatDelta(delta), isSure ? '' : 'chance can explain it');
        } else {
            lines.push(`total ${share(box.value)} (${formatValue(view, box.value)})`,
                `self ${share(box.self)} (${formatValue(view, box.self)})`);
        }
        if (box.fn >= 0)
            lines.push(KINDS[this.colors.kindOf(box.fn)].name);
        return lines.filter(Boolean);
    }

    hover(box, e) {
        this.tip(box ? this.describe(box) : null, e);
    }

    tip(lines, e) {
        const tip = byId('tooltip');
        tip.hidden = !lines;
        if (!lines)
            return;
        tip.replaceChildren(...lines.map((l, i) =>
            element(i ? 'div' : 'strong', {}, l)));
        const { offsetWidth: w, offsetHeight: h } = tip;
        tip.style.left = Math.max(4, Math.min(e.clientX + 14, innerWidth - w - 8)) + 'px';
        tip.style.top = (e.clientY + 18 + h > innerHeight ? e.clientY - h - 10
                                                          : e.clientY + 18) + 'px';
    }

    setDark(dark) {
        setTheme(dark);
        this.update();
    }

    tabKey(e) {
        const tabs = [...byId('tabs').children].filter(t => !t.hidden);
        const at = tabs.indexOf(document.activeElement);
        const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
        if (!step || at < 0)
            return;
        const to = tabs[(at + step + tabs.length) % tabs.length];
        this.show(to.dataset.view);
        to.focus();
    }

    /* Return the function under the keyboard or the mouse in any view. */
    currentFunction() {
        return this.graph.selected?.fn ?? this.tree.current()?.fn ??
            this.functions.current()?.fn ?? this.graph.hovered?.fn ?? this.state.fn;
    }

    escape() {
        const { graph } = this;
        if (byId('search') === document.activeElement && !byId('search').value)
            byId('search').blur();
        else if (['graph', 'time'].includes(this.state.view) &&
                 (graph.zoomed !== graph.root || graph.window.to - graph.window.from <
                     graph.root.value * 0.999))
            graph.zoom(graph.root);
        else if (this.state.focus >= 0)
            this.focus(-1);
        else if (this.timeline.range)
            this.timeline.setRange(null);
        else {
            byId('search').value = '';
            this.search();
        }
    }

    key(e) {
        const isTyping = e.target.matches?.('input:not([type=checkbox]), select');
        if (e.key === '/' && !isTyping || e.key === 'f' && e.ctrlKey) {
            e.preventDefault();
            byId('search').focus();
            byId('search').select();
            return;
        }
        if (e.key === 'Escape' && !byId('help').open && byId('popup').hidden) {
            this.escape();
            return;
        }
        if (isTyping || e.ctrlKey || e.altKey || e.metaKey || byId('help').open)
            return;
        const tab = [...byId('tabs').children].filter(t => !t.hidden)[+e.key - 1];
        const actions = {
            s: () => this.sandwich(this.currentFunction()), b: () => this.flip('isBottomUp'),
            i: () => this.flip('isFlame'), d: () => this.setDark(!isDark),
            c: () => byId('against').click(), n: () => this.nextMatch(),
            h: () => this.hide(this.currentFunction()),
            f: () => this.focus(this.currentFunction()),
            r: () => this.flip('isCollapsed', true), '?': () => byId('help').showModal(),
        };
        const action = tab ? () => this.show(tab.dataset.view) : actions[e.key.toLowerCase()];
        if (!action)
            return;
        e.preventDefault();
        action();
    }
}

function start() {
    const meta = JSON.parse(byId('meta').textContent);
    setTheme(matchMedia('(prefers-color-scheme: dark)').matches);
    const app = new App(decodeProfile(meta, byId('data').textContent));
    app.graph.drawNow();
    app.timeline.drawNow();
    setTimeout(() => performance.mark('interactive'));
    return app;
}

const app = start();
