/* model.js - a profile under a filter: the figures of each node, function and line.
 *
 * SPDX-License-Identifier: MIT
 *
 * A filter selects threads, a span of time, frames, functions and a measure. The cost of a
 * hidden frame goes to the nearest shown frame that called it. Each of two captures that are
 * compared, or a span of time and the rest of the time, keeps its own figures; widths are made
 * from `layout`.
 */

const ORIGIN_LOOP = 2; /* native code of an interpreter */

/* Kinds of the switch: a bit for each of the capture's kinds, one for loops. */
const KIND_COMPILED = 1, KIND_LOOP = 8;
const kindOfFrame = (frame, f) =>
    frame.origin[f] === ORIGIN_LOOP ? KIND_LOOP : frame.kind[f];

/* Groups of functions, by the names that jsprof report --by has. */
const GROUPS = ['function', 'module', 'file', 'kind'];
const NO_MODULE = ['[vm]', '[vm]', '[host]', '[host]', '[unknown]', '[jsprof]', '[kernel]'];

/* Return the profile with groups in place of functions. */
function groupProfile(profile, by) {
    const { frame, names, modules } = profile, numbers = new Map();
    if (by === 'function')
        return profile;
    const nameOf = (fn, f) => by === 'kind' ? KINDS[kindOfFrame(frame, f)].name
        : by === 'file' && fileOfPlace(splitName(names[fn]).place) || modules[fn] ||
            (NO_MODULE[frame.kind[f]] ?? '[unknown]');
    const groups = frame.function.map((fn, f) => {
        const name = nameOf(fn, f);
        if (!numbers.has(name))
            numbers.set(name, numbers.size);
        return numbers.get(name);
    });
    return { ...profile, by, names: [...numbers.keys()],
             modules: Array(numbers.size).fill(''), frame: { ...frame, function: groups } };
}

/* Return the tree of the shown nodes: for each node the node that represents it, for each of
 * these the caller, the depth, and its callees as a list. */
function shownTree(profile, filter) {
    const { tree, frame, nodes } = profile;
    const shown = new Int32Array(nodes), up = new Int32Array(nodes),
          depth = new Int32Array(nodes), first = new Int32Array(nodes),
          next = new Int32Array(nodes);
    /* Stacks without the function in focus do not count, and its callers are hidden. */
    const isIn = filter.focus >= 0 ? new Uint8Array(nodes) : null;
    const hidden = new Set(filter.hidden);
    for (let n = 1; n < nodes; n++) {
        const above = shown[tree.parent[n]], fn = frame.function[tree.frame[n]];
        if (isIn)
            isIn[n] = isIn[tree.parent[n]] || fn === filter.focus ? 1 : 0;
        const isHidden = (isIn && !isIn[n]) || hidden.has(fn) ||
            filter.hiddenKinds >> kindOfFrame(frame, tree.frame[n]) & 1;
        let same = filter.isCollapsed && !isHidden ? above : 0;
        while (same && frame.function[tree.frame[same]] !== fn)
            same = up[same];
        if (profile.by && !isHidden && above && frame.function[tree.frame[above]] === fn)
            same = above; /* frames of a group that call each other are one */
        shown[n] = isHidden ? above : same || n;
        up[n] = above;
        depth[n] = shown[n] === n ? depth[above] + 1 : depth[shown[n]];
    }
    for (let n = nodes - 1; n > 0; n--)
        if (shown[n] === n) {
            next[n] = first[up[n]];
            first[up[n]] = n;
        }
    return { shown, up, depth, first, next, isIn };
}

/* Return the shown caller of a shown node at a depth that is not below the node's. Each node has
 * a second, longer way up, so that this takes logarithmic time. */
function callerAt(filter, node, depth) {
    const { up, depth: depths } = filter, jump = filter.jump ??= longWays(filter);
    while (depths[node] > depth)
        node = depths[jump[node]] >= depth ? jump[node] : up[node];
    return node;
}

function longWays({ shown, up, depth }) {
    const jump = new Int32Array(up.length);
    for (let n = 1; n < up.length; n++) {
        const above = up[n], far = jump[above];
        if (shown[n] === n)
            jump[n] = depth[above] - depth[far] === depth[far] - depth[jump[far]]
                ? jump[far] : above;
    }
    return jump;
}

/* Mark shown nodes whose function is not among their callers; only these count for
 * total. */
function outermostNodes(profile, { shown, up, isCollapsed }) {
    const { tree, frame, nodes, names } = profile;
    if (isCollapsed)
        return shown.map((s, n) => s === n ? 1 : 0);
    const isOuter = new Uint8Array(nodes), on = new Int32Array(names.length);
    const path = []; /* nodes of the walk, in growing order */
    for (let n = 1; n < nodes; n++) {
        if (shown[n] !== n)
            continue;
        while (path.length && path[path.length - 1] !== up[n])
            on[frame.function[tree.frame[path.pop()]]]--;
        isOuter[n] = on[frame.function[tree.frame[n]]]++ === 0 ? 1 : 0;
        path.push(n);
    }
    return isOuter;
}

