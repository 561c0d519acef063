/* timeorder.js - the samples of threads as boxes over time.
 *
 * SPDX-License-Identifier: MIT
 *
 * The samples in a span of time reach to the next span with samples, unless that is
 * further away than their values account for: then the thread was idle. Within a span the
 * order of the samples is unknown, and stacks with the same roots are adjacent. Several threads are
 * below each other: a row with the name of the thread, then its levels.
 */

const TIME_THREADS = 16; /* the busiest ones are drawn */

function timeEntries(view, thread) {
    const { profile, filter } = view, { time, stack, meta } = profile;
    const begin = time.spanStart[filter.from], most = time.spanStart[filter.to] - begin;
    const from = new Float64Array(most), to = new Float64Array(most), node = new Int32Array(most);
    const isCount = !isTimed(meta.captures[meta.threads[thread]?.capture ?? 0].unit);
    let n = 0, before = null; /* {span, first, sum, weight}: the previous span with samples */
    const put = end => {
        if (!before)
            return;
        let at = before.span * meta.span;
        const longest = Math.max(meta.span, isCount ? meta.span : 2.5 * before.sum);
        const length = Math.min(end - at, longest);
        for (let i = before.first; i < n; i++) {
            from[i] = at;
            to[i] = at += length * to[i] / before.weight; /* which was the number of samples */
        }
    };
    for (let span = filter.from; span < filter.to; span++) {
        const first = n, now = { span, first, sum: 0, weight: 0 };
        for (let i = time.spanStart[span]; i < time.spanStart[span + 1]; i++) {
            const end = stack.node[time.stack[i]];
            if (stack.thread[time.stack[i]] !== thread || (filter.isIn && !filter.isIn[end]) ||
                !isChosen(filter, stack, time.stack[i]))
                continue;
            if (n === first)
                put(span * meta.span);
            to[n] = time.samples[i];
            node[n++] = filter.shown[end];
            now.sum += time.value[i];
            now.weight += time.samples[i];
        }
        if (n > first)
            before = now;
    }
    put(filter.to * meta.span);
    return { from: from.subarray(0, n), to: to.subarray(0, n), node: node.subarray(0, n) };
}

/* Entries as boxes, level by level: neighbours with the same functions from the root to a level
 * are one box there. `same` counts these levels for an entry and the one before; 0 after a gap. */
class TimeOrder {
    /* `above`: the box of all threads, and the number of levels before this thread; or null */
    constructor(view, entries, above = null) {
        const { from, to, node } = entries, { depth } = view.filter;
        this.view = view;
        this.entries = entries;
        this.above = above;
        this.offset = above ? above.offset : 0;
        this.n = node.length;
        this.boxes = new Map(); /* by level and first entry */
        this.same = new Int32Array(this.n);
        this.depth = Int32Array.from(node, n => depth[n]);
        for (let i = 1; i < this.n; i++)
            if (from[i] - to[i - 1] < 1)
                this.same[i] = this.sharedLevels(node[i - 1], node[i]);
        this.root = new TimeBox(this, 0, 0, this.n - 1);
        this.root.x = view.filter.from * view.profile.meta.span;
        this.root.value = (view.filter.to - view.filter.from) * view.profile.meta.span;
        this.root.isTime = true;
    }

    functionOf(node) {
        const { tree, frame } = this.view.profile;
        return frame.function[tree.frame[node]];
    }

    sharedLevels(a, b) {
        const { depth, up } = this.view.filter;
        let level = Math.min(depth[a], depth[b]), shared = level;
        a = callerAt(this.view.filter, a, level);
        b = callerAt(this.view.filter, b, level);
        for (; a !== b; level--) {
            if (this.functionOf(a) !== this.functionOf(b))
                shared = level - 1;
            a = up[a];
            b = up[b];
        }
        return shared;
    }

