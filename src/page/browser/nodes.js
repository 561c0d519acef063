/* nodes.js - the boxes of a graph or a tree table, made on demand.
 *
 * SPDX-License-Identifier: MIT
 *
 * A box represents all nodes of the call tree that were reached by the same functions;
 * only boxes large enough to be visible are asked for their children. `x` and `value` are
 * in the unit of the layout. Top-down, children are callees. Bottom-up and in a list of
 * callers, a box notes for each node on the way up the node where the way began. Deep stacks have
 * thousands of levels, of which a screen shows few: levels() and at() do without the boxes
 * between.
 */

class Box {
    constructor(view, fn, parent) {
        this.view = view;
        this.fn = fn; /* -1: the whole profile */
        this.above = parent;
        this.depth = parent ? parent.depth + 1 : 0;
        this.x = 0;
        this.value = 0;
    }

    get parent() {
        return this.above;
    }

    get name() {
        return this.fn < 0 ? this.title ?? 'all' : this.view.profile.names[this.fn];
    }

    children() {
        return this.kids ??= this.place(this.findChildren());
    }

    /* Return how many levels of boxes with at least this value are below. */
    levels(least) {
        return this.children().reduce((most, c) =>
            c.value < least ? most : Math.max(most, 1 + c.levels(least)), 0);
    }

    /* Return the box at a depth in whose place this box, and nothing else, is drawn there. */
    at() {
        return this;
    }

    /* Place children side by side, the largest first. */
    place(list) {
        list.sort((a, b) => b.value - a.value || a.fn - b.fn);
        let x = this.x;
        for (const child of list) {
            child.x = x;
            x += child.value;
        }
        return list;
    }

    get self() {
        return Math.max(0, this.value - this.children().reduce((s, c) => s + c.value, 0));
    }

    /* Return the figure of each part; `key` is the one of the layout. */
    parts(key = 'total') {
        return this.view.figures.map(f => this.sum(f[key]));
    }
}

class DownBox extends Box {
    constructor(view, fn, parent) {
        super(view, fn, parent);
        this.nodes = [];
    }

    add(node) {
        this.nodes.push(node);
        this.value += this.view.total[node];
    }

    sum(figures) {
        return this.nodes.reduce((s, n) => s + figures[n], 0);
    }

    findChildren() {
        const { profile, filter, total } = this.view, { tree, frame } = profile;
        const found = new Map();
        for (const node of this.nodes)
            for (let c = filter.first[node]; c; c = filter.next[c]) {
                if (!total[c])
                    continue;
                const fn = frame.function[tree.frame[c]];
                if (!found.has(fn))
                    found.set(fn, new DownBox(this.view, fn, this));
                found.get(fn).add(c);
            }
        return [...found.values()];
    }

    levels(least) {
        const { filter: { first, next, depth }, total } = this.view;
        let most = 0;
        for (const top of this.nodes)
            for (const open = [top]; open.length;) {
                const node = open.pop();
                most = Math.max(most, depth[node] - depth[top]);
                for (let c = first[node]; c; c = next[c])
                    if (total[c] && total[c] >= least)
                        open.push(c);
            }
        return most;
    }
}

class UpBox extends Box {
    constructor(view, fn, parent, weigh) {
        super(view, fn, parent);
        this.weigh = weigh; /* 'self' or 'total': the figure of the nodes in `of` */
        this.nodes = [];    /* the current shown nodes of the walk up */
        this.of = [];       /* the node where each walk began */
    }

    add(node, of) {
        this.nodes.push(node);
        this.of.push(of);
        this.value += this.view[this.weigh][of];
    }

    sum(figures) {
        return this.of.reduce((s, n) => s + figures[n], 0);
    }

    parts() {
        return super.parts(this.weigh);
    }

    /* A box of one node has one child at each level, up to the root. */
    get isStraight() {
        return this.fn >= 0 && this.nodes.length === 1;
    }

    get parent() {
        return this.head ? this.head.at(this.depth - 1) : this.above;
    }

    levels(least) {
        return this.isStraight ? this.view.filter.depth[this.nodes[0]] - 1 : super.levels(least);
    }

    at(depth) {
        const head = this.head ?? this, { profile, filter } = this.view;
        if (!this.isStraight || depth <= head.depth)
            return head;
        const { tree, frame } = profile, [node] = head.nodes;
        depth = Math.min(depth, head.depth + head.levels());
        head.way ??= new Map([[head.depth, head]]);
        if (!head.way.has(depth)) {
            const caller = callerAt(filter, node, filter.depth[node] - depth + head.depth);
            const box = new UpBox(this.view, frame.function[tree.frame[caller]], null, this.weigh);
            box.head = head;
            box.depth = depth;
            box.x = head.x;
            box.add(caller, head.of[0]);
            head.way.set(depth, box);
        }
        return head.way.get(depth);
    }

    findChildren() {
        const { profile, filter } = this.view, { tree, frame } = profile;
        const found = new Map();
        if (this.isStraight)
            return this.levels() ? [this.at(this.depth + 1)] : [];
        this.nodes.forEach((node, i) => {
            const above = this.fn < 0 ? node : filter.up[node];
            if (!above)
                return;
            const fn = frame.function[tree.frame[above]];
            if (!found.has(fn))
                found.set(fn, new UpBox(this.view, fn, this, this.weigh));
            found.get(fn).add(above, this.of[i]);
        });
        return [...found.values()];
    }
}

function topDown(view) {
    const root = new DownBox(view, -1, null), [above, first] = foldedRoots(view);
    root.add(above);
    if (above) {
        const { names, frame, tree } = view.profile;
        root.title = `all: ${view.filter.depth[above]} frames to ` +
            splitName(names[frame.function[tree.frame[first]]]).name;
    }
    return root;
}

function bottomUp(view) {
    const root = new UpBox(view, -1, null, 'self');
    for (let n = 1; n < view.profile.nodes; n++)
        if (view.self[n])
            root.add(n, n);
    return root;
}

/* Return the nodes of a function that count for its total. */
function nodesOf(view, fn) {
    const { profile, filter, total } = view, { tree, frame, nodes } = profile;
    const isOuter = view.isOuter ??= outermostNodes(profile, filter), list = [];
    for (let n = 1; n < nodes; n++)
        if (isOuter[n] && total[n] && filter.shown[n] === n &&
            frame.function[tree.frame[n]] === fn)
            list.push(n);
    return list;
}

function calleesOf(view, fn) {
    const root = new DownBox(view, fn, null);
    nodesOf(view, fn).forEach(n => root.add(n));
    return root;
}

function callersOf(view, fn) {
    const root = new UpBox(view, fn, null, 'total');
    nodesOf(view, fn).forEach(n => root.add(n, n));
    return root;
}