/* Return what has figures of its own: captures or, if the chosen time of one capture is compared,
 * the rest of the time and the chosen time. A range is [first span, span after the last]. */
function partsOf({ meta }, { captures, from, to, isAgainstRest }) {
    const chosen = captures.map(capture => ({ capture, ranges: [[from, to]] }));
    return isAgainstRest && captures.length === 1 && (from > 0 || to < meta.spans)
        ? [{ capture: captures[0], ranges: [[0, from], [to, meta.spans]] }, ...chosen] : chosen;
}

/* Return true if a stack is one of the chosen states and has the chosen labels. */
const isChosen = (filter, stack, s) =>
    filter.states[stack.state[s]] && filter.hasLabels[stack.labels[s]];

/* Return self and total of each node in a part. */
function nodeFigures(profile, filter, { capture, ranges }) {
    const { stack, time, nodes, meta } = profile, { shown, up, isIn } = filter;
    const value = new Float64Array(nodes), samples = new Float64Array(nodes);
    const measured = filter.metric === 'samples' ? time.samples : time.value;
    const counts = meta.threads.map((t, i) => filter.threads[i] && t.capture === capture);
    for (const [from, to] of ranges)
        for (let i = time.spanStart[from], end = time.spanStart[to]; i < end; i++) {
            const s = time.stack[i];
            if (!counts[stack.thread[s]] || (isIn && !isIn[stack.node[s]]) ||
                !isChosen(filter, stack, s))
                continue;
            const n = shown[stack.node[s]];
            value[n] += measured[i];
            samples[n] += time.samples[i];
        }
    const total = value.slice(), totalSamples = samples.slice();
    for (let n = nodes - 1; n > 0; n--)
        if (shown[n] === n) {
            total[up[n]] += total[n];
            totalSamples[up[n]] += totalSamples[n];
        }
    return { self: value, selfSamples: samples, total, totalSamples };
}

/* Return widths: the figures of one part, or the mean of both shares, so that nodes
 * which one part lacks are still visible. */
function layoutOf(figures, key, wholes) {
    if (figures.length === 1)
        return figures[0][key];
    const out = new Float64Array(figures[0][key].length);
    figures.forEach((f, c) => {
        for (let n = 0; wholes[c] && n < out.length; n++)
            out[n] += f[key][n] / wholes[c] / figures.length;
    });
    return out;
}

function applyFilter(profile, filter) {
    Object.assign(filter, shownTree(profile, filter), {
        hasLabels: profile.labels.sets.map(set => set.every(c => filter.labels[c])),
    });
    const parts = partsOf(profile, filter);
    const figures = parts.map(part => nodeFigures(profile, filter, part));
    const wholes = figures.map(f => f.total[0]);
    return {
        profile, filter, parts, figures, wholes,
        isDiff: parts.length === 2,
        isAgainstRest: parts.length > filter.captures.length,
        sides: filter.captures.length === 2 ? ['before', 'after'] : ['in the rest', 'chosen'],
        total: layoutOf(figures, 'total', wholes),
        self: layoutOf(figures, 'self', wholes),
        isCount: filter.metric === 'samples' ||
            profile.meta.captures.some(c => c.unit === 'count'),
        isBytes: profile.meta.captures.some(c => isOfBytes(c.unit)),
    };
}

/* Return the share of samples with a match anywhere on their stack. */
function matchedShare(view, matches) {
    const { tree, frame, nodes } = view.profile, { shown, up } = view.filter;
    const hit = new Uint8Array(nodes);
    let sum = 0;
    for (let n = 1; n < nodes; n++) {
        if (shown[n] !== n)
            continue;
        hit[n] = hit[up[n]] || matches[frame.function[tree.frame[n]]] ? 1 : 0;
        if (hit[n])
            sum += view.self[n];
    }
    return view.total[0] ? sum / view.total[0] : 0;
}

/* Of the callers at the root that are on every stack, if these are many, return the last two:
 * the last one is the first frame of interest. */
const FOLDED_LEAST = 3;
function foldedRoots(view) {
    const { filter: { first, next, depth }, total } = view;
    const only = node => {
        let child = 0;
        for (let c = first[node]; c; c = next[c]) {
            if (total[c] && child)
                return 0;
            child = total[c] ? c : child;
        }
        return total[child] >= total[0] * (1 - 1e-12) ? child : 0;
    };
    let above = 0, node = 0;
    for (let child = only(0); child; child = only(child)) {
        above = node;
        node = child;
    }
    return view.filter.isFolded && first[node] && depth[above] >= FOLDED_LEAST ? [above, node]
                                                                               : [0, 0];
}

/* Return each function's figures, by part. */
function functionFigures(view) {
    return view.byFunction ??= sumFunctions(view);
}

function sumFunctions(view) {
    const { profile, filter } = view, { tree, frame, nodes, names } = profile;
    const isOuter = view.isOuter ??= outermostNodes(profile, filter);
    return view.figures.map(f => {
        const out = { self: new Float64Array(names.length),
                      total: new Float64Array(names.length),
                      selfSamples: new Float64Array(names.length) };
        for (let n = 1; n < nodes; n++) {
            if (filter.shown[n] !== n || !f.total[n])
                continue;
            const fn = frame.function[tree.frame[n]];
            out.self[fn] += f.self[n];
            out.selfSamples[fn] += f.selfSamples[n];
            if (isOuter[n])
                out.total[fn] += f.total[n];
        }
        return out;
    });
}