    /* Return the first entry that ends after a moment. */
    entryAt(moment) {
        let low = 0, high = this.n;
        while (low < high) {
            const middle = low + high >> 1;
            if (this.entries.to[middle] <= moment)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }

    deepest(from, to) {
        let deepest = 0;
        for (let i = this.entryAt(from); i < this.n && this.entries.from[i] < to; i++)
            deepest = Math.max(deepest, this.depth[i]);
        return deepest;
    }

    firstOf(level, i) {
        while (i > 0 && this.same[i] >= level)
            i--;
        return i;
    }

    /* Return the last entry of the box that has the entry `first` as its first. */
    lastOf(level, first) {
        let last = first;
        while (last + 1 < this.n && this.same[last + 1] >= level)
            last++;
        return last;
    }

    boxOf(level, i) {
        if (level <= 0)
            return this.root;
        const first = this.firstOf(level, i), key = level * this.n + first;
        if (!this.boxes.has(key))
            this.boxes.set(key, new TimeBox(this, level, first, this.lastOf(level, first)));
        return this.boxes.get(key);
    }

    /* Visit the boxes of a level in a window: (x, value, box). Boxes of less than `least` that
     * begin within such a length are visited together, without a box. */
    row(level, from, to, least, visit) {
        const { entries } = this;
        if (level === 0) {
            visit(this.root.x, this.root.value, this.root);
            return;
        }
        for (let i = this.firstOf(level, Math.min(this.n - 1, this.entryAt(from)));
             i >= 0 && i < this.n && entries.from[i] < to;) {
            const x = entries.from[i], last = this.lastOf(level, i), value = entries.to[last] - x;
            if (value >= least) {
                if (this.depth[i] >= level)
                    visit(x, value, this.boxOf(level, i));
                i = last + 1;
                continue;
            }
            /* The next box begins after that length, or before it and is larger. */
            const far = this.entryAt(x + least);
            const next = Math.max(last + 1, this.firstOf(level, Math.min(this.n - 1, far)));
            let end = x;
            for (; i < next && i < this.n; i++)
                if (this.depth[i] >= level)
                    end = entries.to[i];
            if (end > x)
                visit(x, end - x, null);
        }
    }
}

class TimeBox extends Box {
    constructor(order, level, first, last) {
        const { entries, view } = order;
        super(view, level ? order.functionOf(callerAt(view.filter, entries.node[first], level))
                          : -1, null);
        Object.assign(this, { order, first, last, level, depth: order.offset + level });
        this.x = entries.from[first] ?? 0;
        this.value = (entries.to[last] ?? 0) - this.x;
    }

    get parent() {
        return this.level ? this.order.boxOf(this.level - 1, this.first)
            : this.order.above?.root ?? null;
    }

    parts() {
        return [this.value];
    }

    place(list) {
        return list;
    }

    findChildren() {
        const { order, level, last } = this, list = [];
        for (let i = this.first; i <= last; i = order.lastOf(level + 1, i) + 1)
            if (order.depth[i] > level)
                list.push(order.boxOf(level + 1, i));
        return list;
    }
}

/* Several threads as one order: its levels are those of each thread, after a row of its name. */
class TimeLanes {
    constructor(view, threads) {
        const { meta } = view.profile;
        this.root = new TimeBox({ view, entries: { from: [], to: [] }, offset: 0 }, 0, 0, 0);
        this.root.x = view.filter.from * meta.span;
        this.root.value = (view.filter.to - view.filter.from) * meta.span;
        this.root.isTime = true;
        this.root.order = this;
        this.levels = 1;
        this.lanes = threads.map(thread => {
            const lane = new TimeOrder(view, timeEntries(view, thread),
                { root: this.root, offset: this.levels });
            lane.root.isTime = false;
            lane.root.title = threadLabel(meta, meta.threads[thread]);
            lane.height = 1 + lane.depth.reduce((a, b) => Math.max(a, b), 0);
            this.levels += lane.height;
            return lane;
        });
        this.root.kids = this.lanes.map(lane => lane.root);
    }

    deepest() {
        return this.levels - 1;
    }

    row(level, from, to, least, visit) {
        const lane = this.lanes.findLast(l => l.offset <= level);
        if (lane)
            lane.row(level - lane.offset, from, to, least, visit);
        else
            visit(this.root.x, this.root.value, this.root);
    }
}

function timeOrder(view, threads) {
    return threads.length > 1 ? new TimeLanes(view, threads).root
        : new TimeOrder(view, timeEntries(view, threads[0] ?? -1)).root;
}

/* Return the selected threads with samples, the busiest first. */
function busiestThreads(view) {
    const { stack, time } = view.profile, { filter } = view;
    const sums = new Float64Array(view.profile.meta.threads.length);
    for (let i = time.spanStart[filter.from]; i < time.spanStart[filter.to]; i++)
        sums[stack.thread[time.stack[i]]] += time.samples[i];
    return [...sums.keys()].filter(t => sums[t] && filter.threads[t] &&
        filter.captures.includes(view.profile.meta.threads[t].capture))
        .sort((a, b) => sums[b] - sums[a]);
}
