/* timeorder.js - the samples of one thread as boxes over time.
 *
 * SPDX-License-Identifier: MIT
 *
 * The samples in a span of time reach to the next span with samples, unless that is
 * further away than their values account for: then the thread was idle. Within a span the
 * order of the samples is unknown, and stacks with the same roots are adjacent.
 */

function timeEntries(view, thread) {
    const { profile, filter } = view, { time, stack, meta } = profile;
    const entries = { from: [], to: [], node: [] };
    let before = null; /* {span, list, sum}: the previous span with samples */
    const put = end => {
        if (!before)
            return;
        const begin = before.span * meta.span;
        const isCount = !isTimed(meta.captures[meta.threads[thread].capture].unit);
        const most = Math.max(meta.span, isCount ? meta.span : 2.5 * before.sum);
        let at = begin;
        const length = Math.min(end - begin, most);
        for (const [node, value] of before.list) {
            entries.from.push(at);
            entries.to.push(at += length * value / before.weight);
            entries.node.push(node);
        }
    };
    for (let span = filter.from; span < filter.to; span++) {
        const list = [];
        let sum = 0, weight = 0;
        for (let i = time.spanStart[span]; i < time.spanStart[span + 1]; i++) {
            if (stack.thread[time.stack[i]] !== thread)
                continue;
            list.push([filter.shown[stack.node[time.stack[i]]], time.samples[i]]);
            sum += time.value[i];
            weight += time.samples[i];
        }
        if (!list.length)
            continue;
        put(span * meta.span);
        before = { span, list, sum, weight };
    }
    put(filter.to * meta.span);
    return entries;
}

class TimeBox extends Box {
    constructor(view, fn, parent, entries, from) {
        super(view, fn, parent);
        this.entries = entries;
        this.first = this.last = from;
        this.x = entries.from[from] ?? 0;
    }

    /* Extend the box to entry i; it has the entries [first, last] without a gap. */
    take(i) {
        this.last = i;
        this.value = this.entries.to[i] - this.x;
    }

    parts() {
        return [this.value];
    }

    nodeAt(i, depth) {
        const { depth: depths, up } = this.view.filter;
        let n = this.entries.node[i];
        if (depths[n] < depth)
            return 0;
        while (depths[n] > depth)
            n = up[n];
        return n;
    }

    place(list) {
        return list;
    }

    findChildren() {
        const { tree, frame } = this.view.profile, list = [];
        let box = null;
        for (let i = this.first; i <= this.last; i++) {
            const node = this.nodeAt(i, this.depth + 1);
            const fn = node ? frame.function[tree.frame[node]] : -1;
            const isNext = box && box.fn === fn &&
                this.entries.from[i] - this.entries.to[i - 1] < 1;
            if (!isNext)
                box = node ? new TimeBox(this.view, fn, this, this.entries, i) : null;
            if (box && !isNext)
                list.push(box);
            if (box)
                box.take(i);
        }
        return list;
    }
}

function timeOrder(view, thread) {
    const entries = timeEntries(view, thread), { meta } = view.profile;
    const root = new TimeBox(view, -1, null, entries, 0);
    root.last = entries.node.length - 1;
    root.x = view.filter.from * meta.span;
    root.value = (view.filter.to - view.filter.from) * meta.span;
    root.isTime = true;
    return root;
}

/* Return the selected thread with the most samples. */
function busiestThread(view) {
    const { stack, time } = view.profile, { filter } = view;
    const sums = new Float64Array(view.profile.meta.threads.length);
    for (let i = time.spanStart[filter.from]; i < time.spanStart[filter.to]; i++)
        sums[stack.thread[time.stack[i]]] += time.samples[i];
    let best = -1;
    sums.forEach((sum, t) => {
        const { capture } = view.profile.meta.threads[t];
        if (filter.threads[t] && filter.captures.includes(capture) &&
            (best < 0 || sum > sums[best]))
            best = t;
    });
    return best;
}
