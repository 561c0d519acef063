/* controls.js - the switches: threads, frames, measure, capture.
 *
 * SPDX-License-Identifier: MIT
 *
 * Each switch changes the common state and asks for an update; see app.js.
 */

/* A small window of check boxes below a button; Escape or a click elsewhere closes it. */
class Popup {
    constructor() {
        this.popup = byId('popup');
        document.addEventListener('pointerdown', e => {
            if (!this.popup.contains(e.target) && e.target !== this.button)
                this.close();
        });
        this.popup.addEventListener('keydown', e => {
            if (e.key !== 'Escape')
                return;
            e.stopPropagation();
            this.button.focus();
            this.close();
        });
    }

    toggle(button, ...content) {
        if (this.button === button && !this.popup.hidden) {
            this.close();
            return;
        }
        this.button = button;
        button.setAttribute('aria-expanded', 'true');
        const area = button.getBoundingClientRect();
        this.show(area.left, area.bottom + 4, button.parentElement.firstChild.textContent,
            content);
    }

    /* Open at the mouse, or below the element with the keyboard focus. */
    at(e, label, ...content) {
        this.close();
        this.button = e.target;
        this.show(e.clientX, e.clientY, label, content);
    }

    show(x, y, label, content) {
        this.popup.setAttribute('aria-label', label);
        this.popup.replaceChildren(...content);
        this.popup.hidden = false;
        const { offsetWidth: width, offsetHeight: height } = this.popup;
        this.popup.style.top = scrollY + Math.max(4, Math.min(y, innerHeight - height - 8)) + 'px';
        this.popup.style.left = Math.max(4, Math.min(x, innerWidth - width - 8)) + 'px';
        this.popup.querySelector('input, button')?.focus();
    }

    close() {
        if (this.button?.hasAttribute('aria-expanded'))
            this.button.setAttribute('aria-expanded', 'false');
        this.popup.hidden = true;
    }
}

function checkLine(text, isOn, change, swatch) {
    const box = element('input', { type: 'checkbox', onchange: () => change(box.checked) });
    box.checked = isOn;
    return element('label', { class: 'check' }, box, ...swatch ? [swatch] : [], text);
}

const formatCost = (unit, sum) =>
    (isTimed(unit) ? formatDuration : isOfBytes(unit) ? formatBytes : formatCount)(sum);

/* A line of a menu with a cost: a switch and a button that chooses it alone. */
function costLine({ name, title = name, cost, isOn, id, kind = '' }, choose, only) {
    const check = checkLine(name, isOn, choose);
    check.firstChild.dataset.id = id;
    return element('div', { class: 'thread ' + kind }, check, element('output', {}, cost),
        element('button', { type: 'button', 'aria-label': 'only ' + title, 'data-id': 'o' + id,
            onclick: only }, 'only'));
}

/* Do what was chosen in the menu of a button, and show it anew with the focus where it was. */
function chooseLine(app, button, menu, id, action) {
    action();
    app.update();
    app.popup.toggle(byId(button)); /* closes, and opens with the new state */
    menu(app.popup, app);
    app.popup.popup.querySelector(`[data-id="${id}"]`)?.focus();
}

/* Return the threads of the shown captures by process, in the chosen order. */
function threadGroups(app) {
    const { profile: { meta }, timeline: { sums }, threadOrder } = app, groups = new Map();
    const label = t => threadLabel(meta, t);
    const list = meta.threads.map((t, index) => ({ ...t, index,
        value: sums[index].reduce((a, b) => a + b, 0) }))
        .filter(t => app.state.captures.includes(t.capture));
    list.sort({ value: (a, b) => b.value - a.value, id: (a, b) => a.tid - b.tid,
        name: (a, b) => label(a).localeCompare(label(b), 'en', { numeric: true }) }[threadOrder]);
    for (const t of list) {
        const key = t.capture + '.' + t.pid;
        groups.set(key, [...groups.get(key) ?? [], t]);
    }
    return [...groups.values()];
}

/* The threads with their cost, each with a switch and a button that chooses it alone; those of a
 * process together, if there are several. */
function threadMenu(popup, app) {
    const { meta } = app.profile, { threads } = app.state;
    const groups = threadGroups(app), isOfMany = groups.length > 1;
    const cost = list => {
        const [{ capture }] = list, { unit } = meta.captures[capture];
        return formatCost(unit, list.reduce((s, t) => s + t.value, 0));
    };
    const change = (id, action) => chooseLine(app, 'threads', threadMenu, id, action);
    const only = list => threads.fill(false).forEach((_, i) => {
        threads[i] = list.some(t => t.index === i);
    });
    const line = (name, list, id, kind) => costLine(
        { name, cost: cost(list), isOn: list.every(t => threads[t.index]), id, kind },
        isOn => change(id, () => list.forEach(t => { threads[t.index] = isOn; })),
        () => change('o' + id, () => only(list)));
    const name = t => `${threadLabel(meta, t)} (${t.pid === t.tid ? '' : t.pid + '/'}${t.tid})`;
    const lines = groups.flatMap(list => [
        ...isOfMany ? [line(`process ${list[0].pid}, ${harmless(list.find(t =>
            t.tid === t.pid)?.name ?? '')} (${list.length} threads)`.replace(',  (', ' ('), list,
        'p' + list[0].index, 'process')] : [],
        ...list.map(t => line(name(t), [t], 't' + t.index, ''))]);
    const all = element('button', { type: 'button', onclick: () => {
        threads.fill(true);
        app.update();
        popup.close();
    } }, 'all threads');
    const order = element('select', { 'data-id': 'order', onchange: () =>
        change('order', () => { app.threadOrder = order.value; }) },
        ...[['value', 'cost'], ['name', 'name'], ['id', 'number']].map(([value, text]) =>
            element('option', { value, selected: value === app.threadOrder }, text)));
    popup.toggle(byId('threads'), all, element('label', { class: 'thread' }, 'sort by ', order),
        ...lines);
}

