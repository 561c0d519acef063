/* labels.js - the labels of samples: the switch that chooses by their values.
 *
 * SPDX-License-Identifier: MIT
 *
 * Each value of a key is a choice, and so is its absence. A sample counts if, for each key, what it
 * has is chosen. Keys with too many values are only named.
 */

/* Return all choices in one list, and for each set of labels what it has of each key. */
function decodeLabels({ labelKeys = [], labelSets = [[]] }) {
    const choices = [], first = [], left = [];
    for (const [name, ...values] of labelKeys) {
        const key = harmless(name);
        first.push(choices.length);
        if (typeof values[0] === 'number')
            left.push({ key, n: values[0] });
        else
            choices.push({ key, text: `[no ${key}]`, word: key, title: `[no ${key}]` },
                ...values.map(harmless).map(text =>
                    ({ key, text, word: `${key}=${text}`, title: `${key}=${text}` })));
    }
    const kept = first.filter((at, k) => typeof labelKeys[k][1] !== 'number');
    const sets = labelSets.map(set => {
        const numbers = new Map();
        for (let i = 0; i < set.length; i += 2)
            numbers.set(first[set[i]], set[i + 1]);
        return kept.map(at => at + (numbers.get(at) ?? 0));
    });
    return { choices, sets, left };
}

/* Return the value of each choice in the shown captures. */
function labelSums({ profile: { meta, labels, stack, time }, state }) {
    const sums = new Float64Array(labels.choices.length);
    const counts = meta.threads.map(t => state.captures.includes(t.capture));
    for (let i = 0; i < time.stack.length; i++) {
        const s = time.stack[i];
        for (const c of counts[stack.thread[s]] ? labels.sets[stack.labels[s]] : [])
            sums[c] += time.value[i];
    }
    return sums;
}

/* The values of each key with their cost, each with a switch and a button that chooses it alone. */
function labelMenu(popup, app) {
    const { meta, labels: { choices, left } } = app.profile, { labels } = app.state;
    const sums = labelSums(app), { unit } = meta.captures[app.state.captures[0]];
    const act = (id, action) => chooseLine(app, 'labels', labelMenu, id, action);
    const line = c => costLine({ name: choices[c].text, cost: formatCost(unit, sums[c]),
        isOn: labels[c], id: 'l' + c, title: choices[c].title },
    isOn => act('l' + c, () => { labels[c] = isOn; }),
    () => act('ol' + c, () => choices.forEach((other, i) => {
        labels[i] = other.key === choices[c].key ? i === c : labels[i];
    })));
    const groups = [...new Set(choices.map(c => c.key))].map(key =>
        element('div', { role: 'group', 'aria-label': key },
            element('div', { class: 'process' }, key),
            ...[...choices.keys()].filter(c => choices[c].key === key)
                .sort((a, b) => sums[b] - sums[a]).map(line)));
    const all = element('button', { type: 'button', onclick: () => {
        labels.fill(true);
        app.update();
        popup.close();
    } }, 'all labels');
    popup.toggle(byId('labels'), all, ...groups, ...left.map(({ key, n }) => element('div', {},
        `${key}: ${formatCount(n)} values, too many; jsprof html --label ${key}=VALUE`)));
}

function describeLabels(app) {
    const { choices, left } = app.profile.labels, { labels } = app.state;
    const cut = new Set(choices.filter((_, i) => !labels[i]).map(c => c.key));
    const on = choices.filter((c, i) => cut.has(c.key) && labels[i]);
    byId('labels-label').hidden = !choices.length && !left.length;
    byId('labels').textContent = !cut.size ? 'all'
        : on.length === 1 && cut.size === 1 ? on[0].title : 'some';
}