/* Return the kind in which each function spent most of its time. */
function functionKinds(view) {
    const { profile, filter } = view, { tree, frame, nodes, names } = profile;
    const sums = new Map(), kinds = new Uint8Array(names.length);
    for (let i = 0; i < frame.function.length; i++)
        kinds[frame.function[i]] = kindOfFrame(frame, i);
    for (let n = 1; n < nodes; n++)
        if (filter.shown[n] === n && view.total[n])
            sums.set(tree.frame[n], (sums.get(tree.frame[n]) ?? 0) + view.total[n]);
    const best = new Float64Array(names.length);
    for (const [f, sum] of sums)
        if (sum > best[frame.function[f]]) {
            best[frame.function[f]] = sum;
            kinds[frame.function[f]] = kindOfFrame(frame, f);
        }
    return kinds;
}

/* Return for each node the innermost node of the VM's functions on its stack; 0: none. */
function vmNodes({ tree, frame, nodes }) {
    const vm = new Int32Array(nodes);
    for (let n = 1; n < nodes; n++)
        vm[n] = frame.kind[tree.frame[n]] <= KIND_COMPILED ? n : vm[tree.parent[n]];
    return vm;
}

/* Visit the known lines of selected samples in the innermost shown function: (fn, place, value).
 * The function is that of the innermost frame or, where the frames that it called are hidden, the
 * innermost one of the VM. */
function eachLine(view, visit) {
    const { profile, filter } = view, { tree, frame, stack, time, meta } = profile;
    const { places, vmPlaces } = profile, vm = profile.vmNodes ??= vmNodes(profile);
    const to = time.spanStart[filter.to];
    const measured = filter.metric === 'samples' ? time.samples : time.value;
    for (let i = time.spanStart[filter.from]; i < to; i++) {
        const s = time.stack[i], n = stack.node[s], thread = stack.thread[s];
        const fn = frame.function[tree.frame[filter.shown[n]]];
        if (!stack.place[s] || !filter.threads[thread] || !isChosen(filter, stack, s) ||
            (filter.isIn && !filter.isIn[n]) ||
            !filter.captures.includes(meta.threads[thread].capture))
            continue;
        const of = node => node && frame.function[tree.frame[node]] === fn &&
            filter.shown[node] === filter.shown[n];
        const place = of(vm[n]) ? vmPlaces[stack.place[s]]
            : of(n) ? places[stack.place[s]] : null;
        if (place?.line || place?.row)
            visit(fn, place, measured[i]);
    }
}

/* Return [{place, value}] of a function's own lines, hottest first. */
function linesOf(view, fn) {
    const sums = new Map();
    eachLine(view, (of, place, value) => {
        const key = place.line + place.file, sum = sums.get(key) ?? { place, value: 0 };
        if (of === fn && place.line)
            sums.set(key, { place, value: sum.value + value });
    });
    return [...sums.values()].sort((a, b) => b.value - a.value);
}

/* The complementary error function, to seven digits (Abramowitz and Stegun 7.1.26). */
function erfc(x) {
    const t = 1 / (1 + 0.3275911 * x);
    const terms = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592];
    return terms.reduce((sum, c) => sum * t + c, 0) * t * Math.exp(-x * x);
}

/* For each part, the number of equally weighted samples that would give the same
 * certainty as the selected ones. */
const worths = view => view.figures.map((f, i) => {
    const c = view.profile.meta.captures[view.parts[i].capture];
    return c.samples ? c.worth * f.totalSamples[0] / c.samples : 0;
});

/* Return the probability that chance alone puts two shares this far apart. */
function chanceOf(shares, worth) {
    const n = worth[0] + worth[1];
    if (!worth[0] || !worth[1])
        return 1;
    const p = Math.min(1, (shares[0] * worth[0] + shares[1] * worth[1]) / n);
    const variance = p * (1 - p) * (1 / worth[0] + 1 / worth[1]);
    return variance > 0 ? erfc(Math.abs(shares[1] - shares[0]) / Math.sqrt(2 * variance)) : 1;
}

/* Judge like jsprof diff: a change is significant if it is still unlikely when all
 * functions with at least a thousandth are compared. `key` is self or total. */
const JUDGED_LEAST = 0.001;
function isSignificant(view, shares, key) {
    view.judged ??= { self: judgedOf(view, 'self'), total: judgedOf(view, 'total') };
    return chanceOf(shares, view.worths ??= worths(view)) *
        Math.max(1, view.judged[key]) < 0.05;
}

function judgedOf(view, key) {
    const figures = functionFigures(view), { wholes } = view;
    return view.profile.names.filter((_, fn) => figures.some((f, c) =>
        wholes[c] && f[key][fn] / wholes[c] >= JUDGED_LEAST)).length;
}

const formatValue = (view, value) =>
    view.isCount ? formatCount(value)
        : view.isBytes ? formatBytes(value) : formatDuration(value);