/* The kinds that occur in the profile, each with a bit of hiddenKinds. */
function kindMenu(popup, app) {
    const present = new Set();
    for (let f = 0; f < app.profile.frame.function.length; f++)
        present.add(kindOfFrame(app.profile.frame, f));
    const lines = [...present].sort((a, b) => a - b).map(k => {
        const swatch = element('span', { class: 'swatch' });
        swatch.style.background = kindColor(k, 0.5);
        return checkLine(KINDS[k].name, !(app.state.hiddenKinds >> k & 1), isOn => {
            app.state.hiddenKinds = isOn ? app.state.hiddenKinds & ~(1 << k)
                                         : app.state.hiddenKinds | 1 << k;
            app.update();
        }, swatch);
    });
    const flip = (what, text) => checkLine(text, app.state[what], () => app.flip(what, true));
    popup.toggle(byId('kinds'), ...lines, flip('isCollapsed', 'one frame for recursion'),
        flip('isFolded', 'fold roots that all stacks have'));
}

/* A menu of what can be done with a function, where the mouse is. */
function functionMenu(app, fn, e) {
    if (fn < 0)
        return;
    const item = (text, action) => element('button', { type: 'button', onclick: () => {
        app.popup.close();
        action();
    } }, text);
    e.preventDefault();
    app.popup.at(e, splitName(app.profile.names[fn]).name,
        item('Callers and callees', () => app.sandwich(fn)),
        item('Focus: only stacks with it', () => app.focus(fn)),
        item('Hide its frames', () => app.hide(fn)));
}

/* Show what is hidden and in focus, with buttons that undo it. */
function showChosen(app) {
    const { state, profile } = app;
    const name = fn => splitName(profile.names[fn]).name;
    const chip = (text, undo) => element('button', { type: 'button', class: 'chip',
        title: 'undo', onclick: undo }, text + ' ✕');
    byId('chosen').replaceChildren(
        ...state.focus >= 0 ? [chip('focus: ' + name(state.focus), () => app.focus(-1))] : [],
        ...state.hidden.map(fn => chip('hidden: ' + name(fn), () => app.unhide(fn))),
        ...state.isCollapsed ? [chip('recursion collapsed', () => app.flip('isCollapsed', true))]
            : []);
}

function fillMetrics(app) {
    const { captures } = app.profile.meta, units = captures.map(c => c.unit);
    const select = byId('metric'), options = [];
    if (!units.includes('count'))
        options.push(['value', unitNames[units.includes('wall') ? 'wall' : units[0]]]);
    options.push(['samples', 'samples']);
    select.replaceChildren(...options.map(([value, text]) =>
        element('option', { value }, text)));
    app.state.metric = options[0][0];
    select.addEventListener('change', () => {
        app.state.metric = select.value;
        app.update();
    });
}

function fillCaptures(app) {
    const { captures } = app.profile.meta, select = byId('capture');
    if (captures.length < 2)
        return;
    byId('capture-label').hidden = false;
    select.replaceChildren(element('option', { value: '0,1' }, 'difference'),
        element('option', { value: '0' }, 'before: ' + harmless(captures[0].label)),
        element('option', { value: '1' }, 'after: ' + harmless(captures[1].label)));
    select.addEventListener('change', () => {
        app.state.captures = select.value.split(',').map(Number);
        app.timeline.setLanes(app.state.captures);
        app.update();
    });
}

/* Show on the buttons what they hide. */
function describeSwitches(app) {
    const { threads, hiddenKinds } = app.state, { meta } = app.profile;
    const on = threads.filter(Boolean).length;
    byId('threads').textContent = on === threads.length ? 'all'
        : on === 1 ? threadLabel(meta, meta.threads[threads.indexOf(true)])
        : `${on} of ${threads.length}`;
    byId('kinds').textContent = hiddenKinds === 0 ? 'all'
        : hiddenKinds === 1 << KIND_LOOP ? 'usual' : 'some';
    byId('against').disabled = app.state.captures.length > 1 ||
        app.state.from === 0 && app.state.to === meta.spans;
    byId('against').setAttribute('aria-pressed', app.view.isAgainstRest);
    describeStates(app);
    describeLabels(app);
    showChosen(app);
}

function showLegend(app) {
    const { view, colors } = app;
    const part = (color, text) => {
        const swatch = element('span', { class: 'swatch' });
        swatch.style.background = color;
        return element('span', {}, swatch, text);
    };
    if (view.isDiff && app.state.view !== 'time') {
        byId('legend').replaceChildren(part(changeColor(1, true),
            'more than ' + view.sides[0]),
            part(changeColor(-1, true), 'less'), part(changeColor(0, false), 'chance'));
        return;
    }
    const kinds = new Set();
    for (let fn = 0; fn < view.profile.names.length; fn++)
        kinds.add(colors.kindOf(fn));
    byId('legend').replaceChildren(...[...kinds].sort((a, b) => a - b)
        .filter(k => !(app.state.hiddenKinds >> k & 1))
        .map(k => part(kindColor(k, 0.5), KINDS[k].name)));
}
